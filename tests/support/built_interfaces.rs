//! Interface packages that the stories build themselves: `greenhouse_msgs` after Cortex was, so that no Cortex can have known
//! it, and `tf2_msgs` where the ROS in use came without.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::binary;

/// Where the packages are written.
const SOURCES: &str = env!("CARGO_MANIFEST_DIR");
const GREENHOUSE: &str = "greenhouse_msgs";
const TRANSFORMS: &str = "tf2_msgs";
/// Written last: a build without it was interrupted.
const COMPLETE: &str = ".complete";

/// An installed package.
#[derive(Debug, Clone)]
pub struct BuiltInterfaces {
    name: &'static str,
    /// None: the ROS in use has it.
    prefix: Option<PathBuf>,
}

impl BuiltInterfaces {
    /// `greenhouse_msgs`, younger than Cortex. Takes some 15 seconds, once for each build of Cortex: further callers, in
    /// other processes too, wait and use the same.
    ///
    /// # Panics
    /// When it can't be built.
    pub async fn greenhouse() -> Self {
        Self::built(GREENHOUSE).await
    }

    /// `tf2_msgs`, where the ROS in use came without. Takes as long, once.
    ///
    /// # Panics
    /// When it can't be built.
    pub async fn transforms() -> Self {
        let paths = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
        if std::env::split_paths(&paths).any(|prefix| prefix.join("share").join(TRANSFORMS).is_dir()) {
            return Self { name: TRANSFORMS, prefix: None };
        }
        Self::built(TRANSFORMS).await
    }

    /// Builds with plain CMake against the ROS 2 in use, below the folder of the programs.
    async fn built(name: &'static str) -> Self {
        let built = tokio::task::spawn_blocking(move || build(name)).await;
        let prefix = built.expect("the build does not panic");
        Self { name, prefix: Some(prefix.unwrap_or_else(|problem| panic!("{name} was not built: {problem:#}"))) }
    }

    /// The search paths of a process that has this package, too.
    ///
    /// # Panics
    /// When the Python part was not installed.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let Some(prefix) = &self.prefix else { return Vec::new() };
        let python = python_packages(prefix, self.name).expect("the Python part is installed");
        let with = |name: &'static str, first: &Path| {
            let others = std::env::var_os(name).unwrap_or_default();
            let paths = std::iter::once(first.to_owned()).chain(std::env::split_paths(&others));
            let joined = std::env::join_paths(paths).expect("no colons in the paths");
            (name, joined.to_string_lossy().into_owned())
        };
        vec![
            with("AMENT_PREFIX_PATH", prefix),
            with("LD_LIBRARY_PATH", &prefix.join("lib")),
            with("PYTHONPATH", &python),
        ]
    }
}

fn build(name: &str) -> Result<PathBuf> {
    let cortex = binary("cortex");
    let builds = cortex.with_file_name(name);
    let source = Path::new(SOURCES).join(name);
    fs::create_dir_all(&builds)?;
    // The clone may lie in a workspace of colcon, which would take what is installed here for one of its packages.
    File::create(builds.join("COLCON_IGNORE"))?;
    let lock = File::create(builds.join("lock"))?;
    lock.lock()?;
    let folder = builds.join(key(&source, &cortex)?);
    let prefix = folder.join("install");
    if folder.join(COMPLETE).is_file() {
        return Ok(prefix);
    }
    // Those of earlier Cortexes, and what an interrupted build left.
    for entry in fs::read_dir(&builds)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        }
    }
    let build = folder.join("build");
    let mut configure = cmake();
    configure.arg("-S").arg(&source).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_INSTALL_PREFIX={}", prefix.display()));
    // As for cortex_msgs: without it the libraries need Python's, which no process without Python can load.
    configure.args(["-DBUILD_TESTING=OFF", "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--as-needed"]);
    if let Some(python) = std::env::var_os("CORTEX_ROS_PYTHON").map(PathBuf::from) {
        configure.arg(format!("-DPython3_EXECUTABLE={}", python.display()));
        if python.with_file_name("ninja").is_file() {
            configure.args(["-G", "Ninja"]);
        }
    }
    run(&mut configure)?;
    run(cmake().arg("--build").arg(&build).args(["--parallel", "2"]))?;
    run(cmake().arg("--install").arg(&build))?;
    fs::remove_dir_all(&build)?;
    File::create(folder.join(COMPLETE))?;
    Ok(prefix)
}

/// Changes with the package, with the ROS 2 in use, and with Cortex: the package is always younger than Cortex.
fn key(source: &Path, cortex: &Path) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    fs::metadata(cortex)?.modified()?.hash(&mut hasher);
    std::env::var_os("AMENT_PREFIX_PATH").hash(&mut hasher);
    for folder in ["", "action", "msg", "srv"] {
        let Ok(entries) = fs::read_dir(source.join(folder)) else { continue };
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        files.sort();
        for file in files.iter().filter(|path| path.is_file()) {
            (file, fs::read(file)?).hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// The CMake that came with the Python of ROS 2, or the machine's.
fn cmake() -> Command {
    let folder = std::env::var_os("CORTEX_ROS_PYTHON").and_then(|python| Some(Path::new(&python).parent()?.to_owned()));
    let Some(folder) = folder.filter(|folder| folder.join("cmake").is_file()) else { return Command::new("cmake") };
    let mut command = Command::new(folder.join("cmake"));
    let others = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(folder).chain(std::env::split_paths(&others));
    command.env("PATH", std::env::join_paths(paths).unwrap_or(others.clone()));
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{} can't be started", command.get_program().display()))?;
    if !output.status.success() {
        let told = [output.stdout, output.stderr].concat();
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&told));
    }
    Ok(())
}

/// Where the Python part was installed: every Python has its own idea of the folder's name.
fn python_packages(prefix: &Path, name: &str) -> Option<PathBuf> {
    [prefix.join("lib"), prefix.join("local/lib")]
        .iter()
        .filter_map(|library| fs::read_dir(library).ok())
        .flatten()
        .flatten()
        .flat_map(|entry| ["site-packages", "dist-packages"].map(|folder| entry.path().join(folder)))
        .find(|packages| packages.join(name).is_dir())
}
