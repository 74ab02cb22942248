//! `[chain]` and `[keys]`: the models that are asked when the first can't be, and the keys of their endpoints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cortex_model::{ChainBounds, ChoiceError, ModelChoice, ModelSet, ModelSettings};
use serde::{Deserialize, Serialize};

use super::{local_model, seconds};
use crate::secret_place::{SecretPlace, secret_place};

/// The models beside the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChainConfig {
    /// In the order in which they are asked.
    pub(crate) models: Vec<String>,
    /// Empty: the same as for plans.
    pub(crate) confirmation_model: String,
    pub(crate) answer_timeout_s: f64,
    pub(crate) pause_s: f64,
}

impl Default for ChainConfig {
    fn default() -> Self {
        let bounds = ChainBounds::default();
        Self {
            models: Vec::new(),
            confirmation_model: String::new(),
            answer_timeout_s: bounds.answer_timeout.as_secs_f64(),
            pause_s: bounds.pause.as_secs_f64(),
        }
    }
}

/// Where the key of an endpoint is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyConfig {
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) key_env: Option<String>,
}

/// The models, still without keys. After reflex, which is always there, no other would be asked. `has_local`: whether a local
/// model is enabled, which is one of them then.
pub(super) fn models(
    first: ModelChoice,
    settings: ModelSettings,
    chain: &ChainConfig,
    has_local: bool,
) -> anyhow::Result<ModelSet> {
    let parsed = |key: &str, text: &str| {
        text.parse::<ModelChoice>().map_err(|error| anyhow::anyhow!("configuration: chain.{key}: {error}"))
    };
    let mut fallbacks: Vec<ModelChoice> =
        chain.models.iter().map(|text| parsed("models", text)).collect::<anyhow::Result<_>>()?;
    let at = fallbacks.iter().position(|choice| *choice == ModelChoice::Reflex);
    anyhow::ensure!(
        at.is_none_or(|at| at + 1 == fallbacks.len()),
        "configuration: chain.models has others after reflex, and none of them would ever be asked; put reflex last"
    );
    if has_local {
        local_model::include(&first, &mut fallbacks);
    }
    let confirmation = match chain.confirmation_model.trim() {
        "" => None,
        text => Some(parsed("confirmation_model", text)?),
    };
    anyhow::ensure!(
        confirmation != Some(ModelChoice::Reflex),
        "configuration: chain.confirmation_model can't be reflex, which does not judge steps that another model planned"
    );
    let bounds = ChainBounds {
        answer_timeout: seconds("chain.answer_timeout_s", chain.answer_timeout_s)?,
        request_timeout: settings.request_timeout,
        pause: seconds("chain.pause_s", chain.pause_s)?,
    };
    let is_bounded = bounds.answer_timeout < bounds.request_timeout || (fallbacks.is_empty() && confirmation.is_none());
    anyhow::ensure!(
        is_bounded,
        "configuration: chain.answer_timeout_s is {} and endpoint.request_timeout_s is {}; the first must be less, or no other \
         model is ever asked in time",
        bounds.answer_timeout.as_secs_f64(),
        bounds.request_timeout.as_secs_f64()
    );
    // `--model reflex` beside a chain in a file is a person who wants no other model.
    let is_reflex = first == ModelChoice::Reflex;
    if is_reflex {
        fallbacks.clear();
    }
    let confirmation = confirmation.filter(|_| !is_reflex);
    Ok(ModelSet { first, confirmation, fallbacks, settings, bounds, ..ModelSet::default() })
}

/// The models that see pictures, by their names. One that is not in use does no harm: `--model` may stand beside a file.
pub(super) fn seeing(names: &[String]) -> anyhow::Result<Vec<ModelChoice>> {
    let read = |name: &String| {
        let choice: ModelChoice =
            name.parse().map_err(|error| anyhow::anyhow!("configuration: endpoint.sees_pictures: {error}"))?;
        anyhow::ensure!(
            choice != ModelChoice::Reflex,
            "configuration: endpoint.sees_pictures names reflex, which reads sentences and sees nothing; leave it out"
        );
        anyhow::ensure!(
            !matches!(choice, ModelChoice::Local { .. }),
            "configuration: endpoint.sees_pictures names {choice}, and a model in a file is shown no pictures; leave it out"
        );
        Ok(choice)
    };
    names.iter().map(read).collect()
}

/// A URL of an endpoint, written as in the name of a model.
pub(super) fn endpoint(url: &str) -> Result<String, ChoiceError> {
    let choice: ModelChoice = format!("openai:any@{url}").parse()?;
    Ok(choice.base_url().unwrap_or(url).to_owned())
}

