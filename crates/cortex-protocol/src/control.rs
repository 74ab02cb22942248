//! Who has the controls of the robot: Cortex with its missions and events, or a person.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ConnectionId, Origin};

/// Most characters of a name of a person's client.
const NAME_CHARACTERS: usize = 60;

/// Who has the controls now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// In one word.
    pub state: ControlState,
    /// Who paused the robot, has the controls, had them last, or let the robot go on. None: nobody since Cortex runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Origin>,
    /// The live connection that holds the controls. Only where they are held. It is no secret: whoever commands over a
    /// connection has to show that it is theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<ConnectionId>,
    /// Since when, in milliseconds since 1970 by the clock of Cortex' machine. 0: since Cortex runs.
    #[serde(default)]
    pub since_ms: u64,
    /// Why it is so, as a sentence without its full stop. Empty: since Cortex runs.
    #[serde(default)]
    pub because: String,
    /// How often this has changed since Cortex runs. Tells two pauses apart, and what is seen from what is.
    #[serde(default)]
    pub changes: u64,
}

/// See [`Control`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlState {
    /// Missions and events act.
    #[default]
    Autonomous,
    /// Neither missions nor events begin anything, and no person has the controls.
    Paused,
    /// As paused, and one person has the controls.
    Held,
}

impl Control {
    /// Whether missions and events may act.
    #[must_use]
    pub fn is_autonomous(&self) -> bool {
        self.state == ControlState::Autonomous
    }

    /// Why missions and events don't act, if they don't.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        (!self.is_autonomous()).then_some(self.because.as_str())
    }

    /// Whether this is the connection that holds the controls.
    #[must_use]
    pub fn is_held_over(&self, connection: &ConnectionId) -> bool {
        self.state == ControlState::Held && self.holder.as_ref() == Some(connection)
    }

    /// Whether nothing was ever changed, so that nothing of it needs to be told.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.state, self.because.is_empty()) {
            (ControlState::Autonomous, _) | (_, true) => formatter.write_str("The robot acts by itself."),
            (ControlState::Paused | ControlState::Held, false) => write!(formatter, "{}.", self.because),
        }
    }
}

impl Origin {
    /// The name of the client for people: on one line, of bounded length. It is what the client says of itself.
    #[must_use]
    pub fn name(&self) -> String {
        let plain = self.client.trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        let name: String = plain.take(NAME_CHARACTERS).collect();
        if name.is_empty() { "somebody".to_owned() } else { name }
    }
}
