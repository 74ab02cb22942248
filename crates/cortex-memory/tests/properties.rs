//! What holds whatever is observed, in any order, by anybody.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use std::collections::BTreeMap;

use cortex_memory::{Change, Claim, EndReason, Fact, IS_AT, Memory, Noted, Observation, SourceKind, Value};
use house::*;
use proptest::prelude::*;

const SUBJECTS: [&str; 3] = ["red cup", "blue cup", "anna"];
const PLACES: [&str; 3] = ["kitchen", "bedroom", "hall"];
const RELATIONS: [&str; 2] = [IS_AT, "likes"];

prop_compose! {
    fn observation()(
        subject in 0..SUBJECTS.len(),
        relation in 0..RELATIONS.len(),
        place in 0..PLACES.len(),
        claim in 0..8,
        source in 0..6,
        minute in prop_oneof![4 => 0_u64..60, 1 => 0_u64..100_000],
    ) -> Observation {
        let (relation, value) = (RELATIONS[relation].to_owned(), text(PLACES[place]));
        let claim = match claim {
            0 => not_there(PLACES[place]),
            1 => could_not_see(PLACES[place], "it was dark"),
            2 => Claim::IsNot { relation, value },
            _ => Claim::Is { relation, value },
        };
        let observation = camera(SUBJECTS[subject], claim, minute);
        match source {
            0 => anna(observation),
            1 => says(SourceKind::Model, "planner", observation),
            2 => says(SourceKind::Sensor, "/other", observation),
            _ => observation,
        }
    }
}

/// What a story leaves behind.
struct Told {
    memory: Memory,
    noted: Vec<Noted>,
    facts: Vec<Fact>,
    _folder: tempfile::TempDir,
}

fn tell(observations: &[Observation]) -> Told {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = open(folder.path()).await;
        let noted = memory.add(observations.to_vec()).await.expect("they are kept");
        let mut facts = Vec::new();
        for subject in SUBJECTS {
            for relation in RELATIONS {
                facts.extend(memory.history(subject, relation, 1_000).await.expect("a history"));
            }
        }
        Told { memory, noted, facts, _folder: folder }
    })
}

fn run<T>(story: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(story)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// A fact ends only by an observation of its own subject and relation; by an opinion only if it is one itself.
    #[test]
    fn nothing_is_retired_by_what_has_nothing_to_do_with_it(all in prop::collection::vec(observation(), 1..40)) {
        let told = tell(&all);
        for fact in &told.facts {
            let Some(ended) = &fact.ended else { continue };
            let by = &all[usize::try_from(ended.at.sequence).unwrap() - 1];
            prop_assert_eq!(&by.subject, &fact.subject);
            prop_assert_eq!(by.claim.relation(), fact.relation.as_str());
            let is_opinion = by.source.kind == SourceKind::Model;
            prop_assert!(!is_opinion || fact.source.kind == SourceKind::Model);
            if fact.relation == "likes" {
                prop_assert_eq!(ended.reason, EndReason::Denied, "values of a set never end each other");
            }
            prop_assert!(ended.at.sequence > fact.valid_from.sequence);
        }
    }

    /// A relation with one value has one at a time, and facts follow each other.
    #[test]
    fn there_is_one_value_at_a_time(all in prop::collection::vec(observation(), 1..40)) {
        let told = tell(&all);
        let mut places: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
        for fact in told.facts.iter().filter(|fact| fact.relation == IS_AT) {
            places.entry(&fact.subject).or_default().push(fact);
        }
        for facts in places.values_mut() {
            facts.sort_by_key(|fact| fact.valid_from.sequence);
            for pair in facts.windows(2) {
                let ended = pair[0].ended.as_ref().map(|ended| ended.at.sequence);
                prop_assert!(ended.is_some_and(|ended| ended <= pair[1].valid_from.sequence));
            }
        }
    }

    /// Every observation is on record: as a row of its own or as part of one, and each fact has its trail.
    #[test]
    fn nothing_that_was_observed_is_lost(all in prop::collection::vec(observation(), 1..40)) {
        let told = tell(&all);
        prop_assert_eq!(told.noted.len(), all.len());
        let span = cortex_memory::Span { from_ms: 0, to_ms: u64::MAX / 4, ..Default::default() };
        let runs = run(told.memory.temporal_query(span, 1_000)).expect("an answer");
        prop_assert_eq!(runs.iter().map(|run| run.count).sum::<u64>(), all.len() as u64);
        for fact in &told.facts {
            let trail = run(told.memory.trail(fact.id, 1_000)).expect("a trail");
            prop_assert!(!trail.is_empty());
            prop_assert!(trail.iter().all(|run| run.subject == fact.subject && run.claim.relation() == fact.relation));
        }
    }

    /// The last word of a person stands until somebody makes a new observation of the same thing.
    #[test]
    fn a_correction_outranks_what_goes_on(
        place in 0..PLACES.len(), other in 1..PLACES.len(), before in 1_u64..30, after in 1_u64..200
    ) {
        let (wrong, right) = (PLACES[place], PLACES[(place + other) % PLACES.len()]);
        let mut all: Vec<Observation> = (0..before).map(|minute| camera("red cup", is_at(wrong), minute)).collect();
        all.push(anna(camera("red cup", is_at(right), before)));
        all.extend((before..before + after).map(|minute| camera("red cup", is_at(wrong), minute)));
        let told = tell(&all);
        let open: Vec<&Fact> = told.facts.iter().filter(|fact| fact.ended.is_none()).collect();
        prop_assert_eq!(open.len(), 1);
        prop_assert_eq!(&open[0].value, &Value::Text(right.to_owned()));
        prop_assert_eq!(told.facts.len(), 2);
    }

    /// Telling the same twice changes no fact and adds no row.
    #[test]
    fn what_is_repeated_at_once_adds_nothing(all in prop::collection::vec(observation(), 1..20)) {
        let mut doubled = Vec::new();
        for observation in all.iter().filter(|observation| observation.source.kind == SourceKind::Sensor) {
            doubled.push(observation.clone());
            doubled.push(observation.clone());
        }
        let told = tell(&doubled);
        for pair in told.noted.chunks(2) {
            match (pair[0].change, pair[1].change) {
                (Change::New(first) | Change::Confirmed(first), second) => {
                    prop_assert_eq!(second, Change::Confirmed(first));
                }
                (first, second) => prop_assert_eq!(first, second),
            }
            prop_assert!(pair[1].ended.is_empty());
        }
    }
}
