//! What a Cortex costs that has nothing to do: memory, processor time, and what wakes up.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cortex_stories::{PATIENCE, TestRobot};

use crate::contact::{start_components, wait_for_all};
use crate::monitor::processor_seconds;
use crate::table::Table;

/// For how long it is watched, and how long it gets to come to rest before.
const WINDOW: Duration = Duration::from_secs(20);
const REST: Duration = Duration::from_secs(5);
/// Threads that are named: those that wake up most often.
const NAMED: usize = 6;

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    for (count, memory, load) in [(1, "30 MB", "0.5 %"), (10, "33 MB", "0.6 %"), (50, "45 MB", "0.8 %")] {
        start_components(test_robot, count).await;
        let mut cortex = test_robot.spawn("cortex", &["run", "--model", "reflex"]);
        wait_for_all(&mut cortex, count).await;
        tokio::time::sleep(REST).await;
        let id = cortex.id();
        let (begun, used, woken) = (Instant::now(), processor_seconds(id)?, wakeups(id)?);
        tokio::time::sleep(WINDOW).await;
        let seconds = begun.elapsed().as_secs_f64();
        let load_now = 100.0 * (processor_seconds(id)? - used) / seconds;
        let mut rates: Vec<(f64, String)> = wakeups(id)?
            .into_iter()
            .map(|(thread, (name, now))| {
                (per_second(now, woken.get(&thread).map_or(0, |(_, then)| *then), seconds), name)
            })
            .collect();
        rates.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut most = String::new();
        for (rate, name) in rates.iter().take(NAMED) {
            let _ = write!(most, "{}{name} {rate:.0}", if most.is_empty() { "" } else { ", " });
        }
        let all: f64 = rates.iter().map(|(rate, _)| rate).sum();
        table.add(
            format!("memory of an idle Cortex, {count} components (PSS)"),
            memory,
            format!("{:.1} MB", pss_megabytes(id)?),
            "",
        );
        table.add(
            format!("load of an idle Cortex, {count} components, of one core"),
            load,
            format!("{load_now:.2} %"),
            format!("{all:.0} wake-ups a second: {most}"),
        );
        cortex.signal("TERM");
        cortex.wait_at_most(PATIENCE).await;
        test_robot.end("echo");
    }
    Ok(())
}

/// How often each thread of a process has woken up, with its name, by its id.
fn wakeups(process: u32) -> anyhow::Result<BTreeMap<String, (String, u64)>> {
    let mut found = BTreeMap::new();
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let thread = thread?;
        // One that has ended meanwhile does not count.
        let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else { continue };
        let value =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned());
        let count = value("voluntary_ctxt_switches:").context("no count")?.parse()?;
        found.insert(thread.file_name().to_string_lossy().into_owned(), (value("Name:").context("no name")?, count));
    }
    Ok(found)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52 in the life of a thread")]
fn per_second(now: u64, then: u64, seconds: f64) -> f64 {
    now.saturating_sub(then) as f64 / seconds
}

/// The memory of a process, with its share of what it shares with others.
fn pss_megabytes(process: u32) -> anyhow::Result<f64> {
    let rollup = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).context("no PSS")?;
    let kilobytes: f64 = line.split_whitespace().next().context("no value")?.parse()?;
    Ok(kilobytes / 1024.0)
}
