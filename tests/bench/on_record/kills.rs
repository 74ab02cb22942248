//! Writers of documents and of the memory that are killed while they write: what they acknowledged must be there.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::Context as _;
use cortex_knowledge::{Document, DocumentStore as _, SqliteStore};
use cortex_memory::{Memory, MemoryRules, Now, Observation, Source, SourceKind};

use super::alone::{file, first, part};
use crate::table::Table;

pub(crate) const WRITES_DOCUMENTS: &str = "documents-write";
pub(crate) const WRITES_MEMORY: &str = "memory-write";

const KILLS: u64 = 50;
/// Each writer numbers what it writes from another thousand.
const STEP: u64 = 1_000_000;

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("knowledge.sqlite");
    let acknowledged = killed(WRITES_DOCUMENTS, &file)?;
    let kept: BTreeSet<String> = SqliteStore::at(&file).list().await?.into_iter().map(|entry| entry.id).collect();
    let lost = acknowledged.iter().filter(|number| !kept.contains(&name(**number))).count();
    add(table, "documents", lost, acknowledged.len());

    let file = folder.path().join("memory.sqlite");
    let acknowledged = killed(WRITES_MEMORY, &file)?;
    let memory = Memory::open(&file, MemoryRules::default()).await?;
    let mut lost = 0;
    for number in &acknowledged {
        lost += usize::from(memory.locate(&name(*number), &Now::default()).await?.is_none());
    }
    add(table, "observations", lost, acknowledged.len());
    Ok(())
}

fn add(table: &mut Table, what: &str, lost: usize, acknowledged: usize) {
    table.add(
        format!("{KILLS} kills (SIGKILL) while {what} are written: acknowledged and lost"),
        "0",
        lost.to_string(),
        format!("of {acknowledged} acknowledged"),
    );
}

/// What the writers acknowledged before they were killed, each at another place of its work.
fn killed(writer: &str, file: &Path) -> anyhow::Result<Vec<u64>> {
    let mut acknowledged = Vec::new();
    for kill in 0..KILLS {
        let mut writer = part(writer, file, kill * STEP)?.stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(writer.stdout.take().context("no output")?).lines();
        let enough = 1 + kill % 7;
        let mut of_this = 0;
        for line in lines {
            // The last one may be cut.
            let Some(number) =
                line?.strip_prefix("acknowledged ").and_then(|rest| rest.strip_suffix('.')?.parse().ok())
            else {
                continue;
            };
            acknowledged.push(number);
            of_this += 1;
            if of_this == enough {
                writer.kill()?;
            }
        }
        writer.wait()?;
    }
    Ok(acknowledged)
}

fn name(number: u64) -> String {
    format!("thing {number}")
}

/// The process that adds documents until it is killed.
pub(crate) async fn write_documents() -> anyhow::Result<()> {
    let store = SqliteStore::at(&file()?);
    for number in first()?.. {
        store.add(vec![Document::of_text(name(number), "The cup is red.")]).await?;
        println!("acknowledged {number}.");
    }
    Ok(())
}

/// The process that adds observations until it is killed.
pub(crate) async fn write_memory() -> anyhow::Result<()> {
    let memory = Memory::open(file()?, MemoryRules::default()).await?;
    for number in first()?.. {
        let source = Source { kind: SourceKind::Person, name: "anna".to_owned() };
        memory.add(vec![Observation::note(name(number), None, "kitchen".to_owned(), source, number)]).await?;
        println!("acknowledged {number}.");
    }
    Ok(())
}
