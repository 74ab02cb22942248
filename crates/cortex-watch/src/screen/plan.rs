//! The mission, and its plan as a tree.

use cortex_protocol::overview::{MissionOverview, MissionPhase};
use cortex_protocol::plan::{Group, Step};
use cortex_protocol::{MissionStatus, StepStatus};
use ratatui::style::{Modifier, Style};

use super::row::{Ink, Row, bar, short_time};
use super::tree::depths;
use crate::model::{MissionView, Model, StepView, Tone, fraction, millis};
use crate::text::{cut, exact_json, width, wrap};

/// Columns of a bar of progress.
const BAR: usize = 12;
/// Rows of a task, and of what a mission says at its end.
const TASK_ROWS: usize = 2;
const OUTPUT_ROWS: usize = 4;

/// Rows, and which of them should be seen.
#[derive(Default)]
pub(super) struct PlanRows {
    pub(super) rows: Vec<Row>,
    pub(super) running: usize,
}

/// What the mission is for and where it stands.
pub(super) fn mission(
    view: Option<&MissionView>,
    overview: Option<&MissionOverview>,
    robot_ms: u64,
    ink: Ink,
    columns: usize,
) -> Vec<Row> {
    let task = view.map(|view| view.task.as_str()).filter(|task| !task.is_empty());
    let task = task.or(overview.map(|overview| overview.task.as_str())).unwrap_or("(its task is not known)");
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut rows = Vec::new();
    let clean = crate::text::one_line(task);
    let lines = wrap(&clean, columns.saturating_sub(6));
    let is_cut = lines.len() > TASK_ROWS;
    for (at, line) in lines.iter().take(TASK_ROWS).enumerate() {
        let more = if is_cut && at + 1 == TASK_ROWS { " …" } else { "" };
        rows.push(Row::default().own(bold, if at == 0 { "task  " } else { "      " }).own(bold, line).own(bold, more));
    }
    if let Some(revision) = view.and_then(|view| view.revisions.last()) {
        rows.push(Row::new(ink.of(Tone::Person), "revised").space(1).text(ink.of(Tone::Person), revision));
    }
    let of_events = view.map(|view| view.plan_number).filter(|plan| *plan > 0);
    let plan = of_events.or(overview.map(|overview| overview.plan)).unwrap_or_default();
    let (state, tone) = state(view, overview);
    let mut row = Row::default().space(6).text(ink.of(tone), &state);
    if plan > 0 {
        row = row.own(Style::new(), &format!(" · plan {plan}"));
    }
    let since = view.and_then(|view| view.accepted_ms).or(overview.map(|overview| overview.since_ms));
    let ended = overview.and_then(|overview| overview.ended_ms);
    let ran = view.and_then(|view| view.result.as_ref()).map(|result| millis(result.duration));
    let until = || ended.unwrap_or(robot_ms);
    if let Some(age) = ran.or_else(|| since.map(|since| until().saturating_sub(since))) {
        row = row.own(Style::new(), &format!(" · {}", short_time(age)));
    }
    let waits = view.and_then(|view| view.waits.as_deref());
    if let Some(waits) = waits {
        row = row.own(Style::new(), " · ").text(ink.of(Tone::Warning), waits);
    }
    let research = view.and_then(|view| view.research.as_ref());
    if let Some(research) = research {
        let age = short_time(robot_ms.saturating_sub(research.since_ms));
        row = row.own(Style::new(), &format!(" · asks {} {age}", crate::text::one_line(research.tool.as_str())));
    }
    rows.push(row);
    let output = view.and_then(|view| view.result.as_ref()).map(|result| result.output.as_str());
    if let Some(output) =
        output.or(overview.map(|overview| overview.output.as_str()).filter(|output| !output.is_empty()))
    {
        let lines = wrap(&crate::text::one_line(output), columns.saturating_sub(6));
        rows.extend(lines.iter().take(OUTPUT_ROWS).map(|line| Row::default().space(6).own(ink.of(tone), line)));
    }
    if let Some(result) = view.and_then(|view| view.result.as_ref()).filter(|result| !result.not_stopped.is_empty()) {
        let row = Row::new(ink.loud(Tone::Bad), "MAY STILL MOVE:");
        rows.push(result.not_stopped.iter().fold(row, |row, tool| row.space(1).text(ink.of(Tone::Bad), tool.as_str())));
    }
    rows
}

fn state(view: Option<&MissionView>, overview: Option<&MissionOverview>) -> (String, Tone) {
    let ended = view.and_then(|view| view.result.as_ref()).map(|result| (result.status, result.is_success()));
    let of_overview = overview.and_then(|overview| match overview.phase {
        MissionPhase::Ended(status) => {
            let is_success = matches!(status, MissionStatus::Succeeded | MissionStatus::Answered);
            Some((status, is_success && !overview.words_alone))
        }
        _ => None,
    });
    if let Some((status, is_success)) = ended.or(of_overview) {
        let tone = if is_success { Tone::Good } else { Tone::Bad };
        let note = if status == MissionStatus::Answered && !is_success { ": words alone" } else { "" };
        return (format!("{status}{note}"), tone);
    }
    let state = match overview.map(|overview| overview.phase) {
        Some(MissionPhase::Queued) => "queued",
        Some(MissionPhase::Planning) => "planning",
        Some(MissionPhase::Acting) => "acting",
        Some(MissionPhase::Waiting) => "waiting",
        Some(MissionPhase::Stopping) => "stopping",
        Some(MissionPhase::Ended(_)) | None => "under way",
    };
    (state.to_owned(), Tone::Person)
}

