//! What the class of a task decides.

use cortex_protocol::{StepStatus, TaskClass};
use serde_json::json;

use super::*;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

fn look() -> (&'static str, Value) {
    ("camera-look", json!({}))
}

fn fulfilled(step: &str, words: &str) -> (&'static str, Value) {
    (ORDER_FULFILLED, json!({"step": step, "words": words}))
}

fn names(chat: &ChatRequest) -> Vec<&str> {
    chat.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The reference system reports success when the model stops talking.
#[test]
fn regression_words_without_a_step_are_no_success_of_an_action() {
    let story = Story::of("go to the kitchen").model_says("Done, I am there.").model_says("Really, I am!").start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "The model only said: \"Really, I am!\""));
    assert_eq!((story.result().account.as_str(), story.result().is_success()), (MissionResult::NOTHING_DONE, false));
    assert_eq!(story.said, [story.result().output.as_str()], "who only listens hears that nothing was done");
    assert!(text_of(&story.requests[1]).contains("Nothing was done: the task is an action, and words do nothing."));
    assert_eq!(story.result().class, TaskClass::Action);
    assert_eq!(story.lines[0], "taken for an action");
}

#[test]
fn a_model_that_is_told_that_nothing_was_done_may_still_do_it() {
    let story = Story::of("go to the kitchen")
        .model_says("I am there.")
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE")
        .model_says("Now I am there.")
        .start();
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "Now I am there."));
}

#[test]
fn a_question_back_reaches_the_person() {
    let story = Story::of("bring it")
        .model_says("Which one?")
        .model_calls(&[(DECLINE_TOOL, json!({"reason": "Which cup do you mean, the red or the blue one?"}))])
        .start();
    assert_eq!(story.ends(), (MissionStatus::Failed, "Which cup do you mean, the red or the blue one?"));
    assert_eq!(story.said, [story.result().output.as_str()]);
}

#[test]
fn research_does_not_make_words_a_success_of_an_action() {
    let story = Story::of("go to the kitchen").model_calls(&[look()]).model_says("Done.").model_says("Done.").start();
    assert_eq!(story.ends().0, MissionStatus::Answered);
    assert!(!story.result().is_success());
    assert_eq!(story.result().account, "Nothing was done. Looked: camera.look.");
}

#[test]
fn regression_an_answer_that_nothing_was_looked_at_for_is_no_success() {
    for task in ["what do you see?", "how full is your battery?"] {
        let story = Story::of(task).model_says("This is a question.").start();
        assert_eq!(story.ends(), (MissionStatus::Answered, "This is a question."));
        assert_eq!(
            (story.result().account.as_str(), story.result().is_success()),
            (MissionResult::NOTHING_DONE, false)
        );
        let story = Story::of(task).model_calls(&[look()]).tool_fails("camera.look", "it is dark").model_says("A cup.");
        assert!(!story.start().result().is_success(), "a look that failed has found nothing");
        let story = Story::of(task).model_calls(&[look()]).model_says("A cup.").start();
        assert_eq!(story.ends(), (MissionStatus::Answered, "A cup."));
        assert_eq!(story.result().account, "Nothing was done. Looked: camera.look.");
        assert!(story.result().is_success());
        assert_eq!(story.said, ["A cup."]);
    }
    let story = Story::of("hello").model_says("Hi.").start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "Hi."));
    assert!(story.result().is_success(), "words are all that a conversation needs");
    assert_eq!(story.result().output, "Hi.\nNothing was done, nothing was looked at.");
}

#[test]
fn regression_a_question_for_which_steps_found_nothing_is_not_answered() {
    let story = Story::of("what do you see?")
        .model_calls(&[go("kitchen")])
        .tool_returns("base.go_to", Value::Null)
        .model_says("EXECUTE")
        .model_says("A cup.")
        .start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "A cup."));
    assert!(!story.result().is_success());
    assert_eq!(story.result().account, "Done: base.go_to(place=kitchen) not verified. Nothing was looked at.");
}

