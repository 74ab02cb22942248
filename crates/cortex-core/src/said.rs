//! A sentence that was declared, said word for word: "what do you know about {text}". No language is known here: only the words
//! that join orders, put conditions or take something back, so that nothing of that kind hides in what is left open.

use std::collections::BTreeMap;

/// Most words for one open place.
const MOST_WORDS: usize = 12;
/// Words that join orders, put conditions, or take something back.
const JOINTS: [&str; 24] = [
    "if",
    "unless",
    "when",
    "while",
    "until",
    "till",
    "after",
    "before",
    "then",
    "and",
    "or",
    "but",
    "not",
    "never",
    "don't",
    "no",
    "without",
    "instead",
    "otherwise",
    "maybe",
    "once",
    "because",
    "so",
    "except",
];

/// A declared sentence: words, and names in braces for what is left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredSentence {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Word(String),
    Open(String),
}

impl DeclaredSentence {
    /// Reads a sentence.
    #[must_use]
    pub fn read(sentence: &str) -> Self {
        let piece = |piece: &str| match piece.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => Piece::Open(name.to_owned()),
            None => Piece::Word(piece.to_lowercase()),
        };
        Self { pieces: bare(sentence).split_whitespace().map(piece).collect() }
    }

    /// How many words it has of its own.
    #[must_use]
    pub fn words(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Word(_))).count()
    }

    /// The names of what it leaves open, in order.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Open(name) => Some(name.as_str()),
            Piece::Word(_) => None,
        })
    }

    /// What a text says for what is left open; none if the text is not this sentence, or can be cut in two ways.
    #[must_use]
    pub fn said(&self, text: &str) -> Option<BTreeMap<String, String>> {
        if text.contains(['"', '“', '”', ';', ':', '\n']) {
            return None;
        }
        let words: Vec<&str> = bare(text).split_whitespace().collect();
        let is_please = |word: Option<&&str>| word.is_some_and(|word| word.eq_ignore_ascii_case("please"));
        let words = if is_please(words.first()) { words.get(1..)? } else { &words };
        let words = if is_please(words.last()) { words.get(..words.len() - 1)? } else { words };
        let (mut said, mut at) = (BTreeMap::new(), 0);
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Word(word) => {
                    if words.get(at)?.to_lowercase() != *word {
                        return None;
                    }
                    at += 1;
                }
                Piece::Open(name) => {
                    let after: Vec<&str> = self.pieces.get(index + 1..)?.iter().map_while(Piece::word).collect();
                    let rest = words.get(at..)?;
                    let length = if after.is_empty() { rest.len() } else { only_place(rest, &after)? };
                    let taken = rest.get(..length)?;
                    if !(1..=MOST_WORDS).contains(&length) || taken.iter().any(|word| joins(word)) {
                        return None;
                    }
                    said.insert(name.clone(), taken.join(" "));
                    at += length;
                }
            }
        }
        (at == words.len() && !self.pieces.is_empty()).then_some(said)
    }
}

impl Piece {
    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Open(_) => None,
        }
    }
}

/// Puts what was said in the place of the names in braces; none where something was not said.
#[must_use]
pub fn filled(sentence: &str, said: &BTreeMap<String, String>) -> Option<String> {
    let mut text = String::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        text.push_str(before);
        text.push_str(said.get(name)?);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(['.', '!', '?', ' '])
}

fn joins(word: &str) -> bool {
    word.contains([',', '.', '!', '?']) || JOINTS.contains(&word.to_lowercase().as_str())
}

/// Where these words stand, after at least one other. None also where they stand twice: what can be cut in two ways says
/// nothing for certain.
fn only_place(words: &[&str], literal: &[&str]) -> Option<usize> {
    let is_there = |window: &[&str]| window.iter().zip(literal).all(|(word, piece)| word.to_lowercase() == *piece);
    let mut places = words.get(1..)?.windows(literal.len()).enumerate().filter(|(_, window)| is_there(window));
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sentence: &str, text: &str) -> Option<Vec<String>> {
        DeclaredSentence::read(sentence).said(text).map(|said| said.into_values().collect())
    }

    #[test]
    fn a_declared_sentence_is_known_word_for_word_and_by_nothing_else() {
        let is_in = "remember that {thing} is in {value}";
        let both = vec!["the spare key".to_owned(), "the bathroom".to_owned()];
        assert_eq!(said(is_in, "Please remember that the spare key is in the bathroom."), Some(both));
        for other in [
            "remember that the key is on the shelf",
            "remember that is in the drawer",
            "remember that the box that is in the hall is in the kitchen",
            "remember that the key is in",
            "don't remember that the key is in the drawer",
            "remember that the key is in the drawer if the light is on",
            "remember that the key is in the drawer, then stop",
            "remember that the key is in the drawer. Stop",
            "remember that the key is in \"the drawer\"",
        ] {
            assert_eq!(said(is_in, other), None, "{other}");
        }
        assert_eq!(said("make the night round", "Make the night round!"), Some(Vec::new()));
        assert_eq!(said("make the night round", "make the night round now"), None);
        assert_eq!(said("about {text}", &format!("about {}", "x ".repeat(13))), None);
        assert_eq!(said("", ""), None);
    }

    #[test]
    fn sentences_are_filled_with_what_was_said() {
        let said = BTreeMap::from([("room".to_owned(), "the kitchen".to_owned())]);
        assert_eq!(filled("go to {room}", &said).as_deref(), Some("go to the kitchen"));
        assert_eq!(filled("go to {place}", &said), None);
        assert_eq!(filled("go to {room", &said), None);
    }
}
