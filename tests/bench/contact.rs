//! First contact: how soon the components of a robot are known that was there first, how soon a new client is answered,
//! and how long a look at a running robot takes.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_ros::ComponentState;
use cortex_stories::{PATIENCE, Process, Robot, TestRobot};

use crate::table::Table;

/// Starts of Cortex beside the same components.
const STARTS: usize = 5;
/// Clients, each a process of its own.
const CLIENTS: usize = 20;
/// Runs of each command.
const RUNS: usize = 3;
/// Settings of Fast DDS as a node has them that knows nothing of Cortex: it announces itself every 3 s.
const PLAIN: (&str, &str) = ("<leaseAnnouncement><nanosec>500000000</nanosec>", "<leaseAnnouncement><sec>3</sec>");

/// Starts so many components as others would, in one process.
pub(crate) async fn start_components(test_robot: &mut TestRobot, count: usize) {
    let profile = include_str!("../../config/fastdds_loopback.xml").replace(PLAIN.0, PLAIN.1);
    let profile = test_robot.file("plain.xml", &profile);
    test_robot.set_environment(vec![("FASTRTPS_DEFAULT_PROFILES_FILE", profile)]);
    test_robot.start("echo", "cortex-misbehave", &["echo", "--count", &count.to_string(), "--prefix", "c"]).await;
    test_robot.set_environment(Vec::new());
}

/// Waits until Cortex has told the tools of all components.
pub(crate) async fn wait_for_all(cortex: &mut Process, count: usize) {
    let components = format!("({count} component");
    let is_complete = |line: &String| {
        let tools = line.strip_prefix("tools: ")?.split_once(' ')?.0.parse::<usize>().ok()?;
        (line.contains(&components) && tools > count).then_some(())
    };
    cortex.wait_for("all tools", |lines| lines.iter().find_map(is_complete)).await;
}

/// From the moment at which Cortex joins the graph until all components that were there before have said what they can do.
pub(crate) async fn known(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    for (count, wanted) in [(1, "0.3 s at most"), (10, "0.3 s at most"), (50, "0.5 s at most"), (200, "1.5 s at most")]
    {
        start_components(test_robot, count).await;
        let mut times = Vec::new();
        for start in 0..STARTS {
            let begun = Instant::now();
            let robot = Robot::join(&format!("_bench_known_{start}"))?;
            let mut directory = robot.discovery.directory();
            let all = directory.wait_for(|directory| {
                directory.components().filter(|(_, component)| component.state == ComponentState::Ready).count()
                    == count
            });
            tokio::time::timeout(PATIENCE, all).await.context("some components never become known")??;
            times.push(begun.elapsed());
            robot.leave().await?;
        }
        table.add_times(format!("until all of {count} components are known that were there first"), wanted, &times);
        test_robot.end("echo");
    }
    Ok(())
}

/// What a client of ROS that has just started waits for its first task, which needs nothing done.
pub(crate) async fn first_answer(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    start_components(test_robot, 1).await;
    let mut cortex = test_robot.spawn("cortex", &["run", "--model", "reflex"]);
    wait_for_all(&mut cortex, 1).await;
    let (mut servers, mut answers) = (Vec::new(), Vec::new());
    // The first one waits until the picture of the robot is complete, and is not counted.
    for client in 0..=CLIENTS {
        let mut process = test_robot.spawn_python("first_answer.py", &["hello"]);
        let line = process.wait_for_line("milliseconds ").await;
        process.wait_at_most(PATIENCE).await;
        let mut numbers = line.split_whitespace().skip(1).map(|number| number.parse().map(Duration::from_millis));
        let mut next = || numbers.next().context("too few numbers")?.context("no number");
        if client > 0 {
            servers.push(next()?);
            answers.push(next()?);
        }
    }
    table.add_times("a new client of ROS, until it sees the server", "", &servers);
    table.add_times("a new client's first answer, from its goal to its result", "p99 at most 100 ms", &answers);
    cortex.signal("TERM");
    cortex.wait_at_most(PATIENCE).await;
    test_robot.end("echo");
    Ok(())
}

/// Commands that look at a robot that is up.
pub(crate) async fn commands(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    start_components(test_robot, 10).await;
    let mut cortex = test_robot.spawn("cortex", &["run", "--model", "reflex"]);
    wait_for_all(&mut cortex, 10).await;
    for arguments in [&["tools"][..], &["plan", "hello", "--model", "reflex"], &["doctor"], &["status"]] {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let begun = Instant::now();
            let (status, _, problems) = test_robot.run("cortex", arguments).await;
            // What `doctor` finds, such as a folder of this machine, is not what is measured.
            ensure!(status.is_some_and(|status| status <= 1), "{arguments:?}: {problems}");
            times.push(begun.elapsed());
        }
        table.add_times(format!("`cortex {}` on a robot that is up", arguments.join(" ")), "at most 0.5 s", &times);
    }
    cortex.signal("TERM");
    cortex.wait_at_most(PATIENCE).await;
    test_robot.end("echo");
    Ok(())
}
