//! How a model arranges the steps of its plan: groups that run together or one after another, which steps matter most,
//! and which are done again on purpose. One built-in tool says it all, so that no tool's schema carries it.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::{Priority, StepAddress, StepNumber, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::chat::{ToolDefinition, ToolKind};
use crate::fragment::capped;

/// The built-in tool by which a model arranges the steps of the same reply.
pub const ARRANGE_TOOL: &str = "arrange_plan";

/// Most characters of a group's name.
const NAME_CHARACTERS: usize = 60;
/// Most characters of a reason, and of what is wrong.
const TEXT_CHARACTERS: usize = 300;

/// How the steps of a plan are arranged. Steps are numbered in the order of the calls, from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepGroups {
    /// In the model's order. A step is in one group at most.
    pub groups: Vec<GroupRequest>,
    /// Of the steps that are not [`Priority::Normal`].
    pub priorities: BTreeMap<StepNumber, Priority>,
    /// The steps that repeat what was done, with the reason.
    pub again: BTreeMap<StepNumber, String>,
    /// The steps that wait for others than the one before them.
    #[serde(default)]
    pub after: BTreeMap<StepNumber, Vec<StepNumber>>,
    /// The steps that do the work of steps of earlier plans.
    #[serde(default)]
    pub instead_of: BTreeMap<StepNumber, Vec<StepAddress>>,
}

/// A step as a model asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What is called.
    pub call: ToolCall,
    /// The steps that must have begun before; `None`: the one before it in the list.
    pub after: Option<Vec<StepNumber>>,
    /// The steps of earlier plans that it does the work of. Plan 0 is the one before.
    pub instead_of: Vec<StepAddress>,
}

/// A group as a model asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRequest {
    /// Unique in the arrangement.
    pub name: String,
    /// Each of them once, ascending.
    pub steps: BTreeSet<StepNumber>,
    /// How many of them may run at a time; at least 1.
    pub at_once: u32,
    /// The groups that must have ended before; `None`: what comes before it in the order of the calls.
    pub after: Option<Vec<String>>,
}

/// Why the steps can't be arranged so. In words for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArrangementError {
    /// It does not have the form that the tool's schema asks for.
    #[error("{problem}")]
    Malformed {
        /// In the words of the parser.
        problem: String,
    },
    /// A step has two priorities.
    #[error("step {step} has two priorities")]
    TwoPriorities {
        /// The step.
        step: StepNumber,
    },
    /// A step is done again without a reason.
    #[error("say why step {step} is done again")]
    NoReason {
        /// The step.
        step: StepNumber,
    },
    /// It says twice what a step waits for.
    #[error("'after' names step {step} twice")]
    NamedTwice {
        /// The step.
        step: StepNumber,
    },
    /// A group has no name, or one that is too long.
    #[error("a group's name has 1 to {NAME_CHARACTERS} characters")]
    GroupName,
    /// Two groups share a name.
    #[error("there are two groups '{group}'")]
    DuplicateGroup {
        /// Their name.
        group: String,
    },
    /// A group is empty.
    #[error("group '{group}' has no steps")]
    EmptyGroup {
        /// Its name.
        group: String,
    },
    /// A step is in two groups.
    #[error("step {step} is in two groups, '{first}' and '{second}'")]
    InTwoGroups {
        /// The step.
        step: StepNumber,
        /// The group that was read first.
        first: String,
        /// The other one.
        second: String,
    },
    /// No step of a group could ever run.
    #[error("at_once of group '{group}' must be at least 1")]
    NothingAtOnce {
        /// Its name.
        group: String,
    },
    /// A step that is not among the calls.
    #[error("'{field}' of {ARRANGE_TOOL}: there is no step {step}")]
    UnknownStep {
        /// Where it is named.
        field: &'static str,
        /// Its number.
        step: StepNumber,
    },
}

