//! The model of a name.

use std::sync::Arc;

use cortex_core::ChatModel;

use crate::choice::{ModelChoice, OPENAI_BASE_URL};
#[cfg(feature = "openai")]
use crate::openai::OpenAiModel;
use crate::reflex::Reflex;
use crate::settings::{BuildError, ModelSettings};

/// The model that was chosen. Nothing is sent yet.
///
/// # Errors
/// When it could not work as it stands.
pub fn build(choice: &ModelChoice, settings: ModelSettings) -> Result<Arc<dyn ChatModel>, BuildError> {
    match choice {
        ModelChoice::Reflex => Ok(Arc::new(settings.wordings.map(Reflex::with_wordings).unwrap_or_default())),
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
