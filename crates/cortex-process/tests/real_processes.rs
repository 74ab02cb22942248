//! Real processes, really killed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cortex_process::{Ending, INHERITED, ProcessEvent, Processes, Program, RunTag, reaper};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Longer than anything here takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(20);

type Printed = Arc<Mutex<Vec<String>>>;

fn processes() -> (Processes, Printed) {
    let printed = Printed::default();
    let sink = Arc::clone(&printed);
    let processes = Processes::with_sink(move |line| {
        sink.lock().unwrap().push(format!("{} {:?}: {}", line.name, line.stream, line.text));
    });
    (processes.unwrap(), printed)
}

fn shell(script: &str) -> Program {
    Program {
        name: "part".into(),
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        ..Program::default()
    }
}

fn ended(processes: &mut Processes) -> (u64, Ending) {
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        if let Some(ProcessEvent::Ended { number, ending }) = processes.wait(Some(LIMIT)).into_iter().next() {
            return (number, ending);
        }
    }
    panic!("nothing has ended");
}

/// Waits until something was printed that holds the word; gives what follows it.
fn printed(processes: &mut Processes, lines: &Printed, word: &str) -> String {
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        let found = lines.lock().unwrap().iter().find_map(|line| Some(line.split_once(word)?.1.trim().to_owned()));
        if let Some(found) = found {
            return found;
        }
        assert_eq!(processes.wait(Some(Duration::from_millis(10))), []);
    }
    panic!("'{word}' was not printed");
}

/// Every program that a recipe starts used to find the model's key in its environment.
#[test]
fn regression_a_withheld_variable_reaches_only_a_program_that_names_it() {
    // Cargo sets it for this process.
    let withheld = |name: &str| name == "CARGO_MANIFEST_DIR";
    let script = "echo \"it is ${CARGO_MANIFEST_DIR-unset}.\"";
    let sees = |environment: &[(&str, &str)]| {
        let (processes, lines) = processes();
        let mut processes = processes.withholding(withheld);
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        processes.start(1, Program { environment, ..shell(script) }).unwrap();
        assert_eq!(ended(&mut processes), (1, Ending::Exited { status: 0 }));
        let seen = lines.lock().unwrap().iter().find_map(|line| Some(line.split_once("it is ")?.1.to_owned()));
        seen.unwrap_or_default()
    };
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    assert_eq!(sees(&[("OTHER", "1")]), "unset.");
    assert_eq!(sees(&[("CARGO_MANIFEST_DIR", "elsewhere")]), "elsewhere.");
    assert_eq!(sees(&[("CARGO_MANIFEST_DIR", INHERITED)]), format!("{own}."));
}

/// Waits for the end of a process that is not our child.
fn is_gone(id: &str) -> bool {
    let pid = Pid::from_raw(id.trim().parse().unwrap()).unwrap();
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let limit = Timespec { tv_sec: LIMIT.as_secs().try_into().unwrap(), tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)).unwrap() == 1
}

#[test]
fn how_a_process_ended_is_told() {
    let (mut processes, _) = processes();
    processes.start(1, shell("exit 7")).unwrap();
    assert_eq!(ended(&mut processes), (1, Ending::Exited { status: 7 }));
    processes.start(2, shell("kill -11 $$")).unwrap();
    assert_eq!(ended(&mut processes), (2, Ending::Signalled { signal: 11, by_us: false }));
    processes.start(3, shell("exec sleep 600")).unwrap();
    processes.stop(3, LIMIT);
    assert_eq!(ended(&mut processes), (3, Ending::Signalled { signal: 15, by_us: true }));
    assert_eq!(processes.count(), 0);
}

