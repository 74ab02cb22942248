use cortex_protocol::ToolCall;
use serde_json::json;

use super::*;

fn step(tool: &str, arguments: Value, after: Option<&[u32]>) -> plan::Request {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    plan::Request {
        call: ToolCall { tool: tool.into(), arguments },
        after: after.map(|after| after.iter().copied().map(StepNumber).collect()),
        instead_of: Vec::new(),
    }
}

fn expanded(requests: Vec<plan::Request>) -> Result<Vec<String>, ExpansionError> {
    let values_of = |name: &str, _: &[plan::Request]| match name {
        "place" => Ok(vec![json!("kitchen"), json!("hall")]),
        "shelf" => Ok(vec![json!(1), json!(2)]),
        "trap" => Ok(vec![json!("<output of step 1>")]),
        "grain" => Ok((0..5_000).map(|number| json!(number)).collect()),
        other => Err(ExpansionError::EmptyCollection { name: other.to_owned() }),
    };
    let wanted = expand(requests, &StepGroups::default(), values_of, |request| request.call.tool.as_str() == "look")?;
    let shown = |Wanted { request, .. }: Wanted| {
        let after = request.after.map_or(String::new(), |after| {
            format!(" after {}", after.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
        });
        format!("{} {}{after}", request.call.tool, Value::Object(request.call.arguments))
    };
    Ok(wanted.into_iter().map(shown).collect())
}

#[test]
fn a_plan_that_repeats_nothing_stays_as_it_is() {
    let plan = vec![step("go", json!({"place": "<the kitchen>"}), None), step("look", json!({}), Some(&[1]))];
    assert_eq!(expanded(plan), Ok(vec![r#"go {"place":"<the kitchen>"}"#.to_owned(), "look {} after 1".to_owned()]));
}

#[test]
fn a_block_is_repeated_for_each_value_and_refers_to_itself() {
    let plan = vec![
        step("greet", json!({}), None),
        step("go", json!({"place": "<each place>"}), None),
        step("look", json!({}), None),
        step("say", json!({"text": "In <Each place> I see <output of step 3.text>."}), Some(&[1, 3])),
        step("go", json!({"place": "home"}), Some(&[4])),
    ];
    assert_eq!(
        expanded(plan).unwrap(),
        [
            "greet {}",
            r#"go {"place":"kitchen"}"#,
            "look {}",
            r#"say {"text":"In kitchen I see <output of step 3.text>."} after 1,3"#,
            r#"go {"place":"hall"}"#,
            "look {}",
            r#"say {"text":"In hall I see <output of step 6.text>."} after 1,6"#,
            r#"go {"place":"home"} after 4,7"#,
        ]
    );
}

#[test]
fn a_look_right_after_the_block_belongs_to_it_and_two_blocks_follow_each_other() {
    let plan = vec![
        step("go", json!({"place": "<each place>"}), None),
        step("look", json!({}), None),
        step("reach", json!({"shelves": ["<every shelf>"]}), Some(&[])),
        step("wave", json!({}), None),
    ];
    assert_eq!(
        expanded(plan).unwrap(),
        [
            r#"go {"place":"kitchen"}"#,
            "look {}",
            r#"go {"place":"hall"}"#,
            "look {}",
            r#"reach {"shelves":[1]} after "#,
            r#"reach {"shelves":[2]} after "#,
            "wave {} after 5,6",
        ]
    );
}

#[test]
fn regression_what_follows_copies_that_run_together_waits_for_all_of_them() {
    let reach = |after| step("reach", json!({"shelf": "<each shelf>"}), after);
    let drop = || step("drop", json!({}), None);
    let pair = vec![reach(Some(&[])), step("put", json!({"shelf": "<each shelf>"}), Some(&[1])), drop(), drop()];
    let pair = expanded(pair).unwrap();
    assert_eq!(&pair[4..], ["drop {} after 1,2,3,4", "drop {}"]);
    let next = vec![reach(Some(&[])), step("go", json!({"place": "<each place>"}), None), drop()];
    assert_eq!(
        &expanded(next).unwrap()[2..],
        [r#"go {"place":"kitchen"} after 1,2"#, r#"go {"place":"hall"}"#, "drop {}"]
    );
    assert_eq!(&expanded(vec![reach(Some(&[])), step("drop", json!({}), Some(&[]))]).unwrap()[2..], ["drop {} after "]);
    assert_eq!(&expanded(vec![reach(None), drop()]).unwrap()[2..], ["drop {}"], "one after another anyway");
}

#[test]
fn what_a_group_waits_for_after_a_block_is_for_the_groups_to_say() {
    let written = json!({"groups": [{"name": "a", "steps": [2], "after": []}]});
    let Value::Object(written) = written else { panic!("an arrangement is an object") };
    let step_groups = StepGroups::read(&written).unwrap();
    let plan = vec![step("reach", json!({"shelf": "<each shelf>"}), Some(&[])), step("drop", json!({}), None)];
    let values_of = |_: &str, _: &[plan::Request]| Ok(vec![json!(1), json!(2)]);
    let wanted = expand(plan, &step_groups, values_of, |_| false).unwrap();
    assert_eq!(wanted[2].request.after, None);
}

#[test]
fn what_can_not_be_written_out_is_told() {
    let overlapping = vec![
        step("go", json!({"place": "<each place>"}), None),
        step("reach", json!({"shelf": "<each shelf>"}), None),
        step("go", json!({"place": "<each place>"}), None),
    ];
    let outside = vec![
        step("go", json!({"place": "<each place>"}), None),
        step("wave", json!({}), None),
        step("say", json!({"text": "<output of step 1>"}), None),
    ];
    for (plan, problem) in [
        (overlapping, "overlap"),
        (outside, "<output of step 1> has several values"),
        (vec![step("go", json!({"place": "<each cellar>"}), None)], "<each cellar> stands for nothing"),
        (vec![step("go", json!({"place": "<each trap>"}), None)], "reads as a reference"),
        (vec![step("go", json!({"place": "<each grain>"}), None)], "more than 1000 steps"),
        (vec![step("go", json!({"place": "<each place>"}), Some(&[9]))], "step 1 refers to step 9"),
    ] {
        let told = expanded(plan).unwrap_err().to_string();
        assert!(told.contains(problem), "{told}");
    }
}
