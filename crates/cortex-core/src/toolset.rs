//! The tools on offer at one moment: found by canonical name or by wire name, with their argument checks compiled
//! once. Immutable; when the robot changes, a new set replaces the old.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use cortex_protocol::{ToolFingerprint, ToolName, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::fragment::capped;
use crate::output_refs;
use crate::tool_definition::{ToolDefinition, ToolKind};

pub(crate) use crate::tool_definition::plain_wire_name;

/// Longest name that model providers accept.
const WIRE_NAME_LIMIT: usize = 64;
/// Most problems that are listed for one set of arguments.
const PROBLEMS_LISTED: usize = 5;
/// Most characters of one problem.
const PROBLEM_SHOWN: usize = 300;

/// The tools on offer, in the order of their canonical names.
///
/// Serialises as the list of its specifications.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<ToolSpec>", into = "Vec<ToolSpec>")]
pub struct ToolSet {
    tools: Arc<BTreeMap<ToolName, Tool>>,
    by_wire_name: Arc<BTreeMap<String, ToolName>>,
}

struct Tool {
    spec: ToolSpec,
    fingerprint: ToolFingerprint,
    wire_name: String,
    check: Check,
}

/// The compiled schema. Compiled when it is first needed: a validator takes a quarter of a megabyte, and most tools of
/// a robot are never called. Shared with later sets in which the schema is the same.
type Check = Arc<OnceLock<Result<jsonschema::Validator, SchemaError>>>;

/// Why a specification is not in the set.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ToolSetError {
    /// The parameters are not a valid JSON Schema.
    #[error("tool '{tool}' is left out: its parameters are not a valid JSON Schema: {problem}")]
    BadSchema {
        /// Which tool.
        tool: ToolName,
        /// What is wrong.
        problem: SchemaError,
    },
    /// Two tools of one name; the first stays.
    #[error("tool '{tool}' is offered twice; only the first is used")]
    Duplicate {
        /// Which tool.
        tool: ToolName,
    },
}

/// What is wrong with a JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is nested without end, or nearly so.
    #[error("it is more than {SCHEMA_DEPTH} levels deep")]
    TooDeep,
    /// It refers to something out of the document.
    #[error("it refers to '{target}', which is not in it")]
    OutsideReference {
        /// The reference, its beginning.
        target: String,
    },
    /// A part of it names itself, so that references would not be what they seem.
    #[error("it has a {key} within it")]
    NestedName {
        /// The key.
        key: String,
    },
    /// It is no schema of its draft.
    #[error("{problem}")]
    Invalid {
        /// In the words of the validator.
        problem: String,
    },
}

impl SchemaError {
    fn invalid(problem: &impl ToString) -> Self {
        Self::Invalid { problem: capped(&problem.to_string(), PROBLEM_SHOWN) }
    }
}

/// Why a tool is not called with these arguments. In words that are fit for a person and for a model that shall fix them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The tool is not in the set.
    #[error("there is no tool '{tool}' now")]
    NoTool {
        /// Which tool.
        tool: ToolName,
    },
    /// The schema can't be compiled.
    #[error("its arguments can't be checked: {0}")]
    Unchecked(SchemaError),
    /// They do not fit the schema.
    #[error("{}", .problems.join("; "))]
    Unfit {
        /// Each with the place that it is at.
        problems: Vec<String>,
    },
}

/// How one set of tools becomes another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolChanges {
    /// Tools that came, or that are not what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<ToolSpec>,
    /// Tools that left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<ToolName>,
}

impl ToolChanges {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }
}

impl ToolSet {
    /// What makes `next` of this set.
    #[must_use]
    pub fn changes_to(&self, next: &Self) -> ToolChanges {
        let is_new = |spec: &&ToolSpec| self.get(&spec.name) != Some(spec);
        let removed = self.tools.keys().filter(|name| next.get(name).is_none());
        ToolChanges { set: next.iter().filter(is_new).cloned().collect(), removed: removed.cloned().collect() }
    }

    /// This set after the changes.
    #[must_use]
    pub fn after(&self, changes: &ToolChanges) -> Self {
        let is_changed = |name: &ToolName| changes.set.iter().any(|spec| spec.name == *name);
        let stays = |spec: &&ToolSpec| !changes.removed.contains(&spec.name) && !is_changed(&spec.name);
        self.rebuilt(self.iter().filter(stays).chain(&changes.set).cloned()).0
    }

