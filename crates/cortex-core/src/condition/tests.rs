use cortex_protocol::condition::Source;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn place() -> Source {
    Source::Topic { topic: "/place".to_owned(), field: "data".to_owned() }
}

fn condition(written: Value) -> BoundCondition {
    let condition: Condition = serde_json::from_value(written).unwrap();
    bind(&condition, &Map::new()).unwrap()
}

fn seen(value: Value) -> Observation {
    Observation::Value { value, kept: false, age: Age::Arrival }
}

/// The verdict on a check of `/place data` that has this value.
fn verdict(test: Value, value: Value) -> Verdict {
    let Value::Object(mut written) = test else { unreachable!() };
    written.insert("topic".to_owned(), json!("/place"));
    written.insert("field".to_owned(), json!("data"));
    let mut observations = Observations::default();
    observations.see(place(), seen(value), SECOND);
    condition(Value::Object(written)).evaluate(&observations, None, SECOND).verdict
}

#[test]
fn values_are_compared_and_what_is_of_another_kind_is_not_known() {
    use Verdict::{Broken, Holds, Unknown};
    for (test, value, expected) in [
        (json!({"equal": "hall"}), json!("hall"), Holds),
        (json!({"equal": "hall"}), json!("kitchen"), Broken),
        (json!({"equal": 1}), json!(1.0), Holds),
        (json!({"equal": 1}), json!("1"), Unknown),
        (json!({"equal": true}), json!(null), Unknown),
        (json!({"equal": 9_007_199_254_740_993_u64}), json!(9_007_199_254_740_992_u64), Broken),
        (json!({"equal": [1, {"a": 2}]}), json!([1.0, {"a": 2.0}]), Holds),
        (json!({"different": "hall"}), json!("kitchen"), Holds),
        (json!({"different": "hall"}), json!(3), Unknown),
        (json!({"greater": 0.05}), json!(0.06), Holds),
        (json!({"greater": 0.05}), json!(0.05), Broken),
        (json!({"greater": 0.05}), json!(null), Unknown),
        (json!({"less": -1}), json!(-1.5), Holds),
        (json!({"at_least": 3}), json!(3), Holds),
        (json!({"at_most": 3}), json!(4), Broken),
        (json!({"in": ["a", "b", 3]}), json!("b"), Holds),
        (json!({"in": ["a", "b", 3]}), json!("c"), Broken),
        (json!({"in": ["a", "b"]}), json!(3), Unknown),
        (json!({"contains": "ell"}), json!("hello"), Holds),
        (json!({"contains": 2}), json!([1, 2]), Holds),
        (json!({"contains": 2}), json!([]), Broken),
        (json!({"contains": 2}), json!(["two"]), Unknown),
        (json!({"contains": 2}), json!({"2": 2}), Unknown),
        (json!({"near": {"value": 1, "tolerance": 0.5, "unit": "m"}}), json!(1.5), Holds),
        (json!({"near": {"value": 1, "tolerance": 0.5}}), json!(1.6), Broken),
        (json!({"near": {"value": 3.1, "tolerance": 0.1, "unit": "rad"}}), json!(-3.12), Holds),
        (json!({"near": {"value": 3.1, "tolerance": 0.1}}), json!(-3.12), Broken),
        (json!({"near": {"value": 359, "tolerance": 2, "unit": "deg"}}), json!(0), Holds),
        (json!({}), json!("anything"), Holds),
        (json!({"greater": 0.5}), json!("Infinity"), Holds),
        (json!({"less": 0.5}), json!("Infinity"), Broken),
        (json!({"at_most": 0}), json!("-Infinity"), Holds),
        (json!({"equal": 1}), json!("Infinity"), Broken),
        (json!({"different": 1}), json!("-Infinity"), Holds),
        (json!({"near": {"value": 1, "tolerance": 0.5}}), json!("Infinity"), Broken),
        (json!({"near": {"value": 1, "tolerance": 0.5, "unit": "rad"}}), json!("Infinity"), Unknown),
    ] {
        assert_eq!(verdict(test.clone(), value.clone()), expected, "{test} of {value}");
    }
}

