//! What Cortex' node offers and uses by names of its own: what the remap rules of its process may rename.
//!
//! What is found on the graph, and what a recipe or the configuration names, is the robot's, and is used under the name that
//! it has there.

use cortex_ros_client::OwnName::{self, Action, Fixed, Service, Topic};

/// All of them, in the order in which people look for them.
pub const OWN_NAMES: [OwnName; 28] = [
    Action("~/task"),
    Service("~/stop"),
    Service("~/resume"),
    Service("~/pause"),
    Service("~/unpause"),
    Service("~/revise"),
    Service("~/questions"),
    Service("~/answer"),
    Service("~/dispute"),
    Topic("~/output"),
    Topic("~/overview"),
    Topic("/diagnostics"),
    Topic("/rosout"),
    Topic("/clock"),
    Topic("/parameter_events"),
    Service("~/change_state"),
    Service("~/get_state"),
    Service("~/get_available_states"),
    Service("~/get_available_transitions"),
    Service("~/get_transition_graph"),
    Topic("~/transition_event"),
    Service("~/set_parameters"),
    Service("~/set_parameters_atomically"),
    Service("~/get_parameters"),
    Service("~/get_parameter_types"),
    Service("~/describe_parameters"),
    Service("~/list_parameters"),
    // Clients and other Cortexes of the same name find it, and its other names, by this one.
    Fixed("~/instance"),
];
