//! The goals of the task server: which there are, what becomes of them, and who waits for their results.
//!
//! The rules of ROS 2 actions, as data; no ROS here. `Request` is a question for a result that is still to be
//! answered.

use std::collections::{BTreeMap, VecDeque};

use tokio_util::sync::CancellationToken;

use crate::task::TaskResult;

/// Goals under way. The agent refuses long before; this bounds what it is asked.
const MOST_OPEN: usize = 256;
/// Results that are kept for whoever asks late.
const MOST_FINISHED: usize = 100;
/// Ids that are remembered so that none is used twice.
const MOST_SEEN: usize = 1024;
/// Questions for the result of one goal.
const MOST_WAITING: usize = 32;

/// What a client calls its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GoalId(pub(crate) [u8; 16]);

/// Seconds and nanoseconds since 1970.
pub(crate) type Stamp = (i32, u32);

/// Where a goal stands. The numbers are those of `action_msgs/msg/GoalStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub(crate) enum GoalState {
    Executing = 2,
    Canceling = 3,
    Succeeded = 4,
    Canceled = 5,
    Aborted = 6,
}

impl GoalState {
    /// The number on the wire.
    pub(crate) fn code(self) -> i8 {
        self as i8
    }

    fn is_open(self) -> bool {
        matches!(self, Self::Executing | Self::Canceling)
    }
}

/// Why a goal is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GoalRefusal {
    /// Its id was used before.
    Duplicate,
    /// There are too many.
    TooMany,
}

/// What comes of a request to cancel. The numbers are those of `action_msgs/srv/CancelGoal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub(crate) enum CancelCode {
    Accepted = 0,
    Rejected = 1,
    UnknownGoal = 2,
    AlreadyEnded = 3,
}

impl CancelCode {
    /// The number on the wire.
    pub(crate) fn code(self) -> i8 {
        self as i8
    }
}

/// What is said to a question for a result.
#[derive(Debug, PartialEq)]
pub(crate) enum ResultAnswer<Request> {
    /// This, now.
    Now(Request, GoalState, TaskResult),
    /// This, once the feedback before it can have been taken: a client that is busy asks for the first time after the end.
    AfterFeedback(Request, GoalState, TaskResult),
    /// Nothing yet: the question is kept, or dropped where too many wait.
    Later,
    /// There is no such goal.
    Unknown(Request),
}

struct Goal<Request> {
    state: GoalState,
    accepted: Stamp,
    cancel: CancellationToken,
    result: Option<TaskResult>,
    waiting: Vec<Request>,
    /// Who has asked again after the last feedback.
    waiting_after_last_word: Vec<Request>,
    last_word_is_told: bool,
    asked: bool,
}

/// Who waits for the result of a goal that has ended.
pub(crate) struct Waiting<Request> {
    /// Those who asked beforehand: the last feedback may still be on its way to them.
    pub(crate) beforehand: Vec<Request>,
    /// Those who asked again after the last feedback: they have it.
    pub(crate) after_last_word: Vec<Request>,
}

/// The goals, by id.
pub(crate) struct Goals<Request> {
    goals: BTreeMap<GoalId, Goal<Request>>,
    /// In the order of their ends.
    finished: VecDeque<GoalId>,
    /// In the order of their coming.
    seen: VecDeque<GoalId>,
}

impl<Request> Default for Goals<Request> {
    fn default() -> Self {
        Self { goals: BTreeMap::new(), finished: VecDeque::new(), seen: VecDeque::new() }
    }
}

impl<Request> Goals<Request> {
    /// Takes a goal. The token is cancelled when it shall end.
    pub(crate) fn accept(&mut self, id: GoalId, accepted: Stamp) -> Result<CancellationToken, GoalRefusal> {
        if self.seen.contains(&id) || self.goals.contains_key(&id) {
            return Err(GoalRefusal::Duplicate);
        }
        if self.goals.len().saturating_sub(self.finished.len()) >= MOST_OPEN {
            return Err(GoalRefusal::TooMany);
        }
        self.seen.push_back(id);
        if self.seen.len() > MOST_SEEN {
            self.seen.pop_front();
        }
        let cancel = CancellationToken::new();
        let goal = Goal {
            state: GoalState::Executing,
            accepted,
            cancel: cancel.clone(),
            result: None,
            waiting: Vec::new(),
            waiting_after_last_word: Vec::new(),
            last_word_is_told: false,
            asked: false,
        };
        self.goals.insert(id, goal);
        Ok(cancel)
    }

