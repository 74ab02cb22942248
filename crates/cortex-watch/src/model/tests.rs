use std::time::Duration;

use cortex_protocol::{CommandOutcome, MissionStatus, StepNumber, StepStatus, StopOutcome};

use super::*;
use crate::made;
use crate::wire::{ApiError, ReceivedEvent, RequestError};

const SECOND: Duration = Duration::from_secs(1);

fn frame(number: u64, change: impl FnOnce(&mut Frame)) -> Update {
    let mut frame = Frame { frame: number, at_ms: made::BEGIN_MS, ..Frame::default() };
    change(&mut frame);
    Update::Frame(Box::new(frame))
}

fn view(model: &Model) -> &MissionView {
    model.mission().and_then(|(view, _)| view).unwrap()
}

fn stopped(not_stopped: &[&str]) -> CommandOutcome {
    let not_stopped = not_stopped.iter().map(|tool| (*tool).into()).collect();
    CommandOutcome::Stopped(StopOutcome { missions_ended: 1, not_stopped })
}

#[test]
fn the_reference_tape_is_followed_from_the_task_to_the_report() {
    let events = made::reference_events();
    assert_eq!(events.len(), 32);
    let mut model = Model::default();
    let mut running = Vec::new();
    for event in events {
        let event = ReceivedEvent::from(event);
        let text = event.event.as_ref().unwrap().data.text.clone();
        model.apply(frame(1, |frame| frame.events.push(event)), Duration::ZERO);
        let view = view(&model);
        let step = |number: u32| view.steps.get(&StepNumber(number)).map(|step| (step.status, step.feedback.clone()));
        running.push((text, step(1), step(2)));
        // Its time is what is told, from the first to the last event.
        assert!(model.log().lines().all(|line| line.since_ms.is_some_and(|since| since < 60_000)));
    }
    let at = |text: &str| {
        running
            .iter()
            .find(|(said, ..)| said.starts_with(text))
            .map(|(_, one, two)| (one.clone(), two.clone()))
            .unwrap()
    };
    let is = |status, feedback: &str| Some((status, feedback.to_owned()));
    assert_eq!(at("plan 1"), (is(StepStatus::Pending, ""), is(StepStatus::Pending, "")));
    assert_eq!(at("in flight: base.go 3 s").0, is(StepStatus::Running, "2 of 2"));
    assert_eq!(at("step 1/2 base.go: SUCCESS").0, is(StepStatus::Success, ""));
    assert_eq!(at("step 2/2 arm.grasp: failed").1, is(StepStatus::Failed, ""));
    // The second plan has one step, and nothing of the first plan's steps.
    assert_eq!(at("plan 2"), (is(StepStatus::Pending, ""), None));
    let view = view(&model);
    assert_eq!((view.task.as_str(), view.plan_number), ("Grasp the cup in the kitchen.", 2));
    assert_eq!(view.result.as_ref().unwrap().status, MissionStatus::Succeeded);
    // Six lines of progress are one line.
    let lines: Vec<&str> = model.log().lines().map(|line| line.text.as_str()).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("in flight")).count(), 1);
    assert_eq!(lines.len(), 32 - 5);
    assert_eq!(model.log().lines().last().unwrap().tone, Tone::Good);
}

#[test]
fn what_comes_twice_counts_once_and_a_gap_is_told() {
    let mut model = made::model(|_| {});
    let lines = model.log().lines().len();
    model.apply(Update::History(made::events()), SECOND);
    model.apply(frame(2, |frame| frame.events = made::events()), SECOND);
    assert_eq!(model.log().lines().len(), lines);
    model.apply(frame(3, |frame| frame.missed = 7), SECOND);
    assert_eq!(model.log().lines().last().unwrap().text, "7 events before this cannot be had any more");
}

#[test]
fn an_event_of_a_newer_cortex_is_told_and_stops_nothing() {
    let mut model = made::model(|_| {});
    let odd = serde_json::json!({"id": "e9\u{1b}[2J", "type": "cortex.future"});
    model.apply(frame(2, |frame| frame.events = vec![odd.into()]), SECOND);
    assert_eq!(model.log().lines().last().unwrap().text, "an event that this program does not know: e9[2J");
}

#[test]
fn ages_go_on_by_the_clock_of_the_robot_and_feedback_that_stalls_is_marked() {
    let mut model = made::model(|_| {});
    assert_eq!(model.robot_ms(SECOND * 3), made::BEGIN_MS + 13_000);
    let step = |model: &Model| view(model).steps[&StepNumber(1)].clone();
    assert_eq!((step(&model).started_ms, step(&model).stalled_since_ms), (Some(made::BEGIN_MS + 2_100), None));
    let stalled = cortex_protocol::MissionEvent::Progress { in_flight: vec![made::in_flight(20, "40%", Some(12))] };
    model.apply(frame(2, |frame| frame.events = vec![made::event(6, 22_100, "stalled", stalled)]), SECOND);
    assert_eq!(step(&model).started_ms, Some(made::BEGIN_MS + 2_100));
    assert_eq!(step(&model).stalled_since_ms, Some(made::BEGIN_MS + 10_100));
    assert_eq!(model.log().lines().last().unwrap().tone, Tone::Warning);
}

