//! What `/diagnostics` says is wrong with one component, by the names of the entries.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::health::{DiagnosticLevel, Severity};
use crate::sanitize::shown;

/// How long WARN and STALE of `/diagnostics` count: their publishers repeat them once a second. ERROR counts until
/// something else is said: whoever has failed for good may not be able to say more.
const DIAGNOSTIC_AGE: Duration = Duration::from_secs(5);

/// Entries of `/diagnostics` about one component that are kept: those that say that something is wrong.
const MOST_DIAGNOSTICS: usize = 64;

/// The entries that do not say OK.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Diagnostics(BTreeMap<String, Said>);

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    message: String,
    /// Until when it counts. None, of an ERROR: until something else is said.
    until: Option<Duration>,
}

impl Said {
    fn counts(&self, now: Duration) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    fn is_error(&self) -> bool {
        self.until.is_none()
    }
}

impl Diagnostics {
    /// There is an entry of this name.
    pub(crate) fn note(&mut self, now: Duration, name: &str, level: DiagnosticLevel, message: &str) {
        let name = shown(name);
        let before = self.0.get(&name);
        let until = match level {
            DiagnosticLevel::Ok => {
                self.0.remove(&name);
                return;
            }
            DiagnosticLevel::Error => None,
            // That nothing new is known does not undo an error.
            DiagnosticLevel::Stale if before.is_some_and(Said::is_error) => return,
            DiagnosticLevel::Warning | DiagnosticLevel::Stale => Some(now.saturating_add(DIAGNOSTIC_AGE)),
        };
        self.0.retain(|_, said| said.counts(now));
        if self.0.len() >= MOST_DIAGNOSTICS && !self.0.contains_key(&name) {
            let lesser = self.0.iter().find(|(_, said)| !said.is_error()).map(|(name, _)| name.clone());
            // Of more errors than that, those that are left out change nothing.
            let Some(lesser) = lesser.filter(|_| until.is_none()) else { return };
            self.0.remove(&lesser);
        }
        self.0.insert(name, Said { message: shown(message), until });
    }

    /// The worst of what counts: an error is a failure, anything else a suspicion.
    pub(crate) fn worst(&self, now: Duration) -> Option<(Severity, String)> {
        let said = || self.0.iter().filter(|(_, said)| said.counts(now));
        let (name, worst) = said().find(|(_, said)| said.is_error()).or_else(|| said().next())?;
        let severity = if worst.is_error() { Severity::Failure } else { Severity::Suspicion };
        Some((severity, format!("{name}: {}", worst.message)))
    }

    /// When what is said ceases to count.
    pub(crate) fn ends(&self) -> impl Iterator<Item = Duration> {
        self.0.values().filter_map(|said| said.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_without_end_take_no_room_and_hide_no_error() {
        let mut diagnostics = Diagnostics::default();
        let now = Duration::from_secs(11);
        for number in 0..1_000 {
            diagnostics.note(now, &format!("base {number}"), DiagnosticLevel::Warning, "warm");
        }
        assert_eq!(diagnostics.0.len(), MOST_DIAGNOSTICS);
        diagnostics.note(now, "base: motor", DiagnosticLevel::Error, "hot");
        assert_eq!(diagnostics.0.len(), MOST_DIAGNOSTICS);
        assert_eq!(diagnostics.worst(now), Some((Severity::Failure, "base: motor: hot".to_owned())));
    }
}
