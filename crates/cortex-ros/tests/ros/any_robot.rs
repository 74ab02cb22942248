//! A robot that knows nothing of Cortex: its services, actions and topics become tools and are called.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Agent, LIMIT, invocation, names, robot};
use cortex_core::{CallObserver, ToolProvider, Unobserved};
use cortex_interfaces::{AmentIndex, Interfaces};
use cortex_protocol::{FailureKind, HaltState, OutcomeStatus, ToolOutcome};
use cortex_ros::{Policy, PolicySettings};
use cortex_ros_client::ros_tests;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Takes down what a call tells.
#[derive(Default)]
struct Heard {
    accepted: Notify,
    feedback: Mutex<Vec<String>>,
}

impl CallObserver for Heard {
    fn accepted(&self) {
        self.accepted.notify_one();
    }

    fn progressed(&self, feedback: String) {
        self.feedback.lock().unwrap().push(feedback);
    }
}

fn policy(change: impl FnOnce(&mut PolicySettings)) -> Policy {
    let mut settings = PolicySettings::default();
    change(&mut settings);
    Policy::new(&settings).unwrap()
}

fn status(kind: FailureKind) -> OutcomeStatus {
    OutcomeStatus::Failed(kind)
}

/// A prefix with the packages that the test's environment has, apart from some.
struct Installed(tempfile::TempDir);

/// Where the ament index lists packages, each kind of entry in a folder.
const INDEX: &str = "share/ament_index/resource_index";

impl Installed {
    fn without(package: &str) -> Self {
        let installed = Self(tempfile::tempdir().unwrap());
        for folder in ["lib", "share", INDEX] {
            std::fs::create_dir_all(installed.prefix().join(folder)).unwrap();
        }
        for original in Self::originals() {
            installed.link_all(&original, "lib", |_| true);
            installed.link_all(&original, "share", |name| name != "ament_index");
            for kind in Self::kinds(&original) {
                std::fs::create_dir_all(installed.prefix().join(&kind)).unwrap();
                installed.link_all(&original, &kind, |name| name != package);
            }
        }
        installed
    }

    fn install(&self, package: &str) {
        for original in Self::originals() {
            for kind in Self::kinds(&original) {
                self.link_all(&original, &kind, |name| name == package);
            }
        }
    }

