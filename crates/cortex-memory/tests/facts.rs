//! Stories of what a robot sees, is told and believes.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use cortex_memory::{
    Change, ClockNote, Coverage, EndReason, Location, Memory, Now, Observation, PoseUse, Presence, Region, SourceKind,
    Span, SpatialQuery, Unchanged, Value, View, Whereabouts,
};
use house::*;

/// Where the cup is: the place, or the last place with a question mark.
async fn cup(memory: &Memory) -> String {
    match memory.locate("the Red Cup", &now(1_000)).await.expect("an answer").expect("it is known").whereabouts {
        Whereabouts::At(answer) => shown(&answer.fact.value),
        Whereabouts::LastSeen(answer) => format!("{}?", shown(&answer.fact.value)),
        Whereabouts::NeverSeen => "never".to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

async fn add(memory: &Memory, observation: Observation) -> cortex_memory::Noted {
    memory.add(vec![observation]).await.expect("it is kept").pop().expect("one")
}

async fn presence(memory: &Memory, place: &str) -> Presence {
    memory.presence("red cup", place, &now(1_000)).await.expect("an answer").presence
}

#[tokio::test]
async fn the_answer_follows_the_cup_and_the_trail_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, camera("red cup", is_at("kitchen"), 0)).await;
    add(&memory, camera("Red  cup", is_at("the kitchen"), 5)).await;
    assert_eq!(cup(&memory).await, "kitchen");
    add(&memory, camera("red cup", is_at("bedroom"), 30)).await;
    assert_eq!(cup(&memory).await, "bedroom");

    let history = memory.history("red cup", "is at", 10).await.expect("a history");
    assert_eq!(history.iter().map(|fact| shown(&fact.value)).collect::<Vec<_>>(), ["bedroom", "kitchen"]);
    let ended = history[1].ended.as_ref().expect("it ended");
    assert_eq!((ended.reason, ended.at.wall_ms), (EndReason::Superseded, START + 30 * MINUTE));
    assert_eq!((history[1].observations, history[1].seen_at.wall_ms), (2, START + 5 * MINUTE));
    let trail = memory.trail(history[1].id, 10).await.expect("a trail");
    assert_eq!((trail.len(), trail[0].count, trail[0].source.name.as_str()), (1, 2, "/camera"));
}

#[tokio::test]
async fn looked_and_not_there_is_told_from_could_not_see_and_from_never_looked() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    assert_eq!(presence(&memory, "kitchen").await, Presence::NeverLooked);
    add(&memory, camera("red cup", could_not_see("kitchen", "the door was closed"), 0)).await;
    assert_eq!(presence(&memory, "kitchen").await, Presence::CouldNotSee);
    add(&memory, camera("red cup", is_at("kitchen"), 10)).await;
    assert_eq!(presence(&memory, "kitchen").await, Presence::Present);
    add(&memory, camera("red cup", could_not_see("kitchen", "it was dark"), 20)).await;
    assert_eq!(presence(&memory, "kitchen").await, Presence::Present, "who could not see knows nothing");
    add(&memory, camera("red cup", not_there("kitchen"), 30)).await;
    let answer = memory.presence("red cup", "kitchen", &now(40)).await.expect("an answer");
    assert_eq!(answer.presence, Presence::NotThere);
    assert_eq!(answer.as_of().expect("a time").wall_ms, START + 30 * MINUTE);
    assert_eq!(cup(&memory).await, "kitchen?", "it was last seen there");
    add(&memory, camera("red cup", is_at("bedroom"), 50)).await;
    assert_eq!(presence(&memory, "kitchen").await, Presence::NotThere);
    assert_eq!(presence(&memory, "hall").await, Presence::Elsewhere, "nobody looked there, and it is in the bedroom");
}

