//! Totals over files of sentences with their classes; with `--show CLASS=GOT` style filters the seen sentences that differ.

use std::collections::BTreeMap;
fn main() {
    if let Err(e) = cortex_language::task_class::check() { println!("{e}"); return; }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let show = args.iter().any(|a| a == "--show");
    let lang = args.iter().find_map(|a| a.strip_prefix("--lang=")).map(str::to_owned);
    let mut totals: BTreeMap<(String, String), u32> = BTreeMap::new();
    for file in args.iter().filter(|a| !a.starts_with("--")) {
        let show = show && !file.contains("unseen");
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let Ok(v) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            let get = |k: &str| v.get(k).and_then(|x| x.as_str()).unwrap_or_default().to_owned();
            let (say, l, class) = (get("say"), get("language"), get("class"));
            if lang.as_ref().is_some_and(|lang| *lang != l) { continue; }
            let got = cortex_language::task_class::classify(&say);
            use cortex_protocol::GoalClass::*;
            let good = match class.as_str() {
                "order" | "order_as_question" => !got.is_answered_by_words(),
                "question_world" => got == QuestionAboutWorld,
                "question_self" => got == QuestionAboutSelf,
                "knowledge" => got == KnowledgeQuestion,
                _ => got == Conversation,
            };
            if show && !good { println!("{l} {class} {got:?}: {say}"); }
            let got = if got.is_answered_by_words() { format!("{got:?}") } else { "order".to_owned() };
            *totals.entry((class, got)).or_default() += 1;
        }
    }
    for ((class, got), n) in &totals {
        let all: u32 = totals.iter().filter(|((c, _), _)| c == class).map(|(_, n)| n).sum();
        println!("{class:18} {got:20} {n:5} {:5.1}%", f64::from(*n) * 100.0 / f64::from(all));
    }
}
