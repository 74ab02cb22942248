//! Errors as clients get them: one form for programs and people.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cortex_protocol::{CommandError, CommandErrorKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was not carried out. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ApiError {
    /// For programs.
    pub(crate) kind: ErrorKind,
    /// For people: what happened, and what to do.
    pub(crate) reason: String,
}

/// Kinds of [`ApiError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorKind {
    /// Nobody is logged in.
    Unauthenticated,
    /// It takes another role.
    Forbidden,
    /// Another site's page asks.
    CrossOrigin,
    /// There is no such thing.
    NotFound,
    /// The request can't be read.
    Invalid,
    /// The body is larger than allowed.
    TooLarge,
    /// The body is of a kind that is not read.
    UnsupportedType,
    /// The robot, the mission or the question is not in a state for it.
    Refused,
    /// Too much is under way.
    Busy,
    /// Too many requests; later they may be taken.
    TooMany,
    /// Cortex is going down, or has failed.
    Unavailable,
    /// The person looked at an old picture of the robot.
    Stale,
    /// The robot, or what the request is about, is not any more as the person saw it.
    Changed,
}

impl ErrorKind {
    fn status(self) -> StatusCode {
        match self {
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::CrossOrigin => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Refused => StatusCode::CONFLICT,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Stale | Self::Changed => StatusCode::PRECONDITION_FAILED,
        }
    }
}

impl ApiError {
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, reason)
    }

    /// What nobody who is not logged in gets.
    pub(crate) fn unauthenticated() -> Self {
        Self::new(ErrorKind::Unauthenticated, "You are not logged in. Log in with a pairing code of this robot.")
    }

    /// A flaw of the server or the system beneath it.
    pub(crate) fn failed(what: &str, error: &dyn std::error::Error) -> Self {
        tracing::error!(error = %error, "{what}");
        Self::new(ErrorKind::Unavailable, format!("{what}: {error}. Look at the log of Cortex."))
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.kind.status()
    }
}

impl From<CommandError> for ApiError {
    fn from(error: CommandError) -> Self {
        let kind = match error.kind {
            CommandErrorKind::Forbidden => ErrorKind::Forbidden,
            CommandErrorKind::NotFound => ErrorKind::NotFound,
            CommandErrorKind::Invalid => ErrorKind::Invalid,
            CommandErrorKind::Refused => ErrorKind::Refused,
            CommandErrorKind::Changed => ErrorKind::Changed,
            CommandErrorKind::Busy => ErrorKind::Busy,
            // A kind that is not known here is at least no success.
            _ => ErrorKind::Unavailable,
        };
        Self { kind, reason: error.reason }
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::invalid(format!("The query of the address can't be read: {}.", rejection.body_text()))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status(), Json(self)).into_response()
    }
}
