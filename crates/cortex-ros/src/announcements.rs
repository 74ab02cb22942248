//! Lets this process be found quickly.
//!
//! Fast DDS, the default middleware of ROS 2, announces a participant a few times within its first half second and then
//! every 3 s. Measured on one machine, a service is usually seen within 0.35 s, but in a quarter of the starts only
//! after 2 to 3 s: too long for a stop from the command line. When both sides announce themselves every 0.5 s, it is
//! under 1 s each time.

use std::io::Write as _;
use std::os::fd::IntoRawFd as _;

use rustix::fs::{MemfdFlags, memfd_create};

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

/// Makes this process and the ones it starts announce themselves more often. To be called first in `main`.
///
/// Does nothing where a person has given Fast DDS a profile or chosen another middleware, and where it comes too late
/// to be safe. Without it everything works, but may be found later.
pub fn announce_often() {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let other_middleware = std::env::var(MIDDLEWARE).is_ok_and(|name| !name.is_empty() && !name.contains("fastrtps"));
    if PROFILES.iter().any(|name| is_set(&name)) || other_middleware || !is_single_threaded() {
        return;
    }
    // Kept open, and passed on to children, for as long as the process lives: Fast DDS reads it when ROS is first used.
    let Ok(memory) = memfd_create("cortex-fastdds-profile", MemfdFlags::empty()) else { return };
    let mut file = std::fs::File::from(memory);
    if file.write_all(PROFILE.as_bytes()).is_err() {
        return;
    }
    let path = format!("/proc/self/fd/{}", file.into_raw_fd());
    // SAFETY: no other thread can read the environment at the same time, since there is none.
    unsafe { std::env::set_var("FASTRTPS_DEFAULT_PROFILES_FILE", path) };
}

/// Whether this is the only thread; in doubt it is not.
fn is_single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}
