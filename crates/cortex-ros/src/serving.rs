//! Serving ROS services on tasks that end together.

use std::future::Future;

use futures::StreamExt;
use r2r::{Node, QosProfile, ServiceRequest, WrappedServiceTypeSupport};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::RosError;

/// The tasks that serve a node. Clones share them.
#[derive(Clone)]
pub struct Serving {
    end: CancellationToken,
    tasks: TaskTracker,
    runtime: Handle,
}

impl Serving {
    /// Its tasks run on that runtime, from whichever thread they are created.
    #[must_use]
    pub fn on(runtime: Handle) -> Self {
        Self { end: CancellationToken::new(), tasks: TaskTracker::new(), runtime }
    }

    /// Runs `work` until it ends or the serving does.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let end = self.end.clone();
        let until_end = async move {
            let _ = end.run_until_cancelled(work).await;
        };
        self.tasks.spawn_on(until_end, &self.runtime);
    }

    /// Answers a request that takes a while. Answers that are owed at the end are still sent.
    pub fn spawn_answer(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(work, &self.runtime);
    }

    /// Creates a service whose answers need no waiting.
    ///
    /// # Errors
    /// When the name is not valid.
    pub fn serve<S>(
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
    ///
    /// # Errors
    /// When the name is not valid.
    pub fn serve_each<S>(
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
    pub async fn stop(&self, patience: std::time::Duration) {
        self.end.cancel();
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!("{} service tasks do not end", self.tasks.len());
        }
    }
}

/// Sends the answer. A client that is gone needs none.
pub fn respond<S: WrappedServiceTypeSupport + 'static>(request: ServiceRequest<S>, response: S::Response) {
    if let Err(problem) = request.respond(response) {
        tracing::warn!("an answer could not be sent: {problem}");
    }
}
