//! Things in words: `a sleeping cat` is one cat that is sleeping.

use std::collections::BTreeSet;

const ARTICLES: [&str; 8] = ["a", "an", "the", "any", "some", "my", "your", "this"];
const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
pub(super) const COLOURS: [&str; 12] =
    ["black", "blue", "brown", "gold", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow"];

/// A thing in words: `a sleeping cat` is one cat that is sleeping.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Thing {
    pub(super) count: usize,
    pub(super) qualities: Vec<String>,
    pub(super) noun: String,
}

impl Thing {
    pub(super) fn read(words: &[&str]) -> Option<Self> {
        let mut words = words;
        let mut count = 1;
        while let Some((first, rest)) = words.split_first().filter(|(_, rest)| !rest.is_empty()) {
            if let Some(number) = NUMBERS.iter().position(|number| number == first) {
                count = number + 1;
            } else if matches!(rest, ["of", ..]) && *first == "pair" {
                count = 2;
            } else if !(ARTICLES.contains(first) || *first == "of") {
                break;
            }
            words = rest;
        }
        let (noun, qualities) = words.split_last()?;
        Some(Self { count, qualities: qualities.iter().map(|word| (*word).to_owned()).collect(), noun: singular(noun) })
    }

    /// Whether this, which is seen, is what is asked for.
    pub(super) fn is(&self, asked: &Self) -> bool {
        self.noun == asked.noun && asked.qualities.iter().all(|quality| self.qualities.contains(quality))
    }

    pub(super) fn colour(&self) -> Option<&str> {
        self.qualities.iter().map(String::as_str).find(|quality| COLOURS.contains(quality))
    }
}

/// What it has learnt to see.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary(BTreeSet<String>);

impl Vocabulary {
    /// Whether it has learnt to see things of that name.
    pub(super) fn holds(&self, noun: &str) -> bool {
        self.0.contains(noun)
    }

    /// Things like these.
    pub fn of<'a>(things: impl IntoIterator<Item = &'a str>) -> Self {
        Self(things.into_iter().filter_map(|thing| Some(Thing::read(&words(thing)?)?.noun)).collect())
    }
}

/// As people speak: `a kettle, a table and a red cup`.
pub(super) fn listed<T: AsRef<str>>(things: &[T]) -> String {
    match things.split_last() {
        None => String::new(),
        Some((only, [])) => only.as_ref().to_owned(),
        Some((last, others)) => {
            let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", others.join(", "), last.as_ref())
        }
    }
}

/// The words of a thing; none if there are none.
pub(super) fn words(thing: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = thing.split_whitespace().collect();
    (!words.is_empty()).then_some(words)
}

pub(super) fn words_of(thing: &str) -> Option<Thing> {
    Thing::read(&words(thing)?)
}

/// `shelf` for `shelves`.
pub(super) fn singular(word: &str) -> String {
    let replaced = |ending: &str, by: &str| word.strip_suffix(ending).map(|begin| format!("{begin}{by}"));
    let short = || word.len() <= 3 || word.ends_with("ss");
    match word {
        "people" | "persons" => "person".to_owned(),
        "children" => "child".to_owned(),
        "mice" => "mouse".to_owned(),
        _ if short() => word.to_owned(),
        _ => replaced("elves", "elf")
            .or_else(|| replaced("ies", "y"))
            .or_else(|| {
                ["sses", "shes", "ches", "xes"].iter().find_map(|ending| replaced(ending, &ending[..ending.len() - 2]))
            })
            .or_else(|| replaced("s", ""))
            .unwrap_or_else(|| word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_read_from_its_words() {
        let thing = |count, qualities: &[&str], noun: &str| {
            let qualities = qualities.iter().map(|word| (*word).to_owned()).collect();
            Some(Thing { count, qualities, noun: noun.to_owned() })
        };
        for (words, expected) in [
            ("a sleeping cat", thing(1, &["sleeping"], "cat")),
            ("two red cups", thing(2, &["red"], "cup")),
            ("a pair of shoes", thing(2, &[], "shoe")),
            ("any glasses", thing(1, &[], "glass")),
            ("the shelves", thing(1, &[], "shelf")),
            ("berries", thing(1, &[], "berry")),
            ("the", thing(1, &[], "the")),
            ("", None),
        ] {
            assert_eq!(words_of(words), expected, "{words}");
        }
    }
}
