//! Where the program of a process is found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::Program;

const PATH: &str = "PATH";

/// Where `exec` looks when there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

impl Program {
    /// The file that is run for it. A path is that file; a name is looked up in the `PATH` that the process gets, and then
    /// beside the program of this process, so that what was built or installed together is found without any `PATH`.
    /// None: there is no file of that name that can be executed.
    ///
    /// It is looked for at each start, so a program that was built anew is the one that the process comes back with.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        // As `exec` would, which looks from there.
        let directory = self.directory.as_deref().unwrap_or(Path::new(""));
        if self.program.contains('/') {
            return executable(&directory.join(&self.program));
        }
        let set = self.environment.get(PATH).map(OsString::from);
        let path = set.or_else(|| std::env::var_os(PATH)).unwrap_or_else(|| DEFAULT_PATH.into());
        std::env::split_paths(&path)
            .map(|folder| directory.join(folder))
            .chain(own_folder())
            .find_map(|folder| executable(&folder.join(&self.program)))
    }
}

/// The folder of the program of this process, without links on the way to it.
#[must_use]
pub fn own_folder() -> Option<PathBuf> {
    std::env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned))
}

/// The full path of a file that can be executed.
fn executable(path: &Path) -> Option<PathBuf> {
    let full = std::path::absolute(path).ok()?;
    (full.is_file() && rustix::fs::access(&full, Access::EXEC_OK).is_ok()).then_some(full)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn program(name: &str, path: &Path) -> Program {
        let environment = [(PATH.to_owned(), path.display().to_string())].into();
        Program { program: name.to_owned(), environment, ..Program::default() }
    }

    fn write(file: &Path, mode: u32) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_name_is_looked_up_in_the_path_of_the_process_first() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        assert_eq!(program(name, folder.path()).file(), Some(own.clone()), "beside this one");
        write(&folder.path().join(name), 0o644);
        assert_eq!(program(name, folder.path()).file(), Some(own.clone()), "what can't be executed is no program");
        write(&folder.path().join(name), 0o755);
        assert_eq!(program(name, folder.path()).file(), Some(folder.path().join(name)));
    }

    #[test]
    fn what_is_nowhere_or_no_file_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        for name in ["no-such-program", "folder", "", ".", "..", "../..", "/", "nul\0"] {
            assert_eq!(program(name, folder.path()).file(), None, "{name:?}");
        }
    }

    #[test]
    fn a_path_is_not_looked_for_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("bin/drive"), 0o755);
        let in_folder = |name: &str| Program {
            directory: Some(folder.path().to_owned()),
            ..program(name, &folder.path().join("bin"))
        };
        assert_eq!(in_folder("./drive").file(), None);
        assert_eq!(in_folder("bin/drive").file(), Some(folder.path().join("bin/drive")));
        assert_eq!(in_folder("drive").file(), Some(folder.path().join("bin/drive")));
    }
}
