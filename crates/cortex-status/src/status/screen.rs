//! The overview for people: one screen of a terminal with 80 columns. No IO, no clock.

use std::fmt::Write as _;
use std::time::Duration;

use cortex_protocol::overview::{
    ComponentHealth, MissionOverview, MissionPhase, Overview, ReadinessOverview, ReadinessState, SecondModelOverview,
};
use cortex_protocol::words::counted;
use cortex_protocol::{MissionStatus, StepStatus};

use super::ago;

/// Columns of the screen.
const WIDTH: usize = 80;
/// Columns of a component's name and of a tool's.
const NAME: usize = 24;
/// Lines of a list before the rest is only counted.
const MOST_COMPONENTS: usize = 30;
const MOST_CALLS: usize = 10;
const MOST_STEPS: usize = 10;
/// Lines of the reason why no tasks are taken.
const MOST_LINES: usize = 5;
/// An overview that is older tells of a Cortex that hangs or is gone: it is renewed every two seconds.
const STALE: Duration = Duration::from_secs(6);

/// Whether the terminal shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// It does.
    Colours,
    /// It does not.
    Plain,
}

/// What a word says about the state of things.
#[derive(Clone, Copy)]
enum Tone {
    Good,
    Odd,
    Bad,
    Quiet,
}

impl Ink {
    fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Odd => "33",
            Tone::Bad => "1;31",
            Tone::Quiet => "2",
        };
        match self {
            Self::Colours => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}

/// The screen. `now_ms` is by the clock of whoever looks.
pub fn render(overview: &Overview, now_ms: u64, ink: Ink) -> String {
    let mut screen = String::new();
    // Writing to a string does not fail.
    let mut line = |text: String| {
        let _ = writeln!(screen, "{}", text.trim_end());
    };
    // Whether a task can be sent is what most people look for, so it comes first.
    for text in readiness(&overview.readiness, ink) {
        line(text);
    }
    let up = duration(ago(overview.at_ms, overview.started_ms));
    let lifecycle = match overview.lifecycle.as_str() {
        "" => String::new(),
        state => format!(", {}", ink.paint(if overview.inactive().is_some() { Tone::Odd } else { Tone::Good }, state)),
    };
    let (node, robot) = (cut(&overview.node, 28), cut(&overview.robot, 16));
    line(format!("{node} of {robot}{lifecycle}, up {up}, {}", counted(overview.tools, "tool")));
    if let Some(page) = &overview.page {
        line(cut_end(&format!("page {}", one_line(page)), WIDTH));
    }
    let age = ago(now_ms, overview.at_ms);
    if age > STALE {
        let text = format!("This is {} old: Cortex may hang or be gone.", duration(age));
        line(ink.paint(Tone::Bad, &text));
    }
    for text in head(overview, now_ms, ink) {
        line(text);
    }
    for section in [components(overview, ink), missions(overview, now_ms, ink), calls(overview, now_ms, ink)] {
        for text in section {
            line(text);
        }
    }
    screen
}

/// Whether the robot takes tasks, and if not, why and what to do.
fn readiness(readiness: &ReadinessOverview, ink: Ink) -> Vec<String> {
    let tone = match readiness.state {
        ReadinessState::Ready => Tone::Good,
        ReadinessState::Limited | ReadinessState::Waiting | ReadinessState::Unknown => Tone::Odd,
        ReadinessState::Refusing => Tone::Bad,
    };
    wrapped(&one_line(&readiness.to_string())).into_iter().map(|line| ink.paint(tone, &line)).collect()
}

/// Prose on as many lines as it takes, at most [`MOST_LINES`], those after the first set in.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().map(|line| (line.chars().count(), line));
        match line {
            Some((0, line)) => line.push_str(word),
            Some((width, line)) if width + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("  \u{2026}".to_owned());
    }
    lines.into_iter().map(|line| cut_end(&line, WIDTH)).collect()
}

