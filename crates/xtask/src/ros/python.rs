//! Finds a Python that can carry the private prefix.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::prerequisites::{Missing, find_program};

/// The minor versions of Python 3 that the pinned wheels exist for.
const MINOR_VERSIONS: std::ops::RangeInclusive<u64> = 10..=14;

/// Overrides the search.
const OVERRIDE: &str = "CORTEX_PYTHON";

/// Asks an interpreter what it is. Isolated (`-I`), so that nothing in the surroundings bends the answer.
const QUESTION: &str = r#"
import importlib.util, json, os, sys, sysconfig
include = sysconfig.get_path("include")
print(json.dumps({
    "major": sys.version_info[0],
    "minor": sys.version_info[1],
    "base": sys.base_prefix,
    "include": include,
    "headers": os.path.isfile(os.path.join(include, "Python.h")),
    "environments": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    "standard": sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED"),
}))
"#;

/// An interpreter that has all that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Python {
    /// What to call.
    pub(crate) program: PathBuf,
    /// The minor version of Python 3.
    pub(crate) minor: u64,
    /// Where its C headers lie.
    pub(crate) include: String,
    /// The installation behind it. A prefix made with one installation does not work with another.
    pub(crate) base: String,
}

/// Why an interpreter won't do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unfit {
    NoAnswer,
    Version { major: u64, minor: u64 },
    NotStandard,
    NoEnvironments { minor: u64 },
    NoHeaders { minor: u64 },
}

/// The first interpreter that will do; else what is missing.
pub(crate) fn find() -> Result<Result<Python, Missing>> {
    if let Some(program) = std::env::var_os(OVERRIDE).filter(|value| !value.is_empty()) {
        return match examine(PathBuf::from(&program)) {
            Ok(python) => Ok(Ok(python)),
            Err(unfit) => {
                let report = missing(&[(program, unfit)]);
                bail!("{OVERRIDE} cannot be used; needed is {} ({})", report.what, report.elsewhere);
            }
        };
    }
    let mut refused = Vec::new();
    for name in candidates() {
        let Some(program) = find_program(&name) else { continue };
        match examine(program) {
            Ok(python) => return Ok(Ok(python)),
            Err(unfit) => refused.push((OsString::from(name), unfit)),
        }
    }
    Ok(Err(missing(&refused)))
}

/// The system's own `python3` first, because its headers are the likeliest to be installed; then the newest.
fn candidates() -> Vec<String> {
    let mut names = vec![String::from("python3")];
    names.extend(MINOR_VERSIONS.rev().map(|minor| format!("python3.{minor}")));
    names
}

fn examine(program: PathBuf) -> Result<Python, Unfit> {
    let answer = Command::new(&program)
        .args(["-I", "-c", QUESTION])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|_| Unfit::NoAnswer)?;
    judge(program, &answer.stdout)
}

/// Reads the answer to [`QUESTION`].
fn judge(program: PathBuf, answer: &[u8]) -> Result<Python, Unfit> {
    let answer: Value = serde_json::from_slice(answer).map_err(|_| Unfit::NoAnswer)?;
    let number = |name: &str| answer.get(name).and_then(Value::as_u64).ok_or(Unfit::NoAnswer);
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned).ok_or(Unfit::NoAnswer);
    let is = |name: &str| answer.get(name).and_then(Value::as_bool).unwrap_or(false);
    let (major, minor) = (number("major")?, number("minor")?);
    if major != 3 || !MINOR_VERSIONS.contains(&minor) {
        return Err(Unfit::Version { major, minor });
    }
    if !is("standard") {
        return Err(Unfit::NotStandard);
    }
    if !is("environments") {
        return Err(Unfit::NoEnvironments { minor });
    }
    if !is("headers") {
        return Err(Unfit::NoHeaders { minor });
    }
    Ok(Python { program, minor, include: text("include")?, base: text("base")? })
}

/// One report on all interpreters that were refused. The package names follow the first one that only lacks a part.
fn missing(refused: &[(OsString, Unfit)]) -> Missing {
    let reasons: Vec<String> = refused
        .iter()
        .map(|(name, unfit)| {
            let reason = match unfit {
                Unfit::NoAnswer => String::from("does not run"),
                Unfit::Version { major, minor } => format!("is Python {major}.{minor}"),
                Unfit::NotStandard => String::from("is not the standard CPython build"),
                Unfit::NoEnvironments { .. } => String::from("lacks the module venv or ensurepip"),
                Unfit::NoHeaders { .. } => String::from("lacks its C headers (Python.h)"),
            };
            format!("{} {reason}", name.display())
        })
        .collect();
    let what = if reasons.is_empty() {
        String::from("Python 3.10 to 3.14: none was found on PATH")
    } else {
        format!("Python 3.10 to 3.14 with venv and C headers: {}", reasons.join(", "))
    };
    let incomplete = refused.iter().find_map(|(_, unfit)| match unfit {
        Unfit::NoEnvironments { minor } | Unfit::NoHeaders { minor } => Some(*minor),
        Unfit::NoAnswer | Unfit::Version { .. } | Unfit::NotStandard => None,
    });
    let packages = incomplete.map_or_else(
        || vec![String::from("python3"), String::from("python3-dev"), String::from("python3-venv")],
        |minor| vec![format!("python3.{minor}-dev"), format!("python3.{minor}-venv")],
    );
    Missing {
        what,
        packages,
        elsewhere: format!("install one with its headers; {OVERRIDE} names an interpreter that is not on PATH"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(minor: u64, headers: bool, environments: bool) -> Vec<u8> {
        serde_json::json!({
            "major": 3, "minor": minor, "base": "/usr", "include": "/usr/include/python3", "headers": headers,
            "environments": environments, "standard": true,
        })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn a_complete_interpreter_is_taken() {
        let python = judge(PathBuf::from("python3"), &answer(12, true, true));
        let expected = Python {
            program: PathBuf::from("python3"),
            minor: 12,
            include: String::from("/usr/include/python3"),
            base: String::from("/usr"),
        };
        assert_eq!(python, Ok(expected));
    }

    #[test]
    fn an_incomplete_one_is_refused_with_the_reason() {
        let judged = |answer: &[u8]| judge(PathBuf::from("python3"), answer);
        assert_eq!(judged(&answer(9, true, true)), Err(Unfit::Version { major: 3, minor: 9 }));
        assert_eq!(judged(&answer(15, true, true)), Err(Unfit::Version { major: 3, minor: 15 }));
        assert_eq!(judged(&answer(11, false, true)), Err(Unfit::NoHeaders { minor: 11 }));
        assert_eq!(judged(&answer(11, true, false)), Err(Unfit::NoEnvironments { minor: 11 }));
        assert_eq!(judged(b"command not found"), Err(Unfit::NoAnswer));
    }

    #[test]
    fn the_report_names_the_packages_of_the_version_that_is_there() {
        let report = missing(&[
            (OsString::from("python3"), Unfit::NoHeaders { minor: 11 }),
            (OsString::from("python3.10"), Unfit::NoAnswer),
        ]);
        assert_eq!(report.packages, ["python3.11-dev", "python3.11-venv"]);
        assert!(report.what.contains("python3 lacks its C headers"), "{}", report.what);
        assert_eq!(missing(&[]).packages, ["python3", "python3-dev", "python3-venv"]);
    }
}
