//! Tests of the runtime: a scripted model, tools that misbehave, people who cancel. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cortex_core::{ChatRequest, Fragment, Message, ModelError, ModelErrorKind};
use cortex_protocol::StopOutcome;
use cortex_protocol::{
    Dispatch, FailureKind, HaltState, MissionEvent, MissionResult, MissionStatus, Origin, OutcomeStatus, Submission,
};
use cortex_runtime::{MissionTicket, ProviderHandle, QueuePolicy, Rejection, Runtime, RuntimeConfig};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says};
use serde_json::json;

fn task(text: &str) -> Submission {
    Submission { task: text.into(), session: None, origin: Origin::new("cli", "test") }
}

struct TestRobot {
    runtime: Runtime,
    tools: Arc<FakeTools>,
    provider: ProviderHandle,
    model: Arc<ScriptedModel>,
}

async fn test_robot(config: RuntimeConfig, script: Vec<Line>, tools: Vec<(&str, Behaviour)>) -> TestRobot {
    let model = Arc::new(ScriptedModel::new(script));
    let tools = Arc::new(FakeTools::new(tools));
    let runtime = Runtime::start(config, model.clone());
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs()).await;
    TestRobot { runtime, tools, provider, model }
}

async fn result_of(ticket: MissionTicket) -> MissionResult {
    ticket.result.await.expect("every task that was taken gets its result")
}

/// Waits on the paused clock.
async fn until(is_so: impl Fn() -> bool) {
    let so = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), so).await.expect("it comes to that");
}

fn plan_of(tool: &str) -> Line {
    calls(&[(tool, json!({}))])
}

#[tokio::test(start_paused = true)]
async fn a_task_is_carried_out_and_its_events_are_in_order() {
    let script = vec![plan_of("base-go"), says("EXECUTE"), says("I went.")];
    let test_robot =
        test_robot(RuntimeConfig::default(), script, vec![("base.go", Behaviour::Returns(json!("there")))]).await;
    let mut ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    let mut kinds = Vec::new();
    let mut sequence = 0;
    while let Some(event) = ticket.events.recv().await {
        sequence += 1;
        assert_eq!((event.sequence, &event.subject), (sequence, &ticket.id));
        kinds.push(event.kind.clone());
    }
    assert_eq!(
        kinds,
        [
            "cortex.mission.accepted",
            "cortex.mission.classified",
            "cortex.plan.requested",
            "cortex.plan.committed",
            "cortex.step.decided",
            "cortex.step.started",
            "cortex.step.finished",
            "cortex.plan.requested",
            "cortex.mission.finished",
        ]
    );
    let result = result_of(ticket).await;
    assert_eq!((result.status, result.words()), (MissionStatus::Succeeded, "I went."));
    assert_eq!(test_robot.model.requests().len(), 3);
    assert!(test_robot.runtime.shut_down(Duration::from_secs(1)).await);
}

#[tokio::test(start_paused = true)]
async fn every_way_in_which_a_tool_can_end_is_one_outcome() {
    let slow = Duration::from_secs(1000);
    let cases: Vec<(Behaviour, FailureKind, HaltState, &str)> = vec![
        (Behaviour::Fails("no battery".into()), FailureKind::Reported, HaltState::AtRest, "no battery"),
        (Behaviour::Lost, FailureKind::ComponentLost, HaltState::Unconfirmed, "its component left the graph"),
        (
            Behaviour::Takes(slow, json!(1)),
            FailureKind::Timeout,
            HaltState::Halted,
            "it did not end within 30 s; it was halted",
        ),
        (
            Behaviour::IgnoresHalt,
            FailureKind::Timeout,
            HaltState::Unconfirmed,
            "it did not end within 30 s; told to halt, it did not confirm",
        ),
        (
            Behaviour::Panics,
            FailureKind::Internal,
            HaltState::Halted,
            "the tool's provider failed in an unforeseen way",
        ),
    ];
    for (behaviour, kind, halt, message) in cases {
        let script = vec![plan_of("base-go"), says("EXECUTE"), says("It did not work.")];
        let test_robot = test_robot(RuntimeConfig::default(), script, vec![("base.go", behaviour)]).await;
        let result = result_of(test_robot.runtime.submit(task("go")).await.unwrap()).await;
        assert_eq!(result.status, MissionStatus::Failed, "{result:?}");
        let outcome = result.steps[0].outcome.clone().unwrap();
        assert_eq!(
            (outcome.status, outcome.halt, outcome.message.as_str()),
            (OutcomeStatus::Failed(kind), halt, message)
        );
        assert!(test_robot.runtime.shut_down(Duration::from_secs(1)).await || halt == HaltState::Unconfirmed);
    }
}

