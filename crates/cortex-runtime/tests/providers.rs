//! Tests of providers of tools that register and leave while the runtime runs. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::Arc;
use std::time::Duration;

use cortex_core::ChatRequest;
use cortex_protocol::{
    FailureKind, HaltState, MissionResult, MissionStatus, Origin, OutcomeStatus, StopOutcome, Submission, ToolCall,
    ToolOutcome, ToolSpec,
};
use cortex_runtime::{MissionTicket, ProviderHandle, Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn task(text: &str) -> Submission {
    Submission { task: text.into(), session: None, origin: Origin::new("cli", "test") }
}

fn start(script: Vec<Line>) -> (Runtime, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(script));
    (Runtime::start(RuntimeConfig::default(), model.clone()), model)
}

/// A provider of one tool that behaves so.
async fn register(runtime: &Runtime, tool: &str, behaviour: Behaviour) -> (ProviderHandle, Arc<FakeTools>) {
    let tools = Arc::new(FakeTools::new([(tool, behaviour)]));
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs()).await;
    heard(runtime).await;
    (provider, tools)
}

/// Waits until the mission queue has heard of what was sent to it before.
async fn heard(runtime: &Runtime) {
    runtime.resume().await;
}

fn plan_of(tool: &str) -> Line {
    calls(&[(tool, json!({}))])
}

fn works(value: &str) -> Behaviour {
    Behaviour::Returns(json!(value))
}

fn takes_5_s() -> Behaviour {
    Behaviour::Takes(Duration::from_secs(5), json!("there"))
}

async fn result_of(ticket: MissionTicket) -> MissionResult {
    ticket.result.await.expect("every task that was taken gets its result")
}

/// Calls a tool as an event does.
async fn call(runtime: &Runtime, tool: &str) -> ToolOutcome {
    let call = ToolCall { tool: tool.into(), arguments: serde_json::Map::new() };
    runtime.call(Origin::new("event", "door"), call, CancellationToken::new()).await
}

fn offers(request: &ChatRequest, tool: &str) -> bool {
    request.tools.iter().any(|definition| definition.name == tool)
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_registers_while_a_mission_runs_is_used_after_replanning() {
    let script = vec![plan_of("base-go"), says("EXECUTE"), plan_of("arm-wave"), says("EXECUTE"), says("I waved.")];
    let (runtime, model) = start(script);
    let (_base, base) = register(&runtime, "base.go", takes_5_s()).await;
    let ticket = runtime.submit(task("go and wave")).await.unwrap();
    base.wait_until_begun().await;
    let (_arm, arm) = register(&runtime, "arm.wave", works("waved")).await;
    let result = result_of(ticket).await;
    assert_eq!((result.status, result.words()), (MissionStatus::Succeeded, "I waved."), "{result:#?}");
    assert_eq!((base.called(), arm.called()), (vec!["base.go".to_owned()], vec!["arm.wave".to_owned()]));
    let requests = model.requests();
    assert!(!offers(&requests[0], "arm-wave") && offers(&requests[2], "arm-wave"), "{requests:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_under_way_ends_with_the_provider_that_has_left_and_no_new_call_reaches_it() {
    let script = vec![calls(&[("base-go", json!({})), ("base-go", json!({}))]), says("EXECUTE"), says("Once only.")];
    let (runtime, _) = start(script);
    let (provider, base) = register(&runtime, "base.go", takes_5_s()).await;
    let ticket = runtime.submit(task("go twice")).await.unwrap();
    base.wait_until_begun().await;
    provider.leave();
    heard(&runtime).await;
    assert!(runtime.tool_registry().get(&"base.go".into()).is_none());
    let result = result_of(ticket).await;
    assert_eq!(result.steps[0].outcome, Some(ToolOutcome::success(json!("there"))), "{result:#?}");
    assert_eq!((result.status, base.called().len()), (MissionStatus::Failed, 1));
    assert!(result.output.contains("the tool 'base.go' is no longer there"), "{}", result.output);
    let refused = call(&runtime, "base.go").await;
    assert_eq!(refused.status, OutcomeStatus::Failed(FailureKind::NotFound));
    assert_eq!(refused.message, "there is no such tool on the robot now");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_does_not_reach_a_provider_that_leaves_meanwhile() {
    let (runtime, _) = start(vec![]);
    let tools = Arc::new(FakeTools::new([("base.go", takes_5_s())]));
    let holding = |spec: ToolSpec| spec.with_resources(vec!["base".into()]);
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs().into_iter().map(holding).collect()).await;
    heard(&runtime).await;
    let first = call(&runtime, "base.go");
    let second = async {
        tools.wait_until_begun().await;
        call(&runtime, "base.go").await
    };
    let leaving = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(provider);
    };
    let (first, second, ()) = tokio::join!(first, second, leaving);
    assert!(first.is_success(), "{first:?}");
    assert_eq!(second.status, OutcomeStatus::Failed(FailureKind::NotFound));
    assert_eq!(second.message, "the tool 'base.go' is no longer there");
    assert_eq!(tools.called(), ["base.go"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_halts_calls_of_a_provider_that_has_left() {
    let script = vec![plan_of("arm-swing"), says("EXECUTE")];
    let (runtime, _) = start(script);
    let (provider, arm) = register(&runtime, "arm.swing", Behaviour::RefusesHalt).await;
    let ticket = runtime.submit(task("swing")).await.unwrap();
    arm.wait_until_begun().await;
    provider.leave();
    let refuses = StopOutcome { not_stopped: vec!["arm.swing".into()], missions_ended: 1 };
    assert_eq!(runtime.stop().await.unwrap(), refuses);
    let result = result_of(ticket).await;
    assert_eq!(result.steps[0].outcome.as_ref().unwrap().halt, HaltState::Refused);
    let halts = arm.halts().len();
    assert_eq!(runtime.stop().await.unwrap(), StopOutcome { missions_ended: 0, ..refuses });
    assert_eq!(arm.halts().len(), halts + 1, "it is asked again, although it has left");
}

#[tokio::test(start_paused = true)]
async fn of_two_providers_with_one_name_the_earlier_is_used_until_it_leaves() {
    let (runtime, _) = start(vec![]);
    let (first, _) = register(&runtime, "base.go", works("first")).await;
    let (second, _) = register(&runtime, "base.go", works("second")).await;
    assert_eq!(runtime.tool_registry().problems.len(), 1, "{:?}", runtime.tool_registry().problems);
    assert_eq!(call(&runtime, "base.go").await.value, json!("first"));
    assert_eq!(runtime.tool_registry().routes.get(&"base.go".into()), Some(&first.id()));
    first.leave();
    heard(&runtime).await;
    assert_eq!((call(&runtime, "base.go").await.value, runtime.tool_registry().problems.len()), (json!("second"), 0));
    // Whoever comes again comes last.
    let (third, _) = register(&runtime, "base.go", works("third")).await;
    assert!(third.id() > second.id());
    assert_eq!(call(&runtime, "base.go").await.value, json!("second"));
    drop((second, third));
    heard(&runtime).await;
    assert!(runtime.tools().is_empty());
}

#[tokio::test(start_paused = true)]
async fn tools_for_clients_leave_with_their_provider() {
    let (runtime, _) = start(vec![]);
    let tools = Arc::new(FakeTools::new([("base.go", works("there"))]));
    let provider = runtime.register(tools.clone());
    provider.offer_to_clients(tools.specs()).await;
    heard(&runtime).await;
    assert!(call(&runtime, "base.go").await.is_success());
    provider.leave();
    heard(&runtime).await;
    assert_eq!(call(&runtime, "base.go").await.message, "there is no such tool on the robot now");
}
