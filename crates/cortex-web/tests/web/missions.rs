//! What was recorded, the assets, and the API as a document.

use serde_json::Value;

use crate::support::{TestServer, refusal};

#[tokio::test]
async fn a_mission_is_read_back_up_to_now() {
    let server = TestServer::start();
    server.port.tell(20, "`` # not a heading\n# really <script>");
    let events = server.get_json("/api/v1/missions/m/events").await;
    assert_eq!(events.as_array().unwrap().len(), 20);
    let report = server.get("/api/v1/missions/m/report").send().await.unwrap();
    assert_eq!(report.headers()["content-disposition"], "attachment; filename=\"mission-m.md\"");
    let report = report.text().await.unwrap();
    assert_eq!(
        report.lines().filter(|line| line.starts_with("- ``` 2026") || line.starts_with("- ` 2026")).count(),
        20
    );
    assert!(!report.lines().any(|line| line.starts_with("# really")), "{report}");
    assert_eq!(refusal(server.get("/api/v1/missions/other/events")).await, (404, "not_found".to_owned()));
    for id in ["..%2f..%2fetc", "a%00b", "%20", "ä"] {
        let (status, _) = refusal(server.get(&format!("/api/v1/missions/{id}/tape"))).await;
        assert_eq!(status, 400, "{id}");
    }
    assert_eq!(refusal(server.get("/api/v1/missions")).await, (503, "unavailable".to_owned()));
    assert_eq!(refusal(server.get("/api/v1/missions?most=x")).await, (400, "invalid".to_owned()));
}

#[tokio::test]
async fn a_large_tape_comes_whole() {
    let server = TestServer::start();
    assert_eq!(refusal(server.get("/api/v1/missions/m/tape")).await, (404, "not_found".to_owned()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let lines = "{\"a\":1}\n".repeat(1 << 20);
    std::fs::write(&path, &lines).unwrap();
    *server.port.tape.lock().unwrap() = Some(path);
    let answer = server.get("/api/v1/missions/m/tape").send().await.unwrap();
    assert_eq!(answer.content_length(), Some(lines.len() as u64));
    assert!(answer.text().await.unwrap() == lines);
    // The prompts are in it.
    let token = server.log_in("Wall display", cortex_protocol::Role::Watch).await;
    let watched = server.get("/api/v1/missions/m/tape").bearer_auth(token);
    assert_eq!(refusal(watched).await, (403, "forbidden".to_owned()));
    *server.port.tape.lock().unwrap() = Some(folder.path().join("gone.jsonl"));
    assert_eq!(refusal(server.get("/api/v1/missions/m/tape")).await, (404, "not_found".to_owned()));
}

#[tokio::test]
async fn assets_are_kept_by_their_content() {
    let server = TestServer::start();
    let page = server.get("/").send().await.unwrap().text().await.unwrap();
    let at = page.find("/assets/").unwrap();
    let address = page[at..].split('"').next().unwrap().to_owned();
    let fixed = server.get(&address).send().await.unwrap();
    assert_eq!(fixed.status(), 200);
    assert!(fixed.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    let plain = server.get("/assets/page.css").send().await.unwrap();
    assert_eq!(plain.headers()["cache-control"], "no-cache");
    let tag = plain.headers()["etag"].clone();
    let known = server.get("/assets/page.css").header("If-None-Match", tag).send().await.unwrap();
    assert_eq!(known.status(), 304);
    let other = server.get("/assets/0123456789abcdef/page.css").send().await.unwrap();
    assert_eq!(other.headers()["cache-control"], "no-cache");
    for path in ["/assets/page.html", "/assets/..%2fCargo.toml", "/assets/none.js", "/assets/", "/nothing"] {
        assert_eq!(refusal(server.get(path)).await, (404, "not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn the_document_names_what_there_is() {
    let server = TestServer::start();
    let document = server.get_json("/api/v1/openapi.json").await;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let path = path.replace("{id}", "00000000000000000000000000000000");
            let method = method.to_uppercase().parse().unwrap();
            let answer =
                server.http.request(method, server.url(&path)).header("Origin", server.url("")).send().await.unwrap();
            assert_ne!(answer.status(), 405, "{path}");
            if answer.status() == 404 {
                let body: Value = answer.json().await.unwrap();
                assert!(!body["reason"].as_str().unwrap().contains("nothing at this address"), "{path}");
            }
        }
    }
    let answer = server.get("/nothing").send().await.unwrap();
    for (header, value) in [
        ("x-content-type-options", "nosniff"),
        // With "no-referrer", browsers send forms with "Origin: null".
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.headers()[header], value, "{header}");
    }
    assert_eq!(refusal(server.get("/stop")).await, (405, "invalid".to_owned()));
}

/// The files of an archive, with what they hold.
fn unpacked(archive: &[u8]) -> std::collections::BTreeMap<String, String> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
        (name, text)
    };
    archive.entries().unwrap().map(read).collect()
}

#[tokio::test]
async fn an_incident_holds_what_is_needed_to_look_into_a_mission() {
    let server = TestServer::start();
    server.port.tell(3, "<script> and ```");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let tape = "{\"a\":1}\n".repeat(200_000);
    std::fs::write(&path, &tape).unwrap();
    *server.port.tape.lock().unwrap() = Some(path);
    let answer = server.get("/api/v1/missions/m/incident").send().await.unwrap();
    assert_eq!(answer.headers()["content-disposition"], "attachment; filename=\"incident-m.tar.gz\"");
    let files = unpacked(&answer.bytes().await.unwrap());
    assert!(files["incident-m/tape.jsonl"] == tape);
    assert!(files["incident-m/report.md"].contains("# Mission report"));
    let overview: Value = serde_json::from_str(&files["incident-m/overview.json"]).unwrap();
    assert_eq!(overview["robot"], "Robbie");
    let versions: Value = serde_json::from_str(&files["incident-m/versions.json"]).unwrap();
    assert_eq!((&versions["mission"], &versions["robot"]), (&"m".into(), &"Robbie".into()));
    for named in files["incident-m/README.txt"].lines().filter_map(|line| line.split_once("  ")) {
        let (name, _) = named;
        assert!(name.is_empty() || files.contains_key(&format!("incident-m/{name}")), "{name}");
    }
    assert!(crate::support::log().contains("incident"), "who has kept it is in the log");
    // Without a tape there is the rest; without the mission there is nothing.
    *server.port.tape.lock().unwrap() = None;
    let answer = server.get("/api/v1/missions/m/incident").send().await.unwrap();
    assert!(!unpacked(&answer.bytes().await.unwrap()).contains_key("incident-m/tape.jsonl"));
    assert_eq!(refusal(server.get("/api/v1/missions/other/incident")).await, (404, "not_found".to_owned()));
    let watcher = server.log_in("visitor", cortex_protocol::Role::Watch).await;
    let request = server.get("/api/v1/missions/m/incident").bearer_auth(watcher);
    assert_eq!(refusal(request).await, (403, "forbidden".to_owned()));
}
