//! The actor of one running mission: gives the machine its inputs and carries out its effects.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::feedback::in_seconds;
use cortex_core::fragment::capped;
use cortex_core::mission::{GatheringId, MissionSetup, PolicySetup, RequestId};
use cortex_core::policy::RobotState;
use cortex_core::{
    Availability, CONFIRMATION_HOLDS, CallObserver, CancelReason, ChatModel, ChatRequest, ContextQuery, Effect, Input,
    Invocation, Mission, ModelError, ModelErrorKind, ReplyListener, ToolSet,
};
use cortex_language::task_class;
use cortex_protocol::{
    CallId, Control, Effect as ToolEffect, MissionEvent, MissionId, MissionResult, ToolCall, ToolFingerprint,
};
use futures::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use crate::by_hand::{self, GivenCall};
use crate::calls::Call;
use crate::envelope::Envelope;
use crate::event_log::EventLog;
use crate::meters::Meters;
use crate::mission_request::{Request, Revision, RevisionRefusal, Work};
use crate::questions::{AnswerMessage, AnswerRefusal, Answers};
use crate::shared::Shared;
use crate::spoken::{AnswerForwarder, SpokenText};
use crate::tape::Tape;

/// Inputs that may wait for the mission. Every sender waits when it is full, but for progress, of which the latest wins.
const INPUT_CAPACITY: usize = 256;

/// How long a step waits for what a client's call holds: as long as a drive across a house may take.
const HELD_PATIENCE: Duration = Duration::from_secs(60);
/// Most characters of a task by which others are told who holds something.
const TASK_CHARACTERS: usize = 80;

/// What marks the lines of the log that repeat the events of missions, for those who show both.
pub const FEEDBACK: &str = "cortex_runtime::feedback";

/// Where the events of one mission go.
pub(crate) struct Reporter {
    envelope: Envelope,
    /// The record of everything, if there is one.
    pub(crate) tape: Option<Tape>,
    log: Arc<EventLog>,
}

impl Reporter {
    pub(crate) fn new(envelope: Envelope, tape: Option<Tape>, log: Arc<EventLog>) -> Self {
        Self { envelope, tape, log }
    }

    /// Tells everybody who watches. Never waits.
    pub(crate) fn report(&mut self, event: MissionEvent) {
        let Self { envelope, tape, log } = self;
        log.add(|| {
            let event = Arc::new(envelope.wrap(event));
            tracing::info!(target: FEEDBACK, mission = %event.subject, "{}", event.data.text);
            if let Some(tape) = tape {
                tape.published(&event);
            }
            event
        });
    }
}

/// A mission that runs.
struct MissionTask {
    shared: Arc<Shared>,
    /// Who is asked for plans and decisions.
    model: Arc<dyn ChatModel>,
    id: MissionId,
    /// The beginning of the task, for whoever has to wait for it.
    task: String,
    began: Instant,
    /// The tools of the robot as the mission was told of them last.
    tools: ToolSet,
    inputs: mpsc::Sender<Input>,
    reporter: Reporter,
    requests: BTreeMap<u32, AbortHandle>,
    /// The question to the sources of the record that the mission waits for.
    gathering: Option<AbortOnDropHandle<()>>,
    /// Dropping one cancels its call: should this task die, nothing that it began goes on.
    calls: BTreeMap<CallId, DropGuard>,
    result: Option<MissionResult>,
}

