//! Episodes in the file, with their gists.

use std::sync::PoisonError;

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, Row, Transaction, params};

use super::query::{limit, runs, whole};
use super::search::quoted;
use super::{Store, exchanges, numbers, terms};
use crate::episode::{Episode, EpisodeEnd, EpisodeId, EpisodeRun, Outcome, gist};
use crate::error::MemoryError;
use crate::observation::{ObservationProblem, name, time};
use crate::phrases::line;
use crate::rules::MemoryRules;
use crate::time::Stamp;
use crate::words::{distinct, is_filler, mentions, without};

/// Most episodes that are kept; the oldest go first.
const MOST_EPISODES: u64 = 10_000;
/// Most rows of observations that a gist is made of.
const MOST_RUNS: usize = 2_000;
/// Most bytes of a task or of the reason of an end.
const TEXT_BYTES: usize = 16_000;
/// What stands where a name was forgotten.
pub(super) const FORGOTTEN: &str = "[forgotten]";

impl Store {
    pub(crate) fn begin_episode(&self, task: &str, wall_ms: u64) -> Result<EpisodeId, MemoryError> {
        check("task", task)?;
        time(wall_ms)?;
        self.write(|connection| {
            let transaction = connection.transaction()?;
            let began = stamp(&transaction, wall_ms)?;
            transaction.execute(
                "INSERT INTO episodes (task, began_ms, began_sequence) VALUES (?1, ?2, ?3)",
                params![task, began.wall_ms, began.sequence],
            )?;
            let number = u64::try_from(transaction.last_insert_rowid()).unwrap_or_default();
            transaction.execute(
                "DELETE FROM episodes WHERE number <= ?1 AND ended_sequence IS NOT NULL",
                [number.saturating_sub(MOST_EPISODES)],
            )?;
            transaction.commit()?;
            Ok(EpisodeId(number))
        })
    }

    pub(crate) fn end_episode(
        &self,
        id: EpisodeId,
        outcome: Outcome,
        detail: &str,
        wall_ms: u64,
    ) -> Result<Episode, MemoryError> {
        if !detail.is_empty() {
            check("detail", detail)?;
        }
        time(wall_ms)?;
        self.write(|connection| {
            let detail = self.without_forgotten(detail);
            let transaction = connection.transaction()?;
            let at = stamp(&transaction, wall_ms)?;
            let changed = transaction.execute(
                "UPDATE episodes SET ended_ms = ?2, ended_sequence = ?3, outcome = ?4, detail = ?5
                 WHERE number = ?1 AND ended_sequence IS NULL",
                params![id.0, at.wall_ms, at.sequence, code(outcome), detail],
            )?;
            if changed == 0 {
                return Err(MemoryError::NoEpisode(id.0).into());
            }
            let episode = one(&transaction, id)?.ok_or(MemoryError::NoEpisode(id.0))?;
            let episode = render(&transaction, self.rules(), episode)?;
            keep_gist(&transaction, &episode)?;
            let is_last = !goes_on(&transaction)?;
            transaction.commit()?;
            if is_last {
                self.clear_forgotten();
            }
            Ok(episode)
        })
    }

    /// A name is forgotten: no episode that goes on may end with it.
    pub(super) fn remember_forgotten(&self, name: &str) {
        let mut forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        if !forgotten.iter().any(|known| known == name) {
            forgotten.push(name.to_owned());
        }
    }

