//! Makes facts anew from their observations, where the facts themselves were lost.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::rows;
use crate::fact::{EndReason, Fact};
use crate::rules::{Cardinality, MemoryRules};

/// Makes the lost facts anew, and says how many. Each ends with the first later observation that says otherwise.
pub(super) fn restore(transaction: &Transaction<'_>, rules: &MemoryRules) -> rusqlite::Result<u64> {
    let lost: Vec<i64> = transaction
        .prepare(
            "SELECT DISTINCT fact FROM observations
             WHERE claim = 0 AND fact IS NOT NULL AND fact NOT IN (SELECT number FROM facts)",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for number in &lost {
        transaction
            .prepare_cached(
                "INSERT INTO facts (number, subject, relation, value_kind, value, amount, layer, source, source_kind,
                    confidence, x, y, yaw, frame, map, map_version, from_ms, from_sequence, seen_ms, seen_sequence,
                    observations)
                 SELECT fact, subject, relation, value_kind, value, amount, layer, source, source_kind, confidence, x, y,
                    yaw, frame, map, map_version,
                    (SELECT first_ms FROM observations WHERE fact = ?1 ORDER BY first_sequence LIMIT 1),
                    (SELECT min(first_sequence) FROM observations WHERE fact = ?1),
                    last_ms, last_sequence, (SELECT sum(count) FROM observations WHERE fact = ?1)
                 FROM observations WHERE fact = ?1 AND claim = 0 ORDER BY last_sequence DESC LIMIT 1",
            )?
            .execute([number])?;
        end(transaction, rules, *number)?;
    }
    Ok(u64::try_from(lost.len()).unwrap_or_default())
}

/// Ends a fact by the first later observation that says otherwise, if there is one.
fn end(connection: &Connection, rules: &MemoryRules, number: i64) -> rusqlite::Result<()> {
    let fact: Fact = connection
        .prepare_cached("SELECT * FROM facts WHERE number = ?1")?
        .query_row([number], |row| rows::fact(connection, row))?;
    let is_one = rules.layers.get(&fact.layer).is_some_and(|layer| {
        let rule = rules.relation(&fact.relation, layer);
        rule.cardinality == Cardinality::One
    });
    let other_value = if is_one { "claim = 0 AND fact IS NOT facts.number OR" } else { "" };
    let later = connection
        .prepare_cached(&format!(
            "SELECT observations.claim, observations.last_ms, observations.last_sequence, observations.source,
                observations.source_kind
             FROM observations JOIN facts ON observations.subject = facts.subject
                AND observations.relation = facts.relation
             WHERE facts.number = ?1 AND last_sequence > seen_sequence AND observations.source_kind <> 2
                AND ({other_value} claim IN (1, 2) AND observations.value IS facts.value)
             ORDER BY last_sequence LIMIT 1"
        ))?
        .query_row([number], |row| {
            let source: (i64, i64) = (row.get(3)?, row.get(4)?);
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, source))
        })
        .optional()?;
    let Some((claim, wall_ms, sequence, (source, kind))) = later else { return Ok(()) };
    let reason = match claim {
        rows::IS => EndReason::Superseded,
        rows::IS_NOT => EndReason::Denied,
        _ => EndReason::NotThere,
    };
    connection
        .prepare_cached(
            "UPDATE facts SET end_ms = ?2, end_sequence = ?3, end_reason = ?4, end_source = ?5, end_kind = ?6
             WHERE number = ?1",
        )?
        .execute(params![number, wall_ms, sequence, rows::reason_code(reason), source, kind])?;
    Ok(())
}
