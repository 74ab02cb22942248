//! A question, with exactly what would run.

use cortex_protocol::Effect;
use cortex_protocol::question::{CallSubject, Subject};
use ratatui::style::{Modifier, Style};

use super::row::{Ink, Row, short_time};
use crate::model::{QuestionView, Tone, millis};
use crate::text::{chop, exact_json, one_line, wrap};

/// A question in three parts, of which the middle one can be scrolled.
pub(super) struct QuestionRows {
    pub(super) title: Row,
    pub(super) body: Vec<Row>,
    pub(super) keys: Row,
}

/// Puts a question into rows. `place`: which of how many it is.
pub(super) fn rows(
    question: &QuestionView,
    place: (usize, usize),
    now: std::time::Duration,
    ink: Ink,
    columns: usize,
) -> QuestionRows {
    let left = short_time(millis(question.until.saturating_sub(now)));
    let loud = ink.loud(Tone::Warning);
    let which = if place.1 > 1 { format!(" {} of {} (Tab: next)", place.0, place.1) } else { String::new() };
    let title = Row::default().own(loud, &format!(" QUESTION{which} · {left} left ")).filled(columns);
    let mut body = Vec::new();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let inner = columns.saturating_sub(2);
    body.extend(wrap(&one_line(&question.open.question.text), inner).iter().map(|line| indented(bold, line)));
    let (keys, default) = match &question.open.question.subject {
        Subject::Call { call, .. } => {
            body.extend(call_rows(call, ink, inner));
            (" y once · m for this mission · n deny", "no answer: denied")
        }
        Subject::Plan { steps, .. } => {
            body.extend(steps.iter().flat_map(|call| call_rows(call, ink, inner)));
            (" y all of it, once · m for this mission · n deny", "no answer: denied")
        }
        Subject::Choice { choices, default } => {
            for (choice, number) in choices.iter().zip(1..) {
                let is_default = default.as_ref() == Some(choice);
                let text =
                    format!("{number}  {}{}", one_line(choice), if is_default { "  (no answer: this)" } else { "" });
                body.extend(wrap(&text, inner).iter().map(|line| indented(Style::new(), line)));
            }
            (" choose by number", if default.is_some() { "" } else { "no answer: none" })
        }
    };
    let keys = Row::default().own(bold, keys);
    let keys = if default.is_empty() { keys } else { keys.own(ink.of(Tone::Quiet), &format!(" · {default}")) };
    QuestionRows { title, body, keys }
}

fn indented(style: Style, text: &str) -> Row {
    Row::default().space(2).own(style, text)
}

fn call_rows(call: &CallSubject, ink: Ink, columns: usize) -> Vec<Row> {
    let bold = ink.of(Tone::Person).add_modifier(Modifier::BOLD);
    // To the letter, whatever is in it.
    let tool = exact_json(&call.tool);
    let runs = format!("step {}: {} {}", call.step, tool.trim_matches('"'), exact_json(&call.arguments));
    let mut rows: Vec<Row> = chop(&runs, columns).iter().map(|line| indented(bold, line)).collect();
    let effect = match call.effect {
        Effect::Observe => "only looks",
        Effect::Act => "acts",
        Effect::Move => "MOVES, or may move",
    };
    let holds: Vec<String> = call.resources.iter().map(|resource| one_line(resource.as_str())).collect();
    let holds = if holds.is_empty() { "nothing".to_owned() } else { holds.join(", ") };
    let facts = format!("it {effect} · holds {holds} · version {:016x}", call.fingerprint.0);
    rows.extend(wrap(&facts, columns).iter().map(|line| indented(Style::new(), line)));
    for because in &call.because {
        let why = format!("why: {}", one_line(because));
        rows.extend(wrap(&why, columns).iter().map(|line| indented(ink.of(Tone::Warning), line)));
    }
    rows
}
