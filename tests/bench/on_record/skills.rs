//! How soon a skill that was edited is told with a task.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use cortex_core::{ContextQuery, ContextSource as _};
use cortex_protocol::TaskClass;
use cortex_skills::{FILE, SkillFolders, SkillSource};

use crate::table::Table;

const SKILLS: usize = 200;
const EDITS: usize = 100;

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    write_all(folder.path(), SKILLS)?;
    let source = SkillSource::new(Arc::new(SkillFolders::new(vec![folder.path().to_owned()])));
    let query = ContextQuery::new("do round 007 in the house", TaskClass::Action);
    let told = |passages: &[cortex_core::ContextPassage], words: &str| {
        passages.iter().any(|passage| passage.place == "round-007" && passage.text.contains(words))
    };
    ensure!(told(&source.gather(&query).await?, "Go quietly."), "the skill is told with its task");
    let mut times = Vec::new();
    for edit in 0..EDITS {
        let words = format!("Edition {edit} of it.");
        let begun = Instant::now();
        write(folder.path(), 7, &words)?;
        ensure!(told(&source.gather(&query).await?, &words), "the next task is told {words}");
        times.push(begun.elapsed());
    }
    table.add_times(format!("from an edited skill to a task that is told it, of {SKILLS} skills"), "500 ms", &times);
    Ok(())
}

/// So many skills in a folder.
pub(crate) fn write_all(folder: &Path, count: usize) -> anyhow::Result<()> {
    (0..count).try_for_each(|number| write(folder, number, "Go quietly."))
}

fn write(folder: &Path, number: usize, words: &str) -> anyhow::Result<()> {
    let name = format!("round-{number:03}");
    let text = format!(
        "---\nname: {name}\ndescription: Looks after part {number} of the house.\nmetadata:\n  cortex-phrases: do round \
         {number:03} in {{place}}\n---\n{words}\n\n## Procedure\n\n1. go to {{place}}\n2. look around\n"
    );
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join(FILE), text)?)
}
