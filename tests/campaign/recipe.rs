//! The recipe of the campaign: one of the tree as it stands, with trays that go wrong on command, with faster wheels, and
//! with ladders that do not end, since here everything fails all the time.

use std::path::Path;

use anyhow::{Context as _, bail};
use cortex_stories::python;
use toml::{Table, Value};

use crate::faults::{DOUBLED, SPARE, TRAYS};

const RECIPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../recipes");
const COMPONENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/bad/component.py");
const MEMORY_LIMIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/bad/memory_limit.py");
/// What a tray may use, in megabytes; it needs some 70.
const MEMORY: &str = "220";

/// The components of a recipe of the tree, with the trays.
pub(crate) fn components(name: &str) -> anyhow::Result<Vec<&'static str>> {
    let own: &[&str] = match name {
        "agent" => &["base", "battery", "camera", "light", "speaker", "vision"],
        "navigation" => &[
            "base",
            "battery",
            "camera",
            "controller",
            "localization",
            "map_server",
            "navigator",
            "planner",
            "speaker",
        ],
        _ => bail!("--recipe {name}: give agent or navigation"),
    };
    Ok(own.iter().chain(&TRAYS).copied().collect())
}

/// The text of the recipe of that name. `notes` is where the trays note what they really did.
pub(crate) fn text(name: &str, notes: &str) -> anyhow::Result<String> {
    let mut recipe: Table = std::fs::read_to_string(Path::new(RECIPES).join(name).with_extension("toml"))?.parse()?;
    let python = python().to_string_lossy().into_owned();
    let components = recipe.get_mut("components").and_then(Value::as_table_mut).context("a recipe has components")?;
    for tray in TRAYS.into_iter().chain([DOUBLED, SPARE]) {
        let arguments = [MEMORY_LIMIT, MEMORY, &python, COMPONENT, "works", "--name", tray, "--notes", notes];
        // A call of a tray that hangs is one without progress.
        let component: Table = format!(
            "heartbeat_s = 0.5\nstart_timeout_s = 20.0\n\
             start = {{ program = {python:?}, arguments = {arguments:?} }}\n\
             progress = [{{ within_s = 3.0, during = \"goal\" }}]\n"
        )
        .parse()?;
        components.insert(tray.to_owned(), Value::Table(component));
    }
    let faster: Table = "speed_mps = 8.0\nrequire_battery = false".parse()?;
    let drives = ["base", "controller", "navigator"];
    for (name, component) in components.iter_mut() {
        let component = component.as_table_mut().context("a component is a table")?;
        component.insert("stop_timeout_s".to_owned(), Value::Float(1.0));
        if drives.contains(&name.as_str()) {
            let none = || Value::Table(Table::new());
            let parameters = component.entry("parameters").or_insert_with(none);
            // What a part does not declare is meant for others.
            parameters.as_table_mut().context("parameters are a table")?.extend(faster.clone());
        }
        let ladders: Table = "on_component_fail = [{ do = \"restart\", retries = 50, within_s = 15.0 }]\n\
             on_any_fail = [{ do = \"restart\", retries = 50, within_s = 15.0 }]\n\
             on_giveup = [\"pause_missions\", \"notify_operator\"]\nfailure_decay_s = 0.3\ncooldown_s = 20.0"
            .parse()?;
        component.insert("fallbacks".to_owned(), Value::Table(ladders));
    }
    let doubled = components.get_mut(DOUBLED).and_then(Value::as_table_mut).context("it was just put there")?;
    doubled.insert("standby".to_owned(), Value::String(SPARE.to_owned()));
    let ladder = "on_component_fail = [{ do = \"standby\", retries = 50, within_s = 60.0 }]\nfailure_decay_s = 0.3\ncooldown_s = 300.0";
    doubled.insert("fallbacks".to_owned(), Value::Table(ladder.parse()?));
    // Nobody reads it: see `Kind::NobodyReads`.
    let actions = recipe.entry("actions").or_insert_with(|| Value::Table(Table::new()));
    let horn = "topic = { name = \"/horn\", type = \"std_msgs/msg/String\", message = { data = \"beep\" } }\n\
                tool = { description = \"Sounds the horn.\", effect = \"act\" }";
    actions.as_table_mut().context("actions are a table")?.insert("horn".to_owned(), Value::Table(horn.parse()?));
    Ok(recipe.to_string())
}
