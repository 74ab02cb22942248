//! A text that goes on with the task before it: "turn it off again", "and the one in the hall", "now go back there".
//!
//! Words for what was said before may stand for what the task before did. A text that says everything by itself means
//! what it says; where it means one thing alone and another one after the task before, a person is asked.

use std::rc::Rc;

use serde_json::Value;

use super::clauses::place_of;
use super::{Part, Task, Text, Understanding, answers, read};
use crate::reading::{Call, End, Reading};
use crate::robot::{ParameterKind, Robot};

/// What was done before a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Earlier {
    /// The last first.
    pub(super) readings: Rc<[Reading]>,
    /// The last place that the robot was sent to.
    pub(super) place: Option<Value>,
}

/// Reads a text that is said after another one, which was carried out.
#[must_use]
pub fn understand_after(robot: &Robot, before: &str, text: &str) -> Understanding {
    let alone = read(robot, text, &Earlier::default());
    let Some(earlier) = earlier(robot, before) else { return alone.understanding };
    if let Some(other) = with_its_value(robot, &earlier, &alone) {
        return other;
    }
    let after = read(robot, text, &earlier).understanding;
    let (Understanding::Understood(parts), Understanding::Understood(meant)) = (&after, &alone.understanding) else {
        let is_better = matches!(after, Understanding::Understood(_));
        return if is_better { after } else { alone.understanding };
    };
    let (calls, calls_alone) = (calls(parts), calls(meant));
    if calls.is_empty() || calls == calls_alone {
        return alone.understanding;
    }
    // "Turn it on": what "it" stands for is only missing from the text alone.
    let says_more = |(call, less): (&Call, &Call)| {
        call.tool == less.tool && less.arguments.iter().all(|(name, value)| call.arguments.get(name) == Some(value))
    };
    if calls.len() == calls_alone.len() && calls.iter().zip(&calls_alone).all(says_more) {
        return after;
    }
    // What only asks moves nothing, and is answered as it stands.
    if calls_alone.iter().all(|call| answers(robot, call)) {
        return alone.understanding;
    }
    Understanding::Unsure { clause: text.trim().to_owned(), offers: vec![parts.clone(), meant.clone()] }
}

/// "And the bedroom", after the light of the kitchen was turned on: the robot may have to go there, or to do there what it
/// did before.
fn with_its_value(robot: &Robot, earlier: &Earlier, alone: &Text) -> Option<Understanding> {
    let [reading] = alone.readings.as_slice() else { return None };
    let [call] = reading.calls.as_slice() else { return None };
    let last = earlier.readings.first()?.calls.last()?;
    // "Is the light in the bedroom on?" asks, whatever was done before.
    let only_asks = answers(robot, call) && !answers(robot, last);
    if !reading.is_by_things_alone() || only_asks || last.tool == call.tool || call.arguments.is_empty() {
        return None;
    }
    let tool = robot.tool(last.tool)?;
    let mut other = last.clone();
    for value in call.arguments.values() {
        let takes =
            |kind: &ParameterKind| matches!(kind, ParameterKind::Choice(choices) if choices.values.contains(value));
        let parameter = tool.parameters.iter().find(|parameter| takes(&parameter.kind))?;
        other.arguments.insert(parameter.name.clone(), value.clone());
    }
    let clause = alone.written.clone();
    let part = |call: &Call| vec![Part::Call { call: call.clone(), clause: clause.clone() }];
    // A question acts on nothing.
    if answers(robot, last) && alone.asks {
        return Some(Understanding::Understood(part(&other)));
    }
    Some(Understanding::Unsure { clause: clause.clone(), offers: vec![part(&other), part(call)] })
}

/// What a text was carried out with: the calls that it asks for, or the only ones that a person could accept.
fn earlier(robot: &Robot, text: &str) -> Option<Earlier> {
    let text = read(robot, text, &Earlier::default());
    let readings: Rc<[Reading]> = match text.understanding {
        Understanding::Understood(parts) if !calls(&parts).is_empty() => text.readings.into(),
        Understanding::Unsure { offers, .. } => match offers.as_slice() {
            [only] => calls(only).into_iter().rev().map(|call| Reading::of(vec![call])).collect(),
            _ => return None,
        },
        _ => return None,
    };
    let place = readings.iter().find_map(|reading| place_of(robot, std::slice::from_ref(reading)));
    Some(Earlier { readings, place })
}

fn calls(parts: &[Part]) -> Vec<Call> {
    let call = |part: &Part| match part {
        Part::Call { call, .. } => Some(call.clone()),
        Part::If { .. } | Part::Tell { .. } | Part::Talk(_) => None,
    };
    parts.iter().filter_map(call).collect()
}

impl Task<'_> {
    /// "Do that again": all that was done before.
    pub(super) fn encore(&self) -> Option<Understanding> {
        let encores = &self.reader.language.words.encores;
        let is_encore =
            [self.reader.core(self.words, End::Polite).words, self.reader.core(self.words, End::Kept).words]
                .iter()
                .any(|words| !words.is_empty() && encores.length(words) == words.len());
        let opens = self.words.iter().filter(|word| !word.is_punctuation()).cloned().collect::<Vec<_>>();
        if self.earlier.readings.is_empty() || !(is_encore || encores.length(&opens) == opens.len()) {
            return None;
        }
        let clause = self.reader.written(self.words);
        let calls = self.earlier.readings.iter().rev().flat_map(|reading| reading.calls.iter().cloned());
        Some(Understanding::Understood(calls.map(|call| Part::Call { call, clause: clause.clone() }).collect()))
    }

    /// "And in the kitchen?", after a question.
    pub(super) fn goes_on_asking_after(&self, earlier: &[Reading]) -> bool {
        let answered = earlier.first().and_then(|reading| reading.calls.last());
        answered.is_some_and(|call| answers(self.reader.robot, call)) && self.reader.text.trim_end().ends_with('?')
    }
}
