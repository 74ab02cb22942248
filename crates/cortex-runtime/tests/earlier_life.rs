//! What an earlier life of Cortex left, and what becomes of it at the start of the next one.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test whose set-up fails ends here")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::StopOutcome;
use cortex_protocol::overview::LostTask;
use cortex_protocol::{
    Effect, HaltState, MissionStatus, Origin, Submission, ToolCall, ToolName, ToolOutcome, ToolPhase,
};
use cortex_runtime::{JournalSettings, ProviderHandle, Rejection, Runtime, RuntimeConfig};
use cortex_testkit::{ScriptedModel, says, tool};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const MISSION: &str = "01a201dc-49fd-70ba-b2a9-0b0416e65832";

/// A robot on which something of an earlier life goes on, and says this when it is to end.
struct Robot {
    says: Mutex<Vec<HaltState>>,
    asked: Mutex<Vec<ToolName>>,
}

#[async_trait]
impl ToolProvider for Robot {
    fn label(&self) -> String {
        "robot".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        panic!("{invocation:?} is not asked for")
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        // It knows nothing of calls that it has not made.
        HaltState::AtRest
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        assert_eq!((invocation.mission.as_str(), invocation.id.0), (MISSION, 3));
        self.asked.lock().unwrap().push(invocation.call.tool.clone());
        self.says.lock().unwrap().remove(0)
    }
}

struct Life {
    runtime: Runtime,
    robot: Arc<Robot>,
    provider: ProviderHandle,
    journal: PathBuf,
    _folder: tempfile::TempDir,
}

impl Life {
    /// The next life after one that was killed while `base.go` ran.
    fn after_a_kill(answers: impl IntoIterator<Item = HaltState>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("open.jsonl");
        let lines = format!(
            "{{\"mission_begins\":{{\"mission\":\"{MISSION}\",\"task\":\"Go.\"}}}}\n\
             {{\"call_begins\":{{\"mission\":\"{MISSION}\",\"call\":3,\"tool\":\"base.go\"}}}}\n"
        );
        std::fs::write(&journal, lines).unwrap();
        let settings = JournalSettings { file: journal.clone(), required: true };
        let config = RuntimeConfig { journal: Some(settings), ..RuntimeConfig::default() };
        let robot = Arc::new(Robot { says: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() });
        let model = Arc::new(ScriptedModel::new(vec![]).and_then_always(says("Hello.")));
        let runtime = Runtime::start(config, model);
        let provider = runtime.register(robot.clone());
        Self { runtime, robot, provider, journal, _folder: folder }
    }

    async fn offers_its_tool(&self) {
        let base = tool("base.go", ToolPhase::Execution, Effect::Move);
        self.provider.offer_tools(vec![base]).await;
    }

    async fn task(&self) -> Result<(MissionStatus, Vec<String>), Rejection> {
        let submission = Submission { task: "hello".to_owned(), session: None, origin: Origin::new("cli", "test") };
        let mut ticket = self.runtime.submit(submission).await?;
        let mut lines = Vec::new();
        while let Some(event) = ticket.events.recv().await {
            lines.push(event.data.text.clone());
        }
        Ok((ticket.result.await.unwrap().status, lines))
    }

    /// Calls this tool, as an event does; why it was not called.
    async fn call(&self, tool: &str) -> String {
        let call = ToolCall { tool: tool.into(), arguments: serde_json::Map::new() };
        self.runtime.call(Origin::new("event", "door"), call, CancellationToken::new()).await.message
    }

    /// How many calls are not known to be at rest.
    fn left(&self) -> usize {
        self.runtime.unconfirmed_halts().borrow().len()
    }

    /// Whether nothing is open when this life ends.
    async fn leaves_nothing(&self) -> bool {
        assert!(self.runtime.shut_down(Duration::from_secs(10)).await);
        is_empty(&self.journal)
    }

