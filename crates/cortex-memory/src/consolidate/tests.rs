//! The rules, one story each.

use super::*;
use crate::observation::{IS_AT, Source, View};

const MINUTE: u64 = 60_000;
const ONE: RelationRule = RelationRule { cardinality: Cardinality::One, resolution: 0.0 };
const MANY: RelationRule = RelationRule { cardinality: Cardinality::Many, resolution: 0.0 };

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn at(place: &str) -> Claim {
    Claim::Is { relation: IS_AT.to_owned(), value: text(place) }
}

fn not_in(place: &str) -> Claim {
    Claim::NotThere { covered: Coverage::Place(place.to_owned()) }
}

fn says(kind: SourceKind, claim: Claim, wall_ms: u64) -> Observation {
    Observation {
        subject: "red cup".to_owned(),
        claim,
        wall_ms,
        location: None,
        layer: "things".to_owned(),
        view: None,
        source: Source { kind, name: "one".to_owned() },
        confidence: None,
    }
}

fn seen(claim: Claim, wall_ms: u64) -> Observation {
    says(SourceKind::Sensor, claim, wall_ms)
}

fn open(place: &str, source: SourceKind, seen_ms: u64) -> OpenFact {
    OpenFact { id: 1, value: text(place), location: None, source, seen_ms }
}

fn run(claim: Claim, last_ms: u64, fact: Option<RunFact>) -> Run {
    Run { id: 9, claim, location: None, picture: None, last_ms, fact }
}

fn ended(by: SourceKind, at_ms: u64) -> Option<RunFact> {
    Some(RunFact { id: 7, ended: Some(Ended { by, at_ms }) })
}

fn covering(places: &[&str], open: Vec<OpenFact>) -> OnRecord {
    let covered = places.iter().map(|place| (*place).to_owned()).collect();
    OnRecord { open, covered, ..OnRecord::default() }
}

#[test]
fn the_first_observation_makes_a_fact_and_the_next_confirms_it() {
    let first = decide(&seen(at("kitchen"), 0), ONE, 0.0, &OnRecord::default());
    assert_eq!(first, Decision { row: RowChange::Begin(None), fact: FactChange::Open, ends: vec![] });
    let on_record = OnRecord {
        run: Some(run(at("Kitchen"), 0, Some(RunFact { id: 1, ended: None }))),
        open: vec![open("kitchen", SourceKind::Sensor, 0)],
        ..OnRecord::default()
    };
    let second = decide(&seen(at("kitchen"), MINUTE), ONE, 0.0, &on_record);
    assert_eq!(second, Decision { row: RowChange::Extend(9), fact: FactChange::Confirm(1), ends: vec![] });
    let later = decide(&seen(at("kitchen"), 20 * MINUTE), ONE, 0.0, &on_record);
    assert!(matches!(later.row, RowChange::Begin(_)), "after a silence a new run begins: {later:?}");
}

#[test]
fn another_value_ends_the_one_before_only_where_there_is_one_at_a_time() {
    let on_record = OnRecord { open: vec![open("kitchen", SourceKind::Sensor, 0)], ..OnRecord::default() };
    let moved = decide(&seen(at("bedroom"), MINUTE), ONE, 0.0, &on_record);
    assert_eq!((moved.fact, moved.ends), (FactChange::Open, vec![(1, EndReason::Superseded)]));
    let more = decide(&seen(at("bedroom"), MINUTE), MANY, 0.0, &on_record);
    assert_eq!((more.fact, more.ends), (FactChange::Open, vec![]));
}

#[test]
fn a_look_ends_only_what_it_covered() {
    let cup = || vec![open("kitchen table", SourceKind::Sensor, 0)];
    let whole = covering(&["kitchen", "kitchen table"], cup());
    let look = decide(&seen(not_in("kitchen"), MINUTE), ONE, 0.0, &whole);
    assert_eq!(look.ends, [(1, EndReason::NotThere)]);
    let elsewhere = decide(&seen(not_in("hall"), MINUTE), ONE, 0.0, &covering(&["hall"], cup()));
    assert_eq!(elsewhere.ends, []);
    let blind = Claim::CouldNotSee { covered: Coverage::Place("kitchen".to_owned()), reason: "dark".to_owned() };
    assert_eq!(decide(&seen(blind, MINUTE), ONE, 0.0, &whole).ends, [], "who could not see knows nothing");
}

#[test]
fn a_correction_holds_against_the_run_that_it_corrected_and_yields_to_a_new_observation() {
    let corrected = |last_ms, wall_ms, place: &str| {
        let on_record = OnRecord {
            run: Some(run(at("kitchen"), last_ms, ended(SourceKind::Person, 10 * MINUTE))),
            open: vec![open("bedroom", SourceKind::Person, 10 * MINUTE)],
            ..OnRecord::default()
        };
        decide(&seen(at(place), wall_ms), ONE, 0.0, &on_record).fact
    };
    assert_eq!(corrected(11 * MINUTE, 12 * MINUTE, "kitchen"), FactChange::Unchanged(Unchanged::Corrected));
    assert_eq!(corrected(5_000 * MINUTE, 5_001 * MINUTE, "kitchen"), FactChange::Unchanged(Unchanged::Corrected));
    assert_eq!(corrected(11 * MINUTE, 12 * MINUTE, "hall"), FactChange::Open, "it says something new");
    assert_eq!(corrected(11 * MINUTE, 30 * MINUTE, "kitchen"), FactChange::Open, "it looked anew");
}