#[tokio::test]
async fn a_look_at_the_kitchen_covers_its_table_and_the_table_is_in_the_kitchen() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, anna(camera("kitchen table", is("is part of", "kitchen"), 0))).await;
    // A circle of parts is a mistake of people, and no reason to hang.
    add(&memory, anna(camera("kitchen", is("is part of", "kitchen table"), 0))).await;
    add(&memory, anna(camera("kitchen", is("is part of", "house"), 1))).await;
    add(&memory, camera("red cup", is_at("kitchen table"), 2)).await;
    assert_eq!(presence(&memory, "kitchen").await, Presence::Present);
    assert_eq!(presence(&memory, "house").await, Presence::Present);
    add(&memory, camera("red cup", not_there("kitchen"), 10)).await;
    assert_eq!(presence(&memory, "kitchen table").await, Presence::NotThere);
    assert_eq!(cup(&memory).await, "kitchen table?");
}

#[tokio::test]
async fn unrelated_facts_never_retire_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    for (subject, claim) in [
        ("anna", is("likes", "tea")),
        ("anna", is("likes", "chess")),
        ("anna", is_at("kitchen")),
        ("ben", is("likes", "coffee")),
        ("ben", is_at("kitchen")),
    ] {
        add(&memory, camera(subject, claim, 0)).await;
    }
    add(&memory, camera("ben", is_at("hall"), 30)).await;
    add(&memory, camera("red cup", not_there("kitchen"), 31)).await;
    let size = memory.size().await.expect("a size");
    assert_eq!((size.open_facts, size.ended_facts), (5, 1));
    let likes = memory.history("anna", "likes", 10).await.expect("a history");
    assert!(likes.len() == 2 && likes.iter().all(|fact| fact.ended.is_none()));
}

#[tokio::test]
async fn of_ten_thousand_facts_only_those_end_that_were_seen_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let thing = |index: u64| format!("thing {index}");
    let mut first = Vec::new();
    for index in 0..2_500 {
        let shelf = format!("shelf {}", index % 50);
        first.push(camera(&thing(index), is_at(&shelf), 0));
        first.extend((0..3).map(|tag| camera(&thing(index), is("has tag", &format!("tag {}", index % 7 + tag)), 0)));
    }
    memory.add(first).await.expect("kept");
    // Every tenth is seen elsewhere, every hundredth is not where it was; all others were not on shelves where they never
    // were, and nobody could see the rest.
    let mut later = Vec::new();
    for index in 0..2_500 {
        let claim = match index {
            index if index % 100 == 5 => not_there(&format!("shelf {}", index % 50)),
            index if index % 10 == 0 => is_at("cellar"),
            index if index % 2 == 0 => not_there(&format!("shelf {}", (index + 1) % 50)),
            _ => could_not_see(&format!("shelf {}", index % 50), "it was dark"),
        };
        later.push(camera(&thing(index), claim, 20));
    }
    memory.add(later).await.expect("kept");
    let size = memory.size().await.expect("a size");
    assert_eq!(size.ended_facts, 250 + 25);
    assert_eq!(size.open_facts, 10_000 - 25);
}

#[tokio::test]
async fn a_person_corrects_and_the_camera_that_goes_on_does_not_win() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, camera("red cup", is_at("kitchen"), 0)).await;
    let corrected = add(&memory, anna(camera("red cup", is_at("bedroom"), 1))).await;
    assert_eq!(corrected.ended.len(), 1);
    for minute in 2..120 {
        let noted = add(&memory, camera("red cup", is_at("kitchen"), minute)).await;
        assert_eq!(noted.change, Change::None(Unchanged::Corrected));
    }
    let located = memory.locate("red cup", &now(200)).await.unwrap().unwrap();
    assert!(matches!(&located.whereabouts, Whereabouts::At(answer) if answer.fact.source.name == "anna"));
    assert_eq!(located.disputed_by.expect("the camera says otherwise").value, text("kitchen"));
    // It looks anew, hours later: that is a later observation of the same thing.
    add(&memory, camera("red cup", is_at("kitchen"), 400)).await;
    assert_eq!(cup(&memory).await, "kitchen");
    let history = memory.history("red cup", "is at", 10).await.unwrap();
    assert_eq!(history.len(), 3, "the trail keeps the correction and what it corrected");
    assert_eq!(history[2].ended.as_ref().unwrap().by.kind, SourceKind::Person);
}

