//! The files of a folder that are documents.

use std::path::{Path, PathBuf};

use super::{ReadError, kind};

/// Folders within folders that are looked into.
const DEPTH: usize = 16;

/// A file, and the id that its document gets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileToRead {
    /// Its path below the folder that was named, with `/`; its name, where it was named itself.
    pub id: String,
    /// Where it is.
    pub file: PathBuf,
}

/// The file of this path, or those of the folder that can be read, by id. Hidden ones, other kinds, and links out of the
/// folder are left out. Blocks on the disk.
///
/// # Errors
/// When the path can't be looked at.
pub fn files(path: &Path) -> Result<Vec<FileToRead>, ReadError> {
    let unreadable =
        |problem: &std::io::Error| ReadError::Unreadable { file: path.to_owned(), problem: problem.to_string() };
    let about = std::fs::metadata(path).map_err(|problem| unreadable(&problem))?;
    if !about.is_dir() {
        let id = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        return Ok(vec![FileToRead { id, file: path.to_owned() }]);
    }
    let mut found = Vec::new();
    collect(path, "", DEPTH, &mut found).map_err(|problem| unreadable(&problem))?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, above: &str, depth: usize, found: &mut Vec<FileToRead>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Of the entry itself: a link may lead anywhere.
        let about = entry.file_type()?;
        let id = format!("{above}{name}");
        if name.starts_with('.') {
        } else if about.is_dir() && depth > 0 {
            collect(&entry.path(), &format!("{id}/"), depth - 1, found)?;
        } else if about.is_file() && kind(&entry.path()).is_some() {
            found.push(FileToRead { id, file: entry.path() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_documents_in_order_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("manuals/.git")).unwrap();
        for file in ["b.md", "a.txt", "manuals/kettle.html", "manuals/photo.jpg", "manuals/.git/x.md", ".hidden.md"] {
            std::fs::write(at(file), "text").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", at("passwd.txt")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("manuals/round")).unwrap();
        let ids: Vec<String> = files(folder.path()).unwrap().into_iter().map(|file| file.id).collect();
        assert_eq!(ids, ["a.txt", "b.md", "manuals/kettle.html"]);
    }

    #[test]
    fn a_file_is_named_by_its_name_and_what_is_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(files(&file).unwrap(), [FileToRead { id: "a.txt".to_owned(), file }]);
        assert!(matches!(files(&folder.path().join("none")), Err(ReadError::Unreadable { .. })));
    }
}
