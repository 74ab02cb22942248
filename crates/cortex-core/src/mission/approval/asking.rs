//! Questions to people, their answers, and what follows them.

use std::fmt::Write as _;
use std::time::Duration;

use cortex_protocol::question::{ApprovalScope, CallSubject, PlanDigest, Subject};
use cortex_protocol::{
    Answer, FailureKind, MissionEvent, Origin, PolicyVerdict, Question, QuestionNumber, QuestionOutcome, Step,
    StepNumber, StepStatus, ToolCall, ToolFingerprint, ToolName, ToolOutcome,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::grants::{self, CallBytes};
use super::{DeniedCall, Judged};
use crate::chat::ModelCall;
use crate::fragment::capped;
use crate::mission::{Arranged, Effect, Mission, Phase, Research, ResearchState};
use crate::policy::RobotState;

/// Most questions that one mission asks. A person who is asked for ever says yes in the end.
const MAX_QUESTIONS: u32 = 100;
/// Most characters of the arguments of one call, and of a whole question, in words. The subject holds all of them.
const ARGUMENTS_SHOWN: usize = 300;
const QUESTION_SHOWN: usize = 4_000;
/// Most characters of the name of whoever answers.
const NAME_SHOWN: usize = 80;

/// Who answers, as the rules of policy name them: `channel:client`. A client chooses its name itself.
fn named(origin: &Origin) -> String {
    let name = format!("{}:{}", origin.channel, origin.client);
    name.chars().filter(|letter| !letter.is_control()).take(NAME_SHOWN).collect()
}

/// What follows an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::mission) enum AfterAnswer {
    /// The plan goes on.
    Plan,
    /// The step is called with these arguments.
    Start { step: StepNumber, arguments: Map<String, Value>, fingerprint: ToolFingerprint },
    /// Research goes on: the answer is for the call at this index.
    Research {
        research: Vec<Research>,
        plan_calls: Vec<(ModelCall, ToolName)>,
        arranged: Option<Arranged>,
        index: usize,
    },
}

/// Why a question can't be answered so. In words for the person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnswerProblem {
    /// The mission asks nothing.
    #[error("the mission asks nothing now, so question {} has ended", .number.0)]
    Ended {
        /// The question that is answered.
        number: QuestionNumber,
    },
    /// The mission asks something else.
    #[error("question {} is not open", .number.0)]
    NotOpen {
        /// The question that is answered.
        number: QuestionNumber,
    },
    /// The time to answer is over.
    #[error("the time of question {} is up", .number.0)]
    TooLate {
        /// The question that is answered.
        number: QuestionNumber,
    },
    /// A choice, where a yes or a no is wanted.
    #[error("this question is answered by approve or deny")]
    NotApproveOrDeny,
    /// Something else than one of the choices.
    #[error("this question is answered by one of its choices, to the letter: {}", listed(.choices))]
    NoChoice {
        /// What may be answered.
        choices: Vec<String>,
    },
}

fn listed(choices: &[String]) -> String {
    choices.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>().join(", ")
}

impl Mission {
    /// Asks, once for all of them, about the steps of the plan that have not begun and that policy asks about. Returns
    /// whether there are any.
    pub(super) fn ask_about_plan(&mut self) -> bool {
        let is_pending = |step: &&Step| self.status(step.number) == Some(StepStatus::Pending);
        let asked: Vec<CallSubject> = self
            .run
            .steps()
            .iter()
            .filter(is_pending)
            .filter_map(|step| Some((step.number, self.judged_as_planned(step)?)))
            .filter(|(number, judged)| self.lacks_approval(*number, judged))
            .map(|(number, judged)| subject(number, &judged))
            .collect();
        self.approvals.plan_asked = self.run.number();
        if asked.is_empty() {
            return false;
        }
        let mut text = match asked.len() {
            1 => "May the robot do this step of its plan?".to_owned(),
            count => format!("May the robot do these {count} steps of its plan?"),
        };
        for call in &asked {
            let _ = write!(text, " Step {}: {}", call.step, in_words(call));
        }
        let plan = self.plan_digest();
        self.ask(text, Subject::Plan { steps: asked, plan }, AfterAnswer::Plan);
        true
    }

