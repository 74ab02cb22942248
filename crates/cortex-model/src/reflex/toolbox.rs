//! The tools of a request, read once for matching: the words of their names, their sentence patterns, their parameters
//! and the beginning of their descriptions.

use std::collections::BTreeSet;

use cortex_core::ToolDefinition;
use cortex_core::mission::{ARRANGE_TOOL, DECLINE_TOOL, ORDER_FULFILLED};
use cortex_protocol::ToolPhase;

use super::lexicon;
use super::slots::{self, Parameter, ParameterKind};
use super::tokens::{Kind, Token, name_words, tokens};

/// How much of a description is read, in characters; its first sentence says what the tool does.
const DESCRIPTION_READ: usize = 400;
/// Most patterns of one tool.
const PHRASES_READ: usize = 32;
/// Most pieces of one pattern.
const PIECES_READ: usize = 24;

/// In which phase a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    /// As a step of a plan.
    Step,
    /// As a step, or at once when nothing else is to be done.
    Either,
    /// At once, while the plan is made.
    Research,
}

/// One piece of a sentence pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// A word, by its meaning.
    Word(String),
    /// The value of the parameter with this index.
    Slot(usize),
}

/// A tool, as the reader knows it.
#[derive(Debug)]
pub(super) struct Tool<'r> {
    pub(super) definition: &'r ToolDefinition,
    pub(super) usage: Usage,
    /// The words of the component's name, by their meaning. May be empty.
    pub(super) component: Vec<String>,
    /// The words of the method's name that must be said, by their meaning.
    pub(super) method: Vec<String>,
    /// The words of the method's name as they are, without endings.
    pub(super) stems: Vec<String>,
    /// The other words of the method's name, by their meaning: `send request to`.
    pub(super) unspoken: Vec<String>,
    /// The first word of the description, by its meaning.
    pub(super) verb: Option<String>,
    /// The other words of the description's first sentence, by their meaning.
    pub(super) described: BTreeSet<String>,
    /// Those of them that say what the tool is about: what comes before the first "and".
    pub(super) about: BTreeSet<String>,
    pub(super) phrases: Vec<Vec<Piece>>,
    pub(super) parameters: Vec<Parameter>,
    /// The parameter that takes what is to be spoken, for a tool that speaks.
    pub(super) speech: Option<usize>,
    /// Whether it looks at the surroundings.
    pub(super) looks: bool,
}

/// All tools, in the order of the request.
#[derive(Debug)]
pub(super) struct Toolbox<'r> {
    pub(super) tools: Vec<Tool<'r>>,
}

impl<'r> Toolbox<'r> {
    pub(super) fn new(definitions: &'r [ToolDefinition]) -> Self {
        let tools = definitions.iter().filter(is_of_the_robot).map(Tool::new).collect();
        Self { tools }
    }

    pub(super) fn get(&self, index: usize) -> Option<&Tool<'r>> {
        self.tools.get(index)
    }

    /// The tool that looks at the surroundings, if there is exactly one that is best at it.
    pub(super) fn looking(&self) -> Option<usize> {
        let named = |tool: &&Tool<'_>| tool.method.iter().any(|word| word == "see");
        let indices: Vec<usize> = (0..self.tools.len())
            .filter(|index| self.get(*index).is_some_and(|tool| tool.looks && tool.needs_nothing()))
            .collect();
        let best: Vec<usize> =
            indices.iter().copied().filter(|index| self.get(*index).as_ref().is_some_and(named)).collect();
        match (best.as_slice(), indices.as_slice()) {
            ([only], _) | ([], [only]) => Some(*only),
            _ => None,
        }
    }

    /// The tool that speaks, if there is exactly one.
    pub(super) fn speaking(&self) -> Option<(usize, &Parameter)> {
        let mut speakers = self.tools.iter().enumerate().filter_map(|(index, tool)| {
            tool.speech.and_then(|speech| tool.parameters.get(speech)).map(|parameter| (index, parameter))
        });
        speakers.next().filter(|_| speakers.next().is_none())
    }
}

/// Whether it is a tool of the robot rather than one of the core, which the reader has no use for.
fn is_of_the_robot(definition: &&ToolDefinition) -> bool {
    ![ARRANGE_TOOL, DECLINE_TOOL, ORDER_FULFILLED].contains(&definition.name.as_str())
}

