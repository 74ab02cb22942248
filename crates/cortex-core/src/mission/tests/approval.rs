//! Approval by people: what asks, what counts as a yes, and what follows.

use cortex_protocol::question::{ApprovalScope, Subject};
use cortex_protocol::{Answer, EffectSource, Origin, PolicyVerdict, QuestionNumber, QuestionOutcome};

use super::*;
use crate::chat::{SecondOpinion, SecondVerdict};
use crate::condition::Verdict;
use crate::mission::{ConfirmationArguments, PolicySetup};
use crate::policy::{Policy, PolicySettings, RobotState};

/// A robot with an arm and a pump of which nobody has declared what they do, and a declared base and camera.
pub(super) fn laboratory() -> Vec<ToolSpec> {
    let undeclared =
        |name: &str| tool(name, ToolPhase::Execution, ToolEffect::Move).with_effect_source(EffectSource::Assumed);
    vec![
        undeclared("pump.run"),
        undeclared("arm.reach"),
        tool("base.go", ToolPhase::Execution, ToolEffect::Move),
        tool("camera.look", ToolPhase::Both, ToolEffect::Observe),
    ]
}

pub(super) fn under(rules: Value) -> PolicySetup {
    let rules = serde_json::from_value(rules).unwrap();
    let policy = Policy::new(PolicySettings { rules, ..PolicySettings::default() }).unwrap();
    PolicySetup { policy, ..PolicySetup::default() }
}

fn story() -> Story {
    Story::with("do it", laboratory(), |_| {})
}

fn approve() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once }
}

fn deny(reason: &str) -> Answer {
    Answer::Deny { reason: reason.to_owned() }
}

fn answered(number: u32, answer: Answer) -> Input {
    Input::Answered { number: QuestionNumber(number), answer, origin: Origin::new("cli", "test") }
}

fn steps_asked(story: &Story) -> Vec<(u32, String)> {
    match &story.questions.last().expect("a person was asked").subject {
        Subject::Plan { steps, .. } => steps.iter().map(|call| (call.step.0, call.tool.to_string())).collect(),
        Subject::Call { call, .. } => vec![(call.step.0, call.tool.to_string())],
        Subject::Choice { .. } => Vec::new(),
    }
}

#[test]
fn what_nobody_has_declared_is_asked_about_once_for_the_plan_before_the_model_confirms_it() {
    let plan = [("base-go", json!({})), ("pump-run", json!({"x": 5})), ("arm-reach", json!({"x": 1}))];
    let mut story = story().model_calls(&plan).model_says("EXECUTE").model_says("EXECUTE").model_says("EXECUTE");
    story.give(Input::Start);
    assert_eq!(story.requests.len(), 1, "no request to the model while a person is asked");
    assert!(story.invoked.is_empty(), "nothing that acts begins before the plan is approved");
    assert_eq!(steps_asked(&story), [(2, "pump.run".to_owned()), (3, "arm.reach".to_owned())]);
    assert_eq!(story.mission.next_wake(), Some(Duration::from_secs(120)));
    story.give(answered(1, approve()));
    assert_eq!(story.invoked_tools(), ["base.go", "pump.run", "arm.reach"]);
    assert_eq!(story.questions.len(), 1);
    assert_eq!(story.requests.len(), 5, "each step is confirmed by the model all the same");
}

fn doubted(made: &[(&str, Value)]) -> ChatReply {
    ChatReply { doubt: Some("reflex reads the task otherwise".to_owned()), ..calls(made) }
}

#[test]
fn the_acts_of_a_plan_that_another_reader_doubts_wait_for_a_person() {
    let plan = [("camera-look", json!({})), ("base-go", json!({"x": 1}))];
    let mut story = story().model(doubted(&plan)).model_says("EXECUTE").model_says("EXECUTE").model_says("Done.");
    story.give(Input::Start);
    assert_eq!(story.invoked_tools(), ["camera.look"], "a look is free");
    assert_eq!(steps_asked(&story), [(2, "base.go".to_owned())]);
    assert!(story.questions[0].text.contains("reflex reads the task otherwise"), "{:?}", story.questions);
    assert!(
        story.lines.contains(&"plan 1 is doubted: reflex reads the task otherwise".to_owned()),
        "{:#?}",
        story.lines
    );
    story.give(answered(1, approve()));
    assert_eq!(story.invoked_tools(), ["camera.look", "base.go"]);
    assert_eq!((story.questions.len(), story.ends().0), (1, MissionStatus::Succeeded));
}

