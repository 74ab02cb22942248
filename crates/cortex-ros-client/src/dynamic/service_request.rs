//! One question to a standard service of a node.

use std::time::Duration;

use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{Endpoints, ServiceClient};
use crate::RosError;

/// Asks, and returns the answer as exact JSON, with bytes as numbers. `limit` bounds the whole.
///
/// # Errors
/// When the interface is not installed, nothing offers the service, or it does not answer in time.
pub(super) async fn ask(
    endpoints: &Endpoints,
    interfaces: &Interfaces,
    names: (&str, &str),
    request: &Value,
    limit: Duration,
) -> Result<Value, RosError> {
    PreparedRequest::prepare(endpoints, interfaces, names, request, limit).await?.send()?.await
}

/// A question that can be asked at once.
pub struct PreparedRequest {
    client: ServiceClient,
    request: Message,
    limit: Duration,
    end: Instant,
}

impl PreparedRequest {
    /// Waits until it can be asked. `limit` bounds the whole, with the answer.
    pub async fn prepare(
        endpoints: &Endpoints,
        interfaces: &Interfaces,
        (service, interface): (&str, &str),
        request: &Value,
        limit: Duration,
    ) -> Result<Self, RosError> {
        let end = Instant::now() + limit;
        let interface = interfaces.service(interface)?;
        let request = Message::from_json(&interface.request, request, &ReadOptions::exact())
            .map_err(|problem| RosError::Endpoint { name: service.to_owned(), problem: problem.to_string() })?;
        let client = endpoints.service_client(service, &interface).await?;
        client.wait_for_server(limit).await?;
        Ok(Self { client, request, limit, end })
    }

    /// Asks, now, and returns the answer to wait for.
    pub fn send(&self) -> Result<impl Future<Output = Result<Value, RosError>> + Send + use<>, RosError> {
        let answer = self.client.send(&self.request)?;
        let (service, waited, end) = (self.client.service().to_owned(), self.limit, self.end);
        Ok(async move {
            let answer = timeout_at(end, answer).await.map_err(|_| RosError::NoAnswer { service, waited })??;
            Ok(written(&answer))
        })
    }
}

/// Exact, with bytes as numbers.
fn written(answer: &Message) -> Value {
    answer.view().to_json(&WriteOptions { base64_over: usize::MAX, ..WriteOptions::exact() }).value
}
