//! What a planning request tells of the mission so far: the task, what was done, what was found out, and whether the
//! last proposal was turned down.

use std::collections::BTreeMap;

use cortex_core::identity::{ABOUT, IDENTITY_SOURCE, LIMITS};
use cortex_core::mission::DISPUTED;
use cortex_core::{CallArguments, ChatRequest, ContextPassage, Fragment, Message, MissingSource, ToolDefinition};
use cortex_protocol::{MissionStatus, StepReport, StepStatus, TaskClass, ToolOutcome, Turn};
use serde_json::{Map, Value};

use super::small_talk::Itself;
use super::toolbox::Toolbox;

/// How the core notes a step that did not fit into the plan; it may be planned again.
const CUT_NOTE: &str = "cut";

/// One call of a planning tool and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Research<'r> {
    pub(super) name: &'r str,
    pub(super) arguments: &'r Map<String, Value>,
    pub(super) outcome: &'r ToolOutcome,
}

/// A planning request, read.
#[derive(Debug, Default)]
pub(super) struct Conversation<'r> {
    /// The last task.
    pub(super) task: Option<&'r str>,
    /// The task before it in the same session, if that was carried out: "it" may stand for something in it.
    pub(super) before: Option<&'r str>,
    /// The steps of every plan for it, in order, without those that were cut.
    pub(super) steps: Vec<&'r StepReport>,
    /// What was found out for it, in order.
    pub(super) research: Vec<Research<'r>>,
    /// Why the last proposal was turned down, if it was.
    pub(super) rejection: Option<String>,
    /// True if the last reply called nothing.
    has_answered: bool,
    /// True if the last answer was not taken for the task's end.
    pub(super) answer_was_not_enough: bool,
    /// What the robot can do, though not for this task.
    pub(super) abilities: &'r [ToolDefinition],
    /// What the robot has on record for the task.
    pub(super) on_record: &'r [ContextPassage],
    /// The sources of it that could not be asked.
    pub(super) missing: &'r [MissingSource],
    /// What kind of thing the task is.
    pub(super) class: Option<TaskClass>,
    /// What it could do a moment ago: a call of it waits for it.
    pub(super) away: Vec<&'r ToolDefinition>,
    /// What the robot is, as its configuration says. Empty: it says nothing.
    pub(super) identity: &'r str,
    /// How many calls were made before.
    pub(super) calls: usize,
    /// What was said with the calls: why the task was read as it was.
    pub(super) remark: Option<&'r str>,
    /// True if a person has said something in mid task.
    pub(super) is_revised: bool,
    /// How many of the findings are older than the last record of a plan.
    found_before: usize,
    /// Why plans ended, as it was said with their record.
    ended_because: BTreeMap<u32, &'r str>,
    /// True if another model may have begun the task.
    pub(super) takes_over: bool,
    /// What that one planned and never began.
    pub(super) never_begun: Vec<&'r StepReport>,
    /// The task of an earlier mission that did not do what was asked, as a person says.
    pub(super) disputed: Option<&'r str>,
}

