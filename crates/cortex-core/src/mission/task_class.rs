//! What the class of the task decides: which tools there are for it, what the model is told, and what words alone are
//! worth. Standing orders are in `standing_tasks`, what `<each place>` stands for in `collections`.

use std::collections::BTreeSet;

use cortex_protocol::{
    Effect as ToolEffect, MissionEvent, MissionStatus, StepNumber, TaskClass, TaskReading, ToolName, ToolOutcome,
    ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::account::Looks;
use super::collections::Collections;
use super::{Mission, standing_tasks};
use crate::chat::{ChatRequest, Message, ToolDefinition, ToolKind};
use crate::fragment::{Finding, Fragment, capped, one_line, quoted};
use crate::toolset::ToolSet;

/// Most characters of a model's words that are quoted as what it said.
const QUOTED: usize = 1_000;
/// Most findings of research that are kept for later requests.
const FINDINGS: usize = 5;
/// Most tools that a conversation is told of.
const ABILITIES: usize = 40;

const CONVERSATION: &str = "This is conversation: answer in words. No tool can be called now.";
const KNOWLEDGE: &str = "\
This is a question of general knowledge or of what you can do. Answer in words with what you know. Look only if one of the tools tells what you \
don't know. Nothing is done for it.";
const ABOUT_SELF: &str = "\
This is a question about the robot itself. Look with the tools you are given, then answer in words with what they \
returned. Where they don't tell, say that you don't know. Nothing is done for it.";
const ABOUT_WORLD: &str = "\
This is a question. First look. Call tools that act only if looking from here can't answer. Answer in words; do not \
use a speaker tool for the answer.";
/// What is said of steps for each of several values, around an example from the tools of the robot, if there is one.
const REPEATED: &str = "To repeat steps for every value, write the argument's name:";
const REPEATED_BLOCK: &str = "\
The block runs from the first to the last step holding it, plus the looks directly after it. Values come from the \
schema or from a list that a look returned; take no others.";
const STANDING: &str = "\
This is a standing order. Plan one round of it; after each round you get the record. Once the output of a step shows that \
what the order waits for is so, and everything else that was asked for is done, call order_fulfilled and name that step. \
Until then plan the next round. Words do not end it.";
const ENDLESS: &str = "\
This order goes on until a person ends it. Plan one round of it; after each round you are asked for the next. Words do not \
end it.";
const LOOKS_ARE_STEPS: &str = "In this order every [look] is a step of the round, also when called alone.";

/// What the machine keeps of the task's class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskState {
    pub(super) class: TaskClass,
    /// The tools that act, where nothing is to be done.
    pub(super) withheld: ToolSet,
    /// Whether it is an order whose only action is a look.
    pub(super) is_search: bool,
    /// Whether people have revised the task and asked for no action: "do not say anything", "stay here".
    #[serde(default)]
    pub(super) looks_suffice: bool,
    /// Whether a look or a step has found anything, since the task was revised last.
    pub(super) found_something: bool,
    /// The looks that brought something.
    pub(super) looks: Looks,
    /// What research found last.
    #[serde(default)]
    pub(super) findings: Vec<Finding>,
    /// Whether the model was told, since its last plan, that words alone do nothing.
    pub(super) told: bool,
    /// Plans of an order that goes on which were carried out.
    pub(super) rounds: u32,
    /// The plan that ended the last round. What was done up to it may be done again.
    pub(super) rounded: u32,
    /// The lists that were found.
    pub(super) found: Collections,
}

impl TaskState {
    pub(super) fn of(reading: &TaskReading) -> Self {
        Self {
            class: reading.class,
            is_search: reading.is_search,
            withheld: ToolSet::default(),
            looks_suffice: false,
            found_something: false,
            looks: Looks::default(),
            findings: Vec::new(),
            told: false,
            rounds: 0,
            rounded: 0,
            found: Collections::default(),
        }
    }

    /// Why a call of a tool that is not on offer is refused, where the class is the reason.
    pub(super) fn refusal(&self, written: &str) -> Option<String> {
        self.withheld.resolve(written)?;
        Some(format!("it acts, and the task is {}: nothing is done for it. Answer in words, or decline", self.class))
    }
}

impl Mission {
    /// Says what the task is taken for, and keeps what acts away from one for which nothing is to be done.
    pub(super) fn begin_task(&mut self) {
        self.report(MissionEvent::Classified { class: self.task_state.class });
        let tools = self.begin_available();
        self.take_tools(tools);
    }

