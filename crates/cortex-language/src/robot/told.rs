//! What the answers of a tool say, as far as its declaration tells.

use crate::language::Language;
use crate::numbers::{self, Dimension, Unit};
use crate::sentence::Word;

/// Most words between a number and what it is said to mean.
const WITHIN: usize = 6;

/// What a tool that looks tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// The units in which it measures.
    pub(crate) units: Vec<Unit>,
    /// True if it tells whether something is so.
    pub(crate) whether: bool,
    /// True if it counts or lists things.
    pub(crate) counts: bool,
    /// The states of which it tells; those of its name, if there are any.
    pub(crate) states: Vec<String>,
    /// True if it is said to tell zero of what is empty.
    pub(crate) empty_at_zero: bool,
}

impl Told {
    /// Reads the name of a method and the description of its tool.
    pub(crate) fn of(method: &[Word], description: &[Word], language: &Language) -> Self {
        let mut units: Vec<Unit> = Vec::new();
        for (index, word) in description.iter().enumerate() {
            let Some(unit) = numbers::unit(&word.text).filter(|_| word.text.len() > 1) else { continue };
            // "Degrees Celsius" is one unit.
            let is_celsius = units.last().is_some_and(|last| last.dimension == Dimension::Angle)
                && unit.dimension == Dimension::Temperature
                && index > 0;
            if is_celsius {
                units.pop();
            }
            if !units.iter().any(|other| other.label == unit.label) {
                units.push(unit);
            }
        }
        let answers = &language.conditions.answers;
        let named = states(method, language);
        let whether = description.iter().position(|word| answers.whether.has(&word.text));
        let told = description.get(whether.unwrap_or(description.len())..).unwrap_or_default();
        let end = told.iter().position(|word| word.is_mark(".")).unwrap_or(told.len());
        let mut tells = states(told.get(..end).unwrap_or_default(), language);
        // "Open or closed" says as much as "whether it is open".
        let all = states(description, language);
        tells.extend(
            all.iter()
                .filter(|it| language.opposite(it).is_some_and(|it| all.iter().any(|other| other == it)))
                .cloned(),
        );
        Self {
            units,
            whether: whether.is_some(),
            counts: description.iter().chain(method).any(|word| answers.counting.has(&word.text)),
            states: if named.is_empty() { tells } else { named },
            empty_at_zero: empty_at_zero(description, language),
        }
    }
}

/// "0: the drawer is empty."
fn empty_at_zero(words: &[Word], language: &Language) -> bool {
    let vacant = &language.conditions.answers.vacant;
    let begins = |at: usize| {
        let rest = words.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|word| word.is_mark(".") || word.is_mark(",")).unwrap_or(rest.len());
        rest.iter().take(end.min(WITHIN)).any(|word| vacant.has(&word.text))
    };
    words.iter().enumerate().any(|(at, word)| word.number == Some(0.0) && begins(at))
}

/// The states with an opposite that some words name.
fn states(words: &[Word], language: &Language) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((state, length)) = language.state(rest) else {
            at += 1;
            continue;
        };
        if language.opposite(state).is_some() && !found.iter().any(|it| it == state) {
            found.push(state.to_owned());
        }
        at += length;
    }
    found
}
