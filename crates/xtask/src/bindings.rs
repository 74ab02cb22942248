//! Makes sure that the Rust bindings follow the interfaces.
//!
//! r2r's build scripts watch the search paths, not the files behind them. A private build of the interfaces has its key
//! in its path, so a change is noticed. Interfaces that a sourced ROS 2 offers change in place: then the bindings have to
//! be thrown away by hand, or the old ones would be used silently.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result};

use crate::cargo::{self, Profile};
use crate::progress;
use crate::ros::Ros;

/// The crates that hold generated bindings.
const BOUND_CRATES: [&str; 2] = ["r2r_msg_gen", "r2r"];

/// Where the state of the last build is noted, below the target folder.
const RECORD: &str = "cortex-interfaces";

/// Throws old bindings away if the interfaces changed in place since the last build into `target`.
pub(crate) fn refresh(repository: &Path, target: &Path, ros: &Ros) -> Result<()> {
    let record = target.join(RECORD);
    let now = State {
        search_path: ros.environment().get("AMENT_PREFIX_PATH").unwrap_or_default().to_owned(),
        digest: ros.interfaces_digest().to_owned(),
    };
    let before = fs::read_to_string(&record).ok().and_then(|text| State::parse(&text));
    if before.as_ref().is_some_and(|before| now.changed_in_place(before)) {
        progress::say("The interfaces changed: making the Rust bindings anew");
        for profile in [Profile::Debug, Profile::Release] {
            let mut clean = cargo::command(repository);
            clean.arg("clean").args(profile.arguments()).stdout(Stdio::null()).stderr(Stdio::null());
            for name in BOUND_CRATES {
                clean.args(["--package", name]);
            }
            cargo::run("throwing the old bindings away", &mut clean)?;
        }
    }
    if before.as_ref() != Some(&now) {
        fs::create_dir_all(target).with_context(|| format!("cannot create {}", target.display()))?;
        fs::write(&record, now.text()).with_context(|| format!("cannot write {}", record.display()))?;
    }
    Ok(())
}

/// What the bindings were made from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    search_path: String,
    digest: String,
}

impl State {
    /// True if the interfaces differ but nothing that the build scripts watch does.
    fn changed_in_place(&self, before: &Self) -> bool {
        self.search_path == before.search_path && self.digest != before.digest
    }

    fn text(&self) -> String {
        format!("{}\n{}\n", self.search_path, self.digest)
    }

    fn parse(text: &str) -> Option<Self> {
        let (search_path, digest) = text.trim_end().split_once('\n')?;
        Some(Self { search_path: search_path.to_owned(), digest: digest.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(search_path: &str, digest: &str) -> State {
        State { search_path: search_path.to_owned(), digest: digest.to_owned() }
    }

    #[test]
    fn only_a_change_that_build_scripts_miss_throws_bindings_away() {
        let before = state("/opt/ros/jazzy", "1");
        assert!(state("/opt/ros/jazzy", "2").changed_in_place(&before));
        assert!(!state("/opt/ros/jazzy", "1").changed_in_place(&before));
        assert!(!state("/cache/2:/opt/ros/jazzy", "2").changed_in_place(&before));
    }

    #[test]
    fn the_record_is_read_back() {
        let before = state("/a:/b", "1");
        assert_eq!(State::parse(&before.text()), Some(before));
        assert_eq!(State::parse(""), None);
    }
}
