//! What events tell of the missions, and what the mission that runs has spent. No IO, no clock.

use cortex_core::MissionLimits;
use cortex_protocol::mission::Expense;
use cortex_protocol::overview::{BudgetOverview, ModelOverview};
use cortex_protocol::{CloudEvent, MissionEvent};
use cortex_runtime::MissionOverviews;

/// What was told by events.
#[derive(Default)]
pub(super) struct Told {
    pub(super) missions: MissionOverviews,
    /// What the model had been asked when the running mission began, and the bounds that it began with.
    at_begin: (ModelOverview, MissionLimits),
    /// What meters have told of the running mission.
    metered: Vec<BudgetOverview>,
}

impl Told {
    /// Takes note of an event of a mission. `now` says what the model was asked so far, and what bounds the next mission has.
    pub(super) fn note(
        &mut self,
        event: &CloudEvent,
        now_ms: u64,
        now: impl FnOnce() -> (ModelOverview, MissionLimits),
    ) {
        let ran = self.missions.running().map(|mission| mission.id.clone());
        self.missions.note(event, now_ms);
        let runs = self.missions.running().map(|mission| mission.id.clone());
        if runs != ran {
            self.at_begin = now();
            self.metered.clear();
        }
        if let MissionEvent::BudgetWarning {
            expense: expense @ (Expense::Metres | Expense::WattHours),
            used,
            limit,
            ..
        } = &event.data.payload
        {
            self.metered.retain(|known| known.expense != *expense);
            self.metered.push(BudgetOverview { expense: *expense, used: *used, limit: Some(*limit) });
        }
    }

    /// What the mission that runs has spent of what it may. There is one at a time.
    pub(super) fn budget(&self, model: &ModelOverview) -> Vec<BudgetOverview> {
        if self.missions.running().is_none() {
            return Vec::new();
        }
        let (before, limits) = &self.at_begin;
        let since = |now: u64, then: u64| now.saturating_sub(then);
        let prompt = since(model.prompt_tokens, before.prompt_tokens);
        let completion = since(model.completion_tokens, before.completion_tokens);
        let cost = (amount(prompt) * limits.prices.prompt + amount(completion) * limits.prices.completion) / 1e6;
        let spent = |expense, used, limit| BudgetOverview { expense, used, limit };
        let mut budget = vec![
            spent(
                Expense::ModelCalls,
                amount(since(model.requests, before.requests)),
                Some(f64::from(limits.max_model_calls)),
            ),
            spent(Expense::Tokens, amount(prompt.saturating_add(completion)), limits.max_tokens.map(amount)),
        ];
        if cost > 0.0 || limits.max_cost.is_some() {
            budget.push(spent(Expense::Money, cost, limits.max_cost));
        }
        budget.extend(self.metered.iter().cloned());
        budget
    }
}

/// A count, for a budget. Exact as far as any of these counts goes.
fn amount(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use cortex_protocol::Origin;
    use cortex_protocol::event::EventData;

    use super::*;

    fn event(mission: &str, payload: MissionEvent) -> CloudEvent {
        CloudEvent {
            specversion: "1.0".to_owned(),
            id: "e".into(),
            source: String::new(),
            kind: String::new(),
            subject: mission.into(),
            time: String::new(),
            datacontenttype: String::new(),
            provider: String::new(),
            event: String::new(),
            action: String::new(),
            actor: String::new(),
            sequence: 1,
            data: EventData { origin: Origin::new("test", ""), text: String::new(), payload },
        }
    }

    fn accepted(task: &str) -> MissionEvent {
        MissionEvent::Accepted { task: task.to_owned(), session: None }
    }

    fn limits(max_model_calls: u32) -> MissionLimits {
        MissionLimits { max_model_calls, ..MissionLimits::default() }
    }

    /// The limits that Cortex was started with used to be shown for ever.
    #[test]
    fn regression_the_budget_shown_is_that_of_the_mission_also_after_a_parameter_was_set() {
        let mut told = Told::default();
        let model = |requests| ModelOverview { requests, ..ModelOverview::default() };
        let shown =
            |told: &Told, requests| told.budget(&model(requests)).first().map(|calls| (calls.used, calls.limit));
        let planning = || MissionEvent::Planning { turn: 1, plan: 1 };
        told.note(&event("m1", accepted("go")), 1, || (model(3), limits(10)));
        assert_eq!(shown(&told, 3), None);
        told.note(&event("m1", planning()), 2, || (model(3), limits(10)));
        // Somebody sets mission.max_model_calls.
        told.note(&event("m1", planning()), 3, || (model(4), limits(20)));
        assert_eq!(shown(&told, 5), Some((2.0, Some(10.0))), "the one that runs keeps what it began with");
        let mut told = Told::default();
        told.note(&event("m2", accepted("go")), 4, || (model(5), limits(20)));
        told.note(&event("m2", planning()), 5, || (model(5), limits(20)));
        assert_eq!(shown(&told, 6), Some((1.0, Some(20.0))), "the next one has the new one");
    }
}
