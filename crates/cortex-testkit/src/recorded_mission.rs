//! Missions that are recorded for tests of what reads tapes: a small robot, a scripted model, no ROS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::policy::{Policy, PolicySettings};
use cortex_protocol::{Effect, MissionResult, Origin, Submission, ToolPhase, ToolSpec};
use cortex_runtime::{Runtime, RuntimeConfig, TapeSettings};
use serde_json::json;

use crate::{Behaviour, FakeTools, Line, ScriptedModel, tool};

/// How long a recorded mission may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The tools of the robot whose missions are recorded: `base.go_to` a place, `camera.look`, `lamp.switch`, and `arm.wave`, which
/// policy denies.
#[must_use]
pub fn recorded_robot() -> Vec<ToolSpec> {
    let places = json!({"place": {"enum": ["kitchen", "bedroom", "office"]}});
    let states = json!({"on": {"type": "boolean"}});
    let takes = |properties: &serde_json::Value, required: &str| {
        json!({
            "type": "object", "properties": properties, "required": [required], "additionalProperties": false,
        })
    };
    vec![
        tool("arm.wave", ToolPhase::Execution, Effect::Move),
        tool("base.go_to", ToolPhase::Execution, Effect::Move).with_parameters(takes(&places, "place")),
        tool("camera.look", ToolPhase::Both, Effect::Observe),
        tool("lamp.switch", ToolPhase::Execution, Effect::Act).with_parameters(takes(&states, "on")),
    ]
}

/// Records a mission in this folder, from its task to its result: a model that says what is written for it, and the tools of
/// [`recorded_robot`], which do at once what they are told, but for the lamp, whose bulb is broken.
///
/// # Errors
/// When the task is not taken, or does not end.
pub async fn record_mission(
    folder: &Path,
    task: &str,
    script: impl IntoIterator<Item = Line>,
) -> Result<MissionResult, std::io::Error> {
    let wrong = |problem: String| std::io::Error::other(problem);
    let rule = json!({"then": "deny", "tools": ["arm.*"], "because": "The arm hits the shelf."});
    let rules = vec![serde_json::from_value(rule)?];
    let policy = Policy::new(PolicySettings { rules, ..PolicySettings::default() });
    let config = RuntimeConfig {
        tape: Some(TapeSettings::at(folder)),
        policy: policy.map_err(|problem| wrong(problem.to_string()))?,
        ..RuntimeConfig::default()
    };
    let behaviours = [
        ("arm.wave", Behaviour::Returns(json!("waved"))),
        ("base.go_to", Behaviour::Returns(json!("arrived"))),
        ("camera.look", Behaviour::Returns(json!("a table"))),
        ("lamp.switch", Behaviour::Fails("the bulb is broken".to_owned())),
    ];
    let tools = Arc::new(FakeTools::new(behaviours));
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)));
    let provider = runtime.register(tools);
    provider.offer_tools(recorded_robot()).await;
    let submission = Submission { task: task.to_owned(), session: None, origin: Origin::new("cli", "recorded") };
    let ticket = runtime.submit(submission).await.map_err(|problem| wrong(problem.to_string()))?;
    let result = tokio::time::timeout(PATIENCE, ticket.result).await;
    let result = result.map_err(|_| wrong("the mission does not end".to_owned()))?;
    let result = result.map_err(|_| wrong("the mission has no result".to_owned()))?;
    if runtime.shut_down(PATIENCE).await { Ok(result) } else { Err(wrong("something goes on".to_owned())) }
}
