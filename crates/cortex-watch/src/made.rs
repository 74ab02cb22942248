//! Events, overviews and questions for tests.

use std::time::Duration;

use cortex_protocol::event::EventData;
use cortex_protocol::mission::{Expense, InFlight};
use cortex_protocol::overview::{
    BudgetOverview, ComponentHealth, ComponentOverview, MissionOverview, MissionPhase, ModelOverview, Overview,
    ReadinessOverview, ReadinessState, StopOverview,
};
use cortex_protocol::plan::Group;
use cortex_protocol::question::{CallSubject, PlanDigest, Subject};
use cortex_protocol::{
    CallId, CloudEvent, Effect, EventId, MissionEvent, OpenQuestion, Origin, Plan, Priority, Question, QuestionId,
    QuestionNumber, Role, Step, StepNumber, StepStatus, ToolCall, ToolFingerprint,
};
use serde_json::{Map, Value, json};

use crate::model::{Model, Update};
use crate::wire::{Basis, Frame, ReceivedEvent, You};

pub(crate) const MISSION: &str = "01a208f8-25d1-74d6-85cb-63ff257e7ef0";
/// 2026-11-23T15:13:30Z.
pub(crate) const BEGIN_MS: u64 = 1_795_446_810_000;

/// The events that the reference tape holds as they were published.
pub(crate) fn reference_events() -> Vec<Value> {
    let tape = concat!(env!("CARGO_MANIFEST_DIR"), "/../cortex-runtime/tests/reference_tape.jsonl");
    let tape = std::fs::read_to_string(tape).unwrap();
    let lines = tape.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.get("sequence").is_some()).collect()
}

