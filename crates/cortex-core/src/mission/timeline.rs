//! When each step of a mission was asked about, began and ended, and the report that this adds up to. Kept apart from the
//! decisions: nothing is decided by it.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::execution::{ExecutionReport, LevelReport, StepTiming};
use cortex_protocol::{Plan, StepNumber, StepReport, StepStatus};
use serde::{Deserialize, Serialize};

use crate::plan;

/// One plan, and when its steps did what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PlanTimes {
    made: Duration,
    /// What each step comes after.
    after: BTreeMap<StepNumber, Vec<StepNumber>>,
    levels: Vec<Vec<StepNumber>>,
    steps: BTreeMap<StepNumber, Times>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Times {
    /// Since when the model is being asked about it.
    asked: Option<Duration>,
    /// How long it was asked before.
    confirmed: Duration,
    /// When its first call began.
    began: Option<Duration>,
    /// How long the model was asked about it until then.
    confirmed_before: Duration,
    /// Since when its present call runs.
    running: Option<Duration>,
    /// How long its calls ran before.
    ran: Duration,
    ended: Option<Duration>,
}

/// Of all plans, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Timeline {
    plans: Vec<PlanTimes>,
    retries: u32,
    corrections: u32,
    #[serde(default)]
    confirmations: u32,
    #[serde(default)]
    repeated_confirmations: u32,
}

impl Timeline {
    pub(super) fn planned(&mut self, now: Duration, made: &Plan) {
        self.plans.push(PlanTimes {
            made: now,
            after: made.steps.iter().map(|step| (step.number, step.after.clone())).collect(),
            levels: plan::levels(made),
            steps: made.steps.iter().map(|step| (step.number, Times::default())).collect(),
        });
    }

    pub(super) fn asked(&mut self, now: Duration, step: StepNumber) {
        if let Some(times) = self.step(step) {
            times.asked.get_or_insert(now);
        }
    }

    /// The model is not asked about any step any more: it has answered, or its request was given up.
    pub(super) fn answered(&mut self, now: Duration) {
        for times in self.plans.last_mut().into_iter().flat_map(|plan| plan.steps.values_mut()) {
            if let Some(asked) = times.asked.take() {
                times.confirmed += now.saturating_sub(asked);
            }
        }
    }

    pub(super) fn began(&mut self, now: Duration, step: StepNumber) {
        if let Some(times) = self.step(step) {
            if times.began.is_none() {
                times.began = Some(now);
                times.confirmed_before = times.confirmed;
            }
            times.running = Some(now);
            times.ended = None;
        }
    }

    pub(super) fn call_ended(&mut self, now: Duration, step: StepNumber) {
        if let Some(times) = self.step(step) {
            if let Some(running) = times.running.take() {
                times.ran += now.saturating_sub(running);
            }
            times.ended = Some(now);
        }
    }

    /// When the last call of a step ended.
    pub(super) fn ended_at(&self, plan: u32, step: StepNumber) -> Option<Duration> {
        let index = usize::try_from(plan.checked_sub(1)?).ok()?;
        self.plans.get(index)?.steps.get(&step)?.ended
    }

    /// Its present call was cancelled before it began.
    pub(super) fn call_withdrawn(&mut self, step: StepNumber) {
        let Some(times) = self.step(step) else { return };
        times.running = None;
        if times.ran.is_zero() {
            times.began = None;
        }
        // One that was being tried again ended at the latest then.
        times.ended = times.began.map(|began| began + times.ran);
    }

    pub(super) fn retried(&mut self) {
        self.retries = self.retries.saturating_add(1);
    }

    pub(super) fn corrected(&mut self) {
        self.corrections = self.corrections.saturating_add(1);
    }

    /// The model was asked about a step, anew or once more because its reply could not be used.
    pub(super) fn confirmation_asked(&mut self, repeated: bool) {
        let counter = if repeated { &mut self.repeated_confirmations } else { &mut self.confirmations };
        *counter = counter.saturating_add(1);
    }

