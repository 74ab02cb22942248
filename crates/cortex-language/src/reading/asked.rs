//! What a text asks about: the topics of the language, and what hints at them.

use std::ops::Range;

use super::questions::{PEOPLE, SIGHT};
use super::{Call, End, Reader};
use crate::language::Guard;
use crate::robot::ParameterKind;
use crate::sentence::Word;
use crate::tokens::Kind;

/// In the first words of a question stands who asks: "my niece would like to know ...".
const INQUIRED_WITHIN: usize = 8;
/// In the first words of a question a negation says nothing: "isn't it open?"
const NEGATED_WITHIN: usize = 2;
/// Stands for "and" and "or" between two things.
pub(super) const JOINT: &str = "&";

/// A question without the words that say nothing of what is asked.
pub(super) struct Asked {
    pub(super) words: Vec<Word>,
    /// Where what is asked begins.
    pub(super) start: usize,
    pub(super) topics: Vec<Hit>,
    pub(super) hints: Vec<Hit>,
    /// True if a look is ordered: "check the battery".
    pub(super) is_ordered: bool,
    /// The values and things that it goes on with.
    pub(super) before: Vec<Call>,
}

/// Words that ask for one of these topics.
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) topics: Vec<String>,
}

impl Reader<'_> {
    /// Returns true if the words begin as a question does.
    pub(crate) fn starts_question(&self, words: &[Word]) -> bool {
        self.language.words.starts.length(self.opened(words)) > 0
    }

    /// The words without what people say before a sentence.
    fn opened<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let mut rest = words;
        loop {
            let marks = rest.iter().take_while(|word| word.is_punctuation()).count();
            rest = rest.get(marks..).unwrap_or_default();
            let opener = self.opener(rest);
            if opener == 0 || opener >= rest.len() {
                return rest;
            }
            rest = rest.get(opener..).unwrap_or_default();
        }
    }

    /// What the words ask, if they ask anything.
    pub(super) fn asked(&self, words: &[Word], before: &[Call]) -> Option<Asked> {
        let said = &self.language.words;
        let rest = self.without_end(self.opened(words), End::Courtesies);
        let starts = said.starts.length(rest);
        let end = |at: usize, length: usize| (length > 0 && at + length < rest.len()).then_some(at + length);
        let inquired = (0..if starts > 0 { 1 } else { rest.len() }.min(INQUIRED_WITHIN)).find_map(|at| {
            let end = end(at, said.inquiries.length(rest.get(at..)?))?;
            // "For which rooms can you tell ..." asks for rooms.
            if rest.get(..at)?.iter().any(|word| said.determiners.has(&word.text)) {
                return None;
            }
            let after = rest.get(end..)?;
            let doubts = after.first().is_some_and(|first| self.language.facts.hints.doubts.has(&first.text));
            (doubts || said.starts.length(after) > 0).then_some(end)
        });
        // "Could you ..." asks for a deed, "could you see ..." for a look.
        let core = self.core(words, End::Courtesies);
        let framed =
            rest.iter().take_while(|word| core.words.first().is_some_and(|it| word.span.start < it.span.start));
        let framed = framed.count();
        let looked = |at: usize| end(at, said.lookups.length(rest.get(at..)?));
        let inquiry = inquired.or_else(|| looked(0)).or_else(|| looked(framed));
        let is_order = core.lead.is_some() && starts <= framed;
        let is_deed = starts == 0 && self.is_act(rest);
        if inquiry.is_none() && (is_order || is_deed) {
            return None;
        }
        let is_ordered = inquiry.is_some() && inquired.is_none();
        let rest = if is_ordered { rest } else { self.without_reason(rest) };
        if self.is_out_of_time(rest, inquiry.filter(|_| is_ordered)) {
            return None;
        }
        // "Drawer 3, is it open?"
        let asks_later = || {
            (1..rest.len()).any(|at| {
                rest.get(at - 1).is_some_and(Word::is_punctuation)
                    && rest.get(at..).is_some_and(|rest| said.starts.length(rest) > 0)
            })
        };
        let wishes = |at: usize| rest.get(at..).is_some_and(|rest| said.wishful.length(rest) > 0);
        if starts == 0 && inquiry.is_none() && (0..rest.len()).any(wishes) {
            return None;
        }
        let is_marked = || self.ends_as_question(words) || words.last().is_some_and(|last| last.is_mark("?"));
        if starts == 0 && inquiry.is_none() && before.is_empty() && !is_marked() && !asks_later() {
            return None;
        }
        let length = |at: usize| rest.get(at..).map_or(0, |rest| self.topics(rest).1);
        let leads_nowhere = |at: usize| rest.get(at..).is_some_and(|rest| said.unanswered.length(rest) > length(at));
        let conditions = &self.language.facts.hints.conditions;
        let depends = |at: usize| inquiry != Some(at) && rest.get(at).is_some_and(|word| conditions.has(&word.text));
        if rest.iter().any(|word| word.kind == Kind::Quoted)
            || (0..rest.len()).any(|at| leads_nowhere(at) || depends(at))
        {
            return None;
        }
        let (words, start) = self.without_asides(rest, inquiry.unwrap_or_default());
        let (topics, mut hints) = self.hits(&words);
        // What was left out may hint at what is asked all the same.
        let passed =
            (0..rest.len()).filter_map(|at| rest.get(at..)).flat_map(|rest| self.language.topic_hints.every(rest));
        hints.extend(passed.map(|(topic, _)| Hit { range: 0..0, topics: vec![topic.to_owned()] }));
        Some(Asked { words, start, topics, hints, is_ordered, before: before.to_vec() })
    }

    /// Returns true if a look now is no answer. Who orders a look may put it off or forbid it; who asks may ask what is
    /// not so.
    fn is_out_of_time(&self, words: &[Word], ordered: Option<usize>) -> bool {
        let is_ordered = ordered.is_some();
        let forbids = |at: usize| {
            let rest = words.get(at..)?;
            let found = self.language.guards().iter().find(|(_, phrases)| phrases.length(rest) > 0)?.0;
            Some(match found {
                Guard::Negation => is_ordered || at > NEGATED_WITHIN,
                Guard::Timing => true,
                Guard::Condition => {
                    let doubts = rest.first().is_some_and(|word| self.language.facts.hints.doubts.has(&word.text));
                    is_ordered && !(doubts && ordered == Some(at))
                }
                Guard::Choice | Guard::Reference | Guard::Report => false,
            })
        };
        let is_aside = |at: usize| words.get(at..).is_some_and(|rest| self.language.words.asides.length(rest) > 0);
        (0..words.len()).any(|at| !is_aside(at) && forbids(at).unwrap_or_default())
            || (is_ordered && self.names_time(words))
    }

    /// The words before what only says why it is asked.
    fn without_reason<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let begins = |at: &usize| words.get(*at..).is_some_and(|rest| self.language.words.why_asked.length(rest) > 0);
        let end = (2..words.len()).find(begins).unwrap_or(words.len());
        words.get(..end).unwrap_or_default()
    }

    /// Returns true if the words begin with a verb by which something of this robot acts.
    fn is_act(&self, words: &[Word]) -> bool {
        let hits = crate::robot::hits(words, self.language);
        let acts = |key| self.robot.index.verb(key).is_some_and(|tools| tools.acts);
        hits.iter().any(|hit| hit.at.first() == Some(&0) && acts(&hit.key))
    }

    /// The words that are left without those that say nothing of what is asked, and where what is asked begins.
    fn without_asides(&self, words: &[Word], inquiry: usize) -> (Vec<Word>, usize) {
        let said = &self.language.words;
        let mut kept: Vec<Word> = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while let Some((word, rest)) = words.get(at).zip(words.get(at..)) {
            if at <= inquiry {
                start = kept.len();
            }
            let topic = if self.names_value(rest, self.topics(rest).1) { 0 } else { self.topics(rest).1 };
            let aside = said.asides.length(rest);
            let joint = said.alternatives.length(rest);
            if aside > topic {
                at += aside;
            } else if topic > 0 {
                kept.extend(rest.iter().take(topic).cloned());
                at += topic;
            } else if joint > 0 && at > 0 {
                kept.push(Word { kind: Kind::Mark, text: ",".to_owned(), stem: JOINT.to_owned(), ..word.clone() });
                at += joint;
            } else {
                if !word.is_punctuation() || word.is_mark(",") {
                    kept.push(word.clone());
                }
                at += 1;
            }
        }
        (kept, start)
    }

    /// The topics that the first words ask for, and how many words those are.
    fn topics(&self, words: &[Word]) -> (Vec<String>, usize) {
        let every: Vec<(&str, usize)> = self.language.topics.every(words).collect();
        let longest = every.iter().map(|(_, length)| *length).max().unwrap_or_default();
        let topics = every.into_iter().filter(|(_, length)| *length == longest).map(|(topic, _)| topic.to_owned());
        (topics.collect(), longest)
    }

    /// What the words ask about, and what they may ask about.
    pub(super) fn hits(&self, words: &[Word]) -> (Vec<Hit>, Vec<Hit>) {
        let Some(first) = words.first() else { return (Vec::new(), Vec::new()) };
        // Marks at both ends, so that the data can say what stands there.
        let mark =
            |text: &str| Word { kind: Kind::Mark, text: text.to_owned(), stem: text.to_owned(), ..first.clone() };
        let mut marked = vec![mark("^")];
        marked.extend_from_slice(words);
        marked.push(mark("."));
        let range = |at: usize, length: usize| at.saturating_sub(1)..(at + length - 1).min(words.len());
        let (mut hits, mut hints) = (Vec::new(), Vec::new());
        let mut end = 0;
        for at in 0..marked.len() {
            let Some(rest) = marked.get(at..) else { continue };
            for (topic, length) in self.language.topic_hints.every(rest) {
                hints.push(Hit { range: range(at, length), topics: vec![topic.to_owned()] });
            }
            let (topics, length) = self.topics(rest);
            // "What is in front of you" asks what is in front of it.
            let is_longest =
                (1..length).all(|inner| rest.get(inner..).is_none_or(|rest| self.topics(rest).1 <= length));
            if at >= end && length > 0 && is_longest && !self.names_value(rest, length) {
                hits.push(Hit { range: range(at, length), topics });
                end = at + length;
            }
        }
        (hits, hints)
    }

    /// Returns true if a longer value begins here: the cold room is not cold.
    fn names_value(&self, words: &[Word], length: usize) -> bool {
        length > 0 && self.value_length(words) > length
    }

    /// The number of words of the longest value of any tool that begins here.
    pub(crate) fn value_length(&self, words: &[Word]) -> usize {
        let choices = self.robot.tools.iter().flat_map(|tool| &tool.parameters).filter_map(|it| match &it.kind {
            ParameterKind::Choice(choices) => Some(choices),
            _ => None,
        });
        choices
            .filter_map(|choices| choices.read(words, self.language))
            .map(|(_, length)| length)
            .max()
            .unwrap_or_default()
    }

    /// Returns true if the words ask for nothing that any tool may tell of.
    pub(crate) fn has_no_topic(&self, words: &[Word]) -> bool {
        let language = self.language;
        (0..words.len()).filter_map(|at| words.get(at..)).all(|rest| {
            let is_state = rest.first().is_some_and(|word| language.state(std::slice::from_ref(word)).is_some());
            let hinted = || language.topic_hints.every(rest).any(|(topic, _)| [PEOPLE, SIGHT].contains(&topic));
            self.topics(rest).1 == 0 && !is_state && !hinted()
        })
    }

    /// Returns true if the words begin with what asks for a deed.
    pub(crate) fn begins_order(&self, words: &[Word]) -> bool {
        let rest = self.opened(words);
        // "Open or closed?"
        let is_state = self.language.state(rest).is_some_and(|(_, length)| {
            rest.get(length..).is_some_and(|after| self.language.words.alternatives.length(after) > 0)
        });
        let light = rest.first().is_some_and(|first| self.language.is_light(&first.stem));
        let said = &self.language.words;
        let asks = [&said.starts, &said.inquiries, &said.lookups].iter().any(|it| it.length(rest) > 0);
        let core = self.core(words, End::Courtesies);
        let looks = said.lookups.length(core.words) > 0 || self.asks(core.words);
        !asks && !is_state && rest.len() > 1 && (light || self.is_act(rest) || (core.lead.is_some() && !looks))
    }
}
