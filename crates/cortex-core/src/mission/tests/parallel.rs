//! Tests of steps that run together, and of steps that must not.

use cortex_protocol::{HaltState, StepStatus};

use super::*;

/// A base, two arms that are used by three tools, and a camera that two tools read.
fn workshop() -> Vec<ToolSpec> {
    let holding = |name: &str, effect, resources: &[&str]| {
        let mut spec = tool(name, ToolPhase::Execution, effect);
        spec.resources = resources.iter().map(|resource| (*resource).into()).collect();
        spec
    };
    let mut patrol = holding("base.patrol", ToolEffect::Move, &["base"]);
    patrol.dispatch = Dispatch::Background;
    vec![
        patrol,
        holding("base.turn", ToolEffect::Move, &["base"]),
        holding("left.wave", ToolEffect::Move, &["left"]),
        holding("right.wave", ToolEffect::Move, &["right"]),
        holding("arms.clap", ToolEffect::Move, &["left", "right"]),
        holding("camera.look", ToolEffect::Observe, &["camera:read"]),
        holding("camera.count", ToolEffect::Observe, &["camera:read"]),
        holding("camera.focus", ToolEffect::Act, &["camera"]),
    ]
}

/// All tools end only when the test says so.
fn story(calls: &[(&str, Value)]) -> Story {
    let story = Story::with("work", workshop(), |_| {}).model_calls(calls);
    workshop().iter().fold(story, |story, spec| story.tool_waits(spec.name.as_str())).start()
}

fn free(name: &str) -> (&str, Value) {
    (name, json!({"after": []}))
}

fn executes(story: &mut Story, times: usize) {
    (0..times).for_each(|_| story.reply(says("EXECUTE")));
}

fn done() -> ToolOutcome {
    ToolOutcome::success(Value::Null)
}

