//! Missions over many components: start-up, memory, and what each step costs beyond its tool.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_ros::TaskClient;
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::cortex_msgs::srv::ExecuteMethod;
use cortex_ros_client::{GraphWatch, RosNode};
use cortex_stories::{PATIENCE, TestRobot};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

use crate::table::Table;

/// Steps of one mission.
const STEPS: usize = 20;
/// Missions that are measured, after one that is not.
const MISSIONS: usize = 20;
/// Calls by which the tool's own time is measured.
const CALLS: usize = 200;

/// A model that answers at once: a plan of [`STEPS`] calls of one tool, EXECUTE for each, and words at the end.
pub(crate) async fn instant_model(tool: &'static str, arguments: Value, steps: usize) -> anyhow::Result<OpenAiServer> {
    let answer = move |request: &Value| {
        let offered = request["tools"].as_array().map_or(0, Vec::len);
        let planned = request["messages"]
            .as_array()
            .is_some_and(|messages| messages.iter().any(|message| message["role"] == "tool"));
        match (offered, planned) {
            (1, _) => Served::Text("EXECUTE".to_owned()),
            (_, true) => Served::Text("Done.".to_owned()),
            (_, false) => Served::Calls(vec![(tool.to_owned(), arguments.clone()); steps]),
        }
    };
    Ok(OpenAiServer::answering(answer).await?)
}

pub(crate) async fn measure(test_robot: &mut TestRobot, components: usize, table: &mut Table) -> anyhow::Result<()> {
    let plural = if components == 1 { "component" } else { "components" };
    let label = format!("{components} {plural}");
    let count = components.to_string();
    // One component alone would be called `c`, without a number.
    let first = if components == 1 { "c" } else { "c1" };
    test_robot.start("echo", "cortex-misbehave", &["echo", "--count", &count, "--prefix", "c"]).await;
    let tool = if components == 1 { "c-echo" } else { "c1-echo" };
    let model = instant_model(tool, json!({"text": "hi"}), STEPS).await?;

    let begun = Instant::now();
    let mut cortex = test_robot.spawn("cortex", &["run", "--model", &format!("openai:instant@{}", model.url())]);
    // Beside one tool of each component there are those of Cortex itself.
    let all_there = |line: &String| {
        let (tools, of) = line.strip_prefix("tools: ")?.strip_suffix(')')?.split_once(" (")?;
        let (of, _) = of.split_once(" component")?;
        (of.parse() == Ok(components) && tools.parse::<usize>().ok()? > components).then_some(())
    };
    cortex.wait_for("all tools", |lines| lines.iter().find_map(all_there)).await;
    table.add_times(format!("from start to all tools, {label}"), "50: under 2 s", &[begun.elapsed()]);

    let node = RosNode::start(&format!("_bench_{components}"), "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let client = TaskClient::connect(&node, &graph, "/cortex", PATIENCE).await?;
    let tool_time = tool_time(&node, first).await?;
    table.add_times(format!("a call of the tool alone, {label}"), "", &tool_time);

    let mut per_step = Vec::new();
    for mission in 0..=MISSIONS {
        let begun = Instant::now();
        let sent = client.send("echo", "").await?;
        let result = sent.result().await?;
        let took = begun.elapsed();
        ensure!(result.output.starts_with("Done.\n"), "the mission failed: {}", result.output);
        if mission > 0 {
            per_step.push(took / u32::try_from(STEPS)?);
        }
    }
    table.add_times(format!("a step of {STEPS} with its tool and the model, {label}"), "1.5 ms, flat to 50", &per_step);
    table.add(
        format!("resident memory of Cortex, {label}"),
        "under 60 MB",
        format!("{:.1} MB", resident_megabytes(cortex.id())?),
        "after the missions",
    );
    drop(client);
    tokio::task::spawn_blocking(move || {
        node.shut_down();
        graph.shut_down();
    })
    .await?;
    drop(cortex);
    test_robot.end("echo");
    Ok(())
}

/// The time of one call of a component's method, without Cortex.
async fn tool_time(node: &RosNode, component: &str) -> anyhow::Result<Vec<Duration>> {
    let service = format!("/{component}/execute_method");
    let client = node
        .with_node(move |node| node.create_client::<ExecuteMethod::Service>(&service, QosProfile::services_default()))
        .await??;
    let request = ExecuteMethod::Request { name: "echo".into(), kwargs_json: "{\"text\":\"hi\"}".into() };
    let mut times = Vec::new();
    let patience = Instant::now() + PATIENCE;
    while times.len() < CALLS {
        ensure!(Instant::now() < patience, "{component} does not answer");
        let begun = Instant::now();
        // The first calls may come before the service was matched.
        if let Ok(answer) = tokio::time::timeout(Duration::from_secs(1), client.request(&request)?).await {
            ensure!(answer?.success, "{component} refused");
            times.push(begun.elapsed());
        }
    }
    Ok(times)
}

/// What a process holds in memory.
pub(crate) fn resident_megabytes(process: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes: f64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next())
        .context("the process has no VmRSS")?
        .parse()?;
    Ok(kilobytes / 1024.0)
}
