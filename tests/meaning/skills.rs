//! Which skills fire for 200 tasks, whose right answers were written by somebody who knew the skills, and not the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use cortex_core::{ContextQuery, ContextSource as _};
use cortex_language::task_class::classify;
use cortex_skills::{SkillFolders, SkillSource};
use cortex_stories::PATIENCE;

use crate::{embedder, set, table};

/// How often skills fire.
#[derive(Debug, Default)]
struct Fired {
    /// Of the skills that should, and how many that are.
    rightly: usize,
    wanted: usize,
    /// Of the tasks for which none should, and how many those are.
    in_vain: usize,
    without: usize,
}

async fn measured(source: &SkillSource, tasks: &[Vec<String>]) -> Fired {
    let mut fired = Fired::default();
    for line in tasks {
        let [task, right] = &line[..] else { panic!("{line:?}") };
        let right: BTreeSet<&str> = right.split(',').filter(|name| *name != "-").collect();
        let query = ContextQuery::new(task.clone(), classify(task));
        let passages = source.gather(&query).await.expect("the skills");
        let found: BTreeSet<&str> = passages.iter().map(|passage| passage.place.as_str()).collect();
        fired.wanted += right.len();
        fired.rightly += right.intersection(&found).count();
        if right.is_empty() {
            fired.without += 1;
            fired.in_vain += usize::from(!found.is_empty());
        }
    }
    fired
}

/// The skills of the set with these further lines of metadata, by the name of the skill, in a folder of their own.
fn with_metadata(further: &BTreeMap<String, String>) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for (name, further) in further {
        let text = std::fs::read_to_string(set("skills").join(name).join("SKILL.md")).expect("the skill");
        let text = match text.split_once("metadata:\n") {
            Some((before, after)) => format!("{before}metadata:\n{further}{after}"),
            None => text.replacen("\n---\n", &format!("\nmetadata:\n{further}---\n"), 1),
        };
        let folder = root.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("SKILL.md"), text).expect("a file");
    }
    root
}

fn with_words() -> tempfile::TempDir {
    let line = |line: &Vec<String>| {
        let [name, words] = &line[..] else { panic!("{line:?}") };
        (name.clone(), format!("  cortex-words: {words:?}\n"))
    };
    with_metadata(&table("triggers.tsv").iter().map(line).collect())
}

/// The examples were written by somebody who knew the skills, and neither the tasks nor the rules.
fn with_examples() -> tempfile::TempDir {
    let mut said: BTreeMap<String, [Vec<String>; 2]> = BTreeMap::new();
    for line in table("examples.tsv") {
        let [name, wants, sentence] = &line[..] else { panic!("{line:?}") };
        let [wanted, unwanted] = said.entry(name.clone()).or_default();
        if wants == "yes" { wanted } else { unwanted }.push(format!("    - {sentence:?}\n"));
    }
    let metadata = |(name, [wanted, unwanted]): (String, [Vec<String>; 2])| {
        let (wanted, unwanted) = (wanted.concat(), unwanted.concat());
        (name, format!("  cortex-examples:\n{wanted}  cortex-counter-examples:\n{unwanted}"))
    };
    with_metadata(&said.into_iter().map(metadata).collect())
}

fn source_of(folder: &Path) -> SkillSource {
    let folders = Arc::new(SkillFolders::new(vec![folder.to_owned()]));
    assert_eq!(folders.read().troubles, []);
    SkillSource::new(folders)
}

/// The tasks by which the rules were chosen, and those that count: written by somebody else, for whom the examples and the rules
/// were unknown, and measured once the rules stood.
const TASKS: [&str; 2] = ["tasks.tsv", "tasks_unseen.tsv"];

#[tokio::test]
async fn skills_with_examples_fire_for_most_tasks_and_seldom_in_vain() {
    let folder = with_examples();
    let words = source_of(folder.path()).with_patience(PATIENCE);
    let meaning = words.clone().with_embedder(Arc::new(embedder()));
    for name in TASKS {
        let tasks = table(name);
        let (words, meaning) = (measured(&words, &tasks).await, measured(&meaning, &tasks).await);
        println!("{name}: by words {words:?}, and by meaning {meaning:?}");
        for fired in [&words, &meaning] {
            assert!(fired.wanted >= 100 && fired.without >= 50, "too few to tell: {fired:?}");
            assert!(fired.rightly * 10 >= fired.wanted * 6, "too seldom: {fired:?}");
            assert!(fired.in_vain * 6 <= fired.without, "too often in vain: {fired:?}");
        }
        assert!(meaning.rightly > words.rightly, "by words {words:?}, by meaning {meaning:?}");
    }
}

/// The words were written by somebody who knew the skills, and had seen one in ten of the tasks.
#[tokio::test]
async fn skills_that_name_their_words_fire_for_most_of_the_tasks_they_are_for() {
    let folder = with_words();
    let tasks = table("tasks.tsv");
    let plain = measured(&source_of(&set("skills")), &tasks).await;
    let named = measured(&source_of(folder.path()), &tasks).await;
    println!("without words {plain:?}, with words of their own {named:?}");
    assert_eq!((named.wanted, named.without), (130, 80));
    assert!(named.rightly >= 4 * plain.rightly, "without {plain:?}, with {named:?}");
    assert!(named.in_vain * 5 <= named.without, "too often in vain: {named:?}");
}

#[tokio::test]
async fn skills_fire_for_more_of_the_tasks_they_are_for_by_their_meaning() {
    let tasks = table("tasks.tsv");
    let words = source_of(&set("skills"));
    let meaning = words.clone().with_embedder(Arc::new(embedder())).with_patience(PATIENCE);
    let (words, meaning) = (measured(&words, &tasks).await, measured(&meaning, &tasks).await);
    println!("by words {words:?}, and by meaning {meaning:?}");
    assert_eq!((words.wanted, words.without), (130, 80));
    assert!(meaning.rightly >= 2 * words.rightly, "by words {words:?}, by meaning {meaning:?}");
    assert!(meaning.in_vain * 7 <= meaning.without, "too often in vain: {meaning:?}");
}
