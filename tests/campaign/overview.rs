//! What Cortex says of itself meanwhile: who has whose place, and for how long something is not known to be at rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cortex_protocol::overview::{Overview, ReadinessState};
use cortex_ros_client::RosNode;
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::std_msgs::msg::String as Text;
use futures::StreamExt as _;

/// How often what was heard is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What was heard so far. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    latest: Option<Overview>,
    /// What is not known to be at rest now, and since when.
    unsettled: BTreeMap<String, Instant>,
    /// The longest time that something was not.
    longest: Option<(Duration, String)>,
}

impl Heard {
    pub(crate) async fn listen(node: &RosNode) -> anyhow::Result<Self> {
        let heard = Self::default();
        let quality = QosProfile::default().transient_local();
        let topic = "/cortex/overview";
        let mut overviews = node.with_node(move |node| node.subscribe::<Text>(topic, quality)).await??;
        let noted = heard.clone();
        tokio::spawn(async move {
            while let Some(message) = overviews.next().await {
                if let Ok(overview) = serde_json::from_str(&message.data) {
                    noted.note(overview);
                }
            }
        });
        Ok(heard)
    }

    fn note(&self, overview: Overview) {
        let mut inner = self.lock();
        let names: Vec<String> = overview.unsettled.iter().map(|call| call.tool.to_string()).collect();
        let now = Instant::now();
        let ended: Vec<(String, Instant)> = inner
            .unsettled
            .iter()
            .filter(|(name, _)| !names.contains(name))
            .map(|(name, at)| (name.clone(), *at))
            .collect();
        for (name, since) in ended {
            inner.unsettled.remove(&name);
            let lasted = now.duration_since(since);
            if inner.longest.as_ref().is_none_or(|(longest, _)| *longest < lasted) {
                inner.longest = Some((lasted, name));
            }
        }
        for name in names {
            inner.unsettled.entry(name).or_insert(now);
        }
        inner.latest = Some(overview);
    }

    /// Waits until the component stands so, for a bounded time; false if it never did.
    pub(crate) async fn stands(&self, component: &str, standing: &str, limit: Duration) -> bool {
        self.until(limit, |overview| {
            let mut all = overview.components.iter();
            all.any(|one| one.name.as_str() == component && one.standing == standing)
        })
        .await
    }

    /// Waits until tasks are taken without limits. `Err`: in the end it said this.
    pub(crate) async fn is_ready(&self, limit: Duration) -> Result<(), String> {
        let is_ready = |overview: &Overview| overview.readiness.state == ReadinessState::Ready;
        if self.until(limit, is_ready).await {
            return Ok(());
        }
        Err(self.lock().latest.as_ref().map_or_else(|| "nothing".to_owned(), |latest| latest.readiness.to_string()))
    }

    async fn until(&self, limit: Duration, wanted: impl Fn(&Overview) -> bool) -> bool {
        let seen = async {
            while !self.lock().latest.as_ref().is_some_and(&wanted) {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::time::timeout(limit, seen).await.is_ok()
    }

    /// The longest time that something was not known to be at rest, and what.
    pub(crate) fn longest_unsettled(&self) -> Option<(Duration, String)> {
        self.lock().longest.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
