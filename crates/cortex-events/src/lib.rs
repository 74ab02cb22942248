//! Runs the events of a recipe: the robot acts by itself when something happens, without a model, at the rate of its topics.
//!
//! - `condition_tracker`: what is known of the conditions; `action_runner`: what an event does; `restarts`: what the monitor does for it; `halts`:
//!   what is done whatever has failed;
//! - `cortex_monitor::events` decides what is done when.
//!
//! One task looks, decides and begins; what is done goes on beside it. The runtime says whether anything may be done.
//!
//! This crate does not own the form of events (`cortex-recipe`), nor the actions that they do (`cortex-custom-actions`).
//! Begin with `keep`.

mod action_runner;
mod condition_tracker;
mod failure;
mod halts;
mod restarts;

use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ConditionSource, ToolProvider as _, Watching};
use cortex_monitor::events::{EventEffect, EventInput, EventReport, Events, HeldBack};
use cortex_recipe::{Event, EventAction, EventName, Recipe};
use cortex_robot::supervision::Watch;
use cortex_robot::supervision::actions::Actions;
use cortex_ros::{RosTools, StopLatch, StopState};
use cortex_runtime::{CallReadiness, ProviderId, Runtime};
use cortex_supervisor::Handle;
use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use action_runner::ActionRunner;
use condition_tracker::ConditionTracker;
use halts::ByComponents;
use restarts::ByMonitor;

/// Times are compared exactly: something is due from this long after its time on.
const MOMENT: Duration = Duration::from_millis(1);

/// What events work with.
pub struct EventContext {
    /// Who makes calls and takes tasks.
    pub runtime: Runtime,
    /// Who does the actions of the recipe.
    pub acting: ProviderId,
    /// Tells people something.
    pub notify: Box<dyn Fn(String) + Send + Sync>,
}

/// What reaches components past the runtime, which guards calls.
pub struct ComponentControl {
    /// Restarts components.
    pub monitor: Handle,
    /// How they are.
    pub watch: Watch,
    /// Brings them to rest.
    pub actions: Actions,
}

/// Looks after the events of a recipe, once `is_up` has ended; never ends by itself. Dropping it ends what they do.
///
/// `control`: none in a dry run.
pub async fn run(
    recipe: Recipe,
    robot: RosTools,
    around: EventContext,
    control: Option<ComponentControl>,
    is_up: impl Future<Output = ()>,
) {
    let EventContext { runtime, acting, notify } = around;
    // What is to be watched is watched in a dry run, too.
    let Watching::By(condition_source) = robot.watching() else { return };
    let call_readiness = runtime.call_readiness();
    let mut runner = ActionRunner { runtime, acting, restarts: None, halts: None, notify };
    if let Some(ComponentControl { monitor, watch, actions }) = control {
        runner.halts = Some(Box::new(ByComponents { actions, view: watch.view(), recipe: recipe.clone() }));
        runner.restarts = Some(Box::new(ByMonitor { handle: monitor, watch, recipe: recipe.clone() }));
    }
    is_up.await;
    look(recipe.events, condition_source, Arc::new(runner), call_readiness, robot.latch()).await;
}

async fn look(
    recipe: BTreeMap<EventName, Event>,
    condition_source: Arc<dyn ConditionSource>,
    runner: Arc<ActionRunner>,
    mut call_readiness: watch::Receiver<CallReadiness>,
    robot: &StopLatch,
) {
    if recipe.is_empty() {
        return;
    }
    let mut stop = robot.watch();
    let mut tracker = ConditionTracker::begin(&recipe, condition_source.as_ref()).await;
    let mut keeper = Keeper {
        events: Events::new(&recipe),
        recipe,
        runner,
        call_readiness: call_readiness.clone(),
        started: Instant::now(),
        doing: JoinSet::new(),
    };
    keeper.take(EventInput::Tick, &mut tracker);
    for input in tracker.first() {
        keeper.take(input, &mut tracker);
    }
    tracing::info!("the events of the recipe are watched");
    loop {
        // A resume opens the robot's own latch last, and a stop closes it first.
        let is_on = call_readiness.borrow_and_update().is_on() && !stop.borrow_and_update().is_stopped;
        keeper.take(if is_on { EventInput::Resumed } else { EventInput::Stopped }, &mut tracker);
        if keeper.turn(&mut call_readiness, &mut stop, &mut tracker).await.is_err() {
            // The runtime has ended.
            return;
        }
    }
}

