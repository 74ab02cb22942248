//! Measures calls of one server by a client whose type was compiled in and by one whose type was loaded:
//! `cargo run --release --example calls`.

use std::error::Error;
use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::r2r::std_srvs::srv::SetBool;
use cortex_ros_client::r2r::{Context, Node, QosProfile};
use cortex_ros_client::{GraphWatch, RosNode};
use futures::{FutureExt, StreamExt};

/// Calls of each client. They take turns, so that what else the machine does hits all.
const CALLS: usize = 10_000;
const SERVICE: &str = "/measured";
const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let mut server = Command::new(std::env::current_exe()?).arg("serve").stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    std::io::BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let measured = measure().await;
    server.kill()?;
    server.wait()?;
    measured
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let node = RosNode::start("caller", "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let endpoints = Endpoints::start(&graph)?;
    let compiled = node
        .with_node(|node| node.create_client::<SetBool::Service>(SERVICE, QosProfile::services_default()))
        .await??;
    tokio::time::timeout(LIMIT, Node::is_available(&compiled)?).await??;
    let interface = Interfaces::from_environment().service("std_srvs/srv/SetBool")?;
    let loaded = endpoints.service_client(SERVICE, &interface).await?;
    loaded.wait_for_server(LIMIT).await?;

    let (mut times_compiled, mut times_loaded, mut times_json) = (Vec::new(), Vec::new(), Vec::new());
    let request = Message::from_json_str(&interface.request, r#"{"data": true}"#, &ReadOptions::exact())?;
    for _ in 0..CALLS {
        let begun = Instant::now();
        tokio::time::timeout(LIMIT, compiled.request(&SetBool::Request { data: true })?).await??;
        times_compiled.push(begun.elapsed());

        let begun = Instant::now();
        loaded.call(&request, LIMIT).await?;
        times_loaded.push(begun.elapsed());

        let begun = Instant::now();
        let request = Message::from_json_str(&interface.request, r#"{"data": true}"#, &ReadOptions::exact())?;
        let answer = loaded.call(&request, LIMIT).await?;
        std::hint::black_box(answer.view().to_json(&WriteOptions::exact()));
        times_json.push(begun.elapsed());
    }
    show("compiled in", times_compiled);
    show("loaded", times_loaded);
    show("loaded, with JSON", times_json);
    endpoints.shut_down();
    graph.shut_down();
    node.shut_down();
    Ok(())
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    println!("{what:20} p50 {:?}  p90 {:?}  p99 {:?}", at(50), at(90), at(99));
}

fn serve() -> Result<(), Box<dyn Error>> {
    let mut node = Node::create(Context::create()?, "server", "")?;
    let mut requests = node.create_service::<SetBool::Service>(SERVICE, QosProfile::services_default())?;
    println!("ready");
    loop {
        node.spin_once(Duration::from_millis(100));
        while let Some(Some(request)) = requests.next().now_or_never() {
            let message = if request.message.data { "on" } else { "off" }.to_owned();
            request.respond(SetBool::Response { success: true, message })?;
        }
    }
}
