//! What people do with the robot's tasks: they ask for them, approve and deny calls, choose, revise and dispute. Kept as it
//! was said, with who and when; what follows from it is worked out when it is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_core::fragment::one_line;
use cortex_protocol::question::{Answer, CallSubject, Question, QuestionNumber, QuestionOutcome, Subject};
use cortex_protocol::{CloudEvent, MissionEvent, MissionId, Origin};
use serde::{Deserialize, Serialize};

/// Most characters of a subject or of its detail.
const TEXT_CHARACTERS: usize = 500;
/// Most characters of the name of a person.
const PERSON_CHARACTERS: usize = 60;
/// Most calls of one answer that are kept, each by itself.
const MOST_CALLS: usize = 8;
/// By which entrances people come; events and other systems are no people.
const PEOPLE: [&str; 3] = ["ros", "web", "cli"];

/// Something that a person did with a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interaction {
    /// What.
    pub kind: InteractionKind,
    /// The task, the call or the question. At most 500 characters on one line.
    pub subject: String,
    /// The reason, the choice or the revision. May be empty.
    pub detail: String,
    /// Who.
    pub person: String,
    /// When, in milliseconds since 1970.
    pub wall_ms: u64,
    /// How many minutes the local time was ahead of UTC then.
    pub utc_offset_min: i32,
}

/// One that is kept.
#[derive(Debug, Clone)]
pub(crate) struct KeptInteraction {
    pub(crate) interaction: Interaction,
    /// Its number in the order of arrival.
    pub(crate) sequence: u64,
}

/// What a person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// Gave a task.
    Asked,
    /// Approved a call.
    Approved,
    /// Denied a call; the detail is the reason.
    Denied,
    /// Answered a question; the detail is the choice.
    Chose,
    /// Revised a task in mid mission; the detail is what was said.
    Revised,
    /// Said that a task was not done; the detail is the reason.
    Disputed,
}

/// Whether commands of this origin are a person's.
#[must_use]
pub fn is_person(origin: &Origin) -> bool {
    PEOPLE.contains(&origin.channel.as_str())
}

/// The name of the person behind an origin, on one line.
#[must_use]
pub fn person(origin: &Origin) -> String {
    one_line(&origin.client, PERSON_CHARACTERS)
}

/// The tasks that wait for others. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct WaitingTasks(Arc<Mutex<BTreeSet<(MissionId, String)>>>);

impl WaitingTasks {
    /// Their words, in the order in which they came.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.lock().iter().map(|(_, task)| task.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(MissionId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what people do from the events of the missions.
#[derive(Debug, Default)]
pub struct InteractionReader {
    missions: BTreeMap<MissionId, OpenMission>,
    waiting: WaitingTasks,
}

/// A mission that has not ended.
#[derive(Debug)]
struct OpenMission {
    task: String,
    questions: BTreeMap<QuestionNumber, Question>,
}

impl InteractionReader {
    /// A reader that keeps these tasks as they are.
    #[must_use]
    pub fn new(waiting: WaitingTasks) -> Self {
        Self { missions: BTreeMap::new(), waiting }
    }

    /// What a person did, as this event tells it. `utc_offset_min`: minutes by which local time is ahead of UTC now.
    pub fn read(&mut self, event: &CloudEvent, wall_ms: u64, utc_offset_min: i32) -> Vec<Interaction> {
        let mission = &event.subject;
        let of = |origin: &Origin, said: Vec<(InteractionKind, String, String)>| -> Vec<Interaction> {
            let said = said.into_iter().filter(|_| is_person(origin));
            let done = said.map(|(kind, subject, detail)| Interaction {
                kind,
                subject: one_line(&subject, TEXT_CHARACTERS),
                detail: one_line(&detail, TEXT_CHARACTERS),
                person: person(origin),
                wall_ms,
                utc_offset_min,
            });
            // A text of spaces says nothing.
            done.filter(|done| !done.subject.trim().is_empty()).collect()
        };
        let task = |reader: &Self| reader.missions.get(mission).map(|open| open.task.clone()).unwrap_or_default();
        match &event.data.payload {
            MissionEvent::Accepted { task, .. } => {
                let open = OpenMission { task: one_line(task, TEXT_CHARACTERS), questions: BTreeMap::new() };
                self.missions.insert(mission.clone(), open);
                of(&event.data.origin, vec![(InteractionKind::Asked, task.clone(), String::new())])
            }
            MissionEvent::Queued { .. } => {
                if let Some(open) = self.missions.get(mission) {
                    self.waiting.lock().insert((mission.clone(), open.task.clone()));
                }
                Vec::new()
            }
            MissionEvent::Classified { .. } | MissionEvent::Planning { .. } => {
                self.begins(mission);
                Vec::new()
            }
            MissionEvent::Asked { question } => {
                if let Some(open) = self.missions.get_mut(mission) {
                    open.questions.insert(question.number, question.clone());
                }
                Vec::new()
            }
            MissionEvent::QuestionEnded { number, outcome } => {
                let asked = self.missions.get_mut(mission).and_then(|open| open.questions.remove(number));
                match (asked, outcome) {
                    (Some(asked), QuestionOutcome::Answered { answer, by }) => of(by, answered(&asked, answer)),
                    _ => Vec::new(),
                }
            }
            MissionEvent::TaskRevised { text, origin } => {
                of(origin, vec![(InteractionKind::Revised, task(self), text.clone())])
            }
            MissionEvent::Disputed { reason, origin, .. } => {
                of(origin, vec![(InteractionKind::Disputed, task(self), reason.clone())])
            }
            MissionEvent::Finished { .. } => {
                self.begins(mission);
                self.missions.remove(mission);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The task waits no longer.
    fn begins(&self, mission: &MissionId) {
        self.waiting.lock().retain(|(waiting, _)| waiting != mission);
    }
}

/// What an answer decides: of several calls, each by itself.
fn answered(question: &Question, answer: &Answer) -> Vec<(InteractionKind, String, String)> {
    let (kind, detail) = match answer {
        Answer::Approve { .. } => (InteractionKind::Approved, String::new()),
        Answer::Deny { reason } => (InteractionKind::Denied, reason.clone()),
        Answer::Choose { choice } => (InteractionKind::Chose, choice.clone()),
    };
    let calls: Vec<String> = match &question.subject {
        Subject::Call { call, .. } => vec![called(call)],
        Subject::Plan { steps, .. } => steps.iter().take(MOST_CALLS).map(called).collect(),
        Subject::Choice { .. } => vec![question.text.clone()],
    };
    calls.into_iter().map(|call| (kind, call, detail.clone())).collect()
}

fn called(call: &CallSubject) -> String {
    if call.arguments.is_empty() {
        return call.tool.to_string();
    }
    let arguments = call.arguments.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name} {value}")
    });
    format!("{} ({})", call.tool, arguments.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests;
