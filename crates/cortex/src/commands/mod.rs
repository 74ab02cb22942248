//! One module for each command.

pub(crate) mod call;
pub(crate) mod correct;
pub(crate) mod doctor;
pub(crate) mod inspect;
pub(crate) mod plan;
mod policy_report;
pub(crate) mod questions;
pub(crate) mod recipe;
pub(crate) mod run;
pub(crate) mod send;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod tape;
pub(crate) mod tools;
pub(crate) mod wordings;
