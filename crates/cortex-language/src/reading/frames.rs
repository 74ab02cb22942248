//! Which words of a clause are a text that its frame hands over, and what of the frame belongs to whom.

use std::ops::Range;

use serde_json::Map;

use super::fit::Strength;
use super::{Call, Reader};
use crate::language::{Frame, TextFrame};
use crate::numbers;
use crate::robot::{self, Key, ParameterKind, Source, Tool, VerbHit};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most words of a name for listeners.
const LISTENERS: usize = 5;

/// Words that a clause hands over as a text.
#[derive(Debug, Clone)]
pub(super) struct Handed {
    pub(super) range: Range<usize>,
    pub(super) strength: Strength,
    /// True if the frame names the tool.
    pub(super) named: bool,
    /// What is said before the text.
    pub(super) prefix: Option<String>,
    /// True if it is told to somebody, so that "you" is somebody else.
    pub(super) reports: bool,
    /// Where those are who are to hear it.
    pub(super) place: Option<Call>,
    /// How often it is printed.
    pub(super) count: Option<u64>,
    /// True if something before it is not accounted for.
    pub(super) is_vague: bool,
}

impl Handed {
    fn new(range: Range<usize>) -> Self {
        Self {
            range,
            strength: Strength::Own,
            named: false,
            prefix: None,
            reports: false,
            place: None,
            count: None,
            is_vague: false,
        }
    }
}

