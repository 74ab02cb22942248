//! Languages as data: one file each, and one with what counts in all of them.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use super::pattern::{Lists, Pattern, table};
use super::phrases::Phrases;
use super::text::{Tokenizer, lower, without_quotations};
use super::vocabulary::Vocabulary;
use crate::data_error::DataError;
use crate::kept::in_order;

/// What counts in every language: greetings that travel, and how far an order goes.
const COMMON: &str = include_str!("../../data/classes/any.toml");
/// The languages. A new language is a new file and a line here.
const FILES: &[&str] = &[
    include_str!("../../data/classes/en.toml"),
    include_str!("../../data/classes/de.toml"),
    include_str!("../../data/classes/fr.toml"),
    include_str!("../../data/classes/es.toml"),
    include_str!("../../data/classes/it.toml"),
    include_str!("../../data/classes/pt.toml"),
    include_str!("../../data/classes/nl.toml"),
    include_str!("../../data/classes/pl.toml"),
    include_str!("../../data/classes/ja.toml"),
    include_str!("../../data/classes/zh.toml"),
    include_str!("../../data/classes/ko.toml"),
    include_str!("../../data/classes/ru.toml"),
    include_str!("../../data/classes/tr.toml"),
    include_str!("../../data/classes/sv.toml"),
    include_str!("../../data/classes/ar.toml"),
    include_str!("../../data/classes/el.toml"),
    include_str!("../../data/classes/fi.toml"),
    include_str!("../../data/classes/he.toml"),
    include_str!("../../data/classes/hi.toml"),
    include_str!("../../data/classes/cs.toml"),
    include_str!("../../data/classes/id.toml"),
    include_str!("../../data/classes/uk.toml"),
    include_str!("../../data/classes/th.toml"),
    include_str!("../../data/classes/vi.toml"),
];

/// What a character that only some languages write is worth beside a word.
const OF_A_LETTER: u32 = 60;
/// What a word is worth that only one language has; of two languages, each gets half.
const OF_A_WORD: u32 = 120;

/// A file of a language, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    code: String,
    /// Whether it is written without spaces between words, so that its units are characters.
    unspaced: bool,
    /// Characters by which it is told from others; `a-z` is a range.
    letters: String,
    /// Characters of which a text in it has at least one.
    requires: String,
    /// Words by which it is told from others, beside those of its patterns.
    common: String,
    elided: String,
    /// Whether people without its letters write "ue" for "ü".
    writes_umlauts_out: bool,
    owners: String,
    contractions: BTreeMap<String, String>,
    lists: Lists,
    phrases: BTreeMap<String, String>,
    patterns: BTreeMap<String, String>,
}