#[test]
fn a_doubt_ends_with_its_plan_and_a_no_to_it_is_told_to_the_model() {
    let mut story = story()
        .model(doubted(&[("base-go", json!({"x": 1}))]))
        .model_calls(&[("base-go", json!({"x": 2}))])
        .model_says("EXECUTE")
        .model_says("Done.");
    story.give(Input::Start);
    story.give(answered(1, deny("I meant the other one.")));
    assert!(format!("{:?}", story.requests[1].messages).contains("I meant the other one."));
    assert_eq!((story.invoked_tools(), story.questions.len()), (vec!["base.go"], 1), "the second plan is not doubted");
}

fn seconded(verdict: SecondVerdict, doubts: bool) -> ChatReply {
    let second = SecondOpinion {
        model: "second".to_owned(),
        verdict,
        doubts,
        prompt_tokens: 30,
        completion_tokens: 3,
        tokens_estimated: false,
    };
    ChatReply { second: Some(Box::new(second)), ..calls(&[("base-go", json!({"x": 1}))]) }
}

#[test]
fn a_plan_that_a_second_model_would_not_have_made_waits_for_a_person_where_that_is_wanted() {
    let other = || SecondVerdict::Other { told: "it would do nothing that moves".to_owned() };
    let told = "second plans otherwise: it would do nothing that moves".to_owned();
    for (doubts, invoked, questions) in [(true, 0, 1), (false, 1, 0)] {
        let mut story = story().model(seconded(other(), doubts)).model_says("EXECUTE").model_says("Done.");
        story.give(Input::Start);
        assert_eq!((story.invoked.len(), story.questions.len()), (invoked, questions), "{:#?}", story.lines);
        assert!(story.lines.contains(&told), "{:#?}", story.lines);
        assert!(!doubts || story.questions[0].text.contains(&told), "{:?}", story.questions);
    }
}

#[test]
fn a_second_model_that_agrees_or_gives_no_answer_asks_nobody() {
    let late = SecondVerdict::NoAnswer { because: "it is late".to_owned() };
    for (verdict, line) in [
        (SecondVerdict::Same, Some("second plans the same")),
        (late, Some("second does not plan along: it is late")),
        (SecondVerdict::NotCompared, None),
    ] {
        let mut story = story().model(seconded(verdict, true)).model_says("EXECUTE").model_says("Done.");
        story.give(Input::Start);
        assert_eq!((story.invoked.len(), story.questions.len()), (1, 0), "{:#?}", story.lines);
        let told = story.lines.iter().find(|line| line.starts_with("second "));
        assert_eq!(told.map(String::as_str), line);
    }
}

#[test]
fn what_is_doubted_is_allowed_or_denied_where_policy_says_so() {
    for (doubted_is, invoked, lines) in [(PolicyVerdict::Allow, 1, 1), (PolicyVerdict::Deny, 0, 1)] {
        let mut story = story().model(doubted(&[("base-go", json!({"x": 1}))])).model_says("EXECUTE");
        let settings = PolicySettings { doubted: doubted_is, ..PolicySettings::default() };
        story.mission.setup.policy.policy = Policy::new(settings).unwrap();
        story.give(Input::Start);
        assert_eq!((story.invoked.len(), story.questions.len()), (invoked, 0), "{doubted_is:?}");
        assert_eq!(
            story.lines.iter().filter(|line| line.contains("is doubted")).count(),
            lines,
            "it is told all the same"
        );
    }
}

#[test]
fn a_look_that_is_free_goes_before_the_question_about_the_plan() {
    let plan = [("camera-look", json!({})), ("pump-run", json!({}))];
    let mut story = story().model_calls(&plan).model_says("EXECUTE");
    story.give(Input::Start);
    assert_eq!(story.invoked_tools(), ["camera.look"]);
    assert_eq!(steps_asked(&story), [(2, "pump.run".to_owned())]);
}

