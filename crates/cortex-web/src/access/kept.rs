//! Files of the page: readable for Cortex alone, and whole whatever happens.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Makes the folder that they are kept in.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// What a file holds.
pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> io::Result<T> {
    let text = fs::read(file)?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
    Ok(serde_json::from_slice(&text)?)
}

/// What was read of a file, or nothing where there is none. One that can't be read is put aside, and that is told.
pub(crate) fn or_put_aside<T: Default>(file: &Path, read: io::Result<T>, what_now: &str) -> io::Result<T> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        Err(error) => {
            let aside = file.with_extension("unreadable");
            tracing::error!(file = %file.display(), aside = %aside.display(), %error,
                "a file of the page can't be read and was put aside: {what_now}");
            fs::rename(file, &aside)?;
            Ok(T::default())
        }
        read => read,
    }
}

/// Puts a new file in the place of the old one, so that one of them is whole whatever happens.
pub(crate) fn replace(file: &Path, content: &impl Serialize) -> io::Result<()> {
    let new = file.with_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    written.write_all(&serde_json::to_vec_pretty(content)?)?;
    written.sync_all()?;
    fs::rename(&new, file)?;
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
