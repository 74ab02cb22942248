//! Makes ROS 2 available: the one that is sourced, or a private one; then the project's interfaces on top of it.

pub(crate) mod environment;
mod fixes;
mod interfaces;
mod interfaces_in_place;
mod prefix;
pub(crate) mod python;
mod sourced;
mod sourced_python;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cache::Cache;
use crate::prerequisites::Missing;
use environment::Environment;

/// What ROS 2 is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To build and run the programs.
    Build,
    /// To run what has nodes in Python and interfaces of its own, too: tests, benchmark, soak, campaign.
    Test,
}

/// A ROS 2 without our interfaces.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// Its distribution, for instance `jazzy`.
    distro: String,
    /// Where it comes from, in words.
    origin: String,
    /// Changes when it does: what is built against one must not be used with another.
    key: String,
    environment: Environment,
    /// A Python that can import rclpy. A sourced ROS 2 may have none: then what is missing.
    python: Result<PathBuf, Missing>,
    tools: BuildTools,
}

/// What the interface package is built with.
#[derive(Debug, Clone)]
struct BuildTools {
    cmake: PathBuf,
    /// `None` lets CMake choose.
    generator: Option<&'static str>,
    first_on_path: Option<PathBuf>,
}

/// A ROS 2 that is ready to build and run against.
#[derive(Debug, Clone)]
pub(crate) struct Ros {
    distro: String,
    origin: String,
    /// The Python that can import rclpy.
    python: Option<PathBuf>,
    environment: Environment,
    interfaces: interfaces::Interfaces,
    cmake: PathBuf,
}

impl Ros {
    /// One line on which ROS 2 is used.
    pub(crate) fn description(&self) -> String {
        let interfaces = match &self.interfaces.prefix {
            Some(prefix) => prefix.display().to_string(),
            None => String::from("the same installation"),
        };
        let python = match &self.python {
            Some(python) => format!("with {}", python.display()),
            None => String::from("without a Python that can import rclpy"),
        };
        format!("ROS 2 {}, {}, {python}; cortex_msgs from {interfaces}", self.distro, self.origin)
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The CMake that the interfaces are built with.
    pub(crate) fn cmake(&self) -> &Path {
        &self.cmake
    }
}

/// Makes ROS 2 available with the interfaces of this tree. Quick when everything is there.
pub(crate) fn set_up(repository: &Path, purpose: Purpose) -> Result<Ros> {
    let cache = Cache::locate()?;
    let base = match sourced::find(&cache, purpose)? {
        Some(base) => base,
        None => prefix::ensure(&cache)?,
    };
    let interfaces = interfaces::ensure(&cache, &base, &repository.join("msg"))?;
    let mut environment = base.environment;
    if let Some(prefix) = &interfaces.prefix {
        add_interfaces(&mut environment, prefix)?;
    }
    let in_place = interfaces_in_place::digest(&environment, cache.root())?;
    environment.limit_compiled_in_packages(in_place.as_deref());
    let python = base.python.ok();
    if let Some(python) = &python {
        environment.set("CORTEX_ROS_PYTHON", python.display().to_string());
    }
    Ok(Ros { distro: base.distro, origin: base.origin, python, environment, interfaces, cmake: base.tools.cmake })
}

/// Puts an installed interface package in front of everything else.
fn add_interfaces(environment: &mut Environment, prefix: &Path) -> Result<()> {
    let own = [prefix.to_owned()];
    environment.prepend("AMENT_PREFIX_PATH", &own);
    environment.prepend("CMAKE_PREFIX_PATH", &own);
    environment.prepend("LD_LIBRARY_PATH", &[prefix.join("lib")]);
    if let Some(packages) = python_packages(prefix)? {
        environment.prepend("PYTHONPATH", &[packages]);
    }
    Ok(())
}

/// Where the Python part was installed. Debian's Python has its own idea of the folder's name, so it is looked for.
fn python_packages(prefix: &Path) -> Result<Option<PathBuf>> {
    for library in [prefix.join("lib"), prefix.join("local/lib")] {
        let Ok(entries) = fs::read_dir(&library) else { continue };
        for entry in entries {
            let folder = entry.with_context(|| format!("cannot read {}", library.display()))?.path();
            for packages in ["site-packages", "dist-packages"] {
                let packages = folder.join(packages);
                if packages.join("cortex_msgs").is_dir() {
                    return Ok(Some(packages));
                }
            }
        }
    }
    Ok(None)
}
