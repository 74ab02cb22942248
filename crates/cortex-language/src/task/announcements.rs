//! Findings that are to be spoken: "say what you see", "look around, then read it out loud".

use serde_json::Map;

use super::{Meaning, Node, Part, Task, answers};
use crate::reading::{Call, Clause, Context, End, Reading};
use crate::robot::{ParameterKind, Usage};
use crate::sentence::Word;
use crate::talk::{self};
use crate::tokens::Kind;

impl Task<'_> {
    /// "Say what you see", "look around, then read it out loud": what is found is to be spoken.
    pub(super) fn announcement(&self, node: &Node, words: &[Word]) -> Option<(f64, Meaning)> {
        self.speaker()?;
        // "Say where you are": what looks like a courtesy may be what is to be said.
        let cores = [End::Courtesies, End::Kept].map(|without_end| self.reader.core(words, without_end).words);
        cores.into_iter().find_map(|core| self.announced(node, core))
    }

    fn announced(&self, node: &Node, core: &[Word]) -> Option<(f64, Meaning)> {
        let language = self.reader.language;
        let speaks = crate::robot::hits(core, language)
            .into_iter()
            .filter(|hit| hit.at.iter().copied().eq(0..hit.at.len()))
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
        if let Some(call) = self.named_answer(rest) {
            return Some((1.0, Meaning::Announced(vec![Reading::of(vec![call])])));
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

    /// "Announce the battery level": the tool that is named by these words, all of them, and brings an answer.
    fn named_answer(&self, words: &[Word]) -> Option<Call> {
        let language = self.reader.language;
        let concept = |word: &Word| crate::robot::next_concept(std::slice::from_ref(word), language).map(|(it, _)| it);
        let concepts: Vec<String> =
            words.iter().filter(|word| !language.is_article(&word.text)).filter_map(concept).collect();
        let is_named = |(_, tool): &(usize, &crate::robot::Tool)| {
            let answers = tool.looks || tool.usage != Usage::Step;
            answers
                && tool.needs_nothing()
                && concepts.iter().all(|concept| tool.name_nouns.contains(concept))
                && concepts.iter().any(|concept| !tool.component.contains(concept))
        };
        let mut found = self.reader.robot.tools.iter().enumerate().filter(is_named);
        let (tool, _) = found.next().filter(|_| found.next().is_none())?;
        let plain = words.iter().all(|word| word.kind == Kind::Word);
        plain.then(|| Call { tool, arguments: Map::new() })
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
