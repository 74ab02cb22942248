//! The fallbacks of components.

use cortex_protocol::ComponentName;

use super::{Finding, Key, meant_action};
use crate::fallback::MAX_RETRIES;
use crate::{BuiltIn, ComponentRecipe, Lifecycle, Recipe, Rung, Start};

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for (name, component) in &recipe.components {
        for (ladder, rungs) in component.fallbacks.named() {
            for (index, rung) in rungs.iter().enumerate() {
                let path = || -> [Key; 5] {
                    ["components".into(), name.as_str().into(), "fallbacks".into(), ladder.into(), index.into()]
                };
                if let Some((message, fix)) = action(recipe, name, component, rung) {
                    findings.push(Finding::new(path(), message, fix));
                }
                if ladder == "on_giveup" && tries_again(rung) {
                    findings.push(Finding::new(
                        path(),
                        format!("'{}' would try again what was given up", rung.action),
                        "put it into the ladder; on_giveup is for what is said and done when that is at its end",
                    ));
                }
                if let Some((message, fix)) = bounds(component, rung) {
                    findings.push(Finding::new(path(), message, fix));
                }
            }
        }
    }
}

/// What is wrong with doing an action for a component.
pub(super) fn action(
    recipe: &Recipe,
    name: &ComponentName,
    component: &ComponentRecipe,
    rung: &Rung,
) -> Option<(String, String)> {
    let external = component.start == Start::External;
    match BuiltIn::named(&rung.action) {
        Some(BuiltIn::Respawn) if external => Some((
            format!("'{name}' can't be started anew: something else starts it"),
            "say in start how Cortex can start it, or use another action".into(),
        )),
        Some(BuiltIn::Restart) if external && component.lifecycle != Lifecycle::Managed => Some((
            format!("'{name}' can't be restarted: something else starts it, and its lifecycle is not managed"),
            "add lifecycle = \"managed\" if its node has a lifecycle, or use another action".into(),
        )),
        Some(BuiltIn::Standby) if component.standby.is_none() => Some((
            format!("'{name}' has no standby"),
            format!("add standby = \"COMPONENT\" to [components.\"{name}\"]"),
        )),
        Some(_) => None,
        None if recipe.actions.contains_key(&rung.action) => None,
        None => Some((format!("there is no action '{}'", rung.action), meant_action(recipe, &rung.action))),
    }
}

fn tries_again(rung: &Rung) -> bool {
    matches!(BuiltIn::named(&rung.action), Some(BuiltIn::Restart | BuiltIn::Respawn | BuiltIn::Standby))
}

fn bounds(component: &ComponentRecipe, rung: &Rung) -> Option<(String, String)> {
    if rung.retries > MAX_RETRIES {
        return Some((
            format!("{} retries would never come to an end", rung.retries),
            format!("write at most {MAX_RETRIES}; a component that was given up is tried again after cooldown_s"),
        ));
    }
    let heartbeat = component.heartbeat_s.filter(|heartbeat| *heartbeat >= rung.within_s)?;
    Some((
        format!(
            "within_s is {} s, and the component shows its health every {} s only: every attempt would count as failed",
            f64::from(rung.within_s),
            f64::from(heartbeat)
        ),
        "make within_s some times longer than heartbeat_s".into(),
    ))
}
