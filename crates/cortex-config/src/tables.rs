//! Single tables of the configuration, for commands that need no more of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cortex_core::mission::Prices;
use cortex_model::{ModelChoice, WordingFile};
use serde::de::DeserializeOwned;

use crate::Layers;
use crate::chain::KeyConfig;
use crate::embedding::{self, EmbeddingConfig, EmbeddingSettings};
use crate::knowledge::{self, KnowledgeConfig, KnowledgeSettings};
use crate::memory::{self, MemoryConfig, MemorySettings};
use crate::mission::{self, BudgetConfig};
use crate::skills::{self, SkillSettings, SkillsConfig};
use crate::tape::{self, TapeConfig};
use crate::wordings::{self, WordingsConfig};

/// What stands at a key, whatever is wrong elsewhere.
fn at<T: DeserializeOwned>(layers: &Layers, key: &str) -> anyhow::Result<T> {
    let wrong = |problem| anyhow::anyhow!("configuration: {problem}\nconfig/cortex.toml explains every key.");
    layers.over_defaults()?.extract_inner(key).map_err(wrong)
}

/// The folder of the tapes.
pub fn tape_folder(layers: &Layers) -> anyhow::Result<PathBuf> {
    Ok(tape::settings(&at::<TapeConfig>(layers, "tape")?)?.directory)
}

/// What the tokens of any model cost; nothing where no price is named.
pub fn prices(layers: &Layers, model: &ModelChoice) -> anyhow::Result<Prices> {
    // Nothing is spent of the budget, so that a price may be missing.
    let budget = BudgetConfig { max_cost: 0.0, ..at(layers, "budget")? };
    mission::prices(&budget, model)
}

/// Where the documents of the robot are.
pub fn knowledge(layers: &Layers) -> anyhow::Result<KnowledgeSettings> {
    let config: KnowledgeConfig = at(layers, "knowledge")?;
    let keys: BTreeMap<String, KeyConfig> = at(layers, "keys")?;
    knowledge::settings(&config, &keys, &at::<String>(layers, "robot")?, &tape_folder(layers)?)
}

/// The model that turns texts into vectors. None: they are found by their words alone.
pub fn embedding(layers: &Layers) -> anyhow::Result<Option<EmbeddingSettings>> {
    embedding::settings(&at::<EmbeddingConfig>(layers, "embedding")?, &at(layers, "keys")?)
}

/// What the robot remembers, whether it is switched on or not: a memory that was kept can be looked at.
pub fn memory(layers: &Layers) -> anyhow::Result<MemorySettings> {
    let config = MemoryConfig { enable_memory: true, ..at(layers, "memory")? };
    let settings = memory::settings(&config, &at::<String>(layers, "robot")?, &tape_folder(layers)?)?;
    settings.ok_or_else(|| anyhow::anyhow!("configuration: memory is switched off"))
}

/// The skills of the robot, and what is kept of them. None: none are used.
pub fn skills(layers: &Layers) -> anyhow::Result<Option<SkillSettings>> {
    let config: SkillsConfig = at(layers, "skills")?;
    skills::settings(&config, &at::<String>(layers, "robot")?, &tape_folder(layers)?)
}

/// The file of what the robot of this name has learnt; `None` if nothing is to be learnt.
pub fn wording_file(layers: &Layers) -> anyhow::Result<Option<WordingFile>> {
    let config: WordingsConfig = at(layers, "wordings")?;
    wordings::file(&config, &at::<String>(layers, "robot")?, &tape_folder(layers)?)
}
