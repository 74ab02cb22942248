//! Tests of confirmations that give other arguments, and of steps that need no question.

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
        (
            ConfirmationArguments::AsPlanned,
            "or, to run a step that still holds <...>, only a call of its tool with every argument.",
        ),
        (
            ConfirmationArguments::Any,
            "or, to run it with other arguments, only a call of its tool with every argument.",
        ),
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

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

fn worded(reply: ChatReply) -> ChatReply {
    ChatReply { text: "No. Unsafe, abort: a child is in the way.".into(), ..reply }
}

fn confirmations(story: &Story) -> usize {
    purposes(story).into_iter().filter(|purpose| *purpose == Purpose::Confirm).count()
}

/// A call of the step's tool with the words "No. Unsafe, abort: a child is in the way." drove, and so did EXECUTE in JSON
/// with the reason that somebody lies in the doorway, in any language.
#[test]
fn regression_words_beside_a_yes_were_interpreted_and_the_step_ran() {
    let in_json = |reason: &str| says(&json!({"decision": "EXECUTE", "reason": reason}).to_string());
    for reply in [
        worded(calls(&[go("kitchen")])),
        in_json("Somebody lies in the doorway."),
        in_json("戸口に人が倒れています。"),
        says("EXECUTE, but only when the child has left"),
    ] {
        let story = Story::of("go").model_calls(&[go("kitchen")]).model(reply.clone()).start();
        assert_eq!((story.invoked.len(), confirmations(&story)), (0, 2), "{reply:?}");
        let asked = text_of(&story.requests[2]);
        assert!(asked.contains("words are not read") && asked.contains("reply EXECUTE and nothing else"), "{asked}");
        let story = Story::of("go").model_calls(&[go("kitchen")]).model(reply.clone()).model(reply.clone());
        let story = story.model_says("I did not go.").start();
        assert_eq!((story.invoked.len(), story.ends().0), (0, MissionStatus::Failed), "{reply:?}");
    }
}

#[test]
fn the_arguments_of_a_call_with_words_are_kept_as_proposed_and_run_when_a_bare_execute_follows() {
    let plan = [("camera-look", json!({})), say("<what I see>")];
    let mut story = Story::of("say what you see")
        .model_calls(&plan)
        .model_says("EXECUTE")
        .model(worded(calls(&[say("a cup")])))
        .start();
    assert_eq!(story.invoked_tools(), ["camera.look"]);
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("Step 1.2 (plan 1 has 2): speaker-say {\"text\":\"a cup\"}"), "{asked}");
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked[1].1.arguments, *json!({"text": "a cup"}).as_object().unwrap());
    let told = r#"step 2/2 speaker.say: EXECUTE with text "a cup" (planned: "<what I see>")"#;
    assert!(story.lines.iter().any(|line| line == told), "{:#?}", story.lines);
}

#[test]
fn arguments_that_a_confirmation_may_not_give_are_not_proposed_by_words_beside_them() {
    let story = Story::of("go").model_calls(&[go("kitchen")]).model(worded(calls(&[go("bedroom")])));
    let mut story = story.start();
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("gives 'place' \"bedroom\" instead of \"kitchen\""), "{asked}");
    assert!(asked.contains("base-go_to {\"place\":\"kitchen\"}"), "{asked}");
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked[0].1.arguments, *json!({"place": "kitchen"}).as_object().unwrap());
}

#[test]
fn a_model_that_always_adds_words_costs_one_further_request_a_step_and_one_that_adds_none_costs_none() {
    let plan = [go("kitchen"), say("here")];
    let mut talks = Story::of("go and speak").model_calls(&plan);
    let mut is_brief = Story::of("go and speak").model_calls(&plan);
    for _ in 0..2 {
        talks = talks.model_says("EXECUTE, gladly.").model_says("EXECUTE");
        is_brief = is_brief.model_says("EXECUTE");
    }
    for (story, asked, repeated) in [(talks, 4, 2), (is_brief, 2, 0)] {
        let story = story.model_says("Done.").start();
        assert_eq!((story.ends().0, confirmations(&story)), (MissionStatus::Succeeded, asked));
        let execution = &story.result().execution;
        assert_eq!((execution.confirmations, execution.repeated_confirmations), (2, repeated));
    }
}

/// A reply that was cut at the bound of its tokens, or by a filter, counted as whole.
#[test]
fn regression_a_reply_that_was_cut_counted_as_an_answer() {
    for reply in [says("EXECUTE"), calls(&[go("kitchen")]), says("{\"decision\": \"EXECUTE\"}")] {
        let story = Story::of("go").model_calls(&[go("kitchen")]).model(cut(reply.clone())).model(cut(reply.clone()));
        let story = story.model_says("I did not go.").start();
        assert_eq!((story.invoked.len(), story.ends().0), (0, MissionStatus::Failed), "{reply:?}");
    }
    let story = Story::of("go").model(cut(calls(&[go("kitchen")]))).start();
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Plan], "a plan that was cut is no plan");
    assert!(text_of(&story.requests[1]).contains("not whole: it was cut at 500 tokens"));
    for planned in
        [vec![go("kitchen")], vec![("camera-look", json!({})), go("kitchen")], vec![("camera-look", json!({}))]]
    {
        let cut_plan = cut(calls(&planned));
        let story = Story::of("go").model(cut_plan.clone()).model(cut_plan).start();
        assert_eq!((story.invoked.len(), story.ends().0), (0, MissionStatus::Failed), "{planned:?}");
        assert_eq!(story.result().steps.len(), 0, "nothing was planned: {:?}", story.lines);
    }
    let story = Story::of("who are you?").model(cut(says("I am"))).model_says("I am Cortex.").start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "I am Cortex."), "nor are words that were cut an answer");
    let story = Story::of("go").model(cut(says("I"))).model(cut(says("I"))).start();
    assert_eq!(story.requests.len(), 2, "a model that is cut each time has no answer");
    assert!(story.ends().1.starts_with("The model failed: the answer is not whole"), "{}", story.ends().1);
    let story = Story::with("look", robot(), |limits| limits.max_corrections = 1)
        .tool_fails("camera.look", "too dark")
        .model_calls(&[("camera-look", json!({})), go("kitchen")])
        .model_says("EXECUTE")
        .model(cut(calls(&[("camera-look", json!({"x": 2}))])))
        .model_says("It is dark.")
        .start();
    assert_eq!(story.invoked.len(), 1, "nor is a correction");
}