/// The stop, the model, the budget, what waits.
fn head(overview: &Overview, now_ms: u64, ink: Ink) -> Vec<String> {
    let mut lines = Vec::new();
    let stop = &overview.stop;
    if stop.stopped {
        let text = format!("STOPPED ({}). Nothing is sent until `cortex resume`.", cut(&stop.why, 30));
        lines.push(ink.paint(Tone::Bad, &text));
        if !stop.not_stopped.is_empty() {
            let names: Vec<&str> = stop.not_stopped.iter().map(|tool| tool.as_str()).collect();
            lines.push(
                ink.paint(Tone::Bad, &cut_end(&format!("  not known to be at rest: {}", names.join(", ")), WIDTH)),
            );
        }
    }
    for call in overview.unsettled.iter().take(MOST_CALLS) {
        let since = duration(ago(now_ms, call.since_ms));
        let why = one_line(&call.why);
        let text = format!("  not at rest since {since}: {}: {why}", cut(call.tool.as_str(), NAME));
        lines.push(ink.paint(Tone::Bad, &cut_end(&text, WIDTH)));
    }
    lines.extend(more(overview.unsettled.len(), MOST_CALLS, "call"));
    for lost in &overview.lost {
        let text = format!("a task was lost, because Cortex ended before it did: {}", one_line(&lost.task));
        lines.push(ink.paint(Tone::Odd, &cut_end(&text, WIDTH)));
    }
    if let Some(why) = &overview.paused {
        lines.push(ink.paint(Tone::Odd, &cut_end(&format!("missions are paused: {why}"), WIDTH)));
    }
    if let Some(because) = overview.control.reason() {
        lines.push(ink.paint(Tone::Odd, &cut_end(&format!("controls: {}", one_line(because)), WIDTH)));
    }
    let model = &overview.model;
    let tokens = model.prompt_tokens.saturating_add(model.completion_tokens);
    let mut text = format!("model {}: {}", cut(&model.name, 30), counted(model.requests, "request"));
    if tokens > 0 {
        let about = if model.tokens_estimated { "about " } else { "" };
        let _ = write!(text, ", {about}{tokens} tokens");
    }
    if model.errors > 0 {
        let _ = write!(text, ", {}", counted(model.errors, "error"));
    }
    lines.push(text);
    for other in &model.standbys {
        let text = format!("  {} answers instead of {}: {}", other.model, other.wanted, one_line(&other.because));
        lines.push(ink.paint(Tone::Odd, &cut_end(&text, WIDTH)));
    }
    if let Some(second) = &model.second {
        lines.extend(second_model(second, ink));
    }
    if let Some(error) = &model.last_error {
        let when = duration(ago(now_ms, error.at_ms));
        let tone = if error.is_over { Tone::Quiet } else { Tone::Bad };
        lines.push(ink.paint(tone, &cut_end(&format!("  {when} ago: {}", one_line(&error.message)), WIDTH)));
    }
    if !overview.budget.is_empty() {
        let parts: Vec<String> = overview
            .budget
            .iter()
            .map(|budget| match budget.limit {
                Some(limit) => format!("{} of {} {}", figure(budget.used), figure(limit), budget.expense),
                None => format!("{} {}", figure(budget.used), budget.expense),
            })
            .collect();
        lines.push(cut_end(&format!("spent: {}", parts.join(", ")), WIDTH));
    }
    lines
}

fn second_model(second: &SecondModelOverview, ink: Ink) -> Vec<String> {
    let plans = second.same.saturating_add(second.otherwise);
    let mut text = format!("  {} plans along: otherwise for {} of {plans}", cut(&second.name, 24), second.otherwise);
    if second.unanswered > 0 {
        let _ = write!(text, ", no answer for {}", second.unanswered);
    }
    let mut lines = vec![cut_end(&text, WIDTH)];
    if !second.last_otherwise.is_empty() {
        let last = format!("  last: {}", one_line(&second.last_otherwise));
        lines.push(ink.paint(Tone::Quiet, &cut_end(&last, WIDTH)));
    }
    lines
}

fn components(overview: &Overview, ink: Ink) -> Vec<String> {
    if overview.components.is_empty() {
        return vec![String::new(), "no components".to_owned()];
    }
    // Of components that were found, none is known.
    let has_lifecycles = overview.components.iter().any(|component| !component.lifecycle.is_empty());
    let lifecycle = |text: &str| if has_lifecycles { format!("{:12} ", cut(text, 12)) } else { String::new() };
    let header =
        format!("{:NAME$} {:8} {:11} {}{}", "COMPONENT", "HEALTH", "STANDING", lifecycle("LIFECYCLE"), "TRIES");
    let mut lines = vec![String::new(), ink.paint(Tone::Quiet, &header)];
    for component in overview.components.iter().take(MOST_COMPONENTS) {
        let tone = match component.health {
            ComponentHealth::Healthy => Tone::Good,
            ComponentHealth::Unknown => Tone::Quiet,
            ComponentHealth::Suspect => Tone::Odd,
            ComponentHealth::Failed | ComponentHealth::Silent => Tone::Bad,
        };
        let tries = match (component.attempts, component.restarts) {
            (0, 0) => String::new(),
            (attempts, 0) => attempts.to_string(),
            (attempts, restarts) => format!("{attempts} ({})", counted(restarts, "restart")),
        };
        lines.push(format!(
            "{:NAME$} {} {:11} {}{tries}",
            cut(component.name.as_str(), NAME),
            ink.paint(tone, &format!("{:8}", component.health)),
            cut(&component.standing, 11),
            lifecycle(&component.lifecycle),
        ));
        lines.extend(component.symptoms.iter().map(|symptom| cut_end(&format!("  {}", one_line(symptom)), WIDTH)));
    }
    lines.extend(more(overview.components.len(), MOST_COMPONENTS, "component"));
    lines
}

