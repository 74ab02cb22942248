//! The latest messages of chosen topics, kept in memory as they were on the wire, for an incident.
//!
//! On a thread of its own, which nothing waits for: 20 times a second it takes what has come, and once a second it looks who
//! publishes what. No message is read, so a type needs to be installed only for its name and its text.

mod choice;
mod ring;

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cortex_core::{LeftOutTopic, RecordedTopic, TopicSlice};
use cortex_discovery_policy::{Policy, TopicHistorySettings};
use cortex_interfaces::Interfaces;
use cortex_ros_client::raw_topics::{RawSubscription, RawTopics};
use cortex_ros_client::{GraphWatch, RosError};

use crate::{AdapterError, Discovery};
use choice::{Found, MOST_TOPICS, Reading};
use ring::Ring;

/// How often what has come is taken.
const LOOK: Duration = Duration::from_millis(50);
/// How often it is looked who publishes what.
const SEARCH: Duration = Duration::from_secs(1);
/// Messages of one topic that are taken at one look. The middleware keeps fewer; a flood would keep the thread for ever.
const AT_ONCE: usize = 512;

/// The latest messages of chosen topics.
pub struct TopicHistory {
    shared: Arc<Shared>,
    ending: mpsc::SyncSender<()>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    settings: TopicHistorySettings,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    ring: Ring,
    /// What is recorded, by topic.
    recorded: BTreeMap<String, Recorded>,
    left_out: Vec<LeftOutTopic>,
}

/// What is known of a topic that is recorded.
#[derive(Clone)]
struct Recorded {
    reading: Reading,
    definition: Arc<str>,
}

impl TopicHistory {
    /// Begins to keep messages of the robot that was discovered. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When ROS refuses, or no thread can be had.
    pub fn start(
        graph: &GraphWatch,
        discovery: &Discovery,
        settings: TopicHistorySettings,
    ) -> Result<Self, AdapterError> {
        let kept = Kept { ring: Ring::new(settings.most_bytes), ..Kept::default() };
        let shared = Arc::new(Shared { settings, kept: Mutex::new(kept) });
        let (ending, ended) = mpsc::sync_channel(1);
        let mut recorder = Recorder {
            shared: Arc::clone(&shared),
            topics: RawTopics::create(graph)?,
            graph: graph.clone(),
            interfaces: Arc::clone(&discovery.shared().interfaces),
            policy: discovery.shared().policy.clone(),
            open: BTreeMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("topic-history".to_owned())
            .spawn(move || recorder.run(&ended))
            .map_err(RosError::Thread)?;
        Ok(Self { shared, ending, thread: Mutex::new(Some(thread)) })
    }

    /// What is kept now. Messages are shared, not copied.
    #[must_use]
    pub fn slice(&self) -> TopicSlice {
        let reach = self.shared.settings.reach;
        let mut kept = self.shared.kept();
        kept.ring.forget_before(now_ns().saturating_sub(nanoseconds(reach)));
        let topic = |(topic, recorded): (&String, &Recorded)| {
            let (messages, dropped) = kept.ring.of(topic);
            let Recorded { reading, definition } = recorded.clone();
            RecordedTopic {
                topic: topic.clone(),
                type_name: reading.type_name,
                definition: definition.to_string(),
                type_hash: reading.type_hash,
                offered: reading.offered,
                messages,
                dropped,
            }
        };
        let topics = kept.recorded.iter().map(topic).collect();
        TopicSlice { reach, topics, left_out: kept.left_out.clone() }
    }

    /// Ends the thread. Blocks until that is done, for some milliseconds. Later calls do nothing.
    pub fn shut_down(&self) {
        // It may have ended.
        let _ = self.ending.try_send(());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the thread that keeps messages for incidents has failed");
        }
    }
}

