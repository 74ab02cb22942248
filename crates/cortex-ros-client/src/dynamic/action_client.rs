//! Having goals carried out by an action of any type.
//!
//! On the wire an action is three services and two topics below its name; what belongs to which goal is told by the
//! goal's id. So this is a plain client of all five, whatever the client library would do with the action's type.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_interfaces::{ActionInterface, Message, ServiceInterface};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::endpoint_executor::{EndpointExecutor, Registration};
use super::goal::{Goal, GoalId, Progress};
use super::subscription::{Inlet, Listener};
use super::{GoalState, ServiceClient};
use crate::rcl::announced::{End, Naming, announced};
use crate::{QosProfile, RosError};

/// Goals of one client at a time: more than any server carries out.
const GOALS: usize = 1024;
/// Goals that are offered to a server at a time. Servers keep 10 requests and lose what comes on top.
const OFFERS_AT_ONCE: usize = 8;

/// A client of one action. Clones share it; it is destroyed when the last one, and the last of its goals, is dropped.
#[derive(Clone)]
pub struct ActionClient {
    shared: Arc<Shared>,
}

struct Shared {
    action: String,
    interface: Arc<ActionInterface>,
    send_goal: ServiceClient,
    get_result: ServiceClient,
    cancel_goal: ServiceClient,
    goals: Arc<Goals>,
    offers: Arc<Semaphore>,
    _feedback: Registration,
    _status: Registration,
}

impl ActionClient {
    /// Blocks for some milliseconds.
    pub(super) fn create(
        executor: &Arc<EndpointExecutor>,
        action: &str,
        interface: &Arc<ActionInterface>,
    ) -> Result<Self, RosError> {
        let service = |end: &str, interface: &Arc<ServiceInterface>| {
            ServiceClient::create(executor, &format!("{action}/_action/{end}"), interface)
        };
        let cancel_goal = executor.own_interfaces.service("action_msgs/srv/CancelGoal")?;
        let status = executor.own_interfaces.message("action_msgs/msg/GoalStatusArray")?;
        let goals = Arc::new(Goals::default());
        let topic = |end: &str| format!("{action}/_action/{end}");
        let feedback_message = &interface.feedback_message;
        let shared = Shared {
            // The topics first: a server that sees the services should see who hears it.
            _feedback: Inlet::create(
                executor,
                &topic("feedback"),
                feedback_message,
                QosProfile::RELIABLE,
                Arc::new(Feedback(Arc::clone(&goals))),
            )?,
            _status: Inlet::create(
                executor,
                &topic("status"),
                &status,
                QosProfile::TRANSIENT_LOCAL,
                Arc::new(Status(Arc::clone(&goals))),
            )?,
            send_goal: service("send_goal", &shared_service(&interface.send_goal))?,
            get_result: service("get_result", &shared_service(&interface.get_result))?,
            cancel_goal: service("cancel_goal", &cancel_goal)?,
            action: action.to_owned(),
            interface: Arc::clone(interface),
            goals,
            offers: Arc::new(Semaphore::new(OFFERS_AT_ONCE)),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The type of the action.
    #[must_use]
    pub fn interface(&self) -> &Arc<ActionInterface> {
        &self.shared.interface
    }

    /// The fully qualified name of the action.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.shared.action
    }

    /// Waits until a server is there, with all its parts. A goal sent before would be lost.
    ///
    /// # Errors
    /// [`RosError::NoServer`] when none comes within `limit`, [`RosError::ShutDown`] after the shutdown.
    pub async fn wait_for_server(&self, limit: Duration) -> Result<(), RosError> {
        let parts = async {
            self.shared.send_goal.wait_for_server(limit).await?;
            self.shared.cancel_goal.wait_for_server(limit).await?;
            self.shared.get_result.wait_for_server(limit).await
        };
        match tokio::time::timeout(limit, parts).await {
            Ok(Err(RosError::NoServer { .. })) | Err(_) => {
                Err(RosError::NoServer { service: self.shared.action.clone(), waited: limit })
            }
            Ok(there) => there,
        }
    }

    /// A goal with an id of its own. From here on its feedback and its state are followed; nothing is sent.
    ///
    /// # Errors
    /// When the message is no goal of this action, or there are too many goals.
    pub fn goal(&self, goal: Message) -> Result<Goal, RosError> {
        self.goal_named(goal, None)
    }

    /// The same, with this id, unless there is a goal that has it.
    ///
    /// # Errors
    /// As [`goal`](Self::goal).
    pub fn goal_named(&self, goal: Message, id: Option<GoalId>) -> Result<Goal, RosError> {
        let is_free = |id: &GoalId| !self.shared.goals.lock().contains_key(id);
        let id = id.filter(is_free).unwrap_or_else(GoalId::random);
        let progress = Arc::new(Progress::new(self, id)?);
        let goal = Goal::new(self, goal, Arc::clone(&progress))?;
        let mut goals = self.shared.goals.lock();
        if goals.len() >= GOALS {
            // Dropping the goal takes the lock.
            drop(goals);
            return Err(RosError::TooMany { what: "goals of one action", limit: GOALS });
        }
        goals.insert(id, progress);
        drop(goals);
        Ok(goal)
    }

    pub(super) fn forget(&self, id: GoalId) {
        self.shared.goals.lock().remove(&id);
    }

    /// Waits for the turn to offer a goal.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, RosError> {
        // It is never closed.
        Arc::clone(&self.shared.offers).acquire_owned().await.map_err(|_| RosError::ShutDown)
    }

