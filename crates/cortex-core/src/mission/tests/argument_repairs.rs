//! Tests of calls that fail and are fixed, of steps that need no question, and of budgets.

use cortex_protocol::{HaltState, OutcomeStatus, StepStatus};

use super::*;

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

/// One correction for each step, with any arguments, each of which is confirmed anew.
fn forgiving(task: &str) -> Story {
    Story::with(task, robot(), |limits| {
        limits.max_corrections = 1;
        limits.confirmation_arguments = ConfirmationArguments::Any;
    })
}

#[test]
fn a_failed_call_is_fixed_in_its_steps_place() {
    let story = forgiving("go to the kitchen or the bedroom")
        .tool_fails("base.go_to", "the kitchen is closed")
        .model_calls(&[go("kitchen"), ("speaker-say", json!({"text": "here"}))])
        .model_says("EXECUTE")
        .model_calls(&[go("bedroom")])
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .model_says("I am in the bedroom.")
        .start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    assert_eq!(story.invoked_tools(), ["base.go_to", "base.go_to", "speaker.say"]);
    let correction = &story.requests[2];
    assert_eq!(correction.purpose, Purpose::Correct);
    assert_eq!(correction.tools.len(), 1, "the schema of this tool and of no other");
    assert!(text_of(correction).contains("FAILED: \"the kitchen is closed\""));
    assert_eq!(story.result().steps[0].arguments, *json!({"place": "bedroom"}).as_object().unwrap());
    assert_eq!(story.result().steps.len(), 2, "a fixed step is one step");
}

#[test]
fn a_correction_can_only_call_the_same_tool_with_other_arguments_that_fit() {
    for reply in [
        calls(&[go("kitchen")]),
        calls(&[("speaker-say", json!({"text": "I am stuck"}))]),
        calls(&[go("bedroom"), go("bedroom")]),
        calls(&[go("moon")]),
        says("EXECUTE"),
        says("ABORT"),
        says("Let me think."),
        says(""),
    ] {
        let story = forgiving("go")
            .tool_fails("base.go_to", "closed")
            .model_calls(&[go("kitchen")])
            .model_says("EXECUTE")
            .model(reply.clone())
            .model_says("It is closed.")
            .start();
        assert_eq!(story.invoked.len(), 1, "{reply:?}");
        assert_eq!(story.ends().0, MissionStatus::Failed);
        assert_eq!(story.result().steps[0].outcome.as_ref().unwrap().message, "closed");
    }
}

#[test]
fn a_step_is_fixed_only_so_often() {
    let story = forgiving("go")
        .tool_fails("base.go_to", "closed")
        .tool_fails("base.go_to", "closed, too")
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE")
        .model_calls(&[go("bedroom")])
        .model_says("EXECUTE")
        .model_says("Both are closed.")
        .start();
    assert_eq!(story.invoked.len(), 2);
    assert_eq!(story.ends().0, MissionStatus::Failed);
}

#[test]
fn nothing_is_called_again_while_the_first_call_may_go_on_or_its_component_is_lost() {
    for outcome in [
        ToolOutcome::failure(FailureKind::Reported, "jammed").with_halt(HaltState::Unconfirmed),
        ToolOutcome::failure(FailureKind::ComponentLost, "gone"),
        ToolOutcome::failure(FailureKind::Timeout, "slow"),
    ] {
        let story = forgiving("go")
            .tool_ends("base.go_to", outcome)
            .model_calls(&[go("kitchen")])
            .model_says("EXECUTE")
            .model_says("It failed.")
            .start();
        assert!(story.requests.iter().all(|request| request.purpose != Purpose::Correct));
        assert_eq!(story.invoked.len(), 1);
    }
}

#[test]
fn a_cancel_while_a_call_is_being_fixed_ends_the_step_as_it_failed() {
    let mut story = forgiving("go").tool_fails("base.go_to", "closed").model_calls(&[go("kitchen")]).start();
    story.reply(says("EXECUTE"));
    story.give(Input::Cancel { reason: CancelReason::Client });
    assert_eq!(story.abandoned.len(), 1);
    assert_eq!(story.ends().0, MissionStatus::Cancelled);
    assert_eq!(story.statuses(), [StepStatus::Failed]);
    let outcome = story.result().steps[0].outcome.as_ref().unwrap();
    assert_eq!(outcome.status, OutcomeStatus::Failed(FailureKind::Reported));
}

