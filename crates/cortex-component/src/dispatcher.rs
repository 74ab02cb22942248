//! Runs methods: checks the call, keeps count of what runs, cancels and waits for rest. Knows nothing of ROS.
//!
//! Every call gets exactly one answer. A call counts as running until its future is really gone, so that a halt never
//! answers too early.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cortex_protocol::strict_json;
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::call::{CallContext, Failure, ProgressOutlet};
use crate::health::{Health, HealthReporter};
use crate::lifecycle::State;
use crate::method::{CANCEL_GRACE, Method};
use crate::schema::{ArgumentCheck, InvalidSchema, UnfitArguments};

/// Calls that may run at the same time. A robot part does a few things at once; more is a caller gone wild.
const MAX_CALLS: usize = 32;
/// Calls of cancel methods that may run at the same time, on top of [`MAX_CALLS`]: a halt must get through.
const MAX_HALTS: usize = 16;
/// How long a halt waits for the calls that it cancelled: the grace, the end of the future, and a margin.
pub(crate) const REST_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest arguments that are read, in bytes.
const MAX_ARGUMENT_BYTES: usize = 1 << 20;
/// Longest result that is sent, in bytes.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// What goes back over `~/execute_method`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) success: bool,
    pub(crate) error: String,
    pub(crate) response: String,
}

impl Answer {
    fn success(value: &Value) -> Self {
        let response = value.to_string();
        if response.len() > MAX_RESPONSE_BYTES {
            return Self::failure(format!(
                "the result has {} bytes; at most {MAX_RESPONSE_BYTES} are sent",
                response.len()
            ));
        }
        Self { success: true, error: String::new(), response }
    }

    fn failure(error: impl Into<String>) -> Self {
        Self { success: false, error: error.into(), response: String::new() }
    }
}

/// The methods of a component and the calls that run.
pub(crate) struct Dispatcher {
    methods: BTreeMap<String, Offered>,
    state: watch::Receiver<State>,
    health: HealthReporter,
    running: Arc<Mutex<Running>>,
    /// Where progress goes out, once that is there.
    progress: OnceLock<ProgressOutlet>,
}

struct Offered {
    method: Arc<Method>,
    check: ArgumentCheck,
    /// The methods that this one halts.
    halts: Vec<String>,
}

#[derive(Default)]
struct Running {
    begun: u64,
    calls: BTreeMap<u64, RunningCall>,
}

struct RunningCall {
    method: String,
    is_halt: bool,
    cancellation: CancellationToken,
    gone: CancellationToken,
}

/// Keeps a call in the table until it is dropped, which happens with the call's future.
struct Registration {
    id: u64,
    running: Arc<Mutex<Running>>,
    gone: CancellationToken,
}

