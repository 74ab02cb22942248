//! Measures this crate against components hosted in another process: `cargo run --release --example measure -- 50`.
//!
//! Prints how long it takes until every tool is registered, how long a call takes, and what this process needs.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_core::{Invocation, ToolProvider, Unobserved};
use cortex_interfaces::Interfaces;
use cortex_protocol::{CallId, ToolCall, ToolFingerprint};
use cortex_ros::{Discovery, Policy, RosTools};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::r2r::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::r2r::cortex_msgs::srv::{DescribeComponent, ExecuteMethod};
use cortex_ros_client::r2r::{Context, Node, QosProfile};
use cortex_ros_client::{GraphWatch, RosNode};
use futures::{FutureExt, StreamExt};
use serde_json::Map;

/// Calls whose time is taken.
const CALLS: u32 = 2_000;
/// The time over which the rest is measured.
const REST: Duration = Duration::from_secs(5);
/// What each hosted component says of itself.
const DESCRIPTION: &str = r#"{"contract": 1, "summary": "Hosted for a measurement.", "methods": [
    {"name": "ping", "description": "Answers.", "effect": "observe", "phase": "both"},
    {"name": "go_to", "description": "Drives to a place.", "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "enum": ["kitchen", "bedroom"]}}, "required": ["place"]}}]}"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_else(|| "50".to_owned());
    if first == "host" {
        return host(arguments.next().unwrap_or_default().parse()?);
    }
    let count: usize = first.parse()?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["host", &count.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    wait_for_line(&mut child)?;
    let measured = measure(count).await;
    child.kill()?;
    child.wait()?;
    measured
}

async fn measure(count: usize) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let node = RosNode::start("measure", "")?;
    println!("memory with the node       {}", memory()?);
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    println!("memory with the graph      {}", memory()?);
    let endpoints = Endpoints::start(&graph)?;
    let discovery =
        Discovery::start(&node, &graph, &endpoints, &Arc::new(Interfaces::from_environment()), Policy::default());
    let tools = RosTools::new(&graph, &endpoints, &discovery);
    let mut seen = graph.subscribe();
    let all_nodes = seen.wait_for(|graph| graph.robot_nodes().count() >= count);
    tokio::time::timeout(Duration::from_secs(30), all_nodes).await??;
    println!("all {count} nodes seen after    {:?}", begun.elapsed());
    let mut offered = discovery.tools();
    let all = offered.wait_for(|tools| tools.len() > 2 * count);
    tokio::time::timeout(Duration::from_secs(30), all).await??;
    println!("all tools after            {:?}", begun.elapsed());
    println!("settled {}               {:?}", discovery.settled(Duration::from_secs(10)).await, begun.elapsed());
    println!("memory with all tools      {}", memory()?);

    let before = processor_time()?;
    tokio::time::sleep(REST).await;
    println!("processor at rest          {:.1} %", share(processor_time()? - before));

    let fingerprints: BTreeMap<String, ToolFingerprint> =
        discovery.tools().borrow().iter().map(|tool| (tool.name.to_string(), tool.fingerprint())).collect();
    let mut times = Vec::new();
    for number in 0..CALLS {
        let tool = format!("component_{}.ping", usize::try_from(number)? % count);
        let invocation = Invocation {
            mission: "measure".into(),
            id: CallId(number),
            call: ToolCall { tool: tool.as_str().into(), arguments: Map::new() },
            fingerprint: fingerprints.get(&tool).copied().ok_or("the tool has left")?,
            timeout: Duration::from_secs(10),
        };
        let begun = Instant::now();
        let outcome = tools.invoke(invocation, Arc::new(Unobserved)).await;
        times.push(begun.elapsed());
        if !outcome.is_success() {
            return Err(outcome.message.into());
        }
    }
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    println!("a call                     p50 {:?}, p90 {:?}, p99 {:?}", at(50), at(90), at(99));
    let begun = Instant::now();
    let report = tools.inspect("component_0").await?;
    println!("first inspection           {:?}", begun.elapsed());
    let begun = Instant::now();
    drop((report, tools.inspect("component_0").await?));
    println!("second inspection          {:?}", begun.elapsed());

    let begun = Instant::now();
    discovery.shut_down().await;
    endpoints.shut_down();
    graph.shut_down();
    node.shut_down();
    println!("shutdown                   {:?}", begun.elapsed());
    Ok(())
}

/// Serves `count` components, each on a thread of its own, until it is killed.
fn host(count: usize) -> Result<(), Box<dyn Error>> {
    let context = Context::create()?;
    let threads: Vec<_> = (0..count)
        .map(|number| {
            let context = context.clone();
            std::thread::spawn(move || {
                if let Err(problem) = host_one(context, number) {
                    eprintln!("component {number}: {problem}");
                }
            })
        })
        .collect();
    println!("ready");
    for thread in threads {
        // It has printed why it ended.
        let _ = thread.join();
    }
    Ok(())
}

fn host_one(context: Context, number: usize) -> Result<(), Box<dyn Error>> {
    let mut node = Node::create(context, &format!("component_{number}"), "")?;
    let services = QosProfile::services_default();
    let mut describe = node.create_service::<DescribeComponent::Service>("~/describe", services.clone())?;
    let mut execute = node.create_service::<ExecuteMethod::Service>("~/execute_method", services)?;
    let status = node.create_publisher::<ComponentStatus>("~/status", QosProfile::default())?;
    let mut beat = Instant::now();
    loop {
        node.spin_once(Duration::from_millis(100));
        while let Some(Some(request)) = describe.next().now_or_never() {
            request.respond(DescribeComponent::Response { description_json: DESCRIPTION.to_owned() })?;
        }
        while let Some(Some(request)) = execute.next().now_or_never() {
            request.respond(ExecuteMethod::Response { success: true, ..Default::default() })?;
        }
        if beat.elapsed() > Duration::from_secs(1) {
            beat = Instant::now();
            status.publish(&ComponentStatus::default())?;
        }
    }
}

fn wait_for_line(child: &mut Child) -> Result<(), Box<dyn Error>> {
    use std::io::{BufRead, BufReader};
    let output = child.stdout.take().ok_or("no output")?;
    BufReader::new(output).lines().next().ok_or("the host has ended")??;
    Ok(())
}

/// Resident memory.
fn memory() -> Result<String, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("no value")?.parse()?;
    Ok(format!("{:.1} MB", kilobytes / 1024.0))
}

/// Processor time of this process in hundredths of a second.
fn processor_time() -> Result<u64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |index: usize| fields.get(index).unwrap_or(&"0").parse::<u64>();
    Ok(field(11)? + field(12)?)
}

fn share(hundredths: u64) -> f64 {
    f64::from(u32::try_from(hundredths).unwrap_or(u32::MAX)) / REST.as_secs_f64()
}
