//! What a mission costs on its model, and what Cortex adds to its steps: the real runtime and the real adapter, an
//! OpenAI-compatible server that answers at once, and tools that need no time. No ROS, so that nothing else is measured.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_core::mission::ConfirmationMode;
use cortex_core::mission::MissionSetup;
use cortex_core::{
    CallArguments, ChatReply, Effect as MissionEffect, Input, Mission, MissionLimits, ModelCall, ToolSet, plan,
};
use cortex_model::{ModelSettings, OpenAiModel};
use cortex_protocol::{Effect, Origin, Submission, ToolCall, ToolOutcome, ToolPhase, ToolSpec};
use cortex_runtime::tape::{Flush, TapeSettings};
use cortex_runtime::{Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, OpenAiServer, Served, tool};
use serde_json::{Map, Value, json};

use crate::PATIENCE;

/// Components of the robot on which missions are counted.
pub const COMPONENTS: usize = 10;

/// What one mission cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Requests to the model.
    pub requests: usize,
    /// Bytes of their bodies in all.
    pub bytes: usize,
    /// Of these, the bytes with which a request begins as an earlier one did: what a provider may have in its cache.
    pub unchanged: usize,
    /// From the submission to the result.
    pub took: Duration,
}

/// What the steps of the measured plan do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// Each acts.
    Act,
    /// Every other one only looks.
    ActAndLook,
}

/// Where the measured missions are recorded, and how.
#[derive(Debug, Clone, Copy)]
pub enum Record<'a> {
    /// Nowhere.
    None,
    /// In this folder, with this flush.
    In(&'a Path, Flush),
}

/// Runs missions of so many steps one after the other, on a robot of [`COMPONENTS`].
///
/// # Errors
/// When one does not succeed.
pub async fn missions(
    count: usize,
    steps: usize,
    kind: Steps,
    confirmation: ConfirmationMode,
    record: Record<'_>,
) -> anyhow::Result<Vec<Cost>> {
    missions_on(COMPONENTS, count, steps, kind, confirmation, record).await
}

/// The same on a robot of so many components, all of which are offered.
///
/// # Errors
/// When one does not succeed.
pub async fn missions_on(
    components: usize,
    count: usize,
    steps: usize,
    kind: Steps,
    confirmation: ConfirmationMode,
    record: Record<'_>,
) -> anyhow::Result<Vec<Cost>> {
    let server = model(components, steps, kind).await?;
    let model = OpenAiModel::new("scripted", &server.url(), ModelSettings::default())?;
    let robot = robot(components);
    let tools =
        Arc::new(FakeTools::new(robot.iter().map(|spec| (spec.name.as_str(), Behaviour::Returns(json!("done"))))));
    let mut config = RuntimeConfig::default();
    config.limits.confirmation = confirmation;
    let needed = u32::try_from(steps)?;
    config.limits.max_execution_steps = config.limits.max_execution_steps.max(needed);
    config.limits.max_model_calls = config.limits.max_model_calls.max(needed + 5);
    config.limits.max_offered_tools = config.limits.max_offered_tools.max(robot.len());
    if let Record::In(folder, flush) = record {
        config.tape = Some(TapeSettings { flush, ..TapeSettings::at(folder) });
    }
    let runtime = Runtime::start(config, Arc::new(model));
    let provider = runtime.register(tools);
    provider.offer_tools(robot).await;
    let mut costs = Vec::new();
    let mut asked = 0;
    for _ in 0..count {
        let begun = Instant::now();
        let task = "Take the cup to the kitchen.";
        let submission = Submission { task: task.to_owned(), session: None, origin: Origin::new("cli", "bench") };
        let result = runtime.submit(submission).await?.result.await.context("no result")?;
        let took = begun.elapsed();
        ensure!(result.steps.len() == steps && result.words() == "Done.", "the mission failed: {}", result.output);
        let sizes = server.request_sizes();
        let new = sizes.get(asked..).unwrap_or_default();
        let unchanged = unchanged(server.requests().get(asked..).unwrap_or_default());
        costs.push(Cost { requests: new.len(), bytes: new.iter().sum(), unchanged, took });
        asked = sizes.len();
    }
    ensure!(runtime.shut_down(PATIENCE).await, "something was left running");
    Ok(costs)
}

