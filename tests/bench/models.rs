//! What stands between a mission and its models: the client beside a model that answers at once, and a chain whose first model
//! is dead.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_core::{ChatModel, ChatRequest, Fragment, Message, Purpose};
use cortex_model::{ModelSet, ModelSettings, build_set};
use cortex_stories::binary;
use cortex_testkit::{OpenAiServer, Served, calls, record_mission, says};
use serde_json::{Value, json};

use crate::table::Table;

/// Requests by which times are measured.
const REQUESTS: usize = 500;
/// Missions that are recorded, and asked anew.
const MISSIONS: u64 = 200;
/// Where nobody listens.
const DEAD: &str = "openai:dead@http://127.0.0.1:9/v1";

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    let server = OpenAiServer::answering(|_| Served::Text("EXECUTE".to_owned())).await?;
    let alive = format!("openai:alive@{}", server.url());
    let alone = build_set(&ModelSet { first: alive.parse()?, ..ModelSet::default() })?;
    table.add_times("an answer of a model that answers at once", "p50 1 ms", &answers(alone.as_ref()).await?);
    let settings = ModelSettings { retries: 0, ..ModelSettings::default() };
    let set = ModelSet { first: DEAD.parse()?, fallbacks: vec![alive.parse()?], settings, ..ModelSet::default() };
    let chain = build_set(&set)?;
    let begun = Instant::now();
    chain.chat(&request()).await?;
    table.add_times("the first answer of a chain whose first model is dead", "", &[begun.elapsed()]);
    table.add_times("the further ones", "at most 200 ms", &answers(chain.as_ref()).await?);
    Ok(())
}

/// Recorded missions, asked anew of a model that answers at once, by the program that people use.
pub(crate) async fn evaluation(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (drive, arguments) = ("base-go_to", json!({"place": "kitchen"}));
    for _ in 0..MISSIONS {
        let script = [calls(&[(drive, arguments.clone())]), says("EXECUTE"), says("I am in the kitchen.")];
        record_mission(folder.path(), "Go to the kitchen.", script).await?;
    }
    let server = OpenAiServer::answering(move |request| {
        let roles = request.get("messages").and_then(Value::as_array).into_iter().flatten();
        let mut roles = roles.filter_map(|message| message.get("role")?.as_str());
        match request.get("response_format").is_some() {
            true => Served::Decision("EXECUTE".to_owned()),
            false if roles.any(|role| role == "assistant") => Served::Text("I am in the kitchen.".to_owned()),
            false => Served::Calls(vec![(drive.to_owned(), arguments.clone())]),
        }
    })
    .await?;
    let mut command = tokio::process::Command::new(binary("cortex"));
    command.args(["eval", "--json", "--model", &format!("openai:alive@{}", server.url()), "--directory"]);
    let begun = Instant::now();
    let output = command.arg(folder.path()).output().await?;
    let took = begun.elapsed();
    ensure!(output.status.success(), "cortex eval: {}", String::from_utf8_lossy(&output.stderr));
    let scores: Value = serde_json::from_slice(&output.stdout)?;
    let score = scores.pointer("/models/0").context("a score")?;
    let figure = |key: &str| score.get(key).and_then(Value::as_u64).unwrap_or_default();
    ensure!(figure("successes") == MISSIONS, "not the same as recorded: {score}");
    let requests = figure("requests");
    table.add(
        format!("{MISSIONS} recorded missions, asked anew of a model that answers at once"),
        "under 60 s",
        format!("{:.2} s", took.as_secs_f64()),
        format!("{requests} requests, one after the other"),
    );
    Ok(())
}

async fn answers(model: &dyn ChatModel) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..REQUESTS {
        let begun = Instant::now();
        let reply = model.chat(&request()).await?;
        ensure!(reply.text == "EXECUTE", "an answer of another server: {reply:?}");
        times.push(begun.elapsed());
    }
    Ok(times)
}

fn request() -> ChatRequest {
    let fragments = vec![Fragment::Task { text: "Go to the kitchen.".to_owned() }];
    ChatRequest {
        purpose: Purpose::Plan,
        messages: vec![Message::User { fragments }],
        tools: Vec::new(),
        temperature: 0.0,
        max_tokens: 100,
    }
}
