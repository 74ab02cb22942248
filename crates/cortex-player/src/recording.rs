//! The tape that is played. Anybody may have written it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cortex_protocol::{CloudEvent, RecordedMission, ToolName, ToolSpec};
use cortex_runtime::tape::{Folder, Reader, Summary};
use serde::Deserialize as _;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::PlayError;

/// The name of the recording that comes along.
pub const DEMO: &str = "demo";
/// A mission of the simulated home.
const DEMO_TAPE: &[u8] = include_bytes!("demo.jsonl");
/// Lines in which what a mission starts with is looked for: it is the second one.
const LINES_OF_BEGINNING: usize = 8;
/// Characters of the robot's name that are shown.
const NAME_CHARACTERS: usize = 80;

/// A recorded mission, ready to be played.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    about: RecordedMission,
    robot: String,
    tools: Vec<ToolSpec>,
    /// Keeps the file of the recording that comes along.
    _unpacked: Option<NamedTempFile>,
}

impl Recording {
    /// The recording of that name: [`DEMO`], a file, or a mission of the folder by the beginning of its id. Reads files.
    ///
    /// # Errors
    /// When there is none, when it is no tape, or when it holds nothing to show.
    pub fn find(name: &str, folder: Option<&Folder>) -> Result<Self, PlayError> {
        if name == DEMO {
            return Self::demo();
        }
        let file = Path::new(name);
        match folder {
            _ if file.is_file() => Self::open(file),
            Some(folder) => Self::open(&folder.path(&folder.find(name)?)),
            None => Err(PlayError::NoSuchFile { name: name.chars().take(200).collect() }),
        }
    }

    /// The one that comes along.
    ///
    /// # Errors
    /// When the temporary folder can't be written.
    pub fn demo() -> Result<Self, PlayError> {
        let mut file = NamedTempFile::with_prefix("cortex-demo-").map_err(PlayError::Unpack)?;
        file.write_all(DEMO_TAPE).map_err(PlayError::Unpack)?;
        let recording = Self::open(file.path())?;
        Ok(Self { _unpacked: Some(file), ..recording })
    }

    /// Opens the file of a tape.
    ///
    /// # Errors
    /// When it is no tape, or holds nothing to show.
    pub fn open(path: &Path) -> Result<Self, PlayError> {
        let about = Summary::of(path)?;
        let tools = tools(path)?;
        let events = Events { reader: Reader::open(path)?, broken: None };
        let Some((first, _)) = events.into_iter().next() else {
            return Err(PlayError::Empty { path: path.to_owned() });
        };
        let robot = first.source.trim_start_matches('/').split('/').next().unwrap_or_default();
        let robot = robot.chars().filter(|letter| !letter.is_control()).take(NAME_CHARACTERS).collect();
        let (mission, task) = (first.subject, about.task);
        let about =
            RecordedMission { mission, time: first.time, task, state: about.status.into(), dry_run: about.dry_run };
        Ok(Self { path: path.to_owned(), about, robot, tools, _unpacked: None })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The mission in a few words.
    #[must_use]
    pub fn about(&self) -> &RecordedMission {
        &self.about
    }

    /// The name of the robot that it was recorded on.
    #[must_use]
    pub fn robot(&self) -> &str {
        &self.robot
    }

    /// The tools that the mission began with, by name.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// What happened, from the beginning. Reads the file as it goes.
    ///
    /// # Errors
    /// When the file can't be opened any more.
    pub(crate) fn events(&self) -> Result<Events, PlayError> {
        Ok(Events { reader: Reader::open(&self.path)?, broken: None })
    }
}

/// What happened, and how many bytes of the tape each event takes. Ends where the tape breaks off.
pub(crate) struct Events {
    reader: Reader,
    broken: Option<String>,
}

impl Events {
    /// Why the rest of the tape is left out. None: nothing is.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }
}

impl Iterator for Events {
    type Item = (CloudEvent, usize);

    fn next(&mut self) -> Option<Self::Item> {
        while self.broken.is_none() {
            match self.reader.next_record() {
                Ok(Some((record, line))) => {
                    if let Some(event) = record.into_event() {
                        return Some((event, line.len()));
                    }
                }
                Ok(None) if self.reader.torn_bytes() > 0 => {
                    self.broken = Some("it breaks off within a line".to_owned());
                }
                Ok(None) => return None,
                Err(problem) => self.broken = Some(problem.to_string()),
            }
        }
        None
    }
}

/// The tools that the mission began with, as far as this version reads them.
fn tools(path: &Path) -> Result<Vec<ToolSpec>, PlayError> {
    let mut reader = Reader::open(path)?;
    for _ in 0..LINES_OF_BEGINNING {
        let Some((record, _)) = reader.next_record()? else { break };
        let Some(tools) = record.data.payload.pointer("/setup/tools").and_then(Value::as_array) else { continue };
        let read = tools.iter().filter_map(|tool| ToolSpec::deserialize(tool).ok());
        let by_name: BTreeMap<ToolName, ToolSpec> = read.map(|tool| (tool.name.clone(), tool)).collect();
        return Ok(by_name.into_values().filter(|tool| tool.serves.is_none()).collect());
    }
    Ok(Vec::new())
}
