//! What a task asks for, read from its words alone: a [`GoalClass`].
//!
//! Table-driven (`words`, `languages`), the same for every robot and every model. It fails closed: a task is a question
//! only where every clause of it is recognised as a question or as conversation, and none of them holds a request. What
//! is not recognised is an action, for which words alone are no success; of several clauses the one that asks for most
//! decides.
//!
//! The way of a task: quotations are taken out, then it is divided into sentences and clauses (`clauses`); each clause
//! is held against the tables of its first words, and then searched for what asks for a deed (`requests`).

use cortex_protocol::GoalClass;

use clauses::{Clause, Joint};
pub use phrases::Clauses;
use words::{Phrases, holds, listed};

mod clauses;
mod languages;
mod phrases;
mod requests;
#[cfg(test)]
mod tests;
mod words;

/// Most characters that are read; a longer task is an action.
const READ: usize = 4_000;
/// Words without a verb that are taken as naming what is asked for: "battery level".
const NAMED_AT_MOST: usize = 4;

/// Most words of a clause that only goes on with the question before it: "and the other room".
const FRAGMENT: usize = 4;

/// What the task asks for.
#[must_use]
pub fn classify(task: &str) -> GoalClass {
    class_with(task, GoalClass::Action)
}

/// Whether the task is an order whose only deed is a look: "find the cup". What was seen carries it out.
#[must_use]
pub fn is_carried_out_by_a_look(task: &str) -> bool {
    let asked = GoalClass::QuestionAboutWorld;
    classify(task) == GoalClass::Action && class_with(task, asked) == asked
}

/// What the task asks for, where a search counts as `search`.
fn class_with(task: &str, search: GoalClass) -> GoalClass {
    if task.chars().nth(READ).is_some() {
        return GoalClass::Action;
    }
    let mut asked: Option<GoalClass> = None;
    let mut is_order = false;
    for clause in clauses::clauses(task) {
        let goes_on = clause.joint == Joint::Soft && asked.is_some_and(GoalClass::is_answered_by_words);
        let class = class_of(&clause, goes_on, search).or_else(|| goes_on_with(&clause, asked)).unwrap_or_default();
        asked = asked.max(Some(class));
        is_order |= !clause.is_asked;
    }
    let class = asked.unwrap_or_default();
    match class {
        GoalClass::Conversation | GoalClass::QuestionAboutSelf => class,
        GoalClass::QuestionAboutWorld if !is_order => class,
        _ => scope(task, class),
    }
}

/// How far an action goes: once, at several places, until something is so, or until somebody ends it.
fn scope(task: &str, class: GoalClass) -> GoalClass {
    let words = words_to_be_done(task);
    let says = |phrases: Phrases| has_any(&words, phrases);
    if says(words::UNTIL_TOLD) {
        GoalClass::EndlessOrder
    } else if has_until(&words) || listed(words::UNTIL_UNSPACED).any(|word| task.contains(word)) {
        GoalClass::StandingOrder
    } else if says(words::WITHOUT_END) || keeps_doing(&words) {
        GoalClass::EndlessOrder
    } else if class == GoalClass::Action && names_several_places(&words) {
        GoalClass::SearchOrPatrol
    } else {
        class
    }
}

/// The words without those that are to be spoken: what is to be said is not to be done. Clauses are kept apart.
fn words_to_be_done(task: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut is_speech = false;
    for clause in clauses::clauses(task) {
        let written: Vec<&str> = clause.words.iter().map(String::as_str).collect();
        let words = without_courtesies(&written);
        let words = after_any(words, words::REQUESTS).map_or(words, without_courtesies);
        let begins_speech = starts_with_any(words, words::SPEECH);
        is_speech = begins_speech || (is_speech && clause.joint == Joint::Soft);
        if !is_speech {
            kept.extend(clause.words);
            kept.push(String::new());
        }
    }
    kept
}

/// What a clause without a verb asks for that only goes on with what was asked before: "... and the bathroom?"
fn goes_on_with(clause: &Clause, asked: Option<GoalClass>) -> Option<GoalClass> {
    let words: Vec<&str> = clause.words.iter().map(String::as_str).collect();
    let names = |word: &str| holds(words::ARTICLES, word) || holds(words::PLACES_BEFORE, word);
    let is_fragment = clause.joint == Joint::Soft
        && words.len() <= FRAGMENT
        && words.first().is_some_and(|first| names(first))
        && !words.iter().any(|word| starts_with_any(&[*word], words::DEEDS))
        && !requests::are_in(&words);
    let goes_on = match asked {
        Some(GoalClass::QuestionAboutSelf | GoalClass::QuestionAboutWorld) => true,
        Some(_) => false,
        // "And the other room?", after an earlier task.
        None => clause.is_asked,
    };
    (is_fragment && goes_on).then_some(GoalClass::QuestionAboutWorld)
}

