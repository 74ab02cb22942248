//! Actions that are offered as tools: their parameters, and where those stand.

use super::scripts::{self, Because, Script};
use super::{Finding, Key};
use crate::binding::places;
use crate::parameter::{Piece, is_name, pieces};
use crate::{Action, ActionKind, ActionName, Parameter, Recipe};

/// Most parameters of an action.
const MAX_PARAMETERS: usize = 16;

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for (name, action) in &recipe.actions {
        let Some(offer) = &action.tool else { continue };
        let path = |keys: &[&str]| -> Vec<Key> {
            ["actions", name.as_str()].iter().chain(keys).map(|key| Key::from(*key)).collect()
        };
        let mut add = |keys: &[&str], message: String, fix: &str| {
            findings.push(Finding { path: path(keys), message, fix: fix.to_owned() });
        };
        if offer.parameters.len() > MAX_PARAMETERS {
            let message = format!("{} parameters are too many", offer.parameters.len());
            add(&["tool", "parameters"], message, &format!("write at most {MAX_PARAMETERS}"));
        }
        for (parameter, written) in &offer.parameters {
            if !is_name(parameter) {
                let message = format!("'{parameter}' can't be the name of a parameter");
                add(&["tool", "parameters", parameter], message, "write 1 to 64 letters, digits and underscores");
            }
            if let Some((key, message, fix)) = bounds(written) {
                add(&["tool", "parameters", parameter, key], message, fix);
            }
        }
        for (table, key, text) in places(&action.kind) {
            let unknown = pieces(&text).into_iter().find_map(|piece| match piece {
                Piece::Parameter(used) if !offer.parameters.contains_key(used) => Some(used.to_owned()),
                _ => None,
            });
            // Without parameters braces mean nothing.
            if let Some(used) = unknown.filter(|_| !offer.parameters.is_empty()) {
                let fix = format!("add it to [actions.{name}.tool.parameters]; the text itself is {{{{{used}}}}}");
                add(&[table, key], format!("there is no parameter '{used}'"), &fix);
            }
        }
        unused(action, &mut add);
        for phrase in &offer.phrases {
            for piece in pieces(phrase) {
                if let Piece::Parameter(used) = piece
                    && !offer.parameters.contains_key(used)
                {
                    let message = format!("a phrase names '{used}', which is no parameter");
                    add(&["tool", "phrases"], message, "add it to the parameters of the tool, or leave it out");
                }
            }
        }
        command(action, &mut add);
    }
    needed_arguments(recipe, findings);
}

/// A parameter that stands nowhere is a slip.
fn unused(action: &Action, add: &mut impl FnMut(&[&str], String, &str)) {
    let Some(offer) = &action.tool else { return };
    let texts = places(&action.kind);
    for parameter in offer.parameters.keys() {
        let is_used = texts.iter().any(|(.., text)| pieces(text).contains(&Piece::Parameter(parameter)));
        if !is_used {
            let message = format!("the parameter '{parameter}' is used nowhere");
            let fix = format!("write {{{parameter}}} where its value belongs");
            add(&["tool", "parameters", parameter], message, &fix);
        }
    }
}

/// A value must stay a value: it never chooses an option, and no shell reads it.
fn command(action: &Action, add: &mut impl FnMut(&[&str], String, &str)) {
    let (ActionKind::Command(command), Some(offer)) = (&action.kind, &action.tool) else { return };
    if offer.parameters.is_empty() {
        return;
    }
    let may_be_anything = |name: &str| offer.parameters.get(name).is_none_or(crate::Parameter::may_be_any_text);
    for Script { argument, because } in scripts::with_texts(command, may_be_anything) {
        let message = match because {
            Because::WrittenWith(character) => {
                format!(
                    "in \"{argument}\", a text that may be anything stands beside {character:?}, as commands are written"
                )
            }
            Because::Follows(option) => {
                format!("a text that may be anything is handed over as commands: \"{argument}\" follows {option}")
            }
            Because::ReadBy(program) => format!("{program} would read the text in \"{argument}\" as commands"),
        };
        add(
            &["command", "arguments"],
            message,
            "write a script, a file that can be run; name it as the program, and give it the text as an argument of its own, \
             which it reads as \"$1\". Or list what the text may be, as its enum",
        );
    }
    for argument in &command.arguments {
        if let [Piece::Text(text), Piece::Parameter(_), ..] = pieces(argument).as_slice()
            && text.chars().all(|next| next == '-')
        {
            add(
                &["command", "arguments"],
                format!("the value in \"{argument}\" would choose an option"),
                "write the option out, and give the value as an argument of its own or after an equals sign",
            );
        }
    }
}

fn bounds(parameter: &Parameter) -> Option<(&'static str, String, &'static str)> {
    let number = |bound: &Option<serde_json::Number>| bound.as_ref().and_then(serde_json::Number::as_f64);
    if let (Some(least), Some(most)) = (number(&parameter.minimum), number(&parameter.maximum))
        && least > most
    {
        return Some(("minimum", format!("no number is above {least} and below {most}"), "swap the bounds"));
    }
    if let Some(choice) = parameter.choices.iter().find(|choice| !parameter.takes(choice)) {
        return Some((
            "enum",
            format!("{choice} does not fit the parameter"),
            "write values of its type, in its bounds",
        ));
    }
    let default = parameter.default.as_ref().filter(|default| !parameter.takes(default))?;
    Some(("default", format!("{default} does not fit the parameter"), "write a value that it could be given"))
}

/// A fallback can't be told anything.
fn needed_arguments(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for (name, component) in &recipe.components {
        for (ladder, rungs) in component.fallbacks.named() {
            for (index, rung) in rungs.iter().enumerate() {
                if let Some(needed) = needed(recipe, &rung.action) {
                    findings.push(Finding::new(
                        ["components".into(), name.as_str().into(), "fallbacks".into(), ladder.into(), index.into()],
                        format!("'{}' needs the argument '{needed}', which a fallback can't give", rung.action),
                        "give that parameter a default, or use another action",
                    ));
                }
            }
        }
    }
}

/// The first argument that an action can't do without.
fn needed<'a>(recipe: &'a Recipe, action: &ActionName) -> Option<&'a str> {
    let offer = recipe.actions.get(action)?.tool.as_ref()?;
    offer.parameters.iter().find(|(_, parameter)| parameter.default.is_none()).map(|(name, _)| name.as_str())
}
