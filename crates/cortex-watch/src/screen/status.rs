//! What holds for the robot as a whole: the rows at the top, its components, its budgets.

use std::time::Duration;

use cortex_protocol::mission::Expense;
use cortex_protocol::overview::{BudgetOverview, ComponentHealth, ReadinessState};
use cortex_protocol::{Role, ToolName};
use ratatui::style::{Modifier, Style};

use super::row::{Ink, Row, bar, short_time};
use crate::model::{Model, StopState, Tone, millis};
use crate::text::{one_line, wrap};

/// Rows of a reason at the top.
const REASON_ROWS: usize = 2;
/// Components that are listed by name.
const COMPONENTS: usize = 4;

pub(super) fn top(model: &Model, now: Duration, ink: Ink, columns: usize) -> Vec<Row> {
    let mut rows = vec![header(model, now, ink, columns)];
    frozen(model, now, ink, columns, &mut rows);
    stop(model, now, ink, columns, &mut rows);
    let Some(overview) = model.overview() else { return rows };
    let readiness = &overview.readiness;
    if !readiness.because.is_empty() && !overview.stop.stopped {
        let because = wrap(&one_line(&readiness.because), columns.saturating_sub(2));
        rows.extend(
            because.iter().take(REASON_ROWS).map(|line| Row::default().space(1).own(ink.of(Tone::Warning), line)),
        );
    }
    if let Some(paused) = &overview.paused {
        rows.push(Row::new(ink.of(Tone::Warning), "missions are paused:").space(1).text(ink.of(Tone::Warning), paused));
    }
    for unsettled in &overview.unsettled {
        let age = short_time(model.robot_ms(now).saturating_sub(unsettled.since_ms));
        let row = Row::default().own(ink.of(Tone::Bad), " not known to be at rest: ");
        let row = row.text(ink.of(Tone::Bad), unsettled.tool.as_str()).own(ink.of(Tone::Bad), &format!(" {age} · "));
        rows.push(row.text(ink.of(Tone::Bad), &unsettled.why));
    }
    rows
}

fn header(model: &Model, now: Duration, ink: Ink, columns: usize) -> Row {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let overview = model.overview();
    let mut row = Row::default().space(1).text(bold, overview.map_or("Cortex", |overview| overview.robot.as_str()));
    if let Some(overview) = overview {
        let (state, tone) = match overview.readiness.state {
            _ if overview.stop.stopped => ("STOPPED", Tone::Bad),
            ReadinessState::Ready => ("takes tasks", Tone::Good),
            ReadinessState::Limited => ("takes tasks, with limits", Tone::Warning),
            ReadinessState::Waiting => ("tasks wait", Tone::Warning),
            ReadinessState::Refusing => ("takes no tasks", Tone::Bad),
            ReadinessState::Unknown => ("", Tone::Plain),
        };
        row = row.own(Style::new(), " · ").own(ink.of(tone), state);
        if let Some(lifecycle) = overview.inactive() {
            row = row.own(Style::new(), " · ").text(ink.of(Tone::Warning), lifecycle);
        }
    }
    let (live, tone) = if model.frozen(now).is_none() { ("live", Tone::Good) } else { ("NOT LIVE", Tone::Bad) };
    let role = match model.you().map(|you| you.role) {
        Some(Role::Watch) => "you may watch and stop · ",
        Some(Role::Operate) => "you operate · ",
        Some(Role::Administer) => "you administer · ",
        None => "",
    };
    let right = Row::default().own(ink.of(Tone::Quiet), role).own(ink.of(tone), live).space(1);
    let gap = columns.saturating_sub(row.width() + right.width());
    if gap == 0 { row.space(1).then(Row::default().own(ink.of(tone), live)) } else { row.space(gap).then(right) }
}

fn frozen(model: &Model, now: Duration, ink: Ink, columns: usize, rows: &mut Vec<Row>) {
    let Some(silence) = model.frozen(now) else { return };
    let since = short_time(millis(silence));
    let text = match (model.lost(), model.overview()) {
        (_, None) => " Waiting for the first picture of the robot.".to_owned(),
        (Some(_), _) => format!(" NO CONNECTION: what you see is {since} old. S still stops."),
        (None, _) => format!(" FROZEN: no news from the robot for {since}. S still stops."),
    };
    rows.push(Row::default().own(ink.loud(Tone::Bad), &text).filled(columns));
    if let Some(lost) = model.lost() {
        let lines = wrap(&one_line(lost), columns.saturating_sub(2));
        rows.extend(lines.iter().take(REASON_ROWS).map(|line| Row::default().space(1).own(ink.of(Tone::Bad), line)));
    }
}

