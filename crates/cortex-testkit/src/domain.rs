//! A ROS domain of its own for each story, so that stories that run side by side do not hear each other.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The port at which the first participant of a domain is found, by the same formula.
fn first_port(domain: u16) -> u16 {
    7400 + 250 * domain + 10
}

/// How many domains this process has looked at. The one that was given back last comes last: what its story has killed may
/// take a moment to end.
static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

/// A domain that belongs to this value until it is dropped.
#[derive(Debug)]
pub struct Domain {
    number: u16,
    _lock: TcpListener,
}

impl Domain {
    /// Takes a free domain, in which nobody is, such as a robot that somebody tries out on this machine. `None` if all of 1
    /// to 100 are in use.
    #[must_use]
    pub fn claim() -> Option<Self> {
        let count = DOMAINS.count();
        let first = std::process::id() as usize + LOOKED_AT.load(Ordering::Relaxed);
        DOMAINS.cycle().skip(first % count).take(count).find_map(|number| {
            LOOKED_AT.fetch_add(1, Ordering::Relaxed);
            let lock = TcpListener::bind((Ipv4Addr::LOCALHOST, lock_port(number))).ok()?;
            UdpSocket::bind((Ipv4Addr::LOCALHOST, first_port(number))).ok()?;
            Some(Self { number, _lock: lock })
        })
    }

    /// The value for `ROS_DOMAIN_ID`.
    #[must_use]
    pub fn id(&self) -> String {
        self.number.to_string()
    }
}
