//! The actions of a recipe as tools: models are given those that the recipe offers, events may do all of them, and each call
//! is guarded as one of the robot's own tools.
//!
//! This crate owns how an action becomes a tool (its arguments, effect, resources, and the second tool where a component has
//! a standby), how a call of it is carried out and halted, and the commands of a recipe, which run as processes on a thread
//! of their own. It does not own the form of actions (`cortex-recipe`), the requests over ROS
//! (`cortex_robot::supervision::actions`), nor the events that do actions (`cortex-events`).
//!
//! Begin with [`CustomActions`], a `ToolProvider`.

mod custom_actions;

pub use custom_actions::{CustomActions, Offered};
