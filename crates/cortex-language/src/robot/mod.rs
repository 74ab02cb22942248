//! The vocabulary of a robot: its tools as a sentence may mean them.

use std::collections::BTreeSet;

use serde_json::Value;

mod choices;
mod concepts;
mod index;
mod parameters;
mod shape;
mod told;
mod verbs;

pub(crate) use choices::{Choices, spoken};
pub(crate) use concepts::{concepts, concepts_of, every_concept, meaning, next_concept};
pub(crate) use index::Tools;
pub(crate) use parameters::{Mismatch, NumberKind, Parameter, ParameterKind};
pub(crate) use verbs::{Key, Source, Verb, VerbHit, hits};

use self::index::Index;
use self::told::Told;
use crate::filter::WordSet;
use crate::language::{Frame, Language};
use crate::sentence::{self, Word};
use crate::tokens::{Kind, name_words};

/// Most characters of a description that are read.
const DESCRIPTION_READ: usize = 400;
/// Most patterns of one tool.
const PHRASES_READ: usize = 32;
/// Most pieces of one pattern.
const PIECES_READ: usize = 24;

/// In which phase a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// As a step of a plan.
    Step,
    /// As a step, or at once when nothing else is to be done.
    Either,
    /// At once, while the plan is made.
    Research,
}

/// A tool as its robot declares it.
#[derive(Debug, Clone, Copy)]
pub struct Declared<'r> {
    /// `component-method`.
    pub name: &'r str,
    /// Its description, in prose.
    pub description: &'r str,
    /// JSON Schema of its arguments.
    pub parameters: &'r Value,
    /// Sentences that people use for it, with `{parameter}` in place of values.
    pub phrases: &'r [String],
    /// In which phase it may be called.
    pub usage: Usage,
    /// True if it only looks or tells.
    pub looks: bool,
}

/// One piece of a sentence pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// A word, by its meaning.
    Word(String),
    /// The value of the parameter with this index.
    Slot(usize),
}

/// A tool, as the reader knows it.
#[derive(Debug)]
pub struct Tool {
    pub(crate) usage: Usage,
    pub(crate) looks: bool,
    /// The verbs that ask for it, the tool's own first.
    pub(crate) verbs: Vec<Verb>,
    /// The words of the component's name.
    pub(crate) component: Vec<String>,
    /// The stems of the words of the component's name, as they are spelt.
    pub(crate) component_stems: Vec<String>,
    /// The words of its name and of its patterns.
    pub(crate) nouns: BTreeSet<String>,
    /// The words of its name alone.
    pub(crate) name_nouns: BTreeSet<String>,
    /// The words of its description.
    pub(crate) described: BTreeSet<String>,
    pub(crate) phrases: Vec<Vec<Piece>>,
    /// True if its description says that it takes all where no value is given.
    pub(crate) absent_is_all: bool,
    pub(crate) parameters: Vec<Parameter>,
    /// The parameter that takes a text, and what becomes of it, where the tool speaks or shows something.
    pub(crate) text: Option<(usize, Frame)>,
    /// What its answers say.
    pub(crate) told: Told,
}

/// All tools, in the order in which they were declared.
#[derive(Debug)]
pub struct Robot {
    pub(crate) tools: Vec<Tool>,
    /// How it brings things from one place to another.
    pub(crate) transfers: Vec<Transfer>,
    /// Every word of the robot, as it is spelt.
    pub(crate) spellings: WordSet,
    pub(crate) index: Index,
}

/// Tools that bring a thing from one place to another together, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) pick: usize,
    pub(crate) place: usize,
    /// The one that drives, if there is exactly one.
    pub(crate) drive: Option<usize>,
}

impl Robot {
    /// The tools of a robot, in words.
    #[must_use]
    pub fn new<'r>(declared: impl IntoIterator<Item = Declared<'r>>) -> Self {
        let mut robot =
            Self { tools: Vec::new(), transfers: Vec::new(), spellings: WordSet::default(), index: Index::default() };
        let Some(language) = Language::english() else { return robot };
        for tool in declared {
            let Declared { name, description, phrases, .. } = tool;
            robot.spell(name, language);
            robot.spell(description, language);
            phrases.iter().for_each(|phrase| robot.spell(phrase, language));
            let tool = Tool::new(&tool, language);
            for parameter in &tool.parameters {
                robot.spell(&parameter.label, language);
                if let ParameterKind::Choice(choices) = &parameter.kind {
                    choices.values.iter().for_each(|value| robot.spell(&spoken(value), language));
                }
            }
            robot.index.add(u32::try_from(robot.tools.len()).unwrap_or(u32::MAX), &tool, language);
            robot.tools.push(tool);
        }
        robot.transfers = transfers(&robot.tools, language);
        robot
    }

    fn spell(&mut self, text: &str, language: &Language) {
        for word in name_words(text) {
            if word.chars().count() > 2
                && language.number(&word).is_none()
                && !word.contains(|next: char| next.is_ascii_digit())
            {
                self.spellings.insert(word);
            }
        }
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns true if it can do nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Some of the tools, with their indices.
    pub(crate) fn those<'r>(&'r self, tools: &'r Tools) -> impl Iterator<Item = (usize, &'r Tool)> {
        tools.iter().filter_map(|index| Some((*index as usize, self.tools.get(*index as usize)?)))
    }

    /// Whether the tool of this index speaks a text.
    #[must_use]
    pub fn speaks(&self, index: usize) -> bool {
        self.those(&self.index.says).any(|(speaking, _)| speaking == index)
    }

    pub(crate) fn tool(&self, index: usize) -> Option<&Tool> {
        self.tools.get(index)
    }
}

