//! The ROS parameters that the node was given, as a layer of the configuration.
//!
//! A file of parameters is often shared by all nodes of a robot (`/**:`), and launch gives some to every node, so much of
//! it is none of Cortex's. As with any node, what is not declared is left alone, but told: it may be a slip. What begins
//! with a table of the configuration is Cortex's own, and a slip in it is an error like one in a file: what
//! `discovery.den` was to forbid must not be allowed.

use std::collections::BTreeMap;

use cortex_ros_client::RosNode;
use cortex_ros_client::node::USE_SIM_TIME;
use cortex_ros_client::parameters::ParameterValue;
use serde_json::{Map, Value};

use crate::declared::flatten;

/// The parameter that says whether Cortex becomes active by itself.
pub const AUTOSTART: &str = "autostart";

/// The parameters that are about the node, not about the agent.
const NODE_PARAMETERS: [&str; 3] = [AUTOSTART, USE_SIM_TIME, "start_type_description_service"];

/// A node's ROS parameters as a layer of the configuration. `use_sim_time` and the like belong to the node; what is no key
/// of the configuration is told and left out.
pub fn node_parameters(node: &RosNode) -> Vec<(String, cortex_config::Value)> {
    let given = node.parameters().iter().filter(|(name, _)| !NODE_PARAMETERS.contains(&name.as_str()));
    let (ours, unknown) = part(given.map(|(name, value)| (name.clone(), value.clone())));
    for UnknownParameter { name, meant } in unknown {
        let meant = meant.map(|meant| format!("; did you mean '{meant}'?")).unwrap_or_default();
        tracing::warn!("the ROS parameter '{name}' is none of Cortex, and is left out{meant}");
    }
    ours
}

/// A parameter that is no key of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownParameter {
    pub(crate) name: String,
    /// The key that was meant, maybe.
    pub(crate) meant: Option<String>,
}

/// Parts what belongs to the configuration, right or wrong, from what does not.
pub(crate) fn part(
    given: impl IntoIterator<Item = (String, ParameterValue)>,
) -> (Vec<(String, cortex_config::Value)>, Vec<UnknownParameter>) {
    let tree = cortex_config::defaults();
    let (mut ours, mut unknown) = (Vec::new(), Vec::new());
    for (name, value) in given {
        if is_own(&tree, &name) {
            let value = cortex_config::Value::serialize(cortex_ros_client::parameters::value_as_json(&value));
            ours.extend(value.ok().map(|value| (name, value)));
        } else {
            unknown.push(UnknownParameter { meant: meant(&tree, &name), name });
        }
    }
    (ours, unknown)
}

fn is_own(tree: &Map<String, Value>, name: &str) -> bool {
    match name.split_once('.') {
        Some((table, _)) => tree.get(table).is_some_and(Value::is_object),
        None => tree.contains_key(name),
    }
}

/// The key that looks most like it, if any looks like it.
fn meant(tree: &Map<String, Value>, name: &str) -> Option<String> {
    let mut keys = BTreeMap::new();
    flatten("", tree, &mut keys);
    let (beginning, rest) = name.split_once('.').map_or((name, None), |(table, rest)| (table, Some(rest)));
    let whole = nearest(name, keys.keys().map(String::as_str)).map(str::to_owned);
    // Some tables have keys that are not known before.
    let tables = || tree.iter().filter(|(_, value)| value.is_object()).map(|(table, _)| table.as_str());
    let table = || Some(format!("{}.{}", nearest(beginning, tables())?, rest?));
    whole.or_else(table)
}

fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// How alike two names are that are taken for one, from 0 to 1.
    const ALIKE: f64 = 0.8;
    let alike = known.into_iter().map(|name| (strsim::normalized_damerau_levenshtein(wrong, name), name));
    alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(names: &[&str]) -> (Vec<String>, Vec<(String, Option<String>)>) {
        let given = names.iter().map(|name| ((*name).to_owned(), ParameterValue::Bool(true)));
        let (ours, unknown) = part(given);
        (
            ours.into_iter().map(|(name, _)| name).collect(),
            unknown.into_iter().map(|parameter| (parameter.name, parameter.meant)).collect(),
        )
    }

    #[test]
    fn what_all_nodes_of_a_robot_are_given_does_not_keep_cortex_from_starting() {
        let shared =
            ["robot_description", "qos_overrides./parameter_events.publisher.depth", "robot.wheel_base", "rate"];
        let (ours, unknown) = parted(&shared);
        assert_eq!(ours, Vec::<String>::new());
        assert_eq!(unknown, shared.map(|name| (name.to_owned(), None)));
    }

    #[test]
    fn what_stands_in_a_table_of_the_configuration_is_judged_by_it() {
        let own =
            ["model", "mission", "mission.max_replans", "discovery.den", "discovery.rename./a.b", "conditions./a"];
        let (ours, unknown) = parted(&own);
        assert_eq!((ours, unknown), (own.map(str::to_owned).to_vec(), Vec::new()));
    }

    #[test]
    fn a_slip_is_told_with_what_was_meant() {
        for (slip, meant) in [
            ("modle", "model"),
            ("log_leve", "log_level"),
            ("mision.max_replans", "mission.max_replans"),
            ("discoverry.deny", "discovery.deny"),
            ("discoverry.rename./a", "discovery.rename./a"),
        ] {
            assert_eq!(parted(&[slip]).1, [(slip.to_owned(), Some(meant.to_owned()))]);
        }
    }
}
