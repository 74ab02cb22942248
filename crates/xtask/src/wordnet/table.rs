//! The bytes of the table. `crates/cortex-language/src/wordnet/table.rs` reads them.
//!
//! Numbers have their lowest byte first. A synset's number is its place in: nouns (people, locations, artifacts, food,
//! times, all other), verbs, adjectives. The table is, without gaps:
//!
//! | what | size |
//! | --- | --- |
//! | `CWN1` | 4 |
//! | counts, in the order of [`Counts`] | 4 each |
//! | groups of letters, from the code 128 on, filled up with zeros | 4 each |
//! | places of the blocks of words | 3 each |
//! | words (see `word_list.rs`); payload: the numbers of their senses | all |
//! | places of the blocks of irregular forms | 3 each |
//! | irregular forms; payload: for each base its part's bit (1 byte) and its place among the words (3) | all |
//! | first hypernym of each noun and verb, or 65535 | 2 each |
//! | further hypernyms: synset, hypernym | 4 each |
//! | antonyms: places of both among the words | 6 each |
//! | opposite synsets | 4 each |

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};

use super::dictionary::{Dictionary, Part, SynsetKey, spelling};
use super::selection::Selection;
use super::word_list::{self, Entry, Groups, three_bytes};

/// The lexicographer files that the table tells apart, in its order: person, location, artifact, food, time.
const DOMAINS: [u8; 5] = [18, 15, 6, 13, 28];

/// Stands for "no hypernym".
const NONE: u16 = u16::MAX;

/// The table's bytes and the counts of its records.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) bytes: Vec<u8>,
    pub(super) counts: Counts,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) words: usize,
    /// Bytes of the words.
    word_bytes: usize,
    pub(super) irregular: usize,
    /// Bytes of the irregular forms.
    irregular_bytes: usize,
    /// Synsets: those of each domain, other nouns, verbs, adjectives.
    pub(super) synsets: [usize; 8],
    pub(super) further_hypernyms: usize,
    pub(super) antonyms: usize,
    pub(super) opposites: usize,
}