impl Drop for Registration {
    fn drop(&mut self) {
        lock(&self.running).calls.remove(&self.id);
        self.gone.cancel();
    }
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    // Nothing in here panics while it holds the lock; if it did, the table would still be whole.
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Dispatcher {
    /// Takes the methods of a component.
    ///
    /// # Errors
    /// When a schema can't be compiled.
    pub(crate) fn new(
        methods: Vec<Method>,
        state: watch::Receiver<State>,
        health: HealthReporter,
    ) -> Result<Self, BadParameters> {
        let mut halts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for method in &methods {
            if let Some(cancel) = &method.description.cancel_method {
                halts.entry(cancel.clone()).or_default().push(method.description.name.clone());
            }
        }
        let mut offered = BTreeMap::new();
        for method in methods {
            let name = method.description.name.clone();
            let check = ArgumentCheck::compile(&method.description.parameters)
                .map_err(|problem| BadParameters { method: name.clone(), problem })?;
            let halts = halts.remove(&name).unwrap_or_default();
            offered.insert(name, Offered { method: Arc::new(method), check, halts });
        }
        Ok(Self { methods: offered, state, health, running: Arc::default(), progress: OnceLock::new() })
    }

    /// The methods that tell how far they are, each with its topic.
    pub(crate) fn progress_topics(&self) -> impl Iterator<Item = (&str, &str)> {
        self.methods
            .iter()
            .filter_map(|(name, offered)| Some((name.as_str(), offered.method.description.progress.as_deref()?)))
    }

    /// Has progress go out there from now on.
    pub(crate) fn report_progress_to(&self, outlet: ProgressOutlet) {
        // It is set once, before any call is begun.
        let _ = self.progress.set(outlet);
    }

    /// Checks a call and registers it. Does not wait: what is begun first is cancelled by a halt that comes second.
    ///
    /// # Errors
    /// The answer, when the call can't be begun.
    pub(crate) fn begin(&self, name: &str, arguments: &str) -> Result<Call, Answer> {
        let Some(offered) = self.methods.get(name) else {
            let known: Vec<&str> = self.methods.keys().map(String::as_str).collect();
            return Err(Answer::failure(format!("there is no method '{name}'; there are: {}", known.join(", "))));
        };
        let refused = |problem: ArgumentsProblem| Answer::failure(problem.to_string());
        let arguments = read_arguments(arguments).map_err(refused)?;
        offered.check.check(&arguments).map_err(|unfit| refused(unfit.into()))?;

        let is_halt = !offered.halts.is_empty();
        let mut running = lock(&self.running);
        // Read under the lock: a component that stops changes its state first and cancels what is registered second.
        let state = *self.state.borrow();
        if state != State::Active && !is_halt {
            return Err(Answer::failure(format!("the component is {state}")));
        }
        let limit = if is_halt { MAX_HALTS } else { MAX_CALLS };
        if running.calls.values().filter(|call| call.is_halt == is_halt).count() >= limit {
            return Err(Answer::failure(format!("{limit} calls are running already; try again when one has ended")));
        }
        let mut halted = Vec::new();
        for call in running.calls.values().filter(|call| offered.halts.contains(&call.method)) {
            call.cancellation.cancel();
            halted.push((call.method.clone(), call.gone.clone()));
        }
        let cancellation = CancellationToken::new();
        let gone = CancellationToken::new();
        let id = running.begun;
        running.begun += 1;
        running.calls.insert(
            id,
            RunningCall { method: name.to_owned(), is_halt, cancellation: cancellation.clone(), gone: gone.clone() },
        );
        Ok(Call {
            method: Arc::clone(&offered.method),
            arguments,
            cancellation,
            halted,
            // The author's halt may rely on what was set up; without it there is nothing to halt but calls.
            runs_function: state == State::Active,
            registration: Registration { id, running: Arc::clone(&self.running), gone },
            health: self.health.clone(),
            progress: self.progress.get().filter(|_| offered.method.description.progress.is_some()).cloned(),
        })
    }

    /// Cancels everything that runs and waits until it is gone.
    ///
    /// # Errors
    /// The methods that did not come to rest in time.
    pub(crate) async fn rest(&self) -> Result<(), Vec<String>> {
        let calls: Vec<_> = lock(&self.running)
            .calls
            .values()
            .map(|call| {
                call.cancellation.cancel();
                (call.method.clone(), call.gone.clone())
            })
            .collect();
        wait_for_rest(&calls).await
    }
}

/// A method whose schema can't be compiled.
#[derive(Debug, Error)]
#[error("the parameters of '{method}' are not a valid JSON Schema: {problem}")]
pub(crate) struct BadParameters {
    method: String,
    problem: InvalidSchema,
}

/// Why a method is not called with these arguments. In words for the caller.
#[derive(Debug, Error)]
enum ArgumentsProblem {
    #[error("the arguments have {bytes} bytes; at most {MAX_ARGUMENT_BYTES} are read")]
    TooLarge { bytes: usize },
    #[error("the arguments must be a JSON object")]
    NoObject,
    #[error("the arguments are not JSON: {problem}")]
    NoJson { problem: String },
    #[error("the arguments do not fit: {0}")]
    Unfit(UnfitArguments),
}

impl From<UnfitArguments> for ArgumentsProblem {
    fn from(unfit: UnfitArguments) -> Self {
        Self::Unfit(unfit)
    }
}

fn read_arguments(text: &str) -> Result<Value, ArgumentsProblem> {
    if text.len() > MAX_ARGUMENT_BYTES {
        return Err(ArgumentsProblem::TooLarge { bytes: text.len() });
    }
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match strict_json::read(text) {
        Ok(Value::Object(arguments)) => Ok(Value::Object(arguments)),
        Ok(_) => Err(ArgumentsProblem::NoObject),
        Err(problem) => Err(ArgumentsProblem::NoJson { problem: problem.to_string() }),
    }
}

async fn wait_for_rest(calls: &[(String, CancellationToken)]) -> Result<(), Vec<String>> {
    let deadline = Instant::now() + REST_TIMEOUT;
    let mut restless = Vec::new();
    for (method, gone) in calls {
        if timeout_at(deadline, gone.cancelled()).await.is_err() {
            restless.push(method.clone());
        }
    }
    if restless.is_empty() { Ok(()) } else { Err(restless) }
}

/// A call that was begun.
pub(crate) struct Call {
    method: Arc<Method>,
    arguments: Value,
    cancellation: CancellationToken,
    halted: Vec<(String, CancellationToken)>,
    runs_function: bool,
    registration: Registration,
    health: HealthReporter,
    progress: Option<ProgressOutlet>,
}

impl Call {
    /// Runs the call to its end, which comes in bounded time.
    pub(crate) async fn run(self) -> Answer {
        let halted = self.halted.clone();
        let result = if self.runs_function { self.run_function().await } else { Ok(Value::Null) };
        if let Err(restless) = wait_for_rest(&halted).await {
            return Answer::failure(format!(
                "not at rest after {} s: {}",
                REST_TIMEOUT.as_secs_f64(),
                restless.join(", ")
            ));
        }
        match result {
            Ok(value) => Answer::success(&value),
            Err(failure) => Answer::failure(failure.to_string()),
        }
    }

