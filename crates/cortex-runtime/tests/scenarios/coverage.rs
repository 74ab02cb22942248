//! Whether the table of `docs/scenarios.md` is complete and true: every defect and fault has a row, and each row names
//! scenarios that cover it, or tests, that there are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::file;

/// What the suite answers for, each by at least one scenario or test: see `docs/scenarios.md`.
pub(crate) const COVERED: [(&str, u32); 2] = [("defect", 14), ("fault", 11)];
/// Of these, what is not a matter of the mission loop: tests of other parts show it.
pub(crate) const ELSEWHERE: [&str; 2] = ["defect 12", "defect 13"];

/// Everything that is to be covered, by name.
pub(crate) fn names() -> impl Iterator<Item = String> {
    COVERED.into_iter().flat_map(|(kind, count)| (1..=count).map(move |number| format!("{kind} {number}")))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table: what is covered, with the cell that says where.
fn rows() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(repository().join("docs/scenarios.md")).expect("docs/scenarios.md is there");
    let cells = |line: &str| -> Vec<String> { line.split('|').map(|cell| cell.trim().to_owned()).collect() };
    let rows = text.lines().map(cells).filter_map(|cells| match cells.as_slice() {
        [_, name, _, shown, _] if name.starts_with("defect ") || name.starts_with("fault ") => {
            Some((name.clone(), shown.clone()))
        }
        _ => None,
    });
    rows.collect()
}

/// The functions of all test files: what follows `fn ` in files below `crates` and `tests`.
fn functions() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![repository().join("crates"), repository().join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the repository can be listed") {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file can be read");
                let names = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('(')).map(|(name, _)| name);
                found.extend(names.map(str::to_owned));
            }
        }
    }
    found
}

#[test]
fn every_defect_and_fault_has_a_row_that_names_what_shows_it() {
    let mut covers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, file) in file::read_all() {
        for scenario in file.scenario {
            covers.insert(scenario.name, scenario.covers.into_iter().collect());
        }
    }
    let (rows, functions) = (rows(), functions());
    let mut problems = Vec::new();
    for name in names() {
        let Some(shown) = rows.get(&name) else {
            problems.push(format!("{name} has no row"));
            continue;
        };
        // A scenario stands in quotes, a test in backticks; there may be words beside them.
        let scenarios: Vec<&str> = shown.split('"').skip(1).step_by(2).collect();
        let tests: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        if scenarios.is_empty() && tests.is_empty() {
            problems.push(format!("{name}: nothing shows it"));
        }
        if scenarios.is_empty() && !ELSEWHERE.contains(&name.as_str()) {
            problems.push(format!("{name}: no scenario shows it"));
        }
        for scenario in scenarios {
            match covers.get(scenario) {
                None => problems.push(format!("{name}: there is no scenario \"{scenario}\"")),
                Some(covered) if !covered.contains(&name) => {
                    problems.push(format!("{name}: \"{scenario}\" does not say that it covers it"));
                }
                Some(_) => {}
            }
        }
        problems.extend(
            tests
                .iter()
                .filter(|test| !functions.contains(**test))
                .map(|test| format!("{name}: there is no test `{test}`")),
        );
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(rows.len(), names().count(), "a row is for something that there is not: {rows:#?}");
}
