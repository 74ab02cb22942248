//! Tests of components that leave in mid mission and come back.

use cortex_protocol::{HaltState, StepStatus};

use super::*;

fn go() -> (&'static str, Value) {
    ("base-go_to", json!({"place": "kitchen"}))
}

fn say() -> (&'static str, Value) {
    ("speaker-say", json!({"text": "hello"}))
}

fn all() -> Input {
    Input::ToolsChanged { tools: ToolSet::new(robot()).0 }
}

fn without(name: &str) -> Input {
    let left = robot().into_iter().filter(|spec| spec.name.as_str() != name);
    Input::ToolsChanged { tools: ToolSet::new(left).0 }
}

/// On the way to the kitchen, where it will speak; what has left has 10 s to come back.
fn driving() -> Story {
    let story = Story::with("go and speak", robot(), |limits| limits.component_grace = Duration::from_secs(10));
    story.model_calls(&[go(), say()]).model_says("EXECUTE").tool_waits("base.go_to").start()
}

fn done() -> ToolOutcome {
    ToolOutcome::success(Value::Null)
}

#[test]
fn what_is_in_flight_goes_on_while_a_component_has_time_to_come_back() {
    let mut story = driving();
    story.give_at(1, without("speaker.say"));
    assert_eq!(story.cancelled, []);
    story.give_at(2, Input::CallEnded { call: story.invoked[0].0, outcome: done() });
    assert_eq!(purposes(&story).len(), 2, "nothing is asked about a step that can't run");
    assert!(
        story.lines.contains(&"waiting up to 10 s for what has left: speaker.say".to_owned()),
        "{:#?}",
        story.lines
    );
    assert_eq!(story.mission.next_wake(), Some(Duration::from_secs(11)), "it does not poll");
    story.give_at(5, all());
    assert!(story.lines.contains(&"back again: speaker.say".to_owned()), "{:#?}", story.lines);
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn what_stays_away_ends_the_plan_long_before_the_turn_of_its_step() {
    let mut story = driving();
    story.give_at(1, without("speaker.say"));
    story.give_at(10, Input::Tick);
    assert_eq!(story.cancelled, []);
    story.give_at(11, Input::Tick);
    assert_eq!(story.cancelled, [story.invoked[0].0], "it need not drive on");
    story.end_call(0, ToolOutcome::cancelled(HaltState::Halted, "halted"));
    let told = text_of(story.requests.last().unwrap());
    assert!(
        told.contains("the tool 'speaker.say' is no longer there") && told.contains("because 1.2 failed."),
        "{told}"
    );
    story.reply(says("It can't speak."));
    assert_eq!(story.ends().0, MissionStatus::Failed);
    assert_eq!(story.statuses(), [StepStatus::Failed, StepStatus::Failed]);
}

#[test]
fn without_a_grace_the_plan_ends_as_soon_as_a_component_has_left() {
    let mut story =
        Story::of("go and speak").model_calls(&[go(), say()]).model_says("EXECUTE").tool_waits("base.go_to").start();
    story.give(without("speaker.say"));
    assert_eq!(story.cancelled, [story.invoked[0].0]);
}

#[test]
fn a_tool_that_no_step_needs_any_more_may_leave() {
    let mut story = driving();
    story.give_at(1, without("camera.look"));
    story.give_at(2, without("base.go_to"));
    story.give_at(60, Input::Tick);
    story.end_call(0, done());
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn a_confirmation_that_comes_while_a_component_is_away_starts_nothing_and_is_asked_for_again() {
    let story = Story::with("go and speak", robot(), |limits| limits.component_grace = Duration::from_secs(10));
    let mut story = story.model_calls(&[go(), say()]).start();
    story.give_at(1, without("speaker.say"));
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked, [], "the plan can't be done as it stands");
    story.give_at(2, all());
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
    story.reply(says("EXECUTE"));
    assert_eq!(story.invoked_tools(), ["base.go_to"]);
}

#[test]
fn a_model_that_thinks_about_a_step_is_not_waited_for_once_the_time_is_up() {
    let story = Story::with("go and speak", robot(), |limits| limits.component_grace = Duration::from_secs(10));
    let mut story = story.model_calls(&[go(), say()]).start();
    story.give_at(1, without("speaker.say"));
    assert_eq!(story.mission.next_wake(), Some(Duration::from_secs(11)));
    story.give_at(11, Input::Tick);
    assert_eq!(story.abandoned.len(), 1);
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
}

fn lost() -> ToolOutcome {
    ToolOutcome::failure(FailureKind::ComponentLost, "base has left the graph")
}

#[test]
fn a_component_that_died_under_its_step_is_waited_for_before_a_new_plan_is_made() {
    let mut story = driving();
    story.give_at(1, without("base.go_to"));
    story.end_call(0, lost());
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm), "a plan without it would be in vain");
    assert_eq!(story.mission.next_wake(), Some(Duration::from_secs(11)));
    story.give_at(4, all());
    let told = text_of(story.requests.last().unwrap());
    assert!(told.contains("Plan 1 ended early because 1.1 failed. \"base-go_to was away and is back.\""), "{told}");
    story.reply(calls(&[go(), say()]));
    story.reply(says("EXECUTE"));
    story.end_call(1, done());
    story.reply(says("EXECUTE"));
    story.reply(says("Done."));
    assert_eq!(story.ends().0, MissionStatus::Succeeded);
}

