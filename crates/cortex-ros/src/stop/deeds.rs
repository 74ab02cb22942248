//! What is done beside the tools, as fallbacks do it: a stop knows of it, ends it where that can be, and names the rest.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_protocol::ToolName;
use cortex_ros_client::RosError;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::StopLatch;
use crate::calls::lock_in_time;

/// What a stop makes of a deed that goes on.
#[derive(Clone)]
pub(crate) enum AtStop {
    /// A request can't be taken back: it is named.
    Stays,
    /// Whoever does it hears of the stop, and ends it.
    IsEnded,
    /// It is halted by this.
    Halted(SendHalt),
}

/// Sends the halt of a deed, now: it waits for nothing and needs no runtime. The answer is whether all is at rest.
pub(crate) type SendHalt = Arc<dyn Fn() -> Result<BoxFuture<'static, bool>, RosError> + Send + Sync>;

/// The deeds that go on.
#[derive(Default)]
pub(super) struct OpenDeeds(Mutex<Open>);

#[derive(Default)]
struct Open {
    begun: u64,
    deeds: BTreeMap<u64, (ToolName, AtStop)>,
}

impl OpenDeeds {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenDeeds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.lock();
        formatter.debug_list().entries(open.deeds.values().map(|(name, _)| name)).finish()
    }
}

/// Something that goes on beside the tools, until this is dropped.
#[derive(Debug)]
pub struct OpenDeed {
    latch: StopLatch,
    number: u64,
}

impl Drop for OpenDeed {
    fn drop(&mut self) {
        self.latch.deeds().lock().deeds.remove(&self.number);
    }
}

impl StopLatch {
    /// Notes a process that is about to be started for a fallback; whoever runs it ends it at a stop. None while the robot
    /// is stopped.
    #[must_use]
    pub fn begin(&self, name: ToolName) -> Option<OpenDeed> {
        self.send(name, AtStop::IsEnded, || ()).map(|((), deed)| deed)
    }

    /// Sends something and notes it, as one, unless the robot is stopped; then `send` is not run. It must not wait: a stop
    /// waits for it, a moment.
    pub(crate) fn send<T>(&self, name: ToolName, at_stop: AtStop, send: impl FnOnce() -> T) -> Option<(T, OpenDeed)> {
        let mut open = self.deeds().lock();
        // Under the lock: a stop closes the latch first, and then looks at what is open.
        if self.is_closed() {
            return None;
        }
        let sent = send();
        let number = open.begun;
        open.begun += 1;
        open.deeds.insert(number, (name, at_stop));
        Some((sent, OpenDeed { latch: self.clone(), number }))
    }
}

/// The deeds that went on when the robot was stopped, on their way to rest.
pub(crate) struct EndingDeeds {
    latch: StopLatch,
    deeds: Vec<Ending>,
}

struct Ending {
    number: u64,
    name: ToolName,
    state: State,
}

enum State {
    /// Whoever does it ends it.
    Ending,
    /// The answer to the halt.
    Asked(BoxFuture<'static, bool>),
    AtRest,
    Unconfirmed,
}

impl EndingDeeds {
    /// Halts what can be halted. The latch has to be closed. None: it can't be told what goes on, since something is stuck
    /// while it is sent.
    pub(crate) fn begin(latch: &StopLatch) -> Option<Self> {
        let open = lock_in_time(&latch.deeds().0)?.deeds.clone();
        let ending = |(number, (name, at_stop)): (u64, (ToolName, AtStop))| {
            let state = match at_stop {
                AtStop::Stays => State::Unconfirmed,
                AtStop::IsEnded => State::Ending,
                AtStop::Halted(send) => match send() {
                    Ok(answer) => State::Asked(answer),
                    Err(problem) => {
                        tracing::warn!("{name} could not be halted: {problem}");
                        State::Unconfirmed
                    }
                },
            };
            Ending { number, name, state }
        };
        Some(Self { latch: latch.clone(), deeds: open.into_iter().map(ending).collect() })
    }

    /// Of something that can't be known.
    pub(crate) fn unknown(latch: &StopLatch) -> Self {
        Self { latch: latch.clone(), deeds: Vec::new() }
    }

    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.deeds.len()
    }

