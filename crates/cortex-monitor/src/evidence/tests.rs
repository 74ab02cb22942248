use super::*;
use crate::health::Health;

fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn recipe(lines: &str) -> ComponentRecipe {
    let text = format!("recipe = 1\n[components.a]\nstart = \"external\"\n{lines}");
    let mut recipe = cortex_recipe::Recipe::read(&text).unwrap_or_else(|problems| panic!("{}", problems.show("a")));
    recipe.components.pop_first().unwrap().1
}

fn judged(recipe: &ComponentRecipe) -> Evidence {
    let mut evidence = Evidence::new(recipe);
    evidence.present = Some((true, at(10.0)));
    evidence.begin(at(10.0), recipe);
    evidence
}

#[test]
fn a_hang_is_noticed_within_one_and_a_half_heartbeats_and_acted_upon_after_three_and_a_half() {
    let recipe = recipe("heartbeat_s = 1");
    let mut evidence = judged(&recipe);
    evidence.note_status(at(20.0), None);
    for (seconds, health) in [
        (21.4, Health::Healthy),
        (21.5, Health::Suspect),
        (23.4, Health::Suspect),
        (23.5, Health::Failed { kind: FailureKind::Component }),
    ] {
        assert_eq!(Health::of(&evidence.symptoms(at(seconds), &recipe)), health, "{seconds}");
    }
    assert_eq!(evidence.next_look(at(20.0), &recipe), Some(at(21.5)));
    assert_eq!(evidence.next_look(at(21.5), &recipe), Some(at(23.5)));
}

#[test]
fn only_who_was_heard_is_held_to_the_usual_heartbeat() {
    let recipe = recipe("");
    let mut evidence = judged(&recipe);
    assert_eq!(Health::of(&evidence.symptoms(at(1000.0), &recipe)), Health::Healthy);
    evidence.note_status(at(1000.0), None);
    assert_eq!(
        evidence.symptoms(at(1004.0), &recipe),
        [Symptom {
            severity: Severity::Failure,
            kind: FailureKind::Component,
            message: "no heartbeat for more than 3.5 s".into()
        }]
    );
}

#[test]
fn alive_but_stuck_is_a_failure() {
    let recipe =
        recipe("heartbeat_s = 1\nprogress = [{ topic = \"/odom\", field = \"x\", within_s = 4, during = \"goal\" }]");
    let mut evidence = judged(&recipe);
    evidence.note_status(at(100.0), None);
    assert_eq!(Health::of(&evidence.symptoms(at(100.0), &recipe)), Health::Healthy, "no goal, no progress");
    evidence.note_goals(at(100.0), &recipe, 1);
    evidence.note_progress(at(101.0), 0, 1);
    for second in 101..=110 {
        evidence.note_status(at(f64::from(second)), None);
    }
    let symptoms = evidence.symptoms(at(110.0), &recipe);
    assert_eq!(symptoms[0].message, "it does not get on: 0 of at least 1 changes of x on /odom in 4 s");
    evidence.note_goals(at(110.0), &recipe, 0);
    assert_eq!(Health::of(&evidence.symptoms(at(110.0), &recipe)), Health::Healthy);
}

#[test]
fn a_new_process_is_not_judged_by_the_calls_of_the_one_before() {
    let recipe = recipe("progress = [{ within_s = 4, during = \"goal\" }]");
    let mut evidence = judged(&recipe);
    evidence.note_goals(at(10.0), &recipe, 2);
    evidence.forget();
    assert_eq!(evidence.goals(), 0);
    evidence.present = Some((true, at(20.0)));
    evidence.begin(at(20.0), &recipe);
    assert_eq!(Health::of(&evidence.symptoms(at(100.0), &recipe)), Health::Healthy);
    evidence.note_goals(at(100.0), &recipe, 1);
    assert_ne!(Health::of(&evidence.symptoms(at(104.0), &recipe)), Health::Healthy, "its own call counts");
}

#[test]
fn a_managed_one_without_a_heartbeat_that_does_not_answer_any_more_hangs() {
    let recipe = recipe("lifecycle = \"managed\"");
    let mut evidence = judged(&recipe);
    evidence.note_state(LifecycleState::Active);
    let mut seen = Vec::new();
    for _ in 0..FAILED_UNANSWERED {
        evidence.note_unanswered();
        seen.push(Health::of(&evidence.symptoms(at(20.0), &recipe)));
    }
    let failed = Health::Failed { kind: FailureKind::Component };
    let expected = [[Health::Healthy; 3].as_slice(), &[Health::Suspect; 4], &[failed]].concat();
    assert_eq!(seen, expected);
    assert_eq!(
        evidence.symptoms(at(20.0), &recipe)[0].message,
        "it does not answer any more: asked 8 times for its state"
    );
    assert!(evidence.is_silent(at(20.0), &recipe), "it would not answer to transitions either");
    evidence.note_state(LifecycleState::Active);
    assert_eq!(Health::of(&evidence.symptoms(at(20.0), &recipe)), Health::Healthy);
}

