//! `cortex call TOOL '{json}'`: one tool, run by hand.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cortex_core::{CallObserver, Invocation, ToolProvider, ToolSet};
use cortex_protocol::{CallId, FailureKind, HaltState, OutcomeStatus, ToolCall, ToolOutcome, ToolSpec};
use cortex_ros::{Catalog, RosTools, Uncallable};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::arguments::CallArguments;
use crate::commands::run::policy;
use crate::robot::Robot;

/// Exit status of a call that was interrupted: that of a program that SIGINT ended.
const CANCELLED: u8 = 130;
/// Longest search for the tool.
const FIND_LIMIT: Duration = Duration::from_secs(8);
/// How long a call may take to halt.
const HALT_LIMIT: Duration = Duration::from_secs(10);
/// How long a call that was halted may take to say how it ended.
const RETURN_GRACE: Duration = Duration::from_secs(1);

pub(crate) async fn call(arguments: CallArguments) -> anyhow::Result<ExitCode> {
    let values: Value = serde_json::from_str(&arguments.arguments).context("the arguments are not JSON")?;
    let Value::Object(values) = values else {
        anyhow::bail!("the arguments must be a JSON object, such as '{{\"data\": true}}'");
    };
    // Before anything is sent: from here on Ctrl-C halts the call, and none is lost.
    let interrupts = signal(SignalKind::interrupt())?;
    let robot = Robot::look(|node| policy(node, arguments.config.as_deref()))?;
    let called = find_and_run(&robot, &arguments, values, interrupts).await;
    robot.leave().await;
    let outcome = called?;
    print_outcome(&outcome, arguments.json);
    Ok(match outcome.status {
        OutcomeStatus::Succeeded => ExitCode::SUCCESS,
        OutcomeStatus::Failed(_) => ExitCode::FAILURE,
        OutcomeStatus::Cancelled => ExitCode::from(CANCELLED),
    })
}

async fn find_and_run(
    robot: &Robot,
    arguments: &CallArguments,
    values: Map<String, Value>,
    interrupts: Signal,
) -> anyhow::Result<ToolOutcome> {
    let (set, spec) = find(robot, &arguments.tool).await?;
    set.check(&spec.name, &values).map_err(|problem| anyhow::anyhow!("{}: {problem}", spec.name))?;
    let invocation = Invocation {
        mission: "cortex call".into(),
        id: CallId(1),
        fingerprint: spec.fingerprint(),
        timeout: arguments.timeout.map_or(spec.timeout, Duration::from_secs_f64),
        call: ToolCall { tool: spec.name, arguments: values },
    };
    Ok(run(&robot.tools, invocation, Arc::new(Printer { as_json: arguments.json }), interrupts).await)
}

/// Waits until the tool is on offer, or until it is known why it is not. A picture of the robot without it counts only at
/// the limit: some nodes are found late, and whoever names a tool has a reason to believe that it is there.
async fn find(robot: &Robot, written: &str) -> anyhow::Result<(ToolSet, ToolSpec)> {
    let mut tools = robot.discovery.tools();
    let found = async {
        loop {
            let (set, _) = ToolSet::new(tools.borrow_and_update().iter().cloned());
            if let Some(spec) = set.resolve(written).cloned() {
                return Ok((set, spec));
            }
            tools.changed().await.context("discovery has ended")?;
        }
    };
    let refused = async {
        let mut catalog = robot.discovery.catalog();
        if robot.discovery.settled(FIND_LIMIT).await {
            // Nothing that is known to be uncallable becomes callable by waiting.
            let _ = catalog.wait_for(|catalog| uncallable(catalog, written).is_some()).await;
        }
    };
    tokio::select! {
        biased;
        found = found => found,
        () = refused => anyhow::bail!("{}", missing(robot, written)),
        () = tokio::time::sleep(FIND_LIMIT) => anyhow::bail!("{}", missing(robot, written)),
    }
}

/// Why there is no such tool, as far as that is known.
fn missing(robot: &Robot, written: &str) -> String {
    let catalog = robot.discovery.catalog();
    let catalog = catalog.borrow();
    match uncallable(&catalog, written) {
        Some(meant) => format!("{} {} can't be called: {}", meant.kind, meant.name, meant.reason),
        None => format!("there is no tool '{written}' on the robot; `cortex tools` lists them"),
    }
}

