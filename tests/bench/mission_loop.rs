//! The mission loop itself: what a mission asks of its model, and what Cortex adds to a step. See `docs/benchmarks.md`.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_core::mission::ConfirmationMode::{self, Adaptive, Always};
use cortex_ros::TaskClient;
use cortex_ros_client::{GraphWatch, RosNode};
use cortex_runtime::tape::Flush;
use cortex_stories::costs::{
    COMPONENTS, Record, Steps, graph_time, machine_time, missions, missions_on, three_together,
};
use cortex_stories::{PATIENCE, TestRobot};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

use crate::table::Table;

/// Missions by which times are measured, after one that is not.
const MISSIONS: usize = 30;
/// Steps of the large plan.
const LARGE: usize = 1_000;
/// Machines by which the large plan is measured.
const LARGE_PLANS: usize = 20;
/// How long the goal goes on.
const GOAL: Duration = Duration::from_secs(60);
/// Flushes of the disk alone.
const FLUSHES: usize = 200;
/// What a step writes before it moves, about.
const LINES_OF_A_STEP: usize = 2_000;

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    counts(table).await?;
    let folder = tempfile::tempdir()?;
    overheads(folder.path(), table).await?;
    large_plans(table)?;
    let took = three_together().await?;
    table.add_times("three steps of 1 s that nothing orders, with plan and last word", "under 1.2 s", &[took]);
    long_goal(test_robot, table).await
}

async fn counts(table: &mut Table) -> anyhow::Result<()> {
    for steps in [5, 20, 120] {
        for (kind, named) in [(Steps::Act, "that act"), (Steps::ActAndLook, "of which half only look")] {
            for confirmation in [Always, Adaptive] {
                let costs = missions(1, steps, kind, confirmation, Record::None).await?;
                let cost = costs.first().context("no mission")?;
                let wanted = match steps {
                    20 => "at most 90 kB",
                    120 => "at most 600 kB",
                    _ => "",
                };
                table.add(
                    format!("{steps} steps {named}, {COMPONENTS} components, {}", name(confirmation)),
                    wanted,
                    format!(
                        "{:.1} kB in {} requests, {} % of it the beginning of an earlier one",
                        kilobytes(cost.bytes),
                        cost.requests,
                        cost.unchanged * 100 / cost.bytes.max(1)
                    ),
                    "exact",
                );
            }
        }
    }
    Ok(())
}

/// What a plan of twenty steps takes, with all tools offered.
pub(crate) async fn bytes(table: &mut Table) -> anyhow::Result<()> {
    for (components, wanted) in [(1, "40 kB"), (10, "60 kB"), (50, "120 kB"), (200, "")] {
        let costs = missions_on(components, 2, 20, Steps::Act, Always, Record::None).await?;
        let cost = costs.last().context("no mission")?;
        table.add(
            format!("20 steps, {components} components, all tools offered"),
            wanted,
            format!("{:.1} kB in {} requests", kilobytes(cost.bytes), cost.requests),
            format!("{} % of it the beginning of an earlier one", cost.unchanged * 100 / cost.bytes.max(1)),
        );
    }
    Ok(())
}

async fn overheads(folder: &Path, table: &mut Table) -> anyhow::Result<()> {
    const STEPS: u32 = 20;
    let kinds = [
        ("no tape", Record::None),
        ("tape, flush = \"os\"", Record::In(folder, Flush::Os)),
        ("tape, flush = \"disk\"", Record::In(folder, Flush::Disk)),
    ];
    for (named, record) in kinds {
        let costs = missions(MISSIONS + 1, STEPS as usize, Steps::Act, Always, record).await?;
        let overheads: Vec<Duration> = costs.iter().skip(1).map(|cost| cost.took / STEPS).collect();
        // With the request to the model over HTTP and its answer; the tool takes no time.
        table.add_times(format!("overhead per step of {STEPS}, {named}"), "at most 1 ms", &overheads);
    }
    table.add_times("the disk alone: fdatasync of the lines of one step", "", &flushes(folder)?);
    Ok(())
}

