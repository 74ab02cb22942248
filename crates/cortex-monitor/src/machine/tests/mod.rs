//! Stories of the monitor, and what holds whatever happens.

mod properties;
mod stories;
mod world;
