//! Phase 1: from the task to a committed plan or an answer.

use std::collections::BTreeSet;

use cortex_protocol::{
    CallId, Effect as ToolEffect, FailureKind, GoalClass, MissionEvent, Plan, Step, StepAddress, StepNumber,
    StepReport, StepStatus, ToolCall, ToolName, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Map, Value};

use super::approval::Refusal;
use super::arguments::{self, no_placeholder};
use super::ask_person::{ASK_PERSON, Choice};
use super::cutting::{cut_to, kept_as, kept_steps};
use super::failure::CUT;
use super::recall::{self, RECALL_STEP};
use super::{Arranged, DECLINE_TOOL, Mission, ORDER_FULFILLED, Phase, Research, ResearchState, prompts};
use crate::arrangement::{ARRANGE_TOOL, Arrangement};
use crate::binding;
use crate::chat::{CallArguments, ChatReply, Message, ModelCall};
use crate::expansion::{self, Wanted};
use crate::fragment::Fragment;
use crate::plan;
use crate::ports::{ModelError, ModelErrorKind};
use crate::selection::{self, FIND_TOOLS};

/// Most planning tools that one reply may call.
const MAX_RESEARCH_CALLS: usize = 16;

/// What is said of a call that is wrong as the one before it.
const SAME: &str = "the same as for the call before";

/// The calls of a reply that are steps of its plan.
type PlanCalls = Vec<(ModelCall, ToolName)>;

/// A call that can be done as it stands.
struct GoodCall {
    model_call: ModelCall,
    kind: CallKind,
}

enum CallKind {
    /// Of a tool of the robot.
    Tool { spec: Box<ToolSpec>, arguments: Map<String, Value> },
    /// Of the search for tools.
    Search { query: String },
    /// Of the tool that arranges the plan.
    Arrange { arrangement: Arrangement },
    /// Of the tool that asks a person.
    Ask { choice: Choice },
    /// Of the tool that shows a step of the record.
    Recall { step: StepAddress },
}

impl Mission {
    /// Asks for a plan or an answer, one turn further.
    pub(super) fn ask_for_plan(&mut self) {
        self.planning_turn += 1;
        if self.planning_turn > self.setup.limits.max_planning_steps {
            let turns = self.setup.limits.max_planning_steps;
            self.fail(format!("The model made neither a plan nor an answer in {turns} turns."));
            return;
        }
        self.report(MissionEvent::Planning { turn: self.planning_turn, plan: self.plan_number + 1 });
        self.came_back.clear();
        self.offer_tools();
        self.compact();
        self.may_recall |= self.is_compacted;
        let mut chat = prompts::planning_request(&self.setup, &self.offered, &self.conversation, self.may_recall);
        self.add_goal(&mut chat);
        self.add_ask_person(&mut chat);
        self.add_containment(&mut chat);
        if let Some(request) = self.ask_model(chat) {
            self.phase = Phase::Planning { request };
        }
    }

    /// Chooses what the model is offered, once, and notes which versions of the tools it is shown.
    fn offer_tools(&mut self) {
        let tools = &self.setup.tools;
        let limit = self.setup.limits.max_offered_tools;
        if tools.len() <= limit || self.offered.is_empty() {
            let chosen = selection::choose(tools, &self.setup.task, limit);
            self.offer(chosen);
        }
        let shown = self.offered.iter().filter_map(|name| self.setup.tools.get(name));
        self.shown = shown.map(|spec| (spec.name.clone(), spec.fingerprint())).collect();
    }

    /// Offers more tools. What is left out is told where something is.
    pub(super) fn offer(&mut self, more: impl IntoIterator<Item = ToolName>) {
        let before = self.offered.len();
        self.offered.extend(more);
        let left_out: Vec<ToolName> = prompts::left_out(&self.setup.tools, &self.offered).cloned().collect();
        if !left_out.is_empty() && self.offered.len() > before {
            self.report(MissionEvent::ToolsOffered { offered: self.offered.iter().cloned().collect(), left_out });
        }
    }

