//! Removes what set-ups have put into the cache, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::cache::{Cache, Kind};
use crate::keys;

/// Removes all entries of the cache and says which.
pub(crate) fn run() -> Result<()> {
    let cache = Cache::locate()?;
    let mut found = false;
    for kind in Kind::ALL {
        let folder = cache.root().join(kind.folder());
        for key in keys_in(&folder) {
            found = true;
            let entry = cache.entry(kind, &key);
            if entry.remove()? {
                println!("removed {}", entry.directory().display());
            } else {
                println!("kept {}: a running command is building it", entry.directory().display());
            }
        }
        remove_if_empty(&folder);
    }
    remove_if_empty(cache.root());
    if !found {
        println!("nothing to remove in {}", cache.root().display());
    }
    Ok(())
}

/// The keys that a folder holds anything of: the entry itself, its lock or its log.
fn keys_in(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let key = name.strip_suffix(".lock").or_else(|| name.strip_suffix(".log")).unwrap_or(&name);
            keys::is_key(key).then(|| key.to_owned())
        })
        .collect()
}

/// A folder that still holds foreign files stays.
fn remove_if_empty(folder: &Path) {
    // The error for a folder that is not empty, or not there, is the wanted outcome.
    let _ = fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_no_entries() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["0123456789abcdef.lock", "0123456789abcdef.log", "fedcba9876543210", "notes", "notes.log"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let keys: Vec<String> = keys_in(folder.path()).into_iter().collect();
        assert_eq!(keys, ["0123456789abcdef", "fedcba9876543210"]);
        assert!(keys_in(&folder.path().join("missing")).is_empty());
    }
}
