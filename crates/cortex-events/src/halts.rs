//! What brings something to rest is allowed also while its component is in quarantine.
//!
//! What an event halts by goes the way of fallbacks, past everything that keeps calls from what has failed. Whether it halts
//! is what the component itself says; it is asked in one place for both (`cortex_ros::monitoring::actions`).

use std::time::Duration;

use async_trait::async_trait;
use cortex_protocol::{ComponentName, ToolName};
use cortex_recipe::action::MethodCall;
use cortex_recipe::binding::bind;
use cortex_recipe::{ActionKind, EventAction, Recipe};
use cortex_robot::supervision::actions::Actions;
use cortex_supervisor::RobotView;
use tokio::sync::watch;

use super::failure::EventFailure;

/// How long a method may take to bring its component to rest, where no action of the recipe says.
const LIMIT: Duration = Duration::from_secs(10);
/// How long one may take whose component is in quarantine. It may be dead, and what is done on failure, such as cutting the
/// power, must not wait for it.
const LIMIT_IN_QUARANTINE: Duration = Duration::from_secs(2);

/// Brings components to rest.
#[async_trait]
pub(super) trait Halts: Send + Sync {
    /// Does this, if it brings something to rest. None: it is something else, and was not done.
    async fn halt(&self, action: &EventAction) -> Option<Result<(), EventFailure>>;
}

/// Asks the components themselves.
pub(super) struct ByComponents {
    pub(super) actions: Actions,
    pub(super) view: watch::Receiver<RobotView>,
    pub(super) recipe: Recipe,
}

impl ByComponents {
    /// Halts this component. None: the method does something else.
    async fn halt(&self, call: &MethodCall, limit: Duration) -> Option<Result<(), EventFailure>> {
        let is_in_quarantine = || {
            let view = self.view.borrow();
            view.components.get(&call.component).is_some_and(|component| component.quarantine_cause.is_some())
        };
        let limit = if is_in_quarantine() { limit.min(LIMIT_IN_QUARANTINE) } else { limit };
        Some(self.actions.halt(call, limit).await?.map_err(EventFailure::from))
    }

    fn standby(&self, component: &ComponentName) -> Option<ComponentName> {
        self.view.borrow().components.get(component)?.replaced_by.clone()
    }
}

#[async_trait]
impl Halts for ByComponents {
    async fn halt(&self, action: &EventAction) -> Option<Result<(), EventFailure>> {
        let (call, limit) = method_of(&self.recipe, action)?;
        let Some(standby) = self.standby(&call.component) else { return self.halt(&call, limit).await };
        // What has lost its place may still move, and what has it moves now.
        let by_standby = MethodCall { component: standby, ..call.clone() };
        let (replaced, standing_in) = tokio::join!(self.halt(&call, limit), self.halt(&by_standby, limit));
        both(&call.component, replaced, standing_in)
    }
}

/// What came of halting a component and its standby, as far as they halt by that method: the standby is what counts. The
/// other one is in quarantine, and may be dead or gone.
fn both(
    replaced_name: &ComponentName,
    replaced: Option<Result<(), EventFailure>>,
    standing_in: Option<Result<(), EventFailure>>,
) -> Option<Result<(), EventFailure>> {
    if let (Some(Err(problem)), Some(_)) = (&replaced, &standing_in) {
        tracing::warn!("{replaced_name}, which has a standby, did not confirm that it is at rest: {problem}");
    }
    standing_in.or(replaced)
}

/// The method that this comes down to, and how long it may take.
fn method_of(recipe: &Recipe, action: &EventAction) -> Option<(MethodCall, Duration)> {
    match action {
        EventAction::Tool { tool, arguments } => {
            let (component, name) = ToolName::as_str(tool).rsplit_once('.')?;
            let call = MethodCall { component: component.into(), name: name.to_owned(), arguments: arguments.clone() };
            Some((call, LIMIT))
        }
        EventAction::Action { action, arguments, .. } => {
            let action = recipe.actions.get(action)?;
            match bind(action, arguments).ok()? {
                ActionKind::Method(call) => Some((call, action.timeout_s.duration())),
                ActionKind::Service(_) | ActionKind::Topic(_) | ActionKind::Command(_) | ActionKind::Parameters(_) => {
                    None
                }
            }
        }
        EventAction::Task { .. } | EventAction::Tell { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: &str = r#"
recipe = 1
[components.base]
start = { program = "base" }
[components."left/arm"]
start = { program = "arm" }
[actions.stand]
timeout_s = 3.0
method = { component = "base", name = "halt" }
[actions.beep]
topic = { name = "/base/beep", type = "std_msgs/msg/Bool" }
[events.bump]
when = { topic = "/bump", field = "data", equal = true }
do = [
    { action = "stand" },
    { tool = "base.halt" },
    { tool = "left/arm.halt", arguments = { slowly = true } },
    { action = "beep" },
    { action = "restart", component = "base" },
    { tell = "Stop!" },
    { task = "stop" },
]
"#;

    #[test]
    fn what_an_event_may_halt_by_is_a_method_by_whatever_name() {
        let recipe = Recipe::read(RECIPE).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        let actions = &recipe.events.values().next().unwrap().actions;
        let told = |action: &EventAction| {
            let (call, limit) = method_of(&recipe, action)?;
            Some(format!("{}.{} {} {}", call.component, call.name, call.arguments.len(), limit.as_secs()))
        };
        let methods: Vec<Option<String>> = actions.iter().map(told).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            methods,
            [some("base.halt 0 3"), some("base.halt 0 10"), some("left/arm.halt 1 10"), None, None, None, None]
        );
    }

    #[test]
    fn with_a_standby_that_halts_it_is_what_counts() {
        let failed = |text: &str| Err(EventFailure::Call(text.to_owned()));
        let both = |replaced, standing_in| both(&"base".into(), replaced, standing_in);
        assert_eq!(both(Some(failed("it is dead")), Some(Ok(()))), Some(Ok(())));
        assert_eq!(both(Some(Ok(())), Some(failed("it is busy"))), Some(failed("it is busy")));
        assert_eq!(
            both(None, Some(Ok(()))),
            Some(Ok(())),
            "the other one has left the graph, and nothing is known of it"
        );
        assert_eq!(both(Some(failed("it is dead")), None), Some(failed("it is dead")), "it has no such method");
        assert_eq!(both(None, None), None, "nothing was halted");
    }
}
