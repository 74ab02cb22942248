//! A component over real ROS, in the process of the test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of a test that can't go on fails the test")]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cortex_component::messages::cortex_msgs::{msg::ComponentStatus, srv::ExecuteMethod};
use cortex_component::messages::lifecycle_msgs::srv::{ChangeState, GetAvailableStates, GetAvailableTransitions};
use cortex_component::messages::lifecycle_msgs::{self, msg::TransitionEvent};
use cortex_component::messages::rcl_interfaces::msg::{self, ParameterEvent, ParameterType, ParameterValue};
use cortex_component::messages::rcl_interfaces::srv::SetParametersAtomically;
use cortex_component::{
    CallContext, Component, Failure, Method, NoArguments, Parameter, QosProfile, State, TypedMessage, TypedService,
    messages,
};
use cortex_interfaces::Interfaces;
use cortex_ros_client::dynamic::{Endpoints, lifecycle};
use cortex_ros_client::lifecycle::Transition;
use cortex_ros_client::{GraphWatch, RosNode};
use futures::StreamExt;
use tokio::sync::Semaphore;

/// Longest any awaited event may take. Against hangs only.
const PATIENCE: Duration = Duration::from_secs(30);

async fn within<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, event).await.unwrap_or_else(|_| panic!("nothing came within {PATIENCE:?}"))
}

/// Another node, which watches and calls.
struct ConditionSource(RosNode);

impl ConditionSource {
    fn start() -> Self {
        Self(RosNode::start("watcher", "").unwrap())
    }

    async fn call<S: TypedService>(&self, service: &str, request: S::Request) -> S::Response {
        let name = service.to_owned();
        let created = self.0.with_node(move |node| {
            let client =
                node.create_client::<S>(&name, cortex_ros_client::r2r::QosProfile::services_default()).unwrap();
            let available = cortex_ros_client::r2r::Node::is_available(&client).unwrap();
            (client, available)
        });
        let (client, available) = within(created).await.unwrap();
        within(available).await.unwrap();
        within(client.request(&request).unwrap()).await.unwrap()
    }

    async fn change(&self, transition: &str) -> bool {
        let transition = lifecycle_msgs::msg::Transition { id: 0, label: transition.to_owned() };
        self.call::<ChangeState::Service>("/arm/change_state", ChangeState::Request { transition }).await.success
    }

    async fn execute(&self, method: &str) -> ExecuteMethod::Response {
        let request = ExecuteMethod::Request { name: method.to_owned(), kwargs_json: String::new() };
        self.call::<ExecuteMethod::Service>("/arm/execute_method", request).await
    }

    async fn subscribe<T>(&self, topic: &str, qos: QosProfile) -> futures::stream::BoxStream<'static, T>
    where
        T: TypedMessage,
    {
        let topic = topic.to_owned();
        self.0.with_node(move |node| node.subscribe::<T>(&topic, qos.into()).unwrap().boxed()).await.unwrap()
    }
}

impl Drop for ConditionSource {
    fn drop(&mut self) {
        self.0.shut_down();
    }
}

fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

