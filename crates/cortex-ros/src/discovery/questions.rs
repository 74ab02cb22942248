//! What is asked of a component, and what it says by itself.

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::{ComponentDescription, ComponentName};
use futures::StreamExt;
use r2r::QosProfile;
use r2r::cortex_msgs::msg::ComponentStatus;
use r2r::cortex_msgs::srv::DescribeComponent;
use tokio::sync::mpsc;

use super::{Answered, Shared};
use crate::RosError;
use crate::directory::{Answer, DESCRIBE, EXECUTE_METHOD, Run, below};
use crate::heartbeat::Health;

/// How long a service of a component that was just found may take to appear here, and to answer.
const SERVER_LIMIT: Duration = Duration::from_secs(2);
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// The same for the first attempt; doubled for each further one, up to the whole. Short, because a question is lost that is
/// asked while the middleware knows only the dead server of a component that has just come back.
const FIRST_ANSWER_LIMIT: Duration = Duration::from_millis(250);
/// Attempts after which nobody waits for a component any more. It is asked on, at a growing distance, since one that
/// loads a large model answers late.
const PATIENT_ATTEMPTS: u32 = 5;
/// The pause after the first two failed attempts, doubled after each further one, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Topic of a component's health, below its node.
const STATUS: &str = "status";

/// Asks a component what it can do until it has said so.
pub(super) async fn ask(shared: Arc<Shared>, component: ComponentName, run: Run, answers: mpsc::Sender<Answered>) {
    let (mut pause, mut limit) = (FIRST_PAUSE, FIRST_ANSWER_LIMIT);
    for attempt in 1_u32.. {
        let problem = match ask_once(&shared, &component, limit).await {
            Ok(text) => {
                // Nobody receives when discovery ends. What it says does not change by asking again.
                let _ = answers.send((component, run, read(&text))).await;
                return;
            }
            Err(problem) => problem.to_string(),
        };
        tracing::debug!("the component '{component}': {problem}");
        if attempt >= PATIENT_ATTEMPTS {
            let _ = answers.send((component.clone(), run, Answer::Unusable(problem))).await;
        }
        tokio::time::sleep(pause).await;
        if attempt > 1 {
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        limit = (limit * 2).min(ANSWER_LIMIT);
    }
}

/// The description as the component gives it. Its methods can be called at once when this returns.
async fn ask_once(shared: &Shared, component: &ComponentName, limit: Duration) -> Result<String, RosError> {
    let (describe, execute) = (below(component, DESCRIBE.0), below(component, EXECUTE_METHOD.0));
    let (describe, execute) =
        tokio::try_join!(shared.describe_clients.get(&describe), shared.method_clients.get(&execute))?;
    tokio::try_join!(describe.wait_for_server(SERVER_LIMIT), execute.wait_for_server(SERVER_LIMIT))?;
    Ok(describe.call(&DescribeComponent::Request {}, limit).await?.description_json)
}

fn read(text: &str) -> Answer {
    match ComponentDescription::parse(text) {
        Ok((description, problems)) => {
            Answer::Described(description, problems.iter().map(ToString::to_string).collect())
        }
        Err(problem) => Answer::Unusable(problem.to_string()),
    }
}

/// Takes down every heartbeat of the component.
pub(super) async fn listen(shared: Arc<Shared>, component: ComponentName) {
    let topic = below(&component, STATUS);
    // Best effort matches publishers of either kind.
    let quality = QosProfile::default().keep_last(5).best_effort().volatile();
    let subscribed = shared.node.with_node(move |node| node.subscribe::<ComponentStatus>(&topic, quality)).await;
    let mut messages = match subscribed {
        Ok(Ok(messages)) => messages,
        Ok(Err(problem)) => return tracing::warn!("the heartbeat of '{component}' can't be heard: {problem}"),
        Err(_) => return,
    };
    while let Some(message) = messages.next().await {
        shared.heartbeats.beat(&component, Health::from(&message));
    }
}