/// Returns true if the colon stands in a time of day: "14:30".
fn is_clock(words: &[Word], colon: usize) -> bool {
    let number = |at: Option<usize>| at.and_then(|at| words.get(at)).filter(|word| word.kind == Kind::Number);
    let (before, after) = (number(colon.checked_sub(1)), number(Some(colon + 1)));
    before
        .zip(after)
        .zip(words.get(colon))
        .is_some_and(|((before, after), mark)| before.span.end == mark.span.start && mark.span.end == after.span.start)
}
impl Reader<'_> {
    /// Finds the words that are handed over as a text, the strength of the frame, and a name of the tool in it.
    pub(super) fn handed_over(&self, tool: &Tool, frame: Frame, words: &[Word], hits: &[VerbHit]) -> Option<Handed> {
        let may_be = |slot: &str, range: Range<usize>| match slot {
            "people" => {
                let words = words.get(range).unwrap_or_default();
                self.are_people(words) || self.is_value(tool, words) || self.listeners_at(words).is_some()
            }
            "place" => self.place_of(words.get(range).unwrap_or_default()).is_some(),
            "count" => words.get(range).is_some_and(|words| self.counted(words).is_some()),
            "question" => words.get(range).is_some_and(|words| {
                self.asks(words)
                    && !words.first().is_some_and(|first| self.language.facts.hints.doubts.has(&first.text))
            }),
            "tool" => self.names_tool(tool, words.get(range).unwrap_or_default()),
            "quoted" => {
                let range = words.get(range).unwrap_or_default();
                matches!(range, [only] if only.kind == Kind::Quoted)
                    || range.first().is_some_and(|first| first.is_mark(":"))
            }
            _ => true,
        };
        let mut best: Option<Handed> = None;
        let mut take = |handed: Handed| {
            let range = self.trimmed(words, handed.range.clone());
            let is_better = best.as_ref().is_none_or(|other| {
                (handed.named, handed.strength, std::cmp::Reverse(range.len()))
                    > (other.named, other.strength, std::cmp::Reverse(other.range.len()))
            });
            if !range.is_empty() && is_better {
                best = Some(Handed { range, ..handed });
            }
        };
        for TextFrame { pattern, prefix, .. } in self.language.texts.iter().filter(|it| it.frame == frame) {
            let Some(slots) = pattern.whole(words, &may_be) else { continue };
            let named = slots.iter().any(|(name, _)| *name == "tool");
            let text = slots.iter().find(|(name, _)| matches!(*name, "text" | "quoted" | "question"));
            let Some((_, range)) = text else { continue };
            // "Write welcome" hands over a text where the robot writes; "display the way" hands over none.
            let first = words.get(range.clone()).unwrap_or_default().first();
            let is_marked = first.is_some_and(|first| first.kind == Kind::Quoted || first.is_mark(":"))
                || text.is_some_and(|(name, _)| *name == "quoted");
            let is_thing = first.is_some_and(|first| self.language.is_article(&first.text));
            if frame == Frame::Write && !named && !is_marked && (is_thing || !self.is_own_verb(tool, words)) {
                continue;
            }
            let slot = |wanted: &str| {
                let (_, range) = slots.iter().find(|(name, _)| *name == wanted)?;
                words.get(range.clone())
            };
            let people = slot("people");
            let place = slot("place").and_then(|words| self.place_of(words)).or_else(|| {
                let people = people.filter(|words| !self.are_people(words) && !self.is_value(tool, words))?;
                self.listeners_at(people)
            });
            // In "the meeting is moved to the cold room" nobody is told anything.
            let (says_first, bare) =
                (slots.first().is_some_and(|(name, _)| *name == "text"), people.and_then(|it| self.drive_to(it)));
            if says_first && bare.is_some() {
                continue;
            }
            let count = slot("count").and_then(|words| self.counted(words));
            let prefix = prefix.clone();
            take(Handed { named, prefix, reports: people.is_some(), place, count, ..Handed::new(range.clone()) });
        }
        // "Read this out loud: ...": whatever stands after a colon, where what stands before hands over a text.
        if let Some(colon) = words.iter().position(|word| word.is_mark(":"))
            && colon + 1 < words.len()
            && !is_clock(words, colon)
        {
            let before = words.get(..colon).unwrap_or_default();
            let hands_over = robot::hits(before, self.language).iter().any(|hit| {
                let of_tool = tool.verbs.iter().any(|verb| verb.key == hit.key);
                let framed = self.language.sense_of(&hit.key).is_some_and(|sense| sense.frame == Some(frame));
                hit.at.first().is_some_and(|at| *at <= 2) && (of_tool || framed)
            });
            if hands_over {
                // "Give a shout in the hall: ...": a place is gone to first.
                // "Say it twice: ..." says more of it than which words.
                let is_vague = (0..before.len()).any(|at| {
                    before.get(at..).is_some_and(|rest| self.begins_place(rest) || self.repeats(rest).is_some())
                });
                take(Handed { is_vague, ..Handed::new(colon + 1..words.len()) });
            }
        }
        // A verb of the tool's own: "transmit: all clear", "voice-say hello".
        let begin = self.after_name(tool, words);
        for hit in hits.iter().filter(|hit| !hit.lent) {
            let Some(verb) = tool.verbs.iter().find(|verb| verb.key == hit.key) else { continue };
            let starts = hit.at.first().is_some_and(|at| *at <= begin);
            let end = hit.at.last().map_or(0, |last| last + 1);
            let sense = self.language.sense_of(&hit.key);
            let hands_over = sense.and_then(|it| it.frame) == Some(frame)
                || (verb.source == Source::Own && matches!(hit.key, Key::Word(_)));
            if !starts || !hands_over || end >= words.len() {
                continue;
            }
            let rest = words.get(end..).unwrap_or_default();
            let label = rest.iter().take_while(|word| word.kind == Kind::Word && self.is_label(tool, word)).count();
            let rest = rest.get(label..).unwrap_or_default();
            let is_marked = rest.first().is_some_and(|first| {
                first.is_mark(":") || first.is_mark("=") || first.is_mark("(") || first.kind == Kind::Quoted
            });
            if is_marked || (begin > 0 && hit.at.first() == Some(&begin)) {
                take(Handed { named: begin > 0, ..Handed::new(end + label..words.len()) });
            }
        }
        best
    }

    /// Returns true if the clause begins with a verb of the tool's own.
    fn is_own_verb(&self, tool: &Tool, words: &[Word]) -> bool {
        let own = |hit: &robot::VerbHit| {
            !hit.lent && tool.verbs.iter().any(|verb| verb.key == hit.key && verb.source == Source::Own)
        };
        robot::hits(words.get(..3.min(words.len())).unwrap_or_default(), self.language)
            .iter()
            .any(|hit| hit.at.first() == Some(&0) && own(hit))
    }

    /// Returns the number of words at the beginning that name the tool as engineers type it: `voice-say`.
    fn after_name(&self, tool: &Tool, words: &[Word]) -> usize {
        words.iter().take_while(|word| word.kind == Kind::Word && tool.component.contains(&word.stem)).count()
    }

    fn is_label(&self, tool: &Tool, word: &Word) -> bool {
        self.language.is_article(&word.text)
            || tool.parameters.iter().any(|it| self.names_parameter(word, it))
            || tool.name_nouns.contains(&robot::meaning(word, self.language))
    }

    /// The range without marks around it.
    pub(super) fn trimmed(&self, words: &[Word], range: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = range;
        while start < end && words.get(start).is_some_and(|word| word.kind == Kind::Mark) {
            start += 1;
        }
        while end > start
            && words.get(end - 1).is_some_and(|word| {
                word.kind == Kind::Mark && matches!(word.text.as_str(), "," | "." | ";" | ":" | ")" | "(")
            })
        {
            end -= 1;
        }
        start..end
    }

    /// "Say hello twice" says hello, twice.
    pub(super) fn without_repetition(&self, words: &[Word], range: Range<usize>) -> (Range<usize>, u32) {
        for length in (1..=3).rev() {
            let Some(from) = range.end.checked_sub(length).filter(|from| *from > range.start) else { continue };
            let Some(rest) = words.get(from..range.end) else { continue };
            if let Some((times, taken)) = self.repeats(rest)
                && taken == length
                && times > 1
            {
                return (range.start..from, times);
            }
        }
        (range, 1)
    }

    /// Returns true if the words are a value of the tool: the channel of a radio.
    fn is_value(&self, tool: &Tool, words: &[Word]) -> bool {
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let rest = words.get(articles..).unwrap_or_default();
        !rest.is_empty()
            && tool.parameters.iter().any(|parameter| match &parameter.kind {
                ParameterKind::Choice(choices) => {
                    choices.read(rest, self.language).is_some_and(|(_, length)| length == rest.len())
                }
                _ => false,
            })
    }

    /// Returns true if the words name listeners: "everybody", "the guests in the lobby" does not.
    pub(crate) fn are_people(&self, words: &[Word]) -> bool {
        if words.is_empty() || words.len() > LISTENERS {
            return false;
        }
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let rest = words.get(articles..).unwrap_or_default();
        let people = self.language.words.people.length(rest);
        let around = rest.get(people..).unwrap_or_default();
        let nearby = self
            .language
            .words
            .around
            .length(around)
            .max(self.language.words.here.length(around))
            .max(self.language.words.places.length(around));
        if people > 0 && people + nearby == rest.len() {
            return true;
        }
        match rest {
            // A name: with a capital in the middle of a sentence.
            [only] | [_, only] if only.kind == Kind::Word => {
                let capital = |word: &Word| {
                    self.text
                        .get(word.span.clone())
                        .and_then(|text| text.chars().next())
                        .is_some_and(char::is_uppercase)
                };
                articles == 0 && rest.iter().all(capital) && !self.language.facts.hints.speaker.has(&only.text)
            }
            _ => false,
        }
    }

    /// "In the kitchen", "at the main gate": the drive to where a text is to be heard.
    fn place_of(&self, words: &[Word]) -> Option<Call> {
        let rests = self.language.words.rests.length(words);
        self.drive_to(words.get(rests..)?).filter(|_| rests > 0)
    }

    /// "Everybody in the kitchen", "the gentleman at reception", "the kitchen": the drive to those who are to hear a text.
    fn listeners_at(&self, words: &[Word]) -> Option<Call> {
        const NAMED_BY: usize = 4;
        if let Some(call) = self.drive_to(words) {
            return Some(call);
        }
        let (people, place) =
            (1..words.len()).find_map(|at| Some((words.get(..at)?, self.place_of(words.get(at..)?)?)))?;
        let unknown = &self.language.words.unknown_people;
        let begins = |word: &Word| self.language.is_article(&word.text) || unknown.has(&word.text);
        // "The lady", "my wife", "whoever is": what stands at a place and is told something is somebody.
        let is_somebody = people.len() <= NAMED_BY
            && people.first().is_some_and(begins)
            && people.iter().all(|word| word.kind == Kind::Word && word.number.is_none())
            && !self.begins_place(people);
        (self.are_people(people) || is_somebody).then_some(place)
    }

    /// The one way to drive to the place that the words name; none where something else takes them.
    fn drive_to(&self, words: &[Word]) -> Option<Call> {
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let name = words.get(articles..).filter(|name| !name.is_empty())?;
        let read = |parameter: &robot::Parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => {
                let (value, length) = choices.read(name, self.language)?;
                (length == name.len()).then(|| choices.value(value).cloned())?
            }
            _ => None,
        };
        let valued = self.with_value(name);
        let with_value = |(index, _): &(usize, &Tool)| valued.has(*index);
        let drives = self.robot.those(&self.robot.index.goes).filter(with_value);
        let mut drives = drives.filter_map(|(index, tool)| {
            let mut needed = tool.parameters.iter().filter(|it| it.required);
            let parameter = needed.next().filter(|_| needed.next().is_none())?;
            let arguments = Map::from_iter([(parameter.name.clone(), read(parameter)?)]);
            Some(Call { tool: index, arguments })
        });
        let call = drives.next().filter(|_| drives.next().is_none())?;
        let says = |(_, tool): (usize, &Tool)| tool.parameters.iter().any(|it| read(it).is_some());
        (!self.robot.those(&self.robot.index.says).filter(with_value).any(says)).then_some(call)
    }

    /// A number of copies.
    fn counted(&self, words: &[Word]) -> Option<u64> {
        let said = numbers::read(words, self.language)?;
        let is_count = said.unit.is_none() && said.length == words.len() && said.value.fract() == 0.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, from 1 to 100")]
        (is_count && (1.0..=100.0).contains(&said.value)).then_some(said.value as u64)
    }

    /// Returns true if the words name the tool, and nothing else.
    fn names_tool(&self, tool: &Tool, words: &[Word]) -> bool {
        let mut at = 0;
        let mut named = false;
        while let Some(word) = words.get(at) {
            if self.language.is_article(&word.text) {
                at += 1;
                continue;
            }
            let Some((concept, length)) = words.get(at..).and_then(|rest| robot::next_concept(rest, self.language))
            else {
                return false;
            };
            if !(tool.nouns.contains(&concept) || tool.described.contains(&concept)) {
                return false;
            }
            named |= tool.component.contains(&concept) || tool.nouns.contains(&concept);
            at += length;
        }
        named
    }
}
