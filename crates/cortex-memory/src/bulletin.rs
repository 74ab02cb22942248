//! The bulletin: what a planner should know before it plans, whatever the task is about (`seeds/2`). Rendered by rule, never
//! written by a model; of the same memory, robot and time, the same bytes. So it says when things were so, and not how long ago
//! that was.
//!
//! - `goals`: tasks that wait, were disputed, or ended undone;
//! - `habits`: tasks that people give at about the same hour on several days;
//! - `words`: foreign texts in it stand between quotation marks of their own, so that none can begin a part of it.
//!
//! The rules of importance: of each part the most important entry first, and one entry of each part before the second of any. The
//! rules of forgetting: a decision, and what one source alone said, leaves it after 30 days, a task after 7. The memory keeps them.

mod goals;
mod habits;
mod words;

use std::collections::BTreeMap;

use crate::episode::Episode;
use crate::fact::{Fact, FactAnswer};
use crate::interaction::{InteractionKind, KeptInteraction};
use crate::observation::{Source, SourceKind};
use crate::time::rfc3339;
use words::{ended, identity, said, source, statement};

/// Most words and characters of all. The characters are what a planner is shown of one passage.
const MOST_WORDS: usize = 500;
const MOST_CHARACTERS: usize = 3_000;
/// Most entries of each part.
const MOST_ENTRIES: usize = 8;
/// Most tasks that have ended.
const MOST_TASKS: usize = 5;
/// Most rows that are looked through, of each kind.
pub(crate) const MOST_ROWS: usize = 1_000;

const DAY_MS: u64 = 24 * 3_600_000;
/// How long a task stays.
pub(crate) const TASKS_MS: u64 = 7 * DAY_MS;
/// How long a decision stays, and what one source alone said.
pub(crate) const DECISIONS_MS: u64 = 30 * DAY_MS;
/// In what time tasks that come again are counted.
pub(crate) const HABITS_MS: u64 = 28 * DAY_MS;

/// What the bulletin says that the memory does not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Who the robot is, in a sentence. Empty: it has no name and no body is described.
    pub identity: String,
    /// The tasks that wait for others, in the order in which they came.
    pub waiting: Vec<String>,
}

/// What the memory holds of it.
#[derive(Debug, Default)]
pub(crate) struct Material {
    /// The last readings of the body.
    pub(crate) body: Vec<FactAnswer>,
    /// What people said and nothing contradicts.
    pub(crate) told: Vec<ToldFact>,
    /// The episodes of the last days that have ended, the last first.
    pub(crate) tasks: Vec<Episode>,
    /// The tasks that people gave, the last first.
    pub(crate) asked: Vec<KeptInteraction>,
    /// What people decided, the last first.
    pub(crate) decided: Vec<KeptInteraction>,
}

/// A fact that a person told, with all that say so, the last first.
#[derive(Debug)]
pub(crate) struct ToldFact {
    pub(crate) fact: Fact,
    pub(crate) sources: Vec<Source>,
}

/// The bulletin. Empty where nothing is known. `now_ms`: the clock of the robot, in milliseconds since 1970.
pub(crate) fn render(material: &Material, standing: &Standing, now_ms: u64) -> String {
    let goals = goals::goals(&material.tasks, &material.decided);
    let is_goal = |episode: &&Episode| goals.unfinished.iter().any(|goal| goal.id == episode.id);
    let last = material.tasks.iter().filter(|episode| !is_goal(episode)).filter_map(ended).take(MOST_TASKS);
    fitted([
        ("Identity", identity(&standing.identity).into_iter().collect()),
        ("Health", material.body.iter().map(reading).collect()),
        ("Goals", goals.told(&standing.waiting)),
        ("Decisions", decisions(&material.decided, &goals)),
        ("Preferences, from repetition", habits::told(&material.asked)),
        ("People said", people_said(&material.told, now_ms)),
        ("Last tasks", last.collect()),
    ])
}

