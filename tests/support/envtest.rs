//! A real API server: etcd and kube-apiserver from `KUBEBUILDER_ASSETS`, on loopback, for as long as the test runs.
//!
//! `.ci/apiserver/build` makes the programs. Where they are not there the tests that want them say so in one line and
//! go on; with `CI=true` that is a failure.
//!
//! Nothing is left running, however the test ends. Each program is started by a small `sh` that holds the other end of
//! a pipe of ours: when the pipe closes (dropped, panicked, killed) it kills the program and removes its files.

mod pki;
mod watchdog;

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

pub use pki::Identity;
use watchdog::Watched;

/// The version that the tests are held to.
pub const VERSION: &str = "v1.36.3";

/// Starting takes about four seconds; this is for a machine that has much other work.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a program that is starting. While it waits it listens for the program's end.
const PACE: Duration = Duration::from_millis(50);
const ADMIN: &str = "admin-token";

/// A running server. See the head of this file.
#[derive(Debug)]
pub struct EnvTest {
    home: PathBuf,
    port: u16,
    authority: pki::Authority,
    assets: PathBuf,
    // Dropped in this order: the API server before its storage.
    _apiserver: Watched,
    _etcd: Watched,
}

/// How to start one.
#[derive(Debug, Clone, Default)]
pub struct Options {
    event_ttl: Option<Duration>,
    flags: Vec<String>,
    tokens: Vec<(String, String, String)>,
}

/// One request, as the server's own audit log tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub user: String,
    pub user_agent: String,
    pub code: u16,
    /// When it was answered, as the log writes it: RFC 3339, in microseconds.
    pub answered: String,
}

impl Options {
    /// How long Events live. One hour by default.
    pub fn event_ttl(self, ttl: Duration) -> Options {
        Options { event_ttl: Some(ttl), ..self }
    }

    /// One more flag of kube-apiserver: `--max-requests-inflight=4`.
    pub fn flag(mut self, flag: impl Into<String>) -> Options {
        self.flags.push(flag.into());
        self
    }

    /// One more static token: who carries it is this user, of this group.
    pub fn token(mut self, token: &str, user: &str, group: &str) -> Options {
        self.tokens.push((token.to_owned(), user.to_owned(), group.to_owned()));
        self
    }

    /// Starts one, and waits until it is ready. Nothing when the programs are not there.
    pub fn start(&self) -> Option<EnvTest> {
        let assets = available()?;
        // The ports are free when they are looked for; who takes one before we do costs another attempt, not a test.
        let attempt = |_| EnvTest::start(&assets, self);
        let mut failures = Vec::new();
        for outcome in (0..3).map(attempt) {
            match outcome {
                Ok(server) => return Some(server),
                Err(failure) => failures.push(failure),
            }
        }
        panic!("the real API server does not start:\n{}", failures.join("\n"))
    }
}

/// The folder with the programs. Nothing when they are not there, which is told once, on stderr; with `CI=true` a
/// panic.
pub fn available() -> Option<PathBuf> {
    static ASSETS: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = ASSETS.get_or_init(|| {
        let folder = assets();
        let whole = ["etcd", "kube-apiserver", "kubectl"].iter().all(|it| folder.join(it).is_file());
        if !whole {
            // Not `eprintln!`: the test harness would keep that for itself.
            let line = format!("the real API server was not asked: {} is not whole\n", folder.display());
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        whole.then_some(folder)
    });
    let must = env::var("CI").is_ok_and(|it| it == "true");
    assert!(found.is_some() || !must, "no real API server in {}: .ci/apiserver/build makes it", assets().display());
    found.clone()
}

fn assets() -> PathBuf {
    env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from).unwrap_or_else(|| {
        let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        home.join(".cache/tracing-k8s-events/envtest").join(VERSION)
    })
}

impl EnvTest {
    pub fn options() -> Options {
        Options::default()
    }

