//! The clause by the words of the tool's name and description: verb first, then what it is about.

use super::Source;
use super::clause::{Attempt, Clause, Draft, Miss};
use super::values::BEFORE_NUMBERS;
use crate::reflex::lexicon;
use crate::reflex::numbers;
use crate::reflex::problem::Problem;
use crate::reflex::tokens::Kind;
use crate::reflex::toolbox::Usage;

/// Words that make a stop no other one.
const STOPPING: [&str; 10] =
    ["immediately", "once", "it", "that", "everything", "all", "there", "here", "right", "moving"];
/// Words about a scene that a looking tool takes for granted.
const SCENE: [&str; 8] = ["around", "surroundings", "scene", "everything", "here", "area", "environment", "where"];

impl Clause<'_, '_> {
    /// The clause by the words of the tool's name and description: verb first, then what it is about.
    pub(super) fn by_name(&self) -> Attempt {
        let tool = self.tool;
        if tool.speech.is_some() {
            return None;
        }
        let first = self.skip_fillers(0);
        let verb = self.token(first).filter(|verb| verb.kind == Kind::Word)?;
        let is_named = (tool.method.contains(&verb.canon) || tool.unspoken.contains(&verb.canon))
            && (!lexicon::is_thing(&verb.canon) || tool.stems.contains(&lexicon::stem(&verb.word)));
        let reports = verb.canon == "read" && tool.verb.as_deref().is_none_or(|it| it == "read" || it == "say");
        let is_described = tool.verb.as_ref() == Some(&verb.canon) || reports;
        if !is_named && !is_described {
            return None;
        }
        let mut draft = self.draft();
        // "Tell me the level" wants an answer, not a tool to which "the level" is told.
        if verb.canon == "read" && !is_named && self.open_text(&draft).is_some() {
            return None;
        }
        draft.matched = 1;
        self.mark(&mut draft, first, first + 1);
        self.mark_particles(&mut draft, first);
        let is_generic = lexicon::is_generic(&verb.canon);
        let mentioned = |word: &String| self.tokens.iter().any(|token| token.canon == *word);
        let covers = |said: &dyn Fn(&String) -> bool| {
            tool.method.iter().all(|word| said(word) || (word == "set" && tool.method.len() > 1))
        };
        let leftover = match self.assign(&mut draft) {
            Ok(leftover) => leftover,
            // "Turn the table by 20" is not close to a tool that turns something else.
            Err(_) if is_generic && !covers(&mentioned) => return None,
            Err(miss) => return Some(Err(miss)),
        };
        let said = |word: &String| {
            let mut tokens = self.tokens.iter().zip(&draft.used);
            tokens.any(|(token, used)| *used && token.canon == *word)
        };
        let covered = covers(&said);
        let is_vague = tool.method.iter().filter(|word| said(word)).all(|word| lexicon::is_generic(word));
        let source =
            if is_named && (covered || tool.usage != Usage::Step) { Source::Name } else { Source::Description };
        if source == Source::Description && !is_described {
            return None;
        }
        // A verb such as "turn" alone is close to nothing.
        let takes_text = !leftover.is_empty() && self.open_text(&draft).is_some();
        if is_generic && draft.matched < 2 && !draft.has_object && !takes_text {
            return None;
        }
        // "Check the kitchen" names nothing that the tool would read.
        if source == Source::Description && verb.canon == "read" && draft.matched < 2 {
            return None;
        }
        // "Set the belt to 1" does not say what of it.
        if source == Source::Description && is_generic && draft.has_number {
            return None;
        }
        if let Err(miss) = self.take_leftover(&mut draft, &leftover) {
            return Some(Err(miss));
        }
        let needs_object = source == Source::Description || is_vague;
        if needs_object && !draft.has_object && tool.usage == Usage::Step {
            return Some(Err(Miss::new(draft.matched, Problem::Unknown)));
        }
        Some(self.finish(draft, source))
    }

