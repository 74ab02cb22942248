//! The corpus of what people say to eight robots, and what the reader makes of it.
#![allow(dead_code, reason = "each user takes what it needs")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cortex_language::{Declared, Part, Robot, Talk, Understanding, Usage, understand};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) const ROBOTS: [&str; 9] =
    ["home", "hotel", "warehouse", "arm", "farm", "lab", "museum", "hospital", "restaurant"];

#[derive(Deserialize)]
pub(crate) struct RobotFile {
    pub(crate) tools: Vec<ToolEntry>,
}

#[derive(Deserialize)]
pub(crate) struct ToolEntry {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) parameters: Value,
    pub(crate) phase: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) phrases: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, PartialEq)]
pub(crate) struct ExpectedCall {
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
}

/// One line of the corpus.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) say: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) must: Vec<Vec<ExpectedCall>>,
    #[serde(default)]
    pub(crate) may: Vec<Vec<ExpectedCall>>,
    #[serde(default)]
    pub(crate) about: Option<String>,
    #[serde(default)]
    pub(crate) why: Option<String>,
    #[serde(default)]
    pub(crate) check: Option<ExpectedCall>,
    #[serde(default)]
    pub(crate) then: Vec<ExpectedCall>,
    #[serde(default)]
    pub(crate) otherwise: Vec<ExpectedCall>,
}

/// The verdict on one sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// As it must be.
    Right,
    /// Asked about, with the right thing among what is offered.
    Asked,
    /// Refused, or answered by talk, where something was to be done.
    Refused,
    /// Acted or answered otherwise than asked.
    Wrong,
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

pub(crate) fn tools(robot: &str) -> Vec<ToolEntry> {
    let text = std::fs::read_to_string(folder().join(robot).join("robot.json")).unwrap();
    serde_json::from_str::<RobotFile>(&text).unwrap().tools
}

pub(crate) fn lines(robot: &str, half: &str) -> Vec<Line> {
    let text = std::fs::read_to_string(folder().join(robot).join(format!("{half}.jsonl"))).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn robot(tools: &[ToolEntry]) -> Robot {
    Robot::new(tools.iter().map(|tool| Declared {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        phrases: &tool.phrases,
        usage: match tool.phase.as_str() {
            "planning" => Usage::Research,
            "both" => Usage::Either,
            _ => Usage::Step,
        },
        looks: tool.kind != "act",
    }))
}

/// The calls in one line, for people.
pub(crate) fn shown(parts: &[Part], tools: &[ToolEntry]) -> String {
    let part = |part: &Part| match part {
        Part::Call { call, .. } => format!("{} {}", tools[call.tool].name, Value::Object(call.arguments.clone())),
        Part::Talk(talk) => format!("{talk:?}"),
        Part::Tell { of, .. } => format!("tell {of}"),
        Part::If { condition, then, otherwise } => format!(
            "if {:?} [{}] then [{}] else [{}]",
            condition.clause,
            shown(&[Part::Call { call: condition.look.clone(), clause: String::new() }], tools),
            shown(then, tools),
            shown(otherwise, tools)
        ),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" | ")
}

pub(crate) fn judge(line: &Line, understanding: &Understanding, tools: &[ToolEntry]) -> Verdict {
    let calls = |parts: &[Part]| -> Vec<ExpectedCall> {
        parts
            .iter()
            .filter_map(|part| match part {
                Part::Call { call, .. } => {
                    Some(ExpectedCall { tool: tools[call.tool].name.clone(), arguments: call.arguments.clone() })
                }
                Part::Talk(_) | Part::Tell { .. } | Part::If { .. } => None,
            })
            .collect()
    };
    let has_condition = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::If { .. }));
    // Exactly this condition, and exactly what is to be done if it holds and if not.
    let checks = |parts: &[Part]| match (parts, &line.check) {
        ([Part::If { condition, then, otherwise }], Some(check)) => {
            let look = [Part::Call { call: condition.look.clone(), clause: String::new() }];
            let all = |made: Vec<ExpectedCall>, wanted: &[ExpectedCall]| {
                wanted.len() == made.len() && wanted.iter().zip(&made).all(|(one, other)| same(one, other, tools))
            };
            all(calls(&look), std::slice::from_ref(check))
                && all(calls(then), &line.then)
                && all(calls(otherwise), &line.otherwise)
        }
        _ => false,
    };
    let fits = |made: &[ExpectedCall], wanted: &[Vec<ExpectedCall>]| {
        wanted.iter().any(|wanted| {
            wanted.len() == made.len() && wanted.iter().zip(made).all(|(one, other)| same(one, other, tools))
        })
    };
    match (line.kind.as_str(), understanding) {
        ("conditional", Understanding::Understood(parts)) if checks(parts) => Verdict::Right,
        ("conditional", Understanding::Unsure { offers, .. }) => {
            if offers.iter().any(|offer| checks(offer)) {
                Verdict::Asked
            } else {
                Verdict::Refused
            }
        }
        (_, Understanding::Understood(parts)) if has_condition(parts) => Verdict::Wrong,
        ("command" | "question", Understanding::Understood(parts)) => {
            let made = calls(parts);
            if made.is_empty() {
                Verdict::Refused
            } else if fits(&made, &line.must) {
                Verdict::Right
            } else {
                Verdict::Wrong
            }
        }
        ("command" | "question", Understanding::Unsure { offers, .. }) => {
            if offers.iter().any(|offer| fits(&calls(offer), &line.must)) { Verdict::Asked } else { Verdict::Refused }
        }
        ("talk", Understanding::Understood(parts)) => {
            if !calls(parts).is_empty() {
                return Verdict::Wrong;
            }
            let Some(Part::Talk(talk)) = parts.first() else { return Verdict::Refused };
            if is_about(talk, line.about.as_deref().unwrap_or_default()) { Verdict::Right } else { Verdict::Wrong }
        }
        ("ask", Understanding::Unsure { .. }) => Verdict::Right,
        ("refuse", Understanding::Unsure { .. }) => Verdict::Asked,
        ("refuse" | "ask" | "conditional", Understanding::Understood(parts)) => {
            if calls(parts).is_empty() {
                Verdict::Refused
            } else {
                Verdict::Wrong
            }
        }
        ("refuse", _) => Verdict::Right,
        _ => Verdict::Refused,
    }
}