#[test]
fn a_denied_step_fails_with_the_reason_and_the_same_call_is_not_asked_about_again() {
    let pump = |ml: u32| [("pump-run", json!({"x": ml}))];
    let mut story = story().model_calls(&pump(5)).model_calls(&pump(5)).model_calls(&pump(5));
    story.give(Input::Start);
    story.give(answered(1, deny("The bottle is open.")));
    assert!(story.invoked.is_empty());
    assert_eq!(story.questions.len(), 1);
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("The bottle is open."), "{output}");
    let told: String = story.requests[1].messages.iter().map(|message| format!("{message:?}")).collect();
    assert!(told.contains("The bottle is open."), "the model gets the reason: {told}");
    assert!(story.lines.iter().any(|line| line.contains("pump.run) is denied")), "{:#?}", story.lines);
}

#[test]
fn after_the_deadline_it_is_no_and_an_answer_counts_no_more() {
    let mut story = story().model_calls(&[("pump-run", json!({}))]);
    story.give(Input::Start);
    assert!(story.mission.check_answer(Duration::from_secs(120), QuestionNumber(1), &approve()).is_err());
    story.now = Duration::from_secs(120);
    // The answer comes before the machine was woken.
    story.give(answered(1, approve()));
    assert!(story.invoked.is_empty());
    story.give(Input::Tick);
    assert!(matches!(story.closed.as_slice(), [(QuestionNumber(1), QuestionOutcome::Expired)]));
    let told = format!("{:?}", story.requests[1].messages);
    assert!(told.contains("Nobody answered within 120 s."), "{told}");
    story.give(answered(1, approve()));
    assert!(story.invoked.is_empty());
}

#[test]
fn answers_that_fit_no_open_question_change_nothing() {
    let mut story = story().model_calls(&[("pump-run", json!({}))]).model_says("EXECUTE");
    story.give(answered(1, approve()));
    story.give(Input::Start);
    let before = story.mission.clone();
    for wrong in
        [answered(2, approve()), answered(0, approve()), answered(1, Answer::Choose { choice: "yes".to_owned() })]
    {
        story.give(wrong);
        assert_eq!(story.mission, before);
    }
    story.give(answered(1, approve()));
    assert_eq!(story.invoked_tools(), ["pump.run"]);
    let before = story.mission.clone();
    story.give(answered(1, approve()));
    assert_eq!(story.mission, before, "a second answer");
}

#[test]
fn arguments_that_are_filled_in_later_are_asked_about_once_they_are_known() {
    let plan = [("camera-look", json!({})), ("pump-run", json!({"x": "<output of step 1>"}))];
    let mut story =
        story().model_calls(&plan).tool_returns("camera.look", json!(7)).model_says("EXECUTE").model_says("EXECUTE");
    story.give(Input::Start);
    let Subject::Call { call, .. } = &story.questions[0].subject else { panic!("{:?}", story.questions) };
    assert_eq!(Value::Object(call.arguments.clone()), json!({"x": 7}));
    assert_eq!(story.requests.len(), 3, "the model has confirmed it");
    story.give(answered(1, approve()));
    assert_eq!(story.invoked[1].1.arguments["x"], json!(7));
}

#[test]
fn other_arguments_than_those_approved_ask_again() {
    let may_correct = |limits: &mut MissionLimits| {
        limits.max_corrections = 1;
        limits.confirmation_arguments = ConfirmationArguments::Any;
    };
    let mut story = Story::with("do it", laboratory(), may_correct)
        .model_calls(&[("pump-run", json!({"x": 5}))])
        .model_says("EXECUTE")
        .tool_ends("pump.run", ToolOutcome::failure(FailureKind::Reported, "too much"))
        .model_calls(&[("pump-run", json!({"x": 3}))])
        .model_says("EXECUTE");
    story.give(Input::Start);
    story.give(answered(1, approve()));
    assert_eq!(story.invoked.len(), 1);
    let Subject::Call { call, .. } = &story.questions[1].subject else { panic!("{:?}", story.questions) };
    assert_eq!(Value::Object(call.arguments.clone()), json!({"x": 3}));
    story.give(answered(2, approve()));
    assert_eq!(story.invoked.len(), 2);
}

