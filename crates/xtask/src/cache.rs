//! The cache that all clones on a machine share: private ROS 2 prefixes, built interfaces, and what tests download.
//!
//! An entry is a folder that is either complete (a marker was written last) or worthless. It is built in place, because
//! Python environments and CMake exports hold absolute paths, under a lock that the building programs inherit: a second
//! run waits, and a run after an interruption starts the entry anew.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::log::Log;
use crate::progress;

/// Written last. By it a prefix that this command made is also told from one that a person sourced.
pub(crate) const COMPLETE_MARKER: &str = ".cortex-complete";

/// What must not be in the cache's path.
const UNUSABLE: [char; 6] = ['\'', '"', ':', ';', '$', '\\'];

/// What the cache holds, one sub-folder each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Private ROS 2 prefixes.
    Ros,
    /// Builds of the interface package.
    Interfaces,
    /// The script that looks for what keeps people from using a page.
    Axe,
    /// Models for tests.
    Models,
    /// What Cargo builds of local models with their engine.
    Engines,
    /// Programs that look at the tree.
    Tools,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Ros, Self::Interfaces, Self::Axe, Self::Models, Self::Engines, Self::Tools];

    /// The sub-folder's name.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Ros => "ros",
            Self::Interfaces => "interfaces",
            Self::Axe => "axe",
            Self::Models => "models",
            Self::Engines => "engines",
            Self::Tools => "tools",
        }
    }

    /// What a person calls it.
    fn title(self) -> &'static str {
        match self {
            Self::Ros => "ROS 2 set-up",
            Self::Interfaces => "build of the interfaces",
            Self::Axe => "download of axe-core",
            Self::Models => "download of a model",
            Self::Engines => "build of llama.cpp",
            Self::Tools => "build of a tool",
        }
    }
}

/// The root of the cache.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `$XDG_CACHE_HOME/cortex`, or `~/.cache/cortex`.
    pub(crate) fn locate() -> Result<Self> {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = match (absolute("XDG_CACHE_HOME"), absolute("HOME")) {
            (Some(cache), _) => cache,
            (None, Some(home)) => home.join(".cache"),
            (None, None) => bail!("no place for the cache: set HOME or XDG_CACHE_HOME to an absolute folder"),
        };
        Self::in_folder(&base)
    }

    /// Refuses folders that path lists, CMake or the ROS 2 generators would take apart.
    fn in_folder(base: &Path) -> Result<Self> {
        match base.to_str().map(|text| text.find(UNUSABLE)) {
            Some(None) => Ok(Self { root: base.join("cortex") }),
            Some(Some(_)) | None => bail!(
                "the cache cannot lie in {}: the tools of ROS 2 do not bear quotes, colons, semicolons, dollar signs or \
                 backslashes in paths. Set XDG_CACHE_HOME to another folder",
                base.display()
            ),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn entry(&self, kind: Kind, key: &str) -> Entry {
        let folder = self.root.join(kind.folder());
        Entry {
            kind,
            directory: folder.join(key),
            lock: folder.join(format!("{key}.lock")),
            log: folder.join(format!("{key}.log")),
        }
    }
}

/// One keyed folder of the cache.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    kind: Kind,
    directory: PathBuf,
    lock: PathBuf,
    log: PathBuf,
}

