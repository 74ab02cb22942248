//! From what is to be done to what is to be done now.
//!
//! Steps of a plan and planning tools can't always go into one reply: a question after a drive is asked after the
//! drive. So the parts are taken in stretches, each either a plan or a set of questions, and every request goes on
//! where the record of the mission ends. Nothing is remembered between requests.

use cortex_core::{CallArguments, ModelCall};
use cortex_language::{Call, Condition, Part, Usage};
use cortex_protocol::{StepReport, ToolOutcome};
use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use super::toolbox::{Toolbox, is_name_of, usage_of};
use super::{readable, schema};

/// Most planning tools that are asked at once; the core takes no more.
const QUESTIONS_AT_ONCE: usize = 16;

/// What became of a part of the task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Done<'r> {
    /// Carried out as a step.
    Step(&'r StepReport),
    /// Asked of a planning tool.
    Found(&'r ToolOutcome),
    /// Nothing had to be done.
    Nothing,
}

impl Done<'_> {
    /// What it brought.
    pub(super) fn outcome(&self) -> Option<&ToolOutcome> {
        match self {
            Self::Step(report) => report.outcome.as_ref(),
            Self::Found(outcome) => Some(outcome),
            Self::Nothing => None,
        }
    }
}

/// A condition that was checked: the part that looked, whether it held, and how many parts after it were therefore done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) at: usize,
    pub(super) parts: usize,
}

/// What was done so far: the parts, those under conditions only where they are done, with what became of each.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Account<'r> {
    pub(super) parts: Vec<Part>,
    pub(super) done: Vec<Done<'r>>,
    pub(super) checks: Vec<Check>,
}

impl Account<'_> {
    /// Returns true if all that was to be done depended on conditions, and none of them held.
    pub(super) fn held_nothing(&self) -> bool {
        !self.checks.is_empty()
            && self.parts.len() == self.checks.len()
            && self.checks.iter().all(|check| check.parts == 0)
    }
}

/// What comes next.
#[derive(Debug, PartialEq)]
pub(super) enum Next<'r> {
    /// These calls.
    Calls(Vec<ModelCall>),
    /// Everything is done.
    Finished(Account<'r>),
    /// A question was not answered; with what was done before it.
    NotFound { account: Account<'r>, outcome: &'r ToolOutcome },
    /// What was found leaves open whether this condition holds.
    Undecided { account: Account<'r>, clause: String },
    /// The record tells of other steps than were asked for.
    Astray,
}

/// What comes next, after what the conversation tells.
pub(super) fn next<'r>(toolbox: &Toolbox<'_>, parts: &[Part], conversation: &Conversation<'r>) -> Next<'r> {
    let account = Account { parts: parts.to_vec(), ..Account::default() };
    let mut walk = Walk { toolbox, account, conversation, steps: 0, asked: vec![] };
    walk.asked = vec![false; conversation.research.len()];
    let mut at = 0;
    while let Some(part) = walk.account.parts.get(at).cloned() {
        if let Part::If { condition, then, otherwise } = part {
            if let Some(next) = walk.check(at, &condition, then, otherwise) {
                return next;
            }
            at += 1;
            continue;
        }
        let Some(usage) = usage(toolbox, &part) else {
            walk.account.done.push(Done::Nothing);
            at += 1;
            continue;
        };
        let end = walk.stretch(at, usage);
        if let Some(next) = walk.stretch_done(at, end, usage) {
            return next;
        }
        at = end;
    }
    if walk.steps < conversation.steps.len() { Next::Astray } else { Next::Finished(walk.account) }
}

/// How the part is carried out; `None` if there is nothing to carry out.
fn usage(toolbox: &Toolbox<'_>, part: &Part) -> Option<Usage> {
    toolbox.tool_of(part).map(usage_of)
}

/// The part where the indices of others are different.
fn shifted(part: Part, index: impl Fn(usize) -> usize) -> Part {
    match part {
        Part::Tell { tool, parameter, limit, of, clause } => {
            Part::Tell { tool, parameter, limit, of: index(of), clause }
        }
        other => other,
    }
}

struct Walk<'w, 'r, 'b> {
    toolbox: &'w Toolbox<'b>,
    account: Account<'r>,
    conversation: &'w Conversation<'r>,
    /// How many steps of the record are accounted for.
    steps: usize,
    /// Which answers of the record are accounted for.
    asked: Vec<bool>,
}

