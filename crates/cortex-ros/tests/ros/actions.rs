//! Actions of any type, with servers in Python that do well and that do not.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cortex_interfaces::Message;
use cortex_ros_client::dynamic::{Acceptance, ActionClient, CancelAnswer, Goal, GoalState};
use cortex_ros_client::testing::Peer;
use cortex_ros_client::{RosError, ros_tests};
use serde_json::json;

use crate::endpoints::{Clients, exact, message};
use crate::support::{LIMIT, script, terminate};

// What the server does, by the order of the goal.
const ABORT: i32 = 1000;
const HOLD: i32 = 1001;
const STUBBORN: i32 = 1002;
const DEAF: i32 = 1003;
const FLOOD: i32 = 1004;
const SLOW_TO_ACCEPT: i32 = 1005;

async fn server(kind: &str) -> Peer {
    let mut peer = Peer::python(&script("actions.py"), &[kind]).unwrap();
    peer.line("ready").await.unwrap();
    peer
}

async fn client(clients: &Clients, action: &str) -> ActionClient {
    let interface = clients.interfaces.action("test_msgs/action/Fibonacci").unwrap();
    let client = clients.endpoints.action_client(action, &interface).await.unwrap();
    client.wait_for_server(LIMIT).await.unwrap();
    client
}

fn goal(client: &ActionClient, order: i32) -> Goal {
    client.goal(message(&client.interface().goal, &json!({ "order": order }))).unwrap()
}

async fn accepted(client: &ActionClient, order: i32) -> Goal {
    let goal = goal(client, order);
    assert_eq!(goal.send(LIMIT).await.unwrap(), Acceptance::Accepted);
    goal
}

/// The state and the sequence.
async fn result(goal: &Goal) -> (GoalState, serde_json::Value) {
    let result = tokio::time::timeout(LIMIT, goal.result()).await.unwrap().unwrap();
    (result.state, exact(&result.response)["result"]["sequence"].clone())
}

async fn failure(goal: &Goal) -> RosError {
    tokio::time::timeout(LIMIT, goal.result()).await.unwrap().unwrap_err()
}

