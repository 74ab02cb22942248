//! One readable line for each event of a mission: what operators read while the robot works.

use std::fmt::Write as _;
use std::time::Duration;

use cortex_protocol::execution::ExecutionReport;
use cortex_protocol::mission::{ArgumentChange, InFlight};
use cortex_protocol::plan::Group;
use cortex_protocol::question::Subject;
use cortex_protocol::words::counted;
use cortex_protocol::{
    Answer, HaltState, MissionEvent, MissionId, MissionResult, OutcomeStatus, PlanOpinion, QuestionId, QuestionOutcome,
    StepNumber, StepReport, StepStatus, ToolName, Verification,
};
use serde_json::{Map, Value};

use crate::fragment::capped;
use crate::plan::group_label;

/// Most characters of a tool's output or arguments in a line.
const SHOWN: usize = 200;
/// Most characters of one side of a changed argument.
const CHANGE_SHOWN: usize = 60;

/// Said of tokens, and of what they cost, that nobody has counted.
pub(crate) const ESTIMATED: &str = " (estimated: the model's endpoint does not count them)";

/// How a mission was carried out, in one line for a person. None where no step was planned.
#[must_use]
pub fn summary(result: &MissionResult) -> Option<String> {
    let ExecutionReport { plans, steps, succeeded, retries, corrections, busy, sum, steps_per_second, .. } =
        &result.execution;
    if *steps == 0 {
        return None;
    }
    let mut text = format!("{succeeded} of {} succeeded in ", counted(*steps, "step"));
    if result.duration < Duration::from_secs(1) {
        let _ = write!(text, "{} ms", result.duration.as_millis());
    } else {
        let _ = write!(text, "{:.1} s", result.duration.as_secs_f64());
        // Of a moment there is no rate that would mean something.
        if *succeeded > 0 {
            let _ = write!(text, " ({steps_per_second:.2} a second)");
        }
    }
    for (number, what) in [(retries, "tried again"), (corrections, "corrected")] {
        if *number > 0 {
            let _ = write!(text, ", {number} {what}");
        }
    }
    if *plans > 1 {
        let _ = write!(text, ", {plans} plans");
    }
    // What ran together is what the steps would have taken longer one after another.
    if *sum > *busy {
        let (sum, busy) = (sum.as_secs_f64(), busy.as_secs_f64());
        let _ = write!(text, "; {sum:.1} s of work in {busy:.1} s, since steps ran together");
    }
    Some(text)
}

/// A time in seconds as people write it: 100, 2.5, 0.25.
#[must_use]
pub fn in_seconds(time: Duration) -> String {
    let digits = if time < Duration::from_secs(1) { 1e3 } else { 1e2 };
    ((time.as_secs_f64() * digits).round() / digits).to_string()
}

/// How a question ended, for a person.
fn shown_answer(outcome: &QuestionOutcome) -> String {
    match outcome {
        QuestionOutcome::Answered { answer: Answer::Approve { .. }, .. } => "approved".to_owned(),
        QuestionOutcome::Answered { answer: Answer::Deny { reason }, .. } if reason.is_empty() => "denied".to_owned(),
        QuestionOutcome::Answered { answer: Answer::Deny { reason }, .. } => {
            format!("denied: {}", capped(reason, SHOWN))
        }
        QuestionOutcome::Answered { answer: Answer::Choose { choice }, .. } => capped(choice, SHOWN),
        QuestionOutcome::Expired => "nobody answered in time".to_owned(),
        QuestionOutcome::Withdrawn { because } => format!("withdrawn: {}", capped(because, SHOWN)),
    }
}

/// The event of a mission in one line. That of a question says how it is answered.
#[must_use]
pub fn line_in(mission: &MissionId, event: &MissionEvent) -> String {
    let MissionEvent::Asked { question } = event else { return line(event) };
    let id = QuestionId { mission: mission.clone(), number: question.number };
    let text = capped(&question.text, SHOWN * 2);
    let seconds = in_seconds(question.patience);
    match &question.subject {
        Subject::Choice { choices, .. } => {
            format!("{text} ({}; within {seconds} s) question {id}", capped(&choices.join(" / "), SHOWN))
        }
        Subject::Call { .. } | Subject::Plan { .. } => {
            format!("{text} (within {seconds} s: cortex approve {id}; or: cortex deny {id} \"reason\")")
        }
    }
}