/// What a model writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    groups: Option<Vec<WrittenGroup>>,
    critical: Option<Vec<u32>>,
    high: Option<Vec<u32>>,
    low: Option<Vec<u32>>,
    again: Option<Vec<WrittenAgain>>,
    after: Option<Vec<WrittenAfter>>,
    instead_of: Option<Vec<WrittenInsteadOf>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGroup {
    name: String,
    steps: Vec<u32>,
    at_once: Option<u32>,
    after: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAgain {
    step: u32,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAfter {
    step: u32,
    steps: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenInsteadOf {
    step: u32,
    steps: Vec<StepAddress>,
}

impl StepGroups {
    /// Reads what a model wrote.
    ///
    /// # Errors
    /// What is wrong, for the model.
    pub fn read(arguments: &Map<String, Value>) -> Result<Self, ArrangementError> {
        let written: Written = serde_json::from_value(Value::Object(arguments.clone())).map_err(|problem| {
            ArrangementError::Malformed { problem: capped(&problem.to_string(), TEXT_CHARACTERS) }
        })?;
        let mut step_groups = Self::default();
        for group in written.groups.unwrap_or_default() {
            step_groups.add_group(group)?;
        }
        let priorities =
            [(Priority::Critical, written.critical), (Priority::High, written.high), (Priority::Low, written.low)];
        for (priority, steps) in priorities {
            for step in steps.unwrap_or_default() {
                let step = StepNumber(step);
                if step_groups.priorities.insert(step, priority).is_some_and(|other| other != priority) {
                    return Err(ArrangementError::TwoPriorities { step });
                }
            }
        }
        for WrittenAgain { step, reason } in written.again.unwrap_or_default() {
            let step = StepNumber(step);
            if reason.trim().is_empty() {
                return Err(ArrangementError::NoReason { step });
            }
            step_groups.again.insert(step, capped(reason.trim(), TEXT_CHARACTERS));
        }
        for WrittenAfter { step, steps } in written.after.unwrap_or_default() {
            let (step, steps) = (StepNumber(step), steps.into_iter().map(StepNumber).collect());
            if step_groups.after.insert(step, steps).is_some() {
                return Err(ArrangementError::NamedTwice { step });
            }
        }
        for WrittenInsteadOf { step, steps } in written.instead_of.unwrap_or_default() {
            step_groups.instead_of.entry(StepNumber(step)).or_default().extend(steps);
        }
        Ok(step_groups)
    }

    /// Moves into the steps what it says of their order and of the work that they take over.
    ///
    /// # Errors
    /// When it names a step that there is not.
    pub(crate) fn apply(&mut self, mut requests: Vec<Request>) -> Result<Vec<Request>, ArrangementError> {
        for (step, after) in std::mem::take(&mut self.after) {
            of(&mut requests, step, "after")?.after = Some(after);
        }
        for (step, earlier) in std::mem::take(&mut self.instead_of) {
            of(&mut requests, step, "instead_of")?.instead_of.extend(earlier);
        }
        Ok(requests)
    }

    fn add_group(&mut self, written: WrittenGroup) -> Result<(), ArrangementError> {
        let WrittenGroup { name, steps, at_once, after } = written;
        if name.trim().is_empty() || name.chars().count() > NAME_CHARACTERS {
            return Err(ArrangementError::GroupName);
        }
        if self.groups.iter().any(|group| group.name == name) {
            return Err(ArrangementError::DuplicateGroup { group: name });
        }
        let steps: BTreeSet<StepNumber> = steps.into_iter().map(StepNumber).collect();
        if steps.is_empty() {
            return Err(ArrangementError::EmptyGroup { group: name });
        }
        if let Some((step, other)) = self.groups.iter().find_map(|other| {
            let shared = other.steps.intersection(&steps).next()?;
            Some((shared, &other.name))
        }) {
            return Err(ArrangementError::InTwoGroups { step: *step, first: other.clone(), second: name });
        }
        let at_once = at_once.unwrap_or(1);
        if at_once == 0 {
            return Err(ArrangementError::NothingAtOnce { group: name });
        }
        self.groups.push(GroupRequest { name, steps, at_once, after });
        Ok(())
    }

    /// The steps that it names.
    pub(crate) fn steps(&self) -> impl Iterator<Item = StepNumber> {
        let grouped = self.groups.iter().flat_map(|group| &group.steps);
        grouped.chain(self.priorities.keys()).chain(self.again.keys()).copied()
    }

    /// The same for steps that have other numbers: `places` gives those that a step stands for now. A step without any
    /// is gone, and so is a group without any step.
    #[must_use]
    pub fn renumbered(&self, places: impl Fn(StepNumber) -> Vec<StepNumber>) -> Self {
        let groups = self.groups.iter().map(|group| GroupRequest {
            steps: group.steps.iter().flat_map(|step| places(*step)).collect(),
            ..group.clone()
        });
        let mut groups: Vec<GroupRequest> = groups.filter(|group| !group.steps.is_empty()).collect();
        let gone: BTreeSet<&str> = self
            .groups
            .iter()
            .map(|group| group.name.as_str())
            .filter(|name| groups.iter().all(|group| group.name != *name))
            .collect();
        for group in &mut groups {
            if let Some(after) = &mut group.after {
                after.retain(|name| !gone.contains(name.as_str()));
            }
        }
        fn moved<T: Clone>(
            of: &BTreeMap<StepNumber, T>,
            places: impl Fn(StepNumber) -> Vec<StepNumber>,
        ) -> BTreeMap<StepNumber, T> {
            of.iter().flat_map(|(step, value)| places(*step).into_iter().map(|place| (place, value.clone()))).collect()
        }
        // The rest is in the steps by now.
        let (after, instead_of) = (BTreeMap::new(), BTreeMap::new());
        Self {
            priorities: moved(&self.priorities, &places),
            again: moved(&self.again, &places),
            groups,
            after,
            instead_of,
        }
    }
}

fn of<'a>(
    requests: &'a mut [Request],
    step: StepNumber,
    field: &'static str,
) -> Result<&'a mut Request, ArrangementError> {
    let index = usize::try_from(step.0).ok().and_then(|number| number.checked_sub(1));
    let request = index.and_then(|index| requests.get_mut(index));
    request.ok_or(ArrangementError::UnknownStep { field, step })
}

/// The tool as a model sees it. The same in every request of a mission. A failed step that is critical ends a plan that
/// goes on without others, so the model is offered `critical` only there (`goes_on`).
pub(crate) fn definition(goes_on: bool) -> ToolDefinition {
    let described = |mut schema: Value, description: &str| {
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("description".to_owned(), json!(description));
        }
        schema
    };
    let steps = || json!({"type": "array", "items": {"type": "integer"}});
    let list = |item: Value| json!({"type": "array", "items": item});
    let group = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "steps": steps(),
            "at_once": described(json!({"type": "integer"}), AT_ONCE),
            "after": described(
                list(json!({"type": "string"})),
                "Names of groups that must end first. Default: everything called before it.",
            )
        },
        "required": ["name", "steps"]
    });
    let again = json!({
        "type": "object",
        "properties": {"step": {"type": "integer"}, "reason": {"type": "string"}},
        "required": ["step", "reason"]
    });
    let of_step = |item: Value| {
        json!({
            "type": "object",
            "properties": {"step": {"type": "integer"}, "steps": list(item)},
            "required": ["step", "steps"]
        })
    };
    let mut properties = json!({
        "groups": described(list(group), if goes_on { GROUPS_THAT_GO_ON } else { GROUPS }),
        "high": described(steps(), "Steps that begin first of those that are ready."),
        "low": described(steps(), "Steps that begin last of those that are ready."),
        "again": described(list(again), "Steps that repeat what has SUCCESS, each with the reason."),
        "after": described(
            list(of_step(json!({"type": "integer"}))),
            "Steps of this plan that 'step' waits for, instead of the one before it; [] for none.",
        ),
        "instead_of": described(list(of_step(json!({"type": "string"}))), INSTEAD_OF),
    });
    if let Some(properties) = properties.as_object_mut().filter(|_| goes_on) {
        let critical = "Steps that begin before all others; if one fails, the plan ends.";
        properties.insert("critical".to_owned(), described(steps(), critical));
    }
    ToolDefinition {
        name: ARRANGE_TOOL.to_owned(),
        description: "Optional, in the same reply as the steps of a plan. Steps are numbered as called, from 1."
            .to_owned(),
        parameters: json!({"type": "object", "properties": properties}),
        phase: cortex_protocol::ToolPhase::Planning,
        phrases: Vec::new(),
        kind: ToolKind::BuiltIn,
    }
}

