//! Measures discovery on a large robot: `cargo run --release --example crowd -- 200 10`.
//!
//! Several processes host nodes with services of everyday types. Prints how long it takes from the last change of the
//! graph until everything is a tool, and how soon a node that arrives later is seen.

use std::error::Error;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cortex_interfaces::Interfaces;
use cortex_ros::{Discovery, Policy};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::r2r::nav_msgs::srv::{GetMap, GetPlan};
use cortex_ros_client::r2r::sensor_msgs::srv::SetCameraInfo;
use cortex_ros_client::r2r::std_srvs::srv::{Empty, SetBool, Trigger};
use cortex_ros_client::r2r::{Context, Node, QosProfile};
use cortex_ros_client::{GraphWatch, RosNode};

/// Processes that share the nodes. Each is one participant of the middleware.
const HOSTS: usize = 4;
/// Nodes that arrive later, one by one.
const ARRIVALS: usize = 20;
/// Bounds every wait.
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |place: usize, default: &str| arguments.get(place).map_or(default, String::as_str).to_owned();
    if text(0, "") == "host" {
        return host(&text(1, "0"), text(2, "1").parse()?, text(3, "1").parse()?);
    }
    let (nodes, services): (usize, usize) = (text(0, "200").parse()?, text(1, "10").parse()?);
    let mut hosts = Vec::new();
    for number in 0..HOSTS {
        hosts.push(Host::start(number, nodes / HOSTS, services)?);
    }
    for host in &mut hosts {
        host.line()?;
    }
    let measured = measure(&mut hosts, nodes / HOSTS * HOSTS, services).await;
    for host in hosts {
        host.end()?;
    }
    measured
}

async fn measure(hosts: &mut [Host], nodes: usize, services: usize) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let node = RosNode::start("measure", "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let endpoints = Endpoints::start(&graph)?;
    let discovery =
        Discovery::start(&node, &graph, &endpoints, &Interfaces::from_environment().into(), Policy::default());
    let mut seen = graph.subscribe();
    let mut tools = discovery.tools();
    let all_seen = async {
        seen.wait_for(|graph| graph.robot_nodes().map(|node| node.services.len()).sum::<usize>() >= nodes * services)
            .await
            .map(|_| Instant::now())
    };
    let all_tools = async { tools.wait_for(|tools| tools.len() >= nodes * services).await.map(|_| Instant::now()) };
    let both = async { tokio::try_join!(all_seen, all_tools) };
    let (seen_at, tools_at) = tokio::time::timeout(LIMIT, both).await??;
    println!("all {nodes} nodes with {} services seen after {:?}", nodes * services, seen_at - begun);
    println!("all of them tools          {:?} later", tools_at.saturating_duration_since(seen_at));
    discovery.settled(LIMIT).await;
    println!("settled after              {:?}", begun.elapsed());

    let mut seen = graph.subscribe();
    let (mut nodes_after, mut tools_after) = (Vec::new(), Vec::new());
    let host = hosts.first_mut().ok_or("no host")?;
    for number in 0..ARRIVALS {
        let created = host.add()?;
        let name = format!("/crowd_0/late_{number}");
        tokio::time::timeout(LIMIT, seen.wait_for(|graph| graph.node(&name).is_some())).await??;
        nodes_after.push(since_epoch()?.saturating_sub(created));
        let tool = format!("send_request_to_crowd_0/late_{number}/reset");
        let offered = tools.wait_for(|tools| tools.iter().any(|offered| offered.name.as_str() == tool));
        tokio::time::timeout(LIMIT, offered).await??;
        tools_after.push(since_epoch()?.saturating_sub(created));
    }
    for (what, mut times) in [("a node is seen after  ", nodes_after), ("its tool is there after", tools_after)] {
        times.sort();
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        println!("{what}    p50 {:?}, p90 {:?}", at(50), at(90));
    }
    discovery.shut_down().await;
    endpoints.shut_down();
    graph.shut_down();
    node.shut_down();
    Ok(())
}

/// A process that hosts nodes.
struct Host {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Host {
    fn start(number: usize, nodes: usize, services: usize) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["host", &number.to_string(), &nodes.to_string(), &services.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        Ok(Self { child, input, lines })
    }

    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        Ok(self.lines.next().ok_or("the host has ended")??)
    }

    /// Has it add a node, and returns when it was there, since the epoch.
    fn add(&mut self) -> Result<Duration, Box<dyn Error>> {
        writeln!(self.input)?;
        Ok(Duration::from_nanos(self.line()?.parse()?))
    }

    fn end(mut self) -> Result<(), Box<dyn Error>> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// Hosts nodes, and adds one for each line that it reads.
fn host(number: &str, count: usize, services: usize) -> Result<(), Box<dyn Error>> {
    let context = Context::create()?;
    let namespace = format!("crowd_{number}");
    let mut nodes = Vec::new();
    for index in 0..count {
        let mut node = Node::create(context.clone(), &format!("node_{index}"), &namespace)?;
        for service in 0..services {
            serve(&mut node, service)?;
        }
        nodes.push(node);
    }
    println!("ready");
    for (index, line) in std::io::stdin().lines().enumerate() {
        line?;
        let mut node = Node::create(context.clone(), &format!("late_{index}"), &namespace)?;
        drop(node.create_service::<Trigger::Service>("~/reset", QosProfile::services_default())?);
        println!("{}", since_epoch()?.as_nanos());
        nodes.push(node);
    }
    Ok(())
}

fn serve(node: &mut Node, number: usize) -> Result<(), Box<dyn Error>> {
    let (name, quality) = (format!("~/service_{number}"), QosProfile::services_default());
    match number % 6 {
        0 => drop(node.create_service::<Trigger::Service>(&name, quality)?),
        1 => drop(node.create_service::<SetBool::Service>(&name, quality)?),
        2 => drop(node.create_service::<Empty::Service>(&name, quality)?),
        3 => drop(node.create_service::<GetMap::Service>(&name, quality)?),
        4 => drop(node.create_service::<GetPlan::Service>(&name, quality)?),
        _ => drop(node.create_service::<SetCameraInfo::Service>(&name, quality)?),
    }
    Ok(())
}

fn since_epoch() -> Result<Duration, Box<dyn Error>> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
}
