//! What is done when a component fails.

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{ActionName, BuiltIn, Seconds};

/// Most retries that a rung may name.
pub const MAX_RETRIES: u32 = 1000;

/// The ladders of a component, one for each kind of failure. Each is climbed rung by rung until the component works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fallbacks {
    /// The component itself fails: its process ended, it is silent or stuck, or says so. Left out: it is restarted where
    /// that is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_component_fail: Option<Vec<Rung>>,
    /// An algorithm inside fails; the component itself works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_algorithm_fail: Option<Vec<Rung>>,
    /// Something outside fails that it depends on. Not used while a component that it depends on is down: then it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_system_fail: Option<Vec<Rung>>,
    /// Where no other ladder is named for the failure, and for one of unknown kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_any_fail: Option<Vec<Rung>>,
    /// Done once, in order, when a ladder has come to its end. Retries do not count here.
    pub on_giveup: Vec<Rung>,
    /// After this much time of good health, one attempt is forgiven, and so on.
    pub failure_decay_s: Seconds,
    /// How long a component is left alone after it was given up; then the ladder begins anew.
    pub cooldown_s: Seconds,
}

impl Default for Fallbacks {
    fn default() -> Self {
        Self {
            on_component_fail: None,
            on_algorithm_fail: None,
            on_system_fail: None,
            on_any_fail: None,
            on_giveup: Vec::new(),
            failure_decay_s: Seconds::whole(60),
            cooldown_s: Seconds::whole(600),
        }
    }
}

impl Fallbacks {
    /// Every ladder that the recipe names, with its key.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &[Rung])> {
        let ladders = [
            ("on_component_fail", self.on_component_fail.as_deref()),
            ("on_algorithm_fail", self.on_algorithm_fail.as_deref()),
            ("on_system_fail", self.on_system_fail.as_deref()),
            ("on_any_fail", self.on_any_fail.as_deref()),
            ("on_giveup", Some(self.on_giveup.as_slice())),
        ];
        ladders.into_iter().filter_map(|(key, ladder)| ladder.map(|ladder| (key, ladder)))
    }
}

/// One action of a ladder, written as `"restart"` or `{ do = "restart", retries = 2, within_s = 20 }`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rung {
    /// A built-in action or one of the recipe's.
    #[serde(rename = "do")]
    pub action: ActionName,
    /// How often it is tried again before the next rung.
    pub retries: u32,
    /// How long the component may take, once the action is done, until its health is good. Nothing else is success.
    pub within_s: Seconds,
    /// Whether what is in flight at the component is halted before this touches its process: the default.
    pub halt_first: bool,
}

impl Rung {
    /// An action that is not tried again.
    #[must_use]
    pub fn once(action: BuiltIn) -> Self {
        Self { action: ActionName::new(action.name()), retries: 0, within_s: default_within(), halt_first: true }
    }

    /// The same with retries, at most [`MAX_RETRIES`].
    #[must_use]
    pub fn with_retries(self, retries: u32) -> Self {
        Self { retries: retries.min(MAX_RETRIES), ..self }
    }
}

fn halts_first() -> bool {
    true
}

fn default_within() -> Seconds {
    Seconds::whole(10)
}

/// The long form.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RungTable {
    /// A built-in action or one of the recipe's.
    #[serde(rename = "do")]
    action: ActionName,
    /// How often it is tried again before the next rung.
    #[serde(default)]
    #[schemars(range(max = 1000))]
    retries: u32,
    /// How long the component may take, once the action is done, until its health is good.
    #[serde(default = "default_within")]
    within_s: Seconds,
    /// Whether what is in flight at the component is halted, within 6 s, before `restart` or `respawn` touches its
    /// process.
    #[serde(default = "halts_first")]
    halt_first: bool,
}

/// Both forms, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum RungForms {
    Name(ActionName),
    Table(RungTable),
}

impl JsonSchema for Rung {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rung".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RungForms::json_schema(generator)
    }
}

// By hand, because an untagged enum would only say that nothing fits.
impl<'de> Deserialize<'de> for Rung {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RungVisitor;

        impl<'de> Visitor<'de> for RungVisitor {
            type Value = RungTable;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("the name of an action, or a table with `do`")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<RungTable, E> {
                Ok(RungTable {
                    action: ActionName::new(name),
                    retries: 0,
                    within_s: default_within(),
                    halt_first: true,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RungTable, A::Error> {
                RungTable::deserialize(MapAccessDeserializer::new(map))
            }
        }

        let RungTable { action, retries, within_s, halt_first } = deserializer.deserialize_any(RungVisitor)?;
        Ok(Self { action, retries, within_s, halt_first })
    }
}
