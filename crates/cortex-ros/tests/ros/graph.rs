//! The graph, the node and its parameters on real ROS.

use std::process::Command;
use std::sync::Arc;

use crate::support::{LIMIT, component, robot, script, terminate};
use cortex_ros_client::graph::{Graph, NodeRole};
use cortex_ros_client::{GraphWatch, RosNode, parameters, ros_tests};

async fn graph_until(watch: &GraphWatch, wanted: impl Fn(&Graph) -> bool) -> Arc<Graph> {
    let mut graph = watch.subscribe();
    let waited = tokio::time::timeout(LIMIT, graph.wait_for(|graph| wanted(graph))).await;
    let seen = waited.map(|graph| Arc::clone(&graph.unwrap()));
    seen.unwrap_or_else(|_| panic!("the graph is {:#?}", watch.current()))
}

/// The example `graph`: a whole process with everything of this crate in it.
fn example(arguments: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap().with_file_name("../examples/graph");
    assert!(program.exists(), "the examples are not built: cargo build --examples -p cortex-ros");
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

ros_tests! {
    async fn nodes_come_and_go_and_what_is_not_the_robot_is_marked() {
        let watch = GraphWatch::start("/me").unwrap();
        let me = RosNode::start("me", "").unwrap();
        let hidden = RosNode::start("_tool", "").unwrap();
        let peer = component(&["helper", "--heartbeat"]).await;
        let offers = |graph: &Graph| {
            graph.node("helper").is_some_and(|node| node.offers("execute_method", "cortex_msgs/srv/ExecuteMethod"))
        };
        let graph = graph_until(&watch, |graph| offers(graph) && graph.node("me").is_some()).await;
        let observer = format!("/_cortex_graph_{}", std::process::id());
        let roles: Vec<_> = graph.nodes().map(|node| (node.name.as_str(), node.role)).collect();
        assert_eq!(roles, [
            (observer.as_str(), NodeRole::Infrastructure),
            ("/_tool", NodeRole::Infrastructure),
            ("/helper", NodeRole::Robot),
            ("/me", NodeRole::Infrastructure),
        ]);
        let graph = graph_until(&watch, |graph| {
            graph.node("helper").is_some_and(|node| node.publishers.iter().any(|topic| topic.name == "/helper/status"))
        }).await;
        assert_eq!(graph.node("helper").unwrap().instances.len(), 1);

        terminate(&peer);
        graph_until(&watch, |graph| graph.node("helper").is_none()).await;
        hidden.shut_down();
        me.shut_down();
        watch.shut_down();
        watch.shut_down();
        assert!(matches!(me.with_node(|_| ()).await, Err(cortex_ros_client::RosError::ShutDown)));
    }

    // Asked about a name, the middleware answers for one run of it; several, since that may be the living one by chance.
    async fn what_a_node_publishes_is_known_while_runs_of_it_that_were_killed_are_still_listed() {
        let watch = GraphWatch::start("/me").unwrap();
        for (listed, topic) in [(1, "/first"), (2, "/second"), (2, "/third"), (2, "/fourth")] {
            let mut base = robot(&["base", "--only", topic]).await;
            let is_known = |graph: &Graph| {
                graph.node("base").is_some_and(|node| {
                    node.instances.len() >= listed && node.publishers.iter().any(|known| known.name == topic)
                })
            };
            graph_until(&watch, is_known).await;
            base.kill().await.unwrap();
        }
        watch.shut_down();
    }

    async fn arguments_of_ros_are_honoured() {
        let output = example(&["0", "--ros-args", "-r", "__node:=renamed", "-r", "__ns:=/robot",
            "-p", "model:=reflex", "-p", "limits.steps:=15", "-p", "ratio:=0.5", "-p", "names:=[a, b]"]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}");
        for line in [
            "node /robot/renamed\n",
            "parameter limits.steps 15\n",
            "parameter model \"reflex\"\n",
            "parameter names [\"a\",\"b\"]\n",
            "parameter ratio 0.5\n",
        ] {
            assert!(printed.contains(line), "{printed}");
        }
    }

    async fn bad_arguments_and_surroundings_are_named_instead_of_a_panic() {
        let fails = |arguments: &[&str], domain: &str, says: &str| {
            let output = example(arguments).env("ROS_DOMAIN_ID", domain).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && printed.contains(says) && !printed.contains("panicked"), "{printed}");
        };
        let domain = std::env::var("ROS_DOMAIN_ID").unwrap();
        fails(&["0", "--ros-args", "-p", "model"], &domain, "the ROS arguments can't be used");
        fails(&["0", "--ros-args", "--params-file", "/no/such/file"], &domain, "/no/such/file");
        fails(&["0", "--ros-args", "--no-such-flag"], &domain, "1 after --ros-args is not understood");
        fails(&["0", "--ros-args", "-r", "__node:=not a name"], &domain, "the ROS arguments can't be used");
        fails(&["0"], "many", "ROS_DOMAIN_ID");
        fails(&["0"], "4000", "the highest domain is 232");
        assert!(RosNode::start("not a name", "").is_err());
        assert!(RosNode::start("zero\0", "").is_err());
    }

    async fn a_process_ends_without_a_crash_every_time() {
        let _peer = component(&["helper", "--heartbeat"]).await;
        for run in 0..20 {
            // From an end in mid discovery to one with everything described.
            let output = example(&[["0", "0.05", "0.2", "0.7"][run % 4]]).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && printed.ends_with("ended\n"), "run {run}: {} {printed}", output.status);
        }
    }

    async fn parameters_are_shown_to_others_and_changed_where_that_is_allowed() {
        use cortex_ros_client::parameters::{ChangeRefused, Parameter, Parameters};
        let node = RosNode::start("cortex", "").unwrap();
        let declared = vec![
            Parameter::text("model", "reflex").describe("Who plans."),
            Parameter::integer_within("limits.steps", 15, 1..=99).describe("Most steps."),
            Parameter::new("allow", cortex_ros_client::parameters::ParameterValue::StringArray(vec!["**".to_owned()]))
                .read_only_because("is read when Cortex starts"),
        ];
        let judge = |changed: &std::collections::BTreeMap<String, cortex_ros_client::parameters::ParameterValue>| {
            let wrong = cortex_ros_client::parameters::ParameterValue::String("gpt".to_owned());
            let refused = ChangeRefused("'gpt' names no model".to_owned());
            if changed.get("model") == Some(&wrong) { Err(refused) } else { Ok(()) }
        };
        let shown = Parameters::declare(declared, |_| None).unwrap().judged_by(Box::new(judge));
        let serving = cortex_ros_client::serving::Serving::on(tokio::runtime::Handle::current());
        let (tasks, values) = (serving.clone(), shown.clone());
        let served = node.with_node(move |node| {
            parameters::serve(node, &tasks, &values, || cortex_ros_client::RosClock::System.now())
        });
        served.await.unwrap().unwrap();
        let mut peer = cortex_ros_client::testing::Peer::python(&script("parameters.py"), &["/cortex"]).unwrap();
        assert_eq!(peer.line("list").await.unwrap(), "['allow', 'limits.steps', 'model'] ['limits']");
        assert_eq!(peer.line("get").await.unwrap(), "15 reflex ['**'] 0");
        assert_eq!(peer.line("types").await.unwrap(), "[2, 4, 9, 0]");
        assert_eq!(peer.line("describe").await.unwrap(), "limits.steps 2 False 1 99 Most steps.");
        assert_eq!(peer.line("describe").await.unwrap(), "allow 9 True is read when Cortex starts");
        assert_eq!(peer.line("set").await.unwrap(), "True");
        assert_eq!(peer.line("event").await.unwrap(), "/cortex model other");
        assert_eq!(peer.line("set").await.unwrap(), "False 'gpt' names no model");
        assert_eq!(peer.line("set").await.unwrap(), "False 'allow' is read when Cortex starts");
        assert_eq!(peer.line("set").await.unwrap(), "False 'limits.steps': it must be from 1 to 99");
        assert_eq!(
            peer.line("atomically").await.unwrap(),
            "False 'limits.steps': its type is integer, not string; the model is other",
            "one bad value keeps the good one out"
        );
        assert!(peer.end().await.unwrap());
        assert_eq!(shown.text("model"), Ok("other".to_owned()));
        serving.stop(std::time::Duration::from_secs(1)).await;
        node.shut_down();
    }
}
