//! The beginning of a goal: whoever comes first sends it or takes it back.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a goal was sent. Its lock is held for a moment only, never while something is sent: a stop wants it, too, and a
/// goal that is stuck in the middleware must not keep it from ending the others.
pub(super) struct Begin<R, T>(Mutex<Stage<R, T>>);

enum Stage<R, T> {
    /// With what will be sent.
    ToCome(R),
    /// It is being sent, could not be sent, or was taken back.
    Taken,
    /// With what follows it.
    Sent(T),
}

impl<R, T> Begin<R, T> {
    /// Not sent yet.
    pub(super) fn with(request: R) -> Self {
        Self(Mutex::new(Stage::ToCome(request)))
    }

    /// Whether nobody has sent it or taken it back.
    pub(super) fn is_to_come(&self) -> bool {
        matches!(&*self.lock(), Stage::ToCome(_))
    }

    /// Sends it, unless somebody did or has taken it back. `send` gives what follows it.
    pub(super) fn send<E>(&self, send: impl FnOnce(R) -> Result<T, E>) -> Result<(), E> {
        let Some(request) = self.take() else { return Ok(()) };
        let task = send(request)?;
        *self.lock() = Stage::Sent(task);
        Ok(())
    }

    /// Takes it back. False where it was sent, or is being sent in this moment, which counts as sent.
    pub(super) fn withdraw(&self) -> bool {
        self.take().is_some()
    }

    fn take(&self) -> Option<R> {
        let mut stage = self.lock();
        match std::mem::replace(&mut *stage, Stage::Taken) {
            Stage::ToCome(request) => Some(request),
            other => {
                *stage = other;
                None
            }
        }
    }

    /// What follows it.
    pub(super) fn task(&mut self) -> Option<&T> {
        match self.0.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Stage::Sent(task) => Some(task),
            Stage::ToCome(_) | Stage::Taken => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stage<R, T>> {
        // What is in it is whole at every moment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_goal_is_sent_once_or_taken_back_whoever_comes_first() {
        let mut sent: Begin<&str, u8> = Begin::with("goal");
        assert!(sent.is_to_come());
        for _ in 0..2 {
            assert_eq!(sent.send(|_| Ok::<_, ()>(7)), Ok(()));
            assert_eq!((sent.is_to_come(), sent.withdraw(), sent.task()), (false, false, Some(&7)));
        }
        let mut withdrawn: Begin<&str, u8> = Begin::with("goal");
        assert!(withdrawn.withdraw());
        assert_eq!(withdrawn.send(|_| -> Result<u8, ()> { panic!("it is sent") }), Ok(()));
        assert_eq!(withdrawn.task(), None);
        let failed: Begin<&str, u8> = Begin::with("goal");
        assert_eq!(failed.send(|_| Err("no middleware")), Err("no middleware"));
        assert!(!failed.withdraw(), "it may have been sent");
    }

    #[test]
    fn a_goal_that_is_stuck_while_it_is_sent_does_not_keep_a_stop_waiting() {
        let begin: Begin<&str, u8> = Begin::with("goal");
        let (answer, answered) = mpsc::sync_channel(1);
        std::thread::scope(|scope| {
            let stuck = begin.send(|_| {
                scope.spawn(|| answer.send(begin.withdraw()));
                answered.recv_timeout(Duration::from_secs(10)).map(u8::from)
            });
            assert_eq!(stuck, Ok(()), "the stop waits until it was sent");
        });
    }
}
