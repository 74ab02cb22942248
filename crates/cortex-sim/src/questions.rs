//! Questions about what is seen, and their answers in words. Pure.
//!
//! It knows what the scene holds and nothing else, and says so: where things are to each other, what they are doing or of
//! what they are made is not in a list of things. As with any detector, there are things that it has learnt to see; of any
//! other thing it can't tell whether it is there.

mod things;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use things::Vocabulary;
use things::{COLOURS, Thing, listed, singular, words, words_of};

/// Longest question, in characters.
pub const MAX_QUESTION_CHARACTERS: usize = 200;

/// Words that say where something is to something else.
const RELATIONS: [&str; 12] =
    ["on", "in", "under", "behind", "beside", "near", "above", "below", "inside", "at", "next", "between"];
/// Words at the end that only mean the scene itself.
const HERE: [&[&str]; 9] = [
    &["in", "front", "of", "you"],
    &["in", "this", "room"],
    &["in", "the", "room"],
    &["in", "the", "picture"],
    &["do", "you", "see"],
    &["can", "you", "see"],
    &["here"],
    &["around"],
    &["now"],
];

/// What a camera sees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// The room.
    pub place: String,
    /// The things, each with its article.
    pub sees: Vec<String>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In words.
    pub text: String,
    /// Whether the scene holds the answer.
    pub known: bool,
}

impl Answer {
    fn known(text: String) -> Self {
        Self { text, known: true }
    }

    /// As the result of a method.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"known": self.known, "text": self.text})
    }
}

/// Answers a question from what is seen.
#[must_use]
pub fn answer(scene: &Scene, vocabulary: &Vocabulary, question: &str) -> Answer {
    let tracker = ConditionTracker { scene, vocabulary };
    let lower = question.to_lowercase();
    let asked: Vec<&str> = lower.split(|next: char| !(next.is_alphanumeric() || next == '\'')).collect();
    let asked: Vec<&str> = asked.into_iter().filter(|word| !word.is_empty()).collect();
    if asked.is_empty() || question.chars().count() > MAX_QUESTION_CHARACTERS {
        return tracker.unknown("that is no question");
    }
    let asked = asked.strip_prefix(&["whether"]).or_else(|| asked.strip_prefix(&["if"])).unwrap_or(&asked);
    match asked {
        ["is" | "are", "there", rest @ ..] | ["there", "is" | "are", rest @ ..] => tracker.is_there(rest),
        ["do" | "can", "you", "see", rest @ ..] | ["you", "see", rest @ ..] => tracker.is_there(rest),
        ["how", "many", rest @ ..] => tracker.count(rest),
        ["what" | "which", "colour" | "color", "is" | "are" | "has", rest @ ..] => tracker.colour(rest),
        ["what", "do" | "can", "you", "see", ..]
        | ["what", "is" | "are", "there" | "here" | "around" | "visible", ..] => tracker.all(),
        ["what", "is" | "are", rest @ ..] if tracker.without_here(rest).is_empty() => tracker.all(),
        ["where", "is" | "are", rest @ ..] => tracker.find(rest),
        ["is" | "are", rest @ ..] => tracker.is_so(rest),
        _ => tracker.unknown("the list of things that I see does not hold the answer"),
    }
}

/// Whether it sees that thing: `a red cup`.
#[must_use]
pub fn is_there(scene: &Scene, vocabulary: &Vocabulary, thing: &str) -> Answer {
    answer(scene, vocabulary, &format!("is there {thing}"))
}

/// How many of these things it sees: `chairs`.
#[must_use]
pub fn count(scene: &Scene, vocabulary: &Vocabulary, things: &str) -> Answer {
    answer(scene, vocabulary, &format!("how many {things}"))
}

struct ConditionTracker<'s> {
    scene: &'s Scene,
    vocabulary: &'s Vocabulary,
}

