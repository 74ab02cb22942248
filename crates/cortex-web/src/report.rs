//! A report of a mission in Markdown, made from its events. Whatever a robot, a model or a person has said stands in code,
//! so that it is text whatever it looks like.

use std::fmt::Write as _;

use cortex_protocol::{CloudEvent, MissionEvent, MissionId, MissionResult, StepReport, StepStatus};

/// Most lines of what happened.
const LINES: usize = 2_000;
/// Most characters of a piece of text within a line, and of one by itself.
const INLINE: usize = 300;
const BLOCK: usize = 20_000;

/// A report that is being put together.
pub(crate) struct Report {
    head: String,
    began: String,
    tasks: String,
    lines: String,
    count: usize,
    left_out: usize,
    result: Option<MissionResult>,
}

impl Report {
    pub(crate) fn new(robot: &str, mission: &MissionId) -> Self {
        let head = format!("# Mission report\n\n- Robot: {}\n- Mission: {}\n", inline(robot), inline(mission.as_str()));
        Self {
            head,
            began: String::new(),
            tasks: String::new(),
            lines: String::new(),
            count: 0,
            left_out: 0,
            result: None,
        }
    }

    /// Adds the next event.
    pub(crate) fn add(&mut self, event: &CloudEvent) {
        if self.began.is_empty() {
            self.began.clone_from(&event.time);
        }
        match &event.data.payload {
            MissionEvent::Accepted { task, .. } => self.tasks = format!("\n## Task\n\n{}", block(task)),
            MissionEvent::TaskRevised { text, .. } => {
                let _ = write!(self.tasks, "\nRevised at {}:\n\n{}", inline(&event.time), block(text));
            }
            MissionEvent::Finished { result } => self.result = Some(result.clone()),
            // What is still in flight is told again and again.
            MissionEvent::Progress { .. } => return,
            _ => {}
        }
        if self.count >= LINES {
            self.left_out += 1;
            return;
        }
        self.count += 1;
        let _ = writeln!(self.lines, "- {} {}", inline(&event.time), inline(&event.data.text));
    }

    /// The report in Markdown.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head.clone();
        let _ = writeln!(text, "- Began: {}", inline(&self.began));
        match &self.result {
            Some(result) => {
                let _ = writeln!(text, "- Ended: {} after {:.1} s", result.status, result.duration.as_secs_f64());
            }
            None => text.push_str("- It has not ended, or its record breaks off.\n"),
        }
        text.push_str(&self.tasks);
        if let Some(result) = &self.result {
            write_result(&mut text, result);
        }
        let _ = write!(text, "\n## What happened\n\n{}", self.lines);
        if self.left_out > 0 {
            let _ = writeln!(text, "- {} more lines are left out.", self.left_out);
        }
        text
    }
}

fn write_result(text: &mut String, result: &MissionResult) {
    let _ = write!(text, "\n## Result\n\n{}", block(&result.output));
    if !result.not_stopped.is_empty() {
        text.push_str("\nNot confirmed to be at rest:\n\n");
        for tool in &result.not_stopped {
            let _ = writeln!(text, "- {}", inline(tool.as_str()));
        }
    }
    if !result.steps.is_empty() {
        text.push_str("\n## Steps\n\n");
        result.steps.iter().for_each(|step| write_step(text, step));
    }
    let usage = &result.usage;
    let estimated = if usage.tokens_estimated { " (estimated)" } else { "" };
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    let _ = write!(
        text,
        "\n## Spent\n\n- Requests to the model: {}\n- Tokens: {tokens}{estimated}\n- Way: {:.1} m\n- Energy: {:.1} Wh\n",
        usage.model_calls, usage.metres, usage.watt_hours
    );
}

fn write_step(text: &mut String, step: &StepReport) {
    let arguments = serde_json::Value::from(step.arguments.clone()).to_string();
    let (plan, number, status) = (step.plan, step.number, word(step.status));
    let _ = writeln!(text, "- {plan}.{number} {} {}: {status}", inline(step.tool.as_str()), inline(&arguments));
    let said = step
        .outcome
        .as_ref()
        .map(|outcome| if outcome.is_success() { outcome.text() } else { outcome.message.clone() });
    for (what, words) in [("Why", step.note.clone()), ("Outcome", said.unwrap_or_default())] {
        if !words.trim().is_empty() {
            let _ = writeln!(text, "  - {what}: {}", inline(&words));
        }
    }
    if let Some(duration) = step.duration {
        let _ = writeln!(text, "  - Took: {:.1} s", duration.as_secs_f64());
    }
}

fn word(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "not begun",
        StepStatus::Running => "running",
        StepStatus::Success => "succeeded",
        StepStatus::Failed => "failed",
        StepStatus::Blocked => "never begun",
        StepStatus::Skipped => "skipped",
    }
}

/// Text within a line.
fn inline(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let shown = capped(&words.join(" "), INLINE);
    if shown.is_empty() {
        return "(nothing)".to_owned();
    }
    let fence = fence(&shown, 1);
    format!("{fence} {shown} {fence}")
}

/// Text by itself, with its lines.
fn block(text: &str) -> String {
    let shown = capped(text, BLOCK);
    let fence = fence(&shown, 3);
    format!("{fence}text\n{shown}\n{fence}\n")
}

/// More backticks than stand in a row in the text.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    "`".repeat((longest + 1).max(least))
}

/// At most so many characters, none of which changes how the ones around it are shown.
fn capped(text: &str, most: usize) -> String {
    let changes_others = |letter: char| {
        (letter.is_control() && letter != '\n')
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut letters = text.chars().filter(|letter| !changes_others(*letter));
    let mut shown: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        shown.push_str(" ...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_robot_stays_text() {
        for hostile in
            ["# Heading", "a\n# Heading\n- list", "`` ``` `x`", "<script>alert(1)</script>", "\u{202e}live\u{1b}[2J"]
        {
            let line = inline(hostile);
            assert!(!line.contains('\n') && line.starts_with('`') && line.ends_with('`'), "{line}");
            let longest = hostile.split(|letter| letter != '`').map(str::len).max().unwrap();
            let opening = line.chars().take_while(|letter| *letter == '`').count();
            assert!(opening > longest, "{line}");
            let block = block(hostile);
            let fence = block.lines().next().unwrap().trim_end_matches("text").to_owned();
            assert!(fence.len() >= 3 && fence.len() > longest, "{block}");
            assert_eq!(block.lines().filter(|line| line.trim() == fence).count(), 1, "{block}");
            assert!(!block.contains(['\u{202e}', '\u{1b}']));
        }
        assert_eq!(inline(" \n "), "(nothing)");
        assert!(inline(&"x".repeat(10_000)).len() < 400);
    }
}