impl Entry {
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.directory.join(COMPLETE_MARKER).is_file()
    }

    /// Builds the entry unless it is complete. `build` finds an empty folder.
    pub(crate) fn ensure(&self, build: impl FnOnce(&Path, &Log) -> Result<()>) -> Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        let lock = self.lock_waiting()?;
        if self.is_complete() {
            // Another run has built it while this one waited.
            return Ok(());
        }
        if self.directory.exists() {
            progress::say(&format!("An earlier {} was interrupted: starting it anew", self.kind.title()));
            fs::remove_dir_all(&self.directory)
                .with_context(|| format!("cannot remove the unfinished {}", self.directory.display()))?;
        }
        fs::create_dir_all(&self.directory).with_context(|| format!("cannot create {}", self.directory.display()))?;
        let log = Log::create(&self.log, &lock)?;
        build(&self.directory, &log)?;
        File::create(self.directory.join(COMPLETE_MARKER))
            .and_then(|marker| marker.sync_all())
            .with_context(|| format!("cannot mark {} as complete", self.directory.display()))
    }

    /// Removes the entry, its log and its lock. `false` if a running set-up holds it.
    pub(crate) fn remove(&self) -> Result<bool> {
        let lock = self.open_lock()?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the cache entry"),
        }
        // The marker goes first, so that an interrupted removal leaves an entry that counts as unfinished.
        for file in [self.directory.join(COMPLETE_MARKER), self.log.clone()] {
            remove_file_if_there(&file)?;
        }
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory)
                .with_context(|| format!("cannot remove {}", self.directory.display()))?;
        }
        remove_file_if_there(&self.lock)?;
        Ok(true)
    }

    fn open_lock(&self) -> Result<File> {
        if let Some(folder) = self.lock.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.lock)
            .with_context(|| format!("cannot open the lock file {}", self.lock.display()))
    }

    /// Takes the lock, and says so if it has to wait for it.
    fn lock_waiting(&self) -> Result<File> {
        loop {
            let lock = self.open_lock()?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    progress::step(&format!("waiting for another {} on this machine", self.kind.title()), || {
                        lock.lock()
                    })
                    .context("cannot lock the cache entry")?;
                }
                Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the cache entry"),
            }
            // `clean` removes lock files. A lock on a removed file protects nothing: take the new one.
            let held = lock.metadata().context("cannot read the lock file")?.ino();
            if fs::metadata(&self.lock).is_ok_and(|metadata| metadata.ino() == held) {
                return Ok(lock);
            }
        }
    }
}

fn remove_file_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(folder: &Path) -> Entry {
        Cache::in_folder(folder).unwrap().entry(Kind::Ros, "0123456789abcdef")
    }

    #[test]
    fn paths_that_the_tools_take_apart_are_refused() {
        assert!(Cache::in_folder(Path::new("/home/a b/.cache")).is_ok());
        assert!(Cache::in_folder(Path::new("/home/o'neil/.cache")).is_err());
        assert!(Cache::in_folder(Path::new("/home/a:b")).is_err());
    }

    #[test]
    fn an_entry_is_built_once() {
        let folder = tempfile::tempdir().unwrap();
        let entry = entry(folder.path());
        let mut builds = 0;
        for _ in 0..2 {
            entry
                .ensure(|_, _| {
                    builds += 1;
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(builds, 1);
        assert!(entry.is_complete());
    }

    #[test]
    fn what_a_failed_build_left_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let entry = entry(folder.path());
        let failed = entry.ensure(|directory, _| {
            fs::write(directory.join("half"), "").unwrap();
            bail!("interrupted")
        });
        assert!(failed.is_err() && !entry.is_complete());
        entry
            .ensure(|directory, _| {
                assert!(!directory.join("half").exists(), "it starts anew");
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn a_second_run_waits_for_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let builds = std::sync::atomic::AtomicUsize::new(0);
        let run = || {
            entry(folder.path())
                .ensure(|_, _| {
                    builds.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    Ok(())
                })
                .unwrap();
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(run);
            }
        });
        assert_eq!(builds.into_inner(), 1);
    }

    #[test]
    fn an_entry_that_is_being_built_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let entry = entry(folder.path());
        entry
            .ensure(|_, _| {
                assert!(!entry.remove().unwrap());
                Ok(())
            })
            .unwrap();
        assert!(entry.remove().unwrap());
        assert!(!entry.directory().exists());
        assert!(fs::read_dir(folder.path().join("cortex/ros")).unwrap().next().is_none());
    }
}
