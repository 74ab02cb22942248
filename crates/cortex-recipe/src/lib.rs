//! Recipes: one TOML file that says what a whole robot consists of, and what keeps it alive.
//!
//! Data and its check; no input or output. [`Recipe::read`] takes the text and gives the recipe, or every problem with
//! its line, its column and how to fix it.
//!
//! - [`recipe`]: the file as a whole, and [`schema`], its JSON Schema;
//! - [`component`]: a component: how it is started, what it depends on, what shows that it lives and works;
//! - [`fallback`]: what is done when it fails; [`action`]: what a robot's owner adds to that, and [`parameter`], what such
//!   an action is told with each call; [`binding`]: the action with those values;
//! - [`event`]: what the robot does by itself when something happens;
//! - [`topics`]: what it says of topics, who publishes them and of which type they are;
//! - [`problem`]: what is wrong with a file, and where; `remarks`: what is right and still good to know.

pub mod action;
pub mod binding;
mod brackets;
mod check;
pub mod component;
pub mod event;
pub mod fallback;
#[cfg(test)]
mod fuzzed;
mod limits;
mod location;
pub mod parameter;
pub mod problem;
pub mod recipe;
mod remarks;
mod seconds;
pub mod topics;
mod wording;

pub use action::{Action, ActionKind, ActionName, BUILT_IN_ACTIONS, BuiltIn, ToolOffer};
pub use binding::BindingError;
pub use component::{ComponentRecipe, During, Lifecycle, Process, Progress, SHORTEST_HEARTBEAT_S, Start};
pub use event::{Begins, Event, EventAction, EventName};
pub use fallback::{Fallbacks, Rung};
pub use limits::{Bytes, InvalidProcessors, Processors};
pub use parameter::{Parameter, ParameterKind};
pub use problem::{Mistake, Problem, Problems};
pub use recipe::{MAX_RECIPE_BYTES, RECIPE_VERSION, Recipe, schema};
pub use seconds::{InvalidSeconds, Seconds};
pub use topics::{Known, TopicUse};

/// What is wrong with comparing this field of a type of message so, and how to fix it: a percentage that is a
/// fraction, for example. Only for fields that the comments of usual messages give a range.
#[must_use]
pub fn out_of_range(
    interface: &str,
    field: &str,
    check: &cortex_protocol::condition::Check,
) -> Option<(String, String)> {
    check::values::out_of_range(interface, field, check)
}
