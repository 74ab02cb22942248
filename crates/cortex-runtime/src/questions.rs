//! The open questions to people, and the way of an answer to its mission. The one owner of what is open: what a mission
//! asks is entered here, and leaves when it is answered, when its time is up, or when the mission ends, however it ends.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_core::mission::AnswerProblem;
use cortex_protocol::question::MAX_REASON_BYTES;
use cortex_protocol::{Answer, MissionId, OpenQuestion, Origin, Question, QuestionId, QuestionNumber, QuestionOutcome};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Answers that may wait for a mission; it takes each at once.
const ANSWERS: usize = 8;
/// Questions that have ended of which is remembered how.
const REMEMBERED: usize = 256;

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnswerRefusal {
    /// No mission that runs has asked it.
    #[error("there is no open question {question}; `cortex pending` lists them")]
    Unknown {
        /// Which.
        question: QuestionId,
    },
    /// It has ended.
    #[error("the question {question} has ended: {how}")]
    Ended {
        /// Which.
        question: QuestionId,
        /// How.
        how: String,
    },
    /// The reason is too long.
    #[error("the reason has {bytes} bytes; at most {MAX_REASON_BYTES} are taken. Say it shorter")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Answers come faster than they can be taken.
    #[error("many answers are under way; wait for their results")]
    Busy,
    /// The mission does not take it.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: AnswerProblem,
    },
}

/// An answer on its way to the mission, and who waits for its fate.
pub(crate) struct AnswerMessage {
    pub(crate) number: QuestionNumber,
    pub(crate) answer: Answer,
    pub(crate) origin: Origin,
    pub(crate) reply: oneshot::Sender<Result<(), AnswerRefusal>>,
}

impl AnswerMessage {
    pub(crate) fn refuse(self, refusal: AnswerRefusal) {
        // Whoever answered may have left.
        let _ = self.reply.send(Err(refusal));
    }
}

struct Open {
    question: OpenQuestion,
    asked: Instant,
}

impl Open {
    fn now(&self) -> OpenQuestion {
        let left = self.question.question.patience.saturating_sub(self.asked.elapsed());
        OpenQuestion { left, ..self.question.clone() }
    }
}

struct Asker {
    task: String,
    answers: mpsc::Sender<AnswerMessage>,
}

#[derive(Default)]
struct State {
    askers: BTreeMap<MissionId, Asker>,
    /// Oldest first.
    open: Vec<Open>,
    /// The latest at the end.
    ended: VecDeque<(QuestionId, String)>,
}

/// See the module.
pub(crate) struct Questions {
    state: Mutex<State>,
    watch: watch::Sender<Arc<Vec<OpenQuestion>>>,
}

impl Default for Questions {
    fn default() -> Self {
        Self { state: Mutex::default(), watch: watch::Sender::new(Arc::default()) }
    }
}

/// The answers for one mission. Dropping it withdraws what the mission has asked.
pub(crate) struct Answers {
    mission: MissionId,
    answers: mpsc::Receiver<AnswerMessage>,
    questions: Arc<Questions>,
}

impl Answers {
    /// The next answer. Never ends while the mission runs.
    pub(crate) async fn next(&mut self) -> Option<AnswerMessage> {
        self.answers.recv().await
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.questions.end(&self.mission);
    }
}

impl Questions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, state: &State) {
        self.watch.send_replace(Arc::new(state.open.iter().map(Open::now).collect()));
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Arc<Vec<OpenQuestion>>> {
        self.watch.subscribe()
    }

    pub(crate) fn open_now(&self) -> Vec<OpenQuestion> {
        self.state().open.iter().map(Open::now).collect()
    }

    /// A mission begins that may ask.
    pub(crate) fn begin(self: &Arc<Self>, mission: &MissionId, task: &str) -> Answers {
        let (sender, answers) = mpsc::channel(ANSWERS);
        self.state().askers.insert(mission.clone(), Asker { task: task.to_owned(), answers: sender });
        Answers { mission: mission.clone(), answers, questions: Arc::clone(self) }
    }

