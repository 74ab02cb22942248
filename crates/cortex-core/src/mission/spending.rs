//! The expenses of the mission, and the warnings that were given of them. `budget` decides what follows.

use std::collections::BTreeSet;

use cortex_protocol::Usage;
use cortex_protocol::mission::Expense;
use serde::{Deserialize, Serialize};

use super::Prices;
use super::budget::count;
use crate::chat::{ChatReply, SecondOpinion};

/// The tokens of one reply.
pub(super) struct Tokens {
    prompt_tokens: u64,
    completion_tokens: u64,
    are_estimated: bool,
}

impl From<&ChatReply> for Tokens {
    fn from(reply: &ChatReply) -> Self {
        let ChatReply { prompt_tokens, completion_tokens, tokens_estimated, .. } = *reply;
        Self { prompt_tokens, completion_tokens, are_estimated: tokens_estimated }
    }
}

impl From<&SecondOpinion> for Tokens {
    fn from(second: &SecondOpinion) -> Self {
        let SecondOpinion { prompt_tokens, completion_tokens, tokens_estimated, .. } = *second;
        Self { prompt_tokens, completion_tokens, are_estimated: tokens_estimated }
    }
}

/// The expenses of the mission, counted here or measured outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Spending {
    usage: Usage,
    /// The budgets of which a warning was given.
    warned: BTreeSet<Expense>,
    /// Tokens that the last request for a plan or an answer held: about what the next one costs.
    #[serde(default)]
    closing_prompt_tokens: u64,
    /// Of the tokens those, read and written, that other models than the first took, and what they cost.
    #[serde(default)]
    others: (u64, u64, f64),
    /// The meters that measure.
    live_meters: BTreeSet<Expense>,
    /// The meters that were reported as silent.
    reported_silent: BTreeSet<Expense>,
}

impl Spending {
    pub(super) fn usage(&self) -> &Usage {
        &self.usage
    }

    pub(super) fn count_model_call(&mut self) {
        self.usage.model_calls += 1;
    }

    /// Books the tokens that a model took, and what they cost: of the first model, or of another one (`other`).
    pub(super) fn book(&mut self, reply: &Tokens, first: Prices, other: Option<Prices>) {
        let usage = &mut self.usage;
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(reply.prompt_tokens);
        usage.completion_tokens = usage.completion_tokens.saturating_add(reply.completion_tokens);
        usage.tokens_estimated |= reply.are_estimated;
        let cost = |prompt: u64, completion: u64, prices: Prices| {
            (count(prompt) * prices.prompt + count(completion) * prices.completion) / 1e6
        };
        let (prompt, completion, paid) = &mut self.others;
        if let Some(prices) = other {
            *prompt = prompt.saturating_add(reply.prompt_tokens);
            *completion = completion.saturating_add(reply.completion_tokens);
            *paid += cost(reply.prompt_tokens, reply.completion_tokens, prices);
        }
        // From the totals, so that an older record replays to the last bit.
        let (prompt_tokens, completion_tokens) =
            (usage.prompt_tokens.saturating_sub(*prompt), usage.completion_tokens.saturating_sub(*completion));
        usage.cost = cost(prompt_tokens, completion_tokens, first) + *paid;
    }

    /// Notes what the next request for closing words is likely to cost, by the last request for a plan.
    pub(super) fn note_closing_cost(&mut self, reply: &ChatReply) {
        self.closing_prompt_tokens = reply.prompt_tokens;
    }

    pub(super) fn closing_prompt_tokens(&self) -> u64 {
        self.closing_prompt_tokens
    }

    /// Takes the total of a meter. Returns whether this is an expense that a meter measures.
    pub(super) fn measure(&mut self, expense: Expense, total: f64, is_live: bool) -> bool {
        let spent = match expense {
            Expense::Metres => &mut self.usage.metres,
            Expense::WattHours => &mut self.usage.watt_hours,
            // Counted here, not measured.
            Expense::ModelCalls | Expense::Tokens | Expense::Money | Expense::Seconds => return false,
        };
        let is_sane = total.is_finite();
        if is_sane {
            // What is spent does not come back, whatever a meter says.
            *spent = spent.max(total);
        }
        if is_live && is_sane {
            self.live_meters.insert(expense);
        } else {
            self.live_meters.remove(&expense);
        }
        true
    }

    pub(super) fn is_measured(&self, expense: Expense) -> bool {
        self.live_meters.contains(&expense)
    }

    /// Notes that the meter is reported as silent. Returns whether it was not before.
    pub(super) fn note_silent(&mut self, expense: Expense) -> bool {
        self.reported_silent.insert(expense)
    }

    /// Notes that a warning of the budget is given. Returns whether none was before.
    pub(super) fn note_warning(&mut self, expense: Expense) -> bool {
        self.warned.insert(expense)
    }
}
