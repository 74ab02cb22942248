//! The words of the reader: what may be passed over, what must never be, which words mean the same, and how words
//! bend. Tables only; no word of any particular robot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Words that carry nothing in a command. Passing over any of them must never change what is done.
const FILLERS: [&str; 19] = [
    "the", "a", "an", "my", "your", "our", "to", "into", "in", "at", "toward", "towards", "of", "please", "just",
    "now", "kindly", "robot", "also",
];

/// Words by which a command turns into its opposite; never explained away by a description.
const POLARITY: [&str; 22] = [
    "on",
    "off",
    "up",
    "down",
    "out",
    "left",
    "right",
    "open",
    "close",
    "closed",
    "start",
    "stop",
    "enable",
    "disable",
    "forward",
    "backward",
    "forwards",
    "backwards",
    "away",
    "from",
    "back",
    "through",
];

/// Verbs that mean little without the thing that they are about.
const GENERIC_VERBS: [&str; 18] = [
    "set", "on", "off", "open", "close", "start", "enable", "disable", "run", "do", "read", "reset", "send", "put",
    "use", "execute", "trigger", "up",
];

/// Words of tool names that nobody says.
const UNSPOKEN_NAME_WORDS: [&str; 9] = ["send", "request", "goal", "call", "service", "action", "to", "cmd", "command"];

/// Words that mean the same, the first standing for all. Verbs of one line may replace each other in any command.
const CLASSES: [&[&str]; 15] = [
    &["go", "drive", "move", "navigate", "head", "walk", "travel", "proceed", "come", "return"],
    &["see", "look", "watch", "view", "observe", "saw", "seen", "visible"],
    &["say", "speak", "announce", "utter", "said"],
    &["set", "turn", "switch", "adjust", "change"],
    &["stop", "halt", "freeze"],
    &["grasp", "grab", "pick"],
    &["release", "drop"],
    &["close", "shut"],
    &["start", "begin", "launch"],
    &["enable", "activate"],
    &["disable", "deactivate"],
    &["read", "get", "show", "check", "report", "give", "query", "measure", "tell"],
    &["level", "charge", "full", "percentage", "percent"],
    &["where", "location", "position", "place", "room", "pose"],
    &["count", "many", "number"],
];

/// Why a word forbids a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Guard {
    /// Something is not to be done.
    Negation,
    /// It depends on something.
    Condition,
    /// At another time, or more than once.
    Timing,
    /// One of several.
    Choice,
    /// Several at once.
    Series,
    /// In a special way.
    Manner,
    /// It stands for something said elsewhere.
    Reference,
}

const NEGATIONS: [&str; 22] = [
    "not",
    "don't",
    "dont",
    "never",
    "no",
    "without",
    "except",
    "nor",
    "neither",
    "cannot",
    "can't",
    "won't",
    "shouldn't",
    "mustn't",
    "doesn't",
    "avoid",
    "instead",
    "rather",
    "nothing",
    "nowhere",
    "none",
    "wouldn't",
];
const CONDITIONS: [&str; 19] = [
    "if",
    "unless",
    "when",
    "whenever",
    "until",
    "till",
    "while",
    "once",
    "before",
    "after",
    "as",
    "otherwise",
    "else",
    "because",
    "provided",
    "depending",
    "case",
    "since",
    "during",
];
const TIMINGS: [&str; 25] = [
    "every",
    "each",
    "twice",
    "thrice",
    "times",
    "again",
    "repeatedly",
    "forever",
    "always",
    "continuously",
    "later",
    "tomorrow",
    "tonight",
    "soon",
    "daily",
    "hourly",
    "keep",
    "repeat",
    "minutes",
    "minute",
    "hours",
    "hour",
    "seconds",
    "second",
    "o'clock",
];
const CHOICES: [&str; 8] = ["or", "either", "maybe", "perhaps", "whichever", "any", "some", "another"];
const MANNERS: [&str; 18] = [
    "quickly",
    "slowly",
    "carefully",
    "gently",
    "softly",
    "firmly",
    "loudly",
    "quietly",
    "immediately",
    "halfway",
    "completely",
    "slightly",
    "faster",
    "slower",
    "harder",
    "louder",
    "quieter",
    "alone",
];
const REFERENCES: [&str; 16] = [
    "it", "them", "him", "her", "there", "here", "that", "this", "those", "these", "one", "same", "he", "she", "they",
    "so",
];

