//! What a confirmation makes of a step's arguments. A confirmation decides whether a step runs, and fills in what was not
//! known when it was planned; it is no place to plan anew.

use std::collections::BTreeSet;

use cortex_protocol::mission::ArgumentChange;
use cortex_protocol::{Effect, Step, ToolSpec};
use serde_json::{Map, Value};
use thiserror::Error;

use super::repetition::Repeats;
use super::{ConfirmationArguments, Mission};
use crate::confirmation::Unusable;
use crate::fragment::{capped, quoted};
use crate::output_refs::{self, Form};
use crate::toolset::ArgumentsError;

/// How deep arguments are compared; what lies deeper is compared as a whole.
const DEPTH_LIMIT: usize = 32;
/// Changes that are told of one step.
const CHANGES_TOLD: usize = 16;
/// Most characters of a value in words for the model.
const SHOWN: usize = 100;

/// Why a step does not run as the model confirmed it. In words for the model.
#[derive(Debug, PartialEq, Error)]
pub(super) enum StepProblem {
    #[error(
        "it gives '{}' {} instead of {}, which was planned. A confirmation can only fill in placeholders: EXECUTE \
         runs the step as planned, ABORT lets you plan anew",
        capped(&.0.argument, SHOWN),
        shown(.0.to.as_ref()),
        shown(.0.from.as_ref())
    )]
    Changed(ArgumentChange),
    #[error(transparent)]
    Placeholder(#[from] NoPlaceholder),
    #[error(
        "its arguments hold {written}, and nothing fills in that: call the step's tool with all arguments, with the \
         words or values themselves in its place, or ABORT"
    )]
    Unfilled { written: String },
    #[error("there is no value for {}", .placeholders.join(", "))]
    NoValue { placeholders: Vec<String> },
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    #[error("it {0}")]
    Repeats(Repeats),
    #[error("CONTINUE waits for what is in flight, but nothing is in flight")]
    NothingInFlight,
}

impl From<StepProblem> for Unusable {
    fn from(problem: StepProblem) -> Self {
        problem.to_string().into()
    }
}

/// Something that was meant as a reference to a step and is none.
#[derive(Debug, PartialEq, Error)]
#[error(
    "{} is no placeholder: write <output of step N> or <output of step N.field>, with the number of a step of the plan",
    quoted(.written, SHOWN)
)]
pub(super) struct NoPlaceholder {
    pub(super) written: String,
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| capped(&value.to_string(), SHOWN))
}

/// An argument that differs.
struct Difference {
    change: ArgumentChange,
    /// Whether the plan had left it open.
    is_filled: bool,
}

/// How the arguments of a confirmation differ from the planned ones, if it may give them.
///
/// # Errors
/// Which argument it may not change.
pub(super) fn changes(
    spec: &ToolSpec,
    planned: &Map<String, Value>,
    given: &Map<String, Value>,
    policy: ConfirmationArguments,
) -> Result<Vec<ArgumentChange>, StepProblem> {
    let mut found = Vec::new();
    compare_objects("", planned, given, Some(&spec.parameters), 0, &mut found);
    let may_be_any = policy == ConfirmationArguments::Any || spec.effect == Effect::Observe;
    if let Some(Difference { change, .. }) = found.iter().find(|difference| !may_be_any && !difference.is_filled) {
        return Err(StepProblem::Changed(change.clone()));
    }
    Ok(found.into_iter().take(CHANGES_TOLD).map(|difference| difference.change).collect())
}

fn compare_objects(
    place: &str,
    planned: &Map<String, Value>,
    given: &Map<String, Value>,
    schema: Option<&Value>,
    depth: usize,
    found: &mut Vec<Difference>,
) {
    let names: BTreeSet<&String> = planned.keys().chain(given.keys()).collect();
    for name in names {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let schema = schema.and_then(|schema| schema.get("properties")?.get(name));
        compare(place, planned.get(name), given.get(name), schema, depth, found);
    }
}

