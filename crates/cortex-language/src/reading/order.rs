//! The order of words where a language is not put together as the one in which tools are declared.

use super::fit::Fit;
use super::{Clause, Context, Reader};
use crate::robot::Tool;
use crate::sentence::{self, Word};

impl Reader<'_> {
    /// The clause as one that the language of the tools puts in words of its own: "wo bist du" is "where are you".
    pub(super) fn by_idiom(&self, words: &[Word], context: Context<'_>) -> Option<Clause> {
        if self.language.is_of_tools() {
            return None;
        }
        let mut telling: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let empty = words.get(at..).map_or(0, |rest| self.language.empty(rest));
            if empty == 0 && !word.is_punctuation() {
                telling.push(word.as_ref());
            }
            at += empty.max(1);
        }
        let said = self.language.idiom(&telling)?;
        let reader = Reader { robot: self.robot, language: self.language.of_tools(), text: said };
        let clause = reader.clause(&sentence::words(said, reader.language).ok()?, context);
        matches!(clause, Clause::Read(_)).then_some(clause)
    }

    /// Returns true if the verb is said to whoever is spoken to: "fährst du ins Bad?" asks nothing.
    pub(super) fn addresses(&self, words: &[Word]) -> bool {
        matches!(words, [verb, person, ..] if !self.language.verbs(&verb.stem).is_empty() && self.language.facts.order.address.contains_key(&person.text))
    }

    /// "Fahren Sie", "du" after any verb, and "zu" before the verb at the end belong to the verb.
    pub(super) fn is_part_of_verb(&self, words: &[Word], at: usize, fit: &Fit) -> bool {
        let Some(word) = words.get(at) else { return false };
        let order = &self.language.facts.order;
        let infinitive = self.language.ends_in_verbs() && word.is(&order.infinitive) && fit.at.contains(&(at + 1));
        let before = at.checked_sub(1).filter(|before| fit.at.contains(before)).and_then(|before| words.get(before));
        let addressed = || {
            let endings = order.address.get(&word.text)?;
            let verb = before?;
            Some(endings.0.is_empty() || endings.0.iter().any(|ending| verb.text.ends_with(ending.as_str())))
        };
        infinitive || addressed().unwrap_or(false)
    }

    /// Returns true if a parameter of the tool says where something comes from.
    pub(super) fn takes_origin(&self, tool: &Tool, role: &str) -> bool {
        let hints = self.language.roles.get(role).map(Vec::as_slice).unwrap_or_default();
        tool.parameters.iter().any(|it| it.words.iter().any(|word| hints.contains(word)))
            || !tool.verbs.iter().any(|verb| self.names(&verb.key, "go"))
    }

    /// Returns true if a question mark stands after the words.
    pub(super) fn ends_as_question(&self, words: &[Word]) -> bool {
        let end = words.last().and_then(|last| self.text.get(last.span.end..));
        end.is_some_and(|after| after.trim_start().starts_with('?'))
    }
}
