//! English words and their relations: spelling, base forms, synonyms, kinds, domains and antonyms.
//!
//! The data is WordNet 3.0 (see `data/WORDNET-LICENSE`), compiled by `cargo xtask wordnet`. It holds nouns, verbs and
//! adjectives in everyday use with their most frequent senses (three, of verbs six), and other single words by their
//! spelling only. Function words ("the", "with") are not in WordNet, and most names are left out. Words are compared
//! without regard to case, and `_` counts as a space. A lookup takes about a microsecond, for an unknown word ten.

mod inflection;
mod table;

use std::sync::LazyLock;

use table::{FIRST_ADJECTIVE_CLASS, FIRST_VERB_CLASS, Table};

/// The compiled data. It is read where it lies, without a copy.
static BYTES: &[u8] = include_bytes!("../data/wordnet.bin");

/// Without words if the data cannot be read; a test makes sure that it can.
static TABLE: LazyLock<Table<'static>> = LazyLock::new(|| Table::read(BYTES).unwrap_or_default());

/// The count of senses that a search for kinds looks at: later senses belong to kinds that people do not think of.
const SENSES_OF_KIND: usize = 2;

/// A part of speech whose words have senses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartOfSpeech {
    /// A noun.
    Noun,
    /// A verb.
    Verb,
    /// An adjective.
    Adjective,
}

impl PartOfSpeech {
    const ALL: [Self; 3] = [Self::Noun, Self::Verb, Self::Adjective];

    /// The part's bit in the table.
    fn bit(self) -> u8 {
        match self {
            Self::Noun => 1,
            Self::Verb => 2,
            Self::Adjective => 4,
        }
    }

    /// The part that a class of synsets belongs to.
    fn of_class(class: usize) -> Self {
        match class {
            FIRST_ADJECTIVE_CLASS.. => Self::Adjective,
            FIRST_VERB_CLASS => Self::Verb,
            _ => Self::Noun,
        }
    }
}

/// The field of meaning of a noun, as far as it matters for what a robot can do with the thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// A human being, or a group of them.
    Person,
    /// A region or a position, such as "city" or "top". A room is an artifact.
    Location,
    /// A thing that people made, rooms and buildings among them.
    Artifact,
    /// What is eaten or drunk.
    Food,
    /// A span or point of time.
    Time,
}

impl Domain {
    /// In the order of the table's classes of synsets.
    const ALL: [Self; 5] = [Self::Person, Self::Location, Self::Artifact, Self::Food, Self::Time];
}

/// True for a word: a lemma, an irregular form or a regular inflection of a lemma.
pub fn is_word(word: &str) -> bool {
    TABLE.words.find(word).is_some()
        || TABLE.irregular.find(word).is_some()
        || PartOfSpeech::ALL.iter().any(|part| !base_forms(word, *part).is_empty())
}

/// The lemmas of which the word can be an inflected form: by the table of irregular forms, then the word itself if it
/// is a lemma, then by WordNet's rules of detachment. Empty if there is none of that part of speech.
///
/// In a verb of two words the first one is inflected ("picked up"), in a noun the last one ("coffee cups").
pub fn base_forms(word: &str, part: PartOfSpeech) -> Vec<String> {
    inflection::base_forms(&TABLE, word, part)
}

/// True if one of the first `depth` senses of both lemmas is the same, so that one can stand for the other. The table
/// holds three senses, of verbs six; a greater `depth` changes nothing.
pub fn shares_sense(one: &str, other: &str, part: PartOfSpeech, depth: usize) -> bool {
    let others: Vec<u16> = senses(other, part).take(depth).collect();
    senses(one, part).take(depth).any(|sense| others.contains(&sense))
}

/// True if `noun` is a kind of `kind`, or means the same: one of the first two senses of `noun` is one of the first two
/// of `kind`, or lies below it.
pub fn is_kind_of(noun: &str, kind: &str) -> bool {
    lies_below(noun, kind, PartOfSpeech::Noun)
}

/// True if a sense of `noun` lies right below the first sense of `kind`: a beaker is a direct kind of cup.
pub fn is_direct_kind_of(noun: &str, kind: &str) -> bool {
    let Some(goal) = senses(kind, PartOfSpeech::Noun).next() else { return false };
    senses(noun, PartOfSpeech::Noun).take(SENSES_OF_KIND).any(|sense| TABLE.hypernyms(sense).any(|above| above == goal))
}

/// True if `verb` is a way to do `general`, or means the same, as "carry" is a way to "move"; see [`is_kind_of`].
pub fn is_way_of(verb: &str, general: &str) -> bool {
    lies_below(verb, general, PartOfSpeech::Verb)
}

/// The field of meaning of the noun's most frequent sense. None for other fields, and for nouns without known senses.
pub fn domain(noun: &str) -> Option<Domain> {
    let sense = senses(noun, PartOfSpeech::Noun).next()?;
    Domain::ALL.get(TABLE.class(sense)?).copied()
}

/// True if the two verbs or adjectives are opposites: WordNet names them as a pair ("open", "close"), or does so for
/// synonyms by the most frequent sense of both ("shut" for "close").
pub fn are_antonyms(one: &str, other: &str) -> bool {
    let place = |word| TABLE.words.find(word).map(|found| found.place);
    if let (Some(one), Some(other)) = (place(one), place(other))
        && TABLE.are_antonyms(one, other)
    {
        return true;
    }
    [PartOfSpeech::Verb, PartOfSpeech::Adjective].into_iter().any(|part| {
        let (one, other) = (senses(one, part).next(), senses(other, part).next());
        one.zip(other).is_some_and(|(one, other)| TABLE.are_opposite(one, other))
    })
}

/// The synsets that the table holds for a lemma, the most frequent one first.
fn senses(word: &str, part: PartOfSpeech) -> impl Iterator<Item = u16> {
    let senses = TABLE.words.find(word).map(|found| found.senses()).unwrap_or_default();
    senses
        .iter()
        .copied()
        .map(u16::from_le_bytes)
        .filter(move |sense| TABLE.class(*sense).map(PartOfSpeech::of_class) == Some(part))
}

fn lies_below(word: &str, general: &str, part: PartOfSpeech) -> bool {
    let goals: Vec<u16> = senses(general, part).take(SENSES_OF_KIND).collect();
    TABLE.reaches(senses(word, part).take(SENSES_OF_KIND).collect(), &goals)
}

#[cfg(test)]
mod tests;