    /// The built-in search: what it finds is on offer from the next turn on.
    fn find_tools(&mut self, query: &str) -> ToolOutcome {
        let found = selection::find(&self.setup.tools, query, &self.offered);
        let outcome = ToolOutcome::success(selection::found(&found, &self.setup.tools));
        let names: Vec<ToolName> = found.into_iter().map(|spec| spec.name.clone()).collect();
        self.offer(names);
        outcome
    }

    pub(super) fn on_plan_reply(&mut self, reply: Result<ChatReply, ModelError>) {
        let was_cut = std::mem::take(&mut self.was_cut);
        let reply = match reply {
            Ok(reply) => reply,
            // A long thought or a filter may hit once; a model to which it happens each time has no answer.
            Err(error) if error.kind == ModelErrorKind::CutReply && !was_cut => {
                self.was_cut = true;
                self.mistake(error.message, Vec::new());
                return;
            }
            Err(error) => {
                let hint = if error.hint.is_empty() { String::new() } else { format!(" {}", error.hint) };
                self.fail(format!("The model failed: {}.{hint}", error.message.trim_end_matches('.')));
                return;
            }
        };
        if let Some(refusal) = reply.refusal {
            self.decline(&refusal);
        } else if reply.calls.is_empty() && reply.text.trim().is_empty() {
            self.mistake("it gave neither words nor a call".to_owned(), Vec::new());
        } else if reply.calls.is_empty() {
            self.answer(reply.text.trim());
        } else {
            self.sort_calls(&reply);
        }
    }

    /// Runs the research of a reply and commits its plan; or, if any call is wrong, does nothing but say so.
    fn sort_calls(&mut self, reply: &ChatReply) {
        let calls: Vec<ModelCall> = self.with_own_ids(&reply.calls);
        self.awaits_closing_words &= calls.iter().all(|call| self.is_a_look(&call.name));
        if let Some(declined) = calls.iter().find(|call| call.name == DECLINE_TOOL) {
            let reason = match &declined.arguments {
                CallArguments::Object(arguments) => arguments.get("reason").and_then(Value::as_str).unwrap_or_default(),
                CallArguments::Malformed { .. } => "",
            };
            let reason = if reason.is_empty() { reply.text.trim() } else { reason };
            self.decline(reason);
            return;
        }
        if self.goal.class == GoalClass::StandingOrder && calls.iter().any(|call| call.name == ORDER_FULFILLED) {
            self.on_fulfilled(reply, calls);
            return;
        }
        let awaited: BTreeSet<ToolName> = calls.iter().filter_map(|call| self.awaited(&call.name)).collect();
        if !awaited.is_empty() {
            self.wait_to_plan(awaited);
            return;
        }
        let checked: Vec<(ModelCall, Result<GoodCall, String>)> =
            calls.into_iter().map(|call| (call.clone(), self.check_call(call))).collect();
        self.conversation.push(Message::Assistant {
            text: reply.text.clone(),
            calls: checked.iter().map(|(call, _)| call.clone()).collect(),
        });
        let problems: Vec<String> = checked
            .iter()
            .filter_map(|(call, result)| result.as_ref().err().map(|problem| format!("{}: {problem}", call.name)))
            .collect();
        if !problems.is_empty() {
            let answers = checked
                .into_iter()
                .map(|(call, result)| {
                    let told = match result {
                        Err(problem) => problem,
                        Ok(_) => "not done, because another call of the same reply was wrong; call it again".to_owned(),
                    };
                    (call, told)
                })
                .collect();
            self.mistake(problems.join("; "), answers);
            return;
        }
        let good: Vec<GoodCall> = checked.into_iter().filter_map(|(_, result)| result.ok()).collect();
        let arranges = good.iter().any(|call| matches!(call.kind, CallKind::Arrange { .. }));
        let is_step = |call: &GoodCall| matches!(&call.kind, CallKind::Tool { spec, arguments } if belongs_to_plan(spec, false) || self.needs_leave(spec, arguments));
        let acts = arranges || self.looks_are_steps() || good.iter().any(is_step);
        let (mut plan_calls, mut research, mut arranged) = (Vec::new(), Vec::new(), Vec::new());
        let mut asks = false;
        for call in good {
            match call.kind {
                CallKind::Arrange { arrangement } => {
                    arranged.push(Arranged { model_call: call.model_call, arrangement: Box::new(arrangement) });
                }
                CallKind::Tool { spec, arguments }
                    if belongs_to_plan(&spec, acts) || self.needs_leave(&spec, &arguments) =>
                {
                    plan_calls.push((call.model_call, spec.name));
                }
                CallKind::Ask { .. } => {
                    asks = true;
                    research.push(call);
                }
                CallKind::Tool { .. } | CallKind::Search { .. } | CallKind::Recall { .. } => research.push(call),
            }
        }
        let problem = match arranged.len() {
            0 => None,
            1 => plan_calls.is_empty().then_some("it arranges the steps of the same reply, and there are none"),
            _ => Some("one call of it arranges the whole plan"),
        };
        let problem = problem.map(|problem| format!("{ARRANGE_TOOL}: {problem}"));
        let asks_too_late = asks && !plan_calls.is_empty();
        let too_late = asks_too_late.then(|| format!("{ASK_PERSON}: ask first, and plan once you have the answer"));
        if let Some(problem) = problem.or(too_late) {
            let all = arranged.into_iter().map(|arranged| arranged.model_call);
            let all = all.chain(plan_calls.into_iter().map(|(call, _)| call));
            let all = all.chain(research.into_iter().map(|call| call.model_call));
            let answers = all.map(|call| (call, problem.clone())).collect();
            self.mistake(problem, answers);
            return;
        }
        let arranged = arranged.pop();
        if research.is_empty() {
            self.commit(plan_calls, arranged);
        } else {
            self.research(research, plan_calls, arranged);
        }
    }