/// A state, and what people call it of a machine: who stops the shaker has it off.
pub(crate) fn switched(state: &str) -> impl Iterator<Item = &str> {
    let other = match state {
        "stop" => Some("off"),
        "start" => Some("on"),
        _ => None,
    };
    [Some(state), other].into_iter().flatten()
}

impl Tool {
    fn new(declared: &Declared<'_>, language: &Language) -> Self {
        let (component, method) = split_name(declared.name);
        // What has no sentence of its own may be asked for by its name, as it is offered.
        let full_name = component.iter().chain(&method).cloned().collect::<Vec<_>>().join(" ");
        let beginning: String = declared.description.chars().take(DESCRIPTION_READ).collect();
        let description = sentence::words(&beginning.replace(['"', '`', '“', '”', '„', '«', '\''], " "), language);
        let description = description.unwrap_or_default();
        let parameters = parameters::parameters(declared.parameters, &description, language);
        let patterns: Vec<Vec<Word>> = declared
            .phrases
            .iter()
            .take(PHRASES_READ)
            .map(|phrase| sentence::words(&without_slots(phrase), language).unwrap_or_default())
            .collect();
        let method_words = sentence::words(&method.join(" "), language).unwrap_or_default();
        let verbs = verbs::of_tool(&method_words, &patterns, &description, language);
        let component_stems = component.iter().map(|word| language.stem(word)).collect();
        let component = concepts(&component.join(" "), language);
        let mut nouns: BTreeSet<String> = component.iter().cloned().collect();
        nouns.extend(concepts_of(&method_words, language));
        // The "is" of `is_on` is no thing.
        let tells = |word: &String| !language.words.questions.has(word) || language.quality(word).is_some();
        nouns.retain(&tells);
        // The left arm is on the left.
        nouns.extend(component.iter().cloned());
        let name_nouns = nouns.clone();
        for pattern in &patterns {
            nouns.extend(concepts_of(pattern, language).into_iter().filter(&tells));
        }
        let mut described: BTreeSet<String> = concepts_of(&description, language).into_iter().collect();
        for parameter in &parameters {
            described.extend(parameter.described.iter().cloned());
        }
        let acts = declared.usage == Usage::Step && !declared.looks;
        let text = if acts { text_parameter(&verbs, &nouns, &parameters, language) } else { None };
        // Who calls the lift says nothing.
        let mut verbs = verbs;
        if acts && text.is_none() {
            let speaks =
                |verb: &Verb| language.sense_of(&verb.key).is_some_and(|sense| sense.frame == Some(Frame::Say));
            verbs.retain(|verb| !speaks(verb));
        }
        let needs_nothing = parameters.iter().all(|it| !it.required || it.default.is_some());
        let phrases = declared
            .phrases
            .iter()
            .take(PHRASES_READ)
            .chain((needs_nothing && declared.phrases.is_empty() && full_name.contains(' ')).then_some(&full_name))
            .filter_map(|it| read_phrase(it, &parameters, language))
            .collect();
        // "Without a zone, all valves."
        let absent_is_all = (0..description.len()).any(|at| {
            let rest = description.get(at..).unwrap_or_default();
            let sentence = rest.iter().position(|word| word.is_mark(".")).unwrap_or(rest.len());
            let rest = rest.get(..sentence).unwrap_or_default();
            language.words.absent.length(rest) > 0
                && (1..rest.len()).any(|from| rest.get(from..).is_some_and(|it| language.words.all.length(it) > 0))
        });
        Self {
            absent_is_all,
            usage: declared.usage,
            looks: declared.looks,
            verbs,
            component,
            component_stems,
            nouns,
            name_nouns,
            described,
            phrases,
            parameters,
            text,
            told: Told::of(&method_words, &description, language),
        }
    }

    /// Returns true if it can be called without any argument.
    pub(crate) fn needs_nothing(&self) -> bool {
        self.parameters.iter().all(|parameter| !parameter.required || parameter.default.is_some())
    }
}

