//! The page and the HTTP API of Cortex: what people see of the robot, and how they act on it.
//!
//! A client of [`OperatorPort`] like any other: nothing here decides about the robot. The server has threads and a runtime of
//! its own, so that missions and pages do not slow each other.
//!
//! - `server`: the listener, its bounds, its end; `places`: how many connections;
//!   `arrival`, `tls`: how they are encrypted; `router`: which request is answered by what;
//! - `access`: who asks, with which role, and which requests a browser was tricked into; `login`, `accounts`:
//!   requests about that;
//! - `hub`: what happens, gathered for all pages; `live`: one page's live stream; `sse`: the same events for programs;
//! - `commands`, `known_commands`, `seen`: what people ask for, once each, and only while it is what they were looking at;
//! - `webhooks`: other systems are told what happens, and give tasks;
//! - `stop`: STOP, which waits for none of the others;
//! - `robot`: its map, pictures, numbers and parameters; `views`: what of it is looked at, once for all who look;
//! - `missions`, `report`: what was recorded; `incident`: what is needed to look into a mission elsewhere; `pages`: the shell and its assets, `compressed` for the way; `openapi`: the API as a document.

mod access;
mod accounts;
mod arrival;
mod audit;
mod callers;
mod commands;
mod compressed;
mod connection;
mod error;
mod headers;
mod hub;
mod incident;
mod known_commands;
mod live;
mod live_connections;
mod login;
mod logs;
mod memory;
mod missions;
mod openapi;
mod pages;
mod places;
mod refused_logins;
mod report;
mod request;
mod robot;
mod router;
mod seen;
mod server;
mod site;
mod skills;
mod sse;
mod stop;
mod tls;
mod views;
mod webhooks;
mod write_timeout;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

pub use cortex_core::OperatorPort;
pub use server::WebServer;
pub use webhooks::{IncomingWebhook, WebhookProblem, WebhookSecret, WebhookTarget};

/// Where and for whom the server listens.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// The address. Where its port is taken, the server takes a free one of the same address.
    pub listen: SocketAddr,
    /// The robot's name, for people.
    pub robot: String,
    /// Where sessions are kept over a restart: a folder of Cortex alone. None: they end with the process.
    pub state_directory: Option<PathBuf>,
    /// Who has to log in.
    pub login: Login,
    /// With what the page is encrypted. None: it is not.
    pub tls: Option<TlsFiles>,
    /// Other systems that are told what happens.
    pub webhooks: Vec<WebhookTarget>,
    /// Other systems that give tasks.
    pub incoming: Vec<IncomingWebhook>,
    /// Bounds that a client can't change.
    pub limits: WebLimits,
}

/// A certificate and its key, in PEM. Files that change are used from the next connection on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The robot's own certificate, and then those of who has signed it.
    pub certificate: PathBuf,
    /// The private key, without a password.
    pub key: PathBuf,
}

/// Who has to log in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Login {
    /// Everybody but a person or a program on the robot's own computer.
    #[default]
    Others,
    /// Everybody. For a robot on which a proxy runs that can't say for whom it asks.
    Everyone,
}

impl WebSettings {
    /// The address where nothing else is configured: this machine alone.
    pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8642";

    /// Settings with the usual bounds, and sessions that end with the process.
    pub fn new(listen: SocketAddr, robot: impl Into<String>) -> Self {
        Self {
            listen,
            robot: robot.into(),
            state_directory: None,
            login: Login::default(),
            tls: None,
            webhooks: Vec::new(),
            incoming: Vec::new(),
            limits: WebLimits::default(),
        }
    }
}

/// Bounds that a client can't change.
#[derive(Debug, Clone, Copy)]
pub struct WebLimits {
    /// Most connections at a time. Beyond them, [`WebLimits::CONNECTIONS_FOR_STOP`] more are answered when they ask for STOP.
    pub connections: usize,
    /// Most of them that one peer has; of IPv6, one network of a household. This machine may have all.
    pub connections_per_peer: usize,
    /// How long the header of a request, or its body, may take; and how long a connection may be idle.
    pub read_timeout: Duration,
    /// How long a client may take nothing of what it was sent.
    pub write_timeout: Duration,
    /// How long the sender of a command waits for what came of it; the command goes on. Longer than a stop takes to be
    /// answered.
    pub answer_timeout: Duration,
    /// The first pause before a webhook that was not taken is sent again. The next ones are longer.
    pub webhook_pause: Duration,
}

impl WebLimits {
    /// Connections that are kept free for STOP.
    pub const CONNECTIONS_FOR_STOP: usize = 32;
}

impl Default for WebLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            connections_per_peer: 96,
            read_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(40),
            webhook_pause: Duration::from_secs(1),
        }
    }
}

/// Why the server can't do its work.
#[derive(Debug, Error)]
pub enum WebError {
    /// Neither the port nor a free one of the address can be had.
    #[error("the page can't listen on {address}: {source}. Configure an address of this machine.")]
    Listen {
        /// The configured one.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The threads can't be started.
    #[error("the threads of the page can't be started: {0}")]
    Threads(std::io::Error),
    /// The sessions can't be kept.
    #[error("the sessions of the page can't be kept in {path}: {source}. Make it a folder that Cortex may write.")]
    Sessions {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The users can't be kept.
    #[error(
        "the users of the page can't be kept in {path}: {source}. Make it a file in a folder that Cortex may write."
    )]
    Users {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another session would be one too many.
    #[error("there are {0} sessions, and no more are allowed: end one that is not needed")]
    TooManySessions(usize),
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(std::io::Error),
}