    /// A mission asks.
    pub(crate) fn asked(&self, mission: &MissionId, question: Question) {
        let mut state = self.state();
        let task = state.askers.get(mission).map(|asker| asker.task.clone()).unwrap_or_default();
        let id = QuestionId { mission: mission.clone(), number: question.number };
        let left = question.patience;
        state.open.push(Open { question: OpenQuestion { id, task, question, left }, asked: Instant::now() });
        self.publish(&state);
    }

    /// A question has ended.
    pub(crate) fn closed(&self, mission: &MissionId, number: QuestionNumber, outcome: QuestionOutcome) {
        let id = QuestionId { mission: mission.clone(), number };
        let mut state = self.state();
        state.open.retain(|open| open.question.id != id);
        state.remember(id, shown(&outcome));
        self.publish(&state);
    }

    fn end(&self, mission: &MissionId) {
        let mut state = self.state();
        state.askers.remove(mission);
        let of_mission = |open: &Open| open.question.id.mission == *mission;
        let lost: Vec<QuestionId> =
            state.open.iter().filter(|open| of_mission(open)).map(|open| open.question.id.clone()).collect();
        if lost.is_empty() {
            return;
        }
        state.open.retain(|open| !of_mission(open));
        for id in lost {
            state.remember(id, "the task has ended".to_owned());
        }
        self.publish(&state);
    }

    /// Hands an answer to its mission, and waits for its fate.
    pub(crate) async fn answer(
        &self,
        question: QuestionId,
        answer: Answer,
        origin: Origin,
    ) -> Result<(), AnswerRefusal> {
        if let Answer::Deny { reason } = &answer
            && reason.len() > MAX_REASON_BYTES
        {
            return Err(AnswerRefusal::TooLong { bytes: reason.len() });
        }
        let ended = |state: &State| match state.ended.iter().find(|(id, _)| *id == question) {
            Some((_, how)) => AnswerRefusal::Ended { question: question.clone(), how: how.clone() },
            None => AnswerRefusal::Unknown { question: question.clone() },
        };
        let (reply, fate) = oneshot::channel();
        {
            let state = self.state();
            if !state.open.iter().any(|open| open.question.id == question) {
                return Err(ended(&state));
            }
            let Some(asker) = state.askers.get(&question.mission) else { return Err(ended(&state)) };
            let message = AnswerMessage { number: question.number, answer, origin, reply };
            match asker.answers.try_send(message) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Full(_)) => return Err(AnswerRefusal::Busy),
                Err(mpsc::error::TrySendError::Closed(_)) => return Err(ended(&state)),
            }
        }
        match fate.await {
            Ok(fate) => fate,
            // The mission ended before it came to the answer.
            Err(_) => Err(ended(&self.state())),
        }
    }
}

impl State {
    fn remember(&mut self, id: QuestionId, how: String) {
        self.ended.push_back((id, how));
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }
}

fn shown(outcome: &QuestionOutcome) -> String {
    match outcome {
        QuestionOutcome::Answered { .. } => "it was answered".to_owned(),
        QuestionOutcome::Expired => "nobody answered in time".to_owned(),
        QuestionOutcome::Withdrawn { because } => format!("it was withdrawn: {because}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cortex_protocol::question::{ApprovalScope, Subject};

    use super::*;

    /// However a mission ends: the one that runs it may be dropped in mid question.
    #[tokio::test(start_paused = true)]
    async fn a_question_ends_with_the_mission_that_has_asked_it() {
        let questions = Arc::new(Questions::default());
        let mission = MissionId::new("pumping");
        let answers = questions.begin(&mission, "pump");
        let subject = Subject::Choice { choices: vec!["red".to_owned(), "blue".to_owned()], default: None };
        let question = QuestionId { mission: mission.clone(), number: QuestionNumber(1) };
        let asked = Question { number: question.number, text: "Which?".into(), subject, patience: Duration::MAX };
        questions.asked(&mission, asked);
        assert_eq!(questions.open_now().len(), 1);
        drop(answers);
        assert!(questions.open_now().is_empty() && questions.watch().borrow().is_empty());
        let yes = Answer::Approve { scope: ApprovalScope::Once };
        let refused = questions.answer(question.clone(), yes, Origin::new("cli", "test")).await;
        assert_eq!(refused, Err(AnswerRefusal::Ended { question, how: "the task has ended".to_owned() }));
    }
}
