//! What became of each goal, and whether its server agrees.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use anyhow::{bail, ensure};
use cortex_protocol::{FailureKind, HaltState, OutcomeStatus, ToolName, ToolOutcome};

use crate::servers::Told;

/// What the servers tell of a goal that will not be told of again.
const ENDS: [&str; 4] = ["succeeded", "canceled", "aborted", "rejected"];

/// What became of each goal, by its order.
#[derive(Default)]
pub(crate) struct Record {
    ended: Mutex<BTreeMap<u64, Ended>>,
}

struct Ended {
    tool: ToolName,
    cancelled: bool,
    outcome: ToolOutcome,
}

impl Record {
    pub(crate) fn add(&self, order: u64, tool: ToolName, cancelled: bool, outcome: ToolOutcome) -> anyhow::Result<()> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let before = ended.insert(order, Ended { tool, cancelled, outcome });
        ensure!(before.is_none(), "goal {order} ended twice");
        Ok(())
    }

    /// Compares with what the servers told, and counts.
    pub(crate) fn judged(&self, told: &Told) -> anyhow::Result<String> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut problems = Vec::new();
        for (order, goal) in ended.iter() {
            let events: Vec<&str> = told.get(order).into_iter().flatten().map(String::as_str).collect();
            if let Err(problem) = judge(goal, &events) {
                let Ended { tool, outcome, .. } = goal;
                problems.push(format!("goal {order} of {tool}: {problem}; {events:?}, {outcome:?}"));
            }
            let status = match goal.outcome.status {
                OutcomeStatus::Succeeded => "succeeded".to_owned(),
                OutcomeStatus::Cancelled => format!("cancelled, {:?}", goal.outcome.halt),
                OutcomeStatus::NotBegun => "not begun".to_owned(),
                OutcomeStatus::Failed(kind) => format!("failed, {kind:?}, {:?}", goal.outcome.halt),
            };
            *counts.entry(status).or_default() += 1;
        }
        if let Some(unknown) = told.keys().find(|order| !ended.contains_key(order)) {
            problems.push(format!("the servers know of goal {unknown}, which has no outcome"));
        }
        if !problems.is_empty() {
            bail!("{} of {} goals are wrong:\n{}", problems.len(), ended.len(), problems.join("\n"));
        }
        let mut summary = format!("{} goals", ended.len());
        for (status, count) in counts {
            let _ = write!(summary, "\n{count:6} {status}");
        }
        Ok(summary)
    }
}

/// Whether the outcome of a goal can be true, by what its server told. A server that was killed told less than it did,
/// never something else.
fn judge(goal: &Ended, events: &[&str]) -> anyhow::Result<()> {
    let Ended { cancelled, outcome, .. } = goal;
    let ends: Vec<&str> = events.iter().copied().filter(|event| ENDS.contains(event)).collect();
    ensure!(ends.len() <= 1, "its server ended it more than once");
    ensure!(events.iter().filter(|event| **event == "accepted").count() <= 1, "it was sent more than once");
    let end = ends.first().copied();
    match (outcome.status, outcome.halt) {
        (OutcomeStatus::Succeeded, _) => ensure!(end == Some("succeeded"), "it did not succeed"),
        (OutcomeStatus::Cancelled | OutcomeStatus::NotBegun, _) => ensure!(*cancelled, "nobody cancelled it"),
        (OutcomeStatus::Failed(FailureKind::Reported), _) => {
            ensure!(matches!(end, Some("aborted" | "rejected" | "canceled")), "its server did not say so");
        }
        (OutcomeStatus::Failed(FailureKind::NotFound | FailureKind::Changed), _) => {
            ensure!(events.is_empty(), "it was sent all the same");
        }
        (
            OutcomeStatus::Failed(FailureKind::Internal | FailureKind::InvalidArguments | FailureKind::BadResponse),
            _,
        ) => {
            bail!("that must not happen");
        }
        (OutcomeStatus::Failed(_), _) => {}
    }
    // What is said to be at rest is at rest: its server ended it, or never took it, or is dead.
    let goes_on = events.contains(&"accepted") && end.is_none() && !events.contains(&"died");
    let at_rest = matches!(outcome.halt, HaltState::AtRest | HaltState::Halted);
    ensure!(!(goes_on && at_rest), "it is said to be at rest");
    Ok(())
}