/// Looks, then moves.
fn look_and_go() -> [(&'static str, Value); 2] {
    [("camera-look", json!({})), go("kitchen")]
}

fn adaptive(tools: Vec<ToolSpec>) -> Story {
    Story::with("look and go", tools, |limits| limits.confirmation = ConfirmationMode::Adaptive)
}

#[test]
fn the_model_is_not_asked_about_a_step_that_only_reads_while_all_is_as_planned() {
    let story = adaptive(robot()).model_calls(&look_and_go()).model_says("EXECUTE").model_says("Done.").start();
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Confirm, Purpose::Plan]);
    assert_eq!(story.invoked_tools(), ["camera.look", "base.go_to"]);
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn the_model_is_asked_about_every_step_once_something_has_changed() {
    let mut story = adaptive(robot())
        .model_calls(&[go("kitchen"), ("camera-look", json!({}))])
        .tool_waits("base.go_to")
        .model_says("EXECUTE")
        .start();
    let fewer = robot().into_iter().filter(|spec| spec.name.as_str() != "battery.level");
    story.give(Input::ToolsChanged { tools: ToolSet::new(fewer).0 });
    story.end_call(0, ToolOutcome::success(Value::Null));
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Confirm, Purpose::Confirm]);
}

#[test]
fn regression_tools_that_are_what_they_were_counted_as_a_change() {
    let mut story = adaptive(robot())
        .model_calls(&[go("kitchen"), ("camera-look", json!({}))])
        .tool_waits("base.go_to")
        .model_says("EXECUTE")
        .start();
    story.give(Input::ToolsChanged { tools: ToolSet::new(robot()).0 });
    story.end_call(0, ToolOutcome::success(Value::Null));
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Confirm, Purpose::Plan], "the look is not asked about");
}

fn spends(prompt_tokens: u64, reply: ChatReply) -> ChatReply {
    ChatReply { prompt_tokens, ..reply }
}

#[test]
fn a_budget_of_tokens_is_warned_about_and_ends_the_mission() {
    let story = Story::with("go", robot(), |limits| limits.max_tokens = Some(1_000))
        .model(spends(700, calls(&[go("kitchen"), go("bedroom")])))
        .model(spends(150, says("EXECUTE")))
        .start();
    assert!(story.lines.contains(&"WARNING: 850 of 1000 tokens are spent".to_owned()), "{:#?}", story.lines);
    assert_eq!(story.requests.len(), 2, "the rest is for the closing words");
    let why = "The task has used up its 1000 tokens, but for what is kept for its closing words.";
    assert_eq!(story.ends(), (MissionStatus::Failed, why));
    assert_eq!(story.statuses(), [StepStatus::Success, StepStatus::Blocked], "what was done is in the record");
}

#[test]
fn money_is_counted_by_the_prices_and_shown_in_the_result() {
    let story = Story::with("go", robot(), |limits| {
        limits.max_cost = Some(0.01);
        limits.prices = Prices { prompt: 10.0, completion: 30.0 };
    })
    .model(spends(2_000, calls(&[go("kitchen")])))
    .start();
    assert_eq!(story.requests.len(), 1);
    let result = story.result();
    assert_eq!(result.status, MissionStatus::Failed);
    assert!((result.usage.cost - 0.02).abs() < 1e-12, "{}", result.usage.cost);
    assert!(story.lines.iter().any(|line| line.contains("units of money for the model are spent")));
}

#[test]
fn a_long_conversation_is_compacted_and_keeps_the_task_the_record_and_the_last_exchange() {
    let chatter = |number: usize| json!({"text": format!("report {number} {}", "x".repeat(3_000))});
    let mut story = Story::with("go and see", robot(), |limits| limits.max_conversation_bytes = 10_000)
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE");
    for number in 0..8 {
        story = story.tool_returns("battery.level", chatter(number)).model_calls(&[("battery-level", json!({}))]);
    }
    let story = story.model_says("Seen.").start();
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    let last = text_of(story.requests.last().unwrap());
    assert!(last.len() < 20_000, "{}", last.len());
    assert!(last.contains("go and see") && last.contains("report 7") && !last.contains("report 1 "), "{last}");
    assert!(last.contains("1.1 base-go_to {\"place\":\"kitchen\"}: SUCCESS"), "{last}");
    assert!(story.lines.iter().any(|line| line.starts_with("the conversation was shortened from")));
}

