//! Answers a question with what is on record, where nothing else answers it.

use cortex_core::fragment::{citation, quoted};
use cortex_core::{ChatReply, ContextPassage};

use super::conversation::Conversation;

/// Least share of what is asked that a passage must hold: a passage beside the point is worse than no answer.
const ENOUGH: f64 = 0.6;
/// Most characters of a passage in an answer.
const SHOWN: usize = 1_000;

/// The passage that answers the question, if the question would be declined otherwise.
pub(super) fn answer(conversation: &Conversation<'_>, reply: &ChatReply) -> Option<String> {
    let is_question = conversation.class.is_some_and(|class| class.is_answered_by_words());
    if reply.refusal.is_none() || !is_question || !conversation.steps.is_empty() {
        return None;
    }
    let fits = |passage: &&ContextPassage| passage.kind.is_record() && passage.relevance >= ENOUGH;
    // Of equal ones the first, which its source holds for the best.
    let best = conversation
        .on_record
        .iter()
        .filter(fits)
        .rev()
        .max_by(|one, other| one.relevance.total_cmp(&other.relevance))?;
    Some(format!("{} says: {}", citation(best), quoted(&best.text, SHOWN)))
}
