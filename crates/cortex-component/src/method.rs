//! What a component can do: described for a model, run with typed arguments.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::{Condition, Effect, Evidence, MethodDescription, ResourceName, ToolPhase, component};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{CallContext, Failure};
use crate::schema_of;

/// How long a cancelled method has to come to rest and return; after that its future is dropped.
pub const CANCEL_GRACE: Duration = Duration::from_secs(1);

/// The arguments of a method that takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

type RunFuture = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;
type RunFunction = Arc<dyn Fn(Value, CallContext) -> RunFuture + Send + Sync>;

/// A method, ready to be given to a component.
#[derive(Clone)]
pub struct Method {
    pub(crate) description: MethodDescription,
    run: RunFunction,
}

impl Method {
    /// Begins a method. `description` says what it does and when to use it, for a model.
    #[expect(clippy::new_ret_no_self, reason = "a method is complete only with its function; `run` makes it")]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> MethodBuilder<NoArguments> {
        MethodBuilder {
            description: MethodDescription {
                name: name.into(),
                description: description.into(),
                parameters: schema_of::<NoArguments>(),
                phase: ToolPhase::default(),
                effect: None,
                resources: None,
                timeout_s: None,
                cancel_method: None,
                outlives_process: false,
                fallback: false,
                progress: None,
                phrases: Vec::new(),
                before: Vec::new(),
                during: Vec::new(),
                after: Vec::new(),
            },
            arguments: PhantomData,
        }
    }

    /// How long a call may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.description
            .timeout_s
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map_or(component::DEFAULT_TIMEOUT, |timeout| timeout.min(component::MAX_TIMEOUT))
    }

    pub(crate) fn start(&self, arguments: Value, call: CallContext) -> RunFuture {
        (self.run)(arguments, call)
    }
}

/// A method under construction; `A` is the type of its arguments.
pub struct MethodBuilder<A> {
    description: MethodDescription,
    arguments: PhantomData<fn(A)>,
}

impl<A> MethodBuilder<A> {
    /// Takes arguments of type `B`, described by the schema of that type.
    #[must_use]
    pub fn parameters<B: JsonSchema + DeserializeOwned>(self) -> MethodBuilder<B> {
        self.parameters_schema(schema_of::<B>())
    }

    /// Takes arguments of type `B`, described by a schema that is only known at run time, for example with the names
    /// of rooms as `enum`.
    #[must_use]
    pub fn parameters_schema<B: DeserializeOwned>(mut self, schema: Value) -> MethodBuilder<B> {
        self.description.parameters = schema;
        MethodBuilder { description: self.description, arguments: PhantomData }
    }

    /// When it may be called. Default: only as a step of a plan.
    #[must_use]
    pub fn phase(mut self, phase: ToolPhase) -> Self {
        self.description.phase = phase;
        self
    }

    /// What it does to the world. Without it nobody has declared that: the method is taken to move, and by default Cortex asks
    /// a person before each call.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.description.effect = Some(effect);
        self
    }

    /// Something that it holds while it runs, for example `speech`. Default: the component itself.
    #[must_use]
    pub fn resource(mut self, name: &str) -> Self {
        self.description.resources.get_or_insert_default().push(ResourceName::from(name));
        self
    }

    /// Holds nothing, not even the component: it may run beside anything, as a method that halts others must.
    #[must_use]
    pub fn holds_nothing(mut self) -> Self {
        self.description.resources = Some(Vec::new());
        self
    }

    /// How long a call may take. Default: [`component::DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.description.timeout_s = Some(timeout.as_secs_f64());
        self
    }

    /// The method of the same component that halts this one: when it is called, running calls of this method are
    /// cancelled, and it answers only when they have ended.
    #[must_use]
    pub fn cancelled_by(mut self, method: impl Into<String>) -> Self {
        self.description.cancel_method = Some(method.into());
        self
    }

    /// What it begins may go on without the component's process: a motor controller that drives on by itself, for
    /// example. Then the end of the process does not count as the end of its calls.
    #[must_use]
    pub fn outlives_process(mut self) -> Self {
        self.description.outlives_process = true;
        self
    }

    /// Marks a recovery that the component offers for its own failures.
    #[must_use]
    pub fn fallback(mut self) -> Self {
        self.description.fallback = true;
        self
    }

    /// Tells how far it is while it runs, by [`CallContext::progress`]: on the topic `~/NAME/progress`, a
    /// `std_msgs/msg/String`. A call whose progress has stopped counts as stalled.
    #[must_use]
    pub fn reports_progress(mut self) -> Self {
        self.description.progress = Some(format!("~/{}/progress", self.description.name));
        self
    }

    /// A precondition: Cortex does not send a call unless it holds.
    #[must_use]
    pub fn before(mut self, condition: Condition) -> Self {
        self.description.before.push(condition);
        self
    }

    /// An invariant: Cortex halts a call at once when it does not hold any more, or is no longer known to.
    #[must_use]
    pub fn during(mut self, condition: Condition) -> Self {
        self.description.during.push(condition);
        self
    }

    /// Evidence: a call counts as done only when this was seen, after it began and at most `within` after it said that it
    /// succeeded. Name what is measured; what only repeats the command shows nothing.
    #[must_use]
    pub fn after(mut self, condition: Condition, within: Duration) -> Self {
        self.description.after.push(Evidence { condition, within });
        self
    }

    /// A sentence that people use for it, with `{parameter}` in place of values: `go to {place}`.
    #[must_use]
    pub fn phrase(mut self, phrase: impl Into<String>) -> Self {
        self.description.phrases.push(phrase.into());
        self
    }
}

impl<A: DeserializeOwned + Send + 'static> MethodBuilder<A> {
    /// What it does. The function runs on its own task: several calls of a component run at the same time, and a panic
    /// is answered as a failure.
    pub fn run<F, Running, Output>(self, function: F) -> Method
    where
        F: Fn(A, CallContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<Output, Failure>> + Send + 'static,
        Output: Serialize,
    {
        let run = move |arguments: Value, call: CallContext| -> RunFuture {
            match serde_json::from_value::<A>(arguments) {
                Ok(arguments) => {
                    let running = function(arguments, call);
                    Box::pin(async move {
                        let output = running.await?;
                        serde_json::to_value(output)
                            .map_err(|problem| Failure::Reason(format!("its result is not JSON: {problem}")))
                    })
                }
                Err(problem) => {
                    Box::pin(async move { Err(Failure::Reason(format!("the arguments do not fit: {problem}"))) })
                }
            }
        };
        Method { description: self.description, run: Arc::new(run) }
    }
}