impl ConditionTracker<'_> {
    /// What is seen of what is asked for, in its own words, and how many that are.
    fn seen(&self, asked: &Thing) -> (Vec<&str>, usize) {
        let mut count = 0;
        let matching = self.scene.sees.iter().filter(|thing| {
            let read = words(thing).and_then(|words| Thing::read(&words));
            let is_it = read.as_ref().filter(|thing| thing.is(asked));
            count += is_it.map_or(0, |thing| thing.count);
            is_it.is_some()
        });
        (matching.map(String::as_str).collect(), count)
    }

    /// The thing that is asked for, and what is said of where it is, if that is not just here.
    fn asked<'w>(&self, words: &'w [&'w str]) -> Option<(Thing, Option<&'w [&'w str]>)> {
        let words = self.without_here(words);
        let relation = words.iter().position(|word| RELATIONS.contains(word));
        let (thing, relation) = words.split_at_checked(relation.unwrap_or(words.len()))?;
        Some((Thing::read(thing)?, (!relation.is_empty()).then_some(relation)))
    }

    /// Without words at the end that mean the scene itself.
    fn without_here<'w>(&self, words: &'w [&'w str]) -> &'w [&'w str] {
        let place: Vec<&str> = ["in", "the"].into_iter().chain(self.scene.place.split(' ')).collect();
        let mut words = words;
        while let Some(rest) = HERE.iter().find_map(|here| without(words, here)).or_else(|| without(words, &place)) {
            words = rest;
        }
        match words {
            [rest @ .., "are" | "is", "there"] => rest,
            _ => words,
        }
    }

    fn is_there(&self, words: &[&str]) -> Answer {
        let Some((thing, relation)) = self.asked(words) else { return self.all() };
        let (seen, _) = self.seen(&thing);
        if let (false, Some(relation)) = (seen.is_empty(), relation) {
            return self.unknown(&format!("I see {}, but not whether it is {}", listed(&seen), relation.join(" ")));
        }
        if relation.is_some_and(|relation| self.is_elsewhere(relation)) {
            return self.unknown(&format!("I am in the {}", self.scene.place));
        }
        if seen.is_empty() { self.none_of(&thing) } else { Answer::known(format!("Yes, I see {}.", listed(&seen))) }
    }

    fn count(&self, words: &[&str]) -> Answer {
        let Some((thing, relation)) = self.asked(words) else { return self.unknown("it is not said of what") };
        let (seen, count) = self.seen(&thing);
        match (relation, count) {
            (Some(relation), _) => self.unknown(&format!("the scene does not say what is {}", relation.join(" "))),
            (None, 0) => self.none_of(&thing),
            (None, 1) => Answer::known(format!("I see one: {}.", listed(&seen))),
            (None, count) => Answer::known(format!("I see {count}: {}.", listed(&seen))),
        }
    }

    fn colour(&self, words: &[&str]) -> Answer {
        let Some((thing, _)) = self.asked(words) else { return self.unknown("it is not said of what") };
        let (seen, _) = self.seen(&thing);
        let read = |thing: &&str| words_of(thing).and_then(|thing| thing.colour().map(str::to_owned));
        let colours: Vec<String> = seen.iter().filter_map(read).collect();
        match (seen.as_slice(), colours.as_slice()) {
            ([], _) => self.none_of(&thing),
            (_, []) => self.unknown(&format!("I see {}, but not its colour", listed(&seen))),
            _ => Answer::known(format!("It is {}: I see {}.", listed(&colours), listed(&seen))),
        }
    }

    fn find(&self, words: &[&str]) -> Answer {
        let Some((thing, _)) = self.asked(words) else { return self.unknown("it is not said of what") };
        let (seen, _) = self.seen(&thing);
        if seen.is_empty() {
            return self.none_of(&thing);
        }
        Answer::known(format!("In the {}, where I am: I see {}.", self.scene.place, listed(&seen)))
    }

    /// "Is the cup red?"
    fn is_so(&self, words: &[&str]) -> Answer {
        let words = self.without_here(words);
        let nouns = words.iter().map(|word| singular(word));
        let Some(noun) = nouns.enumerate().find(|(_, noun)| self.knows(noun)).map(|(at, _)| at) else {
            return self.unknown("I do not know what that is about");
        };
        let Some((thing, said)) = words.split_at_checked(noun + 1) else { return self.all() };
        let Some(thing) = Thing::read(thing) else { return self.all() };
        let (seen, _) = self.seen(&thing);
        let qualities = seen.iter().filter_map(|thing| words_of(thing)).collect::<Vec<_>>();
        match (seen.as_slice(), said) {
            ([], _) => self.none_of(&thing),
            // "Is the cat here?"
            (_, []) => Answer::known(format!("Yes, I see {}.", listed(&seen))),
            (_, [quality]) if qualities.iter().any(|thing| thing.qualities.iter().any(|word| word == quality)) => {
                Answer::known(format!("Yes, I see {}.", listed(&seen)))
            }
            // What is red is not blue.
            (_, [quality]) if COLOURS.contains(quality) && qualities.iter().all(|thing| thing.colour().is_some()) => {
                Answer::known(format!("No, I see {}.", listed(&seen)))
            }
            _ => self.unknown(&format!("I see {}, but not whether it is {}", listed(&seen), said.join(" "))),
        }
    }

    fn all(&self) -> Answer {
        Answer::known(self.scene.in_words())
    }

    fn none_of(&self, thing: &Thing) -> Answer {
        if !self.knows(&thing.noun) {
            return self.unknown(&format!("I have not learnt to see '{}'", thing.noun));
        }
        let of_that_kind = Thing { count: 1, qualities: Vec::new(), noun: thing.noun.clone() };
        match self.seen(&of_that_kind).0.as_slice() {
            [] => Answer::known(format!("No, I see no {} in the {}.", thing.noun, self.scene.place)),
            others => {
                let reads = |other: &&str| words_of(other).is_some_and(|other| other.colour().is_some());
                let is_about_colour = thing.qualities.iter().all(|quality| COLOURS.contains(&quality.as_str()));
                if is_about_colour && others.iter().all(reads) {
                    return Answer::known(format!("No, but I see {}.", listed(others)));
                }
                let what = thing.qualities.join(" ");
                self.unknown(&format!("I see {}, but not whether it is {what}", listed(others)))
            }
        }
    }

    fn knows(&self, noun: &str) -> bool {
        let is_it = |thing: &String| words_of(thing).is_some_and(|thing| thing.noun == noun);
        self.vocabulary.holds(noun) || self.scene.sees.iter().any(is_it)
    }

    /// Whether it is about some other room: that can't be seen from here.
    fn is_elsewhere(&self, relation: &[&str]) -> bool {
        matches!(relation, ["in", ..])
    }

    fn unknown(&self, why: &str) -> Answer {
        Answer { text: format!("I can't tell: {why}. {}", self.scene.in_words()), known: false }
    }
}

impl Scene {
    /// As people speak: `I see a kettle and a table.`
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.sees.as_slice() {
            [] => format!("I see nothing special in the {}.", self.place),
            things => format!("I see {}.", listed(things)),
        }
    }
}

