//! A ROS domain of its own for each demonstration, so that two of them, or one and a robot, do not hear each other.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use anyhow::{Context as _, Result};

/// Domains whose ports lie below the ones that Linux hands out to anybody. 0 is what everyone uses who chose none.
const DOMAINS: std::ops::RangeInclusive<u16> = 1..=100;

/// DDS spaces the ports of its domains like this.
const FIRST_PORT: u16 = 7400;
const PORTS_PER_DOMAIN: u16 = 250;

/// The port on which the first participant of a domain listens, counted from the domain's first port.
const FIRST_PARTICIPANT: u16 = 10;

/// The last port of a domain. DDS uses UDP only, so its TCP port serves as a lock that needs no file, goes away with the
/// process, and is seen by other users.
const LOCK: u16 = PORTS_PER_DOMAIN - 1;

/// A domain that belongs to this process until it is dropped.
#[derive(Debug)]
pub(super) struct Domain {
    number: u16,
    _lock: TcpListener,
}

impl Domain {
    /// Takes a domain that nobody uses.
    pub(super) fn claim() -> Result<Self> {
        // Starting at a place of its own keeps two demonstrations from trying the same domains in the same order.
        let offset = std::process::id() as usize % DOMAINS.count();
        DOMAINS
            .cycle()
            .skip(offset)
            .take(DOMAINS.count())
            .find_map(Self::try_claim)
            .context("no ROS domain is free: all of 1 to 100 are in use on this machine. End some of their processes")
    }

    fn try_claim(number: u16) -> Option<Self> {
        let port = |offset: u16| FIRST_PORT + PORTS_PER_DOMAIN * number + offset;
        let lock = TcpListener::bind((Ipv4Addr::LOCALHOST, port(LOCK))).ok()?;
        UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port(FIRST_PARTICIPANT))).ok()?;
        Some(Self { number, _lock: lock })
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    /// The UDP ports of the domain.
    pub(super) fn ports(&self) -> std::ops::Range<u16> {
        let first = FIRST_PORT + PORTS_PER_DOMAIN * self.number;
        first..first + PORTS_PER_DOMAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_claims_get_two_domains() {
        let (one, other) = (Domain::claim().unwrap(), Domain::claim().unwrap());
        assert_ne!(one.number(), other.number());
        assert!(!one.ports().contains(&other.ports().start));
    }

    #[test]
    fn a_domain_that_somebody_listens_on_is_not_taken() {
        let domain = Domain::claim().unwrap();
        let (number, port) = (domain.number(), domain.ports().start + FIRST_PARTICIPANT);
        drop(domain);
        let listener = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port));
        if listener.is_ok() {
            assert!(Domain::try_claim(number).is_none());
        }
    }
}
