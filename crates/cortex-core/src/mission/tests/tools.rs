//! Tests of the tools on offer: robots with many, tools that change, goals that go on.

use cortex_protocol::{HaltState, MissionEvent, StepStatus};

use super::*;

fn go() -> (&'static str, Value) {
    ("base-go_to", json!({"place": "kitchen"}))
}

fn described_anew(tool: &str) -> ToolSet {
    let changed = robot().into_iter().map(|mut spec| {
        if spec.name.as_str() == tool {
            spec.description = "Does something else now.".to_owned();
        }
        spec
    });
    ToolSet::new(changed).0
}

fn offered(chat: &ChatRequest) -> Vec<&str> {
    chat.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// A robot with five hundred motors and one lamp.
fn large_robot() -> Vec<ToolSpec> {
    let motors = (0..500).map(|number| {
        tool(&format!("send_request_to_motor_{number:03}/calibrate"), ToolPhase::Execution, ToolEffect::Move)
    });
    let mut lamp = tool("send_request_to_lamp/switch", ToolPhase::Execution, ToolEffect::Act);
    lamp.description = "Switches the light.".to_owned();
    let mut gripper = tool("send_request_to_wrist/open", ToolPhase::Execution, ToolEffect::Move);
    gripper.description = "Opens the fingers of the gripper.".to_owned();
    motors.chain([lamp, gripper]).collect()
}

fn with_few_tools(task: &str) -> Story {
    Story::with(task, large_robot(), |limits| limits.max_offered_tools = 5)
}

#[test]
fn a_tool_that_changed_since_the_plan_is_not_called_with_the_old_arguments() {
    let mut story = Story::of("go and speak")
        .model_calls(&[go(), ("speaker-say", json!({"text": "hello"}))])
        .model_says("EXECUTE")
        .tool_waits("base.go_to")
        .start();
    story.give(Input::ToolsChanged { tools: described_anew("speaker.say") });
    story.end_call(0, ToolOutcome::success(Value::Null));
    assert_eq!(story.invoked_tools(), ["base.go_to"]);
    let report = &ledger_of(&story.requests[2])[1];
    assert_eq!(report.outcome.as_ref().unwrap().status, cortex_protocol::OutcomeStatus::Failed(FailureKind::Changed));
    story.reply(calls(&[("speaker-say", json!({"text": "hello"}))]));
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded, "planned anew for the tool as it is now");
}

#[test]
fn a_tool_that_changes_while_its_step_is_being_confirmed_is_not_called() {
    let mut story = Story::of("go").model_calls(&[go()]).start();
    story.give(Input::ToolsChanged { tools: described_anew("base.go_to") });
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked, []);
    assert!(story.lines.iter().any(|line| line.contains("has changed since the plan was made")), "{:?}", story.lines);
}

#[test]
fn a_tool_that_changes_while_the_plan_is_being_made_is_shown_again_first() {
    let mut story = Story::of("go").start();
    story.give(Input::ToolsChanged { tools: described_anew("base.go_to") });
    story.reply(calls(&[go()]));
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Plan]);
    assert!(text_of(&story.requests[1]).contains("it has changed while you were asked"));
    story.reply(calls(&[go()]));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
}

#[test]
fn a_change_that_is_undone_before_the_step_changes_nothing() {
    let mut story = Story::of("go").model_calls(&[go()]).start();
    story.give(Input::ToolsChanged { tools: described_anew("base.go_to") });
    story.give(Input::ToolsChanged { tools: ToolSet::new(robot()).0 });
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["base.go_to"]);
}

#[test]
fn of_many_tools_those_that_the_task_needs_are_offered_and_the_rest_is_recorded() {
    let story = with_few_tools("switch the light on").start();
    let names = offered(&story.requests[0]);
    assert_eq!(names.len(), 5 + 4, "with the four built-in tools: {names:?}");
    assert!(names.contains(&"send_request_to_lamp-switch") && names.contains(&FIND_TOOLS), "{names:?}");
    assert!(story.lines.contains(&"offering 5 of 502 tools".to_owned()), "{:?}", story.lines);
}

#[test]
fn a_tool_that_was_left_out_is_found_and_used() {
    let mut story = with_few_tools("switch the light on and let go of the cup").start();
    assert!(!offered(&story.requests[0]).contains(&"send_request_to_wrist-open"));
    story.reply(calls(&[(FIND_TOOLS, json!({"query": "open the fingers of the gripper"}))]));
    assert!(offered(&story.requests[1]).contains(&"send_request_to_wrist-open"));
    assert!(text_of(&story.requests[1]).contains("added_to_your_tools"));
    story.reply(calls(&[("send_request_to_wrist-open", json!({}))]));
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
    assert_eq!(story.invoked_tools(), ["send_request_to_wrist/open"]);
}

#[test]
fn a_plan_beside_a_search_waits_for_nothing_else() {
    let mut story = with_few_tools("switch the light on").start();
    let both = [(FIND_TOOLS, json!({"query": "gripper"})), ("send_request_to_lamp-switch", json!({}))];
    story.reply(calls(&both));
    assert_eq!(purposes(&story), [Purpose::Plan, Purpose::Confirm]);
}

