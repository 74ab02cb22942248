//! `cortex call TOOL '{json}'`: one tool, run by hand.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cortex_core::{CallObserver, Invocation, ToolSet};
use cortex_protocol::words::did_you_mean;
use cortex_protocol::{CallId, Effect, HaltState, OutcomeStatus, ToolCall, ToolOutcome, ToolSpec, strict_json};
use cortex_robot::Robot;
use cortex_ros::{Catalog, RosTools, Uncallable};
use cortex_runtime::{CallBounds, run_call};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::arguments::CallArguments;
use crate::configuration::policy;
use crate::stopped::StopWatch;
use crate::visit::{known_for_certain, settled};

/// Exit status of a call that was interrupted: that of a program that SIGINT ended.
const CANCELLED: u8 = 130;
/// Longest search for the tool.
const FIND_LIMIT: Duration = Duration::from_secs(8);
/// How long the first time of a simulation may take to come. Simulations publish it many times a second.
const CLOCK_LIMIT: Duration = Duration::from_secs(2);
/// How long a call may take to halt, and then to say how it ended.
const BOUNDS: CallBounds = CallBounds { halt_timeout: Duration::from_secs(10), return_grace: Duration::from_secs(1) };

/// `cortex call`: one call by hand, past every planner. Halted by a signal, and by a stop.
///
/// # Errors
/// When the values can't be read, or the call can't be tried.
pub async fn call(arguments: CallArguments) -> anyhow::Result<ExitCode> {
    let values = read_values(&arguments.arguments)?;
    // Before anything is sent: from here on a signal halts the call, and none is lost.
    let interruptions = Interruptions::listen()?;
    let robot = Robot::look(|node| policy(node, arguments.config.as_deref()))?;
    let called = find_and_run(&robot, &arguments, values, interruptions).await;
    robot.leave().await;
    let outcome = called?;
    print_outcome(&outcome, arguments.json);
    Ok(match outcome.status {
        OutcomeStatus::Succeeded => ExitCode::SUCCESS,
        OutcomeStatus::Failed(_) => ExitCode::FAILURE,
        OutcomeStatus::Cancelled | OutcomeStatus::NotBegun => ExitCode::from(CANCELLED),
    })
}

fn read_values(text: &str) -> anyhow::Result<Map<String, Value>> {
    match strict_json::read(text).context("the arguments are not JSON")? {
        Value::Object(values) => Ok(values),
        _ => anyhow::bail!("the arguments must be a JSON object, such as '{{\"data\": true}}'"),
    }
}

async fn find_and_run(
    robot: &Robot,
    arguments: &CallArguments,
    values: Map<String, Value>,
    mut interruptions: Interruptions,
) -> anyhow::Result<ToolOutcome> {
    let ready = async {
        let mut found = find(robot, &arguments.tool).await?;
        if found.1.component.is_none() && values.contains_key("component") {
            found = find_for(robot, &arguments.tool, &values).await?;
        }
        // A message that is stamped before the first `/clock` is stamped 0, which is as old as can be.
        if tokio::time::timeout(CLOCK_LIMIT, robot.node.clock().started()).await.is_err() {
            eprintln!("cortex: use_sim_time is set, and nothing came on /clock: messages are stamped 0");
        }
        let stops = if may_be_stopped(&found.1, arguments) {
            // The tool may have been found before the Cortex that has stopped the robot.
            settled(robot).await;
            let mut stops = StopWatch::begin(robot).await?;
            stops.may_call().await?;
            Some(stops)
        } else {
            None
        };
        anyhow::Ok((found, stops))
    };
    let ((set, spec), stops) = tokio::select! {
        found = ready => found?,
        signal = interruptions.next() => {
            let never = format!("{signal} came before it was sent");
            return Ok(ToolOutcome::cancelled(HaltState::AtRest, never));
        }
    };
    set.check(&spec.name, &values).map_err(|problem| anyhow::anyhow!("{}: {problem}", spec.name))?;
    let invocation = Invocation {
        mission: "cortex call".into(),
        id: CallId(1),
        fingerprint: spec.fingerprint(),
        timeout: arguments.timeout.map_or(spec.timeout, Duration::from_secs_f64),
        call: ToolCall { tool: spec.name.clone(), arguments: values },
    };
    let observer = Arc::new(Printer { as_json: arguments.json });
    Ok(run(&robot.tools, spec, invocation, observer, &mut interruptions, stops).await)
}

/// Whether a stop is obeyed. What only looks is never stopped.
fn may_be_stopped(spec: &ToolSpec, arguments: &CallArguments) -> bool {
    spec.effect != Effect::Observe && !arguments.while_stopped
}

/// Waits until the tool is on offer, or until it is known why it is not. A picture of the robot without it counts where a
/// running Cortex has the same, and else only at the limit: some nodes are found late, and whoever names a tool has a reason
/// to believe that it is there.
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
        () = known_for_certain(robot) => anyhow::bail!("{}", missing(robot, written)),
        () = tokio::time::sleep(FIND_LIMIT) => anyhow::bail!("{}", missing(robot, written)),
    }
}

