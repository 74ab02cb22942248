//! A component of a recipe.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cortex_protocol::ComponentName;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Bytes, Fallbacks, Processors, Seconds};

/// The shortest heartbeat that Cortex can judge. Half a beat too late is a suspicion, and a heartbeat is seen up to 25 ms
/// after it has come, since that is how often it is looked for; the other 25 ms are left to the machine and the network.
pub const SHORTEST_HEARTBEAT_S: f64 = 0.1;

/// One component: a ROS 2 node, usually in a process of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentRecipe {
    /// How it comes to life.
    pub start: Start,
    /// Who takes it through its lifecycle.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// The components that must work before this one is brought up, and without which it pauses.
    #[serde(default)]
    pub depends_on: Vec<ComponentName>,
    /// Its ROS parameters at start.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// The topics that it publishes, with their types: `"/battery_state" = "sensor_msgs/msg/BatteryState"`. Nothing is
    /// done with them but to check what the recipe says of topics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub publishes: BTreeMap<String, String>,
    /// The component that takes its place when the fallback `standby` is reached. That one is not started before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<ComponentName>,
    /// How often it publishes its health on `~/status`, at least. Left out: if it ever does, once a second is expected
    /// of it, as the component contract says; if it never does, it is judged without. At least 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = SHORTEST_HEARTBEAT_S))]
    pub heartbeat_s: Option<Seconds>,
    /// What shows that it gets on: alive but stuck is a failure.
    #[serde(default)]
    pub progress: Vec<Progress>,
    /// What is done when it fails.
    #[serde(default)]
    pub fallbacks: Fallbacks,
    /// From the start of its process until its node can be used.
    #[serde(default = "default_start_timeout")]
    pub start_timeout_s: Seconds,
    /// For each transition of its lifecycle.
    #[serde(default = "default_transition_timeout")]
    pub transition_timeout_s: Seconds,
    /// From the wish that its process ends (SIGTERM) until it is killed.
    #[serde(default = "default_stop_timeout")]
    pub stop_timeout_s: Seconds,
}

fn default_start_timeout() -> Seconds {
    Seconds::whole(10)
}

fn default_transition_timeout() -> Seconds {
    Seconds::whole(10)
}

fn default_stop_timeout() -> Seconds {
    Seconds::whole(5)
}

/// How a component comes to life.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Start {
    /// Cortex starts its process.
    Process(Process),
    /// Something else starts it: `"external"`.
    #[schemars(with = "ExternalWord")]
    #[serde(serialize_with = "external")]
    External,
}

impl Start {
    /// The process, where Cortex starts one.
    #[must_use]
    pub fn process(&self) -> Option<&Process> {
        match self {
            Self::Process(process) => Some(process),
            Self::External => None,
        }
    }
}

/// The word for [`Start::External`], for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum ExternalWord {
    External,
}

const EXTERNAL: &str = "external";

fn external<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(EXTERNAL)
}

// By hand, because an untagged enum would only say that nothing fits.
impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StartVisitor;

        impl<'de> Visitor<'de> for StartVisitor {
            type Value = Start;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("\"external\", or a table with the program")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Start, E> {
                if word == EXTERNAL {
                    Ok(Start::External)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(word), &self))
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Start, A::Error> {
                Process::deserialize(MapAccessDeserializer::new(map)).map(Start::Process)
            }
        }

        deserializer.deserialize_any(StartVisitor)
    }
}

/// A process that Cortex starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// The program: a name that is looked up in `PATH` and then beside the program of Cortex, or a path. A path with a
    /// slash that is not a full one begins at the folder of the recipe.
    pub program: String,
    /// Its arguments. `{world}` stands for the recipe's world file, `{recipe}` for the folder of the recipe.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What stands after `--ros-args`, as remaps (`["-r", "odom:=/odom"]`).
    #[serde(default)]
    pub ros_arguments: Vec<String>,
    /// Variables beyond those of Cortex.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The folder that it runs in. Left out: that of Cortex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The most memory that it may have with all that it starts; what needs more is killed. `"512 MB"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_max: Option<Bytes>,
    /// The most processors that it may use with all that it starts; what needs more waits. 0.5 is half of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_max: Option<Processors>,
}

/// Who takes a component through its lifecycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// It has none, or looks after itself: it can be used as soon as it is there.
    #[default]
    Itself,
    /// Cortex configures and activates it (`lifecycle_msgs`).
    Managed,
}

/// Something that has to happen again and again while a component works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The topic whose messages count. Left out: the feedback of the component's goals counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only messages count in which this field, a path with dots, has another value than in the last that counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// How much it must differ, for numbers; in the unit of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_by: Option<f64>,
    /// How many have to come in each time span.
    #[serde(default = "one")]
    pub at_least: u32,
    /// The time span.
    pub within_s: Seconds,
    /// When it is watched.
    #[serde(default)]
    pub during: During,
}

fn one() -> u32 {
    1
}

/// When progress is watched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum During {
    /// As long as the component is in use.
    #[default]
    Always,
    /// While a goal or a method of the component is going on.
    Goal,
}
