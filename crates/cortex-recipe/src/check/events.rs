//! The events of the recipe.

use cortex_protocol::Condition;
use cortex_protocol::condition::{Source, Test};

use super::actions::is_word;
use super::{Finding, Key, ladders, meant_action, meant_component, tools};
use crate::binding::bind;
use crate::event::{MAX_AT_MOST, MAX_EVENT_ACTIONS, MAX_EVENTS};
use crate::{BuiltIn, Event, EventAction, EventName, Recipe, Rung};

/// Longest text of a task or of what is told, in bytes.
const MAX_TEXT: usize = 2_000;

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    if recipe.events.len() > MAX_EVENTS {
        let message = format!("{} events are too many", recipe.events.len());
        findings.push(Finding::new(["events".into()], message, format!("write at most {MAX_EVENTS}")));
    }
    for (name, event) in &recipe.events {
        let path = |keys: &[Key]| -> Vec<Key> {
            [Key::from("events"), Key::from(name.as_str())].into_iter().chain(keys.iter().cloned()).collect()
        };
        let mut add = |keys: &[Key], message: String, fix: String| {
            findings.push(Finding { path: path(keys), message, fix });
        };
        form(name, event, &mut add);
        condition("when", &event.when, &mut add);
        if let Some(until) = &event.until {
            condition("until", until, &mut add);
            if changes(until) {
                add(
                    &["until".into()],
                    "'until' asks for a change, and nobody knows since when".into(),
                    "say what must hold instead".into(),
                );
            }
        }
        if event.actions.is_empty() {
            add(&["do".into()], "nothing is done".into(), "write do = [{ tell = \"...\" }], for example".into());
        }
        for (key, count) in [("do", event.actions.len()), ("on_failure", event.on_failure.len())] {
            if count > MAX_EVENT_ACTIONS {
                let message = format!("{count} things are too many for one event");
                add(&[key.into()], message, format!("write at most {MAX_EVENT_ACTIONS}; a task can do more"));
            }
        }
        for (key, index, action) in event.all_actions() {
            if let Some((message, fix)) = wrong(recipe, action) {
                add(&[key.into(), index.into()], message, fix);
            }
        }
    }
}

fn form(name: &EventName, event: &Event, add: &mut impl FnMut(&[Key], String, String)) {
    if !is_word(name.as_str()) {
        let fix = "write 1 to 64 letters, digits and underscores, the first not a digit";
        add(&[], format!("'{name}' can't be the name of an event"), fix.into());
    }
    if !(1..=MAX_AT_MOST).contains(&event.at_most) {
        let fix = format!("write how often it may happen within every_s, from 1 to {MAX_AT_MOST}");
        add(&["at_most".into()], format!("at_most is {}", event.at_most), fix);
    }
    let beside =
        |key: &str, other: &str, why: &str| (format!("'{key}' has no meaning beside '{other}'"), why.to_owned());
    if event.silent_s.is_some() {
        if event.until.is_some() {
            let (message, fix) = beside("until", "silent_s", "it is ready again when what was silent is heard");
            add(&["until".into()], message, fix);
        }
        if event.max_age_s.is_some() {
            let (message, fix) = beside("max_age_s", "silent_s", "silent_s says how old what was heard may be");
            add(&["max_age_s".into()], message, fix);
        }
        if changes(&event.when) {
            add(
                &["when".into()],
                "'silent_s' is about what is not heard, and 'when' asks for a change".into(),
                "leave the comparison out".into(),
            );
        }
    }
    if event.once {
        for (key, is_there) in [("until", event.until.is_some()), ("again_s", event.again_s.is_some())] {
            if is_there {
                let (message, fix) = beside(key, "once", "it never happens again; take one of them out");
                add(&[key.into()], message, fix);
            }
        }
    }
}

fn condition(key: &'static str, condition: &Condition, add: &mut impl FnMut(&[Key], String, String)) {
    if let Some(argument) = condition.arguments().first() {
        let fix = format!("write the value; the text itself is {{{{{argument}}}}}");
        add(&[key.into()], format!("an event has no argument '{argument}'"), fix);
    }
    for check in condition.checks() {
        if !check.source.is_absolute() {
            let (Source::Topic { topic: name, .. } | Source::Parameter { parameter: name }) = &check.source else {
                continue;
            };
            add(&[key.into()], format!("'{name}' is not a full name"), format!("begin it with a slash: \"/{name}\""));
        }
    }
}

fn changes(condition: &Condition) -> bool {
    condition.checks().iter().any(|check| check.test == Test::Change)
}

/// What is wrong with something that an event does, and how to fix it.
fn wrong(recipe: &Recipe, action: &EventAction) -> Option<(String, String)> {
    match action {
        EventAction::Tool { tool, arguments } => tools::wrong(recipe, tool, arguments),
        EventAction::Task { task: text, .. } | EventAction::Tell { text } => {
            if text.trim().is_empty() {
                return Some(("the text is empty".into(), "say it in plain language".into()));
            }
            (text.len() > MAX_TEXT)
                .then(|| (format!("the text has {} bytes", text.len()), format!("write at most {MAX_TEXT}")))
        }
        EventAction::Action { action, arguments, component } => {
            if let Some(component) = component
                && !recipe.components.contains_key(component)
            {
                return Some((format!("there is no component '{component}'"), meant_component(recipe, component)));
            }
            if let Some(own) = recipe.actions.get(action) {
                return bind(own, arguments)
                    .err()
                    .map(|problem| (format!("'{action}' can't be done so: {problem}"), "fix `arguments`".to_owned()));
            }
            let Some(built_in) = BuiltIn::named(action) else {
                return Some((format!("there is no action '{action}'"), meant_action(recipe, action)));
            };
            if matches!(built_in, BuiltIn::Standby | BuiltIn::PauseMissions) {
                let fix = "write it into a ladder of [components.NAME.fallbacks]";
                return Some((format!("'{action}' is for what fails, until it works again"), fix.to_owned()));
            }
            match component {
                None if built_in == BuiltIn::NotifyOperator => None,
                None => Some((
                    format!("'{action}' is for a component, and none is named"),
                    "add component = \"NAME\"".to_owned(),
                )),
                Some(name) => ladders::action(recipe, name, recipe.components.get(name)?, &Rung::once(built_in)),
            }
        }
    }
}
