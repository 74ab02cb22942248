//! Phase 1: from the task to a committed plan or an answer.

use std::collections::BTreeSet;

use cortex_protocol::{MissionEvent, TaskClass, ToolName, ToolOutcome};
use serde_json::Value;

use super::ask_person::ASK_PERSON;
use super::calls::{CallKind, CallProblem, GoodCall, belongs_to_plan};
use super::{Arranged, DECLINE_TOOL, Mission, ORDER_FULFILLED, Phase, prompts};
use crate::chat::{CallArguments, ChatReply, Message, ModelCall};
use crate::fragment::{Fragment, NOTE_CHARACTERS, one_line};
use crate::ports::{ModelError, ModelErrorKind};
use crate::selection;
use crate::step_groups::ARRANGE_TOOL;

/// What is said of a call that is wrong as the one before it.
const SAME: &str = "the same as for the call before";
/// Most calls of one reply. A plan is cut long before; a reply of more is none, and each of its calls would be answered.
const MOST_CALLS: usize = 1_000;
/// Most characters of the name of a call where it is told what is wrong with the call.
const NAME_TOLD: usize = 100;

impl Mission {
    /// Asks for a plan or an answer, one turn further; at the beginning of a phase, with what is on record for the task.
    pub(super) fn ask_for_plan(&mut self) {
        if !self.gathers_context() {
            self.request_plan();
        }
    }

    /// Asks the model for a plan or an answer.
    pub(super) fn request_plan(&mut self) {
        let turn = self.conversation.next_turn();
        if turn > self.setup.limits.max_planning_steps {
            let turns = self.setup.limits.max_planning_steps;
            self.fail(format!("The model made neither a plan nor an answer in {turns} turns."));
            return;
        }
        self.report(MissionEvent::Planning { turn, plan: self.run.next_number() });
        self.absences.forget_returns();
        self.offer_tools();
        self.compact();
        let mut chat =
            prompts::planning_request(&self.setup, self.task_state.class, self.offer.names(), &self.conversation);
        self.add_context(&mut chat);
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
        if tools.len() <= limit || self.offer.names().is_empty() {
            let chosen = selection::choose(tools, &self.setup.task, limit);
            self.offer(chosen);
        }
        self.offer.note_shown(&self.setup.tools);
    }

    /// Offers more tools. What is left out is told where something is.
    pub(super) fn offer(&mut self, more: impl IntoIterator<Item = ToolName>) {
        let has_grown = self.offer.extend(more);
        let left_out: Vec<ToolName> = prompts::left_out(&self.setup.tools, self.offer.names()).cloned().collect();
        if !left_out.is_empty() && has_grown {
            let offered = self.offer.names().iter().cloned().collect();
            self.report(MissionEvent::ToolsOffered { offered, left_out });
        }
    }

    /// The built-in search: what it finds is on offer from the next turn on.
    pub(super) fn find_tools(&mut self, query: &str) -> ToolOutcome {
        let found = selection::find(&self.setup.tools, query, self.offer.names());
        let outcome = ToolOutcome::success(selection::found(&found, &self.setup.tools));
        let names: Vec<ToolName> = found.into_iter().map(|spec| spec.name.clone()).collect();
        self.offer(names);
        outcome
    }

    pub(super) fn on_plan_reply(&mut self, reply: Result<ChatReply, ModelError>) {
        let is_cut = reply.as_ref().is_err_and(|error| error.kind == ModelErrorKind::CutReply);
        let was_cut = self.conversation.note_cut(is_cut);
        let is_answer = reply.as_ref().is_ok_and(|reply| {
            reply.calls.is_empty() && reply.refusal.is_none() && self.continues_published(reply.text.trim())
        });
        if !is_answer {
            self.close_published();
        }
        let reply = match reply {
            Ok(reply) => reply,
            // A long thought or a filter may hit once; a model to which it happens each time has no answer.
            Err(error) if is_cut && !was_cut => {
                self.mistake(error.message, Vec::new());
                return;
            }
            Err(error) => {
                let hint = if error.hint.is_empty() { String::new() } else { format!(" {}", error.hint) };
                self.fail(format!("The model failed: {}.{hint}", error.message.trim_end_matches('.')));
                return;
            }
        };
        self.note_doubt(&reply);
        if let Some(refusal) = reply.refusal {
            self.decline(&refusal);
        } else if reply.calls.is_empty() && reply.text.trim().is_empty() {
            self.mistake("it gave neither words nor a call".to_owned(), Vec::new());
        } else if reply.calls.len() > MOST_CALLS {
            let calls = reply.calls.len();
            self.mistake(format!("it makes {calls} calls, and at most {MOST_CALLS} are taken at a time"), Vec::new());
        } else if reply.calls.is_empty() {
            self.answer(reply.text.trim());
        } else {
            self.sort_calls(&reply);
        }
    }