/// What the clause asks for; `None` where nothing tells. `goes_on`: it only goes on with a question.
fn class_of(clause: &Clause, goes_on: bool, search: GoalClass) -> Option<GoalClass> {
    let written: Vec<&str> = clause.words.iter().map(String::as_str).collect();
    let words = without_courtesies(&written);
    if words.is_empty() || is_conversation(words) || is_conversation(&written) {
        return Some(GoalClass::Conversation);
    }
    let starts = |phrases: Phrases| starts_with_any(words, phrases);
    if starts(words::PROHIBITIONS) {
        return Some(prohibition(words));
    }
    if let Some(rest) = after_any(words, words::REQUESTS) {
        return Some(requested(rest, search));
    }
    if clause.is_unspaced {
        return unspaced(clause);
    }
    if after_any(words, words::FETCHED).is_some_and(names_a_reading) {
        return Some(GoalClass::QuestionAboutSelf);
    }
    // The longer phrase says what is meant: to take a look is no taking.
    let told = length_of(words, words::SPEECH).max(length_of(words, words::DEEDS));
    let looked = length_of(words, words::LOOKS);
    let searched = length_of(words, words::SEARCHES);
    let asked = length_of(words, words::INQUIRIES);
    if told > asked.max(searched).max(looked) || starts(words::NOTICES) || has_any(words, words::REQUESTS_ELSEWHERE) {
        return Some(action(words));
    }
    if searched > asked {
        return Some(search_for(words, search));
    }
    if looked > 0 && names_several_places(words) {
        return Some(GoalClass::SearchOrPatrol);
    }
    if asked > 0 || looked > 0 {
        return Some(if requests::follow(words, asked.max(looked)) { GoalClass::Action } else { question(words) });
    }
    if requests::asks(words, clause.is_asked, goes_on) {
        return Some(if requests::are_in(words) { GoalClass::Action } else { question(words) });
    }
    is_named(words).then_some(GoalClass::QuestionAboutSelf)
}

/// "Can you ..." is a polite order, unless it asks for what is seen or known.
fn requested(rest: &[&str], search: GoalClass) -> GoalClass {
    let rest = without_courtesies(rest);
    let starts = |phrases: Phrases| starts_with_any(rest, phrases);
    let asked = length_of(rest, words::INQUIRIES).max(length_of(rest, words::LOOKS));
    if length_of(rest, words::SEARCHES) > asked {
        search_for(rest, search)
    } else if starts(words::LOOKS) && names_several_places(rest) {
        GoalClass::SearchOrPatrol
    } else if (starts(words::PERCEIVES) && !requests::are_in(rest))
        || (asked > 0 && !starts(words::SPEECH) && !requests::follow(rest, asked))
    {
        question(rest)
    } else {
        action(rest)
    }
}

/// Only what is known to be a deed is forbidden by "don't": not to leave the light on takes an action.
fn prohibition(words: &[&str]) -> GoalClass {
    let rest = after_any(words, words::PROHIBITIONS).unwrap_or_default();
    let starts = |phrases: Phrases| starts_with_any(rest, phrases);
    if (starts(words::DEEDS) || starts(words::SPEECH)) && !starts(words::OMISSIONS) {
        GoalClass::Conversation
    } else {
        GoalClass::Action
    }
}

fn action(words: &[&str]) -> GoalClass {
    if starts_with_any(words, words::ROUNDS) { GoalClass::SearchOrPatrol } else { GoalClass::Action }
}

/// To look for something is to do something. In every room, it is a tour.
fn search_for(words: &[&str], search: GoalClass) -> GoalClass {
    if names_several_places(words) {
        GoalClass::SearchOrPatrol
    } else if requests::are_in(words) {
        GoalClass::Action
    } else {
        search
    }
}

/// A question: of itself, or of the world around it.
fn question(words: &[&str]) -> GoalClass {
    let has = |phrases: Phrases| has_any(words, phrases);
    if is_smalltalk(words) {
        return GoalClass::Conversation;
    }
    let elsewhere = has(words::PERCEPTIONS) || is_located(words);
    let of_its_body = has(words::BODY) && !elsewhere;
    let of_itself = has(words::ITSELF) && !has(words::PERCEPTIONS);
    let is_named = is_named(words);
    if of_its_body || of_itself || is_named { GoalClass::QuestionAboutSelf } else { GoalClass::QuestionAboutWorld }
}

/// Whether a thing is said to be somewhere: "on the table", "is there".
fn is_located(words: &[&str]) -> bool {
    let article = |word: Option<&&str>| word.is_some_and(|word| holds(words::ARTICLES, word));
    words.contains(&"there")
        || words
            .windows(2)
            .any(|pair| pair.first().is_some_and(|word| holds(words::PLACES_BEFORE, word)) && article(pair.get(1)))
}

/// Whether the words are nothing but the name of a part of the robot or of a reading of it.
fn is_named(words: &[&str]) -> bool {
    let telling: Vec<&str> = words.iter().copied().filter(|word| !holds(words::ARTICLES, word)).collect();
    let names = |word: &&str| holds(words::BODY, word) || holds(words::READINGS, word);
    !telling.is_empty() && telling.len() <= NAMED_AT_MOST && telling.iter().all(names)
}

