//! How far a method of a component is, as it tells on a topic while it runs.
//!
//! What comes is hostile: of any type, at any rate, of any length. It is heard at the looks of the endpoints, the latest
//! message only, cut to one line, and told at most ten times a second. Nothing of it can fail the call.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::CallObserver;
use cortex_interfaces::Message;
use cortex_ros_client::dynamic::Listening;
use cortex_ros_client::graph::InstanceId;
use cortex_ros_client::{QosProfile, RosError};
use tokio::sync::watch;

use super::Surroundings;
use super::messages::line;
use crate::following::types_of;

/// What is told of progress is told at most this often, however fast it comes; the feedback of goals, too.
pub(super) const FEEDBACK_PAUSE: Duration = Duration::from_millis(100);

/// Tells what comes on the topic, as long as it is waited for. Without a topic there is nothing to tell.
pub(super) async fn tell(around: &Arc<Surroundings>, topic: Option<String>, observer: &dyn CallObserver) -> Infallible {
    if let Some(topic) = topic
        && let Err(problem) = follow(around, &topic, observer).await
    {
        tracing::warn!("{topic}, which tells of progress, can't be heard: {problem}");
    }
    std::future::pending().await
}

async fn follow(around: &Arc<Surroundings>, topic: &str, observer: &dyn CallObserver) -> Result<(), RosError> {
    let mut graph = around.graph.subscribe();
    loop {
        let types = types_of(&graph.borrow_and_update(), topic);
        let mut named = types.iter();
        // Where nobody publishes it, or several things, there is nothing to tell.
        let (Some(only), None) = (named.next(), named.next()) else {
            if graph.changed().await.is_err() {
                return Ok(());
            }
            continue;
        };
        let (mut lines, _listening) = listen(around, topic, only).await?;
        loop {
            tokio::select! {
                changed = lines.changed() => if changed.is_err() { return Ok(()) },
                changed = graph.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                    if types_of(&graph.borrow_and_update(), topic) != types {
                        break;
                    }
                    continue;
                }
            }
            let line = lines.borrow_and_update().clone();
            observer.progressed(line);
            tokio::time::sleep(FEEDBACK_PAUSE).await;
        }
    }
}

async fn listen(
    around: &Arc<Surroundings>,
    topic: &str,
    type_name: &str,
) -> Result<(watch::Receiver<String>, Listening), RosError> {
    let wanted = type_name.to_owned();
    let interface = around.interface(move |interfaces| interfaces.message(&wanted)).await?;
    around.endpoints.check_topic(topic, &interface)?;
    let (lines, latest) = watch::channel(String::new());
    let hearer = Arc::clone(around);
    let hear = move |message: &Message, _: &InstanceId| {
        lines.send_replace(line(message.view(), &hearer.shared().conventions));
    };
    // What was said before the call began is not about it: nothing that is kept for late readers is wanted.
    let quality = QosProfile::BEST_EFFORT.keep_last(1);
    let listening = around.endpoints.listen_at_times(topic, &interface, quality, hear).await?;
    Ok((latest, listening))
}
