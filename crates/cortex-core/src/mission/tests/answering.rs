//! Answers that are told while they come.

use super::*;

#[test]
fn an_answer_is_told_while_it_comes_and_its_rest_at_the_end() {
    let mut story = Story::of("hello").start();
    story.streams(0, "Good");
    assert_eq!((story.begun.as_str(), story.said.len()), ("Good", 0));
    story.streams(4, " morning");
    story.reply(says("Good morning to you."));
    assert_eq!(story.said, ["Good morning to you."], "each word once");
    assert_eq!(story.ends(), (MissionStatus::Answered, "Good morning to you."));
    let told: Vec<&String> = story.lines.iter().filter(|line| line.starts_with("answering")).collect();
    assert_eq!(told, ["answering: Good"], "feedback has the first words, and no line for each further one");
}

#[test]
fn feedback_has_further_words_about_once_a_second() {
    let mut story = Story::of("hello").start();
    for second in 0..4_u64 {
        story.now = Duration::from_millis(500 * second);
        story.streams(usize::try_from(second).unwrap(), &second.to_string());
    }
    let told: Vec<&String> = story.lines.iter().filter(|line| line.starts_with("answering")).collect();
    assert_eq!(told, ["answering: 0", "answering: 12"]);
}

/// What a model says of its acts is held against the record first.
#[test]
fn words_that_may_claim_an_act_or_a_look_are_told_as_a_whole_only() {
    for task in ["go to the kitchen", "what do you see?", "patrol until you see a person"] {
        let mut story = Story::of(task).start();
        story.streams(0, "I have done it.");
        assert_eq!((story.begun.as_str(), story.said.len()), ("", 0), "{task}");
    }
    // It has looked, and may still act: "It was on, I have switched it off" before the switch is even planned.
    let mut story = Story::of("what do you see?").model_calls(&[("camera.look", json!({}))]).start();
    story.streams(0, "A cup.");
    assert_eq!((story.begun.as_str(), story.said.len()), ("", 0));
}

#[test]
fn words_that_turn_out_to_be_no_answer_are_closed() {
    let mut story = Story::of("hello").start();
    story.streams(0, "Let me look.");
    story.reply(ChatReply { text: "Let me look.".to_owned(), ..calls(&[("camera.look", json!({}))]) });
    assert_eq!(story.said, ["Let me look."]);
    story.reply(says("Hello."));
    assert_eq!(story.said, ["Let me look.", "Hello."]);
}

#[test]
fn an_answer_that_is_not_the_one_that_began_is_told_as_a_whole() {
    let mut story = Story::of("hello").start();
    story.streams(0, "Good mor");
    // Another model has answered, after the first one broke off.
    story.streams(8, "ning");
    story.streams(3, "x");
    story.reply(says("Hello!"));
    assert_eq!(story.said, ["Good morning", "Hello!"]);
}

#[test]
fn what_breaks_off_leaves_no_open_end() {
    let failure = || ModelError {
        kind: ModelErrorKind::ServerFailed,
        message: "gone".to_owned(),
        hint: String::new(),
        retry_after: None,
    };
    let mut story = Story::of("hello").start();
    story.streams(0, "Good");
    story.answer(Err(failure()));
    assert_eq!((story.begun.as_str(), story.said.len()), ("", 2), "{:?}", story.said);

    let mut story = Story::of("hello").start();
    story.streams(0, "Good");
    story.give(Input::Cancel { reason: CancelReason::Client });
    assert_eq!((story.begun.as_str(), &story.said[..]), ("", &["Good".to_owned()][..]));

    // A reason that Cortex gives is a text of its own.
    for input in [Input::GiveUp { reason: "The disk is full.".to_owned() }, Input::Tick] {
        let mut story = Story::of("hello").start();
        story.streams(0, "Good");
        story.give_at(100_000, input);
        assert_eq!((story.said.len(), story.said.first().map(String::as_str)), (2, Some("Good")), "{:?}", story.said);
    }

    let mut story = Story::of("hello").start();
    story.streams(0, "Good");
    story.reply(cut(says("Good good good")));
    assert_eq!(story.said, ["Good"]);
    story.reply(says("Good day."));
    assert_eq!(story.said, ["Good", "Good day."]);
}

/// A model that talks for hours, and words of a request that was given up.
#[test]
fn words_without_end_and_words_of_an_earlier_request_are_not_told() {
    let mut story = Story::of("hello").start();
    story.streams(0, &"x".repeat(1 << 20));
    story.give(Input::AnswerStreamed { request: RequestId(77), offset: 0, text: "Hi".to_owned() });
    story.streams(0, "");
    assert_eq!((story.begun.as_str(), story.said.len()), ("", 0));
}
