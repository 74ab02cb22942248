//! Configuration and recipes without what looks like a secret, for people elsewhere.
//!
//! Cortex' own keys hold no secrets, only where they are; but addresses may, and so may what a recipe gives its components. In
//! doubt something is left out.

use serde_json::{Map, Value};

/// What stands in the place of a secret.
const LEFT_OUT: &str = "(left out)";
/// Parts of a name behind which a secret stands.
const SECRET_WORDS: [&str; 17] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pin",
    "psk",
    "pwd",
    "secret",
    "token",
];
/// Ends of such a name that say where the secret is, and not what.
const PLACE_WORDS: [&str; 4] = ["directory", "env", "file", "path"];
/// How secrets of well-known systems begin.
const SECRET_BEGINNINGS: [&str; 6] = ["sk-", "whsec_", "ghp_", "glpat-", "xoxb-", "eyJ"];
/// Tables whose addresses count as secrets but for their host.
const ADDRESS: &str = "url";

/// A text in TOML without secrets, and without its comments. None where it is no TOML.
#[must_use]
pub fn without_secrets(toml: &str) -> Option<String> {
    toml::from_str::<Value>(toml).ok().and_then(written)
}

/// A table as TOML, without secrets. None where it can't be written.
pub(crate) fn written(value: Value) -> Option<String> {
    toml::to_string_pretty(&shown(value)).ok()
}

/// The same, without secrets and without what is not set.
fn shown(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), of_name(&name, value))).collect::<Map<_, _>>())
        }
        Value::Array(list) => Value::Array(of_list(list)),
        Value::String(text) => Value::String(of_text(&text, &mut false)),
        other => other,
    }
}

fn of_name(name: &str, value: Value) -> Value {
    match value {
        Value::String(_) | Value::Number(_) if is_secret(name) => LEFT_OUT.into(),
        Value::Array(list) if is_secret(name) && !list.iter().any(Value::is_object) => LEFT_OUT.into(),
        Value::String(text) if name == ADDRESS => host_of(&text).into(),
        value => shown(value),
    }
}

/// A list may be a command: a secret may be the word after its name.
fn of_list(list: Vec<Value>) -> Vec<Value> {
    let mut is_next_secret = false;
    let shown = |value| match value {
        Value::String(text) => Value::String(of_text(&text, &mut is_next_secret)),
        other => shown(other),
    };
    list.into_iter().map(shown).collect()
}

/// A text word for word. `is_next_secret`: whether the first word is a secret, and afterwards the one that comes after the text.
fn of_text(text: &str, is_next_secret: &mut bool) -> String {
    if text.contains("PRIVATE KEY") {
        return LEFT_OUT.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let plain = bare.trim_matches(['"', '\'', ',', ';']);
        let was_secret = std::mem::take(is_next_secret);
        if plain.is_empty() {
            *is_next_secret = was_secret;
            shown.push_str(word);
            continue;
        }
        let is_option = plain.starts_with('-') || plain.ends_with(':');
        *is_next_secret =
            (is_option && !plain.contains('=') && is_secret(plain)) || plain.eq_ignore_ascii_case("bearer");
        if was_secret && !plain.eq_ignore_ascii_case("bearer") && !plain.eq_ignore_ascii_case("basic") {
            shown.push_str(LEFT_OUT);
        } else if was_secret {
            *is_next_secret = true;
            shown.push_str(bare);
        } else {
            shown.push_str(&of_word(bare));
        }
        shown.push_str(word.get(bare.len()..).unwrap_or_default());
    }
    shown
}

fn of_word(word: &str) -> String {
    let plain = word.trim_start_matches(['"', '\'']);
    if SECRET_BEGINNINGS.iter().any(|beginning| plain.starts_with(beginning)) {
        return LEFT_OUT.to_owned();
    }
    if let Some((name, _)) = word.split_once('=')
        && !name.contains("://")
        && is_secret(name.trim_end_matches(':'))
    {
        return format!("{name}={LEFT_OUT}");
    }
    without_login(word)
}

/// An address without a name and a password in it, and without what stands after a question mark. All else as it is.
pub(crate) fn without_login(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{LEFT_OUT}@{host}"),
        None => authority.to_owned(),
    };
    let path = match path.split_once('?') {
        Some((path, _)) => format!("{path}?{LEFT_OUT}"),
        None => path.to_owned(),
    };
    format!("{scheme}://{host}{path}")
}

/// An address to its host: what comes after that may let anybody in who knows it.
fn host_of(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return LEFT_OUT.to_owned() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{LEFT_OUT}")
}

/// Whether a secret stands behind this name.
fn is_secret(name: &str) -> bool {
    let mut words = Vec::new();
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() {
            words.push(String::new());
            was_small = false;
            continue;
        }
        if words.is_empty() || (was_small && letter.is_ascii_uppercase()) {
            words.push(String::new());
        }
        was_small = !letter.is_ascii_uppercase();
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    let is_place = words.last().is_some_and(|last| PLACE_WORDS.contains(&last.as_str()));
    !is_place && words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        for name in ["password", "API_KEY", "api-key", "MQTT_PASSWORD", "authToken", "webhook.secret", "--token", "pin"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["secret_file", "secret_env", "max_tokens", "monkey", "author", "keyboard", "token_path", "topics"]
        {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn what_looks_like_a_secret_is_left_out_and_the_rest_stays() {
        let text = r#"
            name = "robbie" # a comment with hunter2
            password = "hunter2"
            pin = 1234
            max_tokens = 5
            secret_file = "/etc/cortex/secret"
            model = "openai:qwen@http://me:hunter2@host:80/v1?key=hunter2"
            command = ["server", "--token", "hunter2", "--port", "80", "--api-key=hunter2", "-p", "password:=hunter2"]
            shell = "curl -H 'Authorization: Bearer hunter2' https://host/x; TOKEN=hunter2 run"
            header = "Authorization: hunter2"
            other = "sk-hunter2"
            [[hooks]]
            url = "https://me@hooks.example/services/hunter2"
            tokens = ["a"]
            [env]
            MQTT_PASSWORD = "hunter2"
            DISPLAY = ":0"
            tokens = ["hunter"]
            credentials = ["hunter2"]
        "#;
        let shown = without_secrets(text).unwrap();
        assert!(!shown.contains("hunter2"), "{shown}");
        let read: Value = toml::from_str(&shown).unwrap();
        assert_eq!((&read["name"], &read["max_tokens"]), (&"robbie".into(), &5.into()));
        assert_eq!(read["secret_file"], "/etc/cortex/secret");
        assert_eq!(read["command"][4], "80");
        assert_eq!(read["command"][5], "--api-key=(left out)");
        assert_eq!(read["hooks"][0]["url"], "https://hooks.example/(left out)");
        assert_eq!(read["env"]["DISPLAY"], ":0");
        assert_eq!(read["model"], "openai:qwen@http://(left out)@host:80/v1?(left out)");
    }

    #[test]
    fn what_is_no_toml_is_not_shown() {
        assert_eq!(without_secrets("a ="), None);
    }
}