#[tokio::test]
async fn a_denial_ends_what_it_denies() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, camera("red cup", is_at("kitchen"), 0)).await;
    add(&memory, anna(camera("red cup", not_at("kitchen"), 1))).await;
    assert_eq!(cup(&memory).await, "kitchen?");
    assert_eq!(presence(&memory, "kitchen").await, Presence::NotThere);
    add(&memory, camera("red cup", is_at("kitchen"), 2)).await;
    assert_eq!(cup(&memory).await, "kitchen?", "the camera goes on with what was denied");
    add(&memory, anna(camera("anna", is("likes", "tea"), 3))).await;
    let denied = cortex_memory::Claim::IsNot { relation: "likes".to_owned(), value: text("tea") };
    let noted = add(&memory, anna(camera("anna", denied, 4))).await;
    assert_eq!(noted.ended.len(), 1);
}

#[tokio::test]
async fn an_opinion_of_a_model_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, camera("red cup", is_at("kitchen"), 0)).await;
    for claim in [is_at("bedroom"), not_there("kitchen"), not_at("kitchen")] {
        let noted = add(&memory, says(SourceKind::Model, "planner", camera("red cup", claim, 1))).await;
        assert_eq!((noted.change, noted.ended.len()), (Change::None(Unchanged::Opinion), 0));
    }
    assert_eq!(cup(&memory).await, "kitchen");
    assert_eq!(presence(&memory, "kitchen").await, Presence::Present);
}

#[tokio::test]
async fn a_sensor_that_repeats_itself_for_ever_adds_no_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let repeated = (0..2_000).map(|minute| camera("red cup", is_at("kitchen"), minute)).collect();
    memory.add(repeated).await.expect("kept");
    let size = memory.size().await.expect("a size");
    assert_eq!((size.observations, size.open_facts), (1, 1));
    let fact = memory.history("red cup", "is at", 1).await.unwrap().remove(0);
    assert_eq!((fact.observations, fact.seen_at.wall_ms), (2_000, START + 1_999 * MINUTE));

    // A picture that has a number is known for the same: nothing was seen anew.
    let frozen = |minute| Observation {
        view: Some(View { sensor: "camera".to_owned(), picture: Some(u64::MAX) }),
        ..camera("blue cup", is_at("kitchen"), minute)
    };
    memory.add((0..2_000).map(frozen).collect()).await.expect("kept");
    let fact = memory.history("blue cup", "is at", 1).await.unwrap().remove(0);
    assert_eq!((fact.observations, fact.seen_at.wall_ms), (1, START));
}

#[tokio::test]
async fn a_clock_that_jumps_is_told_and_the_order_of_arrival_decides() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, camera("red cup", is_at("kitchen"), 1_000_000)).await;
    let noted = add(&memory, camera("red cup", is_at("bedroom"), 10)).await;
    assert_eq!(noted.clock, Some(ClockNote::WentBack));
    assert_eq!(cup(&memory).await, "bedroom");
    let located = memory.locate("red cup", &now(20)).await.unwrap().unwrap();
    let before = located.before[0].clone().answer(&now(20));
    assert_eq!(before.clock, Some(ClockNote::WentBack));
    assert_eq!(before.age_ms, None, "nobody claims to know how long ago the future was");
}

#[tokio::test]
async fn a_pose_of_another_map_is_not_for_driving() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let placed =
        |location: Location| Observation { location: Some(location), ..camera("red cup", is_at("kitchen"), 0) };
    add(&memory, placed(at_pose(1.0, 2.0, "7"))).await;
    let pose_use = async |version: &str| {
        let now = Now { map: Some(map(version)), ..now(1) };
        match memory.locate("red cup", &now).await.unwrap().unwrap().whereabouts {
            Whereabouts::At(answer) => answer.pose_use,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pose_use("7").await, PoseUse::Drivable(at_pose(1.0, 2.0, "7")));
    assert_eq!(pose_use("8").await, PoseUse::AnotherMap { known: map("7"), in_use: map("8") });
}

