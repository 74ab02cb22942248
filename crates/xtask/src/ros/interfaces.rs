//! The interface package `cortex_msgs`, built with plain CMake against the ROS 2 in use.
//!
//! A build is keyed by the package's files and the ROS 2, and the key is in the installed path. A change of an interface
//! therefore changes `AMENT_PREFIX_PATH`, which r2r's build scripts watch: the bindings are made anew by themselves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Base;
use crate::cache::{Cache, Kind};
use crate::keys::KeyBuilder;
use crate::log::Log;
use crate::prerequisites;

/// Part of the key: change it with every change of how the package is built.
const BUILD_VERSION: &str = "1";

const PACKAGE: &str = "cortex_msgs";

/// What defines an interface; the rest of the package only says how to build it.
const INTERFACE_FILES: [&str; 3] = ["action", "msg", "srv"];

/// The interfaces that the tree describes, and where they are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interfaces {
    /// A prefix to put on the search paths; `None` if the sourced ROS 2 has the same interfaces already.
    pub(crate) prefix: Option<PathBuf>,
    /// Changes when an interface does.
    pub(crate) digest: String,
}

/// Makes sure that the interfaces below `source` are installed somewhere.
pub(crate) fn ensure(cache: &Cache, base: &Base, source: &Path) -> Result<Interfaces> {
    let files = read_package(source)?;
    let digest = digest_of(&interface_files(&files));
    if offered_by_ros(base, &files)? {
        return Ok(Interfaces { prefix: None, digest });
    }
    let key = KeyBuilder::default().part(BUILD_VERSION).part(&base.key).part(digest_of(&files)).finish();
    let entry = cache.entry(Kind::Interfaces, &key);
    if !entry.is_complete() {
        // CMake would take any Python, and fail in the midst of the build or build for the wrong one.
        prerequisites::require_all(base.python.as_ref().err().map(std::slice::from_ref).unwrap_or_default())?;
    }
    entry.ensure(|folder, log| build(base, folder, &files, log))?;
    Ok(Interfaces { prefix: Some(entry.directory().join("install")), digest })
}

/// Every file of a package, by its path in the package.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn read_package(source: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = source.join(&folder);
        let entries =
            fs::read_dir(&path).with_context(|| format!("cannot read the interfaces in {}", path.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", path.display()))?;
            let name = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(name);
            } else {
                let bytes =
                    fs::read(entry.path()).with_context(|| format!("cannot read {}", entry.path().display()))?;
                files.insert(name, bytes);
            }
        }
    }
    if files.is_empty() {
        bail!("{} holds no interface package", source.display());
    }
    Ok(files)
}