    /// The one that the tests of a binary share: started when it is first asked for, ended with the process.
    pub fn shared() -> Option<&'static EnvTest> {
        static SHARED: OnceLock<Option<EnvTest>> = OnceLock::new();
        SHARED.get_or_init(|| EnvTest::options().start()).as_ref()
    }

    fn start(assets: &Path, options: &Options) -> Result<EnvTest, String> {
        let told = |error: std::io::Error| error.to_string();
        let folder = tempfile::Builder::new().prefix("envtest-").tempdir().map_err(told)?.keep();
        let [etcd_home, home] = ["etcd", "apiserver"].map(|it| folder.join(it));
        fs::create_dir(&etcd_home).and_then(|()| fs::create_dir(&home)).map_err(told)?;
        let [client, peer, port] = free_ports().map_err(told)?;
        let etcd = start_etcd(&assets.join("etcd"), &etcd_home, client, peer)?;
        let authority = pki::write(&home)?;
        let mut tokens = format!("{ADMIN},admin,admin,\"system:masters\"\n");
        tokens.extend(options.tokens.iter().map(|(token, user, group)| format!("{token},{user},{user},\"{group}\"\n")));
        fs::write(home.join("tokens.csv"), tokens).map_err(told)?;
        fs::write(home.join("audit.yaml"), AUDIT_POLICY).map_err(told)?;
        fs::write(home.join("kubeconfig"), kubeconfig(&home, port)).map_err(told)?;
        let flags = flags(&home, client, port, options);
        let apiserver = Watched::start(&assets.join("kube-apiserver"), &flags, &home).map_err(told)?;
        let server = EnvTest { home, port, authority, assets: assets.to_owned(), _apiserver: apiserver, _etcd: etcd };
        server.until_ready()?;
        Ok(server)
    }

    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// May do everything.
    pub fn config(&self) -> kube::Config {
        self.config_with(ADMIN)
    }

    /// Carries this bearer token, known to the server or not.
    pub fn config_with(&self, token: &str) -> kube::Config {
        let mut config = self.config_without_token();
        config.auth_info.token = Some(token.to_owned().into());
        config
    }

    /// What a user of a group shows instead of a token, or what it showed in the last century.
    pub fn identity(&self, user: &str, group: &str, is_expired: bool) -> Identity {
        self.authority
            .identity(user, group, is_expired)
            .unwrap_or_else(|error| panic!("no certificate for {user}: {error}"))
    }

    /// The anonymous user.
    pub fn config_without_token(&self) -> kube::Config {
        let url = self.url().parse().unwrap_or_else(|error| panic!("{} is no URL: {error}", self.url()));
        let mut config = kube::Config::new(url);
        config.root_cert = Some(vec![self.authority.certificate.clone()]);
        config
    }

    /// A client that may do everything, on the caller's runtime.
    pub fn client(&self) -> kube::Client {
        kube::Client::try_from(self.config()).unwrap_or_else(|error| panic!("no client for {}: {error}", self.url()))
    }

    /// Where its files are, and its storage's.
    pub fn folder(&self) -> PathBuf {
        self.home.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    }

    /// For programs that read one. May do everything.
    pub fn kubeconfig(&self) -> PathBuf {
        self.home.join("kubeconfig")
    }

    /// What kubectl prints. It panics with kubectl's complaint when it has one.
    #[track_caller]
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        let output = self.try_kubectl(arguments);
        let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        assert!(output.status.success(), "kubectl {}: {err}", arguments.join(" "));
        out
    }

    /// What kubectl prints, and how it ended.
    pub fn try_kubectl(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.assets.join("kubectl"));
        command.arg("--kubeconfig").arg(self.kubeconfig()).arg("--cache-dir").arg(self.home.join("kubectl"));
        command.args(arguments).output().unwrap_or_else(|error| panic!("kubectl does not run: {error}"))
    }

    /// Every request that has been answered so far, oldest first.
    pub fn audit(&self) -> Vec<Audited> {
        let log = fs::read_to_string(self.home.join("audit.log")).unwrap_or_default();
        log.lines().filter_map(|it| serde_json::from_str(it).ok()).map(|it| Audited::of(&it)).collect()
    }

    /// Why it is not ready, after so long.
    fn until_ready(&self) -> Result<(), String> {
        let since = Instant::now();
        let paths = [
            "/readyz",
            "/api/v1/namespaces/default",
            "/api/v1/namespaces/kube-system",
            "/api/v1/namespaces/kube-public",
        ];
        // A runtime of its own on a thread of its own: the caller may stand in one, where nobody may block.
        let asked = || -> Result<(), String> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            runtime.block_on(async {
                let mut config = self.config();
                config.default_retry = false;
                let client = kube::Client::try_from(config).map_err(|error| error.to_string())?;
                for path in paths {
                    let mut last = String::new();
                    loop {
                        let request = ::http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
                        match client.request_text(request).await {
                            Ok(_) => break,
                            Err(error) => last.replace_range(.., &error.to_string()),
                        }
                        self._apiserver.alive_for(PACE).map_err(|end| format!("{end}\n{}", self.told()))?;
                        if since.elapsed() > PATIENCE {
                            return Err(format!("{path}: {last}\n{}", self.told()));
                        }
                    }
                }
                Ok(())
            })
        };
        thread::scope(|scope| {
            scope.spawn(asked).join().unwrap_or_else(|_| Err("the thread that asked has panicked".to_owned()))
        })
    }

    /// The end of the server's log.
    fn told(&self) -> String {
        let log = fs::read_to_string(self.home.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

impl Audited {
    fn of(line: &Value) -> Audited {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let object = &line["objectRef"];
        Audited {
            verb: text(&line["verb"]),
            group: text(&object["apiGroup"]),
            resource: text(&object["resource"]),
            namespace: text(&object["namespace"]),
            name: text(&object["name"]),
            user: text(&line["user"]["username"]),
            user_agent: text(&line["userAgent"]),
            code: line["responseStatus"]["code"].as_u64().and_then(|it| u16::try_from(it).ok()).unwrap_or_default(),
            answered: text(&line["stageTimestamp"]),
        }
    }
}

fn start_etcd(program: &Path, home: &Path, client: u16, peer: u16) -> Result<Watched, String> {
    let [client_url, peer_url] = [client, peer].map(|it| format!("http://127.0.0.1:{it}"));
    let flags = [
        format!("--data-dir={}", home.join("data").display()),
        format!("--listen-client-urls={client_url}"),
        format!("--advertise-client-urls={client_url}"),
        format!("--listen-peer-urls={peer_url}"),
        format!("--initial-advertise-peer-urls={peer_url}"),
        format!("--initial-cluster=default={peer_url}"),
        "--unsafe-no-fsync".to_owned(),
    ];
    let since = Instant::now();
    let etcd = Watched::start(program, &flags, home).map_err(|error| error.to_string())?;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, client)).is_err() {
        etcd.alive_for(PACE)?;
        if since.elapsed() > PATIENCE {
            return Err("etcd does not listen".to_owned());
        }
    }
    Ok(etcd)
}

