//! The ament index: which packages of interfaces are installed, and where.
//!
//! Only looks at files. Every name that becomes part of a path was checked (see [`InterfaceName`]).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::interface_file::MAX_FILE_BYTES;
use crate::{InterfaceError, InterfaceKind, InterfaceName};

/// The variable that names the installed prefixes, the first of them first.
const PREFIXES: &str = "AMENT_PREFIX_PATH";
/// Where the index lies below a prefix.
const RESOURCES: &str = "share/ament_index/resource_index";
/// Longer index files are not believed.
const MAX_RESOURCE_BYTES: u64 = 1024 * 1024;

/// The installed prefixes. A package is looked for in each of them in turn; the first that has it counts, so that an
/// overlay hides what it builds on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmentIndex {
    prefixes: Vec<PathBuf>,
}

impl AmentIndex {
    /// The prefixes of `AMENT_PREFIX_PATH`.
    #[must_use]
    pub fn from_environment() -> Self {
        let value = std::env::var_os(PREFIXES).unwrap_or_default();
        Self::new(std::env::split_paths(&value).filter(|prefix| !prefix.as_os_str().is_empty()).collect())
    }

    /// These prefixes.
    #[must_use]
    pub fn new(prefixes: Vec<PathBuf>) -> Self {
        Self { prefixes }
    }

    /// The prefixes, the first of them first.
    #[must_use]
    pub fn prefixes(&self) -> &[PathBuf] {
        &self.prefixes
    }

    /// Every interface that is installed, in order. What the index lists under an impossible name is passed over.
    #[must_use]
    pub fn interfaces(&self) -> Vec<InterfaceName> {
        let mut packages = BTreeSet::new();
        for prefix in &self.prefixes {
            let folder = prefix.join(RESOURCES).join("rosidl_interfaces");
            let Ok(entries) = fs::read_dir(folder) else { continue };
            packages.extend(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()));
        }
        let mut names = BTreeSet::new();
        for package in packages {
            // A name that no package can have is found here, before it becomes a path.
            if InterfaceName::new(&package, InterfaceKind::Message, "Any").is_err() {
                continue;
            }
            if let Some(prefix) = self.prefix_of(&package) {
                names.extend(listed_interfaces(prefix, &package));
            }
        }
        names.into_iter().collect()
    }

    /// Finds the prefix that an interface is installed in.
    ///
    /// # Errors
    /// When the package is not installed, or does not list the interface.
    pub(crate) fn locate(&self, interface: &InterfaceName) -> Result<&Path, InterfaceError> {
        let prefix = self.prefix_of(interface.package()).ok_or_else(|| InterfaceError::PackageNotFound {
            package: interface.package().to_owned(),
            prefixes: self.prefixes.clone(),
        })?;
        let known = listed_interfaces(prefix, interface.package());
        if known.contains(interface) {
            return Ok(prefix);
        }
        Err(InterfaceError::InterfaceNotFound {
            interface: interface.clone(),
            prefix: prefix.to_owned(),
            known: known.into_iter().filter(|name| name.kind() == interface.kind()).collect(),
        })
    }

    /// The first prefix that has the package. The name must have been checked.
    fn prefix_of(&self, package: &str) -> Option<&Path> {
        self.prefixes
            .iter()
            .find(|prefix| prefix.join(RESOURCES).join("packages").join(package).is_file())
            .map(PathBuf::as_path)
    }

    /// The packages that a package of interfaces needs at run time and that are installed, with their prefixes.
    pub(crate) fn dependencies(&self, prefix: &Path, package: &str) -> Vec<(&Path, String)> {
        let listed = resource(prefix, "package_run_dependencies", package).unwrap_or_default();
        listed
            .split(';')
            .map(str::trim)
            .filter(|name| InterfaceName::new(name, InterfaceKind::Message, "Any").is_ok())
            .filter_map(|name| self.prefix_of(name).map(|prefix| (prefix, name.to_owned())))
            .filter(|(prefix, name)| resource(prefix, "rosidl_interfaces", name).is_some())
            .collect()
    }

    /// The text of the file that an interface was written in; none where only the compiled form is installed.
    pub(crate) fn text_of(&self, interface: &InterfaceName) -> Option<String> {
        let kind = interface.kind().as_str();
        let path = self
            .prefix_of(interface.package())?
            .join("share")
            .join(interface.package())
            .join(kind)
            .join(format!("{}.{kind}", interface.name()));
        read(&path, MAX_FILE_BYTES)
    }
}

/// What a package's entry in the index lists, one `msg/Name.msg` or `msg/Name.idl` on each line.
fn listed_interfaces(prefix: &Path, package: &str) -> BTreeSet<InterfaceName> {
    let text = resource(prefix, "rosidl_interfaces", package).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (stem, _) = line.trim().rsplit_once('.')?;
            format!("{package}/{stem}").parse().ok()
        })
        .collect()
}

fn resource(prefix: &Path, kind: &str, package: &str) -> Option<String> {
    read(&prefix.join(RESOURCES).join(kind).join(package), MAX_RESOURCE_BYTES)
}

/// The start of a file. What is not UTF-8 is replaced.
fn read(path: &Path, limit: u64) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix_with(package: &str, interfaces: &str) -> tempfile::TempDir {
        let prefix = tempfile::tempdir().unwrap();
        for (kind, text) in
            [("packages", ""), ("rosidl_interfaces", interfaces), ("package_run_dependencies", "std_msgs;../x;;b_msgs")]
        {
            let folder = prefix.path().join(RESOURCES).join(kind);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(package), text).unwrap();
        }
        prefix
    }

    fn name(text: &str) -> InterfaceName {
        text.parse().unwrap()
    }

    #[test]
    fn the_first_prefix_that_has_a_package_counts() {
        let overlay = prefix_with("a_msgs", "msg/New.idl\nmsg/New.msg\n");
        let underlay = prefix_with("a_msgs", "msg/Old.msg\nsrv/../../x.srv\nnonsense\n");
        let index = AmentIndex::new(vec![overlay.path().to_owned(), underlay.path().to_owned()]);
        assert_eq!(index.interfaces(), [name("a_msgs/msg/New")]);
        assert_eq!(index.locate(&name("a_msgs/msg/New")).unwrap(), overlay.path());
        assert_eq!(
            index.locate(&name("a_msgs/msg/Old")).unwrap_err().to_string(),
            format!(
                "a_msgs is installed in {} without a_msgs/msg/Old (it has: a_msgs/msg/New); install the version of \
                 the package that the other side uses",
                overlay.path().display()
            )
        );
    }

    #[test]
    fn a_package_that_is_not_installed_says_what_to_do() {
        let error = AmentIndex::new(vec!["/nowhere".into()]).locate(&name("a_msgs/msg/New")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the package a_msgs is not installed in any of /nowhere; install it, or source the workspace that has it \
             before this program is started"
        );
    }

    #[test]
    fn dependencies_are_packages_of_interfaces_that_are_installed() {
        let first = prefix_with("a_msgs", "msg/New.msg\n");
        let second = prefix_with("b_msgs", "msg/Other.msg\n");
        let index = AmentIndex::new(vec![first.path().to_owned(), second.path().to_owned()]);
        assert_eq!(index.dependencies(first.path(), "a_msgs"), [(second.path(), "b_msgs".to_owned())]);
    }
}
