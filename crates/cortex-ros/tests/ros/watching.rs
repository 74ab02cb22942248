//! What conditions are about, watched on a robot that knows nothing of Cortex.

use std::collections::BTreeSet;

use cortex_core::condition::{Age, Observation};
use cortex_core::{ObservationStream, ToolProvider, Watching};
use cortex_interfaces::Interfaces;
use cortex_protocol::condition::Source;
use cortex_ros_client::QosProfile;
use cortex_ros_client::ros_tests;
use serde_json::{Value, json};

use crate::endpoints::message;
use crate::support::{Agent, LIMIT, robot, terminate};

async fn watch(agent: &Agent, sources: &[Source]) -> Box<dyn ObservationStream> {
    let Watching::By(condition_source) = agent.tools.watching() else { panic!("the robot can be watched") };
    condition_source.watch(sources.iter().cloned().collect::<BTreeSet<_>>()).await
}

/// Waits until the source is seen as wanted, and returns what was seen.
async fn seen(
    watch: &mut dyn ObservationStream,
    wanted: &Source,
    is_wanted: impl Fn(&Observation) -> bool,
) -> Observation {
    let mut all = Vec::new();
    let looking = async {
        loop {
            let (source, observation) = watch.next().await;
            if source == *wanted && is_wanted(&observation) {
                return observation;
            }
            all.push((source, observation));
        }
    };
    let found = tokio::time::timeout(LIMIT, looking).await;
    found
        .unwrap_or_else(|_| panic!("{wanted} was not seen so, but: {:?}", all.iter().rev().take(5).collect::<Vec<_>>()))
}

fn is_value(observation: &Observation) -> bool {
    matches!(observation, Observation::Value { .. })
}

fn is_absent(observation: &Observation) -> bool {
    matches!(observation, Observation::Absent { .. })
}

fn is_unusable(observation: &Observation) -> bool {
    matches!(observation, Observation::Unusable { .. })
}

fn value(value: Value, kept: bool) -> Observation {
    Observation::Value { value, kept, age: Age::Arrival }
}

ros_tests! {
    async fn a_topic_tells_what_it_kept_as_kept_and_everything_else_as_it_comes() {
        let agent = Agent::start();
        let (greeting, chatter) = (Source::topic("/greeting", "data"), Source::topic("/chatter", "data"));
        let (nothing, strange) = (Source::topic("/silence", "data"), Source::topic("/chatter", "date"));
        let mut watch = watch(&agent, &[greeting.clone(), chatter.clone(), nothing, strange.clone()]).await;
        // Nobody is there yet.
        let reason = "no part of the robot publishes /greeting".to_owned();
        assert_eq!(seen(watch.as_mut(), &greeting, |_| true).await, Observation::Absent { reason });
        let peer = robot(&["lamp", "--only", "topics"]).await;
        let said = value(json!("hello, I was said long ago"), true);
        assert_eq!(seen(watch.as_mut(), &greeting, is_value).await, said);
        assert_eq!(seen(watch.as_mut(), &chatter, is_value).await, value(json!("tick"), false));
        let reason = "std_msgs/msg/String has no field 'date'".to_owned();
        assert_eq!(seen(watch.as_mut(), &strange, is_unusable).await, Observation::Unusable { reason });
        terminate(&peer);
        seen(watch.as_mut(), &chatter, is_absent).await;
        drop(watch);
        agent.shut_down().await;
    }

    async fn regression_what_cortex_itself_publishes_is_not_seen() {
        let agent = Agent::start();
        let _peer = robot(&["lamp", "--only", "topics"]).await;
        let interface = Interfaces::from_environment().message("std_msgs/msg/String").unwrap();
        let publisher = agent.endpoints.publisher("/place", &interface, QosProfile::TRANSIENT_LOCAL).await.unwrap();
        publisher.publish(&message(&interface, &json!({"data": "kitchen"}))).unwrap();
        let (place, chatter) = (Source::topic("/place", "data"), Source::topic("/chatter", "data"));
        let mut watch = watch(&agent, &[place.clone(), chatter.clone()]).await;
        // What others publish is seen, so it would have been seen by then.
        let mut seen_of_place = Vec::new();
        let mut ticks = 0;
        while ticks < 10 {
            let (source, observation) = tokio::time::timeout(LIMIT, watch.next()).await.expect("the robot is seen");
            if source == place {
                seen_of_place.push(observation);
            } else if is_value(&observation) {
                ticks += 1;
            }
        }
        assert!(!seen_of_place.is_empty() && seen_of_place.iter().all(is_absent), "{seen_of_place:?}");
        drop(watch);
        agent.shut_down().await;
    }

    async fn parameters_and_the_presence_of_nodes_are_seen() {
        let agent = Agent::start();
        let (sim_time, unknown) = (Source::parameter("/lamp/use_sim_time"), Source::parameter("/lamp/brightness"));
        let (lamp, gone) = (Source::component("lamp"), Source::parameter("/nobody/x"));
        let mut watch = watch(&agent, &[sim_time.clone(), unknown.clone(), lamp.clone(), gone.clone()]).await;
        assert!(is_absent(&seen(watch.as_mut(), &lamp, |_| true).await));
        let peer = robot(&["lamp", "--only", "topics"]).await;
        assert_eq!(seen(watch.as_mut(), &lamp, is_value).await, value(json!("present"), false));
        assert_eq!(seen(watch.as_mut(), &sim_time, is_value).await, value(json!(false), false));
        let reason = "/lamp has no parameter 'brightness' that is set".to_owned();
        assert_eq!(seen(watch.as_mut(), &unknown, is_unusable).await, Observation::Unusable { reason });
        let reason = "/nobody is not on the graph".to_owned();
        assert_eq!(seen(watch.as_mut(), &gone, |_| true).await, Observation::Absent { reason });
        terminate(&peer);
        seen(watch.as_mut(), &lamp, is_absent).await;
        drop(watch);
        agent.shut_down().await;
    }
}