    /// Waits until what was left was asked to end so often, and the answer has been heard.
    async fn has_asked(&self, times: usize) {
        let asked = async {
            while self.asked() < times {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), asked).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    fn asked(&self) -> usize {
        self.robot.asked.lock().unwrap().len()
    }
}

fn is_empty(journal: &Path) -> bool {
    std::fs::metadata(journal).unwrap().len() == 0
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_life_left_is_ended_before_the_next_task_begins() {
    let life = Life::after_a_kill([HaltState::Halted]);
    let mut lost = life.runtime.lost_tasks();
    let told = lost.wait_for(|lost| !lost.is_empty()).await.unwrap().clone();
    assert_eq!(*told, [LostTask { mission: MISSION.into(), task: "Go.".to_owned() }], "nobody thinks that it goes on");
    life.offers_its_tool().await;
    let (status, lines) = life.task().await.unwrap();
    assert_eq!((status, life.asked()), (MissionStatus::Answered, 1));
    let waits = "paused, for at most 600 s: what an earlier life of Cortex may have left running is being ended";
    assert!(lines.contains(&waits.to_owned()), "{lines:#?}");
    assert!(life.leaves_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_mission_waits_for_that_too() {
    let life = Life::after_a_kill([HaltState::Refused]);
    let lamp = tool("lamp.on", ToolPhase::Execution, Effect::Act).with_resources(vec!["lamp".into()]);
    let arm = tool("arm.go", ToolPhase::Execution, Effect::Move);
    life.provider.offer_tools(vec![lamp.clone(), arm.clone()]).await;
    // The mission queue has heard of it.
    life.runtime.resume().await;
    let runtime = life.runtime.clone();
    let calling = tokio::spawn(async move {
        let arm = ToolCall { tool: "arm.go".into(), arguments: serde_json::Map::new() };
        runtime.call(Origin::new("event", "door"), arm, CancellationToken::new()).await
    });
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(!calling.is_finished());
    let base = tool("base.go", ToolPhase::Execution, Effect::Move);
    life.provider.offer_tools(vec![lamp, arm, base]).await;
    let refused = calling.await.unwrap().message;
    assert!(refused.contains("base.go did not confirm that it is at rest"), "both move, and hold nothing: {refused}");
}

/// What was not offered within 15 s used to be forgotten, and the next task moved the arm while the base drove.
#[tokio::test(start_paused = true)]
async fn regression_what_is_not_on_offer_is_not_at_rest_and_is_halted_when_it_comes() {
    let life = Life::after_a_kill([HaltState::Unconfirmed, HaltState::Halted]);
    let began = Instant::now();
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered, "it waited, and moves nothing");
    let waited = began.elapsed();
    assert!(waited >= Duration::from_secs(15) && waited < Duration::from_secs(16), "{waited:?}");
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let lamp = tool("lamp.on", ToolPhase::Execution, Effect::Act).with_resources(vec!["lamp".into()]);
    life.provider.offer_tools(vec![lamp]).await;
    // The mission queue has heard of it.
    life.task().await.unwrap();
    let refused = life.call("lamp.on").await;
    assert!(
        refused.contains("base.go did not confirm"),
        "nobody knows what it moves, however long it takes: {refused}"
    );
    assert!(!is_empty(&life.journal), "should this life be killed, too, the next one finds it");
    // It was slow to describe itself; it goes and comes once more.
    life.offers_its_tool().await;
    life.has_asked(1).await;
    life.provider.offer_tools(Vec::new()).await;
    assert_eq!(life.left(), 1);
    life.offers_its_tool().await;
    life.has_asked(2).await;
    assert_eq!(life.left(), 0);
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered);
    assert!(life.leaves_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn what_is_never_offered_again_is_over_when_a_person_has_looked() {
    let life = Life::after_a_kill([]);
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered);
    assert_eq!(life.left(), 1);
    assert!(life.runtime.resume().await);
    assert_eq!(life.left(), 0);
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered);
    assert!(life.leaves_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn what_refuses_to_end_keeps_back_what_collides_and_a_stop_asks_it_again() {
    let life = Life::after_a_kill([HaltState::Refused, HaltState::Refused, HaltState::Halted]);
    life.offers_its_tool().await;
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered, "it moves nothing");
    let refused = life.call("base.go").await;
    assert!(refused.contains("base.go did not confirm that it is at rest"), "{refused}");
    assert!(!is_empty(&life.journal), "should this life be killed, too, the next one finds it");
    let stopped = life.runtime.stop().await.unwrap();
    assert_eq!(stopped, StopOutcome { not_stopped: vec!["base.go".into()], missions_ended: 0 });
    let stopped = life.runtime.stop().await.unwrap();
    assert_eq!((stopped.not_stopped, life.asked()), (vec![], 3));
    assert!(life.runtime.resume().await);
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered);
    assert!(life.leaves_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn a_resume_says_that_somebody_has_looked_also_at_what_an_earlier_life_left() {
    let life = Life::after_a_kill([HaltState::Unconfirmed]);
    life.offers_its_tool().await;
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered);
    assert_eq!(life.left(), 1);
    assert!(life.runtime.resume().await);
    assert_eq!(life.left(), 0);
    assert_eq!(life.task().await.unwrap().0, MissionStatus::Answered);
    assert!(life.leaves_nothing().await);
}
