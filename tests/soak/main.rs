//! `cargo xtask soak`: twenty goals at a time on action servers that reject, abort, ignore cancels, flood, and are killed
//! and started again; cancelled at random. Each must end in exactly one way, the servers must agree with what Cortex
//! believes, and nothing may pile up.
//!
//! `--seconds N` says for how long (120), `--seed N` makes the same choices again.

mod goals;
mod record;
mod servers;
mod vitals;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_stories::{Dice, Robot, TestRobot, argument, in_own_domain};

use goals::Soak;
use servers::Servers;
use vitals::Vitals;

/// Goals at a time.
const GOALS: u64 = 20;
/// The part of the time after which everything has been used once: what is held from then on must not grow.
const WARM_UP: f64 = 0.3;

fn main() -> ExitCode {
    in_own_domain(async || {
        let length = Duration::from_secs(argument("seconds").unwrap_or(120));
        let seed: u64 = argument("seed").unwrap_or_else(|| u64::from(std::process::id()));
        println!("{GOALS} goals at a time for {} s, seed {seed}", length.as_secs());
        let test_robot = TestRobot::shared();
        let robot = Robot::join("_soak")?;
        let soaked = soak(&test_robot, &robot, length, seed).await;
        robot.leave().await?;
        soaked
    })
}

async fn soak(test_robot: &TestRobot, robot: &Robot, length: Duration, seed: u64) -> anyhow::Result<()> {
    let begun = Instant::now();
    let mut servers = Servers::start(test_robot).await;
    let soak = Arc::new(Soak::new(robot, begun + length));
    soak.wait_for_tools().await?;
    let before = Vitals::now()?;
    let workers: Vec<_> = (0..GOALS)
        .map(|worker| tokio::spawn(Arc::clone(&soak).keep_calling(Dice::new(seed.wrapping_add(worker)))))
        .collect();
    let mut dice = Dice::new(!seed);
    let mut warm = None;
    while begun.elapsed() < length {
        tokio::time::sleep(Duration::from_millis(dice.between(2_000, 6_000))).await;
        servers.kill_and_restart(test_robot, &mut dice).await;
        if warm.is_none() && begun.elapsed() > length.mul_f64(WARM_UP) {
            warm = Some(Vitals::now()?);
        }
    }
    for worker in workers {
        worker.await??;
    }
    let after = Vitals::settled(before.tasks).await?;
    let summary = soak.record().judged(&servers.told())?;
    println!(
        "{summary}\nservers killed: {}\nbefore {before}\nwarm   {}\nafter  {after}",
        servers.killed(),
        warm.as_ref().unwrap_or(&before)
    );
    ensure!(after.tasks <= before.tasks, "{} tasks are left over", after.tasks - before.tasks);
    let growth = after.growth_since(warm.as_ref().unwrap_or(&before));
    ensure!(growth.is_none(), "{} grew", growth.unwrap_or_default());
    println!("ok");
    Ok(())
}
