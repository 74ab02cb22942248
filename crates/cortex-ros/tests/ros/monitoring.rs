//! What is heard of components that are kept an eye on.

use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Interfaces;
use cortex_protocol::ComponentName;
use cortex_ros::monitoring::{Monitoring, Sign, Watched};
use cortex_ros_client::publisher::shared;
use cortex_ros_client::r2r::QosProfile;
use cortex_ros_client::r2r::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::{Publisher, RosNode, ros_tests};
use tokio::sync::mpsc;

use crate::support::{Agent, LIMIT};

async fn publisher(node: &RosNode, quality: QosProfile) -> Publisher<ComponentStatus> {
    let topic = format!("{}/status", node.fully_qualified_name());
    let made = node.with_node(move |node| node.create_publisher::<ComponentStatus>(&topic, quality)).await;
    shared(made.unwrap().unwrap())
}

ros_tests! {
    async fn the_health_of_a_component_is_heard_whatever_its_publisher_offers() {
        let (base, arm) = (RosNode::start("base", "").unwrap(), RosNode::start("arm", "").unwrap());
        let says = |message: &str| ComponentStatus { message: message.to_owned(), ..Default::default() };
        // As the contract has it: who comes late hears the last word. It is said once, before anybody listens.
        let latched = publisher(&arm, QosProfile::default().keep_last(1).transient_local()).await;
        latched.publish(&says("well"));
        // As somebody else may do it.
        let hasty = publisher(&base, QosProfile::default().best_effort().volatile()).await;

        let agent = Agent::start();
        let watched = ["base", "arm"].map(|name| {
            Watched { component: name.into(), is_managed: false, progress: Vec::new() }
        });
        let (tell, mut told) = mpsc::channel(1_000);
        let _monitoring = Monitoring::start(
            &agent.graph,
            &agent.endpoints,
            &agent.discovery,
            &Arc::new(Interfaces::from_environment()),
            agent.node.fully_qualified_name(),
            watched.to_vec(),
            Arc::new(move |component: &ComponentName, sign| drop(tell.try_send((component.to_string(), sign)))),
        );
        let mut heard = Vec::new();
        let all = async {
            while heard.len() < 2 {
                // Best effort, and nobody may be connected yet: said until it was heard.
                hasty.publish(&says("busy"));
                while let Ok(Some((component, sign))) =
                    tokio::time::timeout(Duration::from_millis(50), told.recv()).await
                {
                    let Sign::Status { health } = sign else { continue };
                    let said = (component, health.message);
                    if !heard.contains(&said) {
                        heard.push(said);
                    }
                }
            }
        };
        let in_time = tokio::time::timeout(LIMIT, all).await.is_ok();
        heard.sort();
        let wanted = [("arm", "well"), ("base", "busy")].map(|(who, what)| (who.to_owned(), what.to_owned()));
        assert!(in_time && heard == wanted, "heard {heard:?}");
        agent.shut_down().await;
        tokio::task::spawn_blocking(move || [base, arm].iter().for_each(RosNode::shut_down)).await.unwrap();
    }
}
