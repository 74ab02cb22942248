//! A robot that does what a test says, and clients that speak real HTTP to its page.

mod clients;
mod port;
mod robot;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use cortex_protocol::Role;
use cortex_web::{WebLimits, WebServer, WebSettings};
use serde_json::{Value, json};

pub(crate) use clients::{Live, ids, raw, read_all};
pub(crate) use port::ScriptedPort;
pub(crate) use robot::ScriptedRobot;

/// Whatever a test waits for comes within this time, or hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(30);

/// A page and the robot behind it.
pub(crate) struct TestServer {
    pub(crate) server: WebServer,
    pub(crate) port: Arc<ScriptedPort>,
    pub(crate) http: reqwest::Client,
}

pub(crate) fn settings() -> WebSettings {
    WebSettings::new("127.0.0.1:0".parse().unwrap(), "Robbie")
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::with(settings())
    }

    pub(crate) fn with_limits(limits: WebLimits) -> Self {
        Self::with(WebSettings { limits, ..settings() })
    }

    pub(crate) fn with_state(folder: PathBuf) -> Self {
        Self::with(WebSettings { state_directory: Some(folder), ..settings() })
    }

    pub(crate) fn with(settings: WebSettings) -> Self {
        capture_log();
        let port = Arc::new(ScriptedPort::new());
        let server = WebServer::start(settings, Arc::clone(&port) as Arc<dyn cortex_web::OperatorPort>).unwrap();
        let http =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(HANGS).build().unwrap();
        Self { server, port, http }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    pub(crate) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.get(self.url(path))
    }

    /// A request of the page's own script.
    pub(crate) fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.post(self.url(path)).header("Origin", self.url(""))
    }

    pub(crate) async fn get_json(&self, path: &str) -> Value {
        self.get(path).send().await.unwrap().json().await.unwrap()
    }

    /// What a client sees now.
    pub(crate) async fn seen(&self) -> Value {
        self.get_json("/api/v1/seen").await
    }

    /// A session of this role; its token.
    pub(crate) async fn log_in(&self, name: &str, role: Role) -> String {
        let code = self.server.pairing_code(role).unwrap();
        let answer = self.post("/login").json(&json!({"code": code, "name": name})).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        answer["token"].as_str().unwrap().to_owned()
    }

    /// The id of the session with this name.
    pub(crate) async fn session_id(&self, name: &str) -> String {
        let sessions = self.get_json("/api/v1/sessions").await;
        let session = sessions.as_array().unwrap().iter().find(|session| session["name"] == name).unwrap();
        session["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn revoke(&self, name: &str) {
        let path = format!("/api/v1/sessions/{}", self.session_id(name).await);
        let answer = self.http.delete(self.url(&path)).header("Origin", self.url("")).send().await.unwrap();
        assert_eq!(answer.status(), 204);
    }
}

/// A command as the page sends it.
pub(crate) fn command(number: u128, seen: &Value, command: Value) -> Value {
    json!({"id": format!("{number:032x}"), "seen": seen, "command": command})
}

/// Status and kind of an error.
pub(crate) async fn refusal(request: reqwest::RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    assert!(!body["reason"].as_str().unwrap_or_default().is_empty(), "{body}");
    (status, body["kind"].as_str().unwrap().to_owned())
}

/// What was logged so far, by all tests.
pub(crate) fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn capture_log() {
    struct Kept;
    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            LOG.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        tracing_subscriber::fmt().with_ansi(false).with_writer(|| Kept).init();
    });
}
