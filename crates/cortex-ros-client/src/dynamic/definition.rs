//! Whether the other side was built from the same definition of a type: one that was not would read something else out of
//! what is sent. The hashes that every end of a topic announces tell it. ROS 2 before Iron has none; there it is believed.

use cortex_interfaces::{ActionInterface, MessageInterface, ServiceInterface};

use crate::RosError;
use crate::rcl::announced::{End, Naming, announced};
use crate::rcl::context::Node;

pub(super) fn check_service(node: &Node, service: &str, interface: &ServiceInterface) -> Result<(), RosError> {
    // How the middleware calls the two topics that a service is made of. The server reads one and publishes the other.
    let requests = announced(node, &requests_topic(service), Naming::Middleware, End::Subscriptions)?;
    let answers = announced(node, &format!("rr{service}Reply"), Naming::Middleware, End::Publishers)?;
    let same = all_are(&interface.request, requests.iter().map(|end| end.type_hash.as_deref()))
        && all_are(&interface.response, answers.iter().map(|end| end.type_hash.as_deref()));
    if same { Ok(()) } else { Err(other(service, &interface.name.to_string())) }
}

/// How the middleware calls the topic by which the servers of a service get requests.
pub(super) fn requests_topic(service: &str) -> String {
    format!("rq{service}Request")
}

pub(super) fn check_action(node: &Node, action: &str, interface: &ActionInterface) -> Result<(), RosError> {
    let part = |part: &str| format!("{action}/_action/{part}");
    let of_action = |problem| match problem {
        RosError::OtherDefinition { .. } => other(action, &interface.name.to_string()),
        unanswered => unanswered,
    };
    check_service(node, &part("send_goal"), &interface.send_goal).map_err(of_action)?;
    check_service(node, &part("get_result"), &interface.get_result).map_err(of_action)?;
    check_topic(node, &part("feedback"), &interface.feedback_message).map_err(of_action)
}

pub(super) fn check_topic(node: &Node, topic: &str, interface: &MessageInterface) -> Result<(), RosError> {
    for end in [End::Publishers, End::Subscriptions] {
        let found = announced(node, topic, Naming::Ros, end)?;
        if !all_are(interface, found.iter().map(|end| end.type_hash.as_deref())) {
            return Err(other(topic, &interface.message_type().name.to_string()));
        }
    }
    Ok(())
}

/// What tells no hash is believed.
fn all_are<'a>(interface: &MessageInterface, mut hashes: impl Iterator<Item = Option<&'a str>>) -> bool {
    match interface.type_support().hash() {
        Some(own) => hashes.all(|hash| hash.is_none_or(|hash| hash == own)),
        None => true,
    }
}

fn other(name: &str, interface: &str) -> RosError {
    RosError::OtherDefinition { name: name.to_owned(), interface: interface.to_owned() }
}
