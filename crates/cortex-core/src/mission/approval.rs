//! Approval by people. Policy stands before every act, without a model: what it denies is not called, what it asks about is
//! called only with a person's yes to exactly these bytes. While a person is asked nothing new begins and no model is
//! asked; what is in flight goes on and is watched.
//!
//! - `grants`: what was approved, and how long that counts; `asking`: questions, answers, and what follows them.

use cortex_protocol::question::PlanDigest;
use cortex_protocol::{
    Effect as ToolEffect, FailureKind, MissionEvent, Plan, PlanOpinion, PolicyVerdict, ResourceName, Step, StepNumber,
    StepStatus, ToolCall, ToolFingerprint, ToolName, ToolOutcome, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::availability::Destination;
use super::{Mission, arguments};
use crate::chat::{ChatReply, SecondVerdict};
use crate::fragment::{NOTE_CHARACTERS, one_line};
use crate::output_refs;
use crate::policy::{Judgement, PolicyContext};
use grants::{CallBytes, Grants};

mod asking;
mod grants;

pub(super) use asking::AfterAnswer;
pub use asking::AnswerProblem;

/// What the machine keeps of policy and of questions to people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Approvals {
    /// Counts the questions of the mission.
    asked: u32,
    /// The question that is open. Not part of the state that is kept: after a restart nobody can answer it.
    #[serde(skip)]
    open: Option<cortex_protocol::Question>,
    /// What was approved. Not part of the state that is kept: nothing approved survives a restart.
    #[serde(skip)]
    grants: Grants,
    /// The digest of the current plan, once people were asked about it.
    #[serde(skip)]
    digest: Option<PlanDigest>,
    /// Calls that a person denied, or about which nobody answered: they are not asked about again.
    denied: Vec<DeniedCall>,
    /// Denied calls of which the model was told.
    told: Vec<(ToolName, String)>,
    /// The plan as a whole about which people were asked last; 0: none.
    plan_asked: u32,
    /// What speaks against the plan that the model made last.
    #[serde(default)]
    doubt: Option<String>,
    /// How often the model has asked a person.
    pub(super) choices_asked: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DeniedCall {
    tool: ToolName,
    arguments: String,
    reason: String,
}

/// What becomes of a plan in which policy denies a step.
pub(super) enum Refusal {
    /// The model is told, so that it can plan otherwise.
    Told(String),
    /// It was told before.
    Insisted(String),
}

/// A call as it would really be made, and what policy says of it.
struct Judged {
    call: ToolCall,
    fingerprint: ToolFingerprint,
    effect: ToolEffect,
    resources: Vec<ResourceName>,
    judgement: Judgement,
}

impl Mission {
    /// Notes what speaks against the plan that a reply makes, if it makes one, and tells what a second model says of it.
    pub(super) fn note_doubt(&mut self, reply: &ChatReply) {
        let mut doubts: Vec<String> = reply.doubt.iter().cloned().collect();
        if let Some(second) = reply.second.as_deref() {
            let opinion = match &second.verdict {
                SecondVerdict::Same => Some((PlanOpinion::Same, "")),
                SecondVerdict::Other { told } => Some((PlanOpinion::Other, told.as_str())),
                SecondVerdict::NoAnswer { because } => Some((PlanOpinion::NoAnswer, because.as_str())),
                SecondVerdict::NotCompared => None,
            };
            if let Some((opinion, told)) = opinion {
                let (model, told) = (second.model.clone(), one_line(told, NOTE_CHARACTERS));
                self.report(MissionEvent::PlanCompared { model, opinion, told });
            }
            match &second.verdict {
                SecondVerdict::Other { told } if second.doubts => {
                    doubts.push(format!("{} plans otherwise: {told}", second.model));
                }
                _ => {}
            }
        }
        let doubts = doubts.join("; ");
        self.approvals.doubt = (!doubts.is_empty()).then(|| one_line(&doubts, NOTE_CHARACTERS));
    }

    /// Tells what speaks against a plan that is about to begin.
    pub(super) fn report_doubt(&mut self) {
        if let Some(reason) = self.approvals.doubt.clone() {
            self.report(MissionEvent::PlanDoubted { plan: self.run.number(), reason });
        }
    }

    /// What policy says of an act of a plan against which something speaks.
    fn judgement_of_doubt(&self) -> Judgement {
        let allowed = Judgement { verdict: PolicyVerdict::Allow, reasons: Vec::new() };
        let Some(reason) = &self.approvals.doubt else { return allowed };
        match self.setup.policy.policy.doubted() {
            PolicyVerdict::Allow => allowed,
            verdict => Judgement { verdict, reasons: vec![format!("{reason}.")] },
        }
    }

    /// Judges a call of a tool, and that of the standby that would really be made.
    fn judged(&self, call: &ToolCall, fingerprint: ToolFingerprint) -> Judged {
        self.judged_and(call, fingerprint, Judgement { verdict: PolicyVerdict::Allow, reasons: Vec::new() })
    }

    /// The same of a step of the current plan.
    fn judged_as_step(&self, call: &ToolCall, fingerprint: ToolFingerprint) -> Judged {
        let acts = self.setup.tools.get(&call.tool).is_none_or(|spec| spec.effect != ToolEffect::Observe);
        if !acts {
            return self.judged(call, fingerprint);
        }
        self.judged_and(call, fingerprint, self.judgement_of_doubt())
    }

    /// Judges a call beside what is known against it.
    fn judged_and(&self, call: &ToolCall, fingerprint: ToolFingerprint, known: Judgement) -> Judged {
        let Destination { call: real, fingerprint, .. } = self.destination(call.clone(), fingerprint);
        let setup = &self.setup.policy;
        let context = PolicyContext { origin: &setup.origin, state: &setup.state };
        let judge = |call: &ToolCall, spec: Option<&ToolSpec>| match spec {
            Some(spec) => setup.policy.judge(call, spec, &context),
            None if setup.policy.is_unrestricted() => Judgement { verdict: PolicyVerdict::Allow, reasons: Vec::new() },
            None => Judgement {
                verdict: PolicyVerdict::Deny,
                reasons: vec![format!("There is no tool {} now, so nobody can judge a call of it.", call.tool)],
            },
        };
        let spec = self.setup.tools.get(&call.tool);
        let mut judgement = judge(call, spec);
        let server = if real.tool == call.tool { spec } else { self.availability.there(&real.tool) };
        if real.tool != call.tool {
            judgement = judgement.and(judge(&real, server));
        }
        judgement = judgement.and(known);
        if judgement.verdict == PolicyVerdict::Ask
            && let Some(denied) = self.approvals.denied_before(&real)
        {
            judgement = Judgement { verdict: PolicyVerdict::Deny, reasons: vec![denied.reason.clone()] };
        }
        Judged {
            fingerprint,
            effect: server.map(|spec| spec.effect).unwrap_or_default(),
            resources: spec.map(|spec| spec.resources.clone()).unwrap_or_default(),
            judgement,
            call: real,
        }
    }

    /// Whether policy has a word on this call of a tool for research: then it is a step of the plan, whatever its phase.
    pub(super) fn needs_leave(&self, spec: &ToolSpec, arguments: &Map<String, Value>) -> bool {
        let call = ToolCall { tool: spec.name.clone(), arguments: arguments.clone() };
        self.judged(&call, spec.fingerprint()).judgement.verdict != PolicyVerdict::Allow
    }

    /// Why research is not done now, if policy has a word on it: nobody is asked in the midst of research.
    pub(super) fn research_refusal(&self, call: &ToolCall, fingerprint: ToolFingerprint) -> Option<ToolOutcome> {
        let judgement = self.judged(call, fingerprint).judgement;
        let why = match judgement.verdict {
            PolicyVerdict::Allow => return None,
            PolicyVerdict::Ask => "a person must be asked first, so it must be a step of a plan",
            PolicyVerdict::Deny => "it is denied",
        };
        Some(ToolOutcome::failure(FailureKind::Denied, format!("it was not called: {why}: {}", judgement.told())))
    }

    /// What becomes of a plan in which policy denies a step, whatever that step still waits to know.
    pub(super) fn refused_by_policy(&mut self, plan: &Plan) -> Option<Refusal> {
        let mut problems = Vec::new();
        let mut insisted = None;
        for step in &plan.steps {
            let Some(reason) = self.denial_of_planned(step) else { continue };
            let tool = step.call.tool.clone();
            self.report(MissionEvent::PolicyDenied { step: step.number, tool: tool.clone(), reason: reason.clone() });
            problems.push(format!("step {} ({tool}) is denied: {reason}", step.number));
            let bytes = (tool.clone(), grants::canonical(&step.call.arguments));
            if self.approvals.told.contains(&bytes) {
                insisted = Some(format!("{tool} is denied, and the model planned it again: {reason}"));
            } else {
                self.approvals.told.push(bytes);
            }
        }
        match insisted {
            Some(reason) => Some(Refusal::Insisted(reason)),
            None if problems.is_empty() => None,
            None => Some(Refusal::Told(format!("{} Plan without it, or call decline_task.", problems.join(" ")))),
        }
    }

    fn denial_of_planned(&self, step: &Step) -> Option<String> {
        let fingerprint = self.offer.shown(&step.call.tool).unwrap_or(ToolFingerprint(0));
        let judgement = if is_closed(&step.call.arguments) {
            self.judged(&step.call, fingerprint).judgement
        } else {
            // What is not filled in yet is judged when it is; here only what no value can change.
            let spec = self.setup.tools.get(&step.call.tool)?;
            let policy = self.setup.policy.policy.judge_tool(spec);
            let verdict = if policy.cases.is_empty() { policy.verdict } else { PolicyVerdict::Allow };
            Judgement { verdict, reasons: policy.reasons }
        };
        (judgement.verdict == PolicyVerdict::Deny).then(|| judgement.told())
    }

    /// Asks a person before the model confirms a step, where policy asks about it or about a later step of the same plan:
    /// nothing that acts begins before the plan is approved. Returns whether the step does not go on to its confirmation.
    pub(super) fn waits_for_approval(&mut self, step: &Step) -> bool {
        let judged = self.judged_as_planned(step);
        if let Some(judged) = judged.as_ref().filter(|judged| judged.judgement.verdict == PolicyVerdict::Deny) {
            let reason = judged.judgement.told();
            self.deny_step(step.number, &reason);
            self.advance();
            return true;
        }
        let asks = judged.is_some_and(|judged| self.lacks_approval(step.number, &judged));
        let acts = self.setup.tools.get(&step.call.tool).is_none_or(|spec| spec.effect != ToolEffect::Observe);
        let is_first = self.approvals.plan_asked != self.run.number();
        (asks || (acts && is_first)) && self.ask_about_plan()
    }

    /// A step that has not begun, as it would be called, where nothing of it is still to be filled in.
    fn judged_as_planned(&self, step: &Step) -> Option<Judged> {
        let fingerprint = self.run.fingerprint(step.number)?;
        is_closed(&step.call.arguments).then(|| self.judged_as_step(&step.call, fingerprint))
    }

    fn lacks_approval(&self, step: StepNumber, judged: &Judged) -> bool {
        judged.judgement.verdict == PolicyVerdict::Ask
            && !self.approvals.grants.has(step, &judged.bytes(), self.approvals.digest.as_ref(), self.clock.now())
    }

    /// Whether a step may be called with these arguments, the last word before it is. If not, it has failed, or a person is
    /// asked; what follows is under way. An approval that is used is used up.
    pub(super) fn has_leave(&mut self, step: StepNumber, call: &ToolCall, fingerprint: ToolFingerprint) -> bool {
        let judged = self.judged_as_step(call, fingerprint);
        match judged.judgement.verdict {
            PolicyVerdict::Allow => true,
            PolicyVerdict::Deny => {
                let reason = judged.judgement.told();
                self.deny_step(step, &reason);
                self.advance();
                false
            }
            PolicyVerdict::Ask => {
                let Approvals { grants, digest, .. } = &mut self.approvals;
                if grants.take(step, &judged.bytes(), digest.as_ref(), self.clock.now()) {
                    return true;
                }
                self.ask_about_call(step, call.arguments.clone(), fingerprint, &judged);
                false
            }
        }
    }

    /// The step fails, because policy or a person denies it.
    fn deny_step(&mut self, number: StepNumber, reason: &str) {
        if self.status(number).is_none_or(StepStatus::is_terminal) {
            return;
        }
        let Some(tool) = self.step(number).map(|step| step.call.tool.clone()) else { return };
        self.report(MissionEvent::PolicyDenied { step: number, tool, reason: reason.to_owned() });
        let outcome = ToolOutcome::failure(FailureKind::Denied, format!("it was not called: {reason}"));
        self.end_step(number, outcome);
    }

    /// A new plan: what was approved of the last one alone does not count any more.
    pub(super) fn begin_plan_approvals(&mut self) {
        self.approvals.grants.keep_for_mission();
        self.approvals.digest = None;
    }

    /// Nothing that was approved counts any more.
    pub(super) fn void_approvals(&mut self) {
        self.approvals.grants.clear();
    }
}

impl Approvals {
    fn denied_before(&self, call: &ToolCall) -> Option<&DeniedCall> {
        if self.denied.is_empty() {
            return None;
        }
        let arguments = grants::canonical(&call.arguments);
        self.denied.iter().find(|denied| denied.tool == call.tool && denied.arguments == arguments)
    }
}

impl Judged {
    fn bytes(&self) -> CallBytes {
        CallBytes::of(&self.call, self.fingerprint)
    }
}

/// Whether nothing of the arguments is still to be filled in.
fn is_closed(arguments: &Map<String, Value>) -> bool {
    output_refs::references(arguments).is_empty() && !arguments.values().any(arguments::is_open_anywhere)
}
