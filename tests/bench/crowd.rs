//! A robot with 200 nodes and 2,000 services: how soon they are tools, and how soon a further node is seen.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use cortex_ros_client::RosNode;
use cortex_stories::{PATIENCE, Robot, TestRobot};

use crate::table::Table;

/// Nodes of the crowd.
const NODES: usize = 200;
/// Services of each.
const SERVICES: usize = 10;
/// Nodes that arrive while the crowd is there.
const ARRIVALS: usize = 10;

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    let robot = Robot::join("_bench_crowd")?;
    let mut tools = robot.discovery.tools();
    let mut crowd = test_robot.spawn_python("crowd.py", &[&NODES.to_string(), &SERVICES.to_string()]);
    // The crowd grows for some seconds, and is followed meanwhile.
    crowd.wait_for_line("ready").await;
    let complete = Instant::now();
    let is_of_crowd = |name: &str| name.starts_with("send_request_to_node_");
    let all_there =
        tools.wait_for(|tools| tools.iter().filter(|tool| is_of_crowd(tool.name.as_str())).count() == NODES * SERVICES);
    tokio::time::timeout(PATIENCE, all_there).await.context("the crowd's services never became tools")??;
    table.add_times(
        format!("from the last of {} services of {NODES} nodes to all tools", NODES * SERVICES),
        "under 1 s",
        &[complete.elapsed()],
    );

    // Late for the party: a process that comes when everything is there, and has to hear of it first.
    let late = Robot::join("_bench_latecomer")?;
    let begun = Instant::now();
    let mut graph = late.graph.subscribe();
    let services = |graph: &cortex_ros_client::graph::Graph| -> usize {
        let of_crowd = graph.nodes().filter(|node| node.name.starts_with("/node_"));
        of_crowd.map(|node| node.services.iter().filter(|service| service.name.contains("/service_")).count()).sum()
    };
    let settled = graph.wait_for(|graph| services(graph) == NODES * SERVICES);
    tokio::time::timeout(PATIENCE, settled).await.context("a latecomer never sees the whole crowd")??;
    let known = begun.elapsed();
    let mut tools = late.discovery.tools();
    let all_there =
        tools.wait_for(|tools| tools.iter().filter(|tool| is_of_crowd(tool.name.as_str())).count() == NODES * SERVICES);
    tokio::time::timeout(PATIENCE, all_there).await.context("a latecomer never gets all tools")??;
    table.add_times("the same for who comes later: until the whole graph is known", "", &[known]);
    table.add_times("and from then to all tools", "under 1 s", &[begun.elapsed().saturating_sub(known)]);
    late.leave().await?;

    let (mut making, mut arrivals): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    let mut graph = robot.graph.subscribe();
    for number in 0..ARRIVALS {
        let name = format!("newcomer_{number}");
        let begun = Instant::now();
        let newcomer = RosNode::start(&name, "")?;
        making.push(begun.elapsed());
        let begun = Instant::now();
        let seen = graph.wait_for(|graph| graph.node(&format!("/{name}")).is_some());
        tokio::time::timeout(PATIENCE, seen).await.context("a newcomer is never seen")??;
        arrivals.push(begun.elapsed());
        tokio::task::spawn_blocking(move || newcomer.shut_down()).await?;
        let gone = graph.wait_for(|graph| graph.node(&format!("/{name}")).is_none());
        tokio::time::timeout(PATIENCE, gone).await.context("a newcomer never leaves")??;
    }
    table.add_times(
        format!("a node that arrives among {NODES}, from when it is made until it is seen"),
        "under 50 ms",
        &arrivals,
    );
    table.add_times("making such a node", "", &making);
    robot.leave().await
}
