//! What the words of a clause may say to any tool, looked up once for all tools.

use super::Reader;
use crate::language::Guard;
use crate::numbers;
use crate::sentence::Word;

/// What may begin at a word. Where it says no, nothing of the kind begins there, however many words follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Something about the whole clause: a repetition, an exception.
    pub(super) modifies: bool,
    /// "All", "both", a direction, a unit, "that" before a thing.
    pub(super) measures: bool,
    /// A state.
    pub(super) state: bool,
    /// A number.
    pub(super) number: bool,
    /// A word for something that was said before.
    pub(super) refers: bool,
    /// A thing: no word that marks a place or a noun.
    pub(super) noun: bool,
}

impl Spot {
    /// Of a word that nobody looked up.
    const ANY: Self = Self { modifies: true, measures: true, state: true, number: true, refers: true, noun: true };

    /// Of a word in a clause.
    pub(super) fn at(spots: &[Self], at: usize) -> Self {
        spots.get(at).copied().unwrap_or(Self::ANY)
    }
}

impl Reader<'_> {
    /// Looks up each word.
    pub(super) fn spots(&self, words: &[Word]) -> Vec<Spot> {
        (0..words.len()).filter_map(|at| self.spot(words.get(at..)?)).collect()
    }

    fn spot(&self, rest: &[Word]) -> Option<Spot> {
        let language = self.language;
        let said = &language.words;
        let word = rest.first()?;
        let warns = |(guard, phrases): &(Guard, &crate::phrases::PhraseSet)| {
            matches!(guard, Guard::Timing | Guard::Choice) && phrases.length(rest) > 0
        };
        let state = language.state(rest).is_some();
        let things = said.things.length(rest) > 0 || language.facts.hints.demonstratives.has(&word.text);
        Some(Spot {
            modifies: language.facts.hints.but.has(&word.text)
                || said.exceptions.length(rest) > 0
                || said.around.length(rest) > 0
                || language.extreme(rest).is_some()
                || language.guards().iter().any(warns)
                || self.repeats(rest).is_some(),
            measures: state
                || language.is_direction(&word.text)
                || things
                || said.both.length(rest) > 0
                || said.all.length(rest) > 0
                || language.unit(&word.text).is_some()
                || numbers::unit_of_name(&word.text).is_some()
                || language.facts.hints.backward.has(&word.text),
            state,
            number: word.ordinal.is_some()
                || numbers::read(rest, language).is_some()
                || language.fraction(rest).is_some(),
            refers: things || said.places.length(rest) > 0 || said.here.length(rest) > 0,
            noun: !language.is_plain_role(&word.text)
                && !language.weighty(&word.text)
                && !language.is_article(&word.text),
        })
    }
}
