//! Tools that are denied until a rule names them, whoever asks: what resets an emergency stop, switches controllers or
//! power, or takes a node or the machine down. Only where nobody has declared the effect, and for parameters: what a
//! contract or the configuration declares is declared.

use cortex_protocol::{EffectSource, ToolCall, ToolSpec};
use serde_json::Value;

use super::PARAMETER_TOOL;
use super::compiled::CompiledRule;

/// Interfaces, as they stand in the description of a tool that was made of one.
const TYPES: [(&str, &str); 14] = [
    ("controller_manager_msgs/srv/SwitchController", "it switches controllers"),
    ("controller_manager_msgs/srv/LoadController", "it loads controllers"),
    ("controller_manager_msgs/srv/UnloadController", "it unloads controllers"),
    ("controller_manager_msgs/srv/ConfigureController", "it configures controllers"),
    ("controller_manager_msgs/srv/CleanupController", "it cleans up controllers"),
    ("controller_manager_msgs/srv/ReloadControllerLibraries", "it reloads controllers"),
    ("controller_manager_msgs/srv/SetHardwareComponentState", "it switches hardware"),
    ("lifecycle_msgs/srv/ChangeState", "it changes the lifecycle of a node"),
    ("nav2_msgs/srv/ManageLifecycleNodes", "it changes the lifecycle of nodes"),
    ("composition_interfaces/srv/LoadNode", "it loads code into a node"),
    ("composition_interfaces/srv/UnloadNode", "it unloads a node"),
    ("rcl_interfaces/srv/SetParameters", "it sets parameters past every check"),
    ("rcl_interfaces/srv/SetParametersAtomically", "it sets parameters past every check"),
    ("rcl_interfaces/srv/SetLoggerLevels", "it changes what is logged"),
];

/// Words of names, each with what a name with all of them is about. A name is split at everything that is neither letter
/// nor digit, and before capital letters.
const WORDS: [(&[&str], &str); 36] = [
    (&["estop"], EMERGENCY),
    (&["estops"], EMERGENCY),
    (&["e", "stop"], EMERGENCY),
    (&["emergency"], EMERGENCY),
    (&["emergencystop"], EMERGENCY),
    (&["protective"], SAFETY),
    (&["safety"], SAFETY),
    (&["safe"], SAFETY),
    (&["interlock"], SAFETY),
    (&["watchdog"], SAFETY),
    (&["collision"], SAFETY),
    (&["fault"], FAULTS),
    (&["faults"], FAULTS),
    (&["reset", "error"], FAULTS),
    (&["reset", "errors"], FAULTS),
    (&["clear", "error"], FAULTS),
    (&["clear", "errors"], FAULTS),
    (&["brake"], BRAKES),
    (&["brakes"], BRAKES),
    (&["motor", "power"], POWER),
    (&["motors", "power"], POWER),
    (&["power", "on"], POWER),
    (&["power", "off"], POWER),
    (&["poweroff"], POWER),
    (&["torque", "enable"], POWER),
    (&["enable", "motor"], POWER),
    (&["enable", "motors"], POWER),
    (&["disable", "motor"], POWER),
    (&["disable", "motors"], POWER),
    (&["controller", "switch"], "it switches controllers"),
    (&["firmware"], "it changes firmware"),
    (&["bootloader"], "it changes firmware"),
    (&["reboot"], DOWN),
    (&["shutdown"], DOWN),
    (&["shut", "down"], DOWN),
    (&["change", "state"], "it changes the lifecycle of a node"),
];

const EMERGENCY: &str = "it is about an emergency stop";
const SAFETY: &str = "it is about safety";
const FAULTS: &str = "it resets faults";
const BRAKES: &str = "it is about brakes";
const POWER: &str = "it switches power";
const DOWN: &str = "it takes something down";

/// Why the call is denied until a rule names it, if it is. Without a call: the tool, whatever its arguments are.
pub(super) fn reason(spec: &ToolSpec, call: Option<&ToolCall>) -> Option<String> {
    if spec.name.as_str() == PARAMETER_TOOL {
        let call = call?;
        let texts = ["component", "param_name"].into_iter().filter_map(|name| call.arguments.get(name)?.as_str());
        let about = texts.filter_map(about).next()?;
        return Some(format!("A parameter of this name is denied until a rule names it: {about}."));
    }
    match spec.effect_source {
        EffectSource::Declared | EffectSource::WellKnown => return None,
        // A pattern such as `/arm/**` need not have meant the reset of its emergency stop.
        EffectSource::Assumed | EffectSource::TypeOnly | EffectSource::Pattern => {}
    }
    let of_type = TYPES.iter().find(|(name, _)| spec.description.contains(&format!("({name})")));
    let told = of_type.map(|(_, told)| *told).or_else(|| about(spec.name.as_str()))?;
    Some(format!(
        "{} is denied until a rule names it: {told}, and nobody has declared what it does by its full name.",
        spec.name
    ))
}

/// Whether a rule names a tool that is denied until then: in full, without a wildcard. Of parameters it must name the
/// node or the parameter.
pub(super) fn names(rule: &CompiledRule, spec: &ToolSpec) -> bool {
    let names_parameter = || {
        ["component", "param_name"].into_iter().any(|name| {
            let tests = &rule.written.arguments;
            tests
                .get(name)
                .and_then(|test| test.one_of.as_ref())
                .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_string))
        })
    };
    rule.names_in_full(&spec.name) && (spec.name.as_str() != PARAMETER_TOOL || names_parameter())
}

fn about(name: &str) -> Option<&'static str> {
    let words = words(name);
    let has = |word: &&str| words.iter().any(|found| found == word);
    WORDS.iter().find(|(all, _)| all.iter().all(has)).map(|(_, told)| *told)
}

/// The words of a name, in lower case: `resetEStop_now` has `reset`, `e`, `stop`, `now`.
fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before_is_lower = false;
    for character in name.chars() {
        let begins = !character.is_alphanumeric() || (character.is_uppercase() && before_is_lower);
        if begins && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            // `EStop` is two words, `ESTOP` is one.
            let is_shouted = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
            if character.is_lowercase()
                && is_shouted
                && let Some(last) = word.pop()
            {
                found.push(std::mem::take(&mut word));
                word.push(last);
            }
            word.push(character);
        }
        before_is_lower = character.is_lowercase() || character.is_numeric();
    }
    if !word.is_empty() {
        found.push(word);
    }
    found.into_iter().map(|word| word.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("send_request_to_reset_estop", "send request to reset estop"),
            ("resetEStop_now", "reset e stop now"),
            ("ESTOP", "estop"),
            ("/left/MotorPower2On", "left motor power2 on"),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }

    #[test]
    fn hazardous_names_are_found_and_others_are_not() {
        for name in [
            "send_request_to_e_stop_reset",
            "send_request_to_EStop",
            "clear_faults",
            "arm/reset_fault",
            "motor_power",
            "send_request_to_controller_manager_switch_controller",
            "reboot",
            "shut_down",
            "brake_release",
        ] {
            assert!(about(name).is_some(), "{name}");
        }
        for name in ["go_to", "stop", "rest", "open_door", "send_request_to_set_light", "power_level", "estimate"] {
            assert!(about(name).is_none(), "{name}");
        }
    }
}