#[test]
fn who_is_heard_may_leave_questions_unanswered() {
    let recipe = recipe("lifecycle = \"managed\"\nheartbeat_s = 1");
    let mut evidence = judged(&recipe);
    (0..100).for_each(|_| evidence.note_unanswered());
    evidence.note_status(at(20.0), None);
    assert_eq!(Health::of(&evidence.symptoms(at(20.5), &recipe)), Health::Healthy);
}

#[test]
fn the_worst_is_told_first_and_old_warnings_are_forgotten() {
    let recipe = recipe("");
    let mut evidence = judged(&recipe);
    evidence.note_diagnostic(at(11.0), "lamp", DiagnosticLevel::Warning, "warm");
    assert_eq!(Health::of(&evidence.symptoms(at(11.0), &recipe)), Health::Suspect);
    assert_eq!(Health::of(&evidence.symptoms(at(16.0), &recipe)), Health::Healthy);
    evidence.note_diagnostic(at(12.0), "lamp", DiagnosticLevel::Error, "hot");
    evidence.note_status(at(12.0), Some((FailureKind::Algorithm, "no path".into())));
    let messages = |now: f64| -> Vec<String> {
        evidence.symptoms(at(now), &recipe).into_iter().map(|symptom| symptom.message).collect()
    };
    assert_eq!(messages(12.0), ["lamp: hot", "no path"]);
    assert_eq!(messages(13.0), ["lamp: hot", "no path"]);
    assert_eq!(messages(17.0), ["no heartbeat for more than 3.5 s", "lamp: hot", "no path"]);
}

#[test]
fn an_error_of_diagnostics_stands_until_the_same_entry_says_something_else() {
    let recipe = recipe("");
    let mut evidence = judged(&recipe);
    let failed = Health::Failed { kind: FailureKind::General };
    evidence.note_diagnostic(at(11.0), "base: motor", DiagnosticLevel::Error, "hot");
    evidence.note_diagnostic(at(12.0), "base: wheel", DiagnosticLevel::Ok, "turns");
    evidence.note_diagnostic(at(13.0), "base: motor", DiagnosticLevel::Stale, "nothing new");
    evidence.begin(at(500.0), &recipe);
    assert_eq!(Health::of(&evidence.symptoms(at(1000.0), &recipe)), failed, "silence is no good news");
    assert_eq!(evidence.symptoms(at(1000.0), &recipe)[0].message, "base: motor: hot");
    evidence.note_diagnostic(at(1000.0), "base: motor", DiagnosticLevel::Warning, "warm");
    assert_eq!(Health::of(&evidence.symptoms(at(1000.0), &recipe)), Health::Suspect);
    assert_eq!(evidence.next_look(at(1000.0), &recipe), Some(at(1005.0)));
    assert_eq!(Health::of(&evidence.symptoms(at(1005.0), &recipe)), Health::Healthy);
    for (entry, fix) in [("a", 0), ("b", 1)] {
        evidence.note_diagnostic(at(1006.0), entry, DiagnosticLevel::Error, "hot");
        assert_eq!(Health::of(&evidence.symptoms(at(1006.0), &recipe)), failed);
        if fix == 0 {
            evidence.note_diagnostic(at(1006.0), entry, DiagnosticLevel::Ok, "");
        } else {
            evidence.forget();
        }
        assert_eq!(Health::of(&evidence.symptoms(at(1006.0), &recipe)), Health::Healthy, "{entry}");
    }
}

#[test]
fn a_node_that_is_out_of_sight_for_a_moment_has_not_failed() {
    let recipe = recipe("");
    let mut evidence = judged(&recipe);
    evidence.present = Some((false, at(20.0)));
    assert_eq!(Health::of(&evidence.symptoms(at(21.9), &recipe)), Health::Suspect);
    assert_eq!(Health::of(&evidence.symptoms(at(22.0), &recipe)), Health::Failed { kind: FailureKind::Component });
    assert_eq!(evidence.next_look(at(20.0), &recipe), Some(at(22.0)));
}

#[test]
fn what_a_new_process_says_while_it_comes_up_counts_and_what_was_said_before_a_restart_does_not() {
    let recipe = recipe("heartbeat_s = 1");
    let mut evidence = judged(&recipe);
    evidence.note_status(at(20.0), None);
    evidence.forget();
    evidence.begin(at(20.5), &recipe);
    assert!(!evidence.is_proof(at(20.5), &recipe), "that was the last process");
    evidence.forget();
    evidence.present = Some((true, at(20.6)));
    evidence.note_status(at(20.6), None);
    evidence.begin(at(20.7), &recipe);
    assert!(evidence.is_proof(at(20.7), &recipe));
    evidence.begin(at(21.0), &recipe);
    assert!(!evidence.is_proof(at(21.0), &recipe), "the same process has to say it again");
}

#[test]
fn health_is_not_proven_by_silence() {
    let recipe = recipe("heartbeat_s = 1\nprogress = [{ topic = \"/odom\", within_s = 2, at_least = 2 }]");
    let mut evidence = judged(&recipe);
    assert!(!evidence.is_proof(at(10.1), &recipe));
    evidence.note_status(at(10.2), None);
    evidence.note_progress(at(10.2), 0, 1);
    assert!(!evidence.is_proof(at(10.2), &recipe), "one message is not two");
    evidence.note_progress(at(10.3), 0, 1);
    assert!(evidence.is_proof(at(10.3), &recipe));
}
