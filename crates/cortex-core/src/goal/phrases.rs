//! Whether a task is nothing but sentences that tools declare: `scan the tag`, `read the topic {topic}`.

use super::clauses::{Clause, clauses};
use super::without_courtesies;
use super::words::{ARTICLES, holds};

/// The clauses of a task, to be held against the sentences of tools.
#[derive(Debug)]
pub struct Clauses(Vec<Clause>);

impl Clauses {
    /// Those of this task.
    #[must_use]
    pub fn of(task: &str) -> Self {
        Self(clauses(task))
    }

    /// Whether there is a clause, and `is_done` says so of each of them. It is given what tells whether a sentence of a
    /// tool says the clause.
    pub fn all(&self, is_done: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> bool {
        !self.0.is_empty() && self.0.iter().all(|clause| is_done(&|phrase| says(phrase, clause)))
    }
}

/// Whether the clause is the sentence, with values in place of its `{parameters}`. Articles and courtesies don't count.
fn says(phrase: &str, clause: &Clause) -> bool {
    let written: Vec<&str> = clause.words.iter().map(String::as_str).collect();
    let words: Vec<&str> = without_courtesies(&written).iter().filter(|word| !holds(ARTICLES, word)).copied().collect();
    let mut pieces = Vec::new();
    let mut rest = phrase;
    while let Some((before, after)) = rest.split_once('{') {
        pieces.push(own_words(before));
        let Some((_, behind)) = after.split_once('}') else { return false };
        rest = behind;
    }
    pieces.push(own_words(rest));
    // A sentence without a word of its own says everything.
    pieces.iter().any(|words| !words.is_empty()) && follows(&pieces, &words)
}

fn own_words(text: &str) -> Vec<String> {
    clauses(text).into_iter().flat_map(|clause| clause.words).filter(|word| !holds(ARTICLES, word)).collect()
}

/// Whether the words are the pieces, with at least one word in each gap between them.
fn follows(pieces: &[Vec<String>], words: &[&str]) -> bool {
    let Some((first, others)) = pieces.split_first() else { return words.is_empty() };
    let begins = |words: &[&str], piece: &[String]| {
        words.len() >= piece.len() && words.iter().zip(piece).all(|(word, own)| word == own)
    };
    if !begins(words, first) {
        return false;
    }
    let mut rest = words.get(first.len()..).unwrap_or_default();
    for (index, piece) in others.iter().enumerate() {
        let is_last = index + 1 == others.len();
        let found = if is_last {
            // The last piece ends the clause.
            rest.len()
                .checked_sub(piece.len())
                .filter(|at| *at > 0 && begins(rest.get(*at..).unwrap_or_default(), piece))
        } else {
            (1..rest.len()).find(|at| begins(rest.get(*at..).unwrap_or_default(), piece))
        };
        let Some(at) = found else { return false };
        rest = rest.get(at + piece.len()..).unwrap_or_default();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_says_a_sentence_with_values_in_place_of_parameters() {
        let all = |task: &str, phrase: &str| Clauses::of(task).all(|says| says(phrase));
        for (task, phrase) in [
            ("scan the tag", "scan the tag"),
            ("Please scan tag!", "scan the tag"),
            ("read the topic /odom", "read the topic {topic}"),
            ("is the door of the big hall open", "is {door} open"),
            ("scan the tag and scan the tag", "scan the tag"),
            ("count the cups in the kitchen", "count the {things} in the {place}"),
        ] {
            assert!(all(task, phrase), "{task}: {phrase}");
        }
        for (task, phrase) in [
            ("scan the tag and open the door", "scan the tag"),
            ("scan the tag on the shelf", "scan the tag"),
            ("do not scan the tag", "scan the tag"),
            ("read the topic", "read the topic {topic}"),
            ("anything", "{thing}"),
            ("anything", "{thing"),
            ("", "scan the tag"),
            ("scan", ""),
        ] {
            assert!(!all(task, phrase), "{task}: {phrase}");
        }
    }
}
