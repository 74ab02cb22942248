//! Which crate may depend on which: the manifests against one table.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::Finding;
use crate::cargo::Package;

/// The table, from the top of the tree.
pub(super) const TABLE: &str = "crates/xtask/crate-arrows.toml";

/// Stands for every crate.
const ALL: &str = "*";

/// Compares the workspace with the table, in both directions.
pub(super) fn check(packages: &[Package], table: &str) -> Result<Vec<Finding>> {
    let table: BTreeMap<String, Vec<String>> =
        toml::from_str(table).with_context(|| format!("{TABLE} is not readable"))?;
    let is_ours = |name: &str| packages.iter().any(|package| package.name == name);
    let mut findings = Vec::new();
    for package in packages {
        let Some(allowed) = table.get(&package.name) else {
            findings.push(Finding::new(
                format!("{} is not in the table of crates", package.name),
                format!("add a line for it to {TABLE} that names the crates it may depend on"),
            ));
            continue;
        };
        for dependency in &package.dependencies {
            if is_ours(dependency) && !allowed.iter().any(|name| name == dependency || name == ALL) {
                findings.push(Finding::new(
                    format!("{} depends on {dependency}, which it may not", package.name),
                    format!(
                        "remove the dependency from {}: put the shared part into a crate that both may use, or behind a \
                         port in cortex-core (the permitted arrows are in {TABLE})",
                        package.manifest.display()
                    ),
                ));
            }
        }
    }
    for (name, allowed) in &table {
        if !is_ours(name) {
            findings.push(Finding::new(
                format!("{TABLE} lists {name}, which does not exist"),
                "remove its line, or correct the name",
            ));
        }
        for other in allowed.iter().filter(|other| *other != ALL && !is_ours(other)) {
            findings.push(Finding::new(
                format!("{TABLE} lets {name} depend on {other}, which does not exist"),
                "remove the name, or correct it",
            ));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Metadata;

    /// A workspace like ours in small, as `cargo metadata` describes one.
    const WORKSPACE: &[u8] = br#"{"packages": [
        {"name": "protocol", "manifest_path": "/w/protocol/Cargo.toml", "dependencies": [{"name": "serde", "kind": null}]},
        {"name": "core", "manifest_path": "/w/core/Cargo.toml", "dependencies": [
            {"name": "protocol", "kind": null}, {"name": "testkit", "kind": "dev"}]},
        {"name": "web", "manifest_path": "/w/web/Cargo.toml", "dependencies": [
            {"name": "core", "kind": null}, {"name": "protocol", "kind": "build"}]},
        {"name": "testkit", "manifest_path": "/w/testkit/Cargo.toml", "dependencies": [{"name": "core", "kind": null}]},
        {"name": "tests", "manifest_path": "/w/tests/Cargo.toml", "dependencies": [{"name": "web", "kind": null}]}
    ]}"#;

    const TABLE: &str = r#"
        protocol = []
        core = ["protocol"]
        web = ["core", "protocol"]
        testkit = ["core"]
        tests = ["*"]
    "#;

    fn findings(table: &str) -> Vec<String> {
        let packages = Metadata::parse(WORKSPACE).unwrap().packages();
        check(&packages, table).unwrap().into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn permitted_arrows_pass_and_dev_dependencies_are_free() {
        assert_eq!(findings(TABLE), [""; 0]);
    }

    #[test]
    fn a_forbidden_arrow_is_found_in_build_dependencies_too() {
        let table = TABLE.replace(r#"["core", "protocol"]"#, r#"["core"]"#);
        assert_eq!(findings(&table), ["web depends on protocol, which it may not"]);
    }

    #[test]
    fn table_and_workspace_name_the_same_crates() {
        let table = TABLE.replace("web =", "page =").replace(r#"testkit = ["core"]"#, r#"testkit = ["core", "robot"]"#);
        assert_eq!(
            findings(&table),
            [
                "web is not in the table of crates",
                "crates/xtask/crate-arrows.toml lists page, which does not exist",
                "crates/xtask/crate-arrows.toml lets testkit depend on robot, which does not exist",
            ]
        );
    }

    #[test]
    fn an_unreadable_table_is_an_error() {
        assert!(check(&[], "core = protocol").is_err());
    }
}