    /// The calls with ids of our own: unique in the mission, whatever the model wrote.
    fn with_own_ids(&mut self, calls: &[ModelCall]) -> Vec<ModelCall> {
        // The place in the conversation, which may have become shorter.
        let message = self.conversation.len().max(self.next_message);
        self.next_message = message + 1;
        calls
            .iter()
            .enumerate()
            .map(|(index, call)| ModelCall { id: format!("call_{message}_{}", index + 1), ..call.clone() })
            .collect()
    }

    fn check_call(&mut self, model_call: ModelCall) -> Result<GoodCall, String> {
        let arguments = match &model_call.arguments {
            CallArguments::Object(arguments) => arguments.clone(),
            CallArguments::Malformed { problem, .. } => return Err(format!("its arguments can't be read: {problem}")),
        };
        if model_call.name == FIND_TOOLS && self.searches() {
            let query = arguments.get("query").and_then(Value::as_str);
            let query = query.ok_or("'query' must say what the tool should do, in a few words")?.to_owned();
            return Ok(GoodCall { model_call, kind: CallKind::Search { query } });
        }
        if model_call.name == ASK_PERSON && self.offers_ask_person() {
            let choice = Choice::read(&arguments)?;
            return Ok(GoodCall { model_call, kind: CallKind::Ask { choice } });
        }
        if model_call.name == RECALL_STEP && self.may_recall {
            let step = recall::read(&arguments)?;
            return Ok(GoodCall { model_call, kind: CallKind::Recall { step } });
        }
        if model_call.name == ARRANGE_TOOL {
            let arrangement = Arrangement::read(&arguments)?;
            return Ok(GoodCall { model_call, kind: CallKind::Arrange { arrangement } });
        }
        let spec = self.setup.tools.resolve(&model_call.name).cloned().ok_or_else(|| {
            let refusal = self.goal.refusal(&model_call.name).or_else(|| self.kept_back(&model_call.name));
            refusal.unwrap_or_else(|| {
                format!(
                    "there is no tool of this name; the tools are: {}",
                    prompts::names(&self.setup.tools, &self.offered)
                )
            })
        })?;
        match self.shown.get(&spec.name) {
            Some(shown) if *shown == spec.fingerprint() => {}
            Some(_) => {
                return Err(
                    "it has changed while you were asked; read its new description and call it again".to_owned()
                );
            }
            None => {
                self.offer([spec.name.clone()]);
                return Err("it was not among your tools; it is now: read its description and call it again".to_owned());
            }
        }
        prompts::plan_request(&self.setup.tools, &model_call, &spec.name)?;
        let arguments = prompts::without_own(&spec, &arguments);
        if let Some(written) = binding::malformed(&arguments) {
            return Err(no_placeholder(written));
        }
        self.setup.tools.check_unbound(&spec.name, &arguments)?;
        Ok(GoodCall { model_call, kind: CallKind::Tool { spec: Box::new(spec), arguments } })
    }

