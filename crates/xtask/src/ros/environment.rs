//! The environment variables that make ROS 2 usable, merged with the ones that are already set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::COMPLETE_MARKER;

/// The interface packages that r2r compiles in, closed under their dependencies. All others only cost build time:
/// interfaces that are met on a robot are read at run time.
pub(super) const COMPILED_IN_PACKAGES: [&str; 14] = [
    "action_msgs",
    "builtin_interfaces",
    "cortex_msgs",
    "diagnostic_msgs",
    "geometry_msgs",
    "lifecycle_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "service_msgs",
    "std_msgs",
    "std_srvs",
    "unique_identifier_msgs",
];

/// Lists of folders that an earlier `cargo xtask env` may have put entries into.
const PATH_LISTS: [&str; 4] = ["AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH"];

/// The syntax of the printed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shell {
    /// sh, bash, zsh: `export NAME='value'`
    Posix,
    /// fish: `set -gx NAME 'value'`
    Fish,
}

/// What is set in this process, and what is changed on top of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    surroundings: BTreeMap<String, String>,
    changes: BTreeMap<String, String>,
}

impl Environment {
    /// Starts from this process's environment, without what an earlier set-up put there: evaluating `cargo xtask env`
    /// twice, or after a change of the interfaces, must not pile up entries.
    pub(crate) fn of_process(cache_root: &Path) -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let cargo_folders = folders_that_cargo_adds();
        let is_ours = |entry: &Path| {
            entry.starts_with(cache_root)
                || cargo_folders.iter().any(|folder| entry.starts_with(folder))
                || entry.ancestors().any(|ancestor| ancestor.join(COMPLETE_MARKER).is_file())
        };
        Self::cleaned(variables, is_ours)
    }

    fn cleaned(surroundings: BTreeMap<String, String>, is_ours: impl Fn(&Path) -> bool) -> Self {
        let mut changes = BTreeMap::new();
        for name in PATH_LISTS {
            let entries: Vec<&str> = surroundings.get(name).map(|value| split(value).collect()).unwrap_or_default();
            let kept: Vec<&str> = entries.iter().copied().filter(|entry| !is_ours(Path::new(entry))).collect();
            if kept.len() != entries.len() {
                changes.insert(name.to_owned(), kept.join(":"));
            }
        }
        Self { surroundings, changes }
    }

    /// A variable as children will see it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.changes
            .get(name)
            .or_else(|| self.surroundings.get(name))
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The folders in a path list, as children will see it.
    pub(crate) fn folders(&self, name: &str) -> Vec<PathBuf> {
        split(self.get(name).unwrap_or_default()).map(PathBuf::from).collect()
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.changes.insert(name.to_owned(), value.into());
    }

    /// Puts folders in front of a path list; one that is already in the list moves to the front.
    pub(crate) fn prepend(&mut self, name: &str, folders: &[PathBuf]) {
        let front: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let back: Vec<String> = split(self.get(name).unwrap_or_default())
            .filter(|entry| !front.iter().any(|folder| folder == entry))
            .map(str::to_owned)
            .collect();
        self.set(name, [front, back].concat().join(":"));
    }

    /// Tells r2r which interface packages to compile in, and that it is to do so anew when `digest` changes.
    pub(crate) fn limit_compiled_in_packages(&mut self, digest: Option<&str>) {
        let digest = digest.map(|digest| format!(";digest_{digest}")).unwrap_or_default();
        self.set("IDL_PACKAGE_FILTER", COMPILED_IN_PACKAGES.join(";") + &digest);
    }

    /// The environment that a child gets.
    pub(crate) fn apply<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        command.envs(&self.changes)
    }

    /// The changes as lines for a shell.
    pub(crate) fn lines(&self, shell: Shell) -> String {
        self.changes
            .iter()
            .map(|(name, value)| match shell {
                Shell::Posix => format!("export {name}='{}'\n", value.replace('\'', r"'\''")),
                Shell::Fish => format!("set -gx {name} '{}'\n", value.replace('\\', r"\\").replace('\'', r"\'")),
            })
            .collect()
    }
}

fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split(':').filter(|entry| !entry.is_empty())
}

