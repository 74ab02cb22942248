//! Messages as observations.

use serde_json::json;

use super::*;

const KITCHEN: NamedRegion = NamedRegion { name: String::new(), x_m: 3.0, y_m: 1.5, radius_m: 1.0 };

fn read(content: MessageContent, message: &Json, has_map: bool) -> Taken {
    let map = MapRef { id: "home".to_owned(), version: "1".to_owned() };
    let places = [NamedRegion { name: "kitchen".to_owned(), ..KITCHEN }];
    let arrival = Arrival {
        wall_ms: 5_000,
        is_of_unknown_age: false,
        map: has_map.then_some(&map),
        map_frame: "map",
        places: &places,
    };
    TopicReading { layer: "things".to_owned(), topic: "/seen".to_owned(), content }.read(
        message,
        LayerKind::Perception,
        &arrival,
    )
}

fn one(claim: u8, changes: Json) -> Json {
    let mut one = json!({
        "claim": claim, "subject": "red cup", "relation": "", "value": "", "place": "", "radius_m": 0.0, "reason": "",
        "has_pose": false, "x_m": 0.0, "y_m": 0.0, "yaw_rad": 0.0, "confidence": -1.0,
    });
    one.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    one
}

fn look(observations: &[Json]) -> Json {
    json!({
        "stamp": {"sec": 0, "nanosec": 0}, "frame": "map", "sensor": "camera", "picture": 7, "observations": observations,
    })
}

fn claims(message: &Json, has_map: bool) -> (Vec<Claim>, Option<IntakeProblem>) {
    let taken = read(MessageContent::Observations, message, has_map);
    (taken.observations.into_iter().map(|one| one.claim).collect(), taken.problem)
}

fn at(place: Value) -> Claim {
    Claim::Is { relation: IS_AT.to_owned(), value: place }
}

#[test]
fn a_look_tells_what_is_there_what_is_not_and_what_could_not_be_seen() {
    let (told, problem) = claims(
        &look(&[
            one(0, json!({"value": "office"})),
            one(1, json!({"relation": "is", "value": "empty"})),
            one(2, json!({"place": "kitchen"})),
            one(3, json!({"place": "kitchen", "reason": "it was dark"})),
            one(0, json!({"has_pose": true, "x_m": 3.2, "y_m": 1.4})),
            one(0, json!({"has_pose": true, "x_m": 9.0, "y_m": 9.0, "confidence": 0.5})),
        ]),
        true,
    );
    assert_eq!(problem, None);
    let kitchen = || Coverage::Place("kitchen".to_owned());
    assert_eq!(
        told,
        [
            at(Value::Text("office".to_owned())),
            Claim::IsNot { relation: "is".to_owned(), value: Value::Text("empty".to_owned()) },
            Claim::NotThere { covered: kitchen() },
            Claim::CouldNotSee { covered: kitchen(), reason: "it was dark".to_owned() },
            at(Value::Text("kitchen".to_owned())),
            at(Value::AtPose),
        ]
    );
    let taken = read(MessageContent::Observations, &look(&[one(0, json!({"value": "office"}))]), true);
    let seen = &taken.observations[0];
    assert_eq!(seen.view, Some(View { sensor: "camera".to_owned(), picture: Some(7) }));
    assert_eq!((seen.wall_ms, seen.confidence, seen.source.name.as_str()), (5_000, None, "/seen"));
}

#[test]
fn a_pose_without_a_map_or_in_another_frame_is_no_place() {
    let message = look(&[one(0, json!({"has_pose": true, "x_m": 3.2, "y_m": 1.4}))]);
    assert_eq!(claims(&message, false), (vec![], None));
    let mut elsewhere = message;
    elsewhere["frame"] = json!("odom");
    assert_eq!(claims(&elsewhere, true), (vec![], None));
    elsewhere["frame"] = json!("/map");
    assert_eq!(claims(&elsewhere, true).0, [at(Value::Text("kitchen".to_owned()))]);
}

