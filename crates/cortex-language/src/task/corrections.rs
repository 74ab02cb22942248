//! What takes the place of what was said: "12 cm, no, 15", "the hall, I mean the kitchen".

use super::nodes::Clauses;
use super::{Meaning, Node, Taken, Task, answers};
use crate::language::Guard;
use crate::reading::{End, Reading, Strength};
use crate::robot::{Parameter, ParameterKind};
use crate::sentence::Word;

impl Task<'_> {
    /// "Go to the hall and open the door, I meant the kitchen": what is corrected is not what was said last. Asked about.
    pub(super) fn corrected_earlier(&self, clauses: &Clauses, taken: &Taken) -> Option<Clauses> {
        let Meaning::Read(new) = &taken.meaning else { return None };
        let tool_of = |taken: &Taken| taken.reading().and_then(Reading::tool);
        let tool = tool_of(taken).filter(|_| new.iter().all(Reading::is_by_things_alone))?;
        let all = clauses.clone().into_vec();
        let at = all.iter().rposition(|earlier| tool_of(earlier) == Some(tool))?;
        // The last one is corrected in any case.
        all.get(at + 1)?;
        let mut new = new.clone();
        if let Some(Meaning::Read(old)) = all.get(at).map(|earlier| &earlier.meaning) {
            complete(&mut new, old);
        }
        new.iter_mut().for_each(|reading| reading.doubtful = true);
        let replaced = |(index, earlier): (usize, Taken)| {
            let meaning = if index == at { Meaning::Read(new.clone()) } else { earlier.meaning };
            Taken { meaning, ..earlier }
        };
        Some(all.into_iter().enumerate().map(replaced).fold(Clauses::default(), |all, next| all.with(next)))
    }

    /// Returns true if a word of the clause forbids a guess.
    pub(super) fn is_guarded(&self, taken: Option<&Taken>) -> bool {
        let words = taken.and_then(|taken| self.words.get(taken.range.clone())).unwrap_or_default();
        self.reader.guarded(words).is_some_and(|(guard, _)| guard != Guard::Reference)
    }

    /// "Go to the barn and feed the goats. No wait, go home": a whole order may take the place of all that was said. A
    /// fragment that corrects what was not understood may say anything.
    pub(super) fn doubt_correction(&self, node: &Node, taken: &mut Taken) {
        let Meaning::Read(new) = &mut taken.meaning else { return };
        let acts = |reading: &&Reading| reading.calls.iter().any(|call| !answers(self.reader.robot, call));
        let read = || node.clauses.last_first().filter_map(Taken::reading);
        let before = if read().any(|it| acts(&it)) { read().count() } else { 0 };
        let last = read().next().and_then(Reading::tool);
        let corrected = node.clauses.last_first().find(|taken| !matches!(taken.meaning, Meaning::Nothing));
        let (is_missed, is_told) = match corrected.map(|taken| &taken.meaning) {
            Some(Meaning::Missed(_)) => (true, false),
            Some(Meaning::Told | Meaning::RuledOut(_) | Meaning::Talk(_)) => (false, true),
            _ => (false, false),
        };
        // "To the laundry, room 104, I mean 103": of several one is corrected.
        let is_one_of_several = match corrected.and_then(Taken::reading) {
            Some(old) => old.calls.len() > 1,
            None => false,
        };
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let is_order = self.begins_with_deed(words) || self.reader.core(words, End::Courtesies).lead.is_some();
        let joins = |taken: &Taken| {
            let words = self.words.get(taken.range.clone()).unwrap_or_default();
            words.iter().any(|word| word.is_mark(",") || self.reader.language.words.joints.has(&word.text))
        };
        let is_missed_twice = is_missed && corrected.is_some_and(joins);
        for reading in new {
            let is_fragment = reading.score.strength <= Strength::Things || reading.verb.is_none();
            let is_whole = before > 1 && (is_order || reading.tool() != last);
            let is_one = is_one_of_several && !is_order && reading.calls.len() == 1;
            reading.doubtful |=
                is_whole || is_one || is_told || is_missed_twice || is_missed && is_fragment && before > 0;
        }
    }

    /// Completes a correction by the values that it leaves unsaid, or reads it as another text.
    pub(super) fn corrected(&self, old: Option<&Meaning>, new: &mut Meaning, words: &[Word]) -> Option<Reading> {
        let Some(Meaning::Read(old)) = old else { return None };
        match new {
            Meaning::Read(new) => {
                for reading in new.iter_mut() {
                    reading.doubtful |= self.fits_several(reading);
                }
                complete(new, old);
                None
            }
            Meaning::Missed(_) => match old.as_slice() {
                [old] => self.reader.other_text(old, words),
                _ => None,
            },
            _ => None,
        }
    }

    /// "From receiving to aisle C, I mean cold store": from there or to there.
    fn fits_several(&self, reading: &Reading) -> bool {
        let [call] = reading.calls.as_slice() else { return false };
        let Some(tool) = self.reader.robot.tool(call.tool) else { return false };
        let Some(value) = call.arguments.values().next().filter(|_| call.arguments.len() == 1) else { return false };
        let takes = |parameter: &&Parameter| matches!(&parameter.kind, ParameterKind::Choice(choices) if choices.values.contains(value));
        reading.score.strength <= Strength::Described && tool.parameters.iter().filter(takes).count() > 1
    }

    /// "12 cm, no, make it 15": the number that takes the place of another one is measured as that one is.
    pub(super) fn with_unit(&self, node: &Node, words: &[Word]) -> Option<Vec<Word>> {
        let language = self.reader.language;
        let before = self.words.get(node.clauses.last()?.range.clone())?;
        let numbers = |words: &[Word]| {
            let said = |at: usize| Some((at, crate::numbers::read(words.get(at..)?, language)?));
            (0..words.len()).find_map(said)
        };
        let (at, said) = numbers(before).filter(|(_, said)| said.unit.is_some())?;
        let unit = before.get(at..at + said.length)?.iter().rfind(|word| language.unit(&word.text).is_some())?;
        let (at, bare) = numbers(words).filter(|(_, bare)| bare.unit.is_none() && !bare.is_ordinal)?;
        let mut words = words.to_vec();
        let span = words.get(at + bare.length - 1)?.span.clone();
        words.insert(at + bare.length, Word { span, ..unit.clone() });
        Some(words)
    }
}

/// Keeps the values that a correction leaves unsaid.
fn complete(new: &mut [Reading], old: &[Reading]) {
    let Some((old_score, old)) = old.first().and_then(|it| Some((it.score, it.calls.last()?))) else { return };
    // What was asked for by a verb is still asked for by it.
    for reading in new.iter_mut().filter(|reading| reading.calls.iter().any(|call| call.tool == old.tool)) {
        reading.score.strength = reading.score.strength.max(old_score.strength);
    }
    for call in new.iter_mut().flat_map(|reading| reading.calls.iter_mut()).filter(|call| call.tool == old.tool) {
        for (name, value) in &old.arguments {
            call.arguments.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}
