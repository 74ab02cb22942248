//! The states of managed lifecycles.
//!
//! A node tells its transitions, and is asked when it comes and from time to time: not every node tells, and what is told
//! may be lost. That it does not answer is told, too: who judges that hears of each question.

use std::time::Duration;

use cortex_interfaces::{Message, WriteLimits, WriteOptions};
use cortex_protocol::ComponentName;
use cortex_ros_client::dynamic::{Listening, lifecycle};
use cortex_ros_client::graph::InstanceId;
use cortex_ros_client::{QosProfile, RosError};
use serde_json::Value;

use super::{Senses, Sign};
use crate::directory::below;

const TYPE: &str = "lifecycle_msgs/msg/TransitionEvent";
const TRANSITIONS: &str = "transition_event";
/// The states in which a node stays.
const LASTING: [&str; 4] = ["unconfigured", "inactive", "active", "finalized"];
/// How much of it is read.
const LIMITS: WriteLimits = WriteLimits { elements: 16, string_bytes: 200, binary_bytes: 0, total_bytes: 4 * 1_024 };

/// How often a node is asked.
const PERIOD: Duration = Duration::from_secs(2);
/// How long one answer is waited for. Short: a question that was asked while the middleware still knew a dead server only
/// is lost.
const LIMIT: Duration = Duration::from_millis(500);
/// The same once that many were not answered: a busy machine gets its time.
const PATIENT_LIMIT: Duration = Duration::from_secs(2);
const QUICK_QUESTIONS: u32 = 4;
/// The pause after a question without an answer.
const PAUSE: Duration = Duration::from_millis(50);

/// Tells of each state.
pub(super) async fn follow(senses: Senses, component: ComponentName) {
    let heard = listen(&senses, &component).await;
    if let Err(problem) = &heard {
        tracing::debug!("the transitions of '{component}' are not heard: {problem}; it is asked for its state");
    }
    let coming = senses.presence.coming(&component);
    let node = format!("/{component}");
    let mut unanswered = 0_u32;
    loop {
        if !senses.presence.is_there(&component) {
            coming.notified().await;
            unanswered = 0;
            continue;
        }
        let limit = if unanswered < QUICK_QUESTIONS { LIMIT } else { PATIENT_LIMIT };
        let answer = tokio::select! {
            answer = lifecycle::state(&senses.endpoints, &senses.interfaces, &node, limit) => answer,
            // Another run of it: the question went to the one before.
            () = coming.notified() => {
                unanswered = 0;
                continue;
            }
        };
        let pause = match answer {
            Ok(label) => {
                unanswered = 0;
                // What was answered by a run that is over says nothing of the next.
                if senses.presence.is_there(&component) {
                    (senses.tell)(&component, Sign::Lifecycle { label });
                }
                PERIOD
            }
            Err(RosError::ShutDown) => return,
            Err(_) => {
                unanswered = unanswered.saturating_add(1);
                if senses.presence.is_there(&component) {
                    (senses.tell)(&component, Sign::Unanswered);
                }
                PAUSE
            }
        };
        // Whichever comes first.
        let _ = tokio::time::timeout(pause, coming.notified()).await;
    }
}

async fn listen(senses: &Senses, component: &ComponentName) -> Result<Listening, RosError> {
    let interface = senses.interface(|interfaces| interfaces.message(TYPE)).await?;
    let (tell, presence, name) = (senses.tell.clone(), senses.presence.clone(), component.clone());
    let hear = move |message: &Message, publisher: &InstanceId| {
        let written = message.view().to_json(&WriteOptions { limits: LIMITS, ..WriteOptions::exact() }).value;
        let label = written.pointer("/goal_state/label").and_then(Value::as_str);
        // What does not last is not told: whoever asked for a transition waits for its end anyway, and the news that it has
        // begun may come after that. One that stays on its way is seen when it is asked.
        if let Some(label) = label.filter(|label| LASTING.contains(label) && presence.may_speak(&name, publisher)) {
            tell(&name, Sign::Lifecycle { label: label.to_owned() });
        }
    };
    senses.endpoints.listen_at_times(&below(component, TRANSITIONS), &interface, QosProfile::BEST_EFFORT, hear).await
}