impl<'r> Walk<'_, 'r, '_> {
    /// Looks whether the condition at `at` holds, and puts in its place the look and what is therefore to be done.
    fn check(&mut self, at: usize, condition: &Condition, then: Vec<Part>, otherwise: Vec<Part>) -> Option<Next<'r>> {
        let look = Part::Call { call: condition.look.clone(), clause: condition.clause.clone() };
        let Some(usage) = usage(self.toolbox, &look) else { return Some(Next::Astray) };
        if let Some(part) = self.account.parts.get_mut(at) {
            *part = look;
        }
        if let Some(next) = self.stretch_done(at, at + 1, usage) {
            return Some(next);
        }
        let found = self.account.done.last().and_then(Done::outcome).filter(|outcome| outcome.is_success());
        let branch = match found.and_then(|outcome| condition.holds(&outcome.value)) {
            Some(true) => then,
            Some(false) => otherwise,
            None => {
                let account = std::mem::take(&mut self.account);
                return Some(Next::Undecided { account, clause: condition.clause.clone() });
            }
        };
        self.account.checks.push(Check { at, parts: branch.len() });
        let later = branch.len();
        for part in self.account.parts.iter_mut().skip(at + 1) {
            *part = shifted(part.clone(), |of| if of > at { of + later } else { of });
        }
        let next = at + 1;
        self.account.parts.splice(next..next, branch.into_iter().map(|part| shifted(part, |of| of + next)));
        None
    }

    /// Accounts for a stretch; what comes next if it is not done yet.
    fn stretch_done(&mut self, at: usize, end: usize, usage: Usage) -> Option<Next<'r>> {
        if usage == Usage::Step { self.plan(at, end) } else { self.research(at, end) }
    }

    /// Where the stretch that begins at `at` ends: what can be asked at once before anything is done, or a plan with
    /// what may be a step among its steps.
    fn stretch(&self, at: usize, first: Usage) -> usize {
        let belongs = |usage: Usage| if first == Usage::Step { usage != Usage::Research } else { usage != Usage::Step };
        let rest = self.account.parts.iter().skip(at);
        let length = rest.take_while(|part| usage(self.toolbox, part).is_some_and(belongs)).count();
        at + length.max(1)
    }

    fn call(&self, number: usize, part: &Part, arguments: Map<String, Value>) -> ModelCall {
        ModelCall {
            id: format!("reflex-{}", self.conversation.calls + number),
            name: self.toolbox.tool_of(part).map(|tool| tool.name.clone()).unwrap_or_default(),
            arguments: CallArguments::Object(arguments),
        }
    }

    /// Accounts for the steps that were carried out, and plans the others.
    fn plan(&mut self, from: usize, to: usize) -> Option<Next<'r>> {
        let mut at = from;
        while at < to
            && let Some(report) = self.conversation.steps.get(self.steps)
        {
            if !self.account.parts.get(at).is_some_and(|part| self.is_step_of(part, report)) {
                return Some(Next::Astray);
            }
            self.account.done.push(Done::Step(report));
            self.steps += 1;
            at += 1;
        }
        if at == to {
            return None;
        }
        let calls = (at..to)
            .filter_map(|index| {
                let part = self.account.parts.get(index)?;
                let arguments = self.arguments(part, at);
                Some(self.call(index - at + 1, part, arguments))
            })
            .collect();
        Some(Next::Calls(calls))
    }

    /// The record knows canonical names, the request those on the wire. What another model did must have been called with the
    /// values of the part, too.
    fn is_step_of(&self, part: &Part, report: &StepReport) -> bool {
        let Some(tool) = self.toolbox.tool_of(part) else { return false };
        let has_values = |call: &Call| {
            call.arguments
                .iter()
                .all(|(name, value)| report.arguments.get(name).is_some_and(|given| schema::is_same(given, value)))
        };
        let is_as_asked = match part {
            Part::Call { call, .. } if self.conversation.takes_over => has_values(call),
            _ => true,
        };
        is_name_of(&tool.name, report.tool.as_str()) && is_as_asked
    }

    /// The arguments of a part in a plan whose first step is the part `first`.
    fn arguments(&self, part: &Part, first: usize) -> Map<String, Value> {
        match part {
            Part::Call { call, .. } => call.arguments.clone(),
            Part::Tell { parameter, limit, of, .. } => {
                let text = match self.account.done.get(*of) {
                    Some(done) => {
                        let value = done.outcome().map_or(&Value::Null, |outcome| &outcome.value);
                        readable::spoken_text(value, *limit)
                    }
                    None => format!("<output of step {}>", of.saturating_sub(first) + 1),
                };
                Map::from_iter([(parameter.clone(), json!(text))])
            }
            Part::Talk(_) | Part::If { .. } => Map::new(),
        }
    }

    /// Accounts for the questions that were answered, and asks the others.
    fn research(&mut self, from: usize, to: usize) -> Option<Next<'r>> {
        let mut open = Vec::new();
        for part in self.account.parts.get(from..to).unwrap_or_default() {
            let answered = self.conversation.research.iter().zip(&self.asked).position(|(research, asked)| {
                !asked && {
                    let call = self.call(1, part, self.arguments(part, from));
                    research.name == call.name && CallArguments::Object(research.arguments.clone()) == call.arguments
                }
            });
            match answered.and_then(|index| Some((index, self.conversation.research.get(index)?))) {
                Some((index, research)) => {
                    if let Some(asked) = self.asked.get_mut(index) {
                        *asked = true;
                    }
                    if !research.outcome.is_success() {
                        let account = std::mem::take(&mut self.account);
                        return Some(Next::NotFound { account, outcome: research.outcome });
                    }
                    self.account.done.push(Done::Found(research.outcome));
                }
                None if open.len() < QUESTIONS_AT_ONCE => {
                    open.push(self.call(open.len() + 1, part, self.arguments(part, from)));
                }
                None => {}
            }
        }
        (!open.is_empty()).then_some(Next::Calls(open))
    }
}
