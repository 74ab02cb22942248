//! What the robot has on record reaches the planner, and neither holds it up nor tells it what to do.

use std::time::Duration;

use cortex_protocol::MissionStatus;
use serde_json::json;

use super::{Story, revision, robot, says, text_of};
use crate::mission::{CancelReason, Input, Mission, MissionSetup};
use crate::{Context, ContextPassage, MissingSource};

/// A robot with documents.
fn story(task: &str) -> Story {
    let mut story = Story::with(task, robot(), |_| {});
    let setup = MissionSetup { context_sources: vec!["knowledge".to_owned()], ..story.mission.setup.clone() };
    story.mission = Mission::new(setup);
    story
}

fn passage(text: &str) -> ContextPassage {
    ContextPassage {
        source: "knowledge".to_owned(),
        place: "house.md, Kitchen".to_owned(),
        as_of: None,
        text: text.to_owned(),
        relevance: 0.9,
        kind: crate::PassageKind::default(),
    }
}

impl Story {
    /// The sources answer the latest question.
    fn found(&mut self, passages: Vec<ContextPassage>) {
        let (gathering, _) = self.gatherings.last().expect("the record was not asked for").clone();
        self.give(Input::ContextGathered { gathering, context: Context { passages, missing: Vec::new() } });
    }
}

#[test]
fn the_model_is_asked_once_the_record_was_and_reads_it_right_after_the_task() {
    let mut story = story("go to the kitchen").model_says("The kitchen is closed.").start();
    assert_eq!(story.gatherings.len(), 1);
    assert_eq!(story.gatherings[0].1.task, "go to the kitchen");
    assert!(story.requests.is_empty(), "not before");
    story.found(vec![passage("The kitchen is closed on Sundays.")]);
    let request = text_of(&story.requests[0]);
    let task = request.find("The task, in the person's words").expect("the task");
    let record = request.find("[knowledge: house.md, Kitchen]: \"The kitchen is closed on Sundays.\"").expect("it");
    assert!(task < record, "{request}");
    assert!(story.lines.iter().any(|line| line.contains("on record: [knowledge: house.md, Kitchen]")));
}

/// Whoever plans: it follows from what the mission began with, and no source has to be there.
#[test]
fn every_model_is_told_the_bounds_where_the_task_may_ask_for_them() {
    let told = |task: &str| {
        let story =
            Story::with(task, robot(), |limits| limits.max_execution_steps = 7).model_says("Many things.").start();
        text_of(&story.requests[0])
    };
    let asked = told("what can't you do?");
    assert!(asked.contains("[identity: what I can't do]: \"I can't do what none of my tools does."), "{asked}");
    assert!(asked.contains("Of one task: a plan has at most 7 steps"), "{asked}");
    assert!(!told("go to the kitchen").contains("what I can't do"), "an order needs none of it");
}

#[test]
fn the_record_is_asked_for_once_in_each_phase_of_planning_and_a_change_of_it_is_read() {
    let mut story = story("go to the kitchen")
        .model_calls(&[("battery.level", json!({}))])
        .model_calls(&[("base.go_to", json!({"place": "kitchen"}))])
        .model_says("EXECUTE")
        .tool_fails("base.go_to", "the way is blocked")
        .model_says("The way is blocked.")
        .start();
    story.found(vec![passage("The kitchen has two doors.")]);
    assert_eq!(story.gatherings.len(), 2, "once for two turns of the first phase, and again for the second");
    story.found(vec![passage("The north door is locked.")]);
    let last = text_of(story.requests.last().expect("a request"));
    assert!(last.contains("The north door is locked.") && !last.contains("two doors"), "{last}");
}

/// Skills wait for what happens to a task, and for its tools.
#[test]
fn the_record_is_asked_with_what_happened_to_the_task_and_with_its_tools() {
    let mut story = story("go to the kitchen")
        .model_calls(&[("base.go_to", json!({"place": "kitchen"}))])
        .model_says("EXECUTE")
        .tool_fails("base.go_to", "the way is blocked")
        .model_says("The way is blocked.")
        .start();
    let asked = |story: &Story, at: usize| {
        let query = &story.gatherings[at].1;
        (query.tools.iter().map(|tool| tool.as_str().to_owned()).collect::<Vec<_>>(), query.events.clone())
    };
    assert_eq!(asked(&story, 0).1, Vec::<String>::new());
    let kind = crate::PassageKind::Skill { procedure: Vec::new() };
    story.found(vec![ContextPassage { place: "blocked-way".to_owned(), kind, ..passage("Wait a minute.") }]);
    assert_eq!(asked(&story, 1), (vec!["base.go_to".to_owned()], vec!["step.failed".to_owned()]));
    story.give(revision("no, to the bedroom"));
    assert_eq!(asked(&story, 2).1, ["step.failed", "task.revised"]);
}