#[tokio::test(start_paused = true)]
async fn cancel_halts_what_runs_and_ends_the_mission() {
    let script = vec![plan_of("base-go"), says("EXECUTE")];
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("base.go", Behaviour::RunsUntilHalted)]).await;
    let ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    assert!(test_robot.runtime.cancel(ticket.id.clone()).await);
    let result = result_of(ticket).await;
    assert_eq!(result.status, MissionStatus::Cancelled);
    assert_eq!(result.not_stopped, []);
    assert_eq!(test_robot.tools.halts().len(), 1);
    assert!(!test_robot.runtime.cancel("nobody".into()).await);
}

#[tokio::test(start_paused = true)]
async fn cancel_reaches_a_model_that_hangs() {
    let test_robot = test_robot(RuntimeConfig::default(), vec![Line::Hang], vec![]).await;
    let ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    assert!(test_robot.runtime.cancel(ticket.id.clone()).await);
    assert_eq!(result_of(ticket).await.status, MissionStatus::Cancelled);
    assert!(test_robot.runtime.shut_down(Duration::from_secs(1)).await, "the request was dropped");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_or_panics_ends_the_mission_with_the_reason() {
    for (line, reason) in [
        (Line::Hang, "The model failed: scripted did not answer within 300 s."),
        (Line::Panic, "The model failed: the model's adapter failed in an unforeseen way."),
        (
            Line::Fail(ModelError {
                kind: ModelErrorKind::ServerFailed,
                message: "the model's server answered 500 three times".into(),
                hint: "See its log.".into(),
                retry_after: None,
            }),
            "The model failed: the model's server answered 500 three times. See its log.",
        ),
    ] {
        let test_robot = test_robot(RuntimeConfig::default(), vec![line], vec![]).await;
        let result = result_of(test_robot.runtime.submit(task("go")).await.unwrap()).await;
        assert_eq!((result.status, result.words()), (MissionStatus::Failed, reason));
    }
}

/// In the reference system two goals run interleaved, or block each other for ever.
#[tokio::test(start_paused = true)]
async fn regression_tasks_wait_for_each_other_and_are_never_mixed() {
    let config = RuntimeConfig { queue: QueuePolicy::Queue { length: 1 }, ..RuntimeConfig::default() };
    let script =
        vec![plan_of("base-go"), says("EXECUTE"), says("First."), plan_of("base-go"), says("EXECUTE"), says("Second.")];
    let tools = vec![("base.go", Behaviour::Takes(Duration::from_secs(5), json!("there")))];
    let test_robot = test_robot(config, script, tools).await;
    let first = test_robot.runtime.submit(task("one")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    let mut second = test_robot.runtime.submit(task("two")).await.unwrap();
    let third = test_robot.runtime.submit(task("three")).await;
    assert_eq!(third.unwrap_err(), Rejection::QueueFull { waiting: 1 });
    second.events.recv().await.unwrap();
    let queued = second.events.recv().await.unwrap();
    assert_eq!(queued.data.payload, MissionEvent::Queued { ahead: 1 });
    assert_eq!(result_of(first).await.words(), "First.");
    assert_eq!(result_of(second).await.words(), "Second.");
}

#[tokio::test(start_paused = true)]
async fn one_task_at_a_time_where_nothing_may_wait() {
    let config = RuntimeConfig { queue: QueuePolicy::Reject, ..RuntimeConfig::default() };
    let test_robot = test_robot(config, vec![Line::Hang], vec![]).await;
    let first = test_robot.runtime.submit(task("one")).await.unwrap();
    assert_eq!(test_robot.runtime.submit(task("two")).await.unwrap_err(), Rejection::Busy);
    test_robot.runtime.cancel(first.id.clone()).await;
    assert_eq!(result_of(first).await.status, MissionStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_task_can_be_cancelled() {
    let test_robot = test_robot(RuntimeConfig::default(), vec![Line::Hang], vec![]).await;
    let first = test_robot.runtime.submit(task("one")).await.unwrap();
    let second = test_robot.runtime.submit(task("two")).await.unwrap();
    assert!(test_robot.runtime.cancel(second.id.clone()).await);
    assert_eq!(result_of(second).await.words(), "The task was cancelled before it began.");
    test_robot.runtime.cancel(first.id.clone()).await;
    assert_eq!(result_of(first).await.status, MissionStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn stop_halts_everything_and_holds_until_resume() {
    let script = vec![plan_of("base-go"), says("EXECUTE"), says("Back again.")];
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("base.go", Behaviour::RunsUntilHalted)]).await;
    let running = test_robot.runtime.submit(task("one")).await.unwrap();
    let waiting = test_robot.runtime.submit(task("two")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    assert_eq!(test_robot.runtime.stop().await.unwrap(), StopOutcome { not_stopped: vec![], missions_ended: 2 });
    assert_eq!(result_of(running).await.words(), "The robot was stopped.");
    assert_eq!(result_of(waiting).await.words(), "The robot was stopped before the task began.");
    assert_eq!(test_robot.runtime.submit(task("three")).await.unwrap_err(), Rejection::Stopped);
    assert!(test_robot.runtime.resume().await);
    assert!(!test_robot.runtime.resume().await, "it was not stopped any more");
    assert_eq!(
        result_of(test_robot.runtime.submit(task("are you there?")).await.unwrap()).await.words(),
        "Back again."
    );
}

#[tokio::test(start_paused = true)]
async fn stop_names_what_did_not_stop() {
    let script = vec![plan_of("arm-swing"), says("EXECUTE")];
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("arm.swing", Behaviour::IgnoresHalt)]).await;
    let ticket = test_robot.runtime.submit(task("swing")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    let report = test_robot.runtime.stop().await.unwrap();
    assert_eq!(report, StopOutcome { not_stopped: vec!["arm.swing".into()], missions_ended: 1 });
    let result = result_of(ticket).await;
    assert!(result.output.contains("WARNING: arm.swing did not confirm that it is at rest."), "{}", result.output);
}

#[tokio::test(start_paused = true)]
async fn a_stop_halts_again_what_an_earlier_mission_left_behind() {
    let script = vec![plan_of("arm-swing"), says("EXECUTE"), says("It did not end.")];
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("arm.swing", Behaviour::IgnoresHalt)]).await;
    let result = result_of(test_robot.runtime.submit(task("swing")).await.unwrap()).await;
    assert_eq!(result.not_stopped, ["arm.swing".into()]);
    for _ in 0..2 {
        let report = test_robot.runtime.stop().await.unwrap();
        assert_eq!(report, StopOutcome { not_stopped: vec!["arm.swing".into()], missions_ended: 0 });
    }
    assert_eq!(test_robot.tools.halts().len(), 3, "once when its time was over, and once for each stop");
    // Two at once see the same.
    let (first, second) = tokio::join!(test_robot.runtime.stop(), test_robot.runtime.stop());
    assert_eq!(first.unwrap().not_stopped, ["arm.swing".into()]);
    assert_eq!(second.unwrap().not_stopped, ["arm.swing".into()]);
}

/// Every task was refused, whatever it was about.
#[tokio::test(start_paused = true)]
async fn regression_what_may_still_move_keeps_back_only_what_it_can_collide_with() {
    let wave = || vec![plan_of("arm-wave"), says("EXECUTE"), says("That is all.")];
    let lamp = || vec![plan_of("lamp-on"), says("EXECUTE"), says("That is all.")];
    let script = [vec![plan_of("arm-swing"), says("EXECUTE"), says("It did not end.")], lamp(), wave(), wave()];
    let tools = vec![
        ("arm.swing", Behaviour::IgnoresHalt),
        ("arm.wave", Behaviour::Returns(json!("waved"))),
        ("lamp.on", Behaviour::Returns(json!("it is on"))),
    ];
    let test_robot = test_robot(RuntimeConfig::default(), script.concat(), tools).await;
    let mut specs = test_robot.tools.specs();
    specs.iter_mut().for_each(|spec| spec.resources = vec![spec.name.as_str()[..3].into()]);
    test_robot.provider.offer_tools(specs).await;
    let first = test_robot.runtime.submit(task("swing")).await.unwrap();
    let waiting = test_robot.runtime.submit(task("light")).await.unwrap();
    assert_eq!(result_of(first).await.not_stopped, ["arm.swing".into()]);
    assert_eq!(result_of(waiting).await.status, MissionStatus::Succeeded, "the lamp has nothing to do with it");
    let left = test_robot.runtime.unconfirmed_halts().borrow().clone();
    let told: Vec<(&str, bool)> = left.iter().map(|left| (left.tool.as_str(), left.timed_out)).collect();
    assert_eq!(told, [("arm.swing", true)]);
    assert!(left[0].why.contains("did not end within"), "{}", left[0].why);
    let refused = result_of(test_robot.runtime.submit(task("wave")).await.unwrap()).await;
    assert_eq!(refused.status, MissionStatus::Failed);
    let reason = "it was not called: arm.swing did not confirm that it is at rest. Look at the robot; when it is safe";
    assert!(refused.output.contains(reason), "{}", refused.output);
    assert!(test_robot.runtime.resume().await);
    let waved = result_of(test_robot.runtime.submit(task("wave")).await.unwrap()).await;
    assert_eq!(waved.status, MissionStatus::Succeeded, "{}", waved.output);
    assert!(test_robot.runtime.unconfirmed_halts().borrow().is_empty() && !test_robot.runtime.resume().await);
}

#[tokio::test(start_paused = true)]
async fn a_component_that_came_back_is_asked_again_whether_it_is_at_rest() {
    let back = Arc::new(AtomicBool::new(false));
    let script = vec![plan_of("arm-swing"), says("EXECUTE"), says("Hello.")];
    let lost = Behaviour::LostUntilBack(Arc::clone(&back));
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("arm.swing", lost)]).await;
    let result = result_of(test_robot.runtime.submit(task("swing")).await.unwrap()).await;
    assert_eq!(result.not_stopped, ["arm.swing".into()]);
    // The monitor has it started anew, but it does not say that nothing moves.
    test_robot.runtime.quarantine("arm".into(), "its process was killed".to_owned());
    test_robot.runtime.release(&"arm".into());
    until(|| test_robot.tools.halts().len() >= 2).await;
    assert_eq!(test_robot.runtime.unconfirmed_halts().borrow().len(), 1);
    back.store(true, Ordering::Release);
    test_robot.runtime.quarantine("arm".into(), "its process was killed again".to_owned());
    test_robot.runtime.release(&"arm".into());
    let halts = test_robot.tools.halts().len();
    until(|| test_robot.tools.halts().len() > halts).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(test_robot.runtime.unconfirmed_halts().borrow().is_empty());
    assert_eq!(result_of(test_robot.runtime.submit(task("hello")).await.unwrap()).await.words(), "Hello.");
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_every_mission_with_a_result() {
    let script = vec![plan_of("base-go"), says("EXECUTE")];
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("base.go", Behaviour::RunsUntilHalted)]).await;
    let running = test_robot.runtime.submit(task("one")).await.unwrap();
    let waiting = test_robot.runtime.submit(task("two")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    assert!(test_robot.runtime.shut_down(Duration::from_secs(10)).await);
    assert_eq!(result_of(running).await.words(), "Cortex is shutting down.");
    assert_eq!(result_of(waiting).await.words(), "Cortex is shutting down; the task was not begun.");
    assert_eq!(test_robot.runtime.submit(task("three")).await.unwrap_err(), Rejection::ShuttingDown);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_leaves_while_a_mission_runs_is_not_called() {
    let script = vec![calls(&[("base-go", json!({})), ("arm-wave", json!({}))]), says("EXECUTE"), says("I went only.")];
    let tools = vec![
        ("base.go", Behaviour::Takes(Duration::from_secs(5), json!("there"))),
        ("arm.wave", Behaviour::Returns(json!("hi"))),
    ];
    let test_robot = test_robot(RuntimeConfig::default(), script, tools).await;
    let ticket = test_robot.runtime.submit(task("go and wave")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    let mut left = test_robot.tools.specs();
    left.retain(|spec| spec.name.as_str() != "arm.wave");
    test_robot.provider.offer_tools(left).await;
    let result = result_of(ticket).await;
    assert_eq!(test_robot.tools.called(), ["base.go"]);
    assert_eq!(result.status, MissionStatus::Failed);
    assert!(result.output.contains("the tool 'arm.wave' is no longer there"), "{}", result.output);
}

/// The base died, and a task came while it was coming up again: it was not known that there ever was a base.
#[tokio::test(start_paused = true)]
async fn regression_a_mission_that_begins_while_a_component_is_coming_up_again_did_not_know_of_it() {
    let script = vec![plan_of("base-go"), plan_of("base-go"), says("EXECUTE"), says("I went.")];
    let tools = vec![("arm.wave", Behaviour::Returns(json!("hi"))), ("base.go", Behaviour::Returns(json!("there")))];
    let test_robot = test_robot(RuntimeConfig::default(), script, tools).await;
    let mut specs = test_robot.tools.specs();
    for spec in &mut specs {
        spec.component = spec.name.as_str().split_once('.').map(|(component, _)| component.into());
    }
    let all = specs.clone();
    specs.retain(|spec| spec.name.as_str() != "base.go");
    test_robot.provider.offer_tools(all.clone()).await;
    test_robot.runtime.quarantine("base".into(), "it died and is coming up again".to_owned());
    test_robot.provider.offer_tools(specs).await;
    let mut ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    let mut lines = Vec::new();
    while !lines.iter().any(|line: &String| line.contains("waiting up to 10 s for what has left: base.go")) {
        let event = ticket.events.recv().await.unwrap_or_else(|| panic!("it did not wait for the base: {lines:#?}"));
        lines.push(event.data.text.clone());
    }
    test_robot.runtime.release(&"base".into());
    test_robot.provider.offer_tools(all).await;
    let result = result_of(ticket).await;
    assert_eq!((result.status, test_robot.tools.called()), (MissionStatus::Succeeded, vec!["base.go".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_does_not_hold_the_robot() {
    let script = vec![plan_of("base-go"), says("EXECUTE"), says("Done.")];
    let test_robot = test_robot(
        RuntimeConfig::default(),
        script,
        vec![("base.go", Behaviour::Takes(Duration::from_secs(29), json!("there")))],
    )
    .await;
    let ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    assert_eq!(result_of(ticket).await.status, MissionStatus::Succeeded);
}

/// A plan of one background goal and one further step.
fn goal_then_word() -> Line {
    calls(&[("base-dock", json!({})), ("speaker-say", json!({}))])
}

/// The test robot with a docking goal that goes on in the background, and a voice.
async fn house_with_a_goal(script: Vec<Line>, dock: Behaviour) -> TestRobot {
    let voice = ("speaker.say", Behaviour::Returns(json!("said")));
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![("base.dock", dock), voice]).await;
    let mut specs = test_robot.tools.specs();
    for spec in specs.iter_mut().filter(|spec| spec.name.as_str() == "base.dock") {
        spec.dispatch = Dispatch::Background;
    }
    test_robot.provider.offer_tools(specs).await;
    test_robot
}

#[tokio::test(start_paused = true)]
async fn a_goal_goes_on_while_the_next_step_runs_and_its_outcome_is_awaited() {
    let script = vec![goal_then_word(), says("EXECUTE"), says("EXECUTE"), says("Docked and said.")];
    let dock = Behaviour::Takes(Duration::from_secs(20), json!({"docked_at": "east"}));
    let test_robot = house_with_a_goal(script, dock).await;
    let result = result_of(test_robot.runtime.submit(task("dock and speak")).await.unwrap()).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{result:?}");
    let dock = result.steps[0].outcome.as_ref().unwrap();
    assert_eq!(dock.value, json!({"docked_at": "east"}), "the outcome, not that it was dispatched");
    assert!(result.steps[1].duration.unwrap() < result.steps[0].duration.unwrap(), "it did not wait for the goal");
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_is_rejected_is_never_taken_for_one_that_goes_on() {
    let script = vec![goal_then_word(), says("EXECUTE"), says("It was rejected.")];
    let test_robot = house_with_a_goal(script, Behaviour::Rejects("the goal was rejected".into())).await;
    let result = result_of(test_robot.runtime.submit(task("dock and speak")).await.unwrap()).await;
    assert_eq!(result.status, MissionStatus::Failed);
    assert_eq!(test_robot.tools.called(), ["base.dock"]);
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_refuses_to_halt_is_named_as_such() {
    let script = vec![goal_then_word(), says("EXECUTE"), Line::Hang];
    let test_robot = house_with_a_goal(script, Behaviour::RefusesHalt).await;
    let ticket = test_robot.runtime.submit(task("dock and speak")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    let report = test_robot.runtime.stop().await.unwrap();
    assert_eq!(report, StopOutcome { not_stopped: vec!["base.dock".into()], missions_ended: 1 });
    let result = result_of(ticket).await;
    assert_eq!(result.steps[0].outcome.as_ref().unwrap().halt, HaltState::Refused);
    assert!(result.output.contains("base.dock refused to halt"), "{}", result.output);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_changes_while_its_step_is_confirmed_is_not_called() {
    let script = vec![plan_of("base-go"), Line::Hang, says("It changed.")];
    let test_robot =
        test_robot(RuntimeConfig::default(), script, vec![("base.go", Behaviour::Returns(json!("there")))]).await;
    let mut ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    while let Some(event) = ticket.events.recv().await {
        if matches!(event.data.payload, MissionEvent::Planned { .. }) {
            let mut specs = test_robot.tools.specs();
            specs[0].description = "Goes backwards now.".to_owned();
            test_robot.provider.offer_tools(specs).await;
            break;
        }
    }
    assert_eq!(result_of(ticket).await.status, MissionStatus::Failed);
    assert_eq!(test_robot.tools.called(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on_and_no_other_task_hears_of_it() {
    let script = vec![says("The kitchen."), says("The bedroom."), says("The bedroom!"), says("Which one?")];
    let test_robot = test_robot(RuntimeConfig::default(), script, vec![]).await;
    let asked = |text: &str, session: Option<&str>| Submission { session: session.map(Into::into), ..task(text) };
    for (text, session) in
        [("where are you", Some("mine")), ("and before?", Some("mine")), ("and then?", Some("yours"))]
    {
        result_of(test_robot.runtime.submit(asked(text, session)).await.unwrap()).await;
    }
    let heard = |index: usize| -> String {
        let request: &ChatRequest = &test_robot.model.requests()[index];
        let Some(Message::User { fragments }) = request.messages.get(1) else { return String::new() };
        let is_said = |fragment: &&Fragment| !matches!(fragment, Fragment::Goal { .. } | Fragment::Context { .. });
        let told = fragments.iter().filter(is_said);
        told.map(Fragment::render).collect()
    };
    assert_eq!(heard(0), "The task, in the person's words: \"where are you\"");
    assert!(
        heard(1).contains("\"where are you\": ANSWERED: \"The kitchen.\\nNothing was done, nothing was looked at.\""),
        "{}",
        heard(1)
    );
    assert!(heard(1).ends_with("The task, in the person's words: \"and before?\""));
    assert_eq!(heard(3), "The task, in the person's words: \"and then?\"");
}