impl Counts {
    fn bytes(&self) -> Result<Vec<u8>> {
        let start = [self.words, self.word_bytes, self.irregular, self.irregular_bytes];
        let end = [self.further_hypernyms, self.antonyms, self.opposites];
        let mut bytes = Vec::new();
        for count in start.iter().chain(&self.synsets).chain(&end) {
            bytes.extend(u32::try_from(*count)?.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// Encodes the selection.
pub(super) fn build(dictionary: &Dictionary, selection: &Selection) -> Result<Table> {
    let numbers = Numbers::new(dictionary, selection)?;
    let entries: Vec<Entry> = selection
        .words
        .iter()
        .map(|(word, (parts, senses))| Entry {
            word: word.clone(),
            parts: *parts,
            payload: senses.iter().filter_map(|sense| numbers.synset(*sense)).flat_map(u16::to_le_bytes).collect(),
        })
        .collect();
    let irregular = irregular(dictionary, selection, &numbers)?;
    let groups = Groups::find(&entries);
    let (index, words) = word_list::encode(&entries, &groups)?;
    let (irregular_index, irregular_words) = word_list::encode(&irregular, &groups)?;
    let (first, further) = hypernyms(dictionary, &numbers);
    let (antonyms, opposites) = antonyms(dictionary, &numbers)?;
    let counts = Counts {
        words: entries.len(),
        word_bytes: words.len(),
        irregular: irregular.len(),
        irregular_bytes: irregular_words.len(),
        synsets: numbers.sizes,
        further_hypernyms: further.len() / 4,
        antonyms: antonyms.len() / 6,
        opposites: opposites.len() / 4,
    };
    let header = [b"CWN1".to_vec(), counts.bytes()?, groups.bytes()].concat();
    let bytes = [header, index, words, irregular_index, irregular_words, first, further, antonyms, opposites].concat();
    Ok(Table { bytes, counts })
}

/// The numbers of words and synsets in the table.
struct Numbers<'a> {
    words: BTreeMap<&'a str, usize>,
    synsets: BTreeMap<SynsetKey, u16>,
    /// The synsets in the order of their numbers.
    order: Vec<SynsetKey>,
    sizes: [usize; 8],
}

impl<'a> Numbers<'a> {
    fn new(dictionary: &Dictionary, selection: &'a Selection) -> Result<Self> {
        let mut order: Vec<(usize, SynsetKey)> =
            selection.synsets.iter().filter_map(|key| Some((class(dictionary, *key)?, *key))).collect();
        order.sort_unstable();
        let mut sizes = [0; 8];
        for (class, _) in &order {
            if let Some(size) = sizes.get_mut(*class) {
                *size += 1;
            }
        }
        ensure!(order.len() < usize::from(NONE), "{} synsets are more than the table can number", order.len());
        let order: Vec<SynsetKey> = order.into_iter().map(|(_, key)| key).collect();
        let synsets = order.iter().copied().zip(0_u16..).collect();
        let words = selection.words.keys().map(String::as_str).zip(0..).collect();
        Ok(Self { words, synsets, order, sizes })
    }

    fn synset(&self, key: SynsetKey) -> Option<u16> {
        self.synsets.get(&key).copied()
    }

    fn word(&self, word: &str) -> Option<usize> {
        self.words.get(word).copied()
    }
}

/// The class of a synset: its place among the eight classes in the table's order.
fn class(dictionary: &Dictionary, key: SynsetKey) -> Option<usize> {
    let file = dictionary.synsets.get(&key)?.file;
    match key.0 {
        Part::Noun => Some(DOMAINS.iter().position(|domain| *domain == file).unwrap_or(DOMAINS.len())),
        Part::Verb => Some(6),
        Part::Adjective => Some(7),
        Part::Adverb => None,
    }
}

/// The irregular forms of words that are kept, each with its bases.
fn irregular(dictionary: &Dictionary, selection: &Selection, numbers: &Numbers) -> Result<Vec<Entry>> {
    let mut forms: BTreeMap<&str, BTreeSet<(u8, usize)>> = BTreeMap::new();
    for (part, form, bases) in dictionary.irregular.iter().filter(|(part, _, _)| *part != Part::Adverb) {
        for base in bases.iter().filter(|base| *base != form) {
            let is_kept = selection.words.get(base).is_some_and(|(parts, _)| parts & part.bit() != 0);
            if let Some(number) = numbers.word(base).filter(|_| is_kept && form.is_ascii()) {
                forms.entry(form).or_default().insert((part.bit(), number));
            }
        }
    }
    forms.into_iter().map(|(form, bases)| irregular_form(form, &bases)).collect()
}

fn irregular_form(form: &str, bases: &BTreeSet<(u8, usize)>) -> Result<Entry> {
    let mut entry = Entry { word: form.to_owned(), parts: 0, payload: Vec::new() };
    for (bit, number) in bases {
        entry.parts |= bit;
        entry.payload.push(*bit);
        entry.payload.extend(three_bytes(*number).with_context(|| format!("cannot write the base of {form}"))?);
    }
    Ok(entry)
}

/// The first hypernym of each noun and verb, and the further ones of those that have more.
fn hypernyms(dictionary: &Dictionary, numbers: &Numbers) -> (Vec<u8>, Vec<u8>) {
    let (mut first, mut further) = (Vec::new(), Vec::new());
    for (number, key) in (0_u16..).zip(&numbers.order).filter(|(_, key)| key.0 != Part::Adjective) {
        let synset = dictionary.synsets.get(key);
        let hypernyms = synset.into_iter().flat_map(|synset| &synset.hypernyms);
        let mut hypernyms = hypernyms.filter_map(|hypernym| numbers.synset((key.0, *hypernym)));
        first.extend(hypernyms.next().unwrap_or(NONE).to_le_bytes());
        for hypernym in hypernyms {
            further.extend(number.to_le_bytes());
            further.extend(hypernym.to_le_bytes());
        }
    }
    (first, further)
}

/// The direct antonyms among verbs and adjectives, in both directions, and the opposite synsets, likewise.
fn antonyms(dictionary: &Dictionary, numbers: &Numbers) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut words, mut synsets) = (BTreeSet::new(), BTreeSet::new());
    let wanted = |part| part == Part::Verb || part == Part::Adjective;
    for (key, synset) in dictionary.synsets.iter().filter(|(key, _)| wanted(key.0)) {
        for (own, target, other) in &synset.antonyms {
            let own = synset.words.get(*own);
            let other = dictionary.synsets.get(target).and_then(|synset| synset.words.get(*other));
            let number = |word: Option<&String>| numbers.word(&spelling(word?));
            if let (Some(one), Some(other)) = (number(own), number(other)) {
                words.extend([(one, other), (other, one)]);
            }
            if let (Some(one), Some(other)) = (numbers.synset(*key), numbers.synset(*target)) {
                synsets.extend([(one, other), (other, one)]);
            }
        }
    }
    let mut bytes = Vec::new();
    for (one, other) in words {
        bytes.extend(three_bytes(one)?);
        bytes.extend(three_bytes(other)?);
    }
    let synsets =
        synsets.into_iter().flat_map(|(one, other)| [one.to_le_bytes(), other.to_le_bytes()].concat()).collect();
    Ok((bytes, synsets))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "mice" of "mouse", a kind of "animal", beside "open", the opposite of "close".
    fn dictionary() -> Dictionary {
        let mut dictionary = Dictionary::default();
        let nouns = "00000010 05 n 01 mouse 0 001 @ 00000020 n 0000 | x\n00000020 03 n 01 animal 0 000 | x\n";
        let verbs = "00000010 30 v 02 open 0 open_up 0 001 ! 00000020 v 0101 01 + 08 00 | x\n\
                     00000020 30 v 01 close 0 001 ! 00000010 v 0101 01 + 08 00 | x\n";
        dictionary.add_lemmas(Part::Noun, "mouse n 1 1 @ 1 1 00000010\nanimal n 1 0 1 1 00000020\n").expect("whole");
        dictionary.add_lemmas(Part::Verb, "close v 1 0 1 1 00000020\nopen v 1 0 1 1 00000010\n").expect("whole");
        dictionary.add_lemmas(Part::Verb, "open_up v 1 0 1 0 00000010\n").expect("whole");
        dictionary.add_synsets(Part::Noun, nouns).expect("whole");
        dictionary.add_synsets(Part::Verb, verbs).expect("whole");
        dictionary.add_irregular(Part::Noun, "mice mouse\nlice louse\nmouse mouse\n");
        dictionary
    }

    #[test]
    fn the_table_holds_the_selection() {
        let dictionary = dictionary();
        let table = build(&dictionary, &Selection::new(&dictionary)).expect("it is small");
        assert_eq!(table.counts.words, 5);
        assert_eq!(table.counts.irregular, 1);
        assert_eq!(table.counts.synsets, [0, 0, 0, 0, 0, 2, 2, 0]);
        assert_eq!((table.counts.antonyms, table.counts.opposites), (2, 2));
        assert!(table.bytes.starts_with(b"CWN1\x05\0\0\0"));
        // Both directions of the opposite verbs are the table's last bytes.
        assert!(table.bytes.ends_with(&[2, 0, 3, 0, 3, 0, 2, 0]));
    }

    #[test]
    fn the_same_files_make_the_same_bytes() {
        let make = || build(&dictionary(), &Selection::new(&dictionary())).expect("it is small").bytes;
        assert_eq!(make(), make());
    }
}
