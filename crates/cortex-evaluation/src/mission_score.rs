//! One recorded mission, asked anew of one model.

use std::time::{Duration, Instant};

use cortex_core::{ChatReply, ModelError, ModelErrorKind, Purpose};
use cortex_protocol::{MissionId, MissionStatus};
use cortex_runtime::tape::replay::Ending;
use cortex_runtime::tape::{Question, Reader, Rerun, TapeError};
use serde::Serialize;

use crate::candidate::Candidate;
use crate::consequence::{Consequence, RefusedReply, consequence};

/// Why a model is not asked any further.
const NO_ANSWERS: &str = "the model gave no answers";

/// What a tape says of its mission.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedMission {
    /// Which.
    pub mission: MissionId,
    /// What was to be done.
    pub task: String,
    /// How it ended. None: the tape breaks off.
    pub status: Option<MissionStatus>,
    /// Whether the person got what was asked for, and nobody disputes it.
    pub is_success: bool,
}

/// What came of asking a model the questions of one mission.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissionScore {
    /// What the tape says.
    #[serde(flatten)]
    pub recorded: RecordedMission,
    /// Questions that were asked.
    pub requests: u32,
    /// Questions to which the model gave no answer.
    pub unanswered: u32,
    /// What the model said last of why it gave none.
    pub failure: Option<String>,
    /// Questions that could not be compared, because the reply of then was refused or was none.
    pub not_compared: u32,
    /// Where something else would have followed than did.
    pub divergence: Option<Divergence>,
    /// Replies with calls that Cortex refuses.
    pub refusals: Vec<Refusal>,
    /// The questions (from 1) that the model answered with closing words where the record goes on, or that it would have
    /// ended as a success where the record has none.
    pub false_successes: Vec<u32>,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Whether any of the tokens are an estimate.
    pub tokens_estimated: bool,
    /// What they cost, by the configured prices.
    pub cost: f64,
    /// How long the answers took together, in seconds.
    pub seconds: f64,
    /// Why the questions end before the tape does. None: they do not.
    pub cut_short: Option<String>,
}

/// Where something else would have followed than did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergence {
    /// The question, from 1.
    pub question: u32,
    /// What it was about.
    pub purpose: Purpose,
    /// What followed then.
    pub recorded: String,
    /// What would follow now.
    pub now: String,
}

/// A reply with calls that Cortex refuses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// The question, from 1.
    pub question: u32,
    /// Why.
    pub problem: String,
}

impl MissionScore {
    fn of(mission: MissionId) -> Self {
        Self {
            recorded: RecordedMission { mission, task: String::new(), status: None, is_success: false },
            requests: 0,
            unanswered: 0,
            failure: None,
            not_compared: 0,
            divergence: None,
            refusals: Vec::new(),
            false_successes: Vec::new(),
            prompt_tokens: 0,
            completion_tokens: 0,
            tokens_estimated: false,
            cost: 0.0,
            seconds: 0.0,
            cut_short: None,
        }
    }

    /// A mission of which nothing is asked, because the model gave no answers before.
    pub(crate) fn not_asked(mission: MissionId) -> Self {
        Self { cut_short: Some(NO_ANSWERS.to_owned()), ..Self::of(mission) }
    }

    /// Whether the mission would have gone as recorded, and that was a success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.recorded.is_success
            && self.requests > 0
            && self.unanswered == 0
            && self.divergence.is_none()
            && self.refusals.is_empty()
            && self.cut_short.is_none()
    }

    fn book(&mut self, candidate: &Candidate, reply: &ChatReply) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(reply.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(reply.completion_tokens);
        self.tokens_estimated |= reply.tokens_estimated;
        let amount = |tokens: u64, price: f64| as_number(tokens) * price / 1e6;
        self.cost += amount(reply.prompt_tokens, candidate.prices.prompt)
            + amount(reply.completion_tokens, candidate.prices.completion);
    }

    fn compare(&mut self, number: u32, question: &Question<'_>, reply: &ChatReply) {
        let now = consequence(question, reply);
        if let Consequence::Refused { problem, reply: RefusedReply::Calls } = &now {
            self.refusals.push(Refusal { question: number, problem: problem.clone() });
        }
        let then = question.reply.as_ref().ok().map(|then| consequence(question, then));
        let Some(then) = then.filter(|then| !matches!(then, Consequence::Refused { .. })) else {
            self.not_compared += 1;
            return;
        };
        if question.asked.purpose == Purpose::Plan && is_false_success(&then, &now) {
            self.false_successes.push(number);
        }
        if self.divergence.is_none() && !then.is_same(&now) {
            let (recorded, now) = (then.told(), now.told());
            self.divergence = Some(Divergence { question: number, purpose: question.asked.purpose, recorded, now });
        }
    }
}