#[test]
fn a_call_that_is_tried_again_needs_a_new_yes_unless_it_was_for_the_mission() {
    for (scope, asked) in [(ApprovalScope::Once, 2), (ApprovalScope::Mission, 1)] {
        let rules = json!([{"then": "ask", "tools": ["camera.look"]}]);
        let mut story = Story::under("do it", laboratory(), under(rules), |limits| limits.max_retries = 1)
            .model_calls(&[("camera-look", json!({}))])
            .model_says("EXECUTE")
            .tool_ends("camera.look", ToolOutcome::failure(FailureKind::Unavailable, "away"));
        story.give(Input::Start);
        story.give(answered(1, Answer::Approve { scope }));
        assert_eq!(story.invoked.len(), 1);
        story.give_at(1, Input::Tick);
        assert_eq!(story.questions.len(), asked);
        assert_eq!(story.invoked.len(), 3 - asked);
    }
}

#[test]
fn an_approval_counts_for_a_time_only() {
    let mut story = story().model_calls(&[("pump-run", json!({}))]);
    story.give(Input::Start);
    story.give(answered(1, approve()));
    assert!(story.is_asking(), "the model confirms");
    story.now = Duration::from_secs(600);
    story.reply(says("EXECUTE"));
    assert!(story.invoked.is_empty());
    assert_eq!(story.questions.len(), 2);
}

#[test]
fn a_yes_for_the_mission_is_void_once_everything_was_halted() {
    let plan = [("pump-run", json!({})), ("base-go", json!({"after": []}))];
    let mut story = story().model_calls(&plan).tool_waits("pump.run");
    story.give(Input::Start);
    story.give(answered(1, Answer::Approve { scope: ApprovalScope::Mission }));
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["pump.run"]);
    story.reply(says("ABORT the floor is wet"));
    story.end_call(0, ToolOutcome::cancelled(HaltState::Halted, "halted"));
    story.reply(calls(&[("pump-run", json!({}))]));
    assert_eq!((story.questions.len(), story.invoked.len()), (2, 1), "{:#?}", story.lines);
}

/// A person who is asked for ever says yes in the end.
#[test]
fn people_are_asked_a_bounded_number_of_times() {
    let mut story = Story::with("do it", laboratory(), |limits| limits.max_replans = 200);
    story.give(Input::Start);
    for number in 1..=101 {
        story.reply(calls(&[("pump-run", json!({"x": number}))]));
        story.give(answered(number, deny("no")));
    }
    assert_eq!((story.questions.len(), story.invoked.len()), (100, 0));
    let told = format!("{:?}", story.requests.last().unwrap().messages);
    assert!(told.contains("People were asked 100 times in this mission, the most that may be."), "{told}");
}

#[test]
fn a_revision_a_stop_and_a_pause_withdraw_the_question() {
    let asking = || {
        let mut story = story().model_calls(&[("pump-run", json!({}))]);
        story.give(Input::Start);
        story
    };
    let withdrawn = |story: &Story| matches!(story.closed.last(), Some((_, QuestionOutcome::Withdrawn { .. })));
    let mut revised = asking();
    revised.give(revision("the other one"));
    assert!(withdrawn(&revised) && revised.is_asking());
    revised.give(answered(1, approve()));
    assert!(revised.invoked.is_empty());
    let mut stopped = asking();
    stopped.give(Input::Cancel { reason: CancelReason::Stop });
    assert!(withdrawn(&stopped));
    assert_eq!(stopped.ends().0, MissionStatus::Cancelled);
    let mut paused = asking();
    let mut availability = crate::Availability::default();
    availability.pause("a child");
    paused.give(Input::AvailabilityChanged { availability: availability.clone() });
    assert!(withdrawn(&paused));
    availability.unpause();
    paused.give(Input::AvailabilityChanged { availability });
    assert_eq!(paused.questions.len(), 2, "it is asked anew");
    paused.give(answered(1, approve()));
    assert!(!paused.is_asking(), "the first question has ended");
}

