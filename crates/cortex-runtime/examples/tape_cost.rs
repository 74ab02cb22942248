//! What the tape costs: missions of 20 steps that move, each with a confirmation, with and without it.
//!
//! `cargo run --release -p cortex-runtime --example tape_cost [FOLDER]`: the folder's disk is measured.

#![expect(clippy::expect_used, reason = "a measurement that fails ends here, and says why")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_protocol::{Origin, Submission};
use cortex_runtime::tape::Flush;
use cortex_runtime::{Runtime, RuntimeConfig, TapeSettings};
use cortex_testkit::{Behaviour, FakeTools, ScriptedModel, calls, says};
use serde_json::{Value, json};

const STEPS: u32 = 20;
const MISSIONS: usize = 21;
/// Tools besides the one that is called, so that prompts and the setup have their usual length.
const TOOLS: usize = 30;

/// How long a step took in the median mission.
async fn per_step(tape: Option<TapeSettings>) -> Duration {
    let mut taken = Vec::new();
    for _ in 0..MISSIONS {
        let steps: Vec<(&str, Value)> = (0..STEPS).map(|_| ("base-go", json!({}))).collect();
        let mut script = vec![calls(&steps)];
        script.extend((0..STEPS).map(|_| says("EXECUTE")));
        script.push(says("Done."));
        let names: Vec<String> = (0..TOOLS).map(|number| format!("other.tool_{number}")).collect();
        let mut behaviours = vec![("base.go", Behaviour::Returns(json!({"x": 1.0, "y": 2.0})))];
        behaviours.extend(names.iter().map(|name| (name.as_str(), Behaviour::Lost)));
        let tools = Arc::new(FakeTools::new(behaviours));
        let config = RuntimeConfig { tape: tape.clone(), ..RuntimeConfig::default() };
        let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)));
        let provider = runtime.register(tools.clone());
        provider.offer_tools(tools.specs()).await;
        let submission = Submission { task: "go".into(), session: None, origin: Origin::new("cli", "measure") };
        let began = Instant::now();
        let ticket = runtime.submit(submission).await.expect("the task is taken");
        let result = ticket.result.await.expect("the task gets its result");
        taken.push(began.elapsed() / STEPS);
        assert!(result.is_success(), "{}", result.output);
        runtime.shut_down(Duration::from_secs(5)).await;
    }
    taken.sort();
    taken.get(MISSIONS / 2).copied().unwrap_or_default()
}

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from).join("cortex-tape-cost");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let tape = TapeSettings::at(&folder);
    for (name, tape) in [
        ("no tape", None),
        ("flush = \"os\"", Some(TapeSettings { flush: Flush::Os, ..tape.clone() })),
        ("flush = \"disk\"", Some(tape)),
    ] {
        let taken = runtime.block_on(per_step(tape));
        println!("{name:20} {:7.3} ms for each step", taken.as_secs_f64() * 1e3);
    }
    // What was recorded was only for measuring.
    let _ = std::fs::remove_dir_all(folder);
}
