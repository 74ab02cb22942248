//! Which passage of twelve documents answers 150 questions: by words alone, by meaning alone, and by both.

use std::sync::Arc;

use cortex_core::Embedder as _;
use cortex_knowledge::read::{self, PdfLimits, PdfReader};
use cortex_knowledge::{DocumentStore as _, Found, Knowledge, MetadataFilter, SqliteStore};

use crate::{embedder, set, table};

/// Passages that are looked at for each question.
const MOST: usize = 5;

/// How high the right passages are.
#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    questions: f64,
    first: f64,
    among_five: f64,
    /// The sum of one over the place.
    reciprocal: f64,
}

impl Rank {
    fn count(&mut self, found: &[Found], document: &str, section: &str) {
        let is_right = |found: &Found| found.document == document && found.passage.place.ends_with(section);
        self.questions += 1.0;
        if let Some(before) = found.iter().take(MOST).position(is_right) {
            self.first += f64::from(u8::from(before == 0));
            self.among_five += 1.0;
            self.reciprocal += 1.0 / (f64::from(u32::try_from(before).expect("a few")) + 1.0);
        }
    }

    /// First, among the first five, and the mean of one over the place.
    fn shares(self) -> [f64; 3] {
        [self.first, self.among_five, self.reciprocal].map(|sum| sum / self.questions)
    }
}

#[tokio::test]
async fn words_and_meaning_together_find_more_than_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(SqliteStore::at(&folder.path().join("documents.sqlite")));
    let files = read::files(&set("documents")).expect("the documents");
    // None of them is a PDF.
    let pdf = PdfReader::new("/bin/false", Vec::new(), PdfLimits::default());
    let documents =
        files.iter().map(|file| read::read(&file.file, &file.id, &pdf).expect("a document").document).collect();
    store.add(documents).await.expect("they are added");
    let embedder = Arc::new(embedder());
    let both = Knowledge::new(Arc::clone(&store) as _, MOST, false).with_embedder(Arc::clone(&embedder) as _);
    both.embed_missing(|_| ()).await.expect("the vectors");

    let (mut words, mut meaning, mut together) = (Rank::default(), Rank::default(), Rank::default());
    // By the others it was found how much words are to count.
    for line in table("questions.tsv").into_iter().skip(1).step_by(2) {
        let [question, document, section] = &line[..] else { panic!("{line:?}") };
        let filter = MetadataFilter::new();
        let found = store.search(question, MOST, &filter).await.expect("a search by words");
        words.count(&found, document, section);
        let vector = embedder.embed(vec![question.clone()]).await.expect("a vector").remove(0);
        let found = store.nearest(embedder.model(), &vector, MOST, &filter).await.expect("a search by meaning");
        meaning.count(&found, document, section);
        let found = both.search(question, MOST).await.expect("a search");
        together.count(&found, document, section);
    }
    let [words, meaning, together] = [words, meaning, together].map(Rank::shares);
    println!("first, among five, reciprocal: words {words:.3?}, meaning {meaning:.3?}, both {together:.3?}");
    let [first, among_five, reciprocal] = together;
    assert!(first > words[0] && first > meaning[0], "first: {words:?}, {meaning:?}, {together:?}");
    assert!(among_five > 0.9 && reciprocal > 0.8, "{together:?}");
}
