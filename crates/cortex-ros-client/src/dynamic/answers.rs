//! The requests of one client whose answers are waited for.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::RosError;

/// Requests of one client whose answers are waited for: more than any server works on.
const OPEN_REQUESTS: usize = 1024;

/// Who waits for which answer. The lock is held for a moment only, never while something is sent: what is stuck in the
/// middleware keeps nobody else waiting.
pub(super) struct Answers<A>(Mutex<Open<A>>);

struct Open<A> {
    waiting: HashMap<i64, oneshot::Sender<A>>,
    /// Requests that are being sent: their numbers are not known yet.
    sending: usize,
    /// Answers that were faster than the number of their request. Kept while something is being sent.
    early: HashMap<i64, A>,
}

impl<A> Default for Answers<A> {
    fn default() -> Self {
        Self(Mutex::new(Open { waiting: HashMap::new(), sending: 0, early: HashMap::new() }))
    }
}

impl<A> Answers<A> {
    /// Sends a request, which `send` gives a number, and returns it with the answer to wait for.
    ///
    /// # Errors
    /// When too many answers are waited for, and what `send` says.
    pub(super) fn send(
        &self,
        send: impl FnOnce() -> Result<i64, RosError>,
    ) -> Result<(i64, oneshot::Receiver<A>), RosError> {
        {
            let mut open = self.lock();
            if open.waiting.len() + open.sending >= OPEN_REQUESTS {
                return Err(RosError::TooMany { what: "answers of one service", limit: OPEN_REQUESTS });
            }
            open.sending += 1;
        }
        let sent = send();
        let (deliver, answer) = oneshot::channel();
        let mut open = self.lock();
        open.sending -= 1;
        let early = sent.as_ref().ok().and_then(|number| open.early.remove(number));
        if open.sending == 0 {
            open.early = HashMap::new();
        }
        let number = sent?;
        match early {
            // Who waits for it is here.
            Some(early) => drop(deliver.send(early)),
            None => drop(open.waiting.insert(number, deliver)),
        }
        Ok((number, answer))
    }

    /// Hands on an answer that has arrived. One that nobody waits for, or that comes a second time, is dropped.
    pub(super) fn arrived(&self, number: i64, answer: A) {
        let mut open = self.lock();
        if let Some(waiting) = open.waiting.remove(&number) {
            // Whoever asked may have lost interest just now.
            let _ = waiting.send(answer);
        } else if open.sending > 0 && open.early.len() < OPEN_REQUESTS {
            open.early.insert(number, answer);
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn forget(&self, number: i64) {
        self.lock().waiting.remove(&number);
    }

    /// No answer will come: who waits is told by the end of the channel.
    pub(super) fn end(&self) {
        self.lock().waiting.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Open<A>> {
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
    fn an_answer_that_is_faster_than_the_number_of_its_request_is_not_lost() {
        let answers = Answers::default();
        let sent = answers.send(|| {
            answers.arrived(5, "of another time");
            answers.arrived(6, "mine");
            Ok(6)
        });
        let (number, mut answer) = sent.unwrap();
        assert_eq!((number, answer.try_recv()), (6, Ok("mine")));
        let (_, mut answer) = answers.send(|| Ok(5)).unwrap();
        assert!(answer.try_recv().is_err(), "what nobody had asked for is not kept");
        answers.arrived(5, "now");
        assert_eq!(answer.try_recv(), Ok("now"));
    }

    #[test]
    fn a_request_that_is_stuck_while_it_is_sent_keeps_no_other_waiting() {
        let answers: Answers<&str> = Answers::default();
        let (done, other) = mpsc::sync_channel(1);
        std::thread::scope(|scope| {
            let stuck = answers.send(|| {
                scope.spawn(|| {
                    let (_, mut answer) = answers.send(|| Ok(2)).unwrap();
                    answers.arrived(2, "other");
                    done.send(answer.try_recv())
                });
                assert_eq!(other.recv_timeout(Duration::from_secs(10)), Ok(Ok("other")), "it waits");
                Ok(1)
            });
            assert!(stuck.is_ok());
        });
    }

    #[test]
    fn so_many_answers_are_waited_for_and_no_more_until_some_are_forgotten() {
        let answers: Answers<&str> = Answers::default();
        let mut numbers = 0..;
        let mut send = || answers.send(|| Ok(numbers.next().unwrap_or_default()));
        let waiting: Vec<_> = (0..OPEN_REQUESTS).map(|_| send().unwrap()).collect();
        assert!(matches!(send(), Err(RosError::TooMany { .. })));
        answers.forget(waiting[0].0);
        assert!(send().is_ok());
        assert!(answers.send(|| Err(RosError::ShutDown)).is_err());
    }
}
