//! Lets this process be found quickly.
//!
//! Fast DDS, the default middleware of ROS 2, announces a participant a few times within its first half second and then
//! every 3 s. Measured on one machine, a service is usually seen within 0.35 s, but in a quarter of the starts only
//! after 2 to 3 s: too long for a stop from the command line. When both sides announce themselves every 0.5 s, it is
//! under 1 s each time.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

/// The variables by which a person gives Fast DDS a profile, and the one that chooses another middleware.
const PROFILES: [&str; 2] = ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"];
const MIDDLEWARE: &str = "RMW_IMPLEMENTATION";

/// The profile, in the form that Fast DDS 2.14 (Jazzy) documents.
const PROFILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="cortex" is_default_profile="true">
    <rtps>
      <builtin>
        <discovery_config>
          <initialAnnouncements>
            <count>10</count>
            <period><sec>0</sec><nanosec>100000000</nanosec></period>
          </initialAnnouncements>
          <leaseAnnouncement><sec>0</sec><nanosec>500000000</nanosec></leaseAnnouncement>
        </discovery_config>
      </builtin>
    </rtps>
  </participant>
</profiles>
"#;

/// Makes this process and the ones that it starts announce themselves more often. To be called first in `main`: it
/// starts the program anew with the profile in its environment, since the environment of a running program can't be
/// changed safely (the tracing of ROS has threads before `main` begins). The process id stays.
///
/// Does nothing where a person has given Fast DDS a profile or chosen another middleware. Without it everything works,
/// but may be found later.
pub fn announce_often() {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let other_middleware = std::env::var(MIDDLEWARE).is_ok_and(|name| !name.is_empty() && !name.contains("fastrtps"));
    if PROFILES.iter().any(|name| is_set(name)) || other_middleware {
        return;
    }
    let (Some(file), Ok(program)) = (profile_file(), std::env::current_exe()) else { return };
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // Comes back only if it could not be done; then the program goes on as it is.
    let _ = Command::new(program).arg0(name).args(arguments).env(PROFILES[0], file).exec();
}

/// Whether this process announces itself often: by the profile above, or by one that somebody wrote who thought of it.
#[must_use]
pub fn are_frequent() -> bool {
    let mut profiles = PROFILES.iter().filter_map(std::env::var_os).filter(|file| !file.is_empty());
    profiles.next().and_then(|file| std::fs::read_to_string(file).ok()).is_some_and(|text| is_frequent(&text))
}

/// Whether the announcements of a profile are less than a second apart.
fn is_frequent(profile: &str) -> bool {
    let lease = profile.split_once("<leaseAnnouncement>").and_then(|(_, rest)| rest.split_once("</leaseAnnouncement>"));
    lease.is_some_and(|(lease, _)| !lease.contains("<sec>") || lease.contains("<sec>0</sec>"))
}

/// The profile as a file in the user's own cache, where nobody else can change it: Fast DDS reads real files only.
fn profile_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?.join("cortex");
    let file = cache.join("fastdds-profile.xml");
    if std::fs::read_to_string(&file).is_ok_and(|found| found == PROFILE) {
        return Some(file);
    }
    std::fs::create_dir_all(&cache).ok()?;
    // Written beside it and renamed: another process never reads half of it.
    let written = cache.join(format!("fastdds-profile.{}.xml", std::process::id()));
    std::fs::write(&written, PROFILE).ok()?;
    std::fs::rename(&written, &file).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_of_this_tree_announce_often_and_others_may_not() {
        assert!(is_frequent(PROFILE));
        assert!(is_frequent(include_str!("../../../config/fastdds_loopback.xml")));
        assert!(!is_frequent(&PROFILE.replace("<leaseAnnouncement><sec>0<", "<leaseAnnouncement><sec>3<")));
        assert!(!is_frequent("<dds/>"));
    }
}
