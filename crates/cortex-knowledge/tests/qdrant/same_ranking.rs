//! Words find on a server what they find in the file: on the questions of `tests/meaning`, which somebody wrote who knew neither.

use std::path::{Path, PathBuf};

use cortex_knowledge::read::{self, PdfLimits, PdfReader};
use cortex_knowledge::{DocumentStore, MetadataFilter, SqliteStore};
use cortex_testkit::qdrant::Server;

use crate::store_of;

/// Passages that are looked at for each question.
const MOST: usize = 5;

/// On how many questions the right section comes first, and among the first five.
#[derive(Debug, Default)]
struct Rank {
    first: usize,
    among_five: usize,
}

async fn rank(store: &dyn DocumentStore, questions: &str) -> Rank {
    let files = read::files(&meaning("documents")).expect("the documents");
    // None of them is a PDF.
    let pdf = PdfReader::new("/bin/false", Vec::new(), PdfLimits::default());
    let documents =
        files.iter().map(|file| read::read(&file.file, &file.id, &pdf).expect("a document").document).collect();
    store.add(documents).await.expect("they are added");
    let mut rank = Rank::default();
    for line in questions.lines() {
        let [question, document, section] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let found = store.search(question, MOST, &MetadataFilter::new()).await.expect("a search");
        let place = found.iter().position(|it| it.document == document && it.passage.place.ends_with(section));
        rank.first += usize::from(place == Some(0));
        rank.among_five += usize::from(place.is_some());
    }
    rank
}

fn meaning(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/meaning").join(name)
}

#[tokio::test]
async fn a_server_answers_as_many_questions_by_words_as_the_file() {
    let questions = std::fs::read_to_string(meaning("questions.tsv")).expect("the questions");
    let folder = tempfile::tempdir().expect("a folder");
    let file = rank(&SqliteStore::at(&folder.path().join("knowledge.sqlite")), &questions).await;
    let server = Server::start(None).await.expect("a server");
    let on_server = rank(&store_of(&server, "robbie"), &questions).await;
    println!("of {} questions: file {file:?}, server {on_server:?}", questions.lines().count());
    let nearly = |one: usize, other: usize| one + questions.lines().count() / 30 >= other;
    assert!(nearly(on_server.first, file.first) && nearly(on_server.among_five, file.among_five));
}
