//! Tests of people who revise the task in mid mission.

use cortex_protocol::{HaltState, StepStatus};

use super::*;
use crate::mission::RevisionProblem;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

fn halted() -> ToolOutcome {
    ToolOutcome::cancelled(HaltState::Halted, "halted")
}

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
fn a_revision_halts_what_moves_and_the_mission_plans_anew_with_the_persons_words() {
    let mut story = driving();
    story.give(revision(" the other room "));
    assert_eq!(story.cancelled, [story.invoked[0].0]);
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm), "nothing is asked before all is at rest");
    story.end_call(0, halted());
    let asked = text_of(story.requests.last().unwrap());
    for told in [
        "The correction, in the person's words: \"the other room\"",
        "1.1 base-go_to {\"place\":\"kitchen\"}: HALTED (task corrected): \"halted\"",
        "NOT RUN (task corrected)",
        "Overtaken by the correction: 1.1, 1.2. Name each of them in 'instead_of' of an [act] step of the next plan",
        "From Cortex: Where the correction and the task differ, the correction counts",
    ] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
    assert!(story.lines.contains(&"the task is revised by cli revise: the other room".to_owned()));
    story.reply(calls(&[go("bedroom"), say("hello")]));
    assert!(text_of(story.requests.last().unwrap()).contains("the other room"), "confirmations know of it, too");
    story.reply(says("EXECUTE"));
    story.end_call(1, ToolOutcome::success(Value::Null));
    story.reply(says("EXECUTE"));
    story.reply(says("I said hello in the bedroom."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    assert_eq!(story.result().revisions, ["the other room"]);
}

#[test]
fn words_alone_do_not_make_good_what_a_revision_has_halted() {
    let mut story = driving();
    story.give(revision("the other room"));
    story.end_call(0, halted());
    story.reply(says("I am in the other room."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert_eq!(story.statuses(), [StepStatus::Failed, StepStatus::Blocked]);
}

#[test]
fn a_step_of_another_tool_takes_the_place_of_those_that_it_names() {
    let mut story = driving();
    story.give(revision("stay here and wave instead"));
    story.end_call(0, halted());
    story.reply(calls(&[("memory-end_episode", json!({"instead_of": [1, 2]}))]));
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn a_confirmation_that_was_asked_before_a_revision_starts_nothing() {
    let mut story = Story::of("go").model_calls(&[go("kitchen")]).start();
    story.give(revision("the other room"));
    assert_eq!(story.abandoned.len(), 1);
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked, []);
    story.reply(calls(&[go("bedroom")]));
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked.len(), 1);
}

#[test]
fn a_revision_while_the_plan_is_made_gives_up_that_plan() {
    let mut story = Story::of("go").start();
    story.give(revision("the other room"));
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Plan]);
    story.reply(calls(&[go("kitchen")]));
    assert_eq!(purposes(&story).len(), 2, "the late plan is none");
    story.reply(calls(&[go("bedroom")]));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
}

#[test]
fn a_revision_while_the_robot_looks_drops_the_plan_that_waited_for_it() {
    let mut story = Story::of("look and go")
        .tool_waits("battery.level")
        .model_calls(&[("battery-level", json!({})), go("kitchen")])
        .start();
    story.give(revision("the other room"));
    assert_eq!(story.cancelled.len(), 1);
    story.end_call(0, halted());
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Plan]);
    assert!(text_of(&story.requests[1]).contains("not done, because the task was corrected"));
}

#[test]
fn a_revision_while_everything_halts_for_a_new_plan_is_part_of_it() {
    let mut story = driving();
    story.give(revision("the other room"));
    story.give(revision("no, stay"));
    story.end_call(0, halted());
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("the other room") && asked.contains("no, stay"), "{asked}");
}

#[test]
fn a_revision_that_comes_too_late_or_is_too_much_is_refused_with_the_reason() {
    let mut story = driving();
    for (text, reason) in
        [("  ".to_owned(), "is empty"), ("x".repeat(MAX_REVISION_BYTES + 1), "at most 2048 are taken")]
    {
        let refused = story.mission.check_revision(&text).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
        story.give(revision(&text));
    }
    assert_eq!(story.cancelled, []);
    story.give(Input::Cancel { reason: CancelReason::Client });
    assert_eq!(story.mission.check_revision("the other room"), Err(RevisionProblem::Ending));
    story.give(revision("the other room"));
    story.end_call(0, halted());
    assert_eq!(story.ends().0, MissionStatus::Cancelled);
    assert_eq!(story.mission.check_revision("the other room"), Err(RevisionProblem::Ended));
}

#[test]
fn revisions_are_bounded_and_each_allows_one_more_plan() {
    let mut story = Story::with("go", robot(), |limits| limits.max_replans = 0).start();
    for round in 0..MAX_REVISIONS {
        let place = if round % 2 == 0 { "kitchen" } else { "bedroom" };
        story.reply(calls(&[go(place)]));
        story.give(revision("the other room"));
        let _ = story.unanswered.pop_front();
    }
    assert!(story.mission.check_revision("once more").unwrap_err().to_string().contains("10 times"));
    story.reply(calls(&[go("kitchen")]));
    assert_eq!((purposes(&story).last(), story.results.len()), (Some(&Purpose::Confirm), 0));
}

