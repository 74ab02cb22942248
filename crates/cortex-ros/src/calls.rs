//! What is known of the calls that were made, so that a halt can tell what may still be going on. No ROS here.
//!
//! A call takes a while before it is sent: its type is loaded, its server is waited for. A halt that comes meanwhile finds
//! nothing that goes on, and says so; from then on the call must not be sent. So whether a call is sent or halted is one
//! decision, made under one lock. Under the same lock it is looked whether the robot is stopped: then nothing is sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use cortex_core::Invocation;
use cortex_protocol::{CallId, CancelMode, ComponentName, FailureKind, MissionId, ToolName, ToolOutcome, ToolSpec};

use tokio::sync::watch;

use crate::stop::StopLatch;

/// Calls that are remembered. A halt comes while a call runs or soon after; a mission has at most a few dozen calls.
const REMEMBERED: usize = 1024;

/// Identifies a call.
pub(crate) type CallKey = (MissionId, CallId);

/// The key of an invocation.
pub(crate) fn key(invocation: &Invocation) -> CallKey {
    (invocation.mission.clone(), invocation.id)
}

/// The component whose process carries out a call of this tool, where the end of that process is the end of the call.
pub(crate) fn ends_with(spec: &ToolSpec) -> Option<ComponentName> {
    spec.component.clone().filter(|_| !spec.outlives_process)
}

/// What comes of a call that was halted before it was sent.
pub(crate) fn halted_before_it_was_sent() -> ToolOutcome {
    ToolOutcome::not_begun("it was halted before it was sent")
}

/// Why a call is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// It was halted.
    Halted,
    /// The robot is stopped.
    Stopped,
    /// So many calls are not answered that no more can be remembered.
    TooMany,
}

/// What it takes to halt a call.
pub(crate) trait Haltable: Clone {
    /// Whether the call may go on when nobody waits for its answer. What only looks does not.
    fn may_go_on(&self) -> bool;
}

impl Haltable for CancelMode {
    fn may_go_on(&self) -> bool {
        *self == Self::Halt
    }
}

impl Unsent {
    /// What comes of the call.
    pub(crate) fn outcome(self) -> ToolOutcome {
        match self {
            Self::Halted => halted_before_it_was_sent(),
            Self::Stopped => ToolOutcome::failure(
                FailureKind::Denied,
                "the robot is stopped; nothing is sent until ~/resume is called",
            ),
            Self::TooMany => ToolOutcome::failure(
                FailureKind::Denied,
                format!(
                    "{REMEMBERED} calls were never answered, and what they began may go on; look at the robot, and call \
                     ~/stop and then ~/resume"
                ),
            ),
        }
    }
}

/// The calls that were halted, of all kinds of tools: none of them is sent any more. Nor is any, while the robot is
/// stopped.
#[derive(Debug, Default)]
pub(crate) struct Halts {
    halted: Mutex<Halted>,
    /// Changes with each halt.
    changed: watch::Sender<()>,
    latch: StopLatch,
}

#[derive(Debug, Default)]
struct Halted {
    keys: BTreeSet<CallKey>,
    order: VecDeque<CallKey>,
}

impl Halts {
    /// The call is halted. One that is being sent in this moment has been sent when this returns.
    pub(crate) fn halt(&self, key: CallKey) {
        let mut halted = self.lock();
        if halted.keys.insert(key.clone()) {
            halted.order.push_back(key);
        }
        while halted.order.len() > REMEMBERED {
            if let Some(oldest) = halted.order.pop_front() {
                halted.keys.remove(&oldest);
            }
        }
        drop(halted);
        self.changed.send_replace(());
    }

