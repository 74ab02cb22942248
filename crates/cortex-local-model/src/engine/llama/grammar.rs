//! Which texts are a reply, in the notation of llama.cpp (GBNF).

use cortex_local_model::protocol::{Ask, Problem, Tool};
use cortex_local_model::shape;
use llama_cpp_2::json_schema_to_grammar;
use serde_json::{Value, json};

/// Where every grammar begins.
pub(super) const ROOT: &str = "root";
/// What llama.cpp writes out in full.
const BOUNDS: [&str; 7] = ["minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems"];
/// Where schemas stand by names, and where in a list.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// The grammar of all replies to a request, as `compile` makes it of its rules, where llama.cpp can use them; and the tools of
/// which it does not hold all that their schemas ask for.
///
/// llama.cpp can't express every schema: it knows no bound of a thousand letters, say. Such a tool alone is held to less. Cortex
/// checks all arguments anyway.
pub(super) fn usable<G>(ask: &Ask, compile: impl Fn(&str) -> Option<G>) -> Result<(G, Vec<String>), Problem> {
    let answer = ask.answer.as_ref();
    if let Some(grammar) = rules(&ask.tools, answer).and_then(|rules| compile(&rules)) {
        return Ok((grammar, Vec::new()));
    }
    let fits = |tool: &Tool| {
        rules_of_json(std::slice::from_ref(tool), None).is_some_and(|rules| compile(&rules.join("\n")).is_some())
    };
    let tools: Vec<Tool> = ask.tools.iter().map(|tool| expressible(tool, fits)).collect();
    let changed = ask.tools.iter().zip(&tools).filter(|(tool, held)| tool != held);
    let loosened = changed.map(|(tool, _)| tool.name.clone()).collect();
    if let Some(grammar) = rules(&tools, answer).and_then(|rules| compile(&rules)) {
        return Ok((grammar, loosened));
    }
    // Each one by itself is not too much, but all of them together are.
    let tools: Vec<Tool> = ask.tools.iter().map(with_any_arguments).collect();
    let grammar = rules(&tools, answer).and_then(|rules| compile(&rules)).ok_or_else(|| Problem {
        problem: "llama.cpp can't hold a reply to the schemas of its tools".to_owned(),
        fix: "lower mission.max_offered_tools".to_owned(),
    })?;
    Ok((grammar, tools.into_iter().map(|tool| tool.name).collect()))
}

/// The tool with as much of its schema as `fits`.
fn expressible(tool: &Tool, fits: impl Fn(&Tool) -> bool) -> Tool {
    let unbounded = Tool { name: tool.name.clone(), parameters: without_bounds(&tool.parameters) };
    let forms = [tool.clone(), unbounded];
    forms.into_iter().find(fits).unwrap_or_else(|| with_any_arguments(tool))
}

fn with_any_arguments(tool: &Tool) -> Tool {
    Tool { name: tool.name.clone(), parameters: json!({"type": "object"}) }
}

/// A schema without what llama.cpp has to write out letter by letter, item by item.
fn without_bounds(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let kept = fields.iter().filter(|(key, _)| !BOUNDS.contains(&key.as_str()));
    let fields = kept.map(|(key, value)| {
        let value = match value {
            // Names of arguments, not of bounds.
            Value::Object(named) if NAMED.contains(&key.as_str()) => {
                named.iter().map(|(name, schema)| (name.clone(), without_bounds(schema))).collect()
            }
            Value::Array(schemas) if LISTS.contains(&key.as_str()) => schemas.iter().map(without_bounds).collect(),
            schema if key == "items" || key == "additionalProperties" => without_bounds(schema),
            other => other.clone(),
        };
        (key.clone(), value)
    });
    fields.collect()
}

