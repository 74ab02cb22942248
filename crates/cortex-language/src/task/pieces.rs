//! Divides a text at its joints: "and", "then", a comma, "before", "no, I mean".

use super::{Joint, Piece, Task};
use crate::reading::End;
use crate::sentence::{self, Word};
use crate::tokens::Kind;

impl Task<'_> {
    /// The words between the joints.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let language = self.reader.language;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut start = 0;
        let mut joint = Joint::Strong;
        let mut at = 0;
        let mut lead_end = 0;
        while let Some(word) = self.words.get(at) {
            let rest = self.words.get(at..).unwrap_or_default();
            // In `camera.rate` the dot ends nothing.
            let glued = word.is_mark(".") && sentence::is_glued(self.reader.text, self.words, at);
            let ends = !glued && [".", ";", "!", "?", "\n"].iter().any(|mark| word.is_mark(mark));
            let comma = glued || word.is_mark(",");
            let corrections = self.correction(at);
            if self.joins_nothing(word, start, at) {
                at += 1;
                continue;
            }
            let but_first = if pieces.is_empty() { 0 } else { self.but_first(rest) };
            if at == lead_end && but_first == 0 && (corrections == 0 || at == 0) {
                let led = self.led(rest);
                if led > 0 {
                    // ", and then ..." goes on with something else.
                    if language.words.sequence.length(rest) > 0 {
                        joint = stronger(joint, Joint::Strong);
                    }
                    at += led;
                    lead_end = at;
                    continue;
                }
            }
            if at > start && self.follows_quotation(at) {
                pieces.push(Piece { range: start..at, joint });
                (start, lead_end, joint) = (at, at, Joint::Soft);
                continue;
            }
            // "Again and again" is one word; "since it is dark, ..." begins with what is told.
            let endless = language.words.timings.length(rest);
            let reasons = self.gives_reason(start, at, rest);
            if endless > 1 || (reasons > 0 && at == start) {
                at += if endless > 1 { endless } else { reasons };
                start = if endless > 1 { start } else { at };
                continue;
            }
            // "Say hello, but turn on the light first", "swing by the hall on the way".
            let earlier = self.earlier(start, rest);
            if earlier > 0 && at > start && !pieces.is_empty() && joint != Joint::Correction {
                pieces.push(Piece { range: start..at, joint: Joint::First });
                at += earlier;
                start = at;
                lead_end = at;
                joint = Joint::Strong;
                continue;
            }
            let corrects = corrections > 0
                && rest.len() > corrections
                && (corrections > 1 || self.follows_break(at, rest.get(corrections..).unwrap_or_default()));
            let (found, length) = if ends {
                (Some(Joint::Strong), 1)
            } else if corrects {
                (Some(Joint::Correction), corrections)
            } else if self.done_with(rest) > 0 {
                (Some(Joint::After), self.done_with(rest))
            } else if language.words.sequence.length(rest) > 0 {
                (Some(Joint::Strong), language.words.sequence.length(rest))
            } else if but_first > 0 {
                (Some(Joint::First), but_first)
            } else if language.words.before.length(rest) > 0 && !self.is_told_later(at) {
                (Some(Joint::Before), language.words.before.length(rest))
            } else if language.words.after.length(rest) > 0 && !self.is_alone(at, language.words.after.length(rest)) {
                let (joint, length) = self.after(at, language.words.after.length(rest));
                (Some(joint), length)
            } else if reasons > 0 {
                (Some(Joint::Soft), reasons)
            } else if comma {
                (Some(Joint::Soft), 1)
            } else if language.words.joints.length(rest) > 0 {
                (Some(Joint::Soft), language.words.joints.length(rest))
            } else {
                (None, 1)
            };
            // "Open the gate, and before you go ...": it belongs to what follows.
            let begins = at == start && !self.is_after_comma(at)
                || at > start
                    && self
                        .reader
                        .core(self.words.get(start..at).unwrap_or_default(), End::Courtesies)
                        .words
                        .is_empty();
            let found = found.map(|joint| if begins { joint.opening() } else { joint });
            if let Some(found) = found {
                if at > start {
                    pieces.push(Piece { range: start..at, joint });
                    joint = found;
                } else {
                    // Several in a row: the one that says most counts.
                    joint = stronger(joint, found);
                }
                start = at + length;
                lead_end = start;
            }
            at += length;
        }
        if start < self.words.len() {
            pieces.push(Piece { range: start..self.words.len(), joint });
        }
        pieces
    }

    /// Returns the length of "first" or "on the way" at the end of a clause, or of one that begins with "but": "but open the
    /// gripper first and ...".
    fn earlier(&self, start: usize, rest: &[Word]) -> usize {
        let language = self.reader.language;
        let length = language.words.beforehand.length(rest);
        let is_but = |at: Option<usize>| {
            at.and_then(|at| self.words.get(at)).is_some_and(|word| language.facts.hints.but.has(&word.text))
        };
        let goes_on = |after: &[Word]| {
            let joint = language.words.joints.length(after).max(language.words.sequence.length(after));
            joint > 0 && (is_but(Some(start)) || is_but(start.checked_sub(1)))
        };
        let after = rest.get(length..).filter(|_| length > 0);
        if after.is_some_and(|after| self.ends_clause(after) || goes_on(after)) { length } else { 0 }
    }

    /// Returns the length of "but first", unless a longer "before" stands there.
    fn but_first(&self, rest: &[Word]) -> usize {
        let words = &self.reader.language.words;
        let length = words.but_first.length(rest);
        if length < words.before.length(rest) { 0 } else { length }
    }

    /// "A hundred and eighty", "two and a half", "every light but the hall's": these words divide nothing.
    fn joins_nothing(&self, word: &Word, start: usize, at: usize) -> bool {
        let language = self.reader.language;
        let rest = self.words.get(at..).unwrap_or_default();
        let number =
            |offset: isize| at.checked_add_signed(offset).and_then(|at| self.words.get(at)).and_then(|it| it.number);
        let half = language.fraction_more(rest).1 > 0;
        let counts = half || (number(-1).is_some_and(|it| it >= 100.0) && number(1).is_some_and(|it| it < 100.0));
        let so_far = self.words.get(start..at).unwrap_or_default();
        let says_all = || {
            let said = |from: usize| so_far.get(from..).is_some_and(|rest| language.words.all.length(rest) > 0);
            (0..so_far.len()).any(said)
        };
        (counts && language.facts.counting.joint.has(&word.text))
            || (language.facts.hints.but.has(&word.text) && says_all())
    }

    /// Returns the length of a word after which only a reason is told: "because it sticks", "so the kids can sleep", but not
    /// "as low as it goes".
    fn gives_reason(&self, start: usize, at: usize, rest: &[Word]) -> usize {
        let language = self.reader.language;
        let length = language.words.reasons.length(rest);
        let Some(first) = rest.first().filter(|_| length > 0) else { return 0 };
        let compares = self.words.get(start..at).unwrap_or_default().iter().any(|word| word.text == first.text);
        let told = rest.get(length..).unwrap_or_default();
        let end = told.iter().position(|word| word.kind == Kind::Mark).unwrap_or(told.len());
        let told = told.get(..end).unwrap_or_default();
        let addressed = told.first().is_some_and(|it| language.facts.hints.addressed.has(&it.text));
        if !compares && !addressed && !told.is_empty() && self.is_told(told) { length } else { 0 }
    }

    /// A quotation ends at its mark: "after you have said 'hello' drive there".
    fn follows_quotation(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.words.get(at));
        before.is_some_and(|it| it.kind == Kind::Quoted)
            && self.words.get(at).is_some_and(|it| it.kind == Kind::Word)
            && self.begins_deed(&Piece { range: at..self.words.len(), joint: Joint::Soft })
    }

    /// Returns the length of a correction. "And wait for me at the gate" corrects nothing.
    fn correction(&self, at: usize) -> usize {
        // What stands in the middle corrects, what stands at the beginning is a courtesy.
        if at == 0 {
            return 0;
        }
        let language = self.reader.language;
        let rest = self.words.get(at..).unwrap_or_default();
        let length = language.frames.corrections.length(rest);
        let goes_on = at.checked_sub(1).and_then(|before| self.words.get(before)).is_some_and(|before| {
            language.facts.hints.links.has(&before.text) || language.facts.counting.joint.has(&before.text)
        });
        let is_lead = length > 0 && language.leads.iter().filter_map(|(_, it)| it.prefix(rest)).any(|it| it > length);
        if goes_on || is_lead { 0 } else { length }
    }

    /// Returns the length of a courtesy that holds a joint itself: "be a dear and".
    pub(super) fn led(&self, rest: &[Word]) -> usize {
        let language = self.reader.language;
        let leads = language.leads.iter().filter_map(|(_, pattern)| pattern.prefix(rest)).max().unwrap_or(0);
        let led = leads.max(language.frames.openers.length(rest));
        // "Go and then ..." is no courtesy.
        if rest.get(led).is_some_and(|next| language.words.sequence.length(std::slice::from_ref(next)) > 0) {
            return 0;
        }
        if led < rest.len() { led } else { 0 }
    }

    /// Returns true if nothing of the clause comes any more.
    fn ends_clause(&self, rest: &[Word]) -> bool {
        let courtesy = (0..=rest.len()).rev().find(|length| {
            rest.get(..*length).is_some_and(|words| self.reader.language.frames.courtesies.length(words) == *length)
        });
        rest.get(courtesy.unwrap_or(0)..).and_then(<[Word]>::first).is_none_or(|next| next.kind == Kind::Mark)
    }

    /// Returns true if a single word of correction follows a comma or stands before a value: "has no hot water" corrects nothing.
    pub(super) fn follows_break(&self, at: usize, after: &[Word]) -> bool {
        let comma =
            at.checked_sub(1).and_then(|before| self.words.get(before)).is_some_and(|before| before.kind == Kind::Mark);
        let language = self.reader.language;
        // "Afterwards wait for me" is an order to wait.
        let is_verb = self.words.get(at).is_some_and(|word| !language.verbs(&word.stem).is_empty());
        let begins = after.first().is_some_and(|next| {
            let marks_value = language.is_plain_role(&next.text) && !is_verb;
            language.is_article(&next.text) || marks_value || next.number.is_some()
        });
        let is_value = || self.reader.has_value(after);
        // "..., wait by the lifts" is an order as well.
        let next = |says: &dyn Fn(&Word) -> bool| after.first().is_some_and(says);
        let is_other = is_value() && !(is_verb && next(&|next| next.number.is_some()));
        comma && (!is_verb || next(&|next| next.kind == Kind::Mark)) || begins && !is_verb || is_other
    }

    /// Returns true if nothing but a comma stands between these words and those before.
    pub(super) fn is_after_comma(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.words.get(at));
        before(1).is_some_and(|mark| mark.is_mark(","))
            && before(2).is_some_and(|word| {
                !word.is_punctuation() && self.reader.language.words.joints.length(std::slice::from_ref(word)) == 0
            })
    }

    /// "And after go to the hall" and "and after you go to the hall" only go on; "after you have gone to the hall" comes
    /// first. Returns how many words say so.
    fn after(&self, at: usize, length: usize) -> (Joint, usize) {
        let hints = &self.reader.language.facts.hints;
        let next = self.words.get(at + length);
        let is_after = self.words.get(at).is_some_and(|word| hints.after.has(&word.text)) && length == 1;
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        let addressed = next.is_some_and(|next| hints.addressed.has(&next.text));
        if is_after && addressed && before.is_some_and(|before| hints.links.has(&before.text)) {
            return (Joint::Strong, length + 1);
        }
        let subject = next.is_some_and(|next| hints.after_subjects.has(&next.text));
        let gerund = next.is_some_and(|next| self.reader.language.form(&next.text) != crate::language::Form::Plain);
        let goes_on = at > 0 && is_after && !subject && !gerund;
        (if goes_on { Joint::Strong } else { Joint::After }, length)
    }

    /// Returns the length of "when you are done" where it says with what: "when you are done shutting the gate". That comes first.
    fn done_with(&self, rest: &[Word]) -> usize {
        let language = self.reader.language;
        let length = language.words.sequence.length(rest);
        let gerund = rest.get(length).is_some_and(|next| language.form(&next.text) != crate::language::Form::Plain);
        if gerund && language.words.after.length(rest) > 0 { length } else { 0 }
    }

    /// "Honk once, then ..." says how often: nothing is said to come after.
    fn is_alone(&self, at: usize, length: usize) -> bool {
        at > 0 && self.words.get(at + length).is_none_or(|next| next.kind == Kind::Mark)
    }

    pub(super) fn is_told_later(&self, at: usize) -> bool {
        // "The day before", "before noon" are times.
        self.words.get(at + 1).is_none()
    }
}

pub(super) fn stronger(one: Joint, other: Joint) -> Joint {
    let rank = |joint: Joint| match joint {
        Joint::Soft => 0,
        Joint::Strong => 1,
        Joint::After | Joint::Before | Joint::AfterNext | Joint::BeforeNext | Joint::First => 2,
        Joint::Correction => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}
