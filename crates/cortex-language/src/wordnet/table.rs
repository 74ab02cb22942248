//! The compiled table, read where it lies. `crates/xtask/src/wordnet/table.rs` writes it and says how it is laid out.
//!
//! Every read is bounded: bytes that are not such a table lead to wrong answers or to none, never to a panic or an
//! endless search.

use std::cmp::Ordering;

/// The table's first bytes.
const MAGIC: &[u8; 4] = b"CWN1";

/// Words from one that is written whole up to the next such one.
const BLOCK: usize = 16;

/// The most bytes of a word; the table's own are shorter.
const LONGEST: usize = 64;

/// Codes of groups of letters start here; those below are letters.
const FIRST_GROUP: u8 = 128;

/// In half a byte: the count is in the next byte.
const ESCAPE: u8 = 15;

/// Stands for "no hypernym".
const NONE: u16 = u16::MAX;

/// Synsets have classes: five domains of nouns, other nouns, verbs, adjectives.
const CLASSES: usize = 8;
pub(super) const FIRST_VERB_CLASS: usize = 6;
pub(super) const FIRST_ADJECTIVE_CLASS: usize = 7;

/// The most synsets that a search for hypernyms looks at; the deepest of WordNet needs fewer than 50.
const LONGEST_SEARCH: usize = 256;

/// The parts of the table.
#[derive(Debug, Default)]
pub(super) struct Table<'a> {
    pub(super) words: WordList<'a>,
    pub(super) irregular: WordList<'a>,
    /// For each class the number of the first synset behind it.
    class_ends: [usize; CLASSES],
    /// The first hypernym of each noun and verb.
    hypernyms: &'a [[u8; 2]],
    /// Synset and further hypernym.
    further_hypernyms: &'a [[u8; 4]],
    /// Places of two words.
    antonyms: &'a [[u8; 6]],
    opposites: &'a [[u8; 4]],
}

impl<'a> Table<'a> {
    /// None if the bytes are not such a table, or end too early.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut bytes = Reader(bytes.strip_prefix(MAGIC)?);
        let mut counts = [0; 4];
        counts.iter_mut().try_for_each(|count| bytes.count().map(|read| *count = read))?;
        let [words, word_bytes, irregular, irregular_bytes] = counts;
        let (mut class_ends, mut end) = ([0; CLASSES], 0_usize);
        for class_end in &mut class_ends {
            end = end.checked_add(bytes.count()?)?;
            *class_end = end;
        }
        let [further_hypernyms, antonyms, opposites] = [bytes.count()?, bytes.count()?, bytes.count()?];
        let groups = bytes.records(usize::from(u8::MAX - FIRST_GROUP) + 1)?;
        let words = WordList { groups, index: bytes.records(words.div_ceil(BLOCK))?, bytes: bytes.take(word_bytes)? };
        let irregular =
            WordList { groups, index: bytes.records(irregular.div_ceil(BLOCK))?, bytes: bytes.take(irregular_bytes)? };
        let nouns_and_verbs = class_ends.get(FIRST_VERB_CLASS).copied()?;
        Some(Self {
            words,
            irregular,
            class_ends,
            hypernyms: bytes.records(nouns_and_verbs)?,
            further_hypernyms: bytes.records(further_hypernyms)?,
            antonyms: bytes.records(antonyms)?,
            opposites: bytes.records(opposites)?,
        })
    }

    /// The class of a synset.
    pub(super) fn class(&self, synset: u16) -> Option<usize> {
        self.class_ends.iter().position(|end| usize::from(synset) < *end)
    }

    /// True if one of the synsets is one of the goals, or lies below one.
    pub(super) fn reaches(&self, from: Vec<u16>, goals: &[u16]) -> bool {
        let (mut open, mut seen) = (from, Vec::new());
        while let Some(synset) = open.pop() {
            if goals.contains(&synset) {
                return true;
            }
            if seen.contains(&synset) {
                continue;
            }
            if seen.len() == LONGEST_SEARCH {
                return false;
            }
            seen.push(synset);
            open.extend(self.hypernyms(synset));
        }
        false
    }

    /// The synsets right above one.
    pub(super) fn hypernyms(&self, synset: u16) -> impl Iterator<Item = u16> {
        let first = self.hypernyms.get(usize::from(synset)).map(|number| u16::from_le_bytes(*number));
        let start = self.further_hypernyms.partition_point(|pair| two_numbers(*pair).0 < synset);
        let further = self.further_hypernyms.iter().skip(start).map(|pair| two_numbers(*pair));
        let further = further.take_while(move |(below, _)| *below == synset).map(|(_, above)| above);
        first.filter(|number| *number != NONE).into_iter().chain(further)
    }

    /// True if the words at these places are direct antonyms.
    pub(super) fn are_antonyms(&self, one: usize, other: usize) -> bool {
        let pair = |[a, b, c, d, e, f]: [u8; 6]| (place([a, b, c]), place([d, e, f]));
        self.antonyms.binary_search_by_key(&(one, other), |bytes| pair(*bytes)).is_ok()
    }

    /// True if the synsets have direct antonyms among their words.
    pub(super) fn are_opposite(&self, one: u16, other: u16) -> bool {
        self.opposites.binary_search_by_key(&(one, other), |bytes| two_numbers(*bytes)).is_ok()
    }
}

