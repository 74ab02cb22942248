//! `cortex knowledge` with a model for texts behind an endpoint, in whose place a server of tests answers.
#![cfg(feature = "openai")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

const KEY: &str = "hunter2-hunter2";

/// What has to do with fire points one way, and all else the other.
fn answer(request: &Value) -> Served {
    let texts = request.get("input").and_then(Value::as_array).cloned().unwrap_or_default();
    let entry = |(index, text): (usize, &Value)| {
        let is_fire = text.as_str().is_some_and(|text| text.contains("alarm") || text.contains("flames"));
        json!({"index": index, "embedding": if is_fire { [2.0, 0.0] } else { [0.0, 2.0] }})
    };
    Served::Raw(200, json!({"data": texts.iter().enumerate().map(entry).collect::<Value>()}).to_string())
}

/// The status of `cortex knowledge` in this folder, and what it prints.
fn knowledge(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cortex"));
    command.arg("knowledge").args(arguments).env_clear().env("HOME", folder).stdin(Stdio::null());
    command.env("CORTEX_CONFIG", folder.join("cortex.toml")).current_dir(folder);
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

fn configure(folder: &Path, url: &str, dimension: usize) {
    std::fs::write(folder.join("key"), format!("{KEY}\n")).unwrap();
    let configuration = format!(
        "[embedding]\nendpoint = \"{url}\"\nmodel = \"fire\"\ndimension = {dimension}\n[keys.\"{url}\"]\nkey_file = \"{}\"\n",
        folder.join("key").display()
    );
    std::fs::write(folder.join("cortex.toml"), configuration).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_found_by_a_model_behind_an_endpoint_and_by_words_while_it_is_away() {
    let server = OpenAiServer::answering(answer).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    configure(folder.path(), &server.url(), 2);
    std::fs::write(at("alarm.md"), "At the alarm, walk to the car park.\n").unwrap();
    std::fs::write(at("kettle.md"), "Fill the kettle with vinegar.\n").unwrap();
    let (code, told) = knowledge(folder.path(), &["add", "alarm.md", "kettle.md"]);
    assert!(code == Some(0) && told.starts_with("2 added"), "{told}");
    let (_, found) = knowledge(folder.path(), &["search", "-n", "1", "flames everywhere!"]);
    assert!(found.contains("%  alarm.md\n"), "{found}");
    let keys = server.authorizations();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.as_deref() == Some(&format!("Bearer {KEY}"))), "{keys:?}");

    configure(folder.path(), &server.url(), 3);
    let (code, told) = knowledge(folder.path(), &["add", "alarm.md"]);
    assert!(code == Some(0) && told.contains("have 2 numbers, and embedding.dimension is 3; write 2 there"), "{told}");

    configure(folder.path(), &server.url(), 2);
    drop(server);
    std::fs::write(at("door.md"), "The key of the door hangs beside it.\n").unwrap();
    let (code, told) = knowledge(folder.path(), &["add", "door.md"]);
    assert!(code == Some(0) && told.contains("1 added"), "{told}");
    assert!(told.contains("found by their words alone for now") && !told.contains(KEY), "{told}");
    assert_eq!(knowledge(folder.path(), &["search", "flames everywhere!"]).0, Some(1), "no word of it is there");
    let (_, found) = knowledge(folder.path(), &["search", "where is the key?"]);
    assert!(found.contains("door.md"), "{found}");
}
