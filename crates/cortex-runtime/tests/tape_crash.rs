//! A Cortex that is killed while it writes tapes and removes old ones: what it leaves can be read or fixed.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use cortex_protocol::{Origin, Submission};
use cortex_runtime::tape::{Flush, Folder, Integrity};
use cortex_runtime::{Runtime, RuntimeConfig, TapeSettings};
use cortex_testkit::{ScriptedModel, says};

/// Where the process that is to be killed records.
const VARIABLE: &str = "CORTEX_TAPE_CRASH_FOLDER";
const NAME: &str = "a_kill_while_old_tapes_are_removed_leaves_nothing_that_can_not_be_read_or_fixed";
/// Room for a few tapes.
const FOLDER_BYTES: u64 = 40_000;
/// What a crash may leave beyond: the tape that it was writing.
const TAPE_BYTES: u64 = 40_000;
const FOREIGN: &str = "half a line of somebody else";

fn settings(folder: &Path) -> TapeSettings {
    TapeSettings { max_folder_bytes: FOLDER_BYTES, flush: Flush::Os, ..TapeSettings::at(folder) }
}

/// Records mission after mission, and prints a line after each.
async fn record_for_ever(folder: &Path) {
    let model = ScriptedModel::new([]).and_then_always(says(&"I am here. ".repeat(200)));
    let config = RuntimeConfig { tape: Some(settings(folder)), ..RuntimeConfig::default() };
    let runtime = Runtime::start(config, Arc::new(model));
    loop {
        let submission =
            Submission { task: "Where are you?".to_owned(), session: None, origin: Origin::new("cli", "crash") };
        let ticket = runtime.submit(submission).await.expect("the task is taken");
        ticket.result.await.expect("a result");
        println!("\nended");
    }
}

#[tokio::test]
async fn a_kill_while_old_tapes_are_removed_leaves_nothing_that_can_not_be_read_or_fixed() {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        record_for_ever(Path::new(&folder)).await;
    }
    let temporary = tempfile::tempdir().expect("a folder");
    let foreign = temporary.path().join("notes.jsonl");
    std::fs::write(&foreign, FOREIGN).expect("a file");
    let folder = Folder::new(temporary.path().to_owned());
    for round in 0..6 {
        let mut killed = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", NAME, "--nocapture"])
            .env(VARIABLE, temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let lines = BufReader::new(killed.stdout.take().expect("its output")).lines();
        let ended = lines.map_while(Result::ok).filter(|line| line == "ended").take(20 + 7 * round).count();
        killed.kill().expect("it is killed");
        killed.wait().expect("it has ended");
        assert_eq!(ended, 20 + 7 * round, "it recorded until it was killed");

        folder.fix().expect("the folder can be looked through");
        let missions = folder.missions().expect("the folder can be read");
        let mut bytes = 0;
        for mission in &missions {
            bytes += std::fs::metadata(folder.path(mission)).expect("a tape").len();
            let mut reader = folder.read(mission).expect("a tape can be opened");
            while let Some((record, _)) = reader.next_record().unwrap_or_else(|problem| panic!("{mission}: {problem}"))
            {
                reader.body(&record).unwrap_or_else(|problem| panic!("{mission}: {problem}"));
            }
            assert_eq!(reader.torn_bytes(), 0, "{mission} is torn after it was fixed");
            assert_eq!(folder.check(mission).expect("a tape can be checked"), Integrity::Unchanged, "{mission}");
        }
        assert!(
            !missions.is_empty() && bytes <= FOLDER_BYTES + TAPE_BYTES,
            "{} tapes of {bytes} bytes",
            missions.len()
        );
        assert_eq!(std::fs::read_to_string(&foreign).expect("it is still there"), FOREIGN);
    }
}
