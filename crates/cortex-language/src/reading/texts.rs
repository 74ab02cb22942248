//! Texts that a frame of speech or writing hands over: "tell everybody that dinner is ready", "put welcome on the display".
//!
//! A text is what stands in quotation marks, after a colon, or in the place of a frame. How often it is said is read out
//! of it; to whom it is said belongs to the frame.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::fit::Strength;
use super::{Call, Core, End, Miss, Reader, Reading, Score};
use crate::language::{Frame, TextFrame};
use crate::problem::Problem;
use crate::robot::{self, Key, ParameterKind, Source, Tool, VerbHit};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most words of a name for listeners.
const LISTENERS: usize = 5;

/// Words that a clause hands over as a text.
#[derive(Debug, Clone)]
struct Handed {
    range: Range<usize>,
    strength: Strength,
    /// True if the frame names the tool.
    named: bool,
    /// What is said before the text.
    prefix: Option<String>,
    /// True if it is told to somebody, so that "you" is somebody else.
    reports: bool,
    /// True if something before it is not accounted for.
    is_vague: bool,
}

impl Handed {
    fn new(range: Range<usize>) -> Self {
        Self { range, strength: Strength::Own, named: false, prefix: None, reports: false, is_vague: false }
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
    /// The clause as a text that is handed over to the tool.
    pub(super) fn by_text(
        &self,
        index: usize,
        tool: &Tool,
        core: Core<'_>,
        hits: &[VerbHit],
    ) -> Option<Result<Reading, Miss>> {
        let (slot, frame) = tool.text?;
        let parameter = tool.parameters.get(slot)?;
        let ParameterKind::Text(limit) = parameter.kind else { return None };
        if core.asks {
            return None;
        }
        let Handed { range, strength, named, prefix, reports, is_vague } =
            self.handed_over(tool, frame, core.words, hits)?;
        let (range, repeats) = self.without_repetition(core.words, range);
        let words = core.words.get(range.clone())?;
        if words.is_empty() {
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
        let calls = (0..repeats)
            .flat_map(|_| several.iter().map(|arguments| Call { tool: index, arguments: arguments.clone() }))
            .collect();
        // A shorter text means that the frame has read more of the sentence.
        let matched = core.words.len().saturating_sub(words.len()) + usize::from(named) * 3;
        let score = Score { closed: is_quoted, strength, matched, described: 0 };
        Some(Ok(Reading {
            calls,
            score,
            verb: tool.verbs.first().map(|it| it.key.clone()),
            amends: false,
            doubtful: is_vague
                // What follows a quotation is no part of it.
                || (words.len() > 1 && words.iter().any(|word| word.kind == Kind::Quoted))
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
        let words = words.get(rest).filter(|words| !words.is_empty() && times == 1)?;
        let vague = words.first().is_some_and(|first| hints.no_text.has(&first.text))
            || words.iter().all(|word| self.refers_only(word));
        let conditional = words.iter().any(|word| hints.conditions.has(&word.text));
        (!vague && !conditional).then(|| self.text_of(words))
    }

    /// Returns true if a text names a place or a listener, so that one can't tell what is said and what is only said of it: "say
    /// hello to Anna in the lobby".
    fn is_edged(&self, words: &[Word]) -> bool {
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
        shifts
            || frames
            || explains
            || self.is_edged(words)
            || self.mentions_deed(words)
            || self.has_doubtful_end(words)
    }

    /// Returns true if the words begin with a place that the robot can drive to.
    fn begins_place(&self, words: &[Word]) -> bool {
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

    /// Finds the words that are handed over as a text, the strength of the frame, and a name of the tool in it.
    fn handed_over(&self, tool: &Tool, frame: Frame, words: &[Word], hits: &[VerbHit]) -> Option<Handed> {
        let may_be = |slot: &str, range: Range<usize>| match slot {
            "people" => {
                let words = words.get(range).unwrap_or_default();
                self.are_people(words) || self.is_value(tool, words)
            }
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
            let named = slots.iter().any(|(name, _)| name == "tool");
            let text = slots.iter().find(|(name, _)| matches!(name.as_str(), "text" | "quoted" | "question"));
            let Some((_, range)) = text else { continue };
            // "Write welcome" hands over a text where the robot writes; "display the way" hands over none.
            let first = words.get(range.clone()).unwrap_or_default().first();
            let is_marked = first.is_some_and(|first| first.kind == Kind::Quoted || first.is_mark(":"))
                || text.is_some_and(|(name, _)| name == "quoted");
            let is_thing = first.is_some_and(|first| self.language.is_article(&first.text));
            if frame == Frame::Write && !named && !is_marked && (is_thing || !self.is_own_verb(tool, words)) {
                continue;
            }
            let reports = slots.iter().any(|(name, _)| name == "people");
            take(Handed { named, prefix: prefix.clone(), reports, ..Handed::new(range.clone()) });
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
    fn trimmed(&self, words: &[Word], range: Range<usize>) -> Range<usize> {
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
    fn without_repetition(&self, words: &[Word], range: Range<usize>) -> (Range<usize>, u32) {
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
