//! One scenario from its task to its result, with real processes.

#![expect(clippy::indexing_slicing, reason = "what a JSON value does not hold is null, not a panic")]

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::chat::Purpose;
use cortex_core::mission::{ConfirmationArguments, ConfirmationMode, DECLINE_TOOL};
use cortex_core::{ChatRequest, Message, ToolDefinition};
use cortex_protocol::StopOutcome;
use cortex_protocol::{CloudEvent, MissionEvent, MissionResult, ToolCall, ToolSpec};
use cortex_runtime::Rejection;
use cortex_stories::{Process, Sent, TestRobot, finish_send};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::Value;

use crate::file::{FurtherTask, Happening, LimitsTable, People, Scenario, ToolTable};
use crate::robot::{Robot, robot};
use crate::served::served;
use crate::world::{self, Moment};
use crate::{compare, rules};

/// How long a model may think where the scenario does not say: longer than any that answers needs, also on a machine
/// with much else to do.
const MODEL_TIMEOUT_S: f64 = 20.0;

/// What was seen of a scenario: as on the paused clock.
pub(crate) struct Observed {
    pub(crate) result: MissionResult,
    pub(crate) others: Vec<(FurtherTask, Result<MissionResult, Rejection>)>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) halts: Vec<String>,
    pub(crate) events: Vec<Arc<CloudEvent>>,
    pub(crate) lines: Vec<String>,
    pub(crate) requests: Vec<ChatRequest>,
    pub(crate) counted_requests: usize,
    pub(crate) stops: Vec<StopOutcome>,
    pub(crate) specs: Vec<ToolSpec>,
    pub(crate) at_rest: bool,
}

/// Tells a scenario.
///
/// # Panics
/// When something else came of it than it expects.
pub(crate) async fn tell(title: String, tools: BTreeMap<String, ToolTable>, mut scenario: Scenario) {
    let world =
        world::make(&tools, &BTreeMap::new(), &[], &scenario).unwrap_or_else(|problem| panic!("{title}: {problem}"));
    assert_eq!(scenario.known_defect, None, "{title}: fix it first");
    assert!(scenario.more.is_empty(), "{title}: there is one task on real ROS; take away on_ros");
    assert!(world.absent.is_empty(), "{title}: no tool comes later on real ROS; take away on_ros");
    let robot = robot(&tools, &scenario, &world.specs);
    let model = model(&scenario).await;
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    // The models of the scenarios are wrong on purpose: how far the other checks hold is what they show.
    test_robot.add_environment("CORTEX_POLICY__DOUBTED", "allow".to_owned());
    test_robot.configure(&configuration(&scenario.limits, &robot));
    let path = test_robot.file("robot.json", &robot.description.to_string());
    test_robot.start_python("robot", "scripted_robot.py", &[&path]).await;
    match &model {
        Some(server) => test_robot.start_cortex_with(server).await,
        None => test_robot.start_cortex(&["--model", "reflex"]).await,
    }
    let is_complete = |line: &String| {
        let (tools, of) = line.strip_prefix("tools: ")?.strip_suffix(" components)")?.split_once(" (")?;
        // Beside the robot's there is at least one of Cortex itself.
        (of.parse() == Ok(robot.components) && tools.parse::<usize>().ok()? > robot.fewest_tools).then_some(())
    };
    test_robot.process("cortex").wait_for("all tools", |lines| lines.iter().find_map(is_complete)).await;

    let sending = test_robot.begin_send(&scenario.task);
    let (sent, stops) = follow(&mut test_robot, sending, world.happenings).await;
    let observed = observe(&mut test_robot, &sent, stops, model.as_ref(), world.specs).await;

    // Nobody can hold a machine with much else to do to a time.
    scenario.expect.seconds_at_most = None;
    scenario.expect.halts.retain(|tool| !robot.lost.contains(tool));
    let mut problems = rules::broken(&observed);
    problems.extend(compare::differences(&scenario.expect, &observed));
    if !problems.is_empty() {
        let mut text = format!("\n{title}\n");
        for problem in problems {
            let _ = writeln!(text, "  {}", problem.replace('\n', "\n  "));
        }
        let _ = writeln!(text, "  what happened:\n    {}", observed.lines.join("\n    "));
        panic!("{text}");
    }
}

