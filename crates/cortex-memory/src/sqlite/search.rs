//! Finds facts by words: which names a text holds, and which facts share most of what it is about.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, params_from_iter};

use super::query::{facts_of, limit, locate, presence};
use super::{Store, rows};
use crate::answers::{FoundFact, NamedPresence, Recollection};
use crate::error::MemoryError;
use crate::fact::Now;
use crate::observation::IS_AT;
use crate::words::{distinct, is_filler, key};

/// Most names that a text is held against.
const MOST_NAMES: usize = 64;
/// Most facts of each name that are weighed.
const MOST_FACTS: usize = 40;
/// Most things, and most places, of one text that are answered for.
const MOST_NAMED: usize = 4;

/// The facts of a name that hold.
const PRESENT: [&str; 3] = [
    "subject = ?1 AND end_sequence IS NULL",
    "relation = ?1 AND end_sequence IS NULL ORDER BY seen_sequence DESC",
    "value = ?1 AND end_sequence IS NULL ORDER BY seen_sequence DESC",
];
/// All facts of a name, the last seen first.
const PAST: [&str; 2] = ["subject = ?1 ORDER BY seen_sequence DESC", "value = ?1 ORDER BY seen_sequence DESC"];

/// A name that shares words with a text.
struct NameMatch {
    number: i64,
    text: String,
    /// Which words of the text it holds.
    hits: BTreeSet<usize>,
    /// Whether the text holds all of its words.
    is_named: bool,
}

/// The words of a text, held against the names that are known.
struct Reading {
    names: Vec<NameMatch>,
    /// How much each word of the text tells. Zero: nothing.
    weights: Vec<f64>,
}

impl Store {
    /// The facts that share most of what a text is about, the best first.
    pub(crate) fn search(&self, text: &str, most: usize, now: &Now) -> Result<Vec<FoundFact>, MemoryError> {
        self.read(|connection| Ok(found(connection, &read(connection, text)?, most, now)?))
    }

    /// What is known of all that a text names.
    pub(crate) fn recall(&self, text: &str, most: usize, now: &Now) -> Result<Recollection, MemoryError> {
        self.read(|connection| {
            let reading = read(connection, text)?;
            let named: Vec<&NameMatch> = reading.names.iter().filter(|name| name.is_named).collect();
            let (mut things, mut places) = (Vec::new(), Vec::new());
            for name in &named {
                if things.len() < MOST_NAMED && is_thing(connection, name.number)? {
                    things.push(*name);
                }
                if places.len() < MOST_NAMED && is_place(connection, name.number)? {
                    places.push(*name);
                }
            }
            let mut recollection = Recollection {
                named: named.iter().map(|name| name.text.clone()).collect(),
                facts: found(connection, &reading, most, now)?,
                ..Recollection::default()
            };
            for thing in things {
                recollection.located.extend(locate(connection, self.rules(), &thing.text, now)?);
                for place in places.iter().filter(|place| place.number != thing.number) {
                    recollection.presence.push(NamedPresence {
                        subject: thing.text.clone(),
                        place: place.text.clone(),
                        answer: presence(connection, &thing.text, &place.text, now)?,
                    });
                }
            }
            Ok(recollection)
        })
    }
}

/// Whether anybody ever said of it where it is, or looked for it.
fn is_thing(connection: &Connection, number: i64) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM observations WHERE subject = ?1 AND relation = ?2 LIMIT 1")?;
    statement.exists([number, rows::known(connection, IS_AT)?])
}

/// Whether anything was ever there, or looked for there.
fn is_place(connection: &Connection, number: i64) -> rusqlite::Result<bool> {
    let relation = rows::known(connection, IS_AT)?;
    let was_there = connection
        .prepare_cached("SELECT 1 FROM facts WHERE value = ?1 AND relation = ?2 LIMIT 1")?
        .exists([number, relation])?;
    Ok(was_there
        || connection
            .prepare_cached("SELECT 1 FROM observations WHERE value = ?1 AND claim <> 0 LIMIT 1")?
            .exists([number])?)
}

/// Holds a text against the names that are known.
fn read(connection: &Connection, text: &str) -> rusqlite::Result<Reading> {
    let words = distinct(text);
    let mut names = candidates(connection, &words)?;
    let index: BTreeMap<i64, usize> = names.iter().zip(0..).map(|(name, at)| (name.number, at)).collect();
    let all: f64 =
        connection.prepare_cached("SELECT count(*) FROM terms WHERE exact = 0")?.query_row([], |row| row.get(0))?;
    let mut holding = connection.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1")?;
    let mut weights = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let mut with_it = 0.0;
        let mut rows = holding.query([quoted(word)])?;
        while let Some(row) = rows.next()? {
            with_it += 1.0;
            if let Some(name) = index.get(&row.get(0)?).and_then(|name| names.get_mut(*name)) {
                name.hits.insert(at);
            }
        }
        // A word that few names hold tells more, and one that none holds most: what is asked for is then something else.
        weights.push((1.0 + (all - with_it + 0.5).max(0.0) / (with_it + 0.5)).ln());
    }
    let mut is_topic = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM facts WHERE subject = ?1) OR EXISTS (SELECT 1 FROM facts WHERE value = ?1)
            OR EXISTS (SELECT 1 FROM observations WHERE subject = ?1)",
    )?;
    let named = |name: &NameMatch| held(&name.hits, &words) >= distinct(&key(&name.text)).len();
    let full: Vec<BTreeSet<usize>> = names.iter().filter(|name| named(name)).map(|name| name.hits.clone()).collect();
    for name in &mut names {
        // Of "cup" and "red cup", a text that speaks of a red cup names the latter.
        let is_part = full.iter().any(|other| other.len() > name.hits.len() && other.is_superset(&name.hits));
        name.is_named = !name.hits.is_empty() && named(name) && !is_part;
        // A relation such as "is" stands in any text.
        if name.is_named && name.hits.iter().all(|hit| words.get(*hit).is_some_and(|word| is_filler(word))) {
            name.is_named = is_topic.query_row([name.number], |row| row.get(0))?;
        }
    }
    let in_names: BTreeSet<usize> =
        names.iter().filter(|name| name.is_named).flat_map(|name| name.hits.clone()).collect();
    for (index, (weight, word)) in weights.iter_mut().zip(&words).enumerate() {
        if is_filler(word) && !in_names.contains(&index) {
            *weight = 0.0;
        }
    }
    Ok(Reading { names, weights })
}

