//! What a component says of itself over `~/describe` (`cortex_msgs/srv/DescribeComponent`).
//!
//! The text is hostile until checked: [`ComponentDescription::parse`] takes what can be used and names what can't, so
//! that one bad method does not hide the good ones.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::condition::{self, ConditionError};
use crate::strict_json;
use crate::{
    CancelMode, ComponentName, Condition, Conditions, Dispatch, Effect, EffectSource, Evidence, ResourceName, ToolName,
    ToolPhase, ToolSpec,
};

/// The version of the component contract that this crate speaks.
pub const CONTRACT_VERSION: u32 = 1;

/// Longest description text that is read, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 1 << 20;

/// Most methods that one component may offer.
pub const MAX_METHODS: usize = 256;

/// How long a method may take when its description does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Characters of a wrong name that are shown.
const SHOWN_CHARACTERS: usize = 100;

/// Longest time that a method may claim.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// A component: what it is and what it can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentDescription {
    /// The version of the contract; [`CONTRACT_VERSION`].
    pub contract: u32,
    /// What the component is, in a sentence or two for a model.
    #[serde(default)]
    pub summary: String,
    /// What it can do.
    #[serde(default)]
    pub methods: Vec<MethodDescription>,
}

/// One method of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodDescription {
    /// `[a-zA-Z_][a-zA-Z0-9_]*`, unique in the component.
    pub name: String,
    /// What it does and when to use it, written for a model.
    pub description: String,
    /// JSON Schema of the arguments, an object schema. Left out: no arguments.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
    /// When it may be called.
    #[serde(default)]
    pub phase: ToolPhase,
    /// What it does to the world. Left out: nobody has declared it. Then it is taken to move, and policy asks people first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What it holds while it runs. Left out: the component itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<ResourceName>>,
    /// How long a call may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// The method of the same component, without arguments, that halts this one; it must answer when the thing is at
    /// rest. Left out: the method can't be halted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_method: Option<String>,
    /// True where what the method begins may go on without the component's process: a motor controller that drives on
    /// by itself, for example. Then the end of the process does not show that it is at rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outlives_process: bool,
    /// True for a recovery that the component offers for its own failures.
    #[serde(default)]
    pub fallback: bool,
    /// Sentences that people use for it, with `{parameter}` in place of values: `go to {place}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phrases: Vec<String>,
    /// The topic on which it tells how far it is while it runs: `~/progress` is below the component. Left out: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Preconditions: a call is not sent unless they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Condition>,
    /// Invariants: a call is halted at once when one does not hold, or is not known to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<Condition>,
    /// Evidence: a call has failed, whatever it says, unless all of it is seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Evidence>,
}

fn no_parameters() -> Value {
    serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// Larger than [`MAX_DESCRIPTION_BYTES`].
    #[error("the description has {bytes} bytes; at most {MAX_DESCRIPTION_BYTES} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Not JSON of the described form.
    #[error("the description is not JSON of the contract's form: {problem}")]
    Malformed {
        /// What the parser says.
        problem: String,
    },
    /// A contract that this version does not speak.
    #[error("the description follows contract {found}; this Cortex speaks {CONTRACT_VERSION}")]
    UnknownContract {
        /// The version found.
        found: u32,
    },
    /// More than [`MAX_METHODS`] methods.
    #[error("{found} methods are described; at most {MAX_METHODS} are taken, the rest is left out")]
    TooManyMethods {
        /// How many.
        found: usize,
    },
    /// A method that can't be offered.
    #[error("method '{method}' is left out: {problem}")]
    BadMethod {
        /// Which.
        method: String,
        /// Why.
        problem: MethodProblem,
    },
}

/// Why a method can't be offered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MethodProblem {
    /// It does not have the form of the contract.
    #[error("{problem}")]
    Malformed {
        /// What the parser says.
        problem: String,
    },
    /// Its name can't be that of a method.
    #[error("its name must be 1 to 64 letters, digits and underscores, and not start with a digit")]
    Name,
    /// Its name is taken.
    #[error("another method has the same name")]
    Duplicate,
    /// It does not say what it does.
    #[error("it has no description, so a model can't know when to use it")]
    NoDescription,
    /// Its parameters are no object.
    #[error("its parameters are not a JSON Schema with \"type\": \"object\"")]
    Parameters,
    /// It would act while the model plans.
    #[error("a method of the planning phase must have the effect 'observe', since planning runs it at once")]
    ActsInPlanning,
    /// Its time-out is no time.
    #[error("its timeout_s must be a number of seconds above 0")]
    Timeout,
    /// What shall tell how far it is can't be a topic.
    #[error("its progress '{topic}' is not the name of a topic, such as \"~/progress\"")]
    Progress {
        /// What is named.
        topic: String,
    },
    /// One of its conditions can't be used.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// What shall bring it to rest is not there.
    #[error("its cancel_method '{cancel}' is not one of the methods")]
    CancelMethod {
        /// The method that is named.
        cancel: String,
    },
}