/// What people are asked and say, and what policy denies, in one line. Empty for other events.
fn line_of_people(event: &MissionEvent) -> String {
    match event {
        MissionEvent::Asked { question } => {
            format!("question {}: {}", question.number.0, capped(&question.text, SHOWN * 2))
        }
        MissionEvent::QuestionEnded { number, outcome } => format!("question {}: {}", number.0, shown_answer(outcome)),
        MissionEvent::PolicyDenied { step, tool, reason } => {
            format!("step {step} ({tool}) is denied: {}", capped(reason, SHOWN))
        }
        MissionEvent::Disputed { mission, reason, .. } => {
            format!("the mission {mission} is disputed: {}", capped(reason, SHOWN))
        }
        _ => String::new(),
    }
}

/// What a model says, or what is wrong with it or its plan, in one line. Empty for other events.
fn line_of_models(event: &MissionEvent) -> String {
    match event {
        MissionEvent::ModelMistake { problem } => format!("the model is asked again: {}", capped(problem, SHOWN)),
        MissionEvent::Answering { words } => format!("answering: {}", capped(words, SHOWN * 2)),
        MissionEvent::ModelChanged { model, wanted, .. } if model == wanted => format!("{model} answers again"),
        MissionEvent::ModelChanged { model, wanted, because } => {
            format!("{model} answers instead of {wanted}: {}", capped(because, SHOWN))
        }
        MissionEvent::PlanCompared { model, opinion: PlanOpinion::Same, .. } => format!("{model} plans the same"),
        MissionEvent::PlanCompared { model, opinion: PlanOpinion::Other, told } => {
            format!("{model} plans otherwise: {}", capped(told, SHOWN))
        }
        MissionEvent::PlanCompared { model, opinion: PlanOpinion::NoAnswer, told } => {
            format!("{model} does not plan along: {}", capped(told, SHOWN))
        }
        MissionEvent::PlanDoubted { plan, reason } => format!("plan {plan} is doubted: {}", capped(reason, SHOWN)),
        _ => String::new(),
    }
}

/// What was found on record, and which sources could not be asked.
fn on_record(found: &[String], missing: &[String]) -> String {
    let found = if found.is_empty() { "nothing".to_owned() } else { found.join(" ") };
    let text = format!("on record: {}", capped(&found, SHOWN));
    if missing.is_empty() {
        text
    } else {
        format!("{text}; could not be asked: {}", capped(&missing.join(", "), SHOWN))
    }
}

