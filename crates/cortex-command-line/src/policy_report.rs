//! What policy says of tools, for people who set a robot up: what asks, what is denied, why, and what would change that.

use std::collections::BTreeMap;

use cortex_core::policy::{PARAMETER_TOOL, Policy, PolicySettings, ToolPolicy};
use cortex_protocol::{EffectSource, PolicyRule, PolicyVerdict, ToolName, ToolSpec};

/// Most tools of one verdict that are named one by one.
const MOST_NAMED: usize = 12;

/// Something that asks, is denied, or does so in some cases.
#[derive(Debug, PartialEq, Eq)]
pub struct Remark {
    /// Which tool, and why.
    pub text: String,
    /// What would change that.
    pub change: String,
}

/// Every tool that is not simply allowed, the denied ones first. `names` has the ROS names of what tools stand for.
pub fn remarks(policy: &Policy, tools: &[ToolSpec], names: &BTreeMap<ToolName, String>) -> Vec<Remark> {
    let judged = |spec| (spec, policy.judge_tool(spec));
    let judged: Vec<(&ToolSpec, ToolPolicy)> = tools.iter().map(judged).collect();
    let mut remarks = Vec::new();
    for verdict in [PolicyVerdict::Deny, PolicyVerdict::Ask, PolicyVerdict::Allow] {
        let of_verdict: Vec<&(&ToolSpec, ToolPolicy)> = judged
            .iter()
            .filter(|(_, judged)| judged.verdict == verdict)
            .filter(|(_, judged)| verdict != PolicyVerdict::Allow || !judged.cases.is_empty())
            .collect();
        remarks.extend(of_verdict.iter().take(MOST_NAMED).map(|(spec, judged)| Remark {
            text: format!("{} {judged}", spec.name),
            change: change(policy, spec, judged, names),
        }));
        let left: Vec<&str> = of_verdict.iter().skip(MOST_NAMED).map(|(spec, _)| spec.name.as_str()).collect();
        if !left.is_empty() {
            let does = match verdict {
                PolicyVerdict::Deny => "are denied",
                PolicyVerdict::Ask => "ask",
                PolicyVerdict::Allow => "are allowed or not, as rules say",
            };
            remarks.push(Remark {
                text: format!("{} further tools {does}: {}", left.len(), left.join(", ")),
                change: "as above".to_owned(),
            });
        }
    }
    remarks
}

/// The configuration that would change what is said of a tool.
fn change(policy: &Policy, spec: &ToolSpec, judged: &ToolPolicy, names: &BTreeMap<ToolName, String>) -> String {
    let settings = PolicySettings { undeclared: policy.undeclared(), ..PolicySettings::default() };
    let by_default = Policy::new(settings).is_ok_and(|defaults| {
        let default = defaults.judge_tool(spec);
        (default.verdict, &default.reasons) == (judged.verdict, &judged.reasons)
    });
    let name = &spec.name;
    let rule = format!("[[policy.rules]] then = \"allow\", tools = [\"{name}\"]");
    if judged.verdict == PolicyVerdict::Allow || !by_default {
        return "the rules that name it: [[policy.rules]], or [[policy]] in the recipe".to_owned();
    }
    if name.as_str() == PARAMETER_TOOL {
        return format!("{rule}, arguments = {{ component = {{ one_of = [\"NODE\"] }} }} allows those of a node");
    }
    let is_undeclared = spec.effect_source == EffectSource::Assumed;
    let is_hazard = judged.verdict == PolicyVerdict::Deny && policy.undeclared() != PolicyVerdict::Deny;
    match names.get(name) {
        _ if is_hazard => format!("{rule}, or then = \"ask\", names it"),
        Some(ros_name) if is_undeclared => {
            format!("[discovery.effects] \"{ros_name}\" = \"act\" or \"move\" declares what it does; or {rule}")
        }
        None if is_undeclared => format!("\"effect\" in what its component says on ~/describe; or {rule}"),
        _ => rule,
    }
}

