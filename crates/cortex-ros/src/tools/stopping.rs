//! Ends everything that is in flight, from a thread without a runtime: nothing here waits for anything.
//!
//! What was asked for is asked again while there is no answer. Servers keep ten requests and lose what comes on top, so
//! after the first burst only a few are asked at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_protocol::{CallId, CancelMode, MissionId, ToolName};
use cortex_ros_client::dynamic::{Asked, CancelAnswer};

use super::RosTools;
use super::sent::{MethodHalt, Sent};
use crate::calls::{CallKey, Calls, Open};
use crate::stop::StopNumber;

/// How long the answer to the first request is waited for before it is sent again, and to each later one.
const FIRST_PATIENCE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_millis(500);
/// How often one goal is asked to end, at most.
const MOST_TIMES: u32 = 12;
/// Goals of one action that are asked again at a time.
const AT_ONCE: usize = 8;

/// A call that was sent and is not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// What was called.
    pub tool: ToolName,
    /// For which mission.
    pub mission: MissionId,
    /// Which of its calls.
    pub id: CallId,
    /// Of which kind it is.
    pub kind: OpenCallKind,
    /// When it was sent.
    pub since: Instant,
}

/// See [`OpenCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpenCallKind {
    /// A goal of an action.
    Goal,
    /// A method of a component.
    Method,
    /// A request to a service.
    Request,
}

pub(super) fn open_calls(tools: &RosTools) -> Vec<OpenCall> {
    let open = |((mission, id), open): (CallKey, Open<Sent>)| {
        let kind = match open.call {
            Sent::Goal(_) => OpenCallKind::Goal,
            Sent::Method(_) => OpenCallKind::Method,
            Sent::Request(_) | Sent::Command => OpenCallKind::Request,
        };
        // What fallbacks do is told by the monitor.
        (!open.is_followed).then_some(OpenCall { tool: open.tool, mission, id, kind, since: open.since })
    };
    let mut all: Vec<OpenCall> = tools.around.calls.all().unwrap_or_default().into_iter().filter_map(open).collect();
    all.sort_by(|one, other| (one.since, &one.tool, &one.mission).cmp(&(other.since, &other.tool, &other.mission)));
    all
}

/// A stop under way: nothing is sent any more, and all that was in flight is asked to end.
pub(crate) struct Stopping {
    calls: Arc<Calls<Sent>>,
    number: StopNumber,
    /// What was in flight, by missions and by fallbacks.
    ending: Vec<Ending>,
    /// What could not even be found out.
    unknown: Vec<ToolName>,
}

/// One call that is to end.
struct Ending {
    key: CallKey,
    tool: ToolName,
    call: Sent,
    state: State,
    asked: Option<Asking>,
    asked_at: Instant,
    times: u32,
}

/// What was asked for, on its way.
enum Asking {
    Cancel(Asked),
    Halt(MethodHalt),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No answer yet.
    Asking,
    /// It will end; that it has is still to be seen.
    Accepted,
    /// It has ended, or never began.
    AtRest,
    /// It is not known to end.
    Unconfirmed,
}

/// What is named when it can't be told what is in flight, since something is stuck.
const SOMETHING: &str = "a call that is stuck while it is sent";

impl Stopping {
    /// Closes the latch, and asks all that is in flight to end.
    pub(crate) fn begin(tools: &RosTools) -> Self {
        let calls = Arc::clone(&tools.around.calls);
        let number = calls.latch().close();
        let is_settled = calls.halts().settle();
        let open = calls.all();
        let unknown = if is_settled && open.is_some() { Vec::new() } else { vec![SOMETHING.into()] };
        let now = Instant::now();
        let open = open.unwrap_or_default().into_iter();
        let mut ending: Vec<_> = open.map(|(key, open)| Ending::new(key, open.tool, open.call, now)).collect();
        ending.iter_mut().for_each(|call| call.ask(now));
        Self { calls, number, ending, unknown }
    }

    /// Which stop it is.
    pub(crate) fn number(&self) -> StopNumber {
        self.number
    }

