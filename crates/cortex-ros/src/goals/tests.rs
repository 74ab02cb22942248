use super::*;
use crate::task::TaskEnding;

fn id(number: u16) -> GoalId {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&number.to_le_bytes());
    bytes[15] = 1;
    GoalId(bytes)
}

fn result(output: &str) -> TaskResult {
    TaskResult { ending: TaskEnding::Succeeded, output: output.to_owned(), mission: "m".into() }
}

const ANY: GoalId = GoalId([0; 16]);
const ANY_TIME: Stamp = (0, 0);

#[test]
fn whoever_asks_for_a_result_gets_it_exactly_once_before_or_after_the_end() {
    let mut goals = Goals::default();
    goals.accept(id(1), (1, 0)).unwrap();
    assert!(goals.has_unasked());
    assert_eq!(goals.ask_result(id(1), "early"), ResultAnswer::Later);
    assert!(!goals.has_unasked());
    assert_eq!(goals.finish(id(1), GoalState::Succeeded, result("done")).beforehand, ["early"]);
    assert_eq!(goals.ask_result(id(1), "late"), ResultAnswer::Now("late", GoalState::Succeeded, result("done")));
    // A second end is dropped.
    assert_eq!(goals.finish(id(1), GoalState::Aborted, result("again")).beforehand, Vec::<&str>::new());
    assert_eq!(goals.ask_result(id(1), "later"), ResultAnswer::Now("later", GoalState::Succeeded, result("done")));
    assert_eq!(goals.ask_result(id(2), "lost"), ResultAnswer::Unknown("lost"));
}

#[test]
fn regression_whoever_asked_after_the_last_word_waited_for_the_turns_of_others() {
    let mut goals = Goals::default();
    goals.accept(id(1), (1, 0)).unwrap();
    goals.ask_result(id(1), "beforehand");
    goals.tell_last_word(id(1));
    goals.ask_result(id(1), "afterwards");
    let Waiting { beforehand, after_last_word } = goals.finish(id(1), GoalState::Succeeded, result("done"));
    assert_eq!((beforehand, after_last_word), (vec!["beforehand"], vec!["afterwards"]));
}

#[test]
fn an_id_that_was_used_is_refused_and_the_first_goal_goes_on_undisturbed() {
    let mut goals = Goals::<()>::default();
    let cancel = goals.accept(id(1), (1, 0)).unwrap();
    assert_eq!(goals.accept(id(1), (2, 0)).unwrap_err(), GoalRefusal::Duplicate);
    assert_eq!(goals.cancel(id(1), ANY_TIME), (CancelCode::Accepted, vec![(id(1), (1, 0))]));
    assert!(cancel.is_cancelled());
    goals.finish(id(1), GoalState::Canceled, result("cancelled"));
    assert_eq!(goals.accept(id(1), (3, 0)).unwrap_err(), GoalRefusal::Duplicate);
}

#[test]
fn cancel_means_one_or_all_or_all_up_to_a_moment() {
    let open = || {
        let mut goals = Goals::<()>::default();
        for number in 1..=3 {
            goals.accept(id(number), (i32::from(number), 0)).unwrap();
        }
        goals
    };
    let ending = |id, stamp| -> Vec<GoalId> { open().cancel(id, stamp).1.into_iter().map(|(id, _)| id).collect() };
    assert_eq!(ending(id(2), ANY_TIME), [id(2)]);
    assert_eq!(ending(ANY, ANY_TIME), [id(1), id(2), id(3)]);
    assert_eq!(ending(ANY, (2, 0)), [id(1), id(2)]);
    assert_eq!(ending(id(3), (1, 0)), [id(1), id(3)]);
}

#[test]
fn a_cancel_that_finds_nothing_to_end_says_why() {
    let mut goals = Goals::<()>::default();
    assert_eq!(goals.cancel(ANY, ANY_TIME), (CancelCode::Accepted, vec![]));
    assert_eq!(goals.cancel(id(9), ANY_TIME), (CancelCode::UnknownGoal, vec![]));
    goals.accept(id(1), (1, 0)).unwrap();
    goals.finish(id(1), GoalState::Succeeded, result("done"));
    assert_eq!(goals.cancel(id(1), ANY_TIME), (CancelCode::AlreadyEnded, vec![]));
    assert!(!goals.is_canceling(id(1)));
}

#[test]
fn memory_is_bounded_while_goals_under_way_are_never_forgotten() {
    let mut goals = Goals::<u8>::default();
    goals.accept(id(9999), (0, 1)).unwrap();
    for number in 0..2000 {
        goals.accept(id(number), (1, 0)).unwrap();
        goals.finish(id(number), GoalState::Succeeded, result("done"));
    }
    assert_eq!(goals.states().count(), MOST_FINISHED + 1);
    assert_eq!(goals.accept(id(9999), (2, 0)).unwrap_err(), GoalRefusal::Duplicate);
    assert_eq!(goals.finish(id(9999), GoalState::Succeeded, result("done")).beforehand, Vec::<u8>::new());

    let mut flooded = Goals::<u8>::default();
    let taken = (0..1000).filter(|number| flooded.accept(id(*number), (1, 0)).is_ok()).count();
    assert_eq!(taken, MOST_OPEN);
    for request in 0..100 {
        flooded.ask_result(id(0), request);
    }
    assert_eq!(flooded.finish(id(0), GoalState::Succeeded, result("done")).beforehand.len(), MOST_WAITING);
}

/// A client of rclpy that was busy with the feedback asked after the end, was answered at once, and never took the rest.
#[test]
fn regression_a_first_question_after_the_end_is_answered_after_the_feedback() {
    let ended = || {
        let mut goals = Goals::default();
        goals.accept(id(1), (1, 0)).unwrap();
        goals.tell_last_word(id(1));
        goals
    };
    let mut goals = ended();
    goals.finish(id(1), GoalState::Succeeded, result("done"));
    let answer = goals.ask_result(id(1), "first");
    assert_eq!(answer, ResultAnswer::AfterFeedback("first", GoalState::Succeeded, result("done")));
    assert_eq!(goals.ask_result(id(1), "again"), ResultAnswer::Now("again", GoalState::Succeeded, result("done")));
    let mut goals = ended();
    assert_eq!(goals.ask_result(id(1), "between"), ResultAnswer::Later);
    assert_eq!(goals.finish(id(1), GoalState::Succeeded, result("done")).beforehand, ["between"]);
}
