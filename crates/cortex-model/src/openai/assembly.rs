//! From the pieces of a streamed reply to the body that the endpoint would have sent whole, so that one reader,
//! [`super::reply`], reads both.

use serde_json::{Map, Value, json};

use super::reply;
use crate::repetition_loop::{MOST_SAME_CALLS, Text};

/// Most bytes of the words, and of the thoughts, of a reply: far more than any bound of tokens allows. It guards against
/// servers that keep to none.
const MOST_BYTES: usize = 256 << 10;
/// Most calls of a reply. A plan is cut long before.
const MOST_CALLS: usize = 1_000;
/// The reply is searched for a loop after so many further bytes; a call counts as some of them.
const SEARCH_EVERY: usize = 200;
const BYTES_OF_A_CALL: usize = 40;

/// A reply that is put together. Pieces add up; fields that come whole are taken from the last piece that has them.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    content: String,
    /// Thoughts in a field of their own. They are no part of the reply, but are searched for loops.
    thought: String,
    refusal: String,
    calls: Vec<Call>,
    /// The first reason that the endpoint gave for the end.
    finish: Option<Value>,
    usage: Option<Value>,
    /// The bytes since the last search for a loop.
    unsearched: usize,
    /// The call that has grown last.
    growing: usize,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Arguments as an object, as some servers send them: whole.
    object: Option<Map<String, Value>>,
}

/// The state of a reply after a piece.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    Continues,
    /// No more of the reply is wanted: it is in a loop, or longer than any reply may be.
    Enough,
    /// The endpoint reports this error instead.
    Failed(Value),
}

impl Assembly {
    /// Takes one piece: the data of one event, read as JSON.
    pub(super) fn take(&mut self, piece: &Value) -> Taken {
        if let Some(error) = piece.get("error").filter(|error| !error.is_null()) {
            return Taken::Failed(json!({"error": error}));
        }
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        // Cortex asks for one choice. Its index is not looked at: a server has been seen to count it up with each piece.
        if let Some(choice) = piece.get("choices").and_then(Value::as_array).and_then(|choices| choices.first()) {
            let part = |key: &str| choice.get(key).filter(|part| part.is_object());
            if let Some(delta) = part("delta") {
                self.add(delta);
            } else if let Some(message) = part("message") {
                // Some servers end with the whole reply.
                self.content.clear();
                self.calls.clear();
                self.add(message);
            }
            let finish = choice.get("finish_reason").filter(|finish| !finish.is_null() && *finish != "");
            if self.finish.is_none() {
                self.finish = finish.cloned();
            }
        }
        self.bounded()
    }

    /// Whether the endpoint has given a reason for the end. Without one, a part of the reply may be missing.
    pub(super) fn has_ended(&self) -> bool {
        self.finish.is_some()
    }

    /// The words so far, without thoughts and without a possible beginning of one.
    pub(super) fn words(&self) -> &str {
        reply::words_so_far(&self.content)
    }

    /// The body that would have come whole.
    pub(super) fn into_body(self) -> Value {
        let calls: Vec<Value> = self.calls.into_iter().map(Call::into_value).collect();
        let mut message = Map::new();
        message.insert("content".to_owned(), json!(self.content));
        if !self.refusal.is_empty() {
            message.insert("refusal".to_owned(), json!(self.refusal));
        }
        if !self.thought.is_empty() {
            message.insert("reasoning_content".to_owned(), json!(self.thought));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        json!({
            "choices": [{"finish_reason": self.finish, "message": message}],
            "usage": self.usage,
        })
    }

    fn add(&mut self, delta: &Value) {
        match delta.get("content") {
            Some(Value::String(text)) => self.add_words(text),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.add_part(part)),
            _ => {}
        }
        for field in ["reasoning_content", "reasoning", "thinking"] {
            if let Some(text) = delta.get(field).and_then(Value::as_str) {
                self.thought.push_str(text);
                self.unsearched += text.len();
            }
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(text);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for call in calls {
            self.add_call(call);
        }
    }

    fn add_part(&mut self, part: &Value) {
        if let Some(text) = part.as_str().or_else(|| part.get("text").and_then(Value::as_str)) {
            self.add_words(text);
        } else if let Some(text) = part.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(text);
        }
    }

    fn add_words(&mut self, text: &str) {
        self.content.push_str(text);
        self.unsearched += text.len();
    }

