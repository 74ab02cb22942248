//! What the interfaces are that are compiled in and may change where they are: those of a sourced ROS 2.
//!
//! What that is for is told in `launch/cargo.cmake`, which does the same for colcon. A private build needs it not: it has its
//! key in its path.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::environment::{COMPILED_IN_PACKAGES, Environment};
use crate::keys::KeyBuilder;

/// Where a package has them.
const FOLDERS: [&str; 3] = ["msg", "srv", "action"];

/// Changes when one of them does. None: there are none.
pub(super) fn digest(environment: &Environment, cache_root: &Path) -> Result<Option<String>> {
    let prefixes = environment.folders("AMENT_PREFIX_PATH");
    let mut key = None;
    for package in COMPILED_IN_PACKAGES {
        // The first prefix that has the package is the one that all others will find, too.
        let shares = prefixes.iter().map(|prefix| prefix.join("share").join(package));
        let Some(share) = shares.into_iter().find(|share| share.is_dir()) else { continue };
        if !share.starts_with(cache_root) {
            let with_package = key.take().unwrap_or_else(KeyBuilder::default).part(package);
            key = Some(FOLDERS.iter().try_fold(with_package, |key, folder| with_files(key, &share.join(folder)))?);
        }
    }
    Ok(key.map(KeyBuilder::finish))
}

/// Adds the names and bytes of the files in a folder, in order.
fn with_files(key: KeyBuilder, folder: &Path) -> Result<KeyBuilder> {
    let unreadable = || format!("cannot read the interfaces in {}", folder.display());
    if !folder.is_dir() {
        return Ok(key);
    }
    let entries = fs::read_dir(folder).with_context(unreadable)?;
    let mut files =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().with_context(unreadable)?;
    files.sort();
    files.iter().filter(|file| file.is_file()).try_fold(key, |key, file| {
        let bytes = fs::read(file).with_context(unreadable)?;
        Ok(key.part(file.as_os_str().as_encoded_bytes()).part(bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_followed_an_interface_of_ours_only_and_none_of_the_distribution() {
        let folder = tempfile::tempdir().unwrap();
        let (ros, cache) = (folder.path().join("ros"), folder.path().join("cache"));
        let write = |prefix: &Path, package: &str, text: &str| {
            let messages = prefix.join("share").join(package).join("msg");
            fs::create_dir_all(&messages).unwrap();
            fs::write(messages.join("A.msg"), text).unwrap();
        };
        let mut environment = Environment::default();
        environment.prepend("AMENT_PREFIX_PATH", &[cache.join("ours"), ros.clone()]);
        let now = || digest(&environment, &cache).unwrap();
        write(&cache.join("ours"), "cortex_msgs", "bool a");
        assert_eq!(now(), None, "its key is in its path");
        write(&ros, "std_msgs", "bool a");
        let before = now();
        assert!(before.is_some() && before == now());
        write(&ros, "cortex_msgs", "bool hidden");
        write(&ros, "game_msgs", "bool foreign");
        assert_eq!(now(), before, "these are not compiled in");
        write(&ros, "std_msgs", "bool b");
        assert_ne!(now(), before);
    }
}