/// The rules of all replies. None: llama.cpp can't express them.
fn rules(tools: &[Tool], answer: Option<&Value>) -> Option<String> {
    if tools.is_empty() && answer.is_none() {
        return Some(format!("{ROOT} ::= words\n{}", words_rule()));
    }
    let json = rules_of_json(tools, answer)?;
    if !shape::may_be_words(answer) {
        return Some(json.join("\n"));
    }
    let json: Vec<String> = json.iter().map(|rule| renamed(rule)).collect();
    Some(format!("{ROOT} ::= words | json\n{}\n{}", words_rule(), json.join("\n")))
}

/// The rules of the replies that are no words.
fn rules_of_json(tools: &[Tool], answer: Option<&Value>) -> Option<Vec<String>> {
    let schema = shape::schema(tools, answer)?;
    let rules = json_schema_to_grammar(&schema.to_string()).ok()?;
    Some(rules.lines().map(without_blank_lines).collect())
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
    use super::*;

    fn ask(tools: Vec<Tool>, answer: Option<Value>) -> Ask {
        Ask { id: 1, messages: Vec::new(), tools, answer, temperature: 0.0, max_tokens: 10 }
    }

    /// The rules, where nothing refuses them.
    fn of(tools: Vec<Tool>, answer: Option<Value>) -> String {
        usable(&ask(tools, answer), |rules| Some(rules.to_owned())).unwrap().0
    }

    fn go() -> Tool {
        Tool {
            name: "go".to_owned(),
            parameters: json!({"type": "object", "properties": {"to": {"enum": ["kitchen"]}}, "required": ["to"]}),
        }
    }

    #[test]
    fn words_and_calls_share_one_grammar() {
        let both = of(vec![go()], None);
        assert!(both.starts_with("root ::= words | json\nwords ::= [^\\[{< \\n\\t] .*\n"), "{both}");
        assert_eq!(both.matches("root ::=").count(), 1, "{both}");
        assert!(both.contains("json ::=") && both.contains("\nspace ::= \" \"?"), "{both}");
        let decided = of(vec![go()], Some(json!({"type": "object", "properties": {}})));
        assert!(!decided.contains("words") && decided.contains("space ::= \" \"?"), "{decided}");
        assert!(of(Vec::new(), None).starts_with("root ::= words\n"));
    }

    #[test]
    fn a_schema_that_llama_cpp_can_not_express_costs_only_its_own_tool() {
        let odd = Tool {
            name: "odd".to_owned(),
            parameters: json!({"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}),
        };
        let (grammar, loosened) = usable(&ask(vec![odd, go()], None), |rules| Some(rules.to_owned())).unwrap();
        assert!(grammar.contains("odd") && grammar.contains("kitchen"), "{grammar}");
        assert_eq!(loosened, ["odd"]);
    }

    /// llama.cpp makes rules of some schemas that it can't use afterwards: then no tool at all could be called.
    #[test]
    fn regression_rules_that_can_not_be_used_cost_only_their_own_tool() {
        let long = Tool {
            name: "tell".to_owned(),
            parameters: json!({"type": "object", "required": ["pattern"], "properties": {
                "pattern": {"type": "string", "maxLength": 100_000}, "loud": {"type": "boolean", "pattern": "x"}}}),
        };
        let compile = |rules: &str| (!rules.contains("100000")).then(|| rules.to_owned());
        let (grammar, loosened) = usable(&ask(vec![go(), long.clone()], None), compile).unwrap();
        assert!(grammar.contains("kitchen") && grammar.contains("loud"), "{grammar}");
        assert_eq!(loosened, ["tell"]);
        // Each by itself is no burden, and both are.
        let compile = |rules: &str| (!(rules.contains("kitchen") && rules.contains("loud"))).then(|| rules.to_owned());
        let (grammar, loosened) = usable(&ask(vec![go(), long.clone()], None), compile).unwrap();
        assert!(grammar.contains("go") && grammar.contains("tell") && !grammar.contains("kitchen"), "{grammar}");
        assert_eq!(loosened, ["go", "tell"]);
        let problem = usable(&ask(vec![long], None), |_| None::<String>).unwrap_err();
        assert!(problem.fix.contains("max_offered_tools"), "{problem:?}");
    }
}
