//! Names of interfaces, `package/msg/Name`, checked.
//!
//! Such a name comes from the graph, a model or a file, and becomes a path and a symbol: nothing but a checked
//! [`InterfaceName`] reaches either.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// No name of ROS is longer: topics and types end there in every middleware.
const MAX_LENGTH: usize = 255;

/// What an interface describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterfaceKind {
    /// What a topic carries: `msg`.
    Message,
    /// A request and its response: `srv`.
    Service,
    /// A goal, its feedback and its result: `action`.
    Action,
}

impl InterfaceKind {
    /// The middle part of a name, which is also the folder and the ending of the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "msg",
            Self::Service => "srv",
            Self::Action => "action",
        }
    }
}

impl fmt::Display for InterfaceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The full name of an interface, such as `geometry_msgs/msg/Pose`.
///
/// The package is `[a-z][a-z0-9_]*` and the name `[A-Z][A-Za-z0-9_]*`. Underscores occur in the names of the messages
/// that services and actions consist of, such as `std_srvs/srv/SetBool_Request`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InterfaceName {
    package: String,
    kind: InterfaceKind,
    name: String,
}

/// A text that is not the name of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("\"{name}\" is not the name of an interface: {problem}; it looks like geometry_msgs/msg/Pose")]
pub struct InvalidName {
    /// The text, shortened.
    pub name: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl InterfaceName {
    /// A name from its parts.
    ///
    /// # Errors
    /// When a part has characters that it may not have, or the whole is too long.
    pub fn new(package: &str, kind: InterfaceKind, name: &str) -> Result<Self, InvalidName> {
        let problem = if package.len().saturating_add(name.len()) > MAX_LENGTH {
            "it is too long"
        } else if !starts_with(package, |first| first.is_ascii_lowercase()) {
            "a package starts with a small letter"
        } else if !package.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
            "a package consists of small letters, digits and underscores"
        } else if !starts_with(name, |first| first.is_ascii_uppercase()) {
            "the last part starts with a capital letter"
        } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            "the last part consists of letters and digits"
        } else {
            return Ok(Self { package: package.to_owned(), kind, name: name.to_owned() });
        };
        Err(InvalidName { name: shortened(&format!("{package}/{kind}/{name}")), problem })
    }

    /// The package that defines the interface.
    #[must_use]
    pub fn package(&self) -> &str {
        &self.package
    }

    /// What it describes.
    #[must_use]
    pub fn kind(&self) -> InterfaceKind {
        self.kind
    }

    /// The last part.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for InterfaceName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |problem| InvalidName { name: shortened(text), problem };
        let mut parts = text.split('/');
        let (Some(package), Some(kind), Some(name), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(refused("it has not three parts"));
        };
        let kind = match kind {
            "msg" => InterfaceKind::Message,
            "srv" => InterfaceKind::Service,
            "action" => InterfaceKind::Action,
            _ => return Err(refused("the middle part is none of msg, srv and action")),
        };
        Self::new(package, kind, name)
    }
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.package, self.kind, self.name)
    }
}

impl TryFrom<String> for InterfaceName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<InterfaceName> for String {
    fn from(name: InterfaceName) -> Self {
        name.to_string()
    }
}

fn starts_with(text: &str, is_allowed: impl Fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(is_allowed)
}

/// At most as much of a hostile text as an error message should repeat, and nothing that a terminal would obey.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_LENGTH).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_shown_alike() {
        for text in ["geometry_msgs/msg/Pose", "std_srvs/srv/SetBool", "nav2_msgs/action/NavigateToPose"] {
            let name: InterfaceName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
        }
        let name: InterfaceName = "std_srvs/srv/SetBool_Request".parse().unwrap();
        assert_eq!((name.package(), name.kind(), name.name()), ("std_srvs", InterfaceKind::Service, "SetBool_Request"));
    }

    #[test]
    fn what_could_leave_the_folder_or_the_symbol_is_refused() {
        let problem = |text: &str| text.parse::<InterfaceName>().unwrap_err().problem;
        assert_eq!(problem("geometry_msgs/Pose"), "it has not three parts");
        assert_eq!(problem(""), "it has not three parts");
        assert_eq!(problem("../msg/Pose"), "a package starts with a small letter");
        assert_eq!(problem("a/../../etc/msg/Pose"), "it has not three parts");
        assert_eq!(problem("a..b/msg/Pose"), "a package consists of small letters, digits and underscores");
        assert_eq!(problem("a/msg/Po\0se"), "the last part consists of letters and digits");
        assert_eq!(problem("a/msg/Pose.so"), "the last part consists of letters and digits");
        assert_eq!(problem("a/msg/pose"), "the last part starts with a capital letter");
        assert_eq!(problem("a/bin/Pose"), "the middle part is none of msg, srv and action");
        assert_eq!(problem(&format!("{}/msg/Pose", "a".repeat(1000))), "it is too long");
    }

    #[test]
    fn an_error_repeats_only_the_start_of_a_hostile_text() {
        let error = "x".repeat(10_000_000).parse::<InterfaceName>().unwrap_err();
        assert_eq!(error.name.len(), MAX_LENGTH);
    }

    /// The escape sequence stood in the error as it is, and went to the terminals of people.
    #[test]
    fn regression_an_error_repeated_the_control_characters_of_a_hostile_text() {
        for text in ["a\u{1b}[31m\n/msg/Pose", "\u{1b}[31m\n"] {
            let told = text.parse::<InterfaceName>().unwrap_err().to_string();
            assert!(told.contains(" [31m ") && !told.chars().any(char::is_control), "{told:?}");
        }
    }
}
