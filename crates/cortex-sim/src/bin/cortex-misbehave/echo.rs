//! Well-behaved components, as many as wanted, in one process.

use std::future::Future;

use cortex_component::{Component, Effect, Method, RunningComponent};
use futures::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tell_ready;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What comes back.
    text: String,
}

fn component(name: &str) -> Component {
    Component::new(name).summary("Returns what it is given.").method(
        Method::new("echo", "Returns its text at once.")
            .parameters::<Echo>()
            .effect(Effect::Act)
            .phrase("echo {text}")
            .run(|arguments, _| std::future::ready(Ok(arguments.text))),
    )
}

/// Runs components of those names until `stop` ends.
pub(crate) async fn host(names: Vec<String>, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let mut running = Vec::new();
    let mut problem = None;
    for started in join_all(names.iter().map(|name| component(name).start())).await {
        match started {
            Ok(component) => running.push(component),
            Err(reason) => problem = Some(reason),
        }
    }
    if problem.is_none() {
        tell_ready(&running.iter().map(RunningComponent::name).collect::<Vec<_>>());
        stop.await;
    }
    join_all(running.into_iter().map(RunningComponent::stop)).await;
    problem.map_or(Ok(()), |problem| Err(problem.into()))
}
