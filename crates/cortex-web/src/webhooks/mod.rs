//! Webhooks: what happens is told to other systems, and they give tasks. Both ways are signed as Standard Webhooks
//! (standardwebhooks.com) are: with HMAC-SHA256 over id, time and body.
//!
//! - `signature`: secrets and signatures; `outgoing`: events to others, with `position`, how far they got; `incoming`: tasks.

pub(crate) mod incoming;
pub(crate) mod outgoing;
mod position;
mod signature;

use std::fmt;

use axum::http::HeaderName;
use reqwest::Url;
use thiserror::Error;

pub use signature::WebhookSecret;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Most characters of the name of an incoming webhook, and of a kind of event.
const NAME_CHARACTERS: usize = 64;

/// Why a webhook can't be used as it is configured. Says nothing of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WebhookProblem {
    /// The secret has another form.
    #[error(
        "its secret must be 'whsec_' and then 24 to 64 random bytes in base64. Make one with: \
         echo \"whsec_$(openssl rand -base64 32)\""
    )]
    Secret,
    /// The address is none.
    #[error("its address is none of the web: write https://HOST/PATH, without a name and a password")]
    Address,
    /// The address is not encrypted.
    #[error(
        "its address is not encrypted: write https://, or set allow_http where everybody in the network may read what the \
         robot does"
    )]
    Clear,
    /// It asks for no events.
    #[error("it names no events: write kinds such as \"cortex.mission.finished\", or \"cortex.mission.*\" for several")]
    NoEvents,
    /// A kind of event is none.
    #[error("'{0}' names no kind of event: write \"cortex.mission.finished\", or \"cortex.mission.*\" for several")]
    Event(String),
    /// The name is none.
    #[error("its name must have 1 to 64 letters from a to z, digits, hyphens and underscores")]
    Name,
}

/// Another system that is told what happens.
#[derive(Clone)]
pub struct WebhookTarget {
    url: Url,
    secret: WebhookSecret,
    events: Vec<String>,
}

impl WebhookTarget {
    /// One at this address, which is told of these kinds of events: whole, or the beginning before a `*`.
    ///
    /// # Errors
    /// When the address or a kind is none, or the address is in clear and beyond this machine, unless `allow_http`.
    pub fn new(
        url: &str,
        secret: WebhookSecret,
        events: Vec<String>,
        allow_http: bool,
    ) -> Result<Self, WebhookProblem> {
        let url = Url::parse(url).map_err(|_| WebhookProblem::Address)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(WebhookProblem::Address);
        }
        let host = url.host_str().ok_or(WebhookProblem::Address)?;
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        let is_this_machine = host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback());
        match url.scheme() {
            "https" => {}
            "http" if is_this_machine || allow_http => {}
            "http" => return Err(WebhookProblem::Clear),
            _ => return Err(WebhookProblem::Address),
        }
        if events.is_empty() {
            return Err(WebhookProblem::NoEvents);
        }
        let is_kind = |kind: &str| {
            let name = kind.strip_suffix('*').unwrap_or(kind);
            let is_plain = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '.' | '_');
            kind.len() <= NAME_CHARACTERS
                && name.chars().all(is_plain)
                && name.starts_with("cortex.")
                && kind != "cortex."
        };
        match events.iter().find(|kind| !is_kind(kind)) {
            Some(kind) => Err(WebhookProblem::Event(kind.chars().take(NAME_CHARACTERS).collect())),
            None => Ok(Self { url, secret, events }),
        }
    }

    fn wants(&self, kind: &str) -> bool {
        self.events.iter().any(|wanted| match wanted.strip_suffix('*') {
            Some(beginning) => kind.starts_with(beginning),
            None => kind == wanted,
        })
    }

    /// Where it is, without what may be secret: the path and what follows it.
    fn shown(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

impl fmt::Debug for WebhookTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("WebhookTarget");
        shown.field("at", &self.shown()).field("events", &self.events).finish_non_exhaustive()
    }
}

/// Another system that gives tasks.
#[derive(Debug, Clone)]
pub struct IncomingWebhook {
    name: String,
    secret: WebhookSecret,
}

impl IncomingWebhook {
    /// One that sends to `/api/v1/webhooks/NAME`.
    ///
    /// # Errors
    /// When that is no name.
    pub fn new(name: &str, secret: WebhookSecret) -> Result<Self, WebhookProblem> {
        let is_plain =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_');
        if name.is_empty() || name.len() > NAME_CHARACTERS || !name.chars().all(is_plain) {
            return Err(WebhookProblem::Name);
        }
        Ok(Self { name: name.to_owned(), secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, events: &[&str], allow_http: bool) -> Result<WebhookTarget, WebhookProblem> {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        WebhookTarget::new(url, secret, events.iter().map(|kind| (*kind).to_owned()).collect(), allow_http)
    }

    #[test]
    fn events_leave_the_machine_encrypted_unless_somebody_says_otherwise() {
        let all = &["cortex.*"];
        for url in ["https://example.org/a?b=c", "http://127.0.0.1:8/x", "http://localhost/", "http://[::1]:8/"] {
            assert!(target(url, all, false).is_ok(), "{url}");
        }
        for url in
            ["http://example.org/", "http://10.0.0.1/", "http://127.0.0.1.evil.example/", "http://localhost.evil/"]
        {
            assert_eq!(target(url, all, false).err(), Some(WebhookProblem::Clear), "{url}");
            assert!(target(url, all, true).is_ok(), "{url}");
        }
        for url in ["", "example.org", "ftp://localhost/", "file:///etc/passwd", "https://me:word@example.org/"] {
            assert_eq!(target(url, all, true).err(), Some(WebhookProblem::Address), "{url}");
        }
    }

    #[test]
    fn kinds_are_whole_or_beginnings() {
        let target_of = |events: &[&str]| target("https://example.org/hook?token=t", events, false);
        let wanted = target_of(&["cortex.mission.*", "cortex.question.asked"]).unwrap();
        for (kind, is_wanted) in [
            ("cortex.mission.finished", true),
            ("cortex.question.asked", true),
            ("cortex.question.ended", false),
            ("cortex.missionary.x", false),
        ] {
            assert_eq!(wanted.wants(kind), is_wanted, "{kind}");
        }
        assert!(!format!("{wanted:?}").contains("token"), "{wanted:?}");
        assert_eq!(target_of(&[]).err(), Some(WebhookProblem::NoEvents));
        for kind in ["", "*", "mission.finished", "cortex.", "cortex.Mission", "cortex.*.finished"] {
            assert!(matches!(target_of(&[kind]), Err(WebhookProblem::Event(_))), "{kind}");
        }
    }
}