    /// How many calls were in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.ending.len()
    }

    /// Takes the answers that are there, and asks again where it is time. Returns whether all is known to be at rest, or
    /// never will be.
    pub(crate) fn turn(&mut self) -> bool {
        let now = Instant::now();
        let mut busy: BTreeMap<String, usize> = BTreeMap::new();
        for ending in &mut self.ending {
            let is_over = !self.calls.is_open(&ending.key);
            ending.look(is_over);
            if let Some(action) = ending.asks_again()
                && ending.times > 1
                && !ending.is_due(now)
            {
                *busy.entry(action.to_owned()).or_default() += 1;
            }
        }
        for ending in self.ending.iter_mut().filter(|ending| ending.is_due(now)) {
            let Some(action) = ending.asks_again() else { continue };
            let busy = busy.entry(action.to_owned()).or_default();
            if *busy < AT_ONCE {
                *busy += 1;
                ending.ask(now);
            }
        }
        self.ending.iter().all(|ending| matches!(ending.state, State::AtRest | State::Unconfirmed))
    }

    /// What is not known to be at rest, in a stable order. What was answered meanwhile is.
    pub(crate) fn not_stopped(&self) -> Vec<ToolName> {
        let going_on = |ending: &&Ending| ending.state != State::AtRest && self.calls.is_open(&ending.key);
        let going_on = self.ending.iter().filter(going_on).map(|ending| ending.tool.clone());
        let mut names: Vec<ToolName> = going_on.chain(self.unknown.iter().cloned()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Lets things be sent again after that stop; a person has looked, so what was in flight is forgotten. False if another
/// stop came since.
pub(crate) fn resume(tools: &RosTools, stop: StopNumber) -> bool {
    if tools.latch().latest() != Some(stop) {
        return false;
    }
    tools.around.calls.forget();
    tools.latch().open(stop)
}

impl Ending {
    fn new(key: CallKey, tool: ToolName, call: Sent, now: Instant) -> Self {
        Self { key, tool, call, state: State::Asking, asked: None, asked_at: now, times: 0 }
    }

    /// The action whose server is asked again and again, while nothing is known of the goal.
    fn asks_again(&self) -> Option<&str> {
        match &self.call {
            Sent::Goal(goal) if self.state == State::Asking => Some(goal.action()),
            _ => None,
        }
    }

    /// Asks it to end.
    fn ask(&mut self, now: Instant) {
        self.asked_at = now;
        match &self.call {
            Sent::Goal(_) if self.times >= MOST_TIMES => self.state = State::Unconfirmed,
            Sent::Goal(goal) => {
                self.times += 1;
                match goal.ask_to_end() {
                    Ok(Some(asked)) => self.asked = Some(Asking::Cancel(asked)),
                    // It is never sent.
                    Ok(None) => self.state = State::AtRest,
                    // Perhaps it can be the next time.
                    Err(problem) => tracing::warn!("{} could not be cancelled: {problem}", self.tool),
                }
            }
            Sent::Method(method) if method.cancel == CancelMode::Drop => self.state = State::AtRest,
            Sent::Method(method) => match method.send_halt() {
                Ok(Some(halt)) => self.asked = Some(Asking::Halt(halt)),
                Ok(None) => self.state = State::Unconfirmed,
                Err(problem) => {
                    tracing::warn!("{} could not be halted: {problem}", self.tool);
                    self.state = State::Unconfirmed;
                }
            },
            // It can't be taken back.
            Sent::Request(CancelMode::Drop) => self.state = State::AtRest,
            Sent::Request(CancelMode::Halt) => self.state = State::Unconfirmed,
            // Whoever runs it ends it.
            Sent::Command => {}
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let patience = if self.times > 1 { PATIENCE } else { FIRST_PATIENCE };
        now.saturating_duration_since(self.asked_at) >= patience
    }

    /// Takes what is known by now.
    fn look(&mut self, is_over: bool) {
        if is_over || matches!(&self.call, Sent::Goal(goal) if goal.has_ended()) {
            self.state = State::AtRest;
        }
        if self.state != State::Asking {
            return;
        }
        self.state = match (&mut self.asked, &self.call) {
            (Some(Asking::Cancel(asked)), Sent::Goal(goal)) => match asked.take() {
                None => return,
                Some(Ok(CancelAnswer::Accepted)) => State::Accepted,
                Some(Ok(CancelAnswer::AlreadyEnded)) => State::AtRest,
                // It may come after this request.
                Some(Ok(CancelAnswer::UnknownGoal)) if goal.is_on_its_way() => State::Asking,
                Some(Ok(CancelAnswer::Rejected | CancelAnswer::UnknownGoal) | Err(_)) => State::Unconfirmed,
            },
            (Some(Asking::Halt(halt)), _) => match halt.take() {
                None => return,
                Some(true) => State::AtRest,
                Some(false) => State::Unconfirmed,
            },
            _ => return,
        };
        self.asked = None;
    }
}
