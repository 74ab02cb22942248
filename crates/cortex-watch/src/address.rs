//! Where the Cortex is that is watched.

use std::fmt;
use std::str::FromStr;

use crate::error::WatchError;

/// The address of the page of a Cortex: `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    authority: String,
}

impl Address {
    /// Where Cortex listens unless it is configured otherwise.
    pub const DEFAULT: &str = "http://127.0.0.1:8642";

    /// The address of a path over HTTP.
    pub(crate) fn http(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    /// The address of a path over a WebSocket.
    pub(crate) fn web_socket(&self, path: &str) -> String {
        format!("ws://{}{path}", self.authority)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.http(""))
    }
}

impl FromStr for Address {
    type Err = WatchError;

    /// Reads `http://HOST:PORT`, `HOST:PORT`, or the address that Cortex listens at: one that stands for all addresses of
    /// this machine leads to the loopback address.
    fn from_str(text: &str) -> Result<Self, WatchError> {
        let wrong = || WatchError::Address(text.to_owned());
        if text.starts_with("https://") {
            return Err(WatchError::Https(text.to_owned()));
        }
        let authority = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
        let url = reqwest::Url::parse(&format!("http://{authority}")).map_err(|_| wrong())?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_bare || !url.username().is_empty() || url.password().is_some() || authority.contains("://") {
            return Err(wrong());
        }
        let host = match url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)? {
            "0.0.0.0" => "127.0.0.1",
            "[::]" => "[::1]",
            host => host,
        };
        Ok(Self { authority: format!("{host}:{}", url.port().unwrap_or(80)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_people_and_the_configuration_write_it() {
        for (text, expected) in [
            ("http://127.0.0.1:8642", "http://127.0.0.1:8642"),
            ("http://robot.local:8642/", "http://robot.local:8642"),
            ("127.0.0.1:8642", "http://127.0.0.1:8642"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("[::]:9000", "http://[::1]:9000"),
            ("[fe80::1]:9000", "http://[fe80::1]:9000"),
            ("robot", "http://robot:80"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_or_asks_for_encryption_is_refused_with_what_to_do() {
        for text in ["", "http://", "ftp://robot", "http://robot/path", "http://me:secret@robot", "robot:port", "a b"] {
            assert!(matches!(text.parse::<Address>(), Err(WatchError::Address(_))), "{text}");
        }
        let error = "https://robot".parse::<Address>().unwrap_err();
        assert!(error.to_string().contains("speaks HTTP only"), "{error}");
    }
}
