//! One tool, run by a person: the same policy, gate, tape and report as a mission's step, and no model. On a paused clock.

#![expect(clippy::panic, clippy::expect_used, reason = "a test that can't go on ends here, and says why")]

use std::sync::Arc;
use std::time::Duration;

use cortex_core::policy::{Policy, PolicySettings};
use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{
    Answer, Command, CommandErrorKind, CommandOutcome, Effect, MissionEvent, MissionId, MissionResult, MissionStatus,
    Origin, Principal, Role, StepStatus, Submission, ToolPhase, ToolSpec,
};
use cortex_runtime::tape::{Folder, replay};
use cortex_runtime::{ProviderHandle, Runtime, RuntimeConfig, TapeSettings};
use cortex_testkit::{Behaviour, FakeTools, ScriptedModel, calls, says, tool};
use serde_json::{Map, Value, json};

fn operator() -> Principal {
    Principal::operator(Origin::new("web", "a tablet"))
}

fn call(name: &str, arguments: Value) -> Command {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Command::CallTool { tool: name.into(), arguments }
}

/// Drives at a speed of at most 2, and looks.
fn specs() -> Vec<ToolSpec> {
    let mut drive = tool("base.drive", ToolPhase::Execution, Effect::Move);
    drive.parameters = json!({
        "type": "object", "required": ["speed"], "additionalProperties": false,
        "properties": {"speed": {"type": "number", "minimum": 0, "maximum": 2}, "note": {"type": "string"}}
    });
    drive.component = Some("base".into());
    vec![drive, tool("camera.look", ToolPhase::Planning, Effect::Observe)]
}

async fn robot(
    config: RuntimeConfig,
    drives: Behaviour,
) -> (Runtime, Arc<FakeTools>, Arc<ScriptedModel>, ProviderHandle) {
    let look = Behaviour::Returns(json!("a red cup"));
    let tools = Arc::new(FakeTools::new([("base.drive", drives), ("camera.look", look)]));
    // It is there, and is asked only by those who give it a task.
    let plan = vec![calls(&[("base-drive", json!({"speed": 1}))]), says("EXECUTE"), says("Driven.")];
    let model = Arc::new(ScriptedModel::new(plan));
    let runtime = Runtime::start(config, Arc::clone(&model) as _);
    let provider = runtime.register(tools.clone());
    provider.offer_tools(specs()).await;
    // They are on offer once the mission queue has taken note of them.
    while runtime.tools().is_empty() {
        tokio::task::yield_now().await;
    }
    (runtime, tools, model, provider)
}

fn drives() -> Behaviour {
    Behaviour::Returns(json!("driven"))
}

async fn taken(runtime: &Runtime, command: Command) -> MissionId {
    match runtime.execute(command, operator()).await.expect("it is taken") {
        CommandOutcome::Submitted { mission } => mission,
        other => panic!("{other:?}"),
    }
}