/// Pairs of a tool that picks something up and one of the same component that puts it down.
fn transfers(tools: &[Tool], language: &Language) -> Vec<Transfer> {
    let does = |tool: &Tool, name: &str| {
        let acts = tool.usage == Usage::Step && !tool.looks;
        let needed = tool.parameters.iter().filter(|it| it.required);
        let takes_one =
            needed.clone().count() <= 1 && needed.clone().all(|it| matches!(it.kind, ParameterKind::Choice(_)));
        let is_own = |verb: &Verb| {
            verb.source == Source::Own && language.sense_of(&verb.key).is_some_and(|sense| sense.name == name)
        };
        acts && takes_one && tool.verbs.iter().any(is_own)
    };
    let all =
        |name: &'static str| (0..tools.len()).filter(move |at| tools.get(*at).is_some_and(|tool| does(tool, name)));
    let mut drives =
        all("go").filter(|at| tools.get(*at).is_some_and(|tool| tool.parameters.iter().any(|it| it.required)));
    let drive = drives.next().filter(|_| drives.next().is_none());
    let component = |at: usize| tools.get(at).map(|tool| &tool.component).filter(|component| !component.is_empty());
    all("pick")
        .flat_map(|pick| all("place").map(move |place| Transfer { pick, place, drive }))
        .filter(|it| it.pick != it.place && component(it.pick).is_some() && component(it.pick) == component(it.place))
        .collect()
}

/// The words of the component and of the method: `base-go_to` is `base` and `go to`. The hash by which long names
/// differ belongs to neither.
fn split_name(wire_name: &str) -> (Vec<String>, Vec<String>) {
    let is_hash = |text: &str| text.len() == 8 && text.bytes().all(|next| next.is_ascii_hexdigit());
    let name = match wire_name.rsplit_once('-') {
        Some((before, hash)) if is_hash(hash) => before,
        _ => wire_name,
    };
    match name.rsplit_once(['-', '.']) {
        Some((component, method)) => (name_words(component), name_words(method)),
        None => (Vec::new(), name_words(name)),
    }
}

fn without_slots(phrase: &str) -> String {
    let mut text = String::new();
    for (index, part) in phrase.split('{').enumerate() {
        if index == 0 {
            text.push_str(part);
            continue;
        }
        // A mark where the value stands: what comes before it marks a place and is no part of a verb.
        text.push_str(" | ");
        text.push_str(part.split_once('}').map_or("", |(_, literal)| literal));
    }
    text
}

/// The one text that a tool needs which speaks or shows something.
fn text_parameter(
    verbs: &[Verb],
    nouns: &BTreeSet<String>,
    parameters: &[Parameter],
    language: &Language,
) -> Option<(usize, Frame)> {
    let mut texts = parameters.iter().enumerate().filter(|(_, it)| matches!(it.kind, ParameterKind::Text(_)));
    let (text, parameter) = texts.next().filter(|_| texts.next().is_none())?;
    let others = parameters.iter().enumerate();
    let needs_more = others.filter(|(index, _)| *index != text).any(|(_, it)| it.required && it.default.is_none());
    let mut needed =
        parameters.iter().enumerate().filter(|(index, it)| *index != text && it.required && it.default.is_none());
    if needs_more && !needed.all(|(_, it)| matches!(it.kind, ParameterKind::Choice(_))) {
        return None;
    }
    let by_verb = verbs.iter().find_map(|verb| language.sense_of(&verb.key)?.frame);
    let by_noun = nouns.contains("voice").then_some(Frame::Say);
    // A text that is named so: what it is for is another matter.
    let named = ["text", "message", "words", "sentence", "announcement"];
    let is_text =
        parameter.words.iter().any(|word| named.iter().any(|name| language.stem(name) == *word || *name == word));
    let by_name = is_text.then_some(Frame::Write);
    by_verb.or(by_noun).or(by_name).map(|frame| (text, frame))
}

/// A pattern such as `go to {place}`. One without any word of its own, or with a value that the tool does not take, is
/// left out; so is one in which nothing tells where a text ends.
fn read_phrase(phrase: &str, parameters: &[Parameter], language: &Language) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut has_words = false;
    let parts: Vec<&str> = phrase.split('{').collect();
    for (index, part) in parts.iter().enumerate() {
        let mut after_text = false;
        let literal = if index == 0 {
            part
        } else {
            let (name, literal) = part.split_once('}')?;
            let slot = parameters.iter().position(|parameter| parameter.name == name.trim())?;
            after_text = matches!(parameters.get(slot)?.kind, ParameterKind::Text(_) | ParameterKind::Any);
            pieces.push(Piece::Slot(slot));
            literal
        };
        let words = sentence::words(literal, language).ok()?;
        let words: Vec<&Word> = words.iter().filter(|word| word.kind != Kind::Mark).collect();
        let telling: Vec<&&Word> = words.iter().filter(|word| !is_passed_over(word, language)).collect();
        if telling.is_empty() && after_text && index + 1 < parts.len() {
            // In "bring {object} to {place}" only the "to" tells where the object ends.
            pieces.push(Piece::Word(words.first()?.stem.clone()));
        }
        has_words |= !telling.is_empty();
        pieces.extend(telling.iter().map(|word| Piece::Word(word.stem.clone())));
    }
    (has_words && pieces.len() <= PIECES_READ).then_some(pieces)
}

/// Returns true if a pattern may leave the word out, and a sentence that follows it may have it.
pub(crate) fn is_passed_over(word: &Word, language: &Language) -> bool {
    let carries = language.state(std::slice::from_ref(word)).is_some();
    word.kind == Kind::Word
        && !carries
        && (language.empty(std::slice::from_ref(word)) > 0 || language.is_plain_role(&word.text))
}
