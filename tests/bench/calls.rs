//! A service call with types loaded at run time, against r2r's client with compiled types and rclpy's client, all to the
//! same rclpy server and turn by turn, so that whatever slows the machine slows all three.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::std_srvs::srv::SetBool;
use cortex_ros_client::{GraphWatch, RosNode};
use cortex_stories::{PATIENCE, TestRobot};
use serde_json::{Value, json};

use crate::table::{Table, median};

/// The service of `bad_services.py` that just works.
const SERVICE: &str = "/works";
/// Turns, each with some calls of every client.
const TURNS: usize = 40;
/// Calls of one client in one turn.
const CALLS: usize = 25;
/// Calls before those that are measured.
const WARM_UP: usize = 20;

/// The times of one client's calls.
#[derive(Default)]
struct Times {
    dynamic: Vec<Duration>,
    r2r: Vec<Duration>,
    /// As the documentation of ROS 2 teaches to call.
    rclpy: Vec<Duration>,
    /// The fastest that rclpy has.
    rclpy_at_best: Vec<Duration>,
}

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    test_robot.start_python("server", "bad_services.py", &["works", "--single-threaded"]).await;
    let node = RosNode::start("_bench_calls", "")?;
    let graph = GraphWatch::start(node.fully_qualified_name())?;
    let endpoints = Endpoints::start(&graph)?;
    let times = compare(test_robot, &node, &endpoints).await;
    tokio::task::spawn_blocking(move || {
        endpoints.shut_down();
        graph.shut_down();
        node.shut_down();
    })
    .await?;
    test_robot.end("server");
    let times = times?;
    table.add_times("a service call, types loaded at run time, JSON to JSON", "", &times.dynamic);
    table.add_times("the same by r2r's typed client", "", &times.r2r);
    table.add_times("the same by rclpy's client, as its documentation teaches", "", &times.rclpy);
    table.add_times("the same by rclpy's client, with an executor that is kept", "", &times.rclpy_at_best);
    let (dynamic, r2r, rclpy) = (median(&times.dynamic), median(&times.r2r), median(&times.rclpy));
    let ratio = |slow: Duration, fast: Duration| format!("{:.2}", slow.as_secs_f64() / fast.as_secs_f64());
    table.add("a dynamic call takes, in calls of r2r", "at most 1.15", ratio(dynamic, r2r), "medians of one run");
    table.add("a call of rclpy takes, in dynamic calls", "at least 10", ratio(rclpy, dynamic), "medians of one run");
    Ok(())
}

async fn compare(test_robot: &TestRobot, node: &RosNode, endpoints: &Endpoints) -> anyhow::Result<Times> {
    let interface = Interfaces::from_environment().service("std_srvs/srv/SetBool")?;
    let dynamic = endpoints.service_client(SERVICE, &interface).await?;
    dynamic.wait_for_server(PATIENCE).await?;
    let r2r = node
        .with_node(|node| node.create_client::<SetBool::Service>(SERVICE, QosProfile::services_default()))
        .await??;
    let mut rclpy = test_robot.spawn_python("call_client.py", &[SERVICE, &CALLS.to_string()]);
    rclpy.wait_for_line("ready").await;

    let (exact_in, exact_out) = (ReadOptions::exact(), WriteOptions::exact());
    let call_dynamic = async || {
        let begun = Instant::now();
        let request = Message::from_json(&interface.request, &json!({"data": true}), &exact_in)?;
        let answer = dynamic.call(&request, PATIENCE).await?.view().to_json(&exact_out).value;
        ensure!(answer.get("success") == Some(&Value::Bool(true)), "refused: {answer}");
        anyhow::Ok(begun.elapsed())
    };
    let call_r2r = async || {
        let begun = Instant::now();
        let answer = tokio::time::timeout(PATIENCE, r2r.request(&SetBool::Request { data: true })?).await??;
        ensure!(answer.success, "refused: {}", answer.message);
        anyhow::Ok(begun.elapsed())
    };
    let deadline = Instant::now() + PATIENCE;
    // r2r's client has no way to wait for the server to be matched.
    while tokio::time::timeout(Duration::from_secs(1), r2r.request(&SetBool::Request { data: true })?).await.is_err() {
        ensure!(Instant::now() < deadline, "r2r's client gets no answer");
    }
    for _ in 0..WARM_UP {
        call_dynamic().await?;
        call_r2r().await?;
    }
    let mut times = Times::default();
    for turn in 0..TURNS {
        for call in 0..CALLS {
            // Who comes second may find the server awake: each does every other time.
            if call % 2 == 0 {
                times.dynamic.push(call_dynamic().await?);
                times.r2r.push(call_r2r().await?);
            } else {
                times.r2r.push(call_r2r().await?);
                times.dynamic.push(call_dynamic().await?);
            }
        }
        rclpy.write_line("go").await;
        let told = rclpy.wait_for_json("its calls", |line| line["turn"] == turn).await;
        for (name, times) in [("taught", &mut times.rclpy), ("fast", &mut times.rclpy_at_best)] {
            let told = told.get(name).and_then(Value::as_array).context("no times")?;
            times.extend(told.iter().filter_map(|time| Some(Duration::from_secs_f64(time.as_f64()?))));
        }
    }
    Ok(times)
}