#[test]
fn regression_ids_of_calls_do_not_repeat_after_the_conversation_was_shortened() {
    let mut story = Story::with("go and see", robot(), |limits| limits.max_conversation_bytes = 4_000);
    for _ in 0..8 {
        let long = json!({"text": "x".repeat(3_000)});
        story = story.tool_returns("battery.level", long).model_calls(&[("battery-level", json!({}))]);
    }
    let story = story.start();
    assert!(story.lines.iter().any(|line| line.starts_with("the conversation was shortened from")));
    // The last call of each request is the newest.
    let newest = |chat: &ChatRequest| {
        chat.messages.iter().rev().find_map(|message| match message {
            Message::Assistant { calls, .. } => calls.last().map(|call| call.id.clone()),
            _ => None,
        })
    };
    let ids: Vec<String> = story.requests.iter().filter_map(newest).collect();
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (8, 8), "{ids:?}");
}

fn unreachable() -> ToolOutcome {
    ToolOutcome::failure(FailureKind::Unavailable, "no server")
}

/// Two more tries.
fn patient(tools: Vec<ToolSpec>) -> Story {
    Story::with("look", tools, |limits| limits.max_retries = 2)
}

#[test]
fn what_only_looks_is_tried_again_after_pauses_that_grow() {
    let mut story = patient(robot())
        .tool_ends("camera.look", unreachable())
        .tool_ends("camera.look", unreachable())
        .model_calls(&[("camera-look", json!({})), ("speaker-say", json!({"text": "<output of step 1>"}))])
        .model_says("EXECUTE")
        .start();
    assert_eq!(story.invoked.len(), 1);
    assert_eq!(story.mission.next_wake(), Some(Duration::from_millis(500)));
    story.now = Duration::from_millis(500);
    story.give(Input::Tick);
    assert_eq!(story.invoked.len(), 2);
    assert_eq!(story.mission.next_wake(), Some(Duration::from_millis(1_500)));
    story.now = Duration::from_millis(1_500);
    story.give(Input::Tick);
    assert_eq!(story.invoked_tools(), ["camera.look"; 3]);
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Confirm, Purpose::Confirm], "the tries cost no request");
}

#[test]
fn tries_have_an_end_and_what_acts_is_not_tried_twice() {
    let mut story = patient(robot())
        .tool_ends("camera.look", unreachable())
        .tool_ends("camera.look", unreachable())
        .tool_ends("camera.look", unreachable())
        .model_calls(&[("camera-look", json!({})), go("kitchen")])
        .model_says("EXECUTE")
        .start();
    story.give_at(1, Input::Tick);
    story.give_at(3, Input::Tick);
    assert_eq!(story.invoked.len(), 3);
    story.reply(says("The camera is away."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    let story = patient(robot())
        .tool_ends("base.go_to", unreachable())
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE")
        .model_says("The base is away.")
        .start();
    assert_eq!((story.invoked.len(), story.ends().0), (1, MissionStatus::Failed));
}

#[test]
fn a_cancel_in_the_pause_before_a_further_try_ends_the_mission() {
    let mut story = patient(robot()).tool_ends("camera.look", unreachable()).model_calls(&[go("kitchen")]);
    story = story.start();
    story.reply(says("ABORT"));
    story.reply(calls(&[("camera-look", json!({})), go("kitchen")]));
    story.reply(says("EXECUTE"));
    story.give(Input::Cancel { reason: CancelReason::Stop });
    assert_eq!(story.ends().0, MissionStatus::Cancelled);
    assert_eq!(story.invoked.len(), 1);
}

#[test]
fn a_try_that_must_wait_for_what_another_step_holds_does_not_keep_the_machine_awake() {
    let mut tools = robot();
    for spec in tools.iter_mut().filter(|spec| spec.name.as_str() != "speaker.say") {
        spec.resources = vec!["robot".into()];
    }
    let mut story = patient(tools)
        .tool_ends("camera.look", unreachable())
        .tool_waits("base.go_to")
        .model_calls(&[("camera-look", json!({})), ("base-go_to", json!({"place": "kitchen", "after": []}))])
        .model_says("EXECUTE")
        .model_says("EXECUTE")
        .start();
    story.give_at(1, Input::Tick);
    assert_eq!(story.invoked_tools(), ["camera.look", "base.go_to"], "the robot is taken");
    assert!(story.mission.next_wake().unwrap() > story.now);
    story.end_call(1, ToolOutcome::success(Value::Null));
    assert_eq!(story.invoked_tools()[2], "camera.look");
}

/// What may go on may have begun after the model was asked.
#[test]
fn a_fixed_call_was_begun_on_top_of_one_that_did_not_halt() {
    let arms = (1..=2).map(|number| tool(&format!("arm_{number}.wave"), ToolPhase::Execution, ToolEffect::Move));
    let plan = [("arm_1-wave", json!({"after": []})), ("arm_2-wave", json!({"after": []}))];
    let mut story = Story::with("wave", arms.collect(), |limits| {
        limits.max_corrections = 1;
        limits.confirmation_arguments = ConfirmationArguments::Any;
        limits.on_failure = OnFailure::Continue;
    })
    .tool_waits("arm_1.wave")
    .tool_waits("arm_2.wave")
    .model_calls(&plan)
    .model_says("EXECUTE")
    .model_says("EXECUTE")
    .start();
    story.end_call(0, ToolOutcome::failure(FailureKind::Reported, "too fast"));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Correct));
    story.end_call(1, ToolOutcome::failure(FailureKind::Timeout, "no answer").with_halt(HaltState::Unconfirmed));
    assert_eq!(story.abandoned.len(), 1, "nothing is asked that could begin something");
    assert_eq!(story.invoked.len(), 2);
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert_eq!(story.statuses(), [StepStatus::Failed, StepStatus::Failed]);
}

