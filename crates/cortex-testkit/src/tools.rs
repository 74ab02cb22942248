//! Tools that work, fail, hang, panic or ignore their halt.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider, Watching};
use cortex_protocol::{
    CallId, CancelMode, Dispatch, Effect, FailureKind, HaltState, MissionId, ToolCall, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::observations::FakeObservations;

/// How a tool behaves when it is called.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// It returns at once.
    Returns(Value),
    /// It returns after a while, and halts when it is told to.
    Takes(Duration, Value),
    /// It runs for a while, and halts when it is told to; then it behaves so.
    After(Duration, Box<Behaviour>),
    /// It says how it is getting on at even times, and halts when it is told to; then it behaves so.
    Reports {
        /// The time between two lines of feedback; none is a flood.
        every: Duration,
        /// How many lines.
        times: u32,
        /// What each says; none: which of how many it is.
        says: Option<String>,
        /// What follows.
        then: Box<Behaviour>,
    },
    /// Each call behaves as the next of these; when there is none left, as the last.
    InTurn(Vec<Behaviour>),
    /// It ends at once in this way; if something goes on, a halt changes nothing about it.
    Ends(ToolOutcome),
    /// It says that it failed.
    Fails(String),
    /// It is never accepted.
    Rejects(String),
    /// Its component is lost.
    Lost,
    /// Its component is lost, and says that nothing goes on only when it is there again.
    LostUntilBack(Arc<AtomicBool>),
    /// It runs until it is told to halt.
    RunsUntilHalted,
    /// It runs until it is told to halt, and ends as if it had done everything.
    SucceedsWhenHalted(Value),
    /// It runs until it is told to halt, and takes a while to say that it has.
    HaltsAfter(Duration),
    /// It runs for ever and does not answer its halt.
    IgnoresHalt,
    /// It runs for ever and says that it will not halt.
    RefusesHalt,
    /// It panics.
    Panics,
}

impl Behaviour {
    /// What it comes to in the end.
    fn end(&self) -> &Self {
        match self {
            Self::After(_, then) | Self::Reports { then, .. } => then.end(),
            other => other,
        }
    }

    /// As the call of this index behaves.
    fn of_call(&self, index: usize) -> Option<&Self> {
        match self {
            Self::InTurn(turns) => turns.get(index).or_else(|| turns.last())?.of_call(0),
            other => Some(other),
        }
    }
}

/// A provider of tools with set behaviours.
#[derive(Debug, Default)]
pub struct FakeTools {
    behaviours: BTreeMap<String, Behaviour>,
    /// What was begun, with how it behaves and what tells it to halt.
    begun_calls: Mutex<BTreeMap<(MissionId, CallId), BegunCall>>,
    /// What was called, in order.
    called: Mutex<Vec<ToolCall>>,
    /// What was told to halt, in order.
    halts: Mutex<Vec<Invocation>>,
    begun: Notify,
    observations: Option<Arc<FakeObservations>>,
}

/// A call that was begun.
#[derive(Debug, Clone)]
struct BegunCall {
    behaviour: Option<Behaviour>,
    told_to_halt: Arc<Notify>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A tool that takes any arguments.
#[must_use]
pub fn tool(name: &str, phase: ToolPhase, effect: Effect) -> ToolSpec {
    ToolSpec::new(name.into(), format!("Does {name}."))
        .with_parameters(json!({"type": "object"}))
        .with_phase(phase)
        .with_effect(effect)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(if effect == Effect::Observe { CancelMode::Drop } else { CancelMode::Halt })
}

impl FakeTools {
    /// A provider in which the named tools behave so.
    #[must_use]
    pub fn new<'a>(behaviours: impl IntoIterator<Item = (&'a str, Behaviour)>) -> Self {
        let behaviours = behaviours.into_iter().map(|(name, behaviour)| (name.to_owned(), behaviour)).collect();
        Self { behaviours, ..Self::default() }
    }

    /// The same, with a robot that can be watched.
    #[must_use]
    pub fn watched(mut self, observations: Arc<FakeObservations>) -> Self {
        self.observations = Some(observations);
        self
    }

    /// The tools' specifications: all of them act as steps and may move.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.behaviours.keys().map(|name| tool(name, ToolPhase::Execution, Effect::Move)).collect()
    }

    /// What was called so far.
    #[must_use]
    pub fn called(&self) -> Vec<String> {
        self.calls().iter().map(|call| call.tool.as_str().to_owned()).collect()
    }

    /// What was called so far, with the arguments.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        locked(&self.called).clone()
    }

    /// What was told to halt so far.
    #[must_use]
    pub fn halts(&self) -> Vec<CallId> {
        locked(&self.halts).iter().map(|invocation| invocation.id).collect()
    }

    /// The tools whose calls were told to halt so far.
    #[must_use]
    pub fn halted(&self) -> Vec<String> {
        locked(&self.halts).iter().map(|invocation| invocation.call.tool.as_str().to_owned()).collect()
    }

    /// Waits until a call has begun that nobody has waited for yet.
    pub async fn wait_until_begun(&self) {
        self.begun.notified().await;
    }

    /// Notes a call, and says how it behaves.
    fn begin(&self, invocation: &Invocation) -> BegunCall {
        let tool = &invocation.call.tool;
        let mut called = locked(&self.called);
        let index = called.iter().filter(|call| call.tool == *tool).count();
        called.push(invocation.call.clone());
        let behaviour = self.behaviours.get(tool.as_str()).and_then(|behaviour| behaviour.of_call(index)).cloned();
        let call = BegunCall { behaviour, told_to_halt: Arc::default() };
        locked(&self.begun_calls).insert((invocation.mission.clone(), invocation.id), call.clone());
        self.begun.notify_one();
        call
    }
}

