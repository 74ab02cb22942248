//! Messages of topics as a bag of rosbag2: one file in MCAP with what `ros2 bag` and Foxglove need to read it, and the
//! `metadata.yaml` beside it. Pure but for the writer that it is given.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use cortex_core::{OfferedQuality, RecordedMessage, RecordedTopic, TopicSlice};
use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{McapError, WriteOptions};

/// The folder of the bag in the archive.
pub(super) const FOLDER: &str = "topics";
/// Its file of messages.
pub(super) const MESSAGES: &str = "topics_0.mcap";
/// What rosbag2 looks at first.
pub(super) const METADATA: &str = "metadata.yaml";
/// The version of `metadata.yaml`: that of ROS 2 Jazzy. Later ones read it.
const METADATA_VERSION: u32 = 9;
/// "Without end", as ROS writes it in seconds and nanoseconds.
const INFINITE: (u64, u64) = (9_223_372_036, 854_775_807);

/// A bag of these topics.
pub(super) struct Bag<'a> {
    topics: &'a [RecordedTopic],
    /// The messages of all topics in the order of time, each with its topic's place and when it counts as received.
    messages: Vec<(u64, usize, &'a RecordedMessage)>,
    ros_distro: String,
}

impl<'a> Bag<'a> {
    /// None where nothing was recorded. `saved_ns` is the end of what is kept. A message that is older than that reaches back,
    /// because late joiners receive it, counts as received at the beginning: so a player sends it first, and the bag is no
    /// longer than what it holds.
    pub(super) fn of(slice: &'a TopicSlice, saved_ns: u64) -> Option<Self> {
        let reach = u64::try_from(slice.reach.as_nanos()).unwrap_or(u64::MAX);
        let begin = saved_ns.saturating_sub(reach);
        let mut messages: Vec<_> = slice
            .topics
            .iter()
            .enumerate()
            .flat_map(|(place, topic)| topic.messages.iter().map(move |message| (place, message)))
            .map(|(place, message)| (message.received_ns.max(begin), place, message))
            .collect();
        messages.sort_by_key(|(received, ..)| *received);
        let ros_distro = std::env::var("ROS_DISTRO").unwrap_or_default();
        (!messages.is_empty()).then_some(Self { topics: &slice.topics, messages, ros_distro })
    }

