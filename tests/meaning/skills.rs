//! Which skills fire for 200 tasks, whose right answers were written by somebody who knew the skills, and not the rules.

use std::collections::BTreeSet;
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

async fn measured(source: &SkillSource) -> Fired {
    let mut fired = Fired::default();
    for line in table("tasks.tsv") {
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

/// The skills of the set with `cortex-words`, in a folder of their own.
fn with_words() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for line in table("triggers.tsv") {
        let [name, words] = &line[..] else { panic!("{line:?}") };
        let text = std::fs::read_to_string(set("skills").join(name).join("SKILL.md")).expect("the skill");
        let trigger = format!("  cortex-words: {words:?}\n");
        let text = match text.split_once("metadata:\n") {
            Some((before, after)) => format!("{before}metadata:\n{trigger}{after}"),
            None => text.replacen("\n---\n", &format!("\nmetadata:\n{trigger}---\n"), 1),
        };
        let folder = root.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("SKILL.md"), text).expect("a file");
    }
    root
}

/// The words were written by somebody who knew the skills, and had seen one in ten of the tasks.
#[tokio::test]
async fn skills_that_name_their_words_fire_for_most_of_the_tasks_they_are_for() {
    let folder = with_words();
    let folders = Arc::new(SkillFolders::new(vec![folder.path().to_owned()]));
    assert_eq!(folders.read().troubles, []);
    let plain = measured(&SkillSource::new(Arc::new(SkillFolders::new(vec![set("skills")])))).await;
    let named = measured(&SkillSource::new(folders)).await;
    println!("without words {plain:?}, with words of their own {named:?}");
    assert_eq!((named.wanted, named.without), (130, 80));
    assert!(named.rightly >= 4 * plain.rightly, "without {plain:?}, with {named:?}");
    assert!(named.in_vain * 5 <= named.without, "too often in vain: {named:?}");
}

#[tokio::test]
async fn skills_fire_for_more_of_the_tasks_they_are_for_by_their_meaning() {
    let words = SkillSource::new(Arc::new(SkillFolders::new(vec![set("skills")])));
    let meaning = words.clone().with_embedder(Arc::new(embedder())).with_patience(PATIENCE);
    let (words, meaning) = (measured(&words).await, measured(&meaning).await);
    println!("by words {words:?}, and by meaning {meaning:?}");
    assert_eq!((words.wanted, words.without), (130, 80));
    assert!(meaning.rightly >= 2 * words.rightly, "by words {words:?}, by meaning {meaning:?}");
    assert!(meaning.in_vain * 7 <= meaning.without, "too often in vain: {meaning:?}");
}
