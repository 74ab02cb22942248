//! A text that asks something, and what is told around it: "I've lost you on the screen, where are you?"

use std::ops::Range;

use super::{Part, Task, Understanding};
use crate::reading::{Answer, Call, End};
use crate::sentence::Word;
use crate::talk;
use crate::tokens::Kind;

/// Most stretches of a text between marks.
const STRETCHES: usize = 8;

impl Task<'_> {
    /// What answers the text where it was not understood as an order, and the calls for it.
    pub(super) fn answer_instead(&self, understanding: &Understanding) -> Option<(Understanding, Vec<Call>)> {
        let is_unsure = matches!(understanding, Understanding::Unsure { .. });
        if !is_unsure && !matches!(understanding, Understanding::Refused(_) | Understanding::Empty) {
            return None;
        }
        let (parts, goes) = self.answered()?;
        let call = |part: &Part| match part {
            Part::Call { call, .. } => Some(call.clone()),
            Part::Tell { .. } | Part::Talk(_) | Part::If { .. } => None,
        };
        let calls = parts.iter().filter_map(call).collect();
        // To go somewhere is more than to answer.
        if !goes {
            return Some((Understanding::Understood(parts), calls));
        }
        let clause = self.reader.written(self.words);
        (!is_unsure).then(|| (Understanding::Unsure { clause, offers: vec![parts] }, calls))
    }

    /// The looks that answer all that the text asks, where the rest of it only tells something; and whether the robot has
    /// to go somewhere for it.
    fn answered(&self) -> Option<(Vec<Part>, bool)> {
        let cuts = self.stretch_cuts();
        let orders =
            |at: &usize| self.reader.begins_order(self.without_joint(self.words.get(*at..).unwrap_or_default()));
        if cuts.len() > STRETCHES + 1 || cuts.iter().any(orders) {
            return None;
        }
        let answers = self.answers_from(&cuts, 0, &[])?;
        let mut parts: Vec<Part> = Vec::new();
        for (range, answer) in answers.iter() {
            let clause = self.reader.written(self.words.get(range.clone()).unwrap_or_default());
            for call in &answer.calls {
                let is_new = !parts.iter().any(|part| matches!(part, Part::Call { call: other, .. } if other == call));
                if is_new {
                    parts.push(Part::Call { call: call.clone(), clause: clause.clone() });
                }
            }
        }
        let goes = answers.iter().any(|(_, answer)| answer.goes);
        (!parts.is_empty()).then_some((parts, goes))
    }

    /// Where the text may be cut: at its ends, after marks, and before what begins another question.
    fn stretch_cuts(&self) -> Vec<usize> {
        let language = self.reader.language;
        let mut cuts = vec![0];
        for at in 1..self.words.len() {
            let mark = self.words.get(at - 1).is_some_and(|word| word.kind == Kind::Mark && word.is_punctuation());
            let joined = self.words.get(at).is_some_and(|word| language.words.joints.has(&word.text));
            if mark || joined {
                cuts.push(at);
            }
        }
        cuts.push(self.words.len());
        cuts
    }

    /// The answers to what is asked from one cut on, in the longest stretches.
    fn answers_from(&self, cuts: &[usize], from: usize, before: &[Call]) -> Option<Vec<(Range<usize>, Answer)>> {
        let begin = *cuts.get(from)?;
        if from + 1 >= cuts.len() {
            return Some(Vec::new());
        }
        for to in (from + 1..cuts.len()).rev() {
            let range = begin..*cuts.get(to)?;
            let words = self.words.get(range.clone()).unwrap_or_default();
            let ends = |at: &usize| self.ends_sentence(*at);
            let is_question = self.reader.starts_question(self.without_joint(words));
            if (is_question && cuts.get(from + 1..to).unwrap_or_default().iter().any(ends))
                || self.asks_twice(cuts.get(from..to).unwrap_or_default(), words)
            {
                continue;
            }
            let words = self.without_joint(words);
            // After the end of a sentence a fragment asks nothing, unless a question mark says so.
            let asks = !self.ends_sentence(begin)
                || self.reader.starts_question(words)
                || words.last().is_some_and(|it| it.is_mark("?"));
            let answer = if asks { self.reader.answer(words, before) } else { None };
            let rest = |before: &[Call]| self.answers_from(cuts, to, before);
            if let Some(answer) = answer {
                if let Some(mut answers) = rest(&answer.calls) {
                    answers.insert(0, (range, answer));
                    return Some(answers);
                }
            } else if to == from + 1
                && self.only_tells(words, before)
                && let Some(answers) = rest(before)
            {
                return Some(answers);
            }
        }
        None
    }

    /// Returns true if a sentence ends before this word.
    fn ends_sentence(&self, at: usize) -> bool {
        let last = at.checked_sub(1).and_then(|last| self.words.get(last));
        last.is_some_and(|last| [".", "!", "?"].iter().any(|mark| last.is_mark(mark)))
    }

    /// Returns true if the words ask one thing, and then another.
    fn asks_twice(&self, cuts: &[usize], words: &[Word]) -> bool {
        let starts = |at: &usize| {
            let offset = at - cuts.first().copied().unwrap_or_default();
            self.reader.starts_question(self.without_joint(words.get(offset..).unwrap_or_default()))
        };
        cuts.first().is_some_and(starts) && cuts.iter().skip(1).any(starts)
    }

    /// The words without what joins them to others.
    fn without_joint<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        words.get(self.reader.language.words.joints.length(words)..).unwrap_or_default()
    }

    /// Returns true if nothing is asked or wanted with the words; after a question, also if they only ask it again.
    fn only_tells(&self, words: &[Word], before: &[Call]) -> bool {
        let language = self.reader.language;
        let words = self.without_joint(words);
        let bare: Vec<&Word> = words.iter().filter(|word| word.kind != Kind::Mark).collect();
        let is_talk = || talk::exact(words, self.reader.robot, language).is_some_and(|talk| talk.is_courtesy());
        let is_name = || matches!(bare.as_slice(), [only] if only.kind == Kind::Word && !language.knows(&only.text) && !crate::wordnet::is_word(&only.text));
        let says_nothing = || language.words.asides.length(&bare) == bare.len();
        let asks_again = || {
            let says_nothing = |at: usize| {
                bare.get(at..).is_some_and(|rest| language.words.questions.length(rest) > 0 || language.empty(rest) > 0)
            };
            !before.is_empty() && self.reader.has_no_topic(words) && (0..bare.len()).all(says_nothing)
        };
        bare.is_empty()
            || self.reader.core(words, End::Courtesies).words.is_empty()
            || is_talk()
            || is_name()
            || says_nothing()
            || asks_again()
            || self.names_somebody(words)
            || self.is_told(words)
    }
}