/// Of how many bytes the requests begin as one before them did. Providers read the tools first, then the messages.
fn unchanged(requests: &[Value]) -> usize {
    let texts: Vec<String> =
        requests.iter().map(|request| format!("{}{}", request["tools"], request["messages"])).collect();
    let shared =
        |one: &str, other: &str| one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let before = |index: usize, text: &str| texts.iter().take(index).map(|other| shared(text, other)).max();
    texts.iter().enumerate().filter_map(|(index, text)| before(index, text)).sum()
}

/// How long a mission of three steps of one second each takes that nothing orders.
///
/// # Errors
/// When it does not succeed.
pub async fn three_together() -> anyhow::Result<Duration> {
    let calls = ["unit1-go_to", "unit2-go_to", "unit3-go_to"];
    let calls = calls.map(|name| (name.to_owned(), json!({"place": "kitchen", "after": []}))).to_vec();
    let execute = || Served::Text("EXECUTE".to_owned());
    let script = [Served::Calls(calls), execute(), execute(), execute(), Served::Text("Done.".to_owned())];
    let server = OpenAiServer::start(script).await?;
    let model = OpenAiModel::new("scripted", &server.url(), ModelSettings::default())?;
    let robot = robot(COMPONENTS);
    let second = || Behaviour::Takes(Duration::from_secs(1), json!("done"));
    let tools = Arc::new(FakeTools::new(robot.iter().map(|spec| (spec.name.as_str(), second()))));
    let runtime = Runtime::start(RuntimeConfig::default(), Arc::new(model));
    let provider = runtime.register(tools);
    provider.offer_tools(robot).await;
    let begun = Instant::now();
    let submission =
        Submission { task: "Go, all of you.".to_owned(), session: None, origin: Origin::new("cli", "bench") };
    let result = runtime.submit(submission).await?.result.await.context("no result")?;
    let took = begun.elapsed();
    ensure!(result.words() == "Done.", "the mission failed: {}", result.output);
    ensure!(runtime.shut_down(PATIENCE).await, "something was left running");
    Ok(took)
}

/// The time that the plan graph of so many steps takes: built and checked for cycles, ordered, and cut into levels. The
/// steps are in a row, or nothing orders them.
///
/// # Errors
/// When a step is left out.
pub fn graph_time(steps: usize, in_a_row: bool) -> anyhow::Result<Duration> {
    let request = |_| plan::Request {
        call: ToolCall { tool: "camera.look".into(), arguments: Map::new() },
        after: (!in_a_row).then(Vec::new),
        instead_of: Vec::new(),
    };
    let requests = (0..steps).map(request).collect();
    let begun = Instant::now();
    let graph = plan::build(requests)?;
    let order = plan::order(&graph)?;
    let levels = plan::levels(&graph);
    let took = begun.elapsed();
    let levelled: usize = levels.iter().map(Vec::len).sum();
    ensure!(order.len() == steps && levelled == steps, "of {steps} steps, {} are ordered", order.len());
    Ok(took)
}