    /// How many bytes [`write`](Self::write) writes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        self.write(Counted(0)).map(|counted| counted.0)
    }

    /// Writes the file of messages. The same bag makes the same bytes.
    pub(super) fn write<W: Write>(&self, writer: W) -> io::Result<W> {
        let options = WriteOptions::new()
            .profile("ros2")
            .library(concat!("cortex ", env!("CARGO_PKG_VERSION")))
            .compression(None)
            .disable_seeking(true);
        let mut writer = options.create(NoSeek::new(writer)).map_err(failed)?;
        let mut channels = Vec::with_capacity(self.topics.len());
        for topic in self.topics {
            let schema = writer.add_schema(&topic.type_name, "ros2msg", topic.definition.as_bytes()).map_err(failed)?;
            let metadata = BTreeMap::from([
                ("offered_qos_profiles".to_owned(), nested(&offers(topic, "")).trim_start().to_owned()),
                ("topic_type_hash".to_owned(), topic.type_hash.clone()),
            ]);
            channels.push((writer.add_channel(schema, &topic.topic, "cdr", &metadata).map_err(failed)?, 0));
        }
        for (received, place, message) in &self.messages {
            let Some((channel_id, sequence)) = channels.get_mut(*place) else { continue };
            *sequence += 1;
            let header = MessageHeader {
                channel_id: *channel_id,
                sequence: *sequence,
                log_time: *received,
                publish_time: message.published_ns,
            };
            writer.write_to_known_channel(&header, &message.data).map_err(failed)?;
        }
        let about = BTreeMap::from([("serialized_metadata".to_owned(), self.about(""))]);
        writer.write_metadata(&Metadata { name: "rosbag2".to_owned(), metadata: about }).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(writer.into_inner().into_inner())
    }

    /// The text of `metadata.yaml`.
    pub(super) fn metadata(&self) -> String {
        format!("rosbag2_bagfile_information:\n{}", self.about("  "))
    }

    fn about(&self, indent: &str) -> String {
        let count = self.messages.len();
        let begin = self.messages.first().map_or(0, |(received, ..)| *received);
        let duration = self.messages.last().map_or(0, |(received, ..)| received - begin);
        let mut topics = String::new();
        for topic in self.topics {
            let RecordedTopic { topic: name, type_name, type_hash, messages, .. } = topic;
            let (name, type_name, type_hash) = (quoted(name), quoted(type_name), quoted(type_hash));
            // Writing to a string does not fail.
            let _ = write!(
                topics,
                "{indent}  - topic_metadata:\n{indent}      name: {name}\n{indent}      type: {type_name}\n\
                 {indent}      serialization_format: cdr\n{indent}      offered_qos_profiles:{}\n\
                 {indent}      type_description_hash: {type_hash}\n{indent}    message_count: {}\n",
                nested(&offers(topic, &format!("{indent}        "))),
                messages.len()
            );
        }
        format!(
            "{indent}version: {METADATA_VERSION}\n{indent}storage_identifier: mcap\n\
             {indent}duration:\n{indent}  nanoseconds: {duration}\n\
             {indent}starting_time:\n{indent}  nanoseconds_since_epoch: {begin}\n\
             {indent}message_count: {count}\n{indent}topics_with_message_count:\n{topics}\
             {indent}compression_format: \"\"\n{indent}compression_mode: \"\"\n\
             {indent}relative_file_paths:\n{indent}  - {MESSAGES}\n\
             {indent}files:\n{indent}  - path: {MESSAGES}\n\
             {indent}    starting_time:\n{indent}      nanoseconds_since_epoch: {begin}\n\
             {indent}    duration:\n{indent}      nanoseconds: {duration}\n{indent}    message_count: {count}\n\
             {indent}custom_data: ~\n{indent}ros_distro: {}\n",
            quoted(&self.ros_distro)
        )
    }
}

/// The offers of a topic's publishers as rosbag2 writes them. Empty where there are none.
fn offers(topic: &RecordedTopic, indent: &str) -> String {
    topic.offered.iter().map(|offered| offer(*offered, indent)).collect()
}

fn offer(offered: OfferedQuality, indent: &str) -> String {
    let reliability = if offered.is_reliable { "reliable" } else { "best_effort" };
    let durability = if offered.is_transient_local { "transient_local" } else { "volatile" };
    let (sec, nsec) = INFINITE;
    let time = |name: &str| format!("{indent}  {name}:\n{indent}    sec: {sec}\n{indent}    nsec: {nsec}\n");
    // The middleware does not tell other processes how much a publisher keeps.
    format!(
        "{indent}- history: keep_last\n{indent}  depth: 10\n{indent}  reliability: {reliability}\n\
         {indent}  durability: {durability}\n{}{}{indent}  liveliness: automatic\n{}\
         {indent}  avoid_ros_namespace_conventions: false\n",
        time("deadline"),
        time("lifespan"),
        time("liveliness_lease_duration"),
    )
}

/// A list below a key.
fn nested(list: &str) -> String {
    let list = list.trim_end();
    if list.is_empty() { " []".to_owned() } else { format!("\n{list}") }
}

/// A text in YAML, whatever is in it: JSON is YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn failed(problem: McapError) -> io::Error {
    match problem {
        McapError::Io(problem) => problem,
        problem => io::Error::other(problem),
    }
}

