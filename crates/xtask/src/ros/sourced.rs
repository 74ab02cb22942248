//! A ROS 2 that the person has sourced: used as it is, never changed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::environment::Environment;
use super::{Base, BuildTools};
use crate::cache::Cache;
use crate::keys::KeyBuilder;
use crate::prerequisites::{self, Missing, find_program};

/// The distributions that r2r 0.9.7 can bind.
const SUPPORTED: [&str; 7] = ["foxy", "galactic", "humble", "iron", "jazzy", "lyrical", "rolling"];

/// The sourced ROS 2, if there is one.
pub(crate) fn find(cache: &Cache) -> Result<Option<Base>> {
    // The environment is cleaned of our own prefix, so a shell that evaluated `cargo xtask env` has sourced nothing.
    let environment = Environment::of_process(cache.root());
    let Some((distro, prefix)) = detect(&environment)? else { return Ok(None) };
    prerequisites::require_all(&missing_tools(&environment))?;
    let python = find_program("python3").filter(|python| imports_rclpy(python, &environment));
    let key = KeyBuilder::default().part("sourced").part(&distro).part(prefix.as_os_str().as_encoded_bytes()).finish();
    Ok(Some(Base {
        origin: format!("sourced from {}", prefix.display()),
        distro,
        key,
        environment,
        python,
        tools: BuildTools { cmake: PathBuf::from("cmake"), generator: None, first_on_path: None },
    }))
}

/// Distribution and prefix of a sourced ROS 2.
fn detect(environment: &Environment) -> Result<Option<(String, PathBuf)>> {
    let prefixes = environment.folders("AMENT_PREFIX_PATH");
    let Some(prefix) = prefixes.into_iter().find(|prefix| prefix.join("share/rcl/package.xml").is_file()) else {
        return Ok(None);
    };
    let Some(distro) = environment.get("ROS_DISTRO").map(str::to_owned) else {
        bail!(
            "AMENT_PREFIX_PATH names a ROS 2 ({}) but ROS_DISTRO is not set: source its setup.bash, or unset \
             AMENT_PREFIX_PATH to let this command install ROS 2 Jazzy privately",
            prefix.display()
        );
    };
    if !SUPPORTED.contains(&distro.as_str()) {
        bail!(
            "ROS 2 {distro} is sourced, which the Rust bindings (r2r 0.9.7) do not support. Supported are: {}. Source \
             one of these, or use a shell in which no ROS 2 is sourced: then ROS 2 Jazzy is installed privately",
            SUPPORTED.join(", ")
        );
    }
    Ok(Some((distro, prefix)))
}

/// What building against a sourced ROS 2 needs and its installation may lack.
fn missing_tools(environment: &Environment) -> Vec<Missing> {
    let mut missing = prerequisites::missing_compilers();
    if find_program("cmake").is_none() {
        missing.push(Missing::new("CMake", &["cmake"], "install cmake"));
    }
    if environment.get("LIBCLANG_PATH").is_none() && !has_libclang() {
        missing.push(Missing::new(
            "libclang, which writes the Rust bindings",
            &["libclang-dev"],
            "install it, or set LIBCLANG_PATH to the folder of libclang.so",
        ));
    }
    missing
}

/// Looks where distributions put libclang. A false alarm costs the person one variable to set.
fn has_libclang() -> bool {
    let holds_libclang = |folder: &Path| {
        std::fs::read_dir(folder).is_ok_and(|entries| {
            entries.flatten().any(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name.starts_with("libclang.so") || (name.starts_with("libclang-") && name.contains(".so"))
            })
        })
    };
    let mut folders: Vec<PathBuf> = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"]
        .iter()
        .chain(&["/usr/lib/aarch64-linux-gnu"])
        .map(PathBuf::from)
        .collect();
    if let Ok(entries) = std::fs::read_dir("/usr/lib") {
        let llvm = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("llvm"));
        folders.extend(llvm.map(|entry| entry.path().join("lib")));
    }
    folders.iter().any(|folder| holds_libclang(folder)) || find_program("llvm-config").is_some()
}

fn imports_rclpy(python: &Path, environment: &Environment) -> bool {
    environment
        .apply(&mut Command::new(python))
        .args(["-c", "import rclpy"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix_with_rcl() -> tempfile::TempDir {
        let prefix = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(prefix.path().join("share/rcl")).unwrap();
        std::fs::write(prefix.path().join("share/rcl/package.xml"), "<package/>").unwrap();
        prefix
    }

    fn environment(prefix: &Path, distro: Option<&str>) -> Environment {
        let mut environment = Environment::default();
        environment.prepend("AMENT_PREFIX_PATH", &[PathBuf::from("/overlay"), prefix.to_owned()]);
        if let Some(distro) = distro {
            environment.set("ROS_DISTRO", distro);
        }
        environment
    }

    #[test]
    fn a_supported_distribution_is_taken() {
        let prefix = prefix_with_rcl();
        let found = detect(&environment(prefix.path(), Some("humble"))).unwrap();
        assert_eq!(found, Some((String::from("humble"), prefix.path().to_owned())));
    }

    #[test]
    fn an_unsupported_distribution_is_refused_with_the_list() {
        let prefix = prefix_with_rcl();
        let error = detect(&environment(prefix.path(), Some("kilted"))).unwrap_err().to_string();
        assert!(error.contains("kilted") && error.contains("jazzy"), "{error}");
    }

    #[test]
    fn half_a_sourced_ros_is_refused() {
        let prefix = prefix_with_rcl();
        let error = detect(&environment(prefix.path(), None)).unwrap_err().to_string();
        assert!(error.contains("ROS_DISTRO is not set"), "{error}");
    }

    #[test]
    fn a_prefix_without_rcl_is_no_ros() {
        let prefix = tempfile::tempdir().unwrap();
        assert_eq!(detect(&environment(prefix.path(), Some("jazzy"))).unwrap(), None);
    }
}
