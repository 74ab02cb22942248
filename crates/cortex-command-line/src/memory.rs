//! `cortex memory`: what the robot remembers. Needs neither ROS nor a running Cortex. While one runs, it has the file: then
//! ask the robot.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use cortex_config::{self as config, EmbeddingSettings, MapChoice, MemorySettings};
use cortex_core::ConversationKey;
use cortex_core::fragment::one_line;
use cortex_memory::{
    Exchange, ExchangeQuery, Forget, Memory, Now, Observation, Rebuilt, Source, SourceKind, Standing, render,
};
use cortex_skills::SkillState;

use crate::arguments::{MemoryArguments, MemoryCommand};
use crate::embedder::embedder;
use crate::recipe_layer::layers;

/// Facts of an answer.
const FACTS: usize = 20;
/// Most characters of the name of a client or a session.
const NAME_CHARACTERS: usize = 60;
/// Tasks of conversations of an answer.
const EXCHANGES: usize = 50;

pub(crate) async fn memory(arguments: MemoryArguments) -> anyhow::Result<ExitCode> {
    let Some(kept) = kept(&arguments)? else { return Ok(ExitCode::FAILURE) };
    let Kept { memory: settings, embedding, skills } = kept;
    let MemorySettings { file, rules, map, .. } = settings;
    let wall_ms = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let map = match map {
        MapChoice::Fixed(map) => Some(map),
        MapChoice::None | MapChoice::Topic { .. } => None,
    };
    let now = Now { wall_ms, map };
    if matches!(arguments.command, MemoryCommand::Rebuild) {
        let (_, rebuilt) = Memory::rebuild(&file, rules).await?;
        return say(&[what_was_rebuilt(&rebuilt, &file)]);
    }
    anyhow::ensure!(
        file.is_file(),
        "there is no memory in {}; a robot makes it when it runs with memory.enable_memory = true. Where a recipe names it, \
         give --recipe",
        file.display()
    );
    let memory = Memory::open(&file, rules).await?;
    match arguments.command {
        MemoryCommand::Recall { words } => {
            let memory = with_meaning(memory, embedding).await?;
            say(&recalled(&memory, &words.join(" "), &now).await?)
        }
        MemoryCommand::About { name } => say(&all_of(&memory, &name, &now).await?),
        MemoryCommand::Tasks { words } => {
            let episodes = memory.search_gists(&words.join(" "), FACTS).await?;
            say(&episodes.iter().map(|episode| format!("{}  {}", episode.id.0, episode.gist)).collect::<Vec<_>>())
        }
        MemoryCommand::Conversations { session } => {
            let asked = memory.exchanges(ExchangeQuery { session, ..ExchangeQuery::default() }, EXCHANGES).await?;
            say(&asked.iter().map(exchange).collect::<Vec<_>>())
        }
        MemoryCommand::Bulletin => {
            // What only the running robot knows is left out: its body, and what waits.
            let bulletin = memory.bulletin(&Standing::default(), &now).await?;
            say(&Some(bulletin).filter(|text| !text.is_empty()).into_iter().collect::<Vec<_>>())
        }
        MemoryCommand::Tell { thing, value, relation, by } => {
            let name = by.or_else(|| std::env::var("USER").ok()).filter(|name| !name.trim().is_empty());
            let source = Source { kind: SourceKind::Person, name: name.unwrap_or_else(|| "somebody".to_owned()) };
            memory.add(vec![Observation::note(thing, relation, value, source, wall_ms)]).await?;
            say(&["noted".to_owned()])
        }
        MemoryCommand::Forget { everything: true, .. } => {
            // What the robot remembers first: whatever is wrong with the folders of skills does not keep it.
            let forgotten = forget(&memory, Forget::Everything).await?;
            forget_skills(skills)?;
            Ok(forgotten)
        }
        MemoryCommand::Forget { name: Some(name), .. } => forget(&memory, Forget::Subject(name)).await,
        MemoryCommand::Forget { name: None, everything: false } => {
            anyhow::bail!("name what is to be forgotten, or give --everything")
        }
        MemoryCommand::Size => {
            let size = memory.size().await?;
            say(&[format!(
                "{}: {} rows of observations, {} facts that hold, {} that ended, {} bytes",
                file.display(),
                size.observations,
                size.open_facts,
                size.ended_facts,
                size.bytes
            )])
        }
        MemoryCommand::Rebuild => Ok(ExitCode::SUCCESS),
    }
}