#[test]
fn a_tool_that_changes_while_a_person_is_asked_is_not_called() {
    let mut story = story().model_calls(&[("pump-run", json!({}))]);
    story.give(Input::Start);
    let mut tools = laboratory();
    tools[0].description.push_str(" Twice as fast.");
    story.give(Input::ToolsChanged { tools: ToolSet::new(tools).0 });
    assert!(matches!(story.closed.last(), Some((_, QuestionOutcome::Withdrawn { .. }))));
    story.give(answered(1, approve()));
    assert!(story.invoked.is_empty());
}

#[test]
fn nothing_approved_and_no_question_survives_a_restart() {
    let mut story = story().model_calls(&[("pump-run", json!({}))]);
    story.give(Input::Start);
    let restarted =
        |mission: &Mission| -> Mission { serde_json::from_str(&serde_json::to_string(mission).unwrap()).unwrap() };
    let mut asked = restarted(&story.mission);
    std::mem::swap(&mut story.mission, &mut asked);
    story.give(answered(1, approve()));
    assert!(story.invoked.is_empty());
    story.give(Input::Tick);
    assert_eq!(story.questions.len(), 2, "it is asked anew");
    story.give(answered(2, approve()));
    assert!(story.is_asking(), "the model confirms");
    story.mission = restarted(&story.mission);
    story.reply(says("EXECUTE"));
    assert!(story.invoked.is_empty());
    assert_eq!(story.questions.len(), 3);
}

#[test]
fn what_policy_denies_is_told_once_and_the_mission_fails_if_the_model_insists() {
    let rules = json!([{"then": "deny", "tools": ["base.go"], "because": "The floor is wet."}]);
    let go = [("base-go", json!({}))];
    let mut story = Story::under("do it", laboratory(), under(rules), |_| {}).model_calls(&go).model_calls(&go);
    story.give(Input::Start);
    let (status, output) = story.ends();
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.contains("The floor is wet."), "{output}");
    assert_eq!(story.requests.len(), 2);
    assert!(story.invoked.is_empty() && story.questions.is_empty());
}

#[test]
fn research_that_policy_asks_about_is_a_step_and_denied_research_is_not_done() {
    let look = [("camera-look", json!({}))];
    let asks = under(json!([{"then": "ask", "tools": ["camera.*"]}]));
    let mut story = Story::under("do it", laboratory(), asks, |_| {}).model_calls(&look).model_says("EXECUTE");
    story.give(Input::Start);
    assert!(story.invoked.is_empty());
    story.give(answered(1, approve()));
    assert_eq!(story.invoked_tools(), ["camera.look"]);
    let denies = under(json!([{"then": "deny", "tools": ["camera.*"]}]));
    let mut story = Story::under("do it", laboratory(), denies, |_| {}).model_calls(&look).model_calls(&look);
    story.give(Input::Start);
    assert!(story.invoked.is_empty());
    assert_eq!(story.ends().0, MissionStatus::Failed);
}

#[test]
fn nothing_begins_of_a_plan_with_a_denied_step() {
    let rules = json!([{"then": "deny", "tools": ["base.go"], "because": "The floor is wet."}]);
    let mut tools = laboratory();
    tools.push(tool("lamp.switch", ToolPhase::Execution, ToolEffect::Act));
    let plan = [("lamp-switch", json!({})), ("base-go", json!({}))];
    let mut story = Story::under("do it", tools, under(rules), |_| {}).model_calls(&plan);
    story.give(Input::Start);
    assert!(story.invoked.is_empty(), "{:#?}", story.lines);
    let told = format!("{:?}", story.requests.last().unwrap().messages);
    assert!(story.requests.len() == 2 && told.contains("The floor is wet. Plan without it"), "{told}");
}

