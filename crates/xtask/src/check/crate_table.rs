//! The table of crates in ARCHITECTURE.md: it names every crate of the workspace, and no other.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::{Finding, read};

/// Where the document may lie.
const PLACES: [&str; 2] = ["ARCHITECTURE.md", "docs/ARCHITECTURE.md"];

/// Compares the workspace with the document.
pub(super) fn check(names: &[&str], repository: &Path) -> Result<Vec<Finding>> {
    let Some(place) = PLACES.iter().find(|place| repository.join(place).is_file()) else {
        return Ok(vec![Finding::new(
            "there is no ARCHITECTURE.md",
            "write it, with a table whose first column is called `crate` and that has a row for each crate",
        )]);
    };
    Ok(compare(names, &listed_crates(&read(&repository.join(place))?), place))
}

fn compare(names: &[&str], listed: &BTreeSet<String>, place: &str) -> Vec<Finding> {
    let absent = names.iter().filter(|name| !listed.contains(**name)).map(|name| {
        Finding::new(
            format!("{name} is not in the table of crates in {place}"),
            format!("add the row `| `{name}` | what it owns |`"),
        )
    });
    let unknown = listed.iter().filter(|name| !names.contains(&name.as_str())).map(|name| {
        Finding::new(format!("{place} lists {name}, which does not exist"), "remove the row, or correct the name")
    });
    absent.chain(unknown).collect()
}

/// The names in backticks in the first column of each table whose first heading is `crate`.
fn listed_crates(document: &str) -> BTreeSet<String> {
    let mut listed = BTreeSet::new();
    let mut in_table = false;
    for line in document.lines() {
        let Some(row) = line.trim().strip_prefix('|') else {
            in_table = false;
            continue;
        };
        let first = row.split('|').next().unwrap_or_default().trim();
        if ["crate", "crates"].contains(&first.to_lowercase().as_str()) {
            in_table = true;
        } else if in_table {
            // Every second piece stands between backticks.
            listed.extend(first.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
# Architecture

| Crate | What it owns |
| --- | --- |
| `core` | decisions; uses `serde` |
| `plugin`, `sdk` | plugins |

| topic | type |
| --- | --- |
| `chatter` | `String` |
";

    #[test]
    fn only_first_columns_of_crate_tables_count() {
        let listed: Vec<String> = listed_crates(DOCUMENT).into_iter().collect();
        assert_eq!(listed, ["core", "plugin", "sdk"]);
    }

    #[test]
    fn both_directions_are_compared() {
        let findings = compare(&["core", "plugin", "web"], &listed_crates(DOCUMENT), "ARCHITECTURE.md");
        let what: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(
            what,
            ["web is not in the table of crates in ARCHITECTURE.md", "ARCHITECTURE.md lists sdk, which does not exist"]
        );
    }
}
