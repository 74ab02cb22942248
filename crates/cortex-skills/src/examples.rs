//! Sentences of people who want a skill, and of people who do not although it sounds so.

use std::collections::BTreeSet;

use cortex_core::fragment::one_line;
use thiserror::Error;

use crate::words::words;

/// Most examples of a skill, and most counter-examples.
const MOST: usize = 50;
/// Most characters of one.
const MOST_CHARACTERS: usize = 300;
/// Most of all skills that are used: weighing them takes the third power of their number.
const MOST_OF_ALL: usize = 1_000;
/// Examples that people are shown, and most characters of one that something is wrong with.
const SHOWN: usize = 3;
const SHOWN_CHARACTERS: usize = 60;

/// What is wrong with examples. What is quoted is escaped, and on one line.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum ExampleProblem {
    #[error("are empty; write what people say, one sentence a line, or leave the key out")]
    Empty,
    #[error("have {0} sentences; at most {MOST} are read, so keep those that differ most")]
    TooMany(usize),
    #[error("hold {0:?}, which has more than {MOST_CHARACTERS} characters; write what people say in one breath")]
    TooLong(String),
    #[error("hold {0:?}, with a character that can't be seen; write the sentence anew")]
    HiddenCharacter(String),
    #[error("hold {0:?}, which has no word; write what people say")]
    NoWord(String),
    #[error("hold {0:?}, which another example or counter-example says in the same words; say it once")]
    Twice(String),
    #[error("stand alone; name in cortex-examples what people say who want the skill")]
    OnlyCounterExamples,
}

/// The examples of a skill, as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examples {
    /// Sentences of people who want it.
    pub wanted: Vec<String>,
    /// Sentences of people who want something else.
    pub unwanted: Vec<String>,
}

impl Examples {
    /// Takes the sentences of a text, one a line.
    pub(crate) fn sentences(text: &str) -> Result<Vec<String>, ExampleProblem> {
        let all: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match all.len() {
            0 => return Err(ExampleProblem::Empty),
            1..=MOST => {}
            count => return Err(ExampleProblem::TooMany(count)),
        }
        if let Some(long) = all.iter().find(|line| line.chars().nth(MOST_CHARACTERS).is_some()) {
            return Err(ExampleProblem::TooLong(shown(long)));
        }
        if let Some(hostile) = all.iter().find(|line| one_line(line, usize::MAX) != **line) {
            return Err(ExampleProblem::HiddenCharacter(shown(hostile)));
        }
        if let Some(wordless) = all.iter().find(|line| words(line).is_empty()) {
            return Err(ExampleProblem::NoWord(shown(wordless)));
        }
        Ok(all.into_iter().map(str::to_owned).collect())
    }

    /// Checks what holds of both kinds together.
    pub(crate) fn check(&self) -> Result<(), ExampleProblem> {
        if self.wanted.is_empty() && !self.unwanted.is_empty() {
            return Err(ExampleProblem::OnlyCounterExamples);
        }
        let mut seen = BTreeSet::new();
        match self.wanted.iter().chain(&self.unwanted).find(|sentence| !seen.insert(words(sentence))) {
            Some(twice) => Err(ExampleProblem::Twice(shown(twice))),
            None => Ok(()),
        }
    }

    /// The first of them, for people.
    pub(crate) fn told(&self) -> Option<String> {
        let first: Vec<String> = self.wanted.iter().take(SHOWN).map(|one| format!("\"{one}\"")).collect();
        let others = self.wanted.len().saturating_sub(SHOWN);
        let others = if others == 0 { String::new() } else { format!(", and {others} more") };
        (!first.is_empty()).then(|| format!("for tasks like: {}{others}", first.join(", ")))
    }
}

fn shown(entry: &str) -> String {
    one_line(entry, SHOWN_CHARACTERS)
}

/// The examples of all skills, within a bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ExampleSet {
    /// The skills that have some, by name.
    pub(crate) skills: Vec<String>,
    /// Each sentence, and the place in `skills` of the one that it wants.
    pub(crate) sentences: Vec<(String, Option<usize>)>,
}

impl ExampleSet {
    /// Those of these skills. Where they are too many, the first ones of each count.
    pub(crate) fn of<'s>(skills: impl Iterator<Item = (&'s str, &'s Examples)>) -> Self {
        let all: Vec<(&str, &Examples)> = skills.filter(|(_, examples)| !examples.wanted.is_empty()).collect();
        let count = |share: usize| -> usize {
            all.iter().map(|(_, each)| each.wanted.len().min(share) + each.unwanted.len().min(share)).sum()
        };
        let share = (0..=MOST).rev().find(|share| count(*share) <= MOST_OF_ALL).unwrap_or_default();
        let mut set = Self::default();
        for (name, examples) in all {
            let wants = set.skills.len();
            set.skills.push(name.to_owned());
            let taken = |sentences: &[String], wants: Option<usize>| -> Vec<(String, Option<usize>)> {
                sentences.iter().take(share).map(|sentence| (sentence.clone(), wants)).collect()
            };
            set.sentences.extend(taken(&examples.wanted, Some(wants)));
            set.sentences.extend(taken(&examples.unwanted, None));
        }
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(wanted: &[String], unwanted: &[String]) -> Examples {
        Examples { wanted: wanted.to_vec(), unwanted: unwanted.to_vec() }
    }

    #[test]
    fn what_is_wrong_with_a_sentence_is_told_in_one_line() {
        for (text, problem) in [
            (" \n\n", "are empty"),
            (&"one more\n".repeat(51), "have 51 sentences; at most 50"),
            (&"far too long ".repeat(30), "which has more than 300 characters"),
            ("go\u{202e} home", "a character that can't be seen"),
            ("go\u{7} home", "a character that can't be seen"),
            ("go home\n?!", "\"?!\", which has no word"),
        ] {
            let told = Examples::sentences(text).expect_err(text).to_string();
            assert!(told.contains(problem) && !told.contains(char::is_control), "{told}");
        }
        let said = |text: &str| vec![text.to_owned()];
        let twice = examples(&said("Empty the bins!"), &said("empty the bin")).check();
        assert!(twice.is_err_and(|problem| problem.to_string().contains("\"empty the bin\"")));
        assert_eq!(examples(&[], &said("go home")).check(), Err(ExampleProblem::OnlyCounterExamples));
        assert_eq!(examples(&said("go home"), &[]).check(), Ok(()));
    }

    #[test]
    fn of_too_many_examples_each_skill_keeps_its_first() {
        let many: Vec<String> = (0..50).map(|number| format!("example {number}")).collect();
        let few = examples(&many[..3], &[]);
        let skills: Vec<(String, Examples)> =
            (0..40).map(|number| (format!("skill-{number}"), examples(&many, &[]))).collect();
        let all = skills.iter().map(|(name, examples)| (name.as_str(), examples)).chain([("few", &few)]);
        let set = ExampleSet::of(all);
        assert_eq!((set.skills.len(), set.sentences.len()), (41, 40 * 24 + 3));
        assert_eq!(set.sentences[24], ("example 0".to_owned(), Some(1)));
        assert!(ExampleSet::of([("none", &Examples::default())].into_iter()).is_empty());
    }
}
