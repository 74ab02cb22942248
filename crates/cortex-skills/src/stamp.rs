//! By what a changed file is known without being read.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

/// Number, bytes, and last change of a file: the time that the system sets, which a tool that keeps the times of files can't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    number: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(about: &Metadata) -> Self {
        Self { number: about.ino(), bytes: about.len(), changed: (about.ctime(), about.ctime_nsec()) }
    }
}
