//! Tests of budgets of metres and watt-hours.

use cortex_protocol::mission::Expense;

use super::*;

fn metered(expense: Expense, total: f64) -> Input {
    Input::Metered { expense, total, is_live: true }
}

fn silent(expense: Expense, total: f64) -> Input {
    Input::Metered { expense, total, is_live: false }
}

/// A mission of at most ten metres that drives to the kitchen and waits there.
fn ten_metres() -> Story {
    Story::with("go to the kitchen", robot(), |limits| limits.max_metres = Some(10.0))
        .tool_waits("base.go_to")
        .model_calls(&[("base-go_to", json!({"place": "kitchen"}))])
        .model_says("EXECUTE")
}

#[test]
fn the_way_is_warned_of_at_four_fifths_and_ends_the_mission_at_the_whole() {
    let mut story = ten_metres();
    story.give(metered(Expense::Metres, 0.0));
    let mut story = story.start();
    assert_eq!(story.invoked_tools(), ["base.go_to"]);
    story.give(metered(Expense::Metres, 7.9));
    assert!(!story.lines.iter().any(|line| line.contains("WARNING")), "{:#?}", story.lines);
    story.give(metered(Expense::Metres, 8.0));
    story.give(metered(Expense::Metres, 9.0));
    let warnings = story.lines.iter().filter(|line| *line == "WARNING: 8 of 10 metres are spent").count();
    assert_eq!(warnings, 1, "{:#?}", story.lines);
    assert_eq!(story.cancelled, []);
    story.give(metered(Expense::Metres, 10.02));
    assert_eq!(story.cancelled, [story.invoked[0].0], "what is in flight is halted");
    story.give(metered(Expense::Metres, 10.1));
    story.end_call(0, ToolOutcome::cancelled(cortex_protocol::HaltState::Halted, "halted"));
    assert_eq!(story.ends(), (MissionStatus::Failed, "The task has used up its 10 metres."));
    assert!((story.result().usage.metres - 10.1).abs() < 1e-9, "{:?}", story.result().usage);
}

#[test]
fn without_a_meter_nothing_moves_and_questions_are_still_answered() {
    for meter in [None, Some(silent(Expense::Metres, 0.0)), Some(metered(Expense::Metres, f64::NAN))] {
        let mut story = ten_metres();
        if let Some(meter) = meter {
            story.give(meter);
        }
        let story = story.start();
        assert_eq!((story.ends().0, story.invoked.len()), (MissionStatus::Failed, 0));
        assert_eq!(purposes(&story), [Purpose::Plan], "no request is spent on it");
        assert!(story.ends().1.starts_with("The task has a budget of metres, but nothing measures them now"));
        let warned = story.lines.iter().filter(|line| line.contains("nothing measures them: nothing may move")).count();
        assert_eq!(warned, 1, "{:#?}", story.lines);
    }
    let story = Story::with("how full?", robot(), |limits| limits.max_watt_hours = Some(5.0))
        .model_calls(&[("battery-level", json!({}))])
        .model_says("Half full.")
        .start();
    assert_eq!(story.ends().0, MissionStatus::Answered);
    let story = Story::with("say hi", robot(), |limits| limits.max_watt_hours = Some(5.0))
        .model_calls(&[("speaker-say", json!({"text": "hi"}))])
        .model_says("EXECUTE")
        .model_says("Said.")
        .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded, "what moves nothing needs no meter");
}

#[test]
fn a_meter_that_falls_silent_halts_what_moves() {
    let mut story = ten_metres();
    story.give(metered(Expense::Metres, 0.0));
    let mut story = story.start();
    story.give(silent(Expense::Metres, 3.0));
    assert_eq!(story.cancelled.len(), 1);
    story.end_call(0, ToolOutcome::cancelled(cortex_protocol::HaltState::Halted, "halted"));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert!(story.ends().1.contains("nothing measures them now"), "{}", story.ends().1);
}

#[test]
fn a_meter_that_falls_silent_while_the_model_is_asked_lets_nothing_begin() {
    let mut story = Story::with("go", robot(), |limits| limits.max_metres = Some(10.0))
        .model_calls(&[("base-go_to", json!({"place": "kitchen"}))]);
    story.give(metered(Expense::Metres, 0.0));
    let mut story = story.start();
    story.give(silent(Expense::Metres, 0.0));
    story.reply(says("EXECUTE"));
    assert_eq!((story.ends().0, story.invoked.len()), (MissionStatus::Failed, 0));
}

#[test]
fn what_a_meter_takes_back_stays_spent_and_others_count_for_themselves() {
    let mut story = Story::of("say hi").model_calls(&[("speaker-say", json!({"text": "hi"}))]).start();
    for input in [
        metered(Expense::WattHours, 2.0),
        metered(Expense::WattHours, -1e9),
        metered(Expense::WattHours, f64::INFINITY),
        metered(Expense::Tokens, 1e9),
        metered(Expense::Seconds, 1e9),
    ] {
        story.give(input);
    }
    story.reply(says("EXECUTE"));
    story.reply(says("Said."));
    let usage = story.result().usage;
    assert_eq!((usage.watt_hours, usage.prompt_tokens, story.ends().0), (2.0, 0, MissionStatus::Succeeded));
}
