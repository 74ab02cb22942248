//! Runs the commands of a recipe for tools and events: each with a bound on its time and its output, ended with all that it
//! started. On a thread of its own, which needs nothing else of Cortex.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cortex_process::{Ending, Line, ProcessEvent, Processes, Program, Stream, Waker};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Most commands at a time; what comes then is refused.
const AT_ONCE: usize = 16;
/// Orders that wait for the thread.
const ORDERS: usize = 256;
/// How long a command that is to end may take until it is killed.
const GRACE: Duration = Duration::from_secs(1);
/// Most bytes of what a command prints that are kept.
const PRINTED: usize = 4 * 1024;

/// Starts commands and waits for them. Ends all of them when it is dropped.
pub(crate) struct CommandRunner {
    orders: SyncSender<Order>,
    waker: Waker,
    numbers: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

enum Order {
    Run { number: u64, program: Program, until: Instant, done: oneshot::Sender<Result<String, String>> },
    Stop { number: u64 },
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
    /// `guard` has the processes ended when Cortex dies.
    ///
    /// # Errors
    /// When the thread or the guard can't be started.
    pub(crate) fn start(guard: impl FnOnce(Processes) -> anyhow::Result<Processes>) -> anyhow::Result<Self> {
        let prints = Prints::default();
        let kept = Arc::clone(&prints);
        let processes = guard(Processes::with_sink(move |line| keep(&kept, line))?)?;
        let (orders, waiting) = sync_channel(ORDERS);
        let waker = processes.waker();
        let work = Work { processes, waiting, prints, running: BTreeMap::new() };
        let thread = std::thread::Builder::new().name("commands".to_owned()).spawn(move || work.run())?;
        Ok(Self { orders, waker, numbers: AtomicU64::new(1), thread: Some(thread) })
    }

    /// Runs a program to its end; gives what it printed. When it takes longer than `limit`, or is no longer wanted, it is
    /// ended; so it is when the future is dropped.
    ///
    /// # Errors
    /// Why it did not succeed, in words for people.
    pub(crate) async fn run(
        &self,
        mut program: Program,
        limit: Duration,
        unwanted: &CancellationToken,
    ) -> Result<String, String> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        program.name = format!("{} #{number}", program.name);
        let now = Instant::now();
        let until = now.checked_add(limit).unwrap_or(now);
        let (done, mut ended) = oneshot::channel();
        self.order(Order::Run { number, program, until, done })?;
        let _stopping = StopOnDrop { runner: self, number };
        let gone = |_| Err("commands are not run any more: Cortex is shutting down".to_owned());
        tokio::select! {
            biased;
            ended = &mut ended => return ended.unwrap_or_else(gone),
            () = unwanted.cancelled() => {}
        }
        self.order(Order::Stop { number })?;
        ended.await.unwrap_or_else(gone)
    }

    fn order(&self, order: Order) -> Result<(), String> {
        let sent = self.orders.try_send(order);
        self.waker.wake();
        sent.map_err(|_| "too many commands are wanted at once".to_owned())
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

/// Nobody waits for it any more.
struct StopOnDrop<'a> {
    runner: &'a CommandRunner,
    number: u64,
}

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        // One that has ended needs nothing; one that can't be told is ended when its time is over.
        let _ = self.runner.order(Order::Stop { number: self.number });
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
    processes: Processes,
    waiting: Receiver<Order>,
    prints: Prints,
    running: BTreeMap<u64, Command>,
}

struct Command {
    name: String,
    until: Instant,
    /// Why it is being ended.
    ended_for: Option<&'static str>,
    done: oneshot::Sender<Result<String, String>>,
}

impl Work {
    fn run(mut self) {
        loop {
            let due = self.running.values().filter(|command| command.ended_for.is_none()).map(|command| command.until);
            let patience = due.min().map(|due| due.saturating_duration_since(Instant::now()));
            for ProcessEvent::Ended { number, ending } in self.processes.wait(patience) {
                self.ended(number, ending);
            }
            for _ in 0..ORDERS {
                match self.waiting.try_recv() {
                    Ok(Order::Run { number, program, until, done }) => self.begin(number, program, until, done),
                    Ok(Order::Stop { number }) => self.stop(number, "it was cancelled"),
                    // Those that run are ended with the processes.
                    Ok(Order::End) | Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                    Err(std::sync::mpsc::TryRecvError::Empty) => break,
                }
            }
            let now = Instant::now();
            let overdue: Vec<u64> =
                self.running.iter().filter(|(_, command)| command.until <= now).map(|(number, _)| *number).collect();
            for number in overdue {
                self.stop(number, "it took too long");
            }
        }
    }

