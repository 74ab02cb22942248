//! Each way to misbehave, as a client sees it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test that can't go on fails the test"
)]

use std::time::{Duration, Instant};

use crate::support::{Caller, MISBEHAVE, Process, namespace, within};
use cortex_protocol::ComponentDescription;
use rustix::process::Signal;
use serde_json::{Value, json};

/// How long nothing must happen to count as never. Longer would only make the tests slow.
const NEVER: Duration = Duration::from_millis(500);

fn start(test: &str, arguments: &[&str]) -> (Process, Caller) {
    let space = namespace(test);
    let process = Process::start(MISBEHAVE, &space, arguments, &[]);
    process.line("ready");
    (process, Caller::start(&space))
}

cortex_ros_client::ros_tests! {
    async fn echo_keeps_the_contract_with_many_nodes_in_one_process() {
        let (mut process, caller) = start("echo", &["echo", "--count", "5", "--prefix", "c"]);
        for name in ["c1", "c2", "c3", "c4", "c5"] {
            let (description, problems) = ComponentDescription::parse(&caller.describe(name).await).unwrap();
            assert_eq!((description.methods.len(), problems), (1, vec![]));
            assert_eq!(
                caller.execute(name, "echo", json!({"text": "grüß dich\n\u{0}"})).await,
                Ok(json!("grüß dich\n\u{0}"))
            );
            assert_eq!(caller.state(name).await, "active");
        }
        process.signal(Signal::TERM);
        assert!(process.wait().success());
    }

    async fn dies_in_step_takes_the_process_down() {
        let (mut process, caller) = start("dies", &["dies-in-step", "--name", "arm"]);
        let _answer = caller.begin("arm", "go", "{}").await;
        assert!(!process.wait().success());
    }

    async fn answers_late_answers_after_the_set_time() {
        let (_process, caller) = start("late", &["answers-late", "--after", "0.5"]);
        let begun = Instant::now();
        assert_eq!(caller.execute("answers_late", "go", json!({})).await, Ok(json!("done at last")));
        assert!(begun.elapsed() >= Duration::from_millis(500));
    }

    async fn never_answers_still_halts_and_ignores_halt_does_not() {
        for (kind, name, halts) in [("never-answers", "never_answers", true), ("ignores-halt", "ignores_halt", false)] {
            let (mut process, caller) = start(name, &[kind]);
            let go = caller.begin(name, "go", "{}").await;
            let halt = caller.begin(name, "halt", "{}").await;
            if halts {
                assert!(within("halt", halt).await.success);
            } else {
                assert!(tokio::time::timeout(NEVER, halt).await.is_err());
            }
            assert!(tokio::time::timeout(NEVER, go).await.is_err());
            process.signal(Signal::TERM);
            assert!(process.wait().success(), "it can still be stopped");
        }
    }

    async fn garbage_response_claims_success() {
        let (_process, caller) = start("response", &["garbage-response"]);
        let answer = within("go", caller.begin("garbage_response", "go", "{}").await).await;
        assert!(answer.success);
        assert!(serde_json::from_str::<Value>(&answer.response_json).is_err());
    }

    async fn wrong_descriptions_are_wrong_in_the_promised_way() {
        let (_process, caller) = start("description", &["garbage-description"]);
        assert!(ComponentDescription::parse(&caller.describe("garbage_description").await).is_err());

        let (_process, caller) = start("twins", &["twin-methods"]);
        let (description, problems) = ComponentDescription::parse(&caller.describe("twin_methods").await).unwrap();
        assert_eq!((description.methods.len(), problems.len()), (2, 1));

        let (_process, caller) = start("schema", &["bad-schema", "--timeout", "0.7"]);
        let (description, problems) = ComponentDescription::parse(&caller.describe("bad_schema").await).unwrap();
        assert_eq!(problems, vec![]);
        assert_eq!(description.methods[0].timeout_s, Some(0.7));
        assert_eq!(description.methods[2].parameters["properties"]["force"]["type"], "nmber");
    }

    async fn fails_says_why_and_unicode_flood_floods() {
        let (_process, caller) = start("fails", &["fails"]);
        assert_eq!(caller.execute("fails", "go", json!({})).await, Err("the gripper is jammed".to_owned()));

        let (_process, caller) = start("flood", &["unicode-flood"]);
        let flood = caller.execute("unicode_flood", "go", json!({})).await.unwrap();
        assert_eq!(flood.as_str().unwrap().len(), 1 << 20);
    }
}
