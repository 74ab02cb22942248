//! Tests of tasks that do not wait for their turn. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::{
    Command, CommandErrorKind, CommandOutcome, MissionEvent, MissionResult, MissionStatus, Origin, Principal,
    Submission,
};
use cortex_runtime::{MissionTicket, Place, ProviderHandle, QueuePolicy, Rejection, Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, ScriptedModel, calls, says};
use serde_json::json;

fn task(text: &str) -> Submission {
    Submission { task: text.into(), session: None, origin: Origin::new("event", "test") }
}

async fn result_of(ticket: MissionTicket) -> MissionResult {
    ticket.result.await.expect("every task that was taken gets its result")
}

/// A robot that is busy with a task until that is ended; then each task is answered by a number.
async fn busy(queue: QueuePolicy) -> (Runtime, Arc<FakeTools>, ProviderHandle, MissionTicket) {
    let tools = Arc::new(FakeTools::new(vec![("base.go", Behaviour::RunsUntilHalted)]));
    let script = [calls(&[("base-go", json!({}))]), says("EXECUTE"), says("first"), says("second"), says("third")];
    let config = RuntimeConfig { queue, ..RuntimeConfig::default() };
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)));
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs()).await;
    let running = runtime.submit(task("drive around")).await.expect("nothing runs");
    tools.wait_until_begun().await;
    (runtime, tools, provider, running)
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_wanted_now_ends_what_runs_and_goes_before_what_waits() {
    let (runtime, tools, _provider, running) = busy(QueuePolicy::Queue { length: 1 }).await;
    let waiting = runtime.submit(task("why?")).await.expect("there is room for one");
    let next = runtime.submit_at(Place::Next, task("what?")).await.expect("the queue does not keep it out");
    assert_eq!(runtime.submit(task("who?")).await.expect_err("full"), Rejection::QueueFull { waiting: 2 });
    let now = runtime.submit_at(Place::Now, task("where?")).await.expect("nothing keeps it out");
    assert_eq!(result_of(running).await.status, MissionStatus::Cancelled);
    assert_eq!(tools.halts().len(), 1, "what moved was halted first");
    assert!(result_of(now).await.output.starts_with("first"));
    assert!(result_of(next).await.output.starts_with("second"));
    assert!(result_of(waiting).await.output.starts_with("third"));
    assert!(runtime.shut_down(Duration::from_secs(1)).await);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_before_a_stop() {
    let (runtime, _tools, _provider, running) = busy(QueuePolicy::Reject).await;
    let next = runtime.submit_at(Place::Next, task("what?")).await.expect("it may wait where others may not");
    runtime.stop().await.expect("the mission queue is there");
    assert_eq!(result_of(running).await.status, MissionStatus::Cancelled);
    assert_eq!(result_of(next).await.status, MissionStatus::Cancelled);
    assert_eq!(runtime.submit_at(Place::Now, task("x")).await.expect_err("stopped"), Rejection::Stopped);
    assert!(runtime.shut_down(Duration::from_secs(1)).await);
}

/// Whoever follows a mission reads its result among its events, before the mission queue has heard of it.
#[tokio::test]
async fn who_has_read_the_last_event_of_a_task_finds_its_place_free_and_its_result_given() {
    let script = (0..50).map(|number| says(&format!("answer {number}")));
    let config = RuntimeConfig { queue: QueuePolicy::Reject, ..RuntimeConfig::default() };
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)));
    let operator = Principal::operator(Origin::new("cli", "test"));
    for number in 0..50 {
        let command = Command::Submit { task: "how high is the highest mountain?".to_owned(), session: None };
        let outcome = runtime.execute(command, operator.clone()).await.expect("nothing runs");
        let CommandOutcome::Submitted { mission } = outcome else { panic!("{outcome:?}") };
        let mut events = runtime.follow(mission);
        let (mut sequence, mut output) = (0, String::new());
        while let Some(event) = events.recv().await {
            sequence += 1;
            assert_eq!(event.sequence, sequence, "nothing is missing");
            if let MissionEvent::Finished { result } = &event.data.payload {
                output.clone_from(&result.output);
            }
        }
        assert!(output.starts_with(&format!("answer {number}")), "{output}");
    }
    let unknown = runtime.execute(Command::Cancel { mission: "m0".into() }, operator).await.expect_err("unknown");
    assert_eq!((unknown.kind, unknown.reason.as_str()), (CommandErrorKind::NotFound, "no task m0 runs or waits."));
}
