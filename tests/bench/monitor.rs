//! The monitor: how soon it notices, how soon a component serves again, and what it costs to watch a hundred of them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_stories::{Event, Held, Monitored, PATIENCE, Process, TestRobot};

use crate::table::{Table, median};

/// Components that are killed, each so often.
const KILLED: [&str; 4] = ["a", "b", "c", "d"];
const KILLS: usize = 6;
/// Hangs that are measured.
const HANGS: usize = 8;
/// What `cortex-component` publishes.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Starts by which a component's own start time is measured.
const STARTS: usize = 5;
/// The crowd that is watched: processes, and components in each.
const PROCESSES: usize = 4;
const EACH: usize = 25;
/// For how long the cost of watching is measured.
const WINDOW: Duration = Duration::from_secs(20);
/// How long a Cortex that has just seen all gets to come to rest.
const REST: Duration = Duration::from_secs(5);
/// Ticks of the clock that `/proc` counts by, in a second.
const TICKS: f64 = 100.0;

/// Kills and hangs.
pub(crate) async fn recovery(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    test_robot.find_programs();
    let mut own = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let mut alone = test_robot.spawn("cortex-misbehave", &["echo", "--name", "alone"]);
        alone.wait_for_line("ready").await;
        own.push(begun.elapsed());
    }
    table.add_times("a component's own start", "", &own);

    let mut recipe = "recipe = 1\n".to_owned();
    for name in KILLED {
        // Trust comes back soon, so that each time is as the first.
        let _ = writeln!(
            recipe,
            "[components.{name}]\nheartbeat_s = 1.0\nfallbacks = {{ failure_decay_s = 0.2, on_component_fail = [{{ do = \"respawn\", retries = 9 }}] }}\n\
             start = {{ program = \"cortex-misbehave\", arguments = [\"echo\", \"--name\", \"{name}\"] }}"
        );
    }
    let recipe = test_robot.file("killed.toml", &recipe);
    let mut robot = Monitored::start(test_robot, &recipe, &["--model", "reflex"]);
    robot.wait_until_all_work(&KILLED).await;
    let (mut noticed, mut again) = (Vec::new(), Vec::new());
    for _ in 0..KILLS {
        for name in KILLED {
            let first = robot.count();
            let killed = Instant::now();
            ensure!(robot.signal(name, "KILL"), "{name} does not run");
            let fails = robot.wait_for(first, name, |event| matches!(event, Event::Fails(_))).await;
            let works = robot.wait_for(first, name, |event| *event == Event::Works).await;
            noticed.push(fails.at.saturating_duration_since(killed));
            again.push(works.at.saturating_duration_since(killed).saturating_sub(median(&own)));
        }
    }
    table.add_times("from the kill of a process to its notice", "under 100 ms", &noticed);
    table.add_times("from the kill to serving again, but for the component's own start", "under 1.5 s", &again);

    let mut hangs = Vec::new();
    for turn in 0..HANGS {
        let name = KILLED.get(turn % KILLED.len()).copied().unwrap_or_default();
        let first = robot.count();
        let stopped = Instant::now();
        ensure!(robot.signal(name, "STOP"), "{name} does not run");
        let suspected = robot.wait_for(first, name, Event::is_bad).await;
        robot.signal(name, "CONT");
        hangs.push(suspected.at.saturating_duration_since(stopped));
        robot.wait_for(first, name, |event| matches!(event, Event::Healthy | Event::Works)).await;
    }
    let worst = hangs.iter().max().copied().unwrap_or_default();
    table.add(
        "a hang is noticed after, in heartbeats",
        "at most 1.5",
        format!("{:.2}", median(&hangs).as_secs_f64() / HEARTBEAT.as_secs_f64()),
        format!("largest {:.2}, n {HANGS}", worst.as_secs_f64() / HEARTBEAT.as_secs_f64()),
    );
    robot.stop().await;
    Ok(())
}

