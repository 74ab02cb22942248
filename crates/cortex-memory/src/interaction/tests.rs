use cortex_protocol::event::EventData;
use cortex_protocol::question::{ApprovalScope, PlanDigest};
use cortex_protocol::{Effect, StepNumber, TaskClass, ToolFingerprint};
use serde_json::{Map, json};

use super::*;

fn event(mission: &str, channel: &str, payload: MissionEvent) -> CloudEvent {
    let (provider, name, action, actor) = payload.routing();
    CloudEvent {
        specversion: cortex_protocol::event::SPEC_VERSION.to_owned(),
        id: cortex_protocol::EventId::new("one"),
        source: "/robot/cortex".to_owned(),
        kind: "cortex.test".to_owned(),
        subject: MissionId::new(mission),
        time: String::new(),
        datacontenttype: "application/json".to_owned(),
        provider: provider.to_owned(),
        event: name.to_owned(),
        action: action.to_owned(),
        actor: actor.to_owned(),
        sequence: 1,
        data: EventData { origin: Origin::new(channel, "anna"), text: String::new(), payload },
    }
}

fn accepted(task: &str) -> MissionEvent {
    MissionEvent::Accepted { task: task.to_owned(), session: None }
}

fn call(tool: &str) -> CallSubject {
    let arguments: Map<String, serde_json::Value> = [("place".to_owned(), json!("street"))].into_iter().collect();
    CallSubject {
        step: StepNumber(1),
        tool: tool.into(),
        arguments,
        fingerprint: ToolFingerprint(7),
        effect: Effect::Move,
        resources: Vec::new(),
        because: Vec::new(),
    }
}

fn asked(subject: Subject) -> MissionEvent {
    let question =
        Question { number: QuestionNumber(1), text: "Which room?".to_owned(), subject, patience: Default::default() };
    MissionEvent::Asked { question }
}

fn ended(answer: Answer, channel: &str) -> MissionEvent {
    let outcome = QuestionOutcome::Answered { answer, by: Origin::new(channel, "ben") };
    MissionEvent::QuestionEnded { number: QuestionNumber(1), outcome }
}

fn told(interaction: &Interaction) -> (InteractionKind, &str, &str, &str) {
    let Interaction { kind, subject, detail, person, .. } = interaction;
    (*kind, subject.as_str(), detail.as_str(), person.as_str())
}

#[test]
fn what_people_ask_decide_revise_and_dispute_is_read_with_who_and_when() {
    let mut reader = InteractionReader::default();
    let mut read = |channel: &str, payload| reader.read(&event("m", channel, payload), 5_000, 60);
    let task = read("web", accepted("go to the\nstreet"));
    assert_eq!(told(&task[0]), (InteractionKind::Asked, "go to the\\nstreet", "", "anna"));
    assert_eq!((task[0].wall_ms, task[0].utc_offset_min), (5_000, 60));
    let plan = PlanDigest("d".to_owned());
    read("web", asked(Subject::Plan { steps: vec![call("base.go_to"), call("arm.wave")], plan }));
    let denied = read("web", ended(Answer::Deny { reason: "too late".to_owned() }, "cli"));
    assert_eq!(
        denied.iter().map(told).collect::<Vec<_>>(),
        [
            (InteractionKind::Denied, "base.go_to (place street)", "too late", "ben"),
            (InteractionKind::Denied, "arm.wave (place street)", "too late", "ben"),
        ]
    );
    assert!(read("web", ended(Answer::Deny { reason: String::new() }, "cli")).is_empty(), "it has ended already");
    read("web", asked(Subject::Choice { choices: vec!["hall".to_owned()], default: None }));
    let chosen = read("web", ended(Answer::Choose { choice: "hall".to_owned() }, "ros"));
    assert_eq!(told(&chosen[0]), (InteractionKind::Chose, "Which room?", "hall", "ben"));
    let origin = Origin::new("cli", "carl");
    let revised = read("web", MissionEvent::TaskRevised { text: "to the hall".to_owned(), origin: origin.clone() });
    assert_eq!(told(&revised[0]), (InteractionKind::Revised, "go to the\\nstreet", "to the hall", "carl"));
    let mission = MissionId::new("other");
    let disputed = read("web", MissionEvent::Disputed { mission, reason: "you stood still".to_owned(), origin });
    assert_eq!(told(&disputed[0]), (InteractionKind::Disputed, "go to the\\nstreet", "you stood still", "carl"));
}

#[test]
fn events_and_other_systems_are_no_people() {
    let mut reader = InteractionReader::default();
    let mut read = |channel: &str, payload| reader.read(&event("m", channel, payload), 0, 0);
    assert!(read("event", accepted("patrol")).is_empty());
    read("event", asked(Subject::Call { call: call("base.go_to"), plan: PlanDigest("d".to_owned()) }));
    assert!(read("web", ended(Answer::Approve { scope: ApprovalScope::Once }, "mcp")).is_empty());
    read("event", asked(Subject::Call { call: call("base.go_to"), plan: PlanDigest("d".to_owned()) }));
    let approved = read("event", ended(Answer::Approve { scope: ApprovalScope::Once }, "web"));
    assert_eq!(told(&approved[0]), (InteractionKind::Approved, "base.go_to (place street)", "", "ben"));
}

#[test]
fn a_task_waits_from_when_it_is_queued_until_it_begins_or_ends() {
    let waiting = WaitingTasks::default();
    let mut reader = InteractionReader::new(waiting.clone());
    let mut read = |mission: &str, payload| reader.read(&event(mission, "web", payload), 0, 0);
    for (mission, task) in [("1", "patrol"), ("2", "tidy up"), ("3", "sing")] {
        read(mission, accepted(task));
    }
    read("2", MissionEvent::Queued { ahead: 1 });
    read("3", MissionEvent::Queued { ahead: 2 });
    assert_eq!(waiting.texts(), ["tidy up", "sing"]);
    read("2", MissionEvent::Classified { class: TaskClass::Action });
    assert_eq!(waiting.texts(), ["sing"]);
    assert!(read("9", MissionEvent::Queued { ahead: 3 }).is_empty(), "of a task that nobody heard of");
    assert_eq!(waiting.texts(), ["sing"]);
}
