//! Runs the events of a recipe: the robot acts by itself when something happens, without a model, at the rate of its topics.
//!
//! - `sight`: what is known of the conditions; `doer`: what an event does; `restarts`: what the monitor does for it; `halts`:
//!   what is done whatever has failed;
//! - `cortex_monitor::events` decides what is done when.
//!
//! One task looks, decides and begins; what is done goes on beside it. The runtime says whether anything may be done.
//!
//! This crate does not own the form of events (`cortex-recipe`), nor the actions that they do (`cortex-custom-actions`).
//! Begin with [`keep`].

mod doer;
mod failure;
mod halts;
mod restarts;
mod sight;

use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ToolProvider as _, Watcher, Watching};
use cortex_monitor::events::{EventEffect, EventInput, EventReport, Events, HeldBack};
use cortex_recipe::{Event, EventDeed, EventName, Recipe};
use cortex_robot::supervision::Watch;
use cortex_robot::supervision::deeds::Deeds;
use cortex_ros::{RosTools, StopLatch, StopState};
use cortex_runtime::{Duty, ProviderId, Runtime};
use cortex_supervisor::Handle;
use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use doer::Doer;
use halts::ByComponents;
use restarts::ByMonitor;
use sight::Sight;

/// Times are compared exactly: something is due from this long after its time on.
const MOMENT: Duration = Duration::from_millis(1);

/// What events work with.
pub struct Around {
    pub runtime: Runtime,
    /// Who does the actions of the recipe.
    pub acting: ProviderId,
    /// Tells people something.
    pub voice: Box<dyn Fn(String) + Send + Sync>,
}

/// What reaches components past the runtime, which guards calls.
pub struct Hands {
    /// Restarts components.
    pub monitor: Handle,
    pub watch: Watch,
    /// Brings them to rest.
    pub deeds: Deeds,
}

/// Looks after the events of a recipe, once `is_up` has ended; never ends by itself. Dropping it ends what they do.
///
/// `hands`: none in a dry run.
pub async fn keep(
    recipe: Recipe,
    robot: RosTools,
    around: Around,
    hands: Option<Hands>,
    is_up: impl Future<Output = ()>,
) {
    let Around { runtime, acting, voice } = around;
    // What is to be watched is watched in a dry run, too.
    let Watching::By(watcher) = robot.watching() else { return };
    let duty = runtime.duty();
    let mut doer = Doer { runtime, acting, restarts: None, halts: None, voice };
    if let Some(Hands { monitor, watch, deeds }) = hands {
        doer.halts = Some(Box::new(ByComponents { deeds, view: watch.view(), recipe: recipe.clone() }));
        doer.restarts = Some(Box::new(ByMonitor { handle: monitor, watch, recipe: recipe.clone() }));
    }
    is_up.await;
    look(recipe.events, watcher, Arc::new(doer), duty, robot.latch()).await;
}

async fn look(
    recipe: BTreeMap<EventName, Event>,
    watcher: Arc<dyn Watcher>,
    doer: Arc<Doer>,
    mut duty: watch::Receiver<Duty>,
    robot: &StopLatch,
) {
    if recipe.is_empty() {
        return;
    }
    let mut stop = robot.watch();
    let mut sight = Sight::begin(&recipe, watcher.as_ref()).await;
    let mut keeper = Keeper {
        events: Events::new(&recipe),
        recipe,
        doer,
        duty: duty.clone(),
        started: Instant::now(),
        doing: JoinSet::new(),
    };
    keeper.take(EventInput::Tick, &mut sight);
    for input in sight.first() {
        keeper.take(input, &mut sight);
    }
    tracing::info!("the events of the recipe are watched");
    loop {
        // A resume opens the robot's own latch last, and a stop closes it first.
        let is_on = duty.borrow_and_update().is_on() && !stop.borrow_and_update().is_stopped;
        keeper.take(if is_on { EventInput::Resumed } else { EventInput::Stopped }, &mut sight);
        if keeper.turn(&mut duty, &mut stop, &mut sight).await.is_err() {
            // The runtime has ended.
            return;
        }
    }
}

/// The decisions, and what is being done.
struct Keeper {
    events: Events,
    recipe: BTreeMap<EventName, Event>,
    doer: Arc<Doer>,
    duty: watch::Receiver<Duty>,
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
        duty: &mut watch::Receiver<Duty>,
        stop: &mut watch::Receiver<StopState>,
        sight: &mut Sight,
    ) -> Result<(), watch::error::RecvError> {
        loop {
            let wakes = [self.events.next_wake(), sight.stale_at()];
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
                changed = duty.changed() => return changed,
                changed = stop.changed() => return changed,
                Some(ended) = self.doing.join_next() => {
                    let Ok(event) = ended else { continue };
                    inputs.push_back(EventInput::Ended { event: event.clone() });
                    self.take_all(inputs, sight);
                    // What has changed meanwhile may come of what was done.
                    inputs = sight.begin_anew(&event, self.now()).into_iter().collect();
                }
                () = is_time => {
                    inputs.push_back(EventInput::Tick);
                    inputs.extend(sight.look_again(self.now()));
                }
                seen = sight.next() => inputs.extend(sight.see(seen, self.now())),
            }
            self.take_all(inputs, sight);
        }
    }

    fn take_all(&mut self, inputs: impl IntoIterator<Item = EventInput>, sight: &mut Sight) {
        for input in inputs {
            self.take(input, sight);
        }
    }

    /// Takes an input, and does what comes of it.
    fn take(&mut self, input: EventInput, sight: &mut Sight) {
        let now = self.now();
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.events.handle(now, input) {
                match effect {
                    EventEffect::Report { report } => self.report(&report),
                    EventEffect::Do { event } => {
                        self.begin(&event, &sight.told(&event, now));
                        inputs.extend(sight.begin_anew(&event, now));
                    }
                }
            }
        }
    }

    fn begin(&mut self, name: &EventName, seen: &str) {
        let Some(event) = self.recipe.get(name).cloned() else { return };
        tracing::info!(event = %name, "it happens: {seen}");
        let unwanted = self.duty.borrow().unwanted();
        let (doer, name, seen) = (Arc::clone(&self.doer), name.clone(), seen.to_owned());
        self.doing.spawn(async move {
            let doing = AssertUnwindSafe(doer.carry_out(&name, &event, &seen, &unwanted));
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
                let deeds = self.recipe.get(event).map(|event| event.deeds.as_slice()).unwrap_or_default();
                let wanted: Vec<String> = deeds.iter().map(EventDeed::to_string).collect();
                self.doer.say(format!(
                    "The event {event} would do something ({}), but the robot is stopped.",
                    wanted.join(", ")
                ));
            }
            EventReport::HeldBack { event, why: HeldBack::ComesBack { .. } } => {
                tracing::warn!(%event, "{report}");
                self.doer.say(format!("{}.", capitalized(&report.to_string())));
            }
            EventReport::HeldBack { event, .. } => tracing::info!(%event, "{report}"),
            EventReport::StormBegan | EventReport::StormEnded => {
                tracing::warn!("{report}");
                self.doer.say(format!("{}.", capitalized(&report.to_string())));
            }
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
