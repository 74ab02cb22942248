//! What goes into the monitor and what comes out.

use std::fmt;
use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_recipe::ActionName;
use serde::{Deserialize, Serialize};

use crate::health::{DiagnosticLevel, Ending, FailureKind, Health, LifecycleState, Symptom};

/// One process of one component. Counts from 1 over all components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessNumber(pub u64);

/// One thing that was begun for a component. Counts from 1 over all components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptId(pub u64);

/// Something that the monitor is told. What comes too late for its purpose, and what is about a component that is not in
/// the recipe, changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// Bring the robot up.
    Start,
    /// Bring it down.
    ShutDown,
    /// A process was started.
    ProcessStarted {
        /// Which.
        process: ProcessNumber,
    },
    /// A process could not be started.
    ProcessNotStarted {
        /// Which.
        process: ProcessNumber,
        /// Why, in words for people.
        reason: String,
    },
    /// A process has ended, with all that it had started.
    ProcessEnded {
        /// Which.
        process: ProcessNumber,
        /// How.
        ending: Ending,
    },
    /// A node came to the graph or left it.
    NodeSeen {
        /// Whose.
        component: ComponentName,
        /// Whether it is there.
        present: bool,
    },
    /// The state of a node's lifecycle.
    LifecycleSeen {
        /// Whose.
        component: ComponentName,
        /// Which.
        state: LifecycleState,
    },
    /// A node that is there was asked for the state of its lifecycle, and did not answer in time.
    StateUnanswered {
        /// Whose.
        component: ComponentName,
    },
    /// A component published its health, which is its heartbeat, too; its node is there.
    StatusHeard {
        /// Whose.
        component: ComponentName,
        /// What fails, if anything.
        failure: Option<FailureKind>,
        /// In its words.
        message: String,
    },
    /// `/diagnostics` has an entry about a component.
    DiagnosticHeard {
        /// Which.
        component: ComponentName,
        /// The name of the entry: what it says holds until another of that name says something else.
        name: String,
        /// How bad it is.
        level: DiagnosticLevel,
        /// In words.
        message: String,
    },
    /// Something that the recipe counts as progress has come.
    Progressed {
        /// Whose.
        component: ComponentName,
        /// Which entry of `progress`, from 0.
        watch: usize,
        /// How often.
        count: u32,
    },
    /// How many goals and calls of a component are going on that began in its present life: since its process was started
    /// last, or since it was configured last.
    GoalsChanged {
        /// Whose.
        component: ComponentName,
        /// How many.
        goals: u32,
    },
    /// Answers [`Effect::FlushCalls`]: the monitor has heard of each call that began before.
    CallsFlushed,
    /// A call of a component did not end in its time and could not be halted, or that is over.
    CallHung {
        /// Which.
        component: ComponentName,
        /// What hung, in words for people. None: nothing that hung goes on any more.
        because: Option<String>,
    },
    /// A transition or an action has ended.
    ActionEnded {
        /// Which.
        attempt: AttemptId,
        /// How.
        outcome: ActionResult,
    },
    /// The robot is stopped: what is asked of it is refused, until [`Input::Resumed`].
    Stopped,
    /// A person has looked, and it may be used again. What waits, and what was given up meanwhile, is tried again now.
    Resumed,
    /// A component that works is to be restarted all the same, as if it had failed: by `restart` or `respawn`. One that is
    /// being seen to already is left to that; one that was given up, or whose standby has its place, is tried again.
    Restart {
        /// Which.
        component: ComponentName,
        /// How.
        action: ActionName,
    },
    /// Time has passed.
    Tick,
}

/// How a transition or an action ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ActionResult {
    /// It says that it did what it should. Whether that helped is another question.
    Done,
    /// It did not.
    Failed {
        /// Why, in words for people.
        reason: String,
    },
    /// The robot is stopped, so it was not done, or was ended for that. It counts as not tried.
    Stopped,
}

/// A transition of `lifecycle_msgs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// Unconfigured to inactive.
    Configure,
    /// Inactive to active.
    Activate,
    /// Active to inactive.
    Deactivate,
    /// Inactive to unconfigured.
    CleanUp,
}

