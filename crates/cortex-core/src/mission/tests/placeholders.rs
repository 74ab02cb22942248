//! Tests of placeholders that nothing can fill in, and of steps that say in no readable way what they wait for.

use super::*;

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

const SAY: &str = "say what you see";

/// Each of these went to the tool as it is written.
#[test]
fn regression_a_reference_that_is_none_went_to_the_tool_literally() {
    for written in [
        "<output of step 99999999999999999999>",
        "<output of step <output of step 1>>",
        "I see <OUTPUT  of\nSTEP one>.",
        "<output of step １>",
        "<output of step १>",
        "＜output of step 1＞",
        "<output of step -1>",
        "<output of step +1>",
        "<output of step 1.>",
        "<output of step 1 text>",
        "<output_of_step_1>",
        "<outputs of steps 1 and 2>",
        "<result from step>",
        "<output of step 1",
        "[output of step 1]",
        "{{output of step 1}}",
    ] {
        for arguments in [json!({"text": written}), json!({"text": [{"deep": written}]}), json!({"text": {written: 1}})]
        {
            let mut tools = robot();
            tools[1].parameters = json!({"type": "object", "properties": {"text": {}}});
            let story = Story::with(SAY, tools, |_| {})
                .model_calls(&[("camera-look", json!({})), ("speaker-say", arguments.clone())])
                .model_calls(&[("decline_task", json!({"reason": "No."}))])
                .start();
            assert_eq!((story.invoked.len(), story.result().steps.len()), (0, 0), "{arguments}: {:#?}", story.lines);
            let told = text_of(&story.requests[1]);
            assert!(told.contains("<output of step N>") && told.contains("no placeholder"), "{arguments}: {told}");
        }
    }
}

#[test]
fn a_confirmation_and_a_correction_can_not_bring_one_either() {
    let bad = "<output of step 99999999999999999999>";
    let story = Story::of(SAY)
        .model_calls(&[say("<what I see>")])
        .model_calls(&[say(bad)])
        .model_calls(&[say(bad)])
        .model_says("I said nothing.")
        .start();
    assert_eq!((story.invoked.len(), story.ends().0), (0, MissionStatus::Failed), "{:#?}", story.lines);
    let story = Story::with(SAY, robot(), |limits| limits.max_corrections = 1)
        .tool_fails("speaker.say", "too quiet")
        .model_calls(&[say("<what I see>")])
        .model_calls(&[say("a cup")])
        .model_calls(&[say(bad)])
        .model_says("I said nothing.")
        .start();
    assert_eq!(story.invoked.len(), 1, "{:#?}", story.lines);
}

/// "<what I saw in step 1>" was spoken aloud, and an arm moved with one in its arguments: SUCCEEDED.
#[test]
fn regression_a_placeholder_that_nobody_filled_in_ran() {
    for open in [
        "<what I saw in step 1>",
        "<name>",
        "I see <_what_I_see>.",
        "{{name}}",
        "{{ what I see }}",
        "${name}",
        "It is {thing}.",
        "<b>bold</b>",
        "＜name＞",
        "<<name>>",
        "a <seen: <output of step 1>>",
    ] {
        let plan = [("camera-look", json!({})), say(open)];
        let story = Story::of(SAY)
            .model_calls(&plan)
            .model_says("EXECUTE")
            .model_says("EXECUTE")
            .model_says("EXECUTE")
            .model_says("I said nothing.")
            .start();
        assert_eq!((story.invoked_tools(), story.ends().0), (vec!["camera.look"], MissionStatus::Failed), "{open}");
        let asked = text_of(&story.requests[3]);
        assert!(asked.contains("nothing fills in"), "{open}: {asked}");
        let story = Story::of(SAY)
            .model_calls(&plan)
            .model_says("EXECUTE")
            .model_says("EXECUTE")
            .model_calls(&[say("a cup")])
            .model_says("I see a cup.")
            .start();
        assert_eq!(
            (story.invoked[1].1.arguments["text"].clone(), story.ends().0),
            (json!("a cup"), MissionStatus::Succeeded)
        );
    }
}

