//! From the first words of a model, as its server writes them, to `~/output` in another process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_ros::TaskClient;
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::cortex_msgs::msg::StreamingString;
use cortex_ros_client::{GraphWatch, RosNode};
use cortex_stories::{PATIENCE, TestRobot};
use cortex_testkit::{OpenAiServer, Served};
use futures::{Stream, StreamExt as _};
use tokio::sync::Notify;

use crate::table::Table;

/// Answers that are measured.
const ANSWERS: usize = 100;
/// What the model says at first, in one piece, and what it says once these words were heard.
const FIRST: &str = "Hi";
const REST: &str = ", and welcome.";

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    let (asked, go_on) = (Arc::new(Mutex::new(None)), Arc::new(Notify::new()));
    let (stamp, held) = (Arc::clone(&asked), Arc::clone(&go_on));
    let model = OpenAiServer::answering(move |_| {
        // The server writes the first words as soon as it knows them.
        *stamp.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Served::Begun(FIRST.to_owned(), Arc::clone(&held), REST.to_owned())
    })
    .await?;
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex_with(&model).await;
    let node = RosNode::start("_bench_listener", "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let client = TaskClient::connect(&node, &graph, "/cortex", PATIENCE).await?;
    let mut output =
        node.with_node(|node| node.subscribe::<StreamingString>("/cortex/output", QosProfile::default())).await??;
    until_heard(&client, &go_on, &mut output).await?;
    let mut times = Vec::new();
    for _ in 0..ANSWERS {
        let sent = client.send("good morning", "").await?;
        let words = next(&mut output).await?;
        let heard = Instant::now();
        ensure!(words.stream == FIRST && !words.done, "other words came first: {words:?}");
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner).take().context("no question was asked")?;
        times.push(heard.duration_since(asked));
        go_on.notify_one();
        let result = sent.result().await?;
        ensure!(result.output.contains(REST), "the mission failed: {}", result.output);
        while !next(&mut output).await?.done {}
    }
    table.add_times("from the first words of a model to `~/output`", "at most 20 ms", &times);
    drop(client);
    tokio::task::spawn_blocking(move || {
        node.shut_down();
        graph.shut_down();
    })
    .await?;
    test_robot.end("cortex");
    test_robot.end("sim");
    Ok(())
}

/// What is published before both sides have found each other is lost.
async fn until_heard(
    client: &TaskClient,
    go_on: &Notify,
    output: &mut (impl Stream<Item = StreamingString> + Unpin),
) -> anyhow::Result<()> {
    let patience = Instant::now() + PATIENCE;
    loop {
        ensure!(Instant::now() < patience, "nothing is heard on ~/output");
        go_on.notify_one();
        let sent = client.send("good morning", "").await?;
        sent.result().await?;
        while let Ok(words) = tokio::time::timeout(Duration::from_secs(1), next(output)).await {
            if words?.done {
                return Ok(());
            }
        }
    }
}

async fn next(output: &mut (impl Stream<Item = StreamingString> + Unpin)) -> anyhow::Result<StreamingString> {
    tokio::time::timeout(PATIENCE, output.next()).await?.context("the subscription has ended")
}
