//! The parameters of any node, over the standard services.

mod descriptor;
mod value;

use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Interfaces;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::Instant;

pub use descriptor::{Descriptor, ParameterType, Range};

use super::Endpoints;
use super::service_request::{PreparedRequest, ask};
use crate::RosError;

/// So many names are listed in an error.
const LISTED_NAMES: usize = 50;

/// Reads and sets parameters. Nodes are named fully qualified. Clones share what it needs.
#[derive(Clone)]
pub struct Parameters {
    endpoints: Endpoints,
    interfaces: Arc<Interfaces>,
}

/// Why a parameter was not set.
#[derive(Debug, Error)]
pub enum ParameterError {
    /// The node has no such parameter.
    #[error("{node} has no parameter '{name}'; it has: {}", listed(.known))]
    Unknown {
        /// The node.
        node: String,
        /// The name asked for.
        name: String,
        /// The parameters that it has, in order.
        known: Vec<String>,
    },
    /// The node does not let it be changed.
    #[error("the parameter '{name}' of {node} is read-only")]
    ReadOnly {
        /// The node.
        node: String,
        /// The parameter.
        name: String,
    },
    /// The value is none that the parameter may have.
    #[error("the parameter '{name}' of {node}: {problem}")]
    Unfit {
        /// The node.
        node: String,
        /// The parameter.
        name: String,
        /// What would be right, and what was given.
        problem: String,
    },
    /// The node refused the value.
    #[error("{node} refused the parameter '{name}': {reason}")]
    Refused {
        /// The node.
        node: String,
        /// The parameter.
        name: String,
        /// What the node says.
        reason: String,
    },
    /// The node can't be asked.
    #[error(transparent)]
    Ros(#[from] RosError),
}

impl Parameters {
    /// Parameters of the nodes that these endpoints reach.
    #[must_use]
    pub fn new(endpoints: &Endpoints, interfaces: &Arc<Interfaces>) -> Self {
        Self { endpoints: endpoints.clone(), interfaces: Arc::clone(interfaces) }
    }

    /// The names of all parameters of a node, in order.
    ///
    /// # Errors
    /// When the node is not there or has no parameter services, or when it does not answer within `limit`.
    pub async fn list(&self, node: &str, limit: Duration) -> Result<Vec<String>, RosError> {
        let answer = self.ask(node, "list_parameters", "ListParameters", &json!({}), limit).await?;
        let names = answer.pointer("/result/names").and_then(Value::as_array).into_iter().flatten();
        let mut names: Vec<String> = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// What parameters may be set to. One that the node does not have is left out; some nodes then tell of none.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub async fn describe(
        &self,
        node: &str,
        names: &[impl AsRef<str>],
        limit: Duration,
    ) -> Result<Vec<Descriptor>, RosError> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let request = json!({ "names": names });
        let answer = self.ask(node, "describe_parameters", "DescribeParameters", &request, limit).await?;
        let described = answer.get("descriptors").and_then(Value::as_array).into_iter().flatten();
        // Some nodes describe what they do not have as nothing.
        Ok(described.filter_map(Descriptor::read).filter(|found| names.contains(&found.name.as_str())).collect())
    }

    /// The values of parameters, in the order of the names. Null for one that is not set, or that the node does not have.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub async fn get(
        &self,
        node: &str,
        names: &[impl AsRef<str>],
        limit: Duration,
    ) -> Result<Vec<(String, Value)>, RosError> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let end = Instant::now() + limit;
        let mut values = self.values(node, &names, limit).await?;
        if values.len() != names.len() {
            // A node that does not have one of them may answer nothing at all: one by one then.
            values.clear();
            for name in &names {
                let left = end.saturating_duration_since(Instant::now());
                values.push(self.values(node, &[name], left).await?.pop().unwrap_or_default());
            }
        }
        Ok(names.into_iter().map(str::to_owned).zip(values).collect())
    }

    async fn values(&self, node: &str, names: &[&str], limit: Duration) -> Result<Vec<Value>, RosError> {
        let answer = self.ask(node, "get_parameters", "GetParameters", &json!({ "names": names }), limit).await?;
        let values = answer.get("values").and_then(Value::as_array).into_iter().flatten();
        Ok(values.map(value::of_message).collect())
    }

    /// Sets a parameter. What the node says of it is asked first: what it does not have, does not let be changed or can't
    /// take is refused here. Whole numbers are taken for fractional ones, and text that spells the right type for it.
    /// `limit` bounds the whole.
    ///
    /// # Errors
    /// When it was not set, and why.
    pub async fn set(&self, node: &str, name: &str, value: &Value, limit: Duration) -> Result<(), ParameterError> {
        self.prepare(node, name, value, limit).await?.send()?.await
    }

    /// All of [`set`](Self::set) but the setting itself. `limit` bounds that, too.
    pub async fn prepare(
        &self,
        node: &str,
        name: &str,
        value: &Value,
        limit: Duration,
    ) -> Result<Change, ParameterError> {
        let end = Instant::now() + limit;
        let left = || end.saturating_duration_since(Instant::now());
        let (owner, parameter) = (|| node.to_owned(), || name.to_owned());
        let known = self.list(node, limit).await?;
        let described = self.describe(node, &[name], left()).await?;
        let Some(descriptor) = described.first().filter(|_| known.iter().any(|known| known == name)) else {
            return Err(ParameterError::Unknown { node: owner(), name: parameter(), known });
        };
        if descriptor.read_only {
            return Err(ParameterError::ReadOnly { node: owner(), name: parameter() });
        }
        let value = value::to_message(descriptor, value).map_err(|problem| ParameterError::Unfit {
            node: owner(),
            name: parameter(),
            problem: problem.to_string(),
        })?;
        let request = json!({ "parameters": [{ "name": name, "value": value }] });
        let names = (&*format!("{node}/set_parameters"), "rcl_interfaces/srv/SetParameters");
        let question = PreparedRequest::prepare(&self.endpoints, &self.interfaces, names, &request, left()).await?;
        Ok(Change { node: owner(), name: parameter(), question })
    }

    async fn ask(
        &self,
        node: &str,
        service: &str,
        interface: &str,
        request: &Value,
        limit: Duration,
    ) -> Result<Value, RosError> {
        let question = (format!("{node}/{service}"), format!("rcl_interfaces/srv/{interface}"));
        ask(&self.endpoints, &self.interfaces, (&question.0, &question.1), request, limit).await
    }
}

/// A parameter that can be set at once.
pub struct Change {
    node: String,
    name: String,
    question: PreparedRequest,
}

impl Change {
    /// Sets it, now, and returns the node's answer to wait for.
    pub fn send(&self) -> Result<impl Future<Output = Result<(), ParameterError>> + Send + use<>, ParameterError> {
        let answer = self.question.send()?;
        let (node, name) = (self.node.clone(), self.name.clone());
        Ok(async move {
            let answer = answer.await?;
            let result = answer.pointer("/results/0");
            if result.and_then(|result| result.get("successful")) == Some(&Value::Bool(true)) {
                return Ok(());
            }
            let reason = result.and_then(|result| result.get("reason")).and_then(Value::as_str).unwrap_or_default();
            let reason = if reason.is_empty() { "it gave no reason" } else { reason };
            Err(ParameterError::Refused { node, name, reason: reason.to_owned() })
        })
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        few if few.len() <= LISTED_NAMES => few.join(", "),
        many => {
            let shown: Vec<&str> = many.iter().take(LISTED_NAMES).map(String::as_str).collect();
            format!("{} and {} more", shown.join(", "), many.len() - LISTED_NAMES)
        }
    }
}