#[test]
fn a_process_that_is_killed_from_outside_is_noticed_at_once() {
    let (mut processes, _) = processes();
    let id = processes.start(1, shell("exec sleep 600")).unwrap();
    let pid = Pid::from_raw(id.try_into().unwrap()).unwrap();
    let mut times = Vec::new();
    for number in 2..12 {
        let id = processes.start(number, shell("exec sleep 600")).unwrap();
        let killed = Instant::now();
        kill_process(Pid::from_raw(id.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
        assert_eq!(ended(&mut processes), (number, Ending::Signalled { signal: 9, by_us: false }));
        times.push(killed.elapsed());
    }
    times.sort();
    println!("noticed after {times:?}");
    // Other programs may hold the processor for a moment, but not each time.
    assert!(times[5] < Duration::from_millis(100), "{times:?}");
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(ended(&mut processes), (1, Ending::Signalled { signal: 15, by_us: false }), "it lived all the time");
}

#[test]
fn one_that_ignores_the_wish_is_killed_in_its_time() {
    let (mut processes, lines) = processes();
    processes.start(1, shell("trap '' TERM; echo ready; while :; do sleep 1; done")).unwrap();
    printed(&mut processes, &lines, "ready");
    let asked = Instant::now();
    processes.stop(1, Duration::from_millis(300));
    processes.stop(1, LIMIT);
    assert_eq!(ended(&mut processes), (1, Ending::Signalled { signal: 9, by_us: true }));
    let took = asked.elapsed();
    assert!(took >= Duration::from_millis(300) && took < LIMIT / 2, "{took:?}");
}

#[test]
fn what_a_killed_process_has_started_is_ended_with_it() {
    let (mut processes, lines) = processes();
    // One child in the group, and one that left it.
    let id = processes
        .start(1, shell("sleep 600 & echo child $!; setsid sh -c 'echo daemon $$; exec sleep 600' & wait"))
        .unwrap();
    let child = printed(&mut processes, &lines, "child");
    let daemon = printed(&mut processes, &lines, "daemon");
    kill_process(Pid::from_raw(id.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    assert_eq!(ended(&mut processes), (1, Ending::Signalled { signal: 9, by_us: false }));
    assert!(is_gone(&child), "the child");
    assert!(is_gone(&daemon), "the one that left the group");
}

#[test]
fn lines_come_with_the_name_of_their_process_and_last_words_are_heard() {
    let (mut processes, lines) = processes();
    processes.start(1, shell("echo one; echo two >&2; printf three")).unwrap();
    ended(&mut processes);
    let mut lines = lines.lock().unwrap().clone();
    lines.sort();
    assert_eq!(lines, ["part Error: two", "part Output: one", "part Output: three"]);
}

#[test]
fn a_process_gets_no_open_file_of_its_owner_but_its_standard_streams() {
    let (mut processes, lines) = processes();
    // As the sockets of a middleware: whoever is started would have it, too.
    let inheritable = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&inheritable, rustix::io::FdFlags::empty()).unwrap();
    processes.start(1, shell("ls /proc/$$/fd; true")).unwrap();
    ended(&mut processes);
    assert_eq!(*lines.lock().unwrap(), ["part Output: 0", "part Output: 1", "part Output: 2"]);
    assert_eq!(rustix::io::fcntl_getfd(&inheritable).unwrap(), rustix::io::FdFlags::empty(), "the owner keeps its own");
}

#[test]
fn one_that_prints_without_end_does_not_keep_the_others_waiting() {
    let (mut processes, lines) = processes();
    processes.start(1, shell("exec yes")).unwrap();
    let begun = Instant::now();
    processes.start(2, shell("exit 0")).unwrap();
    assert_eq!(ended(&mut processes), (2, Ending::Exited { status: 0 }));
    assert!(begun.elapsed() < LIMIT / 2);
    processes.stop(1, LIMIT);
    ended(&mut processes);
    let count = lines.lock().unwrap().len();
    assert!(count < 20_000, "{count} lines were passed on");
}

#[test]
fn a_program_that_is_not_there_is_told_by_name() {
    let (mut processes, _) = processes();
    let program = Program { program: "no-such-program".into(), ..Program::default() };
    let problem = processes.start(1, program).unwrap_err().to_string();
    assert!(problem.starts_with("no-such-program can't be started: No such file"), "{problem}");
    let program = Program { directory: Some("/no/such/folder".into()), ..shell("exit 0") };
    assert!(processes.start(1, program).is_err());
    processes.start(1, shell("exec sleep 600")).unwrap();
    assert!(processes.start(1, shell("exit 0")).is_err(), "the number is in use");
}

#[test]
fn a_name_that_is_not_in_the_path_is_found_beside_this_program() {
    let (mut processes, _) = processes();
    let own = std::env::current_exe().unwrap();
    let name = own.file_name().unwrap().to_str().unwrap().to_owned();
    // It lists its tests, and runs none.
    let program = Program { program: name, arguments: vec!["--list".into()], ..Program::default() };
    processes.start(1, program).unwrap();
    assert_eq!(ended(&mut processes), (1, Ending::Exited { status: 0 }));
}

#[test]
fn another_thread_can_wake_the_one_that_waits() {
    let (mut processes, _) = processes();
    let waker = processes.waker();
    let waiting = std::thread::spawn(move || processes.wait(None));
    waker.wake();
    assert_eq!(waiting.join().unwrap(), []);
}

#[test]
fn what_still_runs_when_the_owner_goes_is_ended() {
    let (mut processes, lines) = processes();
    processes.start(1, shell("echo id $$; exec sleep 600")).unwrap();
    let id = printed(&mut processes, &lines, "id");
    drop(processes);
    assert!(is_gone(&id));
}

/// Set for this test program when it plays one of the parts below.
const PART: &str = "CORTEX_PROCESS_TEST_PART";

/// This test program again, in which only the named test runs.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--quiet"]).env(PART, test);
    command
}

fn is_part(test: &str) -> bool {
    std::env::var(PART).is_ok_and(|part| part == test)
}

/// Not a test by itself: an owner of processes that is killed.
#[test]
fn part_owner() {
    if !is_part("part_owner") {
        return;
    }
    let (processes, lines) = processes();
    let mut guard = again("part_guard");
    guard.env("CORTEX_PROCESS_TEST_RUN", processes.run().to_string());
    let mut processes = processes.reaped_by(guard).unwrap();
    processes.start(1, shell("echo first $$; exec sleep 600")).unwrap();
    processes.start(2, shell("trap '' TERM; echo second $$; while :; do sleep 1; done")).unwrap();
    processes.start(3, shell("setsid sh -c 'echo third $$; exec sleep 600' & wait")).unwrap();
    for word in ["first", "second", "third"] {
        // On the standard error: the test harness writes on the standard output.
        eprintln!("{word} {}", printed(&mut processes, &lines, word));
    }
    kill_process(rustix::process::getpid(), Signal::KILL).unwrap();
}

/// Not a test by itself: the reaper of the owner above.
#[test]
fn part_guard() {
    if is_part("part_guard") {
        reaper::run(RunTag::read(&std::env::var("CORTEX_PROCESS_TEST_RUN").unwrap()).unwrap());
    }
}

#[test]
fn nothing_is_left_behind_when_the_owner_is_killed() {
    let output = again("part_owner").stdout(Stdio::null()).output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    let text = String::from_utf8(output.stderr).unwrap();
    for word in ["first", "second", "third"] {
        let id = text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("{text}"));
        assert!(is_gone(id), "{word}");
    }
}

#[test]
fn what_an_earlier_life_has_left_is_ended_and_what_a_living_one_runs_is_not() {
    let (mut processes, lines) = processes();
    processes.start(1, shell("echo mine $$; exec sleep 600")).unwrap();
    let mine = printed(&mut processes, &lines, "mine");
    let own = processes.run().to_string();
    let mut parts = own.split('.');
    let (namespace, process) = (parts.next().unwrap(), parts.next().unwrap());
    let marked = |tag: String| Command::new("sleep").arg("600").env("CORTEX_PROCESS", tag).spawn().unwrap();
    // The same id at another time: that life is over. In another namespace it says nothing: that is a container's.
    let mut orphan = marked(format!("{namespace}.{process}.1.0:4"));
    let mut contained = marked(format!("1.{process}.1.0:4"));
    // What it names is not only ours, and ours may have been ended by another: whoever starts a robot does the same.
    let _ = reaper::end_orphans();
    assert_eq!(orphan.wait().unwrap().signal(), Some(15));
    assert_eq!(contained.try_wait().unwrap(), None, "a robot in a container goes on");
    contained.kill().unwrap();
    contained.wait().unwrap();
    assert!(std::fs::exists(format!("/proc/{mine}")).unwrap());
    assert_eq!(processes.count(), 1);
}
