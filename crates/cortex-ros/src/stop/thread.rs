//! What the thread `stop` does.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use cortex_core::ClientPort;
use cortex_interfaces::{Message, ReadOptions};
use cortex_protocol::words::counted;
use cortex_protocol::{
    Command, CommandError, CommandErrorKind, CommandOutcome, Origin, Principal, StopOutcome, ToolName,
};
use cortex_ros_client::RosError;
use cortex_ros_client::rcl::context::GuardCondition;
use cortex_ros_client::rcl::priority::go_first;
use cortex_ros_client::rcl::service::{Asker, RequestWait, Service};
use cortex_ros_client::serving::{ANSWER_ATTEMPTS, ANSWER_PAUSE};
use cortex_ros_client::text::carried;
use serde_json::json;

use super::begun::Unhaltable;
use super::messages::{Moving, Report};
use super::record::{Recorder, StopRecordError};
use super::services::Services;
use super::{
    AGENT_LIMIT, ANSWER_LIMIT, HALT_LIMIT, InsideAsker, InsideCommand, LatestStop, REMOVE_LIMIT, ResumedStop,
    StopHandle, StopNumber, messages,
};
use crate::RosTools;
use crate::task::ServiceReply;
use crate::tools::stopping::{self, Stopping};

/// The longest wait while nothing is under way, which is the time between two beats.
const IDLE: Duration = Duration::from_millis(250);
/// The wait while something is: how soon an answer is seen.
const BUSY: Duration = Duration::from_millis(5);
/// The pause after a wait that failed, so that a failure which stays does not take a core.
const PAUSE: Duration = Duration::from_millis(10);
/// Who may wait for one answer at a time; more are refused at once.
const MOST_ASKERS: usize = 64;
/// Requests that are taken in one turn.
const MOST_REQUESTS: usize = 64;
/// What the agent may have to say at a time.
const WORDS: usize = 64;
/// Answers that wait to be sent again.
const MOST_UNSENT: usize = 256;

/// Who is told to stop and to resume, and where it runs.
pub(super) struct Agent {
    port: Arc<dyn ClientPort>,
    runtime: tokio::runtime::Handle,
    wake: Arc<GuardCondition>,
    words: SyncSender<Word>,
    said: Receiver<Word>,
}

/// What the agent says.
enum Word {
    Stopped(StopNumber, Result<StopOutcome, CommandError>),
    Resumed(u64, Result<CommandOutcome, CommandError>),
}

impl Agent {
    pub(super) fn new(port: Arc<dyn ClientPort>, runtime: tokio::runtime::Handle, wake: Arc<GuardCondition>) -> Self {
        let (words, said) = sync_channel(WORDS);
        Self { port, runtime, wake, words, said }
    }

    /// Tells it to stop; what is returned says whether it has begun.
    fn stop(&self, number: StopNumber) -> Arc<AtomicBool> {
        let begun = Arc::new(AtomicBool::new(false));
        let (has_begun, port) = (Arc::clone(&begun), Arc::clone(&self.port));
        let say = self.sayer();
        self.runtime.spawn(async move {
            has_begun.store(true, Ordering::SeqCst);
            let stopped = stop_missions(&*port).await;
            say(Word::Stopped(number, stopped));
        });
        begun
    }

    /// Tells it to resume after that stop, unless it is given up before it begins.
    fn resume(
        &self,
        id: u64,
        of: ResumedStop,
        principal: Principal,
        tools: RosTools,
        recorder: Recorder,
    ) -> Arc<AtomicU8> {
        let claim = Arc::new(AtomicU8::new(OPEN));
        let (claimed, port) = (Arc::clone(&claim), Arc::clone(&self.port));
        let say = self.sayer();
        let ResumedStop { stop, recorded, asked_at } = of;
        self.runtime.spawn(async move {
            if !take(&claimed, BEGUN) {
                return;
            }
            // First: a task that runs on a robot which a restart takes for stopped does less harm than the other way round.
            let removed = tokio::task::spawn_blocking(move || recorder.resumed(recorded, REMOVE_LIMIT)).await;
            if let Err(problem) =
                removed.unwrap_or_else(|problem| Err(StopRecordError::Failed { problem: problem.to_string() }))
            {
                return say(Word::Resumed(id, Err(messages::record_stays(&problem))));
            }
            if stop.is_some_and(|stop| !stopping::resume(&tools, stop)) {
                return say(Word::Resumed(id, Err(messages::stopped_again())));
            }
            tools.latch().forget_unhaltable(asked_at);
            let resumed = port.execute(Command::Resume, principal).await;
            if tools.latch().is_closed() {
                // That stop may have been heard by the agent before this resume.
                let _ = stop_missions(&*port).await;
                return say(Word::Resumed(id, Err(messages::stopped_again())));
            }
            say(Word::Resumed(id, resumed));
        });
        claim
    }

