//! Commands: programs that run once, each with a bound on its time and its output, ended with all that they started. On a
//! thread of its own, which needs nothing else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::{Ending, Line, ProcessEvent, Processes, Program, StartError, Stream, Waker};

/// Orders that wait for the thread.
const ORDERS: usize = 256;
/// How long a command that is to end may take until it is killed.
const GRACE: Duration = Duration::from_secs(1);
/// Most bytes of what a command prints that are kept.
const PRINTED: usize = 4 * 1024;

/// Why a command has not succeeded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandFailure {
    /// More orders wait than can.
    #[error("too many commands are wanted at once")]
    TooManyWanted,
    /// As many run as may.
    #[error("{most} commands run already, the most that may")]
    TooManyRun {
        /// How many that are.
        most: usize,
    },
    /// Nobody runs commands any more.
    #[error("commands are not run any more: Cortex is shutting down")]
    ShuttingDown,
    /// The program can't be started.
    #[error("{0}")]
    NotStarted(StartError),
    /// It took longer than it may. However it takes that: what was cut short has not done its work.
    #[error("it took too long, and was ended")]
    TookTooLong,
    /// It was not wanted any more.
    #[error("it was cancelled, and was ended")]
    Cancelled,
    /// It says so itself.
    #[error("{}", if .words.is_empty() { format!("it ended with {ending}") } else { format!("{ending}: {words}") })]
    Ended {
        /// How.
        ending: Ending,
        /// The beginning of what it printed about that.
        words: String,
    },
}

/// What came of a command: the beginning of what it printed.
pub type CommandResult = Result<String, CommandFailure>;

/// Hears what came of a command, on the thread of the commands: it must not wait.
type Done = Box<dyn FnOnce(CommandResult) + Send>;

/// A command that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandNumber(u64);

/// Starts commands and waits for them. Ends all of them when it is dropped.
#[derive(Debug)]
pub struct CommandRunner {
    orders: SyncSender<Order>,
    waker: Waker,
    numbers: AtomicU64,
    /// Counts how often all were ended: beside the orders, of which one may find no place.
    stops: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

enum Order {
    Run { command: CommandNumber, stop: u64, program: Program, until: Instant, done: Done },
    Stop(CommandNumber),
    End,
}

/// What the running commands have printed, by their names in the log.
type Prints = Arc<Mutex<BTreeMap<String, Printed>>>;

#[derive(Default)]
struct Printed {
    output: String,
    error: String,
}

impl CommandRunner {
    /// Runs at most `most` commands at a time, and refuses what comes then. `guard` has the processes ended when this process
    /// dies.
    ///
    /// # Errors
    /// When the thread or the reaper can't be started.
    pub fn start<E: From<std::io::Error>>(
        most: usize,
        guard: impl FnOnce(Processes) -> Result<Processes, E>,
    ) -> Result<Self, E> {
        let prints = Prints::default();
        let kept = Arc::clone(&prints);
        let processes = guard(Processes::with_sink(move |line| keep(&kept, line))?)?;
        let (orders, waiting) = sync_channel(ORDERS);
        let waker = processes.waker();
        let stops = Arc::new(AtomicU64::new(0));
        let running = BTreeMap::new();
        let work = Work { most, processes, waiting, prints, running, stops: Arc::clone(&stops), stopped: 0 };
        let thread = std::thread::Builder::new().name("commands".to_owned()).spawn(move || work.run())?;
        Ok(Self { orders, waker, numbers: AtomicU64::new(1), stops, thread: Some(thread) })
    }

    /// Runs a program, and tells what came of it. When it takes longer than `limit`, it is ended.
    ///
    /// # Errors
    /// When it can't be begun; then `done` is not told.
    pub fn begin(
        &self,
        mut program: Program,
        limit: Duration,
        done: impl FnOnce(CommandResult) + Send + 'static,
    ) -> Result<CommandNumber, CommandFailure> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        program.name = format!("{} #{number}", program.name);
        let now = Instant::now();
        let until = now.checked_add(limit).unwrap_or(now);
        let (command, stop) = (CommandNumber(number), self.stops.load(Ordering::SeqCst));
        self.order(Order::Run { command, stop, program, until, done: Box::new(done) })?;
        Ok(command)
    }

    /// Ends a command. One that has ended needs nothing; where so many orders wait that this one can't, it is ended when
    /// its time is over.
    pub fn stop(&self, command: CommandNumber) {
        let _ = self.order(Order::Stop(command));
    }

    /// Ends all that were begun before: what runs is ended, and what waits is never started.
    pub fn stop_all(&self) {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.waker.wake();
    }

    fn order(&self, order: Order) -> Result<(), CommandFailure> {
        let sent = self.orders.try_send(order);
        self.waker.wake();
        sent.map_err(|_| CommandFailure::TooManyWanted)
    }
}

impl Drop for CommandRunner {
    fn drop(&mut self) {
        // Where many orders wait, the thread makes room.
        self.waker.wake();
        let _ = self.orders.send(Order::End);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // It ends within the grace of its commands. A panic of it has ended them, too.
            let _ = thread.join();
        }
    }
}