/// Where the keys of endpoints are, by their base.
pub(super) fn keys(keys: &BTreeMap<String, KeyConfig>) -> anyhow::Result<BTreeMap<String, SecretPlace>> {
    let place = |(url, key): (&String, &KeyConfig)| {
        // Written so that it is found.
        let base = endpoint(url).map_err(|error| anyhow::anyhow!("configuration: keys: {error}"))?;
        let place = secret_place(&format!("keys.\"{url}\""), "key", key.key_file.as_ref(), key.key_env.as_ref())?;
        Ok((base, place))
    };
    keys.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use figment::value::Value;

    use crate::{Layers, Sources, load};

    fn layers(set: &[(&str, Value)]) -> Layers {
        Layers { ros: set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(), ..Layers::default() }
    }

    #[test]
    fn models_are_asked_in_the_order_in_which_they_are_written() {
        let box_ = "openai:qwen3@http://192.168.1.20:11434/v1";
        let chain = [("model", "openai:gpt-4o".into()), ("chain.models", vec![box_, "reflex"].into())];
        let models = load(&layers(&chain)).unwrap().models;
        assert_eq!(models.first.to_string(), "openai:gpt-4o");
        assert_eq!(models.fallbacks.iter().map(ToString::to_string).collect::<Vec<_>>(), [box_, "reflex"]);
        let alone = load(&layers(&[("model", "reflex".into()), ("chain.models", vec![box_].into())])).unwrap().models;
        assert!(alone.fallbacks.is_empty(), "nothing is asked in place of reflex");
    }

    #[test]
    fn what_could_never_be_asked_is_refused() {
        for (key, value, says) in [
            ("chain.models", Value::from(vec!["reflex", "openai:x@http://box/v1"]), "put reflex last"),
            ("chain.models", vec!["gpt"].into(), "chain.models: 'gpt' names no model"),
            ("chain.confirmation_model", "reflex".into(), "can't be reflex"),
            ("chain.pause_s", 0.0.into(), "chain.pause_s"),
            ("chain.answer_timeout_s", (-1.0).into(), "chain.answer_timeout_s"),
            ("chain.answer_timeout_s", 120.0.into(), "the first must be less"),
        ] {
            let others = ("chain.models", vec!["reflex"].into());
            let set = [("model", "openai:gpt-4o".into()), others, (key, value)];
            let error = load(&layers(&set)).unwrap_err().to_string();
            assert!(error.contains(says), "{key}: {error}");
        }
    }

    #[test]
    fn only_models_behind_endpoints_see_pictures() {
        let seeing = |name: &str| load(&layers(&[("endpoint.sees_pictures", vec![name].into())]));
        assert!(seeing("openai:qwen2.5-vl@http://box/v1").is_ok());
        for (name, says) in [
            ("reflex", "names reflex, which reads sentences"),
            ("local", "names local, and a model in a file is shown no pictures"),
            ("local:/models/tiny.gguf", "names local:/models/tiny.gguf, and a model in a file"),
        ] {
            let error = seeing(name).unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }

    #[test]
    fn a_key_goes_to_its_endpoint_and_to_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "sk-of-the-third\n").unwrap();
        let models = ["openai:second@http://second/v1", "openai:third@http://third/v1", "reflex"];
        let place = Value::from(file.to_string_lossy().into_owned());
        let place = figment::value::Dict::from([("key_file".to_owned(), place)]);
        let place = figment::value::Dict::from([("http://third/v1/".to_owned(), Value::from(place))]);
        let set = [
            ("model", Value::from("openai:first@http://first/v1")),
            ("chain.models", Value::from(models.to_vec())),
            ("keys", Value::from(place)),
        ];
        let api_key = Some(cortex_model::ApiKey::new("sk-of-the-first").unwrap());
        let sources = Sources { layers: layers(&set), api_key, key_is_for: None, rehearses: false };
        let each = sources.resolve().unwrap().models.each();
        let keys: Vec<bool> = each.iter().map(|(_, settings)| settings.api_key.is_some()).collect();
        assert_eq!(keys, [true, false, true, false]);
        std::fs::remove_file(&file).unwrap();
        let error = format!("{:#}", sources.resolve().unwrap_err());
        assert!(error.contains("keys.\"http://third/v1\"") && error.contains("can't be read"), "{error}");
    }

    #[test]
    fn with_a_budget_of_money_each_model_needs_its_price() {
        let models = vec!["openai:second@http://second/v1", "reflex"];
        let set = [("model", "openai:first".into()), ("chain.models", models.into()), ("budget.max_cost", 1.0.into())];
        let prices = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            load(&Layers { file: Some(file.path().to_owned()), ..layers(&set) })
        };
        let first = "[budget.prices.first]\nprompt = 2.0\ncompletion = 4.0\n";
        let error = prices(first).unwrap_err().to_string();
        assert!(error.contains("no price for 'second'"), "{error}");
        let both = format!("{first}[budget.prices.second]\nprompt = 1.0\ncompletion = 1.0\n");
        let limits = prices(&both).unwrap().runtime.limits;
        assert!((limits.prices.completion - 4.0).abs() < f64::EPSILON);
        let second = limits.other_prices.get("openai:second@http://second/v1").unwrap();
        assert!((second.completion - 1.0).abs() < f64::EPSILON);
    }
}
