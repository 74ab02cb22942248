//! Tests of the tape: what a mission leaves behind, that it can be replayed, and what happens when nothing can be
//! written. On a paused clock, with real files.

#![expect(clippy::expect_used, clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_core::{Effect, Input};
use cortex_protocol::{MissionResult, MissionStatus, Origin, Submission};
use cortex_runtime::tape::replay::Ending;
use cortex_runtime::tape::{Body, Entry, Folder, Integrity, Record, TapeError, TapeStatus, replay};
use cortex_runtime::{ProviderHandle, Rejection, Runtime, RuntimeConfig, TapeSettings};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says};
use serde_json::json;
use uuid::{Timestamp, Uuid};

/// What the model says, and how the tools behave.
type Script = (Vec<Line>, Vec<(&'static str, Behaviour)>);

struct TestRobot {
    runtime: Runtime,
    tools: Arc<FakeTools>,
    provider: ProviderHandle,
}

async fn test_robot(tape: TapeSettings, script: Vec<Line>, tools: Vec<(&str, Behaviour)>) -> TestRobot {
    let tools = Arc::new(FakeTools::new(tools));
    let config = RuntimeConfig { tape: Some(tape), ..RuntimeConfig::default() };
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)));
    let provider = runtime.register(tools.clone());
    provider.offer_tools(tools.specs()).await;
    TestRobot { runtime, tools, provider }
}

fn task(text: &str) -> Submission {
    Submission { task: text.into(), session: None, origin: Origin::new("cli", "test") }
}

impl TestRobot {
    async fn run(&self, text: &str) -> MissionResult {
        self.runtime
            .submit(task(text))
            .await
            .expect("the task is taken")
            .result
            .await
            .expect("every task gets its result")
    }

    async fn close(self) {
        assert!(self.runtime.shut_down(Duration::from_secs(5)).await);
    }
}

fn went() -> Script {
    let script =
        vec![calls(&[("base-go", json!({"speed": 0.1, "note": "\u{2028}Küche"}))]), says("EXECUTE"), says("I went.")];
    (script, vec![("base.go", Behaviour::Takes(Duration::from_secs(5), json!({"x": 0.1, "y": 1e-7, "t": 1.1e300})))])
}

fn records(folder: &Path) -> Vec<Record> {
    let folder = Folder::new(folder.to_owned());
    let mission = folder.find("").expect("one tape");
    let mut reader = folder.read(&mission).expect("a tape that can be read");
    let mut records = Vec::new();
    while let Some((record, _)) = reader.next_record().expect("lines that can be read") {
        records.push(record);
    }
    assert_eq!(reader.torn_bytes(), 0);
    records
}

/// The position of the first line of this type.
fn position(records: &[Record], kind: &str) -> usize {
    records.iter().position(|record| record.kind == kind).unwrap_or_else(|| panic!("no {kind} on the tape"))
}

#[tokio::test(start_paused = true)]
async fn a_mission_leaves_everything_that_it_was_given_and_wanted_done() {
    let folder = tempfile::tempdir().unwrap();
    let (script, tools) = went();
    let test_robot = test_robot(TapeSettings::at(folder.path()), script, tools).await;
    let mut ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    let mut published = Vec::new();
    while let Some(event) = ticket.events.recv().await {
        published.push(event.as_ref().clone());
    }
    assert_eq!(ticket.result.await.unwrap().status, MissionStatus::Succeeded);
    test_robot.close().await;

    let records = records(folder.path());
    let lines: Vec<u64> = records.iter().map(|record| record.line).collect();
    assert_eq!(lines, (1..=lines.len() as u64).collect::<Vec<_>>());
    for record in &records {
        assert_eq!((record.specversion.as_str(), record.source.as_str()), ("1.0", "/robot/cortex"));
        assert_eq!((&record.subject, record.data.origin.channel.as_str()), (&ticket.id, "cli"));
        assert_eq!(record.kind, format!("cortex.{}.{}", record.event, record.action));
    }
    // What was published is there once, as it was published.
    let on_tape: Vec<_> = records.iter().filter(|record| record.sequence.is_some()).collect();
    assert_eq!(on_tape.len(), published.len());
    for (record, event) in on_tape.iter().zip(&published) {
        assert_eq!((&record.id, record.sequence, &record.time), (&event.id, Some(event.sequence), &event.time));
        assert_eq!(record.body().unwrap(), Body::Published(event.data.payload.clone()));
    }
    // Everything that follows an input names it.
    let mut cause = None;
    for record in &records[position(&records, "cortex.input.start")..] {
        match record.body().unwrap() {
            Body::Entry(Entry::Input { .. }) => cause = Some(record.id.clone()),
            Body::Entry(Entry::Closed { status }) => assert_eq!(status, MissionStatus::Succeeded),
            _ => assert_eq!(record.causationid, cause, "{}", record.kind),
        }
    }
    // The call was on the tape before it began, and what came of it is there.
    assert!(position(&records, "cortex.effect.invoke") < position(&records, "cortex.input.call_accepted"));
    assert_eq!(position(&records, "cortex.tape.closed"), records.len() - 1);
}

