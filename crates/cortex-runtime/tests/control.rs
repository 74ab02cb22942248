//! Tests of people who pause the robot, take the controls and give them back, or vanish. On a paused clock.

#![expect(clippy::expect_used, clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{CONTROL_LEASE, ControlLoss, EventStream as _};
use cortex_protocol::{
    Command, CommandError, CommandErrorKind, CommandOutcome, Control, ControlState, Effect, MissionEvent, MissionId,
    MissionResult, MissionStatus, Origin, Principal, Role, Submission, ToolCall, ToolOutcome, ToolPhase, ToolSpec,
};
use cortex_runtime::{MissionTicket, Readiness, Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says, tool};
use serde_json::{Map, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn method(component: &str, name: &str) -> ToolSpec {
    let tool = tool(&format!("{component}.{name}"), ToolPhase::Execution, Effect::Move);
    tool.with_component(Some(component.into())).with_resources(vec![component.into()])
}

struct TestRobot {
    runtime: Runtime,
    tools: Arc<FakeTools>,
    model: Arc<ScriptedModel>,
    _provider: cortex_runtime::ProviderHandle,
}

impl TestRobot {
    /// A robot whose base drives until it is told to halt, and then, asked again, arrives.
    async fn new() -> Self {
        let drive = || vec![calls(&[("base-go", json!({}))]), says("EXECUTE")];
        Self::with(drive().into_iter().chain(drive()).chain([says("I am there.")]).collect()).await
    }

    async fn with(script: Vec<Line>) -> Self {
        let drives = Behaviour::InTurn(vec![Behaviour::RunsUntilHalted, Behaviour::Returns(json!("there"))]);
        let tools = Arc::new(FakeTools::new([
            ("base.go", drives),
            ("light.on", Behaviour::Returns(json!("on"))),
            ("arm.wave", Behaviour::RunsUntilHalted),
        ]));
        let model = Arc::new(ScriptedModel::new(script).and_then_always(says("It did not work.")));
        let runtime = Runtime::start(RuntimeConfig::default(), model.clone());
        let provider = runtime.register(tools.clone());
        provider.offer_tools(vec![method("base", "go"), method("light", "on"), method("arm", "wave")]).await;
        are_on_offer(&runtime).await;
        Self { runtime, tools, model, _provider: provider }
    }

    async fn task(&self) -> MissionTicket {
        let origin = Origin::new("cli", "test");
        self.runtime.submit(Submission { task: "drive".into(), session: None, origin }).await.expect("it is taken")
    }

    /// A task whose first step moves.
    async fn driving(&self) -> MissionTicket {
        let ticket = self.task().await;
        self.tools.wait_until_begun().await;
        ticket
    }

    async fn give(&self, by: &Principal, command: Command) -> Result<Control, CommandError> {
        match self.runtime.execute(command, by.clone()).await? {
            CommandOutcome::Control(control) => Ok(control),
            other => panic!("{other:?}"),
        }
    }

    fn event(&self, tool: &str) -> JoinHandle<ToolOutcome> {
        let (runtime, call) = (self.runtime.clone(), ToolCall { tool: tool.into(), arguments: Map::new() });
        tokio::spawn(async move { runtime.call(Origin::new("event", "door"), call, CancellationToken::new()).await })
    }

    /// One tool by hand: the mission that it is.
    async fn by_hand(&self, by: &Principal, tool: &str) -> Result<MissionId, CommandError> {
        let call = Command::CallTool { tool: tool.into(), arguments: Map::new() };
        match self.runtime.execute(call, by.clone()).await? {
            CommandOutcome::Submitted { mission } => Ok(mission),
            other => panic!("{other:?}"),
        }
    }

    /// What comes of it.
    async fn result_of(&self, mission: &MissionId) -> MissionResult {
        let mut events = self.runtime.follow(mission.clone());
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

    /// The same, of a tool that ends by itself.
    async fn status_by_hand(&self, by: &Principal, tool: &str) -> Result<MissionStatus, CommandError> {
        let mission = self.by_hand(by, tool).await?;
        Ok(self.result_of(&mission).await.status)
    }

    /// She waves by hand, while the mission that drove waits for her.
    async fn waving(&self, by: &Principal) -> MissionId {
        let begun = self.tools.called().len();
        let mission = self.by_hand(by, "arm.wave").await.expect("it is taken");
        while self.tools.called().len() == begun {
            tokio::task::yield_now().await;
        }
        mission
    }

    /// Waits until the controls are in that state.
    async fn control_is(&self, state: ControlState) -> Control {
        let mut availability = self.runtime.watch_availability();
        let reached = availability.wait_for(|now| now.control().state == state);
        let reached = tokio::time::timeout(Duration::from_secs(60), reached).await.expect("in time");
        reached.expect("the runtime is there").control().clone()
    }

    /// Waits until the tools are told to halt this often.
    async fn halted(&self, often: usize) {
        let begun = Instant::now();
        while self.tools.halts().len() < often {
            assert!(begun.elapsed() < Duration::from_secs(30), "nothing is halted");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// The mission queue has taken note of the tools.
async fn are_on_offer(runtime: &Runtime) {
    while runtime.tools().is_empty() {
        tokio::task::yield_now().await;
    }
}

fn tablet() -> Principal {
    Principal::operator(Origin::new("web", "the tablet")).over("a".into())
}

fn phone() -> Principal {
    Principal::operator(Origin::new("web", "the phone")).over("b".into())
}

fn desk() -> Principal {
    Principal { role: Role::Administer, ..Principal::operator(Origin::new("web", "the desk")).over("c".into()) }
}

async fn ended(ticket: MissionTicket) -> (MissionResult, Vec<String>) {
    let MissionTicket { mut events, result, .. } = ticket;
    let result = result.await.expect("a result");
    let mut lines = Vec::new();
    while let Some(event) = events.next().await {
        lines.push(event.data.text.clone());
        if matches!(event.data.payload, MissionEvent::Finished { .. }) {
            break;
        }
    }
    (result, lines)
}

#[tokio::test(start_paused = true)]
async fn a_mission_is_paused_in_mid_drive_and_finishes_when_it_may_go_on() {
    let robot = TestRobot::new().await;
    let ticket = robot.driving().await;
    let paused = robot.give(&phone(), Command::Pause).await.expect("it is paused");
    assert_eq!((paused.state, paused.because.as_str()), (ControlState::Paused, "the phone paused the robot"));
    robot.halted(1).await;
    let asked = robot.model.requests().len();
    // Longer than a mission may take, and than one may wait for the monitor.
    tokio::time::sleep(Duration::from_secs(10_000)).await;
    assert_eq!(robot.model.requests().len(), asked, "waiting costs no request");
    assert_eq!(robot.tools.called(), ["base.go"]);
    assert!(matches!(robot.runtime.readiness(), Readiness::Waiting { because } if because.contains("the phone")));
    robot.give(&tablet(), Command::Unpause).await.expect("it goes on");
    let (result, lines) = ended(ticket).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{lines:#?}");
    assert_eq!(robot.tools.called(), ["base.go", "base.go"], "what was halted was not done");
    for line in ["the phone paused the robot", "the tablet let the robot go on after 10000 s"] {
        assert!(lines.iter().any(|it| it.contains(line)), "{line}: {lines:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_begins_when_the_robot_goes_on_however_long_that_takes() {
    let robot = TestRobot::with(vec![calls(&[("light-on", json!({}))]), says("EXECUTE"), says("It is on.")]).await;
    robot.give(&tablet(), Command::Pause).await.expect("it is paused");
    let ticket = robot.task().await;
    tokio::time::sleep(Duration::from_secs(100_000)).await;
    assert_eq!(robot.model.requests().len(), 0);
    robot.give(&tablet(), Command::Unpause).await.expect("it goes on");
    let (result, lines) = ended(ticket).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("the tablet paused the robot")), "{lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn while_a_person_has_the_controls_only_that_person_has_the_robot_do_something() {
    let robot = TestRobot::new().await;
    let ticket = robot.driving().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let _kept = keep(&robot.runtime, &tablet());
    robot.halted(1).await;
    let submit = || Command::Submit { task: "drive".to_owned(), session: None };
    let refused = robot.runtime.execute(submit(), phone()).await.expect_err("it is refused");
    assert_eq!(refused.kind, CommandErrorKind::Refused);
    assert!(refused.reason.starts_with("the tablet has the controls of the robot."), "{}", refused.reason);
    let revise = Command::Revise { mission: None, text: "faster".to_owned() };
    assert!(robot.runtime.execute(revise, phone()).await.is_err());
    for command in [Command::Unpause, Command::HandBack, Command::Pause, Command::TakeOver] {
        assert!(robot.give(&phone(), command.clone()).await.is_err(), "{command:?}");
    }
    let of_event = robot.event("light.on").await.expect("it ends");
    assert!(of_event.message.contains("the tablet has the controls"), "{}", of_event.message);
    assert_eq!(robot.tools.called(), ["base.go"], "nothing was called");
    let by_another = robot.by_hand(&phone(), "light.on").await.expect_err("it is refused");
    assert!(by_another.reason.starts_with("the tablet has the controls of the robot."), "{}", by_another.reason);
    let another_window = tablet().over("another".into());
    assert!(robot.by_hand(&another_window, "light.on").await.is_err(), "the controls are a connection's, not a name's");
    assert_eq!(robot.tools.called(), ["base.go"], "nothing was called");
    assert_eq!(
        robot.status_by_hand(&tablet(), "light.on").await,
        Ok(MissionStatus::Succeeded),
        "her own calls are made"
    );
    robot.give(&tablet(), Command::HandBack).await.expect("she hands back");
    assert_eq!(ended(ticket).await.0.status, MissionStatus::Succeeded);
    assert!(robot.event("light.on").await.expect("it ends").is_success(), "events act again");
    assert_eq!(robot.tools.called(), ["base.go", "light.on", "base.go", "light.on"]);
}

/// Her connection is heard, until this is dropped.
fn keep(runtime: &Runtime, by: &Principal) -> tokio_util::task::AbortOnDropHandle<()> {
    let (runtime, connection) = (runtime.clone(), by.connection.clone().expect("a connection"));
    tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            runtime.keep_controls(&connection);
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn a_holder_who_falls_silent_is_lost_and_what_is_done_by_hand_is_halted() {
    let robot = TestRobot::new().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let kept = keep(&robot.runtime, &tablet());
    let wave = robot.waving(&tablet()).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(robot.runtime.control().state, ControlState::Held, "she is heard");
    drop(kept);
    let silent = Instant::now();
    // Somebody else's connection says nothing about hers.
    let _others = keep(&robot.runtime, &phone());
    let result = robot.result_of(&wave).await;
    assert_eq!(result.status, MissionStatus::Cancelled);
    assert!(result.output.contains("the tablet held the controls and vanished"), "{}", result.output);
    assert_eq!(robot.tools.halts().len(), 1);
    assert!(silent.elapsed() <= CONTROL_LEASE + Duration::from_millis(10), "{:?}", silent.elapsed());
    let control = robot.runtime.control();
    assert_eq!(control.state, ControlState::Paused);
    assert_eq!(control.because, "the tablet held the controls and vanished: nothing was heard any more");
    robot.runtime.keep_controls(&"a".into());
    assert_eq!(robot.runtime.control(), control, "who comes back has to take over again");
    assert!(robot.give(&tablet(), Command::HandBack).await.is_err());
    robot.give(&phone(), Command::Unpause).await.expect("somebody lets the robot go on");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_lost_halts_the_robot_at_once_if_it_holds_the_controls() {
    let robot = TestRobot::new().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let _kept = keep(&robot.runtime, &tablet());
    let wave = robot.waving(&tablet()).await;
    robot.runtime.lose_controls(&"b".into(), ControlLoss::Closed);
    assert_eq!(robot.runtime.control().state, ControlState::Held);
    let lost = Instant::now();
    robot.runtime.lose_controls(&"a".into(), ControlLoss::SessionEnded);
    assert_eq!(robot.result_of(&wave).await.status, MissionStatus::Cancelled);
    assert_eq!(lost.elapsed(), Duration::ZERO);
    assert!(robot.runtime.control().because.ends_with("vanished: the session was ended"));
}

#[tokio::test(start_paused = true)]
async fn an_administrator_takes_the_controls_and_what_the_other_did_by_hand_is_halted() {
    let robot = TestRobot::new().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let wave = robot.waving(&tablet()).await;
    let taken = robot.give(&desk(), Command::TakeOver).await.expect("taken");
    assert_eq!(taken.because, "the desk has the controls, taken from the tablet");
    let _kept = keep(&robot.runtime, &desk());
    let beside = robot.by_hand(&desk(), "light.on").await.expect_err("what she ran is not at rest yet");
    assert!(beside.reason.contains("another tool still runs by hand"), "{}", beside.reason);
    let result = robot.result_of(&wave).await;
    assert_eq!(result.status, MissionStatus::Cancelled);
    assert!(result.output.contains("taken from the tablet"), "{}", result.output);
    assert!(robot.give(&tablet(), Command::HandBack).await.is_err(), "they are hers no more");
    assert_eq!(robot.runtime.control(), taken, "his they stay");
    assert_eq!(robot.status_by_hand(&desk(), "light.on").await, Ok(MissionStatus::Succeeded));
}

#[tokio::test(start_paused = true)]
async fn everybody_stops_the_robot_and_the_controls_stay_whose_they_are() {
    let robot = TestRobot::new().await;
    let ticket = robot.driving().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let _kept = keep(&robot.runtime, &tablet());
    robot.halted(1).await;
    let wave = robot.waving(&tablet()).await;
    let watcher = Principal { role: Role::Watch, ..phone() };
    let CommandOutcome::Stopped(stopped) = robot.runtime.execute(Command::Stop, watcher).await.expect("it stops")
    else {
        panic!("another outcome");
    };
    assert_eq!((stopped.missions_ended, stopped.not_stopped.len()), (2, 0));
    assert_eq!(robot.result_of(&wave).await.status, MissionStatus::Cancelled);
    assert_eq!(robot.tools.halts().len(), 2, "what she had waving, too");
    assert_eq!(ended(ticket).await.0.status, MissionStatus::Cancelled);
    let refused = robot.by_hand(&tablet(), "light.on").await.expect_err("stopped is stopped");
    assert!(refused.reason.contains("the robot is stopped"), "{}", refused.reason);
    assert!(robot.runtime.execute(Command::Resume, phone()).await.is_err(), "she decides whether it is safe");
    robot.runtime.execute(Command::Resume, tablet()).await.expect("it is resumed");
    assert_eq!(
        robot.status_by_hand(&tablet(), "light.on").await,
        Ok(MissionStatus::Succeeded),
        "she still has the controls"
    );
}

#[tokio::test(start_paused = true)]
async fn what_an_event_has_in_motion_is_halted_by_a_pause_also_by_one_that_is_over_at_once() {
    let robot = TestRobot::new().await;
    for command in [Command::Pause, Command::TakeOver] {
        let wave = robot.event("arm.wave");
        robot.tools.wait_until_begun().await;
        robot.give(&tablet(), command).await.expect("it is paused");
        robot.give(&tablet(), Command::Unpause).await.expect("it goes on");
        assert!(!wave.await.expect("it ends").is_success());
        assert!(robot.event("light.on").await.expect("it ends").is_success());
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_is_on_its_way_when_a_person_pauses_is_refused_or_halted() {
    // The pause comes after so many turns of the other tasks: before, while and after the call is sent.
    for turns in 0..60 {
        let robot = TestRobot::new().await;
        let ticket = robot.task().await;
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        robot.give(&tablet(), Command::Pause).await.expect("it is paused");
        tokio::time::sleep(Duration::from_secs(5)).await;
        let (begun, halts) = (robot.tools.called().len(), robot.tools.halts().len());
        assert_eq!(begun, halts, "after {turns} turns something goes on");
        robot.give(&tablet(), Command::Unpause).await.expect("it goes on");
        // The base drives until it is halted where it was not called before.
        if begun == 1 {
            assert_eq!(ended(ticket).await.0.status, MissionStatus::Succeeded, "after {turns} turns");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_hands_back_in_mid_call_has_it_halted_before_the_mission_goes_on() {
    let robot = TestRobot::new().await;
    let ticket = robot.driving().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let _kept = keep(&robot.runtime, &tablet());
    robot.halted(1).await;
    let asked = robot.model.requests().len();
    let wave = robot.waving(&tablet()).await;
    assert!(
        robot.by_hand(&tablet(), "light.on").await.expect_err("one at a time").reason.contains("one runs at a time")
    );
    let back = robot.give(&tablet(), Command::HandBack).await.expect("she hands back");
    assert_eq!(back.state, ControlState::Paused, "first that comes to rest");
    let because = "the tablet handed the controls back; what was run by hand is being halted first";
    assert_eq!(back.because, because);
    assert_eq!(robot.model.requests().len(), asked, "the mission does not go on yet");
    let of_event = robot.event("light.on").await.expect("it ends");
    assert!(!of_event.is_success(), "events neither");
    let result = robot.result_of(&wave).await;
    assert_eq!(result.status, MissionStatus::Cancelled);
    assert!(result.output.contains("handed the controls back"), "{}", result.output);
    assert_eq!(robot.tools.halts().len(), 2);
    let control = robot.control_is(ControlState::Autonomous).await;
    assert_eq!((control.because.as_str(), control.holder), ("the tablet handed the controls back", None));
    let (result, lines) = ended(ticket).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{lines:#?}");
    assert_eq!(robot.tools.called(), ["base.go", "arm.wave", "base.go"]);
}

#[tokio::test(start_paused = true)]
async fn who_pauses_or_takes_over_while_a_call_by_hand_comes_to_rest_is_heard() {
    for (then, state) in [(Command::Pause, ControlState::Paused), (Command::TakeOver, ControlState::Held)] {
        let robot = TestRobot::new().await;
        robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
        let wave = robot.waving(&tablet()).await;
        robot.give(&tablet(), Command::HandBack).await.expect("she hands back");
        let going_on = robot.give(&phone(), Command::Unpause).await.expect("it is to go on anyway");
        assert_eq!(going_on.because, robot.runtime.control().because, "that changes nothing");
        let decided = robot.give(&phone(), then).await.expect("he decides otherwise");
        assert_eq!(decided.state, state);
        let _kept = keep(&robot.runtime, &phone());
        robot.result_of(&wave).await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(robot.runtime.control(), decided, "what she wanted before counts no more");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_loses_the_controls_for_a_moment_has_what_was_run_by_hand_halted() {
    let robot = TestRobot::new().await;
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let wave = robot.waving(&tablet()).await;
    robot.runtime.lose_controls(&"a".into(), ControlLoss::Closed);
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over again");
    let _kept = keep(&robot.runtime, &tablet());
    assert_eq!(robot.result_of(&wave).await.status, MissionStatus::Cancelled);
    assert_eq!(robot.tools.halts().len(), 1);
    assert_eq!(robot.runtime.control().state, ControlState::Held);
}

#[tokio::test(start_paused = true)]
async fn the_robot_stays_paused_where_what_was_run_by_hand_does_not_confirm_that_it_is_at_rest() {
    let tools = Arc::new(FakeTools::new([("arm.wave", Behaviour::IgnoresHalt)]));
    let runtime = Runtime::start(RuntimeConfig::default(), Arc::new(ScriptedModel::new(Vec::new())));
    let provider = runtime.register(tools.clone());
    provider.offer_tools(vec![method("arm", "wave")]).await;
    are_on_offer(&runtime).await;
    let model = Arc::new(ScriptedModel::new(Vec::new()));
    let robot = TestRobot { runtime, tools, model, _provider: provider };
    robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
    let wave = robot.waving(&tablet()).await;
    robot.give(&tablet(), Command::HandBack).await.expect("she hands back");
    let result = robot.result_of(&wave).await;
    assert_eq!(result.not_stopped, ["arm.wave".into()]);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let control = robot.runtime.control();
    assert_eq!(control.state, ControlState::Paused);
    assert!(control.because.contains("did not confirm that it is at rest"), "{}", control.because);
    robot.give(&phone(), Command::Unpause).await.expect("a person has looked");
    assert!(robot.runtime.control().is_autonomous());
}

#[tokio::test(start_paused = true)]
async fn whenever_the_controls_are_handed_back_nothing_of_both_is_under_way_at_once() {
    // She hands back after so many turns of the other tasks: before, while and after the call is sent.
    for turns in 0..60 {
        let robot = TestRobot::new().await;
        let ticket = robot.driving().await;
        robot.give(&tablet(), Command::TakeOver).await.expect("she takes over");
        let _kept = keep(&robot.runtime, &tablet());
        robot.halted(1).await;
        let wave = robot.by_hand(&tablet(), "arm.wave").await.expect("it is taken");
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        robot.give(&tablet(), Command::HandBack).await.expect("she hands back");
        let result = robot.result_of(&wave).await;
        assert_eq!(result.status, MissionStatus::Cancelled, "after {turns} turns: {}", result.output);
        let waved = robot.tools.called().iter().filter(|tool| **tool == "arm.wave").count();
        assert_eq!(robot.tools.halts().len(), 1 + waved, "after {turns} turns something goes on");
        assert_eq!(ended(ticket).await.0.status, MissionStatus::Succeeded, "after {turns} turns");
        assert_eq!(robot.tools.called().last().map(String::as_str), Some("base.go"));
    }
}
