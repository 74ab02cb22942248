//! The configuration as ROS parameters: `ros2 param` shows each key with its value, its bounds and the words of
//! `config/cortex.toml`, and sets those that may change while Cortex runs.

use std::collections::BTreeMap;

use cortex_config::Layers;
use cortex_ros_client::parameters::{Parameter, ParameterValue};
use serde_json::{Map, Value};

/// The file that explains every key.
const EXPLAINED: &str = include_str!("../../../config/cortex.toml");

/// What may change while Cortex runs, by the beginning of its name: what a mission is given when it begins, and the log.
/// What the robot is looked at, watched, recorded and halted by stays as it was set up.
const CHANGEABLE: [&str; 7] = ["identity", "model", "log_level", "mission.", "endpoint.", "budget.max_", "queue."];

/// What is said, after the name, of what may not.
const READ_AT_START: &str = "is read when Cortex starts; restart it with --ros-args -p NAME:=VALUE, or set it in the \
                             configuration";

/// Most seconds of any time, as the configuration takes it.
const DAY: f64 = 86_400.0;

/// The parameters of a configuration that was read already.
pub fn declared(layers: &Layers) -> anyhow::Result<Vec<Parameter>> {
    let tree = cortex_config::tree(layers)?;
    let mut values = BTreeMap::new();
    flatten("", &tree, &mut values);
    let words = explanations(EXPLAINED);
    let declare = |(name, value): (String, ParameterValue)| {
        let parameter = Parameter::new(&name, value.clone());
        let parameter = match words.get(&name) {
            Some(words) => parameter.describe(words),
            None => parameter,
        };
        if CHANGEABLE.iter().any(|beginning| name.starts_with(beginning)) {
            bounded(parameter, &name, &value)
        } else {
            parameter.read_only_because(READ_AT_START)
        }
    };
    Ok(values.into_iter().map(declare).collect())
}

/// The bounds that tools show. The configuration checks more, and says it better.
fn bounded(parameter: Parameter, name: &str, value: &ParameterValue) -> Parameter {
    match value {
        ParameterValue::Integer(value) => parameter.within_integers(0..=i64::from(u32::MAX).max(*value)),
        ParameterValue::Double(_) if name.ends_with("_s") => parameter.within_doubles(0.0..=DAY),
        ParameterValue::Double(_) => parameter.within_doubles(0.0..=f64::MAX),
        _ => parameter,
    }
}

/// The leaves of the tree by their dotted names. What no parameter can hold is left out: tables in arrays.
pub(crate) fn flatten(above: &str, tree: &Map<String, Value>, values: &mut BTreeMap<String, ParameterValue>) {
    for (key, value) in tree {
        let name = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        let leaf = match value {
            Value::Object(inner) => {
                flatten(&name, inner, values);
                continue;
            }
            Value::Bool(value) => Some(ParameterValue::Bool(*value)),
            Value::String(value) => Some(ParameterValue::String(value.clone())),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Some(ParameterValue::Integer(whole)),
                None => number.as_f64().map(ParameterValue::Double),
            },
            Value::Array(elements) => {
                let texts: Option<Vec<String>> =
                    elements.iter().map(|element| element.as_str().map(str::to_owned)).collect();
                texts.map(ParameterValue::StringArray)
            }
            Value::Null => None,
        };
        values.extend(leaf.map(|leaf| (name, leaf)));
    }
}

/// What the comments before each key say, by the key's dotted name.
fn explanations(text: &str) -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    let (mut section, mut comment) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(said) = line.strip_prefix('#') {
            comment.push(said.trim_end());
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = format!("{name}.");
            comment.clear();
        } else if let Some((key, _)) = line.split_once('=') {
            words.insert(format!("{section}{}", key.trim()), joined(&comment));
            comment.clear();
        } else {
            comment.clear();
        }
    }
    words
}

/// The lines of a comment as text: lines that are set in stay lines of their own.
fn joined(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let set_in = line.starts_with("  ");
        if !text.is_empty() {
            text.push(if set_in { '\n' } else { ' ' });
        }
        text.push_str(line.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(layers: &Layers) -> BTreeMap<String, String> {
        let parameters =
            cortex_ros_client::parameters::Parameters::declare(declared(layers).unwrap(), |_| None).unwrap();
        parameters.described().map(|(name, words)| (name.to_owned(), words.to_owned())).collect()
    }

    #[test]
    fn every_key_is_a_parameter_that_is_explained() {
        let words = described(&Layers::default());
        for (name, words) in &words {
            assert!(words.len() > 10, "config/cortex.toml does not explain {name}: '{words}'");
        }
        assert_eq!(words["mission.max_replans"], "Further plans after the first.");
        assert!(words["model"].contains("\n\"reflex\""), "{}", words["model"]);
        assert!(!words.contains_key("conditions"), "an empty table is no parameter");
    }

    #[test]
    fn values_come_from_all_layers_with_their_types() {
        let ros = vec![
            ("mission.max_replans".to_owned(), cortex_config::Value::from(7)),
            ("mission.max_duration_s".to_owned(), cortex_config::Value::from(60)),
        ];
        let layers = Layers { ros, ..Layers::default() };
        let parameters =
            cortex_ros_client::parameters::Parameters::declare(declared(&layers).unwrap(), |_| None).unwrap();
        assert_eq!(parameters.integer("mission.max_replans"), Ok(7));
        assert_eq!(parameters.double("mission.max_duration_s"), Ok(60.0), "a number with a fraction stays one");
        assert_eq!(parameters.get("discovery.allow"), Some(ParameterValue::StringArray(vec!["**".to_owned()])));
    }

    #[test]
    fn what_is_set_up_once_says_that_it_is_read_at_start() {
        let layers = Layers::default();
        let parameters =
            cortex_ros_client::parameters::Parameters::declare(declared(&layers).unwrap(), |_| None).unwrap();
        for (name, value, can_be_set) in [
            ("mission.max_replans", ParameterValue::Integer(1), true),
            ("model", ParameterValue::String("reflex2".to_owned()), true),
            ("queue.length", ParameterValue::Integer(1), true),
            ("queue.length", ParameterValue::Integer(-1), false),
            ("budget.odometry", ParameterValue::String("/odom".to_owned()), false),
            ("tape.required", ParameterValue::Bool(false), false),
            ("calls.halt_timeout_s", ParameterValue::Double(1.0), false),
            ("discovery.startup_timeout_s", ParameterValue::Double(1.0), false),
            ("web.listen", ParameterValue::String("0.0.0.0:80".to_owned()), false),
        ] {
            let set = parameters.set(vec![(name.to_owned(), value)]);
            assert_eq!(set.is_ok(), can_be_set, "{name}: {set:?}");
        }
    }
}
