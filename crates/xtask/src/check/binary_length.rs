//! The length of the program: it reads arguments, wires libraries together and ends. Behaviour belongs into a library, where
//! it can be tested without a process.

use std::path::Path;

use anyhow::Result;

use super::string_errors::{is_test, production};
use super::{Finding, files_below, read};

/// Where the sources of the program are.
pub(super) const SOURCES: &str = "crates/cortex-on-ros/src";

/// The program stays below so many lines; tests do not count.
const LIMIT: usize = 1_500;

/// Counts the lines of the program below this folder.
pub(super) fn check(sources: &Path) -> Result<Option<Finding>> {
    let mut lines = 0;
    for file in files_below(sources, &["rs"])? {
        if !is_test(file.strip_prefix(sources).unwrap_or(&file)) {
            lines += production(&read(&file)?).lines().count();
        }
    }
    Ok((lines >= LIMIT).then(|| {
        Finding::new(
            format!("{SOURCES} has {lines} lines without tests; it stays below {LIMIT}"),
            "move what is no wiring into the library that it is about",
        )
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn is_found(files: &[(&str, String)]) -> bool {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        check(root.path()).unwrap().is_some()
    }

    fn lines(number: usize) -> String {
        "fn a() {}\n".repeat(number)
    }

    #[test]
    fn the_program_stays_short_over_all_of_its_files() {
        assert!(!is_found(&[("main.rs", lines(LIMIT - 1))]));
        assert!(is_found(&[("main.rs", lines(LIMIT))]));
        assert!(is_found(&[("main.rs", lines(LIMIT / 2)), ("run/mod.rs", lines(LIMIT / 2))]));
    }

    #[test]
    fn tests_do_not_count() {
        let with_tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(LIMIT - 1), lines(LIMIT));
        assert!(!is_found(&[("main.rs", with_tests), ("tests.rs", lines(LIMIT)), ("tests/a.rs", lines(LIMIT))]));
    }
}
