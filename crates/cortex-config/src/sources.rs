//! The layers of one Cortex, with the key of its model, which no file may hold.

use std::path::Path;

use anyhow::Context as _;
use cortex_model::{ApiKey, WordingFile, api_key_from_environment};
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
            resolved.models.settings.wordings = resolved.models.settings.wordings.map(WordingFile::read_only);
        }
        for (endpoint, place) in &resolved.keys {
            let key = place.read().and_then(|text| Ok(ApiKey::new(&text)?));
            let key = key.with_context(|| format!("configuration: keys.\"{endpoint}\""))?;
            resolved.models.keys.insert(endpoint.clone(), key);
        }
        if let (Some(key), Some(endpoint)) = (&self.api_key, resolved.models.first.base_url())
            && !resolved.keys.contains_key(endpoint)
        {
            anyhow::ensure!(
                self.key_is_for.as_ref().is_none_or(|bound| bound == endpoint),
                "the key in the environment is for the endpoint that Cortex was started with; start it anew to use {endpoint}"
            );
            resolved.models.settings.api_key = Some(key.clone());
        }
        Ok(resolved)
    }

    /// From now on, the key is for the endpoint that the configuration names, and for no other.
    pub fn bind_key(&mut self, resolved: &Resolved) {
        self.key_is_for = Some(resolved.models.first.base_url().unwrap_or_default().to_owned());
    }
}
