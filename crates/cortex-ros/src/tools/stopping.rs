//! Ends everything that is in flight, from a thread without a runtime: nothing here waits for anything.
//!
//! What was asked for is asked again while there is no answer. Servers keep ten requests and lose what comes on top, so
//! after the first burst only a few are asked at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cortex_protocol::{CallId, CancelMode, MissionId, ToolName};
use cortex_ros_client::dynamic::{Asked, CancelAnswer, Goal};

use super::RosTools;
use super::component::MethodHalt;
use crate::calls::CallKey;
use crate::stop::StopNumber;
use crate::stop::deeds::EndingDeeds;

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
    let open = |kind, (mission, id): CallKey, tool, since| OpenCall { tool, mission, id, kind, since };
    let goals = tools.goals.calls().all().unwrap_or_default();
    let methods = tools.components.calls().all().unwrap_or_default();
    let requests = tools.services.calls().all().unwrap_or_default();
    let mut all: Vec<OpenCall> = goals
        .into_iter()
        .map(|(key, call)| open(OpenCallKind::Goal, key, call.tool, call.since))
        .chain(methods.into_iter().map(|(key, call)| open(OpenCallKind::Method, key, call.tool, call.since)))
        .chain(requests.into_iter().map(|(key, call)| open(OpenCallKind::Request, key, call.tool, call.since)))
        .collect();
    all.sort_by(|one, other| (one.since, &one.tool, &one.mission).cmp(&(other.since, &other.tool, &other.mission)));
    all
}

/// A stop under way: nothing is sent any more, and all that was in flight is asked to end.
pub(crate) struct Stopping {
    tools: RosTools,
    number: StopNumber,
    goals: Vec<Ending<Goal, Asked>>,
    methods: Vec<Ending<(), MethodHalt>>,
    requests: Vec<Ending<(), ()>>,
    /// What fallbacks have begun.
    deeds: EndingDeeds,
    /// What could not even be found out.
    unknown: Vec<ToolName>,
}