    fn sayer(&self) -> impl Fn(Word) + Send + 'static + use<> {
        let (words, wake) = (self.words.clone(), Arc::clone(&self.wake));
        move |word| {
            // The thread may have ended, and bounds its own wait.
            let _ = words.try_send(word);
            wake.trigger();
        }
    }
}

/// Whoever calls the services of the stop; the reason of a stop says more.
fn principal() -> Principal {
    Principal::operator(Origin::new("ros", "stop"))
}

async fn stop_missions(port: &dyn ClientPort) -> Result<StopOutcome, CommandError> {
    match port.execute(Command::Stop, principal()).await? {
        CommandOutcome::Stopped(stopped) => Ok(stopped),
        other => {
            let reason = format!("NOT STOPPED: it was answered with: {other}");
            Err(CommandError::new(CommandErrorKind::Unavailable, reason))
        }
    }
}

/// Whether a resume was begun by the agent or given up by the thread, whoever came first.
const OPEN: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

fn take(claim: &AtomicU8, state: u8) -> bool {
    claim.compare_exchange(OPEN, state, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Who waits for an answer.
enum Waiting {
    Client(Arc<Service>, Asker),
    Inside(InsideAsker),
}

/// A stop that is not answered yet.
struct StopUnderWay {
    stopping: Stopping,
    begun: Instant,
    agent_begun: Arc<AtomicBool>,
    by_agent: Option<Result<StopOutcome, CommandError>>,
    waiting: Vec<Waiting>,
}

/// A resume that is not answered yet.
struct ResumeUnderWay {
    id: u64,
    begun: Instant,
    claim: Arc<AtomicU8>,
    waiting: Waiting,
}

/// An answer that could not be sent.
struct Unsent {
    service: Arc<Service>,
    asker: Asker,
    report: ServiceReply,
    attempts: u32,
    next: Instant,
}

/// The state of the thread.
pub(super) struct EventLoop {
    services: Services,
    wait: RequestWait,
    tools: RosTools,
    agent: Agent,
    handle: StopHandle,
    commands: Receiver<InsideCommand>,
    stop: Option<StopUnderWay>,
    resuming: Vec<ResumeUnderWay>,
    next_resume: u64,
    unsent: VecDeque<Unsent>,
}

impl EventLoop {
    pub(super) fn new(
        services: Services,
        tools: RosTools,
        agent: Agent,
        handle: StopHandle,
        commands: Receiver<InsideCommand>,
    ) -> Result<Self, RosError> {
        let served = vec![Arc::clone(&services.stops), Arc::clone(&services.resumes)];
        let wait = RequestWait::create(&agent.wake, served)?;
        Ok(Self {
            services,
            wait,
            tools,
            agent,
            handle,
            commands,
            stop: None,
            resuming: Vec::new(),
            next_resume: 0,
            unsent: VecDeque::new(),
        })
    }

    /// Serves until it is told to end. Gives back what it served, with nothing left of it elsewhere.
    pub(super) fn run(mut self) -> Services {
        if !go_first() {
            tracing::debug!("the thread that stops the robot has no priority over others; docs/operations.md says how");
        }
        while !self.handle.ending.load(Ordering::SeqCst) {
            self.handle.liveness.beat();
            let is_busy = self.stop.is_some() || !self.resuming.is_empty() || !self.unsent.is_empty();
            if let Err(problem) = self.wait.wait(if is_busy { BUSY } else { IDLE }) {
                tracing::warn!("{problem}");
                std::thread::sleep(PAUSE);
            }
            self.take_commands();
            self.take_stops();
            self.take_resumes();
            self.hear_agent();
            self.turn();
            self.send_again();
        }
        if let Some(mut stop) = self.stop.take() {
            stop.stopping.turn();
            let report = Report::unknown(messages::ending(&moving(&stop, &self.tools)));
            self.finish(stop, &report);
        }
        self.services
    }

    fn take_commands(&mut self) {
        for _ in 0..MOST_REQUESTS {
            match self.commands.try_recv() {
                Ok(InsideCommand::Stop { why, asked_at, asker }) => {
                    self.stop(&why, asked_at, Waiting::Inside(asker));
                }
                Ok(InsideCommand::Resume { of, principal, asker }) => {
                    self.resume(of, principal, Waiting::Inside(asker));
                }
                Err(_) => return,
            }
        }
    }

    fn take_stops(&mut self) {
        let service = Arc::clone(&self.services.stops);
        for _ in 0..MOST_REQUESTS {
            match service.take() {
                Ok(Some((asker, _))) => {
                    self.stop("~/stop was called", Instant::now(), Waiting::Client(Arc::clone(&service), asker));
                }
                Ok(None) => break,
                Err(problem) => {
                    // Whatever it was, somebody wants the robot to stop.
                    tracing::warn!("a request to stop can't be read: {problem}");
                    let (nobody, _) = sync_channel(1);
                    self.stop("~/stop was called", Instant::now(), Waiting::Inside(InsideAsker::Thread(nobody)));
                    break;
                }
            }
        }
    }

    fn stop(&mut self, why: &str, asked_at: Instant, waiting: Waiting) {
        // A resume may have come between: each stop cancels and closes anew, unless one is under way that holds.
        if let Some(under_way) = &mut self.stop
            && self.tools.latch().latest() == Some(under_way.stopping.number())
        {
            if under_way.waiting.len() < MOST_ASKERS {
                under_way.waiting.push(waiting);
            } else {
                self.answer(waiting, Report::of(Err(messages::too_many())));
            }
            return;
        }
        let stopping = Stopping::begin(&self.tools);
        let sent_at = Instant::now();
        // Now that all is sent; the disk is another thread's.
        self.handle.recorder.stopped(why);
        let latest =
            LatestStop { why: why.to_owned(), asked_at, sent_at, in_flight: stopping.in_flight(), not_stopped: None };
        tracing::warn!("stopping: {why}; {} in flight", counted(latest.in_flight, "call"));
        self.handle.note(|known| *known = Some(latest));
        let agent_begun = self.agent.stop(stopping.number());
        let earlier = self.stop.take().map(|earlier| earlier.waiting).unwrap_or_default();
        let waiting = earlier.into_iter().chain([waiting]).collect();
        self.stop = Some(StopUnderWay { stopping, begun: sent_at, agent_begun, by_agent: None, waiting });
    }

    fn take_resumes(&mut self) {
        let service = Arc::clone(&self.services.resumes);
        for _ in 0..MOST_REQUESTS {
            let (asker, _) = match service.take() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(problem) => {
                    tracing::warn!("a request to resume can't be read: {problem}");
                    return;
                }
            };
            let of = self.handle.latest_to_resume();
            self.resume(of, principal(), Waiting::Client(Arc::clone(&service), asker));
        }
    }

    fn resume(&mut self, of: ResumedStop, principal: Principal, waiting: Waiting) {
        if self.resuming.len() >= MOST_ASKERS {
            return self.answer(waiting, Report::of(Err(messages::too_many())));
        }
        let id = self.next_resume;
        self.next_resume += 1;
        let claim = self.agent.resume(id, of, principal, self.tools.clone(), self.handle.recorder.clone());
        self.resuming.push(ResumeUnderWay { id, begun: Instant::now(), claim, waiting });
    }

    fn hear_agent(&mut self) {
        while let Ok(word) = self.agent.said.try_recv() {
            match word {
                Word::Stopped(number, stopped) => {
                    if let Some(stop) = self.stop.as_mut().filter(|stop| stop.stopping.number() == number) {
                        stop.by_agent = Some(stopped);
                    }
                }
                Word::Resumed(id, resumed) => {
                    if let Some(place) = self.resuming.iter().position(|resume| resume.id == id) {
                        let resume = self.resuming.swap_remove(place);
                        self.answer(resume.waiting, Report::of(resumed));
                    }
                }
            }
        }
    }

    /// Goes on with what is under way.
    fn turn(&mut self) {
        if let Some(mut stop) = self.stop.take() {
            match verdict(&mut stop, &self.tools, &self.handle.recorder) {
                Some(report) => self.finish(stop, &report),
                None => self.stop = Some(stop),
            }
        }
        let (late, resuming) = std::mem::take(&mut self.resuming).into_iter().partition(|resume: &ResumeUnderWay| {
            let waited = resume.begun.elapsed();
            waited >= ANSWER_LIMIT || waited >= AGENT_LIMIT && take(&resume.claim, GIVEN_UP)
        });
        self.resuming = resuming;
        let late: Vec<ResumeUnderWay> = late;
        for resume in late {
            self.answer(resume.waiting, Report::of(Err(messages::not_resumed())));
        }
    }

    fn finish(&mut self, stop: StopUnderWay, report: &Report) {
        let not_stopped = moving(&stop, &self.tools).names();
        if report.reply.success {
            tracing::info!("{}", report.reply.message);
        } else {
            tracing::error!("{}", report.reply.message);
        }
        self.handle.note(|known| {
            if let Some(known) = known {
                known.not_stopped = Some(not_stopped);
            }
        });
        for waiting in stop.waiting {
            self.answer(waiting, report.clone());
        }
    }

    fn answer(&mut self, waiting: Waiting, report: Report) {
        let Report { reply, outcome } = report;
        match waiting {
            // Who asked may have lost interest.
            Waiting::Inside(InsideAsker::Thread(answer)) => drop(answer.try_send(reply)),
            Waiting::Inside(InsideAsker::Task(answer)) => drop(answer.send(outcome)),
            Waiting::Client(service, asker) => {
                let unsent = Unsent { service, asker, report: reply, attempts: 0, next: Instant::now() };
                self.send(unsent);
            }
        }
    }

    fn send_again(&mut self) {
        let now = Instant::now();
        for _ in 0..self.unsent.len() {
            let Some(unsent) = self.unsent.pop_front() else { return };
            if unsent.next <= now {
                self.send(unsent);
            } else {
                self.unsent.push_back(unsent);
            }
        }
    }

    fn send(&mut self, mut unsent: Unsent) {
        let Unsent { service, asker, report, .. } = &unsent;
        let answer = json!({"success": report.success, "message": carried(report.message.clone())});
        let answer = Message::from_json(&self.services.interface.response, &answer, &ReadOptions::exact());
        let problem = match answer {
            Ok(mut answer) => match service.answer(*asker, &mut answer) {
                Ok(()) => return,
                Err(problem) => problem.to_string(),
            },
            Err(problem) => problem.to_string(),
        };
        unsent.attempts += 1;
        if unsent.attempts > ANSWER_ATTEMPTS || self.unsent.len() >= MOST_UNSENT {
            tracing::warn!("an answer could not be sent: {problem}");
            return;
        }
        unsent.next = Instant::now() + ANSWER_PAUSE;
        self.unsent.push_back(unsent);
    }
}

/// What is answered, as soon as that is known.
fn verdict(stop: &mut StopUnderWay, tools: &RosTools, recorder: &Recorder) -> Option<Report> {
    let is_settled = stop.stopping.turn();
    let recorded = recorder.outcome();
    let waited = stop.begun.elapsed();
    let is_settled = is_settled && recorded.is_some() || waited >= HALT_LIMIT;
    let hangs = waited >= AGENT_LIMIT && !stop.agent_begun.load(Ordering::SeqCst);
    if !(is_settled && (stop.by_agent.is_some() || hangs) || waited >= ANSWER_LIMIT) {
        return None;
    }
    let moving = moving(stop, tools);
    let reply = match &stop.by_agent {
        Some(Ok(stopped)) if is_settled => messages::stopped(stopped, &moving),
        Some(Err(problem)) if is_settled => messages::failed(&problem.reason, &moving),
        None if is_settled && hangs => messages::hangs(&moving),
        _ => messages::late(&moving),
    };
    let timed_out = StopRecordError::TimedOut { waited: Duration::from_secs(waited.as_secs()) };
    let recorded = recorded.unwrap_or(Err(timed_out));
    // Only what is known to the end is an outcome: the rest is told in words.
    let known = match &stop.by_agent {
        Some(Ok(stopped)) if is_settled && recorded.is_ok() && moving.unhaltable.is_some() => {
            Some(StopOutcome { missions_ended: stopped.missions_ended, not_stopped: moving.names() })
        }
        _ => None,
    };
    let reply = messages::with_record(reply, recorded);
    Some(match known {
        Some(stopped) => Report { reply, outcome: Ok(CommandOutcome::Stopped(stopped)) },
        None => Report::unknown(reply),
    })
}

/// All that is not known to be at rest, as far as agent and thread know.
fn moving(stop: &StopUnderWay, tools: &RosTools) -> Moving {
    let ago = |begun: Unhaltable| (begun.tool, begun.times, begun.latest.elapsed());
    let unhaltable = tools.latch().unhaltable().map(|begun| begun.into_iter().map(ago).collect());
    Moving { not_stopped: not_confirmed(stop), unhaltable }
}

fn not_confirmed(stop: &StopUnderWay) -> Vec<ToolName> {
    let mut names = stop.stopping.not_stopped();
    if let Some(Ok(by_agent)) = &stop.by_agent {
        names.extend(by_agent.not_stopped.iter().cloned());
    }
    names.sort();
    names.dedup();
    names
}