impl<'r> Tool<'r> {
    fn new(definition: &'r ToolDefinition) -> Self {
        let (component, method) = split_name(&definition.name);
        let canons = |words: Vec<String>| -> Vec<String> {
            words.iter().filter(|word| !lexicon::is_filler(word)).map(|word| lexicon::canon(word)).collect()
        };
        let spoken_method: Vec<String> =
            method.iter().filter(|word| !lexicon::is_unspoken(word)).map(|word| lexicon::canon(word)).collect();
        let stems = method.iter().map(|word| lexicon::stem(word)).collect();
        let unspoken = canons(method.iter().filter(|word| lexicon::is_unspoken(word)).cloned().collect());
        // A tool that is called `send` alone keeps its name.
        let method = if spoken_method.is_empty() { unspoken.clone() } else { spoken_method };
        let component = canons(component);
        let Description { verb, described, about } = read_description(&definition.description);
        let parameters = slots::parameters(&definition.parameters);
        let usage = match definition.phase {
            ToolPhase::Execution => Usage::Step,
            ToolPhase::Both => Usage::Either,
            ToolPhase::Planning => Usage::Research,
        };
        let speech = speech_parameter(&component, &method, verb.as_deref(), &parameters);
        let names_sight = method.iter().chain(&verb).any(|word| word == "see");
        let looks = names_sight || (described.contains("see") && usage != Usage::Step);
        let phrases = definition
            .phrases
            .iter()
            .take(PHRASES_READ)
            .filter_map(|phrase| read_phrase(phrase, &parameters))
            .collect();
        Self {
            definition,
            usage,
            component,
            method,
            stems,
            unspoken,
            verb,
            described,
            about,
            phrases,
            parameters,
            speech,
            looks,
        }
    }

    /// Whether it can be called without any argument.
    pub(super) fn needs_nothing(&self) -> bool {
        self.parameters.iter().all(|parameter| !parameter.required || parameter.default.is_some())
    }

    /// Whether a sentence can say everything that it must be given.
    pub(super) fn is_sayable(&self) -> bool {
        let can_be_said = |it: &Parameter| !it.required || it.default.is_some() || it.kind != ParameterKind::Other;
        self.parameters.iter().all(can_be_said)
    }

    /// How many of its sentence patterns are looked at.
    pub(super) fn phrases_read(&self) -> usize {
        if self.phrases.is_empty() { 0 } else { PHRASES_READ }
    }

