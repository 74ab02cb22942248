//! What is under way, as evidence for the monitor: goals that go on, how they get on, and those that hang.

use std::collections::BTreeMap;
use std::sync::Arc;

use cortex_monitor::Input;
use cortex_protocol::ComponentName;
use cortex_recipe::{ComponentRecipe, Recipe};
use cortex_runtime::{CallListener, UnconfirmedHalt};
use cortex_supervisor::Handle;
use tokio::sync::watch;

/// Tells the monitor of calls.
pub(super) struct CallReports {
    monitor: Handle,
    /// The entries of `progress` that count the feedback of goals.
    feedback: BTreeMap<ComponentName, Vec<usize>>,
}

impl CallReports {
    pub(super) fn new(monitor: Handle, recipe: &Recipe) -> Self {
        let of_goals = |component: &ComponentRecipe| {
            let all = component.progress.iter().enumerate();
            all.filter(|(_, progress)| progress.topic.is_none()).map(|(watch, _)| watch).collect()
        };
        let feedback = recipe.components.iter().map(|(name, component)| (name.clone(), of_goals(component)));
        Self { monitor, feedback: feedback.collect() }
    }
}

impl CallListener for CallReports {
    fn calls_changed(&self, component: &ComponentName, calls: u32) {
        self.monitor.send(Input::GoalsChanged { component: component.clone(), goals: calls });
    }

    fn progressed(&self, component: &ComponentName) {
        for watch in self.feedback.get(component).into_iter().flatten() {
            self.monitor.send(Input::Progressed { component: component.clone(), watch: *watch, count: 1 });
        }
    }
}

/// Tells the monitor which components have a call that did not end in its time and could not be halted, and when there
/// is none any more. Until one of both is gone.
pub(super) async fn report_hung(
    mut left: watch::Receiver<Arc<Vec<UnconfirmedHalt>>>,
    components: Vec<ComponentName>,
    monitor: Handle,
) {
    let mut told: BTreeMap<ComponentName, String> = BTreeMap::new();
    loop {
        let now = left.borrow_and_update().clone();
        for component in &components {
            let because = hung(&now, component);
            if told.get(component) == because.as_ref() {
                continue;
            }
            match &because {
                Some(because) => told.insert(component.clone(), because.clone()),
                None => told.remove(component),
            };
            monitor.send(Input::CallHung { component: component.clone(), because });
        }
        if left.changed().await.is_err() {
            return;
        }
    }
}

/// What of a component hangs, in words for people.
fn hung(left: &[UnconfirmedHalt], component: &ComponentName) -> Option<String> {
    let call = left.iter().find(|call| call.timed_out && call.component.as_ref() == Some(component))?;
    let UnconfirmedHalt { tool, why, .. } = call;
    Some(why.strip_prefix("it ").map_or_else(|| format!("{tool}: {why}"), |why| format!("{tool} {why}")))
}
