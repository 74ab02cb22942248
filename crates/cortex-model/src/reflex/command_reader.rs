//! What the reader makes of sentences, and which sentence asks for a call: for whoever writes down how something is done, such as
//! skills that are learned from what was done.

use cortex_core::{ToolDefinition, ToolSet};
use cortex_language::{Call, Part, Problem, Understanding};
use cortex_protocol::{ToolCall, ToolName};

use super::offers;
use super::procedure;
use super::schema;
use super::toolbox::{Toolbox, calls_of};

/// The reader, held against the tools of a robot.
#[derive(Debug)]
pub struct CommandReader {
    definitions: Vec<(ToolName, ToolDefinition)>,
}

impl CommandReader {
    /// Reads sentences for the robot that has these tools.
    #[must_use]
    pub fn new(tools: &ToolSet) -> Self {
        let definition = |name: &ToolName| Some((name.clone(), tools.definition(name)?));
        Self { definitions: tools.iter().filter_map(|spec| definition(&spec.name)).collect() }
    }

    /// The calls that a task asks for by itself. None where it is not understood as a whole, or depends on what is found.
    #[must_use]
    pub fn task(&self, task: &str) -> Option<Vec<ToolCall>> {
        let toolbox = self.toolbox();
        let Understanding::Understood(parts) = toolbox.understand(task) else { return None };
        let call = |call: Call| {
            let definition = toolbox.get(call.tool)?;
            let (tool, _) = self.definitions.iter().find(|(_, known)| known.name == definition.name)?;
            Some(ToolCall { tool: tool.clone(), arguments: call.arguments })
        };
        calls_of(&parts)?.into_iter().map(call).collect()
    }

    /// Whether a task is understood: also where what it asks for depends on what is found, where one of several such things is
    /// meant, and where one of its words forbids a guess, such as "not" and "if". That what it may mean is calls alone, of which
    /// one would have to be chosen, is not understood.
    #[must_use]
    pub fn understands(&self, task: &str) -> bool {
        let is_more_than_calls = |offer: &Vec<Part>| calls_of(offer).is_none();
        match self.toolbox().understand(task) {
            Understanding::Understood(_) => true,
            Understanding::Unsure { offers, .. } => offers.iter().any(is_more_than_calls),
            Understanding::Refused(problems) => {
                problems.iter().any(|(_, problem)| matches!(problem, Problem::Guarded { .. }))
            }
            Understanding::Empty | Understanding::Unclosed | Understanding::TooLong => false,
        }
    }

    /// The calls of a procedure, as a mission makes them where a task is a sentence of its skill.
    #[must_use]
    pub fn procedure(&self, steps: &[String]) -> Option<Vec<ToolCall>> {
        self.task(&procedure::text(steps))
    }

    /// A sentence that asks for exactly this call. None where there is none.
    #[must_use]
    pub fn sentence(&self, call: &ToolCall) -> Option<String> {
        let toolbox = self.toolbox();
        let (_, definition) = self.definitions.iter().find(|(name, _)| *name == call.tool)?;
        let index =
            (0..toolbox.len()).find(|index| toolbox.get(*index).is_some_and(|it| it.name == definition.name))?;
        offers::sentence_for(&toolbox, &Call { tool: index, arguments: call.arguments.clone() })
    }

    /// Whether two lists hold the same calls, whatever the form of their numbers.
    #[must_use]
    pub fn are_same(one: &[ToolCall], other: &[ToolCall]) -> bool {
        let same = |(one, other): (&ToolCall, &ToolCall)| {
            let has = |(name, value)| other.arguments.get(name).is_some_and(|it| schema::is_same(it, value));
            one.tool == other.tool && one.arguments.len() == other.arguments.len() && one.arguments.iter().all(has)
        };
        one.len() == other.len() && one.iter().zip(other).all(same)
    }

    fn toolbox(&self) -> Toolbox<'_> {
        Toolbox::new(self.definitions.iter().map(|(_, definition)| definition))
    }
}

#[cfg(test)]
mod tests {
    use cortex_protocol::{EffectSource, ToolPhase, ToolSpec};
    use serde_json::{Map, Value, json};

    use super::*;

    fn reader() -> CommandReader {
        let go_to = ToolSpec::new("base.go_to".into(), "Drives to a place.".to_owned())
            .with_parameters(json!({
                "type": "object", "required": ["place"], "properties": {"place": {"enum": ["kitchen", "living_room"]}},
            }))
            .with_phase(ToolPhase::Execution)
            .with_effect_source(EffectSource::Declared)
            .with_phrases(vec!["go to {place}".to_owned()]);
        CommandReader::new(&ToolSet::new([go_to]).0)
    }

    fn go_to(place: &str) -> ToolCall {
        let arguments: Map<String, Value> = Map::from_iter([("place".to_owned(), place.into())]);
        ToolCall { tool: "base.go_to".into(), arguments }
    }

    #[test]
    fn a_call_has_a_sentence_that_is_read_as_that_call() {
        let reader = reader();
        let sentence = reader.sentence(&go_to("living_room")).expect("one");
        assert_eq!(sentence, "go to living room");
        assert_eq!(
            reader.procedure(&[sentence, "go to the kitchen.".to_owned()]),
            Some(vec![go_to("living_room"), go_to("kitchen")])
        );
        assert_eq!(reader.sentence(&go_to("moon")), None);
        assert_eq!(reader.task("check on the kitchen"), None);
        assert!(reader.understands("go to the kitchen") && !reader.understands("check on the kitchen"));
        assert!(CommandReader::are_same(&[go_to("kitchen")], &[go_to("kitchen")]));
        assert!(!CommandReader::are_same(&[go_to("kitchen")], &[go_to("living_room")]));
    }
}
