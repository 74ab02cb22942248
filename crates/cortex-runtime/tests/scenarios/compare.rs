//! What a scenario expects and what was found, side by side.

use std::fmt::Write as _;

use cortex_core::{ChatRequest, Message};
use cortex_protocol::{MissionStatus, ToolCall};
use serde_json::Value;

use crate::file::Expectation;
use crate::run::Observed;

/// Longest text that is shown of one thing.
const SHOWN: usize = 300;

/// Where the two differ, in words.
pub(crate) fn differences(expected: &Expectation, observed: &Observed) -> Vec<String> {
    let mut found = Differences::default();
    let result = &observed.result;
    found.equal("status", &[expected.status.to_string()], &[result.status.to_string()]);
    let is_success = matches!(expected.status, MissionStatus::Answered | MissionStatus::Succeeded);
    found.equal("success", &[expected.success.unwrap_or(is_success).to_string()], &[result.is_success().to_string()]);
    for part in &expected.output {
        found.holds("the output", part, std::slice::from_ref(&result.output));
    }
    let mut calls: Vec<String> = expected.calls.iter().flat_map(|call| normal_calls(call)).collect();
    let mut called: Vec<String> = observed.calls.iter().map(shown_call).collect();
    if expected.in_any_order {
        calls.sort();
        called.sort();
    }
    found.equal("calls", &calls, &called);
    found.equal("halts", &expected.halts, &observed.halts);
    let not_stopped: Vec<String> = result.not_stopped.iter().map(|tool| tool.as_str().to_owned()).collect();
    found.equal("not stopped", &expected.not_stopped, &not_stopped);
    if let Some(steps) = &expected.steps {
        let ended = result.steps.iter().map(|step| format!("{} {}", step.tool, status(step.status)));
        found.equal("steps", steps, &ended.collect::<Vec<_>>());
    }
    if let Some(verification) = &expected.verification {
        let known = result.steps.iter().filter_map(|step| Some(format!("{} {}", step.tool, step.verification?)));
        found.equal("verification", verification, &known.collect::<Vec<_>>());
    }
    if observed.counted_requests > expected.requests_at_most {
        found.add(format!(
            "the model was asked {} times, not at most {}",
            observed.counted_requests, expected.requests_at_most
        ));
    }
    let mut rest = observed.lines.as_slice();
    for part in &expected.lines {
        match rest.iter().position(|line| line.contains(part)) {
            Some(index) => rest = rest.get(index + 1..).unwrap_or_default(),
            None => found.add(format!("no line of feedback holds this, in this order: {part}")),
        }
    }
    for part in &expected.no_line {
        found.lacks("a line of feedback", part, &observed.lines);
    }
    let told: Vec<String> = observed.requests.iter().map(rendered).collect();
    for part in &expected.told_model {
        found.holds("what the model was told", part, &told);
    }
    for part in &expected.never_told_model {
        found.lacks("what the model was told", part, &told);
    }
    let stops: Vec<Vec<String>> = observed
        .stops
        .iter()
        .map(|stop| stop.not_stopped.iter().map(|tool| tool.as_str().to_owned()).collect())
        .collect();
    match (&expected.stop_names, stops.as_slice()) {
        (None, []) => {}
        (Some(names), [.., last]) => found.equal("not stopped by the stop", names, last),
        (Some(_), []) => found.add("nobody stopped the robot".to_owned()),
        (None, _) => found.add("somebody stopped the robot; say what 'stop_names' is".to_owned()),
    }
    if let Some(most) = expected.seconds_at_most
        && result.duration.as_secs_f64() > most
    {
        found.add(format!("it took {:.1} s, not at most {most} s", result.duration.as_secs_f64()));
    }
    others(observed, &mut found);
    found.problems
}

fn others(observed: &Observed, found: &mut Differences) {
    for (expected, other) in &observed.others {
        let what = format!("the task \"{}\"", expected.task);
        match (other, &expected.refused) {
            (Err(rejection), Some(reason)) => found.holds(&what, reason, &[rejection.to_string()]),
            (Err(rejection), None) => found.add(format!("{what} was refused: {rejection}")),
            (Ok(result), Some(_)) => found.add(format!("{what} was taken and ended {}", result.status)),
            (Ok(result), None) => {
                let status: Vec<String> = expected.status.iter().map(ToString::to_string).collect();
                found.equal(&what, &status, &[result.status.to_string()]);
                for part in &expected.output {
                    found.holds(&what, part, std::slice::from_ref(&result.output));
                }
            }
        }
    }
}

#[derive(Default)]
struct Differences {
    problems: Vec<String>,
}

impl Differences {
    fn add(&mut self, problem: String) {
        self.problems.push(problem);
    }

    fn equal(&mut self, what: &str, expected: &[String], found: &[String]) {
        if expected != found {
            self.add(format!("{what}:\n  expected {}\n  found    {}", listed(expected), listed(found)));
        }
    }

    fn holds(&mut self, what: &str, part: &str, texts: &[String]) {
        if !texts.iter().any(|text| text.contains(part)) {
            // Of many texts the reader would not find the one that is meant.
            let found = if texts.len() > 1 { format!("nothing in {} texts", texts.len()) } else { listed(texts) };
            self.add(format!("{what} does not hold:\n  expected {part}\n  found    {found}"));
        }
    }

    fn lacks(&mut self, what: &str, part: &str, texts: &[String]) {
        if let Some(text) = texts.iter().find(|text| text.contains(part)) {
            self.add(format!("{what} holds what it must not:\n  {part}\n  in {}", cut(text)));
        }
    }
}

fn listed(texts: &[String]) -> String {
    if texts.is_empty() {
        return "nothing".to_owned();
    }
    let mut text = String::new();
    for (index, one) in texts.iter().enumerate() {
        let _ = write!(text, "{}{}", if index == 0 { "" } else { "\n           " }, cut(one));
    }
    text
}

fn cut(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() { format!("{shown} [...]") } else { shown }
}

fn status(status: cortex_protocol::StepStatus) -> String {
    serde_json::to_value(status).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// `name {"argument":1}`; without arguments only the name.
pub(crate) fn shown_call(call: &ToolCall) -> String {
    if call.arguments.is_empty() {
        return call.tool.as_str().to_owned();
    }
    format!("{} {}", call.tool, Value::Object(call.arguments.clone()))
}

/// The calls that a file writes as one text, each with its arguments as JSON without spaces: `30 x name {}` are thirty.
fn normal_calls(written: &str) -> Vec<String> {
    let counted = written.split_once(" x ").and_then(|(count, call)| Some((count.parse().ok()?, call)));
    let (count, call) = counted.unwrap_or((1, written));
    let call = match call.split_once(' ') {
        None => call.to_owned(),
        Some((name, arguments)) => {
            let arguments: Value = serde_json::from_str(arguments)
                .unwrap_or_else(|problem| panic!("the expected call '{written}' can't be read: {problem}"));
            format!("{name} {arguments}")
        }
    };
    vec![call; count]
}

/// A request as text: what the model is told, and which tools it is offered.
fn rendered(request: &ChatRequest) -> String {
    let mut text = String::new();
    for message in &request.messages {
        match message {
            Message::System { fragments } | Message::User { fragments } => {
                fragments.iter().for_each(|fragment| text.push_str(&(fragment.render() + "\n")));
            }
            Message::Assistant { text: said, .. } => text.push_str(&(said.clone() + "\n")),
            Message::Tool { name, content, .. } => text.push_str(&format!("{name}: {}\n", content.render())),
        }
    }
    for tool in &request.tools {
        let _ = writeln!(text, "tool {}: {}", tool.name, tool.described());
    }
    text
}
