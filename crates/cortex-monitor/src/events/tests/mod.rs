//! Stories and properties of events.

mod properties;
mod stories;
