//! Prints what this process sees of the ROS graph, then ends in good order:
//! `cargo run --example graph -- SECONDS --ros-args -r __node:=me -p some:=value`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Interfaces;
use cortex_ros::{Discovery, Policy};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::parameters::value_as_json;
use cortex_ros_client::{GraphWatch, RosError, RosNode};

#[tokio::main]
async fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2.0);
    match show(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

async fn show(time: Duration) -> Result<(), RosError> {
    let node = RosNode::start("graph_example", "")?;
    println!("node {}", node.fully_qualified_name());
    for (name, value) in node.parameters() {
        println!("parameter {name} {}", value_as_json(value));
    }
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let endpoints = Endpoints::start(&graph)?;
    let discovery =
        Discovery::start(&node, &graph, &endpoints, &Arc::new(Interfaces::from_environment()), Policy::default());
    tokio::time::sleep(time).await;
    for node in graph.current().nodes() {
        println!("{:?} {} {} services", node.role, node.name, node.services.len());
    }
    for tool in discovery.tools().borrow().iter() {
        println!("tool {}", tool.name);
    }
    discovery.shut_down().await;
    endpoints.shut_down();
    graph.shut_down();
    node.shut_down();
    println!("ended");
    Ok(())
}
