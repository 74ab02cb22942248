//! What every manifest must say.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;

/// Fewer characters explain nothing.
const SHORTEST_REASON: usize = 4;

/// Each crate takes the workspace's lints.
pub(super) fn inherits_lints(path: &Path, manifest: &str) -> Result<Option<Finding>> {
    let manifest: toml::Table = manifest.parse().with_context(|| format!("{} is not readable", path.display()))?;
    let inherits =
        manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool).unwrap_or(false);
    Ok((!inherits).then(|| {
        Finding::new(
            format!("{} does not take the lints of the workspace", path.display()),
            "add the lines `[lints]` and `workspace = true`",
        )
    }))
}

/// Each outside crate says what it is needed for, on its line in the workspace's manifest.
pub(super) fn dependencies_say_why(manifest: &str) -> Vec<Finding> {
    let mut in_dependencies = false;
    let mut findings = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_dependencies = line.trim() == "[workspace.dependencies]";
            continue;
        }
        let Some((name, rest)) = line.split_once('=') else { continue };
        let is_entry = in_dependencies && !name.trim_start().starts_with('#');
        // Our own crates are explained in ARCHITECTURE.md.
        if !is_entry || rest.contains("path = ") {
            continue;
        }
        if reason(rest).is_none_or(|reason| reason.chars().count() < SHORTEST_REASON) {
            findings.push(Finding::new(
                format!("Cargo.toml does not say what {} is needed for", name.trim()),
                "add a comment at the end of its line: `# what it is needed for`",
            ));
        }
    }
    findings
}

/// The comment at the end of a line: what follows the first `#` that is not part of a string.
fn reason(value: &str) -> Option<&str> {
    let mut in_string = false;
    for (position, character) in value.char_indices() {
        match character {
            '"' => in_string = !in_string,
            '#' if !in_string => return value.get(position + 1..).map(str::trim),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_are_inherited_or_reported() {
        let check = |manifest: &str| inherits_lints(Path::new("Cargo.toml"), manifest).unwrap();
        assert_eq!(check("[lints]\nworkspace = true\n"), None);
        assert!(check("[package]\nname = \"a\"\n").is_some());
        assert!(check("[lints.rust]\nunsafe_code = \"deny\"\n").is_some());
        assert!(inherits_lints(Path::new("Cargo.toml"), "lints =").is_err());
    }

    #[test]
    fn every_outside_crate_needs_a_reason() {
        let manifest = r##"
[workspace.package]
version = "0.1.0"

[workspace.dependencies]
core = { path = "crates/core" }
# Each line says what the crate is needed for.
anyhow = "1" # errors of the binaries
odd = { version = "1", features = ["#x"] }
terse = "1" # x

[workspace.lints.rust]
unsafe_code = "deny"
"##;
        let what: Vec<String> = dependencies_say_why(manifest).into_iter().map(|finding| finding.what).collect();
        assert_eq!(
            what,
            ["Cargo.toml does not say what odd is needed for", "Cargo.toml does not say what terse is needed for"]
        );
    }
}
