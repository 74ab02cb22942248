//! What people did with tasks, in the file.

use rusqlite::{Connection, Transaction, params};

use super::episodes::{FORGOTTEN, check};
use super::{Store, episodes};
use crate::error::MemoryError;
use crate::interaction::{Interaction, InteractionKind, KeptInteraction};
use crate::observation::{ObservationProblem, time};
use crate::words::{key, mentions, without};

/// Most that are kept; the oldest go first.
const MOST_KEPT: u64 = 20_000;
/// Most bytes of the reason, the choice or the revision.
const DETAIL_BYTES: usize = 16_000;
/// Farthest that a local time is from UTC, in minutes.
const MOST_OFFSET_MIN: i32 = 26 * 60;

impl Store {
    /// Keeps what a person did.
    pub(crate) fn add_interaction(&self, interaction: &Interaction) -> Result<(), MemoryError> {
        let Interaction { kind, subject, detail, person, wall_ms, utc_offset_min } = interaction;
        check("subject", subject)?;
        check("person", person)?;
        let refused = |field, problem: String| MemoryError::from(ObservationProblem { field, problem });
        if detail.len() > DETAIL_BYTES || detail.contains('\0') {
            let problem = format!("has to be a text of at most {DETAIL_BYTES} bytes without null characters");
            return Err(refused("detail", problem));
        }
        if utc_offset_min.abs() > MOST_OFFSET_MIN {
            return Err(refused("utc_offset_min", format!("is at most {MOST_OFFSET_MIN} minutes either way")));
        }
        time(*wall_ms)?;
        self.write(|connection| {
            let [subject, detail, person] = [subject, detail, person].map(|text| self.without_forgotten(text));
            let transaction = connection.transaction()?;
            let at = episodes::stamp(&transaction, *wall_ms)?;
            transaction
                .prepare_cached(
                    "INSERT INTO interactions (kind, subject, detail, person, at_ms, at_sequence, offset_min)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![code(*kind), subject, detail, person, at.wall_ms, at.sequence, utc_offset_min])?;
            let number = u64::try_from(transaction.last_insert_rowid()).unwrap_or_default();
            transaction
                .prepare_cached("DELETE FROM interactions WHERE number <= ?1")?
                .execute([number.saturating_sub(MOST_KEPT)])?;
            Ok(transaction.commit()?)
        })
    }
}

/// What was asked, or decided, since then, the last first; at most so many.
pub(super) fn since(
    connection: &Connection,
    are_asked: bool,
    from_ms: u64,
    to_ms: u64,
    most: usize,
) -> rusqlite::Result<Vec<KeptInteraction>> {
    let comparison = if are_asked { "=" } else { "<>" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT kind, subject, detail, person, at_ms, offset_min, at_sequence FROM interactions
         WHERE kind {comparison} ?1 AND at_ms BETWEEN ?2 AND ?3 ORDER BY number DESC LIMIT ?4"
    ))?;
    let parameters = params![code(InteractionKind::Asked), from_ms, to_ms, i64::try_from(most).unwrap_or(i64::MAX)];
    let rows = statement.query_map(parameters, |row| {
        let interaction = Interaction {
            kind: kind(row.get(0)?),
            subject: row.get(1)?,
            detail: row.get(2)?,
            person: row.get(3)?,
            wall_ms: row.get(4)?,
            utc_offset_min: row.get(5)?,
        };
        Ok(KeptInteraction { interaction, sequence: row.get(6)? })
    })?;
    rows.collect()
}

/// Takes a name out of what people said, and off what it did. Says how many changed.
pub(super) fn redact(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<u64> {
    let mut statement = transaction.prepare("SELECT number, subject, detail, person FROM interactions")?;
    let all = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, [row.get::<_, String>(1)?, row.get(2)?, row.get(3)?])))?;
    let mut redacted = 0;
    for (number, texts) in all.collect::<rusqlite::Result<Vec<_>>>()? {
        let is_by = texts.last().is_some_and(|person| key(person) == key(name));
        if !is_by && !texts.iter().any(|text| mentions(text, name)) {
            continue;
        }
        let [subject, detail, person] = texts.map(|text| without(&text, name, FORGOTTEN));
        let person = if is_by { FORGOTTEN.to_owned() } else { person };
        transaction.execute(
            "UPDATE interactions SET subject = ?2, detail = ?3, person = ?4 WHERE number = ?1",
            params![number, subject, detail, person],
        )?;
        redacted += 1;
    }
    Ok(redacted)
}

/// Removes what people did.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    condition: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<u64> {
    let removed = transaction.execute(&format!("DELETE FROM interactions WHERE {condition}"), parameters)?;
    Ok(u64::try_from(removed).unwrap_or_default())
}

fn code(kind: InteractionKind) -> i64 {
    match kind {
        InteractionKind::Asked => 0,
        InteractionKind::Approved => 1,
        InteractionKind::Denied => 2,
        InteractionKind::Chose => 3,
        InteractionKind::Revised => 4,
        InteractionKind::Disputed => 5,
    }
}

fn kind(code: i64) -> InteractionKind {
    match code {
        0 => InteractionKind::Asked,
        1 => InteractionKind::Approved,
        2 => InteractionKind::Denied,
        3 => InteractionKind::Chose,
        4 => InteractionKind::Revised,
        _ => InteractionKind::Disputed,
    }
}
