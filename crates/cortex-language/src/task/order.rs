//! The order in which the clauses of a task are done.

use super::{Joint, Part, Taken, Task};

/// A clause with the parts that it may stand for.
pub(super) type Way = (Taken, Vec<Vec<Part>>);

/// The clauses in their order, and in another one that the words may mean as well.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) first: Vec<Way>,
    pub(super) second: Option<Vec<Way>>,
}

impl Task<'_> {
    /// "Before you go, say goodbye" says goodbye first; "say goodbye after you have closed the door" closes the door first.
    pub(super) fn in_order(&self, ways: Vec<Way>) -> Ordered {
        let mut first: Vec<Way> = Vec::new();
        let mut second: Option<Vec<Way>> = None;
        let mut rest = ways.into_iter().peekable();
        while let Some(way) = rest.next() {
            let joint = way.0.joint;
            match joint {
                Joint::BeforeNext => {
                    // "Before you go, close the gate and feed the goats": both are done before.
                    let mut next: Vec<Way> = rest.next().into_iter().collect();
                    let from = way.0.range.start;
                    while let Some(more) = rest.next_if(|(taken, _)| {
                        taken.joint == Joint::Soft && self.is_same_sentence(from, taken.range.start)
                    }) {
                        next.push(more);
                    }
                    let goes_on = rest.peek().is_some_and(|(taken, _)| !self.begins_sentence(taken.range.start));
                    if goes_on {
                        let mut later: Vec<Way> = first.iter().chain(&next).cloned().collect();
                        later.extend(rest.clone());
                        later.push(way.clone());
                        second.get_or_insert(later);
                    }
                    first.extend(next);
                    first.push(way);
                }
                Joint::After | Joint::First if !first.is_empty() => {
                    // "Open the gate and feed the goats after you have been to the barn": is only the second done after?
                    let last = first.len() - 1;
                    let of_last = first.get(last).is_some_and(|(taken, _)| {
                        let is_apart = taken.joint == Joint::Strong && joint == Joint::After;
                        is_apart || self.begins_sentence(taken.range.start)
                    });
                    let from = if of_last { last } else { 0 };
                    let inserted = |at: usize| {
                        let mut ways = first.clone();
                        ways.insert(at, way.clone());
                        ways
                    };
                    let comma = joint == Joint::After
                        && self.follows_comma(way.0.range.start)
                        && rest.peek().is_some_and(|(taken, _)| taken.joint == Joint::Soft);
                    let other = if comma { Some(inserted(last + 1)) } else { (from < last).then(|| inserted(last)) };
                    if let Some(mut other) = other {
                        other.extend(rest.clone());
                        second.get_or_insert(other);
                    }
                    first = inserted(from);
                }
                _ => first.push(way),
            }
        }
        Ordered { first, second }
    }

    /// Returns true if no mark between the words ends a sentence.
    fn is_same_sentence(&self, from: usize, to: usize) -> bool {
        let words = self.words.get(from..to).unwrap_or_default();
        !words.iter().any(|word| word.is_punctuation() && [".", ";", "!", "?", "\n"].contains(&word.text.as_str()))
    }

    /// Returns true if a mark that ends a sentence stands before the word, or nothing does.
    fn begins_sentence(&self, at: usize) -> bool {
        let before = (0..at).rev().filter_map(|at| self.words.get(at)).take_while(|word| word.is_punctuation());
        let ends = |mark: &str| [".", ";", "!", "?", "\n"].contains(&mark);
        at == 0 || before.map(|word| word.text.as_str()).any(ends)
    }
}
