//! One language, read from data: its function words, the frames in which people put an order, its verbs and its nouns.
//!
//! Verbs and nouns lead to the same senses in every language, so that a sentence in any of them is held against the
//! words of the tools, which are English.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::filter::{WordMap, WordSet};
use crate::grammar::{Frames, Grammar, SenseEntry, Truths, Words};
use crate::pattern::Pattern;
use crate::phrases::{PhraseSet, PhraseTable, list};
use crate::robot::Key;
use crate::stem::Stemmer;

/// One sense of verbs: what verbs of any language stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sense {
    /// Its name, an English word.
    pub(crate) name: String,
    /// The more general sense of which it is a case.
    pub(crate) base: Option<String>,
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
    /// The value that it says by itself: to turn around is to turn by 180 degrees.
    pub(crate) says: Option<String>,
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
    pub(crate) head: Vec<String>,
    /// Stems after it.
    pub(crate) tail: Vec<String>,
    /// Index into [`Language::senses`].
    pub(crate) sense: usize,
    /// True if the word is the name of another sense, which it means first.
    pub(crate) lent: bool,
}

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
    /// Its function words.
    pub(crate) words: Words,
    /// Its frames around an order.
    pub(crate) frames: Frames,
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
    gerunds: Vec<String>,
    manners: Vec<String>,
    pasts: Vec<String>,
    past_forms: PhraseSet,
    pub(crate) senses: Vec<Sense>,
    /// Verb forms by the stem of their first word.
    verbs: WordMap<Vec<VerbForm>>,
    /// Nouns of one or more words, by the stem of the first: the stems, and what they stand for.
    nouns: WordMap<Vec<(Vec<String>, String)>>,
    /// Every word of the data, as it is spelt.
    pub(crate) spellings: BTreeSet<String>,
    /// The same without endings.
    stems: BTreeSet<String>,
    /// The words of the grammar, which may stand for something whatever the tools are.
    function_words: WordSet,
    pub(crate) talk: Vec<(String, Vec<Pattern>)>,
    pub(crate) texts: Vec<TextFrame>,
}

/// Why a word forbids a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// Something is not to be done.
    Negation,
    /// It depends on something.
    Condition,
    /// At another time, or without end.
    Timing,
    /// One of several.
    Choice,
    /// It stands for something said elsewhere.
    Reference,
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

/// The languages that the reader knows, English first: the words of the tools are English.
pub(crate) static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    [(
        include_str!("../data/en/grammar.toml"),
        include_str!("../data/en/senses.toml"),
        include_str!("../data/en/nouns.toml"),
    )]
    .iter()
    .filter_map(|(grammar, senses, nouns)| Language::read(grammar, senses, nouns).ok())
    .collect()
});