/// An event `after_ms` after the mission's beginning.
pub(crate) fn event(sequence: u64, after_ms: u64, text: &str, payload: MissionEvent) -> ReceivedEvent {
    let time = std::time::UNIX_EPOCH + Duration::from_millis(BEGIN_MS + after_ms);
    let (provider, domain, action, actor) = payload.routing();
    let event = CloudEvent {
        specversion: "1.0".to_owned(),
        id: EventId::new(format!("e{sequence}")),
        source: "/robot/cortex".to_owned(),
        kind: format!("cortex.{domain}.{action}"),
        subject: MISSION.into(),
        time: humantime::format_rfc3339_micros(time).to_string(),
        datacontenttype: "application/json".to_owned(),
        provider: provider.to_owned(),
        event: domain.to_owned(),
        action: action.to_owned(),
        actor: actor.to_owned(),
        sequence,
        data: EventData { origin: Origin::new("cli", "test"), text: text.to_owned(), payload },
    };
    serde_json::to_value(event).unwrap().into()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Two steps that go side by side in a group after the first one, and one that waits for both.
pub(crate) fn plan() -> Plan {
    let step = |number, tool: &str, arguments: Value, after: &[u32]| Step {
        number: StepNumber(number),
        call: ToolCall { tool: tool.into(), arguments: object(arguments) },
        after: after.iter().copied().map(StepNumber).collect(),
        status: StepStatus::Pending,
        priority: Priority::Normal,
        again: String::new(),
    };
    Plan {
        steps: vec![
            step(1, "base.go_to", json!({"place": "kitchen"}), &[]),
            step(2, "camera.look", json!({"for": "a red cup"}), &[1]),
            step(3, "speech.say", json!({"text": "I am looking for the cup."}), &[1]),
            step(4, "arm.grasp", json!({"thing": "<output of step 2>"}), &[2, 3]),
        ],
        groups: vec![Group { name: "look and say".to_owned(), steps: vec![StepNumber(2), StepNumber(3)], at_once: 2 }],
    }
}

pub(crate) fn in_flight(age_s: u64, feedback: &str, stalled_s: Option<u64>) -> InFlight {
    InFlight {
        call: CallId(1),
        step: Some(StepNumber(1)),
        tool: "base.go_to".into(),
        age: Duration::from_secs(age_s),
        feedback: feedback.to_owned(),
        stalled: stalled_s.map(Duration::from_secs),
    }
}

/// A mission whose first step runs.
pub(crate) fn events() -> Vec<ReceivedEvent> {
    let task = "Bring me the red cup from the kitchen.".to_owned();
    let arguments = object(json!({"place": "kitchen"}));
    vec![
        event(
            1,
            0,
            "task accepted: Bring me the red cup from the kitchen.",
            MissionEvent::Accepted { task, session: None },
        ),
        event(2, 400, "planning (turn 1)", MissionEvent::Planning { turn: 1, plan: 1 }),
        event(
            3,
            2_000,
            "plan 1: 1. base.go_to, 2. camera.look, 3. speech.say, 4. arm.grasp",
            MissionEvent::Planned { plan: 1, steps: plan(), cut: Vec::new() },
        ),
        event(
            4,
            2_100,
            "step 1/4 base.go_to{\"place\":\"kitchen\"}: started",
            MissionEvent::StepStarted {
                call: CallId(1),
                step: StepNumber(1),
                steps: 4,
                tool: "base.go_to".into(),
                by: None,
                arguments,
            },
        ),
        event(
            5,
            9_100,
            "in flight: base.go_to 7 s, 40%",
            MissionEvent::Progress { in_flight: vec![in_flight(7, "40%", None)] },
        ),
    ]
}

pub(crate) fn overview() -> Overview {
    let component = |name: &str, health, standing: &str, symptoms: &[&str]| ComponentOverview {
        name: name.into(),
        health,
        standing: standing.to_owned(),
        lifecycle: "active".to_owned(),
        symptoms: symptoms.iter().map(|symptom| (*symptom).to_owned()).collect(),
        attempts: 0,
        restarts: 0,
        depends_on: Vec::new(),
        standby: None,
        quarantine_cause: None,
    };
    Overview {
        version: 1,
        at_ms: BEGIN_MS,
        started_ms: BEGIN_MS - 60_000,
        robot: "robbie".to_owned(),
        node: "/cortex".to_owned(),
        lifecycle: "active".to_owned(),
        tools: 12,
        readiness: ReadinessOverview { state: ReadinessState::Ready, because: String::new() },
        stop: StopOverview::default(),
        model: ModelOverview::default(),
        components: vec![
            component("base", ComponentHealth::Healthy, "up", &[]),
            component("camera", ComponentHealth::Silent, "recovering", &["no image for 4 s"]),
        ],
        paused: None,
        control: cortex_protocol::Control::default(),
        missions: vec![MissionOverview {
            id: MISSION.into(),
            task: "Bring me the red cup from the kitchen.".to_owned(),
            phase: MissionPhase::Acting,
            since_ms: BEGIN_MS,
            ended_ms: None,
            plan: 1,
            steps: Vec::new(),
            more_steps: 0,
            output: String::new(),
            words_alone: false,
        }],
        calls: Vec::new(),
        unsettled: Vec::new(),
        page: None,
        lost: Vec::new(),
        budget: vec![
            BudgetOverview { expense: Expense::ModelCalls, used: 3.0, limit: Some(200.0) },
            BudgetOverview { expense: Expense::Metres, used: 8.5, limit: Some(10.0) },
        ],
        watchdog: None,
        recording: None,
    }
}

pub(crate) fn basis() -> Basis {
    Basis { stops: 0, stopped: false, mission: Some(MISSION.into()), plan: 1, control: 0 }
}

/// Whether the arm may grasp.
pub(crate) fn approval(number: u32, arguments: Value) -> OpenQuestion {
    let call = CallSubject {
        step: StepNumber(4),
        tool: "arm.grasp".into(),
        arguments: object(arguments),
        fingerprint: ToolFingerprint(0xab),
        effect: Effect::Move,
        resources: vec!["arm".into(), "gripper".into()],
        because: vec!["The arm moves near people.".to_owned()],
    };
    question(number, "May the robot do this?", Subject::Call { call, plan: PlanDigest("d1".to_owned()) })
}

pub(crate) fn choice(number: u32, choices: &[&str]) -> OpenQuestion {
    let choices: Vec<String> = choices.iter().map(|choice| (*choice).to_owned()).collect();
    let default = choices.first().cloned();
    question(number, "Which cup is meant?", Subject::Choice { choices, default })
}

fn question(number: u32, text: &str, subject: Subject) -> OpenQuestion {
    let number = QuestionNumber(number);
    let patience = Duration::from_secs(120);
    let question = Question { number, text: text.to_owned(), subject, patience };
    let id = QuestionId { mission: MISSION.into(), number };
    OpenQuestion { id, task: "Bring me the red cup.".to_owned(), question, left: Duration::from_secs(105) }
}

/// The first frame of a robot that carries out the mission, ten seconds after its beginning.
pub(crate) fn first_frame() -> Frame {
    Frame {
        frame: 1,
        at_ms: BEGIN_MS + 10_000,
        overview: Some(Box::new(overview())),
        basis: Some(basis()),
        questions: Some(Vec::new()),
        you: Some(You { name: "this machine".to_owned(), role: Role::Operate }),
        ..Frame::default()
    }
}

/// A model that has had the frame with the events of the mission.
pub(crate) fn model(change: impl FnOnce(&mut Frame)) -> Model {
    let mut frame = Frame { events: events(), ..first_frame() };
    change(&mut frame);
    let mut model = Model::default();
    model.apply(Update::Frame(Box::new(frame)), Duration::ZERO);
    model
}