fn keep(prints: &Prints, line: Line<'_>) {
    tracing::info!(command = line.name, "{}", line.text);
    let mut prints = lock(prints);
    let Some(printed) = prints.get_mut(line.name) else { return };
    let text = match line.stream {
        Stream::Output => &mut printed.output,
        Stream::Error => &mut printed.error,
    };
    if text.len() + line.text.len() < PRINTED {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line.text);
    }
}

fn lock(prints: &Prints) -> MutexGuard<'_, BTreeMap<String, Printed>> {
    prints.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread.
struct Work {
    /// Most commands at a time.
    most: usize,
    processes: Processes,
    waiting: Receiver<Order>,
    prints: Prints,
    running: BTreeMap<u64, Command>,
    stops: Arc<AtomicU64>,
    /// The stops that were carried out.
    stopped: u64,
}

struct Command {
    name: String,
    until: Instant,
    /// Why it is being ended.
    ended_for: Option<End>,
    done: Done,
}

/// Why a command is ended.
#[derive(Debug, Clone, Copy)]
enum End {
    TookTooLong,
    Cancelled,
}

impl Work {
    fn run(mut self) {
        loop {
            let due = self.running.values().filter(|command| command.ended_for.is_none()).map(|command| command.until);
            let patience = due.min().map(|due| due.saturating_duration_since(Instant::now()));
            for ProcessEvent::Ended { number, ending } in self.processes.wait(patience) {
                self.ended(number, ending);
            }
            self.stop_all();
            for _ in 0..ORDERS {
                match self.waiting.try_recv() {
                    // Looked at last: what waited may not be wanted any more.
                    Ok(Order::Run { stop, done, .. }) if stop != self.stops.load(Ordering::SeqCst) => {
                        done(Err(CommandFailure::Cancelled));
                    }
                    Ok(Order::Run { until, done, .. }) if until <= Instant::now() => {
                        done(Err(CommandFailure::TookTooLong));
                    }
                    Ok(Order::Run { command, program, until, done, .. }) => {
                        self.begin(command.0, program, until, done);
                    }
                    Ok(Order::Stop(command)) => self.stop(command.0, End::Cancelled),
                    // Those that run are ended with the processes.
                    Ok(Order::End) | Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                    Err(std::sync::mpsc::TryRecvError::Empty) => break,
                }
            }
            let now = Instant::now();
            let overdue: Vec<u64> =
                self.running.iter().filter(|(_, command)| command.until <= now).map(|(number, _)| *number).collect();
            for number in overdue {
                self.stop(number, End::TookTooLong);
            }
        }
    }

    /// Ends what runs, if that was wanted since.
    fn stop_all(&mut self) {
        let stops = self.stops.load(Ordering::SeqCst);
        if std::mem::replace(&mut self.stopped, stops) != stops {
            let all: Vec<u64> = self.running.keys().copied().collect();
            all.into_iter().for_each(|number| self.stop(number, End::Cancelled));
        }
    }

    fn begin(&mut self, number: u64, program: Program, until: Instant, done: Done) {
        if self.running.len() >= self.most {
            return done(Err(CommandFailure::TooManyRun { most: self.most }));
        }
        let name = program.name.clone();
        lock(&self.prints).insert(name.clone(), Printed::default());
        match self.processes.start(number, program) {
            Ok(_) => {
                self.running.insert(number, Command { name, until, ended_for: None, done });
            }
            Err(problem) => {
                lock(&self.prints).remove(&name);
                done(Err(CommandFailure::NotStarted(problem)));
            }
        }
    }

    fn stop(&mut self, number: u64, why: End) {
        if let Some(command) = self.running.get_mut(&number)
            && command.ended_for.is_none()
        {
            command.ended_for = Some(why);
            self.processes.stop(number, GRACE);
        }
    }