impl ComponentDescription {
    /// Reads a description and keeps the methods that can be offered.
    ///
    /// The second value names what was left out, in the order found.
    ///
    /// # Errors
    /// When nothing of the description can be used: too large, malformed, or of another contract.
    pub fn parse(text: &str) -> Result<(Self, Vec<DescriptionError>), DescriptionError> {
        if text.len() > MAX_DESCRIPTION_BYTES {
            return Err(DescriptionError::TooLarge { bytes: text.len() });
        }
        let malformed = |problem: serde_json::Error| DescriptionError::Malformed { problem: problem.to_string() };
        let raw: RawDescription = strict_json::read(text).map_err(malformed)?;
        if raw.contract != CONTRACT_VERSION {
            return Err(DescriptionError::UnknownContract { found: raw.contract });
        }
        let mut problems = Vec::new();
        if raw.methods.len() > MAX_METHODS {
            problems.push(DescriptionError::TooManyMethods { found: raw.methods.len() });
        }
        let names: BTreeSet<String> =
            raw.methods.iter().filter_map(|method| method.get("name")?.as_str().map(str::to_owned)).collect();
        let mut seen = BTreeSet::new();
        let mut methods = Vec::new();
        for (index, value) in raw.methods.into_iter().take(MAX_METHODS).enumerate() {
            let label =
                value.get("name").and_then(Value::as_str).map_or_else(|| format!("#{}", index + 1), str::to_owned);
            match check_method(value, &names, &mut seen) {
                Ok(method) => methods.push(method),
                Err(problem) => problems.push(DescriptionError::BadMethod { method: label, problem }),
            }
        }
        Ok((Self { contract: raw.contract, summary: raw.summary, methods }, problems))
    }

    /// The method of this name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&MethodDescription> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Whether the method of this name, without arguments, brings something to rest: another one names it as its
    /// `cancel_method`.
    #[must_use]
    pub fn brings_to_rest(&self, name: &str) -> bool {
        self.methods.iter().any(|method| method.name != name && method.cancel_method.as_deref() == Some(name))
    }

    /// The tools that the component offers, under its name, in the order described.
    #[must_use]
    pub fn tools(&self, component: &ComponentName) -> Vec<ToolSpec> {
        self.methods.iter().map(|method| method.tool(component)).collect()
    }
}

impl MethodDescription {
    /// What a call is taken to do to the world: in doubt, it moves.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect.unwrap_or_default()
    }

    /// The method as a tool of `component`.
    #[must_use]
    pub fn tool(&self, component: &ComponentName) -> ToolSpec {
        let effect = self.effect();
        let resources = match &self.resources {
            Some(resources) => resources.clone(),
            None if effect == Effect::Observe => Vec::new(),
            None => vec![ResourceName::new(component.as_str())],
        };
        ToolSpec {
            name: ToolName::of_method(component, &self.name),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
            phase: self.phase,
            effect,
            effect_source: if self.effect.is_some() { EffectSource::Declared } else { EffectSource::Assumed },
            resources,
            timeout: self
                .timeout_s
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .map_or(DEFAULT_TIMEOUT, |timeout| timeout.min(MAX_TIMEOUT)),
            dispatch: Dispatch::Wait,
            cancel: if effect == Effect::Observe { CancelMode::Drop } else { CancelMode::Halt },
            component: Some(component.clone()),
            phrases: self.phrases.clone(),
            conditions: self.conditions().with_sources(&|source| source.resolved_for(component)),
            serves: None,
            outlives_process: self.outlives_process,
        }
    }

    /// The full name of the topic on which it tells how far it is, if it does.
    #[must_use]
    pub fn progress_topic(&self, component: &ComponentName) -> Option<String> {
        self.progress.as_deref().map(|topic| condition::resolved(topic, component))
    }

    /// What must hold before, while and after it is called, with names as the component writes them.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        Conditions { before: self.before.clone(), during: self.during.clone(), after: self.after.clone() }
    }
}