/// How long the disk of the tapes takes to keep what a step writes.
fn flushes(folder: &Path) -> anyhow::Result<Vec<Duration>> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(folder.join("flushes"))?;
    let lines = vec![b'x'; LINES_OF_A_STEP];
    (0..FLUSHES)
        .map(|_| {
            file.write_all(&lines)?;
            let begun = Instant::now();
            file.sync_data()?;
            Ok(begun.elapsed())
        })
        .collect()
}

fn large_plans(table: &mut Table) -> anyhow::Result<()> {
    for (in_a_row, named) in [(true, "one after the other"), (false, "that nothing orders")] {
        let times: anyhow::Result<Vec<Duration>> = (0..LARGE_PLANS).map(|_| graph_time(LARGE, in_a_row)).collect();
        table.add_times(
            format!("the graph of a plan of {LARGE} steps {named}: built, ordered, in levels"),
            "under 10 ms",
            &times?,
        );
        let times: anyhow::Result<Vec<Duration>> = (0..LARGE_PLANS).map(|_| machine_time(LARGE, in_a_row)).collect();
        table.add_times(
            format!("the life of a plan of {LARGE} steps {named}: checked, built, every step begun and ended"),
            "",
            &times?,
        );
    }
    Ok(())
}

/// A goal of a real action server that goes on for a minute, with a step that waits for it.
async fn long_goal(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    let seconds = GOAL.as_secs().to_string();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "bad_goals.py", &["works", "--seconds", &seconds]).await;
    test_robot.start_python("services", "bad_services.py", &["works"]).await;
    let node = RosNode::start("_bench_loop", "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    for confirmation in [Always, Adaptive] {
        let model = OpenAiServer::answering(answer).await?;
        test_robot.configure(&format!("[mission]\nconfirmation = \"{}\"\n", name(confirmation)));
        let endpoint = format!("openai:scripted@{}", model.url());
        let mut cortex = test_robot.spawn("cortex", &["run", "--model", &endpoint]);
        cortex.wait_for_line("ready").await;
        let client = TaskClient::connect(&node, &graph, "/cortex", PATIENCE).await?;
        let sent = client.send("go there", "").await?;
        let result = tokio::time::timeout(GOAL + PATIENCE, sent.result()).await??;
        ensure!(result.output.contains("Done."), "the mission failed: {}", result.output);
        // Those for the plan and for the goal's confirmation came before it was dispatched.
        let (sizes, before) = (model.request_sizes(), 2);
        let after: usize = sizes.iter().skip(before).sum();
        table.add(
            format!("a goal of {seconds} s with CONTINUE, {}: requests after it was dispatched", name(confirmation)),
            "at most 3",
            sizes.len().saturating_sub(before).to_string(),
            format!("{:.1} kB, with the last word; {:.1} kB in all", kilobytes(after), kilobytes(sizes.iter().sum())),
        );
    }
    tokio::task::spawn_blocking(move || {
        node.shut_down();
        graph.shut_down();
    })
    .await?;
    test_robot.end("server");
    test_robot.end("services");
    Ok(())
}

/// A model that drives somewhere and does something when it is there.
#[expect(clippy::indexing_slicing, reason = "what a JSON value does not hold is null, not a panic")]
fn answer(request: &Value) -> Served {
    let told = request["messages"].to_string();
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    match tools {
        [tool] if tool["function"]["name"] == "send_goal_to_works" => Served::Text("EXECUTE".to_owned()),
        [_] if told.contains("Nothing is in flight") => Served::Text("EXECUTE".to_owned()),
        [_] => Served::Text("CONTINUE".to_owned()),
        _ if told.contains("was carried out. Compare each part") => Served::Text("Done.".to_owned()),
        _ => Served::Calls(vec![
            ("send_goal_to_works".to_owned(), json!({"order": 7})),
            ("send_request_to_works".to_owned(), json!({"data": true})),
        ]),
    }
}

fn name(confirmation: ConfirmationMode) -> &'static str {
    match confirmation {
        Always => "always",
        Adaptive => "adaptive",
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
fn kilobytes(bytes: usize) -> f64 {
    bytes as f64 / 1e3
}
