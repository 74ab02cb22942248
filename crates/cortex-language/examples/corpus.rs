//! Measures the reader on the corpus: `cargo run -p cortex-language --example corpus -- [KIND] [ROBOT]`.
//!
//! Of the half that may be seen, every sentence of that kind is shown that was not taken as it must be; of the other half
//! only the totals.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a tool for developers")]

#[path = "../tests/support/corpus.rs"]
mod corpus;

use corpus::{Verdict, measure, shown};
use cortex_language::Understanding;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().map_or("", String::as_str);
    let only = arguments.get(1).map_or("", String::as_str);
    if kind == "say" {
        let tools = corpus::tools(only);
        let robot = corpus::robot(&tools);
        for text in &arguments[2..] {
            match cortex_language::understand(&robot, text) {
                Understanding::Understood(parts) => println!("{text}\n    {}", shown(&parts, &tools)),
                other => println!("{text}\n    {other:?}"),
            }
        }
        return;
    }
    let halves: &[&str] = match kind {
        "unseen" => &["unseen"],
        "german" => &["german"],
        "german_unseen" => &["german_unseen"],
        "former" => &["former"],
        "fresh" => &["fresh"],
        "more" => &["more"],
        "later" => &["later"],
        "tricky" => &["tricky"],
        "everyday" => &["everyday"],
        "new_robot" => &["new_robot"],
        _ => &["seen", "former", "fresh", "more", "later", "tricky", "everyday"],
    };
    for half in halves {
        let totals = measure(half, |robot, line, understanding, verdict, tools| {
            let is_wanted = (line.kind == kind || *half == "german" || (kind == "wrong" && verdict == Verdict::Wrong))
                && (only.is_empty() || only == robot);
            if half.ends_with("unseen") || *half == "new_robot" || !is_wanted || verdict == Verdict::Right {
                return;
            }
            let reply = match understanding {
                Understanding::Understood(parts) => shown(parts, tools),
                Understanding::Unsure { offers, .. } => {
                    format!("? {}", offers.iter().map(|it| shown(it, tools)).collect::<Vec<_>>().join(" OR "))
                }
                other => format!("{other:?}"),
            };
            let wanted: Vec<String> = line
                .must
                .iter()
                .take(1)
                .map(|calls| {
                    calls
                        .iter()
                        .map(|call| format!("{} {}", call.tool, serde_json::Value::Object(call.arguments.clone())))
                        .collect::<Vec<_>>()
                        .join(" | ")
                })
                .collect();
            let check = line.check.iter().map(|check| {
                let listed = |calls: &[corpus::ExpectedCall]| {
                    let named = calls.iter().map(|call| format!("{} {:?}", call.tool, call.arguments));
                    named.collect::<Vec<_>>().join(" | ")
                };
                format!(
                    "{} then {} else {}",
                    listed(std::slice::from_ref(check)),
                    listed(&line.then),
                    listed(&line.otherwise)
                )
            });
            let wanted: Vec<String> = wanted.into_iter().chain(check).collect();
            println!(
                "[{robot} {verdict:?}] {}\n    wanted: {}{}\n    reply:  {reply}",
                line.say,
                wanted.join(" OR "),
                line.about.clone().or(line.why.clone()).unwrap_or_default()
            );
        });
        println!("{half}: right, asked, refused, wrong");
        for (robot, totals) in totals {
            let rows: Vec<String> = totals
                .0
                .iter()
                .map(|(kind, [right, asked, refused, wrong])| {
                    format!("{kind} {right}/{asked}/{refused}/{wrong} of {}", right + asked + refused + wrong)
                })
                .collect();
            println!("  {robot:10} {}", rows.join("; "));
        }
    }
}
