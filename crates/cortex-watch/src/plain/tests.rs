use cortex_protocol::overview::StopOverview;

use super::*;
use crate::made;

fn frame(change: impl FnOnce(&mut Frame)) -> Update {
    let mut frame = made::first_frame();
    change(&mut frame);
    Update::Frame(Box::new(frame))
}

fn out(lines: Vec<Line>) -> Vec<String> {
    let text = |line| match line {
        Line::Out(line) => line,
        Line::About(line) => format!("# {line}"),
    };
    lines.into_iter().map(text).collect()
}

#[test]
fn a_mission_is_told_in_one_clean_line_an_event() {
    let mut lines = Lines::new(Format::Text);
    let mut events = made::events();
    let odd = made::event(6, 9_500, "two\nlines \u{1b}[31mred \u{202e}der", cortex_protocol::MissionEvent::Unpaused);
    events.push(odd);
    let told = out(lines.take(&frame(|frame| frame.events = events)));
    assert_eq!(
        told,
        [
            "2026-11-23T15:13:40Z robot    takes tasks",
            "2026-11-23T15:13:30Z 257e7ef0 task accepted: Bring me the red cup from the kitchen.",
            "2026-11-23T15:13:30Z 257e7ef0 planning (turn 1)",
            "2026-11-23T15:13:32Z 257e7ef0 plan 1: 1. base.go_to, 2. camera.look, 3. speech.say, 4. arm.grasp",
            "2026-11-23T15:13:32Z 257e7ef0 step 1/4 base.go_to{\"place\":\"kitchen\"}: started",
            "2026-11-23T15:13:39Z 257e7ef0 in flight: base.go_to 7 s, 40%",
            "2026-11-23T15:13:39Z 257e7ef0 two lines [31mred der",
        ]
    );
}

#[test]
fn stop_and_resume_are_told_when_they_change() {
    let mut lines = Lines::new(Format::Text);
    let mut overview = made::overview();
    assert_eq!(lines.take(&frame(|_| {})).len(), 1);
    let why = "a person said stop".to_owned();
    overview.stop = StopOverview { stopped: true, stops: 1, why, not_stopped: vec!["base.go_to".into()] };
    let stopped = frame(|frame| frame.overview = Some(Box::new(overview.clone())));
    let told = out(lines.take(&stopped));
    assert_eq!(told, ["2026-11-23T15:13:40Z robot    STOPPED: a person said stop; NOT STOPPED: base.go_to"]);
    assert_eq!(out(lines.take(&stopped)), [""; 0]);
    overview.stop.stopped = false;
    let told = out(lines.take(&frame(|frame| frame.overview = Some(Box::new(overview)))));
    assert_eq!(told, ["2026-11-23T15:13:40Z robot    resumed"]);
}

#[test]
fn json_is_the_events_as_they_came_and_safe_for_a_terminal() {
    let mut lines = Lines::new(Format::Json);
    let mut events = made::reference_events();
    events[0]["data"]["text"] = "\u{202e}odd\u{9b}2J".into();
    let update = frame(|frame| frame.events = events.iter().cloned().map(Into::into).collect());
    let told = out(lines.take(&update));
    assert_eq!(told.len(), events.len());
    for (line, event) in told.iter().zip(&events) {
        assert_eq!(&serde_json::from_str::<serde_json::Value>(line).unwrap(), event);
        assert!(crate::text::is_clean(line));
    }
}

#[test]
fn a_connection_that_breaks_is_told_once_and_beside_the_results() {
    let mut lines = Lines::new(Format::Json);
    let lost = Update::Lost { reason: "refused".to_owned() };
    assert_eq!(out(lines.take(&lost)), ["# no connection: refused. It is being made again."]);
    assert_eq!(out(lines.take(&lost)), [""; 0]);
    assert_eq!(
        out(lines.take(&frame(|frame| frame.missed = 2))),
        ["# the connection is there again", "# 2 events can't be had any more"]
    );
}