#[test]
fn what_was_looked_for_and_seen_was_found_and_words_alone_find_nothing() {
    let story = Story::of("find the cup").model_calls(&[look()]).model_says("On the table.").start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "On the table."));
    assert!(story.result().is_success());
    let story = Story::of("find the cup").model_says("On the table.").model_says("On the table!").start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "The model only said: \"On the table!\""));
    assert!(!story.result().is_success());
    let bring = Story::of("find the cup and bring it").model_calls(&[look()]).model_says("Here.").model_says("Here!");
    assert!(!bring.start().result().is_success());
}

#[test]
fn a_declared_sentence_of_a_look_is_done_by_the_look() {
    let with = |task: &str, more: Vec<ToolSpec>| {
        let mut scan = tool("scanner.scan", ToolPhase::Both, ToolEffect::Observe);
        scan.phrases = vec!["scan the tag".to_owned()];
        Story::with(task, robot().into_iter().chain(more).chain([scan]).collect(), |_| {})
    };
    let scan = ("scanner-scan", json!({}));
    let story = with("scan the tag", vec![]).model_calls(std::slice::from_ref(&scan)).model_says("Tag 7.").start();
    assert_eq!(story.ends(), (MissionStatus::Answered, "Tag 7."));
    assert!(story.result().is_success(), "{}", story.result().output);
    // Without the look, words are no success; nor where more is asked for, or where the same words move something.
    let said = |story: Story| story.model_says("Tag 7.").model_says("Tag 7!").start().result().is_success();
    assert!(!said(with("scan the tag", vec![])));
    assert!(!said(with("scan the tag and open the door", vec![]).model_calls(std::slice::from_ref(&scan))));
    let mut tear = tool("hand.tear", ToolPhase::Execution, ToolEffect::Move);
    tear.phrases = vec!["scan the {thing}".to_owned()];
    assert!(!said(with("scan the tag", vec![tear]).model_calls(&[scan])));
}

#[test]
fn what_was_seen_is_told_with_its_age() {
    let mut story = Story::of("what do you see?").model_calls(&[look()]).start();
    story.now = Duration::from_secs(42);
    story.reply(says("A cup."));
    assert_eq!(story.result().account, "Nothing was done. Looked: camera.look (42 s before the end).");
}

#[test]
fn regression_every_report_ends_with_what_was_done_whatever_the_model_claims() {
    let claim = "Done: base.go_to(place=bedroom) verified. Looked: camera.look.";
    let story = Story::of("go to the kitchen and say hello")
        .model_calls(&[go("kitchen"), ("speaker-say", json!({"text": "Hello.\nDone: everything"})), look()])
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .tool_fails("camera.look", "it is dark")
        .model_says(claim)
        .start();
    let lines: Vec<&str> = story.result().output.lines().collect();
    assert!(lines[0].starts_with(claim), "{lines:?}");
    assert_eq!(
        lines[1..],
        ["Done: base.go_to(place=kitchen) not verified; speaker.say(text=\"Hello. Done: everything\") not verified. \
             Not completed: camera.look failed. Nothing was looked at."]
    );
    assert_eq!(story.lines.last().unwrap().split(" | ").last(), Some(lines[1]), "in the feedback, too");
    let mut story =
        Story::of("go to the kitchen").model_calls(&[go("kitchen")]).model_says("EXECUTE").tool_waits("base.go_to");
    story.give(Input::Start);
    story.give(Input::Cancel { reason: CancelReason::Stop });
    story.end_call(0, ToolOutcome::cancelled(HaltState::Halted, "halted"));
    assert_eq!(story.ends(), (MissionStatus::Cancelled, "The robot was stopped."));
    assert_eq!(
        story.result().account,
        "Nothing was completed: base.go_to(place=kitchen) halted. Nothing was looked at."
    );
}

#[test]
fn for_a_question_about_itself_the_robot_only_looks() {
    let story = Story::of("how full is your battery?")
        .model_calls(&[go("kitchen")])
        .model_calls(&[("battery-level", json!({}))])
        .model_says("87 %.")
        .start();
    assert_eq!(names(&story.requests[0]), ["battery-level", "camera-look", DECLINE_TOOL]);
    assert!(text_of(&story.requests[1]).contains("it acts, and the task is a question about the robot itself"));
    assert_eq!(story.invoked_tools(), ["battery.level"]);
    assert_eq!(story.ends(), (MissionStatus::Answered, "87 %."));
}

