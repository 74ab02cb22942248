//! What is only told beside an order: a reason, a remark, a condition.

use super::{Joint, Taken, Task};
use crate::language::Guard;
use crate::reading::End;
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
        matches!(taken.joint, Joint::Soft | Joint::Strong)
            && self.is_told(words)
            && core.iter().all(is_free)
            && !wishes
            && !(addressed && forbids)
    }

    /// Returns true if the words begin with "if" or "unless".
    pub(super) fn opens_condition(&self, words: &[Word]) -> bool {
        self.core_of(words).first().is_some_and(|first| self.reader.language.facts.hints.conditions.has(&first.text))
    }

    /// A subject, and soon after it a verb that tells something of it.
    fn tells(&self, core: &[Word]) -> bool {
        let language = self.reader.language;
        let subject = language.words.subjects.length(core);
        let told = |at: usize| core.get(at..).is_some_and(|rest| language.words.told.length(rest) > 0);
        let is_named = core.first().is_some_and(|first| {
            first.kind == Kind::Word && !language.knows(&first.text) && !wordnet::is_word(&first.text)
        });
        // "She turns ninety": after a pronoun any verb tells something.
        let is_verb = language.facts.wordnet
            && core.first().is_some_and(|first| language.words.tellers.has(&first.text))
            && core.get(1).is_some_and(|next| !wordnet::base_forms(&next.text, PartOfSpeech::Verb).is_empty());
        let tells = (1..core.len().min(TOLD_WITHIN)).any(told);
        (subject > 0 && (tells || is_verb)) || (is_named && told(1))
    }

    fn core_of<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        self.reader.core(words, End::Courtesies).words
    }
}