/// `cargo run` prepends the build folder and the toolchain to `LD_LIBRARY_PATH`. They must not end up in somebody's
/// shell, nor in front of other toolchains' folders.
fn folders_that_cargo_adds() -> Vec<PathBuf> {
    let build_folder = std::env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let toolchain = std::env::var_os("CARGO")
        .and_then(|cargo| PathBuf::from(cargo).parent().and_then(Path::parent).map(|root| root.join("lib")))
        .filter(|folder| folder.join("rustlib").is_dir());
    build_folder.into_iter().chain(toolchain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Environment::cleaned(variables, |entry| entry.starts_with("/cache/cortex"))
    }

    #[test]
    fn entries_of_an_earlier_set_up_are_dropped() {
        let environment = environment(&[
            ("AMENT_PREFIX_PATH", "/cache/cortex/interfaces/1/install:/cache/cortex/ros/1"),
            ("LD_LIBRARY_PATH", "/cache/cortex/ros/1/lib:/opt/driver/lib:"),
            ("PATH", "/cache/cortex/ros/1/bin:/usr/bin"),
        ]);
        assert_eq!(environment.get("AMENT_PREFIX_PATH"), None);
        assert_eq!(environment.get("LD_LIBRARY_PATH"), Some("/opt/driver/lib"));
        assert_eq!(environment.get("PATH"), Some("/cache/cortex/ros/1/bin:/usr/bin"), "PATH is left alone");
        assert_eq!(
            environment.lines(Shell::Posix),
            "export AMENT_PREFIX_PATH=''\nexport LD_LIBRARY_PATH='/opt/driver/lib'\n",
            "children do not see the old entries either"
        );
    }

    #[test]
    fn prepending_keeps_the_order_and_repeats_nothing() {
        let mut environment = environment(&[("LD_LIBRARY_PATH", "/opt/driver/lib:/b")]);
        environment.prepend("LD_LIBRARY_PATH", &[PathBuf::from("/a"), PathBuf::from("/b")]);
        environment.prepend("LD_LIBRARY_PATH", &[PathBuf::from("/a")]);
        environment.prepend("PYTHONPATH", &[PathBuf::from("/p")]);
        assert_eq!(environment.get("LD_LIBRARY_PATH"), Some("/a:/b:/opt/driver/lib"));
        assert_eq!(environment.get("PYTHONPATH"), Some("/p"));
    }

    #[test]
    fn lines_survive_any_value() {
        let mut environment = environment(&[]);
        environment.set("A", "it's $HOME; \\ done");
        assert_eq!(environment.lines(Shell::Posix), "export A='it'\\''s $HOME; \\ done'\n");
        assert_eq!(environment.lines(Shell::Fish), "set -gx A 'it\\'s $HOME; \\\\ done'\n");
    }

    #[test]
    fn colcon_compiles_the_same_packages_in() {
        let listed = |text: &str, begin: &str, end: &str| -> Vec<String> {
            let list = text.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).unwrap().0;
            list.split_whitespace().map(str::to_owned).collect()
        };
        let cmake = include_str!("../../../../launch/CMakeLists.txt");
        assert_eq!(listed(cmake, "set(COMPILED_IN_PACKAGES\n", ")"), COMPILED_IN_PACKAGES);
        let manifest = include_str!("../../../../launch/package.xml");
        for package in COMPILED_IN_PACKAGES {
            assert!(manifest.contains(&format!("<depend>{package}</depend>")), "{package} is missing in package.xml");
        }
    }

    #[test]
    fn the_filter_is_a_semicolon_list() {
        let mut environment = environment(&[]);
        environment.limit_compiled_in_packages(None);
        let filter = environment.get("IDL_PACKAGE_FILTER").unwrap_or_default().to_owned();
        assert!(filter.split(';').any(|package| package == "cortex_msgs"), "{filter}");
        assert!(!filter.contains(' '), "{filter}");
        environment.limit_compiled_in_packages(Some("1f"));
        assert_eq!(environment.get("IDL_PACKAGE_FILTER"), Some(format!("{filter};digest_1f").as_str()));
    }
}