/// What can't be called, by the end of a tool's canonical or wire name.
fn uncallable<'a>(catalog: &'a Catalog, written: &str) -> Option<&'a Uncallable> {
    let plain = |name: &str| name.replace(|character: char| !character.is_ascii_alphanumeric(), "-");
    let written = plain(written);
    catalog.uncallable().iter().find(|uncallable| written.ends_with(&plain(uncallable.name.trim_start_matches('/'))))
}

async fn run(
    tools: &RosTools,
    invocation: Invocation,
    observer: Arc<dyn CallObserver>,
    mut interrupts: Signal,
) -> ToolOutcome {
    let running = tools.invoke(invocation.clone(), observer);
    tokio::pin!(running);
    let interrupted = tokio::select! {
        biased;
        outcome = &mut running => return outcome,
        _ = interrupts.recv() => true,
        () = tokio::time::sleep(invocation.timeout) => false,
    };
    eprintln!("cortex: halting the call{}", if interrupted { " (Ctrl-C again to leave without waiting)" } else { "" });
    let halt = async {
        let halted = tokio::time::timeout(HALT_LIMIT, tools.halt(&invocation)).await;
        halted.unwrap_or(HaltState::Unconfirmed)
    };
    tokio::pin!(halt);
    let mut returned = None;
    let halted = loop {
        tokio::select! {
            biased;
            _ = interrupts.recv() => break HaltState::Unconfirmed,
            halted = &mut halt => break halted,
            outcome = &mut running, if returned.is_none() => returned = Some(outcome),
        }
    };
    if returned.is_none() && !halted.may_go_on() {
        returned = tokio::time::timeout(RETURN_GRACE, &mut running).await.ok();
    }
    match returned {
        Some(outcome) if outcome.is_success() => outcome,
        _ if interrupted => ToolOutcome::cancelled(halted, format!("it was interrupted; {}", told(halted))),
        _ => {
            let seconds = invocation.timeout.as_secs_f64();
            let problem = format!("it did not end within {seconds} s; {}", told(halted));
            ToolOutcome::failure(FailureKind::Timeout, problem).with_halt(halted)
        }
    }
}

/// Whether it stopped, in words.
fn told(halted: HaltState) -> &'static str {
    match halted {
        HaltState::AtRest => "nothing of it goes on",
        HaltState::Halted => "it has halted",
        HaltState::Refused => "told to halt, it REFUSED and goes on",
        HaltState::Unconfirmed => "it has NOT confirmed that it halted, and may go on",
    }
}

/// Prints what a call tells while it runs. Whoever reads may have gone; the call goes on.
struct Printer {
    as_json: bool,
}

impl Printer {
    fn print(&self, text: &str, value: &Value) {
        let _ =
            if self.as_json { writeln!(std::io::stdout(), "{value}") } else { writeln!(std::io::stdout(), "{text}") };
    }
}

impl CallObserver for Printer {
    fn accepted(&self) {
        self.print("accepted", &json!({"event": "accepted"}));
    }

    fn progressed(&self, feedback: String) {
        self.print(&feedback, &json!({"event": "feedback", "feedback": feedback}));
    }
}

fn print_outcome(outcome: &ToolOutcome, as_json: bool) {
    // The exit status tells it, too.
    let _ = if as_json {
        let ToolOutcome { status, value, message, halt } = outcome;
        let line = json!({"event": "ended", "status": status, "value": value, "message": message, "halt": halt});
        writeln!(std::io::stdout(), "{line}")
    } else {
        match outcome.status {
            OutcomeStatus::Succeeded if outcome.value.is_null() => writeln!(std::io::stdout(), "SUCCEEDED"),
            OutcomeStatus::Succeeded => writeln!(std::io::stdout(), "{:#}\nSUCCEEDED", outcome.value),
            OutcomeStatus::Failed(_) => writeln!(std::io::stdout(), "FAILED: {}", outcome.message),
            OutcomeStatus::Cancelled => writeln!(std::io::stdout(), "CANCELLED: {}", outcome.message),
        }
    };
}
