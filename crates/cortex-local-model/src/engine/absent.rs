//! No engine: says so, and how to get one.

use cortex_local_model::protocol::{Ask, Done, Load, Problem, Ready};

use crate::lines::{Cancelled, Output};

pub(crate) const DESCRIPTION: &str = "none (built without the feature `llama`)";

/// There is none.
pub(crate) enum Engine {}

impl Engine {
    pub(crate) fn load(_: &Load) -> Result<Self, Problem> {
        Err(Problem {
            problem: "this program was built without an engine, so it can load no model".to_owned(),
            fix: "build it with one, `cargo build --release --package cortex-local-model --features llama`, and install it \
                  beside `cortex`; or use another model"
                .to_owned(),
        })
    }

    pub(crate) fn ready(&self) -> Ready {
        match *self {}
    }

    pub(crate) fn ask(&mut self, _: &Ask, _: &Cancelled, _: &Output) -> Result<Done, Problem> {
        match *self {}
    }
}
