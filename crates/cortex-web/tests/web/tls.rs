//! The page over TLS: with real certificates, good and bad ones.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;

use cortex_protocol::Role;
use cortex_web::{TlsFiles, WebSettings};
use futures::StreamExt as _;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::support::{HANGS, TestServer, log, raw, read_all, settings};

/// A certificate of this machine, and its key, in PEM.
struct Pair {
    certificate: String,
    key: String,
    der: Vec<u8>,
}

fn pair(change: impl FnOnce(&mut CertificateParams)) -> Pair {
    let names =
        ["localhost".to_owned(), "127.0.0.1".to_owned()].into_iter().chain(own_address().map(|it| it.to_string()));
    let mut params = CertificateParams::new(names.collect::<Vec<_>>()).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    Pair { certificate: certificate.pem(), key: key.serialize_pem(), der: certificate.der().to_vec() }
}

/// The address of this machine in its network, where it has one.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent.
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

fn files(folder: &Path) -> TlsFiles {
    TlsFiles { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") }
}

/// Puts them in the place of those that are there, as programs that renew certificates do.
fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join("new"), text).unwrap();
    std::fs::rename(folder.join("new"), folder.join(name)).unwrap();
}

fn put_pair(folder: &Path, pair: &Pair) {
    put(folder, "key.pem", &pair.key);
    put(folder, "certificate.pem", &pair.certificate);
}

fn served(folder: &Path, listen: &str) -> TestServer {
    TestServer::with(WebSettings { listen: listen.parse().unwrap(), tls: Some(files(folder)), ..settings() })
}

