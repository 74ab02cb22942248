//! The state machine of a managed node: one table, from which everything else is read.
//!
//! Numbers and labels are those of `lifecycle_msgs`, so that the standard tools can drive a component.

/// A state of the node. Primary states last; transition states end with their hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Primary: exists, holds nothing.
    Unconfigured,
    /// Primary: set up, but does nothing.
    Inactive,
    /// Primary: works.
    Active,
    /// Primary: the end.
    Finalized,
    /// Transition from unconfigured to inactive.
    Configuring,
    /// Transition from inactive to unconfigured.
    CleaningUp,
    /// Transition to the end.
    ShuttingDown,
    /// Transition from inactive to active.
    Activating,
    /// Transition from active to inactive.
    Deactivating,
    /// After an error in any hook: everything is let go.
    ErrorProcessing,
}

/// What may be asked of a node from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// Set up.
    Configure,
    /// Let go of everything.
    CleanUp,
    /// Begin to work.
    Activate,
    /// Stop working.
    Deactivate,
    /// End for good.
    ShutDown,
}

/// How a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did its work.
    Success,
    /// It could not, and the node is as before.
    Failure,
    /// It broke; the node must let go of everything.
    Error,
}

/// What makes the node take an [`Edge`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// Somebody asks for it.
    Asked(Transition),
    /// The hook of the transition state ended.
    Ended(Outcome),
}

/// One arrow of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The number in `lifecycle_msgs/msg/Transition`.
    pub id: u8,
    /// What makes the node take it.
    pub trigger: Trigger,
    /// From where.
    pub start: State,
    /// To where.
    pub goal: State,
}

const fn asked(id: u8, transition: Transition, start: State, goal: State) -> Edge {
    Edge { id, trigger: Trigger::Asked(transition), start, goal }
}

const fn ended(id: u8, outcome: Outcome, start: State, goal: State) -> Edge {
    Edge { id, trigger: Trigger::Ended(outcome), start, goal }
}

/// Every arrow there is.
pub const EDGES: [Edge; 25] = {
    use Outcome::{Error, Failure, Success};
    use State::{
        Activating, Active, CleaningUp, Configuring, Deactivating, ErrorProcessing, Finalized, Inactive, ShuttingDown,
        Unconfigured,
    };
    use Transition::{Activate, CleanUp, Configure, Deactivate, ShutDown};
    [
        asked(1, Configure, Unconfigured, Configuring),
        ended(10, Success, Configuring, Inactive),
        ended(11, Failure, Configuring, Unconfigured),
        ended(12, Error, Configuring, ErrorProcessing),
        asked(2, CleanUp, Inactive, CleaningUp),
        ended(20, Success, CleaningUp, Unconfigured),
        ended(21, Failure, CleaningUp, Inactive),
        ended(22, Error, CleaningUp, ErrorProcessing),
        asked(3, Activate, Inactive, Activating),
        ended(30, Success, Activating, Active),
        ended(31, Failure, Activating, Inactive),
        ended(32, Error, Activating, ErrorProcessing),
        asked(4, Deactivate, Active, Deactivating),
        ended(40, Success, Deactivating, Inactive),
        ended(41, Failure, Deactivating, Active),
        ended(42, Error, Deactivating, ErrorProcessing),
        asked(5, ShutDown, Unconfigured, ShuttingDown),
        asked(6, ShutDown, Inactive, ShuttingDown),
        asked(7, ShutDown, Active, ShuttingDown),
        ended(50, Success, ShuttingDown, Finalized),
        ended(51, Failure, ShuttingDown, Finalized),
        ended(52, Error, ShuttingDown, ErrorProcessing),
        ended(60, Success, ErrorProcessing, Unconfigured),
        ended(61, Failure, ErrorProcessing, Finalized),
        ended(62, Error, ErrorProcessing, Finalized),
    ]
};

