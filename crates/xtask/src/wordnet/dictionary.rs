//! WordNet's dict files, read: `index.*` (lemmas and their senses), `cntlist.rev` (how often senses were met), `data.*`
//! (synsets) and `*.exc` (irregular forms).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// A part of speech, in the order in which the table numbers its synsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Noun,
    Verb,
    Adjective,
    Adverb,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Noun, Self::Verb, Self::Adjective, Self::Adverb];

    /// The part's bit in the table.
    pub(super) fn bit(self) -> u8 {
        match self {
            Self::Noun => 1,
            Self::Verb => 2,
            Self::Adjective => 4,
            Self::Adverb => 8,
        }
    }

    /// The end of the names of the part's files.
    fn extension(self) -> &'static str {
        match self {
            Self::Noun => "noun",
            Self::Verb => "verb",
            Self::Adjective => "adj",
            Self::Adverb => "adv",
        }
    }

    /// The part that a letter of a `data.*` file stands for: `s` is an adjective that is listed beside another one.
    fn of_letter(letter: &str) -> Option<Self> {
        match letter {
            "n" => Some(Self::Noun),
            "v" => Some(Self::Verb),
            "a" | "s" => Some(Self::Adjective),
            "r" => Some(Self::Adverb),
            _ => None,
        }
    }
}

/// A synset: its part and the number by which the dict files name it, its line's place in `data.*`.
pub(super) type SynsetKey = (Part, u32);

#[derive(Debug)]
pub(super) struct Lemma {
    /// The most frequent one first.
    pub(super) senses: Vec<u32>,
    /// The count of its senses, the first ones, that occur in the texts in which WordNet's authors counted senses.
    pub(super) counted: usize,
}

#[derive(Debug)]
pub(super) struct Synset {
    /// The number of the lexicographer file, which says the field of meaning.
    pub(super) file: u8,
    /// As they are written, with capitals.
    pub(super) words: Vec<String>,
    pub(super) hypernyms: Vec<u32>,
    /// True if it is one of a kind, such as a town or a person with a name.
    pub(super) is_instance: bool,
    /// Direct antonyms: place of the own word, the other synset, place of the word there. Places count from 0.
    pub(super) antonyms: Vec<(usize, SynsetKey, usize)>,
}

/// The contents of the dict files.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    /// By lower-case spelling, with spaces between words.
    pub(super) lemmas: BTreeMap<Part, BTreeMap<String, Lemma>>,
    pub(super) synsets: BTreeMap<SynsetKey, Synset>,
    /// The part, the irregular form and its bases.
    pub(super) irregular: Vec<(Part, String, Vec<String>)>,
}

impl Dictionary {
    /// Reads the dict files of a folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut dictionary = Self::default();
        let read = |start: &str, end: &str| {
            let path = folder.join(format!("{start}{end}"));
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            anyhow::Ok((path, text))
        };
        for part in Part::ALL {
            let (path, text) = read("index.", part.extension())?;
            dictionary.add_lemmas(part, &text).with_context(|| format!("{} is not readable", path.display()))?;
            let (path, text) = read("data.", part.extension())?;
            dictionary.add_synsets(part, &text).with_context(|| format!("{} is not readable", path.display()))?;
            let (_, text) = read(part.extension(), ".exc")?;
            dictionary.add_irregular(part, &text);
        }
        let (path, text) = read("cntlist", ".rev")?;
        dictionary.add_counts(&text).with_context(|| format!("{} is not readable", path.display()))?;
        Ok(dictionary)
    }

    /// Adds the lines of an `index.*` file:
    /// lemma, part, sense count, pointer count, pointer symbols, sense count, count of counted senses, synsets.
    pub(super) fn add_lemmas(&mut self, part: Part, text: &str) -> Result<()> {
        let lemmas = self.lemmas.entry(part).or_default();
        for line in entries(text) {
            let mut fields = Fields::new(line);
            let lemma = spelling(fields.next()?);
            fields.skip(2)?;
            let pointers = fields.number(10)?;
            fields.skip(pointers as usize + 1)?;
            let counted = fields.number(10)? as usize;
            let senses =
                fields.rest().map(|sense| sense.parse().context("a synset has no number")).collect::<Result<_>>()?;
            lemmas.insert(lemma, Lemma { senses, counted });
        }
        Ok(())
    }

    /// Adds the lines of a `data.*` file: synset, lexicographer file, part, word count (hexadecimal), words each with a
    /// number, pointer count, pointers each of symbol, synset, part, and words of both ends (hexadecimal, from 1).
    pub(super) fn add_synsets(&mut self, part: Part, text: &str) -> Result<()> {
        for line in entries(text) {
            let mut fields = Fields::new(line);
            let key = (part, fields.number(10)?);
            let file = u8::try_from(fields.number(10)?)?;
            fields.skip(1)?;
            let mut words = Vec::new();
            for _ in 0..fields.number(16)? {
                // The place in a sentence, as in `galore(ip)`, is not part of the word.
                let word = fields.next()?.split('(').next().unwrap_or_default();
                words.push(word.replace('_', " "));
                fields.skip(1)?;
            }
            let mut synset = Synset { file, words, hypernyms: Vec::new(), is_instance: false, antonyms: Vec::new() };
            for _ in 0..fields.number(10)? {
                let (symbol, target, letter) = (fields.next()?, fields.number(10)?, fields.next()?);
                let ends = fields.number(16)?;
                let other = Part::of_letter(letter).with_context(|| format!("{letter} is no part of speech"))?;
                match symbol {
                    "@" | "@i" => {
                        synset.hypernyms.push(target);
                        synset.is_instance |= symbol == "@i";
                    }
                    "!" if ends >> 8 > 0 && ends & 0xff > 0 => {
                        synset.antonyms.push(((ends >> 8) as usize - 1, (other, target), (ends & 0xff) as usize - 1));
                    }
                    _ => {}
                }
            }
            self.synsets.insert(key, synset);
        }
        Ok(())
    }

    /// Adds the lines of `cntlist.rev`: lemma and key of a sense (which starts with its part's number), number of the
    /// sense, count. The `index.*` files leave out some of these counts.
    pub(super) fn add_counts(&mut self, text: &str) -> Result<()> {
        let mut counted: BTreeMap<(Part, &str), usize> = BTreeMap::new();
        for line in entries(text) {
            let mut fields = Fields::new(line);
            let (lemma, key) =
                fields.next()?.rsplit_once('%').with_context(|| format!("no key in this line: {line}"))?;
            let part = match key.split(':').next() {
                Some("1") => Part::Noun,
                Some("2") => Part::Verb,
                Some("3" | "5") => Part::Adjective,
                Some("4") => Part::Adverb,
                _ => bail!("no part of speech in this line: {line}"),
            };
            fields.skip(1)?;
            if fields.number(10)? > 0 {
                *counted.entry((part, lemma)).or_default() += 1;
            }
        }
        for ((part, lemma), count) in counted {
            let lemma = self.lemmas.get_mut(&part).and_then(|lemmas| lemmas.get_mut(&spelling(lemma)));
            if let Some(lemma) = lemma {
                lemma.counted = lemma.counted.max(count);
            }
        }
        Ok(())
    }

    /// Adds the lines of an `*.exc` file: a form and its bases.
    pub(super) fn add_irregular(&mut self, part: Part, text: &str) {
        for line in text.lines() {
            let mut words = line.split_whitespace().map(spelling);
            if let Some(form) = words.next() {
                self.irregular.push((part, form, words.collect()));
            }
        }
    }

    /// The lemma of a part, if the dict files have it.
    pub(super) fn lemma(&self, part: Part, lemma: &str) -> Option<&Lemma> {
        self.lemmas.get(&part)?.get(lemma)
    }
}