#[test]
fn a_picture_is_frozen_after_a_second_without_a_frame_and_at_once_without_a_connection() {
    let mut model = Model::default();
    assert_eq!(model.frozen(SECOND), Some(Duration::ZERO));
    model.apply(frame(1, |_| {}), SECOND);
    assert_eq!(model.frozen(SECOND * 2), None);
    assert!(model.frozen(SECOND * 2 + Duration::from_millis(1)).is_some());
    model.apply(frame(2, |_| {}), SECOND * 3);
    assert_eq!(model.frozen(SECOND * 3), None);
    model.apply(Update::Lost { reason: "gone".to_owned() }, SECOND * 3);
    assert!(model.frozen(SECOND * 3).is_some());
    model.apply(frame(3, |_| {}), SECOND * 3);
    assert_eq!(model.frozen(SECOND * 3), None);
}

#[test]
fn a_stop_goes_on_the_stream_and_once_more_by_itself_where_nothing_comes_of_it() {
    let mut model = made::model(|_| {});
    assert_eq!(model.begin_stop(Duration::ZERO), StopWay::Socket);
    assert!(!model.must_repeat_stop(SECOND / 2));
    model.apply(frame(2, |_| {}), SECOND);
    assert!(model.must_repeat_stop(SECOND));
    assert!(!model.must_repeat_stop(SECOND * 9), "once");
    model.apply(Update::StopAnswered(Ok(stopped(&["base.go_to"]))), SECOND * 2);
    let StopState::Done(outcome) = model.stop() else { panic!("{:?}", model.stop()) };
    assert_eq!(outcome.not_stopped, ["base.go_to".into()]);
    // The other way knows of nothing that moves, which proves nothing.
    model.apply(Update::StopAnswered(Ok(stopped(&[]))), SECOND * 2);
    assert!(matches!(model.stop(), StopState::Done(outcome) if outcome.not_stopped == ["base.go_to".into()]));
    // It has failed, and the robot is stopped all the same.
    model.apply(Update::StopAnswered(Err(RequestError::Failed("no connection".to_owned()))), SECOND * 2);
    assert!(matches!(model.stop(), StopState::Done(_)));
    // Until it is resumed.
    model.apply(frame(3, |frame| frame.basis = Some(Basis { stops: 1, stopped: true, ..made::basis() })), SECOND * 3);
    assert!(matches!(model.stop(), StopState::Done(_)));
    model.apply(frame(4, |frame| frame.basis = Some(Basis { stops: 1, ..made::basis() })), SECOND * 3);
    assert_eq!(model.stop(), &StopState::None);
}

#[test]
fn a_stop_is_sent_by_itself_at_once_where_the_stream_is_frozen_or_breaks() {
    let mut model = made::model(|_| {});
    assert_eq!(model.begin_stop(SECOND * 5), StopWay::Request);
    assert!(!model.must_repeat_stop(SECOND * 9), "it went that way already");
    let mut model = made::model(|_| {});
    assert_eq!(model.begin_stop(Duration::ZERO), StopWay::Socket);
    model.apply(Update::Lost { reason: "gone".to_owned() }, Duration::ZERO);
    assert!(model.must_repeat_stop(Duration::ZERO));
}

#[test]
fn a_stop_that_the_robot_shows_is_not_repeated_and_an_older_one_does_not_count() {
    let old = Basis { stops: 1, stopped: true, ..made::basis() };
    let mut model = made::model(|frame| frame.basis = Some(old.clone()));
    model.begin_stop(Duration::ZERO);
    model.apply(frame(2, |frame| frame.basis = Some(old)), SECOND);
    assert!(model.must_repeat_stop(SECOND));
    let mut model = made::model(|_| {});
    model.begin_stop(Duration::ZERO);
    model.apply(frame(2, |frame| frame.basis = Some(Basis { stops: 1, stopped: true, ..made::basis() })), SECOND);
    assert!(!model.must_repeat_stop(SECOND * 2));
}

#[test]
fn a_stop_that_is_refused_is_told_with_its_reason() {
    let mut model = made::model(|_| {});
    model.begin_stop(Duration::ZERO);
    let error = ApiError { kind: "unavailable".to_owned(), reason: "Cortex is going down.".to_owned() };
    model.apply(frame(2, |frame| frame.stop = Some(crate::wire::StopAnswer::Error(error))), Duration::ZERO);
    assert_eq!(
        model.stop(),
        &StopState::Failed("Cortex is going down. Use the emergency stop of the robot itself.".to_owned())
    );
}
