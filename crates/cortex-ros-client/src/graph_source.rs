//! What can be asked about the ROS graph, so that it can be read without a middleware, too.

use crate::RosError;
use crate::graph::{InstanceId, Interface};
use crate::rcl::observer::Observer;

/// What can be asked of the middleware. None stands for a node that is gone.
pub(crate) trait GraphSource {
    /// The nodes as `(name, namespace)`, in any order; one may be there twice.
    fn nodes(&self) -> Result<Vec<(String, String)>, RosError>;
    /// The running instances of each node that logs, as `(name, namespace, identity)`.
    fn instances(&self) -> Result<Vec<(String, String, InstanceId)>, RosError>;
    /// Every service that somebody offers or calls.
    fn services(&self) -> Result<Vec<Interface>, RosError>;
    /// The running instances that offer a service, whether or not they log.
    fn servers_of(&self, service: &str) -> Result<Vec<(String, String, InstanceId)>, RosError>;
    /// Every topic that somebody publishes or reads.
    fn topics(&self) -> Result<Vec<Interface>, RosError>;
    /// Who publishes a topic, as `(name, namespace, type)`; one that publishes it twice is listed twice.
    fn who_publishes(&self, topic: &str) -> Result<Vec<(String, String, String)>, RosError>;
    /// The services that a node offers: of two nodes of one name, those of one.
    fn services_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError>;
    /// The topics that a node publishes: of two nodes of one name, those of one.
    fn publishers_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError>;
    /// The topics that a node reads, likewise.
    fn subscriptions_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError>;
}

impl GraphSource for Observer {
    fn nodes(&self) -> Result<Vec<(String, String)>, RosError> {
        Observer::nodes(self)
    }

    fn instances(&self) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        Observer::instances(self)
    }

    fn services(&self) -> Result<Vec<Interface>, RosError> {
        Observer::services(self)
    }

    fn servers_of(&self, service: &str) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        Observer::servers_of(self, service)
    }

    fn topics(&self) -> Result<Vec<Interface>, RosError> {
        Observer::topics(self)
    }

    fn who_publishes(&self, topic: &str) -> Result<Vec<(String, String, String)>, RosError> {
        Observer::who_publishes(self, topic)
    }

    fn services_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError> {
        Observer::services_of(self, name, namespace)
    }

    fn publishers_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError> {
        Observer::publishers_of(self, name, namespace)
    }

    fn subscriptions_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError> {
        Observer::subscriptions_of(self, name, namespace)
    }
}
