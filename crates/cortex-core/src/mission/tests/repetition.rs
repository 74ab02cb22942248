//! Tests of side effects that are not done twice.

use super::*;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

/// The robot has spoken and could not go to the kitchen.
fn stuck() -> Story {
    let story = Story::of("speak and go").model_calls(&[say("hello"), go("kitchen")]);
    story.model_says("EXECUTE").model_says("EXECUTE").tool_fails("base.go_to", "blocked").start()
}

#[test]
fn what_was_done_is_not_planned_again_and_the_model_is_told_how_to_ask_for_it() {
    let mut story = stuck();
    story.reply(calls(&[say("hello"), go("kitchen")]));
    let told = text_of(story.requests.last().unwrap());
    assert!(told.contains("step 1 repeats 1.1, which has SUCCESS"), "{told}");
    story.reply(calls(&[go("kitchen")]));
    story.reply(says("EXECUTE"));
    story.reply(says("There."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    assert_eq!(story.invoked_tools(), ["speaker.say", "base.go_to", "base.go_to"]);
}

#[test]
fn what_must_be_done_again_is_done_again_where_the_model_says_why() {
    let mut story = stuck();
    let again = (ARRANGE_TOOL, json!({"again": [{"step": 1, "reason": "nobody heard it"}]}));
    story.reply(calls(&[say("hello"), go("kitchen"), again]));
    story.reply(says("EXECUTE"));
    story.reply(says("EXECUTE"));
    story.reply(says("There."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    assert_eq!(story.invoked_tools(), ["speaker.say", "base.go_to", "speaker.say", "base.go_to"]);
}

#[test]
fn one_plan_may_do_a_thing_twice_and_looking_may_be_repeated() {
    let twice = [say("hello"), say("hello"), ("camera-look", json!({})), go("kitchen")];
    let mut story = Story::of("speak twice and look").model_calls(&twice).tool_fails("base.go_to", "blocked").start();
    (0..4).for_each(|_| story.reply(says("EXECUTE")));
    story.reply(calls(&[("camera-look", json!({})), go("kitchen")]));
    (0..2).for_each(|_| story.reply(says("EXECUTE")));
    story.reply(says("There."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn a_repetition_that_only_shows_once_a_placeholder_is_bound_is_not_carried_out() {
    let mut story = stuck();
    let look = ("camera-look", json!({}));
    story.reply(calls(&[go("bedroom"), look, say("<output of step 2>")]));
    story = story.tool_returns("camera.look", json!("hello"));
    (0..3).for_each(|_| story.reply(says("EXECUTE")));
    let told = text_of(story.requests.last().unwrap());
    assert!(told.contains("it repeats 1.1, which has SUCCESS"), "{told}");
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools().last(), Some(&"camera.look"), "the safe decision");
}
