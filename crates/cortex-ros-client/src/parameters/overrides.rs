//! Which of the parameters that ROS arguments give are for a node.

use std::collections::{BTreeMap, BTreeSet};

use super::ParameterValue;
use crate::rcl::overrides::Section;

/// What the sections give to the node of this fully qualified name.
pub(crate) fn given_to(full_name: &str, sections: Vec<Section>) -> BTreeMap<String, ParameterValue> {
    sections.into_iter().filter(|section| is_for(&section.node, full_name)).flat_map(|section| section.values).collect()
}

/// Whether a section is for that node: by its full name, with `*` for one part of it and `**` for any number of them, as
/// `rclcpp` has it, or by its name alone, whatever its namespace, as `r2r` has it.
fn is_for(section: &str, full_name: &str) -> bool {
    let name: Vec<&str> = full_name.trim_start_matches('/').split('/').collect();
    if name.last() == Some(&section) {
        return true;
    }
    // How many parts of the name may have been used up.
    let mut used = BTreeSet::from([0]);
    for part in section.trim_start_matches('/').split('/') {
        used = match part {
            "**" => used.first().map(|least| (*least..=name.len()).collect()).unwrap_or_default(),
            _ => {
                let next =
                    used.into_iter().filter(|used| name.get(*used).is_some_and(|own| part == "*" || part == *own));
                next.map(|used| used + 1).collect()
            }
        };
    }
    used.contains(&name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_for_whom_their_names_and_wildcards_say() {
        for (section, node, expected) in [
            ("/**", "/cortex", true),
            ("**", "/robot1/cortex", true),
            ("/cortex", "/cortex", true),
            ("/cortex", "/robot1/cortex", false),
            ("cortex", "/robot1/cortex", true),
            ("robot1/cortex", "/robot1/cortex", true),
            ("/robot1/cortex", "/robot1/cortex", true),
            ("/robot1/**", "/robot1/cortex", true),
            ("/robot1/**", "/robot2/cortex", false),
            ("/robot1/**", "/robot1/arm/cortex", true),
            ("/*/cortex", "/robot1/cortex", true),
            ("/*/cortex", "/cortex", false),
            ("/*/cortex", "/robot1/arm/cortex", false),
            ("/**/cortex", "/cortex", true),
            ("/**/cortex", "/robot1/arm/cortex", true),
            ("/**/arm/*", "/robot1/arm/cortex", true),
            ("/*", "/cortex", true),
            ("/*", "/robot1/cortex", false),
            ("/other", "/cortex", false),
            ("", "/cortex", false),
        ] {
            assert_eq!(is_for(section, node), expected, "{section} {node}");
        }
    }

    #[test]
    fn what_comes_later_goes_over_what_came_before() {
        let section = |node: &str, value| Section {
            node: node.to_owned(),
            values: vec![("a".to_owned(), ParameterValue::Integer(value))],
        };
        let given =
            given_to("/robot1/cortex", vec![section("/robot1/**", 1), section("/*/cortex", 2), section("/x", 3)]);
        assert_eq!(given, BTreeMap::from([("a".to_owned(), ParameterValue::Integer(2))]));
    }
}
