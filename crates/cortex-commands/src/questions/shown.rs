//! Questions in words for a terminal. What a model or a tool has said is in them, so nothing in them may move the cursor, turn
//! the direction of reading or hide: every such character is written as its number.

use std::fmt::Write as _;

use cortex_command_line::visible_text::{hides, plain};
use cortex_protocol::question::{ApprovalScope, CallSubject, Subject};
use cortex_protocol::{Answer, Effect, OpenQuestion, QuestionId};

use super::DEFAULT_SERVER;

/// An open question, with what exactly it is about and how it is answered.
pub(super) fn lines(open: &OpenQuestion, server: &str) -> Vec<String> {
    let mut lines = vec![format!("{}  ({} s left)  task: {}", open.id, open.left.as_secs(), plain(&open.task))];
    lines.push(format!("  {}", plain(&open.question.text)));
    lines.extend(subject(&open.question.subject).into_iter().map(|line| format!("  {line}")));
    lines.push(format!("  -> {}", commands(&open.id, &open.question.subject, server)));
    lines
}

/// What exactly is asked about.
pub(super) fn subject(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Call { call: asked, plan } => {
            let mut lines = call(asked);
            lines.push(format!("  plan: {}", plain(&plan.0)));
            lines
        }
        Subject::Plan { steps, plan } => {
            let mut lines: Vec<String> = steps.iter().flat_map(call).collect();
            lines.push(format!("  plan: {}", plain(&plan.0)));
            lines
        }
        Subject::Choice { choices, default } => {
            let numbered = choices.iter().zip(1..).map(|(choice, number)| format!("{number}. {}", plain(choice)));
            let default = match default {
                Some(default) => format!("if nobody answers: {}", plain(default)),
                None => "if nobody answers, none of them is taken".to_owned(),
            };
            numbered.chain(std::iter::once(default)).collect()
        }
    }
}

/// A call to the byte, and why it is asked about.
fn call(call: &CallSubject) -> Vec<String> {
    let CallSubject { step, tool, arguments, fingerprint, effect, resources, because } = call;
    // A map of JSON values always has a form in JSON.
    let arguments = serde_json::to_string(arguments).unwrap_or_default();
    let does = match effect {
        Effect::Observe => "only looks",
        Effect::Act => "acts",
        Effect::Move => "moves, or may move",
    };
    let mut facts = format!("  it {does}");
    if !resources.is_empty() {
        let held: Vec<String> = resources.iter().map(|held| plain(held.as_str())).collect();
        let _ = write!(facts, "; holds {}", held.join(", "));
    }
    let _ = write!(facts, "; version {:016x} of the tool", fingerprint.0);
    let mut lines = vec![format!("step {step}: {} {}", plain(tool.as_str()), exact(&arguments)), facts];
    lines.extend(because.iter().map(|because| format!("  why: {}", plain(because))));
    lines
}

/// How a question is answered from another terminal.
pub(super) fn commands(id: &QuestionId, subject: &Subject, server: &str) -> String {
    let of_server = if server == DEFAULT_SERVER { String::new() } else { format!(" --server {}", plain(server)) };
    match subject {
        Subject::Call { .. } | Subject::Plan { .. } => {
            format!("`cortex approve {id}{of_server}`, or `cortex deny {id} \"why not\"{of_server}`")
        }
        Subject::Choice { choices, .. } => {
            format!("`cortex answer {id} CHOICE{of_server}`, one of: {}", self::choices(choices))
        }
    }
}

/// What counts if nobody answers.
pub(super) fn default(subject: &Subject) -> &'static str {
    match subject {
        Subject::Call { .. } | Subject::Plan { .. } => "without an answer it counts as denied",
        Subject::Choice { default: Some(_), .. } => "without an answer the default counts",
        Subject::Choice { default: None, .. } => "without an answer none is chosen",
    }
}

pub(super) fn choices(choices: &[String]) -> String {
    choices.iter().map(|choice| plain(choice)).collect::<Vec<_>>().join(" | ")
}

