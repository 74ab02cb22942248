//! The quality of service of a topic, as the client library has it.

use r2r_rcl as rcl;
use rcl::rmw_qos_durability_policy_e as Durable;
use rcl::rmw_qos_history_policy_e as History;
use rcl::rmw_qos_liveliness_policy_e as Liveliness;
use rcl::rmw_qos_reliability_policy_e as Reliable;

use super::announced;
use crate::qos::{Durability, QosProfile, Reliability};

/// What the library calls "default" for times: no deadline, no end of life, no lease.
const UNSPECIFIED: rcl::rmw_time_t = rcl::rmw_time_t { sec: 0, nsec: 0 };

pub(super) fn profile(quality: QosProfile) -> rcl::rmw_qos_profile_t {
    rcl::rmw_qos_profile_t {
        history: History::RMW_QOS_POLICY_HISTORY_KEEP_LAST,
        depth: quality.depth,
        reliability: match quality.reliability {
            Reliability::Reliable => Reliable::RMW_QOS_POLICY_RELIABILITY_RELIABLE,
            Reliability::BestEffort => Reliable::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
        },
        durability: match quality.durability {
            Durability::TransientLocal => Durable::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
            Durability::Volatile => Durable::RMW_QOS_POLICY_DURABILITY_VOLATILE,
        },
        deadline: UNSPECIFIED,
        lifespan: UNSPECIFIED,
        liveliness: Liveliness::RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT,
        liveliness_lease_duration: UNSPECIFIED,
        avoid_ros_namespace_conventions: false,
    }
}

/// What is not known to be reliable is not.
pub(super) fn reliability(profile: &rcl::rmw_qos_profile_t) -> Reliability {
    if profile.reliability == Reliable::RMW_QOS_POLICY_RELIABILITY_RELIABLE {
        Reliability::Reliable
    } else {
        Reliability::BestEffort
    }
}

/// What is not known to be kept is not.
pub(super) fn durability(profile: &rcl::rmw_qos_profile_t) -> Durability {
    if profile.durability == Durable::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL {
        Durability::TransientLocal
    } else {
        Durability::Volatile
    }
}

/// What is not known is no number.
pub(super) fn history(profile: &rcl::rmw_qos_profile_t) -> announced::History {
    match profile.history {
        History::RMW_QOS_POLICY_HISTORY_KEEP_LAST => announced::History::KeepLast(profile.depth),
        History::RMW_QOS_POLICY_HISTORY_KEEP_ALL => announced::History::KeepAll,
        _ => announced::History::Unknown,
    }
}