macro_rules! language {
    ($($(#[$note:meta])* $phrases:ident)*; $($(#[$of:meta])* $patterns:ident)*) => {
        /// A language: its phrases, which stand where they are looked for, and its patterns.
        #[derive(Debug, Default)]
        pub(super) struct Language {
            pub(super) code: String,
            pub(super) tokenizer: Tokenizer,
            /// Words of small talk, for clauses that are made of nothing else.
            pub(super) small_talk: Vocabulary,
            /// The same for questions, which speak of the robot.
            pub(super) small_talk_asked: Vocabulary,
            $($(#[$note])* pub(super) $phrases: Phrases,)*
            $($(#[$of])* pub(super) $patterns: Vec<Pattern>,)*
        }

        impl Language {
            fn of(file: &File, common: &File) -> Result<Self, DataError> {
                let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                let tokenizer = Tokenizer {
                    by_character: file.unspaced,
                    elided: split(&file.elided),
                    contractions: file.contractions.clone(),
                    owners: split(&file.owners),
                    writes_umlauts_out: file.writes_umlauts_out,
                };
                let is_table = |name: &str| [$(stringify!($phrases)),*].contains(&name);
                let is_pattern = |name: &str| [$(stringify!($patterns)),*].contains(&name);
                let strange = file.phrases.keys().find(|name| !is_table(name));
                let strange = strange.or_else(|| file.patterns.keys().find(|name| !is_pattern(name)));
                if let Some(name) = strange {
                    return Err(DataError::UnknownTable { table: name.clone() }.within(&file.code));
                }
                let phrases = |name: &str| {
                    let written = [file, common].into_iter().filter_map(|of| of.phrases.get(name));
                    Phrases::read(written.map(String::as_str), &tokenizer)
                };
                let lists = lists_of(file);
                let patterns = |name: &str| {
                    let written = file.patterns.get(name).map(String::as_str).unwrap_or_default();
                    table(written, &lists, &tokenizer).map_err(|why| why.within(format!("{}, {name}", file.code)))
                };
                let words = |telling: &str| {
                    Vocabulary::read(telling, &lists, &tokenizer).map_err(|why| why.within(&file.code))
                };
                Ok(Self {
                    small_talk: words("chat")?,
                    small_talk_asked: words("chat_of_you")?,
                    code: file.code.clone(),
                    $($phrases: phrases(stringify!($phrases)),)*
                    $($patterns: patterns(stringify!($patterns))?,)*
                    tokenizer: tokenizer.clone(),
                })
            }

            /// Every word that its patterns and its words of small talk name.
            fn literals(&self) -> impl Iterator<Item = &str> {
                let of_patterns = [$(&self.$patterns),*].into_iter().flatten().flat_map(Pattern::literals);
                of_patterns.chain(self.small_talk.literals())
            }
        }
    };
}

language! {
    /// Words that join clauses, one of which may only go on with what the other says.
    joints
    /// Words that ask for two things, which a joint does not part: "the difference between a crow and a raven".
    between
    /// Words after which something new is asked for.
    successions
    /// What a sentence may begin with and mean nothing by it.
    courtesies
    /// What a sentence may end with and mean nothing by it.
    trails
    greetings
    /// Whom a greeting may be addressed to, and how much it is meant.
    addresses
    /// Talk that needs no research: whole sentences.
    smalltalk
    /// After these an order follows, in the form of a question or a wish.
    wishes
    prohibitions
    /// Deeds that are omissions: not to do them is to do something.
    omissions
    /// What is spoken follows, in the person's own words.
    speech
    /// Verbs of what a robot does, where a clause begins with them.
    deeds
    /// Deeds that are done at several places by their meaning.
    rounds
    /// Verbs of looking for something: an order, of which a look is the deed.
    searches
    /// Verbs of looking somewhere: in several places they are a tour.
    looks
    /// Verbs of telling, reading and looking, that ask for words.
    inquiries
    /// Verbs before the name of a reading.
    fetched
    /// To whom something is told or shown: a deed.
    for_others
    /// Small words after an inquiry of one word, with which something else is meant.
    particles
    /// Verbs of perception: what is asked for is outside of the robot.
    perceives
    /// Parts of a robot.
    body
    /// What can be read of the robot, where nothing else is named.
    readings
    /// Words that carry nothing in the name of a thing.
    articles
    /// Words with which the name of a place or of a thing begins, beside articles.
    places
    several_places
    /// What is wanted to be told comes later.
    notices
    /// These ask for a time.
    how_long
    until
    /// "until" that is also said of places, unless one of `until_where` follows.
    until_or_to
    until_where
    until_told
    without_end;
    /// What looks like a request and is none: "can you see". It is taken out before requests are looked for.
    asides
    /// Orders that could be small talk by their words: "slower, please", "say good night to granny from me".
    commands
    /// What asks for a deed, wherever it stands.
    requests
    /// What a sentence begins with that asks, with or without a question mark.
    questions
    /// The same, where a question mark says so.
    asked
    /// What is said with wonder, where an exclamation mark says so: "what a sunset!"
    exclamations
    /// What asks for nothing but words, in the form of an order or a request: "could you tell me a joke".
    entertainments
    /// Talk: thanks, compliments, jokes.
    talk
    /// Statements that ask for nothing.
    statements
    /// A thing or a place that is named before something is asked of it.
    topics
    /// Of questions: they ask for what the tools name, which whoever answers is told anyway.
    abilities
    /// Of questions: they speak of the robot.
    itself
    /// Of questions: they speak of what is around it.
    around
    /// Of questions: what is known everywhere answers them.
    knowledge
}

/// By what a language is told from others. Its data is read when a task may be written in it: all languages together take
/// 28 MB, and what tells them apart a tenth of it.
struct Signs {
    file: &'static str,
    letters: Vec<(char, char)>,
    requires: Vec<(char, char)>,
    /// Its words, in order.
    known: Box<[&'static str]>,
    tokenizer: Tokenizer,
    language: OnceLock<Language>,
}

/// All languages; none where a file is damaged, so that every task is an order. A test reads them.
static LANGUAGES: LazyLock<Vec<Signs>> = LazyLock::new(|| {
    let signs = |file: &&'static str| Signs::read(file).ok();
    let all: Option<Vec<Signs>> = FILES.iter().map(signs).collect();
    all.unwrap_or_default()
});

/// How many languages have each word.
static SHARED: LazyLock<BTreeMap<&'static str, u32>> = LazyLock::new(|| {
    let mut times: BTreeMap<&'static str, u32> = BTreeMap::new();
    for word in LANGUAGES.iter().flat_map(|signs| &signs.known) {
        *times.entry(word).or_default() += 1;
    }
    times.retain(|_, times| *times > 1);
    times
});

/// Reads the data of all languages.
pub(super) fn read_all() -> Result<Vec<Language>, DataError> {
    FILES.iter().map(|text| read(text).map(|(_, language)| language)).collect()
}

fn read(text: &str) -> Result<(File, Language), DataError> {
    let file = toml::from_str(text)?;
    let language = Language::of(&file, &toml::from_str(COMMON)?)?;
    Ok((file, language))
}

/// The named lists of a file; its phrases are lists, too.
fn lists_of(file: &File) -> Lists {
    let as_list = |written: &String| {
        let phrases = written.split([',', '\n']).map(str::trim).filter(|phrase| !phrase.is_empty());
        phrases.map(|phrase| phrase.replace(' ', "_")).collect::<Vec<_>>().join("/")
    };
    let of_phrases = file.phrases.iter().map(|(name, written)| (name.clone(), as_list(written)));
    of_phrases.chain(file.lists.clone()).collect()
}

/// Characters and ranges of them: `äö` or `а-я`.
fn ranges(written: &str) -> Vec<(char, char)> {
    let letters: Vec<char> = written.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = letters.as_slice();
    loop {
        rest = match rest {
            [from, '-', to, rest @ ..] => {
                ranges.push((*from, *to));
                rest
            }
            [letter, rest @ ..] => {
                ranges.push((*letter, *letter));
                rest
            }
            [] => return ranges,
        };
    }
}

impl Signs {
    fn read(text: &'static str) -> Result<Self, DataError> {
        let (file, language) = read(text)?;
        let common = lower(&file.common);
        let of_phrases = file.phrases.values().flat_map(|written| language.tokenizer.units(written));
        let known = common.split_whitespace().chain(language.literals()).map(str::to_owned);
        let known = in_order(known.chain(of_phrases));
        let (letters, requires) = (ranges(&file.letters), ranges(&file.requires));
        Ok(Self { file: text, letters, requires, known, tokenizer: language.tokenizer, language: OnceLock::new() })
    }

    /// The language itself, read the first time that it is asked for.
    fn language(&'static self) -> &'static Language {
        self.language.get_or_init(|| read(self.file).map(|(_, language)| language).unwrap_or_default())
    }

    /// How much the words of a task look like this language.
    fn score(&self, text: &str) -> u32 {
        let is_of =
            |ranges: &[(char, char)], letter: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
        if !self.requires.is_empty() && !text.chars().any(|letter| is_of(&self.requires, letter)) {
            return 0;
        }
        let letters = text.chars().filter(|letter| is_of(&self.letters, *letter));
        let of_letters = u32::try_from(letters.take(1_000).count()).unwrap_or_default() * OF_A_LETTER;
        if self.tokenizer.by_character {
            return of_letters;
        }
        let units = self.tokenizer.units(text);
        let known = units.iter().filter(|unit| self.known.binary_search(&unit.as_str()).is_ok());
        of_letters + known.map(|unit| OF_A_WORD / SHARED.get(unit.as_str()).copied().unwrap_or(1).max(1)).sum::<u32>()
    }
}

/// The languages that the task may be written in: the one that its words look most like, or several that they look like
/// equally. Never empty, unless there are no languages.
pub(super) fn languages_of(task: &str) -> Vec<&'static Language> {
    let text = lower(&without_quotations(task));
    let scored: Vec<(u32, &Signs)> = LANGUAGES.iter().map(|signs| (signs.score(&text), signs)).collect();
    let best = scored.iter().map(|(score, _)| *score).max().unwrap_or_default();
    // Nothing tells the language of "42", and no file is worth reading for it but the first.
    let scored = if best == 0 { scored.into_iter().take(1).collect() } else { scored };
    scored.into_iter().filter(|(score, _)| *score == best).map(|(_, signs)| signs.language()).collect()
}