    /// Its name in plain words, for people.
    pub(super) fn plain_name(&self) -> String {
        let (component, method) = split_name(&self.definition.name);
        let mut words = component;
        words.extend(method);
        words.join(" ")
    }
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

/// The first sentence of a description.
struct Description {
    verb: Option<String>,
    described: BTreeSet<String>,
    about: BTreeSet<String>,
}

fn read_description(description: &str) -> Description {
    let beginning: String = description.chars().take(DESCRIPTION_READ).collect();
    let sentence = beginning.split(". ").next().unwrap_or_default();
    let tokens: Vec<Token> = tokens(&sentence.replace(['"', '`', '“', '”', '„', '«'], " ")).unwrap_or_default();
    let words = || tokens.iter().filter(|token| token.kind == Kind::Word);
    // "Returns the level" gives something; it does not go anywhere. "How full it is" does nothing at all.
    let is_verb =
        |first: &&Token| !matches!(first.word.as_str(), "return" | "returns" | "how" | "what" | "where" | "the");
    let verb = words().next().filter(is_verb).map(|first| first.canon.clone());
    let telling = |token: &&Token| {
        let word = token.word.as_str();
        !lexicon::is_filler(word) && !lexicon::is_polarity(word) && lexicon::guard(word).is_none()
    };
    let described = words().skip(1).filter(telling).map(|token| token.canon.clone()).collect();
    let about = words().skip(1).take_while(|token| !token.is("and")).filter(telling);
    Description { verb, described, about: about.map(|token| token.canon.clone()).collect() }
}

/// The one text that a speaking tool needs.
fn speech_parameter(
    component: &[String],
    method: &[String],
    verb: Option<&str>,
    parameters: &[Parameter],
) -> Option<usize> {
    let speaks = component.iter().chain(method).any(|word| word == "say") || verb == Some("say");
    let mut texts = parameters
        .iter()
        .enumerate()
        .filter(|(_, parameter)| matches!(parameter.kind, ParameterKind::Text(_)))
        .map(|(index, _)| index);
    let text = texts.next().filter(|_| texts.next().is_none())?;
    let others_needed = parameters
        .iter()
        .enumerate()
        .any(|(index, parameter)| index != text && parameter.required && parameter.default.is_none());
    (speaks && !others_needed).then_some(text)
}

/// A pattern such as `go to {place}`. One without any word of its own, or with a value that the tool does not take, is
/// left out; so is one in which nothing tells where a text ends.
fn read_phrase(phrase: &str, parameters: &[Parameter]) -> Option<Vec<Piece>> {
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
        let tokens = tokens(literal).ok()?;
        let words: Vec<&Token> = tokens.iter().filter(|token| token.kind != Kind::Mark).collect();
        let telling: Vec<&&Token> = words.iter().filter(|token| !token.is_filler()).collect();
        if telling.is_empty() && after_text && index + 1 < parts.len() {
            // In "bring {object} to {place}" only the "to" tells where the object ends.
            pieces.push(Piece::Word(words.first()?.canon.clone()));
        }
        has_words |= !telling.is_empty();
        pieces.extend(telling.iter().map(|token| Piece::Word(token.canon.clone())));
    }
    (has_words && pieces.len() <= PIECES_READ).then_some(pieces)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn definition(name: &str, description: &str, parameters: Value, phrases: &[&str]) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters,
            phase: ToolPhase::Execution,
            phrases: phrases.iter().map(|phrase| (*phrase).to_owned()).collect(),
            kind: cortex_core::ToolKind::Act,
        }
    }

    #[test]
    fn a_tool_is_read_from_its_definition_alone() {
        let schema = json!({"type": "object", "properties": {
            "place": {"enum": ["kitchen"]},
        }, "required": ["place"]});
        let phrases = ["go to the {place}", "{place}", "fly to {planet}"];
        let definition = definition("left-base-go_to-0a1b2c3d", "Drives to a room. Never at night.", schema, &phrases);
        let tool = Tool::new(&definition);
        assert_eq!(tool.component, ["left".to_owned(), lexicon::canon("base")]);
        assert_eq!(tool.method, ["go"]);
        assert_eq!(tool.verb.as_deref(), Some("go"));
        assert_eq!(tool.described, BTreeSet::from(["where".to_owned()]));
        assert_eq!(tool.phrases, [[Piece::Word("go".to_owned()), Piece::Slot(0)]]);
        assert_eq!(tool.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>(), ["place"]);
        assert_eq!((tool.usage, tool.speech, tool.looks), (Usage::Step, None, false));
    }

    #[test]
    fn a_text_in_the_middle_of_a_pattern_ends_where_the_pattern_says() {
        let schema = json!({"properties": {"object": {"type": "string"}, "place": {"enum": ["kitchen"]}}});
        let phrases = [
            "bring the {object} to the {place}",
            "give {object} {place}",
            "{object} to {place}",
            "in {place} grasp {object}",
        ];
        let definition = definition("arm-bring", "Brings an object.", schema, &phrases);
        let word = |text: &str| Piece::Word(text.to_owned());
        assert_eq!(
            Tool::new(&definition).phrases,
            [
                vec![word("bring"), Piece::Slot(0), word("to"), Piece::Slot(1)],
                vec![Piece::Slot(1), word("grasp"), Piece::Slot(0)],
            ]
        );
    }

    #[test]
    fn speaking_and_looking_tools_are_known_by_what_they_say_of_themselves() {
        let text = json!({"properties": {"words": {"type": "string"}}, "required": ["words"]});
        let say = definition("voice-announce", "Plays a text.", text.clone(), &[]);
        let speak = definition("tts-play", "Speaks a text aloud.", text.clone(), &[]);
        let grasp = definition("arm-grasp", "Grasps an object.", text, &[]);
        let look = definition("camera-look", "Describes what the camera sees.", json!({}), &[]);
        assert_eq!(Tool::new(&say).speech, Some(0));
        assert_eq!(Tool::new(&speak).speech, Some(0));
        assert_eq!(Tool::new(&grasp).speech, None);
        assert!(Tool::new(&look).looks);
        let definitions = [say, look];
        let toolbox = Toolbox::new(&definitions);
        assert_eq!(toolbox.looking(), Some(1));
        assert_eq!(toolbox.speaking().map(|(index, parameter)| (index, parameter.name.as_str())), Some((0, "words")));
    }
}