    fn prefix(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn originals() -> Vec<PathBuf> {
        std::env::split_paths(&std::env::var_os("AMENT_PREFIX_PATH").unwrap()).collect()
    }

    fn kinds(original: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(original.join(INDEX)).into_iter().flatten().flatten();
        entries.map(|entry| format!("{INDEX}/{}", entry.file_name().to_string_lossy())).collect()
    }

    /// Links what the original has in a folder; of what two have, the first counts.
    fn link_all(&self, original: &Path, folder: &str, wanted: impl Fn(&str) -> bool) {
        for entry in std::fs::read_dir(original.join(folder)).into_iter().flatten().flatten() {
            let place = self.prefix().join(folder).join(entry.file_name());
            if wanted(&entry.file_name().to_string_lossy()) && !place.exists() {
                std::os::unix::fs::symlink(entry.path(), place).unwrap();
            }
        }
    }
}

ros_tests! {
    async fn the_services_of_a_robot_become_tools_and_answer() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "/shop"]).await;
        agent.tool("send_request_to_shop/lamp/switch").await;
        assert!(agent.discovery.settled(LIMIT).await);
        let tools = agent.discovery.tools().borrow().clone();
        assert_eq!(names(&tools), [
            "inspect_component", "read_topic", "update_parameter", "send_goal_to_shop/lamp/count", "send_request_to_clash",
            "send_request_to_shop/lamp/leave", "send_request_to_shop/lamp/never", "send_request_to_shop/lamp/switch",
            "send_request_to_shop/map",
        ]);
        let switch = tools.iter().find(|tool| tool.name.as_str() == "send_request_to_shop/lamp/switch").unwrap();
        assert_eq!(switch.parameters["properties"]["data"]["type"], "boolean");
        assert_eq!(switch.parameters["required"], json!(["data"]));
        assert!(switch.description.contains("std_srvs/srv/SetBool"), "{}", switch.description);

        let on = agent.call(invocation(1, "send_request_to_shop/lamp/switch", json!({"data": true}))).await;
        assert_eq!(on, ToolOutcome::success(json!({"success": true, "message": "it is bright"})));
        // An answer that says that it was no success is none.
        let off = agent.call(invocation(2, "send_request_to_shop/lamp/switch", json!({"data": false}))).await;
        assert_eq!(off, ToolOutcome::failure(FailureKind::Reported, "the bulb is out"));
        let wrong = agent.call(invocation(3, "send_request_to_shop/lamp/switch", json!({"data": "left"}))).await;
        assert_eq!(wrong.status, status(FailureKind::InvalidArguments));
        assert!(wrong.message.contains("data: expected"), "{}", wrong.message);

        // A million cells are not for a model to read.
        let map = agent.call(invocation(4, "send_request_to_shop/map", json!({}))).await;
        assert_eq!(map.value["map"]["info"]["width"], 1000);
        assert!(map.value.to_string().len() < 20_000, "{}", map.value.to_string().len());

        let unknown = agent.call(invocation(5, "send_request_to_shop/lamp/explode", json!({}))).await;
        assert_eq!(unknown.status, status(FailureKind::NotFound));
        agent.shut_down().await;
    }

    async fn a_call_that_was_planned_for_another_version_of_the_tool_is_not_made() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "--only", "switch"]).await;
        agent.tool("send_request_to_lamp/switch").await;
        let old = invocation(1, "send_request_to_lamp/switch", json!({"data": true}));
        let outcome = agent.tools.invoke(old, Arc::new(Unobserved)).await;
        assert_eq!(outcome.status, status(FailureKind::Changed));
        agent.shut_down().await;
    }

    /// The queue of a service holds 10 requests by default; of 16 that were sent at once, the others were lost.
    async fn regression_more_requests_than_the_queue_of_a_service_holds_are_all_answered() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "--only", "slow"]).await;
        agent.tool("send_request_to_lamp/slow").await;
        let calls = (1..=16).map(|id| agent.call(invocation(id, "send_request_to_lamp/slow", json!({}))));
        let outcomes = futures::future::join_all(calls).await;
        assert!(outcomes.iter().all(ToolOutcome::is_success), "{outcomes:?}");
        agent.shut_down().await;
    }

    async fn a_service_whose_server_leaves_before_it_answers_is_lost() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "--only", "leave"]).await;
        agent.tool("send_request_to_lamp/leave").await;
        let outcome = agent.call(invocation(1, "send_request_to_lamp/leave", json!({}))).await;
        assert_eq!(outcome, ToolOutcome {
            status: status(FailureKind::ComponentLost),
            value: Value::Null,
            message: "the server of /lamp/leave has left the ROS graph before it answered".to_owned(),
            halt: HaltState::Unconfirmed,
            evidence: Vec::new(),
            pictures: Vec::new(),
        });
        agent.tools_until(|tools| tools.is_empty()).await;
        let gone = agent.call(invocation(2, "send_request_to_lamp/leave", json!({}))).await;
        assert_eq!(gone.status, status(FailureKind::NotFound));
        agent.shut_down().await;
    }

    async fn a_request_that_is_given_up_may_still_be_worked_on() {
        let agent = Agent::start();
        let mut robot = robot(&["lamp", "--only", "never"]).await;
        agent.tool("send_request_to_lamp/never").await;
        let never = agent.planned(invocation(1, "send_request_to_lamp/never", json!({})));
        let another = agent.planned(invocation(2, "send_request_to_lamp/never", json!({})));
        assert_eq!(agent.tools.halt(&another).await, HaltState::AtRest, "it was never sent");
        let tools = agent.tools.clone();
        let running = tokio::spawn({
            let never = never.clone();
            async move { tools.invoke(never, Arc::new(Unobserved)).await }
        });
        robot.line("called never").await.unwrap();
        assert_eq!(agent.tools.halt(&never).await, HaltState::Unconfirmed, "a request can't be taken back");
        running.abort();
        agent.shut_down().await;
    }

    async fn a_goal_is_accepted_tells_how_it_goes_and_ends_with_its_result() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "--only", "count"]).await;
        agent.tool("send_goal_to_lamp/count").await;
        let heard = Arc::new(Heard::default());
        let count = agent.planned(invocation(1, "send_goal_to_lamp/count", json!({"order": 8})));
        let outcome = agent.tools.invoke(count.clone(), heard.clone()).await;
        assert_eq!(outcome, ToolOutcome::success(json!({"sequence": [0, 1, 1, 2, 3, 5, 8, 13]})));
        heard.accepted.notified().await;
        let feedback = heard.feedback.lock().unwrap().clone();
        assert!(feedback.iter().any(|line| line.contains("[0,1,1,2")), "{feedback:?}");
        assert_eq!(agent.tools.halt(&count).await, HaltState::AtRest, "it has ended");

        let rejected = agent.call(invocation(2, "send_goal_to_lamp/count", json!({"order": -1}))).await;
        assert_eq!(rejected, ToolOutcome::failure(FailureKind::Reported, "/lamp/count rejected the goal"));
        let aborted = agent.call(invocation(3, "send_goal_to_lamp/count", json!({"order": 13}))).await;
        assert_eq!(aborted.status, status(FailureKind::Reported));
        assert!(aborted.message.contains("aborted") && aborted.message.contains("[0,1,1]"), "{}", aborted.message);
        assert_eq!(aborted.halt, HaltState::AtRest);

        // A flood of feedback is told in a few lines.
        let heard = Arc::new(Heard::default());
        let flood = agent.planned(invocation(4, "send_goal_to_lamp/count", json!({"order": 1000})));
        let begun = std::time::Instant::now();
        let outcome = agent.tools.invoke(flood, heard.clone()).await;
        assert!(outcome.is_success(), "{outcome:?}");
        let told = heard.feedback.lock().unwrap().len();
        assert!(told as f64 <= begun.elapsed().as_secs_f64() * 10.0 + 2.0, "{told} lines");
        agent.shut_down().await;
    }

    async fn goals_on_one_server_are_halted_one_by_one_and_one_refuses() {
        let agent = Agent::start();
        let mut robot = robot(&["lamp", "--only", "count"]).await;
        agent.tool("send_goal_to_lamp/count").await;
        let mut running = Vec::new();
        for (id, order) in [(1, 200), (2, 66), (3, 201)] {
            let call = agent.planned(invocation(id, "send_goal_to_lamp/count", json!({"order": order})));
            let (tools, heard) = (agent.tools.clone(), Arc::new(Heard::default()));
            let task = tokio::spawn({
                let (call, heard) = (call.clone(), heard.clone());
                async move { tools.invoke(call, heard).await }
            });
            tokio::time::timeout(LIMIT, heard.accepted.notified()).await.expect("it is accepted");
            running.push((call, task));
        }
        let (third, third_task) = running.pop().unwrap();
        let (second, second_task) = running.pop().unwrap();
        let (first, first_task) = running.pop().unwrap();
        assert_eq!(agent.tools.halt(&first).await, HaltState::Halted);
        robot.line("canceled 200").await.unwrap();
        let outcome = first_task.await.unwrap();
        assert_eq!((outcome.status, outcome.halt), (OutcomeStatus::Cancelled, HaltState::Halted));
        assert_eq!(agent.tools.halt(&second).await, HaltState::Refused);
        assert!(!second_task.is_finished() && !third_task.is_finished());
        assert_eq!(agent.tools.halt(&third).await, HaltState::Halted);
        robot.line("canceled 201").await.unwrap();
        assert!(second_task.await.unwrap().is_success(), "it went on to its end");
        agent.shut_down().await;
    }

    async fn a_goal_whose_server_is_gone_is_lost() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "--only", "count,leave"]).await;
        agent.tool("send_goal_to_lamp/count").await;
        agent.tool("send_request_to_lamp/leave").await;
        let heard = Arc::new(Heard::default());
        let count = agent.planned(invocation(1, "send_goal_to_lamp/count", json!({"order": 500})));
        let (tools, call, observer) = (agent.tools.clone(), count.clone(), heard.clone());
        let running = tokio::spawn(async move { tools.invoke(call, observer).await });
        tokio::time::timeout(LIMIT, heard.accepted.notified()).await.expect("it is accepted");
        agent.call(invocation(2, "send_request_to_lamp/leave", json!({}))).await;
        let outcome = tokio::time::timeout(LIMIT, running).await.expect("it ends").unwrap();
        assert_eq!((outcome.status, outcome.halt), (status(FailureKind::ComponentLost), HaltState::Unconfirmed));
        let halted = tokio::time::timeout(LIMIT, agent.tools.halt(&count)).await;
        assert_eq!(halted, Ok(HaltState::Unconfirmed), "nobody is left to say");
        agent.shut_down().await;
    }

    async fn what_is_denied_or_disputed_is_listed_with_its_reason_and_other_names_are_used() {
        let agent = Agent::with_policy(policy(|settings| {
            settings.deny = vec!["/shop/**/never".to_owned()];
            settings.rename = [("/shop/lamp1/switch".to_owned(), "light".to_owned())].into();
        }));
        let _first = robot(&["lamp1", "/shop", "--only", "switch,never,clash"]).await;
        let _second = robot(&["lamp2", "/shop", "--only", "switch,clash"]).await;
        agent.tool("send_request_to_light").await;
        agent.tool("send_request_to_shop/lamp2/switch").await;
        let mut catalog = agent.discovery.catalog();
        let seen = tokio::time::timeout(LIMIT, catalog.wait_for(|catalog| catalog.uncallable().len() == 2)).await;
        let reasons: Vec<(String, String)> = seen.expect("both are listed").unwrap().uncallable().iter()
            .map(|uncallable| (uncallable.name.clone(), uncallable.reason.clone())).collect();
        assert_eq!(reasons[0].0, "/clash");
        assert!(reasons[0].1.contains("several types"), "{reasons:?}");
        assert_eq!(reasons[1], ("/shop/lamp1/never".to_owned(), "discovery.deny has '/shop/**/never'".to_owned()));
        let outcome = agent.call(invocation(1, "send_request_to_light", json!({"data": true}))).await;
        assert!(outcome.is_success(), "{outcome:?}");
        agent.shut_down().await;
    }

    async fn any_node_is_inspected_and_its_parameters_are_set_as_it_allows() {
        let agent = Agent::with_policy(policy(|settings| settings.deny = vec!["/shop/lamp/use_sim_time".to_owned()]));
        let _robot = robot(&["lamp", "/shop", "--only", "switch,never,parameters"]).await;
        agent.tool("update_parameter").await;
        agent.tool("send_request_to_shop/lamp/switch").await;
        let inspect = invocation(1, "inspect_component", json!({"component": "shop/lamp"}));
        let report = agent.call(inspect.clone()).await.value;
        assert_eq!(report["parameters"]["speed"], json!({
            "value": 0.5, "type": "a number", "range": "from 0 to 2", "description": "How fast, in m/s.",
        }));
        assert_eq!(report["parameters"]["serial"], json!({"value": "A1", "type": "text", "read_only": true}));
        assert_eq!(report["services"]["/shop/lamp/switch"], json!({
            "type": "std_srvs/srv/SetBool", "tool": "send_request_to_shop/lamp/switch",
        }));
        assert_eq!((&report["lifecycle"], &report["state"]), (&Value::Null, &Value::Null));

        let set = |id, name: &str, value: Value| {
            let arguments = json!({"component": "shop/lamp", "param_name": name, "new_value": value});
            agent.call(invocation(id, "update_parameter", arguments))
        };
        assert_eq!(set(2, "speed", json!(1)).await, ToolOutcome::success(Value::Null));
        assert_eq!(agent.call(inspect).await.value["parameters"]["speed"]["value"], 1.0);
        for (id, name, value, kind, says) in [
            (3, "speed", json!(3.0), FailureKind::InvalidArguments, "2"),
            (4, "speed", json!("fast"), FailureKind::InvalidArguments, "number"),
            (5, "serial", json!("B2"), FailureKind::Reported, "read-only"),
            (6, "colour", json!("red"), FailureKind::InvalidArguments, "it has: serial, speed"),
            (7, "use_sim_time", json!(true), FailureKind::InvalidArguments, "it has: serial, speed"),
        ] {
            let outcome = set(id, name, value).await;
            assert_eq!(outcome.status, status(kind), "{name}: {}", outcome.message);
            assert!(outcome.message.contains(says), "{name}: {}", outcome.message);
        }
        let nobody = json!({"component": "nobody", "param_name": "x", "new_value": 1});
        assert_eq!(agent.call(invocation(8, "update_parameter", nobody)).await.status, status(FailureKind::NotFound));
        agent.shut_down().await;
    }

    async fn regression_what_is_denied_was_shown_to_models_with_its_values() {
        let agent = Agent::with_policy(policy(|settings| settings.deny = vec!["/shop/wifi/**".to_owned()]));
        let _denied = robot(&["wifi", "/shop", "--only", "switch,topics,parameters"]).await;
        let _lamp = robot(&["lamp", "/shop", "--only", "switch"]).await;
        agent.tool("send_request_to_shop/lamp/switch").await;
        // What is denied gives no tool to wait for: it is known once it is listed as left out.
        let denied = "discovery.deny has '/shop/wifi/**'";
        let mut catalog = agent.discovery.catalog();
        let is_known = catalog.wait_for(|catalog| catalog.uncallable().iter().any(|left| left.reason == denied));
        tokio::time::timeout(LIMIT, is_known).await.unwrap().unwrap();
        assert!(agent.discovery.settled(LIMIT).await);
        let tools = agent.tools_until(|tools| !tools.is_empty()).await;
        let offered = serde_json::to_string(&tools).unwrap();
        assert!(!offered.contains("wifi"), "{offered}");
        let of_wifi = json!({"component": "shop/wifi", "param_name": "serial", "new_value": "B2"});
        for (id, tool, arguments) in [
            (1, "inspect_component", json!({"component": "shop/wifi"})),
            (2, "inspect_component", json!({"component": "/shop/wifi"})),
            (3, "update_parameter", of_wifi),
            (4, "read_topic", json!({"topic": "/shop/greeting"})),
        ] {
            let outcome = agent.call(invocation(id, tool, arguments.clone())).await;
            assert_eq!(outcome.status, status(FailureKind::NotFound), "{tool} {arguments}: {outcome:?}");
            // What it was asked for is told, as for anything that is not there; nothing else is.
            let told = serde_json::to_string(&outcome).unwrap().replacen("wifi", "", 1);
            assert!(!told.contains("wifi") && !told.contains("deny") && !told.contains("serial"), "{told}");
        }
        // Whoever owns the configuration sees what it leaves out.
        let report = agent.tools.inspect("shop/wifi").await.unwrap();
        assert_eq!(report["denied"], denied);
        assert_eq!(report["parameters"]["serial"]["denied"], denied);
        agent.shut_down().await;
    }

    async fn regression_a_denied_parameter_was_shown_beside_those_that_are_not() {
        let agent = Agent::with_policy(policy(|settings| {
            settings.deny = vec!["/shop/lamp/serial".to_owned(), "/shop/chatter".to_owned()];
        }));
        let _robot = robot(&["lamp", "/shop", "--only", "switch,topics,parameters"]).await;
        agent.tool("update_parameter").await;
        assert!(agent.discovery.settled(LIMIT).await);
        let report = agent.call(invocation(1, "inspect_component", json!({"component": "shop/lamp"}))).await.value;
        assert_eq!(report["parameters"]["speed"]["value"], 0.5, "{report}");
        assert!(report["topics_out"].get("/shop/greeting").is_some(), "{report}");
        assert!(report["parameters"].get("serial").is_none() && !report.to_string().contains("chatter"), "{report}");
        let outcome = agent.call(invocation(2, "read_topic", json!({"topic": "/shop/chatter"}))).await;
        assert_eq!(outcome.status, status(FailureKind::NotFound));
        assert_eq!(outcome.message.matches("chatter").count(), 1, "{}", outcome.message);
        agent.shut_down().await;
    }

    async fn what_is_not_installed_is_listed_with_the_reason_until_it_is() {
        let installed = Installed::without("std_srvs");
        let agent = Agent::with(Interfaces::new(AmentIndex::new(vec![installed.prefix()])), Policy::default());
        let mut robot = robot(&["lamp", "--only", "switch,map"]).await;
        agent.tool("send_request_to_map").await;
        let mut catalog = agent.discovery.catalog();
        let seen = tokio::time::timeout(LIMIT, catalog.wait_for(|catalog| !catalog.uncallable().is_empty())).await;
        let missing = seen.expect("it is listed").unwrap().uncallable()[0].clone();
        assert_eq!((missing.name.as_str(), missing.kind), ("/lamp/switch", cortex_ros::OfferKind::Service));
        assert!(missing.reason.contains("the package std_srvs is not installed"), "{}", missing.reason);
        let report = agent.tools.inspect("lamp").await.unwrap();
        assert_eq!(report["services"]["/lamp/switch"]["not_callable"], json!(missing.reason));

        // Installed, and the robot is started with it.
        crate::support::terminate(&robot);
        agent.tools_until(|tools| tools.is_empty()).await;
        robot.kill().await.unwrap();
        installed.install("std_srvs");
        let _robot = crate::support::robot(&["lamp", "--only", "switch"]).await;
        agent.tool("send_request_to_lamp/switch").await;
        let outcome = agent.call(invocation(1, "send_request_to_lamp/switch", json!({"data": true}))).await;
        assert!(outcome.is_success(), "{outcome:?}");
        agent.shut_down().await;
    }

    async fn a_topic_is_read_whether_it_was_said_long_ago_or_comes_next() {
        let agent = Agent::start();
        let _robot = robot(&["lamp", "/shop", "--only", "topics"]).await;
        agent.tool("read_topic").await;
        assert!(agent.discovery.settled(LIMIT).await);
        let greeting = agent.call(invocation(1, "read_topic", json!({"topic": "/shop/greeting"}))).await;
        assert_eq!(greeting, ToolOutcome::success(json!({
            "topic": "/shop/greeting", "type": "std_msgs/msg/String", "message": {"data": "hello, I was said long ago"},
        })));
        let chatter = agent.call(invocation(2, "read_topic", json!({"topic": "shop/chatter"}))).await;
        assert_eq!(chatter.value["message"]["data"], "tick");
        let silence = agent.call(invocation(3, "read_topic", json!({"topic": "/shop/silence", "timeout": 0.2}))).await;
        assert_eq!(silence.status, status(FailureKind::Timeout));
        let none = agent.call(invocation(4, "read_topic", json!({"topic": "/nothing"}))).await;
        assert_eq!(none.status, status(FailureKind::NotFound));
        assert!(none.message.contains("/shop/chatter"), "{}", none.message);
        agent.shut_down().await;
    }

    async fn a_topic_is_published_where_the_configuration_allows_it() {
        let agent = Agent::with_policy(policy(|settings| settings.publish = vec!["/cmd_vel".to_owned()]));
        let mut robot = robot(&["base", "--only", "topics"]).await;
        agent.tool("publish_to_cmd_vel").await;
        let arguments = json!({"linear": {"x": 0.5}, "angular": {}});
        let outcome = agent.call(invocation(1, "publish_to_cmd_vel", arguments)).await;
        assert_eq!(outcome, ToolOutcome::success(Value::Null));
        assert_eq!(robot.line("drives").await.unwrap(), "0.5");
        agent.shut_down().await;
    }

    async fn two_nodes_of_one_name_offer_what_both_offer() {
        let agent = Agent::start();
        let first = robot(&["lamp", "--only", "switch"]).await;
        let _second = robot(&["lamp", "--only", "never"]).await;
        agent.tool("send_request_to_lamp/switch").await;
        agent.tool("send_request_to_lamp/never").await;
        let outcome = agent.call(invocation(1, "send_request_to_lamp/switch", json!({"data": true}))).await;
        assert!(outcome.is_success(), "{outcome:?}");
        crate::support::terminate(&first);
        let tools = agent.tools_until(|tools| !names(tools).contains(&"send_request_to_lamp/switch")).await;
        assert!(names(&tools).contains(&"send_request_to_lamp/never"), "{:?}", names(&tools));
        agent.shut_down().await;
    }

    async fn tools_vanish_and_return_with_their_server() {
        let agent = Agent::start();
        for round in 0..3 {
            let mut robot = robot(&["lamp", "--no-rosout", "--only", "switch"]).await;
            agent.tool("send_request_to_lamp/switch").await;
            let outcome = agent.call(invocation(round, "send_request_to_lamp/switch", json!({"data": true}))).await;
            assert!(outcome.is_success(), "round {round}: {outcome:?}");
            crate::support::terminate(&robot);
            agent.tools_until(|tools| tools.is_empty()).await;
            tokio::time::timeout(Duration::from_secs(10), robot.kill()).await.unwrap().unwrap();
        }
        agent.shut_down().await;
    }
}
