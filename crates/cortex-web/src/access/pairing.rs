//! Pairing codes: how a new device gets its session. Short, for one use, for a short time.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use cortex_protocol::Role;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::secret::{SecretDigest, typed_code};
use super::tries::Tries;

/// How long a code is good.
pub(crate) const LIFETIME: Duration = Duration::from_secs(600);
/// Most codes that are open at a time. One more ends the oldest.
const MOST: usize = 16;
/// A wrong try counts for every open code, since nobody knows which one was meant.
const WRONG_TRIES: u32 = 10;
/// Tries of one peer within [`TRIES_TIME`].
const TRIES: u32 = 5;
const TRIES_TIME: Duration = Duration::from_secs(60);

/// The open codes, and who has tried how often.
pub(crate) struct Pairings {
    open: Vec<Pairing>,
    tries: Tries<IpAddr>,
}

impl Default for Pairings {
    fn default() -> Self {
        Self { open: Vec::new(), tries: Tries::new(TRIES, TRIES_TIME) }
    }
}

struct Pairing {
    id: Uuid,
    code: SecretDigest,
    role: Role,
    until: Instant,
    wrong_tries: u32,
}

/// An open code, without the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OpenPairing {
    /// Which, to end it.
    pub(crate) id: Uuid,
    /// The role that it gives.
    pub(crate) role: Role,
    /// How long it is still good.
    pub(crate) left_s: u64,
}

/// Why a try gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairingRefusal {
    /// Wrong, used, expired, or ended by wrong tries: which of them is for nobody to know.
    Wrong,
    /// This peer has tried too often.
    TooMany,
}

impl Pairings {
    /// Opens a code that was just made.
    pub(crate) fn open(&mut self, code: &str, role: Role, now: Instant) -> Uuid {
        self.forget_ended(now);
        if self.open.len() >= MOST {
            self.open.remove(0);
        }
        let id = Uuid::new_v4();
        let code = SecretDigest::of(&typed_code(code));
        self.open.push(Pairing { id, code, role, until: now + LIFETIME, wrong_tries: 0 });
        id
    }

    /// Tries a code, and uses it up.
    ///
    /// # Errors
    /// When it is not open, or the peer may not try now.
    pub(crate) fn redeem(&mut self, typed: &str, peer: IpAddr, now: Instant) -> Result<Role, PairingRefusal> {
        if !self.tries.count(peer, now) {
            return Err(PairingRefusal::TooMany);
        }
        self.forget_ended(now);
        let typed = SecretDigest::of(&typed_code(typed));
        // Each one is compared, whichever matches.
        let matching = self.open.iter().fold(None, |found, pairing| match pairing.code.matches(&typed) {
            true => Some(pairing.id),
            false => found,
        });
        if let Some(at) = self.open.iter().position(|pairing| Some(pairing.id) == matching) {
            return Ok(self.open.remove(at).role);
        }
        self.open.iter_mut().for_each(|pairing| pairing.wrong_tries += 1);
        self.open.retain(|pairing| pairing.wrong_tries < WRONG_TRIES);
        Err(PairingRefusal::Wrong)
    }

    pub(crate) fn list(&mut self, now: Instant) -> Vec<OpenPairing> {
        self.forget_ended(now);
        let shown = |pairing: &Pairing| OpenPairing {
            id: pairing.id,
            role: pairing.role,
            left_s: pairing.until.saturating_duration_since(now).as_secs(),
        };
        self.open.iter().map(shown).collect()
    }

    /// Ends a code. Returns false if it is not open.
    pub(crate) fn end(&mut self, id: Uuid) -> bool {
        let before = self.open.len();
        self.open.retain(|pairing| pairing.id != id);
        self.open.len() < before
    }

    fn forget_ended(&mut self, now: Instant) {
        self.open.retain(|pairing| now < pairing.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::tries::COUNTED;

    const CODE: &str = "ABCD-EFGH";

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([192, 168, 0, last])
    }

    #[test]
    fn a_code_is_good_once() {
        let (mut pairings, now) = (Pairings::default(), Instant::now());
        pairings.open(CODE, Role::Operate, now);
        assert_eq!(pairings.redeem("abcd efgh", peer(1), now), Ok(Role::Operate));
        assert_eq!(pairings.redeem(CODE, peer(1), now), Err(PairingRefusal::Wrong));
    }

    #[test]
    fn a_code_is_good_for_ten_minutes() {
        let (mut pairings, now) = (Pairings::default(), Instant::now());
        pairings.open(CODE, Role::Watch, now);
        pairings.open("JKMN-PQRS", Role::Watch, now + Duration::from_secs(1));
        let later = now + LIFETIME;
        assert_eq!(pairings.list(later).len(), 1);
        assert_eq!(pairings.redeem(CODE, peer(1), later), Err(PairingRefusal::Wrong));
        assert_eq!(pairings.redeem("JKMNPQRS", peer(1), later), Ok(Role::Watch));
    }

    #[test]
    fn ten_wrong_tries_end_a_code_whoever_makes_them() {
        let (mut pairings, now) = (Pairings::default(), Instant::now());
        pairings.open(CODE, Role::Administer, now);
        for wrong in 0..10 {
            assert_eq!(pairings.redeem("AAAA-AAAA", peer(wrong / 5), now), Err(PairingRefusal::Wrong));
        }
        assert_eq!(pairings.redeem(CODE, peer(9), now), Err(PairingRefusal::Wrong));
    }

    #[test]
    fn a_peer_has_five_tries_a_minute_also_where_the_sixth_is_right() {
        let (mut pairings, now) = (Pairings::default(), Instant::now());
        pairings.open(CODE, Role::Operate, now);
        for _ in 0..5 {
            assert_eq!(pairings.redeem("AAAA-AAAA", peer(1), now), Err(PairingRefusal::Wrong));
        }
        assert_eq!(pairings.redeem(CODE, peer(1), now), Err(PairingRefusal::TooMany));
        assert_eq!(pairings.redeem(CODE, peer(1), now + TRIES_TIME), Ok(Role::Operate));
    }

    #[test]
    fn the_number_of_peers_that_are_counted_is_bounded() {
        let (mut pairings, now) = (Pairings::default(), Instant::now());
        for number in 0..u32::try_from(COUNTED).unwrap() {
            assert_eq!(pairings.redeem("AAAA", IpAddr::V4(number.into()), now), Err(PairingRefusal::Wrong));
        }
        assert_eq!(pairings.redeem("AAAA", peer(1), now), Err(PairingRefusal::TooMany));
        assert_eq!(pairings.redeem("AAAA", peer(1), now + TRIES_TIME), Err(PairingRefusal::Wrong));
        assert_eq!(pairings.tries.len(), 1);
    }
}