    /// Takes over the robot's tools, as far as the task may have them.
    pub(super) fn take_tools(&mut self, tools: ToolSet) {
        if self.task_state.class.may_act() {
            self.setup.tools = tools;
            return;
        }
        // Nothing needs to be looked at for a greeting.
        let is_question = self.task_state.class != TaskClass::Conversation;
        let looks = |spec: &&ToolSpec| is_question && spec.effect == ToolEffect::Observe;
        self.setup.tools = tools.rebuilt(tools.iter().filter(looks).cloned()).0;
        self.task_state.withheld = tools.rebuilt(tools.iter().filter(|spec| !looks(spec)).cloned()).0;
    }

    /// Adds what the class of the task says to a request for a plan.
    pub(super) fn add_goal(&self, chat: &mut ChatRequest) {
        let class = self.task_state.class;
        let request = chat.messages.iter_mut().find_map(|message| match message {
            Message::User { fragments } => Some(fragments),
            _ => None,
        });
        let Some(fragments) = request else { return };
        if !self.task_state.withheld.is_empty() {
            let withheld = self.task_state.withheld.iter().take(ABILITIES);
            let tools: Vec<ToolDefinition> =
                withheld.filter_map(|spec| self.task_state.withheld.definition(&spec.name)).collect();
            fragments.push(Fragment::Abilities { tools });
        }
        if class == TaskClass::Conversation {
            chat.tools.clear();
        }
        let text = self.guidance();
        if !text.is_empty() {
            fragments.push(Fragment::Goal { class, text });
        }
        if class == TaskClass::StandingOrder {
            chat.tools.retain(|tool| tool.name != standing_tasks::ORDER_FULFILLED);
            chat.tools.push(standing_tasks::fulfilled_definition());
        }
    }

    /// What the model is told of the class.
    fn guidance(&self) -> String {
        let rounds = self.setup.limits.max_rounds;
        match self.task_state.class {
            TaskClass::Conversation => CONVERSATION.to_owned(),
            TaskClass::KnowledgeQuestion => KNOWLEDGE.to_owned(),
            TaskClass::QuestionAboutSelf => ABOUT_SELF.to_owned(),
            TaskClass::QuestionAboutWorld => ABOUT_WORLD.to_owned(),
            // What the rules say anyway.
            TaskClass::Action => String::new(),
            TaskClass::SearchOrPatrol => self.how_to_repeat(),
            TaskClass::StandingOrder => format!(
                "{STANDING} {LOOKS_ARE_STEPS} At most {rounds} rounds; then the order has failed. {}",
                self.how_to_repeat()
            ),
            TaskClass::EndlessOrder => format!("{ENDLESS} {LOOKS_ARE_STEPS} {}", self.how_to_repeat()),
        }
    }

    /// How steps are written once for several values, with values that the robot has.
    fn how_to_repeat(&self) -> String {
        let named = |name: &ToolName| self.setup.tools.wire_name(name).unwrap_or_default().to_owned();
        let offered = || self.setup.tools.iter().filter(|spec| self.offer.names().contains(&spec.name));
        let Some((mover, argument, first, second)) = offered().find_map(|spec| {
            let (argument, first, second) = repeatable(spec)?;
            Some((named(&spec.name), argument, first, second))
        }) else {
            return format!(
                "{REPEATED} <each NAME>, where NAME is an argument with listed values, or a list that a look returned. \
                 {REPEATED_BLOCK}"
            );
        };
        let is_look = |spec: &&ToolSpec| {
            let needs =
                spec.parameters.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
            ToolKind::of(spec) == ToolKind::Look && !needs
        };
        let look = offered().find(is_look).map(|spec| format!(", then {} {{}}", named(&spec.name)));
        let both = if look.is_some() { "Both are" } else { "It is" };
        format!(
            "{REPEATED} {mover} {{\"{argument}\":\"<each {argument}>\"}}{}. {both} repeated for {first}, then \
             {second}, and so on. {REPEATED_BLOCK}",
            look.unwrap_or_default()
        )
    }

    /// Words, and nothing was planned before. Where something is to be done they are no success: the model is told so
    /// once.
    pub(super) fn words_alone(&mut self, text: &str) {
        let class = self.task_state.class;
        if class.is_answered_by_words() {
            self.finish(MissionStatus::Answered, text.to_owned());
            return;
        }
        if !self.owes_more_than_words() {
            // What was looked for was looked for.
            self.finish(MissionStatus::Answered, text.to_owned());
            return;
        }
        if self.task_state.told {
            self.finish(MissionStatus::Answered, only_said(text));
            return;
        }
        let asks = if self.offers_ask_person() { ", ask_person if the task can be meant in several ways" } else { "" };
        let told = format!(
            "Nothing was done: the task is {class}, and words do nothing. Call the tools that do it{asks}, or \
             decline_task with the reason if they can't."
        );
        self.words_do_nothing(text, told, "Nothing was done.");
    }

