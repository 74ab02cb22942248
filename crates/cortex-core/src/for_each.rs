//! Steps that are wanted once for each of several values: `<each place>` in their arguments.
//!
//! The steps from the first to the last that name the collection are one block, and so are steps that only look right
//! after it. The block is repeated for each value, in order. Within a block steps refer to those of the same block; what
//! comes after it waits for all of it.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::tool::value_as_text;
use cortex_protocol::{StepNumber, ToolName};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::fragment::capped;
use crate::output_refs::read_each;
use crate::plan::PlanError;
use crate::step_groups::StepGroups;
use crate::toolset::ArgumentsError;
use crate::{output_refs, plan};

pub use crate::output_refs::plain_name;

/// Most steps that one plan is written out to; a plan is cut long before.
const WRITTEN_OUT: usize = 1_000;
/// How deep arguments are searched.
const DEPTH: usize = 32;
/// Most characters of a list of names, for a model.
const NAMES_SHOWN: usize = 500;

/// One step of the plan as it is written out.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Which of the steps that the model wrote it comes from, from 0.
    pub origin: usize,
    /// For which value it is, if for one.
    pub value: Option<Value>,
    /// What is wanted.
    pub request: plan::Request,
}

/// Why a plan can't be written out. In words for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ExpansionError {
    /// What the model wrote is no plan by itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The steps for one collection are mixed with those for another.
    #[error("the steps for <each {first}> and those for <each {second}> overlap; plan one after the other")]
    Overlap {
        /// The collection that is named first.
        first: String,
        /// The other one.
        second: String,
    },
    /// Nobody knows values of that name.
    #[error(
        "<each {name}> stands for nothing: no argument lists values for it, and no research has returned a list of that \
         name (found so far: {})",
        listed(.known)
    )]
    UnknownCollection {
        /// The name.
        name: String,
        /// The names of those that were found.
        known: Vec<String>,
    },
    /// The collection has no values.
    #[error("<each {name}> stands for nothing: the list is empty")]
    EmptyCollection {
        /// Its name.
        name: String,
    },
    /// A value that would become a reference to something else.
    #[error("a value of <each {name}> reads as a reference; it is not used")]
    ValueIsReference {
        /// The collection that it is of.
        name: String,
    },
    /// A step that does not take one of the values.
    #[error("{tool} can't be done for {value}: {problem}")]
    UnfitValue {
        /// The tool of the step.
        tool: ToolName,
        /// The value.
        value: Value,
        /// What is wrong with its arguments.
        problem: ArgumentsError,
    },
    /// There would be too many steps.
    #[error("the plan comes to more than {WRITTEN_OUT} steps; plan for fewer values")]
    TooLong,
    /// A reference, from outside of the block, to a step that is done for each of several values.
    #[error("{written} has several values, since step {step} is done for each of several; use it in those steps")]
    SeveralValues {
        /// The reference.
        written: String,
        /// The step.
        step: StepNumber,
    },
    /// A fault of our own.
    #[error("a step of the plan is lost")]
    LostStep,
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { capped(&known.join(", "), NAMES_SHOWN) }
}

/// Some steps, by their indices, and what they are repeated for.
struct Block {
    name: String,
    first: usize,
    last: usize,
}

/// Writes out what is wanted for each of several values. `values_of` knows the values of a name, for a block of steps.
///
/// # Errors
/// What is wrong, for the model that wrote it.
pub fn expand(
    requests: Vec<plan::Request>,
    step_groups: &StepGroups,
    values_of: impl Fn(&str, &[plan::Request]) -> Result<Vec<Value>, ExpansionError>,
    only_looks: impl Fn(&plan::Request) -> bool,
) -> Result<Vec<Wanted>, ExpansionError> {
    let blocks = blocks(&requests, only_looks)?;
    if blocks.is_empty() {
        let single = |(origin, request)| Wanted { origin, value: None, request };
        return Ok(requests.into_iter().enumerate().map(single).collect());
    }
    // What the model wrote must be a plan by itself, and is checked in its own numbers.
    plan::build_arranged(requests.clone(), step_groups)?;
    let mut layout = Layout::default();
    let mut at = 0;
    while at < requests.len() {
        match blocks.iter().enumerate().find(|(_, block)| block.first == at) {
            Some((number, block)) => {
                let steps = requests.get(block.first..=block.last).unwrap_or_default();
                for (copy, value) in values_of(&block.name, steps)?.into_iter().enumerate() {
                    check_value(&value, &block.name)?;
                    let repetition = Repetition { block: number, copy, value };
                    (block.first..=block.last).for_each(|origin| layout.push(origin, Some(repetition.clone())));
                    layout.check_length()?;
                }
                at = block.last + 1;
            }
            None => {
                layout.push(at, None);
                at += 1;
            }
        }
    }
    let mut wanted: Vec<Wanted> =
        layout.places.iter().map(|place| layout.write(place, &requests)).collect::<Result<_, ExpansionError>>()?;
    for block in &blocks {
        let next = block.last + 1;
        let follows_all = requests.get(next).is_some_and(|request| request.after.is_none())
            && !is_chain(requests.get(block.first..=block.last).unwrap_or_default())
            && !is_grouped(step_groups, next)
            && !is_grouped(step_groups, block.last);
        let first = wanted.iter_mut().find(|wanted| wanted.origin == next).filter(|_| follows_all);
        if let Some(first) = first {
            let all: BTreeSet<StepNumber> =
                (block.first..=block.last).flat_map(|step| layout.numbers_of(step)).collect();
            first.request.after = Some(all.into_iter().collect());
        }
    }
    Ok(wanted)
}

