//! The process that reads a file, from outside: what it takes and says is bounded here, too.

use std::fs::File;
use std::io::{self, BufRead as _, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::{Line, PdfLimits, Refusal, TEXT_BYTES};

/// Most bytes that the process may write: each byte of text as an escape of two, and the lines around them.
const OUTPUT_BYTES: usize = 3 * TEXT_BYTES;
/// How many times as long as on a processor of its own a file may take: other programs run, too.
const PATIENCE: u32 = 4;

/// Reads files in PDF, each in a process of its own.
#[derive(Debug, Clone)]
pub struct PdfReader {
    program: PathBuf,
    arguments: Vec<String>,
    limits: PdfLimits,
}

/// What a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::read) struct Pages {
    /// The text of each page that could be read, with its number.
    pub(in crate::read) texts: Vec<(u32, String)>,
    /// The others.
    pub(in crate::read) unread: Vec<u32>,
}

/// Why nothing of a file is read.
#[derive(Debug)]
pub(in crate::read) enum Failure {
    /// The process can't be started.
    NotStarted(io::Error),
    /// It wants a password.
    Encrypted,
    /// It is no PDF, or its structure is broken.
    Damaged(String),
    /// It takes more than is given to it.
    TooDemanding(String),
}

impl PdfReader {
    /// Starts this program with these arguments for each file; it must call
    /// [`extract_pages`](super::extract_pages) with the same limits.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<String>, limits: PdfLimits) -> Self {
        Self { program: program.into(), arguments, limits }
    }

    /// The pages of an open file. Blocks until the process has ended, which it does.
    pub(in crate::read) fn pages(&self, file: File) -> Result<Pages, Failure> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(Path::new("/"));
        // Keys of endpoints are none of its business.
        command.env_clear();
        command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Running(command.spawn().map_err(Failure::NotStarted)?);
        let seconds = Duration::from_secs(self.limits.seconds).saturating_mul(PATIENCE);
        let written = written(&mut process.0, seconds);
        if written.is_err() {
            // The process may wait for a reader that is gone.
            let _ = process.0.kill();
        }
        let status = process.0.wait().map_err(Failure::NotStarted)?;
        match written {
            Ok(lines) => pages(&lines).unwrap_or_else(|| Err(self.cause(status))),
            Err(Cut::Late) => Err(self.too_slow()),
            Err(Cut::TooLong) => Err(too_much_text()),
            Err(Cut::Broken(problem)) => Err(Failure::Damaged(problem.to_string())),
        }
    }

    /// Why a process has ended before it had written everything.
    fn cause(&self, status: ExitStatus) -> Failure {
        let PdfLimits { memory_mib, .. } = self.limits;
        match status.signal() {
            Some(signal) if signal == Signal::XCPU.as_raw() || signal == Signal::KILL.as_raw() => self.too_slow(),
            Some(signal) if signal == Signal::ABORT.as_raw() || signal == Signal::SEGV.as_raw() => {
                Failure::TooDemanding(format!("more than {memory_mib} MiB of memory, or endless nesting"))
            }
            _ => Failure::Damaged(format!("its reader ended with {status}")),
        }
    }

    fn too_slow(&self) -> Failure {
        Failure::TooDemanding(format!("more than {} s of a processor", self.limits.seconds))
    }
}

fn too_much_text() -> Failure {
    Failure::TooDemanding(format!("more than {} MiB of text", TEXT_BYTES >> 20))
}

/// A process that does not outlive this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing happens to one that was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Why the output of a process is not whole.
enum Cut {
    Late,
    TooLong,
    Broken(io::Error),
}

/// All that the process writes within this time.
fn written(process: &mut Child, patience: Duration) -> Result<Vec<u8>, Cut> {
    let Some(mut output) = process.stdout.take() else { return Ok(Vec::new()) };
    let started = Instant::now();
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let left = patience.checked_sub(started.elapsed()).ok_or(Cut::Late)?;
        let left = Timespec::try_from(left).map_err(|_| Cut::Late)?;
        match poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(Cut::Late),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(problem) => return Err(Cut::Broken(problem.into())),
        }
        let length = output.read(&mut chunk).map_err(Cut::Broken)?;
        if length == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(chunk.get(..length).unwrap_or_default());
        if bytes.len() > OUTPUT_BYTES {
            return Err(Cut::TooLong);
        }
    }
}

/// What the lines of a process say. None: they end too early, or are none.
fn pages(lines: &[u8]) -> Option<Result<Pages, Failure>> {
    let mut pages = Pages::default();
    for line in lines.lines() {
        match serde_json::from_str(&line.ok()?).ok()? {
            Line::Page { number, text } => pages.texts.push((number, text)),
            Line::Unread { number } => pages.unread.push(number),
            Line::Refused(Refusal::Encrypted) => return Some(Err(Failure::Encrypted)),
            Line::Refused(Refusal::Damaged(problem)) => return Some(Err(Failure::Damaged(problem))),
            Line::Refused(Refusal::TooMuchText) => return Some(Err(too_much_text())),
            Line::End => return Some(Ok(pages)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of this shell script.
    fn script(script: &str, seconds: u64) -> PdfReader {
        let limits = PdfLimits { memory_mib: 64, seconds };
        PdfReader::new("/bin/sh", vec!["-c".to_owned(), script.to_owned()], limits)
    }

    fn read(script_text: &str) -> Result<Pages, Failure> {
        script(script_text, 30).pages(File::open("/dev/null").unwrap())
    }

    #[test]
    fn what_ends_too_early_or_writes_something_else_gives_no_pages() {
        let page = r#"echo '{"page":{"number":1,"text":"a"}}'"#;
        let whole = Pages { texts: vec![(1, "a".to_owned())], unread: vec![2] };
        assert_eq!(read(&format!(r#"{page}; echo '{{"unread":{{"number":2}}}}'; echo '"end"'"#)).unwrap(), whole);
        for ended_early in [page, "", "echo hello; echo '\"end\"'", "exit 3", r"printf '\377\n'"] {
            assert!(matches!(read(ended_early), Err(Failure::Damaged(_))), "{ended_early}");
        }
        assert!(matches!(read("kill -ABRT $$"), Err(Failure::TooDemanding(what)) if what.contains("64 MiB")));
        assert!(matches!(read("kill -XCPU $$"), Err(Failure::TooDemanding(what)) if what.contains("30 s")));
        let nowhere = PdfReader::new("/nowhere/cortex", Vec::new(), PdfLimits::default());
        assert!(matches!(nowhere.pages(File::open("/dev/null").unwrap()), Err(Failure::NotStarted(_))));
    }

    #[test]
    fn what_never_ends_or_never_stops_writing_is_ended() {
        // Of the time of a processor nothing is used: only the clock ends it.
        let file = File::open("/dev/null").unwrap();
        assert!(
            matches!(script("exec sleep 3600", 0).pages(file), Err(Failure::TooDemanding(what)) if what.contains("0 s"))
        );
        assert!(
            matches!(read("exec cat /dev/zero"), Err(Failure::TooDemanding(what)) if what.contains("16 MiB of text"))
        );
    }
}
