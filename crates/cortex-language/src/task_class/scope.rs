//! How far an order goes: once, at several places, until something is so, or until somebody ends it.

use cortex_protocol::TaskClass;

use super::clause::without_courtesies;
use super::language::Language;
use super::text::{Clause, Joint};

/// The class of an order or of a question that is none of a person's, with how far it goes.
pub(super) fn scope(clauses: &[Clause], class: TaskClass, language: &Language) -> TaskClass {
    let words = words_to_be_done(clauses, language);
    if language.until_told.are_in(&words) {
        TaskClass::EndlessOrder
    } else if has_until(&words, language) {
        TaskClass::StandingOrder
    } else if language.without_end.are_in(&words) || keeps_doing(&words) {
        TaskClass::EndlessOrder
    } else if class == TaskClass::Action && language.several_places.are_in(&words) {
        TaskClass::SearchOrPatrol
    } else {
        class
    }
}

/// The words without those that are to be spoken: what is to be said is not to be done. Clauses are kept apart.
fn words_to_be_done(clauses: &[Clause], language: &Language) -> Vec<String> {
    let mut kept = Vec::new();
    let mut is_speech = false;
    for clause in clauses {
        let words = without_courtesies(&clause.units, language);
        let words = language.wishes.after(words).map_or(words, |rest| without_courtesies(rest, language));
        is_speech = language.speech.begin(words) || (is_speech && clause.joint == Joint::Soft);
        if !is_speech {
            kept.extend(clause.units.iter().cloned());
            kept.push(String::new());
        }
    }
    kept
}

/// Some languages say "until" for places, too: "bis zur Küche" is no order that stands.
fn has_until(words: &[String], language: &Language) -> bool {
    if (language.until.are_in(words) && !language.how_long.are_in(words)) || language.notices.are_in(words) {
        return true;
    }
    let goes_to = |next: Option<&String>| next.is_none_or(|next| language.until_where.holds(next));
    words.iter().enumerate().any(|(at, word)| language.until_or_to.holds(word) && !goes_to(words.get(at + 1)))
}

/// "keep patrolling", but not "keep the door open".
fn keeps_doing(words: &[String]) -> bool {
    words.windows(2).any(|pair| match pair {
        [keep, doing] => keep == "keep" && doing.len() > 4 && doing.ends_with("ing"),
        _ => false,
    })
}
