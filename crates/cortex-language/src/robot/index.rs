//! The tools of a robot by the words with which a sentence may ask for them.
//!
//! The index never says too little: a tool that it leaves out has no verb, no thing and no value in the clause, and such a
//! tool is asked for by nothing. It may say too much; the reader then holds the tool against the clause in vain.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use super::{Key, Parameter, ParameterKind, Piece, Source, Tool, Usage, spoken, switched};
use crate::language::{Frame, Language};
use crate::numbers::Dimension;
use crate::tokens::compact;

/// Tools by their indices, in order.
pub(crate) type Tools = [u32];

/// The tools that have a verb.
#[derive(Debug, Default)]
pub(crate) struct VerbTools {
    pub(crate) tools: Vec<u32>,
    /// True if it is the own verb of one of them.
    pub(crate) own: bool,
    /// True if one of them acts.
    pub(crate) acts: bool,
}

/// Tools by what a sentence may say of them.
#[derive(Debug, Default)]
pub(crate) struct Index {
    verbs: HashMap<Key, VerbTools>,
    /// By the meanings of the words of names, patterns, descriptions and parameters.
    things: HashMap<String, Vec<u32>>,
    /// By the meanings of the words of names alone.
    names: HashMap<String, Vec<u32>>,
    /// By the first word of the name of a value.
    values: HashMap<String, Vec<u32>>,
    /// By a word that several values of a parameter have.
    kinds: HashMap<String, Vec<u32>>,
    /// By a value without spaces; in order, so that beginnings are found.
    spellings: BTreeMap<String, Vec<u32>>,
    /// By the first word of a pattern.
    phrases: HashMap<String, Vec<u32>>,
    /// By the name of a parameter.
    parameters: HashMap<String, Vec<u32>>,
    /// By a word of the component's name.
    components: HashMap<String, Vec<u32>>,
    /// The words of the names of parameters that take a number.
    pub(crate) counted: BTreeSet<String>,
    /// Ways in which something turns or moves.
    pub(crate) directions: BTreeSet<String>,
    /// Those that take a number, and those that take a share in percent.
    pub(crate) numbers: Vec<u32>,
    pub(crate) shares: Vec<u32>,
    /// Those that switch something on or off.
    pub(crate) flags: Vec<u32>,
    /// Those that take what stands in quotation marks.
    pub(crate) quoted: Vec<u32>,
    /// Those that hand over a text.
    pub(crate) says: Vec<u32>,
    pub(crate) writes: Vec<u32>,
    /// Those that go somewhere.
    pub(crate) goes: Vec<u32>,
    /// Those that look at whatever there is.
    pub(crate) looks: Vec<u32>,
}

impl Index {
    /// Adds the tool with this index; tools are added in order.
    pub(super) fn add(&mut self, index: u32, tool: &Tool, language: &Language) {
        for verb in &tool.verbs {
            let users = self.verbs.entry(verb.key.clone()).or_default();
            push(&mut users.tools, index);
            users.own |= verb.source == Source::Own;
            users.acts |= tool.usage == Usage::Step && !tool.looks;
            let Some(sense) = language.sense_of(&verb.key) else { continue };
            if let Some(state) = &sense.state {
                switched(state).for_each(|state| insert(&mut self.things, state, index));
            }
            match sense.name.as_str() {
                "go" => push(&mut self.goes, index),
                "look" => push(&mut self.looks, index),
                _ => {}
            }
        }
        tool.nouns.iter().chain(&tool.described).for_each(|thing| insert(&mut self.things, thing, index));
        tool.name_nouns.iter().for_each(|name| insert(&mut self.names, name, index));
        tool.component.iter().for_each(|word| insert(&mut self.components, word, index));
        if tool.component.is_empty() {
            insert(&mut self.components, "", index);
        }
        for phrase in &tool.phrases {
            let first = phrase.iter().find_map(|piece| match piece {
                Piece::Word(stem) => Some(stem),
                Piece::Slot(_) => None,
            });
            first.into_iter().for_each(|stem| insert(&mut self.phrases, stem, index));
        }
        tool.parameters.iter().for_each(|parameter| self.add_parameter(index, parameter));
        match tool.text {
            Some((_, Frame::Say)) => push(&mut self.says, index),
            Some((_, Frame::Write)) => push(&mut self.writes, index),
            None => {}
        }
    }