fn compare(
    place: String,
    planned: Option<&Value>,
    given: Option<&Value>,
    schema: Option<&Value>,
    depth: usize,
    found: &mut Vec<Difference>,
) {
    let default = schema.and_then(|schema| schema.get("default"));
    // What was left out is its default.
    let (from, to) = (planned.or(default), given.or(default));
    match (from, to) {
        (None, None) => {}
        (Some(from), Some(to)) if is_same(from, to) => {}
        (Some(Value::Object(from)), Some(Value::Object(to))) if depth < DEPTH_LIMIT => {
            compare_objects(&place, from, to, schema, depth + 1, found);
        }
        (Some(Value::Array(from)), Some(Value::Array(to))) if depth < DEPTH_LIMIT && from.len() == to.len() => {
            let schema = schema.and_then(|schema| schema.get("items"));
            for (index, (from, to)) in from.iter().zip(to).enumerate() {
                compare(format!("{place}.{index}"), Some(from), Some(to), schema, depth + 1, found);
            }
        }
        (from, to) => {
            let is_filled = from.is_some_and(is_open) && to.is_some();
            let change = ArgumentChange { argument: place, from: from.cloned(), to: to.cloned() };
            found.push(Difference { change, is_filled });
        }
    }
}

/// Whether two values mean the same: 1 and 1.0 do.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|number| other.as_f64() == Some(number))
}

/// Whether the plan leaves any argument open, however deep.
pub(super) fn leaves_open(arguments: &Map<String, Value>) -> bool {
    let mut values: Vec<&Value> = arguments.values().collect();
    while let Some(value) = values.pop() {
        match value {
            Value::Object(fields) => values.extend(fields.values()),
            Value::Array(items) => values.extend(items),
            text if is_open(text) => return true,
            _ => {}
        }
    }
    false
}

impl Mission {
    /// Whether nothing in the arguments would reach the tool as the placeholder that it is.
    pub(super) fn check_placeholders(&self, step: &Step, arguments: &Map<String, Value>) -> Result<(), StepProblem> {
        let Some(spec) = self.setup.tools.get(&step.call.tool) else { return Ok(()) };
        let planned = &step.call.arguments;
        let bound = output_refs::bind(planned, &self.outputs_for(planned), Form::Value).unwrap_or_default();
        // What the step was shown with holds what steps returned, which stands for nothing else; there the plan counts.
        let own = |(name, value): (&String, &Value)| {
            let value = if bound.get(name) == Some(value) { planned.get(name).unwrap_or(value) } else { value };
            (name.clone(), value.clone())
        };
        let arguments: Map<String, Value> = arguments.iter().map(own).collect();
        if let Some(written) = output_refs::malformed(&arguments) {
            return Err(NoPlaceholder { written: written.to_owned() }.into());
        }
        unfilled(spec, &arguments).map_or(Ok(()), |written| Err(StepProblem::Unfilled { written }))
    }
}

/// What encloses a placeholder in the forms that models use.
const BRACKETS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('{', '}')];

/// Whether the plan leaves anything of the value open. What lies too deep counts as open.
pub(super) fn is_open_anywhere(value: &Value) -> bool {
    fn search(value: &Value, depth: usize) -> bool {
        match value {
            _ if depth > DEPTH_LIMIT => true,
            Value::Array(items) => items.iter().any(|item| search(item, depth + 1)),
            Value::Object(fields) => fields.values().any(|field| search(field, depth + 1)),
            value => is_open(value),
        }
    }
    search(value, 0)
}

/// Whether the plan leaves the value open: a text with a placeholder, `<output of step 1>` or one in the model's own
/// words, `<what I see>`, `[description]`.
fn is_open(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    unfilled_in_text(text, false).is_some()
        || BRACKETS.into_iter().any(|(opening, closing)| {
            text.split(opening).skip(1).any(|part| {
                part.split_once(closing)
                    .is_some_and(|(inner, _)| inner.starts_with(|first: char| first.is_alphabetic()))
            })
        })
}

