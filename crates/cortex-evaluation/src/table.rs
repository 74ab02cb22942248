//! Scores for people: one line for each model, and where it went another way.

use std::fmt::Write as _;

use cortex_core::fragment::one_line;

use crate::mission_score::MissionScore;
use crate::model_score::ModelScore;

/// Most characters of a task, and of what is told of a question.
const TASK_CHARACTERS: usize = 80;
const TOLD_CHARACTERS: usize = 500;

/// The columns, with their headings.
const HEADINGS: [&str; 10] = [
    "model",
    "missions",
    "as recorded",
    "false success",
    "out of policy",
    "diverged",
    "requests",
    "tokens",
    "seconds",
    "money",
];

/// One line for each model, below a line of headings.
#[must_use]
pub fn table(scores: &[ModelScore]) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
    rows.extend(scores.iter().map(row));
    let mut widths = [0_usize; HEADINGS.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            // Names to the left, figures to the right.
            let _ = if column == 0 { write!(line, "{cell:width$}") } else { write!(line, "  {cell:>width$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(score: &ModelScore) -> Vec<String> {
    let about = if score.tokens_estimated { "about " } else { "" };
    let diverged = match score.divergence_step {
        Some(step) => format!("{} (at {step})", score.diverged),
        None => score.diverged.to_string(),
    };
    let requests = match score.unanswered {
        0 => score.requests.to_string(),
        unanswered => format!("{} ({unanswered} unanswered)", score.requests),
    };
    vec![
        one_line(&score.model, TASK_CHARACTERS),
        score.missions.to_string(),
        format!("{} of {}", score.successes, score.recorded_successes),
        score.false_successes.to_string(),
        score.out_of_policy.to_string(),
        diverged,
        requests,
        format!("{about}{}", score.prompt_tokens.saturating_add(score.completion_tokens)),
        format!("{:.1}", score.seconds),
        if score.cost > 0.0 { format!("{about}{:.4}", score.cost) } else { "-".to_owned() },
    ]
}

/// What there is to say of single missions: where something else would have followed, what was refused, what was not asked.
#[must_use]
pub fn differences(score: &ModelScore) -> String {
    let mut text = String::new();
    for mission in &score.each {
        let told = told(mission);
        if told.is_empty() {
            continue;
        }
        let task = one_line(&mission.recorded.task, TASK_CHARACTERS);
        let _ = writeln!(text, "{}  {}: {task}", one_line(&score.model, TASK_CHARACTERS), mission.recorded.mission);
        for line in told {
            let _ = writeln!(text, "  {}", one_line(&line, TOLD_CHARACTERS * 2));
        }
    }
    text
}

fn told(mission: &MissionScore) -> Vec<String> {
    let capped = |text: &str| one_line(text, TOLD_CHARACTERS);
    let mut lines = Vec::new();
    if let Some(divergence) = &mission.divergence {
        let (recorded, now) = (capped(&divergence.recorded), capped(&divergence.now));
        lines.push(format!("question {}: recorded: {recorded}; now: {now}", divergence.question));
    }
    for refusal in &mission.refusals {
        lines.push(format!("question {}: refused: {}", refusal.question, capped(&refusal.problem)));
    }
    for question in &mission.false_successes {
        lines.push(format!("question {question}: it ends the mission, and the record does not so"));
    }
    if let Some(failure) = &mission.failure {
        lines.push(format!("{} unanswered: {}", mission.unanswered, capped(failure)));
    }
    if let Some(because) = &mission.cut_short {
        lines.push(format!("asked up to question {}: {}", mission.requests, capped(because)));
    }
    lines
}
