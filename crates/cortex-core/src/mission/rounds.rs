//! Orders that go on: "patrol until you see a person". Each plan that is carried out is a round. The order is fulfilled
//! when the model names a step of the record whose output shows it; words never end it.

use cortex_protocol::tool::value_as_text;
use cortex_protocol::{Effect as ToolEffect, GoalClass, StepReport, StepStatus};
use serde_json::{Map, Value, json};

use super::Mission;
use crate::chat::{CallArguments, ChatReply, Message, ModelCall, ToolDefinition};
use crate::fragment::Fragment;

/// The built-in tool by which a model says that a standing order is fulfilled.
pub const ORDER_FULFILLED: &str = "order_fulfilled";

impl Mission {
    /// A round is over: the model plans the next one, or says what shows that the order is fulfilled.
    pub(super) fn round_carried_out(&mut self) {
        self.goal.rounds = self.goal.rounds.saturating_add(1);
        self.goal.rounded = self.plan_number;
        let record = self.plan_record();
        let rounds = self.goal.rounds;
        let text = match self.goal.class {
            GoalClass::StandingOrder => format!(
                "Round {rounds} of at most {} was carried out. If the output of a step shows that the order is fulfilled, \
                 and everything else that was asked for is done, call {ORDER_FULFILLED}; if not, plan the next round.",
                self.setup.limits.max_rounds
            ),
            _ => format!("Round {rounds} was carried out. Nobody has ended the order: plan the next round."),
        };
        let mut fragments = record.fragments();
        fragments.push(Fragment::Notice { text });
        self.conversation.push(Message::User { fragments });
        self.planning_turn = 0;
        self.ask_for_plan();
    }

    /// The plans that did not end a round: those that count as tried.
    pub(super) fn plans_tried(&self) -> u32 {
        self.plan_number.saturating_sub(self.goal.rounds)
    }

    /// Why no further round may be planned.
    pub(super) fn rounds_are_over(&self) -> Option<String> {
        let is_over = self.goal.class == GoalClass::StandingOrder && self.goal.rounds >= self.setup.limits.max_rounds;
        is_over.then(|| format!("The order was not met after {} rounds.", self.goal.rounds))
    }

    /// Words after a plan of an order that goes on.
    pub(super) fn words_in_a_round(&mut self, text: &str) {
        if let Some(reason) = self.rounds_are_over() {
            self.words_do_not_fulfil(text, &reason);
        } else if self.goal.class == GoalClass::EndlessOrder {
            self.words_do_not_fulfil(text, "The order was given up, and nobody had ended it.");
        } else {
            self.words_do_not_fulfil(text, "No step was named that shows that the order is fulfilled.");
        }
    }

    fn words_do_not_fulfil(&mut self, text: &str, reason: &str) {
        let told = match self.goal.class {
            GoalClass::StandingOrder => format!(
                "Words do not fulfil the order. Call {ORDER_FULFILLED} and name the step whose output shows it, plan the \
                 next round, or call decline_task with the reason why it can't be fulfilled."
            ),
            _ => "Words do not end the order. Plan the next round, or call decline_task with the reason why not."
                .to_owned(),
        };
        self.words_do_nothing(text, told, reason);
    }

    /// The model says that the order is fulfilled: it is, where the record shows it and nothing is open.
    pub(super) fn on_fulfilled(&mut self, reply: &ChatReply, calls: Vec<ModelCall>) {
        self.conversation.push(Message::Assistant { text: reply.text.clone(), calls: calls.clone() });
        let shown = match calls.as_slice() {
            [only] => self.evidence(only),
            _ => Err(format!("{ORDER_FULFILLED} is called alone, once everything is done")),
        };
        match shown {
            Ok(shown) => {
                for call in calls {
                    self.answer_call(call, Fragment::Notice { text: "noted".to_owned() });
                }
                let said = reply.text.trim();
                let output = if said.is_empty() {
                    format!("The order is fulfilled: {shown}.")
                } else {
                    format!("{said} ({shown}.)")
                };
                self.end_by_record(&output);
            }
            Err(problem) => {
                let answers = calls.into_iter().map(|call| (call, problem.clone())).collect();
                self.mistake(problem, answers);
            }
        }
    }