impl<'r> Conversation<'r> {
    pub(super) fn read(request: &'r ChatRequest) -> Self {
        let mut read = Self::default();
        let mut asked: BTreeMap<&str, (&str, &CallArguments)> = BTreeMap::new();
        let mut steps: BTreeMap<(u32, u32), &StepReport> = BTreeMap::new();
        for message in &request.messages {
            match message {
                Message::System { fragments } | Message::User { fragments } => {
                    let mut earlier: Option<&str> = None;
                    let mut ended = None;
                    for fragment in fragments {
                        match fragment {
                            // What a person says in mid task takes its place, and may name what is in it.
                            Fragment::Task { text } | Fragment::Revision { text } => {
                                read.is_revised = matches!(fragment, Fragment::Revision { .. });
                                read.before = read.task.or(read.before);
                                read.task = Some(text);
                                read.remark = None;
                                read.research.clear();
                                read.found_before = 0;
                                read.rejection = None;
                                steps.clear();
                            }
                            Fragment::Ledger { steps: reports, .. } => {
                                ended = reports.iter().map(|report| report.plan).max().or(ended);
                                read.found_before = read.research.len();
                                steps.extend(reports.iter().map(|report| ((report.plan, report.number.0), report)));
                                // What was proposed before was carried out.
                                read.rejection = None;
                            }
                            Fragment::Earlier { turns } => {
                                read.before = turns.last().and_then(carried_out);
                                earlier = turns.last().map(|turn| turn.task.as_str());
                            }
                            Fragment::Notice { text } if text == DISPUTED => read.disputed = earlier,
                            Fragment::Notice { text } => {
                                read.ended_because.extend(ended.map(|plan| (plan, text.as_str())));
                                read.answer_was_not_enough = read.has_answered;
                            }
                            Fragment::Identity { text } => read.identity = text.trim(),
                            Fragment::Abilities { tools } => read.abilities = tools,
                            Fragment::Context { context } => {
                                read.on_record = &context.passages;
                                read.missing = &context.missing;
                            }
                            Fragment::Goal { class, .. } => read.class = Some(*class),
                            Fragment::Away { tools } => read.away = tools.iter().map(|away| &away.tool).collect(),
                            _ => {}
                        }
                    }
                }
                Message::Assistant { text, calls } => {
                    read.has_answered = calls.is_empty();
                    read.calls += calls.len();
                    read.remark =
                        Some(text.as_str()).filter(|text| !text.is_empty() && !calls.is_empty()).or(read.remark);
                    read.rejection = None;
                    asked.extend(calls.iter().map(|call| (call.id.as_str(), (call.name.as_str(), &call.arguments))));
                }
                Message::Tool { id, content, .. } => match (content, asked.get(id.as_str())) {
                    (Fragment::ToolResult { outcome }, Some((name, CallArguments::Object(arguments)))) => {
                        read.research.push(Research { name, arguments, outcome });
                    }
                    (Fragment::Notice { text }, _) => {
                        read.rejection.get_or_insert_with(|| text.clone());
                    }
                    (other, _) => {
                        read.rejection.get_or_insert_with(|| other.render());
                    }
                },
            }
        }
        let was_cut = |report: &&StepReport| report.status == StepStatus::Blocked && report.note.starts_with(CUT_NOTE);
        // What a person has interrupted was not done, and is no fault of the step.
        let is_open = |report: &&StepReport| report.interrupted && report.status != StepStatus::Success;
        read.steps = steps.into_values().filter(|report| !was_cut(report) && !is_open(report)).collect();
        read
    }

    /// Goes on with a task that another model may have begun. What it never began of a plan that ended because of `why` alone
    /// does not count. What it saw before it did something may not be so any more.
    pub(super) fn take_over(&mut self, why: &str) {
        self.takes_over = true;
        let steps = std::mem::take(&mut self.steps);
        let is_by_us = |plan: u32| self.ended_because.get(&plan).is_some_and(|because| because.contains(why));
        let never_begun = |report: &&StepReport| report.status == StepStatus::Blocked && is_by_us(report.plan);
        (self.never_begun, self.steps) = steps.into_iter().partition(never_begun);
        self.research.drain(..self.found_before.min(self.research.len()));
    }

    /// What the robot knows of itself: the words of the configuration, and what is on record of it.
    pub(super) fn itself(&self) -> Itself<'r> {
        let on_record = |place: &str| {
            let of_robot = |passage: &&ContextPassage| passage.source == IDENTITY_SOURCE && passage.place == place;
            self.on_record.iter().find(of_robot).map(|passage| passage.text.as_str())
        };
        let about = [self.identity, on_record(ABOUT).unwrap_or_default()];
        let about = about.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        Itself { about, limits: on_record(LIMITS).unwrap_or_default() }
    }

    /// The tools of the request, as the task is read with them.
    pub(super) fn toolbox(&self, request: &'r ChatRequest) -> Toolbox<'r> {
        // A call of what is only told of is refused by the core, with the reason, and one of what is away waits for it.
        Toolbox::new(request.tools.iter().chain(self.abilities).chain(self.away.iter().copied()))
    }

    /// The steps that ended as they should.
    pub(super) fn done(&self) -> impl Iterator<Item = &'r StepReport> {
        self.steps.iter().copied().filter(|report| report.status == StepStatus::Success)
    }

    /// The first step that did not end as it should.
    pub(super) fn failure(&self) -> Option<&'r StepReport> {
        self.steps.iter().copied().find(|report| report.status != StepStatus::Success)
    }
}

/// The task of an earlier turn, if it did what it was asked for.
fn carried_out(turn: &Turn) -> Option<&str> {
    let is_done = matches!(turn.status, MissionStatus::Succeeded | MissionStatus::Answered);
    // Of a task whose words are not all there, nobody knows what the rest would have changed.
    (is_done && !turn.is_cut).then_some(turn.task.as_str())
}
