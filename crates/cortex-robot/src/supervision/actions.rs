//! The actions of a recipe that need ROS, and the transitions of lifecycles.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Interfaces;
use cortex_monitor::Transition;
use cortex_protocol::{ComponentName, Effect};
use cortex_recipe::action::MethodCall;
use cortex_recipe::binding::bind_nothing;
use cortex_recipe::{Action, ActionKind, ActionName, Recipe};
use cortex_ros::monitoring::actions::{ActionError, ActionFailure, SendDecision};
use cortex_ros::{OpenCommand, StopLatch};
use cortex_ros_client::lifecycle::Transition as RosTransition;
use serde_json::Value;

use crate::Robot;

/// Carries out actions. Clones share what it needs.
#[derive(Clone)]
pub struct Actions {
    ros: cortex_ros::monitoring::actions::Actions,
    actions: Arc<BTreeMap<ActionName, Action>>,
}

impl Actions {
    /// Those of this recipe, on this robot.
    pub fn on(robot: &Robot, recipe: &Recipe) -> Self {
        let interfaces = Arc::new(Interfaces::from_environment());
        Self {
            ros: cortex_ros::monitoring::actions::Actions::new(&robot.tools, &interfaces),
            actions: Arc::new(recipe.actions.clone()),
        }
    }

    /// Notes a command that is about to be started; whoever runs it ends it at a stop. None while the robot is stopped.
    pub fn begin_command(&self, action: &ActionName) -> Option<OpenCommand> {
        self.ros.begin_command(action.as_str().into())
    }

    /// The latch that they obey.
    pub fn latch(&self) -> &StopLatch {
        self.ros.latch()
    }

    /// Whether the monitor's own thread does it.
    pub fn is_command(&self, action: &ActionName) -> bool {
        self.actions.get(action).is_some_and(|action| matches!(action.kind, ActionKind::Command(_)))
    }

    /// Carries out an action to its end; gives what came of it, as JSON. Or why it was not done, in words for people.
    /// Commands are run by the monitor's thread, which looks after processes.
    pub async fn act(&self, action: &ActionName, limit: Duration) -> Result<Value, ActionError> {
        let known =
            self.actions.get(action).ok_or_else(|| ActionError::Failed("there is no such action".to_owned()))?;
        // Fallbacks tell nothing; what a parameter has as its default is what it is.
        let effect = known.tool.as_ref().map(|tool| tool.effect).unwrap_or_default();
        // Nobody withdraws it.
        let decision = SendDecision::default();
        let kind = bind_nothing(known).map_err(|problem| ActionError::Failed(problem.to_string()))?;
        self.carry_out(&kind, effect, limit, &decision).await
    }

    /// Carries out what an action with this effect does, in the same way. `decision` says whether anything was sent of
    /// what is no method.
    pub async fn carry_out(
        &self,
        kind: &ActionKind,
        effect: Effect,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<Value, ActionError> {
        match kind {
            ActionKind::Service(call) => {
                self.ros.request(&call.name, &call.interface, &call.request, effect, limit, decision).await
            }
            ActionKind::Topic(topic) => {
                let published = self.ros.publish(&topic.name, &topic.interface, &topic.message, limit, decision);
                published.await.map(|()| Value::Null)
            }
            ActionKind::Method(call) => self.ros.method(&call.component, &call.name, &call.arguments, limit).await,
            ActionKind::Parameters(parameters) => {
                let set = self.ros.parameters(&parameters.component, &parameters.values, limit, decision);
                set.await.map(|()| Value::Null)
            }
            ActionKind::Command(_) => Err(ActionError::Failed("commands are run by the monitor".to_owned())),
        }
    }

    /// Calls a method, if that brings something to rest: whatever has failed, and also while the robot is stopped. None: it is
    /// something else, as far as its component says, and was not called.
    pub async fn halt(&self, call: &MethodCall, limit: Duration) -> Option<Result<(), ActionError>> {
        let MethodCall { component, name, arguments } = call;
        if !self.ros.brings_to_rest(component, name, arguments) {
            return None;
        }
        let halted = self.ros.method(component, name, arguments, limit).await;
        Some(halted.map(|_| ()))
    }

    /// Takes a component through a transition.
    pub async fn change(
        &self,
        component: &ComponentName,
        transition: Transition,
        limit: Duration,
    ) -> Result<(), ActionFailure> {
        let transition = match transition {
            Transition::Configure => RosTransition::Configure,
            Transition::Activate => RosTransition::Activate,
            Transition::Deactivate => RosTransition::Deactivate,
            Transition::CleanUp => RosTransition::CleanUp,
        };
        self.ros.change(component, transition, limit).await
    }
}
