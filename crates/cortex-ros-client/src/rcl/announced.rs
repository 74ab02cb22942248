//! Who publishes a topic, and who reads it.

use std::ffi::CString;

use r2r_rcl as rcl;

use super::context::Node;
use super::{is_ok, last_error, owned, qos};
use crate::RosError;
use crate::graph::InstanceId;
use crate::qos::{Durability, Reliability};

/// One publisher or subscription of a topic.
pub(crate) struct Announced {
    /// The name of its node, and the namespace.
    pub(crate) node: (String, String),
    /// Its identity.
    pub(crate) identity: InstanceId,
    /// The type, such as `nav_msgs/msg/Odometry`.
    pub(crate) topic_type: String,
    /// What it offers, or asks for.
    pub(crate) reliability: Reliability,
    /// The same.
    pub(crate) durability: Durability,
    /// How much of what has come, and was not taken yet, it keeps.
    pub(crate) history: History,
    /// The hash of the type, such as `RIHS01_8b3c…`. None where it tells none.
    pub(crate) type_hash: Option<String>,
}

/// How much an end of a topic keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    /// The latest so many.
    KeepLast(usize),
    /// As much as there is memory for.
    KeepAll,
    /// Most middlewares do not tell it to other processes.
    Unknown,
}

/// How the name of a topic is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// A topic of ROS.
    Ros,
    /// A topic of the middleware, as it stands.
    Middleware,
}

/// An end of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Those who publish it.
    Publishers,
    /// Those who read it.
    Subscriptions,
}

/// The publishers or subscriptions of a topic, in the order of their identities.
///
/// # Errors
/// When the client library refuses the query.
pub(crate) fn announced(node: &Node, topic: &str, naming: Naming, end: End) -> Result<Vec<Announced>, RosError> {
    let Ok(topic) = CString::new(topic) else {
        // No topic has such a name.
        return Ok(Vec::new());
    };
    // SAFETY: the node is valid, the name ends with a zero, and `found` is zero-initialised, filled by the query and given
    // back once; its list has `size` entries.
    let mut announced = unsafe {
        let mut allocator = rcl::rcutils_get_default_allocator();
        let mut found = rcl::rmw_get_zero_initialized_topic_endpoint_info_array();
        let as_it_stands = naming == Naming::Middleware;
        let query = match end {
            End::Publishers => rcl::rcl_get_publishers_info_by_topic,
            End::Subscriptions => rcl::rcl_get_subscriptions_info_by_topic,
        };
        let code = query(node.as_ptr(), &mut allocator, topic.as_ptr(), as_it_stands, &mut found);
        let announced = if !is_ok(code) {
            Err(RosError::Graph { problem: last_error() })
        } else if found.info_array.is_null() {
            Ok(Vec::new())
        } else {
            let ends = std::slice::from_raw_parts(found.info_array, found.size);
            Ok(ends.iter().map(|end| read(end)).collect())
        };
        rcl::rmw_topic_endpoint_info_array_fini(&mut found, &mut allocator);
        announced
    }?;
    announced.sort_by(|one: &Announced, other: &Announced| one.identity.cmp(&other.identity));
    Ok(announced)
}

/// # Safety
/// `end` must be filled by the client library.
unsafe fn read(end: &rcl::rmw_topic_endpoint_info_t) -> Announced {
    Announced {
        node: (owned(end.node_name), owned(end.node_namespace)),
        identity: InstanceId::new(&end.endpoint_gid),
        topic_type: owned(end.topic_type),
        reliability: qos::reliability(&end.qos_profile),
        durability: qos::durability(&end.qos_profile),
        history: qos::history(&end.qos_profile),
        #[cfg(has_type_hashes)]
        type_hash: hash(&end.topic_type_hash),
        #[cfg(not(has_type_hashes))]
        type_hash: None,
    }
}

/// A hash as ROS writes it.
#[cfg(has_type_hashes)]
fn hash(hash: &rcl::rosidl_type_hash_t) -> Option<String> {
    use std::fmt::Write as _;

    // Version 0 stands for "not set".
    if hash.version == 0 {
        return None;
    }
    let mut text = format!("RIHS{:02}_", hash.version);
    for byte in hash.value {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}
