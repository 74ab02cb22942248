//! What can go wrong when an interface is loaded.

use std::path::PathBuf;

use thiserror::Error;

use crate::InvalidName;
use crate::{InterfaceKind, InterfaceName};

/// How many names an error lists at most.
const MOST_LISTED: usize = 12;

/// Why an interface can't be used. Each message says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// The name is not one.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
    /// The interface is of another kind than was asked for.
    #[error("{interface} is not a {expected} interface; ask for a {expected}, or load it as what it is")]
    WrongKind {
        /// What was asked for.
        interface: InterfaceName,
        /// What it should have been.
        expected: InterfaceKind,
    },
    /// No prefix has the package.
    #[error(
        "the package {package} is not installed in any of {}; install it, or source the workspace that has it before \
         this program is started", paths(.prefixes)
    )]
    PackageNotFound {
        /// The package.
        package: String,
        /// Where it was looked for.
        prefixes: Vec<PathBuf>,
    },
    /// The package is there, but has no such interface.
    #[error(
        "{} is installed in {} without {interface} (it has: {}); install the version of the package that the other \
         side uses", .interface.package(), .prefix.display(), names(.known)
    )]
    InterfaceNotFound {
        /// What was asked for.
        interface: InterfaceName,
        /// Where the package is.
        prefix: PathBuf,
        /// The interfaces of that kind that it has.
        known: Vec<InterfaceName>,
    },
    /// A library of the package is there but can't be loaded, or is missing.
    #[error(
        "{} can't be loaded: {reason}; rebuild the package for this ROS 2, and source its workspace before this \
         program is started", .path.display()
    )]
    LibraryNotLoadable {
        /// The library.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// A library of the package lacks what it should define.
    #[error("{} does not define {symbol}; rebuild the package with rosidl_default_generators", .path.display())]
    SymbolMissing {
        /// The library.
        path: PathBuf,
        /// The symbol.
        symbol: String,
    },
    /// The interface has a field of a kind that can't be handled.
    #[error("{interface}: the field {field} is a {kind}, which is not supported; use another type for it")]
    UnsupportedField {
        /// The message that has the field.
        interface: InterfaceName,
        /// The field.
        field: String,
        /// Its kind.
        kind: String,
    },
    /// The description of the interface contradicts itself: it was built for another ROS 2, or is damaged.
    #[error("the compiled {interface} can't be understood ({problem}); rebuild its package for this ROS 2")]
    Malformed {
        /// The interface.
        interface: InterfaceName,
        /// What is wrong.
        problem: String,
    },
}

fn paths(paths: &[PathBuf]) -> String {
    listed(paths.iter().map(|path| path.display().to_string()))
}

fn names(names: &[InterfaceName]) -> String {
    listed(names.iter().map(ToString::to_string))
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let shown: Vec<String> = items.take(MOST_LISTED).collect();
    match count {
        0 => "none".to_owned(),
        _ if count > MOST_LISTED => format!("{}, and {} more", shown.join(", "), count - MOST_LISTED),
        _ => shown.join(", "),
    }
}
