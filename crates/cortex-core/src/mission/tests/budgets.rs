//! Tests of budgets that are spent, and of the closing words that are kept out of them.

use cortex_protocol::HaltState;
use cortex_protocol::StepStatus;
use cortex_protocol::mission::Expense;
use proptest::prelude::*;

use super::*;
use crate::chat::{ModelUsed, SecondOpinion, SecondVerdict};
use crate::ports::ModelErrorKind;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

fn costs(completion_tokens: u64, reply: ChatReply) -> ChatReply {
    ChatReply { completion_tokens, ..reply }
}

fn no_answer() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Unreachable,
        message: "the endpoint can't be reached".into(),
        hint: String::new(),
        retry_after: None,
    }
}

/// `max_tokens = 100`, a confirmation that used 5,010 tokens, and then a drive.
#[test]
fn regression_a_drive_began_after_the_tokens_were_spent() {
    let story = Story::with("go", robot(), |limits| limits.max_tokens = Some(100))
        .model(costs(10, calls(&[go("kitchen")])))
        .model(costs(5_010, says("EXECUTE")))
        .start();
    assert_eq!((story.invoked.len(), story.requests.len()), (0, 2), "{:#?}", story.lines);
    assert_eq!(story.ends(), (MissionStatus::Failed, "The task has used up its 100 tokens."));
    assert_eq!(story.statuses(), [StepStatus::Blocked]);
}

#[test]
fn each_model_of_several_is_told_once_and_paid_by_its_own_prices() {
    let used = |model: &str, because: &str, reply| {
        let (model, wanted, because) = (model.to_owned(), "hosted".to_owned(), because.to_owned());
        ChatReply { prompt_tokens: 1_000_000, used: Some(ModelUsed { model, wanted, because }), ..reply }
    };
    let story = Story::with("go", robot(), |limits| {
        limits.prices = Prices { prompt: 10.0, completion: 0.0 };
        limits.other_prices.insert("small".to_owned(), Prices { prompt: 1.0, completion: 0.0 });
    })
    .model(used("hosted", "", calls(&[go("kitchen")])))
    .model(used("small", "hosted: it\nis down", says("EXECUTE")))
    .model(used("small", "hosted: it is down", calls(&[go("bedroom")])))
    .model(used("hosted", "", says("EXECUTE")))
    .model(used("hosted", "", says("There.")))
    .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    let told = story.lines.iter().filter(|line| line.contains("answers"));
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["small answers instead of hosted: hosted: it\\nis down", "hosted answers again"]
    );
    assert!((story.result().usage.cost - 32.0).abs() < 1e-9, "{}", story.result().usage.cost);
}

#[test]
fn a_second_model_that_plans_along_is_paid_by_its_own_prices() {
    let second = SecondOpinion {
        model: "second".to_owned(),
        verdict: SecondVerdict::Same,
        doubts: true,
        prompt_tokens: 1_000_000,
        completion_tokens: 0,
        tokens_estimated: true,
    };
    let plan = ChatReply { prompt_tokens: 1_000_000, second: Some(Box::new(second)), ..calls(&[go("kitchen")]) };
    let story = Story::with("go", robot(), |limits| {
        limits.prices = Prices { prompt: 10.0, completion: 0.0 };
        limits.other_prices.insert("second".to_owned(), Prices { prompt: 1.0, completion: 0.0 });
    })
    .model(plan)
    .model(says("EXECUTE"))
    .model(says("There."))
    .start();
    let usage = story.result().usage;
    assert!((usage.cost - 11.0).abs() < 1e-9, "{}", usage.cost);
    assert_eq!((usage.model_calls, usage.prompt_tokens, usage.tokens_estimated), (3, 2_000_000, true));
}

#[test]
fn tokens_that_were_estimated_are_told_as_about() {
    let estimated = |tokens, reply| ChatReply { tokens_estimated: true, ..costs(tokens, reply) };
    let story = Story::with("go", robot(), |limits| limits.max_tokens = Some(100))
        .model(estimated(10, calls(&[go("kitchen")])))
        .model(costs(90, says("EXECUTE")))
        .start();
    assert_eq!((story.invoked.len(), story.result().usage.tokens_estimated), (0, true));
    let why = "The task has used up its 100 tokens (estimated: the model's endpoint does not count them).";
    assert_eq!(story.ends(), (MissionStatus::Failed, why));
    let told = "WARNING: about 100 of 100 tokens are spent (estimated: the model's endpoint does not count them)";
    assert!(story.lines.contains(&told.to_owned()), "{:#?}", story.lines);
}