    /// Whether there are tools that the model is not offered.
    fn searches(&self) -> bool {
        prompts::left_out(&self.setup.tools, &self.offered).next().is_some()
    }

    fn research(
        &mut self,
        research: Vec<GoodCall>,
        plan_calls: Vec<(ModelCall, ToolName)>,
        arranged: Option<Arranged>,
    ) {
        let research = research
            .into_iter()
            .enumerate()
            .map(|(index, GoodCall { model_call, kind })| {
                let refused = |reason: String| ResearchState::Answered {
                    outcome: ToolOutcome::failure(FailureKind::InvalidArguments, reason),
                };
                let state = match kind {
                    _ if index >= MAX_RESEARCH_CALLS => {
                        refused(format!("at most {MAX_RESEARCH_CALLS} planning tools can be called at once"))
                    }
                    CallKind::Search { query } => ResearchState::Answered { outcome: self.find_tools(&query) },
                    CallKind::Recall { step } => ResearchState::Answered { outcome: self.recall(step) },
                    CallKind::Tool { arguments, .. } if !expansion::names(&arguments).is_empty() => {
                        refused("a planning tool is called for one value at a time".to_owned())
                    }
                    CallKind::Ask { choice } => match self.may_ask_person() {
                        Ok(()) => ResearchState::Asking { choice },
                        Err(outcome) => ResearchState::Answered { outcome },
                    },
                    CallKind::Arrange { .. } => refused("it arranges the steps of a plan".to_owned()),
                    CallKind::Tool { arguments, .. } if !binding::references(&arguments).is_empty() => refused(
                        "a planning tool is called before any step, so it can't refer to a step's output".to_owned(),
                    ),
                    CallKind::Tool { spec, arguments } if arguments::unfilled(&spec, &arguments).is_some() => {
                        refused("a placeholder in its arguments is not filled in".to_owned())
                    }
                    CallKind::Tool { spec, arguments } => ResearchState::Waiting {
                        fingerprint: spec.fingerprint(),
                        tool_call: ToolCall { tool: spec.name, arguments },
                    },
                };
                Research { model_call, state }
            })
            .collect();
        self.phase = Phase::Researching { research, plan_calls, arranged };
        self.go_on_with_research();
    }

    /// Takes the outcome of a planning tool.
    pub(super) fn on_researched(&mut self, call: CallId, tool: ToolName, outcome: ToolOutcome) {
        if let Phase::Researching { research, .. } = &mut self.phase {
            for entry in research.iter_mut().filter(|entry| entry.state == ResearchState::Running { call }) {
                entry.state = ResearchState::Answered { outcome: outcome.clone() };
            }
        }
        self.learn_from_research(&tool, &outcome);
        self.report(MissionEvent::Researched { call, tool, outcome });
        self.go_on_with_research();
    }

