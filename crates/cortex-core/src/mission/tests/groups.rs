//! Tests of groups, of priorities, and of plans that go on after a failure.

use cortex_protocol::{HaltState, StepStatus};

use super::*;

/// Five arms, of which none needs what another holds, and a base that drives in the background.
fn arms() -> Vec<ToolSpec> {
    let mut drive = tool("base.drive", ToolPhase::Execution, ToolEffect::Move);
    drive.dispatch = Dispatch::Background;
    let arms = (1..=5).map(|number| tool(&format!("arm_{number}.wave"), ToolPhase::Execution, ToolEffect::Move));
    arms.chain([drive]).collect()
}

fn wave(number: u32) -> (String, Value) {
    (format!("arm_{number}-wave"), json!({}))
}

fn drive() -> (String, Value) {
    ("base-drive".to_owned(), json!({}))
}

/// Steps and how they are arranged. All tools end only when the test says so, and every step is confirmed.
fn story(steps: &[(String, Value)], step_groups: Value, bounds: impl FnOnce(&mut MissionLimits)) -> Story {
    let mut plan: Vec<(&str, Value)> =
        steps.iter().map(|(name, arguments)| (name.as_str(), arguments.clone())).collect();
    plan.push((ARRANGE_TOOL, step_groups));
    let story = Story::with("work", arms(), bounds).model_calls(&plan);
    arms().iter().fold(story, |story, spec| story.tool_waits(spec.name.as_str())).start()
}

/// Says EXECUTE as long as the model is asked about steps.
fn execute_all(story: &mut Story) {
    while purposes(story).last() == Some(&Purpose::Confirm) && story.is_asking() {
        story.reply(says("EXECUTE"));
    }
}

fn arms_waved(story: &Story) -> Vec<&str> {
    story.invoked_tools().into_iter().map(|tool| tool.trim_end_matches(".wave")).collect()
}

fn done() -> ToolOutcome {
    ToolOutcome::success(Value::Null)
}

fn broken() -> ToolOutcome {
    ToolOutcome::failure(FailureKind::Reported, "broken")
}

#[test]
fn a_parallel_group_runs_together_within_its_bound_and_is_a_barrier() {
    let steps = [wave(1), wave(2), wave(3), wave(4)];
    let mut story = story(&steps, json!({"groups": [{"name": "three", "steps": [1, 2, 3], "at_once": 2}]}), |_| {});
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1", "arm_2"]);
    story.end_call(1, done());
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1", "arm_2", "arm_3"]);
    story.end_call(2, done());
    assert_eq!(story.invoked.len(), 3, "the fourth waits for the whole group");
    story.end_call(0, done());
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1", "arm_2", "arm_3", "arm_4"]);
    assert!(story.lines.iter().any(|line| line.contains("group three, 2 at a time: 1, 2, 3")), "{:#?}", story.lines);
}

#[test]
fn a_sequential_group_runs_beside_another_one() {
    let groups = json!({"groups": [
        {"name": "left", "steps": [1, 2]},
        {"name": "right", "steps": [3, 4], "after": []},
        {"name": "both", "steps": [5], "after": ["left", "right"]},
    ]});
    let mut story = story(&[wave(1), wave(2), wave(3), wave(4), wave(5)], groups, |_| {});
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1", "arm_3"]);
    story.end_call(0, done());
    execute_all(&mut story);
    story.end_call(1, done());
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1", "arm_3", "arm_2", "arm_4"]);
    story.end_call(2, done());
    assert_eq!(story.invoked.len(), 4);
    story.end_call(3, done());
    execute_all(&mut story);
    assert_eq!(arms_waved(&story).last(), Some(&"arm_5"));
}

#[test]
fn a_barrier_waits_for_the_end_of_a_goal_and_not_for_its_acceptance() {
    let mut story = story(&[drive(), wave(1)], json!({"groups": [{"name": "way", "steps": [1]}]}), |_| {});
    execute_all(&mut story);
    story.give(Input::CallAccepted { call: story.invoked[0].0 });
    execute_all(&mut story);
    assert_eq!(story.invoked_tools(), ["base.drive"]);
    story.end_call(0, done());
    execute_all(&mut story);
    assert_eq!(story.invoked_tools(), ["base.drive", "arm_1.wave"]);
}

#[test]
fn groups_that_wait_for_each_other_are_told_to_the_model_and_nothing_begins() {
    let groups = json!({"groups": [
        {"name": "a", "steps": [1], "after": ["b"]},
        {"name": "b", "steps": [2], "after": ["a"]},
    ]});
    let story = story(&[wave(1), wave(2)], groups, |_| {});
    assert_eq!((story.invoked.len(), purposes(&story)), (0, vec![Purpose::Plan, Purpose::Plan]));
    assert!(text_of(&story.requests[1]).contains("steps 1, 2 wait for each other (groups 'a', 'b')"));
}

