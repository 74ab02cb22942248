//! Where the configuration comes from, and what wins.

use std::path::{Path, PathBuf};

use figment::providers::{Env, Format, Serialized, Toml};
pub use figment::value::Value;
use figment::value::{Dict, Map};
use figment::{Figment, Metadata, Profile, Provider};

use super::Config;

/// The variable that names the configuration file.
const FILE_VARIABLE: &str = "CORTEX_CONFIG";
/// The prefix of the variables that set keys: `CORTEX_MODEL`, `CORTEX_MISSION__MAX_REPLANS`.
const PREFIX: &str = "CORTEX_";
/// The top-level keys; other variables of the prefix are none of ours.
const KEYS: [&str; 27] = [
    "robot",
    "identity",
    "model",
    "log_level",
    "chain",
    "shadow",
    "keys",
    "endpoint",
    "local_model",
    "mission",
    "budget",
    "queue",
    "calls",
    "discovery",
    "conditions",
    "policy",
    "approval",
    "tape",
    "embedding",
    "knowledge",
    "memory",
    "skills",
    "watchdog",
    "metrics",
    "web",
    "wordings",
    "incident",
];

/// The layers above the defaults, lowest first.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// A file that must exist, if named.
    pub file: Option<PathBuf>,
    /// The table `[cortex]` of a recipe, if one is run.
    pub recipe: serde_json::Map<String, serde_json::Value>,
    /// The rules of the recipe: they count beside those of every layer.
    pub rules: Vec<cortex_protocol::PolicyRule>,
    /// ROS parameters of the node, by their dotted names.
    pub ros: Vec<(String, Value)>,
    /// `--model`.
    pub model: Option<String>,
    /// `--web`.
    pub web: Option<String>,
    /// ROS parameters that were set while Cortex runs. They count more than anything that was given at start.
    pub set: Vec<(String, Value)>,
}

impl Layers {
    /// The defaults, with every layer merged over them.
    ///
    /// # Errors
    /// When the file that is named does not exist.
    pub(super) fn over_defaults(&self) -> anyhow::Result<Figment> {
        let mut figment = Figment::from(Serialized::defaults(Config::default()));
        if let Some(file) = &self.file {
            anyhow::ensure!(
                file.is_file(),
                "configuration: there is no file {}; check the path given by --config or {FILE_VARIABLE}",
                file.display()
            );
            figment = figment.merge(Toml::file_exact(file));
        }
        figment = figment.merge(Recipe(&self.recipe));
        let environment = Env::prefixed(PREFIX).split("__").filter(|key| {
            let first = key.as_str().split("__").next().unwrap_or_default().split('.').next().unwrap_or_default();
            KEYS.iter().any(|known| first.eq_ignore_ascii_case(known))
        });
        figment = figment.merge(environment);
        for (name, value) in &self.ros {
            figment = figment.merge(Single { layer: "ROS parameters", name: name.clone(), value: value.clone() });
        }
        for (layer, name, value) in [("--model", "model", &self.model), ("--web", "web.listen", &self.web)] {
            if let Some(value) = value {
                let (name, value) = (name.to_owned(), Value::from(value.clone()));
                figment = figment.merge(Single { layer, name, value });
            }
        }
        for (name, value) in &self.set {
            figment = figment.merge(Single { layer: "ros2 param set", name: name.clone(), value: value.clone() });
        }
        Ok(figment)
    }
}

/// The file named by `--config`, or else by the environment.
pub fn file(argument: Option<&Path>) -> Option<PathBuf> {
    argument
        .map(Path::to_path_buf)
        .or_else(|| std::env::var_os(FILE_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from))
}

/// The layer of a recipe.
struct Recipe<'a>(&'a serde_json::Map<String, serde_json::Value>);

impl Provider for Recipe<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named("the recipe")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Serialized::defaults(self.0).data()
    }
}

/// One value from one layer.
struct Single {
    layer: &'static str,
    name: String,
    value: Value,
}

impl Provider for Single {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.layer)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let mut value = self.value.clone();
        for key in self.name.rsplit('.') {
            value = Value::from(Dict::from([(key.to_owned(), value)]));
        }
        let dict = value.into_dict().unwrap_or_default();
        Ok(Map::from([(Profile::Default, dict)]))
    }
}
