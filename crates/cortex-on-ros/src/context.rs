//! What planning is told besides the task and the tools: who the robot is, skills, the memory, documents; and the tools that
//! look skills and documents up, or at what a camera shows.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use cortex_command_line::document_store;
use cortex_config::{KnowledgeSettings, Resolved};
use cortex_core::identity::RobotIdentity;
use cortex_core::{ContextSource, Embedder, ToolProvider};
use cortex_embedding::LocalEmbedder;
use cortex_knowledge::{Knowledge, KnowledgeTools};
use cortex_node::{IdentitySource, OpenMemory};
use cortex_pictures::PictureTools;
use cortex_protocol::ToolSpec;
use cortex_robot::Robot;
use cortex_robot::supervision::RobotRecipe;
use cortex_ros::RobotViews;
use cortex_runtime::ContextSources;
use cortex_skills::{SkillFolders, SkillSource, SkillTools};

/// The folder of skills beside a recipe.
const SKILLS: &str = "skills";

/// How a robot is called that nobody has given a name.
const NAMELESS: &str = "robot";

/// Tools that look up what was not told with a task.
pub(crate) type Lookups = Vec<(Arc<dyn ToolProvider>, Vec<ToolSpec>)>;

/// All that is on record.
pub(crate) struct OnRecord {
    /// What is told with a task.
    pub(crate) context: ContextSources,
    /// What looks up the rest.
    pub(crate) lookups: Lookups,
    /// What the robot remembers.
    pub(crate) memory: Option<OpenMemory>,
}

/// All that the configuration names.
///
/// # Errors
/// When the model that finds texts by their meaning, or the store of the documents, can't be used.
pub(crate) async fn on_record(
    resolved: &Resolved,
    robot: &Robot,
    recipe: Option<&RobotRecipe>,
) -> anyhow::Result<OnRecord> {
    let embedder = match resolved.embedding.clone() {
        Some(folder) => Some(embedder(folder).await?),
        None => None,
    };
    let memory = OpenMemory::open(resolved.memory.clone(), embedder.clone()).await;
    let mut lookups = Lookups::new();
    let skills = skill_folders(resolved.skills.clone(), recipe).map(|folders| {
        // Each tool is told of in each request, so not where it has nothing to tell.
        let are_listed = !folders.are_missing();
        if are_listed {
            lookups.push((Arc::new(SkillTools::new(Arc::clone(&folders))), SkillTools::specs()));
        }
        skills(folders, are_listed, embedder.clone())
    });
    let documents = documents(&resolved.knowledge, embedder)?.map(|documents| -> Arc<dyn ContextSource> {
        if !documents.is_empty() {
            lookups.push((Arc::new(KnowledgeTools::new(documents.clone())), KnowledgeTools::specs()));
        }
        Arc::new(documents)
    });
    // What no model sees need not be taken.
    if resolved.models.sees_pictures() {
        let views = RobotViews::new(&robot.graph, &robot.endpoints, &robot.discovery);
        let pictures = PictureTools::new(Arc::new(views), resolved.models.pictures.clone());
        lookups.push((Arc::new(pictures), PictureTools::specs()));
    }
    let identity = IdentitySource::start(configured(resolved), robot);
    let remembered = memory.as_ref().map(|memory| {
        let identity = identity.clone();
        memory.context_source(move || identity.name_and_body())
    });
    let identity: Arc<dyn ContextSource> = Arc::new(identity);
    let sources = [Some(identity), skills, remembered, documents].into_iter().flatten().collect();
    Ok(OnRecord { context: ContextSources::new(sources), lookups, memory })
}

/// The documents, if planning uses them.
fn documents(settings: &KnowledgeSettings, embedder: Option<Arc<dyn Embedder>>) -> anyhow::Result<Option<Knowledge>> {
    let KnowledgeSettings { store, results, with_metadata, is_enabled } = settings;
    if !is_enabled {
        return Ok(None);
    }
    let documents = Knowledge::new(document_store(store)?, *results, *with_metadata);
    let documents = match embedder {
        Some(embedder) => documents.with_embedder(embedder),
        None => documents,
    };
    documents.catch_up();
    Ok(Some(documents))
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

/// The folders of skills: the recipe's, then those of the configuration and of the user.
fn skill_folders(folders: Option<Vec<PathBuf>>, recipe: Option<&RobotRecipe>) -> Option<Arc<SkillFolders>> {
    let beside = recipe.map(|recipe| recipe.folder.join(SKILLS));
    Some(Arc::new(SkillFolders::new(beside.into_iter().chain(folders?).collect())))
}

fn skills(folders: Arc<SkillFolders>, are_listed: bool, embedder: Option<Arc<dyn Embedder>>) -> Arc<dyn ContextSource> {
    let skills = SkillSource::new(folders);
    let skills = if are_listed { skills.with_list() } else { skills };
    Arc::new(match embedder {
        Some(embedder) => skills.with_embedder(embedder),
        None => skills,
    })
}
