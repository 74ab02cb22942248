//! Tests of steps that are left out: by the model, with or without a reason, or because nobody decided.

use cortex_protocol::StepStatus;

use super::*;

fn look_and_go() -> [(&'static str, Value); 2] {
    [("camera-look", json!({})), ("base-go_to", json!({"place": "kitchen"}))]
}

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

/// "Look whether the way is free, then go to the kitchen": two garbled confirmations of the look, and it drove.
#[test]
fn regression_a_look_that_nobody_decided_upon_was_skipped_and_the_robot_drove() {
    for on_failure in [OnFailure::Stop, OnFailure::Continue] {
        let task = "look whether the way is free, then go to the kitchen";
        let story = Story::with(task, robot(), |limits| limits.on_failure = on_failure)
            .model_calls(&look_and_go())
            .model_says("hm")
            .model_says("hm")
            .model_says("I went without looking.")
            .start();
        assert_eq!(story.invoked_tools(), Vec::<&str>::new());
        assert_eq!(story.statuses(), [StepStatus::Blocked, StepStatus::Blocked]);
        assert_eq!(story.ends().0, MissionStatus::Failed);
        let told = text_of(story.requests.last().unwrap());
        assert!(told.contains("Plan 1 ended early: \"1.1 was not run: no usable confirmation"), "{told}");
    }
}

#[test]
fn a_step_that_nobody_decided_upon_is_open_until_it_is_done() {
    let story = Story::of("look, then go")
        .model_calls(&look_and_go())
        .model_says("hm")
        .model_says("hm")
        .model_calls(&[("base-go_to", json!({"place": "kitchen"}))])
        .model_says("EXECUTE")
        .model_says("I am there.")
        .start();
    assert_eq!(story.ends().0, MissionStatus::Failed, "{:#?}", story.result().output);
    assert!(story.ends().1.contains("camera.look"), "{}", story.ends().1);
}

#[test]
fn what_acts_after_a_look_that_was_skipped_is_not_run_unless_it_is_planned_so() {
    let plan =
        [("camera-look", json!({})), ("camera-look", json!({"x": 2})), ("base-go_to", json!({"place": "kitchen"}))];
    let mut story = Story::of("look, then go")
        .model_calls(&plan)
        .model_says("SKIP I have seen it before.")
        .model_says("EXECUTE")
        .start();
    assert_eq!(story.invoked_tools(), ["camera.look"], "another look may go on");
    assert_eq!(story.statuses_so_far(), [StepStatus::Skipped, StepStatus::Success, StepStatus::Blocked]);
    let told = text_of(story.requests.last().unwrap());
    assert!(told.contains("1.3 was not run, because a look that it depends on was skipped."), "{told}");
    story.reply(calls(&[("base-go_to", json!({"place": "kitchen"}))]));
    story.reply(says("EXECUTE"));
    story.reply(says("There."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded, "it was replanned without the look");
}

#[test]
fn a_skip_with_a_reason_satisfies_what_waits_for_a_step_that_acts() {
    let story = Story::of("go and speak")
        .model_calls(&[("base-go_to", json!({"place": "kitchen"})), say("here")])
        .model_says("SKIP I am there already.")
        .model_says("EXECUTE")
        .model_says("Spoken.")
        .start();
    assert_eq!(story.invoked_tools(), ["speaker.say"]);
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn a_skip_without_a_reason_satisfies_nothing() {
    for bare in ["SKIP", "**SKIP**", "{\"decision\": \"SKIP\", \"reason\": \" \"}"] {
        let mut story = Story::of("go and speak")
            .model_calls(&[("base-go_to", json!({"place": "kitchen"})), say("here")])
            .model_says(bare)
            .start();
        assert_eq!(story.statuses_so_far(), [StepStatus::Skipped, StepStatus::Blocked], "{bare}");
        assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
        story.reply(calls(&[say("here")]));
        story.reply(says("EXECUTE"));
        story.reply(says("Spoken."));
        assert_eq!(story.ends().0, MissionStatus::Succeeded);
    }
}
