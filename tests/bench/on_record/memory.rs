//! The memory bench (`crates/cortex-memory/examples/memory_bench`): thirty days, and a thousand questions.

use std::path::PathBuf;
use std::sync::Arc;

use cortex_core::Embedder;
use cortex_embedding::LocalEmbedder;

use super::memory_bench::{Figures, Score, run};
use crate::table::Table;

const SEED: u64 = 1;
const OBSERVATIONS: u64 = 200_000;
/// Where the model for texts lies. Without it there is no log of vectors.
const MODEL: &str = "CORTEX_EMBEDDING_MODEL";

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let embedder = match std::env::var_os(MODEL) {
        Some(model) => Some(Arc::new(LocalEmbedder::open(&PathBuf::from(model))?) as Arc<dyn Embedder>),
        None => None,
    };
    let has_vectors = embedder.is_some();
    let figures = run(folder.path(), SEED, OBSERVATIONS, embedder).await;
    let (all, known, unseen) = (figures.total(None), figures.total(Some(false)), figures.total(Some(true)));
    let right = |score: &Score| percent(score.right, score.asked);
    table.add(
        "memory bench, 30 days: right answers, no model",
        "95 %",
        right(&all),
        format!("{} of known wordings, {} of unseen ones, of {}", right(&known), right(&unseen), all.asked),
    );
    table.add("answers of it without \"as of\"", "0", figures.undated.to_string(), "");
    let by_vectors = match has_vectors {
        true => format!("by vectors {}", percent(all.right_by_vectors, all.logs_asked)),
        false => format!("by vectors not asked: {MODEL} names no model"),
    };
    let by_words = percent(all.right_by_words, all.logs_asked);
    table.add("right answers of a flat log, by BM25", "", by_words, format!("{by_vectors}, of {}", all.logs_asked));
    let Figures { queries, adding, observations, size, forgotten, .. } = figures;
    table.add_times("an answer of it", "", &queries);
    let (each_second, megabytes) = (observations as f64 / adding.as_secs_f64(), size.bytes as f64 / 1e6);
    table.add(
        "observations added in it",
        "",
        format!("{each_second:.0} a second"),
        format!("{observations} observations, {megabytes:.0} MB"),
    );
    let (name, rows, took, _) = forgotten;
    table.add_times(format!("one thing of it forgotten ({name}, {rows} rows)"), "", &[took]);
    Ok(())
}

fn percent(right: usize, asked: usize) -> String {
    format!("{:.1} %", 100.0 * right as f64 / asked.max(1) as f64)
}
