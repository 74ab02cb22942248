//! The reaper of a Cortex's processes, as a command that only Cortex itself uses.

use anyhow::Context as _;
use cortex_process::{RunTag, reaper};

/// Ends what the process of that mark has left running when it is gone.
pub fn guard(mark: &str) -> anyhow::Result<()> {
    let mark = RunTag::read(mark).with_context(|| format!("'{mark}' is no mark of a process"))?;
    for command in reaper::run(mark) {
        eprintln!("cortex: it is gone, and this was ended: {command}");
    }
    Ok(())
}
