//! A robot that is sent to where its memory says that things are, while its map is replaced again and again. The benchmark does
//! the same, more often.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::{Invocation, ToolProvider as _, Unobserved};
use cortex_memory::{
    Claim, IS_AT, Location, MapRef, Memory, MemoryRules, MemoryTools, NOTES, Observation, Pose, Source, SourceKind,
    SpokenTasks, Value,
};
use cortex_protocol::{OutcomeStatus, ToolCall, ToolFingerprint};
use serde_json::json;

const THINGS: usize = 20;
/// Editions of the map; the first is that of another floor, too.
const EDITIONS: usize = 5;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// Answers of the tool that says where things are.
    pub(crate) answers: usize,
    /// Those with a pose: the robot is sent there.
    pub(crate) sent: usize,
    /// Those whose pose is of another map, or of another edition of it.
    pub(crate) sent_wrongly: usize,
    /// Those that say a pose of another map in words, and not that it is none for driving.
    pub(crate) unmarked: usize,
}

/// Asks so often where something is. In every third trial a thing is seen, with its pose on the map in use; in every fifth the
/// map is another one, or nobody knows which.
pub(crate) async fn run(memory: &Memory, trials: usize) -> Trials {
    let in_use: Arc<Mutex<Option<MapRef>>> = Arc::default();
    let known = Arc::clone(&in_use);
    let map = Arc::new(move || known.lock().unwrap_or_else(PoisonError::into_inner).clone());
    let tools = MemoryTools::new(memory.clone(), map, "map".to_owned(), SpokenTasks::default());
    let mut found = Trials::default();
    for trial in 0..trials {
        let edition = (trial / 5 * 7) % (EDITIONS + 1);
        let map = (edition < EDITIONS).then(|| edition_of(edition));
        in_use.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&map);
        if let (Some(map), 0) = (&map, trial % 3) {
            memory.add(vec![seen(trial * 11 % THINGS, edition, map, trial)]).await.expect("it is kept");
        }
        let answer = located(&tools, trial * 13 % THINGS).await;
        found.answers += 1;
        // Where a thing is tells which edition it was seen on.
        let is_of_another = |y_m: f64| map.is_none() || (y_m - pose_of(edition).y_m).abs() > 0.1;
        if let Some(y_m) = answer.pointer("/pose/y_m").and_then(serde_json::Value::as_f64) {
            found.sent += 1;
            found.sent_wrongly += usize::from(is_of_another(y_m));
        }
        let text = answer.get("text").and_then(serde_json::Value::as_str).unwrap_or_default();
        let names_another = (0..EDITIONS).filter(|other| map != Some(edition_of(*other))).any(|other| {
            let place = pose_of(other);
            // What was there before is history, and is told with its map.
            let now = text.split(" Before: ").next().unwrap_or_default();
            now.contains(&format!("({:.1} m, {:.1} m)", place.x_m, place.y_m))
        });
        found.unmarked += usize::from(names_another && !text.contains("not for driving"));
    }
    found
}

fn edition_of(edition: usize) -> MapRef {
    let id = if edition == 0 { "upper floor" } else { "ground floor" };
    MapRef { id: id.to_owned(), version: edition.max(1).to_string() }
}

fn pose_of(edition: usize) -> Pose {
    Pose { x_m: 1.5, y_m: edition as f64 * 10.0, yaw_rad: 0.0 }
}

/// A thing is seen: at a place with a name, or at a pose alone.
fn seen(thing: usize, edition: usize, map: &MapRef, trial: usize) -> Observation {
    let value = if thing.is_multiple_of(2) { Value::Text("kitchen".to_owned()) } else { Value::AtPose };
    Observation {
        subject: format!("thing {thing}"),
        claim: Claim::Is { relation: IS_AT.to_owned(), value },
        wall_ms: 1_700_000_000_000 + trial as u64 * 60_000,
        location: Some(Location { pose: pose_of(edition), frame: "map".to_owned(), map: map.clone() }),
        layer: NOTES.to_owned(),
        view: None,
        source: Source { kind: SourceKind::Sensor, name: "/camera".to_owned() },
        confidence: None,
    }
}

async fn located(tools: &MemoryTools, thing: usize) -> serde_json::Value {
    let arguments = json!({"thing": format!("thing {thing}")}).as_object().cloned().unwrap_or_default();
    let invocation = Invocation {
        mission: "m1".into(),
        id: cortex_protocol::CallId(1),
        call: ToolCall { tool: "memory.locate".into(), arguments },
        fingerprint: ToolFingerprint(0),
        timeout: Duration::from_secs(5),
    };
    let outcome = tools.invoke(invocation, Arc::new(Unobserved)).await;
    assert_eq!(outcome.status, OutcomeStatus::Succeeded, "{outcome:?}");
    outcome.value
}

/// The rules of such a memory.
pub(crate) fn rules() -> MemoryRules {
    MemoryRules::default()
}