    /// Nothing goes on: what begins from now on may speak of what was forgotten.
    pub(super) fn clear_forgotten(&self) {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn without_forgotten(&self, text: &str) -> String {
        let forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        forgotten.iter().fold(text.to_owned(), |text, name| without(&text, name, FORGOTTEN))
    }

    pub(crate) fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, MemoryError> {
        self.read(|connection| {
            Ok(match one(connection, id)? {
                Some(episode) if episode.ended.is_none() => Some(render(connection, self.rules(), episode)?),
                ended => ended,
            })
        })
    }

    /// The episodes that go on, the last first.
    pub(crate) fn open_episodes(&self) -> Result<Vec<Episode>, MemoryError> {
        self.read(|connection| {
            let open = episodes(connection, "WHERE ended_sequence IS NULL ORDER BY number DESC LIMIT 10", &[])?;
            let rendered = open.into_iter().map(|episode| render(connection, self.rules(), episode));
            Ok(rendered.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The episodes that fit a text best; without any word that tells something, the last ones.
    pub(crate) fn search_gists(&self, text: &str, most: usize) -> Result<Vec<Episode>, MemoryError> {
        let words: Vec<String> = distinct(text).into_iter().filter(|word| !is_filler(word)).collect();
        self.read(|connection| {
            if words.is_empty() {
                return Ok(episodes(connection, "WHERE gist <> '' ORDER BY number DESC LIMIT ?1", &[limit(most)])?);
            }
            let wanted = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" OR ");
            let order = "JOIN gists ON gists.rowid = episodes.number WHERE gists MATCH ?1
                         ORDER BY bm25(gists), number DESC LIMIT ?2";
            Ok(episodes(connection, order, &[Parameter::Text(wanted), limit(most)])?)
        })
    }
}

/// Whether an episode or a task of a conversation goes on: its end may name what is forgotten meanwhile.
pub(super) fn goes_on(connection: &Connection) -> rusqlite::Result<bool> {
    let mut open = connection.prepare_cached("SELECT 1 FROM episodes WHERE ended_sequence IS NULL LIMIT 1")?;
    Ok(open.exists([])? || exchanges::goes_on(connection)?)
}

/// Ends the episodes that a process left open when it died.
pub(super) fn interrupt(connection: &mut Connection, rules: &MemoryRules) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let open = episodes(&transaction, "WHERE ended_sequence IS NULL ORDER BY number", &[])?;
    let state = numbers::read(&transaction)?;
    for episode in open {
        let at = Stamp {
            wall_ms: state.clock.last_ms.unwrap_or(episode.began.wall_ms).max(episode.began.wall_ms),
            sequence: state.sequence,
        };
        transaction.execute(
            "UPDATE episodes SET ended_ms = ?2, ended_sequence = ?3, outcome = ?4 WHERE number = ?1",
            params![episode.id.0, at.wall_ms, at.sequence, code(Outcome::Interrupted)],
        )?;
        let ended = Some(EpisodeEnd { at, outcome: Outcome::Interrupted, detail: String::new() });
        let episode = render(&transaction, rules, Episode { ended, ..episode })?;
        keep_gist(&transaction, &episode)?;
    }
    transaction.commit()
}

/// Takes a name out of the words of the episodes that mention it, and renders their gists anew from what is left. Says how
/// many changed.
pub(super) fn redact(transaction: &Transaction<'_>, rules: &MemoryRules, name: &str) -> rusqlite::Result<u64> {
    let mut redacted = 0;
    for episode in episodes(transaction, "ORDER BY number", &[])? {
        let detail = episode.ended.as_ref().map(|ended| ended.detail.as_str()).unwrap_or_default();
        if ![&episode.task, detail, &episode.gist].iter().any(|text| mentions(text, name)) {
            continue;
        }
        let clean = |text: &str| without(text, name, FORGOTTEN);
        let (task, detail) = (clean(&episode.task), clean(detail));
        let ended = episode.ended.clone().map(|ended| EpisodeEnd { detail: detail.clone(), ..ended });
        let mut episode = Episode { task, ended, ..episode };
        // The gist of one that goes on is rendered when it is asked for.
        if episode.ended.is_some() {
            episode = render(transaction, rules, episode)?;
            episode.gist = clean(&episode.gist);
        }
        transaction.execute(
            "UPDATE episodes SET task = ?2, detail = ?3, gist = ?4 WHERE number = ?1",
            params![episode.id.0, episode.task, detail, episode.gist],
        )?;
        redacted += 1;
    }
    Ok(redacted)
}

/// Removes episodes, and says how many.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    condition: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<u64> {
    let removed = transaction.execute(&format!("DELETE FROM episodes WHERE {condition}"), parameters)?;
    Ok(u64::try_from(removed).unwrap_or_default())
}

/// The next number in the order of arrival.
pub(super) fn stamp(transaction: &Transaction<'_>, wall_ms: u64) -> rusqlite::Result<Stamp> {
    let mut state = numbers::read(transaction)?;
    state.sequence += 1;
    state.clock = state.clock.after(wall_ms).0;
    numbers::write(transaction, &state)?;
    Ok(Stamp { wall_ms, sequence: state.sequence })
}

pub(super) fn check(field: &'static str, text: &str) -> Result<(), MemoryError> {
    if text.len() > TEXT_BYTES || text.contains('\0') {
        let problem = format!("has to be a text of at most {TEXT_BYTES} bytes without null characters");
        return Err(ObservationProblem { field, problem }.into());
    }
    // The rest of the rule for names holds for its first words.
    Ok(name(field, &line(text).chars().take(40).collect::<String>())?)
}

fn keep_gist(connection: &Connection, episode: &Episode) -> rusqlite::Result<()> {
    connection.execute("UPDATE episodes SET gist = ?2 WHERE number = ?1", params![episode.id.0, episode.gist])?;
    Ok(())
}

/// An episode with its gist made of what was observed meanwhile.
fn render(connection: &Connection, rules: &MemoryRules, episode: Episode) -> rusqlite::Result<Episode> {
    let until = episode.ended.as_ref().map_or(u64::MAX, |ended| ended.at.sequence);
    let mut all = Vec::new();
    for (name, layer) in &rules.layers {
        let Some(number) = terms::find_exact(connection, name)? else { continue };
        for kind in 0..=2 {
            let sql = "SELECT * FROM observations WHERE layer = ?1 AND source_kind = ?2 AND last_sequence >= ?3
                       AND first_sequence <= ?4 ORDER BY last_sequence LIMIT ?5";
            let parameters = [
                Parameter::Integer(number),
                Parameter::Integer(kind),
                whole(episode.began.sequence),
                whole(until),
                limit(MOST_RUNS),
            ];
            let runs = runs(connection, sql, &parameters)?;
            all.extend(runs.into_iter().map(|run| EpisodeRun { run, kind: layer.kind }));
        }
    }
    all.sort_by_key(|run| run.run.first.sequence);
    let gist = gist(&episode.task, episode.began, episode.ended.as_ref(), &all);
    Ok(Episode { gist, ..episode })
}

fn one(connection: &Connection, id: EpisodeId) -> rusqlite::Result<Option<Episode>> {
    Ok(episodes(connection, "WHERE number = ?1", &[whole(id.0)])?.pop())
}

pub(super) fn episodes(
    connection: &Connection,
    which: &str,
    parameters: &[Parameter],
) -> rusqlite::Result<Vec<Episode>> {
    let columns = "episodes.number, episodes.task, began_ms, began_sequence, ended_ms, ended_sequence, outcome,
                   episodes.detail, episodes.gist";
    let mut statement = connection.prepare_cached(&format!("SELECT {columns} FROM episodes {which}"))?;
    let found = statement.query_map(rusqlite::params_from_iter(parameters), episode)?;
    found.collect()
}

fn episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    let ended = match row.get::<_, Option<u64>>(5)? {
        None => None,
        Some(sequence) => Some(EpisodeEnd {
            at: Stamp { wall_ms: row.get(4)?, sequence },
            outcome: outcome(row.get(6)?),
            detail: row.get(7)?,
        }),
    };
    Ok(Episode {
        id: EpisodeId(row.get(0)?),
        task: row.get(1)?,
        began: Stamp { wall_ms: row.get(2)?, sequence: row.get(3)? },
        ended,
        gist: row.get(8)?,
    })
}

fn code(outcome: Outcome) -> i64 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::Failed => 1,
        Outcome::Cancelled => 2,
        Outcome::Interrupted => 3,
    }
}

fn outcome(code: i64) -> Outcome {
    match code {
        0 => Outcome::Succeeded,
        1 => Outcome::Failed,
        2 => Outcome::Cancelled,
        _ => Outcome::Interrupted,
    }
}
