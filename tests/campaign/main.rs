//! `cargo xtask campaign`: a robot of a full recipe, tasks without end, and faults of all kinds at random moments.
//! No task may be lost, none may be called done that was not, and no component may be left down.
//!
//! `--faults N` says how many (500), `--seed N` makes the same ones again, `--recipe NAME` says which robot: `agent` or
//! `navigation`.

mod endpoint;
mod faults;
mod missions;
mod overview;
mod recipe;
mod report;
mod robot;
mod shared_memory;
mod truth;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_ros::TaskClient;
use cortex_ros_client::{GraphWatch, RosNode};
use cortex_stories::{Held, PATIENCE, TestRobot, argument, in_own_domain};
use tokio::task::JoinSet;

use missions::{Probes, Tasks};

use robot::Robot;
use truth::Truth;

/// Faults when nothing else is said.
const FAULTS: usize = 500;
/// The robot when nothing else is said.
const RECIPE: &str = "agent";
/// The part of the faults after which everything has been used: what is held from then on must not grow.
const WARM_UP: f64 = 0.4;
/// How many tasks may wait: more than ever do.
const QUEUE: usize = 50;
/// How long it may take, once every component works, until tasks are taken without limits.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// How long a killed peer is remembered by the middleware, with a margin: so long after the last fault is looked at what
/// is held.
const SETTLING: Duration = Duration::from_secs(25);

fn main() -> ExitCode {
    in_own_domain(async || {
        let count = argument("faults").unwrap_or(FAULTS);
        let seed: u64 = argument("seed").unwrap_or_else(|| u64::from(std::process::id()));
        let name = argument::<String>("recipe").unwrap_or_else(|| RECIPE.to_owned());
        let components = recipe::components(&name)?;
        println!("{count} faults of {name}, seed {seed}");
        let mut test_robot = TestRobot::shared();
        let notes = test_robot.file("notes", "");
        let recipe = test_robot.file("campaign.toml", &recipe::text(&name, &notes)?);
        test_robot.find_programs();
        // A queue that is full is a reason of its own to refuse a task.
        test_robot.add_environment("CORTEX_QUEUE__LENGTH", QUEUE.to_string());
        let node = RosNode::start("_campaign", "")?;
        let graph = GraphWatch::start(node.fully_qualified_name())?;
        let truth = Arc::new(Truth::watch(&node, notes.as_ref()).await?);
        let mut robot = Robot::start(&test_robot, &node, &recipe, components, &notes).await?;
        let client = TaskClient::connect(&node, &graph, "/cortex", PATIENCE).await?;
        let ran = campaign(&test_robot, &mut robot, client, &truth, count, seed).await;
        if ran.is_err() {
            robot.show();
        }
        drop(robot);
        tokio::task::spawn_blocking(move || {
            graph.shut_down();
            node.shut_down();
        })
        .await?;
        ran
    })
}

async fn campaign(
    test_robot: &TestRobot,
    robot: &mut Robot,
    client: TaskClient,
    truth: &Arc<Truth>,
    count: usize,
    seed: u64,
) -> anyhow::Result<()> {
    let begun = Instant::now();
    let end = Arc::new(AtomicBool::new(false));
    let client = Arc::new(client);
    let probes: Arc<Mutex<Probes>> = Arc::default();
    let mut probing = JoinSet::new();
    let tasks = tokio::spawn(missions::keep_going(
        Arc::clone(&client),
        Arc::clone(truth),
        !seed,
        robot.wanted(),
        Arc::clone(&end),
    ));
    let mut warm = robot.held()?;
    for (number, fault) in faults::draw(seed, count, robot.components()).into_iter().enumerate() {
        if number * 10 == count * 4 {
            warm = robot.held()?;
        }
        robot.inflict(test_robot, number, &fault).await?;
        let after = format!("{:?} of {}", fault.kind, fault.targets.join(", "));
        let tray = robot.another_tray(&fault);
        probing.spawn(missions::probe(Arc::clone(&client), tray, after, Arc::clone(&probes)));
    }
    robot.settle().await;
    let took = begun.elapsed();
    end.store(true, Ordering::Relaxed);
    let Tasks { ended, problems: of_tasks, reasons } = tasks.await?;
    while let Some(probed) = probing.join_next().await {
        probed?;
    }
    let ready = robot.heard().is_ready(READY_LIMIT).await;
    // A short campaign is over before anything could pile up.
    let held = if count >= FAULTS { settled(robot).await? } else { robot.held()? };

    let (table, mut problems) = robot.table();
    problems.extend(of_tasks);
    let probes = std::mem::take(&mut *probes.lock().unwrap_or_else(PoisonError::into_inner));
    problems.extend(probes.problems);
    problems.extend(ready.err().map(|told| format!("NOT READY: all works again, and it says: {told}")));
    problems.extend(robot.wrong_calls().into_iter().map(|line| format!("OLD SCHEMA: {line}")));
    let growth = if count >= FAULTS { held.growth_since(&warm) } else { None };
    problems.extend(growth.map(|growth| format!("GREW: {growth}")));
    let code = robot.stop().await;
    if code != Some(0) {
        problems.push(format!("Cortex ended with {code:?}"));
    }
    let left = test_robot.left_behind().await.into_iter().chain(robot.shared_memory_left());
    problems.extend(left.map(|left| format!("LEFT BEHIND: {left}")));

    let ended: Vec<String> = ended.iter().map(|(word, times)| format!("{times} {word}")).collect();
    println!("{table}\nerrands: {}; in {} s", ended.join(", "), took.as_secs());
    for (reason, times) in reasons {
        println!("{times:6} {}", reason.replace('\n', " "));
    }
    println!("harmless tasks 5 s after a fault: {} of {count} taken, {} looked", probes.taken, probes.looked);
    let longest = robot.heard().longest_unsettled();
    let longest = longest.map(|(time, what)| format!("{:.1} s ({what})", time.as_secs_f64()));
    println!("longest that something was not known to be at rest: {}", longest.unwrap_or_else(|| "never".to_owned()));
    println!("held by Cortex: at {:.0} % {warm}; at the end {held}", WARM_UP * 100.0);
    for problem in &problems {
        println!("{problem}");
    }
    ensure!(problems.is_empty(), "{} problems", problems.len());
    println!("ok");
    Ok(())
}

async fn settled(robot: &mut Robot) -> anyhow::Result<Held> {
    // The middleware tells nobody when it has forgotten the last peer.
    tokio::time::sleep(SETTLING).await;
    robot.held()
}
