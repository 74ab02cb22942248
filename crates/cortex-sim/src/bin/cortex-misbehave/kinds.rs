//! The ways to misbehave.

use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::raw::Reaction;

/// How long a process that dies in its step lives on.
const LAST_BREATH: Duration = Duration::from_millis(200);
/// How many characters the flood has; each takes 4 bytes.
const FLOOD_CHARACTERS: usize = 1 << 18;

/// A way to misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Its process aborts 200 ms after `go` was called.
    DiesInStep,
    /// Answers `go` after `--after` seconds.
    AnswersLate,
    /// Never answers `go`; `halt` is answered at once.
    NeverAnswers,
    /// Answers with success and a result that is not JSON.
    GarbageResponse,
    /// Describes itself with something that is not JSON.
    GarbageDescription,
    /// Also offers `broken`, whose parameters are not a valid JSON Schema.
    BadSchema,
    /// Offers two methods with the name `go`.
    TwinMethods,
    /// Answers that it failed, and why.
    Fails,
    /// Answers neither `go` nor `halt`.
    IgnoresHalt,
    /// Answers with 1 MiB of text outside of ASCII.
    UnicodeFlood,
    /// Says that it has moved, and does not: its topic `~/position` shows that it never leaves "here". It names that topic as
    /// the evidence of `go`.
    Lies,
    /// Keeps the contract: `echo` returns its text at once. See `--count`.
    Echo,
}

impl Kind {
    /// The name of the node where none is given.
    pub(crate) fn node_name(self) -> String {
        let value = self.to_possible_value();
        value.map(|value| value.get_name().replace('-', "_")).unwrap_or_default()
    }

    /// What the component says of itself.
    pub(crate) fn description(self, timeout_s: f64) -> String {
        let method = |name: &str, effect: &str, cancel: Option<&str>| {
            let mut method = json!({
                "name": name,
                "description": format!("Misbehaves in a test ({}).", self.node_name()),
                "effect": effect,
                "timeout_s": timeout_s,
                "phrases": [format!("{name} {}", self.node_name().replace('_', " "))],
            });
            if let (Some(cancel), Some(fields)) = (cancel, method.as_object_mut()) {
                fields.insert("cancel_method".to_owned(), Value::from(cancel));
            }
            method
        };
        let mut methods = vec![method("go", "move", Some("halt")), method("halt", "act", None)];
        match self {
            Self::GarbageDescription => return "{\"contract\": 1, \"methods\": [oh no".to_owned(),
            Self::TwinMethods => methods.push(method("go", "observe", None)),
            Self::BadSchema => {
                let mut broken = method("broken", "act", None);
                if let Some(fields) = broken.as_object_mut() {
                    let schema = json!({"type": "object", "properties": {"force": {"type": "nmber"}}});
                    fields.insert("parameters".to_owned(), schema);
                }
                methods.push(broken);
            }
            Self::Lies => {
                if let Some(fields) = methods.first_mut().and_then(Value::as_object_mut) {
                    let evidence = json!([{"topic": "~/position", "field": "data", "equal": "there", "within_s": 1}]);
                    fields.insert("after".to_owned(), evidence);
                }
            }
            _ => {}
        }
        json!({"contract": 1, "summary": "A component that misbehaves in a test.", "methods": methods}).to_string()
    }

    /// What it shows on `~/position`, if it does.
    pub(crate) fn position(self) -> Option<&'static str> {
        (self == Self::Lies).then_some("here")
    }

    /// What it does when a method is called.
    pub(crate) fn reaction(self, method: &str, after: Duration) -> Reaction {
        let success = |response: &str| Reaction::succeed(Duration::ZERO, response);
        match (self, method) {
            (Self::IgnoresHalt, _) | (Self::NeverAnswers, "go") => Reaction::Never,
            (_, "halt") => success("\"at rest\""),
            (Self::DiesInStep, _) => Reaction::DieAfter(LAST_BREATH),
            (Self::AnswersLate, _) => Reaction::succeed(after, "\"done at last\""),
            (Self::GarbageResponse, _) => success("{\"place\": kitchen"),
            (Self::Lies, _) => success("\"arrived\""),
            (Self::Fails, _) => Reaction::fail("the gripper is jammed"),
            (Self::UnicodeFlood, _) => success(&Value::String("🤖".repeat(FLOOD_CHARACTERS)).to_string()),
            _ => success("\"done\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::ComponentDescription;

    #[test]
    fn each_kind_is_wrong_in_its_own_way_only() {
        for kind in Kind::value_variants() {
            let parsed = ComponentDescription::parse(&kind.description(5.0));
            match kind {
                Kind::GarbageDescription => assert!(parsed.is_err()),
                Kind::TwinMethods => assert_eq!(parsed.unwrap().1.len(), 1),
                _ => assert_eq!(parsed.unwrap().1, vec![], "{kind:?}"),
            }
        }
    }
}