    /// Runs the research of a reply and commits its plan; or, if any call is wrong, does nothing but say so.
    fn sort_calls(&mut self, reply: &ChatReply) {
        let calls: Vec<ModelCall> = self.with_own_ids(&reply.calls);
        if !calls.iter().all(|call| self.is_a_look(&call.name)) {
            self.conversation.await_more_than_words();
        }
        if let Some(declined) = calls.iter().find(|call| call.name == DECLINE_TOOL) {
            let reason = match &declined.arguments {
                CallArguments::Object(arguments) => arguments.get("reason").and_then(Value::as_str).unwrap_or_default(),
                CallArguments::Malformed { .. } => "",
            };
            let reason = if reason.is_empty() { reply.text.trim() } else { reason };
            self.decline(reason);
            return;
        }
        if self.task_state.class == TaskClass::StandingOrder && calls.iter().any(|call| call.name == ORDER_FULFILLED) {
            self.on_fulfilled(reply, calls);
            return;
        }
        let awaited: BTreeSet<ToolName> = calls.iter().filter_map(|call| self.awaited(&call.name)).collect();
        if !awaited.is_empty() {
            self.wait_to_plan(awaited);
            return;
        }
        let checked: Vec<(ModelCall, Result<GoodCall, CallProblem>)> =
            calls.into_iter().map(|call| (call.clone(), self.check_call(call))).collect();
        self.conversation.push(Message::Assistant {
            text: reply.text.clone(),
            calls: checked.iter().map(|(call, _)| call.clone()).collect(),
        });
        let problems: Vec<String> = checked
            .iter()
            .filter_map(|(call, result)| {
                let problem = result.as_ref().err()?;
                Some(format!("{}: {problem}", one_line(&call.name, NAME_TOLD)))
            })
            .collect();
        if !problems.is_empty() {
            let answers = checked
                .into_iter()
                .map(|(call, result)| {
                    let told = match result {
                        Err(problem) => problem.to_string(),
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
                CallKind::Arrange { step_groups } => {
                    arranged.push(Arranged { model_call: call.model_call, step_groups: Box::new(step_groups) });
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
        let message = self.conversation.next_message();
        calls
            .iter()
            .enumerate()
            .map(|(index, call)| ModelCall { id: format!("call_{message}_{}", index + 1), ..call.clone() })
            .collect()
    }

    /// Tells the model what was wrong and asks again. Every call gets its answer, or providers refuse the conversation.
    pub(super) fn mistake(&mut self, problem: String, answers: Vec<(ModelCall, String)>) {
        // It may quote the reply, and be about each of many calls.
        let problem = one_line(&problem, NOTE_CHARACTERS);
        let had_calls = !answers.is_empty();
        let mut said: Option<String> = None;
        for (call, told) in answers {
            // Said once, however many calls were wrong in the same way.
            let text = if said.as_ref() == Some(&told) { SAME.to_owned() } else { told.clone() };
            said = Some(told);
            self.answer_call(call, Fragment::Notice { text });
        }
        if !had_calls {
            let text = format!(
                "Your reply could not be used: {problem}. Reply again: call tools, or answer in words where that \
                 is enough."
            );
            self.conversation.push(Message::User { fragments: vec![Fragment::Notice { text }] });
        }
        self.report(MissionEvent::ModelMistake { problem });
        self.ask_for_plan();
    }

    pub(super) fn answer_call(&mut self, call: ModelCall, content: Fragment) {
        self.conversation.push(Message::Tool { id: call.id, name: call.name, content });
    }
}
