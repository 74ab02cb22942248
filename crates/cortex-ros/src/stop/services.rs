//! `~/stop` and `~/resume`, as the thread serves them.

use std::sync::Arc;

use cortex_interfaces::{Interfaces, ServiceInterface};
use cortex_ros_client::rcl::context::Node;
use cortex_ros_client::rcl::service::Service;
use cortex_ros_client::{Names, RosError};

/// What the thread serves. To be dropped where it was made.
pub(super) struct Services {
    pub(super) interface: Arc<ServiceInterface>,
    pub(super) stops: Arc<Service>,
    pub(super) resumes: Arc<Service>,
}

impl Services {
    /// Makes `~/stop` and `~/resume` of the node of this full name on `own_node`.
    ///
    /// # Errors
    /// When `std_srvs` is not installed, or the client library refuses.
    pub(super) fn create(own_node: &Arc<Node>, node: &str) -> Result<Self, RosError> {
        let interface = Interfaces::from_environment().service("std_srvs/srv/Trigger")?;
        let names = Names::of_process(node);
        let stops = Arc::new(Service::create(own_node, &names.service("~/stop")?, &interface)?);
        let resumes = Arc::new(Service::create(own_node, &names.service("~/resume")?, &interface)?);
        Ok(Self { interface, stops, resumes })
    }
}
