//! `docs/component-contract.md` says what the code does, and its examples work.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test that can't go on fails the test"
)]

use crate::support::{Caller, Process, namespace, within};
use cortex_component::schema_of;
use cortex_protocol::{ComponentDescription, MethodDescription};
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::cortex_msgs::msg::ComponentStatus;
use rustix::process::Signal;
use serde_json::json;

const DOCUMENT: &str = include_str!("../../../../docs/component-contract.md");

#[expect(dead_code, reason = "it is a program, too")]
#[path = "../../../cortex-component/examples/lift.rs"]
mod lift;

/// The first block of that language.
fn block(language: &str) -> &'static str {
    let (_, rest) = DOCUMENT.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn every_field_of_a_description_is_in_the_tables() {
    for schema in [schema_of::<ComponentDescription>(), schema_of::<MethodDescription>()] {
        for field in schema["properties"].as_object().unwrap().keys() {
            assert!(DOCUMENT.contains(&format!("| `{field}` |")), "{field} is not in the table");
        }
    }
}

#[test]
fn the_example_description_is_taken_as_it_stands() {
    let (description, problems) = ComponentDescription::parse(block("json")).unwrap();
    assert_eq!(problems, vec![]);
    assert_eq!(description.methods.len(), 3);
}

/// The lift of the examples does what the contract says, in whichever language it is written.
async fn the_lift_works_and_halts_at_rest(caller: &Caller) {
    let (description, problems) = ComponentDescription::parse(&caller.describe("lift").await).unwrap();
    assert_eq!((description.methods.len(), problems), (3, vec![]));
    let latched = QosProfile::default().keep_last(1).transient_local();
    let mut status = caller.subscribe::<ComponentStatus>("lift/status", latched).await;
    status.until(|status| status.status == ComponentStatus::HEALTHY as u8).await;

    assert_eq!(caller.execute("lift", "move_to", json!({"height_m": 0.1})).await, Ok(json!("the tray is at 0.1 m")));
    let long_way = caller.begin("lift", "move_to", r#"{"height_m": 1.2}"#).await;
    while caller.execute("lift", "height", json!({})).await.unwrap()["height_m"] == json!(0.1) {}
    assert_eq!(
        caller.execute("lift", "move_to", json!({"height_m": 0.0})).await,
        Err("the tray is moving already".to_owned())
    );
    assert_eq!(caller.execute("lift", "halt", json!({})).await, Ok(json!("the tray stands")));
    let moved = within("the movement's answer", long_way).await;
    assert_eq!((moved.success, moved.error_msg.as_str()), (false, "cancelled"));
    let height = caller.execute("lift", "height", json!({})).await;
    assert_eq!(caller.execute("lift", "height", json!({})).await, height, "it stands");
}

#[test]
fn the_component_of_the_guide_is_the_one_of_the_examples() {
    assert!(block("python") == include_str!("../../../../examples/lift.py"), "copy one over the other");
}

cortex_ros_client::ros_tests! {
    async fn the_rust_component_works_and_halts_at_rest() {
        let space = namespace("rust");
        let running = lift::lift().namespace(&space).start().await.unwrap();
        let caller = Caller::start(&space);
        the_lift_works_and_halts_at_rest(&caller).await;
        drop(caller);
        running.stop().await;
    }

    async fn the_python_component_works_and_halts_at_rest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lift.py");
        std::fs::write(&file, block("python")).unwrap();
        // A private ROS prefix names its interpreter; with a sourced ROS it is the one on the path.
        let python = std::env::var("CORTEX_ROS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let space = namespace("python");
        let mut lift = Process::start(&python, &space, &[file.to_str().unwrap()], &[]);
        let caller = Caller::start(&space);
        the_lift_works_and_halts_at_rest(&caller).await;

        for (method, arguments, problem) in [
            ("fly", "{}", "there is no method 'fly'"),
            ("move_to", "{", "Expecting property name"),
            ("move_to", "{}", "missing 1 required positional argument"),
            ("move_to", "{\"height_m\": 9}", "the tray reaches from 0 to 1.2 m"),
        ] {
            let answer = within(method, caller.begin("lift", method, arguments).await).await;
            assert!(!answer.success && answer.error_msg.contains(problem), "{answer:?}");
        }
        lift.signal(Signal::INT);
        assert!(lift.wait().success(), "{}", lift.errors());
    }
}