async fn result_of(runtime: &Runtime, mission: &MissionId) -> MissionResult {
    use cortex_core::EventStream as _;
    let mut events = runtime.follow(mission.clone());
    let finished = async {
        loop {
            let event = events.next().await.expect("it has an end");
            if let MissionEvent::Finished { result } = &event.data.payload {
                return result.clone();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(600), finished).await.expect("the mission ends")
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_run_as_a_mission_of_one_step_without_a_model_and_is_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let config = RuntimeConfig { tape: Some(TapeSettings::at(folder.path())), ..RuntimeConfig::default() };
    let (runtime, tools, model, _provider) = robot(config, drives()).await;
    let mission = taken(&runtime, call("base.drive", json!({"speed": 1.5}))).await;
    let result = result_of(&runtime, &mission).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{}", result.output);
    assert_eq!(result.steps.len(), 1);
    assert_eq!(result.steps[0].status, StepStatus::Success);
    assert_eq!(tools.calls()[0].arguments, *json!({"speed": 1.5}).as_object().unwrap());
    assert!(model.requests().is_empty(), "no model was asked");
    assert!(runtime.shut_down(Duration::from_secs(5)).await);
    let tapes = Folder::new(folder.path().to_owned());
    assert!(tapes.summary(&mission).unwrap().task.starts_with("Run by hand: base.drive {\"speed\":1.5}"));
    let replayed = replay(&mut tapes.read(&mission).unwrap()).unwrap();
    assert!(matches!(replayed.ending, cortex_runtime::tape::replay::Ending::Same), "{:?}", replayed.ending);
}

#[tokio::test(start_paused = true)]
async fn a_look_answers_with_what_it_found() {
    let (runtime, _, _, _provider) = robot(RuntimeConfig::default(), drives()).await;
    let mission = taken(&runtime, call("camera.look", json!({}))).await;
    let result = result_of(&runtime, &mission).await;
    assert!(result.is_success(), "{result:?}");
    assert!(result.output.contains("a red cup"), "{}", result.output);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_is_told_once_and_not_tried_another_way() {
    let fails = Behaviour::Fails("blocked by a chair".to_owned());
    let (runtime, tools, _, _provider) = robot(RuntimeConfig::default(), fails).await;
    let mission = taken(&runtime, call("base.drive", json!({"speed": 1}))).await;
    let result = result_of(&runtime, &mission).await;
    assert_eq!(result.status, MissionStatus::Failed);
    assert!(result.output.contains("blocked by a chair"), "{}", result.output);
    assert_eq!(tools.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn policy_asks_and_denies_as_it_does_for_every_step() {
    let ruled = |then: &str| {
        let rules = json!([{"then": then, "tools": ["base.*"], "because": "The floor is wet."}]);
        let settings = PolicySettings { rules: serde_json::from_value(rules).unwrap(), ..PolicySettings::default() };
        RuntimeConfig { policy: Policy::new(settings).unwrap(), ..RuntimeConfig::default() }
    };
    let (runtime, tools, _, _provider) = robot(ruled("ask"), drives()).await;
    let mission = taken(&runtime, call("base.drive", json!({"speed": 1}))).await;
    let mut questions = runtime.questions();
    let open = questions.wait_for(|open| !open.is_empty()).await.unwrap()[0].id.clone();
    assert!(tools.calls().is_empty());
    let yes = Answer::Approve { scope: ApprovalScope::Once };
    runtime.answer(open, yes, Origin::new("web", "another")).await.unwrap();
    assert_eq!(result_of(&runtime, &mission).await.status, MissionStatus::Succeeded);
    let (runtime, tools, _, _provider) = robot(ruled("deny"), drives()).await;
    let refusal = runtime.execute(call("base.drive", json!({"speed": 1})), operator()).await.unwrap_err();
    assert_eq!(refusal.kind, CommandErrorKind::Refused);
    assert!(refusal.reason.contains("The floor is wet."), "{}", refusal.reason);
    assert!(tools.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_run_is_refused_with_the_reason_and_nothing_is_called() {
    let (runtime, tools, _, _provider) = robot(RuntimeConfig::default(), drives()).await;
    let refused = async |command: Command, principal: Principal| {
        let error = runtime.execute(command, principal).await.expect_err("it is refused");
        (error.kind, error.reason)
    };
    let watcher = Principal { role: Role::Watch, ..operator() };
    let (kind, _) = refused(call("base.drive", json!({"speed": 1})), watcher).await;
    assert_eq!(kind, CommandErrorKind::Forbidden);
    for (command, expected, says) in [
        (call("base.fly", json!({})), CommandErrorKind::NotFound, "no tool 'base.fly'"),
        (call("x\n\u{202e}y", json!({})), CommandErrorKind::NotFound, "no tool"),
        (call("base.drive", json!({"speed": 3})), CommandErrorKind::Invalid, "speed"),
        (call("base.drive", json!({"speed": "1"})), CommandErrorKind::Invalid, "speed"),
        (call("base.drive", json!({})), CommandErrorKind::Invalid, "speed"),
        (call("base.drive", json!({"speed": 1, "more": 1})), CommandErrorKind::Invalid, "more"),
        (
            call("base.drive", json!({"speed": 1, "note": "<output of step 1>"})),
            CommandErrorKind::Invalid,
            "placeholder",
        ),
        (call("base.drive", json!({"speed": 1, "note": "to <each place>"})), CommandErrorKind::Invalid, "placeholder"),
    ] {
        let (kind, reason) = refused(command.clone(), operator()).await;
        assert_eq!(kind, expected, "{command:?}");
        assert!(reason.contains(says) && !reason.contains(char::is_control), "{reason}");
    }
    runtime.quarantine("base".into(), "it is silent".to_owned());
    let (kind, reason) = refused(call("base.drive", json!({"speed": 1})), operator()).await;
    assert_eq!(kind, CommandErrorKind::Refused);
    assert!(reason.contains("it is silent"), "{reason}");
    runtime.stop().await.unwrap();
    let (kind, reason) = refused(call("camera.look", json!({})), operator()).await;
    assert_eq!(kind, CommandErrorKind::Refused);
    assert!(reason.contains("stopped"), "{reason}");
    assert!(tools.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_run_beside_a_mission_and_a_run_is_cancelled_and_stopped_like_one() {
    let (runtime, tools, _, _provider) = robot(RuntimeConfig::default(), Behaviour::RunsUntilHalted).await;
    let task = Submission { task: "drive".to_owned(), session: None, origin: Origin::new("cli", "test") };
    let ticket = runtime.submit(task).await.unwrap();
    tools.wait_until_begun().await;
    let error = runtime.execute(call("camera.look", json!({})), operator()).await.unwrap_err();
    assert_eq!(error.kind, CommandErrorKind::Refused);
    assert!(error.reason.contains("a mission runs"), "{}", error.reason);
    runtime.cancel(ticket.id).await;
    ticket.result.await.unwrap();
    let mission = taken(&runtime, call("base.drive", json!({"speed": 1}))).await;
    tools.wait_until_begun().await;
    let stopped = runtime.stop().await.unwrap();
    assert_eq!(stopped.missions_ended, 1);
    assert_eq!(result_of(&runtime, &mission).await.status, MissionStatus::Cancelled);
    assert_eq!(tools.halts().len(), 2);
}

#[test]
fn the_command_is_written_with_its_name() {
    let written = serde_json::to_value(Command::CallTool { tool: "light.on".into(), arguments: Map::new() }).unwrap();
    assert_eq!(written, json!({"command": "call_tool", "tool": "light.on", "arguments": {}}));
}