    fn ended(&mut self, number: u64, ending: Ending) {
        let Some(command) = self.running.remove(&number) else { return };
        let printed = lock(&self.prints).remove(&command.name).unwrap_or_default();
        let outcome = match (command.ended_for, ending) {
            (Some(End::TookTooLong), _) => Err(CommandFailure::TookTooLong),
            (Some(End::Cancelled), _) => Err(CommandFailure::Cancelled),
            (None, Ending::Exited { status: 0 }) => Ok(printed.output.trim().to_owned()),
            (None, ending) => {
                let words = printed.error.trim();
                let words = if words.is_empty() { printed.output.trim() } else { words }.to_owned();
                Err(CommandFailure::Ended { ending, words })
            }
        };
        (command.done)(outcome);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn runner() -> CommandRunner {
        CommandRunner::start(2, Ok::<_, std::io::Error>).unwrap()
    }

    fn shell(script: &str) -> Program {
        Program {
            name: "test".into(),
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            ..Program::default()
        }
    }

    /// Where what came of a program will be told.
    fn begin(runner: &CommandRunner, program: Program, limit: Duration) -> Receiver<CommandResult> {
        let (done, told) = sync_channel(1);
        runner.begin(program, limit, move |result| done.send(result).unwrap()).unwrap();
        told
    }

    fn run(runner: &CommandRunner, script: &str, limit: Duration) -> Result<String, String> {
        begin(runner, shell(script), limit).recv_timeout(LONG * 2).unwrap().map_err(|failure| failure.to_string())
    }

    fn wait_for(what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < LONG, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_command_gives_what_it_printed_and_a_failure_its_reason() {
        let runner = runner();
        assert_eq!(run(&runner, "echo one; echo two", LONG), Ok("one\ntwo".into()));
        assert_eq!(run(&runner, "echo no >&2; exit 3", LONG), Err("exit status 3: no".into()));
        let missing = Program { program: "/no/such".into(), ..Program::default() };
        let problem = begin(&runner, missing, LONG).recv_timeout(LONG).unwrap().unwrap_err().to_string();
        assert!(problem.contains("/no/such can't be started"), "{problem}");
    }

    #[test]
    fn one_that_takes_too_long_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("child");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let problem = run(&runner(), &script, Duration::from_millis(500)).unwrap_err();
        assert_eq!(problem, "it took too long, and was ended");
        let child = std::fs::read_to_string(file).unwrap();
        // It was sent SIGKILL, which it dies of when it is its turn; nobody here is told when.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        wait_for("the child is gone", || state().is_empty() || state().contains(") Z"));
    }

    /// Says that all is well when it is told to end. Makes the file when it has begun.
    fn polite(file: &Path) -> String {
        format!("trap 'exit 0' TERM; touch {}; while :; do sleep 0.01; done", file.display())
    }

    #[test]
    fn one_that_exits_well_when_it_is_ended_has_not_succeeded() {
        let folder = tempfile::tempdir().unwrap();
        let (slow, cancelled) = (folder.path().join("slow"), folder.path().join("cancelled"));
        let runner = runner();
        let ended = run(&runner, &polite(&slow), Duration::from_millis(500));
        assert_eq!(ended, Err("it took too long, and was ended".into()));
        assert!(slow.exists(), "it had set its trap");
        let told = begin(&runner, shell(&polite(&cancelled)), LONG);
        wait_for("it has begun", || cancelled.exists());
        runner.stop_all();
        let failure = told.recv_timeout(LONG).unwrap().unwrap_err();
        assert!(matches!(failure, CommandFailure::Cancelled), "{failure}");
    }

    #[test]
    fn one_is_ended_and_the_others_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        let runner = runner();
        let other = begin(&runner, shell(&format!("until [ -e {} ]; do sleep 0.01; done", go.display())), LONG);
        let (done, told) = sync_channel(1);
        let number = runner.begin(shell("sleep 1000"), LONG, move |result| done.send(result).unwrap()).unwrap();
        runner.stop(number);
        assert!(matches!(told.recv_timeout(LONG).unwrap(), Err(CommandFailure::Cancelled)));
        std::fs::write(&go, "").unwrap();
        assert!(other.recv_timeout(LONG).unwrap().is_ok());
    }

    /// The robot was stopped, and what had waited was started then.
    #[test]
    fn regression_what_waits_when_all_are_ended_is_never_started() {
        let folder = tempfile::tempdir().unwrap();
        let late = folder.path().join("late");
        let runner = runner();
        let (go_on, goes_on) = sync_channel::<()>(0);
        let (begun, is_busy) = sync_channel(1);
        let (done, told) = sync_channel(4);
        let first = done.clone();
        // The thread is busy with what came of the first.
        let busy = move |_: CommandResult| {
            begun.send(()).unwrap();
            let _ = goes_on.recv();
            first.send("first".to_owned()).unwrap();
        };
        runner.begin(shell("true"), LONG, busy).unwrap();
        is_busy.recv_timeout(LONG).unwrap();
        let script = format!("touch {}", late.display());
        let tell = move |result: CommandResult| done.send(format!("{:?}", result.is_err())).unwrap();
        runner.begin(shell(&script), LONG, tell).unwrap();
        runner.stop_all();
        drop(go_on);
        assert_eq!(told.recv_timeout(LONG).unwrap(), "first");
        assert_eq!(told.recv_timeout(LONG).unwrap(), "true", "it was cancelled");
        assert!(!late.exists());
    }

    #[test]
    fn more_than_may_run_are_refused() {
        let runner = runner();
        let _both = [begin(&runner, shell("sleep 1000"), LONG), begin(&runner, shell("sleep 1000"), LONG)];
        assert_eq!(run(&runner, "true", LONG), Err("2 commands run already, the most that may".into()));
    }

    #[test]
    fn what_prints_without_end_is_cut() {
        let script = "i=0; while [ $i -lt 400 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done";
        assert!(run(&runner(), script, LONG).unwrap().len() <= PRINTED);
    }

    #[test]
    fn what_runs_is_ended_with_its_runner() {
        let runner = runner();
        let told = begin(&runner, shell("sleep 1000"), LONG);
        drop(runner);
        assert!(told.recv_timeout(LONG).is_err(), "nobody is told any more");
    }
}
