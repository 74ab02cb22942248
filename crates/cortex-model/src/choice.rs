//! How a person names a model.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

/// The endpoint that `openai:NAME` stands for.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// Which model to use. Written `reflex`, `local`, `local:/models/qwen3.gguf`, `openai:gpt-4o` or `openai:qwen3@http://localhost:11434/v1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(try_from = "String", into = "String")]
pub enum ModelChoice {
    /// The embedded command reader.
    #[default]
    Reflex,
    /// A model in a file on the robot.
    Local {
        /// The full path of its file. None: that of the configuration.
        file: Option<PathBuf>,
    },
    /// A model behind an OpenAI-compatible endpoint.
    OpenAi {
        /// The model's name there.
        name: String,
        /// The endpoint, without a slash at the end.
        base_url: String,
    },
}

/// Why a text names no model. Each says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// Not one of the kinds.
    #[error(
        "'{text}' names no model; write 'reflex', 'local', 'local:FILE' or 'openai:NAME@URL', for example openai:qwen3@http://localhost:11434/v1"
    )]
    UnknownKind {
        /// What was written.
        text: String,
    },
    /// `local:` without a usable file.
    #[error("'{text}' names no file; write 'local:' and the full path of a model in the format GGUF, or 'local' alone")]
    BadFile {
        /// What was written.
        text: String,
    },
    /// `openai:` without a usable name.
    #[error("'{text}' has no model name; write 'openai:NAME' or 'openai:NAME@URL', the name without spaces")]
    NoName {
        /// What was written.
        text: String,
    },
    /// What follows the `@` is no usable endpoint.
    #[error("'{url}' can't be used as the endpoint: {problem}; write its base, for example http://localhost:11434/v1")]
    BadUrl {
        /// What was written.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl ModelChoice {
    /// The endpoint that it is behind. None: it is behind none.
    #[must_use]
    pub fn base_url(&self) -> Option<&str> {
        match self {
            Self::Reflex | Self::Local { .. } => None,
            Self::OpenAi { base_url, .. } => Some(base_url),
        }
    }
}

impl FromStr for ModelChoice {
    type Err = ChoiceError;

    fn from_str(written: &str) -> Result<Self, ChoiceError> {
        let text = written.trim();
        if text.eq_ignore_ascii_case("reflex") {
            return Ok(Self::Reflex);
        }
        if text.eq_ignore_ascii_case("local") {
            return Ok(Self::Local { file: None });
        }
        let Some((kind, rest)) = text.split_once(':') else {
            return Err(ChoiceError::UnknownKind { text: text.to_owned() });
        };
        if kind.eq_ignore_ascii_case("local") {
            let file = PathBuf::from(rest.trim());
            let usable = file.is_absolute() && !rest.contains(char::is_control);
            return if usable {
                Ok(Self::Local { file: Some(file) })
            } else {
                Err(ChoiceError::BadFile { text: text.to_owned() })
            };
        }
        if !kind.eq_ignore_ascii_case("openai") {
            return Err(ChoiceError::UnknownKind { text: text.to_owned() });
        }
        let (name, url) = split_url(rest);
        let usable = !name.is_empty() && !name.chars().any(|next| next.is_whitespace() || next.is_control());
        if !usable {
            return Err(ChoiceError::NoName { text: text.to_owned() });
        }
        let base_url = url.map_or_else(|| Ok(OPENAI_BASE_URL.to_owned()), checked_url)?;
        Ok(Self::OpenAi { name: name.to_owned(), base_url })
    }
}

/// Splits `NAME@URL`. Names of models may hold `@` themselves, so the `@` before a scheme counts; failing that, the
/// last one that has a name before it.
fn split_url(text: &str) -> (&str, Option<&str>) {
    let before_scheme = ["@http://", "@https://"].iter().filter_map(|mark| text.find(mark)).min();
    let at = before_scheme.or_else(|| text.rfind('@').filter(|at| *at > 0));
    match at.and_then(|at| text.split_at_checked(at)) {
        Some((name, url)) => (name, url.get(1..)),
        None => (text, None),
    }
}

