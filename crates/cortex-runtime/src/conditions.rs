//! A call whose tool names conditions: not sent unless its preconditions hold, halted when an invariant does not hold any
//! more, and failed unless there is evidence that it did what it says.
//!
//! The robot is watched here, at the rate of its topics; neither the mission nor a model is asked. What came of it is in
//! the call's one outcome, which is recorded as any other.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::condition::{self, BoundCondition, Finding, Observations, Verdict};
use cortex_core::fragment::capped;
use cortex_core::{CallObserver, ConditionSource, Invocation, ObservationStream, ToolProvider, Watching};
use cortex_protocol::condition::{Condition, Source};
use cortex_protocol::{FailureKind, HaltState, ToolOutcome, ToolSpec};
use futures::FutureExt;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::dispatch::{CallBounds, carry_out};

/// How long the watch may take to begin, and what it is about to be seen first.
const FIRST_SIGHT: Duration = Duration::from_secs(3);
/// How long a condition that does not hold may take to: a robot that has just stopped takes a moment to be seen at rest.
const SETTLE: Duration = Duration::from_secs(1);
/// A value is too old from this long after its time on: times are compared exactly.
const MOMENT: Duration = Duration::from_millis(1);
/// Sightings that are taken at once before something begins; a flood must not keep it from beginning.
const TAKEN_AT_ONCE: usize = 1_024;
/// Most characters of what is told of a condition.
const TOLD: usize = 600;

/// Carries out one call, with what its tool's conditions ask for. Always returns, within the tool's time and the bounds.
///
/// Missions do this for their steps; it is public for who makes calls without a mission.
pub async fn run_call(
    provider: Arc<dyn ToolProvider>,
    spec: ToolSpec,
    invocation: Invocation,
    observer: Arc<dyn CallObserver>,
    cancelled: CancellationToken,
    bounds: CallBounds,
) -> ToolOutcome {
    if spec.conditions.is_empty() {
        return carry_out(provider, spec, invocation, observer, cancelled, bounds).await;
    }
    let condition_source = match provider.watching() {
        Watching::Rehearsal => return carry_out(provider, spec, invocation, observer, cancelled, bounds).await,
        Watching::Nobody => {
            return not_ready("its conditions can't be checked: nobody watches what they are about");
        }
        Watching::By(condition_source) => condition_source,
    };
    let ready = tokio::select! {
        biased;
        () = cancelled.cancelled() => Err(ToolOutcome::not_begun("it was cancelled before it began")),
        ready = prepare(condition_source.as_ref(), &spec, &invocation) => ready,
    };
    let mut supervision = match ready {
        Ok(supervision) => supervision,
        Err(outcome) => return outcome,
    };
    supervision.begin();
    // Something may have changed while the watch was made ready.
    if let Some(finding) = supervision.first_not_holding(supervision.before.iter().chain(&supervision.during)) {
        return not_ready(finding.explanation);
    }

    let halt = cancelled.child_token();
    let running = carry_out(provider, spec, invocation, Arc::clone(&observer), halt.clone(), bounds);
    tokio::pin!(running);
    let breach = tokio::select! {
        biased;
        outcome = &mut running => Err(outcome),
        breach = supervision.breach() => Ok(breach),
    };
    match breach {
        Ok(breach) => {
            let after_s = supervision.since_begin().as_secs_f64();
            halt.cancel();
            let outcome = running.await;
            // Who was cancelled by a person was not ended by this.
            if cancelled.is_cancelled() { outcome } else { halted(&breach, after_s, outcome.halt) }
        }
        Err(outcome) if outcome.is_success() => tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                ToolOutcome::cancelled(outcome.halt, "it was cancelled before there was evidence that it was done")
            }
            seen = supervision.evidence(observer.as_ref()) => judged(outcome, seen),
        },
        Err(outcome) => outcome,
    }
}

fn not_ready(problem: impl Into<String>) -> ToolOutcome {
    ToolOutcome::failure(FailureKind::NotReady, format!("it was not called: {}", problem.into()))
}