    /// A piece of a call belongs to the call of its index; without an index, to the last call.
    fn add_call(&mut self, piece: &Value) {
        if self.calls.len() > MOST_CALLS {
            return;
        }
        let index = piece.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        let known = known.filter(|at| self.calls.get(*at).is_some_and(|call| !call.is_complete_before(piece)));
        self.growing = known.unwrap_or_else(|| {
            self.calls.push(Call { index, ..Call::default() });
            self.unsearched += BYTES_OF_A_CALL;
            self.calls.len() - 1
        });
        if let Some(call) = self.calls.get_mut(self.growing) {
            self.unsearched += call.add(piece);
        }
    }

    /// Searches the reply for a loop now and then. A reply of which no more is wanted says itself why it ended.
    fn bounded(&mut self) -> Taken {
        let is_long = [&self.content, &self.thought].into_iter().any(|text| text.len() > MOST_BYTES);
        if is_long || self.calls.len() > MOST_CALLS {
            self.finish = Some(json!(reply::TOO_LONG));
            return Taken::Enough;
        }
        if self.unsearched < SEARCH_EVERY {
            return Taken::Continues;
        }
        self.unsearched = 0;
        let arguments = self.calls.get(self.growing).map_or("", |call| &call.arguments);
        if Text::Words.ends_in_loop(&self.content)
            || Text::Words.ends_in_loop(&self.thought)
            || Text::Arguments.ends_in_loop(arguments)
            || self.same_calls() > MOST_SAME_CALLS
        {
            self.finish = Some(json!(reply::REPEATS));
            return Taken::Enough;
        }
        Taken::Continues
    }

    /// The number of calls at the end that are all the same.
    fn same_calls(&self) -> usize {
        let Some(last) = self.calls.last() else { return 0 };
        self.calls.iter().rev().take_while(|call| call.has_content_of(last)).count()
    }
}

