//! `cortex send`: a task from the command line.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use cortex_command_line::visible_text::plain_lines;
use cortex_core::feedback;
use cortex_protocol::mission::Expense;
use cortex_protocol::words::counted;
use cortex_protocol::{CloudEvent, MissionEvent, MissionResult, MissionStatus, Usage, Verification};
use cortex_ros::task::{TaskEnding, TaskResult, TaskUpdate};
use cortex_ros::{AdapterError, Canceller, SentTask};
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::arguments::SendArguments;
use crate::connection::{Connection, Purpose};
use crate::questions::Prompt;

/// Exit status of a cancelled task: that of a program that SIGINT ended.
const CANCELLED: u8 = 130;
/// How long the last line of feedback may come after the result.
const LAST_LINE: Duration = Duration::from_millis(500);
/// Longest task that is read from standard input; Cortex itself takes less.
const MOST_INPUT_BYTES: u64 = 1 << 20;

/// `cortex send`: hands a task in, and follows it to its end.
///
/// # Errors
/// When the task can't be read, or no Cortex takes it.
pub async fn send(arguments: SendArguments) -> anyhow::Result<ExitCode> {
    let task = match arguments.task.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().take(MOST_INPUT_BYTES).read_to_string(&mut text).context("standard input")?;
            text
        }
        text => text.to_owned(),
    };
    // Before anything is sent: from here on Ctrl-C cancels the task, and none is lost.
    let interrupts = signal(SignalKind::interrupt())?;
    let connection = Connection::open(&arguments.server, Purpose::Tasks).await?;
    let watched = watch(&connection, &task, &arguments, interrupts).await;
    connection.close().await;
    match watched? {
        Watched::Ended(result, status) => {
            let status = ended_as(&result, status);
            print_result(&result, status, arguments.json);
            Ok(match status {
                MissionStatus::Succeeded => ExitCode::SUCCESS,
                MissionStatus::Failed | MissionStatus::Answered => ExitCode::FAILURE,
                MissionStatus::Cancelled => ExitCode::from(CANCELLED),
            })
        }
        Watched::Left => {
            eprintln!("cortex: left without waiting for the task to end; it may still be coming to rest");
            Ok(ExitCode::from(CANCELLED))
        }
    }
}

/// How watching a task ended.
enum Watched {
    Ended(TaskResult, Option<MissionStatus>),
    /// The person did not want to wait any longer.
    Left,
}

async fn watch(
    connection: &Connection,
    task: &str,
    arguments: &SendArguments,
    mut interrupts: Signal,
) -> anyhow::Result<Watched> {
    let mut sent = connection.client.send(task, arguments.session.as_deref().unwrap_or_default()).await?;
    let mut cancelling = false;
    let mut last_line_seen = false;
    // How the mission itself says that it ended: that words alone came of it shows in no other way.
    let mut status = None;
    let canceller = sent.canceller.clone();
    let mut prompt = Prompt::new(&connection.client, &arguments.server.server);
    let SentTask { updates, .. } = &mut sent;
    let mut updates = std::mem::replace(updates, tokio::sync::mpsc::channel(1).1);
    let result = sent.result();
    tokio::pin!(result);
    let ended: Result<TaskResult, AdapterError> = loop {
        tokio::select! {
            biased;
            _ = interrupts.recv() => {
                if cancelling {
                    return Ok(Watched::Left);
                }
                cancelling = true;
                eprintln!("cortex: cancelling the task (Ctrl-C again to leave without waiting)");
                tokio::spawn(cancel(canceller.clone()));
            }
            Some(update) = updates.recv() => {
                last_line_seen |= update.completed;
                status = status.or_else(|| status_of(&update));
                if print_update(&update, arguments.json).is_err() && !cancelling {
                    // Nobody reads any more, so nobody watches the robot.
                    cancelling = true;
                    tokio::spawn(cancel(canceller.clone()));
                }
                prompt.note(&update.event);
            }
            ended = &mut result => break ended,
            // A task that is cancelled needs no answer.
            () = prompt.progress(), if !cancelling => {}
        }
    };
    prompt.task_has_ended();
    // The result and the last feedback travel on different ways.
    while !last_line_seen {
        let Ok(Some(update)) = tokio::time::timeout(LAST_LINE, updates.recv()).await else { break };
        last_line_seen |= update.completed;
        status = status.or_else(|| status_of(&update));
        // The task has ended; what can't be shown now is lost with its reader.
        let _ = print_update(&update, arguments.json);
        prompt.note(&update.event);
    }
    Ok(Watched::Ended(ended?, status))
}

async fn cancel(canceller: Canceller) {
    match canceller.cancel().await {
        Ok(true) => {}
        Ok(false) => eprintln!("cortex: the task had already ended"),
        Err(problem) => eprintln!("cortex: the task could not be cancelled: {problem}"),
    }
}

