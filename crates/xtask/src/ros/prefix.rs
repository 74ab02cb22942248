//! The private ROS 2: Jazzy from pinned, hashed Python wheels in a virtual environment, made usable for Rust and CMake.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::environment::Environment;
use super::fixes::{self, IncludeFolders};
use super::python::{self, Python};
use super::{Base, BuildTools};
use crate::cache::{Cache, Entry, Kind};
use crate::keys::KeyBuilder;
use crate::log::Log;
use crate::prerequisites;
use crate::progress;

/// The wheels, with the hashes of every file that may be installed.
const WHEELS: &str = include_str!("../../ros/jazzy-requirements.txt");

/// What exists as source only.
const SOURCES: &str = include_str!("../../ros/jazzy-source-requirements.txt");

/// Makes the private prefix unless it is there, and returns it.
pub(crate) fn ensure(cache: &Cache) -> Result<Base> {
    require_platform()?;
    let mut missing = prerequisites::missing_compilers();
    let python = match python::find()? {
        Ok(python) => Some(python),
        Err(lacking) => {
            missing.push(lacking);
            None
        }
    };
    let Some(python) = python else {
        prerequisites::require_all(&missing)?;
        bail!("no Python was found");
    };
    let key = key_of(&python);
    let entry = cache.entry(Kind::Ros, &key);
    // A prefix whose Python was removed from the machine is of no use, complete or not.
    let usable = entry.is_complete() && interpreter(entry.directory()).exists();
    if !usable {
        missing.extend(prerequisites::missing_disk_space(cache.root())?);
    }
    prerequisites::require_all(&missing)?;
    if entry.is_complete() && !usable {
        progress::say("The Python behind the private ROS 2 is gone: making a new prefix");
        entry.remove()?;
    }
    ensure_installed(&entry, &python)?;
    describe(entry.directory(), &python, key, cache)
}

/// The wheels exist for one platform only.
fn require_platform() -> Result<()> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Ok(());
    }
    bail!(
        "a private ROS 2 can only be installed on Linux x86-64 with glibc. Install ROS 2 for this platform (Jazzy is \
         the distribution that the tests use), source its setup.bash and run the command again"
    )
}

/// Everything that a prefix depends on.
fn key_of(python: &Python) -> String {
    KeyBuilder::default()
        .part(WHEELS)
        .part(SOURCES)
        .part(fixes::VERSION)
        .part(format!("3.{}", python.minor))
        .part(&python.base)
        .finish()
}

fn interpreter(prefix: &Path) -> PathBuf {
    prefix.join("bin/python3")
}

fn site_packages(prefix: &Path, python: &Python) -> PathBuf {
    prefix.join(format!("lib/python3.{}/site-packages", python.minor))
}

fn ensure_installed(entry: &Entry, python: &Python) -> Result<()> {
    if !entry.is_complete() {
        progress::say(&format!(
            "Installing ROS 2 Jazzy into {} (once per machine, about 100 MB to download)",
            entry.directory().display()
        ));
    }
    entry.ensure(|prefix, log| {
        install(prefix, python, log)?;
        fix(prefix, python)?;
        prove(prefix, python, log)
    })
}

