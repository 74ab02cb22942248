//! What brings something to rest is always allowed: while its component is in quarantine, and while the robot is stopped.
//!
//! What an event halts by goes the way of fallbacks, past everything that keeps calls from what has failed. Whether it halts
//! is what the component itself says; it is asked in one place for both (`cortex_ros::monitoring::deeds`).

use std::time::Duration;

use async_trait::async_trait;
use cortex_protocol::{ComponentName, ToolName};
use cortex_recipe::action::MethodCall;
use cortex_recipe::parameter::bind;
use cortex_recipe::{Deed, EventDeed, Recipe};
use cortex_supervisor::RobotView;
use futures::future::join_all;
use tokio::sync::watch;

use crate::supervision::deeds::Deeds;

/// How long a method may take to bring its component to rest, where no action of the recipe says.
const LIMIT: Duration = Duration::from_secs(10);

/// Brings components to rest.
#[async_trait]
pub(super) trait Halts: Send + Sync {
    /// Does this, if it brings something to rest. None: it is something else, and was not done.
    async fn halt(&self, deed: &EventDeed) -> Option<Result<(), String>>;
}

/// Asks the components themselves.
pub(super) struct ByComponents {
    pub(super) deeds: Deeds,
    pub(super) view: watch::Receiver<RobotView>,
    pub(super) recipe: Recipe,
}

impl ByComponents {
    fn stand_in(&self, component: &ComponentName) -> Option<ComponentName> {
        self.view.borrow().components.get(component)?.replaced_by.clone()
    }
}

#[async_trait]
impl Halts for ByComponents {
    async fn halt(&self, deed: &EventDeed) -> Option<Result<(), String>> {
        let (call, limit) = method_of(&self.recipe, deed)?;
        // What has lost its place may still move, and what has it moves now.
        let stand_in = self.stand_in(&call.component).map(|by| MethodCall { component: by, ..call.clone() });
        let calls: Vec<MethodCall> = std::iter::once(call).chain(stand_in).collect();
        let halted = join_all(calls.iter().map(|call| self.deeds.halt(call, limit))).await;
        let halted = calls.iter().zip(halted).filter_map(|(call, halted)| Some((call, halted?)));
        all_of(halted.map(|(call, halted)| halted.map_err(|problem| format!("{}: {problem}", call.component))))
    }
}

/// None where there is nothing; otherwise whether nothing has failed, and what has.
fn all_of(done: impl Iterator<Item = Result<(), String>>) -> Option<Result<(), String>> {
    let done: Vec<Result<(), String>> = done.collect();
    let is_any = !done.is_empty();
    let problems: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    is_any.then(|| if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) })
}

/// The method that this comes down to, and how long it may take.
fn method_of(recipe: &Recipe, deed: &EventDeed) -> Option<(MethodCall, Duration)> {
    match deed {
        EventDeed::Tool { tool, arguments } => {
            let (component, name) = ToolName::as_str(tool).rsplit_once('.')?;
            let call = MethodCall { component: component.into(), name: name.to_owned(), arguments: arguments.clone() };
            Some((call, LIMIT))
        }
        EventDeed::Action { action, arguments, .. } => {
            let action = recipe.actions.get(action)?;
            match bind(action, arguments).ok()? {
                Deed::Method(call) => Some((call, action.timeout_s.duration())),
                Deed::Service(_) | Deed::Topic(_) | Deed::Command(_) | Deed::Parameters(_) => None,
            }
        }
        EventDeed::Task { .. } | EventDeed::Tell { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: &str = r#"
recipe = 1
[components.base]
start = { program = "base" }
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
        let deeds = &recipe.events.values().next().unwrap().deeds;
        let told = |deed: &EventDeed| {
            let (call, limit) = method_of(&recipe, deed)?;
            Some(format!("{}.{} {} {}", call.component, call.name, call.arguments.len(), limit.as_secs()))
        };
        let methods: Vec<Option<String>> = deeds.iter().map(told).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            methods,
            [some("base.halt 0 3"), some("base.halt 0 10"), some("left/arm.halt 1 10"), None, None, None, None]
        );
    }

    #[test]
    fn what_did_not_come_to_rest_is_told_with_all_others() {
        let failed = |text: &str| Err(text.to_owned());
        assert_eq!(all_of(std::iter::empty()), None, "nothing was halted");
        assert_eq!(all_of([Ok(()), Ok(())].into_iter()), Some(Ok(())));
        assert_eq!(all_of([failed("a"), Ok(()), failed("b")].into_iter()), Some(failed("a; b")));
    }
}