/// As much as there is room for: one entry of each part, then the second of each, and so on.
fn fitted<const PARTS: usize>(parts: [(&str, Vec<String>); PARTS]) -> String {
    let mut shown = [0; PARTS];
    let (mut words, mut characters) = (0, 0);
    for rank in 0..MOST_ENTRIES {
        for ((title, entries), shown) in parts.iter().zip(&mut shown) {
            let Some(entry) = entries.get(rank).filter(|_| *shown == rank) else { continue };
            // With the title and what stands around them: "Title: entry; ".
            let title = if rank == 0 { *title } else { "" };
            let (more_words, more_characters) =
                (entry.split_whitespace().count() + title.split_whitespace().count(), entry.chars().count());
            let more_characters = more_characters + title.chars().count() + 4;
            if words + more_words <= MOST_WORDS && characters + more_characters <= MOST_CHARACTERS {
                (words, characters) = (words + more_words, characters + more_characters);
                *shown += 1;
            }
        }
    }
    let told = parts.iter().zip(shown).filter(|(_, shown)| *shown > 0);
    let told = told.map(|((title, entries), shown)| {
        let entries: Vec<&str> = entries.iter().take(shown).map(String::as_str).collect();
        format!("{title}: {}.", entries.join("; "))
    });
    told.collect::<Vec<_>>().join(" ")
}

fn reading(answer: &FactAnswer) -> String {
    format!("{}, {}", statement(&answer.fact), answer.fact.seen_at.rfc3339())
}

/// What several say comes first, then what was said last.
fn people_said(told: &[ToldFact], now_ms: u64) -> Vec<String> {
    let agreeing = |told: &ToldFact| told.sources.iter().filter(|source| source.kind != SourceKind::Model).count();
    let from_ms = now_ms.saturating_sub(DECISIONS_MS);
    let mut told: Vec<&ToldFact> =
        told.iter().filter(|told| agreeing(told) > 1 || told.fact.seen_at.wall_ms >= from_ms).collect();
    told.sort_by_key(|told| std::cmp::Reverse((agreeing(told), told.fact.seen_at.sequence)));
    let entry = |told: &ToldFact| {
        let sources: Vec<String> = told.sources.iter().map(source).collect();
        format!("{}, {}, {}", statement(&told.fact), sources.join(" and "), told.fact.seen_at.rfc3339())
    };
    told.into_iter().map(entry).collect()
}

/// The same decision of the same person once, with how often. What a person did not want comes before what was allowed.
fn decisions(decided: &[KeptInteraction], goals: &goals::Goals<'_>) -> Vec<String> {
    let mut counted: BTreeMap<(InteractionKind, &str, &str, &str), (&KeptInteraction, usize)> = BTreeMap::new();
    for kept in decided.iter().filter(|kept| !goals.disputed.iter().any(|goal| goal.sequence == kept.sequence)) {
        let of = &kept.interaction;
        // A call is the same with the same arguments only.
        let key = (of.kind, of.subject.as_str(), of.detail.as_str(), of.person.as_str());
        counted.entry(key).or_insert((kept, 0)).1 += 1;
    }
    let mut counted: Vec<(&KeptInteraction, usize)> = counted.into_values().collect();
    counted.sort_by_key(|(kept, _)| (is_consent(kept.interaction.kind), std::cmp::Reverse(kept.sequence)));
    counted.into_iter().map(|(kept, times)| decision(kept, times)).collect()
}

fn is_consent(kind: InteractionKind) -> bool {
    matches!(kind, InteractionKind::Asked | InteractionKind::Approved | InteractionKind::Chose)
}

fn decision(kept: &KeptInteraction, times: usize) -> String {
    let of = &kept.interaction;
    let (person, subject, detail) = (said(&of.person), said(&of.subject), said(&of.detail));
    let because = if of.detail.trim().is_empty() { String::new() } else { format!(" ({detail})") };
    let did = match of.kind {
        InteractionKind::Asked => format!("asked for {subject}"),
        InteractionKind::Approved => format!("approved {subject}"),
        InteractionKind::Denied => format!("denied {subject}{because}"),
        InteractionKind::Chose => format!("chose {detail} for {subject}"),
        InteractionKind::Revised => format!("revised {subject} by {detail}"),
        InteractionKind::Disputed => format!("disputed {subject}{because}"),
    };
    let often = if times > 1 { format!(", {times} times, the last") } else { String::new() };
    format!("{person} {did}{often}, {}", rfc3339(of.wall_ms))
}

#[cfg(test)]
mod tests;
