//! Which action comes next for a component that fails.

use std::borrow::Cow;
use std::time::Duration;

use cortex_recipe::{BuiltIn, ComponentRecipe, Lifecycle, Rung, Start};

use crate::FailureKind;

/// The wait before the second attempt; it doubles with each further one.
pub const BACKOFF: Duration = Duration::from_millis(500);

/// The longest wait between two attempts.
pub const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// How often a process is started anew where the recipe does not say.
const USUAL_RESPAWNS: u32 = 3;

/// How often a lifecycle is gone through anew where the recipe does not say and there is nothing more to try.
const USUAL_RESTARTS: u32 = 2;

/// The ladder for a failure: the one that is named for it, or the one for all, or a usual one.
#[must_use]
pub fn ladder(recipe: &ComponentRecipe, kind: FailureKind) -> Cow<'_, [Rung]> {
    let fallbacks = &recipe.fallbacks;
    let named = match kind {
        FailureKind::Component => fallbacks.on_component_fail.as_deref(),
        FailureKind::Algorithm => fallbacks.on_algorithm_fail.as_deref(),
        FailureKind::System => fallbacks.on_system_fail.as_deref(),
        FailureKind::General => None,
    };
    match (named.or(fallbacks.on_any_fail.as_deref()), kind) {
        (Some(named), _) => Cow::Borrowed(named),
        (None, FailureKind::Component | FailureKind::General) => Cow::Owned(usual(recipe)),
        // The component itself works; what it says is told, and starting it anew would not help.
        (None, FailureKind::Algorithm | FailureKind::System) => Cow::Borrowed(&[]),
    }
}

fn usual(recipe: &ComponentRecipe) -> Vec<Rung> {
    match (&recipe.start, recipe.lifecycle) {
        (Start::Process(_), Lifecycle::Managed) => {
            vec![Rung::once(BuiltIn::Restart), Rung::once(BuiltIn::Respawn).with_retries(USUAL_RESPAWNS)]
        }
        (Start::Process(_), Lifecycle::Itself) => vec![Rung::once(BuiltIn::Respawn).with_retries(USUAL_RESPAWNS)],
        (Start::External, Lifecycle::Managed) => vec![Rung::once(BuiltIn::Restart).with_retries(USUAL_RESTARTS)],
        (Start::External, Lifecycle::Itself) => vec![Rung::once(BuiltIn::NotifyOperator)],
    }
}

/// The rung for the attempt after `used` ones. None: the ladder is at its end.
#[must_use]
pub fn rung(ladder: &[Rung], used: u32) -> Option<&Rung> {
    let mut left = used;
    for rung in ladder {
        let attempts = rung.retries.saturating_add(1);
        match left.checked_sub(attempts) {
            Some(rest) => left = rest,
            None => return Some(rung),
        }
    }
    None
}

/// How long to wait before the attempt after `used` ones: not at all before the first.
#[must_use]
pub fn backoff(used: u32) -> Duration {
    match used {
        0 => Duration::ZERO,
        _ => BACKOFF.saturating_mul(1_u32.checked_shl(used - 1).unwrap_or(u32::MAX)).min(MAX_BACKOFF),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_come_in_order_with_their_retries() {
        let ladder = [Rung::once(BuiltIn::Restart).with_retries(1), Rung::once(BuiltIn::NotifyOperator)];
        let names: Vec<Option<&str>> =
            (0..4).map(|used| rung(&ladder, used).map(|rung| rung.action.as_str())).collect();
        assert_eq!(names, [Some("restart"), Some("restart"), Some("notify_operator"), None]);
        assert_eq!(rung(&ladder, u32::MAX), None);
        assert_eq!(rung(&[], 0), None);
    }

    #[test]
    fn waits_double_up_to_a_bound() {
        let waits: Vec<u128> = [0, 1, 2, 3, 8, 9, 40, u32::MAX].map(|used| backoff(used).as_millis()).into();
        assert_eq!(waits, [0, 500, 1000, 2000, 60_000, 60_000, 60_000, 60_000]);
    }
}
