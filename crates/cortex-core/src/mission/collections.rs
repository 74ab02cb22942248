//! What `<each place>` stands for: values that are listed by a tool's own arguments, or lists that were found in this
//! mission. What was neither listed nor found can't be named.

use std::collections::BTreeMap;

use cortex_protocol::ToolName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Mission;
use crate::for_each::{self, ExpansionError, Wanted};
use crate::plan;
use crate::step_groups::StepGroups;

/// Most lists that are kept.
const LISTS: usize = 64;
/// Longest list that is kept; of a longer one nothing is done for each.
const VALUES: usize = 500;
/// Longest value, in characters.
const VALUE_CHARACTERS: usize = 200;
/// How deep results are searched for lists.
const DEPTH: usize = 6;

/// The lists that were found, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Collections {
    lists: BTreeMap<String, Vec<Value>>,
}

impl Collections {
    /// Takes over every list that a tool returned, under the name of its field, or of the tool's method where the result
    /// is the list itself. The latest of a name counts.
    pub(super) fn learn(&mut self, tool: &ToolName, value: &Value) {
        let method = tool.as_str().rsplit(['.', '/']).next().unwrap_or_default();
        self.search(method, value, 0);
    }

    fn search(&mut self, name: &str, value: &Value, depth: usize) {
        if depth > DEPTH {
            return;
        }
        match value {
            Value::Array(items) => {
                let values: Option<Vec<Value>> = items.iter().take(VALUES + 1).map(name_of).collect();
                let name = for_each::plain_name(name);
                match values {
                    Some(values)
                        if values.len() <= VALUES && (self.lists.len() < LISTS || self.lists.contains_key(&name)) =>
                    {
                        self.lists.insert(name, without_doubles(values));
                    }
                    _ => {}
                }
            }
            Value::Object(fields) => fields.iter().for_each(|(name, field)| self.search(name, field, depth + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The list of that name, or of that name in the plural.
    fn get(&self, name: &str) -> Option<&Vec<Value>> {
        let plurals =
            [name.to_owned(), format!("{name}s"), format!("{name}es"), format!("{}ies", name.trim_end_matches('y'))];
        plurals.iter().find_map(|name| self.lists.get(name))
    }
}

impl Mission {
    /// The steps that are wanted, with those that are wanted for each of several values written out.
    pub(super) fn written_out(
        &self,
        requests: Vec<plan::Request>,
        step_groups: &StepGroups,
    ) -> Result<Vec<Wanted>, ExpansionError> {
        let only_looks = |request: &plan::Request| {
            let spec = self.setup.tools.get(&request.call.tool);
            spec.is_some_and(|spec| spec.effect == cortex_protocol::Effect::Observe)
        };
        let wanted = for_each::expand(requests, step_groups, |name, block| self.values_of(name, block), only_looks)?;
        for Wanted { request, value, .. } in &wanted {
            let Some(value) = value else { continue };
            let checked = self.setup.tools.check_unbound(&request.call.tool, &request.call.arguments);
            checked.map_err(|problem| {
                let tool = request.call.tool.clone();
                ExpansionError::UnfitValue { tool, value: value.clone(), problem }
            })?;
        }
        Ok(wanted)
    }

    /// The values of the name: those that the steps' own arguments list, else those that were found.
    fn values_of(&self, name: &str, block: &[plan::Request]) -> Result<Vec<Value>, ExpansionError> {
        let listed = |by_name: bool| {
            block.iter().find_map(|request| {
                let spec = self.setup.tools.get(&request.call.tool)?;
                let mut arguments = request.call.arguments.iter();
                arguments.find_map(|(argument, value)| {
                    let is_meant = for_each::stands_for(value, name);
                    let is_named = for_each::plain_name(argument) == name;
                    (is_meant && (is_named || !by_name)).then(|| listed_values(&spec.parameters, argument))?
                })
            })
        };
        let found = || self.task_state.found.get(name).cloned();
        let values = listed(true).or_else(found).or_else(|| listed(false));
        let name = || name.to_owned();
        let values = values.ok_or_else(|| {
            let known = self.task_state.found.lists.keys().cloned().collect();
            ExpansionError::UnknownCollection { name: name(), known }
        })?;
        if values.is_empty() { Err(ExpansionError::EmptyCollection { name: name() }) } else { Ok(values) }
    }
}

/// The values that a schema lists for an argument, in its order.
fn listed_values(schema: &Value, argument: &str) -> Option<Vec<Value>> {
    let argument = schema.get("properties")?.get(argument)?;
    if let Some(values) = argument.get("enum").and_then(Value::as_array) {
        return Some(without_doubles(values.iter().filter_map(name_of).collect()));
    }
    let choices = ["oneOf", "anyOf"].iter().find_map(|key| argument.get(key)?.as_array())?;
    choices.iter().map(|choice| choice.get("const").and_then(name_of)).collect()
}

/// An entry of a list as a value: a text or a number, or the name of an object.
fn name_of(entry: &Value) -> Option<Value> {
    let value = match entry {
        Value::Object(fields) => fields.get("name").or_else(|| fields.get("id"))?,
        other => other,
    };
    let is_fit = match value {
        Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty() && text.chars().nth(VALUE_CHARACTERS).is_none(),
        _ => false,
    };
    is_fit.then(|| value.clone())
}

fn without_doubles(values: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_found_by_the_name_of_their_field_and_the_latest_counts() {
        let mut found = Collections::default();
        found.learn(&"memory.rooms".into(), &json!(["kitchen", "hall", "kitchen"]));
        found.learn(&"map.read".into(), &json!({"floor": {"Doors": [{"name": "north"}, {"id": 2, "open": true}]}}));
        assert_eq!(found.get("room"), Some(&vec![json!("kitchen"), json!("hall")]));
        assert_eq!(found.get("doors"), Some(&vec![json!("north"), json!(2)]));
        found.learn(&"memory.list".into(), &json!({"rooms": ["cellar"]}));
        assert_eq!(found.get("rooms"), Some(&vec![json!("cellar")]));
        assert_eq!(found.get("person"), None);
    }

    #[test]
    fn what_is_no_list_of_names_is_not_kept() {
        let mut found = Collections::default();
        for value in
            [json!([[1], [2]]), json!([true]), json!(["x".repeat(1_000)]), json!((0..1_000).collect::<Vec<_>>())]
        {
            found.learn(&"a.b".into(), &value);
        }
        assert_eq!(found, Collections::default());
    }
}
