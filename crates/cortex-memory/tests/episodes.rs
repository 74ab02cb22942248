//! Stories of what a robot did: episodes, their gists, and what is left of them.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use cortex_memory::{EpisodeId, Forget, MemoryError, Outcome};
use house::*;

#[tokio::test]
async fn an_episode_keeps_what_happened_also_when_it_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(vec![camera("plate", is_at("hall"), 0)]).await.unwrap();
    let episode = memory.begin_episode("bring me the red cup", START + MINUTE).await.expect("begun");
    memory.add(vec![camera("red cup", is_at("kitchen"), 2), battery(0.8, 2)]).await.unwrap();
    let context = memory.get_current_context(5, &now(3)).await.expect("a context");
    assert_eq!(context.episodes.len(), 1);
    assert!(context.episodes[0].gist.contains("goes on since"), "{}", context.episodes[0].gist);
    memory.add(vec![camera("red cup", not_there("kitchen"), 4), battery(0.7, 4)]).await.unwrap();
    let ended =
        memory.end_episode(episode, Outcome::Failed, "somebody took it", START + 5 * MINUTE).await.expect("ended");
    assert_eq!(
        ended.gist,
        "bring me the red cup: failed at 2023-11-14T22:18:20Z after 240 s (somebody took it). Seen: red cup at kitchen. \
         Not there: red cup at kitchen. \
         Body: robot battery 0.8, then 0.7."
    );
    memory.add(vec![camera("red cup", is_at("garage"), 6)]).await.unwrap();
    let summary = memory.episode_summary(episode).await.unwrap().expect("it is there");
    assert_eq!(summary, ended, "what came later is no part of it");
    let again =
        memory.end_episode(episode, Outcome::Succeeded, "", START + 7 * MINUTE).await.expect_err("it has ended");
    assert!(matches!(again, MemoryError::NoEpisode(_)), "{again}");
    assert!(memory.episode_summary(EpisodeId(99)).await.unwrap().is_none());
    assert!(memory.begin_episode(" ", START).await.is_err());
    assert!(memory.begin_episode("x", u64::MAX).await.is_err());
}

/// The result of the task that forgot it brought the name back, right after it was erased.
#[tokio::test]
async fn regression_a_name_that_was_forgotten_came_back_with_the_end_of_the_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(vec![camera("red cup", is_at("kitchen"), 0)]).await.unwrap();
    let episode = memory.begin_episode("forget everything about the red cup", START).await.unwrap();
    memory.forget(Forget::Subject("the red cup".to_owned())).await.unwrap();
    let ended = memory.end_episode(episode, Outcome::Succeeded, "Done: memory forget (\"the red cup\").", START).await;
    let ended = ended.expect("it ends");
    assert!(!ended.gist.contains("red cup") && ended.gist.contains("[forgotten]"), "{}", ended.gist);
    assert!(memory.search_gists("red cup", 5).await.unwrap().is_empty());
    // What begins later may speak of it again, also where it was forgotten between two tasks.
    memory.forget(Forget::Subject("red cup".to_owned())).await.unwrap();
    let later = memory.begin_episode("fetch the red cup", START + MINUTE).await.unwrap();
    let ended = memory.end_episode(later, Outcome::Succeeded, "here is the red cup", START + 2 * MINUTE).await.unwrap();
    assert!(ended.gist.contains("here is the red cup"), "{}", ended.gist);
}

#[tokio::test]
async fn gists_are_found_by_their_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    for (task, detail) in [("water the plants", ""), ("bring the red cup", "the gripper slipped"), ("patrol", "")] {
        let id = memory.begin_episode(task, START).await.unwrap();
        memory.end_episode(id, Outcome::Succeeded, detail, START + MINUTE).await.unwrap();
    }
    let tasks = async |text: &str| -> Vec<String> {
        let found = memory.search_gists(text, 5).await.expect("a search");
        found.into_iter().map(|episode| episode.task).collect()
    };
    assert_eq!(tasks("when did the gripper slip?").await, ["bring the red cup"]);
    assert_eq!(tasks("plant").await, ["water the plants"]);
    assert_eq!(tasks("what was it?").await, ["patrol", "bring the red cup", "water the plants"]);
    assert!(tasks("\" OR gists MATCH \"*").await.is_empty());
}

#[tokio::test]
async fn an_episode_that_a_dead_process_left_open_is_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let episode = memory.begin_episode("patrol", START).await.unwrap();
    memory.add(vec![camera("red cup", is_at("kitchen"), 3)]).await.unwrap();
    drop(memory);
    let memory = open(folder.path()).await;
    let ended = memory.episode_summary(episode).await.unwrap().expect("it is there");
    assert_eq!(ended.ended.as_ref().map(|ended| ended.outcome), Some(Outcome::Interrupted));
    assert!(ended.gist.contains("was interrupted, and nobody knows what came of it"), "{}", ended.gist);
    assert!(ended.gist.ends_with("Seen: red cup at kitchen."), "{}", ended.gist);
    assert!(memory.get_current_context(5, &now(9)).await.unwrap().episodes.is_empty());
}

#[tokio::test]
async fn what_is_forgotten_is_gone_from_the_words_of_episodes_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let episode = memory.begin_episode("bring the Xylophone to anna", START).await.unwrap();
    memory.add(vec![camera("xylophone", is_at("hall"), 1), camera("plate", is_at("hall"), 2)]).await.unwrap();
    memory.end_episode(episode, Outcome::Failed, "the xylophone fell", START + 3 * MINUTE).await.unwrap();
    let other = memory.begin_episode("patrol", START + 4 * MINUTE).await.unwrap();
    memory.end_episode(other, Outcome::Succeeded, "", START + 5 * MINUTE).await.unwrap();
    let forgotten = memory.forget(Forget::Subject("xylophone".to_owned())).await.expect("forgotten");
    assert_eq!((forgotten.redacted, forgotten.episodes), (1, 0));
    let left = memory.episode_summary(episode).await.unwrap().expect("it is there");
    assert_eq!(left.task, "bring the [forgotten] to anna");
    assert!(left.gist.contains("(the [forgotten] fell). Seen: plate at hall."), "{}", left.gist);
    for entry in std::fs::read_dir(folder.path()).expect("the folder") {
        let bytes = std::fs::read(entry.unwrap().path()).expect("its bytes");
        assert!(!bytes.windows(9).any(|window| window.eq_ignore_ascii_case(b"xylophone")));
    }
    assert_eq!(memory.forget(Forget::Episode(other)).await.unwrap().episodes, 1);
    assert!(memory.episode_summary(other).await.unwrap().is_none());
    memory.forget(Forget::Everything).await.unwrap();
    assert!(memory.search_gists("", 5).await.unwrap().is_empty());
}
