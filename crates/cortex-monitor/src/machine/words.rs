//! What happened, in words for people.

use std::fmt;
use std::time::Duration;

use cortex_protocol::ComponentName;

use super::MonitorEvent;
use crate::health::{Health, Symptom};

impl fmt::Display for MonitorEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { component, waits_for } => {
                let names: Vec<&str> = waits_for.iter().map(ComponentName::as_str).collect();
                write!(formatter, "{component} waits for {}", names.join(", "))
            }
            Self::CameUp { component } => write!(formatter, "{component} works"),
            Self::HealthChanged { component, health, symptoms } => {
                let word = match health {
                    Health::Healthy => return write!(formatter, "{component} is healthy"),
                    Health::Suspect => "is suspected",
                    Health::Failed { .. } => "fails",
                };
                let messages: Vec<&str> = symptoms.iter().map(said).collect();
                write!(formatter, "{component} {word}: {}", messages.join("; "))
            }
            Self::SymptomsChanged { component, symptoms } if symptoms.is_empty() => {
                write!(formatter, "{component} shows no symptoms any more, and has yet to show that it works")
            }
            Self::SymptomsChanged { component, symptoms } => {
                let messages: Vec<&str> = symptoms.iter().map(said).collect();
                write!(formatter, "{component}, for another reason now: {}", messages.join("; "))
            }
            Self::AttemptsForgiven { component, left } => {
                write!(formatter, "{component} has worked for a while; {left} attempts still count")
            }
            Self::AttemptBegan { component, action, attempt } => {
                write!(formatter, "{component}: attempt {attempt}, {action}")
            }
            Self::HeldByStop { component, action } => {
                write!(formatter, "{component}: {action} is not done while the robot is stopped, but after the resume")
            }
            Self::RestartBegan { component, action } => {
                write!(formatter, "{component} is restarted ({action}), since that is wanted")
            }
            Self::AttemptFailed { component, action: Some(action), reason } => {
                write!(formatter, "{component}: {action} did not help: {reason}")
            }
            Self::AttemptFailed { component, action: None, reason } => {
                write!(formatter, "{component} could not be brought up: {reason}")
            }
            Self::GaveUp { component, reason, rest } => {
                write!(formatter, "{component} is given up for now: {reason}; {}", tried_again(*rest))
            }
            Self::WentDown { component } => write!(formatter, "{component} is down"),
            Self::RateLimitReached => formatter.write_str("so much fails at once that actions wait for each other"),
            Self::RateLimitLifted => formatter.write_str("actions do not wait for each other any more"),
        }
    }
}

/// When what was given up is tried again.
pub(super) fn tried_again(rest: Duration) -> String {
    format!("its ladder begins anew in {} s (cooldown_s)", rest.as_secs_f64())
}

fn said(symptom: &Symptom) -> &str {
    // A component may give its failure without a word.
    if symptom.message.is_empty() { "it does not say why" } else { &symptom.message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{FailureKind, Severity};

    #[test]
    fn a_failure_is_told_with_its_reasons() {
        let symptom = |message: &str| Symptom {
            severity: Severity::Failure,
            kind: FailureKind::Component,
            message: message.into(),
        };
        let event = MonitorEvent::HealthChanged {
            component: "base".into(),
            health: Health::Failed { kind: FailureKind::Component },
            symptoms: vec![symptom("its node is not there"), symptom("")],
        };
        assert_eq!(event.to_string(), "base fails: its node is not there; it does not say why");
    }

    #[test]
    fn what_is_given_up_is_told_with_the_time_after_which_it_is_tried_again() {
        let event = MonitorEvent::GaveUp {
            component: "base".into(),
            reason: "it is silent".to_owned(),
            rest: Duration::from_secs(600),
        };
        assert_eq!(
            event.to_string(),
            "base is given up for now: it is silent; its ladder begins anew in 600 s (cooldown_s)"
        );
    }
}