    fn begin(&mut self, number: u64, program: Program, until: Instant, done: oneshot::Sender<Result<String, String>>) {
        if self.running.len() >= AT_ONCE {
            // Whoever asked may have left; here and below.
            let _ = done.send(Err(format!("{AT_ONCE} commands run already, the most that may")));
            return;
        }
        let name = program.name.clone();
        lock(&self.prints).insert(name.clone(), Printed::default());
        match self.processes.start(number, program) {
            Ok(_) => {
                self.running.insert(number, Command { name, until, ended_for: None, done });
            }
            Err(problem) => {
                lock(&self.prints).remove(&name);
                let _ = done.send(Err(problem.to_string()));
            }
        }
    }

    fn stop(&mut self, number: u64, why: &'static str) {
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
            // However it takes that: what was cut short has not done its work, also where it then says that all is well.
            (Some(why), _) => Err(format!("{why}, and was ended")),
            (None, Ending::Exited { status: 0 }) => Ok(printed.output.trim().to_owned()),
            (None, ending) => {
                let words = printed.error.trim();
                let words = if words.is_empty() { printed.output.trim() } else { words };
                Err(if words.is_empty() { format!("it ended with {ending}") } else { format!("{ending}: {words}") })
            }
        };
        let _ = command.done.send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner() -> CommandRunner {
        CommandRunner::start(Ok).unwrap()
    }

    fn shell(script: &str) -> Program {
        Program {
            name: "test".into(),
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            ..Program::default()
        }
    }

    async fn run(runner: &CommandRunner, script: &str, limit: Duration) -> Result<String, String> {
        runner.run(shell(script), limit, &CancellationToken::new()).await
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_command_gives_what_it_printed_and_a_failure_its_reason() {
        let runner = runner();
        assert_eq!(run(&runner, "echo one; echo two", LONG).await, Ok("one\ntwo".into()));
        assert_eq!(run(&runner, "echo no >&2; exit 3", LONG).await, Err("exit status 3: no".into()));
        let missing = Program { program: "/no/such".into(), ..Program::default() };
        let problem = runner.run(missing, LONG, &CancellationToken::new()).await.unwrap_err();
        assert!(problem.contains("/no/such can't be started"), "{problem}");
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_ended_with_its_children() {
        let runner = runner();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("child");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let problem = run(&runner, &script, Duration::from_millis(500)).await.unwrap_err();
        assert_eq!(problem, "it took too long, and was ended");
        let child = std::fs::read_to_string(file).unwrap();
        // It was sent SIGKILL, which it dies of when it is its turn; nobody here is told when.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        let begun = Instant::now();
        while !(state().is_empty() || state().contains(") Z")) {
            assert!(begun.elapsed() < LONG, "the child is gone: {}", state());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn one_that_is_not_wanted_any_more_is_ended() {
        let runner = runner();
        let unwanted = CancellationToken::new();
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("begun");
        let running = runner.run(shell(&format!("touch {}; sleep 1000", pipe.display())), LONG, &unwanted);
        let cancel = async {
            while !pipe.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            unwanted.cancel();
        };
        let (ended, ()) = tokio::join!(running, cancel);
        assert_eq!(ended, Err("it was cancelled, and was ended".into()));
    }

    /// Says that all is well when it is told to end. Makes the file when it has begun.
    fn polite(file: &std::path::Path) -> String {
        format!("trap 'exit 0' TERM; touch {}; while :; do sleep 0.01; done", file.display())
    }

    #[tokio::test]
    async fn one_that_exits_well_when_it_is_ended_for_its_time_has_not_succeeded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("begun");
        let ended = run(&runner(), &polite(&file), Duration::from_millis(500)).await;
        assert_eq!(ended, Err("it took too long, and was ended".into()));
        assert!(file.exists(), "it had set its trap");
    }

    #[tokio::test]
    async fn one_that_exits_well_when_it_is_cancelled_has_not_succeeded() {
        let (runner, unwanted) = (runner(), CancellationToken::new());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("begun");
        let running = runner.run(shell(&polite(&file)), LONG, &unwanted);
        let cancel = async {
            while !file.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            unwanted.cancel();
        };
        let (ended, ()) = tokio::join!(running, cancel);
        assert_eq!(ended, Err("it was cancelled, and was ended".into()));
    }

    #[tokio::test]
    async fn what_prints_without_end_is_cut() {
        let runner = runner();
        let printed = run(
            &runner,
            "i=0; while [ $i -lt 400 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done",
            LONG,
        );
        assert!(printed.await.unwrap().len() <= PRINTED);
    }
}