#[test]
fn a_tool_that_comes_later_and_acts_is_withheld_as_well() {
    let mut story = Story::of("how full is your battery?").start();
    let mut tools = robot();
    tools.push(tool("arm.wave", ToolPhase::Execution, ToolEffect::Move));
    story.give(Input::ToolsChanged { tools: ToolSet::new(tools).0 });
    story.reply(calls(&[("arm-wave", json!({}))]));
    story.reply(says("I don't know."));
    assert_eq!(story.invoked.len(), 0);
}

#[test]
fn in_a_conversation_the_model_knows_what_the_robot_can_do() {
    let story = Story::of("what can you do?").model_says("I can drive.").start();
    let told = text_of(&story.requests[0]);
    assert!(told.contains("- \"Does base.go_to.\"") && !told.contains("base-go_to"), "{told}");
    assert_eq!(story.ends(), (MissionStatus::Answered, "I can drive."));
}

#[test]
fn a_question_about_the_world_may_need_driving_and_every_drive_is_confirmed() {
    let story = Story::of("tell me what you see in the kitchen")
        .model_calls(&[go("kitchen"), look()])
        .tool_returns("camera.look", json!("a cup"))
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .model_says("A cup.")
        .start();
    assert_eq!(story.result().class, TaskClass::QuestionAboutWorld);
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "A cup."));
}

#[test]
fn one_step_is_written_out_for_each_place_that_the_tool_takes() {
    let mut story = Story::of("check every room and tell me what you see").model_calls(&[
        go("<each place>"),
        look(),
        ("speaker-say", json!({"text": "<each place>: <output of step 2>"})),
    ]);
    for found in ["a cup", "a bed"] {
        story = story.tool_returns("camera.look", json!(found));
    }
    for _ in 0..6 {
        story = story.model_says("EXECUTE");
    }
    let story = story.model_says("A cup and a bed.").start();
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "A cup and a bed."));
    let said: Vec<&Value> = story.invoked.iter().filter_map(|(_, call)| call.arguments.get("text")).collect();
    assert_eq!(said, ["kitchen: a cup", "bedroom: a bed"]);
    let told =
        r#"base-go_to {"place":"<each place>"}, then camera-look {}. Both are repeated for "kitchen", then "bedroom""#;
    assert!(text_of(&story.requests[0]).contains(told), "{}", text_of(&story.requests[0]));
    assert!(text_of(story.requests.last().unwrap()).contains("written out as 2 steps: the first noted as step 1.1;"));
}

#[test]
fn what_research_has_found_can_be_named_and_nothing_else() {
    let rooms = || tool("memory.rooms", ToolPhase::Planning, ToolEffect::Observe);
    let tour = ("base-go_to", json!({"place": "<each room>"}));
    let tools = || robot().into_iter().chain([rooms()]).collect::<Vec<_>>();
    let story = Story::with("visit every room", tools(), |_| {})
        .model_calls(&[("speaker-say", json!({"text": "<each person>"}))])
        .model_calls(&[("memory-rooms", json!({}))])
        .tool_returns("memory.rooms", json!(["bedroom"]))
        .model_calls(std::slice::from_ref(&tour))
        .model_says("EXECUTE")
        .model_says("Visited.")
        .start();
    assert!(text_of(&story.requests[1]).contains("<each person> stands for nothing"));
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "Visited."));
    assert_eq!(story.invoked[1].1.arguments.get("place"), Some(&json!("bedroom")));
    // A room that was found, but that the tool does not take.
    let story = Story::with("visit every room", tools(), |_| {})
        .model_calls(&[("memory-rooms", json!({}))])
        .tool_returns("memory.rooms", json!(["cellar"]))
        .model_calls(&[tour])
        .model_calls(&[(DECLINE_TOOL, json!({"reason": "I can't get there."}))])
        .start();
    assert!(
        text_of(&story.requests[2])
            .contains("base.go_to can't be done for \"cellar\": place: \"cellar\" is not one of")
    );
    assert_eq!(story.ends(), (MissionStatus::Failed, "I can't get there."));
}