/// Sorted words, each with a payload.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct WordList<'a> {
    /// The letters that each code stands for, filled up with zeros.
    groups: &'a [[u8; 4]],
    /// The first byte of each block.
    index: &'a [[u8; 3]],
    bytes: &'a [u8],
}

/// The record of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// Its place among the words.
    pub(super) place: usize,
    /// Bits of its parts of speech: noun, verb, adjective, adverb.
    pub(super) parts: u8,
    payload: &'a [u8],
}

impl<'a> Found<'a> {
    /// The numbers of a lemma's synsets, those of nouns first, the most frequent one of each part first.
    pub(super) fn senses(&self) -> &'a [[u8; 2]] {
        self.payload.as_chunks().0
    }

    /// The bases of an irregular form: the bit of the part of speech, and the place among the words.
    pub(super) fn bases(&self) -> impl Iterator<Item = (u8, usize)> + use<'a> {
        self.payload.as_chunks().0.iter().map(|[bit, a, b, c]| (*bit, place([*a, *b, *c])))
    }
}

impl<'a> WordList<'a> {
    /// Looks a word up, without regard to case; `_` counts as a space.
    pub(super) fn find(&self, word: &str) -> Option<Found<'a>> {
        let mut wanted = Spelling::default();
        for byte in word.bytes() {
            wanted.push(if byte == b'_' { b' ' } else { byte.to_ascii_lowercase() })?;
        }
        let after = self.index.partition_point(|start| {
            self.block(*start).and_then(|mut block| block.next().map(|_| block.spelling <= wanted)).unwrap_or(false)
        });
        let number = after.checked_sub(1)?;
        let mut block = self.block(*self.index.get(number)?)?;
        for step in 0..BLOCK {
            let (parts, payload) = block.next()?;
            match block.spelling.cmp(&wanted) {
                Ordering::Less => {}
                Ordering::Equal => return Some(Found { place: number * BLOCK + step, parts, payload }),
                Ordering::Greater => return None,
            }
        }
        None
    }

    /// The word at a place.
    pub(super) fn word_at(&self, place: usize) -> Option<String> {
        let mut block = self.block(*self.index.get(place / BLOCK)?)?;
        for _ in 0..=place % BLOCK {
            block.next()?;
        }
        String::from_utf8(block.spelling.bytes().to_vec()).ok()
    }

    fn block(&self, start: [u8; 3]) -> Option<Block<'a>> {
        let bytes = Reader(self.bytes.get(place(start)..)?);
        Some(Block { groups: self.groups, bytes, spelling: Spelling::default() })
    }
}

/// A walk over the words of a block.
struct Block<'a> {
    groups: &'a [[u8; 4]],
    bytes: Reader<'a>,
    /// The word that was read last.
    spelling: Spelling,
}

impl<'a> Block<'a> {
    /// Reads the next word, and gives its parts of speech and its payload.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let lengths = self.bytes.byte()?;
        let length = match lengths & 15 {
            ESCAPE => self.bytes.byte()?,
            length => length,
        };
        let parts = self.bytes.byte()?;
        self.spelling.truncate(usize::from(lengths >> 4));
        for code in self.bytes.take(usize::from(length))? {
            match code.checked_sub(FIRST_GROUP) {
                None => self.spelling.push(*code)?,
                Some(group) => {
                    let letters = self.groups.get(usize::from(group))?.iter().take_while(|letter| **letter != 0);
                    letters.copied().try_for_each(|letter| self.spelling.push(letter))?;
                }
            }
        }
        Some((parts & 15, self.bytes.take(usize::from(parts >> 4) * 2)?))
    }
}

/// A short word that needs no allocation.
#[derive(Debug, Clone)]
struct Spelling {
    letters: [u8; LONGEST],
    length: usize,
}

impl Spelling {
    fn bytes(&self) -> &[u8] {
        self.letters.get(..self.length).unwrap_or_default()
    }

    /// None if the word is too long.
    fn push(&mut self, letter: u8) -> Option<()> {
        *self.letters.get_mut(self.length)? = letter;
        self.length += 1;
        Some(())
    }

    fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl Default for Spelling {
    fn default() -> Self {
        Self { letters: [0; LONGEST], length: 0 }
    }
}

impl PartialEq for Spelling {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Spelling {}

impl PartialOrd for Spelling {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Spelling {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

/// The bytes that are still to be read.
#[derive(Debug, Clone, Copy)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// A number of four bytes.
    fn count(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    }

    /// Records of a fixed size.
    fn records<const SIZE: usize>(&mut self, count: usize) -> Option<&'a [[u8; SIZE]]> {
        Some(self.take(count.checked_mul(SIZE)?)?.as_chunks().0)
    }
}

/// A number of three bytes.
fn place([first, second, third]: [u8; 3]) -> usize {
    usize::from(first) | usize::from(second) << 8 | usize::from(third) << 16
}

fn two_numbers([a, b, c, d]: [u8; 4]) -> (u16, u16) {
    (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
}
