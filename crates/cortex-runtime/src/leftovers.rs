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

    /// The tools of the calls that are not known to be at rest.
    pub(crate) fn names(&self) -> Vec<ToolName> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().map(|call| call.invocation.call.tool.clone()).collect()
    }

    /// Forgets all of them: a person has looked. Returns them.
    pub(crate) fn forget(&self) -> Vec<Invocation> {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        calls.into_iter().map(|call| call.invocation).collect()
    }

    /// Halts all of them again, at once, forgets those that confirm, and names the rest; `patience` bounds the whole.
    /// Nothing is forgotten meanwhile, so that a second stop sees the same. Returns the names, and what is at rest.
    pub(crate) async fn halt(&self, patience: Duration) -> (Vec<ToolName>, Vec<Invocation>) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let halting = calls.into_iter().map(|call| async move {
            let halting = AssertUnwindSafe(call.provider.halt(&call.invocation)).catch_unwind();
            let state = tokio::time::timeout(patience, halting).await;
            matches!(state, Ok(Ok(HaltState::AtRest | HaltState::Halted))).then_some(call.invocation)
        });
        let at_rest: Vec<Invocation> = join_all(halting).await.into_iter().flatten().collect();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).retain(|call| !at_rest.contains(&call.invocation));
        (self.names(), at_rest)
    }
}