/// Whether the word carries nothing.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Whether the word may turn a command into its opposite.
pub(super) fn is_polarity(word: &str) -> bool {
    POLARITY.contains(&word)
}

/// Whether a verb of this meaning says little by itself.
pub(super) fn is_generic(canonical: &str) -> bool {
    GENERIC.contains(canonical)
}

/// Whether words of this meaning stand for each other only loosely: to get something is no showing of it. Where a tool takes
/// any text, none of them may stand for its own verb.
pub(super) fn is_loose(canonical: &str) -> bool {
    is_generic(canonical) || is_thing(canonical)
}

/// Whether the word asks; in a command it stands for nothing that could be passed over.
pub(super) fn is_asking(word: &str) -> bool {
    matches!(word, "what" | "which" | "where" | "how" | "who" | "why" | "when" | "many" | "much")
}

/// Whether the words of this meaning are things rather than deeds: "charge" is a level in a question, but "charge it"
/// asks for no level.
pub(super) fn is_thing(canonical: &str) -> bool {
    matches!(canonical, "level" | "where" | "count")
}

/// Whether the word of a tool's name need not be said.
pub(super) fn is_unspoken(word: &str) -> bool {
    UNSPOKEN_NAME_WORDS.contains(&word) || is_filler(word)
}

/// What kind of guess the word forbids, if it is such a word.
pub(super) fn guard(word: &str) -> Option<Guard> {
    let tables: [(&[&str], Guard); 6] = [
        (&NEGATIONS, Guard::Negation),
        (&CONDITIONS, Guard::Condition),
        (&TIMINGS, Guard::Timing),
        (&CHOICES, Guard::Choice),
        (&MANNERS, Guard::Manner),
        (&REFERENCES, Guard::Reference),
    ];
    tables.iter().find(|(words, _)| words.contains(&word)).map(|(_, guard)| *guard)
}

/// The word that stands for all words of the same meaning. `word` is in lower case.
pub(super) fn canon(word: &str) -> String {
    let stem = stem(word);
    CLASS_OF.get(&stem).map_or(stem, |first| (*first).to_owned())
}

/// For each word of a class without its endings, the word that stands for it.
static CLASS_OF: LazyLock<BTreeMap<String, &'static str>> = LazyLock::new(|| {
    CLASSES
        .iter()
        .filter_map(|class| Some((class.first()?, class)))
        .flat_map(|(first, class)| class.iter().map(move |member| (stem(member), *first)))
        .collect()
});

/// The meanings of [`GENERIC_VERBS`].
static GENERIC: LazyLock<BTreeSet<String>> = LazyLock::new(|| GENERIC_VERBS.iter().map(|word| canon(word)).collect());

/// The word without its endings. Only good for comparing two words with each other.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() <= 3 {
        return word.to_owned();
    }
    let bare = if let Some(begin) = word.strip_suffix("ing").filter(|begin| begin.len() >= 2 && has_vowel(begin)) {
        undoubled(begin)
    } else if let Some(begin) = word.strip_suffix("ied") {
        format!("{begin}y")
    } else if let Some(begin) = word.strip_suffix("ed").filter(|begin| bends(begin)) {
        undoubled(begin)
    } else if let Some(begin) = word.strip_suffix("ies") {
        format!("{begin}y")
    } else if let Some(begin) =
        word.strip_suffix("es").filter(|begin| ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| begin.ends_with(end)))
    {
        begin.to_owned()
    } else if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        word.to_owned()
    } else {
        word.strip_suffix('s').unwrap_or(word).to_owned()
    };
    if bare.len() > 3 { bare.strip_suffix('e').unwrap_or(&bare).to_owned() } else { bare }
}

