//! The standard services of a managed node.

use r2r::Node;
use r2r::lifecycle_msgs::msg::{self, TransitionDescription, TransitionEvent};
use r2r::lifecycle_msgs::srv::{ChangeState, GetAvailableStates, GetAvailableTransitions, GetState};

use super::driver::{Announce, Lifecycle};
use super::state::{EDGES, Edge, Outcome, State, Trigger};
use crate::serving::Serving;
use crate::{QosProfile, RosError, publisher};

/// Tells of every transition on `~/transition_event`. `now_ns` stamps it, in nanoseconds.
///
/// # Errors
/// When the publisher can't be created.
pub fn announcer(node: &mut Node, now_ns: impl Fn() -> u64 + Send + Sync + 'static) -> Result<Announce, RosError> {
    let events = publisher::shared(node.create_publisher("~/transition_event", QosProfile::RELIABLE.into())?);
    Ok(Box::new(move |edge| {
        events.publish(&TransitionEvent {
            timestamp: now_ns(),
            transition: transition(edge),
            start_state: state(edge.start),
            goal_state: state(edge.goal),
        });
    }))
}

/// Creates the services on `node`.
///
/// # Errors
/// When one can't be created.
pub fn serve(node: &mut Node, serving: &Serving, lifecycle: &Lifecycle) -> Result<(), RosError> {
    let shared = lifecycle.clone();
    serving.serve::<GetState::Service>(node, "~/get_state", move |_| GetState::Response {
        current_state: state(shared.state()),
    })?;
    serving.serve::<GetAvailableStates::Service>(node, "~/get_available_states", |_| {
        let unknown = msg::State { id: 0, label: "unknown".to_owned() };
        let available_states = std::iter::once(unknown).chain(State::ALL.into_iter().map(state)).collect();
        GetAvailableStates::Response { available_states }
    })?;
    let shared = lifecycle.clone();
    serving.serve::<GetAvailableTransitions::Service>(node, "~/get_available_transitions", move |_| {
        let askable = shared.state().edges().filter(|edge| matches!(edge.trigger, Trigger::Asked(_)));
        GetAvailableTransitions::Response { available_transitions: askable.map(description).collect() }
    })?;
    serving.serve::<GetAvailableTransitions::Service>(node, "~/get_transition_graph", |_| {
        GetAvailableTransitions::Response { available_transitions: EDGES.iter().map(description).collect() }
    })?;
    let (shared, tasks) = (lifecycle.clone(), serving.clone());
    serving.serve_each::<ChangeState::Service>(node, "~/change_state", move |request| {
        let lifecycle = shared.clone();
        let wanted = request.message.transition.clone();
        tasks.spawn_answer(request, async move {
            let success = match Edge::requested(lifecycle.state(), wanted.id, &wanted.label) {
                Some(transition) => lifecycle.change(transition).await == Some(Outcome::Success),
                None => false,
            };
            ChangeState::Response { success }
        });
    })
}

fn state(state: State) -> msg::State {
    msg::State { id: state.id(), label: state.label().to_owned() }
}

fn transition(edge: &Edge) -> msg::Transition {
    msg::Transition { id: edge.id, label: edge.label().to_owned() }
}

fn description(edge: &Edge) -> TransitionDescription {
    TransitionDescription { transition: transition(edge), start_state: state(edge.start), goal_state: state(edge.goal) }
}