    /// Of the current plan.
    fn step(&mut self, step: StepNumber) -> Option<&mut Times> {
        self.plans.last_mut()?.steps.get_mut(&step)
    }

    /// Where the time of a step went.
    pub(super) fn of(&self, plan: u32, step: StepNumber) -> StepTiming {
        let times = place_of(plan).and_then(|place| self.plans.get(place)).and_then(|plan| plan.timing(step));
        times.unwrap_or_default()
    }

    /// What it adds up to, for a mission that took so long.
    pub(super) fn report(&self, reports: &[StepReport], duration: Duration) -> ExecutionReport {
        let with = |status| count(reports.iter().filter(|report| report.status == status).count());
        let (steps, succeeded) = (count(reports.len()), with(StepStatus::Success));
        let failed = with(StepStatus::Failed);
        let seconds = duration.as_secs_f64();
        ExecutionReport {
            plans: count(self.plans.len()),
            steps,
            succeeded,
            failed,
            blocked: with(StepStatus::Blocked),
            skipped: with(StepStatus::Skipped),
            success_rate: (steps > 0).then(|| f64::from(succeeded) / f64::from(steps)),
            steps_per_second: if seconds > 0.0 { f64::from(succeeded) / seconds } else { 0.0 },
            retries: self.retries,
            corrections: self.corrections,
            confirmations: self.confirmations,
            repeated_confirmations: self.repeated_confirmations,
            busy: self.busy(),
            sum: self.plans.iter().flat_map(|plan| plan.steps.values()).map(|times| times.ran).sum(),
            critical_path: self.plans.iter().map(PlanTimes::critical_path).sum(),
            levels: (1..).zip(&self.plans).flat_map(|(number, plan)| plan.levels(number, reports)).collect(),
        }
    }

    /// How long at least one step was under way.
    fn busy(&self) -> Duration {
        let steps = self.plans.iter().flat_map(|plan| plan.steps.values());
        let mut spans: Vec<(Duration, Duration)> =
            steps.filter_map(|times| Some((times.began?, times.ended?))).collect();
        spans.sort_unstable();
        let (mut busy, mut until) = (Duration::ZERO, Duration::ZERO);
        for (began, ended) in spans {
            busy += ended.saturating_sub(began.max(until));
            until = until.max(ended);
        }
        busy
    }
}

impl PlanTimes {
    fn timing(&self, step: StepNumber) -> Option<StepTiming> {
        let times = self.steps.get(&step)?;
        let before = self.after.get(&step).into_iter().flatten();
        let ready = before.filter_map(|before| self.steps.get(before)?.ended).fold(self.made, Duration::max);
        // What only comes after a goal may begin before the goal has ended.
        let waited = times.began.map(|began| began.saturating_sub(ready).saturating_sub(times.confirmed_before));
        Some(StepTiming { waited: waited.unwrap_or_default(), confirmed: times.confirmed, ran: times.ran })
    }

    /// The longest chain of steps that come after each other.
    fn critical_path(&self) -> Duration {
        let mut longest: BTreeMap<StepNumber, Duration> = BTreeMap::new();
        for step in self.levels.iter().flatten() {
            let before = self.after.get(step).into_iter().flatten();
            let until = before.filter_map(|before| longest.get(before)).max().copied().unwrap_or_default();
            longest.insert(*step, until + self.steps.get(step).map(|times| times.ran).unwrap_or_default());
        }
        longest.values().max().copied().unwrap_or_default()
    }

    fn levels(&self, number: u32, reports: &[StepReport]) -> Vec<LevelReport> {
        let succeeded = |step: &&StepNumber| {
            let is_it = |report: &&StepReport| report.plan == number && report.number == **step;
            reports.iter().find(is_it).is_some_and(|report| report.status == StepStatus::Success)
        };
        let levels = (1..).zip(&self.levels).map(|(level, steps)| {
            let times = || steps.iter().filter_map(|step| self.steps.get(step));
            let began = times().filter_map(|times| times.began).min();
            let ended = times().filter_map(|times| times.ended).max();
            LevelReport {
                plan: number,
                level,
                steps: steps.clone(),
                succeeded: count(steps.iter().filter(succeeded).count()),
                duration: began.zip(ended).map(|(began, ended)| ended.saturating_sub(began)).unwrap_or_default(),
            }
        });
        levels.collect()
    }
}

