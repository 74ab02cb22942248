//! The part of WordNet that goes into the table.

use std::collections::{BTreeMap, BTreeSet};

use super::dictionary::{Dictionary, Lemma, Part, SynsetKey, spelling};

/// The count of senses of a lemma that the table keeps. Common verbs have many: "bring" in the sense of "fetch" is the
/// fourth one, "get" in that sense the sixth.
fn senses_kept(part: Part) -> usize {
    if part == Part::Verb { 6 } else { 3 }
}

/// Numbers of the lexicographer files of nouns of which the table keeps every synset but those of names, counted or not
/// (of verbs it keeps all): things of a household and of a workplace (`noun.artifact`), food, people by their roles
/// (`noun.person`), and spans of time.
const WHOLE_FILES: [u8; 4] = [6, 13, 18, 28];

/// The lexicographer files of things that a robot handles: artifacts and food.
const HANDLED: [u8; 2] = [6, 13];

/// The longest lemma in bytes, so that a reader's buffer has a fixed size.
const LONGEST: usize = 48;

/// The contents of the table.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// All words: spelling to the parts of speech (bits) and to the senses that are kept, nouns' first.
    pub(super) words: BTreeMap<String, (u8, Vec<SynsetKey>)>,
    pub(super) synsets: BTreeSet<SynsetKey>,
}

impl Selection {
    /// Selects the lemmas in everyday use with their senses, and all other words by their spelling only.
    pub(super) fn new(dictionary: &Dictionary) -> Self {
        let mut selection = Self::default();
        for part in [Part::Noun, Part::Verb, Part::Adjective] {
            selection.add_part(dictionary, part);
        }
        selection.add_plain_words(dictionary);
        selection
    }

    /// Adds the lemmas of a part whose senses were counted, and those of whole files; then, until there are no more,
    /// the synsets of the lemmas, the hypernyms of the synsets, and the lemmas of the synsets.
    fn add_part(&mut self, dictionary: &Dictionary, part: Part) {
        let mut open: Vec<SynsetKey> = Vec::new();
        for (word, lemma) in dictionary.lemmas.get(&part).into_iter().flatten() {
            if lemma.counted > 0 {
                self.add_lemma(dictionary, part, word, &mut open);
            }
        }
        for (key, synset) in &dictionary.synsets {
            let whole = part == Part::Verb || (part == Part::Noun && WHOLE_FILES.contains(&synset.file));
            if key.0 == part && whole && !synset.is_instance && synset.words.iter().any(|word| is_short(word)) {
                self.add_synset(*key, &mut open);
            }
        }
        while let Some(key) = open.pop() {
            let Some(synset) = dictionary.synsets.get(&key) else { continue };
            for word in &synset.words {
                self.add_lemma(dictionary, part, &spelling(word), &mut open);
            }
            for hypernym in &synset.hypernyms {
                self.add_synset((part, *hypernym), &mut open);
            }
        }
    }

    fn add_lemma(&mut self, dictionary: &Dictionary, part: Part, word: &str, open: &mut Vec<SynsetKey>) {
        let Some(lemma) = dictionary.lemma(part, word) else { return };
        if !is_short(word) || !is_plain(word) {
            return;
        }
        let (parts, senses) = self.words.entry(word.to_owned()).or_default();
        if *parts & part.bit() != 0 {
            return;
        }
        *parts |= part.bit();
        let first = first_senses(dictionary, part, word, lemma);
        senses.extend(&first);
        for key in first {
            self.add_synset(key, open);
        }
    }

    fn add_synset(&mut self, key: SynsetKey, open: &mut Vec<SynsetKey>) {
        if self.synsets.insert(key) {
            open.push(key);
        }
    }

    /// Adds every single word that is not only a name, for a typing slip is no word, while a rare word is one.
    fn add_plain_words(&mut self, dictionary: &Dictionary) {
        let mut common = BTreeSet::new();
        for (key, synset) in &dictionary.synsets {
            let lower = synset.words.iter().filter(|word| word.starts_with(|first: char| !first.is_uppercase()));
            common.extend(lower.map(|word| (key.0, spelling(word))));
        }
        for (part, lemmas) in &dictionary.lemmas {
            for (word, lemma) in lemmas {
                let is_name = lemma.counted == 0 && !common.contains(&(*part, word.clone()));
                if is_plain(word) && !word.contains(' ') && !is_name {
                    self.words.entry(word.clone()).or_default().0 |= part.bit();
                }
            }
        }
    }
}