    fn add_parameter(&mut self, index: u32, parameter: &Parameter) {
        insert(&mut self.parameters, &parameter.name, index);
        self.directions.extend(parameter.signs.keys().cloned());
        parameter.words.iter().chain(parameter.signs.keys()).for_each(|word| insert(&mut self.things, word, index));
        for (names, _) in &parameter.aliases {
            names.first().into_iter().for_each(|name| insert(&mut self.values, first_word(name), index));
        }
        match &parameter.kind {
            ParameterKind::Choice(choices) => {
                push(&mut self.quoted, index);
                choices.names().for_each(|name| insert(&mut self.values, first_word(name), index));
                choices.repeated().for_each(|word| insert(&mut self.kinds, word, index));
                for value in &choices.values {
                    let spelling = compact(&spoken(value));
                    match self.spellings.get_mut(&spelling) {
                        Some(tools) => push(tools, index),
                        None => {
                            self.spellings.insert(spelling, vec![index]);
                        }
                    }
                }
            }
            ParameterKind::Flag => push(&mut self.flags, index),
            ParameterKind::Number(kind) => {
                self.counted.extend(parameter.words.iter().cloned());
                push(&mut self.numbers, index);
                if kind.unit.is_some_and(|unit| unit.dimension == Dimension::Share) {
                    push(&mut self.shares, index);
                }
            }
            ParameterKind::Text(_) | ParameterKind::Any => push(&mut self.quoted, index),
            ParameterKind::Other => {}
        }
    }

    /// The tools that have a verb.
    pub(crate) fn verb(&self, key: &Key) -> Option<&VerbTools> {
        self.verbs.get(key)
    }

    /// The tools that are about something.
    pub(crate) fn thing(&self, concept: &str) -> &Tools {
        found(&self.things, concept)
    }

    /// The tools that have it in their name.
    pub(crate) fn name(&self, concept: &str) -> &Tools {
        found(&self.names, concept)
    }

    /// The tools that are about something, and those with several values of which each is such a thing.
    pub(crate) fn with_values(&self, concept: &str) -> Vec<u32> {
        let mut tools: Vec<u32> = self.thing(concept).iter().chain(found(&self.kinds, concept)).copied().collect();
        tools.sort_unstable();
        tools.dedup();
        tools
    }

    /// The tools with a value whose name begins like this.
    pub(crate) fn value(&self, name: &str) -> &Tools {
        found(&self.values, first_word(name))
    }

    /// The tools with a value of this spelling; none if no value begins like this.
    pub(crate) fn spelling(&self, spelling: &str) -> Option<&Tools> {
        let from = (Bound::Included(spelling), Bound::Unbounded);
        let (next, tools) = self.spellings.range::<str, _>(from).next()?;
        match next.strip_prefix(spelling)? {
            "" => Some(tools),
            _ => Some(&[]),
        }
    }

    /// The tools with a pattern whose first word this is.
    pub(crate) fn phrase(&self, stem: &str) -> &Tools {
        found(&self.phrases, stem)
    }

    /// The tools with a parameter of this name.
    pub(crate) fn parameter(&self, name: &str) -> &Tools {
        found(&self.parameters, name)
    }

    /// The tools with this word in the name of their component; with no word, those without a component.
    pub(crate) fn component(&self, word: &str) -> &Tools {
        found(&self.components, word)
    }

    /// The tools of a component with these words in its name, and few others: those that have the rarest of them.
    pub(crate) fn of_component(&self, words: &[String]) -> &Tools {
        let with_each = words.iter().map(|word| self.component(word));
        with_each.min_by_key(|tools| tools.len()).unwrap_or_else(|| self.component(""))
    }
}

/// The first word of a name of several, by which it is looked up.
fn first_word(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

fn found<'m>(map: &'m HashMap<String, Vec<u32>>, key: &str) -> &'m Tools {
    map.get(key).map_or(&[], Vec::as_slice)
}

fn insert(map: &mut HashMap<String, Vec<u32>>, key: &str, index: u32) {
    match map.get_mut(key) {
        Some(tools) => push(tools, index),
        None => {
            map.insert(key.to_owned(), vec![index]);
        }
    }
}

fn push(tools: &mut Vec<u32>, index: u32) {
    if tools.last() != Some(&index) {
        tools.push(index);
    }
}
