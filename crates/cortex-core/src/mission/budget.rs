//! What a mission may spend. A warning comes at four fifths; at the whole nothing begins and what moves is halted, so that
//! a budget is exceeded by at most one reply of a model.
//!
//! A part is kept for the closing words: one request, and as many tokens as it is likely to cost. Confirmations and
//! corrections leave it alone. Where the words fail all the same, the record closes the mission (`closing`).
//!
//! The way and the energy are measured outside (`meter`), and spent while things move: at the whole, what is in flight is
//! halted. Where a budget names them and nothing measures them, nothing moves: a check that can't be made fails closed.

use cortex_protocol::mission::Expense;
use cortex_protocol::{Effect as ToolEffect, MissionEvent, TaskClass, ToolName};
use serde::{Deserialize, Serialize};

use super::{Mission, Phase};
use crate::chat::ChatReply;
use crate::feedback::ESTIMATED;

/// The part of a budget at which a warning is given.
const WARNING: f64 = 0.8;

/// The part of a budget of tokens or money that is kept for the closing words at most.
const CLOSING_PART: f64 = 0.2;
/// Tokens of closing words. They are a few sentences.
const CLOSING_TOKENS: u64 = 250;

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
        let limits = &self.setup.limits;
        self.spending.book(&reply.into(), limits.prices, self.other_prices(reply));
        if let Some(second) = reply.second.as_deref() {
            let prices = limits.other_prices.get(&second.model).copied();
            self.spending.book(&second.into(), limits.prices, Some(prices.unwrap_or_default()));
        }
        self.warn_about_budget();
    }

    /// Halts what moves, if a reply has spent the budget. Whatever it says lets nothing begin.
    pub(super) fn halt_if_spent(&mut self) {
        if !self.calls.is_empty()
            && let Some((expense, limit)) = self.spent_budget()
        {
            self.on_give_up(self.used_up(expense, limit));
        }
    }

    /// Ends the mission, if its budget is spent. Returns whether it does.
    pub(super) fn ends_for_budget(&mut self) -> bool {
        let Some((expense, limit)) = self.spent_budget() else { return false };
        self.fail_or_close(self.used_up(expense, limit));
        true
    }

    /// Takes what a meter says. Ends the mission at the whole of the budget, and when something moves unmeasured.
    pub(super) fn on_metered(&mut self, expense: Expense, total: f64, is_live: bool) {
        if !self.spending.measure(expense, total, is_live) {
            return;
        }
        if matches!(self.phase, Phase::New | Phase::Finished) {
            return;
        }
        self.warn_about_budget();
        self.warn_about_meters();
        if self.needs_only_words() && self.ends_for_budget() {
            return;
        }
        if let Some((expense, limit)) = self.spent_budget() {
            self.on_give_up(self.used_up(expense, limit));
            return;
        }
        let moving = self.calls.values().map(|call| call.tool.clone()).find_map(|tool| self.refusal_of_motion(&tool));
        if let Some(reason) = moving {
            self.on_give_up(reason);
        }
    }

    /// Why the tool can't move anything now: a budget is named of which nobody knows how much is spent.
    pub(super) fn refusal_of_motion(&self, tool: &ToolName) -> Option<String> {
        // A tool that is gone counts as one that moves.
        let effect = self.setup.tools.get(tool).map(|spec| spec.effect).unwrap_or_default();
        let expense = self.unmeasured().find(|_| effect == ToolEffect::Move)?;
        Some(format!(
            "The task has a budget of {expense}, but nothing measures them now, so nothing may move. Check the topic that \
             the configuration names for it."
        ))
    }

    /// The budgets that are named and not measured.
    fn unmeasured(&self) -> impl Iterator<Item = Expense> {
        let limits = &self.setup.limits;
        let named = [(Expense::Metres, limits.max_metres), (Expense::WattHours, limits.max_watt_hours)];
        named
            .into_iter()
            .filter(|(expense, limit)| limit.is_some() && !self.spending.is_measured(*expense))
            .map(|(expense, _)| expense)
    }

    /// Says, once for each, that a budget is named and not measured.
    pub(super) fn warn_about_meters(&mut self) {
        let silent: Vec<Expense> = self.unmeasured().collect();
        for expense in silent {
            if self.spending.note_silent(expense) {
                self.report(MissionEvent::MeterSilent { expense });
            }
        }
    }

    /// Says, once for each kind, that most of a budget is spent.
    pub(super) fn warn_about_budget(&mut self) {
        // A reply that comes after the end is booked, but nothing follows the result.
        if matches!(self.phase, Phase::New | Phase::Finished) {
            return;
        }
        for (expense, used, limit) in self.expenses() {
            if used >= (limit * WARNING).min(limit - self.kept_for_closing(expense, limit))
                && self.spending.note_warning(expense)
            {
                let estimated = self.is_estimated(expense);
                self.report(MissionEvent::BudgetWarning { expense, used, limit, estimated });
            }
        }
    }

    /// The first budget that is spent, with its size.
    pub(super) fn spent_budget(&self) -> Option<(Expense, f64)> {
        self.expenses().into_iter().find(|(_, used, limit)| used >= limit).map(|(expense, _, limit)| (expense, limit))
    }

    /// Why the model is not asked about a step: what is left of a budget is kept for the closing words.
    pub(super) fn spent_but_for_closing(&self) -> Option<String> {
        let is_spent =
            |(expense, used, limit): &(Expense, f64, f64)| *used >= *limit - self.kept_for_closing(*expense, *limit);
        let (expense, used, limit) = self.expenses().into_iter().find(is_spent)?;
        Some(match expense {
            _ if used >= limit => self.used_up(expense, limit),
            Expense::ModelCalls => {
                format!("The task has used up its {limit} {expense}, but for those kept for its closing words.")
            }
            _ => {
                let estimated = if self.is_estimated(expense) { ESTIMATED } else { "" };
                format!(
                    "The task has used up its {limit} {expense}{estimated}, but for what is kept for its closing words."
                )
            }
        })
    }

    /// What of a budget is kept for the closing words.
    fn kept_for_closing(&self, expense: Expense, limit: f64) -> f64 {
        // Words never end it.
        if self.task_state.class == TaskClass::EndlessOrder {
            return 0.0;
        }
        let prompt = self.spending.closing_prompt_tokens();
        let kept = match expense {
            Expense::ModelCalls => return 1.0,
            Expense::Tokens => count(prompt.saturating_add(CLOSING_TOKENS)),
            Expense::Money => {
                let prices = self.highest_prices();
                (count(prompt) * prices.prompt + count(CLOSING_TOKENS) * prices.completion) / 1e6
            }
            Expense::Seconds | Expense::Metres | Expense::WattHours => return 0.0,
        };
        kept.min(limit * CLOSING_PART)
    }

    /// Why the mission ends, for a person.
    fn used_up(&self, expense: Expense, limit: f64) -> String {
        let estimated = if self.is_estimated(expense) { ESTIMATED } else { "" };
        format!("The task has used up its {limit} {expense}{estimated}.")
    }

    /// Whether what is spent of this is an estimate.
    fn is_estimated(&self, expense: Expense) -> bool {
        self.spending.usage().tokens_estimated && matches!(expense, Expense::Tokens | Expense::Money)
    }

    fn expenses(&self) -> Vec<(Expense, f64, f64)> {
        let limits = &self.setup.limits;
        let usage = self.spending.usage();
        let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
        let seconds = self.clock.spent().as_secs_f64();
        let mut expenses = vec![
            (Expense::ModelCalls, f64::from(usage.model_calls), f64::from(limits.max_model_calls)),
            (Expense::Seconds, seconds, limits.max_duration.as_secs_f64()),
        ];
        expenses.extend(limits.max_tokens.map(|limit| (Expense::Tokens, count(tokens), count(limit))));
        expenses.extend(limits.max_cost.map(|limit| (Expense::Money, usage.cost, limit)));
        expenses.extend(limits.max_metres.map(|limit| (Expense::Metres, usage.metres, limit)));
        expenses.extend(limits.max_watt_hours.map(|limit| (Expense::WattHours, usage.watt_hours, limit)));
        expenses
    }
}

/// Exact up to 2^53, far beyond any budget.
#[expect(clippy::cast_precision_loss, reason = "budgets are far smaller than 2^53")]
pub(super) fn count(number: u64) -> f64 {
    number as f64
}