#[test]
fn a_fixed_call_was_begun_although_a_later_step_of_the_plan_had_lost_its_component() {
    let mut story = Story::with("go and speak", robot(), |limits| {
        limits.max_corrections = 1;
        limits.confirmation_arguments = ConfirmationArguments::Any;
        limits.component_grace = Duration::from_secs(10);
    })
    .tool_fails("base.go_to", "closed")
    .model_calls(&[go("kitchen"), ("speaker-say", json!({"text": "here"}))])
    .model_says("EXECUTE")
    .start();
    assert_eq!(purposes(&story).last(), Some(&Purpose::Correct));
    let left = robot().into_iter().filter(|spec| spec.name.as_str() != "speaker.say");
    story.give_at(1, Input::ToolsChanged { tools: ToolSet::new(left).0 });
    story.reply(calls(&[go("bedroom")]));
    assert_eq!(story.invoked.len(), 1, "nothing of the plan begins while it can't be carried out");
    story.give_at(2, Input::ToolsChanged { tools: ToolSet::new(robot()).0 });
    assert_eq!(purposes(&story).last(), Some(&Purpose::Correct), "then it is asked again");
    story.reply(calls(&[go("bedroom")]));
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked.len(), 2);
}

#[test]
fn the_outcome_of_a_move_was_lost_when_a_meter_fell_silent_while_it_was_fixed() {
    let mut story = Story::with("go", robot(), |limits| {
        limits.max_corrections = 1;
        limits.confirmation_arguments = ConfirmationArguments::Any;
        limits.max_metres = Some(10.0);
    })
    .tool_fails("base.go_to", "closed")
    .model_calls(&[go("kitchen")])
    .model_says("EXECUTE");
    let metered = |is_live| Input::Metered { expense: cortex_protocol::mission::Expense::Metres, total: 1.0, is_live };
    story.give(metered(true));
    let mut story = story.start();
    story.give(metered(false));
    if story.results.is_empty() {
        story.reply(calls(&[go("bedroom")]));
    }
    assert_eq!(story.invoked.len(), 1);
    assert_eq!(story.statuses(), [StepStatus::Failed]);
    assert_eq!(story.result().steps[0].outcome.as_ref().unwrap().message, "closed");
}

/// `go_to(kitchen)` failed with "closed, use the cellar", and the correction's `go_to(bedroom)` drove at once.
#[test]
fn regression_a_correction_of_what_was_planned_moved_the_robot_without_a_confirmation() {
    let one_correction = |limits: &mut MissionLimits| limits.max_corrections = 1;
    let story = Story::with("go to the kitchen", robot(), one_correction)
        .tool_fails("base.go_to", "closed, use the bedroom")
        .model_calls(&[go("kitchen")])
        .model_says("EXECUTE")
        .model_calls(&[go("bedroom")])
        .model_says("ABORT")
        .model_says("It is closed.")
        .start();
    assert_eq!(story.invoked.len(), 1, "{:#?}", story.lines);
    assert_eq!(purposes(&story)[2], Purpose::Plan, "where nothing is open, the mission plans anew");
    assert!(text_of(&story.requests[2]).contains("closed, use the bedroom"), "with the error");
    assert_eq!(story.ends().0, MissionStatus::Failed);
}