    /// What shows that the order is fulfilled, if it does: the words must be in the output of a step that succeeded, that
    /// only looked, and that was planned after the last correction. What the robot says or was asked shows nothing.
    fn evidence(&self, call: &ModelCall) -> Result<String, String> {
        let arguments = match &call.arguments {
            CallArguments::Object(arguments) => arguments,
            CallArguments::Malformed { problem, .. } => return Err(format!("its arguments can't be read: {problem}")),
        };
        let number =
            |name: &str| -> Option<u32> { arguments.get(name)?.as_u64().and_then(|number| u32::try_from(number).ok()) };
        let step = number("step").ok_or("'step' must be the number of a step of the record")?;
        let plan = number("plan").unwrap_or(self.plan_number);
        let report = self
            .reports
            .iter()
            .find(|report| report.plan == plan && report.number.0 == step)
            .ok_or_else(|| format!("there is no step {step} in plan {plan} of this mission"))?;
        if report.status != StepStatus::Success {
            return Err(format!("step {step} of plan {plan} did not succeed, so it shows nothing"));
        }
        if plan <= self.corrected_plan {
            return Err(format!("step {step} of plan {plan} was planned before the task was corrected"));
        }
        // A tool that is gone may have done anything.
        if self.setup.tools.get(&report.tool).is_none_or(|spec| spec.effect != ToolEffect::Observe) {
            return Err(format!("step {step} of plan {plan} ({}) is no look, so it shows nothing", report.tool));
        }
        let words = quoted(arguments)?;
        if holds(&texts_of(&report.arguments), words) {
            return Err(format!(
                "\"{words}\" stands in the arguments of step {step} of plan {plan}; quote what it found"
            ));
        }
        if !holds(&output_of(report), words) {
            return Err(format!("the output of step {step} of plan {plan} does not hold \"{words}\""));
        }
        Ok(format!("shown by step {step} of plan {plan} ({}): \"{words}\"", report.tool))
    }
}

/// Longest words that are quoted from an output, in characters.
const QUOTED: usize = 300;

fn quoted(arguments: &Map<String, Value>) -> Result<&str, String> {
    let words = arguments.get("words").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    let is_fit = has_a_word(words) && words.chars().nth(QUOTED).is_none();
    if is_fit {
        Ok(words)
    } else {
        Err(format!(
            "'words' must be copied from the step's output, at least one word of two letters or digits, at most {QUOTED} \
             characters"
        ))
    }
}

/// Whether there is a word that may tell something: of two letters or digits, or one sign that is a syllable or a word.
fn has_a_word(text: &str) -> bool {
    let mut words = text.split(|next: char| !next.is_alphanumeric());
    words.any(|word| word.chars().nth(1).is_some() || word.chars().any(is_sign))
}

/// Kana, Han and Hangul: one of them is as much as a syllable or a word, and no space divides it from the next.
fn is_sign(character: char) -> bool {
    matches!(
        character,
        '\u{3041}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Whether the text holds the words, and not only as parts of longer ones.
fn holds(text: &str, words: &str) -> bool {
    let (text, words) = (plain(text), plain(words));
    let is_of_word = |character: char| character.is_alphanumeric() && !is_sign(character);
    let runs_on = |one: Option<char>, next: Option<char>| one.is_some_and(is_of_word) && next.is_some_and(is_of_word);
    !words.is_empty()
        && text.char_indices().any(|(at, _)| {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            rest.strip_prefix(words.as_str()).is_some_and(|after| {
                !runs_on(before.chars().next_back(), words.chars().next())
                    && !runs_on(words.chars().next_back(), after.chars().next())
            })
        })
}

/// The arguments, as text and as JSON.
fn texts_of(arguments: &Map<String, Value>) -> String {
    let texts: Vec<String> = arguments.values().map(value_as_text).collect();
    format!("{}\n{}", texts.join("\n"), Value::Object(arguments.clone()))
}

/// All that the step returned, as text and as JSON: a model may have been shown either.
fn output_of(report: &StepReport) -> String {
    let outcome = report.outcome.as_ref();
    outcome.map(|outcome| format!("{}\n{}", outcome.text(), outcome.value)).unwrap_or_default()
}

/// Lower case, with single spaces.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tool as a model sees it.
pub(super) fn fulfilled_definition() -> ToolDefinition {
    let number = |description: &str| json!({"type": "integer", "minimum": 1, "description": description});
    ToolDefinition {
        name: ORDER_FULFILLED.to_owned(),
        description: "Says that the standing order is fulfilled, and which step of the record shows it.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "step": number("The look that succeeded and whose output shows it."),
                "plan": number("The plan of the step; without it, the last one."),
                "words": {"type": "string", "description": "The whole sentence of its output that shows it, copied. A denial shows nothing."}
            },
            "required": ["step", "words"]
        }),
        phase: cortex_protocol::ToolPhase::Planning,
        phrases: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_as_words_and_not_as_parts_of_longer_ones() {
        for (text, words) in [
            ("I see a Person  at the table", "a person"),
            ("{\"person\":true}", "\"person\":true"),
            ("ba a a", "a a"),
            ("我看到一个人在桌旁", "一个人"),
            ("사람이 있다", "사람"),
            ("人 person", "person"),
        ] {
            assert!(holds(text, words), "{text}: {words}");
        }
        for (text, words) in
            [("impersonal", "person"), ("no persons", "person"), ("level 187", "87"), ("x", ""), ("", "x")]
        {
            assert!(!holds(text, words), "{text}: {words}");
        }
    }

    #[test]
    fn a_letter_alone_is_no_evidence() {
        assert!(["ok", "a cup", "人", "87 %"].into_iter().all(has_a_word));
        assert!(!["a", "!", "a b", "5", " "].into_iter().any(has_a_word));
    }
}