impl Transition {
    /// The state that it leads to.
    #[must_use]
    pub fn target(self) -> LifecycleState {
        match self {
            Self::Configure | Self::Deactivate => LifecycleState::Inactive,
            Self::Activate => LifecycleState::Active,
            Self::CleanUp => LifecycleState::Unconfigured,
        }
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Configure => "configure",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::CleanUp => "clean up",
        })
    }
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Start the component's process. What was known of its node and its calls is forgotten, so that it has to be told
    /// anew, even if a node of that name never left the graph. Answered by `ProcessStarted` or `ProcessNotStarted`, and in the end, if it was
    /// started, by `ProcessEnded`.
    StartProcess {
        /// Whose.
        component: ComponentName,
        /// Its number from now on.
        process: ProcessNumber,
    },
    /// End a process and all that it has started; answered by `ProcessEnded`.
    StopProcess {
        /// Whose.
        component: ComponentName,
        /// Which.
        process: ProcessNumber,
        /// How long it may take until it is killed.
        grace: Duration,
    },
    /// Take a node through a transition; answered by `ActionEnded`.
    Change {
        /// Whose.
        component: ComponentName,
        /// The number of the answer.
        attempt: AttemptId,
        /// Which.
        transition: Transition,
        /// How long it may take; after that the answer is not waited for.
        limit: Duration,
    },
    /// Do an action of the recipe; answered by `ActionEnded`.
    Act {
        /// On whose behalf.
        component: ComponentName,
        /// The number of the answer.
        attempt: AttemptId,
        /// Which.
        action: ActionName,
        /// How long it may take; after that the answer is not waited for.
        limit: Duration,
    },
    /// Tell the person who looks after the robot.
    NotifyOperator {
        /// About which.
        component: ComponentName,
        /// In words.
        message: String,
    },
    /// Nothing may be done with the component until it is released.
    Quarantine {
        /// Which.
        component: ComponentName,
        /// The component that fails: itself, or one that it depends on.
        cause: ComponentName,
    },
    /// The monitor wants to hear of each call that began before this effect was carried out; answered by `CallsFlushed`,
    /// after the last `GoalsChanged` of those.
    FlushCalls,
    /// Its process has ended, with all that it had started: so have the calls that it carried out.
    EndCalls {
        /// Which.
        component: ComponentName,
    },
    /// It can be used again.
    Release {
        /// Which.
        component: ComponentName,
    },
    /// The standby takes the component's place, or gives it back.
    FailOver {
        /// Whose place.
        component: ComponentName,
        /// Who takes it; None: itself again.
        by: Option<ComponentName>,
    },
    /// Missions are to wait.
    PauseMissions {
        /// Until these work again, or a person says so.
        cause: ComponentName,
    },
    /// They may go on.
    ResumeMissions,
    /// Something worth knowing happened.
    Report {
        /// What.
        event: MonitorEvent,
    },
    /// Everything is down. Comes once; nothing follows.
    Finished {
        /// What did not come down in its time.
        not_stopped: Vec<ComponentName>,
    },
}

/// Something that happened, for the log and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum MonitorEvent {
    /// A component is brought up only when these work.
    Waiting {
        /// Which.
        component: ComponentName,
        /// What it waits for.
        waits_for: Vec<ComponentName>,
    },
    /// A component works.
    CameUp {
        /// Which.
        component: ComponentName,
    },
    /// What the evidence says has changed.
    HealthChanged {
        /// Whose.
        component: ComponentName,
        /// In one word.
        health: Health,
        /// What is wrong, the worst first.
        symptoms: Vec<Symptom>,
    },
    /// Its health is as it was, for other reasons.
    SymptomsChanged {
        /// Whose.
        component: ComponentName,
        /// What is wrong now, the worst first. Empty: nothing any more, and it has yet to show that it works.
        symptoms: Vec<Symptom>,
    },
    /// Something is done about a failure.
    AttemptBegan {
        /// Whose.
        component: ComponentName,
        /// What is done.
        action: ActionName,
        /// From 1, as far as attempts are not forgiven.
        attempt: u32,
    },
    /// It has worked long enough that attempts are forgiven.
    AttemptsForgiven {
        /// Whose.
        component: ComponentName,
        /// The attempts that still count.
        left: u32,
    },
    /// What is to be done about a failure next is not done while the robot is stopped; it waits for the resume.
    HeldByStop {
        /// Whose.
        component: ComponentName,
        /// What waits.
        action: ActionName,
    },
    /// One that works is restarted, since somebody wants that. No attempt of its ladder.
    RestartBegan {
        /// Which.
        component: ComponentName,
        /// How.
        action: ActionName,
    },
    /// It did not help.
    AttemptFailed {
        /// Whose.
        component: ComponentName,
        /// What was done; None: bringing it up.
        action: Option<ActionName>,
        /// Why it counts as failed.
        reason: String,
    },
    /// The ladder is at its end. It begins anew after a rest.
    GaveUp {
        /// Which.
        component: ComponentName,
        /// Its last symptoms, or why the last attempt failed.
        reason: String,
        /// How long it is left alone: `cooldown_s`.
        rest: Duration,
    },
    /// A component came down: for good, or, a standby, until it is needed again.
    WentDown {
        /// Which.
        component: ComponentName,
    },
    /// So much fails that actions have to wait for each other.
    RateLimitReached,
    /// They do not any more.
    RateLimitLifted,
}
