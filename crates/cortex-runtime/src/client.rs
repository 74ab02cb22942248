//! A call that a client makes without a mission: an event of a recipe, for example. It goes the way of every call (`calls`),
//! and the desk has a word: not while the robot is stopped, or Cortex is not active.
//!
//! What a mission does for its own calls is done here for this one: a stand-in serves what it has the place of, and a call
//! whose component goes into quarantine is halted and lost.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{CallObserver, Containment, Departed, Invocation, Unobserved};
use cortex_protocol::{CallId, FailureKind, HaltState, Origin, ToolCall, ToolOutcome, ToolSpec};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::Runtime;
use crate::calls::{Call, Weight};
use crate::desk::{DeskMessage, Duty};
use crate::drive::Shared;
use crate::envelope::new_mission_id;
use crate::offer::Offer;

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
    /// What collides with something that is not known to be at rest is not called: see [`leftovers`](Self::leftovers).
    /// What only looks is, and what neither moves nor holds anything: a halt, for example.
    pub async fn call(&self, origin: Origin, call: ToolCall, unwanted: CancellationToken) -> ToolOutcome {
        let shared = Arc::clone(&self.shared.borrow());
        let (spec, call) = match destination(&self.offer.borrow(), &self.gate.containment().borrow(), call) {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        let (reply, answer) = oneshot::channel();
        // Whoever is not answered finds the desk gone.
        let _ = self.desk.send(DeskMessage::Call { weight: Weight::of(&spec), reply }).await;
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
        let desk = self.desk.clone();
        let token = ending.clone();
        let mut running = self.tracker.spawn(async move {
            let by = format!("the {} {}", origin.channel, origin.client);
            let outcome = carry_out(&shared, spec, call, by, token).await;
            if outcome.halt.may_go_on() {
                // Its component may have come back meanwhile, and can say so. A desk that is closed asks nobody.
                let _ = desk.send(DeskMessage::Left).await;
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
    pub fn duty(&self) -> watch::Receiver<Duty> {
        self.duty.clone()
    }
}

fn refused(because: String) -> ToolOutcome {
    ToolOutcome::failure(FailureKind::Denied, because)
}

/// What is really called: the tool, or that of the stand-in that has its place.
fn destination(offer: &Offer, containment: &Containment, call: ToolCall) -> Result<(ToolSpec, ToolCall), ToolOutcome> {
    let ToolCall { tool, arguments } = call;
    let for_all = containment.confine(&offer.tools, &offer.departed);
    // What is for clients alone is there as long as somebody can do it.
    let for_clients = containment.confine(&offer.for_clients, &Departed::default());
    let kept_back = for_all.kept_back.get(&tool).or_else(|| for_clients.kept_back.get(&tool));
    if let Some(because) = kept_back {
        let message = format!("it was not called: {because}");
        return Err(ToolOutcome::failure(FailureKind::Unavailable, message));
    }
    let found = [(&for_all, &offer.tools), (&for_clients, &offer.for_clients)]
        .into_iter()
        .find_map(|(confined, all)| Some((confined, all, confined.tools.resolve(tool.as_str())?)));
    let (confined, all, spec) =
        found.ok_or_else(|| ToolOutcome::failure(FailureKind::NotFound, "there is no such tool on the robot now"))?;
    confined
        .tools
        .check(&spec.name, &arguments)
        .map_err(|problem| ToolOutcome::failure(FailureKind::InvalidArguments, problem.to_string()))?;
    let server = confined.served_by.get(&spec.name).and_then(|server| all.get(server));
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
    let component = Containment::component_of(&spec, &call);
    let timeout = spec.timeout;
    // An id like that of a mission: a later life of Cortex finds its goal by it.
    let invocation = Invocation { mission: new_mission_id(), id: CallId(1), call, fingerprint, timeout };
    // No model has decided it on what it saw: an event is decided by its own condition.
    let (patience, decision_holds) = (HELD_PATIENCE, None);
    let to_make = Call { provider, spec, invocation, wanted_by, patience, decision_holds, clearance: None };
    let observer: Arc<dyn CallObserver> = Arc::new(Unobserved);
    let mut containment = shared.containment.clone();
    let halted = ending.child_token();
    let running = shared.make(to_make, observer, halted.clone());
    tokio::pin!(running);
    let lost = async {
        let Some(component) = component else { return std::future::pending().await };
        let reason = |now: &Containment| now.reason_against(&component).map(str::to_owned);
        let because = containment.wait_for(|now| reason(now).is_some()).await.ok().and_then(|now| reason(&now));
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
