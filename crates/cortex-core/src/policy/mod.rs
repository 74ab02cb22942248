//! Policy: which calls are allowed, which ask a person, and which are denied. It judges without a model, before any
//! confirmation; pure, so that a tape replays it. See `docs/mission-loop.md`, "Approval by people".
//!
//! - `check`: rules are checked once, and a rule that can't mean what it says is refused;
//! - `compiled`: rules as they are matched;
//! - `matching`: whether a rule matches a call, in three values;
//! - `defaults`: the verdict where no rule matches; `hazards`: tools that are denied until a rule names them;
//! - `words`: verdicts and rules for people.

mod check;
mod compiled;
mod defaults;
mod hazards;
mod matching;
mod problem;
mod words;

#[cfg(test)]
mod tests;

use cortex_protocol::{Origin, PolicyRule, PolicyVerdict, ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::condition::Verdict;
use compiled::CompiledRule;
use matching::Matched;

pub use problem::{ArgumentTestProblem, PatternProblem, PolicyProblem, TooManyEntries};

/// The built-in tool that changes a parameter of any node.
pub const PARAMETER_TOOL: &str = "update_parameter";
/// Most rules of one policy.
pub const MAX_RULES: usize = 256;

/// What a configuration says about policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySettings {
    /// The rules. Their order does not matter.
    pub rules: Vec<PolicyRule>,
    /// What happens, where no rule matches, to calls of tools whose effect nobody has declared.
    pub undeclared: PolicyVerdict,
    /// What happens to the acts of a plan that another reader of the task would not have made.
    pub doubted: PolicyVerdict,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { rules: Vec::new(), undeclared: PolicyVerdict::Ask, doubted: PolicyVerdict::Ask }
    }
}

/// Checked rules and the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenPolicy", into = "WrittenPolicy")]
pub struct Policy {
    rules: Vec<CompiledRule>,
    undeclared: PolicyVerdict,
    doubted: PolicyVerdict,
    /// Whether there is no policy at all: only records of missions from before there was one have none.
    unrestricted: bool,
}

/// A policy as it is serialised.
#[derive(Serialize, Deserialize)]
struct WrittenPolicy {
    #[serde(flatten)]
    settings: PolicySettingsOnTape,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unrestricted: bool,
}

/// [`PolicySettings`] without `deny_unknown_fields`, which `flatten` does not know.
#[derive(Serialize, Deserialize)]
struct PolicySettingsOnTape {
    #[serde(default)]
    rules: Vec<PolicyRule>,
    undeclared: PolicyVerdict,
    #[serde(default = "doubted_by_default")]
    doubted: PolicyVerdict,
}

fn doubted_by_default() -> PolicyVerdict {
    PolicySettings::default().doubted
}

impl TryFrom<WrittenPolicy> for Policy {
    type Error = PolicyError;

    fn try_from(written: WrittenPolicy) -> Result<Self, PolicyError> {
        let PolicySettingsOnTape { rules, undeclared, doubted } = written.settings;
        let checked = Self::new(PolicySettings { rules, undeclared, doubted })?;
        Ok(Self { unrestricted: written.unrestricted, ..checked })
    }
}

impl From<Policy> for WrittenPolicy {
    fn from(policy: Policy) -> Self {
        let Policy { rules, undeclared, doubted, unrestricted } = policy;
        let rules = rules.into_iter().map(|rule| rule.written).collect();
        Self { settings: PolicySettingsOnTape { rules, undeclared, doubted }, unrestricted }
    }
}

impl Default for Policy {
    /// No rules: the defaults alone.
    fn default() -> Self {
        let PolicySettings { undeclared, doubted, .. } = PolicySettings::default();
        Self { rules: Vec::new(), undeclared, doubted, unrestricted: false }
    }
}

/// A rule that can't be used.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("policy: {}{problem}", rule.map(|rule| format!("rule {rule}: ")).unwrap_or_default())]
pub struct PolicyError {
    /// Which rule, from 1. None: the policy as a whole.
    pub rule: Option<usize>,
    /// What is wrong and how to fix it.
    pub problem: PolicyProblem,
}

/// What policy must know beside the call.
#[derive(Debug, Clone, Copy)]
pub struct PolicyContext<'a> {
    /// Who gave the task.
    pub origin: &'a Origin,
    /// What is known of the robot and of the time.
    pub state: &'a RobotState,
}

