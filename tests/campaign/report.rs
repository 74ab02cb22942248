//! What came of each fault, read from what the monitor told, and the table of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use cortex_stories::{Event, Times, Told};

use crate::faults::Kind;

/// One fault that was inflicted on one component.
#[derive(Debug, Clone)]
pub(crate) struct Inflicted {
    pub(crate) kind: Kind,
    /// None: the model's endpoint.
    pub(crate) target: Option<&'static str>,
    pub(crate) at: Instant,
    /// How many things had been told before.
    pub(crate) first: usize,
}

/// What the monitor made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing was told yet.
    Unnoticed,
    /// It was noticed so soon, and is still being seen to.
    Noticed(Duration),
    /// And after so long the component worked again.
    Restored(Duration, Duration),
}

impl Inflicted {
    /// What came of it until now.
    pub(crate) fn answer(&self, told: &[Told]) -> Answer {
        let mut own = told.iter().skip(self.first).filter(|told| Some(told.component.as_str()) == self.target);
        let Some(noticed) = own.find(|told| told.event.is_bad()) else { return Answer::Unnoticed };
        let after = |told: &Told| told.at.saturating_duration_since(self.at);
        let restored = own.find(|told| told.event == Event::Works);
        // What is only suspected, and turns out well, needed nothing.
        let cleared = told.iter().skip(self.first).filter(|told| Some(told.component.as_str()) == self.target);
        let only_suspected = cleared.clone().all(|told| !told.event.is_failure());
        let cleared =
            cleared.clone().find(|told| only_suspected && told.event == Event::Healthy && told.at >= noticed.at);
        match restored.or(cleared) {
            Some(restored) => Answer::Restored(after(noticed), after(restored)),
            None => Answer::Noticed(after(noticed)),
        }
    }
}

#[derive(Debug, Default)]
struct Row {
    count: usize,
    unnoticed: usize,
    noticed: Times,
    serving: Times,
}

/// A table of all of them, and what must not have happened.
pub(crate) fn table(inflicted: &[Inflicted], told: &[Told]) -> (String, Vec<String>) {
    let mut rows: BTreeMap<Kind, Row> = BTreeMap::new();
    let mut problems = Vec::new();
    for (number, fault) in inflicted.iter().enumerate() {
        let row = rows.entry(fault.kind).or_default();
        row.count += 1;
        if fault.target.is_none() {
            continue;
        }
        // What passes unnoticed is not to be taken for the cause of what comes of the next one.
        let mut later = inflicted.iter().skip(number + 1).filter(|later| later.target == fault.target);
        let until = later.next().map_or(told.len(), |next| next.first);
        match fault.answer(told.get(..until).unwrap_or(told)) {
            Answer::Unnoticed => {
                row.unnoticed += 1;
                if !fault.kind.may_pass() {
                    problems.push(format!("UNNOTICED: {:?} of {:?}", fault.kind, fault.target));
                }
            }
            Answer::Noticed(noticed) => {
                row.noticed.add(noticed);
                problems.push(format!("LEFT DOWN: {:?} after {:?}", fault.target, fault.kind));
            }
            Answer::Restored(noticed, serving) => {
                row.noticed.add(noticed);
                row.serving.add(serving);
            }
        }
    }
    let mut text =
        "| fault | times | noticed after: median / p99 | serving again after: median / p99 | passed unnoticed |\n\
                    | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for (kind, row) in rows {
        let Row { count, unnoticed, noticed, serving } = row;
        let _ = writeln!(text, "| {} | {count} | {noticed} | {serving} | {unnoticed} |", kind.words());
    }
    (text, problems)
}
