//! Secrets: random, kept only as digests, compared without telling by the time how much of them was right.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

/// Letters and digits that nobody mixes up: without 0, O, 1, I and L.
const ALPHABET: &[u8; 31] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";
/// Letters of a pairing code: some 39 bits, for ten wrong tries within ten minutes.
const CODE_LETTERS: usize = 8;

/// What is kept of a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SecretDigest([u8; 32]);

impl SecretDigest {
    pub(crate) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// In hexadecimal digits.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let digits: Vec<u8> =
            text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect::<Option<_>>()?;
        let bytes = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        });
        Some(Self(bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()?))
    }
}

/// A token of 256 random bits.
///
/// # Errors
/// When the system has no random numbers.
pub(crate) fn token() -> io::Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(random::<32>()?))
}

/// A pairing code, as it is shown: `XXXX-XXXX`.
///
/// # Errors
/// When the system has no random numbers.
pub(crate) fn pairing_code() -> io::Result<String> {
    let mut letters = String::new();
    let mut count = 0;
    while count < CODE_LETTERS {
        // Bytes at the end would make some letters likelier than others.
        let limit = u8::try_from(256 / ALPHABET.len() * ALPHABET.len()).unwrap_or(u8::MAX);
        for byte in random::<16>()?.into_iter().filter(|byte| *byte < limit).take(CODE_LETTERS - count) {
            if count == CODE_LETTERS / 2 {
                letters.push('-');
            }
            letters.extend(ALPHABET.get(usize::from(byte) % ALPHABET.len()).map(|letter| char::from(*letter)));
            count += 1;
        }
    }
    Ok(letters)
}

/// A pairing code as people type it, in the one form that it is compared in.
pub(crate) fn typed_code(text: &str) -> String {
    let letters = text.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    letters.take(2 * CODE_LETTERS).flat_map(char::to_uppercase).collect()
}

/// What makes the digests of equal passwords differ.
///
/// # Errors
/// When the system has no random numbers.
pub(crate) fn salt() -> io::Result<[u8; 16]> {
    random()
}

fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let mut filled = 0;
    while filled < BYTES {
        match getrandom(bytes.get_mut(filled..).unwrap_or_default(), GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_short_clear_and_never_the_same() {
        let codes: BTreeSet<String> = (0..500).map(|_| pairing_code().unwrap()).collect();
        assert_eq!(codes.len(), 500);
        for code in &codes {
            let (first, second) = code.split_once('-').unwrap();
            assert_eq!((first.len(), second.len()), (4, 4), "{code}");
            assert!(!code.contains(['0', 'O', '1', 'I', 'L']), "{code}");
            assert_eq!(typed_code(&format!(" {} ", code.to_lowercase().replace('-', " "))), typed_code(code));
        }
        let used: BTreeSet<char> = codes.iter().flat_map(|code| code.chars()).collect();
        assert_eq!(used.len(), ALPHABET.len() + 1, "every letter comes up");
    }

    #[test]
    fn a_digest_is_read_as_it_is_written_and_nothing_else_is() {
        let digest = SecretDigest::of(&token().unwrap());
        assert!(SecretDigest::read(&digest.text()).unwrap().matches(&digest));
        assert!(!digest.matches(&SecretDigest::of("another")));
        for text in ["", "zz", &digest.text()[1..], &format!("{}00", digest.text())] {
            assert!(SecretDigest::read(text).is_none(), "{text}");
        }
    }
}
