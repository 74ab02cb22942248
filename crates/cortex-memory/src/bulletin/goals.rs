//! What is still to be done: tasks that wait, tasks of which a person says that they were not done, and tasks whose last try
//! failed or was interrupted. A later success settles them, and so does a person who cancels.

use std::collections::BTreeMap;

use super::words::{ended, said};
use crate::episode::{Episode, EpisodeEnd, Outcome};
use crate::interaction::{InteractionKind, KeptInteraction};
use crate::time::rfc3339;
use crate::words::task_key;

pub(super) struct Goals<'m> {
    /// The last dispute of each task that nothing has settled, the last first.
    pub(super) disputed: Vec<&'m KeptInteraction>,
    /// The last try of each task that was not done, the last first.
    pub(super) unfinished: Vec<&'m Episode>,
}

/// The goals that follow from what has ended and what was disputed, both the last first.
pub(super) fn goals<'m>(tasks: &'m [Episode], decided: &'m [KeptInteraction]) -> Goals<'m> {
    let mut last: BTreeMap<String, (&Episode, &EpisodeEnd)> = BTreeMap::new();
    for (episode, end) in tasks.iter().filter_map(|episode| episode.ended.as_ref().map(|end| (episode, end))) {
        last.entry(task_key(&episode.task)).or_insert((episode, end));
    }
    let mut disputed: BTreeMap<String, &KeptInteraction> = BTreeMap::new();
    for kept in decided.iter().filter(|kept| kept.interaction.kind == InteractionKind::Disputed) {
        let task = task_key(&kept.interaction.subject);
        let is_settled = last.get(&task).is_some_and(|(_, end)| {
            end.at.sequence > kept.sequence && matches!(end.outcome, Outcome::Succeeded | Outcome::Cancelled)
        });
        if !is_settled {
            disputed.entry(task).or_insert(kept);
        }
    }
    let is_undone = |outcome: Outcome| matches!(outcome, Outcome::Failed | Outcome::Interrupted);
    let undone = last.iter().filter(|(task, (_, end))| is_undone(end.outcome) && !disputed.contains_key(*task));
    let mut unfinished: Vec<&Episode> = undone.map(|(_, (episode, _))| *episode).collect();
    unfinished.sort_by_key(|episode| std::cmp::Reverse(episode.id));
    let mut disputed: Vec<&KeptInteraction> = disputed.into_values().collect();
    disputed.sort_by_key(|kept| std::cmp::Reverse(kept.sequence));
    Goals { disputed, unfinished }
}

impl Goals<'_> {
    /// The goals in words: what a person is not content with first, then what waits, then what was not done.
    pub(super) fn told(&self, waiting: &[String]) -> Vec<String> {
        let disputed = self.disputed.iter().map(|kept| {
            let of = &kept.interaction;
            let why = if of.detail.trim().is_empty() { String::new() } else { format!(" ({})", said(&of.detail)) };
            format!("{} was not done, says {}{why}, {}", said(&of.subject), said(&of.person), rfc3339(of.wall_ms))
        });
        let waiting = waiting.iter().map(|task| format!("{} waits", said(task)));
        let unfinished = self.unfinished.iter().filter_map(|episode| ended(episode));
        disputed.chain(waiting).chain(unfinished).collect()
    }
}
