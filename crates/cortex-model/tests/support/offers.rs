//! Typing what the reader offers.

use cortex_core::ToolDefinition;

use super::reading::{Table, planned};

/// How many sentences one answer lists.
const LISTED: usize = 12;

/// Types each sentence that is offered for these tools, and returns how many there are.
pub(crate) async fn type_each(tools: &[ToolDefinition], table: &mut Table) -> usize {
    let mut typed = 0;
    // An answer lists the first tools only.
    for first in (0..tools.len()).step_by(LISTED) {
        let mut rotated = tools.to_vec();
        rotated.rotate_left(first);
        let said = planned("xyzzy plugh", rotated).await;
        let listed = said.split("I can do: ").nth(1).unwrap_or_else(|| panic!("nothing is offered: {said}"));
        let listed = listed.trim_end_matches('.');
        let offers: Vec<&str> = listed.split("; ").filter(|offer| !offer.starts_with("and ")).collect();
        typed += offers.len().min(tools.len() - first);
        for offer in offers {
            let task = filled(offer);
            let reply = planned(&task, tools.to_vec()).await;
            let names = tools.iter().filter(|tool| is_offer_of(offer, tool)).map(|tool| tool.name.as_str());
            let names: Vec<&str> = names.collect();
            let called = reply.split(' ').next().unwrap_or_default();
            if !names.contains(&called) || reply.contains(" | ") {
                table.row(&format!("{offer}\n    typed:    {task}"), &reply, &format!("one of {names:?}"));
            }
        }
    }
    typed
}

/// The sentence with a value in each place, which is written in capitals, with what it takes in brackets.
fn filled(offer: &str) -> String {
    let mut words = Vec::new();
    let mut rest = offer;
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        if !is_place(word) {
            words.push(word.to_owned());
            continue;
        }
        let mut last = word;
        while let Some((next, after)) = rest.split_once(' ').or((!rest.is_empty()).then_some((rest, "")))
            && is_place(next)
        {
            (last, rest) = (next, after);
        }
        let is_quoted = last.ends_with('"');
        let takes = rest.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        let value = match takes {
            Some((takes, after)) => {
                rest = after.trim_start();
                value(takes)
            }
            None => "marmalade".to_owned(),
        };
        words.push(if is_quoted { format!("\"{value}\"") } else { value });
    }
    words.join(" ")
}

fn is_place(word: &str) -> bool {
    let word = word.trim_matches('"');
    word.chars().any(char::is_alphabetic) && !word.chars().any(char::is_lowercase)
}

/// A value of what a place takes.
fn value(takes: &str) -> String {
    let words: Vec<&str> = takes.split(' ').collect();
    if takes == "on or off" {
        "off".to_owned()
    } else if let Some(at) = words.iter().position(|word| ["from", "least", "most"].contains(word)) {
        words[at + 1].to_owned()
    } else if takes.starts_with("a number above") || takes == "a number" || takes.starts_with("a whole") {
        "7".to_owned()
    } else if takes.starts_with("a number") {
        "1".to_owned()
    } else {
        takes.split(',').next().unwrap().to_owned()
    }
}

/// Whether the sentence is one that the tool declares, or its name.
fn is_offer_of(offer: &str, tool: &ToolDefinition) -> bool {
    let own = |text: &str| {
        let mut words: Vec<String> = Vec::new();
        let mut depth = 0;
        for word in text.split(' ') {
            depth += word.matches(['(', '{']).count();
            if depth == 0 && !is_place(word) {
                words.push(word.to_lowercase());
            }
            depth -= word.matches([')', '}']).count();
        }
        words
    };
    let name = tool.name.replace(['-', '_'], " ");
    let said = own(offer);
    tool.phrases.iter().any(|phrase| own(phrase) == said) || own(&name) == said
}