#[test]
fn what_moves_is_halted_when_a_reply_spends_the_budget() {
    let mut story = Story::with("dock and go", robot(), |limits| limits.max_tokens = Some(100))
        .tool_waits("base.dock")
        .model(costs(10, calls(&[("base-dock", json!({})), ("base-go_to", json!({"place": "kitchen", "after": []}))])))
        .model(costs(1, says("EXECUTE")))
        .start();
    assert_eq!(story.invoked_tools(), ["base.dock"]);
    story.reply(costs(100, says("CONTINUE")));
    assert_eq!(story.cancelled, [story.invoked[0].0], "{:#?}", story.lines);
    story.end_call(0, ToolOutcome::cancelled(HaltState::Halted, "halted"));
    assert_eq!(story.ends(), (MissionStatus::Failed, "The task has used up its 100 tokens."));
}

#[test]
fn research_does_not_begin_after_a_budget_is_spent() {
    let look = || calls(&[("battery-level", json!({}))]);
    let story =
        Story::with("how full?", robot(), |limits| limits.max_tokens = Some(100)).model(costs(100, look())).start();
    assert_eq!((story.invoked.len(), story.ends().0), (0, MissionStatus::Failed));
    let story = Story::with("how full?", robot(), |limits| limits.max_model_calls = 1).model(look()).start();
    assert_eq!((story.invoked.len(), story.ends().0), (0, MissionStatus::Failed));
}

/// The last of the requests went to a confirmation, the step was done, and the mission failed for want of words.
#[test]
fn regression_a_mission_whose_steps_succeeded_failed_for_its_closing_words() {
    let with = |calls: u32| Story::with("go", robot(), |limits| limits.max_model_calls = calls);
    let planned = |story: Story| story.model_calls(&[go("kitchen")]).model_says("EXECUTE").model_says("There.").start();
    let story = planned(with(3));
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "There."));
    let story = planned(with(2));
    assert_eq!((story.ends().0, story.invoked.len(), story.requests.len()), (MissionStatus::Failed, 0, 1));
    assert_eq!(
        story.ends().1,
        "The task has used up its 2 requests to the model, but for those kept for its closing words."
    );
    assert!(story.lines.contains(&"WARNING: 1 of 2 requests to the model are spent".to_owned()), "{:#?}", story.lines);
    let story = with(1).model_says("I am Cortex.").start();
    assert_eq!(story.requests.len(), 1, "a plan or an answer may be the last request");
}

#[test]
fn where_a_budget_ends_before_the_closing_words_the_record_closes_the_mission() {
    let done = || {
        Story::with("go", robot(), |limits| {
            limits.max_tokens = Some(1_000);
            limits.max_model_calls = 4;
            limits.max_planning_steps = 2;
        })
        .model(costs(10, calls(&[go("kitchen")])))
        .model(costs(10, says("EXECUTE")))
    };
    let look = || calls(&[("battery-level", json!({}))]);
    for (name, story) in [
        ("no model", done().model_fails(no_answer())),
        ("turns", done().model(says("")).model(says(""))),
        ("cut", done().model(cut(says("Do"))).model(cut(says("Do")))),
    ] {
        let story = story.start();
        assert_eq!(story.ends().0, MissionStatus::Failed, "{name}: it might have had more to plan: {:#?}", story.lines);
        assert!(story.result().account.starts_with("Done: base.go_to(place=kitchen)"), "{}", story.result().account);
    }
    for (name, story) in
        [("tokens", done().model(costs(2_000, look()))), ("requests", done().model(look()).model(look()))]
    {
        let story = story.start();
        assert_eq!(story.ends().0, MissionStatus::Succeeded, "{name}: {:#?}", story.lines);
        assert!(story.ends().1.starts_with("All that was planned was done."), "{name}: {}", story.ends().1);
        assert!(story.result().account.starts_with("Done: base.go_to(place=kitchen)"), "{}", story.result().account);
    }
    let over = |input: Input, at: u64| {
        let mut story =
            Story::with("go", robot(), |limits| limits.max_metres = Some(10.0)).model_calls(&[go("kitchen")]);
        story.give(Input::Metered { expense: Expense::Metres, total: 0.0, is_live: true });
        let mut story = story.model_says("EXECUTE").start();
        assert!(story.is_asking());
        story.give_at(at, input);
        story
    };
    for story in
        [over(Input::Metered { expense: Expense::Metres, total: 10.1, is_live: true }, 5), over(Input::Tick, 3_600)]
    {
        assert_eq!(story.ends().0, MissionStatus::Succeeded, "{:#?}", story.lines);
        assert_eq!(story.abandoned.len(), 1, "the model is not waited for");
    }
}

