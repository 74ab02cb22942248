//! Text of the person's own: what is to be spoken, and what is to be handed on.

use serde_json::{Value, json};

use super::clause::{Attempt, Clause, Miss};
use super::{Source, guarded};
use crate::reflex::lexicon::{self, Guard};
use crate::reflex::problem::Problem;
use crate::reflex::slots::ParameterKind;
use crate::reflex::tokens::Kind;
use crate::reflex::toolbox::Usage;

/// What is no text to speak but something said elsewhere.
const VAGUE_SPEECH: [&str; 8] = ["it", "that", "this", "them", "something", "anything", "nothing", "so"];
/// How to speak, not what.
const VOICE: [&str; 12] =
    ["up", "louder", "quieter", "softer", "slower", "faster", "clearly", "loudly", "quietly", "to", "with", "about"];
/// To whom something is told.
const LISTENERS: [&str; 6] = ["me", "us", "everyone", "everybody", "all", "people"];

impl Clause<'_, '_> {
    /// The clause as `say ...`, where the tool speaks.
    pub(super) fn by_speech(&self) -> Attempt {
        let slot = self.tool.speech?;
        let ParameterKind::Text(limit) = self.parameter(slot)?.kind else { return None };
        let first = self.skip_fillers(0);
        let verb = self.token(first)?;
        let tells = verb.is("tell");
        if verb.canon != "say" && !tells {
            return None;
        }
        let mut at = first + 1;
        let mut to_listener = false;
        while self.token(at).is_some_and(|next| LISTENERS.contains(&next.word.as_str()) && tells) {
            to_listener = true;
            at += 1;
        }
        let for_everyone = self.token(at.saturating_sub(1)).is_some_and(|next| !next.is("me") && !next.is("us"));
        let says_that = self.token(at).is_some_and(|next| next.is("that"));
        at = self.skip_that(at, self.tokens.len());
        let quotes = self.token(at).is_some_and(|next| next.kind == Kind::Quoted);
        // "Tell me a joke" is no text to speak.
        if tells && !(to_listener && (for_everyone || says_that || quotes)) {
            return None;
        }
        if at >= self.tokens.len() {
            return Some(Err(self.missing(1, self.parameter(slot)?)));
        }
        let mut draft = self.draft();
        draft.has_text = !(quotes && at + 1 == self.tokens.len());
        draft.has_object = true;
        draft.matched = 1;
        self.mark(&mut draft, 0, self.tokens.len());
        match self.free_text(slot, limit, at, self.tokens.len()) {
            Ok(text) => {
                draft.arguments.insert(self.parameter(slot)?.name.clone(), text);
                Some(self.finish(draft, Source::Name))
            }
            Err(problem) => Some(Err(Miss::new(3, problem))),
        }
    }

    /// Whether some tokens are handed over as a text, where the tool does something with it: in quotation marks, after a
    /// colon, or after a verb that is the tool's own and can mean nothing else. "Show the guest to the kitchen" hands over
    /// none.
    pub(super) fn hands_over_text(&self, verb: usize, from: usize, to: usize) -> bool {
        let is_quoted = matches!(self.tokens.get(from..to), Some([only]) if only.kind == Kind::Quoted);
        let after_colon = from.checked_sub(1).and_then(|before| self.token(before)).is_some_and(|it| it.is_mark(":"));
        let is_own = self.token(verb).is_some_and(|verb| !lexicon::is_loose(&verb.canon));
        is_quoted || after_colon || is_own || self.tool.usage != Usage::Step
    }

    /// Text of the person's own. What is to be spoken may hold any words; anything else must not hold those that turn
    /// a command into another one.
    pub(super) fn free_text(&self, slot: usize, limit: Option<u64>, from: usize, to: usize) -> Result<Value, Problem> {
        let from = if self.tool.speech == Some(slot) { self.skip_that(from, to) } else { from };
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        if self.tool.speech == Some(slot) {
            if let [first] | [first, _] = tokens
                && first.kind == Kind::Word
                && VAGUE_SPEECH.contains(&first.word.as_str())
                && tokens.get(1).is_none_or(|second| second.is("again"))
            {
                return Err(Problem::Guarded { guard: Guard::Reference, word: first.word.clone() });
            }
            let speaks = from.checked_sub(1).and_then(|before| self.token(before)).is_some_and(|verb| verb.is("speak"));
            let is_voice = tokens.first().is_some_and(|first| VOICE.contains(&first.word.as_str()));
            if speaks && is_voice {
                return Err(Problem::UnknownWords { words: self.written(from, to) });
            }
        } else if let Some(problem) = guarded(tokens) {
            return Err(problem);
        } else if let Some(joint) = tokens.iter().find(|token| {
            token.is("and") || token.is("but") || token.is("plus") || token.is_mark(",") || token.is_mark("&")
        }) {
            return Err(Problem::Guarded { guard: Guard::Series, word: joint.word.clone() });
        }
        let mut text = self.text(from, to);
        // An exclamation or a question sounds different.
        let end = tokens.last().filter(|last| last.kind != Kind::Quoted).map(|last| last.end);
        let mark = end.and_then(|end| self.task.get(end..)).and_then(|after| after.chars().next());
        if self.tool.speech == Some(slot)
            && let Some(mark @ ('!' | '?')) = mark
        {
            text.push(mark);
        }
        let parameter = self.parameter(slot).map(|parameter| parameter.label.clone()).unwrap_or_default();
        if limit.is_some_and(|limit| text.chars().count() as u64 > limit) {
            let bounds = format!("at most {} characters", limit.unwrap_or_default());
            return Err(Problem::OutOfBounds { parameter, said: "the text".to_owned(), bounds });
        }
        Ok(json!(text))
    }

    /// Where the text begins in "say: ..." and "announce that ...".
    pub(super) fn skip_that(&self, from: usize, to: usize) -> usize {
        let that = self.token(from).is_some_and(|next| next.is("that")) && from + 2 < to;
        let from = from + usize::from(that);
        let colon = self.token(from).is_some_and(|next| next.is_mark(":")) && from + 1 < to;
        from + usize::from(colon)
    }
}
