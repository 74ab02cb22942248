//! Calls that were given up without a sign that what they started is at rest. They outlive their mission, so that a stop
//! can halt them again and name them.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::{Invocation, ToolProvider};
use cortex_protocol::{HaltState, ToolName};
use futures::FutureExt;
use futures::future::join_all;

/// Most calls that are remembered. A robot on which more than this did not halt is beyond naming them.
const CAPACITY: usize = 256;

/// The calls that are not known to be at rest.
#[derive(Default)]
pub(crate) struct Leftovers {
    calls: Mutex<Vec<Leftover>>,
}

#[derive(Clone)]
struct Leftover {
    provider: Arc<dyn ToolProvider>,
    invocation: Invocation,
}

impl Leftovers {
    /// Remembers a call; the oldest makes room.
    pub(crate) fn remember(&self, provider: Arc<dyn ToolProvider>, invocation: Invocation) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == CAPACITY {
            calls.remove(0);
        }
        calls.push(Leftover { provider, invocation });
    }

    /// Halts all of them again, at once, and names those that still do not confirm; `patience` bounds the whole.
    pub(crate) async fn halt(&self, patience: Duration) -> Vec<ToolName> {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        let halted = join_all(calls.into_iter().map(|call| async move {
            let halting = AssertUnwindSafe(call.provider.halt(&call.invocation)).catch_unwind();
            let state = tokio::time::timeout(patience, halting).await;
            (!matches!(state, Ok(Ok(HaltState::AtRest | HaltState::Halted)))).then_some(call)
        }))
        .await;
        let mut names = Vec::new();
        for call in halted.into_iter().flatten() {
            names.push(call.invocation.call.tool.clone());
            self.remember(call.provider, call.invocation);
        }
        names
    }
}
