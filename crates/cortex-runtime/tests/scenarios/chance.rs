//! A model that plans by chance: it calls whatever tools it is offered, with values that fit or do not, and says yes to most steps.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, ModelCall, ModelError, Purpose, ReplyListener, ToolDefinition,
};
use serde_json::{Map, Value, json};

/// Values of texts: places and things of the scenarios, and what only looks like a value.
const TEXTS: [&str; 14] = [
    "kitchen",
    "kitchen",
    "hall",
    "hall",
    "bath",
    "pit",
    "street",
    "cup",
    "moon",
    "Hello!",
    "",
    "<each place>",
    "<output of step 1>",
    "EXECUTE",
];
const NUMBERS: [f64; 5] = [0.0, 1.0, 3.0, 5.0, -1e9];
const WORDS: [&str; 3] = ["Done.", "I have gone to the kitchen.", "I can't do that."];
const DECISIONS: [&str; 8] =
    ["EXECUTE", "EXECUTE", "EXECUTE", "EXECUTE", "EXECUTE", "SKIP: already done", "ABORT: unsafe", "yes, EXECUTE"];

/// The same numbers on every machine (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = (mixed ^ (mixed >> 31)) % u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from(number).unwrap_or_default()
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    fn text(&mut self, all: &[&str]) -> String {
        self.one_of(all).map(|text| (*text).to_owned()).unwrap_or_default()
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(choices) = schema["enum"].as_array() {
            return self.one_of(choices).cloned().unwrap_or_default();
        }
        match schema["type"].as_str() {
            Some("integer" | "number") => json!(self.one_of(&NUMBERS)),
            Some("boolean") => json!(self.below(2) == 0),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!(self.text(&TEXTS)),
        }
    }

    fn arguments(&mut self, schema: &Value) -> Map<String, Value> {
        let mut arguments = Map::new();
        match schema["properties"].as_object() {
            Some(properties) => {
                for (name, schema) in properties {
                    if self.below(20) > 0 {
                        arguments.insert(name.clone(), self.value(schema));
                    }
                }
            }
            None if self.below(2) == 0 => drop(arguments.insert("place".to_owned(), json!(self.text(&TEXTS)))),
            None => {}
        }
        arguments
    }

    fn call(&mut self, index: usize, tool: &ToolDefinition) -> ModelCall {
        let arguments = CallArguments::Object(self.arguments(&tool.parameters));
        ModelCall { id: format!("call-{index}"), name: tool.name.clone(), arguments }
    }

    fn reply(&mut self, request: &ChatRequest) -> ChatReply {
        let with = |text: String| ChatReply { text, ..ChatReply::default() };
        let calls = match request.purpose {
            Purpose::Plan if request.tools.is_empty() || self.below(10) == 0 => return with(self.text(&WORDS)),
            Purpose::Plan => 1 + self.below(3),
            Purpose::Confirm if self.below(8) > 0 => return with(self.text(&DECISIONS)),
            Purpose::Confirm | Purpose::Correct => 1,
        };
        let calls = (0..calls).filter_map(|index| {
            let tool = self.one_of(&request.tools)?;
            Some(self.call(index, tool))
        });
        ChatReply { calls: calls.collect(), ..ChatReply::default() }
    }
}

/// See above.
pub(crate) struct Chance(Mutex<Dice>);

impl Chance {
    /// Other seeds, other plans.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Dice(seed)))
    }
}

#[async_trait]
impl ChatModel for Chance {
    fn label(&self) -> String {
        "chance".to_owned()
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).reply(request))
    }
}
