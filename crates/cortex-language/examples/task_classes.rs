//! What each kind of sentence is taken for, as totals over files of `{"say", "language", "class"}`, one a line.
//!
//! `--show` prints the sentences that are taken for something else, but never those of a file whose name begins with
//! `unseen`: nobody may write rules for them. `--lang=de` counts one language.

use std::collections::BTreeMap;
use std::path::Path;

use cortex_language::task_class::{classify, languages};
use cortex_protocol::TaskClass::{self, Conversation, KnowledgeQuestion, QuestionAboutSelf, QuestionAboutWorld};

#[derive(serde::Deserialize)]
struct Sentence {
    say: String,
    language: String,
    class: String,
}

fn is_right(class: &str, got: TaskClass) -> bool {
    match class {
        "order" | "order_as_question" => !got.is_answered_by_words(),
        "question_world" => got == QuestionAboutWorld,
        "question_self" => got == QuestionAboutSelf,
        "knowledge" => got == KnowledgeQuestion,
        _ => got == Conversation,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    cortex_language::task_class::check()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants_sentences = arguments.iter().any(|argument| argument == "--show");
    let language = arguments.iter().find_map(|argument| argument.strip_prefix("--lang="));
    let mut totals: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for path in arguments.iter().filter(|argument| !argument.starts_with("--")).map(Path::new) {
        let is_unseen = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("unseen"));
        for line in std::fs::read_to_string(path)?.lines() {
            let sentence: Sentence = serde_json::from_str(line)?;
            if language.is_some_and(|language| language != sentence.language) {
                continue;
            }
            let got = classify(&sentence.say);
            if wants_sentences && !is_unseen && !is_right(&sentence.class, got) {
                let read_as = languages(&sentence.say).join(", ");
                println!("{} {} {got:?} (read as {read_as}): {}", sentence.language, sentence.class, sentence.say);
            }
            let got = if got.is_answered_by_words() { format!("{got:?}") } else { "an order".to_owned() };
            *totals.entry(sentence.class).or_default().entry(got).or_default() += 1;
        }
    }
    for (class, got) in &totals {
        let all: u32 = got.values().sum();
        for (got, number) in got {
            println!("{class:18} {got:20} {number:5} {:5.1} %", f64::from(*number) * 100.0 / f64::from(all));
        }
    }
    Ok(())
}
