//! `[policy]` and `[approval]`: which calls ask a person or are denied, and how people are asked.

use cortex_core::ApprovalSettings;
use cortex_core::policy::{Policy, PolicySettings};
use cortex_protocol::{PolicyRule, PolicyVerdict};
use serde::{Deserialize, Serialize};

use super::seconds;

/// Which calls ask a person or are denied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyConfig {
    pub(crate) undeclared: PolicyVerdict,
    pub(crate) doubted: PolicyVerdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<PolicyRule>,
}

impl Default for PolicyConfig {
    fn default() -> Self {
        let PolicySettings { undeclared, doubted, rules } = PolicySettings::default();
        Self { undeclared, doubted, rules }
    }
}

/// How people are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalConfig {
    pub(crate) deadline_s: f64,
    pub(crate) valid_s: f64,
}

impl Default for ApprovalConfig {
    fn default() -> Self {
        let ApprovalSettings { deadline, valid, .. } = ApprovalSettings::default();
        Self { deadline_s: deadline.as_secs_f64(), valid_s: valid.as_secs_f64() }
    }
}

/// The rules of the configuration and, beside them, those of the recipe.
pub(super) fn policy(config: &PolicyConfig, of_recipe: &[PolicyRule]) -> anyhow::Result<Policy> {
    let checked = |rules: Vec<PolicyRule>, table: &str| {
        let PolicyConfig { undeclared, doubted, .. } = *config;
        Policy::new(PolicySettings { rules, undeclared, doubted }).map_err(|problem| match problem.rule {
            Some(rule) => anyhow::anyhow!("configuration: {table}, rule {rule}: {}", problem.problem),
            None => anyhow::anyhow!("configuration: {table}: {}", problem.problem),
        })
    };
    checked(config.rules.clone(), "policy.rules")?;
    checked(of_recipe.to_vec(), "policy of the recipe")?;
    checked([config.rules.as_slice(), of_recipe].concat(), "policy.rules and the policy of the recipe")
}

pub(super) fn approval(config: &ApprovalConfig) -> anyhow::Result<ApprovalSettings> {
    Ok(ApprovalSettings {
        deadline: seconds("approval.deadline_s", config.deadline_s)?,
        valid: seconds("approval.valid_s", config.valid_s)?,
        ..ApprovalSettings::default()
    })
}

/// What is wrong with the rules of a recipe: the rule, from 0, if it is one, and what is wrong with it.
pub fn wrong_rule(rules: &[PolicyRule]) -> Option<(Option<usize>, String)> {
    let settings = PolicySettings { rules: rules.to_vec(), ..PolicySettings::default() };
    let problem = Policy::new(settings).err()?;
    Some((problem.rule.map(|rule| rule - 1), problem.problem.to_string()))
}
