//! `cargo xtask bench`: what Cortex adds on top of the model and the middleware. Real processes, real ROS 2, a model
//! that answers at once. Prints one table; judges nothing.
//!
//! `--only WORD` measures what has the word in its name: `loop`, `bytes`, `missions`, `known`, `first-answer`, `commands`,
//! `idle`, `size`, `models`, `streaming`, `evaluation`, `cancel`, `stop`, `calls`, `conversion`, `crowd`,
//! `monitor-recovery`, `monitor-crowd`, `page-load`, `page-memory`, and `record` or one row of it: `record-documents`,
//! `record-kills`, `record-poisoned`, `record-observations`, `record-memory`, `record-facts`, `record-idle-day`,
//! `record-context`, `record-skills`.

mod calls;
mod cancel;
mod contact;
mod conversion;
mod crowd;
mod idle;
mod mission_loop;
mod missions;
mod models;
mod monitor;
mod on_record;
mod page;
mod stop;
mod streaming;
mod table;

// The scenario suite on the paused clock.
#[path = "../../crates/cortex-runtime/tests/scenarios/compare.rs"]
#[expect(dead_code, clippy::panic, reason = "only what holds in every scenario is judged here")]
mod compare;
#[path = "../../crates/cortex-runtime/tests/scenarios/file.rs"]
#[expect(dead_code, clippy::expect_used, clippy::panic, reason = "what a scenario expects is not compared here")]
mod file;
#[path = "../../crates/cortex-runtime/tests/scenarios/poisoned.rs"]
#[expect(clippy::expect_used, clippy::panic, reason = "a suite that can't be told ends here, and says why")]
mod poisoned;
#[path = "../../crates/cortex-runtime/tests/scenarios/rules.rs"]
mod rules;
#[path = "../../crates/cortex-runtime/tests/scenarios/run.rs"]
#[expect(clippy::expect_used, clippy::panic, reason = "a suite that can't be told ends here, and says why")]
mod run;
#[path = "../../crates/cortex-runtime/tests/scenarios/world.rs"]
#[expect(dead_code, reason = "nothing is recorded here")]
mod world;

use std::process::ExitCode;

use cortex_stories::{TestRobot, argument, binary, in_own_domain};
use table::Table;

fn main() -> ExitCode {
    if let Some(part) = argument::<String>("part-alone") {
        return on_record::part_alone(&part);
    }
    in_own_domain(async || {
        let only: Option<String> = argument("only");
        let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
        let mut table = Table::default();
        if wanted("conversion") {
            conversion::measure(&mut table)?;
        }
        if wanted("calls") {
            calls::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("loop") {
            mission_loop::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("bytes") {
            mission_loop::bytes(&mut table).await?;
        }
        if wanted("size") {
            for (name, wanted) in [("cortex", ""), ("cortex-on-ros", "at most 30 MB")] {
                let bytes = std::fs::metadata(binary(name))?.len();
                table.add(
                    format!("the program {name}"),
                    wanted,
                    format!("{} MB", bytes / 1_000_000),
                    "as it was built",
                );
            }
        }
        if wanted("models") {
            models::measure(&mut table).await?;
        }
        if wanted("streaming") {
            streaming::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("evaluation") {
            models::evaluation(&mut table).await?;
        }
        if wanted("known") {
            contact::known(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("first-answer") {
            contact::first_answer(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("commands") {
            contact::commands(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("idle") {
            idle::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("missions") {
            for components in [1, 10, 50, 200] {
                missions::measure(&mut TestRobot::shared(), components, &mut table).await?;
            }
        }
        if wanted("cancel") {
            cancel::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("stop") {
            stop::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("crowd") {
            crowd::measure(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("monitor-recovery") {
            monitor::recovery(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("monitor-crowd") {
            monitor::crowd(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("page-load") {
            page::under_load(&mut TestRobot::shared(), &mut table).await?;
        }
        if wanted("page-memory") {
            page::memory(&mut TestRobot::shared(), &mut table).await?;
        }
        on_record::measure(wanted, &mut table).await?;
        println!("{table}");
        Ok(())
    })
}
