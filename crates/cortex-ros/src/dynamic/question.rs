//! One question to a standard service of a node.

use std::time::Duration;

use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
use serde_json::Value;
use tokio::time::Instant;

use super::Endpoints;
use crate::RosError;

/// Asks, and returns the answer as exact JSON, with bytes as numbers. `limit` bounds the whole.
///
/// # Errors
/// When the interface is not installed, nothing offers the service, or it does not answer in time.
pub(super) async fn ask(
    endpoints: &Endpoints,
    interfaces: &Interfaces,
    (service, interface): (&str, &str),
    request: &Value,
    limit: Duration,
) -> Result<Value, RosError> {
    let end = Instant::now() + limit;
    let interface = interfaces.service(interface)?;
    let request = Message::from_json(&interface.request, request, &ReadOptions::exact())
        .map_err(|problem| RosError::Endpoint { name: service.to_owned(), problem: problem.to_string() })?;
    let client = endpoints.service_client(service, &interface).await?;
    client.wait_for_server(limit).await?;
    let late = |problem| match problem {
        RosError::NoAnswer { service, .. } => RosError::NoAnswer { service, waited: limit },
        other => other,
    };
    let answer = client.call(&request, end.saturating_duration_since(Instant::now())).await.map_err(late)?;
    Ok(answer.view().to_json(&WriteOptions { base64_over: usize::MAX, ..WriteOptions::exact() }).value)
}
