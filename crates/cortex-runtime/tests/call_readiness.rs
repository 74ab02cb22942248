//! Tests of a runtime that is told to rest and to work, and that gets other settings while it runs. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::Arc;
use std::time::Duration;

use cortex_core::MissionLimits;
use cortex_protocol::StopOutcome;
use cortex_protocol::{MissionResult, Origin, Submission};
use cortex_runtime::{MissionTicket, ProviderHandle, QueuePolicy, Rejection, Runtime, RuntimeConfig, Settings};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says};
use serde_json::json;

fn task(text: &str) -> Submission {
    Submission { task: text.into(), session: None, origin: Origin::new("cli", "test") }
}

async fn test_robot(script: Vec<Line>, behaviour: Behaviour) -> (Runtime, Arc<FakeTools>, ProviderHandle) {
    let tools = Arc::new(FakeTools::new(vec![("base.go", behaviour)]));
    let model = Arc::new(ScriptedModel::new(script));
    let runtime = Runtime::start(RuntimeConfig::default(), model);
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs()).await;
    (runtime, tools, provider)
}

async fn result_of(ticket: MissionTicket) -> MissionResult {
    ticket.result.await.expect("every task that was taken gets its result")
}

fn settings(script: Vec<Line>) -> Settings {
    let config = RuntimeConfig::default();
    Settings {
        model: Arc::new(ScriptedModel::new(script)),
        model_timeout: config.model_timeout,
        identity: config.identity,
        limits: config.limits,
        queue: config.queue,
        policy: config.policy,
        approval: config.approval,
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_rests_has_halted_everything_and_says_why_it_takes_no_task() {
    let script = vec![calls(&[("base-go", json!({}))]), says("EXECUTE"), says("Back again.")];
    let (runtime, tools, _provider) = test_robot(script, Behaviour::RunsUntilHalted).await;
    let running = runtime.submit(task("one")).await.unwrap();
    let waiting = runtime.submit(task("two")).await.unwrap();
    tools.wait_until_begun().await;
    assert_eq!(runtime.rest("deactivated").await.unwrap(), StopOutcome { not_stopped: vec![], missions_ended: 2 });
    assert_eq!(tools.halts().len(), 1);
    assert_eq!(result_of(running).await.words(), "The robot was stopped.");
    result_of(waiting).await;
    let refusal = runtime.submit(task("three")).await.unwrap_err();
    assert_eq!(refusal.to_string(), "Cortex is not active: deactivated");
    assert!(!runtime.resume().await, "nobody has stopped it");
    runtime.work().await;
    assert_eq!(result_of(runtime.submit(task("are you there?")).await.unwrap()).await.words(), "Back again.");
}

#[tokio::test(start_paused = true)]
async fn to_rest_and_to_work_again_does_not_undo_a_stop() {
    let (runtime, _, _provider) = test_robot(vec![], Behaviour::RunsUntilHalted).await;
    runtime.stop().await.unwrap();
    runtime.rest("deactivated").await.unwrap();
    runtime.work().await;
    assert_eq!(runtime.submit(task("one")).await.unwrap_err(), Rejection::Stopped);
}

#[tokio::test(start_paused = true)]
async fn other_settings_count_from_the_next_mission_on() {
    let script = vec![calls(&[("base-go", json!({}))]), says("EXECUTE"), says("The old one went.")];
    let (runtime, tools, _provider) =
        test_robot(script, Behaviour::Takes(Duration::from_secs(5), json!("there"))).await;
    let running = runtime.submit(task("one")).await.unwrap();
    tools.wait_until_begun().await;
    let limits = MissionLimits { max_task_bytes: 9, ..MissionLimits::default() };
    let queue = QueuePolicy::Reject;
    runtime.reconfigure(Settings { limits, queue, ..settings(vec![says("The new one.")]) });
    assert_eq!(runtime.limits().max_task_bytes, 9, "who shows them sees the new ones");
    assert_eq!(
        runtime.submit(task("two")).await.unwrap_err(),
        Rejection::Busy,
        "a rule of the mission queue counts at once"
    );
    assert_eq!(result_of(running).await.words(), "The old one went.");
    assert_eq!(result_of(runtime.submit(task("hello")).await.unwrap()).await.words(), "The new one.");
    assert_eq!(runtime.submit(task("much too long")).await.unwrap_err(), Rejection::TooLong { bytes: 13, most: 9 });
}
