//! Short keys of cache entries: a digest of everything that the entry depends on.

use sha2::{Digest as _, Sha256};

/// Digits of a key. 64 bits are far more than a cache on one machine can confuse.
pub(crate) const KEY_DIGITS: usize = 16;

/// Collects parts and turns them into a key.
#[derive(Debug, Default)]
pub(crate) struct KeyBuilder {
    digest: Sha256,
}

impl KeyBuilder {
    /// Adds one part. Its length goes in too, so that moving a byte from one part to the next changes the key.
    #[must_use]
    pub(crate) fn part(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> String {
        let mut key: String = self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        key.truncate(KEY_DIGITS);
        key
    }
}

/// True for what [`KeyBuilder::finish`] makes; by this `clean` tells our folders from foreign ones.
pub(crate) fn is_key(text: &str) -> bool {
    text.len() == KEY_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_depends_on_every_part_and_on_where_it_ends() {
        let key = |parts: &[&str]| parts.iter().fold(KeyBuilder::default(), |key, part| key.part(part)).finish();
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
        assert_ne!(key(&["a", "b"]), key(&["a", "c"]));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert!(is_key(&key(&["a"])));
    }

    #[test]
    fn foreign_names_are_no_keys() {
        for name in ["", "jazzy", "0123456789abcdeg", "0123456789ABCDEF", "0123456789abcdef0"] {
            assert!(!is_key(name), "{name}");
        }
    }
}
