//! Texts as errors of a library: a caller can show such an error, but can't tell it from another one.

use std::path::Path;

use anyhow::Result;

use super::{Finding, files_below, read};
use crate::cargo::Package;

/// The crates that nobody but a person or a test calls.
const FREE: [&str; 5] = ["cortex", "cortex-on-ros", "cortex-sim", "cortex-testkit", "xtask"];
/// The files that may still have such errors. This list only shrinks.
const ALLOWED: [&str; 0] = [];
/// What stands before a module of tests.
const TESTS: &str = "#[cfg(test)]";
/// How an error's type is given to the traits that convert and parse.
const ASSOCIATED: [&str; 2] = ["type Err = String;", "type Error = String;"];

/// Looks for `Result<_, String>` in the sources of libraries; tests are left out.
pub(super) fn check(repository: &Path, packages: &[Package]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let libraries = packages.iter().filter(|package| !FREE.contains(&package.name.as_str()));
    let sources = libraries.filter_map(|package| Some(package.manifest.parent()?.join("src")));
    // A package of tests has none.
    for sources in sources.filter(|sources| sources.is_dir()) {
        for file in files_below(&sources, &["rs"])? {
            let shown = file.strip_prefix(repository).unwrap_or(&file);
            if !is_test(shown) && !ALLOWED.iter().any(|allowed| shown == Path::new(allowed)) {
                findings.extend(judge(&shown.display().to_string(), &read(&file)?));
            }
        }
    }
    Ok(findings)
}

pub(super) fn is_test(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

fn judge(name: &str, text: &str) -> Vec<Finding> {
    let code = production(text);
    let line_at = |at: usize| code.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let results = code.match_indices("Result").filter(|(at, word)| {
        let is_end_of_other = code.get(..*at).is_some_and(|before| before.ends_with(is_of_name));
        !is_end_of_other && code.get(at + word.len()..).is_some_and(has_text_as_error)
    });
    let associated = ASSOCIATED.iter().flat_map(|written| code.match_indices(written));
    let mut lines: Vec<usize> = results.chain(associated).map(|(at, _)| line_at(at)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
        .into_iter()
        .map(|line| {
            Finding::new(
                format!("{name}:{line} has a String as its error"),
                "return an error type whose variants carry what the message says (thiserror)",
            )
        })
        .collect()
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The code in its own lines, without comments and without the module of tests, which comes last in a file.
pub(super) fn production(text: &str) -> String {
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let lines = text.lines().map(|line| if is_comment(line) { "" } else { line });
    let code = lines.collect::<Vec<_>>().join("\n");
    let begins_tests = |at: usize| {
        let rest = code.get(at + TESTS.len()..).unwrap_or_default();
        let mut lines = rest.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("#["));
        lines.next().is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    let tests = code.match_indices(TESTS).map(|(at, _)| at).find(|at| begins_tests(*at));
    tests.and_then(|at| code.get(..at)).unwrap_or(&code).to_owned()
}

/// Whether the generic arguments that follow are two, and the second is a text.
fn has_text_as_error(after: &str) -> bool {
    let arguments = after.strip_prefix("::").unwrap_or(after).strip_prefix('<').and_then(arguments);
    matches!(arguments.as_deref(), Some([_, "String" | "std::string::String"]))
}

/// The generic arguments up to the bracket that closes them, over nested ones and over lines.
fn arguments(text: &str) -> Option<Vec<&str>> {
    let (mut found, mut start, mut depth, mut before) = (Vec::new(), 0, 0_usize, ' ');
    for (at, next) in text.char_indices() {
        match next {
            '<' | '(' | '[' | '{' => depth += 1,
            // An arrow closes nothing.
            '>' if matches!(before, '-' | '=') => {}
            '>' | ')' | ']' | '}' if depth > 0 => depth -= 1,
            ',' | '>' if depth == 0 => {
                found.push(text.get(start..at)?.trim());
                start = at + 1;
                if next == '>' {
                    // After the last one may stand a comma.
                    found.retain(|argument| !argument.is_empty());
                    return Some(found);
                }
            }
            ')' | ']' | '}' => return None,
            _ => {}
        }
        before = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(code: &str) -> Vec<String> {
        judge("a.rs", code).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn texts_as_errors_are_found_over_nested_types_and_lines() {
        for code in [
            "fn a() -> Result<(), String> {}",
            "fn a() -> Result<BTreeMap<String, Vec<(u8, u8)>>, String> {}",
            "fn a() -> std::result::Result<\n    Vec<u8>,\n    String,\n> {}",
            "fn a(b: impl Fn(&str) -> Result<u8, String>) {}",
            "fn a() -> Result<Box<dyn Fn(u8) -> bool>, String> {}",
            "type Answer = Option<Result<[u8; 2], String>>;",
            "let a = b.collect::<Result<_, String>>();",
            "    type Error = String;",
        ] {
            assert_eq!(lines(code), ["a.rs:1 has a String as its error"], "{code}");
        }
        assert_eq!(lines("fn a() {}\n\nfn b() -> Result<(), String> {}"), ["a.rs:3 has a String as its error"]);
    }

    #[test]
    fn other_errors_and_tests_are_left_alone() {
        for code in [
            "fn a() -> Result<String, Problem> {}",
            "fn a() -> Result<String> {}",
            "fn a() -> Result<u8, Vec<String>> {}",
            "fn a() -> Result<BTreeMap<u8, String>, Problem> {}",
            "fn a() -> ToolResult<u8, String> {}",
            "/// Not `Result<u8, String>`.\nfn a() {}",
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn a() -> Result<u8, String> {}\n}\n",
        ] {
            assert_eq!(lines(code), Vec::<String>::new(), "{code}");
        }
        let after_tests = "#[cfg(test)]\nmod tests;\n\nfn a() -> Result<u8, String> {}\n";
        assert_eq!(lines(after_tests).len(), 1, "the tests are in another file");
        assert!(is_test(Path::new("crates/a/src/b/tests.rs")) && is_test(Path::new("crates/a/src/tests/b.rs")));
        assert!(!is_test(Path::new("crates/a/src/latests.rs")));
    }
}
