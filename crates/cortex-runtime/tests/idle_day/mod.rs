//! A day without a task, between two tasks. The benchmark has the same with all that a robot has on record.

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::{MissionStatus, Origin, Submission};
use cortex_runtime::{ContextSources, Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, ScriptedModel, calls, says};
use serde_json::json;

/// How long nobody gives a task.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The requests to the model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Requests {
    /// For the task before the day.
    pub(crate) before: usize,
    /// Of the day.
    pub(crate) meanwhile: usize,
    /// For the task after it.
    pub(crate) after: usize,
}

/// Runs a task, waits for a day of the paused clock, and runs the task again.
pub(crate) async fn run(context: ContextSources) -> Requests {
    let task = [calls(&[("base-go_to", json!({"place": "kitchen"}))]), says("EXECUTE"), says("I am in the kitchen.")];
    let model = Arc::new(ScriptedModel::new(task.clone().into_iter().chain(task)));
    let tools = Arc::new(FakeTools::new([("base.go_to", Behaviour::Returns(json!("arrived")))]));
    let runtime = Runtime::start(RuntimeConfig { context, ..RuntimeConfig::default() }, model.clone());
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs()).await;
    let carry_out = async || {
        let origin = Origin::new("cli", "test");
        let submission = Submission { task: "Go to the kitchen.".to_owned(), session: Some("day".into()), origin };
        let ticket = runtime.submit(submission).await.expect("nothing runs");
        let result = ticket.result.await.expect("every task that was taken gets its result");
        assert_eq!(result.status, MissionStatus::Succeeded, "{result:?}");
        model.requests().len()
    };
    let before = carry_out().await;
    tokio::time::sleep(DAY).await;
    let meanwhile = model.requests().len() - before;
    let after = carry_out().await - before - meanwhile;
    assert!(runtime.shut_down(Duration::from_secs(1)).await, "nothing is left running");
    Requests { before, meanwhile, after }
}
