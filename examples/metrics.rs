//! How do I watch the poster itself? With the feature `metrics`: its counters go to whatever recorder is installed, here
//! to Prometheus' text on a port.
//!
//! `cargo run --features metrics --example metrics -- 9000` serves on that port until Ctrl-C; without a port it scrapes
//! itself once, and ends.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use metrics_exporter_prometheus::PrometheusBuilder;
use tracing::{info, warn};
use tracing_k8s_events::{MemorySink, object_span};
use tracing_subscriber::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map(|it| it.parse::<u16>()).transpose()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.map_or_else(free_port, Ok)?));
    PrometheusBuilder::new().with_http_listener(address).install()?;

    let (layer, poster) = tracing_k8s_events::builder("metrics.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();
    let guard = poster.spawn_sink(MemorySink::new())?; // or `poster.spawn_inferred()?`: the counters are the same
    let object = ObjectReference { kind: Some("Foo".into()), name: Some("web".into()), ..ObjectReference::default() };
    object_span(&object).in_scope(|| {
        info!(k8s.reason = "Scaled", replicas = 3, "scaled up");
        (0..1000).for_each(|_| warn!(k8s.reason = "NotReady", "waiting for the database"));
    });
    info!(k8s.kind = "Foo", k8s.name = "", k8s.reason = "Scaled", "about nothing: a counted drop");

    if port.is_some() {
        println!("serving http://{address}/metrics");
        tokio::runtime::Runtime::new()?.block_on(tokio::signal::ctrl_c())?;
    }
    // They are published once a second, and at the end.
    println!("{:?}", guard.shutdown(Duration::from_secs(5)));
    print!("{}", scrape(address)?);
    Ok(())
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn scrape(address: SocketAddr) -> std::io::Result<String> {
    let mut answer = String::new();
    let mut stream = loop {
        // The exporter's thread may not listen yet.
        match TcpStream::connect(address) {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => std::thread::yield_now(),
            other => break other?,
        }
    };
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned()))
}