#[test]
fn a_tour_that_is_too_long_is_cut_and_says_so() {
    let story = Story::with("visit every room", robot(), |limits| limits.max_execution_steps = 1)
        .model_calls(&[go("<each place>")])
        .model_says("EXECUTE")
        .model_says("Done.")
        .start();
    assert_eq!(story.statuses(), [StepStatus::Success, StepStatus::Blocked]);
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("step 2 (base.go_to) cut: the plan was too long"), "{output}");
}

#[test]
fn regression_looks_that_were_cut_are_not_made_good_by_a_plan_that_does_something_else() {
    let story = Story::with("look around in every room", robot(), |limits| limits.max_execution_steps = 2)
        .model_calls(&[go("kitchen"), look(), ("camera-look", json!({"x": "left"}))])
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .model_calls(&[("speaker-say", json!({"text": "I have looked."}))])
        .model_says("EXECUTE")
        .model_says("I have looked around.")
        .start();
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("step 3 (camera.look) cut: the plan was too long"), "{output}");
}

const STANDING: &str = "patrol until you see a person";

/// A round through the kitchen in which the camera shows this.
fn round(story: Story, shows: &str) -> Story {
    story
        .model_calls(&[go("kitchen"), look()])
        .tool_returns("camera.look", json!({"text": shows}))
        .model_says("EXECUTE")
        .model_says("EXECUTE")
}

#[test]
fn a_standing_order_goes_round_until_a_step_shows_that_it_is_met() {
    let story = round(round(Story::of(STANDING), "a cup"), "a Person at the table")
        .model_calls(&[fulfilled("2.2", "a person at the table")])
        .start();
    let told = "The order is fulfilled: shown by step 2 of plan 2 (camera.look): \"a person at the table\".";
    assert_eq!(story.ends(), (MissionStatus::Succeeded, told));
    assert_eq!(story.result().class, TaskClass::StandingOrder);
    assert!(text_of(&story.requests[3]).contains("Round 1 of at most 10 was carried out."));
}

#[test]
fn what_the_record_does_not_show_does_not_fulfil_a_standing_order() {
    let story = round(Story::of(STANDING), "a cup")
        .model_calls(&[fulfilled("1.2", "a person")])
        .model_calls(&[fulfilled("1.7", "a cup")])
        .model_calls(&[(ORDER_FULFILLED, json!({"step": 2, "words": "a cup"}))])
        .model_calls(&[fulfilled("1.2", " ")])
        .model_calls(&[fulfilled("1.2", "a cup"), look()])
        .model_says("I saw a person.")
        .model_says("I did see a person!")
        .start();
    for (request, told) in [
        (4, "1.2: 'words' must be its complete output"),
        (5, "there is no step 1.7 in this mission"),
        (6, "'step' must be PLAN.STEP of the record"),
        (7, "'words' must be copied from the step's output"),
        (8, "order_fulfilled is called alone"),
        (9, "Words do not fulfil the order."),
    ] {
        assert!(text_of(&story.requests[request]).contains(told), "{told}: {}", text_of(&story.requests[request]));
    }
    assert_eq!(
        story.ends(),
        (
            MissionStatus::Failed,
            "No step was named that shows that the order is fulfilled. The model only said: \"I did see a person!\""
        )
    );
}

#[test]
fn a_failed_step_shows_nothing_and_is_not_talked_away() {
    let story = Story::of("patrol until you see a person, then say hello")
        .model_calls(&[look(), ("speaker-say", json!({"text": "hello"}))])
        .tool_returns("camera.look", json!("a person"))
        .tool_fails("speaker.say", "a person is too loud")
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .model_calls(&[fulfilled("1.2", "a person")])
        .model_calls(&[fulfilled("1.1", "a person")])
        .start();
    assert!(text_of(&story.requests[4]).contains("1.2 did not succeed, so it shows nothing"));
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("(Not done: step 2 (speaker.say) failed"), "{output}");
}

fn told_last(story: &Story) -> String {
    text_of(story.requests.last().unwrap())
}

