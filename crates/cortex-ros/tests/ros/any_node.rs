//! Parameters, lifecycle and definitions of types of any node.

use cortex_ros_client::dynamic::lifecycle;
use cortex_ros_client::dynamic::parameters::{ParameterError, ParameterType, Parameters, Range};
use cortex_ros_client::testing::Peer;
use cortex_ros_client::{QosProfile, RosError, ros_tests};
use serde_json::json;
use std::time::Duration;

use crate::endpoints::Clients;
use crate::support::{LIMIT, script};

const NODE: &str = "/deep/down/configured";

async fn start(arguments: &[&str]) -> (Clients, Parameters, Peer) {
    let clients = Clients::start();
    let parameters = Parameters::new(&clients.endpoints, &clients.interfaces);
    let mut peer = Peer::python(&script("configured.py"), arguments).unwrap();
    peer.line("ready").await.unwrap();
    (clients, parameters, peer)
}

ros_tests! {
    async fn parameters_of_a_node_are_listed_described_and_read() {
        let (clients, parameters, _peer) = start(&[]).await;
        let names = parameters.list(NODE, LIMIT).await.unwrap();
        assert_eq!(names, [
            "count", "fixed", "flag", "flags", "limits.deep", "numbers", "raw", "speed", "start_type_description_service",
            "text", "texts", "use_sim_time", "whole_numbers",
        ]);
        let values = parameters.get(NODE, &["flag", "flags", "limits.deep", "numbers", "raw", "text", "texts", "whole_numbers"], LIMIT);
        let values: Vec<_> = values.await.unwrap().into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [
            json!(true), json!([true, false]), json!(7), json!([0.5, 1e300]), json!([0, 255]), json!("hello"), json!(["a", "ü"]),
            json!([1, -2]),
        ]);
        // One that is not there costs the others nothing.
        let values = parameters.get(NODE, &["text", "nothing"], LIMIT).await.unwrap();
        assert_eq!(values, [("text".to_owned(), json!("hello")), ("nothing".to_owned(), json!(null))]);

        let described = parameters.describe(NODE, &["count", "fixed", "speed"], LIMIT).await.unwrap();
        let [count, fixed, speed] = described.as_slice() else { panic!("{described:?}") };
        assert_eq!((count.parameter_type, count.constraints.as_str()), (ParameterType::Integer, "Fives."));
        assert_eq!(count.range, Some(Range::Integer { from: 0, to: 10, step: 5 }));
        assert_eq!((fixed.read_only, fixed.description.as_str(), fixed.range), (true, "Never changes.", None));
        assert_eq!(speed.range, Some(Range::Double { from: -1.5, to: 1.5, step: 0.0 }));
        assert_eq!((speed.name.as_str(), speed.read_only, speed.dynamic_typing), ("speed", false, false));
        assert!(parameters.describe(NODE, &["nothing"], LIMIT).await.unwrap().is_empty());
        clients.shut_down();
    }

    async fn parameters_are_set_when_they_fit_and_else_the_reason_is_told() {
        let (clients, parameters, mut peer) = start(&[]).await;
        for (name, value, now) in [
            ("speed", json!(1), "speed 1.0"),
            ("speed", json!("-0.5"), "speed -0.5"),
            ("count", json!(10), "count 10"),
            ("flag", json!("false"), "flag False"),
            ("text", json!("7"), "text '7'"),
            ("texts", json!([]), "texts []"),
            ("whole_numbers", json!([i64::MIN]), "whole_numbers array('q', [-9223372036854775808])"),
            ("numbers", json!([1, "2.5"]), "numbers array('d', [1.0, 2.5])"),
            ("limits.deep", json!(8), "limits.deep 8"),
        ] {
            parameters.set(NODE, name, &value, LIMIT).await.unwrap_or_else(|problem| panic!("{problem}"));
            assert_eq!(peer.line("now").await.unwrap(), now);
        }
        for (name, value, problem) in [
            ("fixed", json!("water"), "the parameter 'fixed' of /deep/down/configured is read-only"),
            ("count", json!(3), "the parameter 'count' of /deep/down/configured: expected a whole number from 0 to 10 in steps of 5, got 3"),
            ("speed", json!(99), "the parameter 'speed' of /deep/down/configured: expected a number from -1.5 to 1.5, got 99"),
            ("flag", json!("maybe"), "the parameter 'flag' of /deep/down/configured: expected true or false, got \"maybe\""),
            ("text", json!("forbidden"), "/deep/down/configured refused the parameter 'text': that word is forbidden"),
        ] {
            assert_eq!(parameters.set(NODE, name, &value, LIMIT).await.unwrap_err().to_string(), problem);
        }
        let unknown = parameters.set(NODE, "sped", &json!(1), LIMIT).await.unwrap_err().to_string();
        assert!(unknown.starts_with("/deep/down/configured has no parameter 'sped'; it has: count, fixed, flag,"), "{unknown}");
        let values = parameters.get(NODE, &["count", "fixed", "speed", "text"], LIMIT).await.unwrap();
        let values: Vec<_> = values.into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [json!(10), json!("stone"), json!(-0.5), json!("7")]);

        let nobody = parameters.set("/nobody", "speed", &json!(1), Duration::from_millis(100)).await;
        assert!(matches!(nobody, Err(ParameterError::Ros(RosError::NoServer { .. }))), "{nobody:?}");
        clients.shut_down();
    }

    async fn a_node_that_takes_what_it_does_not_know_is_not_given_it() {
        let (clients, parameters, _peer) = start(&["--open"]).await;
        let unknown = parameters.set(NODE, "invented", &json!(1), LIMIT).await;
        assert!(matches!(unknown, Err(ParameterError::Unknown { .. })), "{unknown:?}");
        let values = parameters.get(NODE, &["text", "invented"], LIMIT).await.unwrap();
        assert_eq!(values, [("text".to_owned(), json!("hello")), ("invented".to_owned(), json!(null))]);
        parameters.set(NODE, "raw", &json!([7, 255]), LIMIT).await.unwrap();
        assert_eq!(parameters.get(NODE, &["raw"], LIMIT).await.unwrap()[0].1, json!([7, 255]));
        clients.shut_down();
    }

    async fn a_type_that_was_defined_otherwise_is_told_apart() {
        let clients = Clients::start();
        let mut peers = Vec::new();
        for (file, arguments) in [("services.py", vec![]), ("actions.py", vec!["proper"])] {
            let mut peer = Peer::python(&script(file), &arguments).unwrap();
            peer.line("ready").await.unwrap();
            peers.push(peer);
        }
        let endpoints = &clients.endpoints;
        let service = |name: &str| clients.interfaces.service(name).unwrap();
        let switch = clients.service("/switch", "std_srvs/srv/SetBool").await;
        endpoints.check_service("/switch", switch.interface()).unwrap();
        endpoints.check_service("/nobody", switch.interface()).unwrap();
        // The requests of the two are the same, the answers are not; and the other way round.
        for (name, other) in [("/late", "std_srvs/srv/Empty"), ("/switch", "std_srvs/srv/Trigger")] {
            let problem = endpoints.check_service(name, &service(other)).unwrap_err();
            assert_eq!(
                problem.to_string(),
                format!("on the robot, {name} has another definition of {other} than the one that is installed here")
            );
        }

        let action = |name: &str| clients.interfaces.action(name).unwrap();
        let count = endpoints.action_client("/count", &action("test_msgs/action/Fibonacci")).await.unwrap();
        count.wait_for_server(LIMIT).await.unwrap();
        endpoints.check_action("/count", count.interface()).unwrap();
        let problem = endpoints.check_action("/count", &action("test_msgs/action/NestedMessage")).unwrap_err();
        assert!(matches!(problem, RosError::OtherDefinition { .. }), "{problem}");

        let message = |name: &str| clients.interfaces.message(name).unwrap();
        let path = endpoints.publisher("/path_in", &message("nav_msgs/msg/Path"), QosProfile::RELIABLE).await.unwrap();
        path.wait_for_reader(LIMIT).await.unwrap();
        endpoints.check_topic("/path_in", &message("nav_msgs/msg/Path")).unwrap();
        let problem = endpoints.check_topic("/path_in", &message("nav_msgs/msg/Odometry")).unwrap_err();
        assert!(matches!(problem, RosError::OtherDefinition { .. }), "{problem}");
        clients.shut_down();
    }

    async fn the_state_of_a_lifecycle_is_read_where_there_is_one() {
        let clients = Clients::start();
        let mut peer = Peer::python(&script("services.py"), &["/robot"]).unwrap();
        peer.line("ready").await.unwrap();
        let state = lifecycle::state(&clients.endpoints, &clients.interfaces, "/robot/peer", LIMIT).await;
        assert_eq!(state.unwrap(), "inactive");
        let absent = lifecycle::state(&clients.endpoints, &clients.interfaces, "/nobody", Duration::from_millis(100)).await;
        assert!(matches!(absent, Err(RosError::NoServer { .. })));
        clients.shut_down();
    }
}