    /// Takes the answers that are there. Whether all is known to be at rest, or never will be.
    pub(crate) fn turn(&mut self) -> bool {
        let Some(open) = lock_in_time(&self.latch.deeds().0) else { return false };
        for deed in &mut self.deeds {
            if !open.deeds.contains_key(&deed.number) {
                deed.state = State::AtRest;
            } else if let State::Asked(answer) = &mut deed.state
                && let Some(is_at_rest) = answer.now_or_never()
            {
                deed.state = if is_at_rest { State::AtRest } else { State::Unconfirmed };
            }
        }
        self.deeds.iter().all(|deed| matches!(deed.state, State::AtRest | State::Unconfirmed))
    }

    /// What is not known to be at rest, as far as was seen at the last turn.
    pub(crate) fn not_at_rest(&self) -> impl Iterator<Item = ToolName> {
        self.deeds.iter().filter(|deed| !matches!(deed.state, State::AtRest)).map(|deed| deed.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::Known;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn names(ending: &EndingDeeds) -> Vec<String> {
        ending.not_at_rest().map(|name| name.to_string()).collect()
    }

    #[test]
    fn what_goes_on_beside_the_tools_is_named_by_a_stop_until_it_has_ended_and_nothing_begins_after_it() {
        let latch = StopLatch::default();
        let (sent, request) = latch.send("base.reset".into(), AtStop::Stays, || "sent").unwrap();
        let command = latch.begin("fix".into());
        assert_eq!(sent, "sent");
        latch.close();
        assert!(latch.begin("fix".into()).is_none());
        assert!(latch.send("base.turn".into(), AtStop::Stays, || panic!("it is sent")).is_none());
        let mut ending = EndingDeeds::begin(&latch).unwrap();
        assert!(!ending.turn(), "the command is being ended");
        assert_eq!((ending.count(), names(&ending)), (2, vec!["base.reset".to_owned(), "fix".to_owned()]));
        drop(command);
        assert!(ending.turn());
        assert_eq!(names(&ending), ["base.reset"]);
        drop(request);
        assert!(ending.turn());
        assert_eq!(names(&ending), Vec::<String>::new());
    }

    #[test]
    fn what_can_be_halted_is_halted_by_a_stop_and_named_when_it_does_not_confirm() {
        let latch = StopLatch::default();
        let halts = Arc::new(AtomicU32::new(0));
        let halt = |confirms: bool| {
            let halts = Arc::clone(&halts);
            AtStop::Halted(Arc::new(move || {
                halts.fetch_add(1, Ordering::SeqCst);
                Ok(futures::future::ready(confirms).boxed())
            }))
        };
        let lost: SendHalt = Arc::new(|| Err(RosError::ShutDown));
        let _deeds = [
            latch.send("base.back_up".into(), halt(true), || ()),
            latch.send("arm.wave".into(), halt(false), || ()),
            latch.send("tray.shake".into(), AtStop::Halted(lost), || ()),
        ];
        assert_eq!(halts.load(Ordering::SeqCst), 0, "not before the stop");
        latch.close();
        let mut ending = EndingDeeds::begin(&latch).unwrap();
        assert!(ending.turn());
        assert_eq!(halts.load(Ordering::SeqCst), 2);
        assert_eq!(names(&ending), ["arm.wave", "tray.shake"]);
    }

    #[test]
    fn what_is_stuck_while_it_is_sent_does_not_keep_a_stop_waiting() {
        let latch = StopLatch::default();
        let other = latch.clone();
        let stuck = latch.send("base.reset".into(), AtStop::Stays, || {
            std::thread::spawn(move || EndingDeeds::begin(&other).is_none()).join().unwrap()
        });
        assert!(stuck.unwrap().0);
    }

    #[test]
    fn regression_a_stop_that_comes_after_the_last_look_finds_what_is_being_sent() {
        let latch = StopLatch::default();
        let known = latch.race_beside_tools();
        let (sent, _open) = latch.send("/cmd_vel".into(), AtStop::Stays, || "sent").unwrap();
        assert_eq!((sent, known.try_recv()), ("sent", Ok(Known::IsBeingSent)));
        assert_eq!(EndingDeeds::begin(&latch).unwrap().count(), 1, "a second look finds what was sent");
    }
}