/// Whether the words name a reading of the robot: "battery level", but not "battery", which can be carried.
fn names_a_reading(words: &[&str]) -> bool {
    is_named(words) && words.iter().any(|word| holds(words::READINGS, word))
}

fn is_smalltalk(words: &[&str]) -> bool {
    listed(words::SMALLTALK).any(|phrase| same(words, phrase))
}

/// Whether the words are a greeting, thanks or small talk, whoever they are addressed to.
fn is_conversation(words: &[&str]) -> bool {
    if is_smalltalk(words) {
        return true;
    }
    let Some(mut rest) = after_any(words, words::GREETINGS) else { return false };
    loop {
        match (rest.split_first(), after_any(rest, words::GREETINGS)) {
            (None, _) => return true,
            (Some(_), Some(further)) => rest = further,
            (Some((first, further)), None) if holds(words::ADDRESSES, first) => rest = further,
            (Some(_), None) => return is_smalltalk(rest),
        }
    }
}

/// Scripts without spaces between words: what a sentence holds, and whether it is asked.
fn unspaced(clause: &Clause) -> Option<GoalClass> {
    let text = clause.words.concat();
    let has = |parts: Phrases| listed(parts).any(|part| text.contains(part));
    if holds(words::GREETINGS_UNSPACED, &text) {
        Some(GoalClass::Conversation)
    } else if requests::are_in_unspaced(&text) {
        Some(GoalClass::Action)
    } else if !requests::asks_unspaced(&text, clause.is_asked) {
        None
    } else if has(words::BODY_UNSPACED) {
        Some(GoalClass::QuestionAboutSelf)
    } else {
        Some(GoalClass::QuestionAboutWorld)
    }
}

/// The words without "please", "robot", a greeting before something else, and the like.
fn without_courtesies<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let mut rest = words;
    while let Some(further) = after_any(rest, words::COURTESIES).or_else(|| {
        // "Hello, go to the kitchen", but not "hello" alone.
        after_any(rest, words::GREETINGS).filter(|further| !further.is_empty() && !is_conversation(rest))
    }) {
        if further.is_empty() && rest.len() == words.len() && is_conversation(rest) {
            break;
        }
        rest = further;
    }
    while let Some((last, before)) = rest.split_last()
        && holds(words::TRAILS, last)
        && !before.is_empty()
    {
        rest = before;
    }
    rest
}

/// What follows the longest of the phrases that the words begin with.
fn after_any<'w, 'a>(words: &'w [&'a str], phrases: Phrases) -> Option<&'w [&'a str]> {
    let length = length_of(words, phrases);
    if length > 0 { words.get(length..) } else { None }
}

/// How many words the longest of the phrases has that the words begin with.
fn length_of(words: &[&str], phrases: Phrases) -> usize {
    let lengths = listed(phrases).filter(|phrase| starts_with(words, phrase)).map(|phrase| phrase.split(' ').count());
    lengths.max().unwrap_or_default()
}

fn starts_with_any(words: &[&str], phrases: Phrases) -> bool {
    listed(phrases).any(|phrase| starts_with(words, phrase))
}

fn starts_with(words: &[&str], phrase: &str) -> bool {
    let mut rest = words.iter();
    phrase.split(' ').all(|part| rest.next() == Some(&part))
}

fn same(words: &[&str], phrase: &str) -> bool {
    words.len() == phrase.split(' ').count() && starts_with(words, phrase)
}

fn has_any<W: AsRef<str>>(words: &[W], phrases: Phrases) -> bool {
    listed(phrases).any(|phrase| has_phrase(words, phrase))
}

fn has_phrase<W: AsRef<str>>(words: &[W], phrase: &str) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    words.windows(parts.len()).any(|window| window.iter().map(AsRef::as_ref).eq(parts.iter().copied()))
}

/// "until" in any of the languages of the table. Some say it for places, too: "bis zur Küche" is no order that stands.
fn has_until(words: &[String]) -> bool {
    let asks_how_long = has_any(words, words::HOW_LONG);
    if (has_any(words, words::UNTIL) && !asks_how_long) || has_any(words, words::NOTICES) {
        return true;
    }
    let goes_to = |next: Option<&String>| next.is_none_or(|next| holds(words::BIS_WHERE, next));
    words.iter().enumerate().any(|(index, word)| word == "bis" && !goes_to(words.get(index + 1)))
}

/// "keep patrolling", but not "keep the door open".
fn keeps_doing(words: &[String]) -> bool {
    words.windows(2).any(|pair| match pair {
        [keep, doing] => keep == "keep" && doing.len() > 4 && doing.ends_with("ing"),
        _ => false,
    })
}

/// "in every room", "everywhere", "room by room".
fn names_several_places<W: AsRef<str>>(words: &[W]) -> bool {
    has_any(words, words::SEVERAL_PLACES)
}