    /// Asks about one call whose arguments are known only now, or are others than were approved.
    pub(super) fn ask_about_call(
        &mut self,
        step: StepNumber,
        arguments: Map<String, Value>,
        fingerprint: ToolFingerprint,
        judged: &Judged,
    ) {
        let call = subject(step, judged);
        let text = format!("May the robot do step {step} of its plan? {}", in_words(&call));
        let plan = self.plan_digest();
        self.ask(text, Subject::Call { call, plan }, AfterAnswer::Start { step, arguments, fingerprint });
    }

    /// Asks the next question of the model to a person, once everything else of the same reply has its answer.
    pub(in crate::mission) fn ask_next_choice(&mut self) {
        let Phase::Researching { research, plan_calls, arranged } = &self.phase else { return };
        let is_under_way =
            |entry: &Research| matches!(entry.state, ResearchState::Waiting { .. } | ResearchState::Running { .. });
        if research.iter().any(is_under_way) {
            return;
        }
        let next = research.iter().enumerate().find_map(|(index, entry)| match &entry.state {
            ResearchState::Asking { choice } => Some((index, choice.clone())),
            _ => None,
        });
        let Some((index, choice)) = next else { return };
        let then = AfterAnswer::Research {
            research: research.clone(),
            plan_calls: plan_calls.clone(),
            arranged: arranged.clone(),
            index,
        };
        let text = format!("The robot asks: {}", Value::from(choice.question.as_str()));
        self.ask(text, Subject::Choice { choices: choice.choices, default: choice.default }, then);
    }

    fn ask(&mut self, text: String, subject: Subject, then: AfterAnswer) {
        let number = QuestionNumber(self.approvals.asked.saturating_add(1));
        let patience = self.setup.policy.approval.deadline;
        let text = capped(&text, QUESTION_SHOWN);
        let question = Question { number, text: text.clone(), subject, patience };
        let until = self.clock.now().saturating_add(patience);
        if self.approvals.asked >= MAX_QUESTIONS {
            let reason = format!("People were asked {MAX_QUESTIONS} times in this mission, the most that may be.");
            self.phase = Phase::Asking { number, until, then: then.clone() };
            self.denied_by(question.subject, then, &reason);
            return;
        }
        self.approvals.asked = number.0;
        self.clock.note_progress();
        self.approvals.open = Some(question.clone());
        self.effects.push(Effect::AskPerson { question: question.clone() });
        self.report(MissionEvent::Asked { question });
        self.publish(text);
        self.phase = Phase::Asking { number, until, then };
    }

    /// Whether a question can be answered so at this time.
    ///
    /// # Errors
    /// Why not, for the person.
    pub fn check_answer(&self, now: Duration, number: QuestionNumber, answer: &Answer) -> Result<(), AnswerProblem> {
        let Phase::Asking { number: asked, until, .. } = &self.phase else {
            return Err(AnswerProblem::Ended { number });
        };
        let open = self.approvals.open.as_ref().filter(|open| open.number == number && open.number == *asked);
        let Some(open) = open else { return Err(AnswerProblem::NotOpen { number }) };
        if self.clock.now().max(now) >= *until {
            return Err(AnswerProblem::TooLate { number });
        }
        match (&open.subject, answer) {
            (Subject::Call { .. } | Subject::Plan { .. }, Answer::Approve { .. } | Answer::Deny { .. }) => Ok(()),
            (Subject::Choice { choices, .. }, Answer::Choose { choice }) if choices.contains(choice) => Ok(()),
            (Subject::Call { .. } | Subject::Plan { .. }, Answer::Choose { .. }) => {
                Err(AnswerProblem::NotApproveOrDeny)
            }
            (Subject::Choice { choices, .. }, _) => Err(AnswerProblem::NoChoice { choices: choices.clone() }),
        }
    }

    pub(in crate::mission) fn on_answered(&mut self, number: QuestionNumber, answer: Answer, by: Origin) {
        if self.check_answer(self.clock.now(), number, &answer).is_err() {
            return;
        }
        let Phase::Asking { then, .. } = self.phase.clone() else { return };
        let Some(question) = self.approvals.open.take() else { return };
        let who = named(&by);
        self.close(number, QuestionOutcome::Answered { answer: answer.clone(), by });
        self.clock.note_progress();
        match answer {
            Answer::Approve { scope } => {
                self.grant(&question.subject, scope);
                self.go_on_after_approval(then);
            }
            Answer::Deny { reason } => {
                let reason = match reason.trim() {
                    "" => "A person denied it.".to_owned(),
                    reason => format!("A person denied it: {}", Value::from(reason)),
                };
                self.denied_by(question.subject, then, &reason);
            }
            Answer::Choose { choice } => {
                self.choice_made(then, ToolOutcome::success(json!({"answer": choice, "by": who})));
            }
        }
    }

