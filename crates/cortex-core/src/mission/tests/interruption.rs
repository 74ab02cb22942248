//! Tests of people who pause the robot or take the controls in mid mission.

use cortex_protocol::{Command, ConnectionId, Control, HaltState, Origin, Principal, StepStatus};

use super::*;
use crate::Availability;
use crate::control;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

fn halted() -> ToolOutcome {
    ToolOutcome::cancelled(HaltState::Halted, "halted")
}

fn anna() -> Principal {
    Principal::operator(Origin::new("web", "Anna's tablet")).over(ConnectionId::from("a"))
}

/// The controls after these commands of Anna.
fn after(commands: &[Command]) -> Control {
    commands.iter().fold(Control::default(), |now, command| {
        match command {
            Command::Pause => control::pause(&now, &anna(), 1),
            Command::Unpause => control::unpause(&now, &anna(), 2),
            Command::TakeOver => control::take_over(&now, &anna(), 1),
            Command::HandBack => control::hand_back(&now, &anna(), 2),
            other => panic!("{other:?}"),
        }
        .unwrap()
    })
}

fn controls(commands: &[Command]) -> Input {
    let mut availability = Availability::default();
    availability.set_control(after(commands));
    Input::AvailabilityChanged { availability }
}

const PAUSE: &[Command] = &[Command::Pause];
const ON: &[Command] = &[Command::Pause, Command::Unpause];

/// On the way to the kitchen, where it will speak.
fn driving() -> Story {
    let plan = [go("kitchen"), say("hello")];
    Story::of("go to the kitchen and say hello")
        .model_calls(&plan)
        .model_says("EXECUTE")
        .tool_waits("base.go_to")
        .start()
}

#[test]
fn a_pause_halts_what_moves_and_asks_nobody_until_the_robot_goes_on_and_plans_anew() {
    let mut story = driving();
    story.give_at(10, controls(PAUSE));
    assert_eq!(story.cancelled, [story.invoked[0].0]);
    story.end_call(0, halted());
    assert_eq!(purposes(&story).len(), 2, "no request while it is paused");
    for second in [20, 4_000, 90_000] {
        story.give_at(second, Input::Tick);
        assert!(story.mission.next_wake().unwrap() > story.now, "it does not spin");
    }
    assert_eq!((purposes(&story).len(), story.invoked.len()), (2, 1), "however long that takes");
    story.give_at(90_010, controls(ON));
    let asked = text_of(story.requests.last().unwrap());
    for told in [
        "1.1 base-go_to {\"place\":\"kitchen\"}: HALTED (the robot was paused)",
        "1.2 speaker-say {\"text\":\"hello\"}: NOT RUN (the robot was paused)",
        "A person (\"Anna's tablet\") paused the robot for 90000 s.",
        "What was running was halted for that; that is not a fault of the step.",
    ] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
    for line in ["Anna's tablet paused the robot", "Anna's tablet let the robot go on after 90000 s"] {
        assert!(story.lines.contains(&line.to_owned()), "{line}: {:#?}", story.lines);
    }
    story.reply(calls(&[go("kitchen"), say("hello")]));
    story.reply(says("EXECUTE"));
    story.end_call(1, ToolOutcome::success(Value::Null));
    story.reply(says("EXECUTE"));
    story.reply(says("I said hello in the kitchen."));
    assert_eq!(
        story.ends().0,
        MissionStatus::Succeeded,
        "the time with people is not the mission's: {:#?}",
        story.lines
    );
}

