//! `cortex incident`: saves what is needed to look into a mission elsewhere, in one archive.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use cortex_protocol::MissionId;
use cortex_protocol::overview::{MissionPhase, Overview};
use flate2::read::GzDecoder;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::address::Address;
use crate::error::WatchError;
use crate::http::{Http, failed, token};
use crate::text::one_line;
use crate::wire::RequestError;

/// So long nothing may come of an archive: the report of a long mission is made first.
const SILENCE: Duration = Duration::from_secs(30);
/// Names that are tried where there are archives of the mission already.
const MOST_NAMES: u32 = 1_000;

/// The arguments of `cortex incident`.
#[derive(Debug, Clone, Args)]
pub struct IncidentArguments {
    /// The id of the mission, as `cortex tape list` shows it. Without one: the mission that runs, or else the last one.
    #[arg(value_name = "MISSION")]
    pub mission: Option<String>,
    /// The file to write, which must not exist. Without one: incident-MISSION.tar.gz in this folder.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Where the page of the Cortex is: `http://HOST:PORT`. From another machine, the variable `CORTEX_WATCH_TOKEN` holds
    /// the token of a session.
    #[arg(long, env = "CORTEX_WEB__LISTEN", default_value = Address::DEFAULT)]
    pub address: String,
}

/// An archive that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SavedIncident {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// What is in it: names without the folder, and bytes.
    pub(crate) files: Vec<(String, u64)>,
}

impl fmt::Display for SavedIncident {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, bytes, files } = self;
        writeln!(formatter, "{} ({}), with", path.display(), size(*bytes))?;
        let width = files.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, bytes) in files {
            writeln!(formatter, "  {name:width$}  {:>9}", size(*bytes))?;
        }
        write!(formatter, "README.txt in it says what each file is.")
    }
}

/// Saves an incident of a running Cortex, and prints where it is and what is in it.
///
/// # Errors
/// When no Cortex answers or it refuses, when there is no such mission, and when the file can't be written. Nothing is left
/// of it then.
pub async fn incident(arguments: &IncidentArguments) -> Result<ExitCode, WatchError> {
    let saved = save_named(arguments).await?;
    // It is saved, whoever reads that.
    let _ = writeln!(io::stdout().lock(), "{saved}");
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn save_named(arguments: &IncidentArguments) -> Result<SavedIncident, WatchError> {
    let address: Address = arguments.address.parse()?;
    let http = Http::new(address.clone(), token().as_deref())?;
    let unanswered = |error| match error {
        RequestError::Refused(error) => WatchError::Refused { address: address.to_string(), reason: error.reason },
        RequestError::Failed(problem) => WatchError::Unreachable { address: address.to_string(), problem },
    };
    let mission = match &arguments.mission {
        Some(mission) => MissionId::new(mission),
        None => {
            let overview = http.overview().await.map_err(unanswered)?;
            mission_of(&overview).cloned().ok_or(WatchError::NoMission)?
        }
    };
    let to = arguments.output.clone().map_or_else(|| SaveTo::Folder(PathBuf::new()), SaveTo::File);
    save(&http, &mission, to).await.map_err(|error| match error {
        SaveError::Request(error) => unanswered(error),
        SaveError::File(path, error) => WatchError::NotSaved { path, error },
    })
}

/// The mission whose incident is saved where nobody names one: the one that runs, or else the last one.
pub(crate) fn mission_of(overview: &Overview) -> Option<&MissionId> {
    let missions = &overview.missions;
    let running = missions.iter().rev().find(|mission| !matches!(mission.phase, MissionPhase::Ended(_)));
    running.or_else(|| missions.last()).map(|mission| &mission.id)
}

/// Where an archive is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SaveTo {
    /// In this file, which must not exist.
    File(PathBuf),
    /// In this folder, under a name of its own.
    Folder(PathBuf),
}

/// Why an archive was not saved.
#[derive(Debug)]
pub(crate) enum SaveError {
    /// Cortex gave none.
    Request(RequestError),
    /// It could not be written.
    File(PathBuf, io::Error),
}