fn halted(breach: &Finding, after_s: f64, halt: HaltState) -> ToolOutcome {
    let how = match breach.verdict {
        Verdict::Unknown => "was no longer known to hold",
        Verdict::Broken | Verdict::Holds => "did not hold any more",
    };
    let rest = match halt {
        HaltState::AtRest | HaltState::Halted => "it was halted",
        HaltState::Refused => "told to halt, it refused",
        HaltState::Unconfirmed => "told to halt, it did not confirm",
    };
    let message = format!("what must hold while it runs {how} after {after_s:.1} s; {rest}: {}", breach.explanation);
    ToolOutcome::failure(FailureKind::InvariantBroken, message).with_halt(halt)
}

fn judged(outcome: ToolOutcome, seen: Result<Vec<String>, Finding>) -> ToolOutcome {
    match seen {
        Ok(evidence) => ToolOutcome { evidence, ..outcome },
        Err(Finding { verdict, explanation }) => {
            let said = capped(&outcome.text(), TOLD);
            let said = if said.is_empty() { "that it is done".to_owned() } else { format!("\"{said}\"") };
            let (kind, message) = match verdict {
                Verdict::Broken => {
                    let message = format!("contradicted: it says {said}, but it was seen not to be so: {explanation}");
                    (FailureKind::Contradicted, message)
                }
                Verdict::Unknown | Verdict::Holds => (
                    FailureKind::NoEvidence,
                    format!("no evidence: it says {said}, but nobody knows it: {explanation}"),
                ),
            };
            ToolOutcome::failure(kind, message).with_halt(outcome.halt)
        }
    }
}

/// Begins to watch, and waits until everything holds that must before the call and while it runs.
async fn prepare(
    condition_source: &dyn ConditionSource,
    spec: &ToolSpec,
    invocation: &Invocation,
) -> Result<Supervision, ToolOutcome> {
    let conditions = &spec.conditions;
    for source in conditions.after.iter().flat_map(|evidence| sources(&evidence.condition)) {
        if let Some(reason) = condition_source.echo(&source, &invocation.call) {
            return Err(not_ready(format!("what it names as evidence is none: {reason}")));
        }
    }
    let arguments = &invocation.call.arguments;
    let (before, during) = (bound(&conditions.before, arguments)?, bound(&conditions.during, arguments)?);
    let evidence = conditions.after.iter().map(|evidence| &evidence.condition);
    let after = bound(evidence, arguments)?.into_iter().zip(conditions.after.iter().map(|evidence| evidence.within));
    let all = conditions.all().flat_map(sources).collect();
    let started = Instant::now();
    let watch = tokio::time::timeout(FIRST_SIGHT, condition_source.watch(all)).await;
    let watch = watch.map_err(|_| not_ready("what its conditions are about can't be watched"))?;
    let mut supervision = Supervision {
        watch,
        observations: Observations::default(),
        started,
        began: started,
        before,
        during,
        after: after.collect(),
    };
    // What must not change while it runs is compared with what is seen now; at the beginning that is noted again.
    supervision.observations.begin();
    supervision.ready().await.map_err(|finding| not_ready(finding.explanation))?;
    supervision.connected().await;
    Ok(supervision)
}

fn sources(condition: &Condition) -> Vec<Source> {
    condition.checks().into_iter().map(|check| check.source.clone()).collect()
}

fn bound<'a>(
    conditions: impl IntoIterator<Item = &'a Condition>,
    arguments: &Map<String, Value>,
) -> Result<Vec<BoundCondition>, ToolOutcome> {
    let bound = conditions.into_iter().map(|one| condition::bind(one, arguments));
    bound.map(|bound| bound.map_err(|problem| not_ready(problem.to_string()))).collect()
}

/// A call's conditions and what is seen of them.
struct Supervision {
    watch: Box<dyn ObservationStream>,
    observations: Observations,
    /// The beginning of the times of the observations.
    started: Instant,
    /// When the call was sent.
    began: Instant,
    before: Vec<BoundCondition>,
    during: Vec<BoundCondition>,
    /// Each with how long it may take.
    after: Vec<(BoundCondition, Duration)>,
}

