//! What people asked in conversations, in the file. An exchange is known by its number in the order of arrival.

use std::time::Duration;

use cortex_core::conversation_port::{ConversationKey, MOST_TURNS, last_turns, shortened};
use cortex_protocol::{MissionStatus, Turn};
use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, Row, Transaction, params, params_from_iter};

use super::Store;
use super::episodes::{self, FORGOTTEN};
use super::query::{limit, whole};
use crate::error::MemoryError;
use crate::exchange::{Exchange, ExchangeQuery};
use crate::observation::{ObservationProblem, time};
use crate::time::{CLOCK_TOLERANCE_MS, Stamp};
use crate::words::{key, mentions, without};

/// Most that are kept; the oldest go first.
const MOST_KEPT: u64 = 10_000;
/// Most bytes of each name of a conversation. A longer one is refused: cut, it might be somebody else's.
const NAME_BYTES: usize = 500;
/// How an exchange ended that a process left open when it died.
const INTERRUPTED: i64 = 4;

const COLUMNS: &str =
    "channel, client, user, session, task, is_cut, output, outcome, began_ms, began_sequence, ended_ms";

/// How an exchange ends.
#[derive(Debug, Clone)]
pub(crate) struct ExchangeEnd {
    /// What people said in mid task, oldest first.
    pub(crate) revisions: Vec<String>,
    /// What was said and done in the end.
    pub(crate) output: String,
    pub(crate) status: MissionStatus,
}