#[tokio::test]
async fn places_without_names_and_regions_are_asked_for_by_the_map() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let box_at = |x_m, minute| Observation {
        location: Some(at_pose(x_m, 0.0, "7")),
        ..camera("box", cortex_memory::Claim::Is { relation: "is at".to_owned(), value: Value::AtPose }, minute)
    };
    add(&memory, box_at(1.0, 0)).await;
    add(&memory, box_at(1.3, 1)).await;
    assert_eq!(memory.size().await.unwrap().observations, 1, "a jitter is no move");
    add(&memory, box_at(4.0, 2)).await;
    let region =
        |x_m: f64, version: &str| Region { x_m, y_m: 0.0, radius_m: 1.0, frame: "map".to_owned(), map: map(version) };
    let found = async |x_m: f64, version: &str, past: bool| {
        let query = SpatialQuery { region: region(x_m, version), past };
        memory.spatial_query(query, 10, &now(5)).await.expect("an answer").len()
    };
    assert_eq!((found(4.0, "7", false).await, found(1.0, "7", false).await, found(1.0, "7", true).await), (1, 0, 1));
    assert_eq!((found(4.0, "8", false).await, found(4.9, "7", false).await, found(5.1, "7", false).await), (0, 1, 0));
    let look = cortex_memory::Claim::NotThere { covered: Coverage::Region(region(4.2, "7")) };
    add(&memory, camera("box", look, 20)).await;
    assert_eq!(found(4.0, "7", false).await, 0, "it was looked for where it was, and it was not there");
    let mut bad = region(0.0, "7");
    bad.radius_m = f64::NAN;
    assert!(memory.spatial_query(SpatialQuery { region: bad, past: false }, 1, &now(5)).await.is_err());
}

#[tokio::test]
async fn what_was_observed_in_a_time_is_found_by_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    // One run of five hours, and short ones.
    memory.add((0..300).map(|minute| camera("lamp", is("is", "on"), minute)).collect()).await.unwrap();
    add(&memory, camera("red cup", is_at("kitchen"), 90)).await;
    add(&memory, camera("red cup", is_at("bedroom"), 200)).await;
    add(&memory, battery(0.7, 201)).await;
    let seen = async |from: u64, to: u64, subject: Option<&str>, layer: Option<&str>| -> Vec<String> {
        let span = Span {
            from_ms: START + from * MINUTE,
            to_ms: START + to * MINUTE,
            subject: subject.map(str::to_owned),
            layer: layer.map(str::to_owned),
        };
        let runs = memory.temporal_query(span, 10).await.expect("an answer");
        runs.into_iter().map(|run| run.subject).collect()
    };
    assert_eq!(seen(80, 100, None, None).await, ["lamp", "red cup"]);
    assert_eq!(seen(250, 260, None, None).await, ["lamp"], "it was on all the time");
    assert_eq!(seen(150, 250, None, None).await, ["lamp", "red cup", "robot"]);
    assert_eq!(seen(0, 300, Some("The red cup"), None).await.len(), 2);
    assert_eq!(seen(0, 300, None, Some("body")).await, ["robot"]);
    assert_eq!(seen(0, 300, Some("robot"), Some("things")).await.len(), 0);
    assert_eq!(seen(300, 400, None, None).await.len(), 0);
}