#[test]
fn regression_what_is_no_number_is_no_evidence_of_anything() {
    for test in [
        json!({}),
        json!({"equal": 1}),
        json!({"different": 1}),
        json!({"greater": 1}),
        json!({"at_most": 1}),
        json!({"in": [1, 2]}),
        json!({"near": {"value": 1, "tolerance": 5}}),
    ] {
        for value in [json!("NaN"), json!(null)] {
            assert_eq!(verdict(test.clone(), value.clone()), Verdict::Unknown, "{test} of {value}");
        }
    }
    for (test, value, expected) in [
        (json!({}), json!(["NaN", "NaN"]), Verdict::Unknown),
        (json!({}), json!(["NaN", 1]), Verdict::Holds),
        (json!({}), json!([]), Verdict::Holds),
        (json!({"equal": [1, 2]}), json!([1, "NaN"]), Verdict::Unknown),
        (json!({"different": [1, 2]}), json!([1, "NaN"]), Verdict::Unknown),
        (json!({"different": [1, 2]}), json!([3, "NaN"]), Verdict::Holds),
        (json!({"contains": 2}), json!([1, "NaN"]), Verdict::Unknown),
        (json!({"contains": 2}), json!([2, "NaN"]), Verdict::Holds),
    ] {
        assert_eq!(verdict(test.clone(), value.clone()), expected, "{test} of {value}");
    }
}

#[test]
fn regression_a_value_that_became_no_number_or_was_none_has_not_changed() {
    let changed = condition(json!({"topic": "/place", "field": "data", "change": true}));
    let verdict = |observations: &Observations| changed.evaluate(observations, None, SECOND).verdict;
    for none in [json!("NaN"), json!(null)] {
        let mut observations = Observations::default();
        observations.see(place(), seen(json!(1.5)), SECOND);
        observations.begin();
        observations.see(place(), seen(none.clone()), SECOND);
        assert_eq!(verdict(&observations), Verdict::Unknown, "{none}");
        observations.see(place(), seen(json!(1.5)), SECOND);
        assert_eq!(verdict(&observations), Verdict::Broken, "as before");
        observations.see(place(), seen(none), SECOND);
        observations.begin();
        observations.see(place(), seen(json!(1.5)), SECOND);
        assert_eq!(verdict(&observations), Verdict::Broken, "the first that is known is what others are compared with");
        observations.see(place(), seen(json!("Infinity")), SECOND);
        assert_eq!(verdict(&observations), Verdict::Holds);
    }
    let mut observations = Observations::default();
    observations.see(place(), seen(json!({"x": 1, "y": 2})), SECOND);
    observations.begin();
    observations.see(place(), seen(json!({"x": 1, "y": "NaN"})), SECOND);
    assert_eq!(verdict(&observations), Verdict::Unknown);
    observations.see(place(), seen(json!({"x": 3, "y": "NaN"})), SECOND);
    assert_eq!(verdict(&observations), Verdict::Holds);
}