/// Whether `-ed` after this is an ending: not in `speed`.
fn bends(begin: &str) -> bool {
    begin.len() >= 3 && has_vowel(begin) && !begin.ends_with('e')
}

/// Whether the verb tells of something rather than asking for it: "going", "turned", "went".
pub(super) fn is_told(verb: &str) -> bool {
    let going = verb.strip_suffix("ing").is_some_and(|begin| begin.len() >= 2 && has_vowel(begin));
    let turned = verb.strip_suffix("ed").is_some_and(bends);
    // Some verbs are the same in the past.
    let went = IRREGULAR.iter().any(|(present, past)| *past == verb && *present != verb);
    going || turned || went
}

fn has_vowel(text: &str) -> bool {
    text.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// `stopp` as `stop`.
fn undoubled(text: &str) -> String {
    let mut reversed = text.chars().rev();
    match (reversed.next(), reversed.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'e' | 'o') => {
            text.strip_suffix(last).unwrap_or(text).to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Verbs whose past is not made with `-ed`.
const IRREGULAR: [(&str, &str); 42] = [
    ("go", "went"),
    ("drive", "drove"),
    ("come", "came"),
    ("say", "said"),
    ("speak", "spoke"),
    ("tell", "told"),
    ("see", "saw"),
    ("take", "took"),
    ("get", "got"),
    ("give", "gave"),
    ("put", "put"),
    ("set", "set"),
    ("shut", "shut"),
    ("hold", "held"),
    ("bring", "brought"),
    ("find", "found"),
    ("read", "read"),
    ("make", "made"),
    ("begin", "began"),
    ("run", "ran"),
    ("send", "sent"),
    ("let", "let"),
    ("leave", "left"),
    ("ride", "rode"),
    ("spin", "spun"),
    ("stand", "stood"),
    ("sit", "sat"),
    ("lay", "laid"),
    ("feed", "fed"),
    ("write", "wrote"),
    ("draw", "drew"),
    ("shake", "shook"),
    ("throw", "threw"),
    ("catch", "caught"),
    ("fly", "flew"),
    ("do", "did"),
    ("freeze", "froze"),
    ("swing", "swung"),
    ("wind", "wound"),
    ("build", "built"),
    ("keep", "kept"),
    ("cut", "cut"),
];

/// How many single-letter edits (and swaps of neighbours) lie between two words, at most `limit + 1`.
pub(super) fn distance(one: &str, other: &str, limit: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&above, column) + usize::from(letter != wanted))
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let swapped =
                row > 0 && column > 0 && one.get(row - 1) == Some(wanted) && other.get(column - 1) == Some(letter);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(limit + 1).min(limit + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_are_one() {
        for (one, other) in [
            ("go", "drives"),
            ("driving", "navigate"),
            ("look", "sees"),
            ("switched", "turning"),
            ("halts", "stop"),
            ("stopping", "stop"),
            ("closing", "closed"),
            ("picks", "grabbed"),
            ("charging", "level"),
            ("lights", "light"),
            ("batteries", "battery"),
            ("speaks", "announcing"),
            ("grasping", "grasps"),
            ("boxes", "box"),
        ] {
            assert_eq!(canon(one), canon(other), "{one} {other}");
        }
        for (one, other) in [("open", "close"), ("on", "off"), ("say", "see"), ("start", "stop"), ("enable", "disable")]
        {
            assert_ne!(canon(one), canon(other), "{one} {other}");
        }
    }

    #[test]
    fn typing_errors_are_counted() {
        assert_eq!(distance("kitchn", "kitchen", 2), 1);
        assert_eq!(distance("kithcen", "kitchen", 2), 1);
        assert_eq!(distance("garage", "kitchen", 2), 3);
        assert_eq!(distance("", "a", 2), 1);
    }
}
