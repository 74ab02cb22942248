//! Why the view could not be shown.

use thiserror::Error;

/// See the module.
#[derive(Debug, Error)]
pub enum WatchError {
    /// The address is none of an HTTP server.
    #[error("'{0}' is no address of a Cortex. Write http://HOST:PORT, as `cortex run` logs it")]
    Address(String),
    /// The address is one of HTTPS.
    #[error(
        "'{0}' asks for HTTPS, and `cortex watch` speaks HTTP only. Watch on the robot itself, or through a tunnel: \
         `ssh -L 8642:127.0.0.1:8642 ROBOT`, then `cortex watch http://127.0.0.1:8642`"
    )]
    Https(String),
    /// Nobody answers.
    #[error(
        "no Cortex answers at {address}: {problem}. Start one with `cortex run`; where its page has another address, which \
         `cortex status` shows, name that address"
    )]
    Unreachable {
        /// Where.
        address: String,
        /// What happened.
        problem: String,
    },
    /// The server refuses.
    #[error("{address} refuses: {reason}")]
    Refused {
        /// Where.
        address: String,
        /// In the server's words, and what to do.
        reason: String,
    },
    /// The token has a form that no header can hold.
    #[error(
        "CORTEX_WATCH_TOKEN holds no token: a token has letters, digits and signs only. Log in again for a new one"
    )]
    Token,
    /// The terminal cannot be used.
    #[error("the terminal cannot be used: {0}. Try `cortex watch --plain`")]
    Terminal(#[source] std::io::Error),
    /// What the view needs of the system could not be had.
    #[error("the view could not be started: {0}")]
    Start(#[source] std::io::Error),
    /// No mission has run since Cortex was started, and none was named.
    #[error(
        "this Cortex has run no mission since it was started. Name an earlier one: `cortex tape list` shows their ids"
    )]
    NoMission,
    /// An incident could not be written.
    #[error("{} can't be written: {error}", path.display())]
    NotSaved {
        /// Where to.
        path: std::path::PathBuf,
        /// What happened.
        error: std::io::Error,
    },
}