/// Whether the mission would end with words, or as a success, where it went on or ended otherwise.
fn is_false_success(then: &Consequence, now: &Consequence) -> bool {
    match (then, now) {
        (Consequence::End { is_success: then, .. }, Consequence::End { is_success: now, .. }) => *now && !then,
        (_, Consequence::End { in_words, is_success }) => *in_words || *is_success,
        (Consequence::End { .. }, _) => false,
        (_, Consequence::Refused { reply, .. }) => *reply == RefusedReply::Words,
        _ => false,
    }
}

/// Asks the candidate the questions of one tape.
///
/// # Errors
/// When the tape can't be read, or not to its end.
pub(crate) async fn score(
    mission: MissionId,
    reader: &mut Reader,
    candidate: &Candidate,
    mut asked: impl FnMut(&Result<ChatReply, ModelError>) -> bool,
) -> Result<MissionScore, TapeError> {
    let mut score = MissionScore::of(mission);
    let mut rerun = Rerun::of(reader);
    let mut goes_on = true;
    while let Some(question) = rerun.next_question()? {
        if !goes_on {
            continue;
        }
        let request = candidate.variation.request(&question);
        let began = Instant::now();
        let reply = match tokio::time::timeout(candidate.timeout, candidate.model.chat(&request)).await {
            Ok(reply) => reply.and_then(whole),
            Err(_) => Err(too_slow(candidate.timeout)),
        };
        score.seconds += began.elapsed().as_secs_f64();
        score.requests += 1;
        goes_on = asked(&reply);
        match reply {
            Ok(reply) => {
                score.book(candidate, &reply);
                score.compare(score.requests, &question, &reply);
            }
            Err(error) => {
                score.unanswered += 1;
                score.failure = Some(error.message);
            }
        }
    }
    let told = rerun.told();
    let is_success = told.result.as_ref().is_some_and(cortex_protocol::MissionResult::is_success);
    score.recorded.task.clone_from(&told.task);
    score.recorded.status = told.result.as_ref().map(|result| result.status);
    score.recorded.is_success = is_success && !told.is_disputed;
    score.cut_short = match rerun.outcome().ending {
        _ if !goes_on => Some(NO_ANSWERS.to_owned()),
        Ending::Same => None,
        Ending::NeverBegan => Some("the mission never began".to_owned()),
        Ending::BrokenOff => Some("the tape breaks off".to_owned()),
        Ending::InputCut { line } => Some(format!("line {line} was too long for the tape and was cut")),
        Ending::Different(difference) => {
            Some(format!("this cortex decides otherwise from line {} on", difference.line))
        }
    };
    Ok(score)
}

/// A reply that was cut is no answer.
fn whole(reply: ChatReply) -> Result<ChatReply, ModelError> {
    match reply.cut {
        None => Ok(reply),
        Some(because) => Err(failure(ModelErrorKind::CutReply, because)),
    }
}

fn too_slow(allowed: Duration) -> ModelError {
    failure(ModelErrorKind::Timeout, format!("it gave no answer within {} s", allowed.as_secs()))
}

fn failure(kind: ModelErrorKind, message: String) -> ModelError {
    ModelError { kind, message, hint: String::new(), retry_after: None }
}

#[expect(clippy::cast_precision_loss, reason = "a count of tokens")]
fn as_number(tokens: u64) -> f64 {
    tokens as f64
}
