//! Tests of the monitor, and what holds whatever happens.

mod properties;
mod regressions;
mod stories;
mod truth;
mod world;