impl Store {
    /// Begins an exchange, and tells its number.
    pub(crate) fn begin_exchange(
        &self,
        conversation: &ConversationKey,
        task: &str,
        wall_ms: u64,
    ) -> Result<u64, MemoryError> {
        let ConversationKey { channel, client, user, session } = conversation;
        for (field, name) in [("channel", channel), ("client", client), ("user", user), ("session", session)] {
            if name.len() > NAME_BYTES || name.contains('\0') {
                let problem = format!("has to be a text of at most {NAME_BYTES} bytes without null characters");
                return Err(ObservationProblem { field, problem }.into());
            }
        }
        time(wall_ms)?;
        let (task, is_cut) = shortened(&task.replace('\0', " "));
        self.write(|connection| {
            let transaction = connection.transaction()?;
            // One whose end could not be written down does not go on for ever.
            interrupt(&transaction)?;
            let began = episodes::stamp(&transaction, wall_ms)?;
            transaction
                .prepare_cached(
                    "INSERT INTO exchanges (channel, client, user, session, task, is_cut, began_ms, began_sequence)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute(params![channel, client, user, session, task, is_cut, began.wall_ms, began.sequence])?;
            let number = u64::try_from(transaction.last_insert_rowid()).unwrap_or_default();
            transaction
                .prepare_cached("DELETE FROM exchanges WHERE number <= ?1")?
                .execute([number.saturating_sub(MOST_KEPT)])?;
            transaction.commit()?;
            Ok(began.sequence)
        })
    }

    /// Ends one, if it was not forgotten meanwhile.
    pub(crate) fn end_exchange(&self, exchange: u64, end: &ExchangeEnd, wall_ms: u64) -> Result<(), MemoryError> {
        time(wall_ms)?;
        let clean = |text: &str| self.without_forgotten(&text.replace('\0', " "));
        self.write(|connection| {
            let transaction = connection.transaction()?;
            let begun = find(&transaction, "WHERE began_sequence = ?1 AND outcome IS NULL", &[whole(exchange)])?.pop();
            if let Some(begun) = begun {
                let said = end.revisions.iter().map(|text| clean(text));
                let task = std::iter::once(begun.task.clone()).chain(said).collect::<Vec<_>>().join(" Revised to: ");
                // What was shortened once says how much is left out of it.
                let (task, is_cut) =
                    if end.revisions.is_empty() { (begun.task, begun.is_cut) } else { shortened(&task) };
                let output = clean(&end.output);
                let was_forgotten = end.revisions.iter().any(|text| clean(text) != *text);
                episodes::stamp(&transaction, wall_ms)?;
                transaction.execute(
                    "UPDATE exchanges SET task = ?2, is_cut = ?3, output = ?4, outcome = ?5, ended_ms = ?6
                     WHERE began_sequence = ?1",
                    params![exchange, task, begun.is_cut || is_cut || was_forgotten, output, code(end.status), wall_ms],
                )?;
            }
            let is_last = !episodes::goes_on(&transaction)?;
            transaction.commit()?;
            if is_last {
                self.clear_forgotten();
            }
            Ok(())
        })
    }

    /// What was asked in a conversation before this exchange, the oldest first, as far as it ended within the time-out. Where
    /// the last of it did not, or the clock contradicts it, nothing is told: what is older is not what a person goes on with.
    pub(crate) fn turns_before(
        &self,
        conversation: &ConversationKey,
        exchange: u64,
        timeout: Duration,
        wall_ms: u64,
    ) -> Result<Vec<Turn>, MemoryError> {
        let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let in_time = |kept: &Exchange| {
            let ended = kept.ended_ms.unwrap_or(kept.began.wall_ms);
            ended <= wall_ms.saturating_add(CLOCK_TOLERANCE_MS) && wall_ms.saturating_sub(ended) <= timeout_ms
        };
        let ConversationKey { channel, client, user, session } = conversation.clone();
        let parameters = [
            Parameter::Text(session),
            Parameter::Text(channel),
            Parameter::Text(client),
            Parameter::Text(user),
            whole(exchange),
            limit(MOST_TURNS),
        ];
        self.read(|connection| {
            let which = "WHERE session = ?1 AND channel = ?2 AND client = ?3 AND user = ?4 AND began_sequence < ?5
                         ORDER BY began_sequence DESC LIMIT ?6";
            let kept = find(connection, which, &parameters)?;
            let mut turns: Vec<Turn> = kept.into_iter().take_while(in_time).map(Exchange::turn).collect();
            turns.reverse();
            Ok(last_turns(turns))
        })
    }

    /// What people asked, the last first.
    pub(crate) fn exchanges(&self, query: &ExchangeQuery, most: usize) -> Result<Vec<Exchange>, MemoryError> {
        let until = query.until_ms.unwrap_or(i64::MAX.unsigned_abs());
        let (mut conditions, mut parameters) =
            (vec!["began_ms >= ?1 AND began_ms < ?2".to_owned()], vec![whole(query.from_ms), whole(until)]);
        let mut add = |column: &str, name: &str| {
            parameters.push(Parameter::Text(name.to_owned()));
            conditions.push(format!("{column} = ?{}", parameters.len()));
        };
        if let Some(ConversationKey { channel, client, user, session }) = &query.conversation {
            for (column, name) in [("channel", channel), ("client", client), ("user", user), ("session", session)] {
                add(column, name);
            }
        }
        if let Some(session) = &query.session {
            add("session", session);
        }
        parameters.push(limit(most));
        let which =
            format!("WHERE {} ORDER BY began_sequence DESC LIMIT ?{}", conditions.join(" AND "), parameters.len());
        self.read(|connection| Ok(find(connection, &which, &parameters)?))
    }
}

/// Whether one goes on.
pub(super) fn goes_on(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM exchanges WHERE outcome IS NULL LIMIT 1")?.exists([])
}

/// Those that a process left open when it died go on no longer.
pub(super) fn interrupt(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE exchanges SET outcome = ?1 WHERE outcome IS NULL", [INTERRUPTED])?;
    Ok(())
}

/// Takes a name out of what was said, and removes the conversations of those who have it, or that are called so. Says how many
/// changed.
pub(super) fn redact(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<u64> {
    let mut redacted = 0;
    for kept in find(transaction, "ORDER BY number", &[])? {
        let ConversationKey { client, session, .. } = &kept.conversation;
        let number = kept.began.sequence;
        if key(client) == key(name) || mentions(client, name) || mentions(session, name) {
            transaction.execute("DELETE FROM exchanges WHERE began_sequence = ?1", [number])?;
        } else if mentions(&kept.task, name) || mentions(&kept.output, name) {
            transaction.execute(
                "UPDATE exchanges SET task = ?2, is_cut = is_cut OR ?3, output = ?4 WHERE began_sequence = ?1",
                params![
                    number,
                    without(&kept.task, name, FORGOTTEN),
                    mentions(&kept.task, name),
                    without(&kept.output, name, FORGOTTEN)
                ],
            )?;
        } else {
            continue;
        }
        redacted += 1;
    }
    Ok(redacted)
}

/// Removes exchanges, and says how many.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    condition: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<u64> {
    let removed = transaction.execute(&format!("DELETE FROM exchanges WHERE {condition}"), parameters)?;
    Ok(u64::try_from(removed).unwrap_or_default())
}

fn find(connection: &Connection, which: &str, parameters: &[Parameter]) -> rusqlite::Result<Vec<Exchange>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM exchanges {which}"))?;
    let found = statement.query_map(params_from_iter(parameters), exchange)?;
    found.collect()
}

fn exchange(row: &Row<'_>) -> rusqlite::Result<Exchange> {
    Ok(Exchange {
        conversation: ConversationKey {
            channel: row.get(0)?,
            client: row.get(1)?,
            user: row.get(2)?,
            session: row.get(3)?,
        },
        task: row.get(4)?,
        is_cut: row.get(5)?,
        output: row.get(6)?,
        status: row.get::<_, Option<i64>>(7)?.and_then(status),
        began: Stamp { wall_ms: row.get(8)?, sequence: row.get(9)? },
        ended_ms: row.get(10)?,
    })
}

fn code(status: MissionStatus) -> i64 {
    match status {
        MissionStatus::Answered => 0,
        MissionStatus::Succeeded => 1,
        MissionStatus::Failed => 2,
        MissionStatus::Cancelled => 3,
    }
}

/// None: nobody wrote down how it ended.
fn status(code: i64) -> Option<MissionStatus> {
    match code {
        0 => Some(MissionStatus::Answered),
        1 => Some(MissionStatus::Succeeded),
        2 => Some(MissionStatus::Failed),
        3 => Some(MissionStatus::Cancelled),
        _ => None,
    }
}