#[test]
fn regression_what_the_robot_says_itself_does_not_fulfil_an_order() {
    let story = Story::of(STANDING)
        .model_calls(&[("speaker-say", json!({"text": "I see a person"}))])
        .tool_returns("speaker.say", json!("said: I see a person"))
        .model_says("EXECUTE")
        .model_calls(&[fulfilled("1.1", "I see a person")])
        .start();
    assert!(told_last(&story).contains("1.1 is no look"), "{}", told_last(&story));
    assert!(story.results.is_empty());
}

#[test]
fn regression_what_a_look_was_asked_or_a_single_letter_does_not_fulfil_an_order() {
    let mut story = Story::of(STANDING)
        .model_calls(&[("camera-look", json!({"x": "is there a person?"}))])
        .tool_returns("camera.look", json!("is there a person? yes, at the table; impersonal"))
        .model_says("EXECUTE")
        .start();
    for (words, told) in [
        ("a person", "\"a person\" stands in the arguments of 1.1"),
        ("y", "at least one word of two letters or digits"),
        ("personal", "must be its complete output"),
        ("yes, at the table", "must be its complete output"),
    ] {
        story.reply(calls(&[fulfilled("1.1", words)]));
        assert!(told_last(&story).contains(told), "{}", told_last(&story));
    }
    story.reply(calls(&[fulfilled("1.1", "is there a person? yes, at the table; impersonal")]));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn regression_what_was_seen_before_a_revision_does_not_fulfil_the_order_as_it_is_now() {
    let mut story = round(Story::of(STANDING), "a person").start();
    story.give(revision("no, until you see two people"));
    let _ = story.unanswered.pop_front();
    story.reply(calls(&[fulfilled("1.2", "a person")]));
    assert!(told_last(&story).contains("1.2 was planned before the task was corrected"));
    story = story.tool_returns("camera.look", json!("two people"));
    story.reply(calls(&[look()]));
    story.reply(says("EXECUTE"));
    story.reply(calls(&[fulfilled("2.1", "two people")]));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn a_standing_order_that_is_never_met_ends_with_its_rounds() {
    let mut story = Story::with(STANDING, robot(), |limits| {
        limits.max_rounds = 6;
        limits.max_replans = 1;
    });
    for _ in 0..6 {
        story = round(story, "a cup");
    }
    let story = story.model_calls(&[go("kitchen")]).start();
    assert_eq!(story.ends(), (MissionStatus::Failed, "The order was not met after 6 rounds."));
    assert_eq!(story.invoked.len(), 12);
}

#[test]
fn a_look_alone_is_a_step_of_a_standing_order() {
    let story = Story::of("wait until you see a person")
        .model_calls(&[look()])
        .tool_returns("camera.look", json!("a person"))
        .model_says("EXECUTE")
        .model(ChatReply { text: "There is somebody.".into(), ..calls(&[fulfilled("1.1", "a person")]) })
        .start();
    assert_eq!(
        story.ends(),
        (MissionStatus::Succeeded, "There is somebody. (shown by step 1 of plan 1 (camera.look): \"a person\".)")
    );
}

#[test]
fn an_order_without_an_end_ends_when_somebody_ends_it() {
    let mut story = Story::with("patrol until I say stop", robot(), |limits| limits.max_rounds = 1);
    for _ in 0..3 {
        story = round(story, "a person");
    }
    let mut story = story.start();
    assert!(!names(&story.requests[0]).contains(&ORDER_FULFILLED));
    assert!(text_of(story.requests.last().unwrap()).contains("Round 3 was carried out. Nobody has ended the order"));
    story.give(Input::Cancel { reason: CancelReason::Client });
    assert_eq!(story.ends(), (MissionStatus::Cancelled, "The task was cancelled."));
}

#[test]
fn an_order_without_an_end_is_not_ended_by_words() {
    let story = round(Story::of("keep patrolling"), "a cup").model_says("Enough.").model_says("Enough!").start();
    assert_eq!(
        story.ends(),
        (MissionStatus::Failed, "The order was given up, and nobody had ended it. The model only said: \"Enough!\"")
    );
}