/// Cortex's own tools are there before the node is found that their arguments name. Waits until they take these arguments, for
/// as long as for a tool; one that does not come is told by the call.
async fn find_for(robot: &Robot, written: &str, values: &Map<String, Value>) -> anyhow::Result<(ToolSet, ToolSpec)> {
    let mut tools = robot.discovery.tools();
    let taken = async {
        loop {
            let (set, _) = ToolSet::new(tools.borrow_and_update().iter().cloned());
            let takes = |spec: &ToolSpec| set.check(&spec.name, values).is_ok();
            if set.resolve(written).is_some_and(takes) || tools.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = taken => {}
        () = known_for_certain(robot) => {}
        () = tokio::time::sleep(FIND_LIMIT) => {}
    }
    find(robot, written).await
}

/// Why there is no such tool, as far as that is known.
fn missing(robot: &Robot, written: &str) -> String {
    let catalog = robot.discovery.catalog();
    let catalog = catalog.borrow();
    match uncallable(&catalog, written) {
        Some(meant) => format!("{} {} can't be called: {}", meant.kind, meant.name, meant.reason),
        None => {
            let tools = robot.discovery.tools();
            let tools = tools.borrow();
            let meant = did_you_mean(written, tools.iter().map(|spec| spec.name.as_str()));
            format!("there is no tool '{written}' on the robot{meant}; `cortex tools` lists them")
        }
    }
}

/// What can't be called, by the end of a tool's canonical or wire name.
fn uncallable<'a>(catalog: &'a Catalog, written: &str) -> Option<&'a Uncallable> {
    let plain = |name: &str| name.replace(|character: char| !character.is_ascii_alphanumeric(), "-");
    let written = plain(written);
    catalog.uncallable().iter().find(|uncallable| written.ends_with(&plain(uncallable.name.trim_start_matches('/'))))
}

/// Carries out the call, as a mission would. Whoever interrupts it a second time does not wait for its halt.
async fn run(
    tools: &RosTools,
    spec: ToolSpec,
    invocation: Invocation,
    observer: Arc<dyn CallObserver>,
    interruptions: &mut Interruptions,
    stops: Option<StopWatch>,
) -> ToolOutcome {
    let cancelled = CancellationToken::new();
    let running = run_call(Arc::new(tools.clone()), spec, invocation, observer, cancelled.clone(), BOUNDS);
    tokio::pin!(running);
    let stopped = async {
        match stops {
            Some(mut stops) => format!("the robot was stopped ({})", stops.stopped().await),
            None => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        biased;
        outcome = &mut running => return outcome,
        signal = interruptions.next() => signal.to_owned(),
        stopped = stopped => stopped,
    };
    say(&format!("{why}: halting the call (interrupt it to leave without waiting)"));
    cancelled.cancel();
    tokio::select! {
        biased;
        outcome = &mut running => outcome,
        _ = interruptions.next() => ToolOutcome::cancelled(HaltState::Unconfirmed, "it was left before it had halted"),
    }
}

/// The signals that ask the call to end. While this listens, none of them ends the process.
struct Interruptions {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Interruptions {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one and names it.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hang_up.recv() => "SIGHUP",
        }
    }
}

/// A line for whoever runs the command. The terminal may be gone; the call must be halted all the same.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "cortex: {line}");
}

/// A warning, where what the call began may go on.
fn warning(halted: HaltState) -> Option<&'static str> {
    match halted {
        HaltState::AtRest | HaltState::Halted => None,
        HaltState::Refused => Some("what it began GOES ON: told to halt, it refused"),
        HaltState::Unconfirmed => Some("what it began MAY GO ON: it has not confirmed that it halted"),
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
    if let Some(warning) = warning(outcome.halt) {
        say(warning);
    }
    for seen in outcome.evidence.iter().filter(|_| !as_json) {
        let _ = writeln!(std::io::stdout(), "verified: {seen}");
    }
    // The exit status tells it, too.
    let _ = if as_json {
        let ToolOutcome { status, value, message, halt, evidence, pictures } = outcome;
        let line = json!({
            "event": "ended", "status": status, "value": value, "message": message, "halt": halt, "evidence": evidence,
            "pictures": pictures
        });
        writeln!(std::io::stdout(), "{line}")
    } else {
        match outcome.status {
            OutcomeStatus::Succeeded if outcome.value.is_null() => writeln!(std::io::stdout(), "SUCCEEDED"),
            OutcomeStatus::Succeeded => writeln!(std::io::stdout(), "{:#}\nSUCCEEDED", outcome.value),
            OutcomeStatus::Failed(_) => writeln!(std::io::stdout(), "FAILED: {}", outcome.message),
            OutcomeStatus::Cancelled | OutcomeStatus::NotBegun => {
                writeln!(std::io::stdout(), "CANCELLED: {}", outcome.message)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_say_two_things_are_refused() {
        assert!(read_values(r#"{"place": "kitchen"}"#).is_ok());
        for text in [r#"{"place": "kitchen", "place": "office"}"#, "[1]", "kitchen", "{"] {
            assert!(read_values(text).is_err(), "{text}");
        }
    }
}
