//! A robot that was stopped before Cortex was started again: it stays stopped until a person resumes it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test whose set-up fails ends here")]

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{Effect, HaltState, MissionStatus, Origin, Submission, ToolCall, ToolOutcome, ToolPhase};
use cortex_runtime::{Rejection, Runtime, RuntimeConfig};
use cortex_testkit::{ScriptedModel, says, tool};
use tokio_util::sync::CancellationToken;

struct Robot;

#[async_trait]
impl ToolProvider for Robot {
    fn label(&self) -> String {
        "robot".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        panic!("{invocation:?} is called")
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        HaltState::AtRest
    }
}

async fn task(runtime: &Runtime) -> Result<MissionStatus, Rejection> {
    let submission = Submission { task: "hello".to_owned(), session: None, origin: Origin::new("cli", "test") };
    let ticket = runtime.submit(submission).await?;
    Ok(ticket.result.await.unwrap().status)
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_before_a_resume_and_the_reason_is_told() {
    let config = RuntimeConfig { stopped: Some("~/stop was called".to_owned()), ..RuntimeConfig::default() };
    let model = Arc::new(ScriptedModel::new(vec![]).and_then_always(says("Hello.")));
    let runtime = Runtime::start(config, model);
    let provider = runtime.register(Arc::new(Robot));
    provider.offer_tools(vec![tool("base.go", ToolPhase::Execution, Effect::Move)]).await;
    assert!(!runtime.call_readiness().borrow().is_on(), "events begin nothing");
    let refused = task(&runtime).await.unwrap_err();
    assert_eq!(refused, Rejection::StoppedEarlier { why: "~/stop was called".to_owned() });
    let told = refused.to_string();
    assert!(
        told.contains("was stopped before it was restarted (~/stop was called); when it is safe, run `cortex resume`"),
        "{told}"
    );
    let base = ToolCall { tool: "base.go".into(), arguments: serde_json::Map::new() };
    let called = runtime.call(Origin::new("event", "door"), base, CancellationToken::new()).await;
    assert!(called.message.contains("the robot is stopped"), "{called:?}");
    // To be activated is no resume.
    runtime.rest("not active").await.unwrap();
    runtime.work().await;
    assert!(matches!(task(&runtime).await, Err(Rejection::StoppedEarlier { .. })));
    // A later stop is what is told from then on.
    runtime.stop().await.unwrap();
    assert_eq!(task(&runtime).await, Err(Rejection::Stopped));
    assert!(runtime.resume().await);
    assert_eq!(task(&runtime).await, Ok(MissionStatus::Answered));
}
