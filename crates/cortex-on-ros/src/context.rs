//! What planning is told besides the task and the tools: who the robot is, skills, the memory, documents.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use cortex_config::{KnowledgeSettings, Resolved};
use cortex_core::identity::RobotIdentity;
use cortex_core::{ContextSource, Embedder};
use cortex_embedding::LocalEmbedder;
use cortex_knowledge::{Knowledge, SqliteStore};
use cortex_node::{IdentitySource, OpenMemory};
use cortex_robot::Robot;
use cortex_robot::supervision::RobotRecipe;
use cortex_runtime::ContextSources;
use cortex_skills::{SkillFolders, SkillSource};

/// The folder of skills beside a recipe.
const SKILLS: &str = "skills";

/// How a robot is called that nobody has given a name.
const NAMELESS: &str = "robot";

/// All sources that the configuration names.
///
/// # Errors
/// When the model that finds texts by their meaning can't be used.
pub(crate) async fn sources(
    resolved: &Resolved,
    robot: &Robot,
    memory: Option<&OpenMemory>,
    recipe: Option<&RobotRecipe>,
) -> anyhow::Result<ContextSources> {
    let embedder = match resolved.embedding.clone() {
        Some(folder) => Some(embedder(folder).await?),
        None => None,
    };
    let skills = skills(resolved.skills.clone(), recipe, embedder.clone());
    let KnowledgeSettings { file, results, with_metadata, is_enabled } = &resolved.knowledge;
    let documents = is_enabled.then(|| -> Arc<dyn ContextSource> {
        let documents = Knowledge::new(Arc::new(SqliteStore::at(file)), *results, *with_metadata);
        let documents = match embedder {
            Some(embedder) => documents.with_embedder(embedder),
            None => documents,
        };
        documents.catch_up();
        Arc::new(documents)
    });
    let memory = memory.map(OpenMemory::context_source);
    let identity: Arc<dyn ContextSource> =
        Arc::new(IdentitySource::start(configured(resolved), resolved.runtime.policy.clone(), robot));
    Ok(ContextSources::new([Some(identity), skills, memory, documents].into_iter().flatten().collect()))
}

/// What the configuration says of the robot.
fn configured(resolved: &Resolved) -> RobotIdentity {
    let places = resolved.memory.iter().flat_map(|memory| &memory.places);
    RobotIdentity {
        name: Some(&resolved.robot).filter(|name| *name != NAMELESS).cloned().unwrap_or_default(),
        places: places.map(|place| place.name.clone()).collect(),
        ..RobotIdentity::default()
    }
}

async fn embedder(folder: PathBuf) -> anyhow::Result<Arc<dyn Embedder>> {
    let open = tokio::task::spawn_blocking(move || LocalEmbedder::open(&folder)).await?;
    Ok(Arc::new(open.context("configuration: embedding.folder")?))
}

/// The skills of the recipe's folder, then those of the configuration and of the user.
fn skills(
    folders: Option<Vec<PathBuf>>,
    recipe: Option<&RobotRecipe>,
    embedder: Option<Arc<dyn Embedder>>,
) -> Option<Arc<dyn ContextSource>> {
    let beside = recipe.map(|recipe| recipe.folder.join(SKILLS));
    let folders = beside.into_iter().chain(folders?).collect();
    let skills = SkillSource::new(Arc::new(SkillFolders::new(folders)));
    Some(Arc::new(match embedder {
        Some(embedder) => skills.with_embedder(embedder),
        None => skills,
    }))
}
