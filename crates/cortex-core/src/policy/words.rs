//! Rules and verdicts in words.

use std::fmt;

use cortex_protocol::policy::ArgumentTest;
use cortex_protocol::{PolicyRule, PolicyVerdict, ToolSpec};
use serde_json::Value;

use super::compiled::CompiledRule;
use super::matching::Matched;
use super::{Policy, PolicyCase, ToolPolicy, defaults, hazards};
use crate::fragment::capped;

/// Most characters of a list of values.
const SHOWN: usize = 200;

/// Why a rule has its verdict on a call.
pub(super) fn reason(rule: &PolicyRule, spec: &ToolSpec, matched: Matched) -> String {
    let because = if rule.because.trim().is_empty() {
        let when = case(rule);
        let when = if when.is_empty() { String::new() } else { format!(" when {when}") };
        format!("A rule {} {}{when}.", verb(rule.then), spec.name)
    } else {
        sentence(&rule.because)
    };
    match matched {
        Matched::Unknown => format!("{because} (Whether {} is not known.)", case(rule)),
        Matched::Yes | Matched::No => because,
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', '。']) { text.to_owned() } else { format!("{text}.") }
}

fn verb(verdict: PolicyVerdict) -> &'static str {
    match verdict {
        PolicyVerdict::Allow => "allows",
        PolicyVerdict::Ask => "asks about",
        PolicyVerdict::Deny => "denies",
    }
}

/// When a rule applies to a tool that it names. Empty: always.
fn case(rule: &PolicyRule) -> String {
    let mut parts: Vec<String> = rule.arguments.iter().map(|(path, test)| format!("{path} {}", tested(test))).collect();
    parts.extend(rule.when.as_ref().map(ToString::to_string));
    parts.extend(rule.hours.as_ref().map(|hours| format!("the time is {hours}")));
    if !rule.who.is_empty() {
        parts.push(format!("the task comes from {}", rule.who.join(" or ")));
    }
    parts.join(" and ")
}

fn tested(test: &ArgumentTest) -> String {
    let listed = |values: &[Value]| {
        let values: Vec<String> =
            values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
        capped(&values.join(", "), SHOWN)
    };
    let mut parts = Vec::new();
    parts.extend(test.above.map(|bound| format!("is above {bound}")));
    parts.extend(test.below.map(|bound| format!("is below {bound}")));
    parts.extend(test.one_of.as_ref().map(|values| format!("is one of {}", listed(values))));
    parts.extend(test.none_of.as_ref().map(|values| format!("is none of {}", listed(values))));
    parts.extend(test.contains.as_ref().map(|texts| format!("contains {}", capped(&texts.join(" or "), SHOWN))));
    parts.join(" and ")
}

pub(super) fn tool_policy(policy: &Policy, spec: &ToolSpec) -> ToolPolicy {
    if policy.unrestricted {
        return ToolPolicy { verdict: PolicyVerdict::Allow, reasons: Vec::new(), cases: Vec::new() };
    }
    let rules: Vec<&CompiledRule> = policy.rules.iter().filter(|rule| rule.is_about(spec)).collect();
    let (always, sometimes): (Vec<&CompiledRule>, Vec<&CompiledRule>) =
        rules.into_iter().partition(|rule| case(&rule.written).is_empty());
    let strictest = always.iter().map(|rule| rule.written.then).max();
    let hazard = hazards::reason(spec, None).filter(|_| !always.iter().any(|rule| hazards::names(rule, spec)));
    let (verdict, reasons) = match (hazard, strictest) {
        (Some(reason), _) => (PolicyVerdict::Deny, vec![reason]),
        (None, Some(strictest)) => {
            let because = always.iter().filter(|rule| rule.written.then == strictest);
            (strictest, because.map(|rule| reason(&rule.written, spec, Matched::Yes)).collect())
        }
        (None, None) => {
            let default = defaults::of_tool(spec, policy.undeclared());
            (default.verdict, default.reasons)
        }
    };
    // Next to a rule that always applies, only a stricter one changes anything; next to a default, any other one does.
    let changes = |rule: &&PolicyRule| if strictest.is_some() { rule.then > verdict } else { rule.then != verdict };
    let cases = sometimes
        .iter()
        .map(|rule| &rule.written)
        .filter(changes)
        .map(|rule| PolicyCase { verdict: rule.then, when: case(rule), because: rule.because.trim().to_owned() })
        .collect();
    ToolPolicy { verdict, reasons, cases }
}

impl fmt::Display for ToolPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.verdict {
            PolicyVerdict::Allow => "allowed",
            PolicyVerdict::Ask => "asks",
            PolicyVerdict::Deny => "denied",
        })?;
        if self.verdict != PolicyVerdict::Allow && !self.reasons.is_empty() {
            write!(formatter, ": {}", self.reasons.join(" "))?;
        }
        for case in &self.cases {
            write!(formatter, "; {case}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PolicyCase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.verdict {
            PolicyVerdict::Allow => "allowed",
            PolicyVerdict::Ask => "asks",
            PolicyVerdict::Deny => "denied",
        };
        write!(formatter, "{verb} when {}", self.when)?;
        if !self.because.is_empty() {
            write!(formatter, ": {}", self.because)?;
        }
        Ok(())
    }
}