#[test]
fn a_tool_that_the_model_was_never_shown_is_shown_before_it_can_be_called() {
    let mut story = with_few_tools("switch the light on").start();
    story.reply(calls(&[("send_request_to_motor_444-calibrate", json!({}))]));
    assert_eq!(story.invoked, []);
    assert!(text_of(&story.requests[1]).contains("it was not among your tools"));
    assert!(offered(&story.requests[1]).contains(&"send_request_to_motor_444-calibrate"));
}

#[test]
fn a_search_without_words_is_a_mistake_and_one_without_a_need_is_no_tool() {
    let mut story = with_few_tools("switch the light on").start();
    story.reply(calls(&[(FIND_TOOLS, json!({"words": 3}))]));
    assert!(text_of(&story.requests[1]).contains("'query' must say"));
    let mut small = Story::of("go").start();
    assert!(!offered(&small.requests[0]).contains(&FIND_TOOLS));
    small.reply(calls(&[(FIND_TOOLS, json!({"query": "go"}))]));
    assert!(text_of(&small.requests[1]).contains("there is no tool of this name"));
}

#[test]
fn a_goal_that_is_rejected_fails_its_step_at_once() {
    let mut story = Story::of("dock").tool_waits("base.dock").model_calls(&[("base-dock", json!({}))]).start();
    story.reply(says("EXECUTE"));
    story.end_call(0, ToolOutcome::failure(FailureKind::Reported, "the goal was rejected"));
    story.reply(says("It can't dock."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert_eq!(story.statuses(), [StepStatus::Failed]);
}

#[test]
fn the_next_confirmation_shows_each_goal_in_flight_with_its_step() {
    let mut story = Story::of("dock twice, then speak")
        .tool_waits("base.dock")
        .model_calls(&[("base-dock", json!({})), ("base-dock", json!({})), ("speaker-say", json!({"text": "x"}))])
        .model_says("EXECUTE")
        .start();
    story.give(Input::CallAccepted { call: story.invoked[0].0 });
    story.reply(says("EXECUTE"));
    story.give(Input::CallAccepted { call: story.invoked[1].0 });
    story.give_at(3, Input::CallProgressed { call: story.invoked[1].0, feedback: "half way".into() });
    story.reply(says("CONTINUE"));
    story.end_call(0, ToolOutcome::success(json!({"docked_at": "east"})));
    let asked = text_of(story.requests.last().unwrap());
    assert!(asked.contains("- 1.2 base-dock, running for 3 s, latest feedback: \"half way\""), "{asked}");
    assert!(asked.contains("- 1.1 base-dock: SUCCESS: \"east\""), "{asked}");
    assert!(asked.contains("- 1.2 base-dock: RUNNING"), "{asked}");
}

#[test]
fn continue_ends_when_a_goal_stalls_and_once_for_each_stall() {
    let mut story = Story::of("dock, then speak")
        .tool_waits("base.dock")
        .model_calls(&[("base-dock", json!({})), ("speaker-say", json!({"text": "x"}))])
        .model_says("EXECUTE")
        .start();
    let call = story.invoked[0].0;
    story.give(Input::CallAccepted { call });
    story.give_at(1, Input::CallProgressed { call, feedback: "half way".into() });
    story.reply(says("CONTINUE"));
    let asked = story.requests.len();
    story.give_at(10, Input::Tick);
    assert_eq!(story.requests.len(), asked);
    story.give_at(11, Input::Tick);
    assert_eq!(story.requests.len(), asked + 1);
    assert!(text_of(story.requests.last().unwrap()).contains("[no new feedback for 10 s]"));
    story.reply(says("CONTINUE"));
    story.give_at(40, Input::Tick);
    assert_eq!(story.requests.len(), asked + 1, "it is known");
    assert!(story.mission.next_wake().unwrap() > story.now);
}

#[test]
fn each_goal_is_told_as_stopped_refused_or_unknown() {
    let mut story = Story::of("dock three times")
        .tool_waits("base.dock")
        .model_calls(&[("base-dock", json!({})), ("base-dock", json!({})), ("base-dock", json!({}))])
        .start();
    for index in 0..3 {
        story.reply(says("EXECUTE"));
        story.give(Input::CallAccepted { call: story.invoked[index].0 });
    }
    story.give(Input::Cancel { reason: CancelReason::Stop });
    assert_eq!(story.cancelled.len(), 3);
    for (index, halt) in [HaltState::Halted, HaltState::Refused, HaltState::Unconfirmed].into_iter().enumerate() {
        story.end_call(index, ToolOutcome::cancelled(halt, "it was cancelled"));
    }
    for line in [
        "base.dock (step 1) has halted",
        "WARNING: base.dock (step 2) refuses to halt",
        "WARNING: base.dock (step 3) did not confirm that it halted",
    ] {
        assert!(story.lines.iter().any(|told| told == line), "{line}: {:#?}", story.lines);
    }
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Cancelled);
    assert!(output.contains("base.dock refused to halt") && output.contains("base.dock did not confirm"), "{output}");
    assert_eq!(story.result().not_stopped, ["base.dock".into()]);
}

#[test]
fn a_halt_on_the_wire_names_its_call() {
    let event = MissionEvent::Halted {
        call: CallId(3),
        step: Some(StepNumber(2)),
        tool: "base.dock".into(),
        state: HaltState::Refused,
    };
    let written = serde_json::to_value(&event).unwrap();
    assert_eq!(written, json!({"kind": "halted", "call": 3, "step": 2, "tool": "base.dock", "state": "refused"}));
}
