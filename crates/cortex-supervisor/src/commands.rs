//! Commands that fallbacks run: programs with a bound on their time, whose exit status says how it went.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cortex_monitor::{AttemptId, DeedOutcome};
use cortex_process::Ending;

use crate::Leave;

/// Numbers of commands among the processes; those of components are far below.
const FIRST_NUMBER: u64 = 1 << 63;

/// How long a command that took too long, or that a stop ends, may take to end.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The commands that run.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    started: u64,
    running: BTreeMap<u64, Command>,
}

#[derive(Debug)]
struct Command {
    attempt: AttemptId,
    until: Instant,
    end: End,
    /// Given back when it has ended.
    _leave: Leave,
}

/// Why a command was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It was not.
    Unasked,
    TooLong,
    Stopped,
}

impl Commands {
    /// Notes one that is started now; gives its number.
    pub(crate) fn begin(&mut self, attempt: AttemptId, limit: Duration, leave: Leave) -> u64 {
        let number = FIRST_NUMBER.saturating_add(self.started);
        self.started += 1;
        let now = Instant::now();
        let until = now.checked_add(limit).unwrap_or(now);
        self.running.insert(number, Command { attempt, until, end: End::Unasked, _leave: leave });
        number
    }

    /// Takes note of an end. None: it was no command.
    pub(crate) fn ended(&mut self, number: u64, ending: Ending) -> Option<(AttemptId, DeedOutcome)> {
        let command = self.running.remove(&number)?;
        let outcome = match (command.end, ending) {
            // However it takes that: what was cut short has not done its work, also where it then says that all is well.
            (End::Stopped, _) => DeedOutcome::Stopped,
            (End::TooLong, _) => DeedOutcome::Failed { reason: "the command took too long".to_owned() },
            (End::Unasked, Ending::Exited { status: 0 }) => DeedOutcome::Done,
            (End::Unasked, ending) => DeedOutcome::Failed { reason: format!("the command ended with {ending}") },
        };
        Some((command.attempt, outcome))
    }

    /// Those whose time is over now, each once.
    pub(crate) fn overdue(&mut self) -> Vec<u64> {
        let now = Instant::now();
        self.end(End::TooLong, |command| command.until <= now)
    }

    /// All that were not told to end already: the robot is stopped.
    pub(crate) fn stopped(&mut self) -> Vec<u64> {
        self.end(End::Stopped, |_| true)
    }

    fn end(&mut self, why: End, which: impl Fn(&Command) -> bool) -> Vec<u64> {
        let to_end = self.running.iter_mut().filter(|(_, command)| command.end == End::Unasked && which(command));
        to_end
            .map(|(number, command)| {
                command.end = why;
                *number
            })
            .collect()
    }

    /// When the next one's time is over.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.running.values().filter(|command| command.end == End::Unasked).map(|command| command.until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: Ending = Ending::Exited { status: 0 };

    fn begin(commands: &mut Commands, limit: Duration) -> u64 {
        commands.begin(AttemptId(1), limit, Box::new(()))
    }

    fn outcome(commands: &mut Commands, number: u64, ending: Ending) -> DeedOutcome {
        commands.ended(number, ending).unwrap().1
    }

    #[test]
    fn a_command_that_was_ended_has_not_succeeded_whatever_it_says() {
        let mut commands = Commands::default();
        let stopped = begin(&mut commands, Duration::from_secs(60));
        assert_eq!(commands.stopped(), [stopped]);
        assert_eq!(outcome(&mut commands, stopped, WELL), DeedOutcome::Stopped);
        let slow = begin(&mut commands, Duration::ZERO);
        assert_eq!(commands.overdue(), [slow]);
        let reason = "the command took too long".to_owned();
        assert_eq!(outcome(&mut commands, slow, WELL), DeedOutcome::Failed { reason });
    }

    #[test]
    fn a_command_that_ends_by_itself_is_judged_by_its_status() {
        let mut commands = Commands::default();
        let number = begin(&mut commands, Duration::from_secs(60));
        assert_eq!(outcome(&mut commands, number, WELL), DeedOutcome::Done);
        let number = begin(&mut commands, Duration::from_secs(60));
        let reason = "the command ended with exit status 3".to_owned();
        assert_eq!(outcome(&mut commands, number, Ending::Exited { status: 3 }), DeedOutcome::Failed { reason });
    }
}
