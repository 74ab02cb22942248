//! A corpus of replies to "shall this step run?": none that is no clear yes lets a step run, and every clear yes does.
//!
//! `data/confirmation_replies.jsonl` holds one reply a line, in many languages: warnings, conditions, questions, reported
//! speech, sarcasm, look-alike letters, JSON that says more, calls with words, replies that were cut.

#![expect(clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

use std::collections::BTreeSet;
use std::time::Duration;

use cortex_core::confirmation;
use cortex_core::mission::{Mission, MissionLimits, MissionSetup, PolicySetup};
use cortex_core::{Availability, CallArguments, ChatReply, Effect, Input, ModelCall, Purpose, RemovedTools, ToolSet};
use cortex_protocol::{
    CancelMode, Decision, Dispatch, Effect as ToolEffect, EffectSource, MissionStatus, TaskReading, ToolOutcome,
    ToolPhase, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

const CORPUS: &str = include_str!("data/confirmation_replies.jsonl");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    language: String,
    /// Whether it is a clear yes.
    #[serde(default)]
    clear: bool,
    text: String,
    #[serde(default)]
    calls: Vec<WrittenCall>,
    #[serde(default)]
    cut: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    name: String,
    arguments: String,
}

impl Entry {
    fn reply(&self) -> ChatReply {
        let call = |(index, call): (usize, &WrittenCall)| ModelCall {
            id: format!("call-{index}"),
            name: call.name.clone(),
            arguments: CallArguments::read(&call.arguments),
        };
        ChatReply {
            text: self.text.clone(),
            calls: self.calls.iter().enumerate().map(call).collect(),
            cut: self.cut.clone(),
            ..ChatReply::default()
        }
    }
}

fn corpus() -> Vec<Entry> {
    CORPUS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|problem| panic!("{line}: {problem}")))
        .collect()
}

fn base() -> ToolSpec {
    ToolSpec::new("base.go_to".into(), "Drives to a place.".to_owned())
        .with_parameters(json!({
            "type": "object",
            "properties": {"place": {"enum": ["kitchen", "bedroom"]}},
            "required": ["place"],
            "additionalProperties": false
        }))
        .with_phase(ToolPhase::Execution)
        .with_effect(ToolEffect::Move)
        .with_effect_source(EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
}

/// A mission of one drive whose confirmations are answered so, the last of them again and again. Returns how many calls it
/// made, how often it asked for a confirmation, and how it ended.
fn drive(replies: &[ChatReply]) -> (usize, usize, MissionStatus) {
    let mut mission = Mission::new(MissionSetup {
        task: "Go to the kitchen.".to_owned(),
        reading: TaskReading::default(),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools: ToolSet::new(vec![base()]).0,
        availability: Availability::default(),
        removed: RemovedTools::default(),
        policy: PolicySetup::default(),
        reopens: None,
        limits: MissionLimits { max_replans: 0, ..MissionLimits::default() },
    });
    let plan = ModelCall {
        id: "plan".to_owned(),
        name: "base-go_to".to_owned(),
        arguments: CallArguments::read("{\"place\": \"kitchen\"}"),
    };
    let plan = ChatReply { calls: vec![plan], ..ChatReply::default() };
    let said = ChatReply { text: "That is all.".to_owned(), ..ChatReply::default() };
    let (mut called, mut confirmed, mut planned) = (0, 0, false);
    let mut inputs = vec![Input::Start];
    while let Some(input) = inputs.pop() {
        for effect in mission.handle(Duration::ZERO, input) {
            match effect {
                Effect::AskModel { request, chat } => {
                    let reply = match chat.purpose {
                        Purpose::Plan if planned => said.clone(),
                        Purpose::Plan => plan.clone(),
                        Purpose::Confirm => replies.get(confirmed).or(replies.last()).cloned().unwrap_or_default(),
                        Purpose::Correct => panic!("nothing has failed that could be corrected"),
                    };
                    planned = true;
                    confirmed += usize::from(chat.purpose == Purpose::Confirm);
                    inputs.push(Input::ModelReplied { request, reply: Ok(reply) });
                }
                Effect::Invoke { call, tool_call, .. } => {
                    assert_eq!(Value::Object(tool_call.arguments), json!({"place": "kitchen"}));
                    called += 1;
                    inputs.push(Input::CallEnded { call, outcome: ToolOutcome::success(json!("arrived")) });
                }
                Effect::Finish { result } => return (called, confirmed, result.status),
                _ => {}
            }
        }
    }
    panic!("the mission did not end");
}

#[test]
fn the_corpus_is_large_and_of_many_languages_and_forms() {
    let corpus = corpus();
    let unclear: Vec<&Entry> = corpus.iter().filter(|entry| !entry.clear).collect();
    let languages: BTreeSet<&str> = unclear.iter().map(|entry| entry.language.as_str()).collect();
    assert!(unclear.len() >= 400 && languages.len() >= 7, "{} in {languages:?}", unclear.len());
    assert!(corpus.len() - unclear.len() >= 60);
    let in_json = unclear.iter().filter(|entry| entry.text.starts_with('{')).count();
    let with_call = unclear.iter().filter(|entry| !entry.calls.is_empty()).count();
    assert!(in_json >= 100 && with_call >= 100, "{in_json} in JSON, {with_call} with a call");
    let different: BTreeSet<&str> = CORPUS.lines().collect();
    assert_eq!(different.len(), corpus.len());
}

#[test]
fn no_reply_that_is_no_clear_yes_is_read_as_execute_and_every_clear_yes_is() {
    // Whether a reply is whole is for the mission to see, and which arguments it may give.
    let of_other_arguments = |entry: &Entry| {
        let given = entry.calls.first().map(|call| CallArguments::read(&call.arguments));
        matches!(given, Some(CallArguments::Object(given)) if Value::Object(given.clone()) != json!({"place": "kitchen"}))
    };
    let mut wrong = Vec::new();
    for entry in corpus().into_iter().filter(|entry| entry.cut.is_none() && !of_other_arguments(entry)) {
        let read = confirmation::read(&entry.reply(), "base-go_to", "base.go_to");
        let executes = read.is_ok_and(|reading| reading.decision == Decision::Execute);
        if executes != entry.clear {
            wrong.push(entry);
        }
    }
    assert!(wrong.is_empty(), "{} replies are misread: {wrong:#?}", wrong.len());
}

#[test]
fn no_reply_that_is_no_clear_yes_lets_a_step_run_even_when_it_is_given_twice() {
    let unclear: Vec<Entry> = corpus().into_iter().filter(|entry| !entry.clear).collect();
    let mut executed = Vec::new();
    for (entry, next) in unclear.iter().zip(unclear.iter().cycle().skip(1)) {
        for second in [entry, next] {
            let (called, confirmed, status) = drive(&[entry.reply(), second.reply()]);
            assert!((1..=2).contains(&confirmed), "asked {confirmed} times: {entry:?}");
            if called > 0 || status == MissionStatus::Succeeded {
                executed.push((entry, second));
            }
        }
    }
    assert!(executed.is_empty(), "{} pairs were executed: {executed:#?}", executed.len());
}

#[test]
fn every_clear_yes_lets_the_step_run_at_once_and_after_words() {
    for entry in corpus().iter().filter(|entry| entry.clear) {
        assert_eq!(drive(&[entry.reply()]), (1, 1, MissionStatus::Succeeded), "{entry:?}");
        let worded = ChatReply { text: "EXECUTE, the way is free.".to_owned(), ..ChatReply::default() };
        assert_eq!(drive(&[worded, entry.reply()]), (1, 2, MissionStatus::Succeeded), "{entry:?}");
    }
}
