//! What stands between a mission and its models: the client beside a model that answers at once, and a chain whose first model
//! is dead.

use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_core::{ChatModel, ChatRequest, Fragment, Message, Purpose};
use cortex_model::{ModelSet, ModelSettings, build_set};
use cortex_testkit::{OpenAiServer, Served};

use crate::table::Table;

/// Requests by which times are measured.
const REQUESTS: usize = 500;
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