ros_tests! {
    async fn goals_are_accepted_followed_and_end_with_their_results() {
        let clients = Clients::start();
        let mut peer = server("proper").await;
        let count = client(&clients, "/count").await;

        // Feedback that is sent before the server knows its reader is lost.
        let flood = accepted(&count, FLOOD).await;
        assert_eq!(peer.line("accepted").await.unwrap(), flood.id().to_string());
        tokio::time::timeout(LIMIT, flood.feedback().wait_for(Option::is_some)).await.unwrap().unwrap();
        assert_eq!(flood.cancel(LIMIT).await.unwrap(), CancelAnswer::Accepted);
        assert_eq!(result(&flood).await, (GoalState::Canceled, json!([5])));

        let five = goal(&count, 5);
        let (mut feedback, mut state) = (five.feedback(), five.state());
        assert_eq!(*state.borrow(), GoalState::Unknown);
        assert_eq!(five.send(LIMIT).await.unwrap(), Acceptance::Accepted);
        assert_eq!(peer.line("accepted").await.unwrap(), five.id().to_string());
        let last = tokio::time::timeout(LIMIT, feedback.wait_for(|latest| {
            latest.as_ref().is_some_and(|latest| exact(latest)["feedback"]["sequence"] == json!([0, 1, 1, 2, 3]))
        }));
        assert!(last.await.unwrap().is_ok());
        assert_eq!(result(&five).await, (GoalState::Succeeded, json!([0, 1, 1, 2, 3])));
        // As often as wanted.
        assert_eq!(result(&five.clone()).await.0, GoalState::Succeeded);
        assert_eq!(five.send(LIMIT).await.unwrap(), Acceptance::Accepted);
        tokio::time::timeout(LIMIT, state.wait_for(|state| *state == GoalState::Succeeded)).await.unwrap().unwrap();
        assert_eq!(five.cancel(LIMIT).await.unwrap(), CancelAnswer::AlreadyEnded);

        let refused = goal(&count, -1);
        assert_eq!(refused.send(LIMIT).await.unwrap(), Acceptance::Rejected);
        assert_eq!(failure(&refused).await.to_string(), "/count rejected the goal");
        assert_eq!(refused.cancel(LIMIT).await.unwrap(), CancelAnswer::UnknownGoal);

        let aborted = accepted(&count, ABORT).await;
        assert_eq!(result(&aborted).await, (GoalState::Aborted, json!([7])));

        let wrong = count.goal(Message::new(&count.interface().result)).unwrap_err();
        assert_eq!(wrong.to_string(), "/count takes test_msgs/action/Fibonacci_Goal, not test_msgs/action/Fibonacci_Result");
        clients.shut_down();
    }

    async fn a_cancel_is_granted_refused_or_ignored() {
        let clients = Clients::start();
        let _peer = server("proper").await;
        let count = client(&clients, "/count").await;

        let held = accepted(&count, HOLD).await;
        assert_eq!(held.cancel(LIMIT).await.unwrap(), CancelAnswer::Accepted);
        assert_eq!(result(&held).await, (GoalState::Canceled, json!([5])));

        let stubborn = accepted(&count, STUBBORN).await;
        assert_eq!(stubborn.cancel(LIMIT).await.unwrap(), CancelAnswer::Rejected);
        assert_eq!(result(&stubborn).await, (GoalState::Succeeded, json!([3])));

        let deaf = accepted(&count, DEAF).await;
        assert_eq!(deaf.cancel(LIMIT).await.unwrap(), CancelAnswer::Accepted);
        let mut state = deaf.state();
        tokio::time::timeout(LIMIT, state.wait_for(|state| *state == GoalState::Canceling)).await.unwrap().unwrap();
        assert_eq!(result(&deaf).await, (GoalState::Succeeded, json!([3])));
        clients.shut_down();
    }

    async fn an_acceptance_that_comes_late_still_counts() {
        let clients = Clients::start();
        let _peer = server("proper").await;
        let count = client(&clients, "/count").await;
        let slow = goal(&count, SLOW_TO_ACCEPT);
        let short = Duration::from_millis(200);
        assert!(matches!(slow.send(short).await, Err(RosError::NoAnswer { .. })));
        assert_eq!(slow.send(LIMIT).await.unwrap(), Acceptance::Accepted);
        assert_eq!(result(&slow).await, (GoalState::Succeeded, json!([3])));
        clients.shut_down();
    }

    async fn what_was_cancelled_before_it_was_accepted_does_not_go_on() {
        let clients = Clients::start();
        let mut peer = server("proper").await;
        let count = client(&clients, "/count").await;
        let short = Duration::from_millis(200);

        // Not sent yet: it never will be.
        let unsent = goal(&count, 3);
        assert_eq!(unsent.cancel(LIMIT).await.unwrap(), CancelAnswer::UnknownGoal);
        let problem = unsent.send(LIMIT).await.unwrap_err();
        assert_eq!(problem.to_string(), "the goal was cancelled before it was sent to /count");
        assert!(matches!(failure(&unsent).await, RosError::Withdrawn { .. }));

        // On its way: the server does not know it yet, and is asked again when it does.
        let slow = goal(&count, SLOW_TO_ACCEPT);
        assert!(matches!(slow.send(short).await, Err(RosError::NoAnswer { .. })));
        assert_eq!(slow.cancel(LIMIT).await.unwrap(), CancelAnswer::Accepted);
        assert_eq!(result(&slow).await.0, GoalState::Canceled);
        assert_eq!(peer.line("ended").await.unwrap(), format!("{} 5", slow.id()));

        // And also when nobody waits for it any more.
        let slow = goal(&count, SLOW_TO_ACCEPT);
        assert!(matches!(slow.send(short).await, Err(RosError::NoAnswer { .. })));
        // The answer may be late, too.
        let cancelled = slow.cancel(short).await;
        assert!(matches!(cancelled, Ok(CancelAnswer::UnknownGoal) | Err(RosError::NoAnswer { .. })), "{cancelled:?}");
        let id = slow.id();
        drop(slow);
        assert_eq!(peer.line("ended").await.unwrap(), format!("{id} 5"));

        // Not even for the answer to the cancel.
        let slow = goal(&count, SLOW_TO_ACCEPT);
        assert!(matches!(slow.send(short).await, Err(RosError::NoAnswer { .. })));
        {
            let asked = std::pin::pin!(slow.cancel(LIMIT));
            assert!(futures::poll!(asked).is_pending());
        }
        assert_eq!(peer.line("ended").await.unwrap(), format!("{} 5", slow.id()));
        clients.shut_down();
    }

    async fn twenty_goals_at_a_time_each_have_their_own_end() {
        let clients = Clients::start();
        let mut peer = server("proper").await;
        let count = client(&clients, "/count").await;
        let goals = (0..20).map(|number| {
            let count = &count;
            async move {
                let order = [3, ABORT, HOLD, -1, 6][number % 5];
                let goal = goal(count, order);
                if goal.send(LIMIT).await.unwrap() == Acceptance::Rejected {
                    assert_eq!(order, -1);
                    return None;
                }
                if order == HOLD {
                    assert_eq!(goal.cancel(LIMIT).await.unwrap(), CancelAnswer::Accepted);
                }
                let expected = match order {
                    3 => (GoalState::Succeeded, json!([0, 1, 1])),
                    6 => (GoalState::Succeeded, json!([0, 1, 1, 2, 3, 5])),
                    ABORT => (GoalState::Aborted, json!([7])),
                    _ => (GoalState::Canceled, json!([5])),
                };
                assert_eq!(result(&goal).await, expected, "order {order}");
                Some(goal.id().to_string())
            }
        });
        let ids: BTreeSet<String> = futures::future::join_all(goals).await.into_iter().flatten().collect();
        assert_eq!(ids.len(), 16);
        let mut ended = BTreeSet::new();
        while ended.len() < 16 {
            ended.insert(peer.line("ended").await.unwrap().split(' ').next().unwrap().to_owned());
        }
        assert_eq!(ended, ids);
        clients.shut_down();
    }

    async fn a_flood_of_feedback_keeps_nobody_waiting() {
        let clients = Clients::start();
        let _peer = server("proper").await;
        let count = client(&clients, "/count").await;
        let flood = accepted(&count, FLOOD).await;
        // Never read while it runs: the latest is all that is kept.
        let mut feedback = flood.feedback();
        for _ in 0..20 {
            let other = accepted(&count, 2).await;
            assert_eq!(result(&other).await.0, GoalState::Succeeded);
            assert!(other.feedback().borrow().as_ref().is_none_or(|last| exact(last)["feedback"]["sequence"] != json!([FLOOD])));
        }
        tokio::time::timeout(LIMIT, feedback.wait_for(Option::is_some)).await.unwrap().unwrap();
        assert_eq!(flood.cancel(LIMIT).await.unwrap(), CancelAnswer::Accepted);
        assert_eq!(result(&flood).await.0, GoalState::Canceled);
        clients.shut_down();
    }

    async fn a_server_that_leaves_or_is_replaced_loses_its_goals() {
        let clients = Clients::start();
        let peer = server("raw").await;
        let held = accepted(&client(&clients, "/silent").await, HOLD).await;
        terminate(&peer);
        assert!(peer.end().await.unwrap());
        let begun = Instant::now();
        assert!(matches!(failure(&held).await, RosError::ServerLost { .. }));
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());

        // Killed, it can't say goodbye and stays on the graph for a while; but its successor knows nothing of the goal.
        let mut peer = server("proper").await;
        let count = client(&clients, "/count").await;
        let held = accepted(&count, HOLD).await;
        peer.kill().await.unwrap();
        let begun = Instant::now();
        let _successor = server("proper").await;
        assert!(matches!(failure(&held).await, RosError::ServerLost { .. }));
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        // The client works on with the new one.
        assert_eq!(result(&accepted(&count, 3).await).await.0, GoalState::Succeeded);
        clients.shut_down();
    }

    async fn a_server_that_is_killed_is_missed_when_its_lease_ends() {
        let clients = Clients::start();
        let mut peer = server("proper").await;
        let count = client(&clients, "/count").await;
        let held = accepted(&count, HOLD).await;
        peer.kill().await.unwrap();
        let lost = tokio::time::timeout(LIMIT * 2, held.result()).await.unwrap();
        assert!(matches!(lost, Err(RosError::ServerLost { .. })));
        assert_eq!(
            lost.unwrap_err().to_string(),
            "the server of /count was lost before it sent a result; whether the goal goes on is not known"
        );
        clients.shut_down();
    }

    async fn what_no_server_may_send_has_one_outcome_too() {
        let clients = Clients::start();
        let mut peer = server("raw").await;
        // The first question for the result is lost, foreign goals are told of, and the result comes twice.
        let raw = client(&clients, "/raw").await;
        let goal = accepted(&raw, 1).await;
        assert_eq!(result(&goal).await, (GoalState::Succeeded, json!([2])));
        assert_eq!(peer.line("asked").await.unwrap(), format!("{} 1", goal.id()));
        assert_eq!(*goal.state().borrow(), GoalState::Succeeded);
        assert!(goal.feedback().borrow().is_none());
        let problem = goal.cancel(LIMIT).await.unwrap_err();
        assert_eq!(problem.to_string(), "/raw/_action/cancel_goal answered nonsense: 77 is no code of an answer");

        let babble = client(&clients, "/babble").await;
        let goal = accepted(&babble, 1).await;
        assert_eq!(failure(&goal).await.to_string(), "/babble answered nonsense: a goal can't have ended in state 2");
        // It says yes, but to another goal.
        assert_eq!(goal.cancel(LIMIT).await.unwrap(), CancelAnswer::Rejected);

        // Of many goals that are never answered, those that wait for their turn are never sent.
        let mute = client(&clients, "/mute").await;
        let silent: Vec<Goal> = (0..12).map(|order| self::goal(&mute, order)).collect();
        let short = Duration::from_millis(200);
        let answers = futures::future::join_all(silent.iter().map(|goal| goal.send(short))).await;
        assert!(answers.iter().all(|answer| matches!(answer, Err(RosError::NoAnswer { .. }))), "{answers:?}");
        clients.shut_down();
        assert!(matches!(failure(&silent[0]).await, RosError::ShutDown));
    }
}