    async fn run_function(self) -> Result<Value, Failure> {
        let Self { method, arguments, cancellation, registration, health, progress, .. } = self;
        let name = method.description.name.clone();
        let limit = method.timeout();
        let context = CallContext::new(name.clone(), cancellation.clone(), progress);
        let mut task = AbortOnDropHandle::new(tokio::spawn(async move {
            let _registration = registration;
            method.start(arguments, context).await
        }));
        let stopped_because = tokio::select! {
            ended = &mut task => return finished(ended, &name, &health),
            () = tokio::time::sleep(limit) => {
                Failure::Reason(format!("not done within {} s, so it was stopped", limit.as_secs_f64()))
            }
            () = cancellation.cancelled() => Failure::Cancelled,
        };
        cancellation.cancel();
        if let Ok(ended) = timeout(CANCEL_GRACE, &mut task).await {
            // It may have been done at the very moment, or may have something to say about why it failed to stop.
            return match finished(ended, &name, &health) {
                Err(Failure::Cancelled) => Err(stopped_because),
                result => result,
            };
        }
        task.abort();
        if timeout(CANCEL_GRACE, &mut task).await.is_err() {
            health.report(&name, Health::Component, format!("{name} blocks and can't be stopped"));
            return Err(Failure::Reason(format!("{stopped_because}, but {name} may still be going on")));
        }
        Err(stopped_because)
    }
}

fn finished(
    ended: Result<Result<Value, Failure>, tokio::task::JoinError>,
    name: &str,
    health: &HealthReporter,
) -> Result<Value, Failure> {
    match ended {
        Ok(result) => {
            if result.is_ok() {
                health.clear(name);
            }
            result
        }
        Err(problem) if problem.is_panic() => {
            health.report(name, Health::Algorithm, format!("{name} panicked"));
            Err(Failure::Reason(format!("{name} panicked; this is a flaw of the component")))
        }
        Err(_) => Err(Failure::Cancelled),
    }
}

#[cfg(test)]
mod tests;