#[test]
fn regression_what_a_message_says_of_its_own_age_counts_more_than_its_arrival() {
    let hall = condition(json!({"topic": "/place", "field": "data", "equal": "hall", "max_age_s": 2}));
    let stamped =
        |seconds: u32| Observation::Value { value: json!("hall"), kept: false, age: Age::Stamped(SECOND * seconds) };
    let mut observations = Observations::default();
    observations.see(place(), stamped(3), SECOND * 10);
    let Finding { verdict, explanation } = hall.evaluate(&observations, None, SECOND * 10);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(explanation.ends_with("(it was last seen 3.0 s ago, by the stamp of its message)"), "{explanation}");
    observations.see(place(), stamped(1), SECOND * 10);
    assert_eq!(hall.evaluate(&observations, None, SECOND * 11).verdict, Verdict::Holds);
    assert_eq!(hall.stale_after(&observations, SECOND * 10), Some(SECOND * 11));
    assert_eq!(
        hall.evaluate(&observations, Some(SECOND * 9), SECOND * 10).verdict,
        Verdict::Unknown,
        "it is from before"
    );
    assert_eq!(hall.evaluate(&observations, Some(SECOND * 8), SECOND * 10).verdict, Verdict::Holds);
    let reason = "its stamp lies 40.0 s in the future".to_owned();
    observations.see(
        place(),
        Observation::Value { value: json!("hall"), kept: false, age: Age::Unknown { reason } },
        SECOND * 11,
    );
    let Finding { verdict, explanation } = hall.evaluate(&observations, None, SECOND * 11);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(explanation.contains("nobody knows how old it is: its stamp lies 40.0 s in the future"), "{explanation}");
    // How old it may be matters to those only who say so.
    let whenever = condition(json!({"topic": "/place", "field": "data", "equal": "hall"}));
    assert_eq!(whenever.evaluate(&observations, None, SECOND * 11).verdict, Verdict::Holds);
    let kept = Observation::Value { value: json!("hall"), kept: true, age: Age::Stamped(SECOND) };
    let mut observations = Observations::default();
    observations.see(place(), kept, SECOND * 10);
    assert_eq!(hall.evaluate(&observations, None, SECOND * 10).verdict, Verdict::Holds, "kept, and says how old it is");
    assert_eq!(hall.evaluate(&observations, Some(SECOND), SECOND * 10).verdict, Verdict::Unknown);
}

#[test]
fn what_was_never_seen_is_too_old_or_has_nobody_to_tell_it_is_not_known() {
    let hall = condition(json!({"topic": "/place", "field": "data", "equal": "hall", "max_age_s": 2}));
    let explanation = |observations: &Observations, now| {
        let Finding { verdict, explanation } = hall.evaluate(observations, None, now);
        (verdict, explanation)
    };
    let mut observations = Observations::default();
    let wanted = "/place data is \"hall\", seen within 2 s";
    assert_eq!(explanation(&observations, SECOND), (Verdict::Unknown, format!("{wanted} (nothing was seen of it)")));
    observations.see(place(), seen(json!("hall")), SECOND);
    assert_eq!(
        explanation(&observations, SECOND * 3),
        (Verdict::Holds, format!("{wanted} (it is \"hall\", seen 2.0 s ago)"))
    );
    assert_eq!(hall.stale_after(&observations, SECOND), Some(SECOND * 3));
    assert_eq!(hall.stale_after(&observations, SECOND * 4), None, "a watch of it would wake again and again");
    assert_eq!(
        explanation(&observations, SECOND * 4),
        (Verdict::Unknown, format!("{wanted} (it was last seen 3.0 s ago)"))
    );
    observations.see(place(), Observation::Absent { reason: "nobody publishes /place".to_owned() }, SECOND);
    assert_eq!(explanation(&observations, SECOND), (Verdict::Unknown, format!("{wanted} (nobody publishes /place)")));
    observations.see(place(), Observation::Unusable { reason: "it has no field 'data'".to_owned() }, SECOND);
    assert_eq!(explanation(&observations, SECOND), (Verdict::Unknown, format!("{wanted} (it has no field 'data')")));
}

