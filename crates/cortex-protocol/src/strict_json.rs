//! JSON from outside that decides something. An object that gives one name twice says two things, and every reader takes
//! another one of them: `{"place": "kitchen", "place": "office"}` is no JSON here, at any depth.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Most characters of a name in an error.
const NAME_CHARACTERS: usize = 60;

/// Reads one JSON value of at most 127 levels.
///
/// # Errors
/// When it is no JSON, is nested deeper, or an object gives a name twice.
pub fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    read_bytes(text.as_bytes())
}

/// Reads one JSON value in UTF-8.
///
/// # Errors
/// As [`read`].
pub fn read_bytes<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    // It bounds the depth by itself.
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = OneMeaning.deserialize(&mut deserializer)?;
    deserializer.end()?;
    T::deserialize(value)
}

/// Reads a value in which every object gives each name once.
#[derive(Clone, Copy)]
struct OneMeaning;

impl<'de> DeserializeSeed<'de> for OneMeaning {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneMeaning {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if fields.contains_key(&name) {
                // A terminal obeys control characters.
                let shown = name.chars().take(NAME_CHARACTERS);
                let shown: String = shown.map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
                return Err(A::Error::custom(format!("'{shown}' is given twice")));
            }
            let value = entries.next_value_seed(self)?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
                prop::collection::btree_map(".{0,4}", inner, 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// The texts of JSON with any names of few, so that some are given twice, and whether one is.
    fn with_repetitions() -> impl Strategy<Value = (String, bool)> {
        let leaf = prop::sample::select(vec!["1", "[]", "{}", "\"a\"", "null", "-0.5e3"]);
        let leaf = leaf.prop_map(|text| (text.to_owned(), false));
        leaf.prop_recursive(4, 40, 4, |inner| {
            let names = || prop::sample::select(vec!["a", "b", "\\u0061", "c", "A", ""]);
            let list = prop::collection::vec(inner.clone(), 0..3).prop_map(|items| {
                let texts: Vec<&str> = items.iter().map(|(text, _)| text.as_str()).collect();
                (format!("[{}]", texts.join(",")), items.iter().any(|(_, repeats)| *repeats))
            });
            let fields = prop::collection::vec((names(), inner), 0..3).prop_map(|fields| {
                let texts: Vec<String> = fields.iter().map(|(name, (text, _))| format!("\"{name}\":{text}")).collect();
                let plain: Vec<&str> =
                    fields.iter().map(|(name, _)| if *name == "\\u0061" { "a" } else { *name }).collect();
                let repeats =
                    plain.iter().enumerate().any(|(index, name)| plain.iter().skip(index + 1).any(|it| it == name));
                (format!("{{{}}}", texts.join(", ")), repeats || fields.iter().any(|(_, (_, inner))| *inner))
            });
            prop_oneof![1 => list, 3 => fields]
        })
    }

    proptest! {
        #[test]
        fn what_gives_no_name_twice_is_read_as_by_serde_json(value in value(), is_pretty in any::<bool>()) {
            let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.unwrap();
            prop_assert_eq!(read::<Value>(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        }

        #[test]
        fn a_name_that_is_given_twice_anywhere_is_refused((text, repeats) in with_repetitions()) {
            let known = serde_json::from_str::<Value>(&text).unwrap();
            match read::<Value>(&text) {
                Ok(value) => prop_assert!(!repeats && value == known, "{text}"),
                Err(problem) => prop_assert!(repeats && problem.to_string().contains("is given twice"), "{text}: {problem}"),
            }
        }

        #[test]
        fn garbage_is_refused_where_serde_json_refuses_it(text in "[\\[\\]{}:,\"a1 .\\-enull\\\\]{0,24}") {
            let known = serde_json::from_str::<Value>(&text);
            let read = read::<Value>(&text);
            match (&read, &known) {
                (Ok(value), Ok(known)) => prop_assert_eq!(value, known),
                (Err(problem), Ok(_)) => prop_assert!(problem.to_string().contains("is given twice"), "{}", problem),
                (Ok(_), Err(_)) => prop_assert!(false, "{text}"),
                (Err(_), Err(_)) => {}
            }
        }
    }

    #[test]
    fn depth_and_the_name_in_the_error_are_bounded() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(read::<Value>(&nested(127)).is_ok());
            assert!(read::<Value>(&nested(128)).is_err());
            assert!(read::<Value>(&nested(1 << 20)).is_err());
        }
        let name = "x".repeat(100_000);
        let problem = read::<Value>(&format!("{{\"{name}\":1,\"{name}\":1}}")).unwrap_err();
        assert!(problem.to_string().len() < 200, "{problem}");
    }

    /// The escape sequence stood in the error as it is, and went to the terminals of people.
    #[test]
    fn regression_a_name_that_is_given_twice_was_told_with_its_control_characters() {
        let problem = read::<Value>(r#"{"a\u001b[31m\n": 1, "a\u001b[31m\n": 2}"#).unwrap_err().to_string();
        assert!(problem.starts_with("'a [31m ' is given twice"), "{problem:?}");
    }
}
