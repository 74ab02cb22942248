//! What the monitor's thread does.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use cortex_monitor::health::Ending as MonitorEnding;
use cortex_monitor::{ActionResult, AttemptId, Effect, Input, Monitor, MonitorEvent, ProcessNumber};
use cortex_process::{CommandFailure, CommandResult, CommandRunner, Ending, ProcessEvent, Processes, Program};
use cortex_protocol::ComponentName;
use cortex_recipe::binding::bind_nothing;
use cortex_recipe::{ActionKind, ActionName, Recipe};

use crate::program;
use crate::{ActionExecutor, Handle, Stops};

/// The longest wait: who watches that the thread goes on wants to see it move.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What comes from elsewhere.
pub(crate) struct Inbox {
    /// Inputs, as far as they were not lost.
    pub(crate) waiting: Receiver<Input>,
    /// Whether the robot is to be brought down.
    pub(crate) ending: Arc<AtomicBool>,
}

/// Results of commands that wait for the thread, at most: far more than commands run.
const RESULTS: usize = 8_192;

/// What came of commands.
struct CommandResults {
    sender: SyncSender<(AttemptId, ActionResult)>,
    received: Receiver<(AttemptId, ActionResult)>,
}

impl CommandResults {
    fn new() -> Self {
        let (sender, received) = sync_channel(RESULTS);
        Self { sender, received }
    }
}

/// The state of the thread.
pub(crate) struct EventLoop<H> {
    recipe: Recipe,
    folder: PathBuf,
    monitor: Monitor,
    processes: Processes,
    /// None where the recipe has no commands.
    commands: Option<CommandRunner>,
    handle: Handle,
    /// What came of commands: beside the inputs, which may be lost.
    results: CommandResults,
    inbox: Inbox,
    is_ending: bool,
    /// The last that was seen of it.
    stops: Stops,
    /// Whether the monitor waits for [`Input::CallsFlushed`].
    flushes_calls: bool,
    /// What came of effects at once.
    answers: VecDeque<Input>,
    executor: H,
    begun: Instant,
    not_stopped: Vec<ComponentName>,
}

impl<H: ActionExecutor> EventLoop<H> {
    pub(crate) fn new(
        recipe: Recipe,
        folder: PathBuf,
        processes: Processes,
        commands: Option<CommandRunner>,
        inbox: Inbox,
        executor: H,
        handle: Handle,
    ) -> Self {
        Self {
            monitor: Monitor::new(&recipe),
            folder: program::full(&folder),
            recipe,
            processes,
            commands,
            handle,
            results: CommandResults::new(),
            inbox,
            is_ending: false,
            stops: Stops::default(),
            flushes_calls: false,
            answers: VecDeque::new(),
            executor,
            begun: Instant::now(),
            not_stopped: Vec::new(),
        }
    }

    /// How long it takes at most to bring the robot down.
    pub(crate) fn down_within(&self) -> Duration {
        self.monitor.down_within()
    }

    /// Works until everything is down; gives what is not.
    pub(crate) fn run(mut self, liveness: &AtomicU64) -> Vec<ComponentName> {
        while !self.monitor.is_finished() {
            liveness.fetch_add(1, Ordering::Relaxed);
            let events = self.processes.wait(Some(self.patience()));
            self.look_at_stop();
            if !self.is_ending && self.inbox.ending.load(Ordering::SeqCst) {
                self.is_ending = true;
                self.take(Input::ShutDown);
            }
            for ProcessEvent::Ended { number, ending } in events {
                self.take(Input::ProcessEnded { process: ProcessNumber(number), ending: ending_of(ending) });
            }
            while let Ok((attempt, outcome)) = self.results.received.try_recv() {
                self.take(Input::ActionEnded { attempt, outcome });
            }
            // No more than can wait, so that those who talk without end do not keep it from the rest.
            for _ in 0..crate::INPUT_CAPACITY {
                let Some(input) = self.next_input() else { break };
                // First: what was refused because of a stop comes after it.
                self.look_at_stop();
                self.take(input);
            }
            if self.monitor.next_wake().is_some_and(|wake| wake <= self.begun.elapsed()) {
                self.take(Input::Tick);
            }
        }
        self.not_stopped
    }

    /// What waits; and when nothing does, the answer to [`Effect::FlushCalls`]. Only then: an older word of the calls must not
    /// follow it.
    fn next_input(&mut self) -> Option<Input> {
        let waiting = self.inbox.waiting.try_recv().ok();
        waiting.or_else(|| {
            if !std::mem::take(&mut self.flushes_calls) {
                return None;
            }
            for (component, goals) in self.executor.calls() {
                self.take(Input::GoalsChanged { component, goals });
            }
            Some(Input::CallsFlushed)
        })
    }

    /// Ends what commands do once the robot is stopped, and tells the monitor of that, and of the resume.
    fn look_at_stop(&mut self) {
        let now = self.executor.stops();
        let before = std::mem::replace(&mut self.stops, now);
        // It may have been resumed since.
        let was_stopped = now.count != before.count || now.is_stopped && !before.is_stopped;
        if was_stopped {
            if let Some(commands) = &self.commands {
                commands.stop_all();
            }
            self.take(Input::Stopped);
        }
        if !now.is_stopped && (was_stopped || before.is_stopped) {
            self.take(Input::Resumed);
        }
    }