#[test]
fn regression_a_message_that_a_topic_kept_from_before_is_no_evidence() {
    let hall = condition(json!({"topic": "/place", "field": "data", "equal": "hall"}));
    let verdict = |observations: &Observations, since| hall.evaluate(observations, since, SECOND * 2).verdict;
    let mut observations = Observations::default();
    // It arrives after the call began, because the connection took so long.
    observations.see(place(), Observation::Value { value: json!("hall"), kept: true, age: Age::Arrival }, SECOND * 2);
    assert_eq!(verdict(&observations, None), Verdict::Holds);
    assert_eq!(verdict(&observations, Some(SECOND)), Verdict::Unknown);
    observations.see(place(), seen(json!("kitchen")), SECOND * 2);
    observations.see(place(), Observation::Value { value: json!("hall"), kept: true, age: Age::Arrival }, SECOND * 2);
    assert_eq!(verdict(&observations, Some(SECOND)), Verdict::Broken, "what is kept does not hide what is new");
    let aged = condition(json!({"topic": "/p", "equal": 1, "max_age_s": 60}));
    let source = Source::Topic { topic: "/p".to_owned(), field: String::new() };
    observations.see(source, Observation::Value { value: json!(1), kept: true, age: Age::Arrival }, SECOND);
    assert_eq!(aged.evaluate(&observations, None, SECOND).verdict, Verdict::Unknown, "its age is not known");
}

#[test]
fn what_was_seen_before_the_call_is_no_evidence() {
    let hall = condition(json!({"topic": "/place", "field": "data", "equal": "hall"}));
    let mut observations = Observations::default();
    observations.see(place(), seen(json!("hall")), SECOND);
    assert_eq!(hall.evaluate(&observations, Some(SECOND * 2), SECOND * 3).verdict, Verdict::Unknown);
    observations.see(place(), seen(json!("hall")), SECOND * 3);
    assert_eq!(hall.evaluate(&observations, Some(SECOND * 2), SECOND * 3).verdict, Verdict::Holds);
}

#[test]
fn a_change_is_one_since_the_call_began() {
    let changed = condition(json!({"topic": "/place", "field": "data", "change": true}));
    let verdict = |observations: &Observations| changed.evaluate(observations, None, SECOND).verdict;
    let mut observations = Observations::default();
    observations.see(place(), seen(json!("hall")), SECOND);
    assert_eq!(verdict(&observations), Verdict::Unknown);
    observations.see(place(), seen(json!("kitchen")), SECOND);
    observations.begin();
    assert_eq!(verdict(&observations), Verdict::Broken);
    observations.see(place(), seen(json!("hall")), SECOND);
    assert_eq!(verdict(&observations), Verdict::Holds);
    observations.see(place(), seen(json!("kitchen")), SECOND);
    assert_eq!(verdict(&observations), Verdict::Broken);
}

#[test]
fn references_are_bound_to_what_the_call_says_and_to_nothing_else() {
    let Value::Object(arguments) = json!({"place": "{hall}", "pose": {"xy": [1, 2]}}) else { unreachable!() };
    let bound = |test: Value| {
        let Value::Object(mut written) = test else { unreachable!() };
        written.insert("topic".to_owned(), json!("/p"));
        let condition: Condition = serde_json::from_value(Value::Object(written)).unwrap();
        bind(&condition, &arguments).map(|bound| bound.condition().checks()[0].test.clone())
    };
    assert_eq!(bound(json!({"equal": "{place}"})), Ok(Test::Equal(json!("{hall}"))), "a value is not looked up again");
    assert_eq!(bound(json!({"equal": "{{place}}"})), Ok(Test::Equal(json!("{place}"))));
    assert_eq!(bound(json!({"in": ["{pose.xy.1}", "x"]})), Ok(Test::In(json!([2, "x"]))));
    assert!(bound(json!({"equal": "{pose.z}"})).unwrap_err().to_string().contains("no argument 'pose.z'"));
}

/// A condition over three sources.
fn written() -> impl Strategy<Value = Value> {
    let check = (
        0..3_usize,
        prop::sample::select(vec!["equal", "different", "greater", "less", "in", "contains", ""]),
        any::<i8>(),
    )
        .prop_map(|(source, test, number)| {
            let mut written = json!({"topic": format!("/t{source}")});
            match test {
                "" => {}
                "in" => written["in"] = json!([number, "x"]),
                test => written[test] = json!(number),
            }
            if number % 3 == 0 {
                written["max_age_s"] = json!(2);
            }
            written
        });
    check.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"and": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|any| json!({"or": any})),
            inner.prop_map(|inner| json!({"not": inner})),
        ]
    })
}

