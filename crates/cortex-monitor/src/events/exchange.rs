//! What goes into the events and what comes out.

use std::fmt;
use std::time::Duration;

use cortex_core::condition::Verdict;
use cortex_recipe::EventName;
use serde::{Deserialize, Serialize};

use super::{MAX_ACTIONS, WINDOW};

/// Something that the events are told. What is about an event that is not in the recipe changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum EventInput {
    /// What is known of an event's conditions now.
    Seen {
        /// Which event.
        event: EventName,
        /// What is known of `when`.
        when: Verdict,
        /// What is known of `until`; it does not matter where there is none.
        until: Verdict,
    },
    /// Everything that an event does has ended, well or not.
    Ended {
        /// Which event.
        event: EventName,
    },
    /// The robot was stopped: nothing is done until `Resumed`. What is being done is ended by who does it.
    Stopped,
    /// It may do things again.
    Resumed,
    /// Time has passed.
    Tick,
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum EventEffect {
    /// Do what the event does; answered by `Ended`. Until then it does not come again for this event.
    Do {
        /// Which event.
        event: EventName,
    },
    /// Something worth knowing happened.
    Report {
        /// What.
        report: EventReport,
    },
}

/// Something that is worth knowing about events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum EventReport {
    /// An event would happen and may not yet. Told once until it happens.
    HeldBack {
        /// Which.
        event: EventName,
        /// Why.
        why: HeldBack,
    },
    /// So much happens that events have to wait for each other.
    RateLimitReached,
    /// They do not any more.
    RateLimitLifted,
}

/// Why an event does not happen although it holds. It happens as soon as it may, if it still holds then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "because")]
pub enum HeldBack {
    /// The robot is stopped.
    Stopped,
    /// It has happened as often as its recipe allows.
    TooOften,
    /// It comes back right after its own task has ended, again and again.
    ComesBack {
        /// How long it is left alone after each end.
        rest: Duration,
    },
    /// All events together do too much.
    RateLimit,
}

impl fmt::Display for HeldBack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => formatter.write_str("the robot is stopped"),
            Self::TooOften => formatter.write_str("it has happened as often as it may for now"),
            Self::ComesBack { rest } => {
                write!(formatter, "it comes back whenever its task has ended; it waits {} s now", rest.as_secs())
            }
            Self::RateLimit => formatter.write_str("too much happens at once"),
        }
    }
}

impl fmt::Display for EventReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldBack { event, why } => write!(formatter, "the event {event} waits: {why}"),
            Self::RateLimitReached => write!(
                formatter,
                "so much happens at once that events wait for each other: all of them do at most {MAX_ACTIONS} things in \
                 {} s",
                WINDOW.as_secs()
            ),
            Self::RateLimitLifted => formatter.write_str("events do not wait for each other any more"),
        }
    }
}