fn missions(overview: &Overview, now_ms: u64, ink: Ink) -> Vec<String> {
    if overview.missions.is_empty() {
        return vec![String::new(), "no missions yet".to_owned()];
    }
    let mut lines = vec![String::new(), ink.paint(Tone::Quiet, &format!("{:10} {:>7}  TASK", "MISSION", "TIME"))];
    for mission in &overview.missions {
        let (word, tone) = phase(mission.phase);
        let tone = if mission.words_alone { Tone::Odd } else { tone };
        let age = duration(ago(mission.ended_ms.unwrap_or(now_ms), mission.since_ms));
        let task = cut_end(&one_line(&mission.task), WIDTH - 20);
        lines.push(format!("{} {age:>7}  {task}", ink.paint(tone, &format!("{word:10}"))));
        match mission.phase {
            MissionPhase::Ended(MissionStatus::Answered) if !mission.words_alone => {}
            MissionPhase::Ended(MissionStatus::Succeeded) | MissionPhase::Queued => {}
            MissionPhase::Ended(_) => lines.push(cut_end(&format!("  {}", one_line(&mission.output)), WIDTH)),
            _ => lines.extend(steps(mission, ink)),
        }
    }
    lines
}

/// The steps of a plan, from the first that has not ended on.
fn steps(mission: &MissionOverview, ink: Ink) -> Vec<String> {
    let has_ended = |status| !matches!(status, StepStatus::Pending | StepStatus::Running);
    let done = mission.steps.iter().take_while(|step| has_ended(step.status)).count();
    let mut lines = Vec::new();
    if done > 0 {
        let failed = mission.steps.iter().take(done).filter(|step| step.status == StepStatus::Failed).count();
        let failed = if failed > 0 { format!(", {failed} of them failed") } else { String::new() };
        let ended = if done == 1 { "the first step has".to_owned() } else { format!("the first {done} steps have") };
        lines.push(format!("  plan {}: {ended} ended{failed}", mission.plan));
    }
    for step in mission.steps.iter().skip(done).take(MOST_STEPS) {
        let (word, tone) = match step.status {
            StepStatus::Pending => ("pending", Tone::Quiet),
            StepStatus::Running => ("running", Tone::Good),
            StepStatus::Success => ("done", Tone::Good),
            StepStatus::Failed => ("failed", Tone::Bad),
            StepStatus::Blocked => ("blocked", Tone::Odd),
            StepStatus::Skipped => ("skipped", Tone::Quiet),
        };
        let word = ink.paint(tone, &format!("{word:8}"));
        lines.push(format!("  {:>3} {word} {}", step.number.0, cut(step.tool.as_str(), WIDTH - 16)));
    }
    let left = mission.steps.len().saturating_sub(done) + usize::try_from(mission.more_steps).unwrap_or(0);
    lines.extend(more(left, MOST_STEPS, "step"));
    lines
}

fn calls(overview: &Overview, now_ms: u64, ink: Ink) -> Vec<String> {
    if overview.calls.is_empty() {
        return Vec::new();
    }
    let header = format!("{:10} {:>7}  TOOL", "IN FLIGHT", "AGE");
    let mut lines = vec![String::new(), ink.paint(Tone::Quiet, &header)];
    for call in overview.calls.iter().take(MOST_CALLS) {
        let age = duration(ago(now_ms, call.since_ms));
        lines.push(format!("{:10} {age:>7}  {}", cut(&call.kind, 10), cut(call.tool.as_str(), WIDTH - 20)));
    }
    lines.extend(more(overview.calls.len(), MOST_CALLS, "call"));
    lines
}

fn more(all: usize, shown: usize, what: &str) -> Option<String> {
    (all > shown).then(|| format!("  and {}", counted(all - shown, &format!("more {what}"))))
}

fn phase(phase: MissionPhase) -> (&'static str, Tone) {
    match phase {
        MissionPhase::Queued => ("queued", Tone::Quiet),
        MissionPhase::Planning => ("planning", Tone::Good),
        MissionPhase::Acting => ("acting", Tone::Good),
        MissionPhase::Waiting => ("waiting", Tone::Odd),
        MissionPhase::Stopping => ("stopping", Tone::Odd),
        MissionPhase::Ended(MissionStatus::Answered) => ("answered", Tone::Quiet),
        MissionPhase::Ended(MissionStatus::Succeeded) => ("succeeded", Tone::Quiet),
        MissionPhase::Ended(MissionStatus::Failed) => ("failed", Tone::Bad),
        MissionPhase::Ended(MissionStatus::Cancelled) => ("cancelled", Tone::Odd),
    }
}

/// At most so many characters; what is longer loses its middle, for names often differ at both ends.
fn cut(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let tail = kept / 3;
    let head: String = text.chars().take(kept - tail).collect();
    let tail: String = text.chars().skip(count - tail).collect();
    format!("{head}\u{2026}{tail}")
}

/// At most so many characters of prose; what is longer loses its end.
fn cut_end(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let head: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}\u{2026}", head.trim_end())
}

/// What a task or an answer says, on one line.
fn one_line(text: &str) -> String {
    let shown = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    shown.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A length of time in at most seven columns: `4.2 s`, `12 s`, `3 min`, `5 h`, `12 d`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A number without digits that say nothing.
fn figure(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

#[cfg(test)]
pub(super) mod tests;