fn checked_url(written: &str) -> Result<String, ChoiceError> {
    let bad = |url: &str, problem: &str| Err(ChoiceError::BadUrl { url: url.to_owned(), problem: problem.to_owned() });
    if !written.contains("://") {
        return bad(written, "it does not start with http:// or https://");
    }
    let url = match Url::parse(written) {
        Ok(url) => url,
        Err(problem) => return bad(written, &problem.to_string()),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return bad(
            "the URL",
            "it holds a user name or a password, which would be shown; put the key into the environment",
        );
    }
    if !matches!(url.scheme(), "http" | "https") {
        return bad(written, "it does not start with http:// or https://");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return bad(written, "it has a '?' or a '#'");
    }
    let base = url.as_str().trim_end_matches('/');
    if base.ends_with("/chat/completions") {
        return bad(written, "it ends in /chat/completions, which is added by itself");
    }
    Ok(base.to_owned())
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reflex => formatter.write_str("reflex"),
            Self::Local { file: None } => formatter.write_str("local"),
            Self::Local { file: Some(file) } => write!(formatter, "local:{}", file.display()),
            Self::OpenAi { name, base_url } if base_url == OPENAI_BASE_URL => write!(formatter, "openai:{name}"),
            Self::OpenAi { name, base_url } => write!(formatter, "openai:{name}@{base_url}"),
        }
    }
}

impl TryFrom<String> for ModelChoice {
    type Error = ChoiceError;

    fn try_from(text: String) -> Result<Self, ChoiceError> {
        text.parse()
    }
}

impl From<ModelChoice> for String {
    fn from(choice: ModelChoice) -> Self {
        choice.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openai(name: &str, base_url: &str) -> ModelChoice {
        ModelChoice::OpenAi { name: name.to_owned(), base_url: base_url.to_owned() }
    }

    #[test]
    fn what_people_write_is_read_and_written_back() {
        for (written, choice, shown) in [
            ("reflex", ModelChoice::Reflex, "reflex"),
            (" Reflex ", ModelChoice::Reflex, "reflex"),
            ("Local", ModelChoice::Local { file: None }, "local"),
            (
                "local:/models/Qwen 3@4bit.gguf",
                ModelChoice::Local { file: Some("/models/Qwen 3@4bit.gguf".into()) },
                "local:/models/Qwen 3@4bit.gguf",
            ),
            ("openai:gpt-4o", openai("gpt-4o", OPENAI_BASE_URL), "openai:gpt-4o"),
            (
                "openai:qwen3:8b@http://localhost:11434/v1/",
                openai("qwen3:8b", "http://localhost:11434/v1"),
                "openai:qwen3:8b@http://localhost:11434/v1",
            ),
            (
                "openai:@cf/meta/llama@https://models.example/v1",
                openai("@cf/meta/llama", "https://models.example/v1"),
                "openai:@cf/meta/llama@https://models.example/v1",
            ),
            ("openai:@cf/meta/llama", openai("@cf/meta/llama", OPENAI_BASE_URL), "openai:@cf/meta/llama"),
        ] {
            assert_eq!(written.parse(), Ok(choice.clone()), "{written}");
            assert_eq!(choice.to_string(), shown);
            let json = serde_json::to_string(&choice).unwrap();
            assert_eq!(serde_json::from_str::<ModelChoice>(&json).unwrap(), choice);
        }
    }

    #[test]
    fn what_names_no_model_is_answered_with_what_to_write() {
        for (written, says) in [
            ("", "write 'reflex', 'local', 'local:FILE' or 'openai:NAME@URL'"),
            ("gpt-4o", "write 'reflex', 'local', 'local:FILE' or 'openai:NAME@URL'"),
            ("anthropic:x", "write 'reflex', 'local', 'local:FILE' or 'openai:NAME@URL'"),
            ("local:", "the full path"),
            ("local:qwen.gguf", "the full path"),
            ("openai:", "has no model name"),
            ("openai:@http://localhost/v1", "has no model name"),
            ("openai:two words", "the name without spaces"),
            ("openai:qwen@localhost:11434", "does not start with http"),
            ("openai:qwen@http://", "write its base"),
            ("openai:qwen@http://host/v1?key=1", "it has a '?'"),
            ("openai:qwen@http://host/v1/chat/completions", "added by itself"),
        ] {
            let error = written.parse::<ModelChoice>().unwrap_err().to_string();
            assert!(error.contains(says), "{written}: {error}");
        }
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        let error = "openai:m@http://me:hunter2@host/v1".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(error.contains("password") && !error.contains("hunter2"), "{error}");
    }
}
