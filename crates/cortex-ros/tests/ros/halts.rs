//! Halts that come at odd moments: what was halted before it was sent must not be sent afterwards.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use crate::support::{Agent, LIMIT, component, invocation, robot};
use cortex_core::{Invocation, ToolProvider, Unobserved};
use cortex_protocol::{HaltState, ToolOutcome};
use cortex_ros::{Policy, PolicySettings};
use cortex_ros_client::ros_tests;
use serde_json::{Value, json};
use tokio::runtime::Builder;

/// Halts a call that has begun, but has not been sent, and lets it go on.
async fn halted_at_once(agent: &Agent, invocation: Invocation) -> ToolOutcome {
    let call = agent.planned(invocation);
    let mut running = pin!(agent.tools.invoke(call.clone(), Arc::new(Unobserved)));
    // It needs a thread to get ready, and the only one is busy: else it might be ready, and sent, in no time.
    let narrow = Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap();
    let (free, busy) = std::sync::mpsc::sync_channel::<()>(0);
    narrow.spawn_blocking(move || busy.recv());
    let begun = {
        let _entered = narrow.enter();
        running.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    };
    assert!(begun.is_pending(), "it still gets ready");
    assert_eq!(agent.tools.halt(&call).await, HaltState::AtRest);
    drop(free);
    let outcome = tokio::time::timeout(LIMIT, running).await.expect("the call has ended");
    narrow.shutdown_background();
    outcome
}

fn never_sent() -> ToolOutcome {
    ToolOutcome::not_begun("it was halted before it was sent")
}

ros_tests! {
    async fn what_was_halted_before_it_was_sent_is_never_sent() {
        let settings = PolicySettings { publish: vec!["/cmd_vel".to_owned()], ..PolicySettings::default() };
        let agent = Agent::with_policy(Policy::new(&settings).unwrap());
        let mut robot = robot(&["lamp", "--only", "switch,count,topics,parameters"]).await;
        for tool in ["send_request_to_lamp/switch", "send_goal_to_lamp/count", "publish_to_cmd_vel", "update_parameter"] {
            agent.tool(tool).await;
        }
        let switch = |id, data: bool| invocation(id, "send_request_to_lamp/switch", json!({"data": data}));
        assert_eq!(halted_at_once(&agent, switch(1, false)).await, never_sent());
        // The robot hears the next call first.
        assert!(agent.call(switch(2, true)).await.is_success());
        assert_eq!(robot.line("called switch").await.unwrap(), "True");

        let count = |id, order: u32| invocation(id, "send_goal_to_lamp/count", json!({"order": order}));
        assert_eq!(halted_at_once(&agent, count(3, 5)).await, never_sent());
        assert!(agent.call(count(4, 3)).await.is_success());
        assert_eq!(robot.line("called count").await.unwrap(), "3");

        let drive = |id, speed: f64| {
            invocation(id, "publish_to_cmd_vel", json!({"linear": {"x": speed}, "angular": {}}))
        };
        assert_eq!(halted_at_once(&agent, drive(5, 0.5)).await, never_sent());
        assert!(agent.call(drive(6, 0.25)).await.is_success());
        assert_eq!(robot.line("drives").await.unwrap(), "0.25");

        let arguments = json!({"component": "lamp", "param_name": "speed", "new_value": 1.5});
        assert_eq!(halted_at_once(&agent, invocation(7, "update_parameter", arguments)).await, never_sent());
        let report = agent.call(invocation(8, "inspect_component", json!({"component": "lamp"}))).await.value;
        assert_eq!(report["parameters"]["speed"]["value"], 0.5);
        agent.shut_down().await;
    }

    async fn a_method_that_was_halted_before_it_was_sent_is_never_sent() {
        let agent = Agent::start();
        let mut base = component(&["base"]).await;
        agent.tool("base.insist").await;
        // Its client is there already, so it is sent as soon as it begins.
        let insist = agent.planned(invocation(1, "base.insist", json!({})));
        assert_eq!(agent.tools.halt(&insist).await, HaltState::AtRest);
        assert_eq!(agent.call(insist).await, never_sent());
        let echo = agent.call(invocation(2, "base.echo", json!({}))).await;
        assert!(echo.is_success() && echo.value != Value::Null, "{echo:?}");
        assert_eq!(base.line("called").await.unwrap(), "echo");
        agent.shut_down().await;
    }
}
