//! The words of a text as they are known again the next time, however politely and carelessly they are written.

use crate::language::{Language, Lead};
use crate::languages;
use crate::reading::{End, Reader};
use crate::robot::Robot;
use crate::sentence::{self, Word};
use crate::task;
use crate::tokens::Kind;

/// Most words of a wording: nobody says more of them in the same way twice.
const WORDS: usize = 40;

/// Returns the words of a text in lower case, typing slips corrected, without courtesies and punctuation. `None` if they
/// would mean something else at another time, in another place or said by somebody else, so that no answer to a question
/// about them holds again.
#[must_use]
pub fn wording(robot: &Robot, text: &str) -> Option<String> {
    let language = languages::of_text(text).into_iter().next()?;
    let mut words = sentence::words(text, language).ok().filter(|words| words.len() <= WORDS)?;
    task::tidy(&mut words, robot, language);
    let reader = Reader { robot, language, text };
    let core = reader.core(&words, End::Courtesies);
    // "I need you in" is no courtesy: it sends the robot somewhere.
    let core = if core.lead == Some(Lead::Place) { words.as_slice() } else { core.words };
    if is_fleeting(&reader, core) {
        return None;
    }
    let said: Vec<String> = core.iter().filter(|word| !word.is_punctuation()).map(shown).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

fn is_fleeting(reader: &Reader<'_>, words: &[Word]) -> bool {
    let Language { words: lists, .. } = reader.language;
    let mut rests = (0..words.len()).filter_map(|at| words.get(at..));
    rests.any(|rest| lists.fleeting.length(rest) > 0 || reader.stands_for_thing(rest))
}

fn shown(word: &Word) -> String {
    if word.kind == Kind::Quoted { format!("\"{}\"", word.text) } else { word.text.clone() }
}
