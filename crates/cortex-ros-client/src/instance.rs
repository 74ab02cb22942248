//! Which Cortex it is. Two of one name on a graph would both take every task, and each would answer for the other.
//!
//! Every Cortex says on `~/instance` who it is: host, process, and an id that no other run has. It listens to the others of
//! its name before it serves, and goes on listening: discovery may take long. Of two that hear each other exactly one goes on,
//! and both know which: the one that serves already, else the one that started first, else the one with the smaller id.
//!
//! Only what speaks counts. A Cortex that was killed is listed on the graph for some 20 s, but says nothing to who comes then,
//! so a restart is not locked out by its own ghost.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use r2r::diagnostic_msgs::msg::{DiagnosticStatus, KeyValue};
use tokio::sync::watch;
use tokio::time::{Instant, interval_at};
use uuid::Uuid;

use crate::dds_discovery_profile;
use crate::text::carried;
use crate::{QosProfile, Renamed, RosError, RosNode, publisher};

/// The topic, below the node.
const TOPIC: &str = "instance";
/// How long a Cortex listens for others of its name before it serves, where it announces itself every half a second: those
/// that are there are found within a second then.
const LISTEN_OFTEN: Duration = Duration::from_millis(1_500);
/// The same where it does not: the middleware finds some only by its next announcement, 3 s later.
const LISTEN: Duration = Duration::from_millis(3_300);
/// How long a client listens. It has announced itself then, and those that are there have answered.
const ROLL: Duration = Duration::from_secs(1);
/// How often a Cortex says who it is, beyond what the topic keeps for who comes late.
const PERIOD: Duration = Duration::from_secs(1);
/// Others that are kept. Whoever invents thousands must not exhaust us.
const MOST: usize = 64;
/// What is kept of a text that another process says of itself, in characters.
const CHARACTERS: usize = 100;

/// One run of a Cortex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The node's full name.
    pub node: String,
    /// The machine, by its own name.
    pub host: String,
    /// The process on that machine.
    pub process: u32,
    /// Whether it serves; otherwise it has just come and listens.
    pub serves: bool,
    /// When it started, in nanoseconds since 1970 on the clock of its machine.
    started: u128,
    /// No other run has it.
    id: String,
    /// Where remap rules have it serve what, by the name without rules: `/estop` for `~/stop`.
    renamed: BTreeMap<String, String>,
}

/// Under which names a Cortex serves. Without a word of it: those that are its node's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedNames {
    node: String,
    renamed: BTreeMap<String, String>,
}

impl From<&str> for ServedNames {
    fn from(node: &str) -> Self {
        Self::of(node)
    }
}

impl ServedNames {
    /// Those of a Cortex of this full name without remap rules.
    #[must_use]
    pub fn of(node: &str) -> Self {
        Self { node: node.to_owned(), renamed: BTreeMap::new() }
    }

    /// Its node's full name.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The full name of what is `below` its node without rules: `stop`, `task/_action/send_goal`.
    #[must_use]
    pub fn below(&self, below: &str) -> String {
        let renamed = self.renamed.get(&format!("~/{below}"));
        renamed.cloned().unwrap_or_else(|| format!("{}/{below}", self.node))
    }

    /// Whether rules have changed any of them.
    #[must_use]
    pub fn are_renamed(&self) -> bool {
        !self.renamed.is_empty()
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} on the machine '{}'", self.process, self.host)
    }
}

impl Instance {
    fn of_this_process(node: &str, renamed: Vec<Renamed>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = if host.trim().is_empty() { "unknown" } else { host.trim() };
        Self {
            node: node.to_owned(),
            host: host.to_owned(),
            process: std::process::id(),
            serves: false,
            started: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos(),
            id: Uuid::now_v7().to_string(),
            renamed: renamed.into_iter().map(|renamed| (renamed.own, renamed.now)).collect(),
        }
    }

    /// Under which names it serves.
    #[must_use]
    pub fn names(&self) -> ServedNames {
        ServedNames { node: self.node.clone(), renamed: self.renamed.clone() }
    }

    /// Whether this one goes on, of the two. Each of them comes to the same answer.
    fn precedes(&self, other: &Self) -> bool {
        let rank = |instance: &Self| (!instance.serves, instance.started, instance.id.clone());
        rank(self) < rank(other)
    }

    fn message(&self) -> DiagnosticStatus {
        let value = |key: &str, value: String| KeyValue { key: key.to_owned(), value };
        DiagnosticStatus {
            level: 0,
            name: carried(self.node.clone()),
            message: if self.serves { SERVES } else { "listens for others of its name" }.to_owned(),
            hardware_id: carried(self.host.clone()),
            values: [
                value("process", self.process.to_string()),
                value("started_ns", self.started.to_string()),
                value("id", self.id.clone()),
            ]
            .into_iter()
            .chain(self.renamed.iter().map(|(own, now)| value(own, carried(now.clone()))))
            .collect(),
        }
    }