#[test]
fn an_arrangement_of_nothing_and_a_second_one_are_mistakes() {
    let mut story = Story::with("work", arms(), |_| {}).model_calls(&[(ARRANGE_TOOL, json!({"critical": []}))]).start();
    assert!(text_of(&story.requests[1]).contains("it arranges the steps of the same reply, and there are none"));
    let twice = [("arm_1-wave", json!({})), (ARRANGE_TOOL, json!({})), (ARRANGE_TOOL, json!({}))];
    story.reply(calls(&twice));
    assert!(text_of(&story.requests[2]).contains("one call of it arranges the whole plan"));
    story.reply(calls(&[("arm_1-wave", json!({})), (ARRANGE_TOOL, json!({"low": [2]}))]));
    assert!(text_of(&story.requests[3]).contains("step 2 is arranged, but is not in the plan"));
    assert_eq!(story.invoked, []);
}

#[test]
fn what_matters_more_begins_first_among_what_may_begin() {
    let free = |number: u32| (format!("arm_{number}-wave"), json!({"after": []}));
    let step_groups = json!({"low": [1], "high": [3], "critical": [5]});
    let steps = [free(1), free(2), free(3), free(4), free(5)];
    let mut story = story(&steps, step_groups, |_| {});
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_5", "arm_3", "arm_2", "arm_4", "arm_1"]);
}

#[test]
fn what_matters_more_still_waits_for_what_it_needs() {
    let mut story = story(&[wave(1), wave(2)], json!({"critical": [2], "low": [1]}), |_| {});
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1"]);
}

fn goes_on(limits: &mut MissionLimits) {
    limits.on_failure = OnFailure::Continue;
}

#[test]
fn after_a_failure_the_rest_goes_on_and_what_waits_for_it_is_blocked() {
    let groups = json!({"groups": [{"name": "all", "steps": [1, 2], "at_once": 1}]});
    let mut story = story(&[wave(1), wave(2), wave(3)], groups, goes_on);
    execute_all(&mut story);
    story.end_call(0, broken());
    execute_all(&mut story);
    assert_eq!(arms_waved(&story), ["arm_1", "arm_2"], "its group goes on");
    story.end_call(1, done());
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("Plan 1 ended early because 1.1 failed."), "{asked}");
    assert!(asked.contains("NOT RUN: \"step 1 was not done\""), "{asked}");
    story.reply(says("Two did not wave."));
    assert_eq!(story.ends().0, MissionStatus::Failed, "never a success while something is open");
    assert_eq!(story.statuses(), [StepStatus::Failed, StepStatus::Success, StepStatus::Blocked]);
}

#[test]
fn steps_in_the_models_own_order_do_not_go_on_past_a_failure() {
    let mut story = story(&[wave(1), wave(2), wave(3)], json!({}), goes_on);
    execute_all(&mut story);
    story.end_call(0, broken());
    assert_eq!(arms_waved(&story), ["arm_1"]);
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

#[test]
fn a_failure_leaves_what_runs_beside_it_alone_and_what_is_missing_can_be_done_later() {
    let groups = json!({"groups": [{"name": "all", "steps": [1, 2], "at_once": 2}]});
    let mut story = story(&[wave(1), wave(2)], groups, goes_on);
    execute_all(&mut story);
    story.end_call(0, broken());
    assert_eq!(story.cancelled, [], "the other arm goes on waving");
    story.end_call(1, done());
    story.reply(calls(&[("arm_1-wave", json!({}))]));
    execute_all(&mut story);
    story.end_call(2, done());
    story.reply(says("Both waved."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn a_critical_step_ends_the_plan_in_any_case() {
    let step_groups = json!({"groups": [{"name": "all", "steps": [1, 2], "at_once": 2}], "critical": [1]});
    let mut story = story(&[wave(1), wave(2)], step_groups, goes_on);
    execute_all(&mut story);
    story.end_call(0, broken());
    assert_eq!(story.cancelled, [story.invoked[1].0]);
    story.end_call(1, ToolOutcome::cancelled(HaltState::Halted, "halted"));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

#[test]
fn a_step_that_only_came_after_a_goal_is_not_begun_once_the_goal_has_failed() {
    let mut story = story(&[drive(), wave(1)], json!({"low": [2]}), goes_on);
    execute_all(&mut story);
    story.give(Input::CallAccepted { call: story.invoked[0].0 });
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
    story.end_call(0, broken());
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["base.drive"], "nothing is waved where the robot has not arrived");
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

#[test]
fn what_may_still_move_ends_the_plan_in_any_case() {
    let groups = json!({"groups": [{"name": "all", "steps": [1, 2], "at_once": 1}]});
    let mut story = story(&[wave(1), wave(2)], groups, goes_on);
    execute_all(&mut story);
    story.end_call(0, broken().with_halt(HaltState::Unconfirmed));
    assert_eq!((story.ends().0, story.invoked.len()), (MissionStatus::Failed, 1));
}