    /// Begins what does not need anything that is held; once every planning tool has answered, goes on.
    pub(super) fn go_on_with_research(&mut self) {
        let Phase::Researching { research, plan_calls, arranged } = self.phase.clone() else { return };
        let mut begun = research;
        for entry in &mut begun {
            let ResearchState::Waiting { tool_call, fingerprint } = entry.state.clone() else { continue };
            let refusal = self.forbidden(&tool_call).or_else(|| self.research_refusal(&tool_call, fingerprint));
            if let Some(outcome) = refusal {
                entry.state = ResearchState::Answered { outcome };
                continue;
            }
            if self.is_free_for(&tool_call.tool) {
                if self.ends_for_budget() {
                    return;
                }
                let (tool, arguments) = (tool_call.tool.clone(), tool_call.arguments.clone());
                let call = self.invoke(tool_call, fingerprint, None);
                self.report(MissionEvent::Researching { call, tool, arguments });
                entry.state = ResearchState::Running { call };
            }
        }
        let mut answers = Vec::with_capacity(begun.len());
        for entry in &begun {
            if let ResearchState::Answered { outcome } = &entry.state {
                answers.push((entry.model_call.clone(), outcome.clone()));
            }
        }
        if answers.len() < begun.len() {
            self.phase = Phase::Researching { research: begun, plan_calls, arranged };
            self.ask_next_choice();
            return;
        }
        for (model_call, outcome) in answers {
            self.answer_call(model_call, Fragment::ToolResult { outcome });
        }
        if plan_calls.is_empty() { self.ask_for_plan() } else { self.commit(plan_calls, arranged) }
    }

