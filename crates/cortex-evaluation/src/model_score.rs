//! All recorded missions, asked anew of one model.

use serde::Serialize;

use crate::mission_score::MissionScore;

/// What came of asking one model the questions of all missions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelScore {
    /// What people call it.
    pub model: String,
    /// Missions of which at least one question was asked.
    pub missions: usize,
    /// Of these the ones that were a success.
    pub recorded_successes: usize,
    /// Of those the ones that would have gone the same way.
    pub successes: usize,
    /// Missions in which the model ended with words, or as a success, where the record does not.
    pub false_successes: usize,
    /// Replies with calls that Cortex refuses.
    pub out_of_policy: usize,
    /// Missions in which something else would have followed.
    pub diverged: usize,
    /// The question (from 1) of the first divergence, in the middle of all missions that diverged.
    pub divergence_step: Option<u32>,
    /// Questions that were asked.
    pub requests: u64,
    /// Questions to which the model gave no answer.
    pub unanswered: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Whether any of the tokens, and so of the cost, are an estimate.
    pub tokens_estimated: bool,
    /// What they cost, by the configured prices; 0 where there are none.
    pub cost: f64,
    /// How long the answers took together, in seconds.
    pub seconds: f64,
    /// Each mission by itself, in the order of the recordings.
    pub each: Vec<MissionScore>,
}

impl ModelScore {
    /// Of the missions of one model, in the order of the recordings.
    #[must_use]
    pub fn of(model: String, each: Vec<MissionScore>) -> Self {
        let asked: Vec<&MissionScore> = each.iter().filter(|mission| mission.requests > 0).collect();
        let count = |holds: fn(&MissionScore) -> bool| asked.iter().filter(|mission| holds(mission)).count();
        let mut steps: Vec<u32> =
            asked.iter().filter_map(|mission| Some(mission.divergence.as_ref()?.question)).collect();
        steps.sort_unstable();
        Self {
            model,
            missions: asked.len(),
            recorded_successes: count(|mission| mission.recorded.is_success),
            successes: count(MissionScore::is_success),
            false_successes: count(|mission| !mission.false_successes.is_empty()),
            out_of_policy: asked.iter().map(|mission| mission.refusals.len()).sum(),
            diverged: steps.len(),
            divergence_step: steps.get(steps.len().saturating_sub(1) / 2).copied(),
            requests: asked.iter().map(|mission| u64::from(mission.requests)).sum(),
            unanswered: asked.iter().map(|mission| u64::from(mission.unanswered)).sum(),
            prompt_tokens: asked.iter().map(|mission| mission.prompt_tokens).sum(),
            completion_tokens: asked.iter().map(|mission| mission.completion_tokens).sum(),
            tokens_estimated: asked.iter().any(|mission| mission.tokens_estimated),
            cost: asked.iter().map(|mission| mission.cost).sum(),
            seconds: asked.iter().map(|mission| mission.seconds).sum(),
            each,
        }
    }
}
