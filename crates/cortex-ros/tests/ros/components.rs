//! Components on real ROS: found, called, lost.

use std::time::{Duration, Instant};

use crate::support::{Agent, LIMIT, component, invocation, names, terminate};
use cortex_core::ToolProvider;
use cortex_protocol::{FailureKind, HaltState, OutcomeStatus, ToolOutcome};
use cortex_ros::{ComponentState, Policy, PolicySettings};
use cortex_ros_client::ros_tests;
use serde_json::{Value, json};

ros_tests! {
    async fn what_somebody_else_sees_makes_sure_that_nothing_is_missing() {
        // Neither is a part of the robot to the other.
        let agent = Agent::named("_cortex");
        let _peer = component(&["helper"]).await;
        agent.tool("helper.echo").await;
        assert!(agent.discovery.settled(LIMIT).await);
        assert!(!agent.discovery.is_confirmed(), "nobody has told what they see");
        // A command, which comes later.
        let visitor = Agent::named("_cortex_cli_1");
        visitor.discovery.confirm_graph("/_cortex".to_owned(), "something else".to_owned());
        assert!(visitor.discovery.settled(LIMIT).await);
        assert!(!visitor.discovery.is_confirmed(), "it sees another graph");
        let seen = agent.discovery.seen().borrow().clone();
        visitor.discovery.confirm_graph("/_cortex".to_owned(), seen);
        tokio::time::timeout(LIMIT, visitor.discovery.confirmed()).await.expect("both see the same");
        let (theirs, ours) = (visitor.discovery.tools().borrow().clone(), agent.discovery.tools().borrow().clone());
        assert_eq!(names(&theirs), names(&ours));
        // One more has come: it is not all any more.
        let _late = component(&["late"]).await;
        visitor.tool("late.echo").await;
        assert!(!visitor.discovery.is_confirmed());
        visitor.shut_down().await;
        agent.shut_down().await;
    }

    async fn a_component_is_found_called_inspected_and_forgotten() {
        let agent = Agent::start();
        let peer = component(&["helper", "--heartbeat"]).await;
        agent.tool("helper.echo").await;
        assert!(agent.discovery.settled(LIMIT).await);
        let tools = agent.discovery.tools().borrow().clone();
        assert_eq!(names(&tools), [
            "inspect_component", "update_parameter", "helper.echo", "helper.refuse", "helper.sulk", "helper.babble", "helper.work",
            "helper.insist", "helper.halt", "helper.die",
        ]);
        assert_eq!(tools[0].parameters["properties"]["component"]["enum"], json!(["helper"]));

        let echo = agent.call(invocation(1, "helper.echo", json!({"text": "grüß \u{0} \"dich\" 🤖"}))).await;
        assert_eq!(echo, ToolOutcome::success(json!({"text": "grüß \u{0} \"dich\" 🤖"})));
        let failures = [("helper.refuse", "the way is blocked"), ("helper.sulk", "the component gave no reason")];
        for (id, (tool, reason)) in (2..).zip(failures) {
            let outcome = agent.call(invocation(id, tool, json!({}))).await;
            assert_eq!(outcome, ToolOutcome::failure(FailureKind::Reported, reason));
        }
        let babble = agent.call(invocation(4, "helper.babble", json!({}))).await;
        assert_eq!((babble.status, babble.halt), (OutcomeStatus::Failed(FailureKind::BadResponse), HaltState::AtRest));
        assert!(babble.message.contains("not JSON") && babble.message.contains("{done: yes"), "{}", babble.message);
        let unknown = agent.call(invocation(5, "helper.fly", json!({}))).await;
        assert_eq!(unknown.status, OutcomeStatus::Failed(FailureKind::NotFound));

        agent.heard("helper").await;
        let mut report = agent.call(invocation(6, "inspect_component", json!({"component": "helper"}))).await.value;
        let tools = report["tools"].take();
        assert_eq!(tools.as_array().map(Vec::len), Some(8));
        assert_eq!(report, json!({
            "actions": {},
            "component": "helper",
            "health": {"message": "fine", "sources": [], "status": "HEALTHY"},
            "lifecycle": null,
            "parameters": {
                "rooms": {"type": "a list of texts", "value": ["kitchen", "bedroom"]},
                "speed": {"type": "a number", "value": 0.5},
                "start_type_description_service": {
                    "description": "If enabled, start the ~/get_type_description service.",
                    "read_only": true,
                    "type": "true or false",
                    "value": true,
                },
                "use_sim_time": {"type": "true or false", "value": false},
            },
            "problems": [],
            "services": {},
            "state": "is ready",
            "summary": "A component for tests.",
            "tools": null,
            "topics_in": {},
            "topics_out": {},
        }));
        let nobody = agent.call(invocation(7, "inspect_component", json!({"component": "nobody"}))).await;
        assert_eq!(nobody, ToolOutcome::failure(FailureKind::NotFound, "there is no node 'nobody'; there are: helper"));

        terminate(&peer);
        agent.tools_until(<[_]>::is_empty).await;
        let gone = agent.call(invocation(8, "helper.echo", json!({}))).await;
        assert_eq!(gone.status, OutcomeStatus::Failed(FailureKind::NotFound));
        agent.shut_down().await;
    }

    async fn a_component_that_is_killed_in_mid_call_is_lost_by_its_heartbeat_long_before_its_lease_ends() {
        let agent = Agent::start();
        let _peer = component(&["helper", "--heartbeat"]).await;
        let _other = component(&["other"]).await;
        agent.tool("helper.die").await;
        agent.tool("other.echo").await;
        agent.heard("helper").await;
        let begun = Instant::now();
        let outcome = agent.call(invocation(1, "helper.die", json!({}))).await;
        assert_eq!(outcome, ToolOutcome {
            status: OutcomeStatus::Failed(FailureKind::ComponentLost),
            value: Value::Null,
            message: "the component 'helper' is lost: its heartbeat has stopped while 'die' was under way".to_owned(),
            halt: HaltState::Unconfirmed,
            evidence: Vec::new(),
            pictures: Vec::new(),
        });
        println!("lost by heartbeat after {:?}", begun.elapsed());
        // What it offered is withdrawn; the other component, which has no heartbeat at all, is left alone.
        let tools = agent.tools_until(|tools| names(tools).iter().all(|name| !name.starts_with("helper."))).await;
        assert!(names(&tools).contains(&"other.echo"));
        let next = agent.call(invocation(2, "helper.echo", json!({}))).await;
        assert_eq!(next, ToolOutcome::failure(
            FailureKind::Unavailable,
            "the component 'helper' is on the graph, but its heartbeat has stopped",
        ));
        agent.shut_down().await;
    }

    /// The queue of a service holds 10 requests by default; of 16 that were sent at once, the others were lost.
    async fn regression_more_calls_than_the_queue_of_a_component_holds_are_all_answered() {
        let agent = Agent::start();
        let mut peer = component(&["helper", "--one-at-a-time"]).await;
        agent.tool("helper.work").await;
        let calls = (1..=16).map(|id| agent.call(invocation(id, "helper.work", json!({"seconds": 0.2}))));
        let outcomes = futures::future::join_all(calls).await;
        let answered = outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Succeeded).count();
        assert_eq!(answered, 16, "{outcomes:?}");
        for _ in 0..16 {
            peer.line("called work").await.unwrap();
        }

        // One that waits for its turn is not sent any more once it is halted, and waits no longer.
        let long = |id| invocation(id, "helper.work", json!({"seconds": 2.0}));
        let tools = agent.tools.clone();
        let mut running: Vec<_> = (17..=40)
            .map(|id| {
                let (tools, call) = (tools.clone(), agent.planned(long(id)));
                tokio::spawn(async move { tools.invoke(call, std::sync::Arc::new(cortex_core::Unobserved)).await })
            })
            .collect();
        peer.line("called work").await.unwrap();
        let last = running.pop().unwrap();
        assert_eq!(agent.tools.halt(&agent.planned(long(40))).await, HaltState::AtRest);
        let outcome = tokio::time::timeout(Duration::from_secs(5), last).await.expect("it ends at once").unwrap();
        assert_eq!(outcome, ToolOutcome::not_begun("it was halted before it was sent"));

        // What waits for its turn when the component leaves was never sent, and is told so.
        terminate(&peer);
        let lost = tokio::time::timeout(LIMIT, futures::future::join_all(running)).await.expect("all end").into_iter();
        let (unsent, sent): (Vec<_>, Vec<_>) =
            lost.map(Result::unwrap).partition(|outcome| outcome.message.ends_with("before 'work' was sent"));
        assert!(unsent.iter().all(|outcome| outcome.halt == HaltState::AtRest), "{unsent:?}");
        assert!(!sent.is_empty() && sent.len() <= 10, "{} were sent: {sent:?}", sent.len());
        agent.shut_down().await;
    }

    async fn a_component_that_leaves_in_mid_call_is_lost_at_once() {
        let agent = Agent::start();
        let mut peer = component(&["helper"]).await;
        agent.tool("helper.work").await;
        let work = invocation(1, "helper.work", json!({"seconds": 25.0}));
        let call = agent.call(work.clone());
        let leave = async {
            peer.line("called work").await.unwrap();
            terminate(&peer);
        };
        let (outcome, ()) = tokio::join!(call, leave);
        assert_eq!(outcome, ToolOutcome {
            status: OutcomeStatus::Failed(FailureKind::ComponentLost),
            value: Value::Null,
            message: "the component 'helper' has left the ROS graph while 'work' was under way".to_owned(),
            halt: HaltState::Unconfirmed,
            evidence: Vec::new(),
            pictures: Vec::new(),
        });
        // Nobody is left to ask, and that is said at once.
        let halted = tokio::time::timeout(Duration::from_secs(1), agent.tools.halt(&work)).await;
        assert_eq!(halted, Ok(HaltState::Unconfirmed));
        agent.shut_down().await;
    }

    async fn a_component_that_is_started_anew_is_described_anew_though_the_dead_one_is_still_listed() {
        let agent = Agent::start();
        let mut first = component(&["helper"]).await;
        agent.tool("helper.insist").await;
        let call = agent.call(invocation(1, "helper.insist", json!({"seconds": 25.0})));
        let restart = async {
            first.line("called insist").await.unwrap();
            first.kill().await.unwrap();
            component(&["helper", "--describe", "partly"]).await
        };
        let (outcome, _second) = tokio::join!(call, restart);
        assert_eq!(outcome.status, OutcomeStatus::Failed(FailureKind::ComponentLost), "{outcome:?}");
        agent.tools_until(|tools| names(tools) == ["inspect_component", "update_parameter", "helper.echo"]).await;
        let echo = agent.call(invocation(2, "helper.echo", json!({"text": "again"}))).await;
        assert_eq!(echo, ToolOutcome::success(json!({"text": "again"})));
        agent.shut_down().await;
    }

    async fn a_call_that_was_given_up_is_halted_and_its_late_answer_does_no_harm() {
        let agent = Agent::start();
        let mut peer = component(&["helper", "--heartbeat"]).await;
        agent.tool("helper.work").await;

        // One that can be halted.
        let work = agent.planned(invocation(1, "helper.work", json!({"seconds": 20.0})));
        let another = agent.planned(invocation(9, "helper.work", json!({})));
        assert_eq!(agent.tools.halt(&another).await, HaltState::AtRest, "it was never sent");
        let tools = agent.tools.clone();
        let running = tokio::spawn({
            let work = work.clone();
            async move { tools.invoke(work, std::sync::Arc::new(cortex_core::Unobserved)).await }
        });
        peer.line("called work").await.unwrap();
        assert_eq!(agent.tools.halt(&work).await, HaltState::Halted);
        let outcome = tokio::time::timeout(LIMIT, running).await.unwrap().unwrap();
        assert_eq!(outcome, ToolOutcome::failure(FailureKind::Reported, "halted"));
        assert_eq!(agent.tools.halt(&work).await, HaltState::AtRest, "it has answered");

        // One that can't: given up, it may go on, until its answer comes after all.
        let insist = agent.planned(invocation(2, "helper.insist", json!({"seconds": 1.5})));
        let given_up = agent.tools.invoke(insist.clone(), std::sync::Arc::new(cortex_core::Unobserved));
        assert!(tokio::time::timeout(Duration::from_millis(500), given_up).await.is_err());
        assert_eq!(agent.tools.halt(&insist).await, HaltState::Unconfirmed);
        peer.line("ended insist").await.unwrap();
        let at_rest = async {
            while agent.tools.halt(&insist).await != HaltState::AtRest {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LIMIT, at_rest).await.expect("the late answer is noticed");

        let echo = agent.call(invocation(3, "helper.echo", json!({}))).await;
        assert_eq!(echo, ToolOutcome::success(json!({})));
        agent.shut_down().await;
    }

    async fn what_describes_itself_badly_is_reported_and_hides_nobody_else() {
        let agent = Agent::start();
        let _good = component(&["good"]).await;
        let _garbled = component(&["garbled", "--describe", "garbage"]).await;
        let _partly = component(&["partly", "--describe", "partly"]).await;
        let _slow = component(&["slow", "--describe", "slow"]).await;
        let mut directory = agent.discovery.directory();
        let all_found = directory.wait_for(|directory| directory.components().count() == 4);
        tokio::time::timeout(LIMIT, all_found).await.expect("all are found").unwrap();
        assert!(agent.discovery.settled(LIMIT).await);
        let directory = agent.discovery.directory().borrow().clone();
        let states: Vec<_> = directory.components().map(|(name, one)| (name.as_str(), one.state)).collect();
        assert_eq!(states, [
            ("garbled", ComponentState::Undescribed),
            ("good", ComponentState::Ready),
            ("partly", ComponentState::Ready),
            ("slow", ComponentState::Ready),
        ]);
        let problems = |name: &str| directory.component(&name.into()).unwrap().problems.clone();
        assert!(problems("garbled")[0].starts_with("the description is not JSON"), "{:?}", problems("garbled"));
        assert_eq!(problems("partly").len(), 3, "{:?}", problems("partly"));
        assert_eq!(problems("good"), Vec::<String>::new());
        let report = agent.tools.inspect("/garbled").await.unwrap();
        assert_eq!((&report["state"], &report["tools"]), (&json!("does not say what it can do"), &json!([])));
        assert_eq!(report["problems"], json!(problems("garbled")));
        agent.shut_down().await;
    }

    async fn regression_a_denied_method_was_shown_to_models() {
        let settings = PolicySettings { deny: vec!["/helper/die".to_owned()], ..PolicySettings::default() };
        let agent = Agent::with_policy(Policy::new(&settings).unwrap());
        let _peer = component(&["helper"]).await;
        agent.tool("helper.echo").await;
        let report = agent.call(invocation(1, "inspect_component", json!({"component": "helper"}))).await.value;
        assert_eq!(report["tools"].as_array().map(Vec::len), Some(7), "{report}");
        assert!(!report.to_string().contains("helper.die"), "{report}");
        let refused = agent.call(invocation(2, "helper.die", json!({}))).await;
        assert_eq!(refused.status, OutcomeStatus::Failed(FailureKind::NotFound), "{refused:?}");
        // Whoever owns the configuration sees it.
        let report = agent.tools.inspect("helper").await.unwrap();
        let die = report["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "helper.die").unwrap();
        assert_eq!(die["denied"], "discovery.deny has '/helper/die'");
        agent.shut_down().await;
    }
}
