//! A look at the robot, which ends as soon as all of it is known.
//!
//! Discovery alone can't know that nothing is missing before the time has passed in which the middleware announces
//! everything. A running Cortex has looked for long: where this process sees the same graph as that one, nothing is missing.

use std::time::Duration;

use cortex_robot::Robot;
use cortex_ros::Policy;
use cortex_ros_client::graph::GraphNode;
use cortex_ros_client::{LatchedText, RosNode};
use cortex_status::{TOPIC, graph_in};

/// Longest wait for slow components.
pub(crate) const SETTLE_LIMIT: Duration = Duration::from_secs(8);

/// Joins the graph and waits until the picture of the robot is complete.
pub(crate) async fn visit(policy: impl FnOnce(&RosNode) -> anyhow::Result<Policy>) -> anyhow::Result<Robot> {
    let robot = Robot::look(policy)?;
    if !settled(&robot).await {
        eprintln!(
            "cortex: within {} s there was no robot, or some components have not described themselves",
            SETTLE_LIMIT.as_secs()
        );
    }
    Ok(robot)
}

/// Waits until all of the robot is known, by a running Cortex or by time. False: not within [`SETTLE_LIMIT`].
pub(crate) async fn settled(robot: &Robot) -> bool {
    tokio::select! {
        settled = robot.discovery.settled(SETTLE_LIMIT) => settled,
        never = hear_cortex(robot) => match never {},
    }
}

/// Waits until all of the robot is known because a running Cortex sees the same. Where there is none, it never is: by time
/// alone, some nodes are found late.
pub(crate) async fn known_for_certain(robot: &Robot) {
    tokio::select! {
        () = robot.discovery.confirmed() => {}
        never = hear_cortex(robot) => match never {},
    }
}

/// Has discovery hear what graph a running Cortex sees, for as long as this is waited for.
async fn hear_cortex(robot: &Robot) -> std::convert::Infallible {
    let mut graph = robot.graph.subscribe();
    // Both ends: there is none, and discovery is as fast as it is alone.
    let found = graph.wait_for(|graph| graph.nodes().any(GraphNode::is_cortex)).await.ok();
    let name = found.and_then(|graph| graph.nodes().find(|node| node.is_cortex()).map(|node| node.name.clone()));
    if let Some(name) = name
        && let Ok(mut texts) = LatchedText::subscribe(&robot.endpoints, &format!("{name}/{TOPIC}")).await
    {
        while let Some(text) = texts.next().await {
            if let Some(digest) = graph_in(&text) {
                robot.discovery.confirm_graph(name.clone(), digest);
            }
        }
    }
    std::future::pending().await
}
