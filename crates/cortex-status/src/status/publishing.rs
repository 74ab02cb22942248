//! Gives the rest of the process each overview that is new, and publishes it as JSON on `~/overview`, latched, and on
//! `/diagnostics`.

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::overview::Overview;
use cortex_ros_client::clock::RosClock;
use cortex_ros_client::messages::diagnostic_msgs::msg::DiagnosticArray;
use cortex_ros_client::messages::std_msgs::msg::String as Text;
use cortex_ros_client::{JsonTopic, QosProfile, RosError, RosNode, TypedMessage};
use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

use super::diagnostics::Reporter;
use super::{StatusCollector, TOPIC};

/// Where tools of ROS look.
const DIAGNOSTICS: &str = "/diagnostics";
/// How often is looked whether something has changed of which nobody tells; so often is it published on topics at most.
const LOOK: Duration = Duration::from_millis(300);
/// How often it is published when nothing has changed, so that who reads it sees that Cortex goes on.
const RENEW: Duration = Duration::from_secs(2);

/// The latest overview for the rest of the process. Its one owner.
pub(super) struct Latest {
    sender: watch::Sender<Arc<Overview>>,
    given: Given,
}

impl Latest {
    pub(super) fn new(sender: watch::Sender<Arc<Overview>>, first: Arc<Overview>) -> Self {
        Self { sender, given: Given(Some((first, Instant::now()))) }
    }

    fn renew(&mut self, now: &Arc<Overview>) {
        if self.given.is_due(now) {
            self.sender.send_replace(Arc::clone(now));
            self.given.note(now);
        }
    }
}

/// What others were given last, and when.
#[derive(Default)]
struct Given(Option<(Arc<Overview>, Instant)>);

impl Given {
    /// Whether something has changed but the time, or it is time to show that Cortex goes on.
    fn is_due(&self, now: &Overview) -> bool {
        self.0.as_ref().is_none_or(|(before, at)| at.elapsed() >= RENEW || !is_same(before, now))
    }

    fn note(&mut self, now: &Arc<Overview>) {
        self.0 = Some((Arc::clone(now), Instant::now()));
    }
}

/// Whether they differ in nothing but when they were true.
fn is_same(before: &Overview, now: &Overview) -> bool {
    Overview { at_ms: now.at_ms, ..before.clone() } == *now
}

/// Gives and publishes until it is dropped.
pub(super) async fn publish(collector: Arc<StatusCollector>, mut latest: Latest, node: RosNode, clock: RosClock) {
    let mut topics = Topics::create(&node, clock).await;
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looked = Instant::now();
    loop {
        let is_for_topics = tokio::select! {
            _ = looks.tick() => true,
            () = collector.changes.next(looked) => false,
        };
        let now = Arc::new(collector.overview());
        looked = Instant::now();
        latest.renew(&now);
        if is_for_topics {
            topics.publish(&collector, &now);
        }
    }
}

/// The overview as it is on the topic: whoever reads that is on the graph.
#[derive(Serialize)]
struct OnTopic<'a> {
    #[serde(flatten)]
    overview: &'a Overview,
    /// The digest of the graph as Cortex sees it. None: it is still looking.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<&'a str>,
}

/// What a Cortex says on its topic of the graph that it sees: the digest, once it has looked for long enough.
#[must_use]
pub fn graph_in(text: &str) -> Option<String> {
    let overview: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(overview.get("graph")?.as_str()?.to_owned())
}

/// Where others than this process see it.
struct Topics {
    overviews: Option<JsonTopic<Text>>,
    published: Given,
    /// What was published of the graph.
    seen: Option<String>,
    diagnostics: Option<JsonTopic<DiagnosticArray>>,
    reporter: Reporter,
    clock: RosClock,
}

impl Topics {
    async fn create(node: &RosNode, clock: RosClock) -> Self {
        let topic = format!("~/{TOPIC}");
        let overviews = known(&topic, JsonTopic::create(node, &topic, QosProfile::TRANSIENT_LOCAL).await);
        let diagnostics = JsonTopic::create(node, DIAGNOSTICS, QosProfile::RELIABLE).await;
        let diagnostics = known(DIAGNOSTICS, diagnostics);
        Self { overviews, published: Given::default(), seen: None, diagnostics, reporter: Reporter::default(), clock }
    }

    fn publish(&mut self, collector: &StatusCollector, now: &Arc<Overview>) {
        collector.sources.model.metrics().overview(now);
        let discovery = &collector.discovery;
        let seen = discovery.is_settled().then(|| discovery.seen().borrow().clone());
        if let Some(diagnostics) = &self.diagnostics
            && let Some(message) = self.reporter.report(now, self.clock.now_ns())
            && let Err(problem) = diagnostics.publish(&message)
        {
            tracing::debug!("{problem}");
        }
        if let Some(overviews) = &self.overviews
            && (self.published.is_due(now) || self.seen != seen)
        {
            let text = serde_json::to_string(&OnTopic { overview: now, graph: seen.as_deref() }).unwrap_or_default();
            if let Err(problem) = overviews.publish(&json!({"data": text})) {
                tracing::debug!("{problem}");
            }
            self.published.note(now);
            self.seen = seen;
        }
    }
}

/// What can't be published is told once, and Cortex goes on without it.
fn known<T: TypedMessage>(topic: &str, made: Result<JsonTopic<T>, RosError>) -> Option<JsonTopic<T>> {
    made.inspect_err(|problem| tracing::warn!("{topic} is not published: {problem}")).ok()
}
