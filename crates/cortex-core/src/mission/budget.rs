//! What a mission may spend. A warning comes at four fifths; at the whole no further request goes to a model, so that a
//! budget is exceeded by at most one call.

use cortex_protocol::MissionEvent;
use cortex_protocol::mission::Expense;
use serde::{Deserialize, Serialize};

use super::Mission;
use crate::chat::ChatReply;

/// The part of a budget at which a warning is given.
const WARNING: f64 = 0.8;

/// What a model's tokens cost, in the currency of the budget, for a million.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Prices {
    /// That it reads.
    pub prompt: f64,
    /// That it writes.
    pub completion: f64,
}

impl Mission {
    /// Books what a reply has cost.
    pub(super) fn book(&mut self, reply: &ChatReply) {
        let usage = &mut self.usage;
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(reply.prompt_tokens);
        usage.completion_tokens = usage.completion_tokens.saturating_add(reply.completion_tokens);
        let prices = self.setup.limits.prices;
        usage.cost =
            (count(usage.prompt_tokens) * prices.prompt + count(usage.completion_tokens) * prices.completion) / 1e6;
        self.warn_about_budget();
    }

    /// Says, once for each kind, that most of a budget is spent.
    pub(super) fn warn_about_budget(&mut self) {
        for (expense, used, limit) in self.expenses() {
            if used >= limit * WARNING && self.warned.insert(expense) {
                self.report(MissionEvent::BudgetWarning { expense, used, limit });
            }
        }
    }

    /// The first budget that is spent, with its size.
    pub(super) fn spent_budget(&self) -> Option<(Expense, f64)> {
        self.expenses().into_iter().find(|(_, used, limit)| used >= limit).map(|(expense, _, limit)| (expense, limit))
    }

    fn expenses(&self) -> Vec<(Expense, f64, f64)> {
        let limits = &self.setup.limits;
        let tokens = self.usage.prompt_tokens.saturating_add(self.usage.completion_tokens);
        let seconds = self.now.saturating_sub(self.started).as_secs_f64();
        let mut expenses = vec![
            (Expense::ModelCalls, f64::from(self.usage.model_calls), f64::from(limits.max_model_calls)),
            (Expense::Seconds, seconds, limits.max_duration.as_secs_f64()),
        ];
        expenses.extend(limits.max_tokens.map(|limit| (Expense::Tokens, count(tokens), count(limit))));
        expenses.extend(limits.max_cost.map(|limit| (Expense::Money, self.usage.cost, limit)));
        expenses
    }
}

/// Exact up to 2^53, far beyond any budget.
#[expect(clippy::cast_precision_loss, reason = "budgets are far smaller than 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}