cortex_ros_client::ros_tests! {
    async fn a_hook_that_fails_leaves_the_component_up_and_says_why() {
        let tries = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&tries);
        let arm = Component::new("arm")
            .on_configure(move |_| {
                let first = count.fetch_add(1, Ordering::SeqCst) == 0;
                std::future::ready(if first { Err("no arm is connected".into()) } else { Ok(()) })
            })
            .start()
            .await
            .unwrap();
        assert_eq!(arm.state(), State::Unconfigured);
        let condition_source = ConditionSource::start();
        let mut status = condition_source.subscribe::<ComponentStatus>("/arm/status", latched()).await;
        let told = within(status.next()).await.unwrap();
        assert_eq!(
            (told.status, told.message.as_str(), told.sources),
            (
                ComponentStatus::COMPONENT as u8,
                "on_configure: no arm is connected; the component is unconfigured",
                vec!["on_configure".to_owned()]
            )
        );
        assert!(condition_source.change("configure").await, "the second time it works");
        assert!(condition_source.change("activate").await);
        within(async { while !status.next().await.unwrap().message.is_empty() {} }).await;
        arm.stop().await;
    }

    async fn its_lifecycle_is_read_and_changed_from_outside() {
        let arm = Component::new("arm").start().await.unwrap();
        let graph = GraphWatch::start("/manager").unwrap();
        let endpoints = Endpoints::start(&graph).unwrap();
        let interfaces = Interfaces::from_environment();
        let state = || lifecycle::state(&endpoints, &interfaces, "/arm", PATIENCE);
        let change = |transition| lifecycle::change(&endpoints, &interfaces, "/arm", transition, PATIENCE);
        assert_eq!(state().await.unwrap(), "active");
        assert!(!change(Transition::Configure).await.unwrap(), "an active node can't be configured");
        for (transition, reached) in [
            (Transition::Deactivate, "inactive"),
            (Transition::CleanUp, "unconfigured"),
            (Transition::Configure, "inactive"),
            (Transition::Activate, "active"),
        ] {
            assert!(change(transition).await.unwrap(), "{transition:?}");
            assert_eq!(state().await.unwrap(), reached);
        }
        arm.stop().await;
        let soon = Duration::from_millis(200);
        let gone = lifecycle::change(&endpoints, &interfaces, "/arm", Transition::Activate, soon).await;
        assert!(gone.is_err(), "{gone:?}");
        endpoints.shut_down();
        graph.shut_down();
    }

    async fn a_hook_that_panics_is_an_error_and_everything_is_let_go() {
        let arm = Component::new("arm")
            .on_configure(|context| async move {
                context.publisher::<messages::std_msgs::msg::String>("joints", QosProfile::default()).await?;
                Ok(())
            })
            .on_activate(|_| async { panic!("the arm is on fire") })
            .start()
            .await
            .unwrap();
        assert_eq!(arm.state(), State::Unconfigured, "through error processing");
        let condition_source = ConditionSource::start();
        assert_eq!(condition_source.execute("lift").await.error_msg, "there is no method 'lift'; there are: ");
        assert!(condition_source.change("configure").await, "it can be tried again");
        assert!(!condition_source.change("activate").await);
        arm.stop().await;
    }

    async fn background_work_lives_as_long_as_the_component_is_active() {
        let arm = Component::new("arm")
            .on_activate(|context| async move {
                let joints = context.publisher::<messages::std_msgs::msg::String>("joints", latched()).await?;
                let text = context.parameters().text("mood")?;
                context.spawn_while_active("joints", async move {
                    loop {
                        joints.publish(&messages::std_msgs::msg::String { data: text.clone() });
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                });
                Ok(())
            })
            .parameter(Parameter::text("mood", "calm"))
            .start()
            .await
            .unwrap();
        let condition_source = ConditionSource::start();
        let mut joints = condition_source.subscribe::<messages::std_msgs::msg::String>("/joints", QosProfile::default()).await;
        assert_eq!(within(joints.next()).await.unwrap().data, "calm");
        assert!(condition_source.change("deactivate").await);
        while tokio::time::timeout(Duration::from_millis(300), joints.next()).await.is_ok() {}
        assert!(condition_source.change("activate").await);
        assert_eq!(within(joints.next()).await.unwrap().data, "calm", "a second life");
        arm.stop().await;
    }

    async fn many_calls_run_at_once_and_a_panic_hurts_only_its_own() {
        let gate = Arc::new(Semaphore::new(0));
        let waiting = Arc::clone(&gate);
        let arm = Component::new("arm")
            .method(Method::new("wait", "Waits.").run(move |_: NoArguments, call: CallContext| {
                let waiting = Arc::clone(&waiting);
                async move { call.or_cancelled(async { waiting.acquire().await.is_ok() }).await }
            }))
            .method(Method::new("burst", "Panics.").run(|_: NoArguments, _| async {
                if true {
                    panic!("overload");
                }
                Ok::<(), Failure>(())
            }))
            .start()
            .await
            .unwrap();
        let condition_source = ConditionSource::start();
        let waits = futures::future::join_all((0..8).map(|_| condition_source.execute("wait")));
        let burst = async {
            let burst = condition_source.execute("burst").await;
            assert_eq!((burst.success, burst.error_msg.as_str()), (false, "burst panicked; this is a flaw of the component"));
            gate.add_permits(8);
        };
        let (waits, ()) = tokio::join!(waits, burst);
        assert!(waits.iter().all(|wait| wait.success && wait.response_json == "true"), "{waits:?}");
        arm.stop().await;
    }

    async fn transitions_are_told_and_the_graph_is_known() {
        let arm = Component::new("arm").start().await.unwrap();
        let condition_source = ConditionSource::start();
        let mut events = condition_source.subscribe::<TransitionEvent>("/arm/transition_event", QosProfile::default()).await;
        // The subscription is there when an answer has come back on the same pair of nodes.
        let states = condition_source.call::<GetAvailableStates::Service>("/arm/get_available_states", Default::default()).await;
        assert_eq!(states.available_states.len(), 11);
        let open = condition_source
            .call::<GetAvailableTransitions::Service>("/arm/get_available_transitions", Default::default())
            .await;
        let labels: Vec<_> = open.available_transitions.iter().map(|one| one.transition.label.as_str()).collect();
        assert_eq!(labels, ["deactivate", "shutdown"]);
        let graph =
            condition_source.call::<GetAvailableTransitions::Service>("/arm/get_transition_graph", Default::default()).await;
        assert_eq!(graph.available_transitions.len(), 25);

        assert!(condition_source.change("deactivate").await);
        let mut walked = Vec::new();
        for _ in 0..2 {
            let event = within(events.next()).await.unwrap();
            assert!(event.timestamp > 0);
            walked.push((event.transition.label, event.goal_state.label));
        }
        let expected = [("deactivate", "deactivating"), ("transition_success", "inactive")];
        assert_eq!(walked, expected.map(|(label, goal)| (label.to_owned(), goal.to_owned())));
        arm.stop().await;
    }

    async fn parameters_are_set_all_or_none_and_changes_are_told() {
        let arm = Component::new("arm")
            .parameter(Parameter::double_within("speed", 0.5, 0.0..=1.0))
            .parameter(Parameter::double_within("force", 0.5, 0.0..=1.0))
            .start()
            .await
            .unwrap();
        let condition_source = ConditionSource::start();
        let mut events = condition_source.subscribe::<ParameterEvent>("/parameter_events", QosProfile::RELIABLE.keep_last(1000)).await;
        let set = |speed: f64, force: f64| {
            let parameter = |name: &str, value: f64| msg::Parameter {
                name: name.to_owned(),
                value: ParameterValue {
                    type_: ParameterType::PARAMETER_DOUBLE as u8,
                    double_value: value,
                    ..Default::default()
                },
            };
            let parameters = vec![parameter("speed", speed), parameter("force", force)];
            let request = SetParametersAtomically::Request { parameters };
            condition_source.call::<SetParametersAtomically::Service>("/arm/set_parameters_atomically", request)
        };
        let refused = set(0.7, 7.0).await.result;
        assert_eq!((refused.successful, refused.reason.as_str()), (false, "'force': it must be from 0 to 1"));
        assert!(set(0.7, 0.5).await.result.successful);
        let event = within(events.next()).await.unwrap();
        let changed: Vec<_> =
            event.changed_parameters.iter().map(|one| (one.name.as_str(), one.value.double_value)).collect();
        assert_eq!((event.node.as_str(), changed), ("/arm", vec![("speed", 0.7)]), "only what has changed");
        arm.stop().await;
    }

    async fn a_method_tells_how_far_it_is_on_its_own_topic() {
        let heard = Arc::new(Semaphore::new(0));
        let until_heard = Arc::clone(&heard);
        let arm = Component::new("arm")
            .method(Method::new("wave", "Waves.").reports_progress().run(move |_: NoArguments, call: CallContext| {
                let until_heard = Arc::clone(&until_heard);
                async move {
                    let told = async {
                        loop {
                            call.progress("half of it");
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                    };
                    tokio::select! {
                        () = told => {}
                        _ = until_heard.acquire() => {}
                    }
                    Ok(())
                }
            }))
            .start()
            .await
            .unwrap();
        let condition_source = ConditionSource::start();
        let quality = QosProfile::default();
        let mut progress =
            condition_source.subscribe::<messages::std_msgs::msg::String>("/arm/wave/progress", quality).await;
        let listening = async {
            assert_eq!(within(progress.next()).await.unwrap().data, "half of it");
            heard.add_permits(1);
        };
        let (waved, ()) = tokio::join!(condition_source.execute("wave"), listening);
        assert!(waved.success, "{waved:?}");
        arm.stop().await;
    }

    async fn the_heartbeat_goes_on_while_nothing_changes() {
        let arm = Component::new("arm").start().await.unwrap();
        let condition_source = ConditionSource::start();
        let mut status = condition_source.subscribe::<ComponentStatus>("/arm/status", latched()).await;
        // What is kept for late joiners may still be from before it was active.
        while !within(status.next()).await.unwrap().message.is_empty() {}
        let mut stamps = Vec::new();
        for _ in 0..3 {
            let beat = within(status.next()).await.unwrap();
            assert_eq!((beat.status, beat.message.as_str()), (ComponentStatus::HEALTHY as u8, ""));
            stamps.push((beat.stamp.sec, beat.stamp.nanosec));
        }
        assert!(stamps.is_sorted(), "{stamps:?}");
        arm.stop().await;
    }
}