fn print_update(update: &TaskUpdate, as_json: bool) -> std::io::Result<()> {
    if as_json {
        writeln!(std::io::stdout(), "{}", update.event)
    } else if update.completed {
        // The last line is the result, which is printed on its own; what is known of the steps and what was spent is not
        // in it.
        let Some(result) = result_of(&update.event) else { return Ok(()) };
        let lines = [verification(&result), feedback::summary(&result), Some(spending(&result))];
        lines.into_iter().flatten().try_for_each(|line| writeln!(std::io::stdout(), "{line}"))
    } else {
        writeln!(std::io::stdout(), "{}", shown(&update.feedback))
    }
}

fn status_of(update: &TaskUpdate) -> Option<MissionStatus> {
    update.completed.then(|| result_of(&update.event)).flatten().map(|result| result.status)
}

/// Text of a model or a tool as it may be written to standard output.
fn shown(text: &str) -> Cow<'_, str> {
    if std::io::stdout().is_terminal() { Cow::Owned(plain_lines(text)) } else { Cow::Borrowed(text) }
}

/// The result in full, from the last event.
fn result_of(event: &str) -> Option<MissionResult> {
    let event: CloudEvent = serde_json::from_str(event).ok()?;
    match event.data.payload {
        MissionEvent::Finished { result } => Some(result),
        _ => None,
    }
}

/// What is known of each step that was begun: `verified: base.go_to; not verified: speaker.say`. None
/// where no step was.
fn verification(result: &MissionResult) -> Option<String> {
    let kinds = [Verification::Verified, Verification::NotVerified, Verification::Failed, Verification::Unknown];
    let told = kinds.into_iter().filter_map(|kind| {
        let of_kind = result.steps.iter().filter(|step| step.verification == Some(kind));
        let names: Vec<&str> = of_kind.map(|step| step.tool.as_str()).collect();
        (!names.is_empty()).then(|| format!("{kind}: {}", names.join(", ")))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("steps {}", told.join("; ")))
}

/// What the mission has spent: `spent: 4 requests to the model, 812 tokens, 3.2 metres, 12 s`.
fn spending(result: &MissionResult) -> String {
    let Usage { model_calls, prompt_tokens, completion_tokens, tokens_estimated, cost, metres, watt_hours } =
        result.usage;
    let about = if tokens_estimated { "about " } else { "" };
    let tokens = prompt_tokens.saturating_add(completion_tokens);
    let some = |amount: f64, text: String| (amount > 0.0).then_some(text);
    let spent = [
        (model_calls > 0).then(|| format!("{} to the model", counted(model_calls, "request"))),
        (tokens > 0).then(|| format!("{about}{tokens} {}", Expense::Tokens)),
        some(cost, format!("{about}{cost:.4} {}", Expense::Money)),
        some(metres, format!("{metres:.1} {}", Expense::Metres)),
        some(watt_hours, format!("{watt_hours:.2} {}", Expense::WattHours)),
        Some(format!("{:.1} {}", result.duration.as_secs_f64(), Expense::Seconds)),
    ];
    let spent: Vec<String> = spent.into_iter().flatten().collect();
    format!("spent: {}", spent.join(", "))
}

/// How the task ended. ROS calls a goal canceled only where its client asked for that: a mission that was cancelled by a stop
/// comes back as an aborted goal, and its own events say what it was.
fn ended_as(result: &TaskResult, told: Option<MissionStatus>) -> MissionStatus {
    match (result.ending, told) {
        (TaskEnding::Succeeded, _) => MissionStatus::Succeeded,
        (TaskEnding::Cancelled, _) => MissionStatus::Cancelled,
        (TaskEnding::Failed, Some(MissionStatus::Cancelled)) => MissionStatus::Cancelled,
        (TaskEnding::Failed, Some(MissionStatus::Answered)) => MissionStatus::Answered,
        (TaskEnding::Failed, _) => MissionStatus::Failed,
    }
}

fn print_result(result: &TaskResult, status: MissionStatus, as_json: bool) {
    if as_json {
        let word = match status {
            MissionStatus::Succeeded => "succeeded",
            MissionStatus::Failed | MissionStatus::Answered => "failed",
            MissionStatus::Cancelled => "cancelled",
        };
        let success = status == MissionStatus::Succeeded;
        let line = json!({"success": success, "status": word, "output": result.output, "mission": result.mission});
        // The exit status tells it, too.
        let _ = writeln!(std::io::stdout(), "{line}");
        return;
    }
    let word = match status {
        MissionStatus::Succeeded => "SUCCEEDED",
        MissionStatus::Answered => "ANSWERED, and nothing more: that is no success",
        MissionStatus::Failed => "FAILED",
        MissionStatus::Cancelled => "CANCELLED",
    };
    let _ = writeln!(std::io::stdout(), "\n{}\n\n{word}", shown(&result.output));
}
