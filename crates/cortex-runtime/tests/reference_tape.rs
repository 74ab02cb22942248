//! A tape that was recorded once: what is on the disks of users. Today's code must read and replay it.
//!
//! Where a change means to alter what is recorded or decided, record it anew and look at the difference:
//! `CORTEX_RECORD=1 cargo test -p cortex-runtime --test reference_tape`. Where what was recorded before can't be read any
//! more, or something new is recorded, count `tape::record::VERSION` on as well.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::MissionLimits;
use cortex_core::meter::Reading;
use cortex_protocol::mission::Expense;
use cortex_protocol::{Dispatch, Effect, MissionId, MissionStatus, Origin, Submission, ToolPhase};
use cortex_runtime::tape::replay::Ending;
use cortex_runtime::tape::{Body, Folder, Integrity, Reader, replay};
use cortex_runtime::{Meter, Runtime, RuntimeConfig, TapeSettings};
use cortex_testkit::{Behaviour, FakeTools, ScriptedModel, calls, says, tool};
use serde_json::{Value, json};

const HINT: &str = "; if that is meant, see the head of this file";

fn reference() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference_tape.jsonl")
}

/// Research, a plan that fills in a placeholder, a goal in the background that reports, CONTINUE, a meter, a mistake, a
/// failure that is planned around, a yes with words beside it, and an answer.
async fn record() {
    let folder = tempfile::tempdir().expect("a folder");
    let moves = |name: &str| tool(name, ToolPhase::Execution, Effect::Move);
    let mut specs = vec![moves("base.go"), moves("arm.grasp"), tool("camera.look", ToolPhase::Both, Effect::Observe)];
    for spec in specs.iter_mut().filter(|spec| spec.name.as_str() == "base.go") {
        spec.dispatch = Dispatch::Background;
    }
    let going = Behaviour::After(Duration::from_secs(5), Box::new(Behaviour::Returns(json!("arrived"))));
    let tools = Arc::new(FakeTools::new([
        ("base.go", Behaviour::Reports { every: Duration::from_secs(1), times: 2, says: None, then: Box::new(going) }),
        (
            "arm.grasp",
            Behaviour::InTurn(vec![Behaviour::Fails("it slipped".to_owned()), Behaviour::Returns(json!("held"))]),
        ),
        ("camera.look", Behaviour::Returns(json!({"text": "a cup"}))),
    ]));
    let model = ScriptedModel::new([
        calls(&[("camera-look", json!({}))]),
        calls(&[("base-fly", json!({}))]),
        calls(&[("base-go", json!({"place": "kitchen"})), ("arm-grasp", json!({"thing": "<what I saw>"}))]),
        says("EXECUTE"),
        says("CONTINUE"),
        calls(&[("arm-grasp", json!({"thing": "a cup"}))]),
        says("ABORT"),
        calls(&[("arm-grasp", json!({"thing": "a cup", "slowly": true, "instead_of": [2]}))]),
        says("{\"decision\": \"EXECUTE\", \"reason\": \"slowly this time\"}"),
        says("{\"decision\": \"EXECUTE\"}"),
        says("I have the cup."),
    ]);
    let (meter, reading) = tokio::sync::watch::channel(Reading { total: 7.0, is_live: true });
    let config = RuntimeConfig {
        tape: Some(TapeSettings::at(folder.path())),
        limits: MissionLimits { max_metres: Some(10.0), ..MissionLimits::default() },
        meters: vec![Meter { expense: Expense::Metres, reading }],
        ..RuntimeConfig::default()
    };
    let runtime = Runtime::start(config, Arc::new(model));
    let provider = runtime.register(tools.clone());
    provider.offer_tools(specs).await;
    let submission = Submission {
        task: "Grasp the cup in the kitchen.".to_owned(),
        session: None,
        origin: Origin::new("cli", "reference"),
    };
    let ticket = runtime.submit(submission).await.expect("the task is taken");
    tools.wait_until_begun().await;
    meter.send_replace(Reading { total: 8.5, is_live: true });
    let result = ticket.result.await.expect("a result");
    assert_eq!(result.status, MissionStatus::Succeeded, "{}", result.output);
    assert!(runtime.shut_down(Duration::from_secs(5)).await);
    std::fs::copy(Folder::new(folder.path().to_owned()).path(&ticket.id), reference()).expect("it can be kept");
}

/// Everything that was recorded is still there in what is read.
fn is_kept(recorded: &Value, read: &Value) -> bool {
    match (recorded, read) {
        (Value::Object(recorded), Value::Object(read)) => {
            recorded.iter().all(|(key, value)| read.get(key).is_some_and(|read| is_kept(value, read)))
        }
        (Value::Array(recorded), Value::Array(read)) => {
            recorded.len() == read.len() && recorded.iter().zip(read).all(|(recorded, read)| is_kept(recorded, read))
        }
        // Some numbers are of 32 bits.
        (Value::Number(recorded), Value::Number(read)) => match (recorded.as_f64(), read.as_f64()) {
            (Some(recorded), Some(read)) => (recorded - read).abs() <= 1e-6 * recorded.abs(),
            _ => recorded == read,
        },
        _ => recorded == read,
    }
}

#[tokio::test(start_paused = true)]
async fn a_tape_that_was_recorded_once_is_still_read_and_replayed() {
    if std::env::var_os("CORTEX_RECORD").is_some() {
        record().await;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (tapes, mission) = (Folder::new(folder.path().to_owned()), MissionId::new("reference"));
    std::fs::copy(reference(), tapes.path(&mission)).expect("the reference tape");
    assert_eq!(tapes.check(&mission).expect("its lines can be checked"), Integrity::Unchanged, "{HINT}");
    let mut reader = Reader::open(&reference()).expect("the reference tape");
    let mut kinds = Vec::new();
    while let Some((record, _)) = reader.next_record().expect("its lines can be read") {
        let body = reader.body(&record).unwrap_or_else(|problem| panic!("{problem}{HINT}"));
        let read = match &body {
            Body::Published(event) => serde_json::to_value(event),
            Body::Entry(entry) => serde_json::to_value(entry),
        };
        let read = read.expect("what was read can be written");
        let recorded = &record.data.payload;
        assert!(is_kept(recorded, &read), "line {} loses something:\n{recorded}\n{read}{HINT}", record.line);
        kinds.push(record.kind);
    }
    for kind in ["metered", "call_progressed", "model_replied", "call_ended", "tick"] {
        assert!(kinds.iter().any(|found| *found == format!("cortex.input.{kind}")), "no {kind} on the tape: {kinds:?}");
    }
    let replayed = replay(&mut Reader::open(&reference()).expect("the reference tape")).expect("a replay");
    match replayed.ending {
        Ending::Same => assert!(replayed.inputs > 10 && replayed.effects > 30, "{replayed:?}"),
        other => panic!("the machine now decides otherwise than it was recorded: {other:?}{HINT}"),
    }
}