/// The senses of a lemma that are kept, the most frequent one first.
///
/// WordNet lists senses that were never counted in no particular order. Here names come last among them, and where no
/// sense of a noun was counted, the things that a robot handles come first: a "mug" is a vessel before it is a fool.
fn first_senses(dictionary: &Dictionary, part: Part, word: &str, lemma: &Lemma) -> Vec<SynsetKey> {
    let mut senses: Vec<(u8, SynsetKey)> = Vec::new();
    for (position, sense) in lemma.senses.iter().enumerate() {
        let key = (part, *sense);
        let Some(synset) = dictionary.synsets.get(&key) else { continue };
        let written = synset.words.iter().find(|written| spelling(written) == word);
        let is_name = synset.is_instance || written.is_some_and(|word| word.starts_with(char::is_uppercase));
        let is_handled = part == Part::Noun && HANDLED.contains(&synset.file);
        let rank = match lemma.counted {
            counted if position < counted => 0,
            _ if is_name => 3,
            0 if is_handled => 1,
            _ => 2,
        };
        senses.push((rank, key));
    }
    senses.sort_by_key(|(rank, _)| *rank);
    senses.into_iter().map(|(_, key)| key).take(senses_kept(part)).collect()
}

/// True for a lemma of at most two words.
fn is_short(word: &str) -> bool {
    word.split(' ').count() <= 2
}

/// True for a lemma of letters: figures and units are not looked up.
fn is_plain(word: &str) -> bool {
    word.len() <= LONGEST
        && word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || b" '-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counted lemma, its synonym, their hypernym, a rare word, and a name.
    fn dictionary() -> Dictionary {
        let mut dictionary = Dictionary::default();
        let lemmas = "couch n 1 1 @ 1 0 00000010\nsofa n 1 1 @ 1 1 00000010\nseat n 1 0 1 0 00000020\n\
                      zax n 1 0 1 0 00000030\nzara n 1 0 1 0 00000040\n";
        let synsets = "00000010 14 n 02 sofa 0 couch 0 001 @ 00000020 n 0000 | x\n00000020 14 n 01 seat 0 000 | x\n\
                       00000030 14 n 01 zax 0 000 | x\n00000040 14 n 01 Zara 0 000 | x\n";
        dictionary.add_lemmas(Part::Noun, lemmas).expect("the lines are whole");
        dictionary.add_synsets(Part::Noun, synsets).expect("the lines are whole");
        dictionary
    }

    #[test]
    fn synonyms_and_hypernyms_of_a_counted_lemma_are_kept() {
        let selection = Selection::new(&dictionary());
        assert_eq!(selection.synsets, BTreeSet::from([(Part::Noun, 10), (Part::Noun, 20)]));
        for (word, senses) in [("sofa", 10), ("couch", 10), ("seat", 20)] {
            assert_eq!(selection.words[word], (1, vec![(Part::Noun, senses)]), "{word}");
        }
    }

    #[test]
    fn among_uncounted_senses_an_artifact_comes_first_and_a_name_last() {
        let mut dictionary = Dictionary::default();
        let synsets = "00000010 18 n 01 Mug 0 000 | x\n00000020 23 n 01 mug 0 000 | x\n00000030 06 n 01 mug 0 000 | x\n\
                       00000040 09 n 01 mug 0 000 | x\n";
        dictionary.add_synsets(Part::Noun, synsets).expect("the lines are whole");
        let order = |counted| {
            let lemma = Lemma { senses: vec![10, 20, 30, 40], counted };
            first_senses(&dictionary, Part::Noun, "mug", &lemma).into_iter().map(|(_, sense)| sense).collect::<Vec<_>>()
        };
        assert_eq!(order(0), [30, 20, 40]);
        assert_eq!(order(1), [10, 20, 30]);
    }

    #[test]
    fn a_rare_word_is_kept_by_its_spelling_and_a_name_is_not() {
        let selection = Selection::new(&dictionary());
        assert_eq!(selection.words["zax"], (1, Vec::new()));
        assert!(!selection.words.contains_key("zara"));
    }
}
