//! The words of a clause that name what a tool is about, and the states in which it puts things.

use serde_json::json;

use super::Reader;
use super::cover::Draft;
use super::fit::{Fit, Strength};
use crate::robot::{self, ParameterKind, Tool, Usage};
use crate::sentence::Word;
use crate::tokens::Kind;

impl Reader<'_> {
    /// A word that asks for a state: "on", "open".
    pub(super) fn take_state(
        &self,
        tool: &Tool,
        words: &[Word],
        rest: &[Word],
        fit: &Fit,
        draft: &mut Draft,
    ) -> Option<usize> {
        let language = self.language;
        let (state, length) = language.state(rest)?;
        if fit.needs_state.iter().any(|it| it == state) {
            // "Off, on and off" is more than one order.
            if draft.says_state {
                return None;
            }
            draft.says_state = true;
            draft.matched += 1;
            return Some(length);
        }
        if fit.gives.as_deref() == Some(state) {
            let is_again =
                |at: &usize| words.get(*at).is_some_and(|word| rest.first().is_some_and(|it| it.text == word.text));
            return (!fit.at.iter().any(is_again)).then_some(length);
        }
        // "Close the sheep gate and the yard gate open": of one of them the verb says the opposite.
        let opposite = language.opposite(state);
        if !fit.asks && opposite.is_some() && fit.gives.as_deref() == opposite {
            return None;
        }
        for (index, parameter) in tool.parameters.iter().enumerate() {
            if draft.values.contains_key(&index) {
                continue;
            }
            if let Some(value) = self.stated(parameter, state) {
                draft.values.insert(index, vec![value]);
                draft.says_value = true;
                draft.says_state = true;
                draft.matched += 1;
                return Some(length);
            }
        }
        // A question of state may name either of them.
        if fit.asks && tool.usage != Usage::Step && self.tells_of(tool, state) {
            draft.described += 1;
            return Some(length);
        }
        None
    }

    /// Returns true if the word says what something else does or is: "runs", "was running", "is".
    fn is_predicate(&self, words: &[Word], at: usize) -> bool {
        let Some(word) = words.get(at) else { return false };
        let language = self.language;
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let follows_thing = before.is_some_and(|it| language.is_content(&it.text) && !language.is_article(&it.text));
        let is_verb = !language.verbs(&word.stem).is_empty();
        let is_inflected = word.text != word.stem || language.form(&word.text) != crate::language::Form::Plain;
        language.words.told.has(&word.text) || (is_verb && is_inflected && follows_thing)
    }

    /// "The yard gate's open", "hood closed already": something is told, and nothing asked for.
    pub(super) fn is_statement(&self, words: &[Word]) -> bool {
        let language = self.language;
        let is_shortened = |word: &Word| {
            let written = self.written(std::slice::from_ref(word)).replace('’', "'");
            let ends = |ending: &String| ending.contains('\'') && written.ends_with(ending.as_str());
            word.kind == Kind::Word && language.facts.spelling.owners.0.iter().any(ends)
        };
        let tells = |next: &Word| {
            next.number.is_some()
                || language.is_plain_role(&next.text)
                || language.state(std::slice::from_ref(next)).is_some()
                || language.fraction(std::slice::from_ref(next)).is_some()
        };
        // "You opened the vent."
        let is_past = |word: &Word| language.form(&word.text) == crate::language::Form::Past;
        let tells_of_robot =
            matches!(words, [first, second, ..] if language.words.addressed.has(&first.text) && is_past(second));
        tells_of_robot
            || words.iter().zip(words.iter().skip(1)).any(|(word, next)| is_shortened(word) && tells(next))
            || words.iter().any(|word| language.facts.hints.already.has(&word.text))
    }

    /// Returns true if the tool can tell of people: it sees whatever there is, or names them.
    pub(super) fn sees_people(&self, tool: &Tool) -> bool {
        let names = |word: &str| tool.nouns.contains(word) || tool.described.contains(word);
        let takes = tool.parameters.iter().any(|parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => choices.named("person").is_some(),
            ParameterKind::Text(_) => true,
            _ => false,
        });
        takes
            || tool.verbs.iter().any(|verb| self.names(&verb.key, "look"))
            || ["person", "people", "face", "somebody", "someone", "anybody", "anyone"].iter().any(|word| names(word))
    }

    /// Returns true if the tool tells of a state or of its opposite.
    pub(super) fn tells_of(&self, tool: &Tool, state: &str) -> bool {
        let opposite = self.language.opposite(state);
        let tells = |word: &str| tool.nouns.contains(word) || tool.described.contains(word);
        tells(state) || opposite.is_some_and(tells)
    }

    /// A word for what the tool or one of its values is about.
    #[expect(clippy::too_many_arguments, reason = "what is known of the clause so far")]
    pub(super) fn take_noun(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        concept: &str,
        length: usize,
        fit: &Fit,
        draft: &mut Draft,
    ) -> Option<usize> {
        let language = self.language;
        let word = words.get(at)?;
        if word.kind != Kind::Word
            || language.empty(std::slice::from_ref(word)) > 0 && !tool.name_nouns.contains(concept)
        {
            return None;
        }
        if language.is_plain_role(&word.text) || language.weighty(&word.text) || language.is_article(&word.text) {
            return None;
        }
        // "Went" and "going" tell of something; they name no tool that goes.
        let tells = self.language.form(&word.text) != crate::language::Form::Plain
            && !self.language.verbs(&word.stem).is_empty()
            && !tool.component.iter().any(|it| it == concept);
        if tells && !fit.asks && self.verb_position(words) == Some(at) {
            return None;
        }
        // A word that only asks says nothing of what is asked.
        if fit.asks && !tool.name_nouns.contains(concept) && language.words.questions.has(&word.text) {
            return None;
        }
        // A verb in the place of the verb is no thing.
        let is_verb =
            fit.at.is_empty() && self.verb_position(words) == Some(at) && !fit.asks && self.is_deed_at(words, at);
        if is_verb && !tool.name_nouns.contains(concept) {
            return None;
        }
        // A switch that is named after what it does: "blink yellow".
        for (index, parameter) in tool.parameters.iter().enumerate() {
            if parameter.kind == ParameterKind::Flag
                && parameter.words.iter().any(|it| it == concept)
                && !draft.values.contains_key(&index)
            {
                draft.values.insert(index, vec![json!(true)]);
                draft.matched += 1;
                return Some(length);
            }
        }
        if tool.name_nouns.contains(concept) {
            let is_said =
                |part: &String| words.iter().any(|word| *part == word.stem || *part == robot::meaning(word, language));
            let is_synonym =
                tool.component.last().is_some_and(|it| it == concept) && !tool.component_stems.contains(&word.stem);
            draft.names_loosely |=
                is_synonym && language.is_of_tools() && tool.component.iter().any(|it| it != concept && !is_said(it));
            draft.matched += 1;
            draft.names_tool = true;
            // "Drawer 3" says which drawer, and not that its weight is asked for.
            let is_of_parameter = tool.parameters.iter().any(|it| it.words.iter().any(|word| word == concept));
            draft.names_method |= !is_of_parameter && !tool.component.iter().any(|it| it == concept);
            return Some(length);
        }
        // The "fume hood" of a description is the hood that the tool is named after.
        let last = at.checked_add(length - 1).filter(|_| length > 1 && tool.described.contains(concept));
        let is_named_after = last
            .and_then(|last| robot::next_concept(words.get(last..=last)?, language))
            .is_some_and(|(last, _)| tool.name_nouns.contains(&last));
        if tool.nouns.contains(concept) || is_named_after {
            draft.matched += 1;
            draft.names_tool = true;
            draft.names_method = true;
            return Some(length);
        }
        // "Which room are you in?" asks nothing that wants to be told a room.
        let is_asked_for = fit.asks
            && at
                .checked_sub(1)
                .and_then(|before| words.get(before))
                .is_some_and(|it| language.words.which.has(&it.text));
        let takes = |it: &robot::Parameter| it.words.iter().any(|word| word == concept);
        if tool.parameters.iter().any(takes) {
            if is_asked_for {
                return None;
            }
            draft.described += 1;
            return Some(length);
        }
        // "The top drawer" says which drawer; what is gone to is a value.
        let follows = words.get(at + 1).is_some_and(|next| next.kind == Kind::Word);
        let is_which = language.words.positions.has(&word.text) && follows;
        let is_target = !fit.asks
            && draft.role.as_deref().is_some_and(|role| language.words.targets.has(role))
            && fit.strength < Strength::Phrase;
        if is_which || is_target {
            return None;
        }
        // What a description says explains no word that turns a command into another one, and no verb.
        if !tool.described.contains(concept) || fit.strength >= Strength::Phrase {
            return None;
        }
        // "The shaker runs at 300 rpm", "the hood is closed" tell something, whatever the description says.
        if fit.strength == Strength::Things && !fit.asks && self.is_predicate(words, at) {
            return None;
        }
        let is_polar = language.state(words.get(at..)?).is_some_and(|(state, _)| language.opposite(state).is_some());
        let is_heavy = is_polar || self.guarded(words.get(at..=at)?).is_some();
        if !is_heavy {
            draft.described += 1;
            draft.names_method |= fit.asks;
            return Some(length);
        }
        None
    }
}