fn flags(home: &Path, etcd: u16, port: u16, options: &Options) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", home.join(name).display());
    let mut flags = vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        file("tls-cert-file", "server.crt"),
        file("tls-private-key-file", "server.key"),
        file("client-ca-file", "ca.crt"),
        file("token-auth-file", "tokens.csv"),
        file("service-account-key-file", "accounts.pub"),
        file("service-account-signing-key-file", "accounts.key"),
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        // Nothing here makes the accounts and their tokens that it asks for.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        file("audit-policy-file", "audit.yaml"),
        file("audit-log-path", "audit.log"),
    ];
    let ttl = options.event_ttl.unwrap_or(Duration::from_secs(3600));
    flags.push(format!("--event-ttl={}ms", ttl.as_millis()));
    flags.extend(options.flags.iter().cloned());
    flags
}

fn kubeconfig(home: &Path, port: u16) -> String {
    let authority = home.join("ca.crt");
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: admin\n\
         clusters:\n- name: local\n  cluster:\n    server: https://127.0.0.1:{port}\n    certificate-authority: {}\n\
         users:\n- name: admin\n  user:\n    token: {ADMIN}\n\
         contexts:\n- name: admin\n  context: {{cluster: local, user: admin, namespace: default}}\n",
        authority.display()
    )
}

/// Three at once, so that they differ.
fn free_ports() -> std::io::Result<[u16; 3]> {
    let held = [(); 3].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(held) {
        *port = listener?.local_addr()?.port();
    }
    Ok(ports)
}

/// Who did what, once it is answered.
const AUDIT_POLICY: &str =
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n";
