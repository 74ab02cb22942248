//! What planning is told besides the task and the tools: who the robot is, skills, the memory, documents; and the tools that
//! look skills and documents up, or at what a camera shows.

use std::sync::Arc;

use cortex_command_line::document_store;
use cortex_config::{EmbeddingSettings, KnowledgeSettings, Resolved, SkillSettings};
use cortex_core::identity::RobotIdentity;
use cortex_core::{ContextSource, Embedder, SkillPort, ToolProvider};
use cortex_knowledge::{Knowledge, KnowledgeTools};
use cortex_node::{IdentitySource, OpenMemory, SkillKeeper};
use cortex_pictures::PictureTools;
use cortex_protocol::ToolSpec;
use cortex_robot::Robot;
use cortex_robot::supervision::RobotRecipe;
use cortex_ros::RobotViews;
use cortex_runtime::{ContextSources, Runtime};
use cortex_skills::{SkillFolders, SkillSource, SkillState, SkillTools, SkillsForPeople};

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
    /// Where it comes from.
    pub(crate) kept: Kept,
}

/// What the robot keeps beside its missions.
pub(crate) struct Kept {
    /// What looks up the rest.
    pub(crate) lookups: Lookups,
    /// What the robot remembers.
    pub(crate) memory: Option<OpenMemory>,
    /// Its skills, where it uses any.
    pub(crate) skills: Option<RobotSkills>,
    /// Who it is.
    pub(crate) identity: IdentitySource,
}

/// The skills of the robot, and what is kept of them.
#[derive(Clone)]
pub(crate) struct RobotSkills {
    pub(crate) folders: Arc<SkillFolders>,
    pub(crate) state: Option<SkillState>,
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
        Some(settings) => Some(embedder(settings).await?),
        None => None,
    };
    let memory = OpenMemory::open(resolved.memory.clone(), embedder.clone()).await;
    let mut lookups = Lookups::new();
    let skills = resolved.skills.clone().map(|settings| RobotSkills::of(settings, recipe));
    let told_skills = skills.as_ref().map(|skills| {
        // Each tool is told of in each request, so not where it has nothing to tell.
        let are_listed = !skills.folders.are_missing();
        if are_listed {
            lookups.push((Arc::new(SkillTools::new(Arc::clone(&skills.folders))), SkillTools::specs()));
        }
        skills.source(are_listed, embedder.clone())
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
    let who: Arc<dyn ContextSource> = Arc::new(identity.clone());
    let sources = [Some(who), told_skills, remembered, documents].into_iter().flatten().collect();
    let kept = Kept { lookups, memory, skills, identity };
    Ok(OnRecord { context: ContextSources::new(sources), kept })
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

async fn embedder(settings: EmbeddingSettings) -> anyhow::Result<Arc<dyn Embedder>> {
    tokio::task::spawn_blocking(move || cortex_command_line::embedder(&settings)).await?
}

impl RobotSkills {
    /// Those of the recipe, then those of the configuration and of the user, then those that were learned.
    fn of(settings: SkillSettings, recipe: Option<&RobotRecipe>) -> Self {
        let SkillSettings { folders, state } = settings;
        let state = state.map(SkillState::new);
        let beside = recipe.map(|recipe| recipe.folder.join(SKILLS));
        let learned = state.as_ref().map(|state| state.learned.accepted());
        let folders = SkillFolders::new(beside.into_iter().chain(folders).chain(learned).collect());
        Self { folders: Arc::new(folders), state }
    }

    /// Counts how well they work in the missions of this runtime, and learns new ones, where that is kept.
    pub(crate) fn keep(&self, runtime: &Runtime) -> Option<SkillKeeper> {
        let state = self.state.clone()?;
        Some(SkillKeeper::start(Arc::clone(&self.folders), state, runtime))
    }

    /// As people look at them.
    pub(crate) fn for_people(self) -> Arc<dyn SkillPort> {
        Arc::new(SkillsForPeople::new(self.folders, self.state))
    }

    fn source(&self, are_listed: bool, embedder: Option<Arc<dyn Embedder>>) -> Arc<dyn ContextSource> {
        let skills = SkillSource::new(Arc::clone(&self.folders));
        let skills = if are_listed { skills.with_list() } else { skills };
        let skills = match &self.state {
            Some(state) => skills.with_outcomes(state.outcomes.clone()),
            None => skills,
        };
        let skills = match embedder {
            Some(embedder) => skills.with_embedder(embedder),
            None => skills,
        };
        skills.catch_up();
        Arc::new(skills)
    }
}