/// The words without these at their end, if they end so.
fn without<'w>(words: &'w [&'w str], end: &[&str]) -> Option<&'w [&'w str]> {
    let (rest, last) = words.split_at_checked(words.len().checked_sub(end.len())?)?;
    last.iter().zip(end).all(|(word, other)| word == other).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;

    fn asked(room: &str, question: &str) -> (bool, String) {
        let world = World::load(None).unwrap();
        let seen = world.rooms.iter().flat_map(|room| room.sees.iter().map(String::as_str));
        let vocabulary = Vocabulary::of(seen);
        let room = world.room(room).unwrap();
        let scene = Scene { place: room.name.clone(), sees: room.sees.clone() };
        let Answer { text, known } = answer(&scene, &vocabulary, question);
        (known, text)
    }

    #[test]
    fn what_the_scene_holds_is_answered() {
        for (room, question, expected) in [
            ("bedroom", "Is there a cat?", "Yes, I see a sleeping cat."),
            ("kitchen", "is there a cat?", "No, I see no cat in the kitchen."),
            ("bedroom", "do you see any cats here", "Yes, I see a sleeping cat."),
            ("bedroom", "is there a cat in the bedroom?", "Yes, I see a sleeping cat."),
            ("bedroom", "whether there is a sleeping cat", "Yes, I see a sleeping cat."),
            ("office", "how many chairs do you see?", "I see one: an empty chair."),
            ("hallway", "how many shoes are there?", "I see 2: a pair of shoes."),
            ("kitchen", "how many chairs can you see", "No, I see no chair in the kitchen."),
            ("kitchen", "What colour is the cup?", "It is red: I see a red cup."),
            ("bathroom", "is the towel blue?", "Yes, I see a blue towel."),
            ("bathroom", "is the towel red?", "No, I see a blue towel."),
            ("bathroom", "is there a red towel?", "No, but I see a blue towel."),
            ("kitchen", "where is the kettle?", "In the kitchen, where I am: I see a kettle."),
            ("kitchen", "what do you see?", "I see a kettle, a table and a red cup."),
            ("kitchen", "what is in the kitchen?", "I see a kettle, a table and a red cup."),
            ("hallway", "is there a coat rack?", "Yes, I see a coat rack."),
        ] {
            assert_eq!(asked(room, question), (true, expected.to_owned()), "{question}");
        }
    }

    #[test]
    fn what_it_does_not_hold_is_said_to_be_unknown() {
        for (room, question, expected) in [
            (
                "kitchen",
                "what is on the table?",
                "I can't tell: the list of things that I see does not hold the answer.",
            ),
            (
                "kitchen",
                "is there a cup on the table?",
                "I can't tell: I see a red cup, but not whether it is on the table.",
            ),
            ("bedroom", "is there an animal?", "I can't tell: I have not learnt to see 'animal'."),
            ("bedroom", "is the cat hungry?", "I can't tell: I see a sleeping cat, but not whether it is hungry."),
            ("bedroom", "is there a black cat?", "I can't tell: I see a sleeping cat, but not whether it is black."),
            ("kitchen", "is there a cat in the bedroom?", "I can't tell: I am in the kitchen."),
            ("kitchen", "what colour is the kettle?", "I can't tell: I see a kettle, but not its colour."),
            ("kitchen", "why?", "I can't tell: the list of things"),
            ("hallway", "is there a coat?", "I can't tell: I have not learnt to see 'coat'."),
            ("kitchen", "", "I can't tell: that is no question."),
            ("kitchen", "?!.", "I can't tell: that is no question."),
            ("kitchen", "how many", "I can't tell: it is not said of what."),
            ("kitchen", "is the", "I can't tell: I do not know what that is about."),
        ] {
            let (known, text) = asked(room, question);
            assert!(!known && text.starts_with(expected), "{question}: {text}");
        }
        assert!(!asked("kitchen", &"is there a cat ".repeat(1000)).0, "too long");
    }

    #[test]
    fn what_is_seen_reads_as_people_speak() {
        let mut scene = Scene { place: "kitchen".to_owned(), sees: Vec::new() };
        assert_eq!(scene.in_words(), "I see nothing special in the kitchen.");
        scene.sees = ["a kettle", "a table", "a red cup"].map(str::to_owned).to_vec();
        assert_eq!(scene.in_words(), "I see a kettle, a table and a red cup.");
        scene.sees.truncate(2);
        assert_eq!(scene.in_words(), "I see a kettle and a table.");
        scene.sees.truncate(1);
        assert_eq!(scene.in_words(), "I see a kettle.");
    }

    #[test]
    fn any_words_at_all_are_answered() {
        let words = [
            "is", "are", "there", "what", "how", "many", "the", "cat", "in", "on", "colour", "do", "you", "see",
            "where",
        ];
        for first in words {
            for second in words {
                for third in words {
                    assert!(!asked("bedroom", &format!("{first} {second} {third}")).1.is_empty());
                }
            }
        }
    }
}
