//! One language, read from data: its function words, the frames in which people put an order, its verbs and its nouns.
//!
//! Verbs and nouns lead to the same senses in every language, so that a sentence in any of them is held against the
//! words of the tools, which are English.

mod data;
mod guard;

pub use guard::Guard;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::condition::Conditions;
use crate::facts::{Facts, VerbPlace};
use crate::filter::{KeptMap, WordMap, WordSet};
use crate::grammar::{Frames, Words};
use crate::languages;
use crate::pattern::Pattern;
use crate::phrases::{Phrase, PhraseSet, PhraseTable};
use crate::robot::Key;
use crate::stem::Stemmer;

/// One sense of verbs: what verbs of any language stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sense {
    /// Its name, an English word.
    pub(crate) name: String,
    /// The more general senses of which it is a case.
    pub(crate) bases: Vec<String>,
    /// The state that it asks for: `on`, `closed`.
    pub(crate) state: Option<String>,
    /// True if it means nothing alone: get, make, do.
    pub(crate) light: bool,
    /// True if it may set a value that is said: "raise the forks to 500".
    pub(crate) adjusts: bool,
    /// True if it looks or tells instead of acting.
    pub(crate) looks: bool,
    /// True if it hands over a text.
    pub(crate) frame: Option<Frame>,
    /// The values that it says by itself: to turn around is to turn by 180 degrees.
    pub(crate) says: Vec<String>,
    /// Where one goes for it, where nothing of the robot does it by itself.
    pub(crate) places: Vec<String>,
    /// What it makes more or less of: to slow down is to set a speed.
    pub(crate) of: Option<String>,
}

/// The use of a text that a verb hands over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Frame {
    /// It is spoken.
    Say,
    /// It is shown, printed or noted.
    Write,
}

/// A verb as it may stand in a sentence: words, with a place for the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerbForm {
    /// Stems before the object.
    pub(crate) head: Phrase,
    /// Stems after it.
    pub(crate) tail: Phrase,
    /// Index into the senses, which are those of English.
    pub(crate) sense: usize,
    /// True if the word is the name of another sense, which it means first.
    pub(crate) lent: bool,
    /// True if it may stand for the sense, so that a person is asked.
    pub(crate) vague: bool,
}

/// A noun: the stems of its words, and what they stand for.
pub(crate) type Noun = (Phrase, &'static str);

/// Words around a text that is to be spoken or shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFrame {
    pub(crate) frame: Frame,
    pub(crate) pattern: Pattern,
    /// What is said before the text: who apologises for the delay says "sorry for the delay".
    pub(crate) prefix: Option<String>,
}

/// The form of words that a frame around an order demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lead {
    /// A verb in its base form.
    Verb,
    /// A verb that ends in -ing.
    Gerund,
    /// A place.
    Place,
}

/// One language.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) facts: &'static Facts,
    /// The language of the tools, if this is another one.
    base: Option<&'static Language>,
    /// Its function words.
    pub(crate) words: Words,
    /// Its frames around an order.
    pub(crate) frames: Frames,
    /// How it puts conditions.
    pub(crate) conditions: Conditions,
    stemmer: Stemmer,
    short_forms: WordMap<Vec<String>>,
    pub(crate) roles: WordMap<Vec<String>>,
    pub(crate) leads: Vec<(Lead, Pattern)>,
    numbers: WordMap<f64>,
    ordinals: WordMap<f64>,
    states: PhraseTable,
    opposites: WordMap<String>,
    truths: WordMap<bool>,
    qualities: WordMap<String>,
    pub(crate) topics: PhraseTable,
    pub(crate) topic_hints: PhraseTable,
    /// The meanings of the words of tools, by the topic of which they tell.
    told_by: WordMap<Vec<String>>,
    gerunds: Vec<String>,
    manners: Vec<String>,
    pasts: Vec<String>,
    past_forms: PhraseSet,
    senses: Vec<Sense>,
    /// Whole clauses, without words that carry nothing, as they are said in the language of the tools.
    idioms: Vec<(String, Vec<Pattern>)>,
    going: Vec<String>,
    /// Verb forms by the stem of their first word.
    verbs: KeptMap<Vec<VerbForm>>,
    /// Nouns of one or more words, by the stem of the first; the longest first.
    nouns: KeptMap<Vec<Noun>>,
    /// Every word of the data, as it is spelt, in order.
    pub(crate) spellings: Box<[&'static str]>,
    /// The same without endings.
    stems: Box<[&'static str]>,
    /// The words of the grammar, which may stand for something whatever the tools are.
    function_words: WordSet,
    pub(crate) talk: Vec<(String, Vec<Pattern>)>,
    pub(crate) texts: Vec<TextFrame>,
}

/// A bound that words stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extreme {
    Lowest,
    Highest,
    /// The bound in the direction that is said.
    Farthest,
}