impl Language {
    /// English.
    pub(crate) fn english() -> Option<&'static Self> {
        LANGUAGES.first()
    }

    fn read(grammar: &str, senses: &str, nouns: &str) -> Result<Self, toml::de::Error> {
        let written = [grammar, senses, nouns];
        let function_words = spellings(grammar).into_iter().collect();
        let grammar: Grammar = toml::from_str(grammar)?;
        let senses: BTreeMap<String, SenseEntry> = toml::from_str(senses)?;
        let nouns: BTreeMap<String, String> = toml::from_str(nouns)?;
        let stemmer = Stemmer::new(grammar.endings, grammar.irregular);
        let lead = |pattern: &str, place: bool| {
            let trimmed = pattern.trim();
            let kind = if place {
                Lead::Place
            } else if trimmed.ends_with('~') {
                Lead::Gerund
            } else {
                Lead::Verb
            };
            (kind, Pattern::read(trimmed.trim_end_matches(['~', '+', ' '])))
        };
        let mut leads: Vec<(Lead, Pattern)> = grammar.frames.leads.split(',').map(|it| lead(it, false)).collect();
        leads.extend(grammar.frames.stations.split(',').map(|it| lead(it, true)));
        let texts = text_frames(Frame::Say, &grammar.frames.say)
            .chain(text_frames(Frame::Write, &grammar.frames.write))
            .collect();
        let mut language = Self {
            words: grammar.words,
            frames: grammar.frames,
            short_forms: grammar.short_forms.iter().map(|(short, long)| (short.clone(), split(long))).collect(),
            states: PhraseTable::read(&grammar.states),
            opposites: opposites(&grammar.opposites),
            truths: truths(&grammar.truths),
            qualities: grammar
                .qualities
                .iter()
                .flat_map(|(of, words)| list(words).into_iter().map(move |word| (word, of.clone())))
                .collect(),
            gerunds: list(&grammar.forms.gerund),
            manners: list(&grammar.forms.manner),
            pasts: list(&grammar.forms.past),
            past_forms: PhraseSet::read(&grammar.forms.pasts),
            roles: grammar.roles.iter().map(|(word, hints)| (word.clone(), list(hints))).collect(),
            leads,
            numbers: grammar.numbers.into_iter().collect(),
            ordinals: grammar.ordinals.into_iter().collect(),
            spellings: written.iter().flat_map(|text| spellings(text)).collect(),
            function_words,
            stems: BTreeSet::new(),
            senses: Vec::new(),
            verbs: WordMap::default(),
            nouns: WordMap::default(),
            talk: grammar.talk.iter().map(|(about, list)| (about.clone(), patterns(list))).collect(),
            texts,
            stemmer,
        };
        language.stems = language.spellings.iter().map(|word| language.stem(word)).collect();
        // A word that names a sense stands for no other.
        let names: BTreeSet<String> = senses.keys().cloned().collect();
        for (name, entry) in senses {
            language.add_sense(name, entry, &names);
        }
        for (name, words) in nouns {
            language.add_noun(&name, &words);
        }
        Ok(language)
    }

    fn add_sense(&mut self, name: String, entry: SenseEntry, names: &BTreeSet<String>) {
        let sense = self.senses.len();
        for phrase in list(&entry.words) {
            let lent = phrase != name && names.contains(&phrase) && !entry.light;
            let mut parts = phrase.split('*');
            let stems = |part: Option<&str>| -> Vec<String> {
                part.unwrap_or_default().split_whitespace().map(|word| self.stem(word)).collect()
            };
            let (head, tail) = (stems(parts.next()), stems(parts.next()));
            if let Some(first) = head.first() {
                self.verbs.entry(first.clone()).or_default().push(VerbForm { head, tail, sense, lent });
            }
        }
        self.senses.push(Sense {
            name,
            base: entry.base,
            state: entry.state,
            light: entry.light,
            adjusts: entry.adjusts,
            looks: entry.looks,
            frame: entry.frame,
            says: entry.says,
        });
    }

    fn add_noun(&mut self, name: &str, words: &str) {
        for phrase in list(words) {
            let stems: Vec<String> = phrase.split_whitespace().map(|word| self.stem(word)).collect();
            if let Some(first) = stems.first() {
                let entries = self.nouns.entry(first.clone()).or_default();
                entries.push((stems, name.to_owned()));
                entries.sort_by_key(|(stems, _)| std::cmp::Reverse(stems.len()));
            }
        }
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
            if ["st", "nd", "rd", "th"].contains(&ending) { digits.parse().ok() } else { None }
        })
    }

    /// Returns true if the word is none of the grammar's, so that only a verb, a noun or a value explains it.
    pub(crate) fn is_content(&self, word: &str) -> bool {
        word.chars().count() > 1
            && word.chars().all(char::is_alphabetic)
            && !self.function_words.contains(word)
            && !crate::numbers::may_say(word)
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
        self.senses.get(index)
    }

    /// Every noun that begins with this stem: its stems, and what it stands for; the longest first.
    pub(crate) fn nouns(&self, stem: &str) -> &[(Vec<String>, String)] {
        self.nouns.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Verbs that tools may have which are asked for by this sense: more general ones, and the two ways of a switch.
    pub(crate) fn related(&self, sense: &Sense) -> Vec<Key> {
        let sets = |other: &Sense| matches!(other.name.as_str(), "set" | "adjust" | "change");
        let is_related = |other: &Sense| {
            sense.base.as_ref() == Some(&other.name)
                || other.base.as_ref() == Some(&sense.name)
                || (sense.adjusts && sets(other))
        };
        let senses = self.senses.iter().enumerate().filter(|(_, other)| is_related(other));
        senses.map(|(index, _)| Key::Sense(index)).collect()
    }

    /// Returns the meaning of the longest noun at the beginning of these stems, and the number of its words.
    pub(crate) fn noun<W: AsRef<str>>(&self, stems: &[W]) -> Option<(&str, usize)> {
        let entries = self.nouns.get(stems.first()?.as_ref())?;
        let begins = |(noun, _): &&(Vec<String>, String)| {
            noun.len() <= stems.len() && noun.iter().zip(stems).all(|(one, other)| one == other.as_ref())
        };
        entries.iter().find(begins).map(|(noun, name)| (name.as_str(), noun.len()))
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
        sense.looks && self.words.generic_looks.0.contains(&sense.name)
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

    /// Returns true if a state is a yes or a no.
    pub(crate) fn truth(&self, state: &str) -> Option<bool> {
        self.truths.get(state).copied()
    }

    /// Returns the measure of a quality: the weight for "heavy".
    pub(crate) fn quality(&self, word: &str) -> Option<&str> {
        self.qualities.get(word).map(String::as_str)
    }

    /// Returns true if the word must not be passed over.
    pub(crate) fn weighty(&self, word: &str) -> bool {
        self.words.weighty.has(word)
    }

    /// Returns true if the word says how something is to be done: "slowly", but not "jelly".
    pub(crate) fn is_manner(&self, word: &str) -> bool {
        self.manners.iter().any(|ending| word.len() > ending.len() + 2 && word.ends_with(ending.as_str()))
            && crate::wordnet::domain(word).is_none()
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
        self.spellings.contains(word) || self.stems.contains(&self.stem(word)) || self.short_forms.contains_key(word)
    }
}

fn opposites(table: &BTreeMap<String, String>) -> WordMap<String> {
    table.iter().flat_map(|(one, other)| [(one.clone(), other.clone()), (other.clone(), one.clone())]).collect()
}

fn truths(table: &Truths) -> WordMap<bool> {
    let words = |text: &str, truth: bool| list(text).into_iter().map(move |word| (word, truth));
    words(&table.yes, true).chain(words(&table.no, false)).collect()
}

/// The words of some data, without its comments.
fn spellings(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let is_word = |word: &&str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
    lines
        .flat_map(|line| {
            line.split(|next: char| !next.is_alphabetic()).filter(is_word).map(str::to_lowercase).collect::<Vec<_>>()
        })
        .collect()
}

fn split(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Reads frames of texts: `tell {people} {text}`, `thank {people} for {text} = thank you for`.
fn text_frames(frame: Frame, list: &str) -> impl Iterator<Item = TextFrame> + '_ {
    list.split(',').filter(|it| !it.trim().is_empty()).map(move |it| {
        let (pattern, prefix) = it.split_once('=').map_or((it, None), |(pattern, prefix)| (pattern, Some(prefix)));
        TextFrame { frame, pattern: Pattern::read(pattern), prefix: prefix.map(|prefix| prefix.trim().to_owned()) }
    })
}

fn patterns(text: &str) -> Vec<Pattern> {
    text.split(',').filter(|it| !it.trim().is_empty()).map(Pattern::read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The reader leaves out a language whose data it can't read, so that the others stay: this names the error.
    #[test]
    fn the_data_of_every_language_is_whole() {
        let (grammar, senses, nouns) = (
            include_str!("../data/en/grammar.toml"),
            include_str!("../data/en/senses.toml"),
            include_str!("../data/en/nouns.toml"),
        );
        assert_eq!(Language::read(grammar, senses, nouns).err(), None);
        assert_eq!(LANGUAGES.len(), 1);
    }
}