/// The rules of a recipe in one line each.
pub fn rules(rules: &[PolicyRule]) -> Vec<String> {
    let told = |rule: &PolicyRule| {
        let verb = match rule.then {
            PolicyVerdict::Allow => "allows",
            PolicyVerdict::Ask => "asks about",
            PolicyVerdict::Deny => "denies",
        };
        let tools = if rule.tools.is_empty() { "every tool".to_owned() } else { rule.tools.join(", ") };
        let mut cases: Vec<String> = Vec::new();
        if !rule.effects.is_empty() {
            let effects =
                rule.effects.iter().filter_map(|effect| serde_json::to_value(effect).ok()?.as_str().map(str::to_owned));
            cases.push(format!("of effect {}", effects.collect::<Vec<_>>().join(" or ")));
        }
        cases.extend(rule.arguments.keys().map(|path| format!("by its argument {path}")));
        cases.extend(rule.when.as_ref().map(|when| format!("when {when}")));
        cases.extend(rule.hours.as_ref().map(|hours| format!("at {hours}")));
        cases.extend((!rule.who.is_empty()).then(|| format!("for {}", rule.who.join(" or "))));
        let cases = if cases.is_empty() { String::new() } else { format!(" {}", cases.join(", ")) };
        let because = if rule.because.is_empty() { String::new() } else { format!(": {}", rule.because) };
        format!("{verb} {tools}{cases}{because}")
    };
    rules.iter().map(told).collect()
}

/// What happens to what nobody has declared.
pub fn undeclared(policy: &Policy) -> &'static str {
    match policy.undeclared() {
        PolicyVerdict::Allow => {
            "what nobody has declared is allowed (policy.undeclared = \"allow\"); parameters ask, unless a rule allows them"
        }
        PolicyVerdict::Ask => {
            "what nobody has declared asks a person, and so do parameters (policy.undeclared = \"ask\")"
        }
        PolicyVerdict::Deny => {
            "what nobody has declared is denied, and so are parameters (policy.undeclared = \"deny\")"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cortex_protocol::{CancelMode, Dispatch, Effect, ToolPhase};
    use serde_json::json;

    use super::*;

    fn tool(name: &str, effect: Effect, effect_source: EffectSource) -> ToolSpec {
        ToolSpec::new(name.into(), "Does it.".to_owned())
            .with_parameters(json!({"type": "object"}))
            .with_phase(ToolPhase::Execution)
            .with_effect(effect)
            .with_effect_source(effect_source)
            .with_timeout(Duration::from_secs(1))
            .with_dispatch(Dispatch::Wait)
            .with_cancel(CancelMode::Halt)
    }

    fn told(settings: PolicySettings) -> Vec<(String, String)> {
        let tools = [
            tool("base.go_to", Effect::Move, EffectSource::Declared),
            tool("base.dance", Effect::Move, EffectSource::Assumed),
            tool("send_request_to_door/open", Effect::Move, EffectSource::Assumed),
            tool("send_request_to_map", Effect::Observe, EffectSource::WellKnown),
            tool("send_request_to_estop/reset", Effect::Move, EffectSource::Assumed),
            tool(PARAMETER_TOOL, Effect::Act, EffectSource::Assumed),
        ];
        let names = [("send_request_to_door/open", "/door/open"), ("send_request_to_estop/reset", "/estop/reset")];
        let names = names.into_iter().map(|(tool, name)| (tool.into(), name.to_owned())).collect();
        let policy = Policy::new(settings).unwrap();
        remarks(&policy, &tools, &names).into_iter().map(|remark| (remark.text, remark.change)).collect()
    }

    fn rule(text: serde_json::Value) -> PolicyRule {
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn each_tool_that_asks_or_is_denied_is_named_with_what_would_change_it() {
        let told = told(PolicySettings::default());
        let expected = [
            ("send_request_to_estop/reset denied", "tools = [\"send_request_to_estop/reset\"], or then = \"ask\""),
            ("base.dance asks", "\"effect\" in what its component says"),
            ("send_request_to_door/open asks", "[discovery.effects] \"/door/open\" = \"act\""),
            ("update_parameter asks", "tools = [\"update_parameter\"], arguments = { component"),
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for ((text, change), (tool, way)) in told.iter().zip(expected) {
            assert!(text.starts_with(tool) && change.contains(way), "{text} -> {change}");
        }
    }

    #[test]
    fn what_a_rule_says_is_changed_in_the_rule() {
        let rules = vec![
            rule(json!({"then": "deny", "tools": ["base.dance"], "because": "It falls."})),
            rule(json!({"then": "ask", "tools": ["base.go_to"], "arguments": {"place": {"one_of": ["street"]}}})),
        ];
        let lines = super::rules(&rules);
        assert_eq!(lines, ["denies base.dance: It falls.", "asks about base.go_to by its argument place"]);
        let told = told(PolicySettings { rules, undeclared: PolicyVerdict::Allow, ..PolicySettings::default() });
        let by_rules: Vec<&str> =
            told.iter().filter(|(_, change)| change.starts_with("the rules")).map(|(text, _)| text.as_str()).collect();
        assert_eq!(by_rules, ["base.dance denied: It falls.", "base.go_to allowed; asks when place is one of street"]);
    }
}