#[test]
fn a_denial_of_a_person_holds_although_a_detector_jitters() {
    let mut jittering = run(at("kitchen"), 11 * MINUTE, ended(SourceKind::Person, 10 * MINUTE));
    jittering.location = None;
    let mut observation = seen(at("kitchen"), 12 * MINUTE);
    observation.location = Some(Location {
        pose: crate::place::Pose { x_m: 1.0, y_m: 0.0, yaw_rad: 0.0 },
        frame: "map".to_owned(),
        map: crate::place::MapRef { id: "floor".to_owned(), version: "1".to_owned() },
    });
    let decision = decide(&observation, ONE, 0.0, &OnRecord { run: Some(jittering), ..OnRecord::default() });
    assert_eq!(decision.fact, FactChange::Unchanged(Unchanged::Corrected));
    assert_eq!(decision.row, RowChange::Begin(Some(7)), "the new row knows of what it is evidence");
}

#[test]
fn of_two_sensors_the_news_counts_and_a_silent_one_loses() {
    let disputed = |seen_ms, wall_ms| {
        let on_record = OnRecord {
            run: Some(run(at("kitchen"), wall_ms - 1, ended(SourceKind::Sensor, 0))),
            open: vec![open("bedroom", SourceKind::Sensor, seen_ms)],
            ..OnRecord::default()
        };
        decide(&seen(at("kitchen"), wall_ms), ONE, 0.0, &on_record)
    };
    assert_eq!(disputed(9 * MINUTE, 10 * MINUTE).fact, FactChange::Unchanged(Unchanged::Disputed));
    let won = disputed(MINUTE, 12 * MINUTE);
    assert_eq!((won.fact, won.row), (FactChange::Open, RowChange::Begin(None)));
    assert_eq!(won.ends, [(1, EndReason::Superseded)]);
}

#[test]
fn what_a_person_repeats_is_news_each_time() {
    let on_record = OnRecord {
        run: Some(run(at("bedroom"), MINUTE, ended(SourceKind::Sensor, 2 * MINUTE))),
        open: vec![open("kitchen", SourceKind::Sensor, 2 * MINUTE)],
        ..OnRecord::default()
    };
    let decision = decide(&says(SourceKind::Person, at("bedroom"), 3 * MINUTE), ONE, 0.0, &on_record);
    assert_eq!((decision.fact, decision.ends), (FactChange::Open, vec![(1, EndReason::Superseded)]));
}

#[test]
fn an_opinion_changes_nothing_that_somebody_knows() {
    let mut on_record = OnRecord { open: vec![open("kitchen", SourceKind::Sensor, 0)], ..OnRecord::default() };
    on_record.has_evidence = true;
    for claim in [at("bedroom"), at("kitchen"), not_in("kitchen")] {
        let decision = decide(&says(SourceKind::Model, claim, MINUTE), ONE, 0.0, &on_record);
        assert_eq!((decision.fact, decision.ends), (FactChange::Unchanged(Unchanged::Opinion), vec![]));
    }
    let alone = decide(&says(SourceKind::Model, at("bedroom"), MINUTE), ONE, 0.0, &OnRecord::default());
    assert_eq!(alone.fact, FactChange::Open, "better than nothing");
}

#[test]
fn an_unsure_run_makes_a_fact_when_it_gets_sure() {
    let mut observation = seen(at("kitchen"), MINUTE);
    observation.confidence = Some(0.3);
    let unsure = decide(&observation, ONE, 0.5, &OnRecord::default());
    assert_eq!(unsure.fact, FactChange::Unchanged(Unchanged::Unsure));
    observation.confidence = Some(0.8);
    let on_record = OnRecord {
        run: Some(run(at("kitchen"), 0, None)),
        open: vec![open("bedroom", SourceKind::Person, 0)],
        ..OnRecord::default()
    };
    assert_eq!(decide(&observation, ONE, 0.5, &on_record).fact, FactChange::Open);
}

#[test]
fn one_picture_shown_again_is_no_second_look() {
    let mut observation = seen(at("kitchen"), MINUTE);
    observation.view = Some(View { sensor: "camera".to_owned(), picture: Some(4) });
    let mut last = run(at("kitchen"), 0, None);
    last.picture = Some(4);
    let on_record = OnRecord { run: Some(last), ..OnRecord::default() };
    let decision = decide(&observation, ONE, 0.0, &on_record);
    assert_eq!(decision.row, RowChange::SamePicture(9));
    observation.view = Some(View { sensor: "camera".to_owned(), picture: Some(5) });
    assert_eq!(decide(&observation, ONE, 0.0, &on_record).row, RowChange::Begin(None), "the run made no fact yet");
}

#[test]
fn a_clock_that_is_set_back_begins_a_new_run() {
    let on_record = OnRecord { run: Some(run(at("kitchen"), 100 * MINUTE, None)), ..OnRecord::default() };
    let decision = decide(&seen(at("kitchen"), 50 * MINUTE), ONE, 0.0, &on_record);
    assert!(matches!(decision.row, RowChange::Begin(_)));
}
