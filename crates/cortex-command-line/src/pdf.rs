//! The process that reads documents in PDF, as a command that only Cortex itself uses.

use std::process::ExitCode;

use anyhow::Context as _;
use cortex_knowledge::read::{PdfLimits, PdfReader, extract_pages};

/// What the command is called.
pub(crate) const COMMAND: &str = "read-pdf";

/// This very program, whatever has taken its place on the disk meanwhile.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// What starts this program again for each file, within these limits.
pub(crate) fn reader(limits: PdfLimits) -> PdfReader {
    let PdfLimits { memory_mib, seconds } = limits;
    PdfReader::new(THIS_PROGRAM, vec![COMMAND.to_owned(), memory_mib.to_string(), seconds.to_string()], limits)
}

/// Reads one file, in the process that was started for it.
pub(crate) fn read(limits: PdfLimits) -> anyhow::Result<ExitCode> {
    extract_pages(limits).context("a PDF can't be read")?;
    Ok(ExitCode::SUCCESS)
}