/// Whether each step waits for the one before it, so that who waits for the last waits for all.
fn is_chain(steps: &[plan::Request]) -> bool {
    steps.iter().all(|step| step.after.is_none())
}

/// Whether the step of this index is in a group: what is waited for there is for the groups to say.
fn is_grouped(step_groups: &StepGroups, index: usize) -> bool {
    let number = u32::try_from(index + 1).map(StepNumber);
    number.is_ok_and(|number| step_groups.groups.iter().any(|group| group.steps.contains(&number)))
}

/// The numbers that a step of the model's plan has where it is written out.
#[must_use]
pub fn places(wanted: &[Wanted], step: StepNumber) -> Vec<StepNumber> {
    let origin = usize::try_from(step.0).ok().and_then(|number| number.checked_sub(1));
    let numbered = (1..).map(StepNumber).zip(wanted);
    numbered.filter(|(_, wanted)| Some(wanted.origin) == origin).map(|(number, _)| number).collect()
}

/// Whether the value is nothing but `<each NAME>`.
#[must_use]
pub fn stands_for(value: &Value, name: &str) -> bool {
    value.as_str().is_some_and(|text| read_each(text.trim()).as_deref() == Some(name))
}

/// The collections that the arguments name, in order.
#[must_use]
pub fn names(arguments: &Map<String, Value>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for value in arguments.values() {
        collect_names(value, 0, &mut names);
    }
    names
}