/// Runs one mission to its end.
pub(crate) async fn run_mission(
    shared: Arc<Shared>,
    request: Request,
    mut reporter: Reporter,
    end: watch::Receiver<Option<CancelReason>>,
    revisions: mpsc::Receiver<Revision>,
) -> MissionResult {
    let span = tracing::info_span!("mission", mission = %request.id);
    let earlier = request.earlier(&shared.config, reporter.envelope.origin()).await;
    let Request { id, task, session, work } = request;
    let (inputs, inbox) = mpsc::channel(INPUT_CAPACITY);
    // Seen at once with what is set up, so that nothing that changes from now on is missed.
    let mut availability = shared.availability.clone();
    let held = work.held().cloned();
    let contained = seen(&availability.borrow_and_update(), held.as_ref());
    if held.is_some() {
        // The controls may have been lost since it was taken.
        availability.mark_changed();
    }
    let registry = Arc::clone(&shared.registry.borrow());
    let mut robot_state = shared.robot_state.state();
    let state = robot_state.borrow_and_update().clone();
    let mut limits = shared.config.limits.clone();
    let (mut model, mut reopens) = (Arc::clone(&shared.model), None);
    let mut reading = None;
    let mut context_sources = shared.config.context.names();
    match work {
        Work::Task => {}
        Work::Reopened(reopened) => reopens = Some(*reopened),
        Work::ByHand { call, .. } => {
            context_sources.clear();
            limits = by_hand::limits(limits);
            reading = Some(by_hand::reading(&call, &registry.tools));
            model = Arc::new(GivenCall::new(*call));
        }
    }
    if model.reads_every_tool() {
        limits.max_offered_tools = usize::MAX;
    }
    let setup = MissionSetup {
        reading: reading.unwrap_or_else(|| task_class::read(&task, registry.tools.iter())),
        task,
        session,
        earlier,
        context_sources,
        identity: shared.config.identity.clone(),
        tools: registry.tools.clone(),
        availability: contained,
        removed: registry.removed.clone(),
        limits,
        policy: PolicySetup {
            policy: shared.config.policy.clone(),
            approval: shared.config.approval,
            origin: reporter.envelope.origin().clone(),
            state,
        },
        reopens,
    };
    if let Some(tape) = &mut reporter.tape {
        tape.setup(&setup, &model.label());
    }
    let meters = Meters::begin(&shared.config.meters, &setup.limits);
    let (journal, mission) = (shared.journal.clone(), id.clone());
    journal.begin_mission(&mission, &setup.task);
    let answers = shared.questions.begin(&id, &setup.task);
    let outside = Outside { end, availability, held, revisions, answers, robot_state };
    let mission_task = MissionTask {
        shared,
        model,
        id,
        task: capped(&setup.task, TASK_CHARACTERS),
        began: Instant::now(),
        tools: setup.tools.clone(),
        inputs,
        reporter,
        requests: BTreeMap::new(),
        gathering: None,
        calls: BTreeMap::new(),
        result: None,
    };
    let result = mission_task.run(Mission::new(setup), inbox, outside, meters).instrument(span).await;
    journal.end_mission(&mission).await;
    result
}

/// What the mission is told of the availability. One that runs by hand, of whoever holds the controls, acts meanwhile.
fn seen(availability: &Availability, held: Option<&Control>) -> Availability {
    let mut seen = availability.clone();
    if held.is_some() {
        seen.set_control(Control::default());
    }
    seen
}

/// The availability has changed. Whatever else holds then, a mission by hand ends with the controls that it began under.
fn changed(availability: &Availability, held: Option<&Control>) -> Input {
    let control = availability.control();
    if held.is_some_and(|held| held != control) {
        return Input::Cancel { reason: CancelReason::ControlsLost { because: control.because.clone() } };
    }
    Input::AvailabilityChanged { availability: seen(availability, held) }
}

/// What reaches the mission from outside of its calls.
struct Outside {
    end: watch::Receiver<Option<CancelReason>>,
    availability: watch::Receiver<Availability>,
    /// The controls without which it ends.
    held: Option<Control>,
    revisions: mpsc::Receiver<Revision>,
    answers: Answers,
    robot_state: watch::Receiver<RobotState>,
}

impl MissionTask {
    async fn run(
        mut self,
        mut mission: Mission,
        mut inbox: mpsc::Receiver<Input>,
        outside: Outside,
        mut meters: Meters,
    ) -> MissionResult {
        let Outside { mut end, mut availability, held, mut revisions, mut answers, mut robot_state } = outside;
        let mut registry = self.shared.registry.clone();
        // What changed since the mission was set up is found by comparing.
        registry.mark_changed();
        let mut orphaned = false;
        self.give_all(&mut mission, meters.all());
        self.give(&mut mission, Input::Start);
        loop {
            if let Some(result) = self.result.take() {
                if let Some(tape) = &mut self.reporter.tape {
                    tape.close(result.status);
                    tape.written().await;
                }
                return result;
            }
            // The machine always wants to be woken before its end; the fallback only guards against a flaw of it.
            let wake = mission.next_wake().unwrap_or_else(|| self.began.elapsed());
            let input = tokio::select! {
                biased;
                changed = end.changed(), if !orphaned => {
                    // Nobody is left who could stop it: it must not go on.
                    orphaned = changed.is_err();
                    let end = if orphaned { Some(CancelReason::ShutDown) } else { end.borrow_and_update().clone() };
                    match end {
                        Some(reason) => Input::Cancel { reason },
                        None => continue,
                    }
                }
                Ok(()) = availability.changed() => changed(&availability.borrow_and_update(), held.as_ref()),
                Some(revision) = revisions.recv() => match self.taken(&mission, revision) {
                    Some(input) => input,
                    None => continue,
                },
                Ok(()) = robot_state.changed() => Input::RobotState { state: robot_state.borrow_and_update().clone() },
                Some(message) = answers.next() => {
                    self.take_answer(&mut mission, message);
                    continue;
                }
                Some(input) = inbox.recv() => input,
                Ok(()) = registry.changed() => {
                    let now = registry.borrow_and_update().tools.clone();
                    let changes = self.tools.changes_to(&now);
                    // What only clients may call, or who carries out what, is no news for a mission.
                    if changes.is_empty() {
                        continue;
                    }
                    self.tools = now;
                    Input::ToolsDiffer { changes }
                }
                input = meters.changed() => input,
                () = tokio::time::sleep_until(self.began + wake) => Input::Tick,
            };
            if matches!(input, Input::CallEnded { .. }) {
                // What a call has spent is known when it ends.
                self.give_all(&mut mission, meters.all());
            }
            self.give(&mut mission, input);
        }
    }

