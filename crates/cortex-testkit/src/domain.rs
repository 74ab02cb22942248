//! A ROS domain of its own for each story, so that stories that run side by side do not hear each other.

use std::net::{Ipv4Addr, TcpListener};

/// How far the ROS traffic of tests goes, for `ROS_AUTOMATIC_DISCOVERY_RANGE`: as `cargo xtask test` says, which knows
/// more of the middleware; else not beyond this machine.
#[must_use]
pub fn discovery_range() -> String {
    std::env::var("ROS_AUTOMATIC_DISCOVERY_RANGE").unwrap_or_else(|_| "LOCALHOST".to_owned())
}

/// Domains whose ports lie below the ones that Linux hands out to anybody.
const DOMAINS: std::ops::RangeInclusive<u16> = 1..=100;

/// The last port of domain `n` by the DDS port formula (7400 + 250 n). DDS uses UDP only, so its TCP port serves as a
/// lock that goes away with the process; `cargo xtask demo` locks its domain in the same way.
fn lock_port(domain: u16) -> u16 {
    7400 + 250 * domain + 249
}

/// A domain that belongs to this value until it is dropped.
#[derive(Debug)]
pub struct Domain {
    number: u16,
    _lock: TcpListener,
}

impl Domain {
    /// Takes a free domain. `None` if all of 1 to 100 are in use.
    #[must_use]
    pub fn claim() -> Option<Self> {
        let offset = std::process::id() as usize % DOMAINS.count();
        DOMAINS.cycle().skip(offset).take(DOMAINS.count()).find_map(|number| {
            let lock = TcpListener::bind((Ipv4Addr::LOCALHOST, lock_port(number))).ok()?;
            Some(Self { number, _lock: lock })
        })
    }

    /// The value for `ROS_DOMAIN_ID`.
    #[must_use]
    pub fn id(&self) -> String {
        self.number.to_string()
    }
}
