//! Texts that a frame of speech or writing hands over: "tell everybody that dinner is ready", "put welcome on the display".
//!
//! A text is what stands in quotation marks, after a colon, or in the place of a frame. How often it is said is read out
//! of it; to whom it is said belongs to the frame.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::frames::Handed;
use super::{Call, Context, Core, End, Miss, Reader, Reading, Score};
use crate::language::{Frame, Language};
use crate::numbers::{self, Dimension, Said};
use crate::problem::Problem;
use crate::robot::{self, ParameterKind, Tool, VerbHit};
use crate::sentence::Word;
use crate::talk::Talk;
use crate::tokens::Kind;

/// Returns true if something follows a quotation that is no part of it.
fn is_overrun(words: &[Word]) -> bool {
    words.len() > 1 && words.first().is_some_and(|first| first.kind == Kind::Quoted)
}

impl Reader<'_> {
    /// The clause as a text that is handed over to the tool.
    pub(super) fn by_text(
        &self,
        index: usize,
        tool: &Tool,
        core: Core<'_>,
        hits: &[VerbHit],
        context: Context<'_>,
    ) -> Option<Result<Reading, Miss>> {
        let (slot, frame) = tool.text?;
        let parameter = tool.parameters.get(slot)?;
        let ParameterKind::Text(limit) = parameter.kind else { return None };
        if core.asks {
            return None;
        }
        let Handed { range, strength, named, prefix, reports, place, count, is_vague } =
            self.handed_over(tool, frame, core.words, hits)?;
        let (range, repeats) = self.without_repetition(core.words, range);
        let words = core.words.get(range.clone())?;
        let is_marked = words.first().is_some_and(|first| first.kind == Kind::Quoted);
        if words.is_empty() || is_overrun(words) || !is_marked && self.is_value_beside(index, tool, words) {
            return None;
        }
        if let Some(only) = words.first()
            && words.iter().all(|word| self.refers_only(word))
        {
            let problem = Problem::Guarded { guard: crate::language::Guard::Reference, word: only.text.clone() };
            return Some(Err(Miss { closeness: 4, problem, nearly: Vec::new() }));
        }
        let hints = &self.language.facts.hints;
        // "Some text" is none; neither is what only is to be said under a condition.
        let vague = words.first().is_some_and(|first| hints.vague.has(&first.text));
        let conditional = words.iter().skip(1).any(|word| hints.conditions.has(&word.text));
        let is_quoted = matches!(words, [only] if only.kind == Kind::Quoted)
            || range.start.checked_sub(1).and_then(|before| core.words.get(before)).is_some_and(|it| it.is_mark(":"));
        if !is_quoted && (vague || conditional) {
            let problem = Problem::TextNotMarked;
            return Some(Err(Miss { closeness: 4, problem, nearly: Vec::new() }));
        }
        let text = self.told_text(core.words, &range).unwrap_or_else(|| self.text_of(words));
        let text = self.wished(core.words, &range, text);
        // "Could you print DMEM?" asks for a deed; the text asks nothing.
        let begins_as_question = || self.starts_question(words);
        let is_request = core.lead.is_some() && !is_marked && text.ends_with('?') && !begins_as_question();
        let text = if is_request { text.trim_end_matches('?').trim_end().to_owned() } else { text };
        let text = prefix.map_or_else(|| text.clone(), |prefix| format!("{prefix} {text}"));
        if limit.is_some_and(|limit| text.chars().count() as u64 > limit) {
            let bounds = format!("at most {} characters", limit.unwrap_or_default());
            let problem =
                Problem::OutOfBounds { parameter: parameter.label.clone(), said: "the text".to_owned(), bounds };
            return Some(Err(Miss { closeness: 5, problem, nearly: Vec::new() }));
        }
        let arguments = Map::from_iter([(parameter.name.clone(), json!(text))]);
        let mut several = vec![arguments];
        for other in tool.parameters.iter().filter(|it| it.required && it.name != parameter.name) {
            let mut said = self.said_values(other, core.words.get(..range.start)?);
            if said.is_empty() {
                said.push(other.default.clone()?);
            }
            several = several
                .iter()
                .flat_map(|arguments| {
                    said.iter().map(|value| {
                        let mut arguments = arguments.clone();
                        arguments.insert(other.name.clone(), value.clone());
                        arguments
                    })
                })
                .collect();
        }
        let repeats = match count {
            Some(count) => self.copies(tool, count, &mut several)?,
            None => repeats,
        };
        let spoken = (0..repeats)
            .flat_map(|_| several.iter().map(|arguments| Call { tool: index, arguments: arguments.clone() }));
        let is_there = |place: &Call| place.arguments.values().next() == context.place;
        let calls = place.into_iter().filter(|place| !is_there(place)).chain(spoken).collect();
        // A shorter text means that the frame has read more of the sentence.
        let matched = core.words.len().saturating_sub(words.len()) + usize::from(named) * 3;
        let score = Score { closed: is_quoted, strength, matched, described: 0 };
        Some(Ok(Reading {
            calls,
            score,
            verb: tool.verbs.first().map(|it| it.key.clone()),
            amends: false,
            doubtful: is_vague
                || (words.len() > 1 && words.iter().any(|word| word.kind == Kind::Quoted))
                || !is_quoted && self.asks_kindly(words)
                || !is_quoted && self.may_say_when(words, frame)
                // "A bit back, say 20 centimetres."
                || !is_quoted && numbers::read(words, self.language).is_some_and(|said| said.length == words.len() && said.unit.is_some())
                || !is_quoted
                    && !self.is_courtesy(words)
                    && ((frame == Frame::Write && self.guarded(words).is_some())
                        || self.is_doubtful_text(words)
                        || self.is_out_of_order(core.words, &range)
                        || (reports && words.iter().any(|word| self.language.words.addressed.has(&word.text)))),
            refers: false,
            places: 0,
        }))
    }

    /// Gives the number of copies to the parameter that counts them; returns how often the text is handed over.
    fn copies(&self, tool: &Tool, count: u64, several: &mut [Map<String, Value>]) -> Option<u32> {
        let mut counts = tool.parameters.iter().filter_map(|it| match &it.kind {
            ParameterKind::Number(kind) if kind.whole && kind.unit.is_none() => Some((it, kind)),
            _ => None,
        });
        let Some((parameter, kind)) = counts.next().filter(|_| counts.next().is_none()) else {
            return u32::try_from(count).ok();
        };
        #[expect(clippy::cast_precision_loss, reason = "at most 100")]
        let said = Said { value: count as f64, unit: None, length: 1, is_ordinal: false };
        let value = kind.take(&said).ok()?;
        for arguments in several {
            arguments.insert(parameter.name.clone(), value.clone());
        }
        Some(1)
    }

    /// "Say take your parcel please": whether "please" is said as well is left open, where the text asks for something.
    pub(super) fn asks_kindly(&self, words: &[Word]) -> bool {
        let asks = words.len() > 1
            && words.first().is_some_and(|first| {
                let is_verb = |form: &crate::language::VerbForm| form.head.len() == 1 && form.tail.is_empty();
                self.language.verbs(&first.stem).iter().any(is_verb) && !self.is_courtesy(words)
            });
        let after = words.last().and_then(|last| self.text.get(last.span.end..)).unwrap_or_default();
        let next = after.trim_start().split(|next: char| !next.is_alphanumeric()).next().unwrap_or_default();
        asks && self.language.facts.hints.kindly.has(&next.to_lowercase())
    }

    /// "How are you?" is said as it stands.
    pub(super) fn is_courtesy(&self, words: &[Word]) -> bool {
        crate::talk::exact(words, self.robot, self.language).is_some_and(|talk| talk.is_courtesy())
    }

    /// Returns true if the word only stands for something that was said, or says how it is said.
    fn refers_only(&self, word: &Word) -> bool {
        let words = &self.language.words;
        word.kind == Kind::Word
            && word.number.is_none()
            && (words.things.has(&word.text)
                || words.again.has(&word.text)
                || self.language.facts.hints.vague_alone.has(&word.text))
    }

    /// "Wish them a nice day" says "have a nice day".
    fn wished(&self, words: &[Word], range: &Range<usize>, text: String) -> String {
        let frames = &self.language.frames;
        let wishes = words.first().is_some_and(|first| {
            robot::hits(std::slice::from_ref(first), self.language)
                .iter()
                .any(|hit| self.language.sense_of(&hit.key).is_some_and(|sense| sense.name == "wish"))
        });
        let article = range.start.checked_sub(1).and_then(|before| words.get(before));
        let has_article = article.is_some_and(|article| self.language.is_article(&article.text));
        let is_greeting = words.get(range.clone()).is_some_and(|words| frames.greetings.length(words) > 0);
        if wishes && has_article && !is_greeting && !frames.wished.is_empty() {
            format!("{} {text}", frames.wished)
        } else {
            text
        }
    }

    /// The values of a choice that the words name, in their order.
    fn said_values(&self, parameter: &robot::Parameter, words: &[Word]) -> Vec<Value> {
        let ParameterKind::Choice(choices) = &parameter.kind else { return Vec::new() };
        let mut said = Vec::new();
        let mut at = 0;
        while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
            let read = choices.read(rest, self.language);
            let value = read.and_then(|(value, _)| choices.value(value));
            if let Some(value) = value
                && !said.contains(value)
            {
                said.push(value.clone());
            }
            at += read.map_or(1, |(_, length)| length.max(1));
        }
        said
    }

    /// Returns true if a text ends in words that may be meant for whoever is to say it: "say hello now".
    fn has_doubtful_end(&self, words: &[Word]) -> bool {
        let closer = self.language.frames.closers.length_at_end(words);
        let end = words.get(words.len() - closer.min(words.len())..).unwrap_or_default();
        closer > 0 && closer < words.len() && self.language.frames.ends_of_texts.length(end) != closer
    }

    /// A text that is handed over without a mark, if it is none that only refers to another.
    pub(super) fn free_text(&self, words: &[Word], range: Range<usize>) -> Option<String> {
        let hints = &self.language.facts.hints;
        let range = self.trimmed(words, range);
        let (rest, times) = self.without_repetition(words, range);
        let words = words.get(rest).filter(|words| !words.is_empty() && times == 1 && !is_overrun(words))?;
        let vague = words.first().is_some_and(|first| hints.no_text.has(&first.text))
            || words.iter().all(|word| self.refers_only(word));
        let conditional = words.iter().any(|word| hints.conditions.has(&word.text));
        (!vague && !conditional).then(|| self.text_of(words))
    }

    /// Returns true if a time in a text may say when it is to be said: "good morning at seven". "Dinner is at seven" tells
    /// the time.
    pub(super) fn may_say_when(&self, words: &[Word], frame: Frame) -> bool {
        let Language { words: lists, facts, .. } = self.language;
        let is_time = |at: usize| {
            let (Some(first), rest) = (words.get(at), words.get(at + 1..).unwrap_or_default()) else { return false };
            let counts = rest.first().is_some_and(|next| next.number.is_some());
            let lasts = || {
                let said = numbers::read(rest, self.language);
                said.and_then(|said| said.unit).is_some_and(|unit| unit.dimension == Dimension::Time)
            };
            words.get(at..).is_some_and(|rest| lists.timings.length(rest) > 0)
                || (counts && facts.hints.time_of_day.has(&first.text))
                || (facts.hints.time_from_now.has(&first.text) && lasts())
        };
        // "The shift ends in ten minutes."
        let is_finite = |word: &Word| {
            word.text.ends_with('s') && word.text != word.stem && !self.language.verbs(&word.stem).is_empty()
        };
        let tells = words.first().is_some_and(|first| lists.tellers.has(&first.text))
            || words.iter().any(|word| lists.told.has(&word.text))
            || words.iter().skip(1).any(is_finite);
        is_time(0) || frame == Frame::Say && !tells && (1..words.len()).any(is_time)
    }

    /// Returns true if a text is all that a value of another tool of the component is called: a page that is shown.
    fn is_value_beside(&self, index: usize, tool: &Tool, words: &[Word]) -> bool {
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let name = words.get(articles..).unwrap_or_default();
        // Of a thousand robots, only one is looked at.
        let beside = self.robot.those(self.robot.index.of_component(&tool.component));
        let is_beside = |(at, other): &(usize, &Tool)| *at != index && other.component == tool.component;
        beside.filter(is_beside).flat_map(|(_, other)| &other.parameters).any(|parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => {
                choices.read(name, self.language).is_some_and(|(_, length)| length == name.len())
            }
            _ => false,
        })
    }

    /// Returns true if a text names a place or a listener, so that one can't tell what is said and what is only said of it: "say
    /// hello to Anna in the lobby".
    fn is_edged(&self, words: &[Word]) -> bool {
        // "Goodbye to my aunt".
        let is_edge = |at: &usize| words.get(*at).is_some_and(|it| self.language.words.text_edges.has(&it.text));
        let greets = |at: usize| {
            let talk = words.get(..at).and_then(|before| crate::talk::exact(before, self.robot, self.language));
            let is_hello = words.first().is_some_and(|first| self.language.words.greets.has(&first.text));
            matches!(talk, Some(Talk::Goodbye | Talk::Thanks)) || talk == Some(Talk::Greeting) && is_hello
        };
        if (1..words.len()).find(is_edge).is_some_and(greets) {
            return true;
        }
        (1..words.len()).any(|at| {
            let edge = words.get(at).is_some_and(|word| self.language.words.text_edges.has(&word.text));
            let rest = words.get(at + 1..).unwrap_or_default();
            let articles = rest.iter().take_while(|word| self.language.is_article(&word.text)).count();
            let rest = rest.get(articles..).unwrap_or_default();
            let listener = self.language.words.people.length(rest) > 0;
            edge && (listener || self.begins_place(rest))
        }) || words.first().is_some_and(|first| self.language.words.text_edges.has(&first.text))
    }

    /// Returns true if a text holds what may be an order of its own: "say hello and open the door".
    fn mentions_deed(&self, words: &[Word]) -> bool {
        (1..words.len()).any(|at| {
            let joint = words.get(at..).map_or(0, |rest| {
                self.language.words.joints.length(rest).max(self.language.words.sequence.length(rest))
            });
            let after = words.get(at + joint..).unwrap_or_default();
            let begins =
                robot::hits(after.get(..3.min(after.len())).unwrap_or_default(), self.language).iter().any(|hit| {
                    hit.at.first() == Some(&0)
                        && !hit.lent
                        && self.robot.index.verb(&hit.key).is_some_and(|tools| tools.own)
                });
            joint > 0 && begins
        })
    }

    /// Returns true if one can't tell what of a text is to be said as it stands: a place or a listener in it, an order, or somebody
    /// who is "she" to the person who speaks and "you" to the person who listens.
    pub(super) fn is_doubtful_text(&self, words: &[Word]) -> bool {
        let shifts = words.iter().any(|word| self.language.words.shifting.has(&word.text));
        let subordinators = &self.language.facts.order.subordinators;
        let frames = words.iter().any(|word| subordinators.has(&word.text));
        let purposes = &self.language.words.purposes;
        let explains = (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| purposes.length(rest) > 0));
        // "Tell whoever is cooking, and that there is no bread": a part of the text stands before the frame.
        let goes_on = words.first().is_some_and(|first| self.language.words.joints.has(&first.text));
        shifts
            || frames
            || goes_on
            || explains
            || self.is_edged(words)
            || self.mentions_deed(words)
            || self.has_doubtful_end(words)
    }

    /// Returns true if the words begin with a place that the robot can drive to.
    pub(super) fn begins_place(&self, words: &[Word]) -> bool {
        self.robot.those(&self.robot.index.goes).any(|(_, tool)| {
            tool.parameters.iter().any(
                |it| matches!(&it.kind, ParameterKind::Choice(choices) if choices.read(words, self.language).is_some()),
            )
        })
    }

    /// Returns true if the tool goes somewhere.
    pub(crate) fn goes(&self, tool: &Tool) -> bool {
        tool.verbs.iter().any(|verb| self.names(&verb.key, "go"))
    }

    /// The same with another text, where it hands one over.
    pub(crate) fn other_text(&self, reading: &Reading, words: &[Word]) -> Option<Reading> {
        let mut reading = reading.clone();
        let call = reading.calls.last_mut()?;
        let tool = self.robot.tool(call.tool)?;
        let parameter = tool.parameters.get(tool.text?.0)?;
        let text = self.text_of(self.core(words, End::Courtesies).words);
        call.arguments.insert(parameter.name.clone(), json!(text));
        // Nobody can hear where in a text the correction ends.
        reading.doubtful = true;
        Some(reading)
    }

    /// The text as it was written, without the marks of a quotation; an exclamation or a question sounds different.
    fn text_of(&self, words: &[Word]) -> String {
        if let [only] = words
            && only.kind == Kind::Quoted
        {
            return only.text.clone();
        }
        let mut text = self.written(words);
        let end = words.last().map(|last| last.span.end);
        let mark = end.and_then(|end| self.text.get(end..)).and_then(|after| after.chars().next());
        if let Some(mark @ ('!' | '?')) = mark
            && !text.ends_with(mark)
        {
            text.push(mark);
        }
        text
    }
}