/// Rows of the log are found in two ways, by how long they last; the first of all are told, whichever way they were found.
#[tokio::test]
async fn of_many_observations_of_a_time_the_first_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    // Each lamp is on for two hours, each cup is seen once; in turn.
    for index in 0..6 {
        let begins = index * 10;
        memory.add(vec![camera(&format!("lamp {index}"), is("is", "on"), begins)]).await.unwrap();
        memory.add(vec![camera(&format!("cup {index}"), is_at("kitchen"), begins + 5)]).await.unwrap();
    }
    for minute in (60..180).step_by(10) {
        memory
            .add((0..6).map(|index| camera(&format!("lamp {index}"), is("is", "on"), minute)).collect())
            .await
            .unwrap();
    }
    let span = |layer: Option<&str>| Span {
        from_ms: START,
        to_ms: START + 200 * MINUTE,
        subject: None,
        layer: layer.map(str::to_owned),
    };
    let told = async |layer, most| {
        let runs = memory.temporal_query(span(layer), most).await.expect("an answer");
        runs.into_iter().map(|run| run.subject).collect::<Vec<_>>().join(", ")
    };
    for layer in [None, Some("things")] {
        assert_eq!(told(layer, 5).await, "lamp 0, cup 0, lamp 1, cup 1, lamp 2");
    }
    assert_eq!(told(Some("body"), 5).await, "");
}

#[tokio::test]
async fn the_body_is_a_layer_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(vec![battery(0.73, 0), battery(0.731, 1), battery(0.60, 30)]).await.unwrap();
    add(&memory, camera("red cup", is_at("kitchen"), 31)).await;
    let body = memory.body_status(&now(40)).await.expect("a status");
    assert_eq!(body.len(), 1);
    assert_eq!(body[0].fact.value, Value::Number(0.60));
    assert_eq!(body[0].age_ms, Some(10 * MINUTE));
    assert_eq!(memory.size().await.unwrap().observations, 3, "the first two readings are the same");
    let context = memory.get_current_context(5, &now(40)).await.expect("a context");
    assert_eq!((context.body.len(), context.seen_last[0].fact.subject.as_str()), (1, "red cup"));
}

#[tokio::test]
async fn an_entity_is_a_thing_or_a_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    add(&memory, camera("red cup", is_at("kitchen"), 0)).await;
    add(&memory, camera("plate", is_at("kitchen"), 1)).await;
    add(&memory, camera("red cup", is_at("hall"), 2)).await;
    let kitchen = memory.entity_query("Kitchen", 10, &now(5)).await.unwrap().expect("it is known");
    assert_eq!(kitchen.named_by.iter().map(|it| it.fact.subject.as_str()).collect::<Vec<_>>(), ["plate"]);
    let cup = memory.entity_query("red cup", 10, &now(5)).await.unwrap().expect("it is known");
    assert_eq!((cup.facts.len(), cup.runs), (2, 2));
    assert_eq!(shown(&cup.facts[0].fact.value), "hall", "what holds comes first");
    assert_eq!((cup.first.unwrap().wall_ms, cup.last.unwrap().wall_ms), (START, START + 2 * MINUTE));
    assert!(memory.entity_query("unicorn", 10, &now(5)).await.unwrap().is_none());
    assert!(memory.locate("unicorn", &now(5)).await.unwrap().is_none());
    assert!(memory.locate("", &now(5)).await.is_err());
}

#[tokio::test]
async fn one_bad_observation_refuses_all_that_came_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let bad = Observation { confidence: Some(7.0), ..camera("red cup", is_at("kitchen"), 0) };
    let error = memory.add(vec![camera("plate", is_at("hall"), 0), bad]).await.expect_err("the second is bad");
    assert_eq!(
        error.to_string(),
        "observation 2 can't be kept, and none that came with it is: the confidence is not between 0 and 1"
    );
    let stranger = Observation { layer: "smells".to_owned(), ..camera("plate", is_at("hall"), 0) };
    let error = memory.add(vec![stranger]).await.expect_err("no such layer").to_string();
    assert!(error.contains("no layer 'smells'; there are body, notes, things"), "{error}");
    assert_eq!(memory.size().await.unwrap().observations, 0);
}