#[test]
fn what_a_pause_has_halted_is_owed_and_words_do_not_make_it_good() {
    let mut story = driving();
    story.give(controls(PAUSE));
    story.end_call(0, halted());
    story.give(controls(ON));
    story.reply(says("I am in the kitchen."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert_eq!(story.statuses(), [StepStatus::Failed, StepStatus::Blocked]);
}

#[test]
fn a_confirmation_that_was_asked_before_a_pause_starts_nothing() {
    let mut story = Story::of("go").model_calls(&[go("kitchen")]).start();
    story.give(controls(PAUSE));
    assert_eq!(story.abandoned.len(), 1);
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked, [], "it came too late");
    story.give(controls(ON));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

#[test]
fn a_pause_that_is_over_before_the_mission_hears_of_it_halts_all_the_same() {
    let mut story = driving();
    story.give(controls(ON));
    assert_eq!(story.cancelled.len(), 1, "what the person wanted halted is not known to be what they let go on");
    story.end_call(0, halted());
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

#[test]
fn who_had_the_controls_and_for_how_long_is_told_to_the_model_and_to_people() {
    let mut story = driving();
    story.give_at(1, controls(&[Command::Pause]));
    story.give_at(5, controls(&[Command::Pause, Command::TakeOver]));
    story.give_at(6, Input::CallEnded { call: story.invoked[0].0, outcome: halted() });
    story.give_at(43, controls(&[Command::Pause, Command::TakeOver, Command::HandBack]));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("A person (\"Anna's tablet\") had the controls of the robot for 42 s."), "{asked}");
    for line in [
        "Anna's tablet has the controls",
        "Anna's tablet handed the controls back after 42 s",
        "making plan 2: Anna's tablet had the controls of the robot for 42 s.",
    ] {
        assert!(story.lines.iter().any(|it| it.contains(line)), "{line}: {:#?}", story.lines);
    }
}

#[test]
fn what_does_not_come_to_rest_for_a_person_ends_the_mission() {
    let mut story = driving();
    story.give(controls(&[Command::TakeOver]));
    story.end_call(0, ToolOutcome::failure(FailureKind::Timeout, "slow").with_halt(HaltState::Unconfirmed));
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("base.go_to did not confirm that it is at rest"), "{output}");
}

#[test]
fn a_pause_while_the_plan_is_made_or_the_robot_looks_leaves_a_conversation_that_goes_on() {
    let mut story = Story::of("go").start();
    story.give(controls(PAUSE));
    story.reply(calls(&[go("kitchen")]));
    assert_eq!(purposes(&story), [Purpose::Plan], "the late plan is none, and nothing more is asked");
    story.give(controls(ON));
    story.reply(calls(&[go("bedroom")]));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
    let look = [("battery-level", json!({})), go("kitchen")];
    let mut story = Story::of("look and go").tool_waits("battery.level").model_calls(&look).start();
    story.give(controls(PAUSE));
    story.end_call(0, halted());
    assert_eq!(purposes(&story), [Purpose::Plan]);
    story.give(controls(ON));
    assert!(text_of(&story.requests[1]).contains("not done, because the robot was paused"));
}

#[test]
fn a_mission_that_begins_while_a_person_has_the_controls_waits() {
    let mut story = Story::of("go").model_calls(&[go("kitchen")]);
    story.mission.setup.availability.set_control(after(&[Command::TakeOver]));
    story.mission = Mission::new(story.mission.setup.clone());
    let mut story = story.start();
    assert_eq!(purposes(&story), [], "nobody is asked");
    story.give(controls(&[Command::TakeOver, Command::HandBack]));
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Confirm]);
}

#[test]
fn what_is_said_to_a_paused_mission_counts_once_it_goes_on() {
    let mut story = driving();
    story.give(controls(PAUSE));
    story.give(revision("the other room"));
    story.end_call(0, halted());
    story.give(revision("and be quiet"));
    assert_eq!(purposes(&story).len(), 2);
    story.give(controls(ON));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("the other room") && asked.contains("and be quiet"), "{asked}");
    assert!(asked.contains("paused the robot"), "{asked}");
}

#[test]
fn a_paused_mission_can_be_cancelled_and_stopped_and_the_monitor_does_not_end_it() {
    for reason in [CancelReason::Client, CancelReason::Stop] {
        let mut story = driving();
        story.give(controls(PAUSE));
        story.end_call(0, halted());
        story.give(Input::Cancel { reason });
        assert_eq!(story.ends().0, MissionStatus::Cancelled);
    }
    // The missions are paused by the monitor, too, for longer than a task waits.
    let mut story = driving();
    let mut availability = Availability::default();
    availability.pause("base does not work");
    availability.set_control(after(PAUSE));
    story.give_at(1, Input::AvailabilityChanged { availability: availability.clone() });
    story.end_call(0, halted());
    story.give_at(100_000, Input::Tick);
    assert!(story.results.is_empty(), "a person decides when it goes on");
    availability.set_control(after(ON));
    story.give_at(100_001, Input::AvailabilityChanged { availability });
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan), "a plan may be made meanwhile");
    story.give_at(200_000, Input::Tick);
    assert_eq!(story.ends().0, MissionStatus::Failed, "then the monitor's pause counts again, from now on");
}

#[test]
fn an_approval_does_not_outlive_a_pause_and_its_question_is_withdrawn() {
    let mut story = Story::with("do it", super::approval::laboratory(), |_| {}).model_calls(&[("pump-run", json!({}))]);
    story.give(Input::Start);
    assert_eq!(story.questions.len(), 1);
    story.give(controls(PAUSE));
    assert_eq!(story.closed.len(), 1, "nobody answers what may be different then");
    assert_eq!(story.invoked, []);
    story.give(Input::Tick);
    story.give(controls(ON));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}