/// The plan.
pub(super) fn rows(model: &Model, robot_ms: u64, ink: Ink, columns: usize) -> PlanRows {
    match model.mission() {
        Some((Some(view), _)) if !view.plan.steps.is_empty() => from_events(view, robot_ms, ink, columns),
        Some((_, Some(overview))) => from_overview(overview, ink),
        _ => PlanRows::default(),
    }
}

fn from_events(view: &MissionView, robot_ms: u64, ink: Ink, columns: usize) -> PlanRows {
    let (mut all, mut seen) = (PlanRows::default(), None);
    let (mut before, mut group): (Option<&Step>, Option<&Group>) = (None, None);
    let unknown = StepView::default();
    for (step, depth) in view.plan.steps.iter().zip(depths(&view.plan)) {
        let of_step = view.plan.group_of(step.number);
        if let Some(begins) = of_step.filter(|begins| group.is_none_or(|group| group.name != begins.name)) {
            let text = format!("{} ({} at a time)", crate::text::one_line(&begins.name), begins.at_once);
            all.rows
                .push(Row::default().space(depth * 2).own(ink.of(Tone::Quiet), "┬ ").own(ink.of(Tone::Quiet), &text));
        }
        group = of_step;
        let state = view.steps.get(&step.number).unwrap_or(&unknown);
        // The last one that runs, or else the first one that is to come.
        if state.status == StepStatus::Running || (seen.is_none() && !state.status.is_terminal()) {
            seen = Some(all.rows.len());
        }
        all.rows.push(one_step(step, state, before, depth, robot_ms, ink, columns));
        before = Some(step);
    }
    all.running = seen.unwrap_or(all.rows.len());
    all
}

fn one_step(
    step: &Step,
    state: &StepView,
    before: Option<&Step>,
    depth: usize,
    robot_ms: u64,
    ink: Ink,
    columns: usize,
) -> Row {
    let (symbol, tone) = symbol(state.status);
    let name =
        if state.status == StepStatus::Running { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    let head = Row::default().space(2 + depth * 2).own(ink.of(tone), symbol);
    let head = head.own(name, &format!(" {} ", step.number)).text(name, step.call.tool.as_str());
    let mut tail = Row::default();
    // What it waits for is plain where it follows that, or stands beside what waits for the same.
    let is_next_of = |before: &Step| step.after == [before.number] || step.after == before.after;
    if !step.after.is_empty() && !before.is_some_and(is_next_of) {
        let after: Vec<String> = step.after.iter().map(ToString::to_string).collect();
        tail = tail.own(ink.of(Tone::Quiet), &format!(" after {}", after.join(",")));
    }
    let tail = tail.then(running(state, robot_ms, ink)).then(ended(state, ink));
    let left = columns.saturating_sub(head.width() + tail.width().min(columns / 2) + 1);
    let arguments = if step.call.arguments.is_empty() { String::new() } else { exact_json(&step.call.arguments) };
    let head = if left > 4 && !arguments.is_empty() {
        head.space(1).own(ink.of(Tone::Quiet), &cut(&arguments, left.min(width(&arguments))))
    } else {
        head
    };
    head.then(tail)
}

fn running(state: &StepView, robot_ms: u64, ink: Ink) -> Row {
    if state.status != StepStatus::Running {
        return Row::default();
    }
    let age = state.started_ms.map(|started| short_time(robot_ms.saturating_sub(started))).unwrap_or_default();
    let mut row = Row::default().own(Style::new(), &format!(" {age} "));
    if let Some(stalled) = state.stalled_since_ms {
        let text = format!("STALLED: no news for {} ", short_time(robot_ms.saturating_sub(stalled)));
        row = row.own(ink.loud(Tone::Warning), &text);
    }
    if let Some(share) = fraction(&state.feedback) {
        row = row.own(ink.of(Tone::Good), &bar(BAR, share)).space(1);
    }
    row.text(Style::new(), &state.feedback)
}

fn ended(state: &StepView, ink: Ink) -> Row {
    let mut row = Row::default();
    if let Some(ran) = state.ran {
        row = row.own(ink.of(Tone::Quiet), &format!(" {:.1} s", ran.as_secs_f64()));
    }
    if !state.note.is_empty() {
        let tone = if state.status == StepStatus::Failed { Tone::Bad } else { Tone::Quiet };
        row = row.own(ink.of(tone), " · ").text(ink.of(tone), &state.note);
    }
    row
}

fn symbol(status: StepStatus) -> (&'static str, Tone) {
    match status {
        StepStatus::Pending => ("○", Tone::Quiet),
        StepStatus::Running => ("►", Tone::Person),
        StepStatus::Success => ("✓", Tone::Good),
        StepStatus::Failed => ("✗", Tone::Bad),
        StepStatus::Blocked => ("⊘", Tone::Warning),
        StepStatus::Skipped => ("–", Tone::Quiet),
    }
}

/// What the overview says of the plan, where its events are not known.
fn from_overview(overview: &MissionOverview, ink: Ink) -> PlanRows {
    let mut all = PlanRows::default();
    for step in &overview.steps {
        let (symbol, tone) = symbol(step.status);
        if step.status == StepStatus::Running {
            all.running = all.rows.len();
        }
        let row = Row::default().space(2).own(ink.of(tone), symbol).own(Style::new(), &format!(" {} ", step.number));
        all.rows.push(row.text(Style::new(), step.tool.as_str()));
    }
    if overview.more_steps > 0 {
        all.rows.push(Row::default().own(ink.of(Tone::Quiet), &format!("    and {} more", overview.more_steps)));
    }
    all
}
