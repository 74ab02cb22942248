//! Words that say when, whether or against what something is to be done. A task with such a word teaches nothing: the steps that
//! were carried out don't hold what it says.

/// Such words, in English and German. Longer than what may not hide in an open place of a sentence ([`cortex_core::said`]): here
/// also the words count that stay the same.
const WORDS: &str = "\
    if unless whether when whenever while until till before after afterwards once since during later as case \
    provided assuming suppose supposing depending only otherwise else instead except but or either maybe \
    perhaps because not no nor neither never none nothing nobody nowhere without cannot avoid wenn falls \
    sofern soweit ob sobald solange sooft bevor ehe vorher zuvor nachdem nachher danach bis während seit \
    seitdem später als wann immer nur sonst ansonsten andernfalls statt stattdessen anstatt außer ausser \
    aber sondern oder entweder vielleicht weil nicht nichts nie niemals niemand nirgends weder noch ohne \
    keinesfalls keineswegs denn vor";
/// What other words begin or end with that say no.
const NO_BEGINNING: &str = "kein";
const NO_ENDING: &str = "n't";
/// The same without its apostrophe, after these.
const BARE_NO_ENDING: &str = "nt";
const BEFORE_BARE_NO: &[&str] =
    &["do", "does", "did", "ca", "wo", "is", "are", "was", "were", "should", "would", "could", "must"];

/// Whether there is such a word in the task.
pub(super) fn has_any(task: &str) -> bool {
    let task = task.to_lowercase().replace('’', "'");
    let mut words = task.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.any(|word| WORDS.split(' ').any(|known| known == word) || says_no(word))
}

fn says_no(word: &str) -> bool {
    let is_bare = word.strip_suffix(BARE_NO_ENDING).is_some_and(|before| BEFORE_BARE_NO.contains(&before));
    is_bare || word.starts_with(NO_BEGINNING) || word.ends_with(NO_ENDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_says_when_or_whether_is_seen_wherever_it_stands() {
        for task in [
            "go to the office if the kitchen light is on",
            "Unless the door is shut, go to the office",
            "don't go to the office",
            "don’t go to the office",
            "isn't it time for a round",
            "go to the office-when the light is on",
            "wait until noon and look around",
            "geh ins Büro, falls das Licht an ist",
            "Geh in keinen Raum",
            "mach eine Runde, bevor du lädst",
            "mach ohne Licht eine Runde",
        ] {
            assert!(has_any(task), "{task}");
        }
        for task in ["make a tour of the kitchen", "check on the front door", "mach eine Runde durch die Küche"] {
            assert!(!has_any(task), "{task}");
        }
    }
}