/// The outer form, with the methods unread so that a bad one does not spoil the rest.
#[derive(Deserialize)]
struct RawDescription {
    contract: u32,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    methods: Vec<Value>,
}

fn check_method(
    value: Value,
    names: &BTreeSet<String>,
    seen: &mut BTreeSet<String>,
) -> Result<MethodDescription, MethodProblem> {
    let method: MethodDescription =
        serde_json::from_value(value).map_err(|problem| MethodProblem::Malformed { problem: problem.to_string() })?;
    let mut characters = method.name.chars();
    let starts_well = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if !starts_well || !characters.all(|next| next.is_ascii_alphanumeric() || next == '_') || method.name.len() > 64 {
        return Err(MethodProblem::Name);
    }
    if !seen.insert(method.name.clone()) {
        return Err(MethodProblem::Duplicate);
    }
    if method.description.trim().is_empty() {
        return Err(MethodProblem::NoDescription);
    }
    if method.parameters.get("type").and_then(Value::as_str) != Some("object") {
        return Err(MethodProblem::Parameters);
    }
    if method.phase != ToolPhase::Execution && method.effect() != Effect::Observe {
        return Err(MethodProblem::ActsInPlanning);
    }
    if let Some(seconds) = method.timeout_s
        && !(seconds.is_finite() && seconds > 0.0)
    {
        return Err(MethodProblem::Timeout);
    }
    if let Some(topic) = &method.progress
        && !condition::is_topic(topic)
    {
        return Err(MethodProblem::Progress { topic: topic.chars().take(SHOWN_CHARACTERS).collect() });
    }
    method.conditions().check(&method.parameters)?;
    if let Some(cancel) = &method.cancel_method
        && !names.contains(cancel)
    {
        return Err(MethodProblem::CancelMethod { cancel: cancel.clone() });
    }
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(methods: Value) -> (ComponentDescription, Vec<String>) {
        let text = json!({"contract": 1, "summary": "a base", "methods": methods}).to_string();
        let (description, problems) = ComponentDescription::parse(&text).unwrap();
        (description, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn one_bad_method_does_not_hide_the_good_ones() {
        let (description, problems) = parse(json!([
            {"name": "go_to", "description": "Drives.", "parameters": {"type": "object"}},
            {"name": "go_to", "description": "Drives again.", "parameters": {"type": "object"}},
            {"name": "turn", "description": "Turns.", "parameters": {"type": "array"}},
            {"name": "2fast", "description": "Too fast."},
            {"name": "mute", "description": " "},
            {"name": "peek", "description": "Moves while planning.", "phase": "planning", "effect": "move"},
            {"name": "reach", "description": "Reaches.", "cancel_method": "let_go"},
            {"name": "wait", "description": "Waits.", "timeout_s": -1.0},
            {"name": "dock", "description": "Docks.", "after": [{"topic": "~/docked", "equals": true}]},
            {"name": "roll", "description": "Rolls.", "progress": "no topic"},
            {"name": "push", "description": "Pushes.", "during": [{"topic": "/force", "less": "{limit}"}]},
            17,
        ]));
        assert_eq!(description.methods.iter().map(|method| method.name.as_str()).collect::<Vec<_>>(), ["go_to"]);
        assert_eq!(problems.len(), 11, "{problems:#?}");
        assert!(problems[0].contains("another method has the same name"), "{problems:#?}");
        assert!(problems[7].contains("unknown field `equals`"), "{problems:#?}");
        assert!(problems[8].contains("its progress 'no topic' is not the name of a topic"), "{problems:#?}");
        assert!(problems[9].contains("the argument 'limit'"), "{problems:#?}");
        assert!(problems[10].contains("#12"), "{problems:#?}");
    }

    #[test]
    fn what_brings_something_to_rest_is_known_by_who_names_it_and_not_by_its_own_name() {
        let (description, problems) = parse(json!([
            {"name": "go_to", "description": "Drives.", "cancel_method": "freeze"},
            {"name": "freeze", "description": "Stands."},
            {"name": "halt", "description": "Is called so only."},
            {"name": "spin", "description": "Turns.", "cancel_method": "spin"},
        ]));
        assert_eq!(problems, Vec::<String>::new());
        let at_rest = ["go_to", "freeze", "halt", "spin", ""].map(|name| description.brings_to_rest(name));
        assert_eq!(at_rest, [false, true, false, false, false]);
    }

    #[test]
    fn the_topic_of_progress_is_below_the_component_or_named_in_full() {
        let (description, problems) = parse(json!([
            {"name": "go_to", "description": "Drives.", "progress": "~/go_to/progress"},
            {"name": "dock", "description": "Docks.", "progress": "/docking"},
            {"name": "halt", "description": "Stands."},
        ]));
        assert_eq!(problems, Vec::<String>::new());
        let topics: Vec<Option<String>> =
            description.methods.iter().map(|method| method.progress_topic(&"robot/base".into())).collect();
        assert_eq!(topics, [Some("/robot/base/go_to/progress".to_owned()), Some("/docking".to_owned()), None]);
    }

    #[test]
    fn in_doubt_a_method_moves_and_holds_its_component() {
        let (description, _) = parse(json!([{"name": "do_it", "description": "Does it."}]));
        let tool = description.tools(&"arm".into()).remove(0);
        assert_eq!(
            tool,
            ToolSpec {
                name: "arm.do_it".into(),
                description: "Does it.".into(),
                parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
                phase: ToolPhase::Execution,
                effect: Effect::Move,
                effect_source: EffectSource::Assumed,
                resources: vec!["arm".into()],
                timeout: DEFAULT_TIMEOUT,
                dispatch: Dispatch::Wait,
                cancel: CancelMode::Halt,
                component: Some("arm".into()),
                phrases: vec![],
                conditions: Conditions::default(),
                serves: None,
                outlives_process: false,
            }
        );
    }

    #[test]
    fn a_contract_that_leaves_the_effect_out_has_not_declared_it() {
        let (description, problems) = parse(json!([
            {"name": "lift", "description": "Lifts.", "cancel_method": "halt"},
            {"name": "carry", "description": "Carries.", "effect": "move", "cancel_method": "halt"},
            {"name": "halt", "description": "Stands.", "effect": "act"},
        ]));
        assert_eq!(problems, Vec::<String>::new());
        let sources: Vec<_> =
            description.tools(&"arm".into()).iter().map(|tool| (tool.effect, tool.effect_source)).collect();
        assert_eq!(
            sources,
            [
                (Effect::Move, EffectSource::Assumed),
                (Effect::Move, EffectSource::Declared),
                (Effect::Act, EffectSource::Declared),
            ],
            "how it is halted does not say what it does"
        );
        let written = serde_json::to_value(&description.methods[0]).unwrap();
        assert_eq!(written.get("effect"), None, "what was left out stays left out: {written}");
    }

    #[test]
    fn garbage_and_strange_contracts_are_refused_with_the_reason() {
        /// A reader that merges makes a look of what moves.
        const TWICE: &str =
            r#"{"contract":1,"methods":[{"name":"go","description":"","effect":"move","effect":"observe"}]}"#;
        for text in ["", "[]", "{\"contract\":\"one\"}", "\u{0}", "{\"contract\":1,\"methods\":7}", TWICE] {
            assert!(matches!(ComponentDescription::parse(text), Err(DescriptionError::Malformed { .. })), "{text}");
        }
        assert_eq!(
            ComponentDescription::parse("{\"contract\":9}"),
            Err(DescriptionError::UnknownContract { found: 9 })
        );
        assert!(matches!(
            ComponentDescription::parse(&" ".repeat(MAX_DESCRIPTION_BYTES + 1)),
            Err(DescriptionError::TooLarge { .. })
        ));
    }

    #[test]
    fn what_outlives_its_process_says_so_and_nothing_else_does() {
        let (description, problems) = parse(json!([
            {"name": "go_to", "description": "Drives.", "effect": "move", "outlives_process": true},
            {"name": "say", "description": "Speaks.", "effect": "act"},
            {"name": "spin", "description": "Spins.", "effect": "move", "outlives_process": "perhaps"},
        ]));
        assert_eq!(problems.len(), 1, "{problems:?}");
        let outlives: Vec<bool> = description.tools(&"base".into()).iter().map(|tool| tool.outlives_process).collect();
        assert_eq!(outlives, [true, false]);
        let text = serde_json::to_string(&description).unwrap();
        assert_eq!(text.matches("outlives_process").count(), 1, "{text}");
    }
}
