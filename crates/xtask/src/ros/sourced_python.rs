//! The Python of a sourced ROS 2: the one that its Python packages were made for.
//!
//! It is often not the first on PATH: a virtual environment, conda or pyenv puts another one there, which finds the
//! packages of ROS 2 and can't load them. The tests' peers would fail one by one, and the interfaces be built for the
//! wrong Python.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::environment::Environment;
use crate::prerequisites::{Missing, find_program};

/// The Python that distributions build ROS 2 for.
const OF_THE_SYSTEM: &str = "/usr/bin/python3";

/// What the nodes of the tests import, and then what the generators of interfaces do. A virtual environment may have all
/// that rclpy needs and nothing of what they need.
const MODULES: [&str; 2] = ["rclpy", "rclpy, catkin_pkg, em, lark, numpy"];

/// A Python that can import rclpy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Python {
    pub(super) program: PathBuf,
    /// What its extension modules are made for, as `cpython-312-x86_64-linux-gnu`.
    pub(super) abi: String,
    /// Whether it is what `python3` means in this shell.
    pub(super) is_first_on_path: bool,
}

/// The Python of the sourced ROS 2; else what is missing.
pub(super) fn find(distro: &str, environment: &Environment) -> Result<Python, Missing> {
    let on_path = find_program("python3");
    let of_the_system = Some(PathBuf::from(OF_THE_SYSTEM)).filter(|program| program.is_file());
    choose(on_path, of_the_system, |program, modules| ask(program, modules, environment))
        .map_err(|tried| missing(distro, &tried))
}

/// The first that can do everything, or else the first that imports rclpy, or else all that were tried. `ask` gives the
/// ABI of a Python that imports the modules.
fn choose(
    on_path: Option<PathBuf>,
    of_the_system: Option<PathBuf>,
    ask: impl Fn(&Path, &str) -> Option<String>,
) -> Result<Python, Vec<PathBuf>> {
    let other = of_the_system.filter(|program| on_path.as_ref() != Some(program));
    let candidates: Vec<(PathBuf, bool)> =
        on_path.into_iter().map(|program| (program, true)).chain(other.map(|program| (program, false))).collect();
    let able = |modules: &str| {
        candidates.iter().find_map(|(program, is_first_on_path)| {
            let abi = ask(program, modules)?;
            Some(Python { program: program.clone(), abi, is_first_on_path: *is_first_on_path })
        })
    };
    MODULES
        .into_iter()
        .rev()
        .find_map(able)
        .ok_or_else(|| candidates.iter().map(|(program, _)| program.clone()).collect())
}

fn ask(program: &Path, modules: &str, environment: &Environment) -> Option<String> {
    let question = format!("import sysconfig, {modules}; print(sysconfig.get_config_var('SOABI'))");
    let answer = environment
        .apply(&mut Command::new(program))
        .args(["-c", &question])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|answer| answer.status.success())?;
    // What a module prints while it is imported comes before it.
    String::from_utf8_lossy(&answer.stdout).lines().last().map(|abi| abi.trim().to_owned())
}

fn missing(distro: &str, tried: &[PathBuf]) -> Missing {
    let tried = match tried {
        [] => String::from("there is no python3"),
        tried => {
            let names: Vec<String> = tried.iter().map(|program| program.display().to_string()).collect();
            format!("{} can't", names.join(" and "))
        }
    };
    let package = format!("ros-{distro}-rclpy");
    Missing::new(
        format!("a Python that can import rclpy: {tried}"),
        &[package.as_str()],
        "install rclpy for the Python that this ROS 2 was built for, and have that one on PATH",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const VENV: &str = "/home/venv/bin/python3";

    /// What each Python can import; asked for more, it fails.
    fn chosen(able: &[(&str, usize)]) -> Result<(PathBuf, bool), Vec<PathBuf>> {
        let ask = |program: &Path, modules: &str| {
            let (_, count) = able.iter().find(|(name, _)| Path::new(name) == program)?;
            MODULES.iter().take(*count).any(|known| *known == modules).then(|| String::from("abi"))
        };
        let python = choose(Some(VENV.into()), Some(OF_THE_SYSTEM.into()), ask)?;
        Ok((python.program, python.is_first_on_path))
    }

    #[test]
    fn the_python_of_the_path_is_taken_when_it_is_that_of_ros() {
        assert_eq!(chosen(&[(VENV, 2), (OF_THE_SYSTEM, 2)]), Ok((VENV.into(), true)));
        let only = choose(Some(OF_THE_SYSTEM.into()), Some(OF_THE_SYSTEM.into()), |_, _| Some(String::new()));
        assert!(only.unwrap().is_first_on_path, "the same one is no other");
    }

    #[test]
    fn a_virtual_environment_without_rclpy_hid_the_python_of_the_system() {
        assert_eq!(chosen(&[(VENV, 0), (OF_THE_SYSTEM, 2)]), Ok((OF_THE_SYSTEM.into(), false)));
        assert_eq!(chosen(&[(VENV, 1), (OF_THE_SYSTEM, 2)]), Ok((OF_THE_SYSTEM.into(), false)), "it can't generate");
        assert_eq!(chosen(&[(VENV, 1)]), Ok((VENV.into(), true)), "interfaces may be there already");
    }

    #[test]
    fn without_any_the_report_names_those_that_were_tried_and_the_package() {
        let tried = chosen(&[]).unwrap_err();
        let report = missing("jazzy", &tried);
        assert!(report.what.contains("/home/venv/bin/python3 and /usr/bin/python3 can't"), "{}", report.what);
        assert_eq!(report.packages, ["ros-jazzy-rclpy"]);
        assert!(missing("jazzy", &[]).what.contains("there is no python3"));
    }

    #[test]
    fn a_python_is_asked_for_its_abi_behind_what_modules_print() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join("rclpy");
        std::fs::create_dir(&packages).unwrap();
        std::fs::write(packages.join("__init__.py"), "print('hello')").unwrap();
        let mut environment = Environment::default();
        environment.set("PYTHONPATH", folder.path().display().to_string());
        let python = find_program("python3").unwrap();
        let abi = ask(&python, "rclpy", &environment).unwrap();
        assert!(abi.starts_with("cpython-3"), "{abi}");
        assert_eq!(ask(&python, "rclpy, no_such_module", &environment), None);
    }
}
