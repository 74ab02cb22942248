//! Tables of phrases: rows of units that are looked for at the beginning of a clause or anywhere in it.

use super::text::Tokenizer;

/// Phrases, each as its units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Phrases(Vec<Box<[String]>>);

impl Phrases {
    /// Phrases divided by commas or lines, of several tables.
    pub(super) fn read<'a>(tables: impl Iterator<Item = &'a str>, tokenizer: &Tokenizer) -> Self {
        let written = tables.flat_map(|table| table.split([',', '\n']));
        Self(
            written
                .map(|phrase| tokenizer.units(phrase).into_boxed_slice())
                .filter(|units| !units.is_empty())
                .collect(),
        )
    }

    /// Whether the unit is one of the phrases.
    pub(super) fn holds(&self, unit: &str) -> bool {
        self.0.iter().any(|phrase| matches!(phrase.as_ref(), [only] if only == unit))
    }

    /// How many units the longest of the phrases has that the units begin with.
    pub(super) fn length(&self, units: &[String]) -> usize {
        self.0.iter().filter(|phrase| units.starts_with(phrase)).map(|phrase| phrase.len()).max().unwrap_or_default()
    }

    pub(super) fn begin(&self, units: &[String]) -> bool {
        self.0.iter().any(|phrase| units.starts_with(phrase))
    }

    /// What follows the longest of the phrases that the units begin with.
    pub(super) fn after<'u>(&self, units: &'u [String]) -> Option<&'u [String]> {
        let length = self.length(units);
        if length > 0 { units.get(length..) } else { None }
    }

    /// What stands before the longest of the phrases that the units end with.
    pub(super) fn before<'u>(&self, units: &'u [String]) -> Option<&'u [String]> {
        let longest = self.0.iter().filter(|phrase| units.ends_with(phrase)).map(|phrase| phrase.len()).max()?;
        units.get(..units.len().checked_sub(longest)?)
    }

    /// Whether the units are one of the phrases, and nothing else.
    pub(super) fn are(&self, units: &[String]) -> bool {
        self.0.iter().any(|phrase| phrase.as_ref() == units)
    }

    /// Whether one of the phrases is anywhere in the units.
    pub(super) fn are_in(&self, units: &[String]) -> bool {
        self.0.iter().any(|phrase| units.windows(phrase.len()).any(|window| window == phrase.as_ref()))
    }
}
