//! `cortex knowledge`: the documents that the robot knows. Needs neither ROS nor a running Cortex, which reads what is added
//! from its next plan on.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use cortex_config::{self as config, KnowledgeSettings, KnowledgeStore, Layers, SecretPlace};
use cortex_embedding::LocalEmbedder;
use cortex_knowledge::read::{self, FileToRead};
use cortex_knowledge::{Added, DocumentStore, Knowledge, QdrantSettings, QdrantStore, QdrantTimeouts, SqliteStore};
use secrecy::SecretString;

use crate::arguments::{KnowledgeArguments, KnowledgeCommand};

/// Documents that are added at a time: each time waits for the disk.
const BATCH: usize = 64;
/// Characters of a passage that are shown.
const SHOWN: usize = 300;

pub(crate) async fn knowledge(arguments: KnowledgeArguments) -> anyhow::Result<ExitCode> {
    let layers = Layers { file: config::file(arguments.config.as_deref()), ..Layers::default() };
    let KnowledgeSettings { store: place, results, with_metadata, .. } = config::knowledge(&layers)?;
    let store = document_store(&place)?;
    let knowledge = || -> anyhow::Result<Knowledge> {
        let knowledge = Knowledge::new(Arc::clone(&store), results, with_metadata);
        let Some(folder) = config::embedding_folder(&layers)? else { return Ok(knowledge) };
        let embedder = LocalEmbedder::open(&folder).context("configuration: embedding.folder")?;
        Ok(knowledge.with_embedder(Arc::new(embedder)))
    };
    match arguments.command {
        KnowledgeCommand::Add { paths } => {
            // What could not be found by its meaning is not added at first.
            let knowledge = knowledge()?;
            let code = add(store.as_ref(), &paths, &place).await?;
            embed(&knowledge).await?;
            Ok(code)
        }
        KnowledgeCommand::List => list(store.as_ref(), &place).await,
        KnowledgeCommand::Search { words, most } => search(&knowledge()?, &words.join(" "), most).await,
        KnowledgeCommand::Remove { ids } => remove(store.as_ref(), &ids).await,
    }
}

/// The store that the configuration names. A server need not be there yet.
///
/// # Errors
/// When its key is not where the configuration says, or it can't be used by this program.
pub fn document_store(place: &KnowledgeStore) -> anyhow::Result<Arc<dyn DocumentStore>> {
    match place {
        KnowledgeStore::Embedded { file } => Ok(Arc::new(SqliteStore::at(file))),
        KnowledgeStore::Qdrant { server, collection, robot, key } => {
            let key = key.as_ref().map(SecretPlace::read).transpose();
            let key = key.with_context(|| format!("configuration: keys.\"{server}\""))?;
            let store = QdrantStore::open(QdrantSettings {
                server: server.clone(),
                collection: collection.clone(),
                robot: robot.clone(),
                key: key.map(|key| SecretString::from(key.trim())),
                timeouts: QdrantTimeouts::default(),
            });
            Ok(Arc::new(store.context("configuration: knowledge.store")?))
        }
    }
}

/// What came of adding.
#[derive(Default)]
struct Tally {
    new: usize,
    replaced: usize,
    unchanged: usize,
    unread: usize,
}

impl Tally {
    fn count(&mut self, added: &[Added]) {
        for added in added {
            match added {
                Added::New { .. } => self.new += 1,
                Added::Replaced { .. } => self.replaced += 1,
                Added::Unchanged => self.unchanged += 1,
            }
        }
    }
}

async fn add(store: &dyn DocumentStore, paths: &[PathBuf], place: &KnowledgeStore) -> anyhow::Result<ExitCode> {
    let mut files = Vec::new();
    for path in paths {
        let found = read::files(path)?;
        anyhow::ensure!(
            !found.is_empty(),
            "{} holds no file that can be read; text, Markdown and HTML can",
            path.display()
        );
        files.extend(found);
    }
    let (mut tally, mut batch) = (Tally::default(), Vec::new());
    for (number, FileToRead { id, file }) in files.iter().enumerate() {
        show_progress(number, files.len(), id);
        match read::read(file, id) {
            Ok(document) => batch.push(document),
            Err(problem) => {
                clear_progress();
                eprintln!("cortex: {problem}");
                tally.unread += 1;
            }
        }
        if batch.len() == BATCH {
            tally.count(&store.add(std::mem::take(&mut batch)).await?);
        }
    }
    if !batch.is_empty() {
        tally.count(&store.add(batch).await?);
    }
    clear_progress();
    let Tally { new, replaced, unchanged, unread } = tally;
    println!("{new} added, {replaced} replaced, {unchanged} unchanged, {unread} not read; kept in {place}");
    Ok(if unread == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Computes what finds the new passages by their meaning, where there is a model for that.
async fn embed(knowledge: &Knowledge) -> anyhow::Result<()> {
    let is_watched = std::io::stderr().is_terminal();
    let done = knowledge
        .embed_missing(|done| {
            if is_watched {
                eprint!("\r\x1b[K{done} passages by their meaning");
            }
        })
        .await;
    clear_progress();
    Ok(done?)
}

/// Which file is read, for people who wait.
fn show_progress(number: usize, all: usize, id: &str) {
    if std::io::stderr().is_terminal() {
        let id: String = id.chars().filter(|letter| !letter.is_control()).take(60).collect();
        eprint!("\r\x1b[K{}/{all} {id}", number + 1);
    }
}

fn clear_progress() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}

async fn list(store: &dyn DocumentStore, place: &KnowledgeStore) -> anyhow::Result<ExitCode> {
    let entries = store.list().await?;
    if entries.is_empty() {
        println!("No documents yet; `cortex knowledge add FILE` keeps them in {place}.");
    }
    for entry in entries {
        let passages = if entry.passages == 1 { "passage" } else { "passages" };
        println!("{}  {} {passages}", entry.id, entry.passages);
    }
    Ok(ExitCode::SUCCESS)
}

async fn search(knowledge: &Knowledge, words: &str, most: usize) -> anyhow::Result<ExitCode> {
    let found = knowledge.search(words, most).await?;
    if found.is_empty() {
        println!("Nothing about that is in the documents.");
        return Ok(ExitCode::FAILURE);
    }
    for found in found {
        let place = cortex_core::fragment::one_line(&found.passage.place, SHOWN);
        let place = if place.is_empty() { place } else { format!(", {place}") };
        let text = found.passage.text.replace('\n', " ");
        println!("{:3.0} %  {}{place}", found.relevance.max(found.likeness) * 100.0, found.document);
        println!("       {}", cortex_core::fragment::one_line(&text, SHOWN));
    }
    Ok(ExitCode::SUCCESS)
}

async fn remove(store: &dyn DocumentStore, ids: &[String]) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for id in ids {
        if store.remove(id).await.with_context(|| format!("{id} may still be there"))? {
            println!("removed: {id}");
        } else {
            eprintln!("cortex: there is no document '{id}'; `cortex knowledge list` names all");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}
