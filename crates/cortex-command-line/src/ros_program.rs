//! The program that links ROS, as the one that does not sees it: found beside it, looked at before it is started, and then
//! taken on in its place. The process stays: its id, its group, its arguments, its environment and its open files.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use thiserror::Error;

/// The file name of the program.
const NAME: &str = "cortex-on-ros";
/// Where it lies in an installation whose `bin` has `cortex`, seen from there.
const IN_PREFIX: &str = "../lib/cortex";
/// Tells the program which version started it.
const VERSION_VARIABLE: &str = "CORTEX_STARTED_BY_VERSION";
/// Has the dynamic loader of glibc list the libraries of a program instead of starting it (`man ld.so`).
const LIST_LIBRARIES: &str = "LD_TRACE_LOADED_OBJECTS";
/// The version of this build.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Most missing libraries that are named.
const MOST_NAMED: usize = 3;

/// The program, which can be started as far as can be known.
#[derive(Debug)]
pub struct RosProgram(PathBuf);

/// Why nothing that needs ROS can be done.
#[derive(Debug, Error)]
pub enum RosMissing {
    /// The program is not where it belongs.
    #[error("{}; fix: {}", self.what(), self.fix())]
    NoProgram {
        /// Where it was looked for.
        places: Vec<PathBuf>,
    },
    /// Libraries that it needs can't be found.
    #[error("{}; fix: {}", self.what(), self.fix())]
    NoLibraries {
        /// Their names, in the order in which the program needs them.
        names: Vec<String>,
        /// The distribution that is sourced, at least in part.
        distribution: Option<String>,
    },
    /// It can't be looked at.
    #[error("{} can't be started: {source}; fix: install Cortex anew", program.display())]
    NotStartable {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl RosMissing {
    /// What is missing.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::NoProgram { places } => {
                let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
                format!(
                    "the program {NAME}, which does what needs ROS 2, is not there: not at {}",
                    places.join(", nor at ")
                )
            }
            Self::NoLibraries { names, distribution } => {
                let named = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = match names.len().saturating_sub(MOST_NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                match distribution {
                    None => format!("no ROS 2 is sourced (its libraries {named}{more} are not found)"),
                    Some(distribution) => format!(
                        "ROS 2 is sourced in part or is another one: ROS_DISTRO is {distribution}, and the libraries \
                         {named}{more} are not found in LD_LIBRARY_PATH"
                    ),
                }
            }
            Self::NotStartable { .. } => self.to_string(),
        }
    }

    /// What to do.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            Self::NoProgram { .. } => {
                format!(
                    "install it with `cortex`, from the same build (in the repository: `cargo xtask build` makes both), and \
                         keep {NAME} beside it"
                )
            }
            Self::NoLibraries { names, distribution } => {
                let distribution = distribution.as_deref().unwrap_or("jazzy");
                let own = if names.iter().any(|name| name.contains("cortex_msgs")) {
                    ", then the workspace that has cortex_msgs: `source install/setup.bash`"
                } else {
                    ""
                };
                format!(
                    "run `source /opt/ros/{distribution}/setup.bash`{own}; in the repository, `eval \"$(cargo xtask env)\"`"
                )
            }
            Self::NotStartable { .. } => "install Cortex anew".to_owned(),
        }
    }
}