/// The time that the mission machine takes for a plan of so many steps that only look: from the reply with the plan to
/// the last word, nothing else. The steps are in a row, or may all run together.
///
/// # Errors
/// When a step is left out.
pub fn machine_time(steps: usize, in_a_row: bool) -> anyhow::Result<Duration> {
    let spec = tool("camera.look", ToolPhase::Execution, Effect::Observe);
    let limits = MissionLimits {
        max_execution_steps: u32::try_from(steps)?,
        confirmation: ConfirmationMode::Adaptive,
        ..MissionLimits::default()
    };
    let setup = MissionSetup {
        task: "Look.".to_owned(),
        reading: cortex_protocol::TaskReading::default(),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools: ToolSet::new([spec]).0,
        availability: cortex_core::Availability::default(),
        removed: cortex_core::RemovedTools::default(),
        limits,
        policy: cortex_core::mission::PolicySetup::default(),
        reopens: None,
    };
    let mut mission = Mission::new(setup);
    let effects = mission.handle(Duration::ZERO, Input::Start);
    let mut asked = effects.iter().filter_map(|effect| match effect {
        MissionEffect::AskModel { request, .. } => Some(*request),
        _ => None,
    });
    let request = asked.next().context("the model is not asked")?;
    let arguments = if in_a_row { json!({}) } else { json!({"after": []}) };
    let call = |index: usize| ModelCall {
        id: format!("call-{index}"),
        name: "camera-look".to_owned(),
        arguments: CallArguments::read(&arguments.to_string()),
    };
    let reply = ChatReply { calls: (0..steps).map(call).collect(), ..ChatReply::default() };
    let begun = Instant::now();
    let mut effects = mission.handle(Duration::ZERO, Input::ModelReplied { request, reply: Ok(reply) });
    let mut ended = 0;
    loop {
        let calls: Vec<_> = effects
            .drain(..)
            .filter_map(|effect| match effect {
                MissionEffect::Invoke { call, .. } => Some(call),
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            break;
        }
        for call in calls {
            ended += 1;
            effects.extend(
                mission.handle(Duration::ZERO, Input::CallEnded { call, outcome: ToolOutcome::success(Value::Null) }),
            );
        }
    }
    let took = begun.elapsed();
    ensure!(ended == steps, "{ended} of {steps} steps were run");
    Ok(took)
}

/// A robot of ten components, each with a method that acts and one that looks, described as people describe them.
fn robot(components: usize) -> Vec<ToolSpec> {
    let place = json!({
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "The room or the piece of furniture, as people call it."},
            "speed": {"type": "number", "minimum": 0.05, "maximum": 1.0, "description": "Metres per second."}
        },
        "required": ["place"],
        "additionalProperties": false
    });
    let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
    (1..=components)
        .flat_map(|number| {
            let acts = tool(&format!("unit{number}.go_to"), ToolPhase::Execution, Effect::Move)
                .with_description(format!(
                    "Takes unit {number} to a named place and waits until it is there. Fails when the way is blocked."
                ))
                .with_parameters(place.clone());
            let looks = tool(&format!("unit{number}.look"), ToolPhase::Both, Effect::Observe)
                .with_description(format!("Says what unit {number} sees, in words, with the distance in metres."))
                .with_parameters(nothing.clone());
            [acts, looks]
        })
        .collect()
}

/// A model that plans at once, says EXECUTE to each step, and has a last word.
async fn model(components: usize, steps: usize, kind: Steps) -> anyhow::Result<OpenAiServer> {
    let plan: Vec<(String, Value)> = (0..steps)
        .map(|step| match kind {
            Steps::ActAndLook if step % 2 == 1 => (format!("unit{}-look", step % components + 1), json!({})),
            _ => (format!("unit{}-go_to", step % components + 1), json!({"place": "kitchen", "speed": 0.5})),
        })
        .collect();
    let answer = move |request: &Value| {
        let offered = request["tools"].as_array().map_or(0, Vec::len);
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        // A reply with calls of an earlier plan stands in the conversation.
        let planned = messages.iter().any(|message| message["role"] == "tool");
        match (offered, planned) {
            (0 | 1, _) => Served::Text("EXECUTE".to_owned()),
            (_, true) => Served::Text("Done.".to_owned()),
            (_, false) => Served::Calls(plan.clone()),
        }
    };
    Ok(OpenAiServer::answering(answer).await?)
}