impl Supervision {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn since_begin(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes what is seen next.
    async fn see(&mut self) {
        let (source, observation) = self.watch.next().await;
        self.observations.see(source, observation, self.started.elapsed());
    }

    /// From here on observations are of what the call does.
    fn begin(&mut self) {
        for _ in 0..TAKEN_AT_ONCE {
            if self.see().now_or_never().is_none() {
                break;
            }
        }
        self.observations.begin();
        self.began = Instant::now();
    }

    /// The first condition that is not known to hold.
    fn first_not_holding<'a>(&self, conditions: impl IntoIterator<Item = &'a BoundCondition>) -> Option<Finding> {
        let now = self.now();
        let findings = conditions.into_iter().map(|one| one.evaluate(&self.observations, None, now));
        findings.into_iter().find(|finding| finding.verdict != Verdict::Holds).map(short)
    }

    /// Waits until the preconditions and the invariants hold, for a bounded time.
    async fn ready(&mut self) -> Result<(), Finding> {
        loop {
            let Some(finding) = self.first_not_holding(self.before.iter().chain(&self.during)) else { return Ok(()) };
            let patience = if finding.verdict == Verdict::Broken { SETTLE } else { FIRST_SIGHT };
            let end = self.started + patience;
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(end) => return Err(finding),
                () = self.see() => {}
            }
        }
    }

    /// Waits, for a bounded time, until what shows the evidence is heard or is known not to be: a robot that tells it once,
    /// right after the call, must not be missed.
    async fn connected(&mut self) {
        let end = self.started + FIRST_SIGHT;
        loop {
            let mut wanted = self.after.iter().flat_map(|(condition, _)| condition.condition().checks());
            if wanted.all(|check| self.observations.knows(&check.source)) {
                return;
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(end) => return,
                () = self.see() => {}
            }
        }
    }

    /// Resolves when an invariant is not known to hold any more.
    async fn breach(&mut self) -> Finding {
        loop {
            if let Some(finding) = self.first_not_holding(&self.during) {
                return finding;
            }
            let now = self.now();
            let stale = self.during.iter().filter_map(|one| one.stale_after(&self.observations, now)).min();
            let wake = stale.and_then(|stale| self.started.checked_add(stale + MOMENT));
            let is_stale = async {
                match wake {
                    Some(wake) => tokio::time::sleep_until(wake).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = is_stale => {}
                () = self.see() => {}
            }
        }
    }

    /// Waits until all evidence was seen, each within its time, and says what was seen; or says what was not.
    async fn evidence(&mut self, observer: &dyn CallObserver) -> Result<Vec<String>, Finding> {
        let reported = Instant::now();
        let since = self.began.saturating_duration_since(self.started);
        let mut open: Vec<usize> = (0..self.after.len()).collect();
        let mut explanation = vec![String::new(); self.after.len()];
        let mut has_waited = false;
        loop {
            let now = self.now();
            let mut missing: Option<(Instant, Finding)> = None;
            open.retain(|index| {
                let Some((condition, within)) = self.after.get(*index) else { return false };
                let finding = short(condition.evaluate(&self.observations, Some(since), now));
                let end = reported + *within;
                match (finding.verdict, explanation.get_mut(*index)) {
                    (Verdict::Holds, Some(explanation)) => {
                        *explanation = finding.explanation;
                        false
                    }
                    _ => {
                        if missing.as_ref().is_none_or(|(earliest, _)| end < *earliest) {
                            missing = Some((end, finding));
                        }
                        true
                    }
                }
            });
            let Some((end, finding)) = missing else { return Ok(explanation) };
            if !has_waited {
                has_waited = true;
                observer.progressed(format!("it says that it is done; looking for evidence: {}", finding.explanation));
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(end) => return Err(finding),
                () = self.see() => {}
            }
        }
    }
}

fn short(finding: Finding) -> Finding {
    Finding { explanation: capped(&finding.explanation, TOLD), ..finding }
}
