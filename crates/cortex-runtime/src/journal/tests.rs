use serde_json::Map;

use cortex_protocol::{ToolCall, ToolFingerprint};

use super::*;

const MISSION: &str = "01a201dc-49fd-70ba-b2a9-0b0416e65832";

fn settings(folder: &tempfile::TempDir) -> JournalSettings {
    JournalSettings { file: folder.path().join("open-calls/robot.jsonl"), required: true }
}

fn call(number: u32) -> Invocation {
    Invocation {
        mission: MISSION.into(),
        id: CallId(number),
        call: ToolCall { tool: "base.go".into(), arguments: Map::new() },
        fingerprint: ToolFingerprint(0),
        timeout: Duration::from_secs(1),
    }
}

async fn opened(folder: &tempfile::TempDir) -> (Journal, file::Open) {
    let journal = Journal::new(Some(settings(folder)));
    let earlier = journal.open().await.unwrap();
    (journal, earlier)
}

async fn begin(journal: &Journal, number: u32) {
    journal.begin_call(&call(number), &CancellationToken::new()).await.unwrap();
}

fn size(folder: &tempfile::TempDir) -> u64 {
    std::fs::metadata(settings(folder).file).unwrap().len()
}

#[tokio::test]
async fn the_next_life_finds_what_was_open_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, earlier) = opened(&folder).await;
    assert_eq!(earlier, file::Open::default());
    journal.begin_mission(&MISSION.into(), "Go.");
    begin(&journal, 1).await;
    begin(&journal, 2).await;
    journal.end_call(&call(1));
    journal.written().await;
    drop(journal);
    let (journal, earlier) = opened(&folder).await;
    assert_eq!(earlier.missions.get(&MISSION.into()).map(String::as_str), Some("Go."));
    assert_eq!(earlier.calls.into_iter().collect::<Vec<_>>(), [OpenCall::of(&call(2))]);
    // It stays until it is ended, whatever else ends.
    drop(journal);
    let (journal, earlier) = opened(&folder).await;
    assert_eq!(earlier.calls.len(), 1);
    journal.end_call(&call(2));
    journal.end_mission(&MISSION.into()).await;
    assert_eq!(size(&folder), 0, "where nothing is open, nothing is kept");
}

#[tokio::test]
async fn what_a_crash_tore_and_what_makes_no_sense_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = opened(&folder).await;
    begin(&journal, 1).await;
    drop(journal);
    let file = settings(&folder).file;
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("{\"call_begins\":{\"mission\":\"../../etc\",\"call\":1,\"tool\":\"base.go\"}}\n");
    text.push_str(&format!("{{\"call_begins\":{{\"mission\":\"{MISSION}\",\"call\":7,\"tool\":\"a\\u0000b\"}}}}\n"));
    text.push_str(&"x".repeat(70_000));
    text.push_str("\nnull\n{\"call_begins\":{\"mission\":\"01a2");
    std::fs::write(&file, text).unwrap();
    let (journal, earlier) = opened(&folder).await;
    assert_eq!(earlier.calls.into_iter().collect::<Vec<_>>(), [OpenCall::of(&call(1))]);
    begin(&journal, 2).await;
    drop(journal);
    assert_eq!(opened(&folder).await.1.calls.len(), 2, "a torn line does not spoil the next one");
}

#[tokio::test]
async fn a_journal_of_any_size_is_read_in_part_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let file = settings(&folder).file;
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let line =
        |number: u32| format!("{{\"call_begins\":{{\"mission\":\"{MISSION}\",\"call\":{number},\"tool\":\"a\"}}}}\n");
    std::fs::write(&file, (0..20_000).map(line).collect::<String>()).unwrap();
    assert_eq!(opened(&folder).await.1.calls.len(), 256);
    assert!(size(&folder) < 64 * 1024);
}

#[tokio::test]
async fn a_long_task_does_not_make_the_journal_grow_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(&folder);
    let (mut file, _) = JournalFile::open(&settings).unwrap();
    file.begin_mission(MISSION.into(), "Patrol.").unwrap();
    for number in 0..5_000 {
        file.begin_call(OpenCall::of(&call(number))).unwrap();
        file.end_call(&OpenCall::of(&call(number))).unwrap();
    }
    assert!(size(&folder) < 256 * 1024, "{}", size(&folder));
    drop(file);
    assert_eq!(JournalFile::open(&settings).unwrap().1.missions.len(), 1);
}

#[tokio::test]
async fn two_lives_never_keep_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = opened(&folder).await;
    let second = Journal::new(Some(settings(&folder)));
    let problem = second.open().await.unwrap_err().to_string();
    assert!(problem.contains("another Cortex for this robot runs on this machine"), "{problem}");
    begin(&first, 1).await;
    let refused = second.begin_call(&call(2), &CancellationToken::new()).await.unwrap_err().to_string();
    assert!(refused.contains("nothing may begin that a later life of Cortex would not find"), "{refused}");
}

#[tokio::test]
async fn a_link_in_place_of_the_journal_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let file = settings(&folder).file;
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let precious = folder.path().join("precious");
    std::fs::write(&precious, "keep me").unwrap();
    std::os::unix::fs::symlink(&precious, &file).unwrap();
    assert!(JournalFile::open(&settings(&folder)).is_err());
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "keep me");
}

/// Ends used to be written by whichever thread was first.
#[tokio::test]
async fn regression_on_a_slow_disk_no_end_overtakes_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = opened(&folder).await;
    let (disk_works, works) = std::sync::mpsc::sync_channel::<()>(1);
    journal.note(move |_| works.recv().map_err(std::io::Error::other));
    for number in 0..64 {
        // Each is cancelled while its beginning waits for the disk, and ends.
        let (call, cancelled) = (call(number), CancellationToken::new());
        let (begun, ()) = tokio::join!(journal.begin_call(&call, &cancelled), async { cancelled.cancel() });
        begun.unwrap();
        journal.end_call(&call);
    }
    disk_works.send(()).unwrap();
    journal.written().await;
    assert_eq!(size(&folder), 0, "each has begun and ended, in this order");
}