/// A client that trusts this certificate alone.
fn trusting(pair: &Pair) -> reqwest::Client {
    let certificate = reqwest::Certificate::from_pem(pair.certificate.as_bytes()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([certificate]).timeout(HANGS);
    client.redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

async fn is_encrypted_with(pair: &Pair, address: SocketAddr) -> bool {
    trusting(pair).get(format!("https://{address}/api/v1/overview")).send().await.is_ok()
}

#[tokio::test]
async fn the_page_is_encrypted_with_the_files_that_are_named() {
    let (folder, pair) = (tempfile::tempdir().unwrap(), pair(|_| {}));
    put_pair(folder.path(), &pair);
    let server = served(folder.path(), "127.0.0.1:0");
    let (address, https) = (server.address(), trusting(&pair));
    assert_eq!(server.server.url(), format!("https://{address}/"));
    let url = |path: &str| format!("https://{address}{path}");
    assert_eq!(https.get(url("/")).send().await.unwrap().status(), 200);
    let code = server.server.pairing_code(Role::Watch).unwrap();
    let log_in = |origin: String| https.post(url("/login")).header("Origin", origin).form(&[("code", code.as_str())]);
    let from_clear = log_in(format!("http://{address}")).send().await.unwrap();
    assert_eq!(from_clear.status(), 403);
    assert!(from_clear.text().await.unwrap().contains("Another site"), "the code is still good");
    let answer = log_in(url("")).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    // What is on this machine needs no certificate.
    assert_eq!(server.get("/api/v1/overview").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn the_live_stream_is_encrypted_too() {
    let (folder, pair) = (tempfile::tempdir().unwrap(), pair(|_| {}));
    put_pair(folder.path(), &pair);
    let server = served(folder.path(), "127.0.0.1:0");
    let address = server.address();
    let mut roots = RootCertStore::empty();
    roots.add(pair.der.clone().into()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
    let stream = TcpStream::connect(address).await.unwrap();
    let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    let mut request = format!("wss://{address}/api/v1/live").into_client_request().unwrap();
    request.headers_mut().insert("origin", format!("https://{address}").parse().unwrap());
    let (mut socket, _) = client_async(request, stream).await.unwrap();
    let frame = timeout(HANGS, socket.next()).await.unwrap().unwrap().unwrap();
    assert!(frame.to_text().unwrap().contains("\"overview\":"), "{frame}");
}

#[tokio::test]
async fn a_certificate_that_was_renewed_is_used_without_a_restart() {
    let (folder, old, new) = (tempfile::tempdir().unwrap(), pair(|_| {}), pair(|_| {}));
    put_pair(folder.path(), &old);
    let server = served(folder.path(), "127.0.0.1:0");
    assert!(is_encrypted_with(&old, server.address()).await);
    // Half of it is there.
    put(folder.path(), "certificate.pem", &new.certificate);
    let told = || log().contains("the page goes on with its certificate of before");
    timeout(HANGS, async {
        while !told() {
            assert!(is_encrypted_with(&old, server.address()).await);
        }
    })
    .await
    .expect("the half that is new is looked at");
    put(folder.path(), "key.pem", &new.key);
    timeout(HANGS, async { while !is_encrypted_with(&new, server.address()).await {} })
        .await
        .expect("the new one is used");
    assert!(!is_encrypted_with(&old, server.address()).await);
}

#[tokio::test]
async fn files_that_can_not_be_used_are_told_with_what_to_do_and_nothing_is_encrypted_with_them() {
    let (good, other) = (pair(|_| {}), pair(|_| {}));
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let huge = "x".repeat(2 << 20);
    for (certificate, key, said) in [
        (None, Some(good.key.as_str()), "certificate.pem can't be read"),
        (Some(good.certificate.as_str()), None, "key.pem can't be read"),
        (Some("no PEM"), Some(&good.key), "certificate.pem holds no certificate"),
        (Some(""), Some(&good.key), "certificate.pem holds no certificate"),
        (Some(&good.certificate), Some(&good.certificate), "key.pem holds no private key"),
        (Some(&good.certificate), Some(&other.key), "does not belong to the first certificate"),
        (Some(garbage), Some(&good.key), "can't be used"),
        (Some(&huge), Some(&good.key), "larger than a megabyte"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("certificate.pem", certificate), ("key.pem", key)] {
            if let Some(text) = text {
                put(folder.path(), name, text);
            }
        }
        let server = served(folder.path(), "127.0.0.1:0");
        let log = log();
        let line = log.lines().find(|line| line.contains(&*folder.path().to_string_lossy()) && line.contains(said));
        let line = line.unwrap_or_else(|| panic!("'{said}' is not told"));
        assert!(line.contains("ERROR") && line.contains("this machine alone"), "{line}");
        assert!(!log.contains(good.key.lines().nth(1).unwrap()), "no key is told");
        assert!(!is_encrypted_with(&good, server.address()).await, "{said}");
        assert_eq!(server.get("/api/v1/overview").send().await.unwrap().status(), 200, "the robot's own computer");
        // As soon as the files are right, they are used.
        put_pair(folder.path(), &good);
        let used = async { while !is_encrypted_with(&good, server.address()).await {} };
        timeout(HANGS, used).await.unwrap_or_else(|_| panic!("{said}"));
    }
}

#[tokio::test]
async fn an_expired_certificate_is_told_and_left_to_browsers_to_judge() {
    let folder = tempfile::tempdir().unwrap();
    let expired = pair(|params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    put_pair(folder.path(), &expired);
    let server = served(folder.path(), "127.0.0.1:0");
    let told =
        log().lines().any(|line| line.contains(&*folder.path().to_string_lossy()) && line.contains("has expired"));
    assert!(told);
    assert!(!is_encrypted_with(&expired, server.address()).await, "a client that looks refuses it");
    let careless = reqwest::Client::builder().tls_danger_accept_invalid_certs(true).build().unwrap();
    let url = format!("https://{}/stop", server.address());
    let stopped = careless.post(url).header("Content-Type", "application/json").json(&json!({})).send().await.unwrap();
    assert_eq!(stopped.status(), 200, "STOP is there for who accepts it");
}

#[tokio::test]
async fn nobody_else_is_served_in_clear() {
    let Some(address) = own_address() else { return eprintln!("not tested: this machine has no network") };
    let (folder, pair) = (tempfile::tempdir().unwrap(), pair(|_| {}));
    let server = served(folder.path(), &format!("{address}:0"));
    let host = server.address();
    let ask = || async move {
        read_all(raw(host, &format!("GET /api/v1/overview?a=b HTTP/1.1\r\nHost: {host}\r\n\r\n")).await).await
    };
    let refused = ask().await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("can't encrypt its page"), "{refused}");
    put_pair(folder.path(), &pair);
    let url = format!("https://{host}/api/v1/overview");
    let asked = async {
        loop {
            if let Ok(answer) = trusting(&pair).get(&url).send().await {
                return answer.status().as_u16();
            }
        }
    };
    assert_eq!(timeout(HANGS, asked).await.expect("the files are used"), 401, "encrypted, and with a login");
    let led = ask().await;
    assert!(led.starts_with("HTTP/1.1 308"), "{led}");
    assert!(led.contains(&format!("location: https://{host}/api/v1/overview?a=b\r\n")), "{led}");
    assert!(server.port.executed().is_empty());
}
