//! What is asked of a component.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Message;
use cortex_protocol::{ComponentDescription, ComponentName};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::Servers;
use tokio::sync::mpsc;

use super::{Answered, Shared};
use crate::directory::{Answer, DESCRIBE, EXECUTE_METHOD, Run, below};

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
/// Components that are asked at a time: a robot with a hundred must not make a hundred clients at once.
pub(super) const AT_ONCE: usize = 16;
/// The field of the answer.
const DESCRIPTION: &str = "description_json";

/// Asks a component what it can do until it has said so.
pub(super) async fn ask(shared: Arc<Shared>, component: ComponentName, run: Run, answers: mpsc::Sender<Answered>) {
    let (mut pause, mut limit) = (FIRST_PAUSE, FIRST_ANSWER_LIMIT);
    for attempt in 1_u32.. {
        let problem = match ask_once(&shared, &component, limit).await {
            Ok((text, servers)) => {
                // Nobody receives when discovery ends. What it says does not change by asking again.
                let _ = answers.send((component, run, read(&text, servers))).await;
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

/// The description as the component gives it, and those who get calls: the same before and after, so that it is known whose
/// description it is. Of two of one name, one that was killed and its next run, only the one that lives can have answered.
async fn ask_once(shared: &Shared, component: &ComponentName, limit: Duration) -> Result<(String, Servers), RosError> {
    // It is never closed.
    let _turn = shared.questions.acquire().await.map_err(|_| RosError::ShutDown)?;
    let (service, interface) = (below(component, DESCRIBE.0), DESCRIBE.1);
    let interface = shared.interface(|interfaces| interfaces.service(interface)).await?;
    // Used once: the middleware would keep memory for each of the others, too.
    let client = shared.endpoints.service_client(&service, &interface).await?;
    client.wait_for_server(SERVER_LIMIT).await?;
    let methods = below(component, EXECUTE_METHOD.0);
    let before = shared.endpoints.servers_of(&methods)?;
    let answer = client.call(&Message::new(&interface.request), limit).await?;
    let servers = shared.endpoints.servers_of(&methods)?;
    if servers != before {
        let problem = "another run of it came or left while it was asked what it can do".to_owned();
        return Err(RosError::Nonsense { name: service, problem });
    }
    let text = answer.view().text(DESCRIPTION).map(Cow::into_owned);
    let nonsense = || RosError::Nonsense { name: service, problem: format!("its answer has no text '{DESCRIPTION}'") };
    text.map(|text| (text, servers)).ok_or_else(nonsense)
}

fn read(text: &str, servers: Servers) -> Answer {
    match ComponentDescription::parse(text) {
        Ok((description, problems)) => {
            Answer::Described(description, problems.iter().map(ToString::to_string).collect(), servers)
        }
        Err(problem) => Answer::Unusable(problem.to_string()),
    }
}
