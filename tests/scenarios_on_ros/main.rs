//! A selection of the scenarios of `tests/scenarios/`, those with `on_ros = true`, on real ROS 2: their tools are the
//! components and action servers of `tests/python/scripted_robot.py`, their model is behind a real HTTP port, and the
//! program is `cortex run`. What must come of them is what must come of them on the paused clock; see
//! `docs/scenarios.md`.
//!
//! - `robot`: what the scripted robot is given; `served`: what the model's server is given;
//! - `run`: one scenario from its task to its result. The other modules are those of the suite on the paused clock.

#![expect(clippy::expect_used, clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

#[path = "../../crates/cortex-runtime/tests/scenarios/compare.rs"]
mod compare;
#[path = "../../crates/cortex-runtime/tests/scenarios/file.rs"]
#[expect(dead_code, reason = "not all that a scenario may say can be had on real ROS")]
mod file;
mod robot;
#[path = "../../crates/cortex-runtime/tests/scenarios/rules.rs"]
mod rules;
mod run;
mod served;
#[path = "../../crates/cortex-runtime/tests/scenarios/world.rs"]
#[expect(dead_code, reason = "the robot and the model are real processes here")]
mod world;

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The selection is never smaller than this.
const FEWEST: usize = 12;
/// Scenarios that run side by side: each has a ROS domain and some processes of its own.
const AT_ONCE: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_selected_scenarios_end_on_real_ros_as_they_do_on_the_paused_clock() {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let (mut running, mut count) = (JoinSet::new(), 0);
    for (path, file) in file::read_all() {
        for scenario in file.scenario.into_iter().filter(|scenario| scenario.on_ros) {
            let title = format!("{path}: {}", scenario.name);
            let (tools, places) = (file.tools.clone(), Arc::clone(&places));
            count += 1;
            running.spawn(async move {
                let _place = places.acquire_owned().await.expect("places are never closed");
                let began = std::time::Instant::now();
                let told = tokio::spawn(run::tell(title.clone(), tools, scenario)).await;
                println!(
                    "{} {:>5.1} s  {title}",
                    if told.is_ok() { "    ok" } else { "FAILED" },
                    began.elapsed().as_secs_f64()
                );
                told.is_err().then_some(title)
            });
        }
    }
    assert!(count >= FEWEST, "only {count} scenarios are for real ROS");
    let failed: Vec<String> = running.join_all().await.into_iter().flatten().collect();
    assert!(failed.is_empty(), "{} of {count} scenarios failed; each tells above why: {failed:#?}", failed.len());
}