/// The virtual environment and its packages. Nothing is installed whose hash is not in the lists.
fn install(prefix: &Path, python: &Python, log: &Log) -> Result<()> {
    log.run(
        "making a virtual environment",
        without_python_settings(&mut Command::new(&python.program)).args(["-m", "venv"]).arg(prefix),
    )?;
    let lists = prefix.join("share/cortex");
    fs::create_dir_all(&lists).with_context(|| format!("cannot create {}", lists.display()))?;
    let list = |name: &str, text: &str| -> Result<PathBuf> {
        let path = lists.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    let mut pip = pip(prefix);
    pip.args(["--only-binary", ":all:", "--requirement"]).arg(list("wheels.txt", WHEELS)?);
    log.run("downloading and installing the packages of ROS 2", &mut pip).context(DOWNLOAD_ADVICE)?;
    // Built with the pinned setuptools that is installed by now: an isolated build would fetch unpinned packages.
    let mut pip = self::pip(prefix);
    pip.args(["--no-build-isolation", "--requirement"]).arg(list("sources.txt", SOURCES)?);
    log.run("installing the template language of the generators", &mut pip).context(DOWNLOAD_ADVICE)
}

const DOWNLOAD_ADVICE: &str = "ROS 2 could not be installed. If the network or a proxy is the reason, fix that (pip's \
     own settings are used) and run the command again; a ROS 2 that is installed already is used when its setup.bash is \
     sourced";

fn pip(prefix: &Path) -> Command {
    let mut pip = Command::new(interpreter(prefix));
    without_python_settings(&mut pip).args(["-m", "pip", "install", "--require-hashes"]);
    // The lists are closed (`pip check` below says so): there is nothing to resolve.
    pip.args(["--no-deps", "--no-input", "--progress-bar", "off"]);
    pip
}

/// Keeps settings of the person's Python from leading the installation elsewhere. Index and proxy settings stay.
fn without_python_settings(command: &mut Command) -> &mut Command {
    for name in ["PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_CONSTRAINT"] {
        command.env_remove(name);
    }
    // The wheels restart every Python to set the loader's path. No step here needs that.
    command.env(BOOTSTRAP_DONE, "1")
}

/// Tells the wheels' start-up hook that the loader's path is set, so that it does not start each Python twice.
const BOOTSTRAP_DONE: &str = "_ROS_WHEELS_BOOTSTRAP_COMPLETE";

fn fix(prefix: &Path, python: &Python) -> Result<()> {
    progress::step("fixing the wheels for use outside Python", || {
        fixes::name_the_rmw(prefix)?;
        fixes::forget_python_libraries(prefix)?;
        let numpy = site_packages(prefix, python).join("numpy/_core/include");
        let folders = IncludeFolders { python: python.include.clone(), numpy: numpy.display().to_string() };
        fixes::correct_include_folders(prefix, &folders)?;
        Ok(())
    })
}

/// Fails now, with a log, rather than later in the middle of a build.
fn prove(prefix: &Path, python: &Python, log: &Log) -> Result<()> {
    let mut check = Command::new(interpreter(prefix));
    without_python_settings(&mut check).args(["-m", "pip", "check"]);
    log.run("checking that the packages fit together", &mut check)?;
    let mut environment = Environment::default();
    add_variables(&mut environment, prefix, python)?;
    let mut command = Command::new(interpreter(prefix));
    without_python_settings(environment.apply(&mut command))
        .args(["-c", "import em, numpy, rclpy.action, sensor_msgs.msg"]);
    log.run("trying the new ROS 2", &mut command)
}

/// Sets what every use of the prefix needs.
fn add_variables(environment: &mut Environment, prefix: &Path, python: &Python) -> Result<()> {
    let site_packages = site_packages(prefix, python);
    let own = [prefix.to_owned()];
    environment.set("ROS_DISTRO", "jazzy");
    environment.set("ROS_VERSION", "2");
    environment.set("ROS_PYTHON_VERSION", "3");
    // The one that the wheels are linked to. A setting for another ROS 2 would make every node fail.
    environment.set("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp");
    environment.set(BOOTSTRAP_DONE, "1");
    environment.prepend("AMENT_PREFIX_PATH", &own);
    environment.prepend("CMAKE_PREFIX_PATH", &own);
    let mut libraries = vec![prefix.join("lib")];
    libraries.extend(fixes::vendored_library_folders(&site_packages)?);
    environment.prepend("LD_LIBRARY_PATH", &libraries);
    Ok(())
}

/// The finished prefix, as the rest of the set-up sees it.
fn describe(prefix: &Path, python: &Python, key: String, cache: &Cache) -> Result<Base> {
    let mut environment = Environment::of_process(cache.root());
    add_variables(&mut environment, prefix, python)?;
    environment.set("LIBCLANG_PATH", site_packages(prefix, python).join("clang/native").display().to_string());
    if let Some(headers) = fixes::compiler_headers() {
        let ours = format!("-isystem {headers}");
        let others = environment.get("BINDGEN_EXTRA_CLANG_ARGS").unwrap_or_default().replace(&ours, "");
        environment.set("BINDGEN_EXTRA_CLANG_ARGS", format!("{ours} {}", others.trim()).trim().to_owned());
    }
    Ok(Base {
        distro: String::from("jazzy"),
        origin: format!("private prefix {}", prefix.display()),
        key,
        environment,
        python: Ok(interpreter(prefix)),
        tools: BuildTools {
            cmake: prefix.join("bin/cmake"),
            generator: Some("Ninja"),
            // CMake looks for ninja, and the generators for python3, on the PATH.
            first_on_path: Some(prefix.join("bin")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(minor: u64, base: &str) -> Python {
        Python { program: PathBuf::from("python3"), minor, include: String::new(), base: base.to_owned() }
    }

    #[test]
    fn each_python_gets_a_prefix_of_its_own() {
        assert_eq!(key_of(&python(11, "/usr")), key_of(&python(11, "/usr")));
        assert_ne!(key_of(&python(11, "/usr")), key_of(&python(12, "/usr")));
        assert_ne!(key_of(&python(11, "/usr")), key_of(&python(11, "/usr/local")));
    }

    #[test]
    fn every_package_is_pinned_and_hashed() {
        for text in [WHEELS, SOURCES] {
            let joined = text.replace("\\\n", " ");
            let requirements: Vec<&str> = joined.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(!requirements.is_empty());
            for requirement in requirements {
                assert!(requirement.contains("=="), "{requirement} has no version");
                let hashes: Vec<&str> =
                    requirement.split_whitespace().filter_map(|word| word.strip_prefix("--hash=sha256:")).collect();
                assert!(!hashes.is_empty(), "{requirement} has no hash");
                assert!(hashes.iter().all(|hash| hash.len() == 64), "{requirement}");
            }
        }
    }
}