    fn give_all(&mut self, mission: &mut Mission, inputs: Vec<Input>) {
        for input in inputs {
            self.give(mission, input);
        }
    }

    /// A revision as an input, if the mission takes it. Answers who waits.
    fn taken(&self, mission: &Mission, revision: Revision) -> Option<Input> {
        if let Err(reason) = mission.check_revision(&revision.text) {
            revision.refuse(RevisionRefusal::Refused { reason });
            return None;
        }
        let Revision { text, origin, reply } = revision;
        // Whoever asked may have left.
        let _ = reply.send(Ok(self.id.clone()));
        let reading = task_class::read(&text, self.tools.iter());
        Some(Input::Revise { text, reading, origin })
    }

    /// Gives the mission an answer, if it counts now, and tells who waits.
    fn take_answer(&mut self, mission: &mut Mission, message: AnswerMessage) {
        let now = self.began.elapsed();
        if let Err(reason) = mission.check_answer(now, message.number, &message.answer) {
            message.refuse(AnswerRefusal::Refused { reason });
            return;
        }
        let AnswerMessage { number, answer, origin, reply } = message;
        // At the time for which it was checked: what counts for whom answered counts for the mission.
        self.give_at(now, mission, Input::Answered { number, answer, origin });
        // Whoever answered may have left.
        let _ = reply.send(Ok(()));
    }

    fn give(&mut self, mission: &mut Mission, input: Input) {
        let now = self.began.elapsed();
        self.give_at(now, mission, input);
    }