/// The event in one line.
#[must_use]
pub fn line(event: &MissionEvent) -> String {
    let text = match event {
        MissionEvent::Accepted { task, .. } => format!("task accepted: {}", capped(task, SHOWN)),
        MissionEvent::Classified { class } => format!("taken for {class}"),
        MissionEvent::Queued { ahead } => format!("waiting for {} before this one", counted(*ahead, "task")),
        MissionEvent::Planning { turn, plan: 1 } => format!("planning (turn {turn})"),
        MissionEvent::Planning { turn, .. } => format!("asking for the answer or a further plan (turn {turn})"),
        MissionEvent::ContextGathered { found, missing, .. } => on_record(found, missing),
        MissionEvent::ToolsOffered { offered, left_out } => {
            format!("offering {} of {}", offered.len(), counted(offered.len() + left_out.len(), "tool"))
        }
        MissionEvent::Compacted { before, after } => {
            format!("the conversation was shortened from {before} to {after} bytes")
        }
        MissionEvent::Researching { tool, arguments, .. } => format!("asking {tool}{}", shown_arguments(arguments)),
        MissionEvent::Researched { tool, outcome, .. } => format!("{tool} answered: {}", shown_outcome(outcome)),
        MissionEvent::Asked { .. }
        | MissionEvent::QuestionEnded { .. }
        | MissionEvent::PolicyDenied { .. }
        | MissionEvent::Disputed { .. } => line_of_people(event),
        MissionEvent::Answering { .. }
        | MissionEvent::ModelMistake { .. }
        | MissionEvent::ModelChanged { .. }
        | MissionEvent::PlanDoubted { .. }
        | MissionEvent::PlanCompared { .. } => line_of_models(event),
        MissionEvent::Planned { plan, steps, cut } => {
            let names: Vec<String> =
                steps.steps.iter().map(|step| format!("{}. {}", step.number, step.call.tool)).collect();
            let mut text = format!("plan {plan}: {}", capped(&names.join(", "), SHOWN * 2));
            let groups: Vec<String> = steps.groups.iter().map(shown_group).collect();
            if !groups.is_empty() {
                let _ = write!(text, "; {}", capped(&groups.join("; "), SHOWN));
            }
            if !cut.is_empty() {
                let _ = write!(text, " ({} cut: the plan was too long)", counted(cut.len(), "step"));
            }
            text
        }
        MissionEvent::Decided { step, steps, tool, decision, reason, in_flight, changes } => {
            let mut text = format!("step {step}/{steps} {tool}: {decision}");
            if !changes.is_empty() {
                let _ = write!(text, " with {}", shown_changes(changes));
            }
            if !reason.is_empty() {
                let _ = write!(text, " ({})", capped(reason, SHOWN));
            }
            if !in_flight.is_empty() {
                let _ = write!(text, "; in flight: {}", shown_in_flight(in_flight));
            }
            text
        }
        MissionEvent::Correcting { step, tool, problem, .. } => {
            format!("step {step} {tool} failed: {}; the model is asked for other arguments", capped(problem, SHOWN))
        }
        MissionEvent::Retrying { step, tool, problem } => {
            format!("step {step} {tool} is tried again: {}", capped(problem, SHOWN))
        }
        MissionEvent::BudgetWarning { expense, used, limit, estimated } => {
            // Money needs digits that seconds do not.
            let used = (used * 1e4).round() / 1e4;
            let (about, why) = if *estimated { ("about ", ESTIMATED) } else { ("", "") };
            format!("WARNING: {about}{used} of {limit} {expense} are spent{why}")
        }
        MissionEvent::MeterSilent { expense } => {
            format!("WARNING: there is a budget of {expense}, but nothing measures them: nothing may move")
        }
        MissionEvent::Conflict { step, tool, resource, holder } => {
            let holder = holder.map_or_else(|| "research".to_owned(), |holder| format!("step {holder}"));
            format!("step {step} {tool} waits: {resource} is held by {holder}")
        }
        MissionEvent::StepStarted { step, steps, tool, by, arguments, .. } => {
            format!("step {step}/{steps} {tool}{}{}: started", shown_standby(by.as_ref()), shown_arguments(arguments))
        }
        MissionEvent::Progress { in_flight } => format!("in flight: {}", shown_in_flight(in_flight)),
        MissionEvent::StepFinished { steps, report } => {
            let by = shown_standby(report.by.as_ref());
            format!("step {}/{steps} {}{by}: {}", report.number, report.tool, shown_report(report))
        }
        MissionEvent::Replanning { plan, reason } => format!("making plan {plan}: {}", capped(reason, SHOWN)),
        MissionEvent::ComponentMissing { tools, patience } => {
            format!("waiting up to {:.0} s for what has left: {}", patience.as_secs_f64(), named(tools))
        }
        MissionEvent::ComponentReturned { tools } => format!("back again: {}", named(tools)),
        MissionEvent::ControlChanged { control, lasted } => control_changed(&control.because, *lasted),
        MissionEvent::TaskRevised { text, origin } => {
            format!("the task is revised by {} {}: {}", origin.channel, origin.client, capped(text, SHOWN))
        }
        MissionEvent::Stopping { reason, tools } => {
            if tools.is_empty() {
                format!("stopping: {reason}")
            } else {
                format!("stopping {}: {reason}", named(tools))
            }
        }
        MissionEvent::Halted { step, tool, state, .. } => shown_halt(*step, tool, *state),
        // The account is never what is cut.
        MissionEvent::Finished { result } => {
            format!("{}: {}\n{}", result.status, capped(result.words(), SHOWN * 2), result.account)
        }
        other => availability(other),
    };
    // One line that reads as it is written, whatever a tool or a person wrote.
    let text: String = text.chars().map(|character| if is_unseen(character) { ' ' } else { character }).collect();
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
}

