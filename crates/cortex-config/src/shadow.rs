//! `[shadow]`: a second model that plans along without acting.

use std::time::Duration;

use cortex_model::{ModelChoice, ShadowBounds, ShadowChoice};
use serde::{Deserialize, Serialize};

use super::seconds;

/// A second model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShadowConfig {
    /// Empty: none.
    pub(crate) model: String,
    pub(crate) doubts: bool,
    /// 0: no plan waits for it.
    pub(crate) wait_s: f64,
    pub(crate) pause_s: f64,
}

impl Default for ShadowConfig {
    fn default() -> Self {
        let ShadowBounds { wait, pause, doubts } = ShadowBounds::default();
        Self { model: String::new(), doubts, wait_s: wait.as_secs_f64(), pause_s: pause.as_secs_f64() }
    }
}

/// The second model, still without a key.
pub(super) fn choice(config: &ShadowConfig) -> anyhow::Result<Option<ShadowChoice>> {
    let wait = match config.wait_s {
        0.0 => Duration::ZERO,
        wait => seconds("shadow.wait_s", wait)?,
    };
    let bounds = ShadowBounds { wait, pause: seconds("shadow.pause_s", config.pause_s)?, doubts: config.doubts };
    let model: ModelChoice = match config.model.trim() {
        "" => return Ok(None),
        text => text.parse().map_err(|error| anyhow::anyhow!("configuration: shadow.model: {error}"))?,
    };
    anyhow::ensure!(
        model != ModelChoice::Reflex,
        "configuration: shadow.model can't be reflex, which reads each task anyway; leave it empty, and see policy.doubted"
    );
    Ok(Some(ShadowChoice { model, bounds }))
}

#[cfg(test)]
mod tests {
    use figment::value::Value;

    use super::*;
    use crate::{Layers, load};

    fn layers(set: &[(&str, Value)]) -> Layers {
        Layers { ros: set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(), ..Layers::default() }
    }

    #[test]
    fn a_second_model_is_asked_only_where_one_is_named() {
        assert_eq!(load(&Layers::default()).unwrap().models.shadow, None);
        let second = "openai:second@http://box/v1";
        let set = [("shadow.model", second.into()), ("shadow.doubts", true.into()), ("shadow.wait_s", 0.5.into())];
        let models = load(&layers(&set)).unwrap().models;
        let shadow = models.shadow.clone().unwrap();
        assert_eq!((shadow.model.to_string().as_str(), shadow.bounds.doubts), (second, true));
        assert_eq!(shadow.bounds.wait, Duration::from_millis(500));
        assert_eq!(models.each().last().map(|(choice, _)| choice.to_string()).as_deref(), Some(second));
    }

    #[test]
    fn regression_a_long_wait_for_the_second_model_ended_the_planners_answer() {
        let timeout = |set: &[(&str, Value)]| load(&layers(set)).unwrap().runtime.model_timeout;
        let second = ("shadow.model", Value::from("openai:second@http://box/v1"));
        let wait = ("shadow.wait_s", Value::from(600.0));
        assert_eq!(timeout(&[second, wait.clone()]), timeout(&[]) + Duration::from_secs(600));
        assert_eq!(timeout(&[wait]), timeout(&[]), "without a second model nothing waits");
    }

    #[test]
    fn what_is_no_second_model_is_refused_with_what_to_write() {
        for (key, value, says) in [
            ("shadow.model", Value::from("reflex"), "reads each task anyway"),
            ("shadow.model", "gpt".into(), "shadow.model: 'gpt' names no model"),
            ("shadow.wait_s", (-1.0).into(), "shadow.wait_s"),
            ("shadow.pause_s", 0.0.into(), "shadow.pause_s"),
        ] {
            let error = load(&layers(&[(key, value)])).unwrap_err().to_string();
            assert!(error.contains(says), "{key}: {error}");
        }
    }

    #[test]
    fn with_a_budget_of_money_the_second_model_needs_its_price() {
        let set = [("shadow.model", "openai:second@http://box/v1".into()), ("budget.max_cost", 1.0.into())];
        let error = load(&layers(&set)).unwrap_err().to_string();
        assert!(error.contains("no price for 'second'"), "{error}");
    }
}
