//! The run of the current plan: its steps, their order, and what is tried again or repaired of them. Each commitment makes
//! a new one, so that nothing of an earlier plan is left in it.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::{Plan, Step, StepNumber, ToolFingerprint};
use serde::{Deserialize, Serialize};

use super::argument_repair::Failure;
use crate::schedule;

/// The current plan and how far it got. The [`Record`](super::record::Record) of its steps outlives it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PlanRun {
    /// Counts plans from 1; 0 before the first.
    number: u32,
    plan: Plan,
    /// The order in which the steps run.
    order: Vec<StepNumber>,
    /// The versions of the tools that the steps are for.
    fingerprints: BTreeMap<StepNumber, ToolFingerprint>,
    /// Whether a tool came, went or changed since the plan was made.
    tools_changed: bool,
    /// Steps whose call failed and may be fixed, with the outcome.
    to_fix: BTreeMap<StepNumber, Failure>,
    /// How often the call of each step was tried again.
    retries: BTreeMap<StepNumber, u32>,
    /// How often the model was asked for other arguments for each step.
    repairs: BTreeMap<StepNumber, u32>,
    /// Steps whose conflict was reported.
    reported_conflicts: BTreeSet<StepNumber>,
}

impl PlanRun {
    /// The run of the plan that follows this one. Nothing of it has begun.
    pub(super) fn next(
        &self,
        plan: Plan,
        order: Vec<StepNumber>,
        fingerprints: BTreeMap<StepNumber, ToolFingerprint>,
    ) -> Self {
        Self { number: self.number + 1, plan, order, fingerprints, ..Self::default() }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The number of the plan that would follow.
    pub(super) fn next_number(&self) -> u32 {
        self.number + 1
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    pub(super) fn order(&self) -> &[StepNumber] {
        &self.order
    }

    pub(super) fn step(&self, number: StepNumber) -> Option<&Step> {
        schedule::step(&self.plan, number)
    }

    /// The version of the tool that the step is for.
    pub(super) fn fingerprint(&self, step: StepNumber) -> Option<ToolFingerprint> {
        self.fingerprints.get(&step).copied()
    }

    pub(super) fn fingerprints(&self) -> &BTreeMap<StepNumber, ToolFingerprint> {
        &self.fingerprints
    }

    pub(super) fn note_tools_changed(&mut self) {
        self.tools_changed = true;
    }

    pub(super) fn have_tools_changed(&self) -> bool {
        self.tools_changed
    }

    /// Notes that the conflict of a step is reported. Returns whether it was not before.
    pub(super) fn note_conflict(&mut self, step: StepNumber) -> bool {
        self.reported_conflicts.insert(step)
    }

    /// Keeps a step open whose call failed, until it is fixed or given up.
    pub(super) fn fix_later(&mut self, step: StepNumber, failure: Failure) {
        self.to_fix.insert(step, failure);
    }

    /// The steps that are to be fixed, in the order of their numbers.
    pub(super) fn failures(&self) -> impl Iterator<Item = (StepNumber, &Failure)> {
        self.to_fix.iter().map(|(step, failure)| (*step, failure))
    }

    pub(super) fn failure(&self, step: StepNumber) -> Option<&Failure> {
        self.to_fix.get(&step)
    }

    pub(super) fn has_failures(&self) -> bool {
        !self.to_fix.is_empty()
    }

    /// The step is not to be fixed any more: it is called again, or it has ended.
    pub(super) fn take_failure(&mut self, step: StepNumber) -> Option<Failure> {
        self.to_fix.remove(&step)
    }

    pub(super) fn take_first_failure(&mut self) -> Option<(StepNumber, Failure)> {
        self.to_fix.pop_first()
    }

    pub(super) fn retries(&self, step: StepNumber) -> u32 {
        self.retries.get(&step).copied().unwrap_or_default()
    }

    pub(super) fn count_retry(&mut self, step: StepNumber) {
        *self.retries.entry(step).or_default() += 1;
    }

    pub(super) fn repairs(&self, step: StepNumber) -> u32 {
        self.repairs.get(&step).copied().unwrap_or_default()
    }

    /// Counts one more request for other arguments, and returns how many there were.
    pub(super) fn count_repair(&mut self, step: StepNumber) -> u32 {
        let asked = self.repairs.entry(step).or_default();
        *asked += 1;
        *asked
    }
}