const AT_ONCE: &str = "How many run at the same time. Default 1: one after another.";
const GROUPS: &str = "Steps of a group do not wait for each other.";
const GROUPS_THAT_GO_ON: &str = "\
Steps of a group do not wait for each other, and go on even if another of the group fails.";
const INSTEAD_OF: &str = "\
Open steps of earlier plans, as PLAN.STEP, that 'step' takes over, with the same tool and other arguments. After a \
correction: steps that it replaces or that are no longer wanted; the tool may differ.";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: Value) -> Result<StepGroups, ArrangementError> {
        let Value::Object(arguments) = written else { panic!("not an object") };
        StepGroups::read(&arguments)
    }

    #[test]
    fn groups_priorities_and_repetitions_are_read() {
        let read = read(json!({
            "groups": [{"name": "rooms", "steps": [2, 1], "at_once": 2}, {"name": "report", "steps": [3], "after": ["rooms"]}],
            "critical": [3],
            "low": [1],
            "again": [{"step": 2, "reason": "the door has closed again"}],
            "after": [{"step": 3, "steps": []}],
            "instead_of": [{"step": 1, "steps": ["1.2"]}],
        }));
        let steps = |numbers: &[u32]| numbers.iter().copied().map(StepNumber).collect();
        let expected = StepGroups {
            groups: vec![
                GroupRequest { name: "rooms".into(), steps: steps(&[1, 2]), at_once: 2, after: None },
                GroupRequest {
                    name: "report".into(),
                    steps: steps(&[3]),
                    at_once: 1,
                    after: Some(vec!["rooms".into()]),
                },
            ],
            priorities: BTreeMap::from([(StepNumber(1), Priority::Low), (StepNumber(3), Priority::Critical)]),
            again: BTreeMap::from([(StepNumber(2), "the door has closed again".into())]),
            after: BTreeMap::from([(StepNumber(3), Vec::new())]),
            instead_of: BTreeMap::from([(StepNumber(1), vec!["1.2".parse().unwrap()])]),
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        for (written, reason) in [
            (json!({"groups": [{"name": "", "steps": [1]}]}), "a group's name has"),
            (json!({"groups": [{"name": "a", "steps": []}]}), "group 'a' has no steps"),
            (json!({"groups": [{"name": "a", "steps": [1], "at_once": 0}]}), "at_once of group 'a'"),
            (json!({"groups": [{"name": "a", "steps": [1]}, {"name": "a", "steps": [2]}]}), "two groups 'a'"),
            (json!({"groups": [{"name": "a", "steps": [1]}, {"name": "b", "steps": [1]}]}), "step 1 is in two groups"),
            (json!({"high": [1], "low": [1]}), "step 1 has two priorities"),
            (json!({"again": [{"step": 1, "reason": " "}]}), "say why step 1"),
            (json!({"instead_of": [{"step": 1, "steps": ["the last"]}]}), "a step is named PLAN.STEP"),
            (json!({"after": [{"step": 1, "steps": [2]}, {"step": 1, "steps": []}]}), "'after' names step 1 twice"),
            (json!({"urgent": [1]}), "unknown field `urgent`"),
            (json!({"critical": [-1]}), "invalid value"),
        ] {
            let refused = read(written.clone()).expect_err(&written.to_string()).to_string();
            assert!(refused.contains(reason), "{written}: {refused}");
        }
    }

    #[test]
    fn steps_that_are_gone_take_their_groups_with_them() {
        let whole = read(json!({
            "groups": [{"name": "a", "steps": [3]}, {"name": "b", "steps": [1, 2], "after": ["a"]}],
            "high": [1, 3],
        }));
        let places = |step: StepNumber| if step.0 == 1 { vec![StepNumber(1), StepNumber(2)] } else { vec![] };
        let left = whole.map(|whole| whole.renumbered(places));
        let both = [StepNumber(1), StepNumber(2)];
        let expected = StepGroups {
            groups: vec![GroupRequest { name: "b".into(), steps: both.into(), at_once: 1, after: Some(vec![]) }],
            priorities: both.map(|step| (step, Priority::High)).into(),
            ..StepGroups::default()
        };
        assert_eq!(left, Ok(expected));
    }
}