/// The files that define interfaces.
fn interface_files(files: &Files) -> Files {
    let defines =
        |path: &Path| path.extension().is_some_and(|extension| INTERFACE_FILES.iter().any(|kind| extension == *kind));
    files.iter().filter(|(path, _)| defines(path)).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

fn digest_of(files: &Files) -> String {
    files
        .iter()
        .fold(KeyBuilder::default(), |key, (path, bytes)| key.part(path.as_os_str().as_encoded_bytes()).part(bytes))
        .finish()
}

/// True if the ROS 2 in use (a robot's, where the package was installed with it) has these very interfaces.
fn offered_by_ros(base: &Base, files: &Files) -> Result<bool> {
    let share = Path::new("share").join(PACKAGE);
    let prefixes = base.environment.folders("AMENT_PREFIX_PATH");
    // The first prefix that has the package is the one that all others will find, too.
    let Some(share) = prefixes.iter().map(|prefix| prefix.join(&share)).find(|share| share.is_dir()) else {
        return Ok(false);
    };
    Ok(interface_files(&read_package(&share)?) == interface_files(files))
}

/// Builds from a copy, so that a file that is being edited meanwhile cannot end up under the wrong key.
fn build(base: &Base, folder: &Path, files: &Files, log: &Log) -> Result<()> {
    let (source, build, install) = (folder.join("source"), folder.join("build"), folder.join("install"));
    for (name, bytes) in files {
        let path = source.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    log.run("configuring the interfaces (cortex_msgs)", &mut configure(base, &source, &build, &install))?;
    let mut compile = cmake(base);
    compile.arg("--build").arg(&build).args(["--parallel", &parallel_jobs()]);
    log.run("building the interfaces (cortex_msgs)", &mut compile)?;
    let mut installation = cmake(base);
    installation.arg("--install").arg(&build);
    log.run("installing the interfaces (cortex_msgs)", &mut installation)?;
    for leftover in [source, build] {
        fs::remove_dir_all(&leftover).with_context(|| format!("cannot remove {}", leftover.display()))?;
    }
    if let Ok(python) = &base.python {
        let mut environment = base.environment.clone();
        super::add_interfaces(&mut environment, &install)?;
        let mut command = Command::new(python);
        environment
            .apply(&mut command)
            .args(["-c", "from cortex_msgs.msg import ComponentStatus as S; S.__class__.__import_type_support__()"]);
        log.run("trying the interfaces", &mut command)?;
    }
    Ok(())
}

fn configure(base: &Base, source: &Path, build: &Path, install: &Path) -> Command {
    let mut configure = cmake(base);
    configure.arg("-S").arg(source).arg("-B").arg(build);
    if let Some(generator) = base.tools.generator {
        configure.args(["-G", generator]);
    }
    configure.arg(format!("-DCMAKE_INSTALL_PREFIX={}", install.display()));
    configure.args([
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_TESTING=OFF",
        // The generators link each library to all type support of the packages it depends on, Python's included, which
        // no process without Python could load.
        "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--as-needed",
    ]);
    if let Ok(python) = &base.python {
        configure.arg(format!("-DPython3_EXECUTABLE={}", python.display()));
    }
    configure
}

/// CMake in the environment of the ROS 2 in use.
fn cmake(base: &Base) -> Command {
    let mut command = Command::new(&base.tools.cmake);
    let mut environment = base.environment.clone();
    if let Some(folder) = &base.tools.first_on_path {
        environment.prepend("PATH", std::slice::from_ref(folder));
    }
    environment.apply(&mut command);
    // Set by a person for another project, these would lead the build elsewhere.
    command.env_remove("CMAKE_GENERATOR").env_remove("DESTDIR");
    command
}

fn parallel_jobs() -> String {
    std::thread::available_parallelism().map_or(1, usize::from).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ros::BuildTools;
    use crate::ros::environment::Environment;

    fn package(folder: &Path, message: &str) {
        fs::create_dir_all(folder.join("msg")).unwrap();
        fs::write(folder.join("package.xml"), "<package/>").unwrap();
        fs::write(folder.join("msg/A.msg"), message).unwrap();
    }

    fn base(prefix: &Path) -> Base {
        let mut environment = Environment::default();
        environment.prepend("AMENT_PREFIX_PATH", &[prefix.to_owned()]);
        Base {
            distro: String::from("jazzy"),
            origin: String::new(),
            key: String::from("key"),
            environment,
            python: Ok(PathBuf::from("python3")),
            tools: BuildTools { cmake: PathBuf::from("cmake"), generator: None, first_on_path: None },
        }
    }

    #[test]
    fn the_digest_follows_interfaces_only() {
        let folder = tempfile::tempdir().unwrap();
        let digest = || digest_of(&interface_files(&read_package(folder.path()).unwrap()));
        package(folder.path(), "bool a");
        let first = digest();
        fs::write(folder.path().join("CMakeLists.txt"), "project(x)").unwrap();
        assert_eq!(digest(), first);
        package(folder.path(), "bool b");
        assert_ne!(digest(), first);
    }

    #[test]
    fn identical_interfaces_of_a_sourced_ros_are_used() {
        let (source, ros) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        package(source.path(), "bool a");
        let files = read_package(source.path()).unwrap();
        assert!(!offered_by_ros(&base(ros.path()), &files).unwrap());
        let share = ros.path().join("share/cortex_msgs");
        package(&share, "bool a");
        fs::write(share.join("msg/A.idl"), "generated").unwrap();
        assert!(offered_by_ros(&base(ros.path()), &files).unwrap());
        package(&share, "bool another");
        assert!(!offered_by_ros(&base(ros.path()), &files).unwrap());
    }

    #[test]
    fn a_folder_without_a_package_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_package(folder.path()).is_err());
        assert!(read_package(&folder.path().join("missing")).is_err());
    }
}
