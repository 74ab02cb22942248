//! A map is replaced while the robot remembers where things are on it.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod old_maps;

use cortex_memory::Memory;

#[tokio::test]
async fn nobody_is_sent_to_a_pose_of_another_map_however_often_maps_are_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path().join("memory.sqlite"), old_maps::rules()).await.expect("it opens");
    let trials = old_maps::run(&memory, 600).await;
    assert_eq!((trials.answers, trials.sent_wrongly, trials.unmarked), (600, 0, 0), "{trials:?}");
    assert!(trials.sent > 50, "where the map is the same, the robot can be sent: {trials:?}");
}