impl fmt::Display for SaveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => write!(formatter, "{error}"),
            Self::File(path, error) => write!(formatter, "{} can't be written: {error}", path.display()),
        }
    }
}

/// Saves it, as a whole or not at all: under another name until it was read back to its end.
pub(crate) async fn save(http: &Http, mission: &MissionId, to: SaveTo) -> Result<SavedIncident, SaveError> {
    let (path, mut file) = reserved(mission, to).await?;
    let partial = partial(&path);
    let saved: Result<SavedIncident, SaveError> = async {
        let mut download = http.incident(mission).await.map_err(SaveError::Request)?;
        let of_file = |error| SaveError::File(path.clone(), error);
        let mut bytes = 0;
        while let Some(chunk) = next_chunk(&mut download).await.map_err(SaveError::Request)? {
            bytes += chunk.len() as u64;
            file.write_all(&chunk).await.map_err(of_file)?;
        }
        file.sync_all().await.map_err(of_file)?;
        let read = partial.clone();
        let files = tokio::task::spawn_blocking(move || contents(&read)).await.map_err(io::Error::other);
        let files = files.and_then(|files| files).map_err(|error| {
            let problem = format!("the archive did not come to its end ({error}). Try again");
            SaveError::Request(RequestError::Failed(problem))
        })?;
        fs::rename(&partial, &path).await.map_err(of_file)?;
        Ok(SavedIncident { path: path.clone(), bytes, files })
    }
    .await;
    if saved.is_err() {
        // What can't be removed either is named as a part.
        let _ = fs::remove_file(&partial).await;
    }
    saved
}

async fn next_chunk(download: &mut reqwest::Response) -> Result<Option<Vec<u8>>, RequestError> {
    match timeout(SILENCE, download.chunk()).await {
        Ok(chunk) => chunk.map(|chunk| chunk.map(|chunk| chunk.to_vec())).map_err(failed),
        Err(_) => Err(RequestError::Failed(format!("nothing came for {} s", SILENCE.as_secs()))),
    }
}

/// A name that nothing has, and the file that is written first.
async fn reserved(mission: &MissionId, to: SaveTo) -> Result<(PathBuf, File), SaveError> {
    let taken = |path: &Path| {
        let problem = io::Error::new(io::ErrorKind::AlreadyExists, "it exists already; name another file with -o");
        SaveError::File(path.to_owned(), problem)
    };
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let folder = match to {
        SaveTo::File(path) => {
            let path = absolute(path);
            return match free(&path).await {
                Ok(Some(file)) => Ok((path, file)),
                Ok(None) => Err(taken(&path)),
                Err(error) => Err(SaveError::File(path, error)),
            };
        }
        SaveTo::Folder(folder) => folder,
    };
    // An id is part of a name, whatever is in it.
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let id: String = mission.as_str().chars().filter(is_plain).take(64).collect();
    for number in 1..=MOST_NAMES {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let path = absolute(folder.join(format!("incident-{id}{number}.tar.gz")));
        match free(&path).await {
            Ok(Some(file)) => return Ok((path, file)),
            Ok(None) => {}
            Err(error) => return Err(SaveError::File(path, error)),
        }
    }
    Err(taken(&folder.join(format!("incident-{id}.tar.gz"))))
}

/// The file that is written first. None where the name is taken.
async fn free(path: &Path) -> io::Result<Option<File>> {
    if fs::try_exists(path).await? {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    match options.open(partial(path)).await {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// The files of an archive, which is read to its end.
fn contents(path: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut archive = tar::Archive::new(GzDecoder::new(std::fs::File::open(path)?));
    let mut files = Vec::new();
    for entry in archive.entries()? {
        let entry = entry?;
        let name = entry.path()?.display().to_string();
        let name = name.split_once('/').map_or(name.as_str(), |(_, name)| name);
        files.push((one_line(name), entry.size()));
    }
    let mut rest = archive.into_inner();
    // Its end holds the checksum.
    io::copy(&mut rest, &mut io::sink())?;
    Ok(files)
}

#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
