//! Which of forty facts answers a question that has none of their words: by words alone, and by words and meaning.

use std::sync::Arc;

use cortex_memory::{Memory, MemoryRules, NOTES, Now, Observation, Source, SourceKind};

use crate::{embedder, table};

/// Facts that are looked at for each question.
const MOST: usize = 5;

/// Of how many questions the right fact is first, and among the first five.
async fn ranks(memory: &Memory, now: &Now) -> [usize; 2] {
    let (mut first, mut among_five) = (0, 0);
    for line in table("recollections.tsv") {
        let [question, subject] = &line[..] else { panic!("{line:?}") };
        let found = memory.semantic_search(question, MOST, now).await.expect("a search");
        let place = found.iter().position(|found| found.answer.fact.subject == *subject);
        first += usize::from(place == Some(0));
        among_five += usize::from(place.is_some());
    }
    [first, among_five]
}

#[tokio::test]
async fn what_is_remembered_is_found_by_other_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path().join("memory.sqlite"), MemoryRules::default()).await.expect("it opens");
    let source = Source { kind: SourceKind::Person, name: "anna".to_owned() };
    let said = table("remembered.tsv").into_iter().map(|line| {
        let [subject, relation, value] = &line[..] else { panic!("{line:?}") };
        let said = Observation::note(
            subject.clone(),
            Some(relation.clone()),
            value.clone(),
            source.clone(),
            1_700_000_000_000,
        );
        assert_eq!(said.layer, NOTES);
        said
    });
    memory.add(said.collect()).await.expect("kept");
    let now = Now { wall_ms: 1_700_000_060_000, map: None };
    let words = ranks(&memory, &now).await;
    let memory = memory.with_embedder(Arc::new(embedder()));
    memory.embed_missing().await.expect("the vectors");
    let both = ranks(&memory, &now).await;
    let questions = table("recollections.tsv").len();
    println!("of {questions} questions first, among five: words {words:?}, both {both:?}");
    assert!(both[0] * 10 >= questions * 7 && both[1] * 10 >= questions * 9, "words {words:?}, both {both:?}");
    assert!(words[0] * 2 < both[0], "words {words:?}, both {both:?}");
}