    fn give_at(&mut self, now: Duration, mission: &mut Mission, input: Input) {
        if let Input::CallEnded { call, .. } = &input {
            self.calls.remove(call);
        }
        if let Input::ModelReplied { request, .. } = &input {
            self.requests.remove(&request.0);
        }
        if let Some(tape) = &mut self.reporter.tape {
            tape.input(now, &input);
        }
        for effect in mission.handle(now, input) {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        if let Some(tape) = &mut self.reporter.tape {
            tape.effect(&effect);
        }
        match effect {
            Effect::AskModel { request, chat } => self.ask_model(request, chat),
            Effect::GatherContext { gathering, query } => self.gather_context(gathering, query),
            Effect::AbandonModel { request } => {
                if let Some(running) = self.requests.remove(&request.0) {
                    running.abort();
                }
            }
            Effect::Invoke { call, tool_call, fingerprint } => self.invoke(call, tool_call, fingerprint),
            Effect::CancelCall { call } => {
                // Its end is still awaited; only the guard goes.
                drop(self.calls.remove(&call));
            }
            Effect::AskPerson { question } => self.shared.questions.asked(&self.id, question),
            Effect::CloseQuestion { number, outcome } => self.shared.questions.closed(&self.id, number, outcome),
            Effect::Say { text, piece } => {
                // Nobody may be listening.
                let _ = self.shared.outputs.send(SpokenText { mission: self.id.clone(), text, piece });
            }
            Effect::Report { event } => self.reporter.report(event),
            Effect::Finish { result } => {
                self.requests.values().for_each(AbortHandle::abort);
                self.result = Some(result);
            }
        }
    }

    fn ask_model(&mut self, request: RequestId, chat: ChatRequest) {
        let model = Arc::clone(&self.model);
        let inputs = self.inputs.clone();
        let patience = self.shared.config.model_timeout;
        let listener = Arc::new(AnswerForwarder::new(request, self.inputs.clone()));
        let running = self.shared.tracker.spawn(async move {
            let reply = ask(model.as_ref(), &chat, listener, patience).await;
            // A closed mission needs no reply.
            let _ = inputs.send(Input::ModelReplied { request, reply }).await;
        });
        self.requests.insert(request.0, running.abort_handle());
    }

    fn gather_context(&mut self, gathering: GatheringId, query: ContextQuery) {
        let (sources, inputs) = (self.shared.config.context.clone(), self.inputs.clone());
        let running = self.shared.tracker.spawn(async move {
            let context = sources.gather(&query).await;
            // A closed mission needs nothing any more.
            let _ = inputs.send(Input::ContextGathered { gathering, context }).await;
        });
        self.gathering = Some(AbortOnDropHandle::new(running));
    }

    fn invoke(&mut self, call: CallId, tool_call: ToolCall, fingerprint: ToolFingerprint) {
        let inputs = self.inputs.clone();
        let (provider, spec) = match self.shared.find(&tool_call, fingerprint) {
            Ok(found) => found,
            Err(outcome) => {
                self.shared.tracker.spawn(async move {
                    let _ = inputs.send(Input::CallEnded { call, outcome }).await;
                });
                return;
            }
        };
        let token = CancellationToken::new();
        self.calls.insert(call, token.clone().drop_guard());
        let write_permit = match &self.reporter.tape {
            Some(tape) if spec.effect != ToolEffect::Observe => Some(tape.write_permit()),
            _ => None,
        };
        let timeout = spec.timeout;
        let invocation = Invocation { mission: self.id.clone(), id: call, call: tool_call, fingerprint, timeout };
        let (observer, accepted) = Observer::new(call, self.inputs.clone());
        let wanted_by = format!("the task \"{}\"", self.task);
        let decision_holds = (spec.effect != ToolEffect::Observe).then_some(CONFIRMATION_HOLDS);
        let patience = HELD_PATIENCE;
        let to_make = Call { provider, spec, invocation, wanted_by, patience, decision_holds, write_permit };
        let shared = Arc::clone(&self.shared);
        self.shared.tracker.spawn(async move {
            let running = shared.make(to_make, observer, token);
            tokio::pin!(running);
            let announced = async {
                // An observer that is dropped unused belongs to a call that was never accepted.
                match accepted.await {
                    Ok(()) => inputs.send(Input::CallAccepted { call }).await.unwrap_or_default(),
                    Err(_) => std::future::pending().await,
                }
            };
            let made = tokio::select! {
                biased;
                made = &mut running => made,
                () = announced => running.await,
            };
            let outcome = match made {
                Ok(outcome) => outcome,
                Err(unrecorded) => {
                    let outcome = unrecorded.outcome();
                    // A closed mission has failed already.
                    let _ = inputs.send(Input::GiveUp { reason: unrecorded.to_string() }).await;
                    outcome
                }
            };
            // A mission that has given the call up has reported it as not confirmed.
            let _ = inputs.send(Input::CallEnded { call, outcome }).await;
        });
    }
}

/// Tells the mission how one call is getting on.
struct Observer {
    call: CallId,
    inputs: mpsc::Sender<Input>,
    accepted: Mutex<Option<oneshot::Sender<()>>>,
}

impl Observer {
    /// The observer, and what resolves when the call is accepted.
    fn new(call: CallId, inputs: mpsc::Sender<Input>) -> (Arc<Self>, oneshot::Receiver<()>) {
        let (accept, accepted) = oneshot::channel();
        (Arc::new(Self { call, inputs, accepted: Mutex::new(Some(accept)) }), accepted)
    }
}

impl CallObserver for Observer {
    fn accepted(&self) {
        let accept = self.accepted.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(accept) = accept {
            // The call may have ended meanwhile.
            let _ = accept.send(());
        }
    }

    fn progressed(&self, feedback: String) {
        // Dropped when the mission is busy: newer progress follows.
        let _ = self.inputs.try_send(Input::CallProgressed { call: self.call, feedback });
    }
}

async fn ask(
    model: &dyn ChatModel,
    chat: &ChatRequest,
    listener: Arc<dyn ReplyListener>,
    patience: Duration,
) -> Result<cortex_core::ChatReply, ModelError> {
    let failed = |kind, message: String| Err(ModelError { kind, message, hint: String::new(), retry_after: None });
    match tokio::time::timeout(patience, AssertUnwindSafe(model.chat_streaming(chat, listener)).catch_unwind()).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(_)) => failed(ModelErrorKind::BadReply, "the model's adapter failed in an unforeseen way".to_owned()),
        Err(_) => {
            let message = format!("{} did not answer within {} s", model.label(), in_seconds(patience));
            failed(ModelErrorKind::Timeout, message)
        }
    }
}
