//! Why nothing is done, and what could be done instead.

use std::collections::BTreeSet;

use cortex_core::fragment::capped;
use cortex_language::{Guard, MAX_PIECES, MAX_TOKENS, Problem, Understanding, listed, name_words};

use super::answers::ANSWER_CHARACTERS;
use super::offers;
use super::toolbox::{Toolbox, plain_name};

/// Most characters of what a person said, when it is repeated.
const QUOTED_CHARACTERS: usize = 200;
/// Most meanings of a clause that are shown.
const SEVERAL_SHOWN: usize = 8;

const OTHER_LANGUAGES: &str = "I understand commands in English and German only. For other languages, and for anything that is not a \
                            plain command, configure a model: --model openai:NAME@URL.";

/// Why nothing is done about a task that was not understood.
pub(super) fn refusal(toolbox: &Toolbox<'_>, task: &str, not_understood: &Understanding) -> String {
    let text = match not_understood {
        Understanding::Unclosed => {
            "A quotation mark in that has no partner, so I can't tell where the quoted text ends. Nothing was done."
                .into()
        }
        Understanding::TooLong => format!(
            "That is longer than I can read reliably: I take up to {MAX_TOKENS} words outside quotation marks and \
             {MAX_PIECES} clauses. Nothing was done. Say it in several tasks."
        ),
        Understanding::Refused(problems) => {
            let mut told: Vec<String> =
                problems.iter().map(|(clause, problem)| explained(toolbox, clause, problem)).collect();
            told.push("Nothing was done.".to_owned());
            if is_foreign(task, &toolbox.words()) {
                told.push(OTHER_LANGUAGES.to_owned());
            }
            // What names a tool by itself has told what it takes.
            let named = |problem: &Problem| matches!(problem, Problem::Missing { .. } | Problem::Several { .. });
            let clauses = problems.iter().filter(|(_, problem)| !named(problem)).map(|(clause, _)| clause.as_str());
            let said: Vec<&str> = clauses.collect();
            if !said.is_empty() {
                told.push(offers::nearest(toolbox, &said.join(" ")));
            }
            told.join(" ")
        }
        Understanding::Empty | Understanding::Understood(_) | Understanding::Unsure { .. } => {
            format!("There is no command in that. {}", offers::abilities(toolbox))
        }
    };
    capped(&text, ANSWER_CHARACTERS)
}

fn named(toolbox: &Toolbox<'_>, tool: usize) -> Option<String> {
    toolbox.get(tool).map(plain_name)
}

fn explained(toolbox: &Toolbox<'_>, clause: &str, problem: &Problem) -> String {
    let clause = capped(clause, QUOTED_CHARACTERS);
    let quoted = |text: &str| capped(text, QUOTED_CHARACTERS);
    let ability = |tool: usize| offers::ability(toolbox, tool).or_else(|| named(toolbox, tool)).unwrap_or_default();
    match problem {
        Problem::Unknown => format!("I did not understand \"{clause}\"."),
        Problem::TextNotMarked => format!(
            "In \"{clause}\" I can't tell which words are meant as a text; put the text itself into quotation marks."
        ),
        Problem::UnknownWords { words } => format!("In \"{clause}\" I did not understand \"{}\".", quoted(words)),
        Problem::UnknownValue { parameter, said, choices, similar, .. } => {
            let meant = similar.as_ref().map(|similar| format!(" Did you mean \"{similar}\"?")).unwrap_or_default();
            format!("I know no {parameter} \"{}\".{meant} I know: {}.", quoted(said), listed(choices))
        }
        Problem::Missing { tool, parameter, wanted } => {
            format!("\"{clause}\" needs {}{wanted}. Say for example: {}.", with_article(parameter), ability(*tool))
        }
        Problem::OutOfBounds { parameter, said, bounds } => {
            format!("In \"{clause}\", {} is not possible: the {parameter} must be {bounds}.", quoted(said))
        }
        Problem::Unit { parameter, said } => {
            format!(
                "In \"{clause}\", I can't tell how {} fits the {parameter}; say it in the unit that the tool takes.",
                quoted(said)
            )
        }
        Problem::Unsayable { tool, parameter } => format!(
            "\"{clause}\" needs {} that I can't read from a sentence ({}).",
            with_article(parameter),
            named(toolbox, *tool).unwrap_or_default()
        ),
        Problem::Several { tools } => {
            let shown: Vec<String> = tools.iter().take(SEVERAL_SHOWN).map(|tool| ability(*tool)).collect();
            let rest = tools.len().saturating_sub(SEVERAL_SHOWN);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("\"{clause}\" can mean several things: {}{more}. Say which.", shown.join(", "))
        }
        Problem::Guarded { guard, word } => {
            let why = match guard {
                Guard::Negation => "I can't work with what is not to be done",
                Guard::Condition => "I can't wait for conditions or other events",
                Guard::Timing => "I can't do things at a later time, or without end",
                Guard::Choice => "I don't choose between things",
                Guard::Report => "I only do what is asked of me, not what is said or asked about it",
                Guard::Reference => "I can't tell what that refers to",
            };
            format!(
                "I can't honour \"{word}\" in \"{clause}\": {why}. Say plainly what to do; put what is to be spoken into quotation marks."
            )
        }
        Problem::NothingToTell => {
            format!("I don't know what \"{clause}\" refers to: nothing was looked at or asked before it.")
        }
        Problem::NothingToSeeWith => format!("I can't do \"{clause}\": there is no one tool to look with."),
        Problem::Unanswerable => format!("I have no way to find out \"{clause}\"."),
    }
}

/// Returns true if the task seems to be in another language: it is written in another script, or several of its words,
/// and at least every third one, belong to no language that is read and are not the robot's own.
fn is_foreign(task: &str, own: &BTreeSet<String>) -> bool {
    const WORDS_READ: usize = 200;
    let words: Vec<String> = name_words(task).into_iter().take(WORDS_READ).collect();
    let other_script = |word: &String| word.chars().any(|next| next.is_alphabetic() && next > '\u{24f}');
    let unknown = words.iter().filter(|word| !cortex_language::is_known(word) && !own.contains(*word)).count();
    words.iter().any(other_script) || (unknown > 1 && unknown * 3 >= words.len())
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_are_noticed() {
        for (task, foreign) in [
            ("go to the garage", false),
            ("don’t go anywhere", false),
            ("rotate turntable minus ninety", false),
            ("dance", false),
            ("drive forward half a metre", false),
            ("could you swing by the pharmacy and fetch Ada's pills?", false),
            ("fahre bitte in die Küche", false),
            ("va a la cocina por favor", true),
            ("去厨房", true),
            ("поезжай на кухню", true),
        ] {
            let own = BTreeSet::from(["rotate", "turntable"].map(str::to_owned));
            assert_eq!(is_foreign(task, &own), foreign, "{task}");
        }
    }
}