/// The first placeholder that a call with these arguments would give to the tool as it is written, if it has one:
/// `<what I saw>`, `{{name}}`, `${name}`, `{name}`. Those for what a step returned are filled in and are none of them.
///
/// Text in angle brackets is none where it begins with no letter, is an address, is a value that the schema lists, or is
/// markup in an argument for markup.
pub(super) fn unfilled(spec: &ToolSpec, arguments: &Map<String, Value>) -> Option<String> {
    arguments.iter().find_map(|(name, value)| {
        let schema = spec.parameters.get("properties").and_then(|properties| properties.get(name));
        let asked =
            Asked { schema, takes_markup: takes_markup(&spec.description) || schema.is_some_and(describes_markup) };
        unfilled_in(value, &asked, 0)
    })
}

/// What the schema asks for in one argument.
struct Asked<'a> {
    schema: Option<&'a Value>,
    takes_markup: bool,
}

fn unfilled_in(value: &Value, asked: &Asked<'_>, depth: usize) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        _ if depth > DEPTH_LIMIT => Some(format!("what lies deeper than {DEPTH_LIMIT} levels")),
        Value::String(text) => {
            let is_listed = asked.schema.is_some_and(|schema| lists(schema, value, 0));
            if is_listed { None } else { unfilled_in_text(&output_refs::without_references(text), asked.takes_markup) }
        }
        Value::Array(items) => items.iter().find_map(|item| unfilled_in(item, asked, depth + 1)),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            unfilled_in_text(name, asked.takes_markup).or_else(|| unfilled_in(field, asked, depth + 1))
        }),
    }
}