#[tokio::test(start_paused = true)]
async fn a_replay_of_what_was_recorded_wants_the_same_done() {
    let stories: Vec<Script> = vec![
        went(),
        (vec![says("It is noon.")], vec![]),
        (vec![Line::Hang], vec![]),
        (
            vec![calls(&[("base-go", json!({}))]), says("EXECUTE"), says("It did not work.")],
            vec![("base.go", Behaviour::Fails("no battery".into()))],
        ),
        (
            vec![calls(&[("arm-swing", json!({}))]), says("EXECUTE"), says("It did not end.")],
            vec![("arm.swing", Behaviour::IgnoresHalt)],
        ),
        (
            vec![calls(&[("base-go", json!({})), ("arm-wave", json!({}))]), says("perhaps"), says("hm"), says("So.")],
            vec![("base.go", Behaviour::Lost), ("arm.wave", Behaviour::Panics)],
        ),
    ];
    for (script, tools) in stories {
        let folder = tempfile::tempdir().unwrap();
        let test_robot = test_robot(TapeSettings::at(folder.path()), script, tools).await;
        let result = test_robot.run("do it").await;
        let tapes = Folder::new(folder.path().to_owned());
        let mission = tapes.find("").unwrap();
        let replayed = replay(&mut tapes.read(&mission).unwrap()).unwrap();
        assert_eq!((replayed.ending, replayed.cut), (Ending::Same, 0), "{result:?}");
        assert!(replayed.inputs >= 2 && replayed.effects >= 2);
        assert_eq!(tapes.summary(&mission).unwrap().status, TapeStatus::Ended(result.status));
        assert_eq!(tapes.check(&mission).unwrap(), Integrity::Unchanged);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_names_the_first_thing_that_would_be_different_now() {
    let folder = tempfile::tempdir().unwrap();
    let (script, tools) = went();
    let test_robot = test_robot(TapeSettings::at(folder.path()), script, tools).await;
    test_robot.run("go").await;
    test_robot.close().await;
    let recorded = records(folder.path());
    let tapes = Folder::new(folder.path().to_owned());
    let path = tapes.path(&tapes.find("").unwrap());
    let text = std::fs::read_to_string(&path).unwrap();

    // As if the machine had read the decision in another way then.
    let invoke = recorded[position(&recorded, "cortex.effect.invoke")].line;
    std::fs::write(&path, text.replacen("\"effect\":\"invoke\",\"call\":1", "\"effect\":\"invoke\",\"call\":7", 1))
        .unwrap();
    let Ending::Different(difference) = replay(&mut tapes.read(&tapes.find("").unwrap()).unwrap()).unwrap().ending
    else {
        panic!("it is different");
    };
    assert_eq!(difference.line, invoke);
    assert!(matches!(difference.recorded, Some(Effect::Invoke { call, .. }) if call.0 == 7));
    assert!(matches!(difference.now, Some(Effect::Invoke { call, .. }) if call.0 == 1));

    // As if it had done less.
    let without: String =
        text.lines().filter(|line| !line.contains("cortex.effect.invoke")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, without).unwrap();
    let Ending::Different(difference) = replay(&mut tapes.read(&tapes.find("").unwrap()).unwrap()).unwrap().ending
    else {
        panic!("it is different");
    };
    assert!(matches!(difference.now, Some(Effect::Invoke { .. })), "{difference:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_moves_that_can_not_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let occupied = folder.path().join("a file, not a folder");
    std::fs::write(&occupied, "").unwrap();
    let (script, tools) = went();
    let test_robot = test_robot(TapeSettings::at(occupied.join("tape")), script, tools).await;
    let result = test_robot.run("go").await;
    assert_eq!(result.status, MissionStatus::Failed);
    assert!(
        result.output.contains("can't be recorded") && result.output.contains("Not a directory"),
        "{}",
        result.output
    );
    assert_eq!(test_robot.tools.called(), Vec::<String>::new());
    assert_eq!(result.not_stopped, []);
    test_robot.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_even_when_nothing_can_be_recorded() {
    let tape = TapeSettings::at("/proc/no such place");
    let test_robot = test_robot(tape, vec![says("It is noon.")], vec![]).await;
    assert_eq!(test_robot.run("what time is it").await.status, MissionStatus::Answered);
}

#[tokio::test(start_paused = true)]
async fn where_no_tape_is_required_the_robot_moves_without_one() {
    let (script, tools) = went();
    let tape = TapeSettings { required: false, ..TapeSettings::at("/proc/no such place") };
    let test_robot = test_robot(tape, script, tools).await;
    assert_eq!(test_robot.run("go").await.status, MissionStatus::Succeeded);
    assert_eq!(test_robot.tools.called(), ["base.go"]);
}

#[tokio::test(start_paused = true)]
async fn a_tape_that_is_full_ends_the_mission_before_the_next_move() {
    let folder = tempfile::tempdir().unwrap();
    let go = || ("base-go", json!({}));
    let script = vec![calls(&[go(), go()]), says("EXECUTE"), says("EXECUTE"), says("Never asked.")];
    let tape = TapeSettings { max_mission_bytes: 20_000, ..TapeSettings::at(folder.path()) };
    let test_robot = test_robot(tape, script, vec![("base.go", Behaviour::Returns(json!("x".repeat(10_000))))]).await;
    let result = test_robot.run("go twice").await;
    assert_eq!(result.status, MissionStatus::Failed);
    assert!(result.output.contains("it has reached 20000 bytes"), "{}", result.output);
    assert_eq!(test_robot.tools.called(), ["base.go"]);
    test_robot.close().await;
    let tapes = Folder::new(folder.path().to_owned());
    let mission = tapes.find("").unwrap();
    assert!(std::fs::metadata(tapes.path(&mission)).unwrap().len() <= 20_000);
    assert_eq!(tapes.summary(&mission).unwrap().status, TapeStatus::BrokenOff);
    assert_eq!(tapes.check(&mission).unwrap(), Integrity::Unchanged, "what breaks off is not changed");
    assert_eq!(
        replay(&mut tapes.read(&mission).unwrap()).unwrap().ending,
        Ending::BrokenOff,
        "it is good as far as it goes"
    );
}

/// The whole set was once on the tape for each task that anybody sent meanwhile, until the tape was full.
#[tokio::test(start_paused = true)]
async fn regression_an_unchanged_offer_is_no_event_and_a_change_is_recorded_as_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let script = vec![calls(&[("base-go", json!({}))]), says("EXECUTE"), says("I went.")];
    let going = Behaviour::Takes(Duration::from_secs(5), json!("there"));
    let tools = vec![("base.go", going), ("arm.wave", Behaviour::Returns(json!("hi")))];
    let test_robot = test_robot(TapeSettings::at(folder.path()), script, tools).await;
    let running = test_robot.runtime.submit(task("go")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    for _ in 0..50 {
        test_robot.provider.offer_tools(test_robot.tools.specs()).await;
    }
    let mut changed = test_robot.tools.specs();
    changed.retain(|spec| spec.name.as_str() != "arm.wave");
    changed.iter_mut().for_each(|spec| spec.description = "Drives, but slowly.".to_owned());
    test_robot.provider.offer_tools(changed.clone()).await;
    test_robot.provider.offer_tools(changed).await;
    assert_eq!(running.result.await.unwrap().status, MissionStatus::Succeeded);
    test_robot.close().await;
    let records = records(folder.path());
    let told: Vec<&Record> = records.iter().filter(|record| record.kind.contains("tools_")).collect();
    assert_eq!(told.len(), 1, "{:?}", told.iter().map(|record| &record.data.text).collect::<Vec<_>>());
    assert_eq!(
        (told[0].kind.as_str(), told[0].data.text.as_str()),
        ("cortex.input.tools_differ", "1 tool came or changed, 1 left")
    );
    let tapes = Folder::new(folder.path().to_owned());
    assert_eq!(replay(&mut tapes.read(&tapes.find("").unwrap()).unwrap()).unwrap().ending, Ending::Same);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_too_long_for_a_line_is_cut_and_a_replay_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let script = vec![calls(&[("base-go", json!({}))]), says("EXECUTE"), says("I went.")];
    let huge = json!("x".repeat(17 * 1024 * 1024));
    let test_robot =
        test_robot(TapeSettings::at(folder.path()), script, vec![("base.go", Behaviour::Returns(huge))]).await;
    assert_eq!(test_robot.run("go").await.status, MissionStatus::Succeeded);
    test_robot.close().await;
    let records = records(folder.path());
    let ended = &records[position(&records, "cortex.input.call_ended")];
    assert!(matches!(ended.body().unwrap(), Body::Entry(Entry::Cut { bytes, .. }) if bytes > 17 * 1024 * 1024));
    assert!(ended.data.text.ends_with("(cut)"));
    let tapes = Folder::new(folder.path().to_owned());
    let mission = tapes.find("").unwrap();
    let replayed = replay(&mut tapes.read(&mission).unwrap()).unwrap();
    assert_eq!(replayed.ending, Ending::InputCut { line: ended.line });
    assert_eq!(tapes.check(&mission).unwrap(), Integrity::Unchanged);
}

#[tokio::test(start_paused = true)]
async fn tasks_that_wait_have_tapes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let test_robot = test_robot(TapeSettings::at(folder.path()), vec![Line::Hang], vec![]).await;
    let first = test_robot.runtime.submit(task("one")).await.unwrap();
    let second = test_robot.runtime.submit(task("two")).await.unwrap();
    assert!(test_robot.runtime.cancel(second.id.clone()).await);
    assert!(test_robot.runtime.cancel(first.id.clone()).await);
    first.result.await.unwrap();
    test_robot.close().await;
    let tapes = Folder::new(folder.path().to_owned());
    assert_eq!(tapes.missions().unwrap(), [first.id.clone(), second.id.clone()]);
    for (id, text, ending) in [(&first.id, "one", Ending::Same), (&second.id, "two", Ending::NeverBegan)] {
        let summary = tapes.summary(id).unwrap();
        assert_eq!((summary.task.as_str(), summary.status), (text, TapeStatus::Ended(MissionStatus::Cancelled)));
        assert_eq!(replay(&mut tapes.read(id).unwrap()).unwrap().ending, ending);
        assert_eq!(tapes.check(id).unwrap(), Integrity::Unchanged);
    }
    assert!(matches!(tapes.find("0"), Err(TapeError::Ambiguous { candidates, .. }) if candidates.len() == 2));
    assert!(matches!(tapes.find("nobody"), Err(TapeError::Missing { .. })));
}

/// The oldest go first; the one that is being written never does, whatever its size.
#[tokio::test(start_paused = true)]
async fn old_tapes_make_room_for_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let script: Vec<Line> = (0..8).map(|_| says(&"words ".repeat(1_000))).collect();
    let tape = TapeSettings { max_folder_bytes: 70_000, ..TapeSettings::at(folder.path()) };
    let test_robot = test_robot(tape, script, vec![]).await;
    let tapes = Folder::new(folder.path().to_owned());
    let mut ids = Vec::new();
    for number in 0..8 {
        let ticket = test_robot.runtime.submit(task(&format!("task {number}"))).await.unwrap();
        ids.push(ticket.id.clone());
        ticket.result.await.unwrap();
        assert!(tapes.missions().unwrap().contains(&ids[number]));
    }
    test_robot.close().await;
    let kept = tapes.missions().unwrap();
    assert!(kept.len() < 8 && !kept.is_empty());
    assert_eq!(kept, ids[8 - kept.len()..], "the newest stay");
    let total: u64 = kept.iter().map(|id| std::fs::metadata(tapes.path(id)).unwrap().len()).sum();
    assert!(total <= 70_000 + 30_000, "{total}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_in_mid_mission_is_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let script = vec![calls(&[("base-go", json!({}))]), says("EXECUTE")];
    let test_robot =
        test_robot(TapeSettings::at(folder.path()), script, vec![("base.go", Behaviour::RunsUntilHalted)]).await;
    let ticket = test_robot.runtime.submit(task("go")).await.unwrap();
    test_robot.tools.wait_until_begun().await;
    // What moves is on the tape already, and the tape is known to be written.
    let tapes = Folder::new(folder.path().to_owned());
    assert!(records(folder.path()).iter().any(|record| record.kind == "cortex.effect.invoke"));
    assert_eq!(tapes.summary(&ticket.id).unwrap().status, TapeStatus::Running);
    assert_eq!(tapes.fix().unwrap(), []);
    test_robot.runtime.stop().await.unwrap();
    assert_eq!(ticket.result.await.unwrap().status, MissionStatus::Cancelled);
    test_robot.close().await;
    let cancel = records(folder.path());
    let cancel = cancel[position(&cancel, "cortex.input.cancel")].body().unwrap();
    assert!(matches!(cancel, Body::Entry(Entry::Input { input, .. }) if matches!(*input, Input::Cancel { .. })));
    assert_eq!(replay(&mut tapes.read(&ticket.id).unwrap()).unwrap().ending, Ending::Same);
}

/// After a restart with a clock that was set back, the newest tapes had the smallest ids, and were removed first.
#[tokio::test(start_paused = true)]
async fn regression_a_restart_with_a_clock_that_was_set_back_made_tapes_older_than_those_that_were_there() {
    let folder = tempfile::tempdir().unwrap();
    // Made an hour from now, by the clock as it is.
    let later = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(3_600);
    let earlier_life = Uuid::new_v7(Timestamp::from_unix(uuid::NoContext, later.as_secs(), later.subsec_nanos()));
    std::fs::write(folder.path().join(format!("{earlier_life}.jsonl")), "").unwrap();
    let test_robot = test_robot(TapeSettings::at(folder.path()), vec![says("Hello.")], vec![]).await;
    test_robot.run("hello").await;
    test_robot.close().await;
    // The tape of the earlier life was empty, and is gone.
    let missions = Folder::new(folder.path().to_owned()).missions().unwrap();
    assert_eq!(missions.len(), 1, "{missions:?}");
    assert!(missions[0].as_str() > earlier_life.to_string().as_str(), "{missions:?} comes after {earlier_life}");
}

#[tokio::test(start_paused = true)]
async fn regression_a_task_that_is_too_long_was_on_the_tape_and_in_the_events_before_it_was_refused() {
    let folder = tempfile::tempdir().unwrap();
    let test_robot = test_robot(TapeSettings::at(folder.path()), vec![], vec![]).await;
    let mut events = test_robot.runtime.events();
    let most = test_robot.runtime.limits().max_task_bytes;
    let refused = test_robot.runtime.submit(task(&"x".repeat(most + 1))).await.unwrap_err();
    assert_eq!(refused, Rejection::TooLong { bytes: most + 1, most });
    assert!(futures::FutureExt::now_or_never(events.recv()).is_none(), "nobody is told of it");
    test_robot.close().await;
    assert_eq!(Folder::new(folder.path().to_owned()).missions().unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn what_is_offered_again_as_it_was_is_no_new_offer() {
    let folder = tempfile::tempdir().unwrap();
    let (script, tools) = went();
    let test_robot = test_robot(TapeSettings::at(folder.path()), script, tools).await;
    // A task is taken once the offer before it was.
    test_robot.run("go").await;
    let before = test_robot.runtime.tool_registry();
    test_robot.provider.offer_tools(test_robot.tools.specs()).await;
    let _ = test_robot.runtime.submit(task("hello")).await.unwrap();
    assert!(Arc::ptr_eq(&before, &test_robot.runtime.tool_registry()));
}