fn observation() -> impl Strategy<Value = Observation> {
    let value = prop_oneof![
        any::<i8>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,5}".prop_map(|text| json!(text)),
        Just(json!(null)),
        Just(json!("NaN")),
        Just(json!("Infinity")),
        Just(json!([1, "x", {"y": null}])),
        Just(json!({"data": [true]})),
    ];
    let age = prop_oneof![
        3 => Just(Age::Arrival),
        1 => (0..20_u64).prop_map(|seconds| Age::Stamped(Duration::from_secs(seconds))),
        1 => Just(Age::Unknown { reason: "its stamp lies in the future".to_owned() }),
    ];
    prop_oneof![
        6 => (value, any::<bool>(), age).prop_map(|(value, kept, age)| Observation::Value { value, kept, age }),
        1 => Just(Observation::Silent),
        1 => Just(Observation::Unusable { reason: "unusable".to_owned() }),
        1 => Just(Observation::Absent { reason: "absent".to_owned() }),
    ]
}

fn observations() -> impl Strategy<Value = Observations> {
    prop::collection::vec((0..3_usize, observation(), 0..10_u64), 0..8).prop_map(|all| {
        let mut observations = Observations::default();
        for (source, observation, at) in all {
            let source = Source::Topic { topic: format!("/t{source}"), field: String::new() };
            observations.see(source, observation, SECOND * u32::try_from(at).unwrap_or_default());
        }
        observations
    })
}

proptest! {
    /// Kleene's logic; and the same observations always give the same finding.
    #[test]
    fn and_or_and_not_keep_to_the_rules_of_three_values(
        all in prop::collection::vec(written(), 1..4), observations in observations(), now in 0..12_u32, since in prop::option::of(0..12_u32),
    ) {
        let (now, since) = (SECOND * now, since.map(|since| SECOND * since));
        let of = |written: Value| condition(written).evaluate(&observations, since, now);
        let verdicts: Vec<Verdict> = all.iter().map(|one| of(one.clone()).verdict).collect();
        let strictest = |first: Verdict, last: Verdict| {
            if verdicts.contains(&first) { first }
            else if verdicts.contains(&Verdict::Unknown) { Verdict::Unknown }
            else { last }
        };
        prop_assert_eq!(of(json!({"and": all})).verdict, strictest(Verdict::Broken, Verdict::Holds));
        prop_assert_eq!(of(json!({"or": all})).verdict, strictest(Verdict::Holds, Verdict::Broken));
        let not: Vec<Value> = all.iter().map(|one| json!({"not": one})).collect();
        prop_assert_eq!(of(json!({"not": {"and": all}})).verdict, of(json!({"or": not})).verdict);
        prop_assert_eq!(of(json!({"not": {"not": all[0]}})).verdict, verdicts[0]);
        prop_assert_eq!(of(all[0].clone()), of(all[0].clone()));
    }

    /// Of what nobody has seen, nothing is known, whatever is asked.
    #[test]
    fn without_an_observation_nothing_holds_and_nothing_is_broken(written in written(), now in 0..12_u32) {
        let finding = condition(written).evaluate(&Observations::default(), None, SECOND * now);
        prop_assert_eq!(finding.verdict, Verdict::Unknown);
    }

    /// Whatever was seen before the call shows nothing about what it did.
    #[test]
    fn no_evidence_comes_from_before_the_call(written in written(), observations in observations()) {
        let finding = condition(written).evaluate(&observations, Some(SECOND * 10), SECOND * 12);
        prop_assert_eq!(finding.verdict, Verdict::Unknown);
    }
}
