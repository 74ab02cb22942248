//! The model of a name, or of several.

use std::collections::BTreeMap;
use std::sync::Arc;

use cortex_core::{ChatModel, ModelError, PictureShelf};

use crate::chain::{Chain, ChainBounds, LastPlanner, Standby};
use crate::choice::{ModelChoice, OPENAI_BASE_URL};
use crate::local::LocalModel;
#[cfg(feature = "openai")]
use crate::openai::OpenAiModel;
use crate::reflex::Reflex;
use crate::settings::{ApiKey, BuildError, ModelSettings};
use crate::shadow::Shadowed;
use crate::shadow_planner::{ShadowBounds, ShadowPlanned};

/// A model that plans along without acting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowChoice {
    /// Which.
    pub model: ModelChoice,
    /// How it is asked.
    pub bounds: ShadowBounds,
}

/// The models of a Cortex.
#[derive(Debug, Clone, Default)]
pub struct ModelSet {
    /// Which is asked first.
    pub first: ModelChoice,
    /// Which is asked first about a step. None: the same.
    pub confirmation: Option<ModelChoice>,
    /// Which are asked when those before can't be, in this order.
    pub fallbacks: Vec<ModelChoice>,
    /// How each of them is reached; the key is for the endpoint of the first.
    pub settings: ModelSettings,
    /// Which of them see pictures.
    pub seeing: Vec<ModelChoice>,
    /// Where the pictures lie that they see.
    pub pictures: PictureShelf,
    /// The keys of other endpoints, by their base.
    pub keys: BTreeMap<String, ApiKey>,
    /// How long one of several may take, and how long one that failed is left alone.
    pub bounds: ChainBounds,
    /// Which plans along without acting, whichever plans. None: none does.
    pub shadow: Option<ShadowChoice>,
}

impl ModelSet {
    /// Each of the models once, in the order in which plans are asked of them, and how it is reached. The one that plans along
    /// comes last.
    #[must_use]
    pub fn each(&self) -> Vec<(ModelChoice, ModelSettings)> {
        let mut each: Vec<(ModelChoice, ModelSettings)> = Vec::new();
        let shadow = self.shadow.as_ref().map(|shadow| &shadow.model);
        for choice in std::iter::once(&self.first).chain(&self.fallbacks).chain(&self.confirmation).chain(shadow) {
            if each.iter().all(|(known, _)| known != choice) {
                each.push((choice.clone(), self.settings_of(choice)));
            }
        }
        each
    }

    /// How a model is reached: a key goes to the endpoint that it is for, and to no other.
    #[must_use]
    pub fn settings_of(&self, choice: &ModelChoice) -> ModelSettings {
        let endpoint = choice.base_url();
        let own = endpoint.and_then(|endpoint| self.keys.get(endpoint)).cloned();
        let of_first = || self.settings.api_key.clone().filter(|_| endpoint == self.first.base_url());
        let pictures = self.seeing.contains(choice).then(|| self.pictures.clone());
        ModelSettings { api_key: own.or_else(of_first), pictures, ..self.settings.clone() }
    }

    /// Whether one that plans sees pictures.
    #[must_use]
    pub fn sees_pictures(&self) -> bool {
        std::iter::once(&self.first).chain(&self.fallbacks).any(|choice| self.seeing.contains(choice))
    }
}

/// The model of a set: the only one, or all of them as one; reflex reads each task that another model plans, and the second
/// model plans along. Nothing is sent yet.
///
/// # Errors
/// When one of them could not work as it stands.
pub fn build_set(set: &ModelSet) -> Result<Arc<dyn ChatModel>, BuildError> {
    let planner = build_planner(set)?;
    let Some(ShadowChoice { model, bounds }) = &set.shadow else { return Ok(planner) };
    // What would be tried again later than the mission waits is not tried again, and nothing is learnt from what nobody did.
    let settings = ModelSettings { retries: 0, wordings: None, ..set.settings_of(model) };
    Ok(Arc::new(ShadowPlanned::new(planner, build(model, settings)?, *bounds)))
}

