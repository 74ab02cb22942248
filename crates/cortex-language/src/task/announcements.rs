//! Findings that are to be spoken: "say what you see", "look around, then read it out loud".

use super::{Meaning, Node, Part, Task, answers};
use crate::reading::{Clause, Context, End};
use crate::robot::ParameterKind;
use crate::sentence::Word;
use crate::talk::{self};

impl Task<'_> {
    /// "Say what you see", "look around, then read it out loud": what is found is to be spoken.
    pub(super) fn announcement(&self, node: &Node, words: &[Word]) -> Option<(f64, Meaning)> {
        let language = self.reader.language;
        self.speaker()?;
        let core = self.reader.core(words, End::Courtesies).words;
        let speaks = crate::robot::first_hits(core, language)
            .into_iter()
            .filter(|hit| {
                language.sense_of(&hit.key).is_some_and(|sense| sense.frame == Some(crate::language::Frame::Say))
            })
            .map(|hit| hit.at.len())
            .max();
        let reads_out = language.words.reads_out.length(core);
        let length = speaks.unwrap_or(0).max(reads_out);
        let rest = core.get(length..).filter(|_| length > 0)?;
        let things = language.words.things.length(rest).max(language.words.results.length(rest));
        let after = rest.get(things..).unwrap_or_default();
        if things > 0 && language.words.aloud.length(after) == after.len() {
            let found = node.clauses.last_first().any(|taken| self.finds(&taken.meaning));
            return found.then_some((1.0, Meaning::AnnouncedLast));
        }
        // "Say how are you?" hands over a text.
        let is_talk = talk::exact(rest, self.reader.robot, language).is_some();
        if self.reader.asks(rest) && !is_talk {
            let context = Context { asks: true, ..Context::default() };
            if language.words.past_sight.length(rest) == rest.len()
                && node.clauses.last_first().any(|taken| self.finds(&taken.meaning))
            {
                return Some((1.0, Meaning::AnnouncedLast));
            }
            if let Clause::Read(readings) = self.reader.clause(rest, context)
                && readings.iter().all(|it| it.calls.iter().all(|call| answers(self.reader.robot, call)))
            {
                return Some((1.0, Meaning::Announced(readings)));
            }
        }
        None
    }

    /// Returns true if the clause brings something to tell.
    pub(super) fn finds(&self, meaning: &Meaning) -> bool {
        match meaning {
            Meaning::Read(readings) | Meaning::Announced(readings) => {
                readings.iter().any(|it| it.calls.iter().any(|call| answers(self.reader.robot, call)))
            }
            _ => false,
        }
    }

    /// The tool that speaks, the parameter that takes the text, and its most characters.
    pub(super) fn speaker(&self) -> Option<(usize, String, Option<u64>)> {
        let speaks = |(index, tool): (usize, &crate::robot::Tool)| {
            let (slot, frame) = tool.text?;
            let parameter = tool.parameters.get(slot).filter(|_| frame == crate::language::Frame::Say)?;
            let limit = match parameter.kind {
                ParameterKind::Text(limit) => limit,
                _ => None,
            };
            Some((index, parameter.name.clone(), limit))
        };
        let mut speakers = self.reader.robot.those(&self.reader.robot.index.says).filter_map(speaks);
        speakers.next().filter(|_| speakers.next().is_none())
    }

    /// The part that speaks of the last look.
    pub(super) fn told(&self, clause: &str) -> Option<Part> {
        let (tool, parameter, limit) = self.speaker()?;
        Some(Part::Tell { tool, parameter, limit, of: 0, clause: clause.to_owned() })
    }
}
