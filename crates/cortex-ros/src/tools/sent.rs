//! What it takes to bring a call to rest that was sent, and how components are asked for their methods.

use cortex_interfaces::{Message, ReadOptions};
use cortex_protocol::{CancelMode, ComponentName};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::{Goal, ServiceClient};
use cortex_ros_client::text::carried;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::calls::Haltable;

/// A call that was sent, by what brings it to rest.
#[derive(Clone)]
pub(crate) enum Sent {
    /// A goal is cancelled.
    Goal(Goal),
    /// A method is halted by another method of its component.
    Method(SentMethod),
    /// A request can't be taken back. What it began goes on, unless it only looks.
    Request(CancelMode),
    /// A process is ended by whoever runs it, who hears of a stop.
    Command,
}

impl Haltable for Sent {
    fn may_go_on(&self) -> bool {
        match self {
            Self::Goal(_) | Self::Command => true,
            Self::Method(method) => method.cancel == CancelMode::Halt,
            Self::Request(cancel) => *cancel == CancelMode::Halt,
        }
    }
}

/// A method under way.
#[derive(Clone)]
pub(crate) struct SentMethod {
    /// Who carries it out.
    pub(crate) component: ComponentName,
    /// What cancelling it takes.
    pub(crate) cancel: CancelMode,
    /// The method of the same component that halts it.
    pub(crate) cancel_method: Option<String>,
    /// What it was sent by. A halt goes the same way, so it needs nothing that is not there.
    pub(crate) client: ServiceClient,
}

impl SentMethod {
    /// Sends the halt, now: needs no runtime and waits for nothing. None where nothing halts it.
    ///
    /// # Errors
    /// When it can't be sent.
    pub(crate) fn send_halt(&self) -> Result<Option<MethodHalt>, RosError> {
        let Some(method) = &self.cancel_method else { return Ok(None) };
        let answer = self.client.send(&request(&self.client, method, &Map::new())?)?;
        Ok(Some(MethodHalt(Box::pin(answer))))
    }
}

/// The halt of a method, on its way.
pub(crate) struct MethodHalt(BoxFuture<'static, Result<Message, RosError>>);

impl MethodHalt {
    /// Whether the component says that it has halted, if it has answered. Needs no runtime.
    pub(crate) fn take(&mut self) -> Option<bool> {
        let answer = self.0.as_mut().now_or_never()?;
        Some(answer.is_ok_and(|answer| MethodAnswer::of(&answer).success))
    }
}

/// What a component is asked: `cortex_msgs/srv/ExecuteMethod`.
pub(crate) fn request(
    client: &ServiceClient,
    method: &str,
    arguments: &Map<String, Value>,
) -> Result<Message, RosError> {
    let arguments = serde_json::to_string(arguments).unwrap_or_default();
    let request = json!({"name": carried(method.to_owned()), "kwargs_json": arguments});
    Message::from_json(&client.interface().request, &request, &ReadOptions::exact())
        .map_err(|problem| RosError::Endpoint { name: client.service().to_owned(), problem: problem.to_string() })
}

/// What a component answers.
#[derive(Debug, Default)]
pub(crate) struct MethodAnswer {
    pub(crate) success: bool,
    pub(crate) error_msg: String,
    pub(crate) response_json: String,
}

impl MethodAnswer {
    pub(crate) fn of(answer: &Message) -> Self {
        let view = answer.view();
        let text = |field| view.text(field).unwrap_or_default().into_owned();
        // What can't be read was no success.
        let success = view.boolean("success").unwrap_or_default();
        Self { success, error_msg: text("error_msg"), response_json: text("response_json") }
    }
}
