//! `[local_model]`: a model in a file on the robot.

use std::path::PathBuf;

use cortex_model::{LocalSettings, ModelChoice};
use serde::{Deserialize, Serialize};

use super::seconds;

/// Most tokens of a conversation.
const MOST_CONTEXT_TOKENS: u32 = 1_000_000;
/// Most threads.
const MOST_THREADS: u32 = 1_024;

/// Which file, and how it is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LocalModelConfig {
    pub(crate) enable_local_model: bool,
    /// Empty: `local` means nothing.
    pub(crate) file: String,
    /// Empty: the one beside Cortex.
    pub(crate) program: String,
    /// 0: as many as the model was trained for.
    pub(crate) context_tokens: u32,
    /// 0: one for each core.
    pub(crate) threads: u32,
    pub(crate) gpu_layers: u32,
    pub(crate) seed: u32,
    pub(crate) load_timeout_s: f64,
}

impl Default for LocalModelConfig {
    fn default() -> Self {
        let settings = LocalSettings::default();
        Self {
            enable_local_model: false,
            file: String::new(),
            program: String::new(),
            context_tokens: settings.context_tokens,
            threads: settings.threads,
            gpu_layers: settings.gpu_layers,
            seed: settings.seed,
            load_timeout_s: settings.load_timeout.as_secs_f64(),
        }
    }
}

/// How a model in a file is computed.
pub(super) fn settings(local: &LocalModelConfig) -> anyhow::Result<LocalSettings> {
    let full = |key: &str, text: &str| {
        let text = text.trim();
        let path = (!text.is_empty()).then(|| PathBuf::from(text));
        anyhow::ensure!(
            path.as_ref().is_none_or(|path| path.is_absolute()),
            "configuration: local_model.{key} is '{text}'; give a full path"
        );
        Ok(path)
    };
    let file = full("file", &local.file)?;
    anyhow::ensure!(
        file.is_some() || !local.enable_local_model,
        "configuration: local_model.enable_local_model is set, but local_model.file names no model; give the full path of a \
         file in the format GGUF"
    );
    for (key, number, most) in
        [("context_tokens", local.context_tokens, MOST_CONTEXT_TOKENS), ("threads", local.threads, MOST_THREADS)]
    {
        anyhow::ensure!(number <= most, "configuration: local_model.{key} is {number}; it must be at most {most}");
    }
    Ok(LocalSettings {
        file,
        program: full("program", &local.program)?,
        context_tokens: local.context_tokens,
        threads: local.threads,
        gpu_layers: local.gpu_layers,
        seed: local.seed,
        load_timeout: seconds("local_model.load_timeout_s", local.load_timeout_s)?,
        ..LocalSettings::default()
    })
}

/// Puts an enabled local model after the others that are asked, and before reflex, unless it is one of them.
pub(super) fn include(first: &ModelChoice, fallbacks: &mut Vec<ModelChoice>) {
    let local = ModelChoice::Local { file: None };
    if *first == local || fallbacks.contains(&local) {
        return;
    }
    let before = fallbacks.iter().position(|choice| *choice == ModelChoice::Reflex).unwrap_or(fallbacks.len());
    fallbacks.insert(before, local);
}

#[cfg(test)]
mod tests {
    use figment::value::Value;

    use crate::{Layers, load};

    fn loaded(set: &[(&str, Value)]) -> anyhow::Result<Vec<String>> {
        let ros = set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let models = load(&Layers { ros, ..Layers::default() })?.models;
        Ok(models.each().iter().map(|(choice, _)| choice.to_string()).collect())
    }

    const FILE: (&str, &str) = ("local_model.file", "/models/tiny.gguf");

    #[test]
    fn an_enabled_model_plans_where_nobody_chose_another_and_helps_out_where_somebody_did() {
        let enabled = |mut set: Vec<(&'static str, Value)>| {
            set.extend([(FILE.0, FILE.1.into()), ("local_model.enable_local_model", true.into())]);
            loaded(&set).unwrap()
        };
        assert_eq!(enabled(vec![]), ["local"]);
        let reflex_last = ("chain.models", Value::from(vec!["reflex"]));
        assert_eq!(enabled(vec![("model", "openai:gpt".into())]), ["openai:gpt", "local"]);
        assert_eq!(
            enabled(vec![("model", "openai:gpt".into()), reflex_last.clone()]),
            ["openai:gpt", "local", "reflex"]
        );
        let named = ("chain.models", Value::from(vec!["local", "openai:box@http://box/v1", "reflex"]));
        assert_eq!(
            enabled(vec![("model", "openai:gpt".into()), named]),
            ["openai:gpt", "local", "openai:box@http://box/v1", "reflex"],
            "where it is named, it stays"
        );
        assert_eq!(enabled(vec![("model", "reflex".into())]), ["reflex"], "nothing is asked in place of reflex");
        assert_eq!(
            loaded(&[(FILE.0, FILE.1.into()), ("model", "local".into()), reflex_last]).unwrap(),
            ["local", "reflex"]
        );
    }

    #[test]
    fn what_can_not_be_is_refused_with_its_key() {
        for (key, value, says) in [
            ("local_model.file", Value::from("tiny.gguf"), "local_model.file is 'tiny.gguf'; give a full path"),
            ("local_model.program", "bin/it".into(), "local_model.program"),
            ("local_model.enable_local_model", true.into(), "local_model.file names no model"),
            ("local_model.context_tokens", 2_000_000.into(), "local_model.context_tokens is 2000000"),
            ("local_model.threads", 2_000.into(), "at most 1024"),
            ("local_model.load_timeout_s", 0.0.into(), "local_model.load_timeout_s"),
            ("local_model.fil", "x".into(), "did you mean"),
        ] {
            let error = loaded(&[(key, value)]).unwrap_err().to_string();
            assert!(error.contains(says), "{key}: {error}");
        }
    }
}
