//! A document, before and after it is cut into passages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// By what it is cited, and replaced when it is added again: a file's path below the folder that was added, or an id.
    pub id: String,
    /// What is known of it, for people and for filters.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Its parts, in order.
    pub sections: Vec<Section>,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Where it stands: the headings above it. Empty: at the beginning, or in a document without headings.
    pub place: String,
    /// Its words.
    pub text: String,
}

/// What is found at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Where it stands in its document.
    pub place: String,
    /// Its words.
    pub text: String,
}

impl Document {
    /// A text without headings.
    #[must_use]
    pub fn of_text(id: impl Into<String>, text: impl Into<String>) -> Self {
        let section = Section { place: String::new(), text: text.into() };
        Self { id: id.into(), metadata: BTreeMap::new(), sections: vec![section] }
    }

    /// What identifies its content: the same for the same words and metadata, whatever its id.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        for (key, value) in &self.metadata {
            add(key);
            add(value);
        }
        for section in &self.sections {
            add(&section.place);
            add(&section.text);
        }
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_tells_contents_apart_and_ignores_the_id() {
        let one = Document::of_text("a.md", "the kettle");
        assert_eq!(one.digest(), Document::of_text("b.md", "the kettle").digest());
        assert_ne!(one.digest(), Document::of_text("a.md", "the cup").digest());
        let mut moved = one.clone();
        moved.sections[0].place = "the".to_owned();
        moved.sections[0].text = " kettle".to_owned();
        assert_ne!(one.digest(), moved.digest(), "what stands where is part of it");
    }
}