#[test]
fn steps_that_nothing_orders_run_together() {
    let mut story = story(&[free("left-wave"), free("right-wave"), free("base-turn")]);
    executes(&mut story, 3);
    assert_eq!(story.invoked_tools(), ["left.wave", "right.wave", "base.turn"]);
    story.end_call(2, done());
    story.end_call(0, done());
    assert_eq!(story.results.len(), 0);
    story.end_call(1, done());
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn steps_run_one_after_another_unless_the_model_says_otherwise() {
    let mut story = story(&[("left-wave", json!({})), ("right-wave", json!({}))]);
    executes(&mut story, 1);
    assert_eq!(story.invoked_tools(), ["left.wave"]);
    assert_eq!(purposes(&story).len(), 2, "nothing is asked about the second before the first has ended");
}

#[test]
fn two_steps_that_need_one_thing_never_run_together_and_the_conflict_is_told() {
    let mut story = story(&[free("left-wave"), free("arms-clap"), free("base-turn")]);
    executes(&mut story, 2);
    assert_eq!(story.invoked_tools(), ["left.wave", "base.turn"], "what does not collide goes on");
    assert!(story.lines.contains(&"step 2 arms.clap waits: left is held by step 1".to_owned()), "{:#?}", story.lines);
    story.end_call(1, done());
    assert_eq!(story.invoked.len(), 2);
    story.end_call(0, done());
    executes(&mut story, 1);
    assert_eq!(story.invoked_tools()[2], "arms.clap");
    let told = story.lines.iter().filter(|line| line.contains("waits:")).count();
    assert_eq!(told, 1, "once");
}

#[test]
fn a_goal_in_the_background_holds_what_it_holds_until_it_ends() {
    let mut story = story(&[("base-patrol", json!({})), ("base-turn", json!({}))]);
    executes(&mut story, 1);
    story.give(Input::CallAccepted { call: story.invoked[0].0 });
    assert_eq!(purposes(&story).len(), 2, "the base is taken");
    story.end_call(0, done());
    executes(&mut story, 1);
    assert_eq!(story.invoked_tools(), ["base.patrol", "base.turn"]);
}

#[test]
fn readers_share_and_a_writer_waits() {
    let mut story = story(&[free("camera-look"), free("camera-count"), free("camera-focus")]);
    executes(&mut story, 2);
    assert_eq!(story.invoked_tools(), ["camera.look", "camera.count"]);
    story.end_call(0, done());
    assert_eq!(story.invoked.len(), 2);
    story.end_call(1, done());
    executes(&mut story, 1);
    assert_eq!(story.invoked_tools()[2], "camera.focus");
}

#[test]
fn a_barrier_waits_for_all_that_it_names() {
    let clap = ("arms-clap", json!({"after": [1, 2]}));
    let mut story = story(&[free("base-turn"), free("camera-look"), clap]);
    executes(&mut story, 2);
    story.end_call(1, done());
    assert_eq!(story.invoked.len(), 2);
    story.end_call(0, done());
    executes(&mut story, 1);
    assert_eq!(story.invoked_tools()[2], "arms.clap");
}

#[test]
fn a_failure_halts_what_runs_beside_it_and_begins_nothing_more() {
    let mut story = story(&[free("left-wave"), free("right-wave"), ("base-turn", json!({}))]);
    executes(&mut story, 2);
    story.end_call(0, ToolOutcome::failure(FailureKind::Reported, "stuck"));
    assert_eq!(story.cancelled, [story.invoked[1].0]);
    story.end_call(1, ToolOutcome::cancelled(HaltState::Halted, "halted"));
    story.reply(says("The left arm is stuck."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert_eq!(story.statuses(), [StepStatus::Failed, StepStatus::Failed, StepStatus::Blocked]);
}

#[test]
fn regression_a_goal_that_fails_while_the_next_step_is_confirmed_ends_the_plan() {
    let mut story = story(&[free("left-wave"), free("right-wave")]);
    executes(&mut story, 1);
    story.end_call(0, ToolOutcome::failure(FailureKind::Reported, "stuck"));
    assert_eq!(story.abandoned.len(), 1, "the model was being asked as if everything went well");
    assert_eq!(story.invoked.len(), 1);
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

#[test]
fn no_more_steps_than_allowed_run_at_a_time() {
    let calls = [free("left-wave"), free("right-wave"), free("base-turn")];
    let story = Story::with("work", workshop(), |limits| limits.max_parallel_steps = 2).model_calls(&calls);
    let mut story = workshop().iter().fold(story, |story, spec| story.tool_waits(spec.name.as_str())).start();
    executes(&mut story, 2);
    assert_eq!(purposes(&story).len(), 3);
    story.end_call(0, done());
    executes(&mut story, 1);
    assert_eq!(story.invoked.len(), 3);
}

/// An arm, a camera and a base that drives in the background.
fn porter() -> Vec<ToolSpec> {
    let mut drive = tool("base.drive", ToolPhase::Execution, ToolEffect::Move);
    drive.dispatch = Dispatch::Background;
    vec![
        drive,
        tool("arm.wave", ToolPhase::Execution, ToolEffect::Move),
        tool("arm.drop", ToolPhase::Execution, ToolEffect::Move),
        tool("camera.look", ToolPhase::Execution, ToolEffect::Observe),
    ]
}

/// The porter with corrections and retries allowed, all tools held.
fn patient_porter(calls: &[(&str, Value)]) -> Story {
    let story = Story::with("work", porter(), |limits| {
        limits.max_corrections = 1;
        limits.max_retries = 2;
        limits.confirmation_arguments = ConfirmationArguments::Any;
    });
    porter().iter().fold(story.model_calls(calls), |story, spec| story.tool_waits(spec.name.as_str())).start()
}

#[test]
fn regression_a_failure_that_comes_while_a_plan_is_ending_is_not_tried_again_in_the_next_one() {
    let mut story = patient_porter(&[free("arm-wave"), free("camera-look")]);
    executes(&mut story, 2);
    story.end_call(0, ToolOutcome::failure(FailureKind::ComponentLost, "jammed"));
    story.end_call(1, ToolOutcome::failure(FailureKind::Timeout, "nothing was published"));
    story.now += Duration::from_secs(3);
    story.reply(calls(&[("camera-look", json!({})), ("arm-drop", json!({}))]));
    assert_eq!(story.invoked_tools(), ["arm.wave", "camera.look"], "nothing runs before it was confirmed");
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
    story.reply(says("ABORT"));
    story.reply(says("It is jammed."));
    assert_eq!(story.statuses()[..2], [StepStatus::Failed, StepStatus::Failed]);
}

#[test]
fn regression_a_confirmation_that_was_asked_before_a_goal_failed_starts_nothing() {
    let mut story = patient_porter(&[("base-drive", json!({})), ("arm-drop", json!({}))]);
    executes(&mut story, 1);
    story.give(Input::CallAccepted { call: story.invoked[0].0 });
    story.end_call(0, ToolOutcome::failure(FailureKind::Reported, "the goal was aborted: lost"));
    assert_eq!(story.abandoned.len(), 1, "it was asked with the goal in flight");
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["base.drive"], "nothing is dropped where the robot has not arrived");
    assert_eq!(purposes(&story).last(), Some(&Purpose::Correct));
}
