//! The layers of one Cortex, with the key of its model, which no file may hold.

use std::path::Path;

use cortex_model::{ApiKey, ModelChoice, WordingFile, api_key_from_environment};
use cortex_protocol::PolicyRule;

use crate::{Layers, Resolved, Value, load};

/// Where the configuration comes from, and what the models need that no file may hold.
#[derive(Clone)]
pub struct Sources {
    /// The layers, in their order.
    pub layers: Layers,
    /// The key of the endpoint of the model, of the environment.
    pub api_key: Option<ApiKey>,
    /// The endpoint that the key is for: the one that Cortex was started with. Whoever may set a parameter must not be able
    /// to have the key sent elsewhere.
    pub key_is_for: Option<String>,
    /// True if nothing is really done, so that nothing is learnt from it.
    pub rehearses: bool,
}

impl Sources {
    /// Reads the environment. `ros` are the parameters of the node, `rules` those of the recipe.
    ///
    /// # Errors
    /// When the key in the environment can't be used.
    pub fn new(
        ros: Vec<(String, Value)>,
        file: Option<&Path>,
        recipe: serde_json::Map<String, serde_json::Value>,
        rules: Vec<PolicyRule>,
        model: Option<String>,
        rehearses: bool,
    ) -> anyhow::Result<Self> {
        let layers = Layers { file: crate::file(file), recipe, rules, ros, model, ..Layers::default() };
        Ok(Self { layers, api_key: api_key_from_environment()?, key_is_for: None, rehearses })
    }

    /// What the layers say now.
    pub fn resolve(&self) -> anyhow::Result<Resolved> {
        let mut resolved = load(&self.layers)?;
        if self.rehearses {
            resolved.endpoint.wordings = resolved.endpoint.wordings.map(WordingFile::read_only);
        }
        if let (Some(key), ModelChoice::OpenAi { base_url, .. }) = (&self.api_key, &resolved.model) {
            anyhow::ensure!(
                self.key_is_for.as_ref().is_none_or(|endpoint| endpoint == base_url),
                "the key in the environment is for the endpoint that Cortex was started with; start it anew to use {base_url}"
            );
            resolved.endpoint.api_key = Some(key.clone());
        }
        Ok(resolved)
    }

    /// From now on, the key is for the endpoint that the configuration names, and for no other.
    pub fn bind_key(&mut self, resolved: &Resolved) {
        self.key_is_for = Some(match &resolved.model {
            ModelChoice::OpenAi { base_url, .. } => base_url.clone(),
            ModelChoice::Reflex => String::new(),
        });
    }
}