/// Behaves so until the end, or until it is told to halt.
async fn carry_out(mut behaviour: Behaviour, told_to_halt: &Notify, observer: &dyn CallObserver) -> ToolOutcome {
    let cancelled = || ToolOutcome::failure(FailureKind::Reported, "cancelled");
    loop {
        behaviour = match behaviour {
            Behaviour::Returns(value) => return ToolOutcome::success(value),
            Behaviour::Takes(time, value) => Behaviour::After(time, Box::new(Behaviour::Returns(value))),
            Behaviour::After(time, then) => tokio::select! {
                biased;
                () = told_to_halt.notified() => return cancelled(),
                () = tokio::time::sleep(time) => *then,
            },
            Behaviour::Reports { every, times, says, then } => {
                for time in 1..=times {
                    tokio::select! {
                        biased;
                        () = told_to_halt.notified() => return cancelled(),
                        () = tokio::time::sleep(every) => {
                            observer.progressed(says.clone().unwrap_or_else(|| format!("{time} of {times}")));
                        }
                    }
                    // A flood still lets others run.
                    tokio::task::yield_now().await;
                }
                *then
            }
            Behaviour::Ends(outcome) => return outcome,
            Behaviour::Fails(message) | Behaviour::Rejects(message) => {
                return ToolOutcome::failure(FailureKind::Reported, message);
            }
            Behaviour::LostUntilBack(_) => {
                return ToolOutcome::failure(FailureKind::ComponentLost, "its component left the graph")
                    .with_halt(HaltState::Unconfirmed);
            }
            Behaviour::Lost => {
                return ToolOutcome::failure(FailureKind::ComponentLost, "its component left the graph");
            }
            Behaviour::RunsUntilHalted | Behaviour::HaltsAfter(_) => {
                told_to_halt.notified().await;
                return cancelled();
            }
            Behaviour::SucceedsWhenHalted(value) => {
                told_to_halt.notified().await;
                return ToolOutcome::success(value);
            }
            Behaviour::IgnoresHalt | Behaviour::RefusesHalt => std::future::pending().await,
            #[expect(clippy::panic, reason = "the story asks for it")]
            Behaviour::Panics => panic!("the story's tool panics"),
            Behaviour::InTurn(_) => {
                return ToolOutcome::failure(FailureKind::Internal, "the story has turns within turns");
            }
        };
    }
}

#[async_trait]
impl ToolProvider for FakeTools {
    fn label(&self) -> String {
        "fake".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        let BegunCall { behaviour, told_to_halt } = self.begin(&invocation);
        let Some(behaviour) = behaviour else {
            return ToolOutcome::failure(FailureKind::NotFound, "the story has no such tool");
        };
        if !matches!(behaviour, Behaviour::Rejects(_)) {
            observer.accepted();
            observer.progressed("under way".to_owned());
        }
        carry_out(behaviour, &told_to_halt, observer.as_ref()).await
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        locked(&self.halts).push(invocation.clone());
        let begun = locked(&self.begun_calls).get(&(invocation.mission.clone(), invocation.id)).cloned();
        let Some(BegunCall { behaviour, told_to_halt }) = begun else { return HaltState::AtRest };
        match behaviour.as_ref().map(Behaviour::end) {
            Some(Behaviour::IgnoresHalt) => return std::future::pending().await,
            Some(Behaviour::Lost) => return HaltState::Unconfirmed,
            Some(Behaviour::LostUntilBack(back)) if !back.load(Ordering::Acquire) => return HaltState::Unconfirmed,
            Some(Behaviour::RefusesHalt) => return HaltState::Refused,
            Some(Behaviour::Ends(outcome)) if outcome.halt.may_go_on() => return outcome.halt,
            Some(Behaviour::HaltsAfter(time)) => tokio::time::sleep(*time).await,
            _ => {}
        }
        told_to_halt.notify_one();
        HaltState::Halted
    }

    fn watching(&self) -> Watching {
        match &self.observations {
            Some(observations) => Watching::By(observations.clone()),
            None => Watching::Nobody,
        }
    }
}