#[test]
fn a_look_before_the_closing_words_is_halted_and_the_mission_closed() {
    let mut story = Story::with("go", robot(), |limits| limits.max_metres = Some(10.0))
        .tool_waits("battery.level")
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE")
        .model_calls(&[("battery-level", json!({}))]);
    story.give(Input::Metered { expense: Expense::Metres, total: 0.0, is_live: true });
    let mut story = story.start();
    story.give(Input::Metered { expense: Expense::Metres, total: 10.0, is_live: true });
    assert_eq!(story.cancelled.len(), 1);
    story.close_call(1);
    assert_eq!(story.ends().0, MissionStatus::Succeeded, "{:#?}", story.lines);
}

#[test]
fn a_step_that_was_left_out_does_not_keep_the_record_from_closing() {
    let story = Story::with("go", robot(), |limits| limits.max_tokens = Some(1_000))
        .model_calls(&[go("kitchen"), go("bedroom")])
        .model_says("EXECUTE")
        .model(costs(1_000, says("SKIP no longer needed")))
        .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded, "{:#?}", story.lines);
    assert!(story.ends().1.contains("Skipped: step 2"), "{}", story.ends().1);
}

#[test]
fn what_the_record_does_not_say_is_not_closed_as_a_success() {
    let plan = || Story::of("go").model_calls(&[go("kitchen")]);
    let story = plan().tool_fails("base.go_to", "blocked").model_says("EXECUTE").model_fails(no_answer()).start();
    assert_eq!(story.ends().0, MissionStatus::Failed);
    let story =
        plan().model_says("EXECUTE").model_calls(&[go("bedroom")]).model_fails(no_answer()).model_fails(no_answer());
    assert_eq!(story.model_fails(no_answer()).start().ends().0, MissionStatus::Failed, "the model planned more");
    let story = Story::with("go", robot(), |limits| limits.max_model_calls = 3)
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE")
        .model_calls(&[go("bedroom")])
        .start();
    assert_eq!(
        (story.ends().0, story.invoked.len()),
        (MissionStatus::Failed, 1),
        "more was planned, and can't be done"
    );
    let story = plan().model_says("EXECUTE").model_calls(&[("decline_task", json!({"reason": "No."}))]).start();
    assert_eq!(story.ends().0, MissionStatus::Failed);
    let mut story = Story::of("what is in the kitchen?").model_calls(&[go("kitchen")]).model_says("EXECUTE").start();
    story.give(revision("and what is in the bedroom?"));
    story.give(Input::Metered { expense: Expense::Metres, total: 0.0, is_live: true });
    story.give_at(3_600, Input::Tick);
    assert_eq!(story.ends().0, MissionStatus::Failed, "what was asked since is not answered: {:#?}", story.lines);
    let story = Story::of("patrol until you see a person").model_calls(&[go("kitchen")]).model_says("EXECUTE");
    assert_eq!(
        story.model_fails(no_answer()).start().ends().0,
        MissionStatus::Failed,
        "an order that goes on is not met"
    );
}

#[test]
fn a_question_is_closed_with_what_was_found() {
    let story = Story::with("what is in the kitchen?", robot(), |limits| limits.max_tokens = Some(1_000))
        .tool_returns("camera.look", json!("a red cup"))
        .model_calls(&[go("kitchen"), ("camera-look", json!({}))])
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .model(costs(2_000, calls(&[("battery-level", json!({}))])))
        .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    assert!(story.ends().1.contains("camera.look: \"a red cup\""), "{}", story.ends().1);
}