    /// None where it is no message of a Cortex.
    fn read(message: &DiagnosticStatus) -> Option<Self> {
        let value = |key: &str| message.values.iter().find(|value| value.key == key).map(|value| value.value.as_str());
        let short = |text: &str| text.chars().take(CHARACTERS).collect::<String>();
        let is_rename = |value: &&KeyValue| {
            value.key.starts_with(['~', '/'])
                && value.value.starts_with('/')
                && value.value.len().max(value.key.len()) < 256
        };
        Some(Self {
            node: short(&message.name),
            host: short(&message.hardware_id),
            process: value("process")?.parse().ok()?,
            serves: message.message == SERVES,
            started: value("started_ns")?.parse().ok()?,
            id: value("id").filter(|id| !id.is_empty()).map(short)?,
            renamed: message
                .values
                .iter()
                .filter(is_rename)
                .take(MOST)
                .map(|value| (value.key.clone(), value.value.clone()))
                .collect(),
        })
    }
}

/// What a Cortex says of itself that serves.
const SERVES: &str = "serves";

/// Those of one name that have spoken, by their ids.
type Heard = watch::Sender<BTreeMap<String, Instance>>;

/// This Cortex among those of its name. Clones share it.
#[derive(Clone)]
pub struct Instances {
    own: watch::Sender<Instance>,
    others: Heard,
    since: Instant,
}