#[test]
fn one_that_does_not_come_back_is_planned_without() {
    let mut story = driving();
    story.give_at(1, without("base.go_to"));
    story.end_call(0, lost());
    story.give_at(11, Input::Tick);
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
    story.reply(says("The base is gone."));
    assert_eq!(story.ends().0, MissionStatus::Failed, "its time is up");
}

#[test]
fn a_model_that_gives_up_is_asked_again_once_what_was_wanting_is_back() {
    let mut story = driving();
    story.end_call(0, lost());
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan), "nobody has said yet that it has left");
    story.give_at(1, without("base.go_to"));
    story.reply(says("The base is gone."));
    assert_eq!(story.results.len(), 0);
    story.give_at(3, all());
    let told = text_of(story.requests.last().unwrap());
    assert!(told.contains("base-go_to was away and is back. If the task can be done now"), "{told}");
    story.reply(says("I do not trust it any more."));
    assert_eq!(story.ends().0, MissionStatus::Failed, "it is asked once for each return");
}

#[test]
fn what_came_back_while_the_model_gave_up_is_told_to_it() {
    let mut story = driving();
    story.end_call(0, lost());
    story.give_at(1, without("base.go_to"));
    story.give_at(2, all());
    story.reply(calls(&[(DECLINE_TOOL, json!({"reason": "The base is gone."}))]));
    assert!(text_of(story.requests.last().unwrap()).contains("base-go_to was away and is back."));
    story.reply(calls(&[go(), say()]));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Confirm));
}

#[test]
fn a_cancel_and_a_revision_end_the_waiting() {
    let mut story = driving();
    story.give_at(1, without("base.go_to"));
    story.end_call(0, lost());
    story.give(revision("then only speak"));
    assert_eq!(purposes(&story).last(), Some(&Purpose::Plan));
    let mut story = driving();
    story.give_at(1, without("base.go_to"));
    story.end_call(0, lost());
    story.give(Input::Cancel { reason: CancelReason::Client });
    assert_eq!(story.ends().0, MissionStatus::Cancelled);
}

/// A mission that begins while the base is in quarantine and has left the robot; it has 10 s to come back.
fn begins_without_base(task: &str) -> Story {
    let mut story = Story::with(task, robot(), |limits| limits.component_grace = Duration::from_secs(10));
    let mut base: Vec<ToolSpec> = robot();
    base.retain(|spec| spec.name.as_str() == "base.go_to");
    base.iter_mut().for_each(|spec| spec.component = Some("base".into()));
    let all = ToolSet::new(robot().into_iter().filter(|spec| spec.name.as_str() != "base.go_to").chain(base)).0;
    let there = all.rebuilt(all.iter().filter(|spec| spec.name.as_str() != "base.go_to").cloned()).0;
    let mut removed = crate::RemovedTools::default();
    removed.note(&all, &there);
    let mut availability = crate::Availability::default();
    assert!(availability.quarantine(ComponentName::new("base"), "it died and is coming up again"));
    story.mission = Mission::new(MissionSetup { tools: there, removed, availability, ..story.mission.setup.clone() });
    story
}

fn base_is_back(story: &mut Story) {
    story.give(Input::AvailabilityChanged { availability: crate::Availability::default() });
    let mut base = robot();
    base.iter_mut().for_each(|spec| {
        if spec.name.as_str() == "base.go_to" {
            spec.component = Some("base".into());
        }
    });
    story.give(Input::ToolsChanged { tools: ToolSet::new(base).0 });
}

