//! Two clauses that no joint divides: "before you go to the office turn the light off".

use std::ops::Range;

use super::{Joint, Meaning, Node, Piece, Taken, Task};
use crate::reading::{Reading, Sought};

impl Task<'_> {
    /// What only says when, and the order after it, which begins with its verb; the cheapest way to divide them.
    pub(super) fn split(&self, node: &Node, joint: Joint, range: Range<usize>) -> Option<Node> {
        let opens = matches!(joint, Joint::BeforeNext | Joint::AfterNext) || self.follows_comma(range.start);
        if !joint.is_subordinate() || !opens {
            return None;
        }
        let begins = |at: &usize| self.begins_deed(&Piece { range: *at..range.end, joint: Joint::Soft });
        (range.start + 1..range.end)
            .filter(begins)
            .filter_map(|at| {
                let first = self.closed(node, joint.opening(), range.start..at)?;
                self.closed_or_text(&first, at..range.end)
            })
            .min_by(|one, other| one.cost.total_cmp(&other.cost))
    }

    /// Returns true if a comma stands before the words that join what begins here.
    pub(super) fn follows_comma(&self, at: usize) -> bool {
        let joint = |length: &usize| {
            let rest = at.checked_sub(*length).and_then(|from| self.words.get(from..at)).unwrap_or_default();
            let words = &self.reader.language.words;
            !rest.is_empty() && (words.after.length(rest) == *length || words.before.length(rest) == *length)
        };
        let length = (1..=at.min(4)).rev().find(joint);
        length.is_some_and(|length| self.is_after_comma(at - length))
    }

    fn closed(&self, node: &Node, joint: Joint, range: Range<usize>) -> Option<Node> {
        let words = self.words.get(range.clone())?;
        let (cost, meaning) = self.meaning(node, joint, words, 0.0, Sought::Calls, &mut |_| false);
        let is_closed = match &meaning {
            Meaning::Read(readings) => !readings.iter().any(Reading::is_open),
            Meaning::Nothing => true,
            _ => false,
        };
        is_closed.then(|| self.joined(node, Taken { range, joint, meaning }, cost + 0.3))
    }

    fn closed_or_text(&self, node: &Node, range: Range<usize>) -> Option<Node> {
        let words = self.words.get(range.clone())?;
        let (cost, meaning) = self.meaning(node, Joint::Soft, words, 0.0, Sought::Calls, &mut |_| false);
        matches!(meaning, Meaning::Read(_))
            .then(|| self.joined(node, Taken { range, joint: Joint::Soft, meaning }, cost))
    }
}