    /// How long there is nothing to do if nothing happens.
    fn patience(&self) -> Duration {
        if self.flushes_calls {
            return Duration::ZERO;
        }
        let wake = self.monitor.next_wake().map(|wake| wake.saturating_sub(self.begun.elapsed()));
        wake.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)
    }

    /// Gives the monitor an input, and does what it wants, with what comes of that at once.
    fn take(&mut self, input: Input) {
        self.answers.push_back(input);
        while let Some(input) = self.answers.pop_front() {
            for effect in self.monitor.handle(self.begun.elapsed(), input) {
                self.carry_out(&effect);
            }
        }
    }

    fn carry_out(&mut self, effect: &Effect) {
        match effect {
            Effect::StartProcess { component, process } => self.start(component, *process),
            Effect::StopProcess { process, grace, .. } => self.processes.stop(process.0, *grace),
            Effect::Act { attempt, action, limit, .. } => self.act(*attempt, action, *limit),
            Effect::Report { event } => log(event),
            Effect::NotifyOperator { component, message } => tracing::error!(%component, "needs a person: {message}"),
            Effect::Finished { not_stopped } => self.not_stopped.clone_from(not_stopped),
            Effect::FlushCalls => self.flushes_calls = true,
            Effect::Change { .. }
            | Effect::Quarantine { .. }
            | Effect::EndCalls { .. }
            | Effect::Release { .. }
            | Effect::FailOver { .. }
            | Effect::PauseMissions { .. }
            | Effect::ResumeMissions => {}
        }
        self.executor.carry_out(effect);
    }

    fn start(&mut self, component: &ComponentName, process: ProcessNumber) {
        let Some(program) = program::of_component(&self.recipe, &self.folder, component) else {
            let reason = "something else starts it".to_owned();
            return self.answers.push_back(Input::ProcessNotStarted { process, reason });
        };
        self.answers.push_back(match self.processes.start(process.0, program) {
            Ok(_) => {
                self.executor.limits(component, self.processes.unlimited(process.0));
                Input::ProcessStarted { process }
            }
            Err(problem) => Input::ProcessNotStarted { process, reason: problem.to_string() },
        });
    }

    /// Runs the command of an action; the others are for the action executor.
    fn act(&mut self, attempt: AttemptId, action: &ActionName, limit: Duration) {
        let known = self.recipe.actions.get(action);
        let Some(Ok(ActionKind::Command(command))) = known.map(bind_nothing) else { return };
        let program = Program {
            name: action.to_string(),
            program: program::program(&command.program, &self.folder),
            arguments: command.arguments,
            environment: command.environment,
            ..Program::default()
        };
        let Some(permit) = self.executor.stop_permit(action) else {
            return self.answers.push_back(Input::ActionEnded { attempt, outcome: ActionResult::Stopped });
        };
        let (handle, results, name) = (self.handle.clone(), self.results.sender.clone(), action.clone());
        let done = move |result| {
            // First: a stop that comes now finds nothing that runs.
            drop(permit);
            // The thread may have ended. More than there is room for can't run.
            let _ = results.try_send((attempt, outcome_of(&name, result)));
            handle.wake();
        };
        let begun = match &self.commands {
            Some(commands) => commands.begin(program, limit, done).map(|_| ()),
            None => Err(CommandFailure::ShuttingDown),
        };
        if let Err(problem) = begun {
            self.answers.push_back(Input::ActionEnded { attempt, outcome: outcome_of(action, Err(problem)) });
        }
    }
}

fn outcome_of(action: &ActionName, result: CommandResult) -> ActionResult {
    let reason = match result {
        Ok(_) => return ActionResult::Done,
        // Only a stop does that here.
        Err(CommandFailure::Cancelled) => return ActionResult::Stopped,
        Err(CommandFailure::TookTooLong) => "the action took too long".to_owned(),
        // It goes to people and, as the reason of a quarantine, to models; all that it printed is in the log.
        Err(CommandFailure::Ended { ending, .. }) => format!("the command ended with {ending}"),
        Err(failure) => failure.to_string(),
    };
    // Nobody waits for what is done when everything else was given up.
    tracing::warn!("{action}: {reason}");
    ActionResult::Failed { reason }
}

fn ending_of(ending: Ending) -> MonitorEnding {
    match ending {
        Ending::Exited { status } => MonitorEnding::Exited { status },
        Ending::Signalled { signal, by_us } => MonitorEnding::Signalled { signal, by_us },
        Ending::OutOfMemory { limit_bytes } => MonitorEnding::OutOfMemory { limit_bytes },
    }
}

fn log(event: &MonitorEvent) {
    use cortex_monitor::Health;
    match event {
        MonitorEvent::HealthChanged { health: Health::Failed { .. }, .. }
        | MonitorEvent::AttemptFailed { .. }
        | MonitorEvent::RateLimitReached => tracing::warn!("{event}"),
        MonitorEvent::GaveUp { .. } => tracing::error!("{event}"),
        _ => tracing::info!("{event}"),
    }
}