fn is_about(talk: &Talk, about: &str) -> bool {
    match talk {
        Talk::Greeting => matches!(about, "greeting" | "smalltalk"),
        Talk::Thanks => matches!(about, "thanks" | "smalltalk"),
        Talk::Goodbye => matches!(about, "goodbye" | "smalltalk" | "greeting"),
        Talk::Name => about == "name",
        Talk::Abilities => about == "abilities",
        Talk::Limits => about == "limits",
        Talk::Values(_) => about == "values",
        Talk::Cancel => about == "smalltalk",
        Talk::Smalltalk => matches!(about, "smalltalk" | "greeting" | "thanks"),
    }
}

fn same(wanted: &ExpectedCall, made: &ExpectedCall, tools: &[ToolEntry]) -> bool {
    if wanted.tool != made.tool {
        return false;
    }
    let tool = tools.iter().find(|tool| tool.name == wanted.tool).unwrap();
    let full = |arguments: &Map<String, Value>| -> BTreeMap<String, String> {
        let mut full: BTreeMap<String, String> = BTreeMap::new();
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if let Some(default) = property.get("default") {
                full.insert(name.clone(), plain(default));
            }
        }
        full.extend(arguments.iter().map(|(name, value)| (name.clone(), plain(value))));
        full
    };
    full(&wanted.arguments) == full(&made.arguments)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().trim_end_matches(['.', '!', '?', ',']).to_lowercase().replace('’', "'"),
        Value::Number(number) => format!("{:.6}", number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// Totals by kind: right, asked, refused, wrong.
#[derive(Debug, Default, Clone)]
pub(crate) struct Totals(pub BTreeMap<String, [usize; 4]>);

impl Totals {
    pub(crate) fn add(&mut self, kind: &str, verdict: Verdict) {
        let row = self.0.entry(kind.to_owned()).or_default();
        row[verdict as usize] += 1;
    }

    pub(crate) fn row(&self, kind: &str) -> [usize; 4] {
        self.0.get(kind).copied().unwrap_or_default()
    }
}

/// Measures the reader on one half of the corpus.
pub(crate) fn measure(
    half: &str,
    mut each: impl FnMut(&str, &Line, &Understanding, Verdict, &[ToolEntry]),
) -> BTreeMap<String, Totals> {
    let mut totals: BTreeMap<String, Totals> = BTreeMap::new();
    for name in ROBOTS.iter().filter(|name| folder().join(name).join(format!("{half}.jsonl")).exists()) {
        let tools = tools(name);
        let robot = robot(&tools);
        for line in lines(name, half) {
            let understanding = understand(&robot, &line.say);
            let verdict = judge(&line, &understanding, &tools);
            totals.entry((*name).to_owned()).or_default().add(&line.kind, verdict);
            totals.entry("all".to_owned()).or_default().add(&line.kind, verdict);
            each(name, &line, &understanding, verdict, &tools);
        }
    }
    totals
}
