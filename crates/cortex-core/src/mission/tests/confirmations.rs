//! Stories of confirmations that give other arguments, and of steps that need no question.

use super::*;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

#[test]
fn a_confirmation_is_no_place_to_plan_anew() {
    let story = Story::of("go to the kitchen")
        .model_calls(&[go("kitchen")])
        .model_calls(&[go("bedroom")])
        .model_calls(&[go("bedroom")])
        .model_says("I did not go.")
        .start();
    assert_eq!((story.ends().0, story.invoked.len()), (MissionStatus::Failed, 0), "{:#?}", story.lines);
    assert!(text_of(&story.requests[2]).contains("gives 'place' \"bedroom\" instead of \"kitchen\""));
    assert!(story.lines.iter().any(|line| line.starts_with("the model is asked again: it gives 'place'")));
}

#[test]
fn what_a_confirmation_fills_in_or_changes_is_told_and_recorded() {
    let story = Story::of("say what you see")
        .model_calls(&[("speaker-say", json!({"text": "<what I see>"}))])
        .model_calls(&[("speaker-say", json!({"text": "a cup"}))])
        .model_says("Said.")
        .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    let told = r#"step 1/1 speaker.say: EXECUTE with text "a cup" (planned: "<what I see>")"#;
    assert!(story.lines.iter().any(|line| line == told), "{:#?}", story.lines);

    let free = |limits: &mut MissionLimits| limits.confirmation_arguments = ConfirmationArguments::Any;
    let story = Story::with("go", robot(), free)
        .model_calls(&[go("kitchen")])
        .model_calls(&[go("bedroom")])
        .model_says("There.")
        .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    let told = r#"step 1/1 base.go_to: EXECUTE with place "bedroom" (planned: "kitchen")"#;
    assert!(story.lines.iter().any(|line| line == told), "{:#?}", story.lines);
    assert_eq!(story.result().steps[0].arguments, *json!({"place": "bedroom"}).as_object().unwrap());
}

#[test]
fn the_rules_say_what_a_call_in_a_confirmation_may_do() {
    for (policy, said) in [
        (ConfirmationArguments::AsPlanned, "To fill in its placeholders"),
        (ConfirmationArguments::Any, "To give it other arguments"),
    ] {
        let story = Story::with("go", robot(), |limits| limits.confirmation_arguments = policy)
            .model_calls(&[go("kitchen")])
            .start();
        assert!(text_of(&story.requests[1]).contains(said), "{}", text_of(&story.requests[1]));
    }
}

/// A CONTINUE is no EXECUTE: the step is asked about again, also where nothing has changed.
#[test]
fn with_adaptive_confirmation_a_step_that_acts_is_asked_about_until_it_is_confirmed() {
    let adaptive = |limits: &mut MissionLimits| limits.confirmation = ConfirmationMode::Adaptive;
    let mut story = Story::with("dock, then go", robot(), adaptive)
        .tool_waits("base.dock")
        .model_calls(&[("base-dock", json!({})), ("camera-look", json!({"after": []})), go("kitchen")])
        .model_says("EXECUTE")
        .start();
    let call = story.invoked[0].0;
    assert_eq!(story.invoked_tools(), ["base.dock", "camera.look"], "what only reads is not asked about");
    story.reply(says("CONTINUE"));
    story.give(Input::CallAccepted { call });
    story.end_call(0, ToolOutcome::success(Value::Null));
    assert_eq!(story.invoked_tools(), ["base.dock", "camera.look"], "CONTINUE did not confirm it");
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["base.dock", "camera.look", "base.go_to"]);
}