    fn grant(&mut self, subject: &Subject, scope: ApprovalScope) {
        let until = self.clock.now().saturating_add(self.setup.policy.approval.valid);
        let plan = match subject {
            Subject::Call { plan, .. } | Subject::Plan { plan, .. } => plan,
            Subject::Choice { .. } => return,
        };
        for call in asked_calls(subject) {
            let tool_call = ToolCall { tool: call.tool.clone(), arguments: call.arguments.clone() };
            let bytes = CallBytes::of(&tool_call, call.fingerprint);
            let only_for = match scope {
                ApprovalScope::Once => Some((call.step, plan.clone())),
                ApprovalScope::Mission => None,
            };
            self.approvals.grants.add(bytes, only_for, until);
        }
    }

    fn go_on_after_approval(&mut self, then: AfterAnswer) {
        self.phase = Phase::Underway;
        match then {
            AfterAnswer::Start { step, arguments, fingerprint } => {
                let Some(step) = self.step(step).cloned() else { return self.advance() };
                match self.is_as_planned(&step) {
                    Ok(now) if now == fingerprint => self.start_step(&step, arguments, fingerprint),
                    // What changed was noticed when it did; this is the last look.
                    Ok(_) => self.advance(),
                    Err(outcome) => {
                        self.end_step(step.number, outcome);
                        self.advance();
                    }
                }
            }
            AfterAnswer::Plan | AfterAnswer::Research { .. } => self.advance(),
        }
    }

    /// What was asked is not done, for this reason.
    fn denied_by(&mut self, subject: Subject, then: AfterAnswer, reason: &str) {
        if let AfterAnswer::Research { .. } = then {
            self.choice_made(then, ToolOutcome::failure(FailureKind::Denied, reason));
            return;
        }
        for call in asked_calls(&subject) {
            self.approvals.denied.push(DeniedCall {
                tool: call.tool.clone(),
                arguments: grants::canonical(&call.arguments),
                reason: reason.to_owned(),
            });
        }
        self.phase = Phase::Underway;
        for call in asked_calls(&subject) {
            self.deny_step(call.step, reason);
        }
        self.advance();
    }

    fn choice_made(&mut self, then: AfterAnswer, outcome: ToolOutcome) {
        let AfterAnswer::Research { mut research, plan_calls, arranged, index } = then else { return };
        if let Some(entry) = research.get_mut(index) {
            entry.state = ResearchState::Answered { outcome };
        }
        self.phase = Phase::Researching { research, plan_calls, arranged };
        self.go_on_with_research();
    }

    /// The time of the question is up: its default counts.
    pub(in crate::mission) fn end_unanswered_question(&mut self) {
        let Phase::Asking { number, until, then } = self.phase.clone() else { return };
        let Some(question) = self.approvals.open.clone() else {
            // The state was kept over a restart: who could have answered has another question.
            self.leave_question("Cortex was started anew");
            match self.phase {
                Phase::Researching { .. } => self.go_on_with_research(),
                _ => self.advance(),
            }
            return;
        };
        if self.clock.now() < until {
            return;
        }
        self.approvals.open = None;
        self.close(number, QuestionOutcome::Expired);
        let seconds = question.patience.as_secs_f64();
        let reason = format!("Nobody answered within {seconds} s.");
        match &question.subject {
            Subject::Choice { default: Some(default), .. } => {
                let outcome =
                    ToolOutcome::success(json!({"answer": default, "note": format!("{reason} This is the default.")}));
                self.choice_made(then, outcome);
            }
            Subject::Choice { default: None, .. } => {
                self.choice_made(then, ToolOutcome::failure(FailureKind::Timeout, reason));
            }
            Subject::Call { .. } | Subject::Plan { .. } => self.denied_by(question.subject, then, &reason),
        }
    }

    /// When the question that is open ends by itself.
    pub(in crate::mission) fn question_ends(&self, until: Duration) -> Duration {
        if self.approvals.open.is_some() { until } else { self.clock.now() }
    }