/// The function of a call; some servers leave out the wrapper.
fn function(piece: &Value) -> &Value {
    piece.get("function").unwrap_or(piece)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Call {
    /// Whether the piece begins another call, whatever its index says: it has an id of its own, or it names a tool after the
    /// arguments of this one are complete, or it has further arguments that come whole. Servers have been seen to give each
    /// call the index 0, some without any id.
    fn is_complete_before(&self, piece: &Value) -> bool {
        let id = text(piece, "id");
        if !id.is_empty() && !self.id.is_empty() {
            return id != self.id;
        }
        let further = function(piece).get("arguments");
        let is_whole = further.is_some_and(Value::is_object);
        let names_a_tool = !text(function(piece), "name").is_empty();
        let is_complete = self.object.is_some()
            || (!self.arguments.trim().is_empty() && serde_json::from_str::<Value>(&self.arguments).is_ok());
        is_complete && (names_a_tool || is_whole || self.object.is_some())
    }

    /// Adds a piece, and returns the number of bytes of its arguments.
    fn add(&mut self, piece: &Value) -> usize {
        if self.id.is_empty() {
            text(piece, "id").clone_into(&mut self.id);
        }
        let name = text(function(piece), "name");
        if self.name != name {
            self.name.push_str(name);
        }
        match function(piece).get("arguments") {
            Some(Value::String(text)) => {
                // An empty object in the place of arguments that are still to come.
                if self.arguments == "{}" && text.starts_with('{') {
                    self.arguments.clear();
                }
                self.arguments.push_str(text);
                text.len()
            }
            Some(Value::Object(fields)) => {
                self.object = Some(fields.clone());
                0
            }
            _ => 0,
        }
    }

    fn has_content_of(&self, other: &Self) -> bool {
        (&self.name, &self.arguments, &self.object) == (&other.name, &other.arguments, &other.object)
    }

    fn into_value(self) -> Value {
        let arguments = match self.object {
            Some(fields) if self.arguments.is_empty() => Value::Object(fields),
            _ => Value::String(self.arguments),
        };
        json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(delta: &Value) -> Value {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": null})
    }

    fn assembled(pieces: &[Value]) -> Value {
        let mut assembly = Assembly::default();
        for piece in pieces {
            assert_eq!(assembly.take(piece), Taken::Continues, "{piece}");
        }
        assembly.into_body()
    }

    #[test]
    fn pieces_after_the_book_make_the_reply_that_would_have_come_whole() {
        let body = assembled(&[
            piece(&json!({"role": "assistant", "content": ""})),
            piece(&json!({"content": "Go"})),
            piece(&json!({"content": "ing."})),
            piece(
                &json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "go", "arguments": ""}}]}),
            ),
            piece(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"to\":"}}]})),
            piece(&json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "say", "arguments": "{"}}]})),
            piece(
                &json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"x\"}"}}, {"index": 1, "function": {"arguments": "}"}}]}),
            ),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3}}),
        ]);
        let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        assert_eq!(
            body,
            json!({
                "choices": [{"finish_reason": "tool_calls", "message": {
                    "content": "Going.",
                    "tool_calls": [call("a", "go", "{\"to\":\"x\"}"), call("b", "say", "{}")],
                }}],
                "usage": {"prompt_tokens": 12, "completion_tokens": 3},
            })
        );
    }

    /// The ways in which servers tell the calls of one reply apart.
    #[test]
    fn parallel_calls_are_told_apart_in_every_form_that_servers_use() {
        let whole = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
        let with_index = |index: u64, mut call: Value| {
            call["index"] = json!(index);
            call
        };
        for pieces in [
            // All at once, one after the other, all with the index 0, and without any index.
            vec![json!({"tool_calls": [with_index(0, whole("a", "one")), with_index(1, whole("b", "two"))]})],
            vec![
                json!({"tool_calls": [with_index(0, whole("a", "one"))]}),
                json!({"tool_calls": [with_index(0, whole("b", "two"))]}),
            ],
            vec![json!({"tool_calls": [whole("a", "one")]}), json!({"tool_calls": [whole("b", "two")]})],
            vec![json!({"tool_calls": [whole("", "one"), whole("", "two")]})],
            // The name and the id in each piece.
            vec![
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "one", "arguments": "{"}}]}),
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "one", "arguments": "}"}}]}),
                json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "two", "arguments": {}}}]}),
            ],
            // All with the index 0, and no id.
            vec![
                json!({"tool_calls": [{"index": 0, "id": "", "function": {"name": "one", "arguments": "{}"}}]}),
                json!({"tool_calls": [{"index": 0, "function": {"name": "two", "arguments": "{}"}}]}),
            ],
            vec![json!({"tool_calls": [
                {"index": 0, "function": {"name": "one", "arguments": {}}},
                {"index": 0, "function": {"name": "two", "arguments": {}}},
            ]})],
            // The name in pieces.
            vec![
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "o"}}]}),
                json!({"tool_calls": [{"index": 0, "function": {"name": "ne", "arguments": "{}"}}]}),
                json!({"tool_calls": [{"index": 1, "id": "b", "name": "two", "arguments": "{}"}]}),
            ],
        ] {
            let pieces: Vec<Value> = pieces.iter().map(piece).collect();
            let body = assembled(&pieces);
            let calls = body.pointer("/choices/0/message/tool_calls").and_then(Value::as_array).unwrap();
            let names: Vec<&str> = calls.iter().map(|call| call["function"]["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["one", "two"], "{pieces:?}");
            for call in calls {
                assert!([json!("{}"), json!({})].contains(&call["function"]["arguments"]), "{call}");
            }
        }
    }

    #[test]
    fn thoughts_are_never_among_the_words_so_far() {
        let told = |pieces: &[&str]| {
            let mut assembly = Assembly::default();
            let mut told: Vec<String> = Vec::new();
            for text in pieces {
                assembly.take(&piece(&json!({"content": text, "reasoning_content": "EXECUTE"})));
                told.push(assembly.words().to_owned());
            }
            told
        };
        assert_eq!(told(&["  Hel", "lo ", "there\n"]), ["Hel", "Hello", "Hello there"]);
        assert_eq!(told(&["<", "thi", "nk>hm</th", "ink>", " Hi"]), ["", "", "", "", "Hi"]);
        assert_eq!(told(&["Wait <th", "ink>no", "</think> yes"]), ["Wait", "Wait", "Wait"]);
        assert_eq!(told(&["1 <", " 2"]), ["1", "1 < 2"]);
    }

    #[test]
    fn a_loop_ends_the_reply_wherever_it_is() {
        for field in ["content", "reasoning_content"] {
            let mut assembly = Assembly::default();
            let taken =
                (0..1_000).position(|_| assembly.take(&piece(&json!({field: "I can do it. "}))) == Taken::Enough);
            assert!(taken.is_some_and(|pieces| pieces < 100), "{field}: {taken:?}");
            assert_eq!(assembly.into_body()["choices"][0]["finish_reason"], reply::REPEATS);
        }
        let mut assembly = Assembly::default();
        let call = |index: usize| {
            piece(
                &json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "function": {"name": "say", "arguments": "{}"}}]}),
            )
        };
        let taken = (0..1_000).position(|index| assembly.take(&call(index)) == Taken::Enough);
        assert!(taken.is_some_and(|calls| (MOST_SAME_CALLS..2 * MOST_SAME_CALLS).contains(&calls)), "{taken:?}");
    }

    #[test]
    fn words_and_calls_without_end_end_the_reply() {
        let mut assembly = Assembly::default();
        let words = |word: usize| piece(&json!({"content": format!("word {word} ").repeat(3)}));
        let taken = (0..100_000).position(|word| assembly.take(&words(word)) == Taken::Enough);
        assert!(taken.is_some());
        assert_eq!(assembly.into_body()["choices"][0]["finish_reason"], reply::TOO_LONG);

        let calls: Vec<Value> = (0..100_000).map(|index| json!({"index": index})).collect();
        let mut assembly = Assembly::default();
        assert_eq!(assembly.take(&piece(&json!({"tool_calls": calls}))), Taken::Enough);
        assert!(assembly.calls.len() <= MOST_CALLS + 1);
    }

    #[test]
    fn an_error_in_the_stream_is_an_error_whatever_stands_beside_it() {
        let error = json!({"code": "server_error", "message": "Provider disconnected"});
        for beside in [
            json!([]),
            json!([{"delta": {"content": ""}, "finish_reason": "error"}]),
            json!([{"message": {"content": "Done."}}]),
        ] {
            let mut assembly = Assembly::default();
            assert_eq!(assembly.take(&piece(&json!({"content": "Going"}))), Taken::Continues);
            let taken = assembly.take(&json!({"error": error, "choices": beside}));
            assert_eq!(taken, Taken::Failed(json!({"error": error})));
        }
    }

    /// Each chunk of one server had an empty reason for the end, and those of another counted up the choice.
    #[test]
    fn only_the_first_reason_for_the_end_counts_and_an_empty_one_is_none() {
        let with = |index: usize, text: &str, finish: Value| json!({"choices": [{"index": index, "delta": {"content": text}, "finish_reason": finish}]});
        let mut assembly = Assembly::default();
        for (index, text) in ["Go", "ing", "."].into_iter().enumerate() {
            assembly.take(&with(index, text, json!("")));
        }
        assert!(!assembly.has_ended());
        assembly.take(&with(3, "", json!("length")));
        assembly.take(&with(4, "", json!("stop")));
        let body = assembly.into_body();
        assert_eq!(body["choices"][0]["finish_reason"], "length");
        assert_eq!(body["choices"][0]["message"]["content"], "Going.");
    }

    #[test]
    fn a_whole_reply_at_the_end_takes_the_place_of_its_pieces() {
        let calls = json!([{"id": "a", "function": {"name": "go", "arguments": "{}"}}, {"id": "b", "function": {"name": "go", "arguments": "{}"}}]);
        let mut assembly = Assembly::default();
        assembly.take(&piece(&json!({"content": "Hello", "tool_calls": calls})));
        assembly.take(&json!({"choices": [{"delta": null, "message": {"content": "Hello", "tool_calls": calls}, "finish_reason": "tool_calls"}]}));
        let body = assembly.into_body();
        assert_eq!(body["choices"][0]["message"]["content"], "Hello");
        assert_eq!(body["choices"][0]["message"]["tool_calls"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn nonsense_is_left_out() {
        for nonsense in [
            json!(null),
            json!([]),
            json!("text"),
            json!({"choices": {}}),
            json!({"choices": [null, 7]}),
            json!({"choices": [{"delta": 5}]}),
            json!({"choices": [{"delta": {"tool_calls": [5, null]}}]}),
        ] {
            let mut assembly = Assembly::default();
            assert_eq!(assembly.take(&nonsense), Taken::Continues, "{nonsense}");
            assert_eq!(assembly.words(), "", "{nonsense}");
        }
    }
}
