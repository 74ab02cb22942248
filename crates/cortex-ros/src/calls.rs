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
mod tests;