    fn close(&mut self, number: QuestionNumber, outcome: QuestionOutcome) {
        self.effects.push(Effect::CloseQuestion { number, outcome: outcome.clone() });
        self.report(MissionEvent::QuestionEnded { number, outcome });
    }

    /// Withdraws the question that is open, if one is. What follows is for the caller.
    pub(in crate::mission) fn withdraw_question(&mut self, because: &str) {
        if let Some(question) = self.approvals.open.take() {
            self.close(question.number, QuestionOutcome::Withdrawn { because: because.to_owned() });
        }
    }

    /// Withdraws the question, and stands where the mission stood before it was asked.
    pub(in crate::mission) fn leave_question(&mut self, because: &str) {
        self.withdraw_question(because);
        let Phase::Asking { then, .. } = self.phase.clone() else { return };
        match then {
            AfterAnswer::Research { research, plan_calls, arranged, .. } => {
                self.phase = Phase::Researching { research, plan_calls, arranged };
            }
            AfterAnswer::Plan => {
                self.phase = Phase::Underway;
                self.approvals.plan_asked = 0;
            }
            AfterAnswer::Start { step, .. } => {
                self.phase = Phase::Underway;
                // A call that failed and was to be made anew: it is not.
                if self.status(step) == Some(StepStatus::Running) {
                    let message = format!("it was not called again: {because}, while a person was asked");
                    self.end_step(step, ToolOutcome::failure(FailureKind::Denied, message));
                }
            }
        }
    }

    /// Something has changed while a person is asked: withdraws a question whose subject is not what it was.
    pub(in crate::mission) fn review_question(&mut self) {
        let Phase::Asking { then, .. } = &self.phase else { return };
        if matches!(then, AfterAnswer::Research { .. }) {
            return;
        }
        let because = if self.is_paused() {
            "the missions are paused"
        } else if !self.calls.not_stopped().is_empty() {
            "something did not confirm that it is at rest"
        } else if self.failure_of_plan().is_some() {
            "the plan has failed"
        } else if self.misses_component() {
            "a component that the plan needs is away"
        } else if self.has_subject_changed() {
            "what was asked about has changed"
        } else {
            return;
        };
        self.leave_question(because);
        self.advance();
    }

    /// Whether what would really be called now is another than what is asked about.
    fn has_subject_changed(&self) -> bool {
        let Some(question) = &self.approvals.open else { return true };
        let same = |call: &CallSubject| {
            let Some(step) = self.step(call.step) else { return false };
            let Ok(fingerprint) = self.is_as_planned(step) else { return false };
            let asked = ToolCall { tool: step.call.tool.clone(), arguments: call.arguments.clone() };
            let judged = self.judged(&asked, fingerprint);
            self.forbidden(&asked).is_none()
                && judged.call.tool == call.tool
                && judged.fingerprint == call.fingerprint
                && judged.judgement.verdict != PolicyVerdict::Deny
        };
        !asked_calls(&question.subject).all(same)
    }

    pub(in crate::mission) fn on_robot_state(&mut self, state: RobotState) {
        if self.setup.policy.state == state {
            return;
        }
        self.setup.policy.state = state;
        self.review_question();
    }

    fn plan_digest(&mut self) -> PlanDigest {
        // Made anew for each question; what a yes is for is compared with the digest of the last one.
        let digest = grants::digest(self.run.plan(), self.run.fingerprints());
        self.approvals.digest.insert(digest).clone()
    }
}

fn asked_calls(subject: &Subject) -> impl Iterator<Item = &CallSubject> {
    let calls = match subject {
        Subject::Call { call, .. } => std::slice::from_ref(call),
        Subject::Plan { steps, .. } => steps.as_slice(),
        Subject::Choice { .. } => &[],
    };
    calls.iter()
}

fn subject(step: StepNumber, judged: &Judged) -> CallSubject {
    CallSubject {
        step,
        tool: judged.call.tool.clone(),
        arguments: judged.call.arguments.clone(),
        fingerprint: judged.fingerprint,
        effect: judged.effect,
        resources: judged.resources.clone(),
        because: judged.judgement.reasons.clone(),
    }
}

/// The call in words. JSON keeps what a model or the world has said on one line, in quotes.
fn in_words(call: &CallSubject) -> String {
    let arguments = capped(&Value::Object(call.arguments.clone()).to_string(), ARGUMENTS_SHOWN);
    format!("{} {arguments}. {}", call.tool, call.because.join(" "))
}