impl State {
    /// Every state, in the order of its number.
    pub const ALL: [Self; 10] = [
        Self::Unconfigured,
        Self::Inactive,
        Self::Active,
        Self::Finalized,
        Self::Configuring,
        Self::CleaningUp,
        Self::ShuttingDown,
        Self::Activating,
        Self::Deactivating,
        Self::ErrorProcessing,
    ];

    /// The number in `lifecycle_msgs/msg/State`.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::Unconfigured => 1,
            Self::Inactive => 2,
            Self::Active => 3,
            Self::Finalized => 4,
            Self::Configuring => 10,
            Self::CleaningUp => 11,
            Self::ShuttingDown => 12,
            Self::Activating => 13,
            Self::Deactivating => 14,
            Self::ErrorProcessing => 15,
        }
    }

    /// The name that ROS tools use.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Unconfigured => "unconfigured",
            Self::Inactive => "inactive",
            Self::Active => "active",
            Self::Finalized => "finalized",
            Self::Configuring => "configuring",
            Self::CleaningUp => "cleaningup",
            Self::ShuttingDown => "shuttingdown",
            Self::Activating => "activating",
            Self::Deactivating => "deactivating",
            Self::ErrorProcessing => "errorprocessing",
        }
    }

    /// The arrows that leave this state, in the order of the table.
    pub fn edges(self) -> impl Iterator<Item = &'static Edge> {
        EDGES.iter().filter(move |edge| edge.start == self)
    }

    /// The arrow that the trigger takes from here, if there is one.
    #[must_use]
    pub fn edge(self, trigger: Trigger) -> Option<&'static Edge> {
        self.edges().find(|edge| edge.trigger == trigger)
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.label())
    }
}

impl Transition {
    /// The arrows that are taken when it is asked for, in the order of the table: one from each state that it begins in.
    pub fn edges(self) -> impl Iterator<Item = &'static Edge> {
        EDGES.iter().filter(move |edge| edge.trigger == Trigger::Asked(self))
    }

    /// Whether a node in the state of this label is on its way through the transition.
    #[must_use]
    pub fn is_on_its_way(self, label: &str) -> bool {
        self.edges().any(|edge| edge.goal.label() == label)
    }

    /// Whether this is the label of the state that it leads to, if all goes well.
    #[must_use]
    pub fn leads_to(self, label: &str) -> bool {
        let done = |edge: &Edge| edge.goal.edge(Trigger::Ended(Outcome::Success));
        self.edges().filter_map(done).any(|edge| edge.goal.label() == label)
    }
}