    /// Cancels one goal, all, or all up to a moment: a zero id and a zero stamp stand for "any". Returns the goals that
    /// now end.
    pub(crate) fn cancel(&mut self, id: GoalId, stamp: Stamp) -> (CancelCode, Vec<(GoalId, Stamp)>) {
        let any_id = id == GoalId([0; 16]);
        let any_stamp = stamp == (0, 0);
        let is_meant = |goal: GoalId, accepted: Stamp| {
            (any_id && any_stamp) || (!any_id && goal == id) || (!any_stamp && accepted <= stamp)
        };
        let mut ending = Vec::new();
        for (goal_id, goal) in &mut self.goals {
            if goal.state.is_open() && is_meant(*goal_id, goal.accepted) {
                goal.state = GoalState::Canceling;
                goal.cancel.cancel();
                ending.push((*goal_id, goal.accepted));
            }
        }
        let code = match self.goals.get(&id) {
            _ if !ending.is_empty() || any_id => CancelCode::Accepted,
            None => CancelCode::UnknownGoal,
            Some(goal) if !goal.state.is_open() => CancelCode::AlreadyEnded,
            Some(_) => CancelCode::Rejected,
        };
        (code, ending)
    }

    /// Whether a cancel was accepted for a goal that has not ended.
    pub(crate) fn is_canceling(&self, id: GoalId) -> bool {
        self.goals.get(&id).is_some_and(|goal| goal.state == GoalState::Canceling)
    }

    /// The last feedback of a goal is out; its result follows.
    pub(crate) fn tell_last_word(&mut self, id: GoalId) {
        if let Some(goal) = self.goals.get_mut(&id) {
            goal.last_word_is_told = true;
        }
    }

    /// Ends a goal, once: whatever comes later is dropped. Returns who waits for the result.
    pub(crate) fn finish(&mut self, id: GoalId, state: GoalState, result: TaskResult) -> Waiting<Request> {
        let Some(goal) = self.goals.get_mut(&id).filter(|goal| goal.state.is_open()) else {
            return Waiting { beforehand: Vec::new(), after_last_word: Vec::new() };
        };
        goal.state = state;
        goal.result = Some(result);
        let waiting = Waiting {
            beforehand: std::mem::take(&mut goal.waiting),
            after_last_word: std::mem::take(&mut goal.waiting_after_last_word),
        };
        self.finished.push_back(id);
        if self.finished.len() > MOST_FINISHED
            && let Some(oldest) = self.finished.pop_front()
        {
            self.goals.remove(&oldest);
        }
        waiting
    }

    /// Someone asks for the result of a goal. The first question says nothing of the feedback: it comes when the goal was
    /// accepted, or later from a client that is busy. A further one is of a client that has the last feedback.
    pub(crate) fn ask_result(&mut self, id: GoalId, request: Request) -> ResultAnswer<Request> {
        let Some(goal) = self.goals.get_mut(&id) else {
            return ResultAnswer::Unknown(request);
        };
        let is_first = !std::mem::replace(&mut goal.asked, true);
        if let Some(result) = goal.result.clone() {
            let answer = if is_first { ResultAnswer::AfterFeedback } else { ResultAnswer::Now };
            return answer(request, goal.state, result);
        }
        let waiting =
            if goal.last_word_is_told && !is_first { &mut goal.waiting_after_last_word } else { &mut goal.waiting };
        if waiting.len() < MOST_WAITING {
            waiting.push(request);
        }
        ResultAnswer::Later
    }

    /// Whether there is a goal for whose result nobody has asked yet.
    pub(crate) fn has_unasked(&self) -> bool {
        self.goals.values().any(|goal| !goal.asked)
    }

    /// Every goal that is known, with its stamp and state.
    pub(crate) fn states(&self) -> impl Iterator<Item = (GoalId, Stamp, GoalState)> {
        self.goals.iter().map(|(id, goal)| (*id, goal.accepted, goal.state))
    }
}

#[cfg(test)]
mod tests;
