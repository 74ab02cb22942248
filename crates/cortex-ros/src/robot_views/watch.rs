//! One topic that somebody looks at.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::RobotSightStream;
use cortex_protocol::robot_view::RobotSight;
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::Glance;
use cortex_ros_client::graph::Graph;
use cortex_ros_client::qos::{Durability, QosProfile};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::RobotViews;
use super::frames::Frames;
use super::sights::Shown;
use crate::following::{nobody_publishes, types_of};

/// How often it is looked whether a picture or a pose has come: ten a second are shown.
const LOOK: Duration = Duration::from_millis(100);
/// The pause before a topic that can't be read is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// The topic, subscribed to while it is published with one type.
pub(super) struct TopicWatch {
    views: RobotViews,
    topic: String,
    field: Option<String>,
    /// The frame that is asked for.
    frame: Option<String>,
    /// How the frames lie to each other, from the first message on that is in another frame.
    frames: Option<Arc<Frames>>,
    /// What could not be given in the frame that is asked for.
    unplaced: Option<Shown>,
    graph: watch::Receiver<Arc<Graph>>,
    open: Option<Open>,
    /// Why there is nothing, as it was told last.
    absence: Option<String>,
    next_look: Instant,
}

/// Why a topic can't be looked at now, for people.
struct Absence(String);

impl From<RosError> for Absence {
    fn from(problem: RosError) -> Self {
        Self(problem.to_string())
    }
}

struct Open {
    types: BTreeSet<String>,
    latched: bool,
    /// Read on a thread for what blocks, also when nobody waits for it any more.
    glance: Arc<Mutex<Glance>>,
}

impl TopicWatch {
    pub(super) fn new(views: RobotViews, topic: &str, field: Option<&str>, frame: Option<&str>) -> Self {
        let graph = views.graph.subscribe();
        Self {
            topic: topic.to_owned(),
            field: field.map(str::to_owned),
            frame: frame.map(str::to_owned),
            frames: None,
            unplaced: None,
            graph,
            open: None,
            absence: None,
            next_look: Instant::now(),
            views,
        }
    }

    /// Subscribes anew where who publishes the topic has changed.
    ///
    /// # Errors
    /// Why it can't be looked at now, for people.
    async fn keep_open(&mut self) -> Result<(), Absence> {
        let graph = Arc::clone(&self.graph.borrow_and_update());
        let shared = self.views.discovery.shared();
        let is_shown = shared.policy.refusal(&self.topic).is_none();
        let types = if is_shown { types_of(&graph, &self.topic) } else { BTreeSet::new() };
        let mut named = types.iter();
        let name = match (named.next(), named.next()) {
            (Some(only), None) => only.clone(),
            (None, _) => {
                self.open = None;
                return Err(Absence(nobody_publishes(&self.topic)));
            }
            (Some(_), Some(_)) => {
                self.open = None;
                let types: Vec<&str> = types.iter().map(String::as_str).collect();
                let reason = format!("{} is published with several types: {}", self.topic, types.join(", "));
                return Err(Absence(reason));
            }
        };
        let latched = self.is_latched()?;
        if self.open.as_ref().is_some_and(|open| open.types == types && open.latched == latched) {
            return Ok(());
        }
        self.open = None;
        let interface = shared.interface(move |interfaces| interfaces.message(&name)).await;
        let interface = interface?;
        self.views.endpoints.check_topic(&self.topic, &interface)?;
        let quality = if latched { QosProfile::TRANSIENT_LOCAL } else { QosProfile::BEST_EFFORT };
        let glance = self.views.endpoints.glance(&self.topic, &interface, quality).await;
        let glance = Arc::new(Mutex::new(glance?));
        self.open = Some(Open { types, latched, glance });
        Ok(())
    }

    /// Whether all publishers keep their last message for who comes late, as those of maps do.
    fn is_latched(&self) -> Result<bool, RosError> {
        let offered = self.views.endpoints.offered(&self.topic)?;
        Ok(!offered.is_empty() && offered.iter().all(|(_, durability)| *durability == Durability::TransientLocal))
    }

    /// What has come since the last look.
    async fn look(&self) -> Result<Option<Shown>, RosError> {
        let Some(open) = &self.open else { return Ok(None) };
        let (glance, field) = (Arc::clone(&open.glance), self.field.clone());
        let read = tokio::task::spawn_blocking(move || {
            let message = glance.blocking_lock().take()?;
            Ok(message.map(|message| Shown::of(message.view(), field.as_deref())))
        });
        read.await.unwrap_or(Err(RosError::ShutDown))
    }

    /// What is shown, in the frame that is asked for where that can be done.
    async fn place(&mut self, shown: Shown) -> RobotSight {
        let own = shown.frame().map(str::to_owned);
        let (Some(own), Some(wanted)) = (own, self.frame.clone()) else { return shown.into_given() };
        if own == wanted {
            return shown.into_given();
        }
        let lies = match self.frames().await {
            Ok(frames) => {
                let lies = frames.transforms().lies(&own, &wanted, std::time::Instant::now());
                lies.map_err(|missing| missing.to_string())
            }
            Err(problem) => Err(format!("the transforms of the robot can't be read: {problem}")),
        };
        match lies {
            Ok(lies) => shown.within(&wanted, lies),
            Err(reason) => {
                let unplaced = shown.unplaced(reason);
                self.unplaced = Some(shown);
                unplaced
            }
        }
    }

    async fn frames(&mut self) -> Result<Arc<Frames>, RosError> {
        if let Some(frames) = &self.frames {
            return Ok(Arc::clone(frames));
        }
        let frames = self.views.frames().await?;
        self.frames = Some(Arc::clone(&frames));
        Ok(frames)
    }
}

#[async_trait]
impl RobotSightStream for TopicWatch {
    async fn next(&mut self) -> Option<RobotSight> {
        loop {
            let is_changed = self.graph.has_changed().ok()?;
            if (is_changed || self.open.is_none())
                && let Err(Absence(reason)) = self.keep_open().await
            {
                if self.absence.as_ref() != Some(&reason) {
                    self.absence = Some(reason.clone());
                    return Some(RobotSight::Absent { reason });
                }
                // A graph that has ended says nothing more.
                let _ = timeout(AGAIN, self.graph.changed()).await;
                continue;
            }
            self.absence = None;
            sleep_until(self.next_look).await;
            self.next_look = Instant::now() + LOOK;
            match self.look().await {
                Ok(Some(shown)) => {
                    self.unplaced = None;
                    return Some(self.place(shown).await);
                }
                // Of a pose that comes once, the transforms may come later.
                Ok(None) => {
                    if let Some(shown) = self.unplaced.take() {
                        let placed = self.place(shown).await;
                        if self.unplaced.is_none() {
                            return Some(placed);
                        }
                    }
                }
                Err(RosError::ShutDown) => return None,
                Err(problem) => {
                    self.next_look = Instant::now() + AGAIN;
                    return Some(RobotSight::Unusable { reason: problem.to_string() });
                }
            }
        }
    }
}
