//! What a mission may cost on its model: the bounds of `docs/benchmarks.md` that do not depend on the machine. The real
//! runtime and adapter, with a server that counts; no ROS.

#![expect(clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use cortex_core::mission::ConfirmationMode::{self, Adaptive, Always};
use cortex_stories::costs::{Cost, Record, Steps, graph_time, machine_time, missions};

/// One mission of so many steps, with ten components.
async fn cost(steps: usize, kind: Steps, confirmation: ConfirmationMode) -> Cost {
    let costs = missions(1, steps, kind, confirmation, Record::None).await;
    costs.and_then(|costs| costs.first().copied().ok_or_else(|| anyhow::anyhow!("no mission"))).unwrap()
}

#[tokio::test]
async fn a_mission_asks_the_model_once_for_each_step_and_twice_besides() {
    // For the plan and for the last word; the system that Cortex follows asked 8 and 23 times.
    assert_eq!(cost(5, Steps::Act, Always).await.requests, 7);
    assert_eq!(cost(20, Steps::Act, Always).await.requests, 22);
}

/// The system that Cortex follows needed 257 kB: it sent the schemas of all tools with each confirmation.
#[tokio::test]
async fn regression_twenty_steps_with_ten_components_need_at_most_90_kb_of_requests() {
    for kind in [Steps::Act, Steps::ActAndLook] {
        for confirmation in [Always, Adaptive] {
            let Cost { bytes, requests, .. } = cost(20, kind, confirmation).await;
            assert!(bytes <= 90_000, "{kind:?}, {confirmation:?}: {bytes} bytes in {requests} requests");
        }
    }
}

/// With a thousand characters of each output in each confirmation, 120 steps needed 2.4 MB.
#[tokio::test]
async fn regression_a_mission_of_120_steps_needs_at_most_600_kb_of_requests() {
    let Cost { bytes, requests, .. } = cost(120, Steps::Act, Always).await;
    assert_eq!(requests, 122);
    assert!(bytes <= 600_000, "{bytes} bytes");
}

#[tokio::test]
async fn where_it_may_the_model_is_not_asked_about_steps_that_only_look() {
    assert_eq!(cost(20, Steps::ActAndLook, Adaptive).await.requests, 12);
}

#[test]
fn a_plan_of_a_thousand_steps_runs_to_its_end() {
    // How long that takes is a matter of the machine; that it is not the cube of the steps shows in that it ends.
    for in_a_row in [true, false] {
        graph_time(1_000, in_a_row).unwrap();
        machine_time(1_000, in_a_row).unwrap();
    }
}