impl RosProgram {
    /// Finds the program, and makes sure that the libraries that it needs can be loaded. The program itself is not started.
    ///
    /// # Errors
    /// When it is not there, and when libraries are missing.
    pub fn find() -> Result<Self, RosMissing> {
        let program = locate(&std::env::current_exe().unwrap_or_default())?;
        let missing = missing_libraries(&program)
            .map_err(|source| RosMissing::NotStartable { program: program.clone(), source })?;
        if missing.is_empty() {
            return Ok(Self(program));
        }
        let distribution = std::env::var("ROS_DISTRO").ok().filter(|name| !name.is_empty());
        Err(RosMissing::NoLibraries { names: missing, distribution })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Goes on as this program. Comes back only if that can't be.
    #[must_use]
    pub fn become_it(&self) -> io::Error {
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        Command::new(&self.0).arg0(name).args(arguments).env(VERSION_VARIABLE, VERSION).exec()
    }
}

/// In the program that links ROS: refuses to go on for a `cortex` of another version, whose command line may mean something
/// else.
///
/// # Errors
/// What is to be told.
pub fn check_version() -> Result<(), OtherVersion> {
    let Ok(version) = std::env::var(VERSION_VARIABLE) else { return Ok(()) };
    if version == VERSION { Ok(()) } else { Err(OtherVersion { version }) }
}

/// See [`check_version`].
#[derive(Debug, Error)]
#[error(
    "{NAME} is of version {VERSION}, and cortex, which started it, of version {version}; fix: install both from one build"
)]
pub struct OtherVersion {
    version: String,
}

impl OtherVersion {
    /// The exit status of what could not be tried.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(2)
    }
}

/// Beside this program, or in `lib/cortex` of the prefix that it is installed in.
fn locate(own: &Path) -> Result<PathBuf, RosMissing> {
    let folder = own.parent().unwrap_or(Path::new(""));
    let places = vec![folder.join(NAME), folder.join(IN_PREFIX).join(NAME)];
    match places.iter().find(|place| place.is_file()) {
        Some(place) => Ok(place.clone()),
        None => Err(RosMissing::NoProgram { places }),
    }
}

/// The libraries that the dynamic loader does not find for a program, by asking it.
fn missing_libraries(program: &Path) -> io::Result<Vec<String>> {
    let listed = Command::new(program).env(LIST_LIBRARIES, "1").stdin(Stdio::null()).output()?;
    Ok(not_found(&String::from_utf8_lossy(&listed.stdout)))
}

/// The names in a list of the dynamic loader that stand before `=> not found`.
fn not_found(listed: &str) -> Vec<String> {
    let missing = listed.lines().filter_map(|line| line.trim().strip_suffix("=> not found"));
    missing.map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_beside_this_one_or_in_the_prefix() {
        let prefix = tempfile::tempdir().unwrap();
        let (bin, lib) = (prefix.path().join("bin"), prefix.path().join("lib/cortex"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        let problem = locate(&bin.join("cortex")).unwrap_err().to_string();
        assert!(problem.contains("bin/cortex-on-ros, nor at") && problem.contains("fix: install it"), "{problem}");
        std::fs::write(lib.join(NAME), "").unwrap();
        assert!(locate(&bin.join("cortex")).unwrap().ends_with("lib/cortex/cortex-on-ros"));
        std::fs::write(bin.join(NAME), "").unwrap();
        assert_eq!(locate(&bin.join("cortex")).unwrap(), bin.join(NAME));
    }

    #[test]
    fn a_program_whose_libraries_are_there_misses_none() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(missing_libraries(&own).unwrap(), Vec::<String>::new());
        let listed = "\tlinux-vdso.so.1 (0x7ffd)\n\tlibrcl.so => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\tlibrmw.so => not found\n";
        assert_eq!(not_found(listed), ["librcl.so", "librmw.so"]);
    }

    #[test]
    fn what_is_missing_is_told_with_what_to_source() {
        let told = |names: &[&str], distribution: Option<&str>| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            RosMissing::NoLibraries { names, distribution: distribution.map(str::to_owned) }.to_string()
        };
        let nothing = told(&["librcl.so", "librmw.so", "libc1.so", "libc2.so"], None);
        assert!(
            nothing.starts_with("no ROS 2 is sourced (its libraries librcl.so, librmw.so, libc1.so and 1 more"),
            "{nothing}"
        );
        assert!(nothing.contains("source /opt/ros/jazzy/setup.bash"), "{nothing}");
        let half = told(&["libcortex_msgs__rosidl_typesupport_c.so"], Some("kilted"));
        assert!(half.starts_with("ROS 2 is sourced in part") && half.contains("/opt/ros/kilted/setup.bash"), "{half}");
        assert!(half.contains("source install/setup.bash"), "{half}");
    }
}
