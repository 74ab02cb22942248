//! Documents in PDF. The format lets a file of a few kilobytes ask for any amount of memory, time and depth, and the library
//! that reads it knows no bounds and may panic. So it runs in a process of its own, which is the same program with another
//! command: [`extract_pages`] limits its own memory and time, reads a file from its standard input and writes pages as lines;
//! [`PdfReader`] starts it, and takes no more from it than a document may have.
//!
//! - `layout`: the lines and paragraphs of a page, from where its characters stand;
//! - `extraction`: within that process;
//! - `process`: from outside.

mod extraction;
mod layout;
mod process;

use serde::{Deserialize, Serialize};

pub use extraction::extract_pages;
pub use process::PdfReader;
pub(super) use process::{Failure, Pages};

/// Most bytes of a file: pages have pictures, too.
pub const PDF_BYTES: u64 = 64 * 1024 * 1024;
/// Most bytes of the text of a file: some 5,000 pages.
const TEXT_BYTES: usize = 16 * 1024 * 1024;

/// What reading one file may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PdfLimits {
    /// Address space, in MiB, the file and the program included.
    pub memory_mib: u64,
    /// Time on a processor, in seconds.
    pub seconds: u64,
}

impl Default for PdfLimits {
    fn default() -> Self {
        Self { memory_mib: 768, seconds: 30 }
    }
}

/// A line that the process writes: JSON.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A page with its text, which may be empty. Pages are counted from 1.
    Page { number: u32, text: String },
    /// A page that can't be read.
    Unread { number: u32 },
    /// Nothing can be read.
    Refused(Refusal),
    /// All pages were written. Without this line some are missing.
    End,
}

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Refusal {
    /// It wants a password.
    Encrypted,
    /// It has more text than is read.
    TooMuchText,
    /// It is no PDF, or its structure is broken.
    Damaged(String),
}