impl Edge {
    /// The name that ROS tools use.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self.trigger {
            Trigger::Asked(Transition::Configure) => "configure",
            Trigger::Asked(Transition::CleanUp) => "cleanup",
            Trigger::Asked(Transition::Activate) => "activate",
            Trigger::Asked(Transition::Deactivate) => "deactivate",
            Trigger::Asked(Transition::ShutDown) => "shutdown",
            Trigger::Ended(Outcome::Success) => "transition_success",
            Trigger::Ended(Outcome::Failure) => "transition_failure",
            Trigger::Ended(Outcome::Error) => "transition_error",
        }
    }

    /// What a client of `~/change_state` means in `state`. A label counts before a number, since tools that send a
    /// label leave the number at 0. Only what may be asked from outside is found.
    #[must_use]
    pub fn requested(state: State, id: u8, label: &str) -> Option<Transition> {
        state.edges().find_map(|edge| match edge.trigger {
            Trigger::Asked(transition) if label.is_empty() && edge.id == id => Some(transition),
            Trigger::Asked(transition) if !label.is_empty() && edge.label() == label => Some(transition),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Error, Failure, Success};
    use State::*;
    use Transition::{Activate, CleanUp, Configure, Deactivate, ShutDown};

    /// From a state, what is asked and how each hook ends; where the node ends up.
    fn walk(mut state: State, asked: Transition, outcomes: &[Outcome]) -> Option<State> {
        state = state.edge(Trigger::Asked(asked))?.goal;
        for outcome in outcomes {
            state = state.edge(Trigger::Ended(*outcome))?.goal;
        }
        Some(state)
    }

    #[test]
    fn every_walk_ends_where_the_standard_says() {
        let table: [(State, Transition, &[Outcome], Option<State>); 20] = [
            (Unconfigured, Configure, &[Success], Some(Inactive)),
            (Unconfigured, Configure, &[Failure], Some(Unconfigured)),
            (Unconfigured, Configure, &[Error, Success], Some(Unconfigured)),
            (Unconfigured, Configure, &[Error, Failure], Some(Finalized)),
            (Unconfigured, Configure, &[Error, Error], Some(Finalized)),
            (Inactive, Activate, &[Success], Some(Active)),
            (Inactive, Activate, &[Failure], Some(Inactive)),
            (Inactive, Activate, &[Error, Success], Some(Unconfigured)),
            (Inactive, CleanUp, &[Success], Some(Unconfigured)),
            (Inactive, CleanUp, &[Failure], Some(Inactive)),
            (Active, Deactivate, &[Success], Some(Inactive)),
            (Active, Deactivate, &[Failure], Some(Active)),
            (Active, Deactivate, &[Error, Success], Some(Unconfigured)),
            (Unconfigured, ShutDown, &[Success], Some(Finalized)),
            (Inactive, ShutDown, &[Failure], Some(Finalized)),
            (Active, ShutDown, &[Error, Failure], Some(Finalized)),
            (Unconfigured, Activate, &[], None),
            (Active, CleanUp, &[], None),
            (Finalized, Configure, &[], None),
            (Configuring, ShutDown, &[], None),
        ];
        for (start, asked, outcomes, end) in table {
            assert_eq!(walk(start, asked, outcomes), end, "{start:?} {asked:?} {outcomes:?}");
        }
    }

    #[test]
    fn a_client_knows_where_a_transition_leads_and_what_it_passes() {
        let of = |is: &dyn Fn(&str) -> bool| {
            let states = State::ALL.into_iter().filter(|state| is(state.label()));
            states.collect::<Vec<_>>()
        };
        for (transition, ids, passed, reached) in [
            (Configure, vec![1], Configuring, Inactive),
            (CleanUp, vec![2], CleaningUp, Unconfigured),
            (Activate, vec![3], Activating, Active),
            (Deactivate, vec![4], Deactivating, Inactive),
            (ShutDown, vec![5, 6, 7], ShuttingDown, Finalized),
        ] {
            assert_eq!(transition.edges().map(|edge| edge.id).collect::<Vec<_>>(), ids, "{transition:?}");
            assert_eq!(of(&|label| transition.is_on_its_way(label)), [passed], "{transition:?}");
            assert_eq!(of(&|label| transition.leads_to(label)), [reached], "{transition:?}");
        }
    }

    #[test]
    fn every_transition_state_knows_every_outcome_and_nothing_leaves_the_end() {
        for state in State::ALL {
            let ends = [Success, Failure, Error].map(|outcome| state.edge(Trigger::Ended(outcome)).is_some());
            assert_eq!(ends, [state.id() >= 10; 3], "{state:?}");
        }
        assert_eq!(Finalized.edges().count(), 0);
    }

    #[test]
    fn a_request_counts_by_label_first_and_only_for_what_may_be_asked() {
        let table = [
            (Unconfigured, 1, "", Some(Configure)),
            (Unconfigured, 0, "configure", Some(Configure)),
            (Unconfigured, 3, "configure", Some(Configure)),
            (Unconfigured, 1, "activate", None),
            (Active, 0, "shutdown", Some(ShutDown)),
            (Active, 7, "", Some(ShutDown)),
            (Active, 5, "", None),
            (Active, 0, "", None),
            (Configuring, 10, "", None),
            (Configuring, 0, "transition_success", None),
            (Active, 4, "", Some(Deactivate)),
        ];
        for (state, id, label, expected) in table {
            assert_eq!(Edge::requested(state, id, label), expected, "{state:?} {id} {label}");
        }
    }
}