fn shown_halt(step: Option<StepNumber>, tool: &ToolName, state: HaltState) -> String {
    let which = step.map(|step| format!(" (step {step})")).unwrap_or_default();
    match state {
        HaltState::AtRest => format!("{tool}{which} had ended"),
        HaltState::Halted => format!("{tool}{which} has halted"),
        HaltState::Refused => format!("WARNING: {tool}{which} refuses to halt"),
        HaltState::Unconfirmed => format!("WARNING: {tool}{which} did not confirm that it halted"),
    }
}

/// What the monitor keeps from the mission, in one line.
fn availability(event: &MissionEvent) -> String {
    match event {
        MissionEvent::Quarantined { component, because } => {
            format!("{component} is in quarantine: {}", capped(because, SHOWN))
        }
        MissionEvent::Released { component } => format!("{component} may be called again"),
        MissionEvent::FailedOver { component, by: Some(by) } => format!("{by} has taken the place of {component}"),
        MissionEvent::FailedOver { component, by: None } => format!("{component} has its place again"),
        MissionEvent::Paused { because, patience } => {
            format!("paused, for at most {:.0} s: {}", patience.as_secs_f64(), capped(because, SHOWN))
        }
        MissionEvent::Unpaused => "going on after the pause".to_owned(),
        _ => "something happened that this version has no words for".to_owned(),
    }
}

/// Whether a character changes how others are shown instead of being shown: control characters of terminals, and those
/// that turn the direction of a text.
fn is_unseen(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (character.is_control() && !matches!(character, '\n' | '\r'))
}

fn control_changed(because: &str, lasted: Option<Duration>) -> String {
    let because = capped(because, SHOWN);
    match lasted {
        Some(lasted) => format!("{because} after {} s", in_seconds(lasted)),
        None => because,
    }
}

fn named(tools: &[ToolName]) -> String {
    tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(", ")
}

fn shown_standby(by: Option<&ToolName>) -> String {
    by.map(|by| format!(" (by {by})")).unwrap_or_default()
}

fn shown_group(group: &Group) -> String {
    let steps: Vec<String> = group.steps.iter().map(ToString::to_string).collect();
    format!("group {}: {}", group_label(group), steps.join(", "))
}

fn shown_changes(changes: &[ArgumentChange]) -> String {
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
    let shown: Vec<String> = changes
        .iter()
        .map(|change| {
            let (from, to) = (capped(&value(&change.from), CHANGE_SHOWN), capped(&value(&change.to), CHANGE_SHOWN));
            format!("{} {to} (planned: {from})", capped(&change.argument, CHANGE_SHOWN))
        })
        .collect();
    capped(&shown.join(", "), SHOWN)
}

fn shown_arguments(arguments: &Map<String, Value>) -> String {
    if arguments.is_empty() { String::new() } else { capped(&Value::Object(arguments.clone()).to_string(), SHOWN) }
}

fn shown_outcome(outcome: &cortex_protocol::ToolOutcome) -> String {
    match outcome.status {
        OutcomeStatus::Succeeded => {
            let text = outcome.text();
            if text.is_empty() { "done".to_owned() } else { capped(&text, SHOWN) }
        }
        OutcomeStatus::Failed(_) => format!("failed: {}", capped(&outcome.message, SHOWN)),
        OutcomeStatus::Cancelled => format!("cancelled: {}", capped(&outcome.message, SHOWN)),
        OutcomeStatus::NotBegun => format!("not begun: {}", capped(&outcome.message, SHOWN)),
    }
}

