//! The port for clients: the runtime, with what the robot can do at that moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{ClientPort, EventStream};
use cortex_custom_actions::{CustomActions, Offered};
use cortex_protocol::words::counted;
use cortex_protocol::{
    Command, CommandError, CommandErrorKind, CommandOutcome, ComponentName, EventId, MissionId, OpenQuestion, Principal,
};
use cortex_robot::supervision;
use cortex_ros::{ComponentState, Discovery};
use cortex_runtime::{ProviderHandle, Runtime};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::management::tell;

/// How long a task waits for what came back to say what it can do.
const DESCRIBED_WITHIN: Duration = Duration::from_secs(3);

/// A robot that comes up changes many times at once. It is told when nothing has changed for this long, or at the latest
/// after [`LONGEST_CHANGE`].
const QUIET: Duration = Duration::from_millis(300);
const LONGEST_CHANGE: Duration = Duration::from_secs(3);

/// A time of changes, which ends when it is quiet.
struct Changing {
    first: Instant,
    last: Instant,
}

impl Changing {
    fn begins() -> Self {
        let now = Instant::now();
        Self { first: now, last: now }
    }

    fn goes_on(&mut self) {
        self.last = Instant::now();
    }

    fn ends(&self) -> Instant {
        (self.last + QUIET).min(self.first + LONGEST_CHANGE)
    }
}

/// Waits until it is quiet; for ever where nothing has changed.
async fn quiet(changing: Option<&Changing>) {
    match changing {
        Some(changing) => tokio::time::sleep_until(changing.ends()).await,
        None => std::future::pending().await,
    }
}

/// The port for clients over the runtime.
pub struct Agent {
    runtime: Runtime,
    discovery: Discovery,
    /// The robot that Cortex itself brings up.
    supervised: Option<supervision::Watch>,
    /// The tools of the robot's graph.
    robot: ProviderHandle,
    /// The actions of its recipe.
    actions: Option<(Arc<CustomActions>, ProviderHandle)>,
    settle_timeout: Duration,
    /// Whether the picture of the robot was complete once. From then on no task waits for it: a component that comes
    /// and goes must not hold up the others.
    has_settled: AtomicBool,
    /// Counts the stops, so that a task that waited through one is not begun.
    stops: watch::Sender<u64>,
    /// Held while tools are handed over, so that an older set never follows a newer one.
    offering: tokio::sync::Mutex<()>,
}

#[async_trait]
impl ClientPort for Agent {
    async fn ready(&self) -> Result<(), CommandError> {
        if self.has_settled.load(Ordering::Acquire) {
            self.described().await;
            return Ok(());
        }
        let mut stops = self.stops.subscribe();
        tokio::select! {
            (settled, missing) = self.settle() => {
                if !missing.is_empty() {
                    let names: Vec<&str> = missing.iter().map(ComponentName::as_str).collect();
                    tracing::warn!("not up yet: {}; the task begins without them", names.join(", "));
                }
                if !settled {
                    tracing::warn!("some components have not described themselves yet; the task begins without them");
                }
                self.has_settled.store(true, Ordering::Release);
                Ok(())
            }
            _ = stops.changed() => {
                let reason = "The robot was stopped before the task began.";
                Err(CommandError::new(CommandErrorKind::Refused, reason))
            }
        }
    }

    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        principal.may(&command)?;
        match &command {
            Command::Submit { .. } | Command::CallTool { .. } => self.offer().await,
            Command::Stop => self.stops.send_modify(|count| *count += 1),
            _ => {}
        }
        self.runtime.execute(command, principal).await
    }

    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream> {
        Box::new(self.runtime.follow(mission.clone()))
    }

    fn events(&self, after: Option<EventId>) -> Box<dyn EventStream> {
        Box::new(after.map_or_else(|| self.runtime.events(), |seen| self.runtime.events_after(seen)))
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        self.runtime.open_questions()
    }
}

impl Agent {
    /// `supervised` is the robot that Cortex itself brings up; `robot` offers the tools of its graph, and `actions` are those
    /// of its recipe.
    pub fn new(
        runtime: Runtime,
        discovery: Discovery,
        supervised: Option<supervision::Watch>,
        robot: ProviderHandle,
        actions: Option<(Arc<CustomActions>, ProviderHandle)>,
        settle_timeout: Duration,
    ) -> Self {
        Self {
            runtime,
            discovery,
            supervised,
            robot,
            actions,
            settle_timeout,
            has_settled: AtomicBool::new(false),
            stops: watch::Sender::new(0),
            offering: tokio::sync::Mutex::new(()),
        }
    }

    /// Hands every change of what the robot can do to the runtime, until the robot is left.
    pub async fn keep_offering(self: Arc<Self>) {
        let mut tools = self.discovery.tools();
        let (mut told, mut changing) = (None, Some(Changing::begins()));
        tools.mark_unchanged();
        self.offer().await;
        loop {
            tokio::select! {
                changed = tools.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    changing.get_or_insert_with(Changing::begins).goes_on();
                    self.offer().await;
                }
                () = quiet(changing.as_ref()) => {
                    changing = None;
                    let offer: Vec<_> = tools.borrow().iter().map(|tool| (tool.name.clone(), tool.fingerprint())).collect();
                    let components = self.discovery.directory().borrow().components().count();
                    let line = format!("tools: {} ({})", offer.len(), counted(components, "component"));
                    // The same number of other tools is news, too.
                    let now = Some((offer, components));
                    if told != now {
                        tell(&line);
                        told = now;
                    }
                }
            }
        }
    }

    /// Waits until the picture of the robot is complete, and the robot is up if Cortex brings it up. Gives whether it came
    /// to that, and what is not up.
    pub async fn settle(&self) -> (bool, Vec<ComponentName>) {
        let up = async {
            match &self.supervised {
                Some(watch) => watch.come_up(self.settle_timeout).await,
                None => Vec::new(),
            }
        };
        tokio::join!(self.discovery.settled(self.settle_timeout), up)
    }

    /// Waits, for a moment, until what came back and works has said what it can do, where Cortex brings the robot up.
    async fn described(&self) {
        let Some(robot) = &self.supervised else { return };
        let view = robot.view();
        let offer = self.runtime.tool_registry();
        let left: BTreeSet<&ComponentName> =
            offer.removed().iter().filter_map(|spec| spec.component.as_ref()).collect();
        let mut directory = self.discovery.directory();
        let known = directory.wait_for(|directory| {
            let view = view.borrow();
            let known: BTreeMap<&ComponentName, ComponentState> =
                directory.components().map(|(name, component)| (name, component.state)).collect();
            let is_asked = |(name, state): (&&ComponentName, &ComponentState)| {
                *state == ComponentState::Describing && view.works(name)
            };
            // What works again may not even have been seen again.
            let is_unseen = |name: &&ComponentName| !known.contains_key(name) && view.works(name);
            !known.iter().any(is_asked) && !left.iter().any(is_unseen)
        });
        // Both ends of it are fine: the task begins with what is known.
        let _ = tokio::time::timeout(DESCRIBED_WITHIN, known).await;
    }

    /// Hands what the robot can do now to the runtime.
    async fn offer(&self) {
        let _turn = self.offering.lock().await;
        let tools = self.discovery.tools().borrow().as_ref().clone();
        self.robot.offer_tools(tools).await;
        if let Some((actions, provider)) = &self.actions {
            let Offered { to_models, to_events } = actions.offered();
            provider.offer_tools(to_models).await;
            provider.offer_to_clients(to_events).await;
        }
    }
}
