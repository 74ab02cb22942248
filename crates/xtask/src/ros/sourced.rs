//! A ROS 2 that the person has sourced: used as it is, never changed.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::environment::Environment;
use super::{Base, BuildTools, Purpose, sourced_python};
use crate::cache::Cache;
use crate::keys::KeyBuilder;
use crate::prerequisites::{self, Missing, find_program};

/// The distributions that r2r 0.9.7 can bind.
const SUPPORTED: [&str; 7] = ["foxy", "galactic", "humble", "iron", "jazzy", "lyrical", "rolling"];

/// Packages whose releases change what is built against them: an upgrade replaces them in their folder.
const BUILT_AGAINST: [&str; 6] = [
    "rcl",
    "rosidl_generator_c",
    "rosidl_generator_py",
    "rosidl_runtime_c",
    "rosidl_typesupport_c",
    "rosidl_typesupport_fastrtps_c",
];

/// The interfaces that the tests' own nodes use. `ros-DISTRO-desktop` does not bring them.
const TEST_INTERFACES: &str = "test_msgs";

/// The sourced ROS 2, if there is one.
pub(crate) fn find(cache: &Cache, purpose: Purpose) -> Result<Option<Base>> {
    // The environment is cleaned of our own prefix, so a shell that evaluated `cargo xtask env` has sourced nothing.
    let environment = Environment::of_process(cache.root());
    let Some((distro, prefix)) = detect(&environment)? else { return Ok(None) };
    let python = sourced_python::find(&distro, &environment);
    let mut missing = missing_tools(&environment);
    if purpose == Purpose::Test {
        missing.extend(python.as_ref().err().cloned());
        missing.extend(missing_test_interfaces(&distro, &environment));
    }
    prerequisites::require_all(&missing)?;
    let abi = python.as_ref().map_or("", |python| &python.abi);
    let key = key_of(&distro, &prefix, abi, &environment);
    // The generators look for python3 on the PATH.
    let other = python.as_ref().ok().filter(|python| !python.is_first_on_path);
    let first_on_path = other.and_then(|python| python.program.parent()).map(Path::to_owned);
    Ok(Some(Base {
        origin: format!("sourced from {}", prefix.display()),
        distro,
        key,
        environment,
        python: python.map(|python| python.program),
        tools: BuildTools { cmake: PathBuf::from("cmake"), generator: None, first_on_path },
    }))
}

/// Everything that a build against it depends on.
fn key_of(distro: &str, prefix: &Path, abi: &str, environment: &Environment) -> String {
    let prefixes = environment.folders("AMENT_PREFIX_PATH");
    let mut key = KeyBuilder::default().part("sourced").part(distro).part(prefix.as_os_str().as_encoded_bytes());
    key = key.part(abi);
    for package in BUILT_AGAINST {
        // It names the version. One that is not there makes a key, too.
        key = key.part(manifest(&prefixes, package).and_then(|file| std::fs::read(file).ok()).unwrap_or_default());
    }
    key.finish()
}

/// The `package.xml` of an installed package: the first prefix that has it is the one that all others will find, too.
fn manifest(prefixes: &[PathBuf], package: &str) -> Option<PathBuf> {
    prefixes.iter().map(|prefix| prefix.join("share").join(package).join("package.xml")).find(|file| file.is_file())
}

fn missing_test_interfaces(distro: &str, environment: &Environment) -> Option<Missing> {
    let is_there = manifest(&environment.folders("AMENT_PREFIX_PATH"), TEST_INTERFACES).is_some();
    let package = format!("ros-{distro}-test-msgs");
    (!is_there).then(|| {
        Missing::new(
            format!("the ROS 2 package {TEST_INTERFACES}, whose interfaces the tests use"),
            &[package.as_str()],
            "install it, or build it in a workspace and source that, too",
        )
    })
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

    #[test]
    fn an_upgrade_in_place_makes_another_key() {
        let prefix = prefix_with_rcl();
        let environment = environment(prefix.path(), Some("jazzy"));
        let key = |abi: &str| key_of("jazzy", prefix.path(), abi, &environment);
        let before = key("cpython-312");
        assert_eq!(key("cpython-312"), before);
        assert_ne!(key("cpython-313"), before, "the Python part is made for one Python");
        assert_ne!(key(""), before, "and can't be tried without any");
        for package in BUILT_AGAINST {
            let before = key("cpython-312");
            let share = prefix.path().join("share").join(package);
            std::fs::create_dir_all(&share).unwrap();
            std::fs::write(share.join("package.xml"), "<package><version>9.2.8</version></package>").unwrap();
            assert_ne!(key("cpython-312"), before, "{package}");
        }
    }

    #[test]
    fn the_interfaces_of_the_tests_are_asked_for_by_the_name_of_their_package() {
        let prefix = prefix_with_rcl();
        let environment = environment(prefix.path(), Some("jazzy"));
        let missing = missing_test_interfaces("jazzy", &environment).unwrap();
        assert_eq!(missing.packages, ["ros-jazzy-test-msgs"]);
        let share = prefix.path().join("share/test_msgs");
        std::fs::create_dir_all(&share).unwrap();
        std::fs::write(share.join("package.xml"), "<package/>").unwrap();
        assert_eq!(missing_test_interfaces("jazzy", &environment), None);
    }
}
