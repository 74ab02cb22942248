//! The live status of this Cortex, as one [`Overview`]: gathered from those who know, published on `~/overview` and, as ROS
//! wants it, on `/diagnostics`.
//!
//! - `told`: what events tell; `components`: from the monitor or the graph;
//! - `changes`: when it is time to look anew; `publishing`: the one who looks, and gives the rest of the process and the topics
//!   what was seen;
//! - `diagnostics`: the same for tools of ROS; `screen`: the same for people, which `cortex status` prints.

mod changes;
mod components;
mod diagnostics;
mod publishing;
pub(crate) mod screen;
mod told;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cortex_monitor::MonitorEvent;
use cortex_protocol::overview::{
    CallOverview, OVERVIEW_VERSION, Overview, ReadinessOverview, ReadinessState, StopOverview, UnsettledOverview,
    WatchdogOverview,
};
use cortex_protocol::{CloudEvent, ComponentName};
use cortex_robot::{Robot, supervision};
use cortex_ros::{Discovery, OpenCallKind, RosTools, StopHandle};
use cortex_ros_client::lifecycle::State;
use cortex_runtime::{Events, Readiness, Rejection, Runtime, UnconfirmedHalt};
use cortex_supervisor::RobotView;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

use crate::ModelWatch;
use changes::Changes;
use told::Told;

pub use publishing::graph_in;

/// Calls that are listed.
const MOST_CALLS: usize = 100;

/// The name of the topic below the node.
pub const TOPIC: &str = "overview";

/// Now, in milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Who knows the live status.
pub struct Sources {
    /// The robot's name.
    pub robot: String,
    /// Of missions and calls.
    pub runtime: Runtime,
    /// Of the stop.
    pub stop: StopHandle,
    /// Of the requests to models.
    pub model: ModelWatch,
    /// Of the components of a recipe, if there is one.
    pub supervised: Option<supervision::Watch>,
    /// Of the watchdog, if one is asked for.
    pub watchdog: Option<WatchdogOverview>,
    /// The lifecycle of Cortex' node.
    pub lifecycle: watch::Receiver<State>,
}

/// Gathers and publishes until it is dropped.
pub struct Status {
    overviews: watch::Receiver<Arc<Overview>>,
    collector: Arc<StatusCollector>,
    _tasks: JoinSet<()>,
}

impl Status {
    /// Begins. What can't be published is told in the log, and Cortex goes on without.
    pub fn start(robot: &Robot, sources: Sources) -> Self {
        let mut tasks = JoinSet::new();
        let collector = Arc::new(StatusCollector {
            node: robot.node.fully_qualified_name().to_owned(),
            started: (Instant::now(), now_ms()),
            tools: robot.tools.clone(),
            discovery: robot.discovery.clone(),
            view: sources.supervised.as_ref().map(supervision::Watch::view),
            told: Mutex::default(),
            changes: Changes::default(),
            page: OnceLock::new(),
            sources,
        });
        let missions = collector.sources.runtime.events();
        tasks.spawn(follow_missions(Arc::clone(&collector), missions));
        if let Some(watch) = &collector.sources.supervised {
            tasks.spawn(follow_monitor(Arc::clone(&collector), watch.events()));
        }
        let (stop, runtime) = (&collector.sources.stop, &collector.sources.runtime);
        tasks.spawn(follow(Arc::clone(&collector), stop.latch().watch()));
        tasks.spawn(follow(Arc::clone(&collector), stop.watch_latest()));
        tasks.spawn(follow(Arc::clone(&collector), runtime.watch_readiness()));
        tasks.spawn(follow(Arc::clone(&collector), collector.sources.lifecycle.clone()));
        tasks.spawn(follow(Arc::clone(&collector), runtime.unconfirmed_halts()));
        tasks.spawn(follow(Arc::clone(&collector), runtime.lost_tasks()));
        tasks.spawn(follow(Arc::clone(&collector), runtime.watch_availability()));
        let first = Arc::new(collector.overview());
        let sender = watch::Sender::new(Arc::clone(&first));
        let overviews = sender.subscribe();
        let latest = publishing::Latest::new(sender, first);
        let (node, clock) = (robot.node.clone(), robot.node.clock().clone());
        tasks.spawn(publishing::publish(Arc::clone(&collector), latest, node, clock));
        Self { overviews, collector, _tasks: tasks }
    }

    /// Has the overview say where the page for people is. The first address stays.
    pub fn tell_page(&self, address: String) {
        let _ = self.collector.page.set(address);
        self.collector.changes.note();
    }

    /// The overview, now and later, within the process: renewed within a frame of a change, and every few seconds. Closed
    /// when this is dropped.
    #[must_use]
    pub fn overviews(&self) -> watch::Receiver<Arc<Overview>> {
        self.overviews.clone()
    }
}

/// Where all of it comes together.
struct StatusCollector {
    node: String,
    /// On both clocks.
    started: (Instant, u64),
    tools: RosTools,
    discovery: Discovery,
    view: Option<watch::Receiver<RobotView>>,
    told: Mutex<Told>,
    /// What has it look anew before its time.
    changes: Changes,
    /// Where the page for people is, once that is known.
    page: OnceLock<String>,
    sources: Sources,
}