    /// Makes the plan and begins it; a plan that can't be is a mistake of the model.
    fn commit(&mut self, calls: Vec<(ModelCall, ToolName)>, arranged: Option<Arranged>) {
        let over = self.plan_number >= self.plans_allowed();
        let over = over.then(|| format!("The task was not done after {} plans.", self.plans_tried()));
        if let Some(reason) = self.rounds_are_over().or(over) {
            self.fail(reason);
            return;
        }
        let requests: Result<Vec<plan::Request>, String> =
            calls.iter().map(|(call, tool)| prompts::plan_request(&self.setup.tools, call, tool)).collect();
        let mut arrangement = arranged.as_ref().map(|arranged| (*arranged.arrangement).clone()).unwrap_or_default();
        let requests = requests.and_then(|requests| arrangement.apply(requests));
        let requests = requests.and_then(|requests| self.with_addresses(requests));
        let wanted = match requests.and_then(|requests| self.written_out(requests, &arrangement)) {
            Ok(wanted) => wanted,
            Err(problem) => {
                self.wrong_plan(problem, calls, arranged);
                return;
            }
        };
        let tools: Vec<ToolName> = wanted.iter().map(|wanted| wanted.request.call.tool.clone()).collect();
        let kept = kept_steps(&tools, &self.setup.limits);
        let last = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let is_whole = kept.len() == wanted.len();
        let stay = kept.iter().filter_map(|index| wanted.get(*index)).map(|wanted| wanted.request.clone());
        let requests: Result<Vec<plan::Request>, String> =
            if is_whole { Ok(stay.collect()) } else { stay.map(|request| cut_to(&kept, request)).collect() };
        let requests = match requests {
            Ok(requests) => requests,
            Err(problem) => {
                self.wrong_plan(problem, calls, arranged);
                return;
            }
        };
        let instead_of: Vec<Vec<StepAddress>> = requests.iter().map(|request| request.instead_of.clone()).collect();
        let is_longer = wanted.len() != calls.len();
        let arrangement =
            if is_longer { arrangement.renumbered(|step| expansion::places(&wanted, step)) } else { arrangement };
        let arrangement = if is_whole { arrangement } else { arrangement.renumbered(|step| kept_as(&kept, step)) };
        let made = plan::build_arranged(requests, &arrangement);
        let made = made.and_then(|plan| plan::order(&plan).map(|order| (plan, order)));
        let made = made.map_err(|problem| problem.to_string());
        let made = made.and_then(|made| self.repetition_in(&made.0).map_or(Ok(made), Err));
        let plan = match made {
            Ok((plan, order)) => {
                self.order = order;
                plan
            }
            Err(problem) => {
                self.wrong_plan(problem, calls, arranged);
                return;
            }
        };
        let Some((calls, arranged)) = self.cleared_by_policy(&plan, calls, arranged) else { return };
        // What matters most begins first among what may begin.
        let priority =
            |number: &StepNumber| plan.steps.iter().find(|step| step.number == *number).map(|step| step.priority);
        self.order.sort_by_key(priority);
        self.plan_number += 1;
        self.told_conflicts.clear();
        self.corrections.clear();
        self.retries.clear();
        self.to_mend.clear();
        self.tools_changed = false;
        self.planning_turn = 0;
        self.goal.told = false;
        // The calls were just checked to be for the versions that were shown.
        let fingerprint = |step: &Step| Some((step.number, *self.shown.get(&step.call.tool)?));
        self.planned = plan.steps.iter().filter_map(fingerprint).collect();
        for (step, instead_of) in plan.steps.iter().zip(instead_of) {
            let report = self.new_report(step.number, step.call.clone(), StepStatus::Pending, "");
            self.reports.push(StepReport { instead_of, ..report });
        }
        let mut cut = Vec::new();
        let mut number = last;
        let mut noted: Vec<Vec<String>> = vec![Vec::new(); calls.len()];
        for (index, Wanted { origin, request, .. }) in wanted.into_iter().enumerate() {
            let told = match kept.iter().position(|kept_index| *kept_index == index) {
                Some(position) => {
                    format!("noted as step {}.{}; its result comes with the report", self.plan_number, position + 1)
                }
                None => {
                    number += 1;
                    let note = CUT;
                    cut.push(request.call.tool.clone());
                    let report = self.new_report(StepNumber(number), request.call, StepStatus::Blocked, note);
                    self.reports.push(report);
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
        self.timeline.planned(self.now, &plan);
        self.plan = plan.clone();
        self.report(MissionEvent::Planned { plan: self.plan_number, steps: plan, cut });
        self.advance();
    }

    /// The requests with the steps that they take the place of named in full.
    fn with_addresses(&self, mut requests: Vec<plan::Request>) -> Result<Vec<plan::Request>, String> {
        for address in requests.iter_mut().flat_map(|request| &mut request.instead_of) {
            if address.plan == 0 {
                address.plan = self.plan_number;
            }
            let is_named = |report: &StepReport| report.plan == address.plan && report.number == address.step;
            if !self.reports.iter().any(is_named) {
                return Err(format!("'instead_of' names {address}, and no earlier plan has such a step"));
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
            plan: self.plan_number,
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
            verification: None,
            by: None,
        }
    }

    /// Tells the model what was wrong and asks again. Every call gets its answer, or providers refuse the conversation.
    pub(super) fn mistake(&mut self, problem: String, answers: Vec<(ModelCall, String)>) {
        let had_calls = !answers.is_empty();
        let mut said: Option<String> = None;
        for (call, told) in answers {
            // Said once, however many calls were wrong in the same way.
            let text = if said.as_ref() == Some(&told) { SAME.to_owned() } else { told.clone() };
            said = Some(told);
            self.answer_call(call, Fragment::Notice { text });
        }
        if !had_calls {
            let text = format!("Your reply could not be used: {problem}. Call tools, or answer in words.");
            self.conversation.push(Message::User { fragments: vec![Fragment::Notice { text }] });
        }
        self.report(MissionEvent::ModelMistake { problem });
        self.ask_for_plan();
    }

    pub(super) fn answer_call(&mut self, call: ModelCall, content: Fragment) {
        self.conversation.push(Message::Tool { id: call.id, name: call.name, content });
    }
}

/// What became of one call: of one step, or of one for each of several values.
fn told_of(told: &[String]) -> String {
    match told {
        [first, .., last] => format!("written out as {} steps: the first {first}; the last {last}", told.len()),
        _ => told.concat(),
    }
}

/// Whether a call is a step of the plan rather than research that is done at once. A tool of both phases is research
/// on its own, but a step among steps: its place in their order matters.
fn belongs_to_plan(spec: &ToolSpec, among_steps: bool) -> bool {
    match spec.phase {
        ToolPhase::Execution => true,
        ToolPhase::Both => among_steps || spec.effect != ToolEffect::Observe,
        ToolPhase::Planning => spec.effect != ToolEffect::Observe,
    }
}
