//! What the monitor asks of the runtime: which components missions may call, and which calls have ended with a process.
//!
//! None of it waits, and none of it is lost: the monitor must not depend on how busy the missions are.

use std::collections::BTreeSet;
use std::sync::Arc;

use cortex_core::Availability;
use cortex_protocol::ComponentName;

use crate::Runtime;

impl Runtime {
    /// Keeps the missions from a component that has failed. From now on nothing of it is called; what it was doing is halted
    /// and has failed as lost. Missions that need it are told why, and wait for it for a while or plan without it; the rest
    /// goes on. Says it again with another reason, where it is in quarantine already.
    ///
    /// Like everything that the monitor says, this never waits and is never lost.
    pub fn quarantine(&self, component: ComponentName, because: String) {
        self.gate.change(|now| now.quarantine(component, &because));
    }

    /// Lets the missions have a component again. A standby keeps its place until it is told otherwise.
    pub fn release(&self, component: &ComponentName) {
        self.gate.change(|now| now.release(component));
    }

    /// Gives a component's place to another (`None`: back to itself). While a standby has it, a call of
    /// `{component}.{method}` goes to `{standby}.{method}`, where that takes the same arguments and has the same effect; what
    /// has no such method can't be called.
    pub fn fail_over(&self, component: &ComponentName, by: Option<ComponentName>) {
        self.gate.change(|now| now.fail_over(component, by.as_ref()));
    }

    /// Begins no step any more, in any mission. What runs goes on to its end; tasks are taken, and wait. A task that has
    /// waited for `MissionLimits::pause_patience` fails with this reason.
    pub fn pause(&self, because: String) {
        self.gate.change(|now| now.pause(&because));
    }

    /// Goes on after a [`pause`](Self::pause).
    pub fn unpause(&self) {
        self.gate.change(Availability::unpause);
    }

    /// What is kept from the missions now.
    #[must_use]
    pub fn availability(&self) -> Availability {
        self.gate.availability().borrow().clone()
    }

    /// The process behind a component has ended, with all that it had started: what it was called for is at rest,
    /// except where its tool says that it may outlive the process. Like everything that the monitor says, this never
    /// waits.
    pub fn end_calls(&self, component: &ComponentName) {
        let shared = Arc::clone(&self.shared.borrow());
        for call in shared.unconfirmed_halts.end_calls(component) {
            tracing::info!("{} is at rest: the process of {component} has ended", call.call.tool);
            shared.journal.end_call(&call);
        }
    }

    /// Which components have a process that is ended and started anew where they hang. The end of such a process is
    /// waited for, for a while, before a call of it counts as not at rest.
    pub fn supervise(&self, components: BTreeSet<ComponentName>) {
        self.shared.borrow().unconfirmed_halts.supervise(components);
    }
}