/// What rules ask of the robot and of the time, as it was observed last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RobotState {
    /// Whether the condition of each rule holds, in the order of the rules. What is not in the list is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Verdict>,
    /// The minute of the local day, from 0 to 1439. None: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute: Option<u16>,
}

/// The verdict on one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What follows.
    pub verdict: PolicyVerdict,
    /// Why, each a sentence for people and the model. Empty only where the call is allowed.
    pub reasons: Vec<String>,
}

impl Judgement {
    /// The stricter one of two; the reasons of both where they are equally strict.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        match self.verdict.cmp(&other.verdict) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Equal => {
                for reason in other.reasons {
                    if !self.reasons.contains(&reason) {
                        self.reasons.push(reason);
                    }
                }
                self
            }
        }
    }

    /// The reasons as one text.
    #[must_use]
    pub fn told(&self) -> String {
        self.reasons.join(" ")
    }
}

/// What policy says of a tool whatever its arguments are. Its `Display` is one line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The verdict where none of the [`cases`](Self::cases) applies.
    pub verdict: PolicyVerdict,
    /// Why.
    pub reasons: Vec<String>,
    /// Rules that change the verdict for some calls.
    pub cases: Vec<PolicyCase>,
}

/// A rule that depends on the call, the robot, the time or who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyCase {
    /// What follows where it applies.
    pub verdict: PolicyVerdict,
    /// When it applies: "place is one of street".
    pub when: String,
    /// Why. May be empty.
    pub because: String,
}

impl Policy {
    /// Checks the rules.
    ///
    /// # Errors
    /// The first rule that can't be used, with what is wrong and how to fix it.
    pub fn new(settings: PolicySettings) -> Result<Self, PolicyError> {
        check::check(&settings)?;
        let PolicySettings { rules, undeclared, doubted } = settings;
        let rules = rules.into_iter().map(CompiledRule::new).collect();
        Ok(Self { rules, undeclared, doubted, unrestricted: false })
    }

    /// No policy at all: every call is allowed. For records of missions from before there was a policy, so that they
    /// replay as they were.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self { unrestricted: true, ..Self::default() }
    }

    /// Whether there is no policy at all.
    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        self.unrestricted
    }

    /// The rules, in the order of the configuration.
    #[must_use]
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &PolicyRule> {
        self.rules.iter().map(|rule| &rule.written)
    }

    /// What happens to calls of tools whose effect nobody has declared.
    #[must_use]
    pub fn undeclared(&self) -> PolicyVerdict {
        self.undeclared
    }

    /// What happens to the acts of a plan that another reader of the task would not have made.
    #[must_use]
    pub fn doubted(&self) -> PolicyVerdict {
        self.doubted
    }

    /// Judges a call. Of all rules that match, the strictest counts; where none matches, the defaults count.
    #[must_use]
    pub fn judge(&self, call: &ToolCall, spec: &ToolSpec, context: &PolicyContext<'_>) -> Judgement {
        if self.unrestricted {
            return Judgement { verdict: PolicyVerdict::Allow, reasons: Vec::new() };
        }
        let mut judged: Option<Judgement> = None;
        let mut is_named = false;
        for (index, rule) in self.rules.iter().enumerate() {
            let matched = matching::matched(rule, index, call, spec, context);
            let counts = match matched {
                Matched::Yes => true,
                Matched::Unknown => rule.written.then != PolicyVerdict::Allow,
                Matched::No => false,
            };
            if !counts {
                continue;
            }
            is_named |= matched == Matched::Yes && hazards::names(rule, spec);
            let reasons = vec![words::reason(&rule.written, spec, matched)];
            let one = Judgement { verdict: rule.written.then, reasons };
            judged = Some(match judged {
                None => one,
                Some(judged) => judged.and(one),
            });
        }
        let judged = match judged {
            Some(judged) => judged,
            None => return defaults::judge(call, spec, self.undeclared),
        };
        match hazards::reason(spec, Some(call)) {
            Some(reason) if !is_named => judged.and(Judgement { verdict: PolicyVerdict::Deny, reasons: vec![reason] }),
            _ => judged,
        }
    }

    /// What would happen to calls of a tool, whatever their arguments are, who asks, and when.
    #[must_use]
    pub fn judge_tool(&self, spec: &ToolSpec) -> ToolPolicy {
        words::tool_policy(self, spec)
    }
}