/// What an answer that counts has done.
pub(super) fn answered(open: &OpenQuestion, answer: &Answer) -> String {
    let about = match &open.question.subject {
        Subject::Call { call, .. } => plain(call.tool.as_str()),
        Subject::Plan { steps, .. } => {
            steps.iter().map(|call| plain(call.tool.as_str())).collect::<Vec<_>>().join(", ")
        }
        Subject::Choice { .. } => plain(&open.question.text),
    };
    match answer {
        Answer::Approve { scope: ApprovalScope::Once } => format!("approved once: {about} ({})", open.id),
        Answer::Approve { scope: ApprovalScope::Mission } => {
            format!("approved for this mission: {about} ({})", open.id)
        }
        Answer::Deny { .. } => format!("denied: {about} ({})", open.id),
        Answer::Choose { choice } => format!("answered: {} ({})", plain(choice), open.id),
    }
}

/// JSON in which every character shows, and that has the same value.
fn exact(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if hides(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use cortex_protocol::question::PlanDigest;
    use cortex_protocol::{Question, StepNumber, ToolFingerprint};
    use serde_json::{Map, Value, json};

    use super::*;

    pub(in crate::questions) fn question(id: &str) -> OpenQuestion {
        let id: QuestionId = id.parse().unwrap();
        let call = CallSubject {
            step: StepNumber(2),
            tool: "send_request_to_door/open".into(),
            arguments: arguments(),
            fingerprint: ToolFingerprint(0xab),
            effect: Effect::Move,
            resources: vec!["door".into()],
            because: vec!["Nobody has declared what it does.".to_owned()],
        };
        let question = Question {
            number: id.number,
            text: "May it be opened?\n\u{1b}[2J".to_owned(),
            subject: Subject::Call { call, plan: PlanDigest("d1".to_owned()) },
            patience: Duration::from_secs(120),
        };
        OpenQuestion { id, task: "open the door".to_owned(), question, left: Duration::from_secs(90) }
    }

    fn arguments() -> Map<String, Value> {
        let Value::Object(arguments) =
            json!({"name": "gr\u{fc}n \u{202e}deer\u{9b}2J\u{e0041}\u{200b}\n\"", "wide": 0.1})
        else {
            panic!("an object")
        };
        arguments
    }

    #[test]
    fn a_call_is_shown_to_the_byte_and_nothing_in_it_hides() {
        let lines = lines(&question("m/3"), "/cortex");
        assert_eq!(
            lines,
            [
                "m/3  (90 s left)  task: open the door",
                "  May it be opened?\\u{a}\\u{1b}[2J",
                r#"  step 2: send_request_to_door/open {"name":"grün \u202edeer\u009b2J\udb40\udc41\u200b\n\"","wide":0.1}"#,
                "    it moves, or may move; holds door; version 00000000000000ab of the tool",
                "    why: Nobody has declared what it does.",
                "    plan: d1",
                "  -> `cortex approve m/3`, or `cortex deny m/3 \"why not\"`",
            ]
        );
        let shown = lines[2].split_once("door/open ").unwrap().1;
        assert_eq!(serde_json::from_str::<Map<String, Value>>(shown).unwrap(), arguments(), "the same value");
        assert!(lines.concat().chars().all(|character| !hides(character)));
    }

    #[test]
    fn a_choice_is_shown_with_its_choices_and_its_default() {
        let choice = |default: Option<&str>| Subject::Choice {
            choices: vec!["the red cup".to_owned(), "the blue cup".to_owned()],
            default: default.map(str::to_owned),
        };
        assert_eq!(
            subject(&choice(Some("the red cup"))),
            ["1. the red cup", "2. the blue cup", "if nobody answers: the red cup"]
        );
        assert_eq!(
            commands(&"m/1".parse().unwrap(), &choice(None), "/robot1/cortex"),
            "`cortex answer m/1 CHOICE --server /robot1/cortex`, one of: the red cup | the blue cup"
        );
    }
}
