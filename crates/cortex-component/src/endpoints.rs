//! Serving ROS services on tasks that end with the component.

use std::future::Future;

use cortex_ros::RosError;
use cortex_ros::r2r::{Node, QosProfile, ServiceRequest, WrappedServiceTypeSupport};
use futures::StreamExt;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The tasks that serve a component. Clones share them.
#[derive(Clone)]
pub(crate) struct Endpoints {
    end: CancellationToken,
    tasks: TaskTracker,
    runtime: Handle,
}

impl Endpoints {
    /// Endpoints whose tasks run on that runtime, from whichever thread they are created.
    pub(crate) fn on(runtime: Handle) -> Self {
        Self { end: CancellationToken::new(), tasks: TaskTracker::new(), runtime }
    }

    /// Runs `work` until it ends or the component stops.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let end = self.end.clone();
        let until_end = async move {
            let _ = end.run_until_cancelled(work).await;
        };
        self.tasks.spawn_on(until_end, &self.runtime);
    }

    /// Answers a request that takes a while. A component that stops sends the answers that it still owes.
    pub(crate) fn spawn_answer(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(work, &self.runtime);
    }

    /// Creates a service whose answers need no waiting.
    pub(crate) fn serve<S>(
        &self,
        node: &mut Node,
        name: &str,
        answer: impl Fn(S::Request) -> S::Response + Send + 'static,
    ) -> Result<(), RosError>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Clone + Send,
    {
        self.serve_each::<S>(node, name, move |request| {
            let response = answer(request.message.clone());
            respond(request, response);
        })
    }

    /// Creates a service whose requests are taken one by one, in order; `take` must not wait.
    pub(crate) fn serve_each<S>(
        &self,
        node: &mut Node,
        name: &str,
        take: impl Fn(ServiceRequest<S>) + Send + 'static,
    ) -> Result<(), RosError>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
    {
        let mut requests = node.create_service::<S>(name, QosProfile::services_default())?;
        self.spawn(async move {
            while let Some(request) = requests.next().await {
                take(request);
            }
        });
        Ok(())
    }

    /// Takes no more requests and waits for the answers that are owed. What does not end in time is left to the end of
    /// the runtime.
    pub(crate) async fn stop(&self, patience: std::time::Duration) {
        self.end.cancel();
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!("{} service tasks do not end", self.tasks.len());
        }
    }
}

/// Sends the answer. A client that is gone needs none.
pub(crate) fn respond<S: WrappedServiceTypeSupport + 'static>(request: ServiceRequest<S>, response: S::Response) {
    if let Err(problem) = request.respond(response) {
        tracing::warn!("an answer could not be sent: {problem}");
    }
}
