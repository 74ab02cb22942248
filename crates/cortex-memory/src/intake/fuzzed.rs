//! Messages that nobody has thought of: what is taken of them can be kept, and the rest is told in one line.

use serde_json::Value as Json;

use super::*;

fn readings() -> [TopicReading; 3] {
    let reading = |content| TopicReading { layer: "things".to_owned(), topic: "/seen".to_owned(), content };
    let fields = |each: Option<&str>, value: Option<&str>| {
        let subject = match each {
            Some(_) => Named::Field("results.0.hypothesis.class_id".to_owned()),
            None => Named::Fixed("robot".to_owned()),
        };
        MessageContent::Fields(MessageFields {
            each: each.map(str::to_owned),
            subject,
            relation: IS_AT.to_owned(),
            value: value.map(str::to_owned),
            pose: each.map(|_| "results.0.pose".to_owned()),
            confidence: each.map(|_| "results.0.hypothesis.score".to_owned()),
        })
    };
    [
        reading(MessageContent::Observations),
        reading(fields(Some("detections"), None)),
        reading(fields(None, Some("percentage"))),
    ]
}

#[test]
fn every_mutant_of_a_message_is_taken_as_far_as_it_can_be_kept() {
    let map = MapRef { id: "home".to_owned(), version: "1".to_owned() };
    let places = [NamedRegion { name: "kitchen".to_owned(), x_m: 3.0, y_m: 1.5, radius_m: 1.0 }];
    let arrival = Arrival { wall_ms: 5, is_of_unknown_age: false, map: Some(&map), map_frame: "map", places: &places };
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        let Ok(message) = serde_json::from_slice::<Json>(input) else { return "no JSON".to_owned() };
        let taken = readings().map(|reading| {
            let taken = reading.read(&message, LayerKind::Perception, &arrival);
            assert!(taken.observations.iter().all(|one| one.check().is_ok()), "{taken:?}");
            let told = taken.problem.map(|problem| problem.to_string()).unwrap_or_default();
            assert!(!told.contains(char::is_control), "{told:?}");
            format!("{} {told}", taken.observations.len())
        });
        taken.join(" | ")
    });
}