/// What was free when it was planned may be denied when its turn comes.
#[test]
fn research_that_waits_is_judged_once_more_before_it_begins() {
    let mut setup = under(json!([{
        "then": "deny", "tools": ["camera.*"], "when": {"topic": "/door", "field": "open", "equal": true}
    }]));
    setup.state.conditions = vec![Verdict::Broken];
    let mut tools = laboratory();
    tools[3].resources = vec!["camera".into()];
    let looks = [("camera-look", json!({"x": 1})), ("camera-look", json!({"x": 2}))];
    let mut story = Story::under("do it", tools, setup, |_| {}).model_calls(&looks).tool_waits("camera.look");
    story.give(Input::Start);
    assert_eq!(story.invoked.len(), 1, "one holds the camera: {:#?}", story.lines);
    story.give(Input::RobotState { state: RobotState { conditions: vec![Verdict::Holds], minute: None } });
    story.end_call(0, ToolOutcome::success(json!("a cup")));
    assert_eq!((story.invoked.len(), story.requests.len()), (1, 2), "{:#?}", story.lines);
}

/// A laboratory whose pump may be run freely, with one in its place of which nobody has declared anything.
fn with_spare_pump() -> Vec<ToolSpec> {
    let mut tools = laboratory();
    tools[0].component = Some("pump".into());
    tools[0].effect_source = EffectSource::Declared;
    tools.push(
        tool("spare.run", ToolPhase::Execution, ToolEffect::Move)
            .with_serves(Some("pump.run".into()))
            .with_component(Some("spare".into()))
            .with_effect_source(EffectSource::Assumed),
    );
    tools
}

#[test]
fn a_standby_is_judged_although_what_it_stands_for_is_free() {
    let denies = json!([{"then": "deny", "tools": ["spare.*"], "because": "It leaks."}]);
    for (rules, questions) in [(json!([]), 1), (denies, 0)] {
        let mut story = Story::under("do it", with_spare_pump(), under(rules), |_| {})
            .model_calls(&[("pump-run", json!({}))])
            .model_says("EXECUTE");
        let mut availability = crate::Availability::default();
        availability.fail_over(&"pump".into(), Some(&"spare".into()));
        story.give(Input::AvailabilityChanged { availability });
        story.give(Input::Start);
        assert!(story.invoked.is_empty(), "{:#?}", story.lines);
        assert_eq!(story.questions.len(), questions, "{:#?}", story.lines);
    }
}

#[test]
fn a_standby_is_asked_about_as_what_it_is() {
    let mut tools = laboratory();
    let spare = tool("spare.run", ToolPhase::Execution, ToolEffect::Move)
        .with_serves(Some("pump.run".into()))
        .with_component(Some("spare".into()))
        .with_effect_source(EffectSource::Assumed);
    tools[0].component = Some("pump".into());
    tools.push(spare);
    let mut story = Story::with("do it", tools, |_| {}).model_calls(&[("pump-run", json!({}))]);
    story.give(Input::Start);
    assert_eq!(steps_asked(&story), [(1, "pump.run".to_owned())]);
    let mut availability = crate::Availability::default();
    availability.fail_over(&"pump".into(), Some(&"spare".into()));
    story.give(Input::AvailabilityChanged { availability });
    story.give(answered(1, approve()));
    assert!(story.invoked.is_empty(), "the yes was for another tool: {:#?}", story.lines);
    if story.questions.len() > 1 {
        assert_eq!(steps_asked(&story), [(1, "spare.run".to_owned())]);
    }
}

