//! The contract served by hand, without any of the care of `cortex-component`.

use std::time::Duration;

use cortex_ros_client::messages::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::messages::cortex_msgs::srv::{DescribeComponent, ExecuteMethod};
use cortex_ros_client::messages::std_msgs::msg::String as Text;
use cortex_ros_client::r2r::{self, QosProfile, ServiceRequest};
use cortex_ros_client::serving::respond;
use cortex_ros_client::{RosError, RosNode};
use futures::StreamExt;
use tokio::task::JoinSet;

/// How often the heartbeat is published.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How often the position is shown.
const SHOWN: Duration = Duration::from_millis(100);

/// What happens when a method is called.
pub(crate) enum Reaction {
    /// It is answered after a while.
    Answer(Duration, ExecuteMethod::Response),
    /// It is not answered.
    Never,
    /// The process aborts after a while.
    DieAfter(Duration),
}

impl Reaction {
    pub(crate) fn succeed(after: Duration, response: &str) -> Self {
        let response_json = response.to_owned();
        Self::Answer(after, ExecuteMethod::Response { success: true, error_msg: String::new(), response_json })
    }

    pub(crate) fn fail(error: &str) -> Self {
        let error_msg = error.to_owned();
        let response = ExecuteMethod::Response { success: false, error_msg, response_json: String::new() };
        Self::Answer(Duration::ZERO, response)
    }
}

/// A running component.
pub(crate) struct RawComponent {
    node: RosNode,
    /// Ends with this value.
    _tasks: JoinSet<()>,
}

/// Starts a node that serves the contract with that description and those reactions, and shows that position, if any, on
/// `~/position`.
pub(crate) async fn start(
    name: &str,
    description: String,
    position: Option<&'static str>,
    react: impl Fn(&str) -> Reaction + Send + 'static,
) -> Result<RawComponent, RosError> {
    let node = RosNode::start(name, "")?;
    let endpoints = node.with_node(move |node| -> r2r::Result<_> {
        let qos = QosProfile::services_default();
        let describe = node.create_service::<DescribeComponent::Service>("~/describe", qos.clone())?;
        let execute = node.create_service::<ExecuteMethod::Service>("~/execute_method", qos)?;
        let status = QosProfile::default().keep_last(1).transient_local();
        let shown = match position {
            Some(_) => Some(node.create_publisher::<Text>("~/position", QosProfile::default())?),
            None => None,
        };
        Ok((describe, execute, node.create_publisher::<ComponentStatus>("~/status", status)?, shown))
    });
    let (mut describe, mut execute, status, shown) = match endpoints.await.and_then(|created| Ok(created?)) {
        Ok(endpoints) => endpoints,
        Err(problem) => {
            node.shut_down();
            return Err(problem);
        }
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(request) = describe.next().await {
            let response = DescribeComponent::Response { description_json: description.clone() };
            respond(request, response);
        }
    });
    tasks.spawn(async move {
        while let Some(request) = execute.next().await {
            let reaction = react(&request.message.name);
            tokio::spawn(carry_out(request, reaction));
        }
    });
    tasks.spawn(async move {
        let mut beat = tokio::time::interval(HEARTBEAT);
        loop {
            beat.tick().await;
            log_unsent(status.publish(&ComponentStatus::default()));
        }
    });
    if let (Some(shown), Some(position)) = (shown, position) {
        tasks.spawn(async move {
            let mut turns = tokio::time::interval(SHOWN);
            loop {
                turns.tick().await;
                log_unsent(shown.publish(&Text { data: position.to_owned() }));
            }
        });
    }
    Ok(RawComponent { node, _tasks: tasks })
}

async fn carry_out(request: ServiceRequest<ExecuteMethod::Service>, reaction: Reaction) {
    match reaction {
        Reaction::Answer(after, response) => {
            tokio::time::sleep(after).await;
            respond(request, response);
        }
        Reaction::Never => {}
        Reaction::DieAfter(breath) => {
            tokio::time::sleep(breath).await;
            std::process::abort();
        }
    }
}

fn log_unsent(sent: r2r::Result<()>) {
    if let Err(problem) = sent {
        tracing::warn!("not sent: {problem}");
    }
}

impl RawComponent {
    /// The fully qualified name of its node.
    pub(crate) fn name(&self) -> &str {
        self.node.fully_qualified_name()
    }

    /// Ends the node.
    pub(crate) async fn stop(self) {
        let node = self.node.clone();
        if tokio::task::spawn_blocking(move || node.shut_down()).await.is_err() {
            tracing::error!("the ROS node could not be shut down");
        }
    }
}