#[test]
fn regression_what_the_robot_could_do_a_moment_ago_is_waited_for_before_there_is_a_plan() {
    let mut story = begins_without_base("go to the kitchen").model_calls(&[go()]).start();
    let told = text_of(&story.requests[0]);
    assert!(
        told.contains("it is waited for:\n- base-go_to: Does base.go_to. (base is in quarantine: it died"),
        "{told}"
    );
    assert!(!story.requests[0].tools.iter().any(|tool| tool.name == "base-go_to"), "it is not on offer");
    assert!(story.lines.contains(&"waiting up to 10 s for what has left: base.go_to".to_owned()), "{:#?}", story.lines);
    assert_eq!((story.requests.len(), story.mission.next_wake()), (1, Some(Duration::from_secs(10))));
    story.now = Duration::from_secs(4);
    base_is_back(&mut story);
    assert!(story.lines.contains(&"back again: base.go_to".to_owned()), "{:#?}", story.lines);
    story.reply(calls(&[go()]));
    story.reply(says("EXECUTE"));
    story.reply(says("I am there."));
    assert_eq!(story.ends(), (MissionStatus::Succeeded, "I am there."));
}

#[test]
fn what_does_not_come_back_before_there_is_a_plan_is_named_with_the_reason() {
    let mut story = begins_without_base("go to the kitchen").model_calls(&[go()]).start();
    story.give_at(10, Input::Tick);
    story.reply(calls(&[go()]));
    let told = text_of(story.requests.last().unwrap());
    assert!(told.contains("it is not available now: base is in quarantine: it died and is coming up again"), "{told}");
    story.reply(calls(&[(DECLINE_TOOL, json!({"reason": "The base is away."}))]));
    assert_eq!(story.ends(), (MissionStatus::Failed, "The base is away."));
}

#[test]
fn a_question_about_the_robot_is_not_told_of_what_acts_and_is_away() {
    let story = begins_without_base("how full is your battery?").start();
    assert!(!text_of(&story.requests[0]).contains("base-go_to: Does"));
}

fn driver(component: &str) -> ToolSpec {
    tool(&format!("{component}.drive"), ToolPhase::Execution, ToolEffect::Move).with_component(Some(component.into()))
}

fn stands_in(is_so: bool) -> Input {
    let mut availability = crate::Availability::default();
    availability.fail_over(&"cart".into(), is_so.then(|| "cart2".into()).as_ref());
    Input::AvailabilityChanged { availability }
}

/// The cart had left before the mission began, so that its standby was called by its own name.
#[test]
fn regression_what_a_standby_was_cut_off_in_was_not_made_good_by_the_one_that_was_well_again() {
    let tools = |names: &[&str]| ToolSet::new(names.iter().map(|name| driver(name))).0;
    let drive = |cart: &str| (format!("{cart}-drive"), json!({}));
    for (first, then) in [("cart2", "cart"), ("cart", "cart2")] {
        let mut story = Story::with("drive", vec![driver(first)], |_| {})
            .model_calls(&[(drive(first).0.as_str(), json!({}))])
            .model_says("EXECUTE")
            .tool_waits(&format!("{first}.drive"));
        story.give(stands_in(first == "cart2"));
        story.give(Input::Start);
        assert_eq!(story.invoked_tools(), [format!("{first}.drive")], "{:#?}", story.lines);
        story.give(Input::ToolsChanged { tools: tools(&["cart", "cart2"]) });
        // The place is taken, or given back, and the other has left: what is driven now goes by its own name.
        story.give(stands_in(first == "cart"));
        story.give(stands_in(false));
        story.end_call(0, ToolOutcome::failure(FailureKind::ComponentLost, "it was cut off"));
        let told = text_of(story.requests.last().unwrap());
        assert_eq!(told.contains("cart-drive (by cart2-drive)"), first == "cart2", "{told}");
        story.give(Input::ToolsChanged { tools: tools(&[then]) });
        story.reply(calls(&[(drive(then).0.as_str(), json!({}))]));
        story.reply(says("EXECUTE"));
        assert_eq!(story.invoked_tools().last().copied(), Some(format!("{then}.drive").as_str()));
        story.end_call(1, done());
        story.reply(says("It is there."));
        assert_eq!(story.ends().0, MissionStatus::Succeeded, "{:#?}", story.lines);
    }
}

/// A task was refused as one that can mean several things: what the tray does, and what its standby would.
#[test]
fn regression_a_standby_that_nobody_needs_was_offered_beside_the_one_that_is_there() {
    let phrased = |component: &str| driver(component).with_phrases(vec!["drive around".into()]);
    let told = |present: &[&str]| {
        let mut story = Story::with("drive", present.iter().map(|name| phrased(name)).collect(), |_| {});
        let mut availability = crate::Availability::default();
        availability.quarantine("cart2".into(), "it is not needed now");
        story.give(Input::AvailabilityChanged { availability });
        story.give(Input::Start);
        format!("{:?}", story.requests[0].messages)
    };
    let is_away = |told: &str| told.contains("Away");
    assert!(!is_away(&told(&["cart", "cart2"])), "{}", told(&["cart", "cart2"]));
    assert!(is_away(&told(&["cart2"])), "it is waited for where nothing else can do it");
}
