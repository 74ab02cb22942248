//! What the robot does by itself when something happens, as its recipe says: without a model, at the rate of its topics.
//!
//! - `sight`: what is known of the conditions; `doer`: what an event does;
//! - `cortex_monitor::events` decides what is done when.
//!
//! One task looks, decides and begins; what is done goes on beside it. [`Latch`] is what a stop holds on to.

mod doer;
mod latch;
mod sight;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use cortex_core::Watcher;
use cortex_monitor::events::{EventEffect, EventInput, EventReport, Events, HeldBack};
use cortex_recipe::{Event, EventDeed, EventName};
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(crate) use doer::{Doer, Restarts};
pub(crate) use latch::Latch;
use sight::Sight;

/// Times are compared exactly: something is due from this long after its time on.
const MOMENT: Duration = Duration::from_millis(1);

/// Looks after the events of a recipe; never ends by itself. Dropping it ends what they do.
pub(crate) async fn keep(recipe: BTreeMap<EventName, Event>, watcher: Arc<dyn Watcher>, doer: Arc<Doer>, latch: Latch) {
    if recipe.is_empty() {
        return;
    }
    let mut stops = latch.subscribe();
    let mut sight = Sight::begin(&recipe, watcher.as_ref()).await;
    let mut keeper =
        Keeper { events: Events::new(&recipe), recipe, doer, latch, started: Instant::now(), doing: JoinSet::new() };
    keeper.take(EventInput::Tick, &mut sight);
    for input in sight.first() {
        keeper.take(input, &mut sight);
    }
    loop {
        let stopped = stops.borrow_and_update().is_stopped();
        keeper.take(if stopped { EventInput::Stopped } else { EventInput::Resumed }, &mut sight);
        keeper.turn(&mut stops, &mut sight).await;
    }
}

/// The decisions, and what is being done.
struct Keeper {
    events: Events,
    recipe: BTreeMap<EventName, Event>,
    doer: Arc<Doer>,
    latch: Latch,
    started: Instant,
    doing: JoinSet<EventName>,
}

impl Keeper {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Works until a stop or its end comes.
    async fn turn(&mut self, stops: &mut latch::Stops, sight: &mut Sight) {
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
                _ = stops.changed() => return,
                Some(ended) = self.doing.join_next() => {
                    // One that panicked is told by the log; its event stays as it is, so it does nothing any more.
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
        let unwanted = self.latch.token();
        let (doer, name, seen) = (Arc::clone(&self.doer), name.clone(), seen.to_owned());
        let busy = self.latch.busy();
        self.doing.spawn(async move {
            doer.carry_out(&name, &event, &seen, &unwanted).await;
            drop(busy);
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