/// One call that is to end.
struct Ending<C, A> {
    key: CallKey,
    tool: ToolName,
    call: C,
    state: State,
    asked: Option<A>,
    asked_at: Instant,
    times: u32,
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
        let number = tools.latch().close();
        let settled = tools.around.halts.settle();
        let (goals, methods) = (tools.goals.calls().all(), tools.components.calls().all());
        let requests = tools.services.calls().all();
        let is_known = settled && goals.is_some() && methods.is_some() && requests.is_some();
        let now = Instant::now();
        let goals = goals.unwrap_or_default().into_iter();
        let mut goals: Vec<_> = goals.map(|(key, open)| Ending::new(key, open.tool, open.call, now)).collect();
        goals.iter_mut().for_each(|goal| goal.ask(now));
        let methods = methods.unwrap_or_default().into_iter().map(|(key, open)| {
            let mut ending = Ending::new(key, open.tool, (), now);
            ending.state = match (open.call.cancel, tools.components.send_halt(&open.call)) {
                (CancelMode::Drop, _) => State::AtRest,
                (CancelMode::Halt, Ok(Some(halt))) => {
                    ending.asked = Some(halt);
                    State::Asking
                }
                (CancelMode::Halt, Ok(None) | Err(_)) => State::Unconfirmed,
            };
            ending
        });
        let methods = methods.collect();
        // A request can't be taken back.
        let requests = requests.unwrap_or_default().into_iter().map(|(key, open)| Ending::<(), ()> {
            state: if open.call == CancelMode::Drop { State::AtRest } else { State::Unconfirmed },
            ..Ending::new(key, open.tool, (), now)
        });
        let requests = requests.collect();
        let deeds = EndingDeeds::begin(tools.latch());
        let unknown = if is_known && deeds.is_some() { Vec::new() } else { vec![SOMETHING.into()] };
        let deeds = deeds.unwrap_or_else(|| EndingDeeds::unknown(tools.latch()));
        Self { tools: tools.clone(), number, goals, methods, requests, deeds, unknown }
    }

    /// Which stop it is.
    pub(crate) fn number(&self) -> StopNumber {
        self.number
    }

    /// How many calls were in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.goals.len() + self.methods.len() + self.requests.len() + self.deeds.count()
    }

    /// Takes the answers that are there, and asks again where it is time. Returns whether all is known to be at rest, or
    /// never will be.
    pub(crate) fn turn(&mut self) -> bool {
        let now = Instant::now();
        let mut busy: BTreeMap<String, usize> = BTreeMap::new();
        for goal in &mut self.goals {
            let is_over = !self.tools.goals.calls().is_open(&goal.key);
            goal.look(is_over);
            if goal.state == State::Asking && goal.times > 1 && !goal.is_due(now) {
                *busy.entry(goal.call.action().to_owned()).or_default() += 1;
            }
        }
        for goal in self.goals.iter_mut().filter(|goal| goal.state == State::Asking) {
            if goal.is_due(now) {
                let busy = busy.entry(goal.call.action().to_owned()).or_default();
                if *busy < AT_ONCE {
                    *busy += 1;
                    goal.ask(now);
                }
            }
        }
        for method in &mut self.methods {
            if let Some(has_halted) = method.asked.as_mut().and_then(MethodHalt::take) {
                method.asked = None;
                method.state = if has_halted { State::AtRest } else { State::Unconfirmed };
            }
        }
        let goals = self.goals.iter().map(|ending| ending.state);
        let mut states = goals.chain(self.methods.iter().map(|ending| ending.state));
        let deeds_have_ended = self.deeds.turn();
        states.all(|state| matches!(state, State::AtRest | State::Unconfirmed)) && deeds_have_ended
    }

    /// What is not known to be at rest, in a stable order. What was answered meanwhile is.
    pub(crate) fn not_stopped(&self) -> Vec<ToolName> {
        let goals = self.goals.iter().filter(|ending| self.tools.goals.calls().is_open(&ending.key));
        let methods = self.methods.iter().filter(|ending| self.tools.components.calls().is_open(&ending.key));
        let requests = self.requests.iter().filter(|ending| self.tools.services.calls().is_open(&ending.key));
        let mut names: Vec<ToolName> = goals
            .filter(|ending| ending.state != State::AtRest)
            .map(|ending| ending.tool.clone())
            .chain(methods.filter(|ending| ending.state != State::AtRest).map(|ending| ending.tool.clone()))
            .chain(requests.filter(|ending| ending.state != State::AtRest).map(|ending| ending.tool.clone()))
            .chain(self.deeds.not_at_rest())
            .chain(self.unknown.iter().cloned())
            .collect();
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
    tools.goals.calls().forget();
    tools.components.calls().forget();
    tools.services.calls().forget();
    tools.latch().open(stop)
}

impl<C, A> Ending<C, A> {
    fn new(key: CallKey, tool: ToolName, call: C, now: Instant) -> Self {
        Self { key, tool, call, state: State::Asking, asked: None, asked_at: now, times: 0 }
    }
}

impl Ending<Goal, Asked> {
    /// Asks it to end.
    fn ask(&mut self, now: Instant) {
        if self.times >= MOST_TIMES {
            self.state = State::Unconfirmed;
            return;
        }
        self.times += 1;
        self.asked_at = now;
        match self.call.ask_to_end() {
            Ok(Some(asked)) => self.asked = Some(asked),
            // It is never sent.
            Ok(None) => self.state = State::AtRest,
            // Perhaps it can be the next time.
            Err(problem) => tracing::warn!("{} could not be cancelled: {problem}", self.tool),
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let patience = if self.times > 1 { PATIENCE } else { FIRST_PATIENCE };
        now.saturating_duration_since(self.asked_at) >= patience
    }

    /// Takes what is known by now.
    fn look(&mut self, is_over: bool) {
        if is_over || self.call.has_ended() {
            self.state = State::AtRest;
        }
        if self.state != State::Asking {
            return;
        }
        let Some(answer) = self.asked.as_mut().and_then(Asked::take) else { return };
        self.asked = None;
        self.state = match answer {
            Ok(CancelAnswer::Accepted) => State::Accepted,
            Ok(CancelAnswer::AlreadyEnded) => State::AtRest,
            // It may come after this request.
            Ok(CancelAnswer::UnknownGoal) if self.call.is_on_its_way() => State::Asking,
            Ok(CancelAnswer::Rejected | CancelAnswer::UnknownGoal) | Err(_) => State::Unconfirmed,
        };
    }
}
