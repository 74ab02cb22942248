//! Tests of calls that are made without a mission: they meet all that the calls of missions meet. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::StopOutcome;
use cortex_protocol::{
    CancelMode, Effect, FailureKind, HaltState, MissionStatus, Origin, OutcomeStatus, Submission, ToolCall,
    ToolOutcome, ToolPhase, ToolSpec,
};
use cortex_runtime::{JournalSettings, MissionTicket, ProviderHandle, Rejection, Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says, tool};
use serde_json::{Map, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Only against hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A method of a component, which holds it.
fn method(component: &str, name: &str) -> ToolSpec {
    let tool = tool(&format!("{component}.{name}"), ToolPhase::Execution, Effect::Move);
    tool.with_component(Some(component.into())).with_resources(vec![component.into()])
}

/// The halt of a component, as the contract has it: it holds nothing.
fn halt(component: &str) -> ToolSpec {
    method(component, "halt").with_effect(Effect::Act).with_resources(Vec::new())
}

struct TestRobot {
    runtime: Runtime,
    tools: Arc<FakeTools>,
    provider: ProviderHandle,
    folder: tempfile::TempDir,
}

impl TestRobot {
    /// A robot with a base that behaves so, its halt, a light, and a spare base that works.
    async fn with(base: Behaviour, script: Vec<Line>) -> Self {
        let works = || Behaviour::Returns(json!("done"));
        let tools = Arc::new(FakeTools::new([
            ("base.go", base),
            ("base.halt", works()),
            ("light.on", works()),
            ("spare.go", works()),
            ("dock", works()),
            ("spare:dock", Behaviour::RunsUntilHalted),
        ]));
        let folder = tempfile::tempdir().expect("a folder");
        let journal = JournalSettings { file: folder.path().join("open.jsonl"), required: true };
        let config = RuntimeConfig { journal: Some(journal), ..RuntimeConfig::default() };
        let model = Arc::new(ScriptedModel::new(script).and_then_always(says("It did not work.")));
        let runtime = Runtime::start(config, model);
        let provider = runtime.register(tools.clone());
        let specs = vec![method("base", "go"), halt("base"), method("light", "on"), method("spare", "go")];
        provider.offer_tools(specs).await;
        Self { runtime, tools, provider, folder }
    }

    async fn call(&self, tool: &str) -> ToolOutcome {
        self.begin(tool, &CancellationToken::new()).await.expect("a call has an outcome")
    }

    /// Begins a call of the event `door`.
    fn begin(&self, tool: &str, unwanted: &CancellationToken) -> JoinHandle<ToolOutcome> {
        let call = ToolCall { tool: tool.into(), arguments: Map::new() };
        let (runtime, unwanted) = (self.runtime.clone(), unwanted.clone());
        tokio::spawn(async move { runtime.call(Origin::new("event", "door"), call, unwanted).await })
    }

    async fn task(&self) -> Result<MissionTicket, Rejection> {
        let origin = Origin::new("cli", "test");
        self.runtime.submit(Submission { task: "drive".into(), session: None, origin }).await
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("open.jsonl")
    }

    fn open(&self) -> String {
        std::fs::read_to_string(self.journal()).expect("the journal is there")
    }

    /// What has ended is noted a moment later, by a thread of its own.
    async fn wait_until_nothing_is_open(&self) {
        let begun = std::time::Instant::now();
        while !self.open().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "what is at rest is open: {}", self.open());
            tokio::task::yield_now().await;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A plan of one drive that is confirmed.
fn drive() -> Vec<Line> {
    vec![calls(&[("base-go", json!({}))]), says("EXECUTE")]
}

fn kind(outcome: &ToolOutcome) -> (OutcomeStatus, HaltState) {
    (outcome.status, outcome.halt)
}

#[tokio::test(start_paused = true)]
async fn regression_what_an_event_has_begun_is_found_by_the_next_life_of_cortex() {
    let test_robot = TestRobot::with(Behaviour::RunsUntilHalted, vec![]).await;
    let unwanted = CancellationToken::new();
    let running = test_robot.begin("base.go", &unwanted);
    test_robot.tools.wait_until_begun().await;
    assert!(test_robot.open().contains("base.go"), "{}", test_robot.open());
    unwanted.cancel();
    let outcome = running.await.expect("it ends");
    assert_eq!(kind(&outcome), (OutcomeStatus::Cancelled, HaltState::Halted));
    assert!(test_robot.runtime.shut_down(Duration::from_secs(10)).await);
    test_robot.wait_until_nothing_is_open().await;
}

#[tokio::test(start_paused = true)]
async fn regression_an_event_does_not_call_what_is_in_quarantine_and_loses_what_goes_into_it() {
    let test_robot = TestRobot::with(Behaviour::SucceedsWhenHalted(json!("I am there")), vec![]).await;
    let running = test_robot.begin("base.go", &CancellationToken::new());
    test_robot.tools.wait_until_begun().await;
    test_robot.runtime.quarantine("base".into(), "it crashed".to_owned());
    let lost = running.await.expect("it ends");
    assert_eq!(kind(&lost), (OutcomeStatus::Failed(FailureKind::ComponentLost), HaltState::AtRest));
    assert_eq!(lost.message, "base was put in quarantine: it crashed");
    let refused = test_robot.call("base.go").await;
    assert_eq!(refused.message, "it was not called: base is in quarantine: it crashed");
    assert!(test_robot.call("light.on").await.is_success(), "the rest goes on");
    test_robot.runtime.fail_over(&"base".into(), Some("spare".into()));
    assert!(test_robot.call("base.go").await.is_success(), "a standby serves it");
    assert_eq!(test_robot.tools.called(), ["base.go", "light.on", "spare.go"]);
    test_robot.provider.offer_tools(vec![method("spare", "go")]).await;
    // The mission queue has heard of it.
    test_robot.runtime.resume().await;
    assert!(test_robot.call("base.go").await.is_success(), "also when it has left");
}

#[tokio::test(start_paused = true)]
async fn regression_an_action_of_a_component_is_done_by_its_standby_and_counts_as_what_that_does() {
    // Offered to all in one house, and to clients alone in the other.
    for for_all in [true, false] {
        let test_robot = TestRobot::with(Behaviour::Returns(json!("done")), vec![]).await;
        let dock = method("base", "go").with_name("dock".into());
        let by_spare = method("spare", "go").with_name("spare:dock".into()).with_serves(Some("dock".into()));
        if for_all {
            test_robot.provider.offer_tools(vec![dock, by_spare, method("spare", "go")]).await;
        } else {
            test_robot.provider.offer_to_clients(vec![dock, by_spare]).await;
        }
        assert!(test_robot.call("dock").await.is_success());
        test_robot.tools.wait_until_begun().await;
        let nobodys = test_robot.call("spare:dock").await;
        assert_eq!(nobodys.status, OutcomeStatus::Failed(FailureKind::NotFound), "nobody chooses it");

        test_robot.runtime.quarantine("base".into(), "it crashed".to_owned());
        assert_eq!(test_robot.call("dock").await.message, "it was not called: base is in quarantine: it crashed");
        test_robot.runtime.fail_over(&"base".into(), Some("spare".into()));
        let running = test_robot.begin("dock", &CancellationToken::new());
        test_robot.tools.wait_until_begun().await;
        assert_eq!(test_robot.tools.called(), ["dock", "spare:dock"]);
        assert!(test_robot.open().contains("spare:dock"), "{}", test_robot.open());
        let held = test_robot.call("base.go").await;
        assert!(held.message.contains("'spare' is held by the event door (spare:dock)"), "{}", held.message);
        // What becomes of the base is nothing to it.
        test_robot.runtime.quarantine("base".into(), "it crashed again".to_owned());
        tokio::task::yield_now().await;
        assert!(!running.is_finished());
        test_robot.runtime.quarantine("spare".into(), "it fell".to_owned());
        let lost = running.await.expect("it ends");
        assert_eq!(kind(&lost), (OutcomeStatus::Failed(FailureKind::ComponentLost), HaltState::Halted));
        assert_eq!(lost.message, "spare was put in quarantine: it fell");
        test_robot.wait_until_nothing_is_open().await;
    }
}

#[tokio::test(start_paused = true)]
async fn regression_two_never_hold_the_wheels_at_once() {
    let mut script = drive();
    script.push(says("I drove."));
    let test_robot = TestRobot::with(Behaviour::Takes(Duration::from_secs(25), json!("there")), script).await;
    let ticket = test_robot.task().await.expect("it is taken");
    test_robot.tools.wait_until_begun().await;
    let began = Instant::now();
    let refused = test_robot.call("base.go").await;
    assert_eq!(kind(&refused), (OutcomeStatus::Failed(FailureKind::NotReady), HaltState::AtRest));
    assert_eq!(
        refused.message,
        "it was not called: 'base' is held by the task \"drive\" (base.go), and was not free within 10 s"
    );
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    let waits = test_robot.begin("light.on", &CancellationToken::new());
    assert!(waits.await.expect("it ends").is_success(), "what nobody holds is free");
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(test_robot.call("base.go").await.is_success(), "the drive ended meanwhile");
    assert_eq!(ticket.result.await.expect("a result").status, MissionStatus::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_halts_waits_for_nobody() {
    let test_robot = TestRobot::with(Behaviour::RefusesHalt, drive()).await;
    let ticket = test_robot.task().await.expect("it is taken");
    test_robot.tools.wait_until_begun().await;
    let began = Instant::now();
    assert!(test_robot.call("base.halt").await.is_success());
    assert_eq!(began.elapsed(), Duration::ZERO, "although a task holds the base");
    test_robot.runtime.cancel(ticket.id).await;
    assert_eq!(ticket.result.await.expect("a result").not_stopped, ["base.go".into()]);
    let refused = test_robot.call("base.go").await;
    assert!(refused.is_failure_for("base.go did not confirm that it is at rest"), "{refused:?}");
    assert!(test_robot.call("base.halt").await.is_success(), "although something is not known to be at rest");
    assert!(test_robot.call("light.on").await.is_success(), "the light has nothing to do with it");
    assert!(test_robot.runtime.resume().await);
    assert!(test_robot.runtime.unconfirmed_halts().borrow().is_empty(), "a person has looked");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_fails_keeps_everything_from_beginning_but_a_halt() {
    let test_robot = TestRobot::with(Behaviour::Returns(json!("there")), vec![]).await;
    test_robot.call("base.halt").await;
    // Another Cortex has the journal.
    let other = test_robot.runtime.clone();
    let config = JournalSettings { file: test_robot.journal(), required: true };
    let config = RuntimeConfig { journal: Some(config), ..RuntimeConfig::default() };
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new([])));
    let provider = runtime.register(test_robot.tools.clone());
    provider.offer_tools(vec![method("base", "go"), halt("base")]).await;
    let test_robot = TestRobot { runtime, provider, ..test_robot };
    assert!(
        test_robot.call("base.go").await.is_failure_for("nothing may begin that a later life of Cortex would not find")
    );
    assert!(test_robot.call("base.halt").await.is_success());
    drop(other);
}

#[tokio::test(start_paused = true)]
async fn a_step_waits_for_what_an_event_does_and_says_so() {
    let mut script = drive();
    script.push(says("I drove."));
    let base = Behaviour::InTurn(vec![
        Behaviour::Takes(Duration::from_secs(8), json!("turned")),
        Behaviour::Returns(json!("there")),
    ]);
    let test_robot = TestRobot::with(base, script).await;
    let event = test_robot.begin("base.go", &CancellationToken::new());
    test_robot.tools.wait_until_begun().await;
    let mut ticket = test_robot.task().await.expect("it is taken");
    let mut lines = Vec::new();
    while let Some(line) = ticket.events.recv().await {
        lines.push(line.data.text.clone());
    }
    assert_eq!(ticket.result.await.expect("a result").status, MissionStatus::Succeeded);
    let told = "it waits: 'base' is held by the event door (base.go)";
    assert!(lines.iter().any(|line| line.contains(told)), "{lines:#?}");
    assert!(event.await.expect("it ends").is_success());
    assert_eq!(test_robot.tools.called(), ["base.go", "base.go"], "one after the other");
}

/// A step that was confirmed waited for the base for up to a minute, and drove on what the model had seen before.
#[tokio::test(start_paused = true)]
async fn regression_a_step_that_waited_long_for_what_an_event_held_ran_on_its_old_confirmation() {
    for (decision, status, called) in
        [("EXECUTE", MissionStatus::Succeeded, 2), ("ABORT the kitchen is closed by now", MissionStatus::Failed, 1)]
    {
        let mut script = drive();
        script.extend([says(decision), says("That is all.")]);
        let base = Behaviour::InTurn(vec![
            Behaviour::Takes(Duration::from_secs(20), json!("turned")),
            Behaviour::Returns(json!("there")),
        ]);
        let test_robot = TestRobot::with(base, script).await;
        let event = test_robot.begin("base.go", &CancellationToken::new());
        test_robot.tools.wait_until_begun().await;
        let ticket = test_robot.task().await.expect("it is taken");
        let result = ticket.result.await.expect("a result");
        assert_eq!(result.status, status, "{result:#?}");
        assert_eq!(result.execution.confirmations, 2, "it was confirmed anew");
        assert!(event.await.expect("it ends").is_success());
        assert_eq!(test_robot.tools.called().len(), called);
    }
}

#[tokio::test(start_paused = true)]
async fn regression_nothing_is_begun_on_top_of_what_an_event_left() {
    let test_robot = TestRobot::with(Behaviour::RefusesHalt, drive()).await;
    let unwanted = CancellationToken::new();
    let event = test_robot.begin("base.go", &unwanted);
    test_robot.tools.wait_until_begun().await;
    unwanted.cancel();
    assert_eq!(kind(&event.await.expect("it ends")), (OutcomeStatus::Cancelled, HaltState::Refused));
    let ended = test_robot.task().await.expect("it is taken").result.await.expect("a result");
    let reason = "it was not called: base.go did not confirm that it is at rest";
    assert_eq!(ended.status, MissionStatus::Failed);
    assert!(ended.output.contains(reason), "{}", ended.output);
    assert_eq!(test_robot.tools.called(), ["base.go"], "the event's alone");
    assert!(test_robot.open().contains("base.go"), "the next life finds it, too");
}

/// What was given up was asked for ever, also when the process that had done it was gone.
#[tokio::test(start_paused = true)]
async fn regression_the_end_of_a_process_is_the_end_of_its_calls_unless_they_outlive_it() {
    for outlives_process in [false, true] {
        let test_robot = TestRobot::with(Behaviour::RefusesHalt, vec![]).await;
        let base = method("base", "go").with_outlives_process(outlives_process);
        test_robot.provider.offer_tools(vec![base, method("light", "on")]).await;
        let unwanted = CancellationToken::new();
        let event = test_robot.begin("base.go", &unwanted);
        test_robot.tools.wait_until_begun().await;
        unwanted.cancel();
        assert!(event.await.expect("it ends").halt.may_go_on());
        test_robot.runtime.end_calls(&"light".into());
        assert_eq!(test_robot.runtime.unconfirmed_halts().borrow().len(), 1, "that was another process");
        test_robot.runtime.end_calls(&"base".into());
        assert_eq!(test_robot.runtime.unconfirmed_halts().borrow().len(), usize::from(outlives_process));
        // One that is in flight is at rest as soon as its process is gone, and nobody waits for it.
        test_robot.runtime.resume().await;
        let event = test_robot.begin("base.go", &CancellationToken::new());
        test_robot.tools.wait_until_begun().await;
        test_robot.runtime.end_calls(&"base".into());
        test_robot.runtime.quarantine("base".into(), "its process was killed".to_owned());
        let began = Instant::now();
        let lost = event.await.expect("it ends");
        assert_eq!(lost.status, OutcomeStatus::Failed(FailureKind::ComponentLost));
        assert_eq!((lost.halt.may_go_on(), began.elapsed()), (outlives_process, Duration::ZERO), "{lost:?}");
        test_robot.runtime.release(&"base".into());
    }
}

/// A process that hangs is ended by the monitor; a mission that waits for that can go on.
#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_ends_with_its_process_if_that_is_ended_soon() {
    for (supervised, ends_after, rest) in
        [(true, 2, HaltState::AtRest), (true, 9, HaltState::Refused), (false, 2, HaltState::Refused)]
    {
        let test_robot = TestRobot::with(Behaviour::RefusesHalt, vec![]).await;
        if supervised {
            test_robot.runtime.supervise(["base".into()].into());
        }
        let event = test_robot.begin("base.go", &CancellationToken::new());
        let mut left = test_robot.runtime.unconfirmed_halts();
        let hung = left.wait_for(|left| !left.is_empty()).await.expect("the runtime is there").clone();
        assert!(hung[0].timed_out && hung[0].component == Some("base".into()), "{hung:?}");
        tokio::time::sleep(Duration::from_secs(ends_after)).await;
        test_robot.runtime.end_calls(&"base".into());
        assert_eq!(event.await.expect("it ends").halt, rest);
        assert!(test_robot.runtime.unconfirmed_halts().borrow().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_end_of_a_process_that_hangs() {
    let test_robot = TestRobot::with(Behaviour::RefusesHalt, vec![]).await;
    test_robot.runtime.supervise(["base".into()].into());
    let _event = test_robot.begin("base.go", &CancellationToken::new());
    let mut left = test_robot.runtime.unconfirmed_halts();
    let _ = left.wait_for(|left| !left.is_empty()).await.expect("the runtime is there");
    let began = Instant::now();
    assert_eq!(test_robot.runtime.stop().await.expect("the mission queue").not_stopped, ["base.go".into()]);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn regression_who_waited_for_the_wheels_began_on_top_of_a_drive_that_was_given_up() {
    let test_robot = TestRobot::with(Behaviour::RefusesHalt, drive()).await;
    let ticket = test_robot.task().await.expect("it is taken");
    test_robot.tools.wait_until_begun().await;
    let waiting = test_robot.begin("base.go", &CancellationToken::new());
    // It waits by now.
    tokio::time::sleep(Duration::from_secs(1)).await;
    test_robot.runtime.cancel(ticket.id).await;
    let refused = waiting.await.expect("it ends");
    assert_eq!(kind(&refused), (OutcomeStatus::Failed(FailureKind::NotReady), HaltState::AtRest));
    assert!(refused.is_failure_for("it was not called: base.go did not confirm that it is at rest"), "{refused:?}");
    assert_eq!(test_robot.tools.called(), ["base.go"], "the drive alone");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_calls_of_events_names_what_is_not_at_rest_and_holds_until_resume() {
    let base = Behaviour::InTurn(vec![Behaviour::HaltsAfter(Duration::from_secs(2)), Behaviour::RefusesHalt]);
    let test_robot = TestRobot::with(base, vec![]).await;
    let call_readiness = test_robot.runtime.call_readiness();
    let (on, unwanted) = (call_readiness.borrow().is_on(), call_readiness.borrow().unwanted());
    assert!(on && !unwanted.is_cancelled());
    let running = test_robot.begin("base.go", &CancellationToken::new());
    test_robot.tools.wait_until_begun().await;
    let began = Instant::now();
    assert_eq!(
        test_robot.runtime.stop().await.expect("the mission queue"),
        StopOutcome { not_stopped: vec![], missions_ended: 0 }
    );
    assert_eq!(began.elapsed(), Duration::from_secs(2), "when it is at rest");
    assert_eq!(kind(&running.await.expect("it ends")), (OutcomeStatus::Cancelled, HaltState::Halted));
    assert!(unwanted.is_cancelled() && !call_readiness.borrow().is_on());
    let refused = test_robot.call("base.halt").await;
    assert!(refused.is_failure_for("the robot is stopped"), "{refused:?}");
    let rest = test_robot.runtime.rest("its lifecycle is inactive").await.expect("the mission queue");
    assert_eq!(rest.not_stopped, []);
    test_robot.runtime.resume().await;
    assert!(test_robot.call("light.on").await.is_failure_for("Cortex is not active: its lifecycle is inactive"));
    assert!(!call_readiness.borrow().is_on(), "what was stopped for two reasons goes on when both are over");
    test_robot.runtime.work().await;
    assert!(test_robot.call("light.on").await.is_success());
    test_robot.tools.wait_until_begun().await;
    assert!(call_readiness.borrow().is_on() && !call_readiness.borrow().unwanted().is_cancelled());
    let running = test_robot.begin("base.go", &CancellationToken::new());
    test_robot.tools.wait_until_begun().await;
    let report = test_robot.runtime.stop().await.expect("the mission queue");
    assert_eq!(report.not_stopped, ["base.go".into()]);
    assert_eq!(running.await.expect("it ends").halt, HaltState::Refused);
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_a_call_and_leaves_has_it_halted() {
    let test_robot = TestRobot::with(Behaviour::RunsUntilHalted, vec![]).await;
    let running = test_robot.begin("base.go", &CancellationToken::new());
    test_robot.tools.wait_until_begun().await;
    running.abort();
    assert!(test_robot.runtime.shut_down(Duration::from_secs(10)).await);
    assert_eq!(test_robot.tools.halted(), ["base.go"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_for_clients_is_not_for_models_and_wrong_arguments_are_no_call() {
    let test_robot = TestRobot::with(Behaviour::Returns(json!("done")), vec![]).await;
    let strict = json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]});
    let own = method("light", "blink").with_parameters(strict).with_cancel(CancelMode::Drop);
    test_robot.provider.offer_to_clients(vec![own, halt("base")]).await;
    assert!(test_robot.call("light.blink").await.is_failure_for("\"x\" is a required property"));
    assert!(test_robot.call("light.dance").await.is_failure_for("there is no such tool on the robot now"));
    assert!(test_robot.runtime.tools().get(&"light.blink".into()).is_none());
    assert_eq!(test_robot.tools.called(), Vec::<String>::new());
    test_robot.provider.offer_to_clients(vec![]).await;
    assert!(test_robot.call("base.halt").await.is_success(), "of two with one name, the one for everybody stays");
}

trait Fails {
    /// Whether it failed, and this is said.
    fn is_failure_for(&self, because: &str) -> bool;
}

impl Fails for ToolOutcome {
    fn is_failure_for(&self, because: &str) -> bool {
        matches!(self.status, OutcomeStatus::Failed(_)) && self.message.contains(because)
    }
}

/// Ends long after it was given up, and says so then.
struct Slow {
    ended: CancellationToken,
}

#[async_trait::async_trait]
impl ToolProvider for Slow {
    fn label(&self) -> String {
        "slow".to_owned()
    }

    async fn invoke(&self, _invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        std::future::pending().await
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        HaltState::Unconfirmed
    }

    async fn ended(&self, _invocation: &Invocation) {
        self.ended.cancelled().await;
    }
}

/// What could not be halted kept back what collides with it until a person had looked, although it had long ended.
#[tokio::test(start_paused = true)]
async fn regression_what_ends_late_is_at_rest_then() {
    let slow = Arc::new(Slow { ended: CancellationToken::new() });
    let model = Arc::new(ScriptedModel::new(vec![]));
    let runtime = Runtime::start(RuntimeConfig::default(), model);
    let provider = runtime.register(slow.clone());
    provider.offer_tools(vec![method("base", "go")]).await;
    let call = ToolCall { tool: "base.go".into(), arguments: Map::new() };
    // The mission queue has heard of the tools.
    runtime.resume().await;
    let outcome = runtime.call(Origin::new("event", "door"), call, CancellationToken::new()).await;
    assert!(outcome.halt.may_go_on(), "{outcome:?}");
    let mut left = runtime.unconfirmed_halts();
    assert_eq!(left.borrow().len(), 1);
    slow.ended.cancel();
    let at_rest = tokio::time::timeout(PATIENCE, left.wait_for(|left| left.is_empty()));
    assert!(at_rest.await.is_ok_and(|at_rest| at_rest.is_ok()));
    assert!(runtime.shut_down(PATIENCE).await, "nothing waits on");
}
