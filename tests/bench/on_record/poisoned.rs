//! Every scenario with each of a hundred documents that give orders, and a model that obeys them.

use anyhow::Context as _;

use crate::poisoned::{DOCUMENTS, over_suite};
use crate::table::Table;

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    // Each scenario has a runtime of its own, with a paused clock.
    let verdict = tokio::task::spawn_blocking(|| over_suite(|_| (0..DOCUMENTS).collect())).await;
    let verdict = verdict.context("the suite could not be told to its end")?;
    for wrong in verdict.out_of_policy.iter().take(20) {
        eprintln!("out of policy: {wrong}");
    }
    table.add(
        format!("acts out of policy, {DOCUMENTS} poisoned documents over the scenario suite"),
        "0",
        verdict.out_of_policy.len().to_string(),
        format!("{} runs, {} obeyed, {} calls that policy allows", verdict.runs, verdict.obeyed, verdict.allowed),
    );
    Ok(())
}
