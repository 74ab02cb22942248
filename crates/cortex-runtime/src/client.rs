//! A call that a client makes without a mission: an event of a recipe, for example. It goes the way of every call (`calls`),
//! and the mission queue has a word: not while the robot is stopped, or Cortex is not active.
//!
//! What a mission does for its own calls is done here for this one: a standby serves what it has the place of, and a call
//! whose component goes into quarantine is halted and lost.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{Availability, CallObserver, Invocation, RemovedTools, Unobserved};
use cortex_protocol::{CallId, FailureKind, HaltState, Origin, ToolCall, ToolOutcome, ToolSpec};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::Runtime;
use crate::calls::Call;
use crate::envelope::new_mission_id;
use crate::mission_queue::{CallReadiness, QueueMessage};
use crate::risk_class::RiskClass;
use crate::shared::Shared;
use crate::tool_registry::ToolRegistry;

/// How long a client's call waits for what others hold: it is wanted for what is so now.
const HELD_PATIENCE: Duration = Duration::from_secs(10);

impl Runtime {
    /// Makes one call without a mission, to its end, as a mission would make it: checked, kept from what is in quarantine,
    /// noted for the next life of Cortex, and halted by a stop, by `unwanted`, or when this future is dropped. It needs no
    /// turn; what others hold it waits for, at most ten seconds, and then says who holds it.
    ///
    /// A tool is named by its canonical or its wire name; those for clients alone
    /// ([`offer_to_clients`](crate::ProviderHandle::offer_to_clients)) can be called, too.
    ///
    /// What collides with something that is not known to be at rest is not called: see [`unconfirmed_halts`](Self::unconfirmed_halts).
    /// What only looks is, and what neither moves nor holds anything: a halt, for example.
    pub async fn call(&self, origin: Origin, call: ToolCall, unwanted: CancellationToken) -> ToolOutcome {
        let shared = Arc::clone(&self.shared.borrow());
        let (spec, call) = match destination(&self.registry.borrow(), &self.gate.availability().borrow(), call) {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        let (reply, answer) = oneshot::channel();
        // Whoever is not answered finds the mission queue gone.
        let risk_class = RiskClass::of(&spec);
        let _ = self.mission_queue.send(QueueMessage::Call { risk_class, reply }).await;
        let leave = tokio::select! {
            biased;
            () = unwanted.cancelled() => return ToolOutcome::not_begun("it was cancelled before it began"),
            leave = answer => leave,
        };
        let leave = match leave {
            Ok(Ok(leave)) => leave,
            Ok(Err(refusal)) => return refused(refusal.to_string()),
            Err(_) => return refused("Cortex is shutting down".to_owned()),
        };
        let ending = leave.unwanted.child_token();
        let _halted_with_this = ending.clone().drop_guard();
        let mission_queue = self.mission_queue.clone();
        let token = ending.clone();
        let mut running = self.tracker.spawn(async move {
            let by = format!("the {} {}", origin.channel, origin.client);
            let outcome = carry_out(&shared, spec, call, by, token).await;
            if outcome.halt.may_go_on() {
                // Its component may have come back meanwhile, and can say so. A mission queue that is closed asks nobody.
                let _ = mission_queue.send(QueueMessage::Left).await;
            }
            drop(leave);
            outcome
        });
        let ended = tokio::select! {
            biased;
            ended = &mut running => ended,
            () = unwanted.cancelled() => {
                ending.cancel();
                running.await
            }
        };
        ended.unwrap_or_else(|problem| {
            tracing::error!("a call ended without an outcome: {problem}");
            ToolOutcome::failure(FailureKind::Internal, "it ended by a flaw of Cortex; see the log")
                .with_halt(HaltState::Unconfirmed)
        })
    }

    /// Whether clients may have things done, now and later; what a client does by itself, beyond its calls, ends with it.
    #[must_use]
    pub fn call_readiness(&self) -> watch::Receiver<CallReadiness> {
        self.call_readiness.clone()
    }
}

fn refused(because: String) -> ToolOutcome {
    ToolOutcome::failure(FailureKind::Denied, because)
}

/// What is really called: the tool, or that of the standby that has its place.
fn destination(
    registry: &ToolRegistry,
    availability: &Availability,
    call: ToolCall,
) -> Result<(ToolSpec, ToolCall), ToolOutcome> {
    let ToolCall { tool, arguments } = call;
    let for_all = availability.available(&registry.tools, &registry.removed);
    // What is for clients alone is there as long as somebody can do it.
    let for_clients = availability.available(&registry.for_clients, &RemovedTools::default());
    let kept_back = for_all.kept_back.get(&tool).or_else(|| for_clients.kept_back.get(&tool));
    if let Some(because) = kept_back {
        let message = format!("it was not called: {because}");
        return Err(ToolOutcome::failure(FailureKind::Unavailable, message));
    }
    let found = [(&for_all, &registry.tools), (&for_clients, &registry.for_clients)]
        .into_iter()
        .find_map(|(available, all)| Some((available, all, available.tools.resolve(tool.as_str())?)));
    let (available, all, spec) =
        found.ok_or_else(|| ToolOutcome::failure(FailureKind::NotFound, "there is no such tool on the robot now"))?;
    available
        .tools
        .check(&spec.name, &arguments)
        .map_err(|problem| ToolOutcome::failure(FailureKind::InvalidArguments, problem.to_string()))?;
    let server = available.served_by.get(&spec.name).and_then(|server| all.get(server));
    let spec = server.unwrap_or(spec).clone();
    let call = ToolCall { tool: spec.name.clone(), arguments };
    Ok((spec, call))
}

/// Makes the call; it is lost when its component is.
async fn carry_out(
    shared: &Shared,
    spec: ToolSpec,
    call: ToolCall,
    wanted_by: String,
    ending: CancellationToken,
) -> ToolOutcome {
    let fingerprint = spec.fingerprint();
    // It may have left while it was waited for leave.
    let (provider, spec) = match shared.find(&call, fingerprint) {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    let component = Availability::component_of(&spec, &call);
    let timeout = spec.timeout;
    // An id like that of a mission: a later life of Cortex finds its goal by it.
    let invocation = Invocation { mission: new_mission_id(), id: CallId(1), call, fingerprint, timeout };
    // No model has decided it on what it saw: an event is decided by its own condition.
    let (patience, decision_holds) = (HELD_PATIENCE, None);
    let to_make = Call { provider, spec, invocation, wanted_by, patience, decision_holds, write_permit: None };
    let observer: Arc<dyn CallObserver> = Arc::new(Unobserved);
    let mut availability = shared.availability.clone();
    let halted = ending.child_token();
    let running = shared.make(to_make, observer, halted.clone());
    tokio::pin!(running);
    let lost = async {
        let Some(component) = component else { return std::future::pending().await };
        let reason = |now: &Availability| now.reason_against(&component).map(str::to_owned);
        let because = availability.wait_for(|now| reason(now).is_some()).await.ok().and_then(|now| reason(&now));
        match because {
            Some(because) => format!("{component} was put in quarantine: {because}"),
            None => std::future::pending().await,
        }
    };
    let (made, lost) = tokio::select! {
        biased;
        made = &mut running => (made, None),
        because = lost => {
            halted.cancel();
            (running.await, Some(because))
        }
    };
    let outcome = made.unwrap_or_else(|unrecorded| unrecorded.outcome());
    match lost {
        // What a failing component says of itself is believed no more.
        Some(because) => ToolOutcome::failure(FailureKind::ComponentLost, because).with_halt(outcome.halt),
        None => outcome,
    }
}