/// Hears the events of the task and makes happen what the scenario says.
async fn follow(
    test_robot: &mut TestRobot,
    mut sending: Process,
    mut happenings: Vec<(Moment, Happening)>,
) -> (Sent, Vec<StopOutcome>) {
    let mut stops = Vec::new();
    happenings.sort_by_key(|(moment, _)| match moment {
        Moment::At(time) => *time,
        // Told in the order in which they are written.
        Moment::AfterLine(_) => Duration::ZERO,
    });
    for (moment, happening) in happenings {
        match moment {
            Moment::AfterLine(part) => {
                let says = |event: &Value| {
                    event.pointer("/data/text").and_then(Value::as_str).is_some_and(|text| text.contains(&part))
                };
                sending.wait_for_json(&part, says).await;
                if let Some(tool) =
                    part.strip_suffix(": started").and_then(|step| step.rsplit(' ').next()?.split('{').next())
                {
                    // What is halted before it was sent never reaches the robot.
                    test_robot.process("robot").wait_for_json("the call", |line| line["called"] == tool).await;
                }
            }
            Moment::At(_) => panic!("on real ROS things happen 'after' a line, not 'at' a time"),
        }
        match happening {
            Happening::People(People::Cancel) => sending.signal("INT"),
            Happening::People(People::ShutDown) => test_robot.process("cortex").signal("TERM"),
            Happening::People(People::Stop) => stops.push(stop(test_robot).await),
            other => panic!("{other:?} can't be had on real ROS; take away on_ros"),
        }
    }
    (finish_send(sending).await, stops)
}

/// Stops the robot as a person does.
async fn stop(test_robot: &TestRobot) -> StopOutcome {
    let (_, told, _) = test_robot.run("cortex", &["stop"]).await;
    let named = told.split_once("at rest: ").map(|(_, names)| names.trim().trim_end_matches('.')).unwrap_or_default();
    let not_stopped = named.split(", ").filter(|name| !name.is_empty()).map(Into::into).collect();
    StopOutcome { not_stopped, missions_ended: 1 }
}

async fn observe(
    test_robot: &mut TestRobot,
    sent: &Sent,
    stops: Vec<StopOutcome>,
    model: Option<&OpenAiServer>,
    specs: Vec<ToolSpec>,
) -> Observed {
    // Their ends, and with them all that they said.
    let mut codes = Vec::new();
    for name in ["cortex", "robot"] {
        let process = test_robot.process(name);
        if !process.has_ended() {
            process.signal("TERM");
        }
        codes.push(process.wait().await);
    }
    let events: Vec<Arc<CloudEvent>> = sent
        .events
        .iter()
        .map(|event| Arc::new(serde_json::from_value(event.clone()).expect("an event has the form of events")))
        .collect();
    let result = events.iter().rev().find_map(|event| match &event.data.payload {
        MissionEvent::Finished { result } => Some(result.clone()),
        _ => None,
    });
    let result = result.unwrap_or_else(|| panic!("the mission has no result; {sent:#?}"));
    let (mut calls, mut halts) = (Vec::new(), Vec::new());
    for line in test_robot.process("robot").stdout() {
        let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(tool) = line["called"].as_str() {
            let arguments = line["arguments"].as_object().cloned().unwrap_or_default();
            calls.push(ToolCall { tool: tool.into(), arguments });
        }
        halts.extend(line["halted"].as_str().map(str::to_owned));
    }
    Observed {
        counted_requests: result.usage.model_calls as usize,
        result,
        others: Vec::new(),
        calls,
        halts,
        lines: events.iter().map(|event| event.data.text.clone()).collect(),
        events,
        requests: model.map(|model| model.requests().iter().map(request).collect()).unwrap_or_default(),
        stops,
        specs,
        at_rest: codes.first() == Some(&Some(0)),
    }
}

