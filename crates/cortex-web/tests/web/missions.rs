//! What was recorded, the assets, and the API as a document.

use serde_json::Value;

use crate::support::{HANGS, TestServer, refusal};

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

#[tokio::test]
async fn parts_of_a_mission_from_its_end_are_all_of_it() {
    let server = TestServer::start();
    server.port.tell(50, "a line");
    let whole = server.get_json("/api/v1/missions/m/events").await;
    let whole = whole.as_array().unwrap();
    for most in [1, 7, 49, 50, 500] {
        let (mut parts, mut before) = (Vec::new(), String::new());
        loop {
            let part = server.get_json(&format!("/api/v1/missions/m/events?most={most}{before}")).await;
            let part = part.as_array().unwrap().clone();
            assert!(part.len() <= most);
            let Some(first) = part.first() else { break };
            before = format!("&before={}", first["id"].as_str().unwrap());
            parts.splice(0..0, part);
        }
        assert_eq!(&parts, whole, "in parts of {most}");
    }
    let last = server.get_json("/api/v1/missions/m/events?progress=latest").await;
    assert_eq!(last.as_array().unwrap(), whole, "what is no progress is never left out");
    for (query, expected) in [
        ("before=other", (404, "not_found")),
        ("progress=some", (400, "invalid")),
        ("most=-1", (400, "invalid")),
        (&format!("before={}", "x".repeat(1_000)), (400, "invalid")),
    ] {
        let refused = refusal(server.get(&format!("/api/v1/missions/m/events?{query}"))).await;
        assert_eq!(refused, (expected.0, expected.1.to_owned()), "{query}");
    }
    assert_eq!(refusal(server.get("/api/v1/missions/other/events?most=1")).await, (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_part_that_the_tape_does_not_hold_yet_comes_from_where_it_is() {
    let server = TestServer::start();
    server.port.tell(30, "a line");
    let whole = server.get_json("/api/v1/missions/m/events").await;
    let whole = whole.as_array().unwrap();
    let tape = whole[..20].iter().map(|event| serde_json::from_value(event.clone()).unwrap()).collect();
    *server.port.window.lock().unwrap() = Some(tape);
    // Of what is known to have happened, the tape lacks the last ones. It is known a moment after it happens.
    let known = async {
        while server.get_json("/api/v1/missions/m/events?most=5").await.as_array().unwrap() != &whole[25..] {}
    };
    tokio::time::timeout(HANGS, known).await.unwrap();
    // Where nothing is lacking, nothing else is read.
    let before = whole[10]["id"].as_str().unwrap();
    let part = server.get_json(&format!("/api/v1/missions/m/events?most=5&before={before}")).await;
    assert_eq!(part.as_array().unwrap(), &whole[..20]);
}
