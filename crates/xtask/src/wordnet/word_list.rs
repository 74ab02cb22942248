//! Sorted words in few bytes, each with a payload: a word leaves out the start that it shares with the one before it,
//! and frequent groups of letters take one byte.

use anyhow::{Context as _, Result};

/// Words from one that is written whole up to the next such one. A reader searches for the block by halving.
pub(super) const BLOCK: usize = 16;

/// The most letters that one byte stands for.
const GROUP: usize = 4;

/// Bytes from this one on stand for groups of letters; those below it are letters.
const FIRST_GROUP: u8 = 128;

/// The most bytes that a word shares with the one before it, and the largest length that fits into half a byte.
const NIBBLE: usize = 15;

/// One word with what the table says of it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) word: String,
    /// Bits of its parts of speech.
    pub(super) parts: u8,
    /// An even number of bytes, at most 30.
    pub(super) payload: Vec<u8>,
}

/// The groups of letters that one byte stands for, most useful first.
#[derive(Debug)]
pub(super) struct Groups {
    groups: Vec<Vec<u8>>,
    /// Two codes and the one that replaces them, in the order in which an encoder replaces them.
    joined: Vec<(u8, u8, u8)>,
}

impl Groups {
    /// Finds the groups by joining, again and again, the two neighbours that stand together most often.
    pub(super) fn find(entries: &[Entry]) -> Self {
        let mut texts: Vec<Vec<u8>> =
            rests(entries).map(|(_, rest)| rest.to_vec()).filter(|rest| rest.len() > 1).collect();
        let mut found = Self { groups: Vec::new(), joined: Vec::new() };
        for code in FIRST_GROUP..=u8::MAX {
            let Some((first, second)) = found.most_frequent(&texts) else { break };
            let group = [found.letters(first), found.letters(second)].concat();
            found.groups.push(group);
            found.joined.push((first, second, code));
            texts.iter_mut().for_each(|text| join(text, first, second, code));
        }
        found
    }

    /// The pair of codes that occurs most often among those that are not too long together; the greater one of equals.
    fn most_frequent(&self, texts: &[Vec<u8>]) -> Option<(u8, u8)> {
        let mut counts = vec![0_u32; 1 << 16];
        for (first, second) in texts.iter().flat_map(|text| text.iter().zip(text.iter().skip(1))) {
            if let Some(count) = counts.get_mut(usize::from(u16::from_be_bytes([*first, *second]))) {
                *count += 1;
            }
        }
        let pairs = (0..=u16::MAX).map(u16::to_be_bytes).zip(counts);
        let fitting = pairs.filter(|([first, second], count)| {
            *count > 1 && self.letters(*first).len() + self.letters(*second).len() <= GROUP
        });
        fitting.max_by_key(|(_, count)| *count).map(|([first, second], _)| (first, second))
    }

    fn letters(&self, code: u8) -> Vec<u8> {
        let group = code.checked_sub(FIRST_GROUP).and_then(|index| self.groups.get(usize::from(index)));
        group.cloned().unwrap_or_else(|| vec![code])
    }

    fn encode(&self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for (first, second, code) in &self.joined {
            join(&mut text, *first, *second, *code);
        }
        text
    }

    /// The table of the groups: for each code from the first one its letters, filled up with zeros.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .groups
            .iter()
            .flat_map(|group| group.iter().copied().chain(std::iter::repeat(0)).take(GROUP))
            .collect();
        bytes.resize(usize::from(u8::MAX - FIRST_GROUP + 1) * GROUP, 0);
        bytes
    }
}

/// Writes one code for two where they stand together.
fn join(text: &mut Vec<u8>, first: u8, second: u8, code: u8) {
    let mut joined = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        let is_pair = byte == first && rest.next_if_eq(&second).is_some();
        joined.push(if is_pair { code } else { byte });
    }
    *text = joined;
}

/// For each word the count of bytes that it shares with the one before it in its block, and its other bytes.
fn rests(entries: &[Entry]) -> impl Iterator<Item = (usize, &[u8])> {
    let before = std::iter::once("").chain(entries.iter().map(|entry| entry.word.as_str()));
    entries.iter().zip(before).enumerate().map(|(index, (entry, before))| {
        let alike = entry.word.bytes().zip(before.bytes()).take_while(|(one, other)| one == other).count();
        let shared = if index % BLOCK == 0 { 0 } else { alike.min(NIBBLE) };
        (shared, entry.word.as_bytes().get(shared..).unwrap_or_default())
    })
}

/// The places of the blocks (three bytes each) and the words, of words in ascending order.
///
/// A word is: the count of shared bytes (upper half of a byte) and of its own ones (lower half; 15 says that the next
/// byte is the count), half the payload's length (upper half) and its parts of speech (lower half), its own bytes, the
/// payload.
pub(super) fn encode(entries: &[Entry], groups: &Groups) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut index, mut words) = (Vec::new(), Vec::new());
    for (position, (entry, (shared, rest))) in entries.iter().zip(rests(entries)).enumerate() {
        if position % BLOCK == 0 {
            index.extend(three_bytes(words.len())?);
        }
        let rest = groups.encode(rest);
        words.push(u8::try_from(shared << 4 | rest.len().min(NIBBLE))?);
        if rest.len() >= NIBBLE {
            words.push(u8::try_from(rest.len())?);
        }
        let payload = entry.payload.len().div_ceil(2);
        words.push(
            u8::try_from(payload << 4).ok().with_context(|| format!("{} has too many senses", entry.word))?
                | entry.parts,
        );
        words.extend(rest);
        words.extend(&entry.payload);
    }
    Ok((index, words))
}

/// A number below 2^24, the lowest byte first.
pub(super) fn three_bytes(number: usize) -> Result<[u8; 3]> {
    let [first, second, third, 0] = u32::try_from(number)?.to_le_bytes() else {
        anyhow::bail!("{number} does not fit into three bytes");
    };
    Ok([first, second, third])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(word: &str) -> Entry {
        Entry { word: word.to_owned(), parts: 1, payload: Vec::new() }
    }

    #[test]
    fn a_word_leaves_out_the_start_that_it_shares_with_the_one_before() {
        let entries = [entry("kit"), Entry { payload: vec![7, 0], ..entry("kitchen") }];
        let groups = Groups { groups: Vec::new(), joined: Vec::new() };
        let (index, words) = encode(&entries, &groups).expect("both fit");
        assert_eq!(index, [0, 0, 0]);
        assert_eq!(words, b"\x03\x01kit\x34\x11chen\x07\x00");
    }

    #[test]
    fn frequent_letters_take_one_byte() {
        let entries = ["abbing", "being", "coming", "doing"].map(entry);
        let groups = Groups::find(&entries);
        assert_eq!(groups.encode(b"ing").len(), 1);
        assert_eq!(groups.bytes().len(), 512);
        assert_eq!(groups.encode(b"xyz"), b"xyz");
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(three_bytes(0x01_0203).expect("it fits"), [3, 2, 1]);
        assert!(three_bytes(1 << 24).is_err());
        let many = Entry { payload: vec![0; 32], ..entry("go") };
        assert!(encode(&[many], &Groups { groups: Vec::new(), joined: Vec::new() }).is_err());
    }
}