impl Instances {
    /// Says who this is and where remap rules have it serve its names, and begins to listen. To be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// When the node was shut down, or the topic can't be had.
    pub async fn join(node: &RosNode, renamed: Vec<Renamed>) -> Result<Self, RosError> {
        let own = watch::Sender::new(Instance::of_this_process(node.fully_qualified_name(), renamed));
        let others = hear(node, node.fully_qualified_name(), Some(own.borrow().id.clone())).await?;
        let publisher = node
            .with_node(|node| node.create_publisher::<DiagnosticStatus>(&format!("~/{TOPIC}"), quality(1).into()))
            .await??;
        let (publisher, mut changes) = (publisher::shared(publisher), own.subscribe());
        let ended = node.clone();
        tokio::spawn(async move {
            let mut turns = interval_at(Instant::now() + PERIOD, PERIOD);
            loop {
                let message = changes.borrow_and_update().message();
                publisher.publish(&message);
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    _ = turns.tick() => {}
                    () = ended.ended() => return,
                }
            }
        });
        Ok(Self { own, others, since: Instant::now() })
    }

    /// Listens until others of the name would have been heard, and serves from then on.
    ///
    /// # Errors
    /// Another one that goes on instead of this one, as soon as it is heard.
    pub async fn claim(&self) -> Result<(), Instance> {
        let listen = if dds_discovery_profile::are_frequent() { LISTEN_OFTEN } else { LISTEN };
        let other = tokio::time::timeout_at(self.since + listen, self.superseded()).await;
        if let Ok(other) = other {
            return Err(other);
        }
        self.own.send_modify(|own| own.serves = true);
        Ok(())
    }

    /// Another one that goes on instead of this one, if there is one.
    #[must_use]
    pub fn superseded_by(&self) -> Option<Instance> {
        let own = self.own.borrow();
        first_before(&own, &self.others.borrow())
    }

    /// Resolves when another one is heard that goes on instead of this one.
    pub async fn superseded(&self) -> Instance {
        let mut others = self.others.subscribe();
        loop {
            if let Some(other) = self.superseded_by() {
                return other;
            }
            if others.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

fn first_before(own: &Instance, others: &BTreeMap<String, Instance>) -> Option<Instance> {
    others.values().find(|other| other.precedes(own)).cloned()
}

/// Those of one name, as a client hears them.
pub struct Roll {
    heard: Heard,
    since: Instant,
}

impl Roll {
    /// Begins to listen to those that have this full name.
    ///
    /// # Errors
    /// When the node was shut down, or the topic can't be had.
    pub async fn call(node: &RosNode, agent: &str) -> Result<Self, RosError> {
        Ok(Self { heard: hear(node, agent, None).await?, since: Instant::now() })
    }

    /// Those that have spoken within a second, or have been heard sooner where they are two. Where `listed`, the number of
    /// those that the graph lists, is more than that, it is waited for them, but not for long: one that was killed is listed
    /// for a while.
    pub async fn answers(&self, listed: impl Fn() -> usize) -> Vec<Instance> {
        self.more_than(1, ROLL).await;
        let heard = self.heard.borrow().len();
        if listed() > heard.max(1) {
            self.more_than(heard.max(1), LISTEN).await;
        }
        self.heard.borrow().values().cloned().collect()
    }

    /// Those that have spoken, as soon as they are as many as the graph lists, where it is known that the graph is complete;
    /// at most a second after the beginning.
    pub async fn answers_of(&self, listed: usize) -> Vec<Instance> {
        self.more_than(listed.saturating_sub(1), ROLL).await;
        self.heard.borrow().values().cloned().collect()
    }

    /// Under which names one of them serves, as soon as one has spoken. None where none does in time.
    pub async fn names_within(&self, limit: Duration) -> Option<ServedNames> {
        self.more_than(0, limit).await;
        self.heard.borrow().values().next().map(Instance::names)
    }

    /// The same for one that serves under other names than those of its node; waits for ever where none does.
    pub async fn renamed(&self) -> ServedNames {
        let mut heard = self.heard.subscribe();
        loop {
            let renamed = heard.borrow_and_update().values().map(Instance::names).find(ServedNames::are_renamed);
            if let Some(renamed) = renamed {
                return renamed;
            }
            if heard.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until more than so many have spoken, at most until so long after the beginning.
    async fn more_than(&self, number: usize, limit: Duration) {
        let mut heard = self.heard.subscribe();
        // Both ends of it are fine.
        let _ = tokio::time::timeout_at(self.since + limit, heard.wait_for(|heard| heard.len() > number)).await;
    }
}

/// Hears those of this full name.
async fn hear(node: &RosNode, name: &str, but: Option<String>) -> Result<Heard, RosError> {
    let heard: Heard = watch::Sender::default();
    let (all, name): (_, Arc<str>) = (heard.clone(), name.into());
    let topic = format!("{name}/{TOPIC}");
    node.subscribe_to_all::<DiagnosticStatus>(&topic, quality(MOST), move |message| {
        let instance = Instance::read(&message).filter(|instance| *instance.node == *name);
        if let Some(instance) = instance.filter(|instance| but.as_ref() != Some(&instance.id)) {
            all.send_if_modified(|all| {
                if all.get(&instance.id) == Some(&instance) || (all.len() >= MOST && !all.contains_key(&instance.id)) {
                    return false;
                }
                all.insert(instance.id.clone(), instance);
                true
            });
        }
        true
    })
    .await?;
    Ok(heard)
}

/// Who comes late hears what was said last.
fn quality(depth: usize) -> QosProfile {
    QosProfile::TRANSIENT_LOCAL.keep_last(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(serves: bool, started: u128, id: &str) -> Instance {
        let (node, host) = ("/cortex".to_owned(), "mars".to_owned());
        Instance { node, host, process: 7, serves, started, id: id.to_owned(), renamed: BTreeMap::new() }
    }

    #[test]
    fn of_any_two_exactly_one_goes_on_and_both_know_which() {
        let ranked = [
            instance(true, 5, "a"),
            instance(true, 9, "a"),
            instance(true, 9, "b"),
            instance(false, 1, "c"),
            instance(false, 2, "a"),
            instance(false, 2, "b"),
        ];
        for (at, one) in ranked.iter().enumerate() {
            for (with, other) in ranked.iter().enumerate() {
                assert_eq!(one.precedes(other), at < with, "{one:?} and {other:?}");
            }
        }
        let others =
            BTreeMap::from([("b".to_owned(), instance(false, 2, "b")), ("c".to_owned(), instance(true, 9, "c"))]);
        let own = |serves| first_before(&instance(serves, 2, "a"), &others).map(|other| other.id);
        assert_eq!((own(false), own(true)), (Some("c".to_owned()), None));
    }

    #[test]
    fn what_is_said_is_heard_and_nonsense_is_not() {
        let renamed = Renamed { own: "~/stop".to_owned(), now: "/estop".to_owned() };
        let own = Instance { serves: true, ..Instance::of_this_process("/home/cortex", vec![renamed]) };
        let names = own.names();
        assert_eq!(
            (names.below("stop"), names.below("resume")),
            ("/estop".to_owned(), "/home/cortex/resume".to_owned())
        );
        assert_eq!(Instance::read(&own.message()), Some(own.clone()));
        assert_eq!(own.process, std::process::id());
        let without = |key: &str| {
            let mut message = own.message();
            message.values.retain(|value| value.key != key);
            Instance::read(&message)
        };
        assert_eq!((without("process"), without("started_ns"), without("id")), (None, None, None));
        let mut huge = own.message();
        huge.hardware_id = "x".repeat(100_000);
        assert!(Instance::read(&huge).is_some_and(|instance| instance.host.len() < 200));
    }
}