#[test]
fn nothing_is_planned_on_top_of_what_did_not_halt_for_a_revision() {
    let mut story = driving();
    story.give(revision("the other room"));
    story.end_call(0, ToolOutcome::cancelled(HaltState::Refused, "no"));
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("The task was corrected. WARNING: base.go_to refused to halt."), "{output}");
}

#[test]
fn a_question_that_is_revised_to_an_action_may_act_and_is_not_answered_by_words() {
    let mut story = Story::of("where are you?").start();
    let offers = |chat: &ChatRequest| chat.tools.iter().any(|tool| tool.name == "base-go_to");
    assert!(!offers(&story.requests[0]));
    story.give(revision("go to the kitchen"));
    assert!(offers(&story.requests[1]));
    let _ = story.unanswered.pop_front();
    story.reply(says("I am in the kitchen."));
    story.reply(says("I am in the kitchen."));
    assert_eq!(story.ends().0, MissionStatus::Answered);
    assert!(!story.result().is_success());
}

/// What a mission comes to whose model only talks after a correction.
fn only_talks(mut story: Story) -> (MissionStatus, String) {
    story.reply(says("I am in the bath."));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("Nothing was done since the task was corrected, and words do nothing."), "{asked}");
    story.reply(says("I really am."));
    let (status, output) = story.ends();
    (status, output.to_owned())
}

const TALK: &str = "Nothing was done for the correction. The model only said: \"I really am.\"";

#[test]
fn regression_a_revision_after_the_plan_was_done_is_not_carried_out_by_words() {
    let mut story = Story::of("go to the kitchen").model_calls(&[go("kitchen")]).model_says("EXECUTE").start();
    story.give(revision("no, the bath"));
    let _ = story.unanswered.pop_front();
    assert_eq!(only_talks(story), (MissionStatus::Failed, TALK.to_owned()));
}

#[test]
fn regression_a_goal_that_succeeds_although_a_revision_halts_it_leaves_the_revision_to_be_done() {
    let on_its_way = || {
        let story = Story::of("go to the kitchen").model_calls(&[go("kitchen")]).model_says("EXECUTE");
        let mut story = story.tool_waits("base.go_to").start();
        story.give(revision("no, the bath"));
        story.end_call(0, ToolOutcome::success(Value::Null));
        story
    };
    assert_eq!(only_talks(on_its_way()), (MissionStatus::Failed, TALK.to_owned()));
    let mut story = on_its_way();
    story.reply(says("I am there."));
    story.reply(calls(&[go("bedroom")]));
    story.reply(says("EXECUTE"));
    story.end_call(1, ToolOutcome::success(Value::Null));
    story.reply(says("I am in the bedroom."));
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "I am in the bedroom."));
}

#[test]
fn regression_a_question_with_a_plan_that_is_revised_to_an_action_is_not_answered_by_words() {
    let looked = || {
        let story = Story::of("what do you see in the kitchen?").model_calls(&[go("kitchen")]);
        story.model_says("EXECUTE").start()
    };
    let mut story = looked();
    story.give(revision("bring me the cup"));
    let _ = story.unanswered.pop_front();
    assert_eq!(only_talks(story), (MissionStatus::Failed, TALK.to_owned()));
    let mut story = looked();
    story.give(revision("what is on the table?"));
    let _ = story.unanswered.pop_front();
    story.reply(says("A cup."));
    assert_eq!(story.ends().0, MissionStatus::Answered, "a question stays one");
    assert!(!story.result().is_success(), "what was found before the correction answers another question");
}

#[test]
fn regression_what_was_told_and_looked_at_before_a_revision_does_not_count_after_it() {
    let mut story = Story::of("go to the kitchen").model_says("I am there.").start();
    story.give(revision("no, the bedroom"));
    let _ = story.unanswered.pop_front();
    story.reply(says("I am there."));
    assert!(story.results.is_empty(), "it is told once more");
    let mut story = Story::of("how full is your battery?").model_calls(&[("battery-level", json!({}))]).start();
    story.give(revision("where are you?"));
    let _ = story.unanswered.pop_front();
    story.reply(says("In the hall."));
    assert_eq!(story.ends(), (MissionStatus::Answered, "In the hall."));
    assert!(!story.result().is_success());
}

#[test]
fn an_action_that_is_revised_by_a_question_is_not_done_by_words() {
    let mut story = driving();
    story.give(revision("what time is it?"));
    story.end_call(0, halted());
    story.reply(says("It is noon."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
}

#[test]
fn regression_a_plan_for_a_revision_of_which_everything_is_skipped_has_done_nothing() {
    let mut story = Story::of("go to the kitchen").model_calls(&[go("kitchen")]).model_says("EXECUTE").start();
    story.give(revision("no, the bath"));
    let _ = story.unanswered.pop_front();
    story.reply(calls(&[go("bedroom")]));
    story.reply(says("SKIP"));
    story.reply(says("I am in the bath."));
    assert_eq!(story.invoked.len(), 1);
    assert_eq!(story.ends(), (MissionStatus::Failed, "I am in the bath. (Not done: every step was skipped.)"));
}
