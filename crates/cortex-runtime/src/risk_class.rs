//! Which calls may be made although something on the robot may not be at rest.

use cortex_protocol::{Effect, ToolSpec};

/// How much a call asks of a robot on which something may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RiskClass {
    /// It only looks, or it neither moves nor holds anything: a halt, for example.
    Light,
    Full,
}

impl RiskClass {
    pub(crate) fn of(spec: &ToolSpec) -> Self {
        match spec.effect {
            Effect::Observe => Self::Light,
            Effect::Act if spec.resources.is_empty() => Self::Light,
            Effect::Act | Effect::Move => Self::Full,
        }
    }
}