    pub(super) fn send_goal(&self) -> &ServiceClient {
        &self.shared.send_goal
    }

    pub(super) fn get_result(&self) -> &ServiceClient {
        &self.shared.get_result
    }

    pub(super) fn cancel_goal(&self) -> &ServiceClient {
        &self.shared.cancel_goal
    }

    pub(super) fn executor(&self) -> &Arc<EndpointExecutor> {
        self.shared.send_goal.executor()
    }

    /// The runs of servers that are there, told apart by who publishes the states of goals.
    pub(super) fn servers(&self) -> Result<Vec<crate::graph::InstanceId>, RosError> {
        let node = self.executor().node()?;
        let topic = format!("{}/_action/status", self.shared.action);
        let publishers = announced(&node, &topic, Naming::Ros, End::Publishers)?;
        Ok(publishers.into_iter().map(|publisher| publisher.identity).collect())
    }
}

/// The services of an action are part of it; a client wants its own hold on one.
fn shared_service(interface: &ServiceInterface) -> Arc<ServiceInterface> {
    Arc::new(ServiceInterface {
        name: interface.name.clone(),
        request: Arc::clone(&interface.request),
        response: Arc::clone(&interface.response),
        type_support: interface.type_support,
    })
}

/// The goals of a client. Bounded, and independent of what servers send: what is said of others is dropped.
#[derive(Default)]
struct Goals(Mutex<HashMap<GoalId, Arc<Progress>>>);

impl Goals {
    fn lock(&self) -> MutexGuard<'_, HashMap<GoalId, Arc<Progress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands feedback to the goal that it is of.
struct Feedback(Arc<Goals>);

impl Listener for Feedback {
    fn message(&self, message: Message) {
        let Some(id) = message.view().nested("goal_id").and_then(GoalId::of) else { return };
        let goal = self.0.lock().get(&id).map(Arc::clone);
        if let Some(goal) = goal {
            goal.feedback(message);
        }
    }
}

/// Hands states to the goals that they are of.
struct Status(Arc<Goals>);

impl Listener for Status {
    fn message(&self, message: Message) {
        let Some(list) = message.view().list("status_list") else { return };
        let goals = self.0.lock();
        if goals.is_empty() {
            return;
        }
        for status in list {
            let id = status.nested("goal_info").and_then(|info| info.nested("goal_id")).and_then(GoalId::of);
            let state = status.integer("status").and_then(GoalState::of);
            if let (Some(id), Some(state)) = (id, state)
                && let Some(goal) = goals.get(&id)
            {
                goal.state(state);
            }
        }
    }
}