/// The statement that the form of a verb makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// It may ask.
    Plain,
    /// It tells what is being done.
    Gerund,
    /// It tells what was done.
    Past,
}

impl Language {
    /// English.
    pub(crate) fn english() -> Option<&'static Self> {
        languages::english()
    }

    /// The language in which tools are declared.
    pub(crate) fn of_tools(&self) -> &Self {
        self.base.unwrap_or(self)
    }

    /// Returns true if tools are declared in this language.
    pub(crate) fn is_of_tools(&self) -> bool {
        self.base.is_none()
    }

    /// The meaning of a name in this language.
    pub(crate) fn concept(&self, name: &str) -> String {
        crate::robot::concepts(name, self).join(" ")
    }

    /// The clause in the language of the tools that says the same as these words, which all carry something.
    pub(crate) fn idiom(&self, words: &[&str]) -> Option<&str> {
        let said = |pattern: &Pattern| pattern.prefix(words) == Some(words.len());
        self.idioms.iter().find(|(_, patterns)| patterns.iter().any(said)).map(|(name, _)| name.as_str())
    }

    /// Returns true if the stem is that of a verb of going, before what is gone for.
    pub(crate) fn goes(&self, stem: &str) -> bool {
        self.going.iter().any(|going| going == stem)
    }

    /// Returns true if the verb of an order may stand at its end.
    pub(crate) fn ends_in_verbs(&self) -> bool {
        self.facts.order.verb == VerbPlace::FirstOrLast
    }

    /// The unit that a word names.
    pub(crate) fn unit(&self, word: &str) -> Option<crate::numbers::Unit> {
        crate::numbers::unit(self.facts.counting.units.get(word).map_or(word, String::as_str))
    }

    /// A number of its own words at the beginning: "a couple of"; with the number of its words.
    pub(crate) fn part(&self, words: &[crate::sentence::Word]) -> Option<(f64, usize)> {
        longest(&self.facts.counting.parts, words)
    }

    /// A share of one at the beginning: "half", "three quarters"; with the number of its words.
    pub(crate) fn fraction(&self, words: &[crate::sentence::Word]) -> Option<(f64, usize)> {
        longest(&self.facts.counting.fractions, words)
    }

    /// What is added to a number after it: "and a half"; with the number of its words.
    pub(crate) fn fraction_more(&self, words: &[crate::sentence::Word]) -> (f64, usize) {
        longest(&self.facts.counting.fractions_more, words).unwrap_or_default()
    }

    /// Returns true if the word is a noun of the language.
    pub(crate) fn is_noun(&self, word: &str) -> bool {
        let stem = self.stem(word);
        self.nouns.get(stem.as_str()).is_some_and(|entries| entries.iter().any(|(stems, _)| stems.len() == 1))
    }

    /// Returns true if the word belongs to the language, as far as the data knows.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.knows(word)
            || (self.facts.wordnet && crate::wordnet::is_word(word))
            || crate::compounds::parts(word, self).is_some()
    }

    /// The word without its endings. Only good for comparing words with each other.
    pub(crate) fn stem(&self, word: &str) -> String {
        self.stemmer.stem(word)
    }

    /// Returns the long form of a short form.
    pub(crate) fn long_form(&self, word: &str) -> Option<&[String]> {
        self.short_forms.get(word).map(Vec::as_slice)
    }

    /// The number that a word says: `twelve`.
    pub(crate) fn number(&self, word: &str) -> Option<f64> {
        self.numbers.get(word).copied()
    }

    /// The number that a word says in a row: `third`, `3rd`.
    pub(crate) fn ordinal(&self, word: &str) -> Option<f64> {
        self.ordinals.get(word).copied().or_else(|| {
            if !word.starts_with(|first: char| first.is_ascii_digit()) {
                return None;
            }
            let digits = word.trim_end_matches(|next: char| next.is_alphabetic());
            let ending = word.get(digits.len()..)?;
            let is_one = self.facts.counting.ordinal_endings.0.iter().any(|it| it == ending);
            if is_one && !digits.is_empty() { digits.parse().ok() } else { None }
        })
    }

    /// Returns true if the word is none of the grammar's, so that only a verb, a noun or a value explains it.
    pub(crate) fn is_content(&self, word: &str) -> bool {
        word.chars().count() > 1
            && word.chars().all(char::is_alphabetic)
            && !self.function_words.contains(word)
            && !self.counts(word)
    }

    /// Returns true if the word may be a part of a number or of its unit, though it is no number itself.
    fn counts(&self, word: &str) -> bool {
        let counting = &self.facts.counting;
        let is_part = |phrase: &String| phrase.split(' ').any(|part| part == word);
        self.unit(word).is_some()
            || counting.scales.contains_key(word)
            || [&counting.minus, &counting.point, &counting.per].iter().any(|words| words.has(word))
            || counting.parts.keys().chain(counting.fractions.keys()).any(is_part)
    }

    /// Returns the number of words at the beginning that carry nothing.
    pub(crate) fn empty<W: AsRef<str>>(&self, words: &[W]) -> usize {
        self.words.empty.length(words)
    }

    /// The verb forms whose first word has this stem.
    pub(crate) fn verbs(&self, stem: &str) -> &[VerbForm] {
        self.verbs.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the verb means nothing alone.
    pub(crate) fn is_light(&self, stem: &str) -> bool {
        self.verbs(stem).iter().any(|form| {
            form.head.len() == 1 && form.tail.is_empty() && self.sense(form.sense).is_some_and(|sense| sense.light)
        })
    }

    pub(crate) fn sense(&self, index: usize) -> Option<&Sense> {
        self.of_tools().senses.get(index)
    }

    /// Every noun that begins with this stem: its stems, and what it stands for; the longest first.
    pub(crate) fn nouns(&self, stem: &str) -> &[Noun] {
        self.nouns.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Verbs that tools may have which are asked for by this sense: more general ones, and the two ways of a switch.
    pub(crate) fn related(&self, sense: &Sense) -> Vec<Key> {
        let sets = |other: &Sense| matches!(other.name.as_str(), "set" | "adjust" | "change");
        let is_related = |other: &Sense| {
            Self::is_case_of(sense, &other.name)
                || Self::is_case_of(other, &sense.name)
                || (sense.adjusts && sets(other))
        };
        let senses = self.of_tools().senses.iter().enumerate().filter(|(_, other)| is_related(other));
        senses.map(|(index, _)| Key::Sense(index)).collect()
    }

    /// Returns true if the sense is a case of the more general one of this name.
    pub(crate) fn is_case_of(sense: &Sense, general: &str) -> bool {
        sense.bases.iter().any(|base| base == general)
    }

    /// Returns the meaning of the longest noun at the beginning of these stems, and the number of its words.
    pub(crate) fn noun<W: AsRef<str>>(&self, stems: &[W]) -> Option<(&str, usize)> {
        let entries = self.nouns.get(stems.first()?.as_ref())?;
        let begins = |(noun, _): &&Noun| noun.begins(stems.iter().map(AsRef::as_ref));
        entries.iter().find(begins).map(|(noun, name)| (*name, noun.len()))
    }

    /// The words that forbid a guess, the gravest first.
    pub(crate) fn guards(&self) -> [(Guard, &PhraseSet); 4] {
        let words = &self.words;
        [
            (Guard::Negation, &words.negations),
            (Guard::Condition, &words.conditions),
            (Guard::Timing, &words.timings),
            (Guard::Choice, &words.choices),
        ]
    }

    /// Returns true if the word only marks a noun.
    pub(crate) fn is_article(&self, word: &str) -> bool {
        self.words.articles.has(word)
    }

    /// Returns true if a word says too little to name a thing by itself: of a place that it is a place.
    pub(crate) fn is_weak(&self, concept: &str) -> bool {
        self.words.weak.has(concept)
            || self.words.empty.has(concept)
            || self.roles.contains_key(concept)
            || self.words.joints.has(concept)
    }

    /// Returns true if the word marks a place or a value and says nothing else: "to", but not "from" or "off".
    pub(crate) fn is_plain_role(&self, word: &str) -> bool {
        self.roles.contains_key(word) && !self.words.weighty.has(word)
    }

    /// Returns true if the word of a tool's name says nothing: `send`, `request`, `get`.
    pub(crate) fn is_unspoken(&self, word: &str) -> bool {
        let light = self.verbs(&self.stem(word)).iter().any(|form| {
            form.head.len() == 1 && form.tail.is_empty() && self.sense(form.sense).is_some_and(|sense| sense.light)
        });
        light || self.words.unspoken.has(word) || self.roles.contains_key(word)
    }

    /// Returns true if the word of a name only says that something is told: `get`, `is`.
    pub(crate) fn gets(&self, word: &str) -> bool {
        self.words.getters.has(word)
    }

    /// Returns true if a sense looks at anything at all.
    pub(crate) fn looks_in_general(&self, sense: &Sense) -> bool {
        sense.looks && self.of_tools().words.generic_looks.0.contains(&sense.name)
    }

    /// The state that the words ask for: `on`, `closed`, and how many they are.
    pub(crate) fn state<W: AsRef<str>>(&self, words: &[W]) -> Option<(&str, usize)> {
        self.states.find(words)
    }

    /// Every state that words at the beginning ask for, and how many they are.
    pub(crate) fn states<W: AsRef<str>>(&self, words: &[W]) -> impl Iterator<Item = (&str, usize)> {
        self.states.every(words)
    }

    /// The state that is the other one of two.
    pub(crate) fn opposite(&self, state: &str) -> Option<&str> {
        self.opposites.get(state).map(String::as_str)
    }

    /// How far something is to go, where no number says it: "all the way up".
    pub(crate) fn extreme<W: AsRef<str>>(&self, words: &[W]) -> Option<(Extreme, usize)> {
        let said = &self.words;
        let lists =
            [(Extreme::Lowest, &said.lowest), (Extreme::Highest, &said.highest), (Extreme::Farthest, &said.farthest)];
        lists
            .into_iter()
            .map(|(extreme, phrases)| (extreme, phrases.length(words)))
            .filter(|(_, length)| *length > 0)
            .max_by_key(|(_, length)| *length)
    }

    /// Returns true if the word is the name of a direction or of another state that has an opposite.
    pub(crate) fn is_direction(&self, word: &str) -> bool {
        self.opposites.contains_key(word)
    }

    /// Returns true if a state is a yes or a no.
    pub(crate) fn truth(&self, state: &str) -> Option<bool> {
        self.truths.get(state).copied()
    }

    /// Returns the measure of a quality: the weight for "heavy".
    pub(crate) fn quality(&self, word: &str) -> Option<&str> {
        self.qualities.get(word).map(String::as_str)
    }

    /// The meanings of the words by which a tool tells of a topic of questions.
    pub(crate) fn told_by(&self, topic: &str) -> &[String] {
        self.of_tools().told_by.get(topic).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the word must not be passed over.
    pub(crate) fn weighty(&self, word: &str) -> bool {
        self.words.weighty.has(word)
    }

    /// Returns true if the word says how something is to be done: "slowly", but not "jelly".
    pub(crate) fn is_manner(&self, word: &str) -> bool {
        self.manners.iter().any(|ending| word.len() > ending.len() + 2 && word.ends_with(ending.as_str()))
            && (!self.facts.wordnet || crate::wordnet::domain(word).is_none())
    }

    /// Returns true if the word at this place is what a question asks for: the "do" of "what does it do", but not that of
    /// "how many jobs are there to do".
    pub(crate) fn asks_for_deed(&self, words: &[crate::sentence::Word], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        at + 1 == words.len()
            && words.get(at).is_some_and(|word| self.words.deeds.has(&word.text))
            && before.is_some_and(|before| !self.roles.contains_key(&before.text))
    }

    /// The statement that the form of a verb makes.
    pub(crate) fn form(&self, word: &str) -> Form {
        let ends = |endings: &[String]| {
            endings.iter().any(|ending| word.ends_with(ending.as_str()))
                && word.chars().count() > 4
                && self.stem(word) != *word
        };
        if ends(&self.gerunds) {
            Form::Gerund
        } else if self.past_forms.has(word) || ends(&self.pasts) {
            Form::Past
        } else {
            Form::Plain
        }
    }

    /// Returns true if the language has the word, in any of its forms.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.spellings.binary_search(&word).is_ok()
            || self.stems.binary_search(&self.stem(word).as_str()).is_ok()
            || self.short_forms.contains_key(word)
            || self.tells(word)
    }
}

impl Language {
    /// Returns true if the word is a verb that tells of somebody else: "er schaltet".
    fn tells(&self, word: &str) -> bool {
        let begins = self.facts.order.tells.0.iter().filter_map(|ending| word.strip_suffix(ending.as_str()));
        begins.into_iter().any(|begin| self.verbs.contains_key(begin))
    }
}

/// What the longest phrase of a table at the beginning says, and the number of its words.
fn longest(table: &BTreeMap<String, f64>, words: &[crate::sentence::Word]) -> Option<(f64, usize)> {
    let said = |phrase: &str| {
        let mut length = 0;
        let fits = phrase.split(' ').zip(words).all(|(one, other)| {
            length += 1;
            other.is(one)
        });
        (fits && length == phrase.split(' ').count()).then_some(length)
    };
    table.iter().filter_map(|(phrase, value)| Some((*value, said(phrase)?))).max_by_key(|(_, length)| *length)
}
