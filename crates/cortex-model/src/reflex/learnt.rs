//! What people have told the reader that their words mean.
//!
//! A learnt wording stands for the yes to a question, no more: it counts only where the reader would now ask a person about
//! these very words whether they mean this very sentence, and nothing else.

use super::conversation::Research;
use super::toolbox::Toolbox;
use crate::wordings::{Lesson, Wording, Wordings};

/// The wording that answers the question whether a task means this sentence, if there is one.
pub(super) fn settled<'k>(
    toolbox: &Toolbox<'_>,
    known: &'k Wordings,
    task: &str,
    sentence: Option<&str>,
) -> Option<&'k Wording> {
    // A sentence that is only read as these calls may have meant other ones when it was learnt.
    find(toolbox, known, task).filter(|wording| sentence.is_some_and(|sentence| wording.is_for(sentence)))
}

/// What was learnt about these words, whether it can be done now or not.
pub(super) fn find<'k>(toolbox: &Toolbox<'_>, known: &'k Wordings, task: &str) -> Option<&'k Wording> {
    if known.is_empty() { None } else { known.find(&toolbox.wording(task)?) }
}

/// What is learnt once the task is carried out, since a person said yes to its one meaning.
pub(super) fn accepted(
    toolbox: &Toolbox<'_>,
    task: &str,
    means: Option<&str>,
    answer: &Research<'_>,
) -> Option<Lesson> {
    // Nobody has said what counts because nobody answered.
    let by = answer.outcome.value.get("by")?.as_str()?.to_owned();
    Some(Lesson::Accepted { words: toolbox.wording(task)?, means: means?.to_owned(), by })
}

/// Said where a wording spares a question.
pub(super) fn as_told(wording: &Wording) -> String {
    format!("As you told me on {}, \"{}\" means: {}.", wording.day(), wording.words, wording.means)
}

/// Said where a wording can't be followed any more.
pub(super) fn in_vain(toolbox: &Toolbox<'_>, wording: &Wording) -> String {
    let Wording { words, means, .. } = wording;
    let now = if toolbox.calls(means).is_some() { "Say it in those words." } else { "That can't be done now." };
    format!("On {} you told me that \"{words}\" means \"{means}\". {now}", wording.day())
}

/// Said where a person says that it was wrong.
pub(super) fn forgotten(wording: &Wording) -> String {
    format!("I have forgotten that \"{}\" means \"{}\".", wording.words, wording.means)
}
