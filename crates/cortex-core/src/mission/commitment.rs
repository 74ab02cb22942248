//! From the calls of a reply to the plan that is carried out.

use cortex_protocol::{MissionEvent, Plan, Step, StepAddress, StepNumber, StepReport, StepStatus, ToolCall, ToolName};
use serde_json::Map;
use thiserror::Error;

use super::approval::Refusal;
use super::failure::CUT;
use super::prompts::StepReferencesError;
use super::repetition::{Repeats, repeats_of_steps};
use super::truncation::{cut_to, kept_as, kept_steps};
use super::{Arranged, Mission, arguments, prompts};
use crate::chat::ModelCall;
use crate::for_each::{self, ExpansionError, Wanted};
use crate::fragment::Fragment;
use crate::plan::{self, PlanError};
use crate::step_groups::{ArrangementError, StepGroups};

/// The calls of a reply that are steps of its plan.
type PlanCalls = Vec<(ModelCall, ToolName)>;

/// Why the calls of a reply are no plan that can be carried out. In words for the model.
#[derive(Debug, PartialEq, Error)]
pub(super) enum PlanProblem {
    #[error(transparent)]
    References(#[from] StepReferencesError),
    #[error(transparent)]
    StepGroups(#[from] ArrangementError),
    #[error("'instead_of' names {address}, and no earlier plan has such a step")]
    UnknownAddress { address: StepAddress },
    #[error(transparent)]
    Expansion(#[from] ExpansionError),
    #[error("<output of step {step}> is used, but the plan is too long, and step {step} is not kept")]
    UsesCutStep { step: StepNumber },
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{}", repeats_of_steps(.0))]
    Repeats(Vec<(StepNumber, Repeats)>),
}

impl Mission {
    /// Makes the plan and begins it; a plan that can't be is a mistake of the model.
    pub(super) fn commit(&mut self, calls: Vec<(ModelCall, ToolName)>, arranged: Option<Arranged>) {
        let over = self.run.number() >= self.plans_allowed();
        let over = over.then(|| format!("The task was not done after {} plans.", self.plans_tried()));
        if let Some(reason) = self.rounds_are_over().or(over) {
            self.fail(reason);
            return;
        }
        let mut step_groups = arranged.as_ref().map(|arranged| (*arranged.step_groups).clone()).unwrap_or_default();
        let wanted = match self.wanted_by(&calls, &mut step_groups) {
            Ok(wanted) => wanted,
            Err(problem) => {
                self.wrong_plan(problem.to_string(), calls, arranged);
                return;
            }
        };
        let tools: Vec<ToolName> = wanted.iter().map(|wanted| wanted.request.call.tool.clone()).collect();
        let kept = kept_steps(&tools, &self.setup.limits);
        let last = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let is_whole = kept.len() == wanted.len();
        let stay = kept.iter().filter_map(|index| wanted.get(*index)).map(|wanted| wanted.request.clone());
        let requests: Result<Vec<plan::Request>, PlanProblem> =
            if is_whole { Ok(stay.collect()) } else { stay.map(|request| cut_to(&kept, request)).collect() };
        let requests = match requests {
            Ok(requests) => requests,
            Err(problem) => {
                self.wrong_plan(problem.to_string(), calls, arranged);
                return;
            }
        };
        let instead_of: Vec<Vec<StepAddress>> = requests.iter().map(|request| request.instead_of.clone()).collect();
        let is_longer = wanted.len() != calls.len();
        let step_groups =
            if is_longer { step_groups.renumbered(|step| for_each::places(&wanted, step)) } else { step_groups };
        let step_groups = if is_whole { step_groups } else { step_groups.renumbered(|step| kept_as(&kept, step)) };
        let made = plan::build_arranged(requests, &step_groups);
        let made = made.and_then(|plan| plan::order(&plan).map(|order| (plan, order)));
        let made = made.map_err(PlanProblem::from);
        let made = made.and_then(|made| self.check_repetitions_in(&made.0).map(|()| made));
        let (plan, mut order) = match made {
            Ok(made) => made,
            Err(problem) => {
                self.wrong_plan(problem.to_string(), calls, arranged);
                return;
            }
        };
        let Some((calls, arranged)) = self.cleared_by_policy(&plan, calls, arranged) else { return };
        // What matters most begins first among what may begin.
        let priority =
            |number: &StepNumber| plan.steps.iter().find(|step| step.number == *number).map(|step| step.priority);
        order.sort_by_key(priority);
        self.conversation.begin_phase();
        self.task_state.told = false;
        // The calls were just checked to be for the versions that were shown.
        let fingerprint = |step: &Step| Some((step.number, self.offer.shown(&step.call.tool)?));
        let fingerprints = plan.steps.iter().filter_map(fingerprint).collect();
        self.run = self.run.next(plan.clone(), order, fingerprints);
        for (step, instead_of) in plan.steps.iter().zip(instead_of) {
            let report = self.new_report(step.number, step.call.clone(), StepStatus::Pending, "");
            self.record.push(StepReport { instead_of, ..report });
        }
        let mut cut = Vec::new();
        let mut number = last;
        let mut noted: Vec<Vec<String>> = vec![Vec::new(); calls.len()];
        for (index, Wanted { origin, request, .. }) in wanted.into_iter().enumerate() {
            let told = match kept.iter().position(|kept_index| *kept_index == index) {
                Some(position) => {
                    format!("noted as step {}.{}; its result comes with the record", self.run.number(), position + 1)
                }
                None => {
                    number += 1;
                    let note = CUT;
                    cut.push(request.call.tool.clone());
                    let report = self.new_report(StepNumber(number), request.call, StepStatus::Blocked, note);
                    self.record.push(report);
                    note.to_owned()
                }
            };
            if let Some(noted) = noted.get_mut(origin) {
                noted.push(told);
            }
        }
        for ((call, _), told) in calls.into_iter().zip(noted) {
            self.answer_call(call, Fragment::Notice { text: told_of(&told) });
        }
        if let Some(Arranged { model_call, .. }) = arranged {
            self.answer_call(model_call, Fragment::Notice { text: "noted".to_owned() });
        }
        self.timeline.planned(self.clock.now(), &plan);
        self.report(MissionEvent::Planned { plan: self.run.number(), steps: plan, cut });
        self.report_doubt();
        self.advance();
    }

    /// The steps that the calls ask for, written out.
    fn wanted_by(
        &self,
        calls: &[(ModelCall, ToolName)],
        step_groups: &mut StepGroups,
    ) -> Result<Vec<Wanted>, PlanProblem> {
        let requests = calls.iter().map(|(call, tool)| prompts::plan_request(&self.setup.tools, call, tool));
        let requests = step_groups.apply(requests.collect::<Result<_, _>>()?)?;
        Ok(self.written_out(self.with_addresses(requests)?, step_groups)?)
    }

    /// The requests with the steps that they take the place of named in full.
    fn with_addresses(&self, mut requests: Vec<plan::Request>) -> Result<Vec<plan::Request>, PlanProblem> {
        for address in requests.iter_mut().flat_map(|request| &mut request.instead_of) {
            if address.plan == 0 {
                address.plan = self.run.number();
            }
            if self.record.step(*address).is_none() {
                return Err(PlanProblem::UnknownAddress { address: *address });
            }
        }
        Ok(requests)
    }

    /// The calls of a plan of which policy denies nothing. Of another one the model is told once; then the mission fails.
    fn cleared_by_policy(
        &mut self,
        plan: &Plan,
        calls: PlanCalls,
        arranged: Option<Arranged>,
    ) -> Option<(PlanCalls, Option<Arranged>)> {
        match self.refused_by_policy(plan) {
            None => {
                self.begin_plan_approvals();
                return Some((calls, arranged));
            }
            Some(Refusal::Told(problem)) => self.wrong_plan(problem, calls, arranged),
            Some(Refusal::Insisted(reason)) => self.fail(reason),
        }
        None
    }

    /// Nothing of the plan is done; every call of it is told why.
    fn wrong_plan(&mut self, problem: String, calls: Vec<(ModelCall, ToolName)>, arranged: Option<Arranged>) {
        let calls = calls.into_iter().map(|(call, _)| call).chain(arranged.map(|arranged| arranged.model_call));
        let answers = calls.map(|call| (call, problem.clone())).collect();
        self.mistake(problem, answers);
    }

    fn new_report(&self, number: StepNumber, call: ToolCall, status: StepStatus, note: &str) -> StepReport {
        let planned = if arguments::leaves_open(&call.arguments) { call.arguments.clone() } else { Map::new() };
        StepReport {
            plan: self.run.number(),
            number,
            tool: call.tool,
            arguments: call.arguments,
            planned,
            instead_of: Vec::new(),
            status,
            outcome: None,
            note: note.to_owned(),
            duration: None,
            timing: cortex_protocol::execution::StepTiming::default(),
            overtaken: false,
            interrupted: false,
            verification: None,
            by: None,
        }
    }
}

/// What became of one call: of one step, or of one for each of several values.
fn told_of(told: &[String]) -> String {
    match told {
        [first, .., last] => format!("written out as {} steps: the first {first}; the last {last}", told.len()),
        _ => told.concat(),
    }
}