    /// Accounts for the "up" of "pick up" and the haste of a stop.
    pub(super) fn mark_particles(&self, draft: &mut Draft, verb: usize) {
        let Some(word) = self.token(verb).map(|verb| verb.word.clone()) else { return };
        let last = self.tokens.len().saturating_sub(1);
        for (at, token) in self.tokens.iter().enumerate().skip(verb + 1) {
            let picks = word == "pick" && token.is("up") && (at == verb + 1 || at == last);
            let stops =
                token.kind == Kind::Word && lexicon::canon(&word) == "stop" && STOPPING.contains(&token.word.as_str());
            if picks || stops {
                self.mark(draft, at, at + 1);
            }
        }
    }

    /// Accounts for the tokens that are values of parameters or words of the tool; returns the others.
    pub(super) fn assign(&self, draft: &mut Draft) -> Result<Vec<usize>, Miss> {
        let tool = self.tool;
        let mut leftover = Vec::new();
        let mut at = 0;
        while let Some(token) = self.token(at) {
            if draft.used.get(at).copied().unwrap_or_default() || token.is_filler() {
                at += 1;
                continue;
            }
            if let Some(length) = self.assign_value(draft, at)? {
                self.mark(draft, at, at + length);
                at += length;
                continue;
            }
            // Where the tool takes a text, its other words may belong to that.
            let in_text = self.open_text(draft).is_some();
            let is_word = token.kind == Kind::Word && !lexicon::is_asking(&token.word);
            let named = is_word
                && (!in_text || leftover.is_empty())
                && (tool.method.contains(&token.canon) || tool.component.contains(&token.canon));
            let described =
                is_word && !in_text && tool.about.contains(&token.canon) && lexicon::guard(&token.word).is_none();
            let of_scene = is_word && tool.looks && (SCENE.contains(&token.canon.as_str()) || token.canon == "see");
            let parameter = is_word
                && (tool.unspoken.contains(&token.canon)
                    || tool.parameters.iter().any(|it| it.words.contains(&token.canon)));
            let next_is_number = self.tokens.get(at + 1..).is_some_and(|rest| numbers::read(rest).is_some());
            let before_number = BEFORE_NUMBERS.contains(&token.word.as_str()) && next_is_number;
            if named || described || of_scene || parameter || before_number {
                self.mark(draft, at, at + 1);
                draft.matched += usize::from(named || described);
                draft.has_object |= tool.component.contains(&token.canon) || (described && !named);
            } else {
                leftover.push(at);
            }
            at += 1;
        }
        Ok(leftover)
    }

    /// Makes the words that are left the one text that the tool takes, or says what is wrong with them.
    pub(super) fn take_leftover(&self, draft: &mut Draft, leftover: &[usize]) -> Result<(), Miss> {
        let (Some(first), Some(last)) = (leftover.first().copied(), leftover.last().copied()) else { return Ok(()) };
        // The words must stand together, but for those that carry nothing.
        let together =
            self.tokens.iter().zip(&draft.used).take(last).skip(first).all(|(token, used)| !used || token.is_filler());
        let Some((index, limit)) = self.open_text(draft).filter(|_| together) else {
            return Err(self.unexplained(draft, first, last + 1));
        };
        let parameter = self.parameter(index).map(|parameter| (parameter.name.clone(), parameter.words.clone()));
        let (name, words) = parameter.unwrap_or_default();
        // "Inspect the camera component" is about the camera.
        let is_label = |at: usize| {
            let canon = self.token(at).map(|token| &token.canon);
            canon.is_some_and(|canon| words.contains(canon) || self.tool.method.contains(canon))
        };
        let last = if last > first && is_label(last) { last - 1 } else { last };
        let colon = self.token(first).is_some_and(|next| next.is_mark(":")) && last > first;
        let first = first + usize::from(colon);
        if !self.hands_over_text(self.skip_fillers(0), first, last + 1) {
            return Err(Miss::new(draft.matched + 1, Problem::TextNotMarked));
        }
        let value =
            self.free_text(index, limit, first, last + 1).map_err(|problem| Miss::new(draft.matched + 1, problem))?;
        draft.has_text |= !matches!(self.tokens.get(first..=last), Some([only]) if only.kind == Kind::Quoted);
        draft.has_object = true;
        draft.arguments.insert(name, value);
        self.mark(draft, first, self.tokens.len());
        Ok(())
    }
}