/// Where a plan stands in the list.
fn place_of(plan: u32) -> Option<usize> {
    usize::try_from(plan).ok()?.checked_sub(1)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use cortex_protocol::{Priority, Step, ToolCall};
    use serde_json::Map;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn step(number: u32, after: &[u32]) -> Step {
        Step {
            number: StepNumber(number),
            call: ToolCall { tool: "a.b".into(), arguments: Map::new() },
            after: after.iter().copied().map(StepNumber).collect(),
            status: StepStatus::Pending,
            priority: Priority::Normal,
            again: String::new(),
        }
    }

    fn done(number: u32) -> StepReport {
        StepReport {
            plan: 1,
            number: StepNumber(number),
            tool: "a.b".into(),
            arguments: Map::new(),
            planned: serde_json::Map::new(),
            instead_of: vec![],
            status: StepStatus::Success,
            outcome: None,
            note: String::new(),
            duration: None,
            verification: None,
            by: None,
            timing: StepTiming::default(),
            overtaken: false,
            interrupted: false,
        }
    }

    /// Two steps that run beside each other, 10 s and 4 s, and a third one of 6 s that waits for both; each is asked about
    /// for a second.
    fn told() -> Timeline {
        let mut line = Timeline::default();
        let plan = Plan { steps: vec![step(1, &[]), step(2, &[]), step(3, &[1, 2])], groups: vec![] };
        line.planned(seconds(10), &plan);
        for (number, asked, began, ended) in [(1, 10, 11, 21), (2, 11, 12, 16), (3, 21, 22, 28)] {
            let number = StepNumber(number);
            line.asked(seconds(asked), number);
            line.answered(seconds(began));
            line.began(seconds(began), number);
            line.call_ended(seconds(ended), number);
        }
        line
    }

    #[test]
    fn the_report_says_what_running_together_has_brought() {
        let report = told().report(&[done(1), done(2), done(3)], seconds(30));
        let level = |level, steps: &[u32], duration| LevelReport {
            plan: 1,
            level,
            steps: steps.iter().copied().map(StepNumber).collect(),
            succeeded: count(steps.len()),
            duration: seconds(duration),
        };
        let expected = ExecutionReport {
            plans: 1,
            steps: 3,
            succeeded: 3,
            success_rate: Some(1.0),
            steps_per_second: 0.1,
            busy: seconds(16),
            sum: seconds(20),
            critical_path: seconds(16),
            levels: vec![level(1, &[1, 2], 10), level(2, &[3], 6)],
            ..ExecutionReport::default()
        };
        assert_eq!(report, expected);
    }

    /// A failed step that was over at once made the rate of a mission in which nothing had succeeded.
    #[test]
    fn regression_the_rate_counts_what_succeeded() {
        let failed = StepReport { status: StepStatus::Failed, ..done(1) };
        assert!(told().report(&[failed], seconds(30)).steps_per_second.abs() < f64::EPSILON);
    }

    #[test]
    fn the_time_of_a_step_is_waiting_confirming_and_running() {
        let line = told();
        let timing = |waited, ran| StepTiming { waited: seconds(waited), confirmed: seconds(1), ran: seconds(ran) };
        let found: Vec<StepTiming> = (1..=3).map(|number| line.of(1, StepNumber(number))).collect();
        assert_eq!(found, [timing(0, 10), timing(1, 4), timing(0, 6)]);
        assert_eq!(line.of(2, StepNumber(1)), StepTiming::default(), "there is no such plan");
    }

    #[test]
    fn a_mission_without_steps_or_time_has_a_report_too() {
        assert_eq!(Timeline::default().report(&[], Duration::ZERO), ExecutionReport::default());
    }
}
