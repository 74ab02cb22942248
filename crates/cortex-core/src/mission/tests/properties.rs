//! What holds whatever the model, the tools and the people do.

use std::collections::BTreeSet;

use cortex_protocol::mission::Expense;
use cortex_protocol::{Decision, HaltState, StepStatus, Verification};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Availability;
use crate::confirmation;
use crate::plan;
use crate::ports::ModelErrorKind;

/// Something that the world does next. Numbers choose among what is open at that moment.
#[derive(Debug, Clone)]
enum Move {
    Reply(usize, Result<ChatReply, ModelError>),
    End(usize, ToolOutcome),
    Accept(usize),
    Progress(usize),
    Stream(usize, usize),
    Wait(u64),
    ToolsLeave(usize),
    Revise(String),
    Metered(Expense, f64, bool),
    Contain(Contain),
    Cancel(CancelReason),
}

/// What the monitor does.
#[derive(Debug, Clone)]
enum Contain {
    Quarantine(&'static str),
    Release(&'static str),
    FailOver(&'static str, Option<&'static str>),
    Pause,
    Unpause,
    /// A person pauses the robot, takes the controls, gives them back, vanishes, or does two of it at once.
    Control(Vec<control::Command>),
}

impl Contain {
    fn to(self, availability: &mut Availability) {
        match self {
            Self::Quarantine(component) => availability.quarantine(component.into(), "it crashed"),
            Self::Release(component) => availability.release(&component.into()),
            Self::FailOver(component, by) => availability.fail_over(&component.into(), by.map(Into::into).as_ref()),
            Self::Pause => availability.pause("something is wrong"),
            Self::Unpause => availability.unpause(),
            Self::Control(commands) => {
                let now = commands.iter().fold(availability.control().clone(), |now, command| command.after(now));
                availability.set_control(now)
            }
        };
    }
}

fn contain() -> impl Strategy<Value = Contain> {
    let component = || prop::sample::select(vec!["base", "speaker", "camera", "spare_base"]);
    let by = prop::option::of(prop::sample::select(vec!["spare_base", "base"]));
    prop_oneof![
        3 => component().prop_map(Contain::Quarantine),
        2 => component().prop_map(Contain::Release),
        2 => (component(), by).prop_map(|(component, by)| Contain::FailOver(component, by)),
        1 => Just(Contain::Pause),
        2 => Just(Contain::Unpause),
        2 => prop::collection::vec(control::command(), 1..3).prop_map(Contain::Control),
    ]
}

/// People who have the controls.
mod control {
    use cortex_protocol::{Control, Origin, Principal};
    use proptest::prelude::*;

    use crate::control::{ControlLoss, hand_back, lose, pause, take_over, unpause};

    #[derive(Debug, Clone, Copy)]
    pub(super) enum Command {
        Pause,
        Unpause,
        TakeOver,
        HandBack,
        Vanish,
    }

    impl Command {
        pub(super) fn after(self, now: Control) -> Control {
            let anna = Principal::operator(Origin::new("web", "Anna")).over("a".into());
            let changed = match self {
                Self::Pause => pause(&now, &anna, 1).ok(),
                Self::Unpause => unpause(&now, &anna, 1).ok(),
                Self::TakeOver => take_over(&now, &anna, 1).ok(),
                Self::HandBack => hand_back(&now, &anna, 1).ok(),
                Self::Vanish => lose(&now, &"a".into(), ControlLoss::Silent, 1),
            };
            changed.unwrap_or(now)
        }
    }

    pub(super) fn command() -> impl Strategy<Value = Command> {
        let all = vec![Command::Pause, Command::Unpause, Command::TakeOver, Command::HandBack, Command::Vanish];
        prop::sample::select(all)
    }
}

fn call() -> impl Strategy<Value = ModelCall> {
    let name = prop_oneof![
        4 => prop::sample::select(vec!["base-go_to", "speaker-say", "base-dock", "camera-look", "battery-level", "memory-end_episode"]),
        1 => Just(ORDER_FULFILLED),
        1 => prop::sample::select(vec!["base.fly", "", "decline_task"]),
    ];
    let arguments = prop_oneof![
        Just("{\"place\":\"kitchen\"}".to_owned()),
        Just("{\"text\":\"hi\"}".to_owned()),
        Just("{\"place\":\"<each place>\"}".to_owned()),
        Just("{\"text\":\"<each place>: <output of step 1>\"}".to_owned()),
        Just("{\"step\":1,\"words\":\"ok\"}".to_owned()),
        Just("{\"text\":\"<output of step 1>\"}".to_owned()),
        Just("{\"x\":\"<output of step 2>\",\"after\":[1]}".to_owned()),
        Just("{\"after\":[3]}".to_owned()),
        Just("{\"after\":[]}".to_owned()),
        Just("{\"place\":\"kitchen\",\"after\":[]}".to_owned()),
        Just("{}".to_owned()),
        Just("{\"place\":".to_owned()),
        "\\PC{0,20}",
    ];
    let step = (name, arguments).prop_map(|(name, arguments)| ModelCall {
        id: "x".into(),
        name: name.into(),
        arguments: CallArguments::read(&arguments),
    });
    prop_oneof![6 => step, 1 => step_groups()]
}

/// Groups of any steps that wait for any groups, some of which are not there, and any priorities.
fn step_groups() -> impl Strategy<Value = ModelCall> {
    let steps = || prop::collection::vec(0..6_u32, 0..4);
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    let after =
        prop_oneof![2 => Just(Value::Null), 3 => prop::collection::vec(name(), 0..3).prop_map(|names| json!(names))];
    let group = (name(), steps(), 1..3_u32, after).prop_map(
        |(name, steps, at_once, after)| json!({"name": name, "steps": steps, "at_once": at_once, "after": after}),
    );
    (prop::collection::vec(group, 0..3), steps(), steps()).prop_map(|(groups, critical, again)| {
        let again: Vec<Value> = again.iter().map(|step| json!({"step": step, "reason": "it must be"})).collect();
        let written = json!({"groups": groups, "critical": critical, "again": again});
        ModelCall { id: "x".into(), name: ARRANGE_TOOL.into(), arguments: CallArguments::read(&written.to_string()) }
    })
}

fn reply() -> impl Strategy<Value = Result<ChatReply, ModelError>> {
    let text = prop_oneof![
        3 => Just("EXECUTE"), 1 => Just("SKIP"), 1 => Just("SKIP no longer needed"), 1 => Just("ABORT"),
        2 => Just("CONTINUE"), 1 => Just("done"), 2 => Just(""), 1 => Just("Do not EXECUTE"),
    ];
    let is_cut = prop::bool::weighted(0.05);
    prop_oneof![
        8 => (text, prop::collection::vec(call(), 0..5), 0..300_u64, is_cut).prop_map(
            |(text, calls, completion_tokens, is_cut)| {
                let reply = ChatReply { text: text.into(), calls, completion_tokens, ..ChatReply::default() };
                Ok(if is_cut { cut(reply) } else { reply })
            },
        ),
        1 => Just(Err(ModelError {
            kind: ModelErrorKind::BadReply,
            message: "garbage".into(),
            hint: String::new(),
            retry_after: None,
        })),
    ]
}

fn outcome() -> impl Strategy<Value = ToolOutcome> {
    prop_oneof![
        4 => Just(ToolOutcome::success(json!({"text": "ok"}))),
        1 => Just(ToolOutcome::success(Value::Null)),
        1 => Just(ToolOutcome::failure(FailureKind::Reported, "no")),
        1 => Just(ToolOutcome::failure(FailureKind::Timeout, "slow")),
        1 => Just(ToolOutcome::failure(FailureKind::Unavailable, "away")),
        1 => Just(ToolOutcome { evidence: vec!["it was seen".into()], ..ToolOutcome::success(json!("there")) }),
        1 => prop::sample::select(vec![
            FailureKind::NotReady, FailureKind::InvariantBroken, FailureKind::Contradicted, FailureKind::NoEvidence,
            FailureKind::Expired,
        ]).prop_map(|kind| ToolOutcome::failure(kind, "conditions")),
        1 => Just(ToolOutcome::cancelled(HaltState::Halted, "halted")),
        1 => Just(ToolOutcome::failure(FailureKind::ComponentLost, "gone").with_halt(HaltState::Unconfirmed)),
    ]
}

fn world() -> impl Strategy<Value = Vec<Move>> {
    let next = prop_oneof![
        8 => (0..3_usize, reply()).prop_map(|(index, reply)| Move::Reply(index, reply)),
        6 => (0..4_usize, outcome()).prop_map(|(index, outcome)| Move::End(index, outcome)),
        2 => (0..4_usize).prop_map(Move::Accept),
        1 => (0..4_usize).prop_map(Move::Progress),
        2 => (0..3_usize, 0..4_usize).prop_map(|(index, offset)| Move::Stream(index, 2 * offset)),
        2 => (0..70_u64).prop_map(Move::Wait),
        1 => (0..6_usize).prop_map(Move::ToolsLeave),
        1 => prop_oneof![3 => Just("the other room".to_owned()), 1 => "\\PC{0,10}"].prop_map(Move::Revise),
        1 => (prop::sample::select(vec![Expense::Metres, Expense::WattHours, Expense::Money]), -1.0..8.0_f64, 0..6_u8)
            .prop_map(|(expense, total, luck)| Move::Metered(expense, total, luck > 0)),
        2 => contain().prop_map(Move::Contain),
        1 => prop::sample::select(vec![CancelReason::Client, CancelReason::Stop, CancelReason::ShutDown])
            .prop_map(Move::Cancel),
    ];
    prop::collection::vec(next, 0..60)
}

/// The robot, with a spare base, in which every tool that acts holds its component.
fn holding_robot() -> Vec<ToolSpec> {
    let of = |spec: ToolSpec| {
        let resources = held_by(&spec.name).into_iter().map(Into::into).collect();
        let component = component_of(&spec.name);
        spec.with_resources(resources).with_component(component)
    };
    let spare = robot().into_iter().filter(|spec| spec.name.as_str() == "base.go_to");
    let spare = spare.map(|spec| spec.with_name("spare_base.go_to".into()));
    robot().into_iter().chain(spare).map(of).collect()
}

fn component_of(tool: &ToolName) -> Option<ComponentName> {
    tool.as_str().split('.').next().map(Into::into)
}

fn held_by(tool: &ToolName) -> Option<&str> {
    let component = tool.as_str().split('.').next();
    component.filter(|component| ["base", "speaker", "memory", "spare_base"].contains(component))
}

/// Everything that came out, and what the machine is waiting for.
#[derive(Default)]
struct Seen {
    inputs: Vec<(Duration, Input)>,
    effects: Vec<Effect>,
    requests: Vec<RequestId>,
    calls: Vec<CallId>,
    ended: BTreeSet<CallId>,
    cancelled: BTreeSet<CallId>,
    /// What is held by calls that have not ended.
    open: BTreeMap<CallId, String>,
    /// The steps of the current plan that EXECUTE was said to.
    confirmed: BTreeSet<StepNumber>,
    plan: Plan,
    /// How many plans there were.
    plans: u32,
    /// What acted and succeeded, with the number of its plan.
    done: Vec<(u32, ToolName, String)>,
    /// A person has revised the task, and nothing was planned since.
    revised: bool,
    /// The steps of the current plan that have begun and not ended.
    running: BTreeSet<StepNumber>,
    /// The steps of the current plan after which nothing that acts may begin: a look that was skipped, anything that was
    /// skipped without a reason, and what was not done.
    unsatisfied: BTreeSet<StepNumber>,
    results: usize,
    published: String,
    no_more_motion: bool,
    /// What the model was asked last, as text.
    asked_last: String,
    /// Tokens that replies have cost.
    tokens: u64,
    /// What is kept from the missions.
    availability: Availability,
    /// The budget of metres, if there is one.
    max_metres: Option<f64>,
    /// What the meters of the budgets said last, and whether they measure.
    metres: f64,
    metres_are_live: bool,
}

impl Seen {
    fn note_asked(&mut self, chat: &ChatRequest, cause: &Input) {
        check_conversation(chat);
        let text = text_of(chat);
        let is_news = matches!(cause, Input::CallEnded { .. });
        assert!(!is_news || self.asked_last != text, "the same request after a new outcome: {text}");
        self.asked_last = text;
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each effect")]
fn give(mission: &mut Mission, seen: &mut Seen, now: Duration, input: Input) {
    seen.inputs.push((now, input.clone()));
    if matches!(input, Input::Cancel { .. }) {
        seen.no_more_motion = true;
    }
    match &input {
        Input::ModelReplied { reply: Ok(reply), .. } if !mission.is_finished() => {
            seen.tokens += reply.completion_tokens;
        }
        Input::Metered { expense: Expense::Metres, total, is_live } => {
            seen.metres = seen.metres.max(*total);
            seen.metres_are_live = *is_live;
        }
        _ => {}
    }
    let effects = mission.handle(now, input.clone());
    let is_taken = !seen.availability.control().is_autonomous();
    for effect in effects {
        assert_eq!(seen.results, 0, "an effect after the result: {effect:?}");
        match &effect {
            Effect::AskModel { request, chat } => {
                check_told(mission, chat);
                assert!(
                    seen.availability.control().is_autonomous(),
                    "a model is asked while a person has the controls"
                );
                seen.note_asked(chat, &input);
                assert!(seen.tokens < MAX_TOKENS, "a request after {} tokens", seen.tokens);
                seen.requests.push(*request);
            }
            Effect::Invoke { call, tool_call, .. } => {
                assert!(!seen.no_more_motion, "a call began after the cancel");
                assert!(seen.availability.control().is_autonomous(), "a call began while a person had the controls");
                check_confirmed(tool_call, &input);
                let component = component_of(&tool_call.tool).unwrap();
                let because = seen.availability.reason_against(&component);
                assert_eq!(because, None, "{} was called in quarantine", tool_call.tool);
                check_budget(mission, seen, now);
                let moves = tool_call.tool.as_str().contains("base.");
                if let Some(most) = seen.max_metres.filter(|_| moves) {
                    assert!(seen.metres_are_live && seen.metres < most, "something moves unmeasured or too far");
                }
                if let Some(resource) = held_by(&tool_call.tool) {
                    let holder = seen.open.iter().find(|(_, held)| **held == resource);
                    assert_eq!(holder, None, "two holders of one resource");
                    seen.open.insert(*call, resource.to_owned());
                }
                seen.calls.push(*call);
            }
            // The robot of these stories has declared everything.
            Effect::AskPerson { .. } | Effect::CloseQuestion { .. } => panic!("a person is asked: {effect:?}"),
            Effect::CancelCall { call } => assert!(!seen.ended.contains(call), "a cancel of an ended call"),
            Effect::Finish { result } => {
                seen.results += 1;
                assert_eq!(seen.published, "", "a text that was begun never ends");
                check_result(result);
            }
            Effect::Report { event } => match event {
                MissionEvent::Planned { steps, .. } => {
                    assert!(plan::order(steps).is_ok(), "a plan that is no plan: {steps:?}");
                    seen.plan = steps.clone();
                    seen.plans += 1;
                    seen.revised = false;
                    seen.confirmed.clear();
                    seen.running.clear();
                    seen.unsatisfied.clear();
                }
                MissionEvent::TaskRevised { .. } => seen.revised = true,
                MissionEvent::StepFinished { report, .. } => {
                    if report.status == StepStatus::Success && !looks(&report.tool) {
                        let arguments = Value::Object(report.arguments.clone()).to_string();
                        seen.done.push((report.plan, report.tool.clone(), arguments));
                    }
                    seen.running.remove(&report.number);
                    let satisfies = match report.status {
                        StepStatus::Success => true,
                        StepStatus::Skipped => !looks(&report.tool) && !report.note.trim().is_empty(),
                        _ => false,
                    };
                    if !satisfies {
                        seen.unsatisfied.insert(report.number);
                    }
                }
                MissionEvent::Decided { step, decision: Decision::Execute, .. } => {
                    seen.confirmed.insert(*step);
                }
                MissionEvent::StepStarted { step, tool, arguments, .. } => {
                    assert_eq!(seen.availability.paused(), None, "a step began in a pause");
                    assert!(!seen.revised, "a step began that was planned before the task was corrected");
                    let arguments = Value::Object(arguments.clone()).to_string();
                    let planned = seen.plan.steps.iter().find(|planned| planned.number == *step).unwrap();
                    let was_done = seen
                        .done
                        .iter()
                        .any(|(plan, done_by, with)| *plan < seen.plans && done_by == tool && *with == arguments);
                    assert!(!was_done || !planned.again.is_empty(), "done again: {tool} {arguments}");
                    assert!(seen.confirmed.contains(step), "a step of this plan began without EXECUTE");
                    let unsatisfied = planned.after.iter().find(|before| seen.unsatisfied.contains(before));
                    assert!(looks(tool) || unsatisfied.is_none(), "{tool} began after step {unsatisfied:?}");
                    seen.running.insert(*step);
                    for group in &seen.plan.groups {
                        let running = group.steps.iter().filter(|step| seen.running.contains(step)).count();
                        assert!(running <= group.at_once as usize, "too many of a group at once: {group:?}");
                    }
                }
                _ => {}
            },
            Effect::Say { text, piece: SpokenPiece::More } => seen.published.push_str(text),
            Effect::Say { piece: SpokenPiece::Last, .. } => seen.published.clear(),
            Effect::GatherContext { .. } | Effect::AbandonModel { .. } => {}
        }
        if let Effect::CancelCall { call } = &effect {
            seen.cancelled.insert(*call);
        }
        seen.effects.push(effect);
    }
    if is_taken && mission.phase != Phase::New {
        let moving = mission.calls.iter().find(|(call, _)| !seen.cancelled.contains(call));
        assert_eq!(moving, None, "something goes on although a person has the controls");
    }
}

/// What the verdict will be made of is in each request for a plan: every step that is owed, and the record of every step.
fn check_told(mission: &Mission, chat: &ChatRequest) {
    if chat.purpose != Purpose::Plan {
        return;
    }
    let address = |report: &StepReport| (report.plan, report.number);
    let (mut recorded, mut owed) = (BTreeSet::new(), BTreeSet::new());
    for message in &chat.messages {
        let Message::User { fragments } = message else { continue };
        for fragment in fragments {
            match fragment {
                Fragment::Ledger { steps, .. } => recorded.extend(steps.iter().map(address)),
                Fragment::Owed { steps, .. } => owed = steps.iter().map(address).collect(),
                _ => {}
            }
        }
    }
    for report in mission.owed() {
        assert!(owed.contains(&address(&report)), "the model is not told of what is owed: {report:?}");
    }
    for report in mission.record.steps() {
        assert!(recorded.contains(&address(report)), "a step is not in the record: {report:?}");
    }
}

/// Whatever begins, it begins within every budget.
fn check_budget(mission: &Mission, seen: &Seen, now: Duration) {
    let tokens = mission.spending.usage().prompt_tokens + mission.spending.usage().completion_tokens;
    assert!(tokens < MAX_TOKENS && seen.requests.len() < 20, "a call began after a budget was spent");
    let _ = now;
    assert!(mission.clock.spent() < mission.setup.limits.max_duration, "a call began after its time");
}

fn looks(tool: &ToolName) -> bool {
    matches!(tool.as_str(), "camera.look" | "battery.level")
}

/// Tokens that the model may cost.
const MAX_TOKENS: u64 = 2_000;

/// Whatever is asked about and when: what acts begins by a reply that says EXECUTE to it, and by nothing else.
fn check_confirmed(call: &ToolCall, cause: &Input) {
    // A standby takes the place of the tool that the model was asked about.
    let name = call.tool.as_str().trim_start_matches("spare_");
    if looks(&call.tool) {
        return;
    }
    let Input::ModelReplied { reply: Ok(reply), .. } = cause else { panic!("{name} began by {cause:?}") };
    assert_eq!(reply.cut, None, "{name} began by a reply that was cut");
    let read = confirmation::read(reply, &name.replace('.', "-"), name).map(|reading| reading.decision);
    assert_eq!(read, Ok(Decision::Execute), "{name} began by {reply:?}");
}

fn check_result(result: &MissionResult) {
    if result.status == MissionStatus::Answered {
        assert!(result.class.is_answered_by_words() || !result.is_success(), "an action that words were enough for");
    }
    for step in &result.steps {
        assert!(step.status.is_terminal(), "a step without an end: {step:?}");
        let seen = step.outcome.as_ref().is_some_and(|outcome| !outcome.evidence.is_empty());
        let is_right = match step.verification {
            Some(Verification::Verified) => step.status == StepStatus::Success && seen,
            Some(Verification::NotVerified) => step.status == StepStatus::Success && !seen,
            Some(Verification::Failed | Verification::Unknown) => step.status == StepStatus::Failed,
            None => matches!(step.status, StepStatus::Blocked | StepStatus::Skipped),
        };
        assert!(is_right, "what is told of a step is not what is known: {step:?}");
    }
    if result.status == MissionStatus::Succeeded {
        let done = |step: &StepReport| step.status == StepStatus::Success;
        assert!(result.steps.iter().any(done), "success without a step");
        for open in result.steps.iter().filter(|step| matches!(step.status, StepStatus::Failed | StepStatus::Blocked)) {
            let mut later = result.steps.iter().filter(|step| step.plan > open.plan && done(step));
            let replaces = |step: &StepReport| looks(&open.tool) || step.tool == open.tool;
            assert!(later.any(|step| open.overtaken || replaces(step)), "false success: {open:?}");
        }
    }
    assert!(!result.words().is_empty(), "a result without words");
    assert_eq!(result.output.lines().last(), Some(result.account.as_str()), "the account is the last line");
    assert!((1..2_000).contains(&result.account.chars().count()), "the account is bounded: {}", result.account);
}

fn mission() -> Mission {
    mission_that("do it", OnFailure::Stop)
}

/// Tasks of every class that may act.
fn task() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "do it",
        "what is there?",
        "patrol all rooms",
        "patrol until you see me",
        "keep patrolling",
    ])
}

fn mission_that(task: &str, on_failure: OnFailure) -> Mission {
    Mission::new(MissionSetup {
        task: task.into(),
        reading: task_class::read(task, &holding_robot()),
        session: None,
        earlier: vec![],
        context_sources: Vec::new(),
        identity: String::new(),
        tools: ToolSet::new(holding_robot()).0,
        availability: crate::Availability::default(),
        removed: crate::RemovedTools::default(),
        limits: MissionLimits {
            max_model_calls: 20,
            max_tokens: Some(MAX_TOKENS),
            max_planning_steps: 4,
            max_conversation_bytes: 2_000,
            max_rounds: 2,
            on_failure,
            ..MissionLimits::default()
        },
        policy: crate::mission::PolicySetup::default(),
        reopens: None,
    })
}

/// Steps that nothing orders, all confirmed; the calls are accepted and end in the order of `picks`. Returns how many ran
/// at a time at most.
fn live_in_parallel(tools: &[&str], picks: &[(bool, usize)]) -> (Seen, usize) {
    let (mut mission, mut seen, mut most) = (mission(), Seen::default(), 0);
    let arguments = |tool: &str| match tool {
        "base-go_to" => json!({"place": "kitchen", "after": []}),
        "speaker-say" => json!({"text": "hi", "after": []}),
        _ => json!({"after": []}),
    };
    let plan: Vec<(&str, Value)> = tools.iter().map(|tool| (*tool, arguments(tool))).collect();
    give(&mut mission, &mut seen, Duration::ZERO, Input::Start);
    let reply = Input::ModelReplied { request: RequestId(1), reply: Ok(calls(&plan)) };
    give(&mut mission, &mut seen, Duration::ZERO, reply);
    for (ends, pick) in picks {
        while let Phase::Confirming { request, .. } = mission.phase {
            give(&mut mission, &mut seen, Duration::ZERO, Input::ModelReplied { request, reply: Ok(says("EXECUTE")) });
        }
        let open: Vec<CallId> = seen.calls.iter().copied().filter(|call| !seen.ended.contains(call)).collect();
        most = most.max(open.len());
        let Some(call) = open.get(pick % open.len().max(1)).copied() else { break };
        if *ends {
            seen.ended.insert(call);
            seen.open.remove(&call);
            let outcome = ToolOutcome::success(Value::Null);
            give(&mut mission, &mut seen, Duration::ZERO, Input::CallEnded { call, outcome });
        } else {
            give(&mut mission, &mut seen, Duration::ZERO, Input::CallAccepted { call });
        }
    }
    (seen, most)
}

/// Something that happens while a model plans and confirms well.
#[derive(Debug, Clone)]
enum Turn {
    Reply,
    End(usize, ToolOutcome),
    Wait(u64),
    Contain(Contain),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let ended = prop_oneof![
        3 => Just(ToolOutcome::success(Value::Null)),
        1 => Just(ToolOutcome::cancelled(HaltState::Halted, "halted")),
        1 => Just(ToolOutcome::failure(FailureKind::ComponentLost, "gone")),
    ];
    let turn = prop_oneof![
        4 => Just(Turn::Reply),
        2 => (0..3_usize, ended).prop_map(|(index, outcome)| Turn::End(index, outcome)),
        1 => (0..12_u64).prop_map(Turn::Wait),
        2 => contain().prop_map(Turn::Contain),
    ];
    prop::collection::vec(turn, 0..50)
}

/// A mission whose model plans these steps again and again, and confirms each; then time alone passes.
fn live_contained(tools: &[&str], turns: Vec<Turn>) -> (Seen, Mission) {
    let (mut mission, mut seen, mut now) = (mission(), Seen::default(), Duration::ZERO);
    let arguments = |tool: &str| match tool {
        "base-go_to" => json!({"place": "kitchen"}),
        "speaker-say" => json!({"text": "hi"}),
        _ => json!({}),
    };
    let plan: Vec<(&str, Value)> = tools.iter().map(|tool| (*tool, arguments(tool))).collect();
    give(&mut mission, &mut seen, now, Input::Start);
    for turn in turns {
        let input = match turn {
            Turn::Reply => match mission.phase {
                Phase::Planning { request } => Input::ModelReplied { request, reply: Ok(calls(&plan)) },
                Phase::Confirming { request, .. } => Input::ModelReplied { request, reply: Ok(says("EXECUTE")) },
                _ => Input::Tick,
            },
            Turn::End(index, outcome) => {
                let open: Vec<CallId> = seen.open.keys().copied().collect();
                let Some(call) = open.get(index % open.len().max(1)).copied() else { continue };
                seen.ended.insert(call);
                seen.open.remove(&call);
                Input::CallEnded { call, outcome }
            }
            Turn::Wait(seconds) => {
                now += Duration::from_secs(seconds);
                Input::Tick
            }
            Turn::Contain(change) => {
                change.to(&mut seen.availability);
                Input::AvailabilityChanged { availability: seen.availability.clone() }
            }
        };
        give(&mut mission, &mut seen, now, input);
    }
    give_controls_back(&mut mission, &mut seen, now);
    for _ in 0..1_000 {
        let Some(wake) = mission.next_wake() else { break };
        // Now and then it is woken late.
        now = now.max(wake) + Duration::from_secs(10);
        give(&mut mission, &mut seen, now, Input::Tick);
    }
    (seen, mission)
}

/// A mission waits for people as long as they like.
fn give_controls_back(mission: &mut Mission, seen: &mut Seen, now: Duration) {
    assert!(mission.next_wake().is_none_or(|wake| mission.is_finished() || wake >= mission.clock.now()));
    Contain::Control(vec![control::Command::Unpause]).to(&mut seen.availability);
    give(mission, seen, now, Input::AvailabilityChanged { availability: seen.availability.clone() });
}

fn policy() -> impl Strategy<Value = OnFailure> {
    prop::sample::select(vec![OnFailure::Stop, OnFailure::Continue])
}

fn live(task: &str, world: Vec<Move>, on_failure: OnFailure) -> (Seen, Mission) {
    let mission = mission_that(task, on_failure);
    live_within(world, mission, ConfirmationMode::Always, None)
}

fn live_within(
    world: Vec<Move>,
    mut mission: Mission,
    confirmation: ConfirmationMode,
    max_metres: Option<f64>,
) -> (Seen, Mission) {
    mission.setup.limits.confirmation = confirmation;
    mission.setup.limits.max_metres = max_metres;
    let mut seen = Seen { max_metres, ..Seen::default() };
    give(
        &mut mission,
        &mut seen,
        Duration::ZERO,
        Input::Metered { expense: Expense::Metres, total: 0.0, is_live: true },
    );
    let mut now = Duration::ZERO;
    give(&mut mission, &mut seen, now, Input::Start);
    for next in world {
        let pick = |index: usize, calls: &[CallId]| calls.iter().rev().nth(index).copied().unwrap_or(CallId(99));
        match next {
            Move::Reply(index, reply) => {
                let request = seen.requests.iter().rev().nth(index).copied().unwrap_or(RequestId(99));
                give(&mut mission, &mut seen, now, Input::ModelReplied { request, reply });
            }
            Move::End(index, outcome) => {
                let call = pick(index, &seen.calls);
                if seen.ended.insert(call) {
                    seen.open.remove(&call);
                    give(&mut mission, &mut seen, now, Input::CallEnded { call, outcome });
                }
            }
            Move::Accept(index) => {
                let call = pick(index, &seen.calls);
                give(&mut mission, &mut seen, now, Input::CallAccepted { call });
            }
            Move::Progress(index) => {
                let call = pick(index, &seen.calls);
                give(&mut mission, &mut seen, now, Input::CallProgressed { call, feedback: "going".into() });
            }
            Move::Stream(index, offset) => {
                let request = seen.requests.iter().rev().nth(index).copied().unwrap_or(RequestId(99));
                give(&mut mission, &mut seen, now, Input::AnswerStreamed { request, offset, text: "hi".into() });
            }
            Move::Wait(seconds) => {
                now += Duration::from_secs(seconds);
                give(&mut mission, &mut seen, now, Input::Tick);
            }
            Move::ToolsLeave(index) => {
                let mut tools = holding_robot();
                tools.remove(index);
                give(&mut mission, &mut seen, now, Input::ToolsChanged { tools: ToolSet::new(tools).0 });
            }
            Move::Revise(text) => {
                give(&mut mission, &mut seen, now, revision(&text));
            }
            Move::Metered(expense, total, is_live) => {
                give(&mut mission, &mut seen, now, Input::Metered { expense, total, is_live });
            }
            Move::Contain(change) => {
                change.to(&mut seen.availability);
                let availability = seen.availability.clone();
                give(&mut mission, &mut seen, now, Input::AvailabilityChanged { availability });
            }
            Move::Cancel(reason) => give(&mut mission, &mut seen, now, Input::Cancel { reason }),
        }
    }
    give_controls_back(&mut mission, &mut seen, now);
    // Whatever happened, time alone brings the mission to its one result.
    for _ in 0..10 {
        let Some(wake) = mission.next_wake() else { break };
        let end = Duration::from_secs(3600);
        now = now.max(wake).max(if mission.is_finished() { now } else { end });
        give(&mut mission, &mut seen, now, Input::Tick);
    }
    (seen, mission)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_mission_ends_once_and_never_falsely_well(task in task(), world in world(), on_failure in policy()) {
        let (seen, mission) = live(task, world, on_failure);
        prop_assert_eq!(seen.results, 1);
        prop_assert!(mission.is_finished());
        let asked = seen.effects.iter().filter(|effect| matches!(effect, Effect::AskModel { .. })).count();
        prop_assert!(asked <= 20, "the budget was exceeded: {}", asked);
    }

    #[test]
    fn for_a_conversation_or_a_question_about_itself_nothing_ever_acts(
        task in prop::sample::select(vec!["hello", "battery", "where are you?", "don't move"]),
        world in world(),
    ) {
        // Who corrects it may well ask for something that moves.
        let world = world.into_iter().filter(|step| !matches!(step, Move::Revise(_))).collect();
        let (seen, mission) = live(task, world, OnFailure::Stop);
        prop_assert!(mission.is_finished());
        for effect in &seen.effects {
            if let Effect::Invoke { tool_call, .. } = effect {
                prop_assert!(["camera.look", "battery.level"].contains(&tool_call.tool.as_str()), "{:?}", tool_call);
            }
        }
    }

    #[test]
    fn a_budget_of_metres_is_kept_and_adaptive_confirmation_runs_nothing_that_acts_without_execute(
        world in world(), adaptive in prop::bool::ANY, max_metres in prop::option::of(2.0..10.0_f64),
    ) {
        let confirmation = if adaptive { ConfirmationMode::Adaptive } else { ConfirmationMode::Always };
        let (seen, mission) = live_within(world, mission(), confirmation, max_metres);
        prop_assert_eq!(seen.results, 1);
        prop_assert!(mission.is_finished());
    }

    #[test]
    fn whatever_fails_and_when_nothing_in_quarantine_is_called_nothing_begins_in_a_pause_and_the_mission_ends(
        tools in prop::collection::vec(prop::sample::select(vec!["base-go_to", "base-dock", "speaker-say"]), 1..4),
        turns in turns(),
    ) {
        let (seen, mission) = live_contained(&tools, turns);
        prop_assert_eq!(seen.results, 1);
        prop_assert!(mission.is_finished());
    }

    #[test]
    fn steps_that_nothing_orders_run_together_but_never_two_that_need_one_thing(
        tools in prop::collection::vec(prop::sample::select(vec!["base-go_to", "base-dock", "speaker-say"]), 2..6),
        picks in prop::collection::vec((prop::bool::ANY, 0..6_usize), 1..30),
    ) {
        let distinct: BTreeSet<&str> = tools.iter().filter_map(|tool| tool.split('-').next()).collect();
        let (_, most) = live_in_parallel(&tools, &picks);
        prop_assert_eq!(most, distinct.len());
    }

    #[test]
    fn the_same_inputs_give_the_same_effects_across_a_restart(
        task in task(),
        world in world(),
        at in 0..60_usize,
        on_failure in policy(),
    ) {
        let (seen, _) = live(task, world, on_failure);
        let mut mission = mission_that(task, on_failure);
        let mut effects = Vec::new();
        for (index, (now, input)) in seen.inputs.into_iter().enumerate() {
            if index == at {
                let stored = serde_json::to_string(&mission).unwrap();
                mission = serde_json::from_str(&stored).unwrap();
            }
            effects.extend(mission.handle(now, input));
        }
        prop_assert_eq!(effects, seen.effects);
    }
}