fn build_planner(set: &ModelSet) -> Result<Arc<dyn ChatModel>, BuildError> {
    let is_alone = set.fallbacks.iter().chain(&set.confirmation).all(|other| *other == set.first);
    if is_alone {
        let model = build(&set.first, set.settings_of(&set.first))?;
        let is_reflex = set.first == ModelChoice::Reflex;
        return Ok(if is_reflex { model } else { Arc::new(Shadowed(model)) });
    }
    let planner = Arc::new(LastPlanner::default());
    let link = |choice: &ModelChoice, is_standby: bool| -> Result<Arc<dyn ChatModel>, BuildError> {
        let settings = set.settings_of(choice);
        match choice {
            ModelChoice::Reflex if is_standby => Ok(Arc::new(Standby::new(reflex(settings), Arc::clone(&planner)))),
            _ => build(choice, settings),
        }
    };
    let mut models = vec![link(&set.first, false)?];
    let planning = ModelSet { confirmation: None, shadow: None, ..set.clone() };
    for (choice, _) in planning.each().iter().skip(1) {
        models.push(link(choice, true)?);
    }
    let confirmation = set.confirmation.as_ref().map(|choice| link(choice, true)).transpose()?;
    Ok(Arc::new(Shadowed(Arc::new(Chain::new(models, confirmation, planner, set.bounds)))))
}

/// A model whose plans reflex compares with the task, as in a set of them.
#[must_use]
pub fn read_along(planner: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
    Arc::new(Shadowed(planner))
}

/// The names of the models that an endpoint offers, in their order.
///
/// # Errors
/// When it does not tell.
#[cfg(feature = "openai")]
pub async fn offered(base_url: &str, settings: &ModelSettings) -> Result<Vec<String>, ModelError> {
    crate::openai::offered(base_url, settings).await
}

/// The names of the models that an endpoint offers: none can be asked in this build.
///
/// # Errors
/// Always, with what to do.
#[cfg(not(feature = "openai"))]
pub async fn offered(base_url: &str, _settings: &ModelSettings) -> Result<Vec<String>, ModelError> {
    Err(ModelError {
        kind: cortex_core::ModelErrorKind::Refused,
        message: BuildError::LeftOut { model: base_url.to_owned() }.to_string(),
        hint: String::new(),
        retry_after: None,
    })
}

fn reflex(settings: ModelSettings) -> Reflex {
    settings.wordings.map(Reflex::with_wordings).unwrap_or_default()
}

/// The model that was chosen. Nothing is sent yet.
///
/// # Errors
/// When it could not work as it stands.
pub fn build(choice: &ModelChoice, settings: ModelSettings) -> Result<Arc<dyn ChatModel>, BuildError> {
    match choice {
        ModelChoice::Reflex => Ok(Arc::new(reflex(settings))),
        ModelChoice::Local { file } => Ok(Arc::new(LocalModel::new(file.as_deref(), &settings)?)),
        ModelChoice::OpenAi { base_url, .. } if base_url == OPENAI_BASE_URL && settings.api_key.is_none() => {
            Err(BuildError::KeyMissing { model: choice.to_string() })
        }
        #[cfg(not(feature = "openai"))]
        ModelChoice::OpenAi { .. } => Err(BuildError::LeftOut { model: choice.to_string() }),
        #[cfg(feature = "openai")]
        ModelChoice::OpenAi { name, base_url } => Ok(Arc::new(OpenAiModel::new(name, base_url, settings)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_endpoint_without_a_key_is_refused_before_anything_is_sent() {
        let choice: ModelChoice = "openai:gpt-4o".parse().unwrap();
        let error = build(&choice, ModelSettings::default()).map(|model| model.label()).unwrap_err();
        assert_eq!(error, BuildError::KeyMissing { model: "openai:gpt-4o".to_owned() });
    }

    #[test]
    fn models_carry_the_name_that_people_wrote() {
        for written in ["reflex", "openai:qwen3@http://localhost:11434/v1"] {
            let choice: ModelChoice = written.parse().unwrap();
            assert_eq!(build(&choice, ModelSettings::default()).unwrap().label(), written);
        }
    }
}