/// How the model says that everything was done, or fails to.
#[derive(Debug, Clone)]
enum Closing {
    Words,
    Nothing,
    Cut,
    Fails,
    Looks,
}

fn closing() -> impl Strategy<Value = Closing> {
    prop::sample::select(vec![Closing::Words, Closing::Nothing, Closing::Cut, Closing::Fails, Closing::Looks])
}

proptest! {
    /// Whatever the bounds and what each reply costs: nothing begins once a budget is spent, and where every step was done
    /// the mission has succeeded, unless the model failed.
    #[test]
    fn nothing_begins_after_a_budget_is_spent_and_what_was_done_is_a_success(
        steps in 1..5_usize,
        costs_of in prop::collection::vec(0..400_u64, 12),
        closings in prop::collection::vec(closing(), 0..3),
        (max_tokens, max_model_calls) in (prop::option::of(1..2_500_u64), 1..12_u32),
        (max_metres, metres) in (prop::option::of(1.0..6.0_f64), prop::collection::vec(0.0..2.0_f64, 12)),
        together in prop::bool::ANY,
    ) {
        let limits = |limits: &mut MissionLimits| {
            limits.max_tokens = max_tokens;
            limits.max_model_calls = max_model_calls;
            limits.max_metres = max_metres;
        };
        let mut story = Story::with("do it", robot(), limits).tool_waits("speaker.say").tool_waits("base.dock");
        story.give(Input::Metered { expense: Expense::Metres, total: 0.0, is_live: true });
        let mut story = story.start();
        let has_words = closings.iter().all(|closing| matches!(closing, Closing::Words | Closing::Looks));
        let (mut way, mut closings) = (0.0, closings.into_iter());
        let after = |step: usize| if together || step == 0 { json!([]) } else { json!([step]) };
        let plan: Vec<(&str, Value)> =
            (0..steps).map(|step| ("speaker-say", json!({"text": step.to_string(), "after": after(step)}))).collect();
        for turn in 0..60 {
            if !story.results.is_empty() {
                break;
            }
            let spent = costs_of[turn % costs_of.len()];
            let (begun, asked) = (story.invoked.len(), story.mission.spending.usage().model_calls);
            let all_done = story.mission.run.number() > 0 && story.statuses_so_far().iter().all(|status| *status == StepStatus::Success);
            if story.is_asking() {
                let reply = match story.requests.last().map(|request| request.purpose) {
                    Some(Purpose::Plan) if story.mission.run.number() == 0 => Ok(calls(&plan)),
                    Some(Purpose::Plan) if all_done => match closings.next() {
                        Some(Closing::Nothing) => Ok(says("")),
                        Some(Closing::Cut) => Ok(cut(says("I"))),
                        Some(Closing::Fails) => Err(no_answer()),
                        Some(Closing::Looks) => Ok(calls(&[("battery-level", json!({}))])),
                        Some(Closing::Words) | None => Ok(says("Done.")),
                    },
                    Some(Purpose::Plan) => Ok(says("I could not.")),
                    _ => Ok(says("EXECUTE")),
                };
                story.answer(reply.map(|reply| costs(spent, reply)));
            } else if let Some(index) = (0..story.invoked.len()).find(|index| story.is_open(*index)) {
                way += metres[turn % metres.len()];
                story.give(Input::Metered { expense: Expense::Metres, total: way, is_live: true });
                story.close_call(index);
            } else {
                break;
            }
            let usage = *story.mission.spending.usage();
            let is_spent = max_tokens.is_some_and(|most| usage.prompt_tokens + usage.completion_tokens >= most)
                || asked >= max_model_calls
                || max_metres.is_some_and(|most| usage.metres >= most);
            prop_assert!(!is_spent || story.invoked.len() == begun, "begun when spent: {:#?}", story.lines);
        }
        let result = story.result();
        prop_assert!(result.usage.model_calls <= max_model_calls);
        let done = result.steps.len() == steps && result.steps.iter().all(|step| step.status == StepStatus::Success);
        let succeeded = result.status == MissionStatus::Succeeded;
        prop_assert!(!succeeded || done, "{:#?}", story.lines);
        prop_assert!(succeeded || !done || !has_words, "{:#?}", story.lines);
    }
}