    /// A set of the given tools, and what had to be left out.
    #[must_use]
    pub fn new(specs: impl IntoIterator<Item = ToolSpec>) -> (Self, Vec<ToolSetError>) {
        Self::default().rebuilt(specs)
    }

    /// A set of the given tools that takes over the compiled checks and the fingerprints of those that did not change, so
    /// that one component's arrival does not cost those of all.
    #[must_use]
    pub fn rebuilt(&self, specs: impl IntoIterator<Item = ToolSpec>) -> (Self, Vec<ToolSetError>) {
        let mut problems = Vec::new();
        let mut checked: BTreeMap<ToolName, (ToolSpec, Check)> = BTreeMap::new();
        for spec in specs {
            if checked.contains_key(&spec.name) {
                problems.push(ToolSetError::Duplicate { tool: spec.name });
                continue;
            }
            let kept = self.tools.get(&spec.name).filter(|old| old.spec.parameters == spec.parameters);
            let check = match kept {
                Some(old) => Ok(Arc::clone(&old.check)),
                None => inspect(&spec.parameters).map(|()| Check::default()),
            };
            match check {
                Ok(check) => {
                    checked.insert(spec.name.clone(), (spec, check));
                }
                Err(problem) => problems.push(ToolSetError::BadSchema { tool: spec.name, problem }),
            }
        }
        let wire_names = wire_names(checked.keys());
        let by_wire_name = wire_names.iter().map(|(name, wire)| (wire.clone(), name.clone())).collect();
        let tools = checked
            .into_iter()
            .map(|(name, (spec, check))| {
                let wire_name = wire_names.get(&name).cloned().unwrap_or_default();
                let same = self.tools.get(&name).filter(|old| old.spec == spec);
                let fingerprint = same.map_or_else(|| spec.fingerprint(), |old| old.fingerprint);
                (name, Tool { spec, fingerprint, wire_name, check })
            })
            .collect();
        (Self { tools: Arc::new(tools), by_wire_name: Arc::new(by_wire_name) }, problems)
    }

    /// The tool of that canonical name.
    #[must_use]
    pub fn get(&self, name: &ToolName) -> Option<&ToolSpec> {
        self.tools.get(name).map(|tool| &tool.spec)
    }

    /// The tool that a model means: by its wire name, or by its canonical name written out.
    #[must_use]
    pub fn resolve(&self, written: &str) -> Option<&ToolSpec> {
        let name = self.by_wire_name.get(written).cloned().unwrap_or_else(|| ToolName::from(written));
        self.get(&name)
    }

    /// The name under which a model sees the tool: `[a-zA-Z0-9_-]{1,64}`, unique in this set.
    #[must_use]
    pub fn wire_name(&self, name: &ToolName) -> Option<&str> {
        self.tools.get(name).map(|tool| tool.wire_name.as_str())
    }

    /// The version of a tool: [`ToolSpec::fingerprint`], without the work.
    #[must_use]
    pub fn fingerprint(&self, name: &ToolName) -> Option<ToolFingerprint> {
        self.tools.get(name).map(|tool| tool.fingerprint)
    }

    /// All tools, in the order of their canonical names.
    pub fn iter(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.values().map(|tool| &tool.spec)
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool as a model sees it.
    #[must_use]
    pub fn definition(&self, name: &ToolName) -> Option<ToolDefinition> {
        self.tools.get(name).map(|tool| ToolDefinition {
            name: tool.wire_name.clone(),
            description: tool.spec.description.clone(),
            parameters: tool.spec.parameters.clone(),
            phase: tool.spec.phase,
            phrases: tool.spec.phrases.clone(),
            kind: ToolKind::of(&tool.spec),
        })
    }

    /// Checks arguments against the tool's schema and names every problem with its path.
    ///
    /// # Errors
    /// When there is no such tool, or the arguments do not fit.
    pub fn check(&self, name: &ToolName, arguments: &Map<String, Value>) -> Result<(), ArgumentsError> {
        self.check_where(name, arguments, |_| true)
    }

    /// As [`check`](Self::check), but passes over values that hold placeholders: they are known only later.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_unbound(&self, name: &ToolName, arguments: &Map<String, Value>) -> Result<(), ArgumentsError> {
        self.check_where(name, arguments, |place| !output_refs::is_placeholder_at(arguments, place))
    }

