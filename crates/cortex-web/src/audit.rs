//! Who has acted, and what came of it: one line of the log for each request that acts. Not on `/rosout`, which the page shows to
//! everybody: where people come from, and what they set, is for who may read the log of Cortex.

use cortex_protocol::{Command, CommandOutcome};

use crate::access::Caller;
use crate::error::ApiError;
use crate::refused_logins::RefusedLogins;

/// A command and what came of it.
pub(crate) fn command(caller: &Caller, command: &Command, result: &Result<CommandOutcome, ApiError>) {
    match result {
        Ok(CommandOutcome::Stopped(stopped)) => {
            acted(caller, name(command), &format!("stopped, not confirmed: {:?}", stopped.not_stopped));
        }
        Ok(outcome) => acted(caller, name(command), &format!("{outcome:?}")),
        Err(error) => refused(caller, name(command), error),
    }
}

/// Something else that was done.
pub(crate) fn acted(caller: &Caller, what: &str, outcome: &str) {
    tracing::info!(
        target: "cortex::audit", rosout = false, who = ?caller.name(), session = %caller.session_id(), role = ?caller.role(), what, outcome
    );
}

/// Something that was not done.
pub(crate) fn refused(caller: &Caller, what: &str, error: &ApiError) {
    tracing::info!(
        target: "cortex::audit", rosout = false, who = ?caller.name(), session = %caller.session_id(), role = ?caller.role(), what,
        outcome = "refused", kind = ?error.kind, reason = ?error.reason
    );
}

/// A task that another system has given.
pub(crate) fn webhook(name: &str, result: &Result<CommandOutcome, ApiError>) {
    let what = "submit by webhook";
    match result {
        Ok(outcome) => tracing::info!(target: "cortex::audit", rosout = false, who = name, what, ?outcome),
        Err(error) => {
            tracing::info!(target: "cortex::audit", rosout = false, who = name, what, outcome = "refused", kind = ?error.kind, reason = ?error.reason);
        }
    }
}

/// A login that was refused, unless there were too many. `left_out`: how many before it were not logged.
pub(crate) fn login_refused(refused: &RefusedLogins, peer: std::net::IpAddr, why: &str) {
    if let Some(left_out) = refused.note(std::time::Instant::now()) {
        tracing::info!(target: "cortex::audit", rosout = false, who = %peer, what = "login", outcome = "refused", why, left_out);
    }
}

/// A login, which nobody has a name for yet.
pub(crate) fn login(peer: std::net::IpAddr, outcome: &str) {
    tracing::info!(target: "cortex::audit", rosout = false, who = %peer, what = "login", outcome);
}

fn name(command: &Command) -> &'static str {
    match command {
        Command::Submit { .. } => "submit",
        Command::Cancel { .. } => "cancel",
        Command::Revise { .. } => "revise",
        Command::Answer { .. } => "answer",
        Command::CallTool { .. } => "call_tool",
        Command::Dispute { .. } => "dispute",
        Command::Stop => "stop",
        Command::Resume => "resume",
        Command::Pause => "pause",
        Command::Unpause => "unpause",
        Command::TakeOver => "take_over",
        Command::HandBack => "hand_back",
        _ => "another command",
    }
}
