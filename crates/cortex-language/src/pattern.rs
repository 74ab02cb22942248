//! Patterns of words in the data: `can/could you be so kind as to`, `please?`, `{text}`.

use crate::filter::WordFilter;
use crate::kept::kept;

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// One of these words.
    Word { any_of: AnyOf, optional: bool },
    /// Some words, at least one.
    Slot(&'static str),
}

/// Words with a stroke between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnyOf(&'static str);

impl AnyOf {
    fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.split('/')
    }

    fn has(self, word: &str) -> bool {
        self.words().any(|one| one == word)
    }
}

/// A pattern of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Box<[Part]>,
    /// The words with which it may begin; none if it may begin with any.
    firsts: Option<WordFilter>,
}

/// Most slots of one match.
type Slots = Vec<(&'static str, std::ops::Range<usize>)>;

impl Pattern {
    /// Reads `word`, `one/other`, `word?` and `{slot}`. The words are kept, so they have to be data.
    pub(crate) fn read(text: &str) -> Self {
        let part = |piece: &str| {
            if let Some(slot) = piece.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                return Part::Slot(kept(slot));
            }
            let optional = piece.len() > 1 && piece.ends_with('?');
            let words = if optional { piece.trim_end_matches('?') } else { piece };
            Part::Word { any_of: AnyOf(kept(&words.to_lowercase())), optional }
        };
        let parts: Box<[Part]> = text.split_whitespace().map(part).collect();
        Self { firsts: firsts(&parts), parts }
    }

    /// Returns the number of words that the pattern takes at the beginning. Only for patterns without slots.
    pub(crate) fn prefix<W: AsRef<str>>(&self, words: &[W]) -> Option<usize> {
        if self.may_begin(words) { prefix(&self.parts, words) } else { None }
    }

    /// The ranges of the slots, if the pattern takes all of the words. `may_be` says which words a slot takes.
    pub(crate) fn whole<W: AsRef<str>>(
        &self,
        words: &[W],
        may_be: &dyn Fn(&str, std::ops::Range<usize>) -> bool,
    ) -> Option<Slots> {
        let mut slots = Vec::new();
        (self.may_begin(words) && whole(&self.parts, words, 0, may_be, &mut slots)).then_some(slots)
    }

    /// Returns false if the pattern surely does not begin like these words.
    fn may_begin<W: AsRef<str>>(&self, words: &[W]) -> bool {
        let may_have = |firsts: &WordFilter| words.first().is_some_and(|first| firsts.may_have(first.as_ref()));
        self.firsts.as_ref().is_none_or(may_have)
    }
}

/// The words of the parts up to the first one that must be there; none if that is a slot, or there is none.
fn firsts(parts: &[Part]) -> Option<WordFilter> {
    let mut filter = WordFilter::default();
    for part in parts {
        let Part::Word { any_of, optional } = part else { return None };
        any_of.words().for_each(|word| filter.add(word));
        if !optional {
            return Some(filter);
        }
    }
    None
}

fn prefix<W: AsRef<str>>(parts: &[Part], words: &[W]) -> Option<usize> {
    let Some((first, rest)) = parts.split_first() else { return Some(0) };
    let Part::Word { any_of, optional } = first else { return None };
    let fits = words.first().is_some_and(|word| any_of.has(word.as_ref()));
    let taken = if fits { prefix(rest, words.get(1..).unwrap_or_default()).map(|length| length + 1) } else { None };
    taken.or_else(|| if *optional { prefix(rest, words) } else { None })
}

fn whole<W: AsRef<str>>(
    parts: &[Part],
    words: &[W],
    at: usize,
    may_be: &dyn Fn(&str, std::ops::Range<usize>) -> bool,
    slots: &mut Slots,
) -> bool {
    let Some((first, rest)) = parts.split_first() else { return at == words.len() };
    match first {
        Part::Word { any_of, optional } => {
            let fits = words.get(at).is_some_and(|word| any_of.has(word.as_ref()));
            (fits && whole(rest, words, at + 1, may_be, slots)) || (*optional && whole(rest, words, at, may_be, slots))
        }
        // The longest text that leaves the rest of the pattern its words; what a name takes is as short as it can be.
        Part::Slot(name) => {
            // "Put {text} up?": an optional word that is there is no part of the text.
            if let Some((Part::Word { any_of, optional: true }, after)) = rest.split_first() {
                let needed = Part::Word { any_of: *any_of, optional: false };
                let mut parts = vec![first.clone(), needed];
                parts.extend_from_slice(after);
                if whole(&parts, words, at, may_be, slots) {
                    return true;
                }
            }
            for end in (at + 1..=words.len()).rev() {
                if !may_be(name, at..end) {
                    continue;
                }
                let before = slots.len();
                slots.push((name, at..end));
                if whole(rest, words, end, may_be, slots) {
                    return true;
                }
                slots.truncate(before);
            }
            false
        }
    }
}