    fn check_where(
        &self,
        name: &ToolName,
        arguments: &Map<String, Value>,
        counts: impl Fn(&str) -> bool,
    ) -> Result<(), ArgumentsError> {
        let Some(tool) = self.tools.get(name) else {
            return Err(ArgumentsError::NoTool { tool: name.clone() });
        };
        let check = match tool.check.get_or_init(|| compile(&tool.spec.parameters)) {
            Ok(check) => check,
            Err(problem) => return Err(ArgumentsError::Unchecked(problem.clone())),
        };
        let value = Value::Object(arguments.clone());
        let mut problems: Vec<String> = Vec::new();
        for error in check.iter_errors(&value) {
            if !counts(error.instance_path().as_str()) {
                continue;
            }
            if problems.len() == PROBLEMS_LISTED {
                problems.push("and more".to_owned());
                break;
            }
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { String::new() } else { format!("{}: ", path.trim_start_matches('/')) };
            // A large value would hide what is wrong with it.
            let told = error.to_string();
            let told = if told.chars().count() > PROBLEM_SHOWN { error.masked().to_string() } else { told };
            problems.push(capped(&format!("{place}{told}"), PROBLEM_SHOWN));
        }
        if problems.is_empty() { Ok(()) } else { Err(ArgumentsError::Unfit { problems }) }
    }
}

impl PartialEq for ToolSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for ToolSet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.tools.keys()).finish()
    }
}

impl From<Vec<ToolSpec>> for ToolSet {
    fn from(specs: Vec<ToolSpec>) -> Self {
        // What is stored was checked before it was stored.
        Self::new(specs).0
    }
}

impl From<ToolSet> for Vec<ToolSpec> {
    fn from(set: ToolSet) -> Self {
        set.iter().cloned().collect()
    }
}

/// How deep a schema may be.
const SCHEMA_DEPTH: usize = 64;

/// Whether a schema is valid and can be compiled, without compiling it. References out of the document are refused: a
/// component must not make us read files or ask other machines.
fn inspect(schema: &Value) -> Result<(), SchemaError> {
    check_references(schema, schema, 0)?;
    jsonschema::draft202012::meta::validate(schema).map_err(|error| SchemaError::invalid(&error))
}

fn check_references(schema: &Value, part: &Value, depth: usize) -> Result<(), SchemaError> {
    if depth > SCHEMA_DEPTH {
        return Err(SchemaError::TooDeep);
    }
    match part {
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| match (key.as_str(), value.as_str()) {
            ("$ref" | "$dynamicRef", Some(target)) => match target.strip_prefix('#') {
                Some(pointer) if schema.pointer(pointer).is_some() => Ok(()),
                _ => Err(SchemaError::OutsideReference { target: capped(target, PROBLEM_SHOWN) }),
            },
            ("$id" | "$schema", Some(_)) if depth > 0 => Err(SchemaError::NestedName { key: key.clone() }),
            _ => check_references(schema, value, depth + 1),
        }),
        Value::Array(items) => items.iter().try_for_each(|item| check_references(schema, item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, SchemaError> {
    jsonschema::draft202012::options().build(schema).map_err(|error| SchemaError::invalid(&error))
}

/// Names that model providers accept, without loss: the same set of names always gives the same mapping, and two
/// names never share one.
fn wire_names<'a>(names: impl Iterator<Item = &'a ToolName> + Clone) -> BTreeMap<ToolName, String> {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.clone() {
        *owners.entry(plain_wire_name(name)).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut wire = BTreeMap::new();
    for name in names {
        let plain = plain_wire_name(name);
        let unique = plain.len() <= WIRE_NAME_LIMIT && owners.get(&plain) == Some(&1);
        let mut chosen = if unique { plain.clone() } else { suffixed(&plain, name, 0) };
        let mut attempt = 0;
        while taken.contains(&chosen) || (!unique && owners.contains_key(&chosen)) {
            attempt += 1;
            chosen = suffixed(&plain, name, attempt);
        }
        taken.insert(chosen.clone());
        wire.insert(name.clone(), chosen);
    }
    wire
}

/// The beginning of the plain name with a hash of the canonical one.
fn suffixed(plain: &str, name: &ToolName, attempt: u32) -> String {
    // FNV-1a: stable across builds and machines, unlike the hasher of the standard library.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.as_str().bytes().chain(attempt.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let beginning: String = plain.chars().take(WIRE_NAME_LIMIT - 9).collect();
    format!("{beginning}-{:08x}", hash & 0xffff_ffff)
}

#[cfg(test)]
mod tests;