fn say(text: &str) -> (&'static str, Value) {
    ("speaker-say", json!({"text": text}))
}

fn with_one_correction(confirmation_arguments: ConfirmationArguments) -> Story {
    Story::with("say what you see", robot(), |limits| {
        limits.max_corrections = 1;
        limits.confirmation_arguments = confirmation_arguments;
    })
    .tool_fails("speaker.say", "too long")
    .model_calls(&[say("<what I see>")])
    .model_calls(&[say("a very long story")])
}

#[test]
fn what_the_plan_left_open_may_be_corrected_as_it_may_be_confirmed() {
    let story = with_one_correction(ConfirmationArguments::AsPlanned).model_calls(&[say("a cup")]).start();
    assert_eq!(story.invoked.len(), 2);
    assert!(
        text_of(&story.requests[2]).contains("You may change only those that held <...> in the plan"),
        "{}",
        text_of(&story.requests[2])
    );
}

#[test]
fn words_beside_a_correction_are_not_read_and_it_is_confirmed_anew() {
    let worded = || ChatReply { text: "No, stop this at once.".into(), ..calls(&[say("a cup")]) };
    let mut story = with_one_correction(ConfirmationArguments::AsPlanned).model(worded()).start();
    assert_eq!((story.invoked.len(), purposes(&story).last()), (1, Some(&Purpose::Confirm)));
    story.reply(says("ABORT"));
    assert_eq!((story.invoked.len(), story.statuses_so_far()), (1, vec![StepStatus::Failed]));
    let mut story = with_one_correction(ConfirmationArguments::AsPlanned).model(worded()).start();
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked[1].1.arguments, *json!({"text": "a cup"}).as_object().unwrap());
}

#[test]
fn other_arguments_are_confirmed_anew_with_the_error_and_as_they_would_run() {
    let mut story = with_one_correction(ConfirmationArguments::Any).model_calls(&[say("a cup")]).start();
    assert_eq!((story.invoked.len(), purposes(&story).last()), (1, Some(&Purpose::Confirm)));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("Step 1.1 (plan 1 has 1): speaker-say {\"text\":\"a cup\"}"), "{asked}");
    assert!(asked.contains("was tried with other arguments and failed: \"too long\""), "{asked}");
    story.reply(says("SKIP no longer needed"));
    assert_eq!(story.statuses_so_far(), [StepStatus::Failed], "what was tried and failed is no step that was skipped");
    assert_eq!(story.invoked.len(), 1);
}

/// It waited for minutes for what others held, and then drove on a decision about a state that was over.
#[test]
fn regression_a_move_that_waited_long_ran_on_its_old_confirmation() {
    let expired = || ToolOutcome::failure(FailureKind::Expired, "it waited 40 s for the base");
    let mut story = Story::of("go, then speak")
        .tool_ends("base.go_to", expired())
        .model_calls(&[go("kitchen"), say("here")])
        .model_says("EXECUTE")
        .start();
    assert_eq!((story.invoked.len(), purposes(&story).last()), (1, Some(&Purpose::Confirm)));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("confirmed, but not begun: \"it waited 40 s for the base\""), "{asked}");
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["base.go_to", "base.go_to"], "the same step, and no failure");
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);

    let mut story = Story::of("go").model_calls(&[go("kitchen")]).tool_ends("base.go_to", expired()).start();
    story.reply(says("EXECUTE"));
    story.reply(says("SKIP somebody else went"));
    assert_eq!(story.statuses_so_far(), [StepStatus::Skipped], "it never began");
}

#[test]
fn a_step_that_waits_again_and_again_is_confirmed_so_often_and_then_fails() {
    let expired = || ToolOutcome::failure(FailureKind::Expired, "it waited 40 s for the base");
    let mut story = Story::with("go", robot(), |limits| limits.max_confirmations_per_step = 3);
    for _ in 0..9 {
        story = story.tool_ends("base.go_to", expired());
    }
    let mut story = story.model_calls(&[go("kitchen")]).start();
    for _ in 0..9 {
        if purposes(&story).last() == Some(&Purpose::Confirm) {
            story.reply(says("EXECUTE"));
        }
    }
    assert_eq!((story.invoked.len(), purposes(&story).last()), (4, Some(&Purpose::Plan)));
}
