//! A sentence that a tool declares, said word for word: "what do you know about {text}". Only where all that it leaves open is
//! free text: what a robot has values for, the reader finds better.

use cortex_language::{Call, Part};
use serde_json::{Map, Value};

use super::schema::{self, Kind};
use super::toolbox::Toolbox;

/// Least words of the declared sentence besides what it leaves open: fewer are said by accident.
const LEAST_WORDS: usize = 3;
/// Most words for one open place.
const MOST_WORDS: usize = 12;
/// Words that join orders, put conditions, or take something back: what holds one is for the reader.
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

/// The one call that the text asks for word for word.
pub(super) fn read(toolbox: &Toolbox<'_>, text: &str) -> Option<Vec<Part>> {
    if text.contains(['"', '“', '”', ';', ':', '\n']) {
        return None;
    }
    let words: Vec<&str> = text.trim_end_matches(['.', '!', '?', ' ']).split_whitespace().collect();
    let words = words.strip_prefix(&["please"]).unwrap_or(&words);
    let words = words.strip_suffix(&["please"]).unwrap_or(words);
    let is_joined = |word: &&str| word.contains([',', '.', '!', '?']) || JOINTS.contains(&word.to_lowercase().as_str());
    if words.iter().any(is_joined) {
        return None;
    }
    let mut found: Vec<Call> = Vec::new();
    for (index, tool) in (0..toolbox.len()).filter_map(|index| Some((index, toolbox.get(index)?))) {
        let parameters = schema::parameters(&tool.parameters);
        let is_text = |name: &str| {
            parameters.iter().any(|parameter| parameter.name == name && matches!(parameter.kind, Kind::Text(_)))
        };
        for sentence in &tool.phrases {
            let Some(arguments) = matched(sentence, words, &is_text) else { continue };
            let is_whole = parameters.iter().all(|it| !it.is_needed || arguments.contains_key(&it.name));
            let call = Call { tool: index, arguments };
            if is_whole && !found.contains(&call) {
                found.push(call);
            }
        }
    }
    // What may mean two things is no word for word.
    let Ok([call]) = <[Call; 1]>::try_from(found) else { return None };
    Some(vec![Part::Call { call, clause: text.trim().to_owned() }])
}

/// The open places of a declared sentence, if the words are that sentence; each text as short as it can be.
fn matched(sentence: &str, words: &[&str], is_text: &dyn Fn(&str) -> bool) -> Option<Map<String, Value>> {
    let pieces: Vec<&str> = sentence.split_whitespace().collect();
    let slot = |piece: &str| piece.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::to_owned);
    let slots: Vec<String> = pieces.iter().filter_map(|piece| slot(piece)).collect();
    if slots.is_empty() || pieces.len() < slots.len() + LEAST_WORDS || !slots.iter().all(|name| is_text(name)) {
        return None;
    }
    let (mut arguments, mut at) = (Map::new(), 0);
    for (index, piece) in pieces.iter().enumerate() {
        let Some(name) = slot(piece) else {
            if !words.get(at)?.eq_ignore_ascii_case(piece) {
                return None;
            }
            at += 1;
            continue;
        };
        let literal = pieces.get(index + 1..)?.iter().take_while(|piece| slot(piece).is_none());
        let literal: Vec<&str> = literal.copied().collect();
        let rest = words.get(at..)?;
        let length = if literal.is_empty() { rest.len() } else { first_place(rest, &literal)? };
        if !(1..=MOST_WORDS).contains(&length) {
            return None;
        }
        arguments.insert(name, Value::String(rest.get(..length)?.join(" ")));
        at += length;
    }
    (at == words.len()).then_some(arguments)
}

/// Where these words stand, after at least one other.
fn first_place(words: &[&str], literal: &[&str]) -> Option<usize> {
    let is_there = |window: &[&str]| window.iter().zip(literal).all(|(word, piece)| word.eq_ignore_ascii_case(piece));
    let after_one = words.get(1..)?;
    after_one.windows(literal.len()).position(is_there).map(|place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sentence: &str, text: &str) -> Option<String> {
        let words: Vec<&str> = text.split(' ').collect();
        matched(sentence, &words, &|name| name != "place").map(|arguments| Value::Object(arguments).to_string())
    }

    #[test]
    fn a_declared_sentence_is_read_word_for_word_and_nothing_else() {
        let is_in = "remember that {thing} is in {value}";
        let read = said(is_in, "Remember that the spare key is in the bathroom");
        assert_eq!(read.as_deref(), Some(r#"{"thing":"the spare key","value":"the bathroom"}"#));
        assert_eq!(said(is_in, "remember that the key is on the shelf"), None);
        assert_eq!(said(is_in, "remember that is in the drawer"), None, "of what?");
        assert_eq!(said(is_in, "remember that the key is in"), None);
        assert_eq!(said("say {thing}", "say hello"), None, "too few words of its own");
        assert_eq!(said("go to the room {place}", "go to the room kitchen"), None, "that has values");
        assert_eq!(
            said("what do you know about {text}", &format!("what do you know about {}", "x ".repeat(13).trim())),
            None
        );
    }
}
