//! What people say without wanting anything done, answered from the tools alone.

use std::collections::BTreeSet;

use cortex_core::fragment::capped;
use cortex_language::{Talk, listed};

use super::offers;
use super::schema::{self, Kind};
use super::toolbox::Toolbox;

/// Most characters of what the robot says of itself, and of what it can't do.
const IDENTITY_CHARACTERS: usize = 1_500;
const LIMITS_CHARACTERS: usize = 3_200;
/// Most parameters whose values are listed.
const LISTS: usize = 4;

const NAMELESS: &str = "I am the robot; I read plain commands without a language model";

const UNBOUND: &str = "I can't do what none of my tools does; ask me what I can do.";

/// What the robot knows of itself. Empty where it knows nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Itself<'r> {
    pub(super) about: String,
    pub(super) limits: &'r str,
}

/// The answer, in plain words.
pub(super) fn answer(toolbox: &Toolbox<'_>, talk: &Talk, itself: &Itself<'_>) -> String {
    match talk {
        Talk::Greeting => "Hello. Tell me what to do, or ask what I can do.".to_owned(),
        Talk::Thanks => "You are welcome.".to_owned(),
        Talk::Cancel => "Nothing was done.".to_owned(),
        Talk::Goodbye => "Goodbye.".to_owned(),
        Talk::Name if itself.about.is_empty() => format!("{NAMELESS}."),
        Talk::Name => capped(&itself.about, IDENTITY_CHARACTERS),
        Talk::Limits if itself.limits.is_empty() => UNBOUND.to_owned(),
        Talk::Limits => capped(itself.limits, LIMITS_CHARACTERS),
        Talk::Abilities => offers::abilities(toolbox),
        Talk::Smalltalk => format!("{NAMELESS}, so there is little that I can say to that. Ask me what I can do."),
        Talk::Values(asked) => values(toolbox, asked),
    }
}

/// The values that the parameters take. Where two take nearly the same, the first stands for both: the rooms that can be
/// driven to are the rooms that have a light.
fn values(toolbox: &Toolbox<'_>, asked: &[(usize, String)]) -> String {
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut lists: Vec<String> = Vec::new();
    for (tool, name) in asked {
        let parameters = toolbox.get(*tool).map(|tool| schema::parameters(&tool.parameters)).unwrap_or_default();
        let Some(Kind::Choice(values)) = parameters.into_iter().find(|it| it.name == *name).map(|it| it.kind) else {
            continue;
        };
        let values: Vec<String> = values.iter().map(schema::spoken).collect();
        let known = values.iter().filter(|value| told.contains(*value)).count();
        if known * 2 <= values.len() {
            lists.push(listed(&values));
            told.extend(values);
        }
    }
    lists.truncate(LISTS);
    if lists.is_empty() { "I know none.".to_owned() } else { format!("I know: {}.", lists.join("; ")) }
}