#[test]
fn what_can_not_be_kept_is_named_and_the_rest_is_kept() {
    let good = one(0, json!({"value": "office"}));
    let is_named = |bad: Json, expected: &str| {
        let (told, problem) = claims(&look(&[bad, good.clone()]), true);
        assert_eq!(told.len(), 1, "{expected}");
        let problem = problem.expect(expected).to_string();
        assert!(problem.contains(expected), "{problem}");
    };
    is_named(one(0, json!({"value": "office", "subject": ""})), "subject has an empty name");
    is_named(one(9, json!({})), "'claim' holds no claim from 0 to 3");
    is_named(one(0, json!({"value": "office", "confidence": 7.0})), "confidence is not between 0 and 1");
    is_named(one(2, json!({"has_pose": true})), "no radius above 0");
    is_named(one(0, json!({"has_pose": true, "x_m": "NaN"})), "'x_m' holds no number");
    is_named(json!({}), "no field 'has_pose'");
    let many: Vec<Json> = (0..=MOST).map(|_| good.clone()).collect();
    let (told, problem) = claims(&look(&many), true);
    assert_eq!((told.len(), problem), (MOST, Some(IntakeProblem::TooMany(MOST + 1))));
    assert_eq!(
        claims(&json!({"observations": 3}), true).1.unwrap().to_string(),
        "its field 'observations' holds no list"
    );
}

fn battery(message: &Json) -> Taken {
    let fields = MessageFields {
        each: None,
        subject: Named::Fixed("robot".to_owned()),
        relation: "battery".to_owned(),
        value: Some("percentage".to_owned()),
        pose: None,
        confidence: None,
    };
    read(MessageContent::Fields(fields), message, true)
}

#[test]
fn a_field_is_a_reading_and_no_reading_is_none() {
    let taken = battery(&json!({"percentage": 0.7}));
    let battery_is = Claim::Is { relation: "battery".to_owned(), value: Value::Number(0.7) };
    assert_eq!(taken.observations[0].claim, battery_is);
    let none = battery(&json!({"percentage": "NaN"}));
    assert!(none.observations.is_empty() && none.problem.is_none(), "not measured is no reading, and no mistake");
    assert_eq!(battery(&json!({})).problem, Some(IntakeProblem::NoField("percentage".to_owned())));
    assert!(battery(&json!({"percentage": [1]})).problem.is_some());
}

#[test]
fn detections_of_any_type_are_read_by_their_fields() {
    let fields = MessageFields {
        each: Some("detections".to_owned()),
        subject: Named::Field("results.0.hypothesis.class_id".to_owned()),
        relation: IS_AT.to_owned(),
        value: None,
        pose: Some("results.0.pose".to_owned()),
        confidence: Some("results.0.hypothesis.score".to_owned()),
    };
    let quarter = std::f64::consts::FRAC_PI_4;
    let pose = json!({"pose": {"pose": {
        "position": {"x": 3.0, "y": 1.0, "z": 0.8},
        "orientation": {"x": 0.0, "y": 0.0, "z": quarter.sin(), "w": quarter.cos()},
    }, "covariance": []}});
    let detection = |class: &str, score: f64| {
        json!({
            "results": [{"hypothesis": {"class_id": class, "score": score}, "pose": pose["pose"]}],
        })
    };
    let message = json!({
        "header": {"frame_id": "map"},
        "detections": [detection("red cup", 0.8), {"results": []}, detection("kettle", 0.4)],
    });
    let taken = read(MessageContent::Fields(fields), &message, true);
    let subjects: Vec<&str> = taken.observations.iter().map(|one| one.subject.as_str()).collect();
    assert_eq!(subjects, ["red cup", "kettle"]);
    assert_eq!(taken.problem, Some(IntakeProblem::NoField("results.0.pose".to_owned())));
    let first = &taken.observations[0];
    assert_eq!((first.claim.clone(), first.confidence), (at(Value::Text("kitchen".to_owned())), Some(0.8)));
    let yaw = first.location.as_ref().unwrap().pose.yaw_rad;
    assert!((yaw - std::f64::consts::FRAC_PI_2).abs() < 1e-9, "{yaw}");
}

#[test]
fn what_was_seen_nobody_knows_when_is_no_news_of_the_world() {
    let arrival = Arrival { wall_ms: 1, is_of_unknown_age: true, map: None, map_frame: "map", places: &[] };
    let fields = MessageFields {
        each: None,
        subject: Named::Fixed("door".to_owned()),
        relation: "is".to_owned(),
        value: Some("data".to_owned()),
        pose: None,
        confidence: None,
    };
    let content = MessageContent::Fields(fields);
    let reading = TopicReading { layer: "things".to_owned(), topic: "/door".to_owned(), content };
    let taken = |kind| reading.read(&json!({"data": "open"}), kind, &arrival).observations.len();
    assert_eq!((taken(LayerKind::Perception), taken(LayerKind::Interoception)), (0, 1));
}
