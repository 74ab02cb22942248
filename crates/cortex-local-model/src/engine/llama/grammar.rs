//! Which texts are a reply, in the notation of llama.cpp (GBNF).

use cortex_local_model::protocol::{Ask, Problem, Tool};
use cortex_local_model::shape;
use llama_cpp_2::json_schema_to_grammar;
use serde_json::json;

/// Where every grammar begins.
pub(super) const ROOT: &str = "root";

/// The grammar of all replies to a request.
pub(super) fn of(ask: &Ask) -> Result<String, Problem> {
    let schema = shape::schema(&ask.tools, ask.answer.as_ref());
    let json = match schema {
        None => None,
        Some(schema) => Some(match json_schema_to_grammar(&schema.to_string()) {
            Ok(grammar) => grammar,
            // llama.cpp can't express every schema. The calls still get their names; Cortex checks all arguments anyway.
            Err(_) => {
                let tools: Vec<Tool> = ask.tools.iter().map(expressible).collect();
                let schema = shape::schema(&tools, ask.answer.as_ref()).unwrap_or_default();
                json_schema_to_grammar(&schema.to_string()).map_err(|error| Problem {
                    problem: format!("llama.cpp can't hold a reply to its schema: {error}"),
                    fix: String::new(),
                })?
            }
        }),
    };
    let words = shape::may_be_words(ask.answer.as_ref());
    Ok(match (json, words) {
        (Some(json), false) => json.lines().map(without_blank_lines).collect::<Vec<_>>().join("\n"),
        (Some(json), true) => {
            let rules: Vec<String> = json.lines().map(without_blank_lines).map(|rule| renamed(&rule)).collect();
            format!("{ROOT} ::= words | json\n{}\n{}", words_rule(), rules.join("\n"))
        }
        (None, _) => format!("{ROOT} ::= words\n{}", words_rule()),
    })
}

/// The tool, with arguments of any kind if llama.cpp can't express them.
fn expressible(tool: &Tool) -> Tool {
    let alone = shape::schema(std::slice::from_ref(tool), None).unwrap_or_default();
    match json_schema_to_grammar(&alone.to_string()) {
        Ok(_) => tool.clone(),
        Err(_) => Tool { name: tool.name.clone(), parameters: json!({"type": "object"}) },
    }
}

/// White space between the parts of JSON says nothing, and small models spend most of their tokens on it: one blank will do.
fn without_blank_lines(rule: &str) -> String {
    match rule.strip_prefix("space ::=") {
        Some(_) => "space ::= \" \"?".to_owned(),
        None => rule.to_owned(),
    }
}

/// The rule of all JSON has another name where words are a reply, too.
fn renamed(rule: &str) -> String {
    match rule.strip_prefix("root ::=") {
        Some(rest) => format!("json ::={rest}"),
        None => rule.to_owned(),
    }
}

fn words_rule() -> String {
    let letters: String = shape::NO_WORDS_BEGIN
        .iter()
        .map(|letter| match letter {
            '[' | ']' | '\\' => format!("\\{letter}"),
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            other => other.to_string(),
        })
        .collect();
    format!("words ::= [^{letters}] .*")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn ask(tools: Vec<Tool>, answer: Option<Value>) -> Ask {
        Ask { id: 1, messages: Vec::new(), tools, answer, temperature: 0.0, max_tokens: 10 }
    }

    #[test]
    fn words_and_calls_share_one_grammar() {
        let go = Tool { name: "go".to_owned(), parameters: json!({"type": "object", "properties": {}}) };
        let both = of(&ask(vec![go.clone()], None)).unwrap();
        assert!(both.starts_with("root ::= words | json\nwords ::= [^\\[{< \\n\\t] .*\n"), "{both}");
        assert_eq!(both.matches("root ::=").count(), 1, "{both}");
        assert!(both.contains("json ::=") && both.contains("\nspace ::= \" \"?"), "{both}");
        let decided = of(&ask(vec![go], Some(json!({"type": "object", "properties": {}})))).unwrap();
        assert!(!decided.contains("words") && decided.contains("space ::= \" \"?"), "{decided}");
        assert!(of(&ask(Vec::new(), None)).unwrap().starts_with("root ::= words\n"));
    }

    #[test]
    fn a_schema_that_llama_cpp_can_not_express_costs_only_its_own_tool() {
        let odd = Tool {
            name: "odd".to_owned(),
            parameters: json!({"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}),
        };
        let go = Tool {
            name: "go".to_owned(),
            parameters: json!({"type": "object", "properties": {"to": {"enum": ["kitchen"]}}, "required": ["to"]}),
        };
        let grammar = of(&ask(vec![odd, go], None)).unwrap();
        assert!(grammar.contains("odd") && grammar.contains("kitchen"), "{grammar}");
    }
}
