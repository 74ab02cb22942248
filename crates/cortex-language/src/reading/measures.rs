//! Numbers in a clause: which parameter of a tool measures what is said, and what its value is then.

use super::Reader;
use super::cover::Draft;
use super::misses::mismatched;
use super::values::Found;
use crate::numbers::{self, Said, Unit};
use crate::robot::{self, NumberKind, Parameter, ParameterKind, Tool};
use crate::sentence::Word;

impl Reader<'_> {
    pub(super) fn number(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        draft: &Draft,
        only: Option<usize>,
    ) -> Option<Found> {
        let ordinal = rest.first().and_then(ordinal);
        if let Some(found) = self.share(tool, rest, draft, only) {
            return Some(found);
        }
        let mut said = numbers::read(rest, self.language).or(ordinal)?;
        // "Three times" of a tool that counts.
        let times = rest.get(said.length..).map_or(0, |after| self.language.words.times.length(after));
        let mut open: Vec<(usize, &Parameter, &NumberKind)> = tool
            .parameters
            .iter()
            .enumerate()
            .filter(|(index, _)| only.map_or_else(|| !draft.values.contains_key(index), |only| *index == only))
            .filter_map(|(index, parameter)| match &parameter.kind {
                ParameterKind::Number(kind) => Some((index, parameter, kind)),
                _ => None,
            })
            .collect();
        // "Water the herbs in ten minutes" says when, and not how long.
        if self.is_from_now(words, at, &said) {
            return None;
        }
        // A number with a unit belongs to what is measured in it, of whichever tool.
        if let Some(unit) = said.unit {
            let fits = |kind: &NumberKind| kind.takes(unit);
            if open.iter().any(|(_, _, kind)| fits(kind)) {
                open.retain(|(_, _, kind)| fits(kind));
            } else if self.is_measured(unit) {
                return None;
            }
        }
        let pick = |fits: &dyn Fn(&Parameter, &NumberKind) -> bool| {
            let mut fitting = open.iter().filter(|(_, parameter, kind)| fits(parameter, kind));
            fitting.next().filter(|_| fitting.next().is_none()).copied()
        };
        let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
        let last_before = at.checked_sub(1).and_then(|before| words.get(before));
        // In "d 5 level 4" the level is 4.
        let after = rest.get(said.length..).and_then(|after| {
            let (word, length) = robot::next_concept(after, self.language)?;
            let is_next = after.get(length).is_some_and(|next| next.number.is_some());
            (!is_next || said.is_ordinal).then_some((word, length))
        });
        let is_named = |parameter: &Parameter| words.iter().any(|word| self.names_parameter(word, parameter));
        let hints = draft.role.as_ref().and_then(|role| self.language.roles.get(role));
        let chosen = if times > 0 {
            pick(&|parameter, _| self.is_count(parameter))
        } else if let [only] = open.as_slice() {
            Some(*only)
        } else {
            pick(&|_, _| said.unit.is_some())
                .or_else(|| pick(&|parameter, _| last_before.is_some_and(|word| self.names_parameter(word, parameter))))
                .or_else(|| pick(&|parameter, _| before.iter().any(|word| self.names_parameter(word, parameter))))
                .or_else(|| {
                    pick(&|parameter, _| after.as_ref().is_some_and(|(word, _)| parameter.words.contains(word)))
                })
                .or_else(|| {
                    pick(&|parameter, _| {
                        hints.is_some_and(|hints| parameter.words.iter().any(|word| hints.contains(word)))
                    })
                })
                .or_else(|| {
                    let follows = draft.value_end == Some(at) && said.unit.is_none();
                    pick(&|parameter, kind| follows && kind.whole && parameter.required && !is_named(parameter))
                })
                .or_else(|| {
                    pick(&|parameter, kind| {
                        said.unit.is_none() && parameter.required && (!said.is_ordinal || kind.whole)
                    })
                })
                .or_else(|| {
                    pick(&|parameter, kind| {
                        said.unit.is_none() && kind.unit.is_none() && kind.whole && parameter.required
                    })
                })
        };
        let (index, parameter, kind) = chosen?;
        if said.unit.is_none() && times == 0 && self.belongs_elsewhere(tool, parameter, words, at, said.length) {
            return None;
        }
        let after_number = words.get(at + said.length..).unwrap_or_default();
        if self.is_absolute(tool, kind) && self.says_change(words, at, after_number) {
            return None;
        }
        if said.is_ordinal && !(kind.whole && kind.unit.is_none()) {
            return None;
        }
        // "Three drops": what is counted is the parameter's own name.
        if times > 0 {
            said.length += times;
        } else if let Some((word, length)) = after.filter(|_| said.unit.is_none())
            && parameter.words.contains(&word)
            && last_before.is_none_or(|before| !self.names_parameter(before, parameter))
        {
            said.length += length;
        }
        match kind.take(&said) {
            Ok(value) => Some((index, Ok(vec![value]), said.length)),
            Err(mismatch) => {
                let written = self.written(rest.get(..said.length).unwrap_or_default());
                Some((index, Err(mismatched(parameter, mismatch, written)), said.length))
            }
        }
    }

    /// "Table 18" is no party of 18, and "two beers" are of no table 2: a number that says which or how many of something
    /// else.
    fn belongs_elsewhere(&self, tool: &Tool, parameter: &Parameter, words: &[Word], at: usize, length: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        if before.is_some_and(|word| self.names_parameter(word, parameter)) {
            return false;
        }
        let concept = before.map(|word| robot::meaning(word, self.language)).unwrap_or_default();
        if !tool.nouns.contains(&concept) && self.robot.index.counted.contains(&concept) {
            return true;
        }
        let after = words.get(at + length..).unwrap_or_default();
        let is_value = |it: &Parameter| {
            it.name != parameter.name
                && matches!(&it.kind, ParameterKind::Choice(choices) if choices.read(after, self.language).is_some())
        };
        let is_state = self.language.state(after).is_some();
        !self.is_count(parameter) && !is_state && tool.parameters.iter().any(is_value)
    }

    /// "At seven": a small bare number after a word that stands before times of the day.
    pub(super) fn may_be_time(&self, words: &[Word], at: usize) -> bool {
        const HOURS: f64 = 24.0;
        let said = words.get(at..).and_then(|rest| numbers::read(rest, self.language));
        let is_hour = said.is_some_and(|said| {
            said.unit.is_none() && said.value.fract() == 0.0 && (1.0..=HOURS).contains(&said.value)
        });
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        is_hour && before.is_some_and(|before| self.language.facts.hints.time_of_day.has(&before.text))
    }

    /// "In ten minutes".
    fn is_from_now(&self, words: &[Word], at: usize, said: &Said) -> bool {
        let from_now = &self.language.facts.hints.time_from_now;
        said.unit.is_some_and(|unit| unit.dimension == numbers::Dimension::Time)
            && at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|it| from_now.has(&it.text))
    }

    /// Returns true if the number says where something ends up, rather than by how much it changes.
    pub(super) fn is_absolute(&self, tool: &Tool, kind: &NumberKind) -> bool {
        let sets = |verb: &robot::Verb| {
            verb.source == robot::Source::Own && ["set", "adjust", "change"].iter().any(|it| self.names(&verb.key, it))
        };
        kind.scale().is_some() || tool.verbs.iter().any(sets)
    }

    /// "Raise the forks 10 cm", where they are raised to a height: one can't tell whether by or to it.
    pub(super) fn is_vague_change(&self, tool: &Tool, words: &[Word], at: usize, index: usize, draft: &Draft) -> bool {
        let ParameterKind::Number(kind) = (match tool.parameters.get(index) {
            Some(parameter) => &parameter.kind,
            None => return false,
        }) else {
            return false;
        };
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let has_role = before.is_some_and(|it| self.language.is_plain_role(&it.text));
        let moves = draft.gives.as_deref().is_some_and(|state| matches!(state, "up" | "down"));
        let is_number = words.get(at..).is_some_and(|rest| numbers::read(rest, self.language).is_some());
        moves && is_number && !has_role && kind.unit.is_some() && self.is_absolute(tool, kind)
    }

    /// "By 5 degrees", "5 degrees warmer", "another metre": by how much something changes.
    pub(super) fn says_change(&self, words: &[Word], at: usize, after: &[Word]) -> bool {
        let hints = &self.language.facts.hints;
        let before = words.get(..at).unwrap_or_default();
        hints.relative.length_at_end(before) > 0
            || words.get(at..).is_some_and(|rest| hints.relative.length(rest) > 0)
            || hints.compared.length(after) > 0
    }

    /// Returns true if something of this robot is measured in such a unit.
    fn is_measured(&self, unit: Unit) -> bool {
        self.robot.those(&self.robot.index.numbers).any(|(_, tool)| {
            tool.parameters.iter().any(|it| matches!(&it.kind, ParameterKind::Number(kind) if kind.takes(unit)))
        })
    }

    /// "Open the vent halfway", "a quarter of the way up": a share of what goes from nothing to all.
    fn share(&self, tool: &Tool, rest: &[Word], draft: &Draft, only: Option<usize>) -> Option<Found> {
        const HALF: f64 = 0.5;
        let (share, mut length) = self.language.fraction(rest)?;
        if numbers::read(rest, self.language).is_some_and(|said| said.unit.is_some()) {
            return None;
        }
        let mut scales = tool.parameters.iter().enumerate().filter_map(|(index, parameter)| match &parameter.kind {
            ParameterKind::Number(kind)
                if only.map_or_else(|| !draft.values.contains_key(&index), |it| it == index) =>
            {
                Some((index, parameter, kind, kind.scale()?))
            }
            _ => None,
        });
        let (index, parameter, kind, full) = scales.next().filter(|_| scales.next().is_none())?;
        length += self.language.words.of_all.length(rest.get(length..)?);
        // "A quarter closed" of what is measured by how far it is open.
        let said = rest.get(length..).and_then(|after| self.language.state(after));
        let is_empty = |state: &str| self.stated(parameter, state).map(|value| value.as_f64() == kind.minimum);
        let share = match said.map(|(state, taken)| (is_empty(state), taken)) {
            Some((Some(empty), taken)) => {
                length += taken;
                if empty { 1.0 - share } else { share }
            }
            Some((None, taken)) if (share - HALF).abs() < f64::EPSILON => {
                length += taken;
                share
            }
            _ => match draft.gives.as_deref().and_then(is_empty) {
                Some(true) => 1.0 - share,
                _ => share,
            },
        };
        let value = if kind.whole { (share * full).round() } else { share * full };
        let value = kind.take(&Said { value, unit: None, length, is_ordinal: false }).ok()?;
        Some((index, Ok(vec![value]), length))
    }
}

/// "The third" as a number.
fn ordinal(word: &Word) -> Option<Said> {
    word.ordinal.map(|value| Said { value, unit: None, length: 1, is_ordinal: true })
}