    /// Resolves when the call is halted: one that waits to be sent need not wait any longer.
    pub(crate) async fn until_halted(&self, key: CallKey) {
        let mut changed = self.changed.subscribe();
        while !self.lock().keys.contains(&key) {
            // The sender lives as long as this does.
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Sends a call, unless it was halted or the robot is stopped; then `send` is not run. A halt waits until it has
    /// returned, so it must not wait for anything.
    pub(crate) fn unless_halted<T>(&self, key: &CallKey, send: impl FnOnce() -> T) -> Result<T, Unsent> {
        let halted = self.lock();
        if self.latch.is_closed() {
            return Err(Unsent::Stopped);
        }
        if halted.keys.contains(key) {
            return Err(Unsent::Halted);
        }
        Ok(send())
    }

    /// Waits until what is being sent in this moment has been sent, at most a moment: what is stuck in the middleware must
    /// not keep a stop waiting. False if something is.
    pub(crate) fn settle(&self) -> bool {
        lock_in_time(&self.halted).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Halted> {
        self.halted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often a lock is tried by a stop, and the pause between: 20 ms in all.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// Takes a lock that is held for a moment only, or gives up.
pub(crate) fn lock_in_time<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..LOCK_ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
    None
}

/// A call that was sent and not answered yet.
#[derive(Debug, Clone)]
pub(crate) struct Open<C> {
    /// What was called.
    pub(crate) tool: ToolName,
    /// When it was sent.
    pub(crate) since: Instant,
    /// The component whose process carries it out, where the end of that process is the end of the call.
    pub(crate) ends_with: Option<ComponentName>,
    /// What it takes to halt it.
    pub(crate) call: C,
    /// Whether whoever sent it says when it has ended, so that it need not be forgotten when a person has looked.
    pub(crate) is_followed: bool,
}

/// The calls that were sent and not answered yet, each with what it takes to halt it.
#[derive(Debug)]
pub(crate) struct Calls<C> {
    halts: Halts,
    inner: Mutex<Inner<C>>,
    /// Changes when calls are over.
    over: watch::Sender<()>,
    /// Counts what was sent beside the calls of missions.
    beside: AtomicU32,
}

/// The mission of what no mission has sent, such as the fallbacks of a recipe.
const NO_MISSION: &str = "no mission";

/// Something that was sent beside the calls of missions. It has ended when this is dropped.
pub(crate) struct Followed<C: Haltable> {
    calls: Arc<Calls<C>>,
    key: CallKey,
}

impl<C: Haltable> fmt::Debug for Followed<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Followed").field(&self.key).finish()
    }
}

impl<C: Haltable> Drop for Followed<C> {
    fn drop(&mut self) {
        self.calls.answered(&self.key);
    }
}

impl<C> Default for Calls<C> {
    fn default() -> Self {
        let inner = Mutex::new(Inner { open: BTreeMap::new(), order: VecDeque::new() });
        Self { halts: Halts::default(), inner, over: watch::Sender::default(), beside: AtomicU32::default() }
    }
}

#[derive(Debug)]
struct Inner<C> {
    open: BTreeMap<CallKey, Open<C>>,
    order: VecDeque<CallKey>,
}

impl<C: Haltable> Calls<C> {
    /// The calls that must not be sent any more.
    pub(crate) fn halts(&self) -> &Halts {
        &self.halts
    }

    /// While it is closed, nothing is sent.
    pub(crate) fn latch(&self) -> &StopLatch {
        &self.halts.latch
    }

    /// Sends a call and takes it down, as one, unless it was halted before or the robot is stopped; then `send` is not run.
    /// It must not wait. Nor is it run where nothing is left that could be forgotten for it.
    pub(crate) fn send<T>(
        &self,
        invocation: &Invocation,
        ends_with: Option<ComponentName>,
        call: C,
        send: impl FnOnce() -> T,
    ) -> Result<T, Unsent> {
        let tool = invocation.call.tool.clone();
        let open = Open { tool, since: Instant::now(), ends_with, call, is_followed: false };
        self.send_as(key(invocation), open, send)
    }

    /// The same for what no mission has sent: whoever sends it holds what is given until it has ended.
    pub(crate) fn send_beside<T>(
        self: &Arc<Self>,
        tool: ToolName,
        ends_with: Option<ComponentName>,
        call: C,
        send: impl FnOnce() -> T,
    ) -> Result<(T, Followed<C>), Unsent> {
        let key: CallKey = (NO_MISSION.into(), CallId(self.beside.fetch_add(1, Ordering::Relaxed)));
        let open = Open { tool, since: Instant::now(), ends_with, call, is_followed: true };
        let sent = self.send_as(key.clone(), open, send)?;
        Ok((sent, Followed { calls: Arc::clone(self), key }))
    }

    /// Notes what is begun without sending anything, such as a process. None while the robot is stopped. Waits for nothing
    /// that is being sent: the monitor must go on.
    pub(crate) fn note_beside(self: &Arc<Self>, tool: ToolName, call: C) -> Option<Followed<C>> {
        let key: CallKey = (NO_MISSION.into(), CallId(self.beside.fetch_add(1, Ordering::Relaxed)));
        let open = Open { tool, since: Instant::now(), ends_with: None, call, is_followed: true };
        self.take_down(key.clone(), open).ok()?;
        let followed = Followed { calls: Arc::clone(self), key };
        // After that: a stop closes the latch first, and then looks at what is open. So one of both sees the other.
        (!self.latch().is_closed()).then_some(followed)
    }

    fn send_as<T>(&self, key: CallKey, open: Open<C>, send: impl FnOnce() -> T) -> Result<T, Unsent> {
        self.halts.unless_halted(&key.clone(), || {
            self.take_down(key, open)?;
            Ok(send())
        })?
    }

    /// Remembers a call. Where there are too many, the oldest that only looks is forgotten: one that may go on never is. What
    /// is followed to its end needs no such bound.
    fn take_down(&self, key: CallKey, call: Open<C>) -> Result<(), Unsent> {
        let mut inner = self.lock();
        if !call.is_followed && inner.open.len() >= REMEMBERED {
            let only_looks = |key: &CallKey| inner.open.get(key).is_none_or(|open| !open.call.may_go_on());
            let oldest = inner.order.iter().position(only_looks).ok_or(Unsent::TooMany)?;
            if let Some(oldest) = inner.order.remove(oldest) {
                inner.open.remove(&oldest);
            }
        }
        inner.order.push_back(key.clone());
        inner.open.insert(key, call);
        Ok(())
    }

    /// Whoever was called has answered; nothing goes on.
    pub(crate) fn answered(&self, key: &CallKey) {
        let mut inner = self.lock();
        if inner.open.remove(key).is_some() {
            inner.order.retain(|kept| kept != key);
        }
        drop(inner);
        self.over.send_replace(());
    }

    /// Resolves when the call is over: it was answered, or the process that carried it out has ended. At once for one
    /// that was never sent.
    pub(crate) async fn until_over(&self, key: &CallKey) {
        let mut over = self.over.subscribe();
        while self.is_open(key) {
            // The sender lives as long as this does.
            if over.changed().await.is_err() {
                return;
            }
        }
    }

    /// The call, if it was sent and is not answered.
    pub(crate) fn open(&self, key: &CallKey) -> Option<C> {
        self.lock().open.get(key).map(|open| open.call.clone())
    }

    /// Whether the call was sent and is not answered.
    pub(crate) fn is_open(&self, key: &CallKey) -> bool {
        self.lock().open.contains_key(key)
    }

    /// All of them, in a stable order. None when they can't be had in time.
    pub(crate) fn all(&self) -> Option<Vec<(CallKey, Open<C>)>> {
        let inner = lock_in_time(&self.inner)?;
        Some(inner.open.iter().map(|(key, open)| (key.clone(), open.clone())).collect())
    }

    /// The process of a component has ended, and its calls with it.
    pub(crate) fn end_calls(&self, component: &ComponentName) {
        let plain = |name: &ComponentName| name.as_str().trim_start_matches('/').to_owned();
        let ended = |open: &Open<C>| open.ends_with.as_ref().is_some_and(|other| plain(other) == plain(component));
        let mut inner = self.lock();
        let Inner { open, order } = &mut *inner;
        open.retain(|_, call| !ended(call));
        order.retain(|key| open.contains_key(key));
        drop(inner);
        self.over.send_replace(());
    }

    /// Forgets those of missions: a person has looked. Of the others it is known when they have ended.
    pub(crate) fn forget(&self) {
        let mut inner = self.lock();
        let Inner { open, order } = &mut *inner;
        open.retain(|_, call| call.is_followed);
        order.retain(|key| open.contains_key(key));
    }

    fn lock(&self) -> MutexGuard<'_, Inner<C>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u32) -> CallKey {
        ("mission".into(), CallId(number))
    }

    fn invocation(number: u32) -> Invocation {
        Invocation {
            mission: "mission".into(),
            id: CallId(number),
            call: cortex_protocol::ToolCall { tool: "base.go_to".into(), arguments: serde_json::Map::new() },
            fingerprint: cortex_protocol::ToolFingerprint(0),
            timeout: Duration::from_secs(1),
        }
    }

    impl Haltable for &str {
        fn may_go_on(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_call_is_open_from_its_sending_to_its_answer() {
        let calls = Calls::default();
        assert_eq!(calls.open(&call(1)), None);
        let sent = calls.send(&invocation(1), None, "base", || calls.open(&call(1)));
        assert_eq!(sent, Ok(Some("base")), "a halt finds it at once");
        assert_eq!(calls.open(&call(1)), Some("base"));
        calls.answered(&call(1));
        assert_eq!(calls.open(&call(1)), None);
    }

    #[test]
    fn a_call_that_was_halted_is_not_sent() {
        let calls = Calls::default();
        calls.halts().halt(call(1));
        calls.halts().halt(call(1));
        let mut sent = Vec::new();
        assert_eq!(calls.send(&invocation(1), None, "lamp", || sent.push("lamp")), Err(Unsent::Halted));
        assert_eq!(calls.open(&call(1)), None);
        assert_eq!(calls.send(&invocation(2), None, "arm", || sent.push("another")), Ok(()));
        assert_eq!(sent, ["another"]);
    }

    #[test]
    fn while_the_robot_is_stopped_nothing_is_sent_and_what_was_is_known() {
        let calls = Calls::default();
        assert_eq!(calls.send(&invocation(1), None, "base", || ()), Ok(()));
        let stop = calls.latch().close();
        assert!(calls.halts().settle());
        assert_eq!(calls.send(&invocation(2), None, "arm", || panic!("it is sent")), Err(Unsent::Stopped));
        let open: Vec<_> = calls.all().unwrap().into_iter().map(|(_, open)| (open.tool, open.call)).collect();
        assert_eq!(open, [("base.go_to".into(), "base")]);
        assert!(calls.latch().open(stop));
        calls.forget();
        assert!(!calls.is_open(&call(1)));
        assert_eq!(calls.send(&invocation(2), None, "arm", || ()), Ok(()));
    }

    #[test]
    fn a_call_that_is_stuck_while_it_is_sent_does_not_keep_a_stop_waiting() {
        let halts = Arc::new(Halts::default());
        halts
            .unless_halted(&call(1), || {
                let other = Arc::clone(&halts);
                assert!(!std::thread::spawn(move || other.settle()).join().unwrap());
            })
            .unwrap();
        assert!(halts.settle());
    }

    #[test]
    fn regression_a_stop_that_comes_after_the_last_look_waits_for_what_is_being_sent() {
        let calls = Arc::new(Calls::default());
        let other = Arc::clone(&calls);
        let is_settled = calls.latch().stop_after_next_look(move || other.halts().settle());
        assert_eq!(calls.send(&invocation(1), None, "base", || "sent"), Ok("sent"));
        assert_eq!(is_settled.try_recv(), Ok(false));
        assert!(calls.halts().settle() && calls.is_open(&call(1)), "a second look finds what was sent");
    }

    /// The oldest open call used to be forgotten, and counted as at rest from then on.
    #[test]
    fn regression_a_call_that_may_go_on_is_never_forgotten_for_another_one() {
        let calls = Calls::default();
        let look = |number| calls.send(&invocation(number), None, CancelMode::Drop, || ());
        let act = |number| calls.send(&invocation(number), None, CancelMode::Halt, || ());
        assert_eq!((act(0), look(1)), (Ok(()), Ok(())));
        (2..1024).for_each(|number| assert_eq!(act(number), Ok(())));
        assert_eq!(act(2000), Ok(()), "what only looks makes room");
        assert_eq!((calls.is_open(&call(0)), calls.is_open(&call(1))), (true, false));
        let refused = calls.send(&invocation(2001), None, CancelMode::Halt, || panic!("it is sent"));
        assert_eq!(refused, Err(Unsent::TooMany));
        assert!(Unsent::TooMany.outcome().message.contains("1024 calls were never answered"));
        assert!(calls.is_open(&call(0)), "the oldest is known still");
        calls.answered(&call(5));
        assert_eq!(act(2001), Ok(()));
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_go_first() {
        let (halts, calls) = (Halts::default(), Calls::default());
        for number in 0..2000 {
            calls.send(&invocation(number), None, CancelMode::Drop, || ()).unwrap();
            halts.halt(call(number));
        }
        let open = |number| calls.open(&call(number)).is_some();
        assert_eq!((open(0), open(975), open(976), open(1999)), (false, false, true, true));
        let halted = |number| halts.unless_halted(&call(number), || ()).is_err();
        assert_eq!((halted(0), halted(975), halted(976), halted(1999)), (false, false, true, true));
    }

    /// What a process did that was killed was named by every stop, for ever.
    #[test]
    fn regression_the_end_of_a_process_is_the_end_of_its_calls_and_of_no_others() {
        let calls = Calls::default();
        for (number, of) in [(1, Some("base")), (2, Some("/base")), (3, Some("arm")), (4, None)] {
            calls.send(&invocation(number), of.map(Into::into), "base", || ()).unwrap();
        }
        calls.end_calls(&"base".into());
        let open: Vec<bool> = (1..=4).map(|number| calls.is_open(&call(number))).collect();
        assert_eq!(open, [false, false, true, true]);
    }

    #[test]
    fn what_goes_on_beside_the_missions_is_known_until_it_has_ended_also_after_a_person_has_looked() {
        let calls = Arc::new(Calls::default());
        let open = || calls.all().unwrap().into_iter().map(|(_, open)| open.tool.to_string()).collect::<Vec<_>>();
        let (sent, request) = calls.send_beside("base.reset".into(), None, "a request", || "sent").unwrap();
        let command = calls.note_beside("fix".into(), "a command").unwrap();
        assert_eq!((sent, open()), ("sent", vec!["base.reset".to_owned(), "fix".to_owned()]));
        let stop = calls.latch().close();
        let refused = calls.send_beside("base.turn".into(), None, "a request", || panic!("it is sent"));
        assert_eq!(refused.map(|_| ()), Err(Unsent::Stopped));
        assert!(calls.note_beside("fix".into(), "a command").is_none());
        drop(command);
        assert_eq!(open(), ["base.reset"]);
        calls.forget();
        assert!(calls.latch().open(stop));
        assert_eq!(open(), ["base.reset"], "the next stop names it, too");
        drop(request);
        assert!(open().is_empty());
    }

    #[test]
    fn regression_a_stop_that_comes_after_the_last_look_finds_what_is_sent_beside_the_missions() {
        let calls = Arc::new(Calls::default());
        let other = Arc::clone(&calls);
        let is_settled = calls.latch().stop_after_next_look(move || other.halts().settle());
        let (sent, _open) = calls.send_beside("/cmd_vel".into(), None, "a message", || "sent").unwrap();
        assert_eq!((sent, is_settled.try_recv()), ("sent", Ok(false)));
        assert_eq!(calls.all().unwrap().len(), 1, "a second look finds what was sent");
    }

    /// The monitor used to wait for it, and with it all that keeps the robot alive.
    #[test]
    fn regression_a_command_is_begun_although_something_is_stuck_while_it_is_sent() {
        let calls = Arc::new(Calls::<&str>::default());
        let other = Arc::clone(&calls);
        let is_begun = calls.halts().unless_halted(&call(1), || {
            std::thread::spawn(move || other.note_beside("fix".into(), "a command").is_some()).join().unwrap()
        });
        assert_eq!(is_begun, Ok(true));
    }
}
