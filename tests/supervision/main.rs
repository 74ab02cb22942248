//! Robots that Cortex brings up from a recipe and keeps alive, and what they do by themselves.

mod bad_parts;
mod events;
mod fault_campaign;
mod recipe_check;
mod recipes;