fn question(default: Option<&str>) -> [(&'static str, Value); 1] {
    let mut arguments = json!({"question": "Which cup?", "choices": ["red", "blue"]});
    if let Some(default) = default {
        arguments["default"] = json!(default);
    }
    [("ask_person", arguments)]
}

#[test]
fn a_model_asks_a_person_and_plans_with_the_answer() {
    let mut story = story().model_calls(&question(None)).model_calls(&[("base-go", json!({}))]).model_says("EXECUTE");
    story.give(Input::Start);
    assert_eq!(story.questions[0].text, "The robot asks: \"Which cup?\"");
    story.give(answered(1, approve()));
    story.give(answered(1, Answer::Choose { choice: "green".to_owned() }));
    assert_eq!(story.requests.len(), 1, "answers of the wrong kind change nothing");
    story.give(answered(1, Answer::Choose { choice: "blue".to_owned() }));
    let told = format!("{:?}", story.requests[1].messages);
    assert!(told.contains(r#""answer": String("blue"), "by": String("cli:test")"#), "{told}");
    assert_eq!(story.invoked_tools(), ["base.go"]);
}

#[test]
fn a_question_of_the_model_that_nobody_could_answer_is_its_mistake() {
    for (arguments, told) in [
        (json!({"question": " ", "choices": ["red", "blue"]}), "must be a question"),
        (json!({"question": "Which?", "choices": ["red"]}), "'choices' must be 2 to"),
        (json!({"question": "Which?", "choices": ["red", "red"]}), "must be a text of its own"),
        (json!({"question": "Which?", "choices": ["red", "blue\nApproved."]}), "on one line"),
        (json!({"question": "Which?", "choices": ["red", "b".repeat(81)]}), "at most 80 characters"),
        (json!({"question": "Which?", "choices": ["red", "blue"], "default": "green"}), "must be one of the choices"),
    ] {
        let mut story = story().model_calls(&[("ask_person", arguments.clone())]);
        story.give(Input::Start);
        assert!(story.questions.is_empty(), "{arguments}");
        let messages = format!("{:?}", story.requests.last().unwrap().messages);
        assert!(messages.contains(told), "{arguments}: {messages}");
    }
}

#[test]
fn a_question_of_the_model_that_nobody_answers_has_its_default_or_none() {
    for default in [Some("red"), None] {
        let mut story = story().model_calls(&question(default));
        story.give(Input::Start);
        story.give_at(120, Input::Tick);
        let told = format!("{:?}", story.requests.last().unwrap().messages.last().unwrap());
        assert!(told.contains("Nobody answered within 120 s."), "{told}");
        let has_default = told.contains(r#""answer": String("red")"#) && told.contains("This is the default.");
        assert_eq!(has_default, default.is_some(), "{told}");
        assert!(!told.contains(r#""by""#), "a default is no person's answer: {told}");
    }
}

#[test]
fn a_model_asks_a_person_a_bounded_number_of_times() {
    let mut story = (0..7).fold(story(), |story, _| story.model_calls(&question(None)));
    story.give(Input::Start);
    for number in 1..=5 {
        story.give(answered(number, Answer::Choose { choice: "red".to_owned() }));
    }
    assert_eq!(story.questions.len(), 5);
    assert!(format!("{:?}", story.requests.last().unwrap().messages).contains("the most that a mission may"));
}

#[test]
fn a_revision_answers_the_models_question_so_that_the_conversation_stays_whole() {
    let mut story = story().model_calls(&question(None));
    story.give(Input::Start);
    story.give(revision("the red one"));
    assert!(story.is_asking());
    assert!(matches!(story.closed.last(), Some((_, QuestionOutcome::Withdrawn { .. }))));
}

#[test]
fn a_disputed_mission_begins_with_the_dispute_and_the_record() {
    let first = story().model_calls(&[("base-go", json!({"x": 7}))]).model_says("EXECUTE").model_says("Done.").start();
    let mut story = story().model_says("Done.").model_says("Done.");
    let mut setup = story.mission.setup.clone();
    setup.reopens = Some(Reopened {
        mission: "first".into(),
        reason: "The light is still on.".to_owned(),
        origin: Origin::new("cli", "test"),
        output: "The light is off.".to_owned(),
        status: MissionStatus::Succeeded,
        steps: first.result().steps.clone(),
    });
    story.mission = Mission::new(setup);
    story.give(Input::Start);
    assert!(story.lines[0].contains("first") && story.lines[0].contains("The light is still on."), "{:?}", story.lines);
    let told = text_of(&story.requests[0]);
    assert!(told.contains("The light is still on.") && told.contains(r#"base-go {"x":7}"#), "{told}");
    assert_eq!(story.ends().0, MissionStatus::Answered);
    assert_eq!(story.result().account, MissionResult::NOTHING_DONE, "nothing of the first counts as done");
    assert!(!story.result().is_success(), "words do nothing for what is disputed");
}