/// Counts what is written.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn topic(name: &str, offered: Vec<OfferedQuality>, times: &[u64]) -> RecordedTopic {
        let message = |at: &u64| RecordedMessage {
            received_ns: at * SECOND,
            published_ns: at * SECOND - 1,
            data: Arc::from(format!("{name} at {at}").into_bytes()),
        };
        RecordedTopic {
            topic: name.to_owned(),
            type_name: "std_msgs/msg/String".to_owned(),
            definition: "string data\n".to_owned(),
            type_hash: "RIHS01_00".to_owned(),
            offered,
            messages: times.iter().map(message).collect(),
            dropped: 0,
        }
    }

    fn slice() -> TopicSlice {
        let latched = OfferedQuality { is_reliable: true, is_transient_local: true };
        let usual = OfferedQuality { is_reliable: false, is_transient_local: false };
        let topics = vec![topic("/fast", vec![usual], &[101, 103]), topic("/latched", vec![latched], &[7, 102])];
        TopicSlice { reach: Duration::from_secs(10), topics, left_out: Vec::new() }
    }

    #[test]
    fn a_reader_finds_every_message_in_the_order_of_time_with_its_schema() {
        let slice = slice();
        let bag = Bag::of(&slice, 104 * SECOND).unwrap();
        let bytes = bag.write(Vec::new()).unwrap();
        assert_eq!(bytes.len() as u64, bag.bytes().unwrap());
        let read: Vec<mcap::Message<'_>> = mcap::MessageStream::new(&bytes).unwrap().collect::<Result<_, _>>().unwrap();
        let found: Vec<_> = read
            .iter()
            .map(|message| {
                let text = String::from_utf8(message.data.to_vec()).unwrap();
                (message.log_time / SECOND, message.sequence, text)
            })
            .collect();
        let expected = [
            (94, 1, "/latched at 7".to_owned()),
            (101, 1, "/fast at 101".to_owned()),
            (102, 2, "/latched at 102".to_owned()),
            (103, 2, "/fast at 103".to_owned()),
        ];
        assert_eq!(found, expected, "what is older than the slice stands at its beginning");
        assert_eq!(read[0].publish_time, 7 * SECOND - 1, "and says when it was published");
        let channel = &read[0].channel;
        let schema = channel.schema.as_ref().unwrap();
        assert_eq!((schema.name.as_str(), schema.encoding.as_str()), ("std_msgs/msg/String", "ros2msg"));
        assert_eq!(channel.message_encoding, "cdr");
        assert!(channel.metadata["offered_qos_profiles"].starts_with("- history: keep_last\n  depth: 10\n"));
        assert!(channel.metadata["offered_qos_profiles"].contains("durability: transient_local"));
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        let statistics = summary.stats.unwrap();
        assert_eq!((statistics.message_count, statistics.channel_count), (4, 2));
        assert_eq!(statistics.message_start_time, 94 * SECOND);
    }

    #[test]
    fn the_metadata_says_the_same_as_the_file() {
        let slice = slice();
        let text = Bag::of(&slice, 104 * SECOND).unwrap().metadata();
        for line in [
            "  version: 9",
            "  storage_identifier: mcap",
            "    nanoseconds: 9000000000",
            "    nanoseconds_since_epoch: 94000000000",
            "  message_count: 4",
            "        name: \"/latched\"",
            "            durability: transient_local",
            "            reliability: best_effort",
            "    - topics_0.mcap",
        ] {
            assert!(text.lines().any(|found| found == line), "{line:?} in\n{text}");
        }
    }

    #[test]
    fn names_stay_text_in_yaml() {
        assert_eq!(quoted("/a\": 'b\n"), r#""/a\": 'b\n""#);
    }

    #[test]
    fn nothing_recorded_is_no_bag() {
        assert!(Bag::of(&TopicSlice::default(), 1).is_none());
        let silent = TopicSlice { topics: vec![topic("/silent", Vec::new(), &[])], ..TopicSlice::default() };
        assert!(Bag::of(&silent, 1).is_none());
    }
}
