//! From the request to cancel until the component is told to halt.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_component::{CallContext, Component, Effect, Method, NoArguments};
use cortex_ros::TaskClient;
use cortex_ros_client::{GraphWatch, RosNode};
use cortex_stories::{PATIENCE, TestRobot};
use serde_json::json;
use tokio::sync::Notify;

use crate::missions::instant_model;
use crate::table::Table;

/// Cancels that are measured.
const CANCELS: usize = 50;

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    let going = Arc::new(Notify::new());
    let halted_at: Arc<Mutex<Option<Instant>>> = Arc::default();
    let slow = component(Arc::clone(&going), Arc::clone(&halted_at)).start().await?;
    let model = instant_model("slow-go", json!({}), 1).await?;
    let mut cortex = test_robot.spawn("cortex", &["run", "--model", &format!("openai:instant@{}", model.url())]);
    cortex.wait_for_line("(1 components)").await;
    let node = RosNode::start("_bench_cancel", "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let client = TaskClient::connect(&node, &graph, "/cortex", PATIENCE).await?;
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..CANCELS {
        let sent = client.send("go", "").await?;
        tokio::time::timeout(PATIENCE, going.notified()).await?;
        let asked = Instant::now();
        ensure!(sent.canceller.cancel().await?, "the cancel was refused");
        sent.result().await?;
        let told = halted_at.lock().unwrap_or_else(PoisonError::into_inner).take();
        times.push(told.map_or(PATIENCE, |told| told.saturating_duration_since(asked)));
    }
    table.add_times(
        "from the client's cancel to the component's halt (two hops of ROS included)",
        "under 5 ms",
        &times,
    );
    drop(client);
    drop(cortex);
    slow.stop().await;
    tokio::task::spawn_blocking(move || {
        node.shut_down();
        graph.shut_down();
    })
    .await?;
    Ok(())
}

/// A component that goes until it is halted, and notes when it is told to.
fn component(going: Arc<Notify>, halted_at: Arc<Mutex<Option<Instant>>>) -> Component {
    Component::new("slow")
        .summary("Goes until it is halted.")
        .method(
            Method::new("go", "Goes until it is halted.")
                .effect(Effect::Move)
                .timeout(PATIENCE)
                .cancelled_by("halt")
                .run(move |_: NoArguments, call: CallContext| {
                    let (going, halted_at) = (Arc::clone(&going), Arc::clone(&halted_at));
                    async move {
                        going.notify_one();
                        call.cancelled().await;
                        *halted_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                        Ok("halted")
                    }
                }),
        )
        .method(Method::new("halt", "Halts.").effect(Effect::Act).run(|_: NoArguments, _| async { Ok("at rest") }))
}