/// A hundred components.
pub(crate) async fn crowd(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    test_robot.find_programs();
    let nobody = cost_of_plain(test_robot, 0).await?;
    let mut processes: Vec<Process> = Vec::new();
    let mut recipe = "recipe = 1\n".to_owned();
    for number in 0..PROCESSES {
        let prefix = format!("crowd{number}_");
        let mut process =
            test_robot.spawn("cortex-misbehave", &["echo", "--count", &EACH.to_string(), "--prefix", &prefix]);
        process.wait_for_line("ready").await;
        processes.push(process);
        for member in 1..=EACH {
            let _ = writeln!(recipe, "[components.{prefix}{member}]\nstart = \"external\"\nheartbeat_s = 1.0");
        }
    }
    let count = PROCESSES * EACH;
    let there = cost_of_plain(test_robot, count).await?;
    let recipe = test_robot.file("crowd.toml", &recipe);
    let mut robot = Monitored::start(test_robot, &recipe, &["--model", "reflex"]);
    let names: Vec<String> =
        (0..PROCESSES).flat_map(|number| (1..=EACH).map(move |member| format!("crowd{number}_{member}"))).collect();
    robot.wait_until_all_work(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let first = robot.count();
    let monitored = Cost::of(robot.process()).await?;
    let complaints = robot.told().iter().skip(first).filter(|told| told.event.is_bad()).count();
    robot.stop().await;
    drop(processes);
    table.add(
        format!("processor time that monitoring {count} components adds, of one core"),
        "under 2 %",
        format!("{:.2} %", monitored.percent - there.percent),
        format!("complaints meanwhile: {complaints}"),
    );
    table.add(
        format!("processor time for {count} monitored components in all, of one core"),
        "",
        format!("{:.2} %", monitored.percent - nobody.percent),
        format!(
            "{:.2} % in all; {:.2} % where they are there and not monitored, {:.2} % where they are not there",
            monitored.percent, there.percent, nobody.percent
        ),
    );
    table.add(
        format!("memory that monitoring {count} components adds"),
        "under 20 MB",
        format!("{:.1} MB", monitored.megabytes - there.megabytes),
        String::new(),
    );
    table.add(
        format!("memory for {count} monitored components in all"),
        "",
        format!("{:.1} MB", monitored.megabytes - nobody.megabytes),
        format!(
            "{:.1} MB in all; {:.1} MB where they are there and not monitored, {:.1} MB where they are not there",
            monitored.megabytes, there.megabytes, nobody.megabytes
        ),
    );
    Ok(())
}

/// What a Cortex without a recipe costs that sees so many components.
async fn cost_of_plain(test_robot: &TestRobot, components: usize) -> anyhow::Result<Cost> {
    let mut cortex = test_robot.spawn("cortex", &["run", "--model", "reflex"]);
    cortex.wait_for_line("ready").await;
    if components > 0 {
        cortex.wait_for_line(&format!("({components} components)")).await;
    }
    let cost = Cost::of(&mut cortex).await?;
    cortex.signal("TERM");
    cortex.wait_at_most(PATIENCE).await;
    Ok(cost)
}

/// What a process costs at rest.
struct Cost {
    percent: f64,
    megabytes: f64,
}

impl Cost {
    async fn of(process: &mut Process) -> anyhow::Result<Self> {
        let id = process.id();
        tokio::time::sleep(REST).await;
        let (begun, before) = (Instant::now(), processor_seconds(id)?);
        tokio::time::sleep(WINDOW).await;
        let used = processor_seconds(id)? - before;
        let held = Held::by(&id.to_string())?;
        Ok(Self { percent: 100.0 * used / begun.elapsed().as_secs_f64(), megabytes: held.kilobytes as f64 / 1024.0 })
    }
}

/// Processor time that a process has used.
pub(crate) fn processor_seconds(process: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // Fields 14 and 15: in user mode and in the kernel.
    let ticks = |index: usize| -> anyhow::Result<f64> { Ok(fields.get(index).context("too few fields")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) / TICKS)
}
