//! Newtypes for every name and number that identifies something.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

text_id! {
    /// A mission: one task from its acceptance to its one result. Unique without coordination (UUID version 7).
    MissionId
}
text_id! {
    /// A conversation that several missions may continue.
    SessionId
}
text_id! {
    /// An event. Unique without coordination.
    EventId
}
text_id! {
    /// A live connection of a client to Cortex. Unique without coordination.
    ConnectionId
}
text_id! {
    /// A component of the robot: the fully qualified name of its node without the leading slash, for example `base`
    /// or `left_arm/gripper`.
    ComponentName
}
text_id! {
    /// Something that only one step may hold at a time: `base`, `arm`, `speech`, `camera:read`.
    ResourceName
}
text_id! {
    /// The canonical name of a tool, for example `base.go_to` or `inspect_component`. Unique on the robot. It may hold
    /// dots and slashes; what a model sees is a shorter wire name.
    ToolName
}

impl ToolName {
    /// The name of a component's method as a tool: `{component}.{method}`.
    #[must_use]
    pub fn of_method(component: &ComponentName, method: &str) -> Self {
        Self(format!("{component}.{method}"))
    }
}

/// One invocation of a tool within a mission. Counts from 1, in the order of dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, Default)]
#[serde(transparent)]
pub struct CallId(pub u32);

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "call {}", self.0)
    }
}

/// A step's place in its plan, from 1, as models and people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct StepNumber(pub u32);

impl fmt::Display for StepNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// Text that names no step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a step is named PLAN.STEP, such as 1.2")]
pub struct InvalidStepAddress;

/// A step of any plan of a mission, written `PLAN.STEP`: `2.3` is step 3 of plan 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenAddress", into = "String")]
#[schemars(with = "String")]
pub struct StepAddress {
    /// The plan, from 1. 0: the plan before that of whoever names the step, as older records have it.
    pub plan: u32,
    /// The step of that plan.
    pub step: StepNumber,
}

/// An address as it stands in a record.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenAddress {
    Full(String),
    OfThePlanBefore(u32),
}

impl TryFrom<WrittenAddress> for StepAddress {
    type Error = InvalidStepAddress;

    fn try_from(written: WrittenAddress) -> Result<Self, InvalidStepAddress> {
        match written {
            WrittenAddress::Full(text) => text.parse(),
            WrittenAddress::OfThePlanBefore(step) => Ok(Self { plan: 0, step: StepNumber(step) }),
        }
    }
}

impl FromStr for StepAddress {
    type Err = InvalidStepAddress;

    fn from_str(text: &str) -> Result<Self, InvalidStepAddress> {
        let read = || {
            let (plan, step) = text.trim().split_once('.')?;
            Some(Self { plan: plan.parse().ok()?, step: StepNumber(step.parse().ok()?) })
        };
        read().ok_or(InvalidStepAddress)
    }
}

impl From<StepAddress> for String {
    fn from(address: StepAddress) -> Self {
        address.to_string()
    }
}

impl fmt::Display for StepAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.plan, self.step)
    }
}