    /// Whether words are not all that the task asks for: something is to be done, or to be looked at first.
    pub(super) fn owes_more_than_words(&self) -> bool {
        match self.task_state.class {
            TaskClass::Conversation | TaskClass::KnowledgeQuestion => false,
            TaskClass::QuestionAboutSelf | TaskClass::QuestionAboutWorld => !self.task_state.found_something,
            TaskClass::Action if self.task_state.is_search => !self.task_state.found_something,
            TaskClass::Action => !self.is_done_by_looks(),
            TaskClass::SearchOrPatrol | TaskClass::StandingOrder | TaskClass::EndlessOrder => true,
        }
    }

    /// Whether the task is nothing but sentences of tools that only look, "scan the tag", and each of those looks was
    /// taken. A sentence that a tool that acts declares, too, asks for more than a look.
    fn is_done_by_looks(&self) -> bool {
        if !self.task_state.found_something || !self.revisions.is_empty() {
            return false;
        }
        let only_looks =
            |name: &ToolName| self.setup.tools.get(name).is_some_and(|spec| spec.effect == ToolEffect::Observe);
        let clauses = &self.setup.reading.declared_by;
        let is_looked = |tools: &BTreeSet<ToolName>| {
            tools.iter().all(only_looks) && tools.iter().any(|name| self.task_state.looks.has(name))
        };
        !clauses.is_empty() && clauses.iter().all(is_looked)
    }

    /// Tells the model once what words are not; the second time the mission fails, with the words as what was said.
    pub(super) fn words_do_nothing(&mut self, text: &str, told: String, reason: &str) {
        if self.task_state.told {
            self.fail(format!("{reason} {}", only_said(text)));
            return;
        }
        self.task_state.told = true;
        self.conversation.push(Message::Assistant { text: text.to_owned(), calls: Vec::new() });
        self.conversation.push(Message::User { fragments: vec![Fragment::Notice { text: told }] });
        self.report(MissionEvent::ModelMistake {
            problem: format!("it gave words, and words do nothing: {}", one_line(text, QUOTED)),
        });
        self.ask_for_plan();
    }

    /// Whether a tool that may be research or a step is a step, also when nothing else is.
    pub(super) fn looks_are_steps(&self) -> bool {
        // What fulfils an order must be a step of the record.
        self.task_state.class.goes_on()
    }

    /// Notes what a planning tool found.
    pub(super) fn learn_from_research(&mut self, tool: &ToolName, outcome: &ToolOutcome) {
        if outcome.is_success() {
            self.task_state.found_something = true;
            self.task_state.looks.note(tool, self.clock.now());
            self.task_state.found.learn(tool, &outcome.value);
            let findings = &mut self.task_state.findings;
            findings.push(Finding::new(tool, &outcome.text(), self.run.next_number(), self.clock.now()));
            let older = findings.len().saturating_sub(FINDINGS);
            findings.drain(..older);
        }
    }

    /// Notes what a step brought: where it only looks, what it found.
    pub(super) fn learn_from_step(&mut self, number: StepNumber, outcome: &ToolOutcome) {
        let Some(tool) = self.step(number).map(|step| step.call.tool.clone()) else { return };
        let only_looks = self.setup.tools.get(&tool).is_some_and(|spec| spec.effect == ToolEffect::Observe);
        if !outcome.is_success() {
            return;
        }
        self.task_state.found_something |= only_looks || !outcome.text().trim().is_empty();
        if only_looks {
            self.task_state.looks.note(&tool, self.clock.now());
            self.task_state.found.learn(&tool, &outcome.value);
        }
    }
}

/// The words of a model that did nothing, as a quotation.
fn only_said(text: &str) -> String {
    format!("The model only said: \"{}\"", capped(text, QUOTED))
}

/// Most characters of a value in the example of repeated steps.
const EXAMPLE_CHARACTERS: usize = 40;

/// The argument of a tool that acts which alone is required and lists at least two texts, with the first two of them.
fn repeatable(spec: &ToolSpec) -> Option<(String, String, String)> {
    if spec.effect == ToolEffect::Observe {
        return None;
    }
    let [required] = spec.parameters.get("required")?.as_array()?.as_slice() else { return None };
    let argument = required.as_str()?;
    let is_plain = argument.chars().all(|next| next.is_ascii_alphanumeric() || next == '_');
    let values = spec.parameters.get("properties")?.get(argument)?.get("enum")?.as_array()?;
    let [first, second, ..] = values.as_slice() else { return None };
    let value = |value: &Value| value.as_str().map(|text| quoted(text, EXAMPLE_CHARACTERS));
    if !is_plain {
        return None;
    }
    Some((capped(argument, EXAMPLE_CHARACTERS), value(first)?, value(second)?))
}
