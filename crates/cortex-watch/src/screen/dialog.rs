//! The rows at the bottom: what the person was told, what is typed or to be confirmed, and the keys. And the help.

use std::time::Duration;

use ratatui::style::{Modifier, Style};

use super::row::{Ink, Row};
use crate::keys::{Confirmation, Mode, Purpose, Ui};
use crate::line_edit::LineEdit;
use crate::model::{Model, Tone};
use crate::text::{one_line, width, wrap};
use unicode_segmentation::UnicodeSegmentation as _;

/// Rows of what the person was told.
const NOTICE_ROWS: usize = 3;
/// What keys do. The first ones are what somebody in a hurry needs.
const KEYS: [(&str, &str); 19] = [
    ("S, !", "STOP the robot, at once. No key locks it."),
    ("Ctrl-S", "the same, also while you type"),
    ("q, Ctrl-C", "leave the view. No stop: the robot goes on."),
    ("r", "resume after a stop; asks once more"),
    ("p", "pause the missions; again: let them go on"),
    ("t", "type a task"),
    ("e", "revise the task that runs"),
    ("c", "cancel the mission that runs; asks once more"),
    ("i", "save an incident of the mission, in this folder: tape, log, topics"),
    ("y", "say yes to a question, for this once"),
    ("m", "say yes for as long as this mission runs"),
    ("n", "say no; you may say why"),
    ("1-9", "choose, where a question has choices"),
    ("Tab", "the next question"),
    ("↑ ↓", "scroll a long question, or the events"),
    ("PgUp PgDn", "scroll the events"),
    ("Home End", "the first event, the latest event"),
    ("Ctrl-L", "draw the screen anew"),
    ("Esc", "leave a line or a question of this view"),
];

pub(super) fn help(ink: Ink) -> Vec<Row> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut rows = vec![Row::default().own(ink.of(Tone::Person), " Keys. Any key leaves this list.")];
    rows.extend(
        KEYS.iter().map(|(key, does)| Row::default().own(bold, &format!(" {key:<10} ")).own(Style::new(), does)),
    );
    rows
}

pub(super) fn bottom(model: &Model, ui: &Ui, now: Duration, ink: Ink, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(notice) = model.notice() {
        let lines = wrap(&one_line(&notice.text), columns.saturating_sub(2));
        let rest = lines.iter().take(NOTICE_ROWS);
        rows.extend(rest.map(|line| Row::default().own(ink.of(notice.tone), " ").own(ink.of(notice.tone), line)));
    }
    match &ui.mode {
        Mode::View | Mode::Help => keys(model, now, ink, columns, &mut rows),
        Mode::Typing(purpose, line, _) => typing(purpose, line, ink, columns, &mut rows),
        Mode::Confirming(what, _) => confirming(what, model, ink, columns, &mut rows),
    }
    rows
}

fn keys(model: &Model, now: Duration, ink: Ink, columns: usize, rows: &mut Vec<Row>) {
    let stop = Row::default().own(ink.loud(Tone::Bad), " S STOP ");
    let others = match model.frozen(now) {
        Some(_) => "  the other keys that act are locked · ? help",
        None if columns >= 58 => "  t task · e revise · c cancel · r resume · ? help",
        None => "  t task · e revise · ? help",
    };
    rows.push(stop.own(Style::new(), others));
    let leave = if columns >= 62 {
        " q or Ctrl-C leaves this view; the robot goes on (no stop)"
    } else {
        " q, Ctrl-C: leave the view; the robot goes on"
    };
    rows.push(Row::default().own(ink.of(Tone::Quiet), leave));
}

fn typing(purpose: &Purpose, line: &LineEdit, ink: Ink, columns: usize, rows: &mut Vec<Row>) {
    let asked = match purpose {
        Purpose::Task => "Task:",
        Purpose::Revision(_) => "Revise the task (what moves is halted, and it plans anew):",
        Purpose::Denial(_) => "No, because (may be empty; the model reads it):",
        Purpose::Choice(_) => "The number of your choice:",
    };
    rows.push(Row::default().own(ink.of(Tone::Person), &format!(" {asked}")));
    let (before, behind) = line.parts();
    let room = columns.saturating_sub(4);
    let shown = last_columns(before, room);
    let mut behind = behind.graphemes(true);
    let cursor = Style::new().add_modifier(Modifier::REVERSED);
    let row = Row::default().own(ink.of(Tone::Person), " > ").own(Style::new(), &shown);
    let row = row.own(cursor, behind.next().unwrap_or(" "));
    rows.push(row.own(Style::new(), behind.as_str()));
    let keys = if columns >= 70 {
        " Enter sends · Esc leaves · Ctrl-S STOPS the robot"
    } else {
        " Enter · Esc · Ctrl-S STOPS the robot"
    };
    rows.push(Row::default().own(Style::new(), keys));
}

/// The end of the text that fits into so many columns.
fn last_columns(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |letters: &&str| {
        used += width(letters);
        used <= columns
    };
    let shown: Vec<&str> = text.graphemes(true).rev().take_while(fits).collect();
    shown.into_iter().rev().collect()
}

fn confirming(what: &Confirmation, model: &Model, ink: Ink, columns: usize, rows: &mut Vec<Row>) {
    let text = match what {
        Confirmation::Cancel(id) => {
            let missions = model.overview().map_or(&[][..], |overview| &overview.missions);
            let task = missions.iter().find(|mission| mission.id == *id).map_or("", |mission| mission.task.as_str());
            format!("Cancel this mission? What it moves is halted. Task: {}", one_line(task))
        }
        Confirmation::Unpause => {
            let because = model.overview().map_or("", |overview| overview.control.because.as_str());
            format!(
                "Let the missions go on? They plan anew, and may move at once. Look first whether nobody is near. Now: {}",
                one_line(because)
            )
        }
        Confirmation::Resume => {
            let stop = model.overview().map(|overview| &overview.stop);
            let why = stop.map_or("", |stop| stop.why.as_str());
            format!("Take tasks again? Look first whether nobody is near the robot. It was stopped: {}", one_line(why))
        }
    };
    let lines = wrap(&text, columns.saturating_sub(2));
    rows.extend(
        lines.iter().take(NOTICE_ROWS).map(|line| Row::default().own(ink.loud(Tone::Warning), &format!(" {line} "))),
    );
    rows.push(Row::default().own(Style::new(), " y yes · any other key no · S STOP"));
}
