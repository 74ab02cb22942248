//! The builder of a component, and what is checked before anything starts.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use cortex_protocol::ComponentDescription;
use cortex_protocol::component::CONTRACT_VERSION;
use tokio::signal::unix::{SignalKind, signal};

use crate::call::Failure;
use crate::context::ComponentContext;
use crate::error::ComponentError;
use crate::lifecycle::{Hook, Hooks};
use crate::log::log;
use crate::method::Method;
use crate::running::RunningComponent;
use cortex_ros_client::parameters::Parameter;

/// A component: a managed ROS 2 node with described methods.
pub struct Component {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) summary: String,
    pub(crate) methods: Vec<Method>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) hooks: Hooks,
}

fn hook<H, Running>(function: H) -> Option<Hook>
where
    H: Fn(ComponentContext) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<(), Failure>> + Send + 'static,
{
    Some(Arc::new(move |context| Box::pin(function(context))))
}

impl Component {
    /// Begins a component whose node has that name; `--ros-args -r __node:=...` may change it.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            namespace: String::new(),
            summary: String::new(),
            methods: Vec::new(),
            parameters: Vec::new(),
            hooks: Hooks::default(),
        }
    }

    /// The namespace of the node. Default: the root; `--ros-args -r __ns:=...` may change it.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// What the component is, in a sentence or two for a model.
    #[must_use]
    pub fn summary(mut self, summary: &str) -> Self {
        summary.clone_into(&mut self.summary);
        self
    }

    /// Adds something that it can do.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.methods.push(method);
        self
    }

    /// Declares a parameter. Every component also has `autostart`.
    #[must_use]
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Sets up what the component needs, for example publishers; must not begin to act.
    #[must_use]
    pub fn on_configure<H, Running>(mut self, function: H) -> Self
    where
        H: Fn(ComponentContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        self.hooks.configure = hook(function);
        self
    }

    /// Begins to work, for example with [`ComponentContext::spawn_while_active`].
    #[must_use]
    pub fn on_activate<H, Running>(mut self, function: H) -> Self
    where
        H: Fn(ComponentContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        self.hooks.activate = hook(function);
        self
    }

    /// Stops working. Running calls were cancelled and background tasks ended before. Also run when the component ends.
    #[must_use]
    pub fn on_deactivate<H, Running>(mut self, function: H) -> Self
    where
        H: Fn(ComponentContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        self.hooks.deactivate = hook(function);
        self
    }

    /// Lets go of what `on_configure` took, beyond publishers and subscriptions, which end by themselves. Also run when
    /// the component ends.
    #[must_use]
    pub fn on_cleanup<H, Running>(mut self, function: H) -> Self
    where
        H: Fn(ComponentContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        self.hooks.clean_up = hook(function);
        self
    }

    /// The description that the component gives of itself.
    ///
    /// # Errors
    /// When it breaks the contract: the reader in Cortex would leave something out.
    pub fn description(&self) -> Result<String, ComponentError> {
        let wrong = |problem: String| ComponentError::Description { component: self.name.clone(), problem };
        let description = ComponentDescription {
            contract: CONTRACT_VERSION,
            summary: self.summary.clone(),
            methods: self.methods.iter().map(|method| method.description.clone()).collect(),
        };
        for method in &description.methods {
            if method.cancel_method.as_deref() == Some(method.name.as_str()) {
                return Err(wrong(format!("method '{}' can't be cancelled by itself", method.name)));
            }
        }
        let text = serde_json::to_string(&description).map_err(|problem| wrong(problem.to_string()))?;
        let (_, problems) = ComponentDescription::parse(&text).map_err(|problem| wrong(problem.to_string()))?;
        match problems.first() {
            Some(problem) => Err(wrong(problem.to_string())),
            None => Ok(text),
        }
    }

    /// Starts the component; returns when it is up: active, if `autostart` is set. Must be called on a tokio runtime,
    /// on which the component then runs.
    ///
    /// # Errors
    /// When the component describes itself wrongly, a parameter does not fit, or ROS refuses. A hook that fails is no
    /// error: the component is up, in the state that it reached, and reports the problem.
    pub async fn start(self) -> Result<RunningComponent, ComponentError> {
        RunningComponent::start(self).await
    }

    /// Runs the component until SIGINT or SIGTERM, then ends it in order. The whole `main` of a component.
    #[must_use]
    pub fn run(self) -> ExitCode {
        cortex_ros_client::announce_often();
        log(&self.name);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let result = match runtime {
            Ok(runtime) => runtime.block_on(self.run_until_signal()),
            Err(problem) => Err(ComponentError::Runtime(problem)),
        };
        let code = match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("error: {problem}");
                ExitCode::FAILURE
            }
        };
        cortex_ros_client::logging::flush();
        cortex_ros_client::exit_process(code)
    }

    async fn run_until_signal(self) -> Result<(), ComponentError> {
        // Before ROS starts: a signal that comes meanwhile must not be lost.
        let mut interrupt = signal(SignalKind::interrupt()).map_err(ComponentError::Runtime)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(ComponentError::Runtime)?;
        let running = self.start().await?;
        let result = tokio::select! {
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
            () = running.broken() => Err(ComponentError::Broken),
        };
        running.stop().await;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{MethodBuilder, NoArguments};
    use cortex_protocol::ToolPhase;
    use serde_json::json;

    fn problem(methods: Vec<MethodBuilder<NoArguments>>) -> String {
        let with = |component: Component, method: MethodBuilder<NoArguments>| {
            component.method(method.run(|_, _| std::future::ready(Ok(()))))
        };
        methods.into_iter().fold(Component::new("arm"), with).description().unwrap_err().to_string()
    }

    #[test]
    fn what_cortex_would_leave_out_does_not_even_start() {
        let table = [
            (vec![Method::new("2fast", "Goes.")], "its name must be 1 to 64 letters"),
            (vec![Method::new("go", "")], "it has no description"),
            (vec![Method::new("go", "Goes."), Method::new("go", "Goes.")], "another method has the same name"),
            (
                vec![Method::new("go", "Goes.").cancelled_by("halt")],
                "its cancel_method 'halt' is not one of the methods",
            ),
            (vec![Method::new("go", "Goes.").cancelled_by("go")], "method 'go' can't be cancelled by itself"),
            (vec![Method::new("go", "Goes.").phase(ToolPhase::Both)], "must have the effect 'observe'"),
            (
                vec![Method::new("go", "Goes.").parameters_schema(json!({"type": "array"}))],
                "its parameters are not a JSON Schema",
            ),
        ];
        for (methods, expected) in table {
            let problem = problem(methods);
            assert!(problem.starts_with("the component 'arm' describes itself wrongly: "), "{problem}");
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
