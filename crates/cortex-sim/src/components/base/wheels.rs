//! Whose commands the wheels obey, and the velocities that they are told.

use std::sync::{Arc, Mutex, PoisonError};

use cortex_component::messages::geometry_msgs::msg::Twist;
use cortex_component::{ComponentContext, Failure, Latest, Parameter, QosProfile, Slot};

use crate::components::COMMAND_TOPIC;
use crate::components::geometry::velocity;
use crate::velocity::{Limits, Obedience, Velocity};

const COMMANDS: &str = "commands";

/// Whose commands the wheels obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    /// Calls that name a place.
    Places,
    /// Velocities, from whoever publishes them.
    Velocity,
}

pub(super) fn parameter() -> Parameter {
    let what =
        "Whose commands it obeys: 'places', calls that name a place; or 'velocity', what is published on cmd_vel.";
    Parameter::text(COMMANDS, "places").describe(what).read_only()
}

/// What the wheels are told.
#[derive(Clone, Default)]
pub(super) struct Wheels {
    commands: Slot<Commands>,
    told: Slot<Latest<Twist>>,
    obedience: Arc<Mutex<Obedience>>,
}

impl Wheels {
    pub(super) async fn configure(&self, context: &ComponentContext) -> Result<(), Failure> {
        let commands = match context.parameters().text(COMMANDS)?.as_str() {
            "places" => Commands::Places,
            "velocity" => Commands::Velocity,
            other => return Err(format!("'{COMMANDS}' is '{other}'; give 'places' or 'velocity'").into()),
        };
        if commands == Commands::Velocity {
            self.told.put(context.latest(COMMAND_TOPIC, QosProfile::default()).await?);
        }
        self.commands.put(commands);
        Ok(())
    }

    /// Whose commands they obey.
    pub(super) fn commands(&self) -> Commands {
        self.commands.get().unwrap_or(Commands::Places)
    }

    /// The velocity that they are told now, within their limits.
    pub(super) fn velocity(&self, limits: &Limits) -> Velocity {
        let last = self.told.get().ok().and_then(|told| told.last());
        let last = last.map(|received| (velocity(&received.message), received.at.elapsed()));
        self.obedience.lock().unwrap_or_else(PoisonError::into_inner).obey(last, limits)
    }

    /// They stand, whatever they are told, until whoever drives has let go.
    pub(super) fn halt(&self) {
        *self.obedience.lock().unwrap_or_else(PoisonError::into_inner) = Obedience::Halted;
    }
}