fn shown_report(report: &StepReport) -> String {
    let mut text = match (&report.outcome, report.status) {
        (Some(outcome), StepStatus::Success) => format!("SUCCESS, {}", shown_outcome(outcome)),
        (Some(outcome), _) => shown_outcome(outcome),
        (None, StepStatus::Skipped) => "SKIPPED".to_owned(),
        (None, _) => "not run".to_owned(),
    };
    if let Some(duration) = report.duration {
        let _ = write!(text, " [{:.1} s]", duration.as_secs_f64());
    }
    match report.verification {
        Some(Verification::Verified) => {
            let evidence = report.outcome.as_ref().map(|outcome| outcome.evidence.join("; ")).unwrap_or_default();
            let _ = write!(text, " (verified: {})", capped(&evidence, SHOWN));
        }
        Some(Verification::Unknown) => text.push_str(" (nobody knows whether it was done)"),
        Some(Verification::NotVerified | Verification::Failed) | None => {}
    }
    if !report.note.is_empty() {
        let _ = write!(text, " ({})", capped(&report.note, SHOWN));
    }
    text
}

fn shown_in_flight(goals: &[InFlight]) -> String {
    let shown: Vec<String> = goals
        .iter()
        .map(|goal| {
            let mut text = format!("{} {:.0} s", goal.tool, goal.age.as_secs_f64());
            if !goal.feedback.is_empty() {
                let _ = write!(text, ", {}", capped(&goal.feedback, SHOWN));
            }
            if let Some(silence) = goal.stalled {
                let _ = write!(text, " [WARNING: no new feedback for {:.0} s]", silence.as_secs_f64());
            }
            text
        })
        .collect();
    shown.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line_whatever_a_tool_wrote() {
        let event = MissionEvent::Progress {
            in_flight: vec![InFlight {
                call: cortex_protocol::CallId(1),
                step: None,
                tool: "base.go_to".into(),
                age: Duration::from_secs(12),
                feedback: "half\nway\r\nthere".into(),
                stalled: Some(Duration::from_secs(11)),
            }],
        };
        assert_eq!(line(&event), "in flight: base.go_to 12 s, half | way | there [WARNING: no new feedback for 11 s]");
    }

    #[test]
    fn a_time_is_told_as_it_is() {
        let told = |milliseconds| in_seconds(Duration::from_millis(milliseconds));
        assert_eq!([100_000, 2_500, 250, 12_346, 0].map(told), ["100", "2.5", "0.25", "12.35", "0"]);
    }

    /// A mission of so many steps, of which so many succeeded, in so many milliseconds.
    fn summary_of(steps: u32, succeeded: u32, milliseconds: u64) -> String {
        let duration = Duration::from_millis(milliseconds);
        let steps_per_second = f64::from(succeeded) / duration.as_secs_f64();
        let execution = ExecutionReport { steps, succeeded, steps_per_second, ..ExecutionReport::default() };
        let finished = serde_json::json!({
            "status": "failed", "output": "", "steps": [], "not_stopped": [], "usage": cortex_protocol::Usage::default(),
            "execution": execution, "duration": duration,
        });
        summary(&serde_json::from_value(finished).unwrap()).unwrap()
    }

    /// It said "0 of 1 step(s) succeeded in 0.0 s (176.90 a second)".
    #[test]
    fn regression_a_rate_is_told_of_what_succeeded_and_only_where_the_time_gives_one() {
        assert_eq!(summary_of(1, 0, 6), "0 of 1 step succeeded in 6 ms");
        assert_eq!(summary_of(1, 1, 6), "1 of 1 step succeeded in 6 ms");
        assert_eq!(summary_of(3, 0, 20_000), "0 of 3 steps succeeded in 20.0 s");
        assert_eq!(summary_of(3, 3, 30_000), "3 of 3 steps succeeded in 30.0 s (0.10 a second)");
    }
}
