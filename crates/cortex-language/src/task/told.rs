//! What is only told beside an order: a reason, a remark, a condition.

use super::{Joint, Taken, Task, answers};
use crate::language::{Form, Guard};
use crate::reading::{Clause, Context, End, Reading, Sought};
use crate::sentence::Word;
use crate::tokens::Kind;
use crate::wordnet::{self, PartOfSpeech};

/// In the first words of a clause stands what tells something.
const TOLD_WITHIN: usize = 6;

impl Task<'_> {
    /// Returns true if something else than the robot has to come about first: "once it is dark".
    pub(super) fn is_condition(&self, words: &[Word]) -> bool {
        self.is_told(words)
            && !self.core_of(words).first().is_some_and(|it| self.reader.language.facts.hints.addressed.has(&it.text))
    }

    /// "I've got a train to catch": a subject, and a verb that tells something of it. Nothing that forbids a guess but
    /// a negation.
    pub(super) fn is_told(&self, words: &[Word]) -> bool {
        let core = self.core_of(words);
        let may_be = |(guard, _)| matches!(guard, Guard::Negation | Guard::Choice);
        self.tells(core)
            && self.reader.guarded(core).is_none_or(may_be)
            && self.reader.core(words, End::Courtesies).lead.is_none()
    }

    /// Returns true if what is told only says why an order is given: "my hands are full". What wishes, forbids, says how
    /// many, or tells the robot what it has to do is for a person to explain.
    pub(super) fn is_reason(&self, taken: &Taken) -> bool {
        let language = self.reader.language;
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let core = self.core_of(words);
        let is_free = |word: &Word| {
            word.kind == Kind::Word && word.number.is_none_or(|_| language.facts.hints.ones.has(&word.text))
        };
        let wishes =
            (0..core.len()).any(|at| core.get(at..).is_some_and(|rest| language.words.wishful.length(rest) > 0));
        let addressed = core.iter().any(|word| language.facts.hints.addressed.has(&word.text));
        let forbids = self.reader.guarded(core).is_some_and(|(guard, _)| guard == Guard::Negation);
        // "The beacon can go off now" asks for something.
        let is_due =
            || (0..core.len()).any(|at| core.get(at..).is_some_and(|rest| language.words.dues.length(rest) > 0));
        // "The scouts want sandwiches": nothing that this robot has, and neither the person nor the robot wants it.
        let is_beside = || {
            let hints = &language.facts.hints;
            let involves = |word: &Word| hints.wishing.has(&word.text) || hints.recipients.has(&word.text);
            !addressed && !core.iter().any(involves) && self.is_foreign(core)
        };
        // "Before the guests arrive" is a reason to do it now.
        matches!(taken.joint, Joint::Soft | Joint::Strong | Joint::Before)
            && self.is_told(words)
            && core.iter().all(is_free)
            && (self.is_given_as_reason(taken.range.start) || !is_due() || self.is_foreign(core))
            && (!wishes || is_beside())
            && !(addressed && forbids)
    }

    /// Returns true if a word before says that a reason follows: "because".
    fn is_given_as_reason(&self, at: usize) -> bool {
        let reasons = &self.reader.language.words.reasons;
        let ends = |back: usize| at.checked_sub(back).and_then(|from| self.words.get(from..at));
        (1..=3).any(|back| ends(back).is_some_and(|words| reasons.length(words) == back))
    }

    /// Returns true if the words begin with "if" or "unless".
    pub(super) fn opens_condition(&self, words: &[Word]) -> bool {
        self.core_of(words).first().is_some_and(|first| self.reader.language.facts.hints.conditions.has(&first.text))
    }

    /// A subject, and soon after it a verb that tells something of it.
    fn tells(&self, core: &[Word]) -> bool {
        let language = self.reader.language;
        let subject = language.words.subjects.length(core);
        // "A tad to the left" tells of nobody who left.
        let is_noun = |at: usize| core.get(at.wrapping_sub(1)).is_some_and(|word| language.is_article(&word.text));
        let told = |at: usize| core.get(at..).is_some_and(|rest| language.words.told.length(rest) > 0) && !is_noun(at);
        let is_named = core.first().is_some_and(|first| {
            first.kind == Kind::Word && !language.knows(&first.text) && !wordnet::is_word(&first.text)
        });
        // "She turns ninety": after a pronoun any verb tells something.
        let is_verb = language.facts.wordnet
            && core.first().is_some_and(|first| language.words.tellers.has(&first.text))
            && core.get(1).is_some_and(|next| !wordnet::base_forms(&next.text, PartOfSpeech::Verb).is_empty());
        let tells = (1..core.len().min(TOLD_WITHIN)).any(told);
        (subject > 0 && (tells || is_verb)) || (is_named && told(1)) || self.tells_of_foreign(core)
    }

    /// "Wind's picking up", "error is gone", "coach party just came in": a noun that says nothing to this robot, and what
    /// is told of it.
    fn tells_of_foreign(&self, core: &[Word]) -> bool {
        let language = self.reader.language;
        let articles = core.iter().take_while(|word| language.is_article(&word.text)).count();
        let begins = core.get(articles).is_some_and(|first| {
            first.kind == Kind::Word
                && language.facts.wordnet
                && language.verbs(&first.stem).is_empty()
                && !wordnet::base_forms(&first.text, PartOfSpeech::Noun).is_empty()
        });
        // "A tad to the left" tells of nobody who left.
        let is_noun = |at: usize| core.get(at.wrapping_sub(1)).is_some_and(|word| language.is_article(&word.text));
        let told = |at: usize| core.get(at..).is_some_and(|rest| language.words.told.length(rest) > 0) && !is_noun(at);
        // "Wind's" has lost its "is".
        let is_short = |at: usize| {
            let owner = at.checked_sub(1).and_then(|before| core.get(before));
            let written = owner.and_then(|owner| self.reader.text.get(owner.span.clone()));
            let tells = core.get(at).is_some_and(|next| language.form(&next.text) != Form::Plain);
            tells
                && written
                    .is_some_and(|it| language.facts.spelling.owners.0.iter().any(|end| it.ends_with(end.as_str())))
        };
        // "The baby wakes": a verb that is bent tells, where nothing at all is the robot's.
        let is_bent = |at: usize| {
            let bent =
                |next: &Word| wordnet::base_forms(&next.text, PartOfSpeech::Verb).iter().any(|base| *base != next.text);
            let is_plain = |word: &Word| language.is_article(&word.text) || language.is_content(&word.text);
            core.get(..at).is_some_and(|subject| subject.iter().all(is_plain))
                && core.get(at).is_some_and(bent)
                && self.is_foreign(core)
        };
        let verb = (1..core.len().min(TOLD_WITHIN)).find(|at| told(*at) || is_short(*at) || is_bent(*at));
        begins && verb.is_some_and(|at| core.get(..at).is_some_and(|subject| self.is_foreign(subject)))
    }

    /// Returns true if no word is a value of this robot or a word of the name of one of its tools.
    pub(super) fn is_foreign(&self, words: &[Word]) -> bool {
        let (index, language) = (&self.reader.robot.index, self.reader.language);
        let is_value = |at: usize| words.get(at..).is_some_and(|rest| self.values_at(rest).is_some());
        let is_name = |concept: &String| !index.name(concept).is_empty() || !index.component(concept).is_empty();
        words.iter().all(|word| word.kind == Kind::Word)
            && !(0..words.len()).any(is_value)
            && !crate::robot::concepts_of(words, language).iter().any(is_name)
    }

    /// What is asked for without what only says why, at its end: "pick a dozen peppers for the soup", "sound the siren to
    /// scare the birds".
    pub(super) fn without_purpose(&self, words: &[Word], context: Context<'_>) -> Option<Vec<Reading>> {
        let language = self.reader.language;
        let acts = |reading: &Reading| {
            !reading.is_open() && !reading.calls.iter().any(|call| answers(self.reader.robot, call))
        };
        (2..words.len()).rev().find_map(|at| {
            let rest = words.get(at..)?;
            let length = language.words.aims.length(rest);
            let tail = rest.get(length..).filter(|tail| length > 0 && !tail.is_empty())?;
            if !self.is_purpose(tail, length == 1 && rest.first()?.is(&language.facts.order.infinitive)) {
                return None;
            }
            let before = words.get(..at)?;
            // "Ask for the cat" says what is asked for.
            let indefinite = |word: &Word| language.facts.hints.indefinite.has(&word.text);
            let is_particle = self.core_of(before).len() < 2 || before.iter().any(indefinite);
            match self.reader.clause(before, Context { sought: Sought::Calls, ..context }) {
                Clause::Read(readings) if !is_particle && readings.iter().all(acts) => Some(readings),
                _ => None,
            }
        })
    }

    /// Returns true if the words, after "for" or "to", ask this robot for nothing: no number, no time, nothing that it has
    /// or does.
    fn is_purpose(&self, tail: &[Word], is_deed: bool) -> bool {
        let language = self.reader.language;
        let is_plain = |word: &Word| {
            let is_time = language.unit(&word.text).is_some() || language.words.spans.has(&word.text);
            word.kind == Kind::Word && word.number.is_none() && word.ordinal.is_none() && !is_time
        };
        let refers =
            (0..tail.len()).any(|at| tail.get(at..).is_some_and(|rest| language.words.things.length(rest) > 0));
        let is_verb = tail.first().is_some_and(|first| {
            language.verbs(&first.stem).is_empty() && !wordnet::base_forms(&first.text, PartOfSpeech::Verb).is_empty()
        });
        tail.iter().all(is_plain)
            && !refers
            && (!is_deed || is_verb && tail.len() > 1)
            && self.reader.guarded(tail).is_none()
            && self.is_foreign(tail)
    }

    fn core_of<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        self.reader.core(words, End::Courtesies).words
    }
}
