//! What really happened in the simulated world, whatever Cortex believes: where the wheels were, and what the tray notes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context as _;
use cortex_ros_client::RosNode;
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::nav_msgs::msg::Odometry;
use futures::StreamExt as _;
use toml::{Table, Value};

const WORLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/worlds/home.toml");
/// So near to its middle the robot is in a room, in metres, as the simulated world has it.
const IN_ROOM_M: f64 = 0.5;

/// When the robot was last seen in each room.
pub(crate) type Seen = Arc<Mutex<BTreeMap<String, Instant>>>;

/// The witness.
pub(crate) struct Truth {
    rooms: Vec<(String, f64, f64)>,
    seen: Seen,
    notes: PathBuf,
}

impl Truth {
    pub(crate) async fn watch(node: &RosNode, notes: &Path) -> anyhow::Result<Self> {
        let rooms = rooms()?;
        let seen = Seen::default();
        let (known, noted) = (rooms.clone(), Arc::clone(&seen));
        let quality = QosProfile::default().keep_last(50);
        let mut odometry = node.with_node(move |node| node.subscribe::<Odometry>("/odom", quality)).await??;
        tokio::spawn(async move {
            while let Some(message) = odometry.next().await {
                let here = message.pose.pose.position;
                let room = known.iter().find(|(_, x, y)| (here.x - x).hypot(here.y - y) <= IN_ROOM_M);
                if let Some((name, ..)) = room {
                    noted.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), Instant::now());
                }
            }
        });
        Ok(Self { rooms, seen, notes: notes.to_owned() })
    }

    /// The names of the rooms.
    pub(crate) fn rooms(&self) -> Vec<String> {
        self.rooms.iter().map(|(name, ..)| name.clone()).collect()
    }

    /// Whether the robot was in that room since then.
    pub(crate) fn was_in(&self, room: &str, since: Instant) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(room).is_some_and(|at| *at >= since)
    }

    /// What the tray has really done, by the names of the tasks.
    pub(crate) fn noted(&self) -> BTreeSet<String> {
        let text = std::fs::read_to_string(&self.notes).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// How often a line stands in the notes.
pub(crate) fn count(notes: &Path, line: &str) -> usize {
    std::fs::read_to_string(notes).unwrap_or_default().lines().filter(|noted| *noted == line).count()
}

fn rooms() -> anyhow::Result<Vec<(String, f64, f64)>> {
    let world: Table = std::fs::read_to_string(WORLD)?.parse()?;
    let rooms = world.get("rooms").and_then(Value::as_array).context("a world has rooms")?;
    let room = |room: &Value| {
        let metres = |key: &str| room.get(key).and_then(Value::as_float);
        Some((room.get("name")?.as_str()?.to_owned(), metres("x")?, metres("y")?))
    };
    rooms.iter().map(|value| room(value).context("a room has a name and a place")).collect()
}