#[test]
fn ordinary_text_with_such_characters_is_said_as_it_is() {
    for text in [
        "3 < 5 and 7 > 2",
        "I <3 you",
        "write to Ann <ann@example.com>",
        "see <https://example.com/a>",
        "a < b",
        "x > y",
        "<>",
        "<1st>",
        "[laughs] hello",
        "{\"a\": 1}",
        "{x: 1.0, y: 2}",
        "{}",
        "costs 5 $",
        "</end",
        "-> <-",
    ] {
        let story = Story::of(SAY).model_calls(&[say(text)]).model_says("EXECUTE").model_says("Said.").start();
        assert_eq!(story.ends().0, MissionStatus::Succeeded, "{text}: {:#?}", story.lines);
        assert_eq!(story.invoked[0].1.arguments["text"], json!(text));
    }
}

#[test]
fn markup_passes_where_the_schema_asks_for_it_and_a_placeholder_within_it_does_not() {
    let speaks = |parameters: Value, text: &str| {
        let mut tools = robot();
        tools[1].parameters = parameters;
        let story = Story::with(SAY, tools, |_| {}).model_calls(&[say(text)]);
        let story = story.model_says("EXECUTE").model_says("EXECUTE").model_says("Done.").start();
        story.invoked.len() == 1
    };
    let described =
        |words: &str| json!({"type": "object", "properties": {"text": {"type": "string", "description": words}}});
    let ssml = "<speak>Hello <break time=\"1s\"/> <b>there</b></speak>";
    assert!(speaks(described("What to say, as SSML."), ssml));
    assert!(!speaks(described("What to say."), ssml));
    assert!(!speaks(described("What to say, as SSML."), "<speak>I see <what I see></speak>"));
    let listed = json!({"type": "object", "properties": {"text": {"enum": ["<none>", "<all>"]}}});
    assert!(speaks(listed, "<none>"));
}

/// What a tool returned is no placeholder, whatever it looks like, also where the model repeats it.
#[test]
fn what_a_step_returned_is_given_on_as_it_is() {
    let story = || {
        Story::of(SAY)
            .tool_returns("camera.look", json!("a sign: <exit>"))
            .model_calls(&[("camera-look", json!({})), say("I see <output of step 1>")])
            .model_says("EXECUTE")
    };
    let shown = say("I see a sign: <exit>");
    for story in [story().model_says("EXECUTE"), story().model_calls(std::slice::from_ref(&shown))] {
        let story = story.model_says("Said.").start();
        assert_eq!((story.invoked.len(), story.ends().0), (2, MissionStatus::Succeeded), "{:#?}", story.lines);
        assert_eq!(story.invoked[1].1.arguments["text"], shown.1["text"]);
    }
}

#[test]
fn regression_research_was_called_with_a_placeholder() {
    let story =
        Story::of("look").model_calls(&[("camera-look", json!({"x": "<name>"}))]).model_says("Nothing.").start();
    assert_eq!(story.invoked.len(), 0, "{:#?}", story.lines);
}

/// `"after": "1"` was ignored, and the step waited for the one before it or for nothing.
#[test]
fn regression_an_after_that_is_no_list_of_steps_was_ignored() {
    for own in ["after", "instead_of"] {
        for written in [
            json!("1"),
            json!(1),
            json!([1.5]),
            json!(["2"]),
            json!([0]),
            json!([-1]),
            json!([1e30]),
            json!([null]),
            json!({}),
        ] {
            let story = Story::of("go")
                .model_calls(&[("base-dock", json!({})), ("base-go_to", json!({"place": "kitchen", own: written}))])
                .model_calls(&[("decline_task", json!({"reason": "No."}))])
                .start();
            assert_eq!(
                (story.invoked.len(), story.result().steps.len()),
                (0, 0),
                "{own} {written}: {:#?}",
                story.lines
            );
            let told = text_of(&story.requests[1]);
            assert!(told.contains(&format!("'{own}' must be a list of ")), "{own} {written}: {told}");
        }
        let first = if own == "after" { json!([1.0]) } else { json!([]) };
        for written in [json!([]), first, Value::Null] {
            let story = Story::of("go")
                .model_calls(&[("base-dock", json!({})), ("base-go_to", json!({"place": "kitchen", own: written}))])
                .start();
            assert_eq!(story.mission.run.steps().len(), 2, "{own} {written}: {:#?}", story.lines);
        }
    }
}
