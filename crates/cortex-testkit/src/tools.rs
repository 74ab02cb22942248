//! Tools that work, fail, hang, panic or ignore their halt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{
    CallId, CancelMode, Dispatch, Effect, FailureKind, HaltState, ToolCall, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// How a tool behaves when it is called.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// It returns at once.
    Returns(Value),
    /// It returns after a while, and halts when it is told to.
    Takes(Duration, Value),
    /// It says that it failed.
    Fails(String),
    /// It is never accepted.
    Rejects(String),
    /// Its component is lost.
    Lost,
    /// It runs until it is told to halt.
    RunsUntilHalted,
    /// It runs for ever and does not answer its halt.
    IgnoresHalt,
    /// It runs for ever and says that it will not halt.
    RefusesHalt,
    /// It panics.
    Panics,
}

/// A provider of tools with set behaviours.
#[derive(Debug, Default)]
pub struct FakeTools {
    behaviours: BTreeMap<String, Behaviour>,
    halted: Notify,
    /// What was called, in order.
    called: Mutex<Vec<ToolCall>>,
    /// What was told to halt, in order.
    halts: Mutex<Vec<CallId>>,
    begun: Notify,
}

/// A tool that takes any arguments.
#[must_use]
pub fn tool(name: &str, phase: ToolPhase, effect: Effect) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object"}),
        phase,
        effect,
        resources: Vec::new(),
        timeout: Duration::from_secs(30),
        dispatch: Dispatch::Wait,
        cancel: if effect == Effect::Observe { CancelMode::Drop } else { CancelMode::Halt },
        component: None,
        phrases: Vec::new(),
    }
}

impl FakeTools {
    /// A provider in which the named tools behave so.
    #[must_use]
    pub fn new<'a>(behaviours: impl IntoIterator<Item = (&'a str, Behaviour)>) -> Self {
        let behaviours = behaviours.into_iter().map(|(name, behaviour)| (name.to_owned(), behaviour)).collect();
        Self { behaviours, ..Self::default() }
    }

    /// The tools' specifications: all of them act as steps and may move.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.behaviours.keys().map(|name| tool(name, ToolPhase::Execution, Effect::Move)).collect()
    }

    /// What was called so far.
    #[must_use]
    pub fn called(&self) -> Vec<String> {
        let called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
        called.iter().map(|call| call.tool.as_str().to_owned()).collect()
    }

    /// What was told to halt so far.
    #[must_use]
    pub fn halts(&self) -> Vec<CallId> {
        self.halts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until a call has begun that nobody has waited for yet.
    pub async fn wait_until_begun(&self) {
        self.begun.notified().await;
    }
}

#[async_trait]
impl ToolProvider for FakeTools {
    fn label(&self) -> String {
        "fake".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        let name = invocation.call.tool.as_str().to_owned();
        self.called.lock().unwrap_or_else(PoisonError::into_inner).push(invocation.call);
        self.begun.notify_one();
        if !matches!(self.behaviours.get(&name), Some(Behaviour::Rejects(_))) {
            observer.accepted();
            observer.progressed("under way".to_owned());
        }
        match self.behaviours.get(&name).cloned() {
            Some(Behaviour::Returns(value)) => ToolOutcome::success(value),
            Some(Behaviour::Takes(time, value)) => tokio::select! {
                () = tokio::time::sleep(time) => ToolOutcome::success(value),
                () = self.halted.notified() => ToolOutcome::failure(FailureKind::Reported, "cancelled"),
            },
            Some(Behaviour::Fails(message) | Behaviour::Rejects(message)) => {
                ToolOutcome::failure(FailureKind::Reported, message)
            }
            Some(Behaviour::Lost) => ToolOutcome::failure(FailureKind::ComponentLost, "its component left the graph"),
            Some(Behaviour::RunsUntilHalted) => {
                self.halted.notified().await;
                ToolOutcome::failure(FailureKind::Reported, "cancelled")
            }
            Some(Behaviour::IgnoresHalt | Behaviour::RefusesHalt) => std::future::pending().await,
            #[expect(clippy::panic, reason = "the story asks for it")]
            Some(Behaviour::Panics) => panic!("the story's tool panics"),
            None => ToolOutcome::failure(FailureKind::NotFound, "the story has no such tool"),
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        self.halts.lock().unwrap_or_else(PoisonError::into_inner).push(invocation.id);
        match self.behaviours.get(invocation.call.tool.as_str()) {
            Some(Behaviour::IgnoresHalt) => std::future::pending().await,
            Some(Behaviour::Lost) => HaltState::Unconfirmed,
            Some(Behaviour::RefusesHalt) => HaltState::Refused,
            _ => {
                self.halted.notify_waiters();
                HaltState::Halted
            }
        }
    }
}