/// The same memory; what it holds is also found by its meaning where the configuration names a model.
async fn with_meaning(memory: Memory, embedding: Option<EmbeddingSettings>) -> anyhow::Result<Memory> {
    let Some(settings) = embedding else { return Ok(memory) };
    let memory = memory.with_embedder(embedder(&settings)?);
    if let Err(problem) = memory.embed_missing().await {
        eprintln!("cortex: some of it is found by its words alone: {problem}");
    }
    Ok(memory)
}

/// What the robot keeps, as its configuration has it.
struct Kept {
    memory: MemorySettings,
    /// The model that finds by meaning.
    embedding: Option<EmbeddingSettings>,
    /// The folder of how well skills work, and of those that were learned.
    skills: Option<PathBuf>,
}

/// Reads the configuration. None: the recipe has mistakes, which were told.
fn kept(arguments: &MemoryArguments) -> anyhow::Result<Option<Kept>> {
    let Some(layers) = layers(arguments.config.as_deref(), arguments.recipe.as_deref())? else { return Ok(None) };
    let memory = config::memory(&layers)?;
    let memory = match &arguments.file {
        Some(file) => MemorySettings { file: file.clone(), ..memory },
        None => memory,
    };
    let skills = config::skills(&layers)?.and_then(|skills| skills.state);
    Ok(Some(Kept { memory, embedding: config::embedding(&layers)?, skills }))
}

async fn recalled(memory: &Memory, text: &str, now: &Now) -> anyhow::Result<Vec<String>> {
    let recollection = memory.recall(text, FACTS, now).await?;
    let presence = recollection.presence.iter().map(render::presence);
    let located = recollection.located.iter().map(render::located);
    let facts = recollection.facts.iter().map(|found| render::fact(&found.answer));
    Ok(presence.chain(located).chain(facts).collect())
}

async fn all_of(memory: &Memory, name: &str, now: &Now) -> anyhow::Result<Vec<String>> {
    let Some(entity) = memory.entity_query(name, FACTS, now).await? else { return Ok(Vec::new()) };
    Ok(entity.facts.iter().chain(&entity.named_by).map(render::fact).collect())
}

/// A task of a conversation, with who asked it.
fn exchange(exchange: &Exchange) -> String {
    let ConversationKey { channel, client, session, .. } = &exchange.conversation;
    let session =
        if session.is_empty() { String::new() } else { format!(" in {}", one_line(session, NAME_CHARACTERS)) };
    format!("{} ({} by {channel}{session})", exchange.line(), one_line(client, NAME_CHARACTERS))
}

/// How well skills work goes with the rest, and so do those that were made of what was done and are not used.
fn forget_skills(folder: Option<PathBuf>) -> anyhow::Result<()> {
    let Some(state) = folder.map(SkillState::new) else { return Ok(()) };
    let had_proposals = state.learned.forget(None);
    let had_outcomes = state.outcomes.forget(None)?;
    if had_proposals? || had_outcomes {
        println!("forgotten: how well skills work, and the skills that were proposed");
    }
    Ok(())
}

async fn forget(memory: &Memory, what: Forget) -> anyhow::Result<ExitCode> {
    let forgotten = memory.forget(what).await?;
    let (observations, facts, episodes) = (forgotten.observations, forgotten.facts, forgotten.episodes);
    if observations + facts + episodes + forgotten.redacted + forgotten.interactions + forgotten.exchanges == 0 {
        return say(&[]);
    }
    say(&[format!("forgotten: {observations} rows of observations, {facts} facts, {episodes} tasks")])
}

fn what_was_rebuilt(rebuilt: &Rebuilt, file: &Path) -> String {
    format!(
        "{} was rebuilt: {} rows of observations, {} facts ({} of them made anew) and {} tasks were taken over; {} times rows \
         could not be read. The damaged file is kept as {}; delete it when you need it no more.",
        file.display(),
        rebuilt.observations,
        rebuilt.facts,
        rebuilt.restored,
        rebuilt.episodes,
        rebuilt.gaps,
        rebuilt.aside.display()
    )
}

/// Prints an answer; none is no success.
fn say(lines: &[String]) -> anyhow::Result<ExitCode> {
    let mut output = std::io::stdout().lock();
    for line in lines {
        writeln!(output, "{line}")?;
    }
    if lines.is_empty() {
        writeln!(output, "Nothing is known of that.")?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