/// The model of a scenario, behind a port; none for the command reader.
async fn model(scenario: &Scenario) -> Option<OpenAiServer> {
    let Value::Array(lines) = &scenario.model else { return None };
    let serve = |value: &Value| served(&world::reply(value.clone()).expect("the reply of a model"));
    let script: Mutex<VecDeque<Served>> = Mutex::new(lines.iter().map(serve).collect());
    let always = scenario.and_then_always.as_ref().map(serve);
    let answer = move |_: &Value| {
        let next = script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.or_else(|| always.clone()).unwrap_or_else(|| Served::Raw(500, "the script is over".to_owned()))
    };
    Some(OpenAiServer::answering(answer).await.expect("a free port"))
}

/// The bounds of the scenario, as a configuration.
fn configuration(limits: &LimitsTable, robot: &Robot) -> String {
    // A model that fails fails once: what its endpoint tries again is a story of its own.
    let seconds = limits.model_timeout.unwrap_or(MODEL_TIMEOUT_S);
    let mut text = format!(
        "[endpoint]\nretries = 0\nattempt_timeout_s = {seconds:?}\nrequest_timeout_s = {seconds:?}\n[mission]\n"
    );
    let mut set = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    assert_eq!(limits.confirmations_per_step, None, "it can't be configured; take away on_ros");
    set("max_planning_steps", limits.planning_steps.map(|number| number.to_string()));
    set("max_execution_steps", limits.execution_steps.map(|number| number.to_string()));
    set("max_parallel_steps", limits.parallel_steps.map(|number| number.to_string()));
    set("max_replans", limits.replans.map(|number| number.to_string()));
    set("max_model_calls", limits.model_calls.map(|number| number.to_string()));
    set("max_corrections", limits.corrections.map(|number| number.to_string()));
    set("max_retries", limits.retries.map(|number| number.to_string()));
    set("max_offered_tools", limits.offered_tools.map(|number| number.to_string()));
    set("max_conversation_bytes", limits.conversation_bytes.map(|number| number.to_string()));
    set("max_duration_s", limits.duration.map(|seconds| format!("{seconds:?}")));
    set(
        "confirmation",
        limits.confirmation.map(|mode| match mode {
            ConfirmationMode::Always => "\"always\"".to_owned(),
            ConfirmationMode::Adaptive => "\"adaptive\"".to_owned(),
        }),
    );
    set(
        "confirmation_arguments",
        limits.confirmation_arguments.map(|arguments| match arguments {
            ConfirmationArguments::AsPlanned => "\"as_planned\"".to_owned(),
            ConfirmationArguments::Any => "\"any\"".to_owned(),
        }),
    );
    set("[budget]\nmax_tokens", limits.tokens.map(|number| number.to_string()));
    // As in the scenario, where a goal holds nothing unless it says so.
    let held = robot.actions.iter().fold(String::new(), |text, action| format!("{text}\"{action}\" = []\n"));
    format!("{text}[discovery.resources]\n{held}")
}

/// What the wire shows of a request.
fn request(body: &Value) -> ChatRequest {
    let tools: Vec<ToolDefinition> = body["tools"].as_array().into_iter().flatten().map(tool).collect();
    let plans = tools.iter().any(|tool| tool.name == DECLINE_TOOL);
    ChatRequest {
        purpose: if plans { Purpose::Plan } else { Purpose::Confirm },
        messages: body["messages"].as_array().into_iter().flatten().map(message).collect(),
        tools,
        temperature: 0.0,
        max_tokens: 0,
    }
}

fn tool(body: &Value) -> ToolDefinition {
    let text = |name: &str| body["function"][name].as_str().unwrap_or_default().to_owned();
    ToolDefinition {
        name: text("name"),
        description: text("description"),
        parameters: body["function"]["parameters"].clone(),
        phase: cortex_protocol::ToolPhase::Planning,
        phrases: Vec::new(),
        // The head of the description says it here.
        kind: cortex_core::ToolKind::BuiltIn,
    }
}

fn message(body: &Value) -> Message {
    let text = match &body["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    // Who says it makes no difference to what the model is told.
    Message::Assistant { text, calls: Vec::new() }
}