fn collect_names(value: &Value, depth: usize, names: &mut Vec<String>) {
    if depth > DEPTH {
        return;
    }
    match value {
        Value::String(text) => {
            for name in names_in_text(text) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, depth + 1, names)),
        Value::Object(fields) => fields.values().for_each(|field| collect_names(field, depth + 1, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn names_in_text(text: &str) -> Vec<String> {
    output_refs::bracketed(text).into_iter().filter_map(|(_, written)| read_each(written)).collect()
}

/// The blocks of the plan, in order. No two of them share a step.
fn blocks(
    requests: &[plan::Request],
    only_looks: impl Fn(&plan::Request) -> bool,
) -> Result<Vec<Block>, ExpansionError> {
    let mut blocks: Vec<Block> = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        for name in names(&request.call.arguments) {
            match blocks.iter_mut().find(|block| block.name == name) {
                Some(block) => block.last = index,
                None => blocks.push(Block { name, first: index, last: index }),
            }
        }
    }
    for block in &mut blocks {
        let follows = |request: &&plan::Request| {
            only_looks(request) && request.after.is_none() && names(&request.call.arguments).is_empty()
        };
        block.last += requests.iter().skip(block.last + 1).take_while(follows).count();
    }
    blocks.sort_by_key(|block| block.first);
    let overlap = blocks.iter().zip(blocks.iter().skip(1)).find(|(one, other)| other.first <= one.last);
    match overlap {
        Some((one, other)) => Err(ExpansionError::Overlap { first: one.name.clone(), second: other.name.clone() }),
        None => Ok(blocks),
    }
}

/// What was found is data: it must not become a reference to something else.
fn check_value(value: &Value, name: &str) -> Result<(), ExpansionError> {
    let text = value_as_text(value);
    let refers = !output_refs::bracketed(&text).is_empty();
    if refers { Err(ExpansionError::ValueIsReference { name: name.to_owned() }) } else { Ok(()) }
}

/// Where a step of the model's plan comes to stand.
struct Place {
    origin: usize,
    repetition: Option<Repetition>,
}

/// Of which block, the how many-th, and for which value.
#[derive(Clone, PartialEq)]
struct Repetition {
    block: usize,
    copy: usize,
    value: Value,
}

/// The plan as it is written out, and where each step of the model has gone.
#[derive(Default)]
struct Layout {
    places: Vec<Place>,
    /// The new numbers of each step of the model, by its index.
    numbers: BTreeMap<usize, Vec<StepNumber>>,
}

impl Layout {
    fn push(&mut self, origin: usize, repetition: Option<Repetition>) {
        self.places.push(Place { origin, repetition });
        let number = StepNumber(u32::try_from(self.places.len()).unwrap_or(u32::MAX));
        self.numbers.entry(origin).or_default().push(number);
    }

    fn numbers_of(&self, origin: usize) -> Vec<StepNumber> {
        self.numbers.get(&origin).cloned().unwrap_or_default()
    }

    fn check_length(&self) -> Result<(), ExpansionError> {
        let is_short = self.places.len() <= WRITTEN_OUT;
        is_short.then_some(()).ok_or(ExpansionError::TooLong)
    }

    fn write(&self, place: &Place, requests: &[plan::Request]) -> Result<Wanted, ExpansionError> {
        let request = requests.get(place.origin).cloned().ok_or(ExpansionError::LostStep)?;
        let after =
            request.after.as_ref().map(|after| after.iter().flat_map(|step| self.moved(*step, place)).collect());
        let mut arguments = Map::new();
        for (name, value) in &request.call.arguments {
            arguments.insert(name.clone(), self.rewritten(value, place, 0)?);
        }
        let value = place.repetition.as_ref().map(|repetition| repetition.value.clone());
        let call = cortex_protocol::ToolCall { arguments, ..request.call };
        Ok(Wanted { origin: place.origin, value, request: plan::Request { call, after, ..request } })
    }

    /// Where a step has gone, seen from another: to the same repetition of their block, or to all of them.
    fn moved(&self, step: StepNumber, from: &Place) -> Vec<StepNumber> {
        let index = |step: StepNumber| usize::try_from(step.0).ok()?.checked_sub(1);
        let numbers = index(step).and_then(|origin| self.numbers.get(&origin)).map(Vec::as_slice).unwrap_or_default();
        let own = from.repetition.as_ref().and_then(|repetition| {
            let number = *numbers.get(repetition.copy)?;
            let there = self.places.get(index(number)?)?;
            (there.repetition.as_ref() == Some(repetition)).then_some(number)
        });
        own.map_or_else(|| numbers.to_vec(), |number| vec![number])
    }

    fn rewritten(&self, value: &Value, place: &Place, depth: usize) -> Result<Value, ExpansionError> {
        if depth > DEPTH {
            return Ok(value.clone());
        }
        match value {
            Value::String(text) => self.rewritten_text(text, place),
            Value::Array(items) => items
                .iter()
                .map(|item| self.rewritten(item, place, depth + 1))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            Value::Object(fields) => {
                let rewrite =
                    |(name, field): (&String, &Value)| Ok((name.clone(), self.rewritten(field, place, depth + 1)?));
                fields.iter().map(rewrite).collect::<Result<_, ExpansionError>>().map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        }
    }

    /// The text with its values and with the new numbers of the steps that it refers to. What is put in is not read again.
    fn rewritten_text(&self, text: &str, place: &Place) -> Result<Value, ExpansionError> {
        let value = place.repetition.as_ref().map(|repetition| &repetition.value);
        let mut written = String::with_capacity(text.len());
        let mut end = 0;
        for (start, part) in output_refs::bracketed(text) {
            written.push_str(text.get(end..start).unwrap_or_default());
            end = start + part.len();
            match (read_each(part), value) {
                (Some(_), Some(value)) if part == text.trim() => return Ok(value.clone()),
                (Some(_), Some(value)) => written.push_str(&value_as_text(value)),
                _ => {
                    let renumbered = output_refs::renumbered(part, |step| match self.moved(step, place).as_slice() {
                        [only] => Ok(*only),
                        _ => Err(ExpansionError::SeveralValues { written: part.to_owned(), step }),
                    })?;
                    written.push_str(&renumbered);
                }
            }
        }
        written.push_str(text.get(end..).unwrap_or_default());
        Ok(Value::String(written))
    }
}

#[cfg(test)]
mod tests;
