//! Recipes: one TOML file that says what a whole robot consists of, and what keeps it alive.
//!
//! Data and its check; no input or output. [`Recipe::read`] takes the text and gives the recipe, or every problem with
//! its line, its column and how to mend it.
//!
//! - [`recipe`]: the file as a whole, and [`schema`], its JSON Schema;
//! - [`component`]: a component: how it is started, what it depends on, what shows that it lives and works;
//! - [`fallback`]: what is done when it fails; [`action`]: what a robot's owner adds to that;
//! - [`problem`]: what is wrong with a file, and where.

pub mod action;
mod check;
pub mod component;
pub mod fallback;
mod location;
pub mod problem;
pub mod recipe;
mod seconds;

pub use action::{Action, ActionName, BUILT_IN_ACTIONS, BuiltIn, Deed, ToolOffer};
pub use component::{ComponentRecipe, During, Lifecycle, Process, Progress, Start};
pub use fallback::{Fallbacks, Rung};
pub use problem::{Mistake, Problem, Problems};
pub use recipe::{RECIPE_VERSION, Recipe, schema};
pub use seconds::Seconds;