fn stop(model: &Model, now: Duration, ink: Ink, columns: usize, rows: &mut Vec<Row>) {
    let loud = ink.loud(Tone::Bad);
    let overview = model.overview().map(|overview| &overview.stop).filter(|stop| stop.stopped);
    let mut not_stopped: Vec<&ToolName> = overview.map(|stop| stop.not_stopped.iter().collect()).unwrap_or_default();
    let text = match model.stop() {
        StopState::Sent { at, is_stopped, .. } => {
            let since = short_time(millis(now.saturating_sub(*at)));
            let news = if *is_stopped { "the robot is halting" } else { "no answer yet" };
            Some(format!(" STOP was sent {since} ago: {news}"))
        }
        StopState::Done(outcome) => {
            not_stopped = outcome.not_stopped.iter().collect();
            Some(format!(" STOPPED. {outcome} r: resume"))
        }
        StopState::Failed(reason) => Some(format!(" STOP FAILED: {}", one_line(reason))),
        StopState::None => overview.map(|stop| format!(" STOPPED: {} r: resume", one_line(&stop.why))),
    };
    let Some(text) = text else { return };
    for line in wrap(&text, columns.saturating_sub(1)).iter().take(REASON_ROWS + 1) {
        rows.push(Row::default().own(loud, &format!(" {}", line.trim_start())).filled(columns));
    }
    if !not_stopped.is_empty() {
        let names: Vec<String> = not_stopped.iter().map(|tool| one_line(tool.as_str())).collect();
        let text = format!("NOT STOPPED, may still move: {}", names.join(", "));
        let lines = wrap(&text, columns.saturating_sub(1));
        rows.extend(lines.iter().map(|line| Row::default().own(loud, &format!(" {line}")).filled(columns)));
    } else if matches!(model.stop(), StopState::Done(_)) {
        rows.push(Row::default().own(ink.of(Tone::Good), " All that moved has confirmed that it is at rest."));
    }
}

/// The components that do not work, the worst first.
pub(super) fn components(model: &Model, ink: Ink, columns: usize) -> Vec<Row> {
    let Some(overview) = model.overview() else { return Vec::new() };
    let is_bad = |health| !matches!(health, ComponentHealth::Healthy | ComponentHealth::Unknown);
    let calm = ["up", "ready", ""];
    let mut bad: Vec<_> = overview.components.iter().collect();
    bad.retain(|component| is_bad(component.health) || !calm.contains(&component.standing.as_str()));
    bad.sort_by_key(|component| std::cmp::Reverse(component.health));
    let total = bad.len();
    let mut rows: Vec<Row> = Vec::new();
    for component in bad.into_iter().take(COMPONENTS) {
        let tone = if component.health >= ComponentHealth::Failed { Tone::Bad } else { Tone::Warning };
        let row = Row::default().own(ink.of(tone), " ! ").text(Style::new(), component.name.as_str());
        let row = row.space(1).own(ink.of(tone), &component.health.to_string());
        let row = row.own(ink.of(Tone::Quiet), ", ").text(ink.of(Tone::Quiet), &component.standing);
        let symptom = component.symptoms.first().map_or("", String::as_str);
        let row = if symptom.is_empty() { row } else { row.own(Style::new(), ": ").text(Style::new(), symptom) };
        rows.push(row);
    }
    if total > COMPONENTS {
        rows.push(Row::default().own(ink.of(Tone::Warning), &format!(" ! and {} more", total - COMPONENTS)));
    }
    if rows.is_empty() && columns >= 80 && !overview.components.is_empty() {
        let text = match overview.components.len() {
            1 => " its one component is well".to_owned(),
            count => format!(" all {count} components are well"),
        };
        rows.push(Row::default().own(ink.of(Tone::Quiet), &text));
    }
    rows
}

/// What the mission has spent of what it may, as bars.
pub(super) fn budgets(model: &Model, ink: Ink, columns: usize) -> Vec<Row> {
    let budgets = model.overview().map_or(&[][..], |overview| &overview.budget);
    let limited = budgets.iter().filter_map(|budget| Some((budget, budget.limit.filter(|limit| *limit > 0.0)?)));
    let one = |(budget, limit): (&BudgetOverview, f64)| {
        let share = budget.used / limit;
        let tone = match share {
            share if share >= 1.0 => Tone::Bad,
            share if share >= 0.8 => Tone::Warning,
            _ => Tone::Good,
        };
        let row = Row::default().own(Style::new(), &format!(" {:<8} ", name(budget.expense)));
        row.own(ink.of(tone), &bar(8, share)).own(Style::new(), &format!(" {}/{}", figure(budget.used), figure(limit)))
    };
    // Several stand beside each other where there is room.
    let mut rows: Vec<Row> = Vec::new();
    for budget in limited.map(one) {
        match rows.last_mut() {
            Some(last) if last.width() + 2 + budget.width() <= columns => {
                *last = std::mem::take(last).space(2).then(budget);
            }
            _ => rows.push(budget),
        }
    }
    rows
}

fn name(expense: Expense) -> &'static str {
    match expense {
        Expense::ModelCalls => "requests",
        Expense::Tokens => "tokens",
        Expense::Money => "money",
        Expense::Seconds => "seconds",
        Expense::Metres => "metres",
        Expense::WattHours => "Wh",
    }
}

fn figure(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
