//! A number in the answer of a tool, against the number of a condition.

use serde_json::{Number, Value};

use super::answers::{english, has_words, is_generic, pieces, read};
use super::{AnswerWords, Compare, Than};
use crate::language::Language;
use crate::numbers::{self, Dimension, Unit};
use crate::robot::concepts;
use crate::sentence::Word;

/// Two numbers that are as close as this are the same.
const SAME: f64 = 1e-9;

/// What the numbers of an answer say; none if they leave it open.
pub(super) fn compared(found: &Value, compare: &Compare) -> Option<bool> {
    let (language, answers) = english()?;
    let pieces = pieces(found);
    let fields: Vec<(&[String], &Number)> = pieces
        .iter()
        .filter_map(|(name, piece)| match piece {
            Value::Number(number) => Some((name.as_slice(), number)),
            _ => None,
        })
        .collect();
    let numbers: Vec<f64> = if fields.is_empty() {
        let texts = pieces.iter().filter_map(|(_, piece)| piece.as_str());
        let read = texts.map(|text| read(text, language)).filter(|words| has_words(words));
        let said: Option<Vec<Vec<f64>>> = read.map(|words| said(&words, compare, language, answers)).collect();
        said?.into_iter().flatten().collect()
    } else {
        meant(&fields, compare, language, answers)?
            .into_iter()
            .flat_map(|(name, it)| values(name, it, compare, answers))
            .collect()
    };
    let mut holds = numbers.iter().map(|number| holds(*number, compare));
    let first = holds.next()?;
    holds.all(|other| other == first).then_some(first)?
}

/// Whether a number in the unit of the tool is as it has to be.
fn holds(number: f64, compare: &Compare) -> Option<bool> {
    let difference = number - compare.number;
    let is_same = difference.abs() < SAME;
    number.is_finite().then_some(match compare.than {
        Than::More => difference > 0.0 && !is_same,
        Than::AtLeast => difference > 0.0 || is_same,
        Than::Less => difference < 0.0 && !is_same,
        Than::AtMost => difference < 0.0 || is_same,
    })
}

/// The fields that hold what is compared: by their unit, by their name, or because there is no other.
fn meant<'p>(
    fields: &[(&'p [String], &'p Number)],
    compare: &Compare,
    language: &Language,
    answers: &AnswerWords,
) -> Option<Vec<(&'p [String], &'p Number)>> {
    let measured = |name: &[String]| unit_of(name, compare);
    let by_unit: Vec<_> = fields.iter().filter(|(name, _)| measured(name).is_some()).copied().collect();
    if !by_unit.is_empty() {
        return Some(by_unit);
    }
    // A field that only holds the answer holds the number. What is named otherwise may be something else.
    if let [(name, _)] = fields
        && is_generic(name, answers)
    {
        return Some(fields.to_vec());
    }
    let unknown = |name: &[String]| name.last().is_some_and(|last| name.len() > 1 && last.len() == 1);
    let named = |name: &[String]| {
        !unknown(name) && concepts(&name.join(" "), language).iter().any(|it| compare.names.contains(it))
    };
    let by_name: Vec<_> = fields.iter().filter(|(name, _)| named(name)).copied().collect();
    (by_name.len() == 1).then_some(by_name)
}

/// The unit in the name of a field, if it measures the same.
fn unit_of(name: &[String], compare: &Compare) -> Option<Unit> {
    let wanted = compare.unit?;
    let celsius = |last: &String| last == "c" && name.len() > 1 && wanted.dimension == Dimension::Temperature;
    let last = name.last()?;
    if celsius(last) {
        return Some(wanted);
    }
    numbers::unit(last).filter(|unit| same_measure(*unit, wanted) && (name.len() > 1 || last.len() > 2))
}

/// Degrees are those of a temperature where one is measured.
pub(crate) fn same_measure(one: Unit, other: Unit) -> bool {
    let kind = |unit: Unit| match unit.dimension {
        Dimension::Angle if unit.label == "degrees" => Dimension::Temperature,
        dimension => dimension,
    };
    one.dimension == other.dimension || kind(one) == kind(other)
}

/// A number from one unit to another that measures the same.
pub(crate) fn converted(number: f64, from: Unit, to: Unit) -> f64 {
    let is_degrees = from.dimension != to.dimension;
    if is_degrees { number } else { number * from.factor / to.factor }
}

/// The values that a field may mean, in the unit of the tool: a share may be of one or of a hundred.
fn values(name: &[String], number: &Number, compare: &Compare, answers: &AnswerWords) -> Vec<f64> {
    let value = number.as_f64().unwrap_or(f64::NAN);
    let Some(unit) = compare.unit else { return vec![value] };
    let own = unit_of(name, compare).map_or(value, |own| converted(value, own, unit));
    let may_be_share = unit.dimension == Dimension::Share && number.is_f64() && (0.0..=1.0).contains(&value);
    match may_be_share {
        true if name.last().is_some_and(|last| answers.shares.has(last)) => vec![value * 100.0],
        true => vec![own, value * 100.0],
        false => vec![own],
    }
}

/// The numbers of a text that measure the same; none if the text leaves something open.
fn said(words: &[Word], compare: &Compare, language: &Language, answers: &AnswerWords) -> Option<Vec<f64>> {
    let mut found = Vec::new();
    let mut bare = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        if answers.uncertain.length(rest) > 0 {
            return None;
        }
        let Some(said) = numbers::read(rest, language) else {
            at += 1;
            continue;
        };
        match (said.unit, compare.unit) {
            (Some(unit), Some(wanted)) if same_measure(unit, wanted) => {
                found.push(converted(said.value, unit, wanted));
            }
            (Some(_), _) => {}
            (None, _) => bare.push(said.value),
        }
        at += said.length;
    }
    // A number alone is what the tool measures.
    if found.is_empty() && bare.len() == 1 {
        return Some(bare);
    }
    Some(found)
}
