//! The length of source files: one that grows past what a reader holds in mind is split, or says why it is not.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Finding, files_below, read};

/// A file that is longer is shown, so that its growth is seen.
const NOTEWORTHY: usize = 500;

/// A file that is longer fails, unless its header says why.
const LIMIT: usize = 800;

/// The word in a file's header comment that announces the reason for its length.
const REASON: &str = "Length:";

/// Looks at all Rust files below the given folders, and prints the long ones.
pub(super) fn check(repository: &Path, roots: &[PathBuf]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in roots.iter().map(|root| files_below(root, &["rs"])).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        let text = read(&file)?;
        let lines = text.lines().count();
        let shown = file.strip_prefix(repository).unwrap_or(&file).display().to_string();
        if lines > NOTEWORTHY {
            eprintln!("  {shown} has {lines} lines");
        }
        findings.extend(judge(&shown, &text, lines));
    }
    Ok(findings)
}

fn judge(name: &str, text: &str, lines: usize) -> Option<Finding> {
    let header = text.lines().take_while(|line| line.trim().is_empty() || line.trim_start().starts_with("//"));
    let explained = header.into_iter().any(|line| line.contains(REASON));
    (lines > LIMIT && !explained).then(|| {
        Finding::new(
            format!("{name} has {lines} lines, more than {LIMIT}"),
            format!("split it at a seam, or say in its header comment why it is one piece (`//! {REASON} ...`)"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_long_file_has_to_say_why() {
        let long = "fn a() {}\n".repeat(LIMIT + 1);
        let judged = |text: &str| judge("a.rs", text, text.lines().count());
        assert!(judged(&long).is_some());
        assert_eq!(judged(&format!("//! A table.\n//!\n//! Length: one table.\n\n{long}")), None);
        assert!(judged(&format!("{long}\n// Length: said too late\n")).is_some());
        assert_eq!(judged(&"fn a() {}\n".repeat(LIMIT)), None);
    }

    #[test]
    fn build_folders_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for file in ["src/a.rs", "target/debug/b.rs", ".git/c.rs", "src/d.txt"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(files_below(root.path(), &["rs"]).unwrap(), [root.path().join("src/a.rs")]);
    }
}