/// The decisions, and what is being done.
struct Keeper {
    events: Events,
    recipe: BTreeMap<EventName, Event>,
    runner: Arc<ActionRunner>,
    call_readiness: watch::Receiver<CallReadiness>,
    started: Instant,
    doing: JoinSet<EventName>,
}

impl Keeper {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Works until the duty or the stop changes.
    async fn turn(
        &mut self,
        call_readiness: &mut watch::Receiver<CallReadiness>,
        stop: &mut watch::Receiver<StopState>,
        tracker: &mut ConditionTracker,
    ) -> Result<(), watch::error::RecvError> {
        loop {
            let wakes = [self.events.next_wake(), tracker.stale_at()];
            let wake = wakes.into_iter().flatten().min().and_then(|wake| self.started.checked_add(wake + MOMENT));
            let is_time = async {
                match wake {
                    Some(wake) => tokio::time::sleep_until(wake).await,
                    None => std::future::pending().await,
                }
            };
            let mut inputs = VecDeque::new();
            // A flood of messages keeps neither a stop nor the time from being noticed.
            tokio::select! {
                biased;
                changed = call_readiness.changed() => return changed,
                changed = stop.changed() => return changed,
                Some(ended) = self.doing.join_next() => {
                    let Ok(event) = ended else { continue };
                    inputs.push_back(EventInput::Ended { event: event.clone() });
                    self.take_all(inputs, tracker);
                    // What has changed meanwhile may come of what was done.
                    inputs = tracker.begin_anew(&event, self.now()).into_iter().collect();
                }
                () = is_time => {
                    inputs.push_back(EventInput::Tick);
                    inputs.extend(tracker.look_again(self.now()));
                }
                seen = tracker.next() => inputs.extend(tracker.see(seen, self.now())),
            }
            self.take_all(inputs, tracker);
        }
    }

    fn take_all(&mut self, inputs: impl IntoIterator<Item = EventInput>, tracker: &mut ConditionTracker) {
        for input in inputs {
            self.take(input, tracker);
        }
    }

    /// Takes an input, and does what comes of it.
    fn take(&mut self, input: EventInput, tracker: &mut ConditionTracker) {
        let now = self.now();
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.events.handle(now, input) {
                match effect {
                    EventEffect::Report { report } => self.report(&report),
                    EventEffect::Do { event } => {
                        self.begin(&event, &tracker.told(&event, now));
                        inputs.extend(tracker.begin_anew(&event, now));
                    }
                }
            }
        }
    }

    fn begin(&mut self, name: &EventName, seen: &str) {
        let Some(event) = self.recipe.get(name).cloned() else { return };
        tracing::info!(event = %name, "it happens: {seen}");
        let unwanted = self.call_readiness.borrow().unwanted();
        let (runner, name, seen) = (Arc::clone(&self.runner), name.clone(), seen.to_owned());
        self.doing.spawn(async move {
            let doing = AssertUnwindSafe(runner.carry_out(&name, &event, &seen, &unwanted));
            if doing.catch_unwind().await.is_err() {
                tracing::error!(event = %name, "what it does has failed in an unforeseen way");
            }
            name
        });
    }

    fn report(&self, report: &EventReport) {
        match report {
            EventReport::HeldBack { event, why: HeldBack::Stopped } => {
                tracing::warn!(%event, "{report}");
                let actions = self.recipe.get(event).map(|event| event.actions.as_slice()).unwrap_or_default();
                let wanted: Vec<String> = actions.iter().map(EventAction::to_string).collect();
                self.runner.say(format!(
                    "The event {event} would do something ({}), but the robot is stopped.",
                    wanted.join(", ")
                ));
            }
            EventReport::HeldBack { event, why: HeldBack::ComesBack { .. } } => {
                tracing::warn!(%event, "{report}");
                self.runner.say(format!("{}.", capitalized(&report.to_string())));
            }
            EventReport::HeldBack { event, .. } => tracing::info!(%event, "{report}"),
            EventReport::RateLimitReached | EventReport::RateLimitLifted => {
                tracing::warn!("{report}");
                self.runner.say(format!("{}.", capitalized(&report.to_string())));
            }
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
