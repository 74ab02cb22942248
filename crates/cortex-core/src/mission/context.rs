//! What the robot has on record for the task: gathered before each phase of planning, and shown right after the task. What it
//! can't do is not gathered: it follows from what the mission begins with.

use std::collections::BTreeSet;
use std::time::Duration;

use cortex_protocol::{MissionEvent, StepReport, StepStatus, ToolName};
use serde::{Deserialize, Serialize};

use super::bounds::bounds;
use super::{Mission, Phase};
use crate::chat::{ChatRequest, Message};
use crate::context::{Context, ContextPassage, ContextQuery, MissingSource, PassageKind, happened};
use crate::fragment::{Fragment, citation};
use crate::identity::{self, IDENTITY_SOURCE, LIMITS};

/// How long the mission waits for what was gathered. Whoever gathers has a shorter bound for each source; this one guards
/// against it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The entrance by which the events of a recipe give tasks; the client is the name of the event.
const RECIPE_EVENTS: &str = "event";

/// Matches what was gathered to the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatheringId(pub u32);

/// What the mission knows of the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MissionContext {
    /// What was gathered last.
    gathered: Context,
    /// How often it was asked for.
    asked: u32,
}

impl Mission {
    /// Begins to gather what is on record where a phase of planning begins; says whether it did.
    pub(super) fn gathers_context(&mut self) -> bool {
        if self.setup.context_sources.is_empty() || !self.conversation.is_phase_new() {
            return false;
        }
        self.context.asked += 1;
        let gathering = GatheringId(self.context.asked);
        let query = ContextQuery {
            task: self.setup.task.clone(),
            revisions: self.revisions.texts().to_vec(),
            class: self.task_state.class,
            tools: self.tools_of_task().into_iter().collect(),
            events: self.what_happened(),
        };
        self.effects.push(super::Effect::GatherContext { gathering, query });
        self.phase = Phase::Gathering { gathering, until: self.clock.now() + PATIENCE };
        true
    }

    /// The tools that the task is about, as far as that is certain: those that declare its sentences, and those that failed.
    fn tools_of_task(&self) -> BTreeSet<ToolName> {
        let declared = self.setup.reading.declared_by.iter().flatten();
        declared.chain(self.failed_steps().map(|report| &report.tool)).cloned().collect()
    }

    fn failed_steps(&self) -> impl Iterator<Item = &StepReport> {
        self.record.steps().iter().filter(|report| report.status == StepStatus::Failed)
    }

    /// What led to the plan that is to be made.
    fn what_happened(&self) -> Vec<String> {
        let origin = &self.setup.policy.origin;
        let event = Some(&origin.client).filter(|_| origin.channel == RECIPE_EVENTS).cloned();
        let is_reopened = self.setup.reopens.is_some();
        // What a person disputes stands among the revisions, too.
        let revised = self.revisions.texts().len() > usize::from(is_reopened);
        let so = [
            (self.failed_steps().next().is_some(), happened::STEP_FAILED),
            (revised, happened::TASK_REVISED),
            (is_reopened, happened::TASK_DISPUTED),
        ];
        event.into_iter().chain(so.into_iter().filter(|(is_so, _)| *is_so).map(|(_, name)| name.to_owned())).collect()
    }

    pub(super) fn on_context_gathered(&mut self, gathering: GatheringId, context: Context) {
        if !matches!(self.phase, Phase::Gathering { gathering: current, .. } if current == gathering) {
            // For a question that has been dropped.
            return;
        }
        self.clock.note_progress();
        if context != self.context.gathered {
            let found = context.passages.iter().map(citation).collect();
            let missing = context.missing.iter().map(|missing| missing.source.clone()).collect();
            let is_skill = |passage: &&ContextPassage| matches!(passage.kind, PassageKind::Skill { .. });
            let skills = context.passages.iter().filter(is_skill).map(|passage| passage.place.clone()).collect();
            self.context.gathered = context;
            self.report(MissionEvent::ContextGathered { found, missing, skills });
        }
        self.request_plan();
    }

    /// Nobody has gathered anything in time: the mission plans without it, and says so.
    pub(super) fn give_up_gathering(&mut self) {
        let because = format!("nothing came within {} s", PATIENCE.as_secs());
        let missing = |source: &String| MissingSource { source: source.clone(), because: because.clone() };
        let missing = self.setup.context_sources.iter().map(missing).collect();
        self.on_context_gathered(GatheringId(self.context.asked), Context { passages: Vec::new(), missing });
    }

    /// Adds what is on record to a request for a plan, after the task.
    pub(super) fn add_context(&self, chat: &mut ChatRequest) {
        let mut context = self.context.gathered.clone();
        context.passages.extend(self.bounds());
        if context.is_empty() {
            return;
        }
        let request = chat.messages.iter_mut().find_map(|message| match message {
            Message::User { fragments } => Some(fragments),
            _ => None,
        });
        if let Some(fragments) = request {
            fragments.push(Fragment::Context { context });
        }
    }

    /// What the robot can't do, where the task may ask for it.
    fn bounds(&self) -> Option<ContextPassage> {
        let setup = &self.setup;
        // Of what the robot can do, a task that is told this has only what looks.
        let tools = || setup.tools.iter().chain(self.task_state.withheld.iter());
        identity::is_told(self.task_state.class).then(|| ContextPassage {
            source: IDENTITY_SOURCE.to_owned(),
            place: LIMITS.to_owned(),
            as_of: None,
            text: bounds(tools(), &setup.policy.policy, &setup.limits),
            relevance: identity::RELEVANCE,
            kind: PassageKind::Record,
        })
    }
}