impl Drop for TopicHistory {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What is in it is whole at every moment.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread has.
struct Recorder {
    shared: Arc<Shared>,
    topics: RawTopics,
    graph: GraphWatch,
    interfaces: Arc<Interfaces>,
    policy: Policy,
    /// By topic, with how it is read.
    open: BTreeMap<String, (Reading, RawSubscription)>,
}

impl Recorder {
    fn run(&mut self, ended: &mpsc::Receiver<()>) {
        let mut searched: Option<Instant> = None;
        loop {
            if searched.is_none_or(|searched| searched.elapsed() >= SEARCH) {
                self.search();
                searched = Some(Instant::now());
            }
            self.look();
            match ended.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Takes what has come.
    fn look(&mut self) {
        let now = now_ns();
        for (topic, (_, subscription)) in &mut self.open {
            for _ in 0..AT_ONCE {
                match subscription.take() {
                    Ok(Some(raw)) => {
                        // Copied before the lock is taken: whoever saves an incident waits for it.
                        let received = raw.received_ns.unwrap_or(now);
                        let message = ring::message(received, raw.published_ns.unwrap_or(received), raw.data);
                        self.shared.kept().ring.add(topic, message);
                    }
                    Ok(None) => break,
                    Err(problem) => {
                        tracing::debug!("a message of {topic} is not kept for incidents: {problem}");
                        break;
                    }
                }
            }
        }
        let begin = now.saturating_sub(nanoseconds(self.shared.settings.reach));
        self.shared.kept().ring.forget_before(begin);
    }

    /// Subscribes to what has come, and anew to what is offered otherwise. What nobody publishes any more stays.
    fn search(&mut self) {
        let choice = &self.shared.settings.topics;
        let topics = choice::topics(choice, &self.graph.current());
        let unmatched = choice.unmatched(&topics).into_iter();
        let nobody = |topic: &str| left_out(topic, "nobody publishes it");
        let mut missing: Vec<LeftOutTopic> = unmatched.map(nobody).collect();
        for topic in &topics {
            match self.found(topic) {
                Found::Readable(reading) => missing.extend(self.read(topic, reading).err()),
                Found::Nobody if self.open.contains_key(topic) => {}
                Found::Nobody => missing.push(nobody(topic)),
                Found::Unreadable(reason) => missing.push(left_out(topic, &reason)),
            }
        }
        missing.sort();
        self.shared.kept().left_out = missing;
    }

    fn found(&self, topic: &str) -> Found {
        match self.topics.publishers(topic) {
            Ok(publishers) => Found::of(topic, &publishers, &self.policy),
            Err(problem) => Found::Unreadable(problem.to_string()),
        }
    }

    /// Reads the topic so from now on.
    fn read(&mut self, topic: &str, reading: Reading) -> Result<(), LeftOutTopic> {
        let known = self.open.get(topic).map(|(known, _)| known);
        if known == Some(&reading) {
            return Ok(());
        }
        if known.is_none() && self.open.len() >= MOST_TOPICS {
            return Err(left_out(topic, &format!("{MOST_TOPICS} topics are recorded already")));
        }
        let is_another_type = known.is_some_and(|known| known.type_name != reading.type_name);
        let refused = |reason: String| left_out(topic, &reason);
        let interface = self.interfaces.message(&reading.type_name).map_err(|problem| refused(problem.to_string()))?;
        let definition = self.interfaces.definition(&interface).into();
        let quality = reading.quality();
        let is_read_otherwise = known.is_none_or(|known| known.quality() != quality) || is_another_type;
        if is_read_otherwise {
            let subscription =
                self.topics.subscribe(topic, &interface, quality).map_err(|problem| refused(problem.to_string()))?;
            self.open.insert(topic.to_owned(), (reading.clone(), subscription));
        } else if let Some((known, _)) = self.open.get_mut(topic) {
            known.clone_from(&reading);
        }
        let mut kept = self.shared.kept();
        if is_another_type {
            kept.ring.forget(topic);
        }
        kept.ring.keep(topic, reading.is_latched());
        kept.recorded.insert(topic.to_owned(), Recorded { reading, definition });
        Ok(())
    }
}

fn left_out(topic: &str, reason: &str) -> LeftOutTopic {
    LeftOutTopic { topic: topic.to_owned(), reason: reason.to_owned() }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn now_ns() -> u64 {
    nanoseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}