impl StatusCollector {
    /// As it is now.
    fn overview(&self) -> Overview {
        let model = self.sources.model.now();
        let (missions, budget) = {
            let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            (told.missions.all(), told.budget(&model))
        };
        let unsettled = self.sources.runtime.unconfirmed_halts().borrow().clone();
        let latest = self.sources.stop.latest();
        let stopped = self.sources.stop.latch().is_closed();
        let paused = self.view.as_ref().and_then(|view| view.borrow().pause_cause.clone());
        Overview {
            version: OVERVIEW_VERSION,
            at_ms: now_ms(),
            started_ms: self.started.1,
            robot: self.sources.robot.clone(),
            node: self.node.clone(),
            lifecycle: self.sources.lifecycle.borrow().to_string(),
            tools: u32::try_from(self.sources.runtime.tools().iter().filter(|spec| spec.serves.is_none()).count())
                .unwrap_or(u32::MAX),
            stop: StopOverview {
                stopped,
                stops: self.sources.stop.latch().stops(),
                why: latest.as_ref().map(|latest| latest.why.clone()).unwrap_or_default(),
                not_stopped: latest.and_then(|latest| latest.not_stopped).unwrap_or_default(),
            },
            model,
            readiness: self.readiness(stopped),
            components: self.components(),
            paused: paused.map(|component| format!("{component} does not work")),
            control: self.sources.runtime.control(),
            missions,
            calls: self.calls(&unsettled),
            unsettled: unsettled.iter().take(MOST_CALLS).map(|call| self.unsettled(call)).collect(),
            budget,
            watchdog: self.sources.watchdog.clone(),
            recording: None,
            page: self.page.get().cloned(),
            lost: self.sources.runtime.lost_tasks().borrow().to_vec(),
        }
    }

    /// Whether tasks are taken, as the queue of tasks says, and what of the robot can't be used.
    ///
    /// A stop closes its latch before the queue hears of it. In between, tasks are not said to be taken.
    fn readiness(&self, stopped: bool) -> ReadinessOverview {
        let readiness = match self.sources.runtime.readiness() {
            refusing @ Readiness::Refusing(_) => refusing,
            _ if stopped => Readiness::Refusing(Rejection::Stopped),
            other => other,
        };
        let mut reasons: Vec<String> = Vec::new();
        let state = match &readiness {
            Readiness::Refusing(_) => ReadinessState::Refusing,
            Readiness::Waiting { .. } => ReadinessState::Waiting,
            Readiness::Limited { .. } => ReadinessState::Limited,
            Readiness::Ready => ReadinessState::Ready,
        };
        if state != ReadinessState::Ready {
            reasons.push(readiness.to_string());
        }
        if let (ReadinessState::Ready | ReadinessState::Limited, Some(view)) = (state, &self.view) {
            let view = view.borrow();
            let names: Vec<&str> = components::unavailable(&view).into_iter().map(ComponentName::as_str).collect();
            if !names.is_empty() {
                reasons.push(format!("nothing is called of {} now", names.join(", ")));
            }
        }
        let state = if state == ReadinessState::Ready && !reasons.is_empty() { ReadinessState::Limited } else { state };
        ReadinessOverview { state, because: reasons.join("; ") }
    }

    fn components(&self) -> Vec<cortex_protocol::overview::ComponentOverview> {
        match &self.view {
            Some(view) => components::supervised(&view.borrow()),
            None => {
                let directory = Arc::clone(&self.discovery.directory().borrow());
                components::found(&directory, |name| self.discovery.heard_health(name))
            }
        }
    }

    /// A time by the clock of milliseconds.
    fn in_ms(&self, time: Instant) -> u64 {
        let (begun, begun_ms) = self.started;
        let since = time.saturating_duration_since(begun);
        begun_ms.saturating_add(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn unsettled(&self, call: &UnconfirmedHalt) -> UnsettledOverview {
        UnsettledOverview { tool: call.tool.clone(), since_ms: self.in_ms(call.since), why: call.why.clone() }
    }

    /// The calls that somebody waits for. The others are `unsettled`: a stop asks them again, so they are still open there.
    fn calls(&self, unsettled: &[UnconfirmedHalt]) -> Vec<CallOverview> {
        let open = self.tools.open_calls().into_iter();
        let open = open.filter(|call| !unsettled.iter().any(|given_up| given_up.is_of(&call.mission, call.id)));
        let call = |call: cortex_ros::OpenCall| CallOverview {
            tool: call.tool,
            kind: match call.kind {
                OpenCallKind::Goal => "goal",
                OpenCallKind::Method => "method",
                OpenCallKind::Request => "request",
            }
            .to_owned(),
            since_ms: self.in_ms(call.since),
        };
        open.take(MOST_CALLS).map(call).collect()
    }

    fn note_mission(&self, event: &CloudEvent) {
        self.sources.model.metrics().mission_event(&event.data.payload);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.note(event, now_ms(), || (self.sources.model.now(), self.sources.runtime.limits()));
        drop(told);
        self.changes.note();
    }

    fn note_monitor(&self, event: &MonitorEvent) {
        self.sources.model.metrics().monitor_event(event);
        self.changes.note();
    }
}

async fn follow<T>(collector: Arc<StatusCollector>, value: watch::Receiver<T>) {
    collector.changes.follow(value).await;
}

async fn follow_missions(collector: Arc<StatusCollector>, mut events: Events) {
    // What is missed leaves the missions that are shown behind until they end.
    while let Some(event) = events.recv().await {
        collector.note_mission(&event);
    }
}

async fn follow_monitor(collector: Arc<StatusCollector>, mut events: broadcast::Receiver<MonitorEvent>) {
    loop {
        match events.recv().await {
            Ok(event) => collector.note_monitor(&event),
            Err(broadcast::error::RecvError::Lagged(missed)) => tracing::debug!("status missed {missed} events"),
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// How long ago something was, by the clock of milliseconds.
pub(crate) fn ago(now_ms: u64, then_ms: u64) -> Duration {
    Duration::from_millis(now_ms.saturating_sub(then_ms))
}