/// How many different words of a text a name holds: a word and its plural, both in the text, are one word of the name.
fn held(hits: &BTreeSet<usize>, words: &[String]) -> usize {
    let hit: Vec<&String> = hits.iter().filter_map(|hit| words.get(*hit)).collect();
    let is_form_of =
        |one: &str, other: &str| one.len() < other.len() && other.len() <= one.len() + 2 && other.starts_with(one);
    hit.iter().filter(|word| !hit.iter().any(|other| is_form_of(other, word))).count()
}

/// The names that share most with the words.
fn candidates(connection: &Connection, words: &[String]) -> rusqlite::Result<Vec<NameMatch>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" OR ");
    let mut statement = connection.prepare_cached(
        "SELECT terms.number, terms.text FROM words JOIN terms ON terms.number = words.rowid
         WHERE words MATCH ?1 ORDER BY bm25(words), terms.number LIMIT ?2",
    )?;
    let names = statement.query_map(params_from_iter([Parameter::Text(wanted), limit(MOST_NAMES)]), |row| {
        Ok(NameMatch { number: row.get(0)?, text: row.get(1)?, hits: BTreeSet::new(), is_named: false })
    })?;
    names.collect()
}

/// The facts about the names, the best first. They are weighed by numbers, and only those that are shown are read in full.
fn found(connection: &Connection, reading: &Reading, most: usize, now: &Now) -> rusqlite::Result<Vec<FoundFact>> {
    let total: f64 = reading.weights.iter().sum();
    if total <= 0.0 || most == 0 {
        return Ok(Vec::new());
    }
    let is_telling =
        |name: &&NameMatch| name.hits.iter().any(|hit| reading.weights.get(*hit).is_some_and(|weight| *weight > 0.0));
    let telling: Vec<&NameMatch> = reading.names.iter().filter(is_telling).collect();
    let hits: BTreeMap<i64, &BTreeSet<usize>> = telling.iter().map(|name| (name.number, &name.hits)).collect();
    let mut facts: BTreeMap<i64, Weighed> = BTreeMap::new();
    for NameMatch { number, is_named, .. } in telling {
        // The past of what is only like a name is of no interest.
        let past = is_named.then_some(PAST).into_iter().flatten();
        for condition in PRESENT.into_iter().chain(past) {
            let sql = format!(
                "SELECT number, subject, relation, value, end_sequence IS NULL, seen_sequence FROM facts
                 WHERE {condition} LIMIT ?2"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter([Parameter::Integer(*number), limit(MOST_FACTS)]))?;
            while let Some(row) = rows.next()? {
                let named = [row.get(1)?, row.get(2)?, row.get::<_, Option<i64>>(3)?.unwrap_or(-1)];
                let words: BTreeSet<usize> = named
                    .iter()
                    .filter_map(|number: &i64| hits.get(number))
                    .flat_map(|hits| hits.iter().copied())
                    .collect();
                let share = words.iter().filter_map(|word| reading.weights.get(*word)).sum::<f64>() / total;
                facts.insert(row.get(0)?, Weighed { share, holds: row.get(4)?, seen: row.get(5)? });
            }
        }
    }
    let mut best: Vec<(i64, Weighed)> = facts.into_iter().collect();
    best.sort_by(|(_, one), (_, other)| {
        other.share.total_cmp(&one.share).then_with(|| (other.holds, other.seen).cmp(&(one.holds, one.seen)))
    });
    let shown = best.into_iter().take(most).map(|(number, Weighed { share, .. })| {
        let fact = facts_of(connection, "SELECT * FROM facts WHERE number = ?1", &[Parameter::Integer(number)])?.pop();
        Ok(fact.map(|fact| FoundFact { relevance: share, likeness: 0.0, answer: fact.answer(now) }))
    });
    Ok(shown.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// A fact, as far as its rank needs it.
struct Weighed {
    /// How much of what the text is about it holds, from 0 to 1.
    share: f64,
    holds: bool,
    seen: i64,
}

/// A word as the index takes it, whatever it holds.
pub(super) fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}
