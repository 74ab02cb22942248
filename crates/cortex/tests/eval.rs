//! `cortex eval` as people start it, on a machine without ROS: recorded missions, and a model behind real HTTP.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Stdio;

use cortex_testkit::{OpenAiServer, Served, calls, record_mission, says};
use serde_json::{Value, json};
use tokio::process::Command;

/// A folder with two recorded missions, both of which succeeded.
async fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for place in ["kitchen", "bedroom"] {
        let drive = calls(&[("base-go_to", json!({"place": place}))]);
        let script = [drive, says("EXECUTE"), says("I am there.")];
        let result =
            record_mission(&folder.path().join("tapes"), &format!("Go to the {place}."), script).await.unwrap();
        assert!(result.is_success(), "{result:#?}");
    }
    folder
}

/// A model that drives to the kitchen, whatever it is asked, until it has.
async fn drives_to_the_kitchen() -> OpenAiServer {
    OpenAiServer::answering(|request| {
        let roles = request["messages"].as_array().into_iter().flatten().map(|message| message["role"].clone());
        if request.get("response_format").is_some() {
            Served::Decision("EXECUTE".to_owned())
        } else if roles.into_iter().any(|role| role == "assistant") {
            Served::Text("I am there.".to_owned())
        } else {
            Served::Calls(vec![("base-go_to".to_owned(), json!({"place": "kitchen"}))])
        }
    })
    .await
    .unwrap()
}

/// The status of `cortex`, what it prints, and what it complains of.
async fn cortex(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cortex"));
    command.args(arguments).env_clear().env("HOME", folder).current_dir(folder).stdin(Stdio::null());
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_compared_in_a_table() {
    let (folder, server) = (recorded().await, drives_to_the_kitchen().await);
    let model = format!("openai:tried@{}", server.url());
    let tried = ["eval", "tapes", "--model", &model, "--model", "replay:tapes", "--differences"];
    let (code, told, complained) = cortex(folder.path(), &tried).await;
    assert_eq!((code, complained.as_str()), (Some(0), ""), "{told}");
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("model ") && lines[0].ends_with("money"), "{told}");
    assert!(lines[1].starts_with(&model) && lines[1].contains("1 of 2") && lines[1].contains("1 (at 1)"), "{told}");
    assert!(lines[2].starts_with("replay:tapes") && lines[2].contains("2 of 2"), "{told}");
    let difference =
        "question 1: recorded: plans base.go_to {\"place\":\"bedroom\"}; now: plans base.go_to {\"place\":\"kitchen\"}";
    assert!(told.contains(difference), "{told}");

    let (code, told, _) = cortex(folder.path(), &["eval", "tapes", "--model", &model, "--json"]).await;
    let scores: Value = serde_json::from_str(&told).unwrap();
    let score = &scores["models"][0];
    assert_eq!((code, &score["successes"], &score["requests"]), (Some(0), &json!(1), &json!(6)), "{told}");
    assert_eq!(score["each"][1]["divergence"]["question"], 1);
    assert_eq!(scores["not_read"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_asked_is_told_before_anything_is() {
    let (folder, server) = (recorded().await, drives_to_the_kitchen().await);
    let model = format!("openai:tried@{}", server.url());
    for (arguments, says) in [
        (vec!["--model", &model, "--model", "gpt"], "'gpt' names no model"),
        (vec!["--model", &model, "--set", "queue.length=3"], "changes no question to a model"),
        (vec!["--model", &model, "--set", "mission.planning_temperature=9"], "must be from 0 to 2"),
        (vec!["--model", &model, "--prompt", "missing.txt"], "missing.txt can't be read"),
        (vec!["--model", "replay:missing"], "missing"),
        (vec!["--model", &model, "elsewhere"], "'elsewhere' is neither a file nor a folder"),
    ] {
        let all = [vec!["eval", "--directory", "tapes"], arguments].concat();
        let (code, told, complained) = cortex(folder.path(), &all).await;
        assert_eq!((code, told.as_str()), (Some(2), ""), "{all:?}: {complained}");
        assert!(complained.contains(says), "{all:?}: {complained}");
    }
    assert!(server.requests().is_empty(), "a mistake costs no request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_tape_is_named_and_the_others_are_asked_about() {
    let (folder, server) = (recorded().await, drives_to_the_kitchen().await);
    let foreign = folder.path().join("tapes/00000000-0000-7000-8000-000000000000.jsonl");
    std::fs::write(&foreign, "\u{1b}[31mno tape\n").unwrap();
    let model = format!("openai:tried@{}", server.url());
    let (code, told, complained) = cortex(folder.path(), &["eval", "tapes", "--model", &model]).await;
    assert_eq!(code, Some(1), "{told}{complained}");
    assert!(complained.contains("not asked: ") && complained.contains("is not a tape"), "{complained}");
    assert!(told.contains("1 of 2"), "{told}");

    std::fs::remove_file(foreign).unwrap();
    let tape = std::fs::read_dir(folder.path().join("tapes")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&tape).unwrap();
    std::fs::write(&tape, text.replacen("I am there.", "I am here.", 1)).unwrap();
    let (code, _, complained) = cortex(folder.path(), &["eval", "tapes", "--model", &model]).await;
    assert_eq!((code, complained.contains("was changed: line ")), (Some(1), true), "{complained}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_mission_asked_its_model_is_read_from_its_tape() {
    let folder = recorded().await;
    let (_, list, _) = cortex(folder.path(), &["tape", "list", "--directory", "tapes"]).await;
    let mission = list.split_whitespace().nth(1).unwrap().to_owned();
    let (code, told, _) = cortex(folder.path(), &["tape", "exchanges", &mission, "--directory", "tapes"]).await;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!((code, lines.len()), (Some(0), 3), "{told}");
    assert!(lines[0].contains("plan") && lines[0].contains("scripted  base-go_to {\"place\":\"kitchen\"}"), "{told}");
    assert!(lines[1].contains("confirm") && lines[1].ends_with("EXECUTE"), "{told}");
    let (_, json, _) = cortex(folder.path(), &["tape", "exchanges", &mission, "--json", "--directory", "tapes"]).await;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["model"], &first["request"]["purpose"]), (&json!("scripted"), &json!("plan")));
    assert_eq!(first["reply"]["calls"][0]["name"], "base-go_to");
}
