//! The tools of a request: as they are declared, and as the robot that sentences are held against.

use std::collections::BTreeSet;

use cortex_core::mission::{ARRANGE_TOOL, ASK_PERSON, DECLINE_TOOL, FIND_TOOLS, ORDER_FULFILLED, RECALL_STEP};
use cortex_core::{ToolDefinition, ToolKind};
use cortex_language::{Beginning, Call, Declared, Part, Robot, Understanding, Usage, name_words};
use cortex_protocol::ToolPhase;

use super::schema::{self, Kind};

/// The tools of the core itself. They stand for nothing that the robot does.
const OWN_TOOLS: [&str; 6] = [ARRANGE_TOOL, ASK_PERSON, DECLINE_TOOL, FIND_TOOLS, ORDER_FULFILLED, RECALL_STEP];

/// All tools of the robot, in the order of the request. The reader names them by their index.
#[derive(Debug)]
pub(super) struct Toolbox<'r> {
    tools: Vec<&'r ToolDefinition>,
    robot: Robot,
}

impl<'r> Toolbox<'r> {
    pub(super) fn new(definitions: impl IntoIterator<Item = &'r ToolDefinition>) -> Self {
        let is_of_the_robot = |tool: &&ToolDefinition| !OWN_TOOLS.contains(&tool.name.as_str());
        let tools: Vec<&ToolDefinition> = definitions.into_iter().filter(is_of_the_robot).collect();
        let robot = Robot::new(tools.iter().map(|tool| Declared {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
            phrases: &tool.phrases,
            usage: usage_of(tool),
            looks: looks(tool),
        }));
        Self { tools, robot }
    }

    pub(super) fn len(&self) -> usize {
        self.tools.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&'r ToolDefinition> {
        self.tools.get(index).copied()
    }

    /// The tool that a part calls.
    pub(super) fn tool_of(&self, part: &Part) -> Option<&'r ToolDefinition> {
        match part {
            Part::Call { call, .. } => self.get(call.tool),
            Part::Tell { tool, .. } => self.get(*tool),
            // What it is to do is known when its look is.
            Part::If { .. } | Part::Talk(_) => None,
        }
    }

    /// The tool that this names.
    pub(super) fn named(&self, written: &str) -> Option<&'r ToolDefinition> {
        let exact = self.tools.iter().copied().find(|tool| tool.name == written);
        exact.or_else(|| self.tools.iter().copied().find(|tool| is_name_of(&tool.name, written)))
    }

    /// Returns true if the tool does nothing but speak: it takes one text, and calls that saying or speaking.
    pub(super) fn speaks(&self, tool: &ToolDefinition) -> bool {
        /// Words for it. Others, such as "call" and "greet", may be about more.
        const SAYING: [&str; 8] = ["say", "says", "speak", "speaks", "announce", "sag", "sage", "sprich"];
        let one_text =
            matches!(schema::parameters(&tool.parameters).as_slice(), [only] if matches!(only.kind, Kind::Text(_)));
        let names = std::iter::once(&tool.name).chain(&tool.phrases);
        let says = names.flat_map(|text| name_words(text)).any(|word| SAYING.contains(&word.as_str()));
        let index = self.tools.iter().position(|known| known.name == tool.name);
        one_text && says && index.is_some_and(|index| self.robot.speaks(index))
    }

    /// The words of the tools' names and sentences.
    pub(super) fn words(&self) -> BTreeSet<String> {
        let texts = self.tools.iter().flat_map(|tool| std::iter::once(&tool.name).chain(&tool.phrases));
        texts.flat_map(|text| name_words(text)).collect()
    }

    /// What a text means to this robot.
    pub(super) fn understand(&self, text: &str) -> Understanding {
        cortex_language::understand(&self.robot, text)
    }

    /// What a text means to this robot after another one, which was carried out.
    pub(super) fn understand_after(&self, before: Option<&str>, text: &str) -> Understanding {
        match before {
            Some(before) => cortex_language::understand_after(&self.robot, before, text),
            None => self.understand(text),
        }
    }

    /// As much of a text as comes before the rest of it.
    pub(super) fn beginning(&self, text: &str) -> Option<Beginning> {
        cortex_language::beginning(&self.robot, text)
    }

    /// The words by which a text is known again.
    pub(super) fn wording(&self, text: &str) -> Option<String> {
        cortex_language::wording(&self.robot, text)
    }

    /// The calls that a text asks for, if it asks for calls alone.
    pub(super) fn calls(&self, text: &str) -> Option<Vec<Call>> {
        let Understanding::Understood(parts) = self.understand(text) else { return None };
        calls_of(&parts)
    }
}

/// The calls of the parts, if they are calls alone.
pub(super) fn calls_of(parts: &[Part]) -> Option<Vec<Call>> {
    let call = |part: &Part| match part {
        Part::Call { call, .. } => Some(call.clone()),
        Part::If { .. } | Part::Tell { .. } | Part::Talk(_) => None,
    };
    parts.iter().map(call).collect()
}

/// Returns true if this names the tool: by its name on the wire, or by the canonical name written out.
pub(super) fn is_name_of(wire: &str, written: &str) -> bool {
    let plain: String =
        written.chars().map(|next| if next.is_ascii_alphanumeric() || next == '_' { next } else { '-' }).collect();
    // Long and doubtful names end in a hash; the long ones are cut before it.
    let begins = wire
        .rsplit_once('-')
        .filter(|(_, end)| is_hash(end))
        .is_some_and(|(begin, _)| plain == begin || (begin.len() >= SHORTEST_CUT && plain.starts_with(begin)));
    plain == wire || begins
}

/// Bytes of what is left of a name that was cut, at least.
const SHORTEST_CUT: usize = 55;

/// Returns true if names that would be alike differ by it.
fn is_hash(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|next| next.is_ascii_hexdigit())
}

/// In which phase the tool may be called.
pub(super) fn usage_of(tool: &ToolDefinition) -> Usage {
    match tool.phase {
        ToolPhase::Execution => Usage::Step,
        ToolPhase::Both => Usage::Either,
        ToolPhase::Planning => Usage::Research,
    }
}

/// Returns true if the tool only looks or tells.
fn looks(tool: &ToolDefinition) -> bool {
    matches!(tool.kind, ToolKind::Look | ToolKind::LookAtOnce | ToolKind::LookAsStep)
}

/// Returns true if what the tool brings is an answer.
pub(super) fn answers(tool: &ToolDefinition) -> bool {
    looks(tool) || usage_of(tool) != Usage::Step
}

/// Its name in plain words, for people, without the hash by which long names differ.
pub(super) fn plain_name(tool: &ToolDefinition) -> String {
    let name = match tool.name.rsplit_once('-') {
        Some((before, hash)) if is_hash(hash) => before,
        _ => &tool.name,
    };
    name_words(name).join(" ")
}
