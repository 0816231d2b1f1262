//! An API server to look around in, without a cluster: `cargo run --example apiserver -- [--port N]`.
//!
//! It is the one that the tests use: real HTTP on loopback, Events of both groups by the rules of a real server, in
//! memory. Programs write to it; `kubectl` only looks (`get`, `describe`, `events`). It runs until Ctrl-C.

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use support::apiserver::ApiServer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let port = match port(std::env::args().skip(1)) {
        Ok(port) => port,
        Err(why) => {
            eprintln!("{why}\nusage: cargo run --example apiserver -- [--port N]");
            return ExitCode::from(2);
        }
    };
    let server = match ApiServer::start_on(port) {
        Ok(server) => server.open_to_all(),
        Err(error) => {
            eprintln!("cannot listen on 127.0.0.1:{port}: {error}");
            return ExitCode::FAILURE;
        }
    };
    server.add_object("v1", "ConfigMap", Some("default"), "example");
    let url = server.url();
    println!("{url}");
    println!("Look around, in another terminal:");
    println!("  kubectl --server={url} get events --all-namespaces");
    println!("  kubectl --server={url} describe configmap example");
    println!("Ctrl-C ends it.");
    match tokio::signal::ctrl_c().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot wait for Ctrl-C: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Zero, which takes a free port, when none is asked for.
fn port(mut arguments: impl Iterator<Item = String>) -> Result<u16, String> {
    let Some(argument) = arguments.next() else { return Ok(0) };
    let value = match argument.strip_prefix("--port=") {
        Some(value) => Some(value.to_owned()),
        None if argument == "--port" => arguments.next(),
        None => return Err(format!("unknown argument: {argument}")),
    };
    let value = value.ok_or("--port: the number is missing")?;
    value.parse().map_err(|error| format!("--port {value}: {error}"))
}
