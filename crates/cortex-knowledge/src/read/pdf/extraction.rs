//! The pages of a file, within the process that does nothing else.

use std::io::{self, BufWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::Document;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};

use super::layout::PageText;
use super::{Line, PDF_BYTES, PdfLimits, Refusal, TEXT_BYTES};

/// Most characters of what the library says of a flaw.
const PROBLEM: usize = 200;

/// Limits this process, reads a PDF from its standard input, and writes its pages as lines to its standard output. To be
/// called by a process that does nothing else: it is ended without a word where the file takes more than the limits.
///
/// # Errors
/// When it can't be limited, or its streams break.
pub fn extract_pages(limits: PdfLimits) -> io::Result<()> {
    confine(limits)?;
    // What the library says to people when it panics is for its authors.
    std::panic::set_hook(Box::new(|_| ()));
    let mut file = Vec::new();
    io::stdin().lock().take(PDF_BYTES + 1).read_to_end(&mut file)?;
    let mut output = BufWriter::new(io::stdout().lock());
    let last = match write_pages(file, &mut output) {
        Ok(()) => Line::End,
        Err(Stop::Refused(refusal)) => Line::Refused(refusal),
        Err(Stop::Broken(problem)) => return Err(problem),
    };
    write(&mut output, &last)?;
    output.flush()
}

/// Nothing in this process can take more from here on.
fn confine(limits: PdfLimits) -> io::Result<()> {
    let most = |resource: Resource, most: u64| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    most(Resource::As, limits.memory_mib.saturating_mul(1024 * 1024))?;
    // At the first limit the process is told, at the second it is killed: it must die of the first.
    let seconds = Rlimit { current: Some(limits.seconds), maximum: Some(limits.seconds.saturating_add(1)) };
    setrlimit(Resource::Cpu, seconds)?;
    // A file is neither written nor, when it goes wrong, left behind.
    most(Resource::Fsize, 0)?;
    most(Resource::Core, 0)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

/// Why the pages end before the last one.
enum Stop {
    Refused(Refusal),
    Broken(io::Error),
}

impl From<io::Error> for Stop {
    fn from(problem: io::Error) -> Self {
        Self::Broken(problem)
    }
}

fn write_pages(file: Vec<u8>, output: &mut impl Write) -> Result<(), Stop> {
    let document = opened(&file).map_err(Stop::Refused)?;
    drop(file);
    let mut length = 0;
    let pages = catch_unwind(AssertUnwindSafe(|| document.get_pages()));
    let pages = pages.map_err(|_| Stop::Refused(Refusal::Damaged("its pages can't be found".to_owned())))?;
    if pages.is_empty() {
        return Err(Stop::Refused(Refusal::Damaged("it has no pages".to_owned())));
    }
    for number in pages.into_keys() {
        let line = match page(&document, number) {
            Ok(text) => {
                length += text.len();
                Line::Page { number, text }
            }
            Err(Unread::TooMuchText) => return Err(Stop::Refused(Refusal::TooMuchText)),
            Err(Unread::Broken) => Line::Unread { number },
        };
        if length > TEXT_BYTES {
            return Err(Stop::Refused(Refusal::TooMuchText));
        }
        write(output, &line)?;
    }
    Ok(())
}

fn opened(file: &[u8]) -> Result<Document, Refusal> {
    let damaged =
        |problem: &dyn std::fmt::Display| Refusal::Damaged(problem.to_string().chars().take(PROBLEM).collect());
    let loaded = catch_unwind(|| Document::load_mem(file)).map_err(|_| damaged(&"its structure is broken"))?;
    let mut document = loaded.map_err(|problem| damaged(&problem))?;
    if document.is_encrypted() {
        // Many are encrypted with an empty password, and open everywhere.
        let decrypted = catch_unwind(AssertUnwindSafe(|| document.decrypt("")));
        if !matches!(decrypted, Ok(Ok(()))) {
            return Err(Refusal::Encrypted);
        }
    }
    Ok(document)
}

/// Why a page has no text.
enum Unread {
    TooMuchText,
    Broken,
}

/// The text of a page.
fn page(document: &Document, number: u32) -> Result<String, Unread> {
    let mut page = PageText::default();
    let read = catch_unwind(AssertUnwindSafe(|| pdf_extract::output_doc_page(document, &mut page, number)));
    match read {
        Ok(Ok(())) => Ok(page.into_text()),
        _ if page.is_full() => Err(Unread::TooMuchText),
        _ => Err(Unread::Broken),
    }
}

fn write(output: &mut impl Write, line: &Line) -> io::Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    output.write_all(b"\n")
}
