use std::path::Path;

use serde_json::json;

use super::*;
use crate::Policy;
use cortex_ros_client::testing::Peer;
use cortex_ros_client::{GraphWatch, RosNode};

#[test]
fn what_a_method_is_to_a_stop_is_what_its_component_says() {
    let text = json!({"contract": 1, "methods": [
        {"name": "back_up", "description": "Drives back.", "cancel_method": "freeze"},
        {"name": "freeze", "description": "Stands still."},
        {"name": "halt", "description": "Nobody names it."},
        {"name": "look", "description": "Looks.", "effect": "observe", "phase": "both"},
    ]});
    let (description, problems) = ComponentDescription::parse(&text.to_string()).unwrap();
    assert_eq!(problems.len(), 0, "{problems:?}");
    let (nothing, something) = (Map::new(), Map::from_iter([("speed".to_owned(), json!(1.0))]));
    let role = |method, arguments| role(Some(&description), method, arguments);
    assert_eq!(role("back_up", &something), Role::HaltedBy("freeze".to_owned()));
    assert_eq!(role("freeze", &nothing), Role::Halts);
    assert_eq!(role("freeze", &something), Role::Unhalted, "with arguments it may be anything");
    assert_eq!(role("halt", &nothing), Role::Unhalted, "its name says nothing");
    assert_eq!(role("look", &nothing), Role::Observes);
    assert_eq!(role("fly", &nothing), Role::Unhalted);
    assert_eq!(super::role(None, "freeze", &nothing), Role::Unhalted, "of whom nothing is known");
}

cortex_ros_client::ros_tests! {
    /// The last look used to be made outside of the lock: a stop right after it found nothing under way, and the
    /// message or the change was sent behind its back.
    async fn regression_a_stop_right_before_a_recipe_sends_knows_of_it() {
        const LIMIT: Duration = Duration::from_secs(30);
        const SERVICE: (&str, &str) = ("/deep/down/configured/list_parameters", "rcl_interfaces/srv/ListParameters");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/configured.py");
        let mut peer = Peer::python(&script, &[]).unwrap();
        peer.line("ready").await.unwrap();
        let node = RosNode::start("cortex", "").unwrap();
        let graph = GraphWatch::start(node.fully_qualified_name()).unwrap();
        let endpoints = Endpoints::start(&graph).unwrap();
        let interfaces = Arc::new(Interfaces::from_environment());
        let discovery = Discovery::start(&node, &graph, &endpoints, &interfaces, Policy::default());
        let actions = Actions::new(&RosTools::new(&graph, &endpoints, &discovery), &interfaces);
        let latch = actions.latch().clone();
        let race = || {
            let calls = Arc::clone(&actions.calls);
            latch.stop_after_next_look(move || calls.halts().settle())
        };
        let text = interfaces.message("std_msgs/msg/String").unwrap();
        let mut heard = endpoints.subscribe("/cleaning", &text, QosProfile::RELIABLE).await.unwrap();
        let resume = || assert!(latch.open(latch.latest().unwrap()));

        let is_settled = race();
        let message = Map::from_iter([("data".to_owned(), json!("start"))]);
        let unwithdrawn = SendDecision::default();
        actions.publish("/cleaning", "std_msgs/msg/String", &message, LIMIT, &unwithdrawn).await.unwrap();
        assert_eq!(is_settled.try_recv(), Ok(false), "a message");
        assert!(tokio::time::timeout(LIMIT, heard.next()).await.unwrap().is_some());

        resume();
        let is_settled = race();
        let values = Map::from_iter([("speed".to_owned(), json!(0.5))]);
        actions.parameters(&"deep/down/configured".into(), &values, LIMIT, &unwithdrawn).await.unwrap();
        assert_eq!(is_settled.try_recv(), Ok(false), "a change of a parameter");
        assert_eq!(peer.line("now").await.unwrap(), "speed 0.5");

        resume();
        let is_settled = race();
        actions.request(SERVICE.0, SERVICE.1, &Map::new(), Effect::Act, LIMIT, &unwithdrawn).await.unwrap();
        assert_eq!(is_settled.try_recv(), Ok(false), "a request");

        // One that came before the look is obeyed.
        let stopped = actions.publish("/cleaning", "std_msgs/msg/String", &message, LIMIT, &unwithdrawn).await;
        assert_eq!(stopped, Err(ActionError::Stopped));
        drop(heard);
        discovery.shut_down().await;
        endpoints.shut_down();
        graph.shut_down();
        node.shut_down();
    }
}