/// The spelling of a word in the table: lower case, with spaces.
pub(super) fn spelling(word: &str) -> String {
    word.replace('_', " ").to_lowercase()
}

/// The lines without those of the licence, which start with a space.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with(' '))
}

/// The fields of a line.
struct Fields<'a> {
    line: &'a str,
    fields: std::str::SplitWhitespace<'a>,
}

impl<'a> Fields<'a> {
    fn new(line: &'a str) -> Self {
        Self { line, fields: line.split_whitespace() }
    }

    fn next(&mut self) -> Result<&'a str> {
        match self.fields.next() {
            Some(field) => Ok(field),
            None => bail!("this line ends too early: {}", self.line),
        }
    }

    fn skip(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.next().map(drop))
    }

    fn number(&mut self, radix: u32) -> Result<u32> {
        let field = self.next()?;
        u32::from_str_radix(field, radix).with_context(|| format!("{field} is no number in this line: {}", self.line))
    }

    fn rest(self) -> impl Iterator<Item = &'a str> {
        self.fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_dict_files_are_read() {
        let mut dictionary = Dictionary::default();
        dictionary
            .add_lemmas(Part::Verb, "  1 licence\nturn_off v 2 4 ! @ ~ + 2 1 00000010 00000020  \n")
            .expect("the line is whole");
        dictionary
            .add_synsets(
                Part::Verb,
                "00000010 35 v 02 turn_off 0 Kill(p) b 003 @ 00000020 v 0000 ! 00000030 v 0102 ~ 00000031 v 0000 | x\n",
            )
            .expect("the line is whole");
        dictionary.add_irregular(Part::Noun, "mice mouse\n\n");
        let counts = "turn_off%2:35:00:: 2 4\nturn_off%2:35:01:: 1 9\nturn_off%1:35:00:: 1 3\n";
        dictionary.add_counts(counts).expect("the lines are whole");
        let lemma = dictionary.lemma(Part::Verb, "turn off").expect("it was added");
        assert_eq!((lemma.senses.as_slice(), lemma.counted), ([10, 20].as_slice(), 2));
        let synset = &dictionary.synsets[&(Part::Verb, 10)];
        assert_eq!(synset.words, ["turn off", "Kill"]);
        assert_eq!((synset.file, synset.hypernyms.as_slice(), synset.is_instance), (35, [20].as_slice(), false));
        assert_eq!(synset.antonyms, [(0, (Part::Verb, 30), 1)]);
        assert_eq!(dictionary.irregular, [(Part::Noun, "mice".to_owned(), vec!["mouse".to_owned()])]);
    }

    #[test]
    fn a_line_that_ends_early_is_refused() {
        for line in ["open v 1", "open v 1 x", "open v 1 1 @ 1 1 here"] {
            assert!(Dictionary::default().add_lemmas(Part::Verb, line).is_err(), "{line}");
        }
        assert!(Dictionary::default().add_synsets(Part::Verb, "00000010 35 v 02 open 0").is_err());
        for line in ["open 1 3", "open%9:35:00:: 1 3", "open%2:35:00:: 1"] {
            assert!(Dictionary::default().add_counts(line).is_err(), "{line}");
        }
    }
}
