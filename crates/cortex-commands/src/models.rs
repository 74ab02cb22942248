//! `cortex models`: which models the endpoints of the configuration offer, as they are to be written.

use std::process::ExitCode;

use cortex_config::Sources;
use cortex_model::{ModelChoice, ModelSettings, offered};

use crate::arguments::ModelsArguments;

/// Lists what the endpoints offer: those of the configuration, or the one that is named.
///
/// # Errors
/// When the configuration or the endpoint's name can't be used.
pub async fn models(arguments: ModelsArguments) -> anyhow::Result<ExitCode> {
    let ModelsArguments { endpoint, config } = arguments;
    let sources = Sources::new(Vec::new(), config.as_deref(), serde_json::Map::new(), Vec::new(), None, true)?;
    let models = sources.resolve()?.models;
    let endpoints: Vec<(String, ModelSettings)> = match endpoint {
        Some(url) => {
            // Checked and written as in the name of a model.
            let choice: ModelChoice = format!("openai:any@{url}").parse()?;
            vec![(choice.base_url().unwrap_or_default().to_owned(), models.settings_of(&choice))]
        }
        None => endpoints(models.each()),
    };
    if endpoints.is_empty() {
        println!("No endpoint is configured: the model is {}. Name one: cortex models URL", models.first);
    }
    let chosen: Vec<String> = models.each().iter().map(|(choice, _)| choice.to_string()).collect();
    let mut code = ExitCode::SUCCESS;
    for (base_url, settings) in endpoints {
        println!("{base_url}");
        match offered(&base_url, &settings).await {
            Ok(names) => print_names(&base_url, &names, &chosen),
            Err(problem) => {
                println!("  {problem}{}{}", if problem.hint.is_empty() { "" } else { " " }, problem.hint);
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// Each endpoint once.
fn endpoints(models: Vec<(ModelChoice, ModelSettings)>) -> Vec<(String, ModelSettings)> {
    let mut endpoints: Vec<(String, ModelSettings)> = Vec::new();
    for (choice, settings) in models {
        if let Some(base_url) = choice.base_url()
            && endpoints.iter().all(|(known, _)| known != base_url)
        {
            endpoints.push((base_url.to_owned(), settings));
        }
    }
    endpoints
}

fn print_names(base_url: &str, names: &[String], chosen: &[String]) {
    if names.is_empty() {
        println!("  (it names none)");
    }
    for name in names {
        let choice = ModelChoice::OpenAi { name: name.clone(), base_url: base_url.to_owned() }.to_string();
        let mark = if chosen.contains(&choice) { "   (in use)" } else { "" };
        println!("  {choice}{mark}");
    }
}