fn unfilled_in_text(text: &str, takes_markup: bool) -> Option<String> {
    let angled = output_refs::spans(text, &['<', '＜'], &['>', '＞']).into_iter().find(|(_, written)| {
        let inner = written.get(written.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        let inner = inner.trim_end_matches(['>', '＞']);
        inner.starts_with(begins_name) && !is_address(inner) && !(takes_markup && is_tag(inner))
    });
    let braced = output_refs::spans(text, &['{'], &['}']).into_iter().find(|(start, written)| {
        let inner = written.trim_start_matches('{').trim_end_matches('}');
        let is_template = text.get(..*start).unwrap_or_default().ends_with(['$', '{']);
        let is_name = |next: char| next.is_alphanumeric() || " _.-'".contains(next);
        if is_template {
            inner.trim_start().starts_with(begins_name)
        } else {
            inner.starts_with(begins_name) && inner.chars().all(is_name)
        }
    });
    angled.or(braced).map(|(_, written)| capped(written, SHOWN))
}

fn begins_name(next: char) -> bool {
    next.is_alphabetic() || next == '_'
}

/// An e-mail address or a URL, as it stands in angle brackets in a message.
fn is_address(inner: &str) -> bool {
    !inner.contains(char::is_whitespace) && (inner.contains('@') || inner.contains("://"))
}

/// The inside of a tag: a name, and attributes with their values. `what I see` has words that are none.
fn is_tag(inner: &str) -> bool {
    let mut parts = inner.trim_end_matches('/').splitn(2, char::is_whitespace);
    let is_name =
        parts.next().is_some_and(|name| name.chars().all(|next| next.is_ascii_alphanumeric() || ":_-.".contains(next)));
    is_name && parts.next().is_none_or(|attributes| attributes.trim().is_empty() || attributes.contains('='))
}

/// Whether a description asks for markup.
fn takes_markup(description: &str) -> bool {
    let mut words = description.split(|next: char| !next.is_alphanumeric());
    words.any(|word| MARKUP.iter().any(|kind| word.eq_ignore_ascii_case(kind)))
}

/// What a description calls text in which angle brackets are markup.
const MARKUP: [&str; 7] = ["html", "xml", "xhtml", "ssml", "svg", "urdf", "markup"];

fn describes_markup(schema: &Value) -> bool {
    let texts = ["description", "title", "contentMediaType"].into_iter();
    texts.filter_map(|key| schema.get(key)?.as_str()).any(takes_markup)
}

/// Whether the schema lists this very value.
fn lists(schema: &Value, value: &Value, depth: usize) -> bool {
    let within = |inner: &Value| depth < DEPTH_LIMIT && lists(inner, value, depth + 1);
    match schema {
        Value::Object(fields) => {
            fields.get("const") == Some(value)
                || fields.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(value))
                || fields.values().any(within)
        }
        Value::Array(items) => items.iter().any(within),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mission::tests::tool;
    use cortex_protocol::ToolPhase;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn changed(
        effect: Effect,
        policy: ConfirmationArguments,
        planned: Value,
        given: Value,
    ) -> Result<String, StepProblem> {
        let mut spec = tool("base.go", ToolPhase::Execution, effect);
        spec.parameters = json!({"type": "object", "properties": {"speed": {"type": "number", "default": 0.5}}});
        let changes = changes(&spec, &object(planned), &object(given), policy)?;
        let told = changes.into_iter().map(|change| change.argument).collect::<Vec<_>>();
        Ok(told.join(" "))
    }

    fn as_planned(planned: Value, given: Value) -> Result<String, StepProblem> {
        changed(Effect::Move, ConfirmationArguments::AsPlanned, planned, given)
    }

    #[test]
    fn what_was_planned_may_not_be_changed_where_it_acts() {
        for given in [
            json!({"place": "bedroom"}),
            json!({"place": "<output of step 1>"}),
            json!({}),
            json!({"place": null}),
            json!({"place": "kitchen", "speed": 9}),
            json!({"place": ["kitchen"]}),
        ] {
            let refused = as_planned(json!({"place": "kitchen"}), given.clone());
            assert!(refused.is_err(), "{given}: {refused:?}");
        }
        let told = as_planned(json!({"place": "kitchen"}), json!({"place": "bedroom"})).unwrap_err().to_string();
        assert!(told.starts_with("it gives 'place' \"bedroom\" instead of \"kitchen\", which was planned."), "{told}");
        let deep = as_planned(json!({"pose": {"x": [1, 2]}}), json!({"pose": {"x": [1, 3]}})).unwrap_err().to_string();
        assert!(deep.contains("'pose.x.1' 3 instead of 2"), "{deep}");
    }

    #[test]
    fn the_same_in_other_writing_is_no_change() {
        for (planned, given) in [
            (json!({"x": 1}), json!({"x": 1.0})),
            (json!({}), json!({"speed": 0.5})),
            (json!({"speed": 0.5}), json!({})),
            (json!({"pose": {"x": 1}}), json!({"pose": {"x": 1}})),
        ] {
            assert_eq!(as_planned(planned.clone(), given), Ok(String::new()), "{planned}");
        }
    }

    #[test]
    fn what_the_plan_left_open_may_be_filled_in_and_nothing_else() {
        for open in ["<output of step 1>", "I see <output of step 1.text>.", "<what I see>", "There is {thing}."] {
            let planned = json!({"text": open, "loud": true});
            assert_eq!(as_planned(planned.clone(), json!({"text": "a cup", "loud": true})), Ok("text".to_owned()));
            assert!(as_planned(planned.clone(), json!({"text": "a cup", "loud": false})).is_err(), "{open}");
            assert!(as_planned(planned, json!({"loud": true})).is_err(), "{open} was left out");
        }
        for closed in ["1 < 2 > 0", "a <", "<>", "x > y", "[1, 2]", "(what I see)"] {
            assert!(as_planned(json!({"text": closed}), json!({"text": "other"})).is_err(), "{closed}");
        }
    }

    #[test]
    fn what_only_looks_and_what_the_configuration_allows_may_be_changed_and_is_told() {
        let (planned, given) = (json!({"place": "kitchen"}), json!({"place": "bedroom"}));
        for (effect, policy) in
            [(Effect::Observe, ConfirmationArguments::AsPlanned), (Effect::Move, ConfirmationArguments::Any)]
        {
            assert_eq!(changed(effect, policy, planned.clone(), given.clone()), Ok("place".to_owned()));
        }
    }

    #[test]
    fn arguments_that_are_very_deep_or_many_are_compared_all_the_same() {
        let deep = |end: i32| (0..500).fold(json!(end), |inner, _| json!([inner]));
        assert!(as_planned(json!({"x": deep(1)}), json!({"x": deep(2)})).is_err());
        let many = |value: i32| Value::Object((0..1000).map(|n| (format!("a{n}"), json!(value))).collect());
        let told = changed(Effect::Move, ConfirmationArguments::Any, many(1), many(2)).unwrap();
        assert_eq!(told.split(' ').count(), CHANGES_TOLD);
    }
}