#[test]
fn a_task_of_an_event_of_the_recipe_is_known_by_the_name_of_the_event() {
    let mut story = story("go to the dock");
    let mut setup = story.mission.setup.clone();
    setup.policy.origin = cortex_protocol::Origin::new("event", "low_battery");
    story.mission = Mission::new(setup);
    let story = story.start();
    assert_eq!(story.gatherings[0].1.events, ["low_battery"]);
}

#[test]
fn an_unchanged_record_leaves_the_beginning_of_the_requests_unchanged() {
    let mut story = story("go to the kitchen")
        .model_calls(&[("base.go_to", json!({"place": "kitchen"}))])
        .model_says("EXECUTE")
        .tool_fails("base.go_to", "the way is blocked")
        .model_says("The way is blocked.")
        .start();
    for _ in 0..2 {
        story.found(vec![passage("The kitchen has two doors.")]);
    }
    let (first, last) = (&story.requests[0], story.requests.last().expect("a request"));
    assert_eq!(first.messages[..2], last.messages[..2]);
    assert_eq!(story.lines.iter().filter(|line| line.contains("on record")).count(), 1, "{:#?}", story.lines);
}

#[test]
fn a_revision_asks_the_record_anew_and_an_answer_to_the_old_question_is_dropped() {
    let mut story = story("go to the kitchen").start();
    let old = story.gatherings[0].0;
    story.give(revision("no, to the bedroom"));
    assert_eq!(story.gatherings[1].1.revisions, ["no, to the bedroom"]);
    let late = Context { passages: vec![passage("About the kitchen.")], missing: Vec::new() };
    story.give(Input::ContextGathered { gathering: old, context: late });
    assert!(story.requests.is_empty(), "the old answer begins nothing");
    story.found(Vec::new());
    assert_eq!(story.requests.len(), 1);
    assert!(!text_of(&story.requests[0]).contains("About the kitchen."));
}

#[test]
fn a_record_that_never_comes_is_not_waited_for() {
    let mut story = story("go to the kitchen").model_says("No.").start();
    let wake = story.mission.next_wake().expect("a time");
    assert!(wake <= Duration::from_secs(5), "{wake:?}");
    story.now = wake;
    story.give(Input::Tick);
    let request = text_of(&story.requests[0]);
    assert!(request.contains("knowledge could not be asked: \"nothing came within 5 s\""), "{request}");
    assert!(story.lines.iter().any(|line| line.contains("could not be asked: knowledge")), "{:#?}", story.lines);
}

#[test]
fn a_missing_source_is_told_to_the_model_and_to_people() {
    let mut story = story("go to the kitchen").model_says("No.").start();
    let missing = MissingSource { source: "knowledge".to_owned(), because: "its file is damaged".to_owned() };
    let gathering = story.gatherings[0].0;
    let context = Context { passages: Vec::new(), missing: vec![missing] };
    story.give(Input::ContextGathered { gathering, context });
    assert!(text_of(&story.requests[0]).contains("its file is damaged"));
    assert!(story.lines.iter().any(|line| line.contains("could not be asked: knowledge")));
}

#[test]
fn a_mission_that_is_cancelled_while_the_record_is_asked_ends_and_asks_nobody() {
    let mut story = story("go to the kitchen").start();
    story.give(Input::Cancel { reason: CancelReason::Client });
    assert_eq!(story.result().status, MissionStatus::Cancelled);
    story.found_late();
    assert!(story.requests.is_empty());
}

impl Story {
    fn found_late(&mut self) {
        let gathering = self.gatherings[0].0;
        let context = Context { passages: vec![passage("late")], missing: Vec::new() };
        assert_eq!(self.mission.handle(self.now, Input::ContextGathered { gathering, context }), []);
    }
}

#[test]
fn without_sources_nothing_is_asked() {
    let story = Story::of("hello").model(says("Hello.")).start();
    assert!(story.gatherings.is_empty());
    assert_eq!(story.requests.len(), 1);
}
