//! `cortex knowledge`: the documents that the robot knows. Needs neither ROS nor a running Cortex, which reads what is added
//! from its next plan on.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use cortex_config::{self as config, KnowledgeSettings, KnowledgeStore, Layers, SecretPlace};
use cortex_knowledge::read::{self, FileToRead, PdfLimits, ReadDocument};
use cortex_knowledge::{Added, DocumentStore, Knowledge, QdrantSettings, QdrantStore, QdrantTimeouts, SqliteStore};
use secrecy::SecretString;

use crate::arguments::{KnowledgeArguments, KnowledgeCommand};
use crate::embedder::embedder;
use crate::pdf;
use crate::progress::Progress;
use crate::visible_text::plain;

/// Documents that are added at a time: each time waits for the disk.
const BATCH: usize = 64;
/// Bytes of text from which on they are added sooner: a small PDF may hold a lot.
const BATCH_BYTES: usize = 16 << 20;
/// Characters of a passage that are shown.
const SHOWN: usize = 300;
/// Pages that are named one by one.
const SHOWN_PAGES: usize = 10;

pub(crate) async fn knowledge(arguments: KnowledgeArguments) -> anyhow::Result<ExitCode> {
    let layers = Layers { file: config::file(arguments.config.as_deref()), ..Layers::default() };
    let KnowledgeSettings { store: place, results, with_metadata, .. } = config::knowledge(&layers)?;
    let store = document_store(&place)?;
    let knowledge = || -> anyhow::Result<Knowledge> {
        let knowledge = Knowledge::new(Arc::clone(&store), results, with_metadata);
        let Some(settings) = config::embedding(&layers)? else { return Ok(knowledge) };
        Ok(knowledge.with_embedder(embedder(&settings)?))
    };
    match arguments.command {
        KnowledgeCommand::Add { paths } => {
            // What could not be found by its meaning is not added at first.
            let knowledge = knowledge()?;
            let code = add(store.as_ref(), &paths, &place).await?;
            embed(&knowledge).await;
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
            "{} holds no file that can be read; text, Markdown, HTML and PDF can",
            path.display()
        );
        files.extend(found);
    }
    let (mut tally, mut batch, mut bytes) = (Tally::default(), Vec::new(), 0);
    let (pdf, progress) = (pdf::reader(PdfLimits::default()), Progress::on_terminal());
    for (number, FileToRead { id, file }) in files.iter().enumerate() {
        progress.show(number, files.len(), id);
        match read::read(file, id, &pdf) {
            Ok(ReadDocument { document, unread_pages }) => {
                bytes += document.sections.iter().map(|section| section.text.len()).sum::<usize>();
                batch.push(document);
                if !unread_pages.is_empty() {
                    progress.clear();
                    eprintln!("cortex: {}", without_pages(file, &unread_pages));
                }
            }
            Err(problem) => {
                progress.clear();
                eprintln!("cortex: {}", plain(&problem.to_string()));
                tally.unread += 1;
            }
        }
        if batch.len() == BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
            tally.count(&store.add(std::mem::take(&mut batch)).await?);
        }
    }
    if !batch.is_empty() {
        tally.count(&store.add(batch).await?);
    }
    progress.clear();
    let Tally { new, replaced, unchanged, unread } = tally;
    println!("{new} added, {replaced} replaced, {unchanged} unchanged, {unread} not read; kept in {place}");
    Ok(if unread == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Which pages of a file are not there, the first of them by number.
fn without_pages(file: &Path, pages: &[u32]) -> String {
    let mut named: Vec<String> = pages.iter().take(SHOWN_PAGES).map(u32::to_string).collect();
    if pages.len() > SHOWN_PAGES {
        named.push(format!("and {} more", pages.len() - SHOWN_PAGES));
    }
    let page = if pages.len() == 1 { "page" } else { "pages" };
    let file = plain(&file.display().to_string());
    format!("{file} is read without the {page} {}, which can't be read", named.join(", "))
}

/// Computes what finds the new passages by their meaning, where there is a model for that. What it can't compute now, Cortex
/// computes while it runs.
async fn embed(knowledge: &Knowledge) {
    let progress = Progress::on_terminal();
    let done = knowledge.embed_missing(|done| progress.write(&format!("{done} passages by their meaning"))).await;
    progress.clear();
    if let Err(problem) = done {
        eprintln!("cortex: some passages are found by their words alone for now: {problem}");
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
