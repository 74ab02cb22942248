//! Calling ROS services: typed, bounded in time.

use std::future::Future;
use std::time::Duration;

use crate::{QosProfile, RosError, RosNode, TypedService};

/// A client of one service. `r2r` can't destroy one, so it is made once and kept.
pub struct ServiceClient<T: TypedService> {
    client: r2r::Client<T>,
    node: RosNode,
    service: String,
}

impl<T: TypedService> ServiceClient<T> {
    /// Creates the client on the ROS thread.
    ///
    /// # Errors
    /// When the name is not valid, or the node was shut down.
    pub async fn create(node: &RosNode, service: &str) -> Result<Self, RosError> {
        let name = service.to_owned();
        let client = node.with_node(move |node| node.create_client::<T>(&name, QosProfile::RELIABLE.into())).await??;
        Ok(Self { client, node: node.clone(), service: service.to_owned() })
    }

    /// Waits until a server is there. A request sent before would be lost.
    ///
    /// # Errors
    /// When there is none in time, or the node was shut down.
    pub async fn wait_for_server(&self, limit: Duration) -> Result<(), RosError> {
        self.check_node()?;
        let available = r2r::Node::is_available(&self.client)?;
        match tokio::time::timeout(limit, available).await {
            Ok(available) => Ok(available?),
            Err(_) => Err(RosError::NoServer { service: self.service.clone(), waited: limit }),
        }
    }

    /// Sends a request, now, and returns the answer to wait for. Dropping that drops the answer, not the request.
    pub fn send(
        &self,
        request: &T::Request,
    ) -> Result<impl Future<Output = Result<T::Response, RosError>> + Send + use<T>, RosError> {
        self.check_node()?;
        let answer = self.client.request(request)?;
        Ok(async move { Ok(answer.await?) })
    }

    /// Sends a request and waits for its answer. The server must be there.
    ///
    /// # Errors
    /// When there is no answer in time, the request can't be sent, or the node was shut down.
    pub async fn call(&self, request: &T::Request, limit: Duration) -> Result<T::Response, RosError> {
        match tokio::time::timeout(limit, self.send(request)?).await {
            Ok(answer) => answer,
            Err(_) => Err(RosError::NoAnswer { service: self.service.clone(), waited: limit }),
        }
    }

    /// `r2r` panics where the thread of its node has.
    fn check_node(&self) -> Result<(), RosError> {
        if self.node.has_ended() { Err(RosError::ShutDown) } else { Ok(()) }
    }
}
