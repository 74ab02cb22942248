//! One scenario from its task to its result, on a paused clock.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::ChatRequest;
use cortex_core::meter::Reading;
use cortex_protocol::StopOutcome;
use cortex_protocol::mission::Expense;
use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{
    Answer, CloudEvent, MissionId, MissionResult, Origin, QuestionId, QuestionNumber, Submission, ToolCall, ToolSpec,
};
use cortex_runtime::{Events, MissionTicket, ProviderHandle, Rejection, Runtime};
use cortex_testkit::FakeObservations;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::file::{FurtherTask, Happening, People, Scenario, When};
use crate::world::{Moment, ScriptedMeters, World};

/// No mission lasts longer than this by its own clock; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// Whether all happens that a scenario says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// All of it must, and have its effect.
    AsWritten,
    /// Another model plans than the one that it was written for: what no longer fits does not happen, or has no effect.
    AsItComes,
}

/// What was seen of a scenario.
pub(crate) struct Observed {
    /// Of the first task.
    pub(crate) result: MissionResult,
    /// Of the further tasks, in order.
    pub(crate) others: Vec<(FurtherTask, Result<MissionResult, Rejection>)>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) halts: Vec<String>,
    /// The events of all tasks.
    pub(crate) events: Vec<Arc<CloudEvent>>,
    /// Their lines of feedback.
    pub(crate) lines: Vec<String>,
    /// What a scripted model was asked; empty for the command reader.
    pub(crate) requests: Vec<ChatRequest>,
    /// Requests that were counted, over all tasks.
    pub(crate) counted_requests: usize,
    pub(crate) stops: Vec<StopOutcome>,
    /// The tools as they were at the beginning.
    pub(crate) specs: Vec<ToolSpec>,
    /// Whether nothing was left running in the end.
    pub(crate) at_rest: bool,
}

/// Runs a scenario.
pub(crate) fn run(scenario: &Scenario, world: World, course: Course) -> Observed {
    let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    clock.expect("a runtime on a paused clock").block_on(tell(scenario, world, course))
}

async fn tell(scenario: &Scenario, world: World, course: Course) -> Observed {
    let World { config, specs, absent, tools, observations, model, script, happenings, meters } = world;
    let runtime = Runtime::start(config, model);
    let provider = runtime.register(tools.clone());
    let mut offer = Offer { provider, all: specs.clone(), absent };
    offer.send().await;
    let (events, began) = (runtime.events(), Instant::now());
    let watch = Watch { runtime: runtime.clone(), events, offer, observations, happenings, meters, began, course };
    let (over, is_over) = oneshot::channel();
    let watching = tokio::spawn(watch.run(is_over));

    let submission = |text: &str| Submission {
        task: text.to_owned(),
        session: scenario.session.as_deref().map(Into::into),
        origin: Origin::new("cli", "scenario"),
    };
    let first = runtime.submit(submission(&scenario.task)).await.expect("the first task is taken");
    let mut at_once = Vec::new();
    for further in scenario.more.iter().filter(|further| further.when == When::AtOnce) {
        at_once.push((further.clone(), runtime.submit(submission(&further.task)).await));
    }
    let result = ended(first).await;
    let mut others = Vec::new();
    for (further, ticket) in at_once {
        others.push((further, ended_if_taken(ticket).await));
    }
    for further in scenario.more.iter().filter(|further| further.when == When::Afterwards) {
        others.push((further.clone(), ended_if_taken(runtime.submit(submission(&further.task)).await).await));
    }
    let at_rest = runtime.shut_down(PATIENCE).await;
    // The watch may have ended with a failed assertion, which its own end tells.
    let _ = over.send(());
    let (events, stops) = watching.await.expect("the watch ends well");

    let results = others.iter().filter_map(|(_, other)| other.as_ref().ok()).chain([&result]);
    Observed {
        counted_requests: results.map(|result| result.usage.model_calls as usize).sum(),
        result,
        others,
        calls: tools.calls(),
        halts: tools.halted(),
        lines: events.iter().map(|event| event.data.text.clone()).collect(),
        events,
        requests: script.map(|script| script.requests()).unwrap_or_default(),
        stops,
        specs,
        at_rest,
    }
}

async fn ended(ticket: MissionTicket) -> MissionResult {
    let result = tokio::time::timeout(PATIENCE, ticket.result).await;
    result.expect("a mission ends").expect("every task that was taken gets its result")
}

async fn ended_if_taken(ticket: Result<MissionTicket, Rejection>) -> Result<MissionResult, Rejection> {
    match ticket {
        Ok(ticket) => Ok(ended(ticket).await),
        Err(rejection) => Err(rejection),
    }
}

/// The tools on offer, as they come and go.
struct Offer {
    provider: ProviderHandle,
    all: Vec<ToolSpec>,
    absent: Vec<String>,
}

impl Offer {
    async fn send(&mut self) {
        let there = |spec: &&ToolSpec| !self.absent.iter().any(|name| name == spec.name.as_str());
        let specs = self.all.iter().filter(there).cloned().collect();
        self.provider.offer_tools(specs).await;
    }

    fn find(&mut self, name: &str) -> &mut ToolSpec {
        let found = self.all.iter_mut().find(|spec| spec.name.as_str() == name);
        found.unwrap_or_else(|| panic!("something happens to {name}, which is no tool of the scenario"))
    }
}

/// Hears all events and makes happen what the scenario says.
struct Watch {
    runtime: Runtime,
    events: Events,
    offer: Offer,
    observations: Arc<FakeObservations>,
    happenings: Vec<(Moment, Happening)>,
    meters: ScriptedMeters,
    began: Instant,
    course: Course,
}

impl Watch {
    async fn run(mut self, mut over: oneshot::Receiver<()>) -> (Vec<Arc<CloudEvent>>, Vec<StopOutcome>) {
        let mut events: Vec<Arc<CloudEvent>> = Vec::new();
        let mut stops = JoinSet::new();
        loop {
            let timed = self.happenings.iter().filter_map(|(moment, _)| match moment {
                Moment::At(time) => Some(*time),
                Moment::AfterLine(_) => None,
            });
            let next = timed.min();
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    let event = event.expect("the runtime is there");
                    let line = event.data.text.clone();
                    let subject = event.subject.clone();
                    events.push(event);
                    let due = self.due(|moment| matches!(moment, Moment::AfterLine(part) if line.contains(part.as_str())));
                    self.let_happen(due, Some(&subject), &mut stops).await;
                }
                () = tokio::time::sleep_until(self.began + next.unwrap_or(PATIENCE)), if next.is_some() => {
                    let now = self.began.elapsed();
                    let due = self.due(|moment| matches!(moment, Moment::At(time) if *time <= now));
                    let subject = events.last().map(|event| event.subject.clone());
                    self.let_happen(due, subject.as_ref(), &mut stops).await;
                }
                _ = &mut over => break,
            }
        }
        let all = self.happenings.is_empty() || self.course == Course::AsItComes;
        assert!(all, "these never happened: {:?}; {:#?}", self.happenings, lines(&events));
        (events, stops.join_all().await)
    }

    fn meter(&self, expense: Expense) -> &watch::Sender<Reading> {
        self.meters.get(&expense).unwrap_or_else(|| panic!("there is no budget of {expense}, so no meter of it"))
    }

    /// A person answers the question that is open.
    async fn answer(&self, answer: Answer) {
        let open = self.runtime.open_questions();
        let [open] = open.as_slice() else {
            assert_eq!(self.course, Course::AsItComes, "not one question is open: {open:?}");
            return;
        };
        let taken = self.runtime.answer(open.id.clone(), answer, Origin::new("cli", "scenario")).await;
        assert!(taken.is_ok() || self.course == Course::AsItComes, "the answer does not count: {taken:?}");
    }

    /// What happens now; it does not happen again.
    fn due(&mut self, is_due: impl Fn(&Moment) -> bool) -> Vec<Happening> {
        let (due, later) = std::mem::take(&mut self.happenings).into_iter().partition(|(moment, _)| is_due(moment));
        self.happenings = later;
        due.into_iter().map(|(_, happening)| happening).collect()
    }

    async fn let_happen(&mut self, due: Vec<Happening>, mission: Option<&MissionId>, stops: &mut JoinSet<StopOutcome>) {
        for happening in due {
            match happening {
                Happening::People(People::Cancel) => {
                    let mission = mission.expect("there is a mission to cancel").clone();
                    let is_cancelled = self.runtime.cancel(mission).await;
                    assert!(is_cancelled || self.course == Course::AsItComes, "there was nothing to cancel");
                }
                Happening::People(People::Stop) => {
                    let runtime = self.runtime.clone();
                    stops.spawn(async move { runtime.stop().await.expect("the robot can be stopped") });
                }
                Happening::People(People::ShutDown) => {
                    let runtime = self.runtime.clone();
                    tokio::spawn(async move { runtime.shut_down(PATIENCE).await });
                }
                Happening::People(People::Resume) => {
                    self.runtime.resume().await;
                }
                Happening::Revises(text) => {
                    let taken = self.runtime.revise(None, text, Origin::new("cli", "scenario")).await;
                    let is_taken = taken.ok().as_ref() == mission;
                    assert!(is_taken || self.course == Course::AsItComes, "the correction was not taken");
                }
                Happening::Approves(scope) => self.answer(Answer::Approve { scope }).await,
                Happening::Denies(reason) => self.answer(Answer::Deny { reason }).await,
                Happening::Chooses(choice) => self.answer(Answer::Choose { choice }).await,
                // Under another model the question may be another one, and open.
                Happening::ApprovesInVain(_) if self.course == Course::AsItComes => {}
                Happening::ApprovesInVain(number) => {
                    let mission = mission.expect("there is a mission that asks").clone();
                    let question = QuestionId { mission, number: QuestionNumber(number) };
                    let answer = Answer::Approve { scope: ApprovalScope::Once };
                    let taken = self.runtime.answer(question, answer, Origin::new("cli", "scenario")).await;
                    assert!(taken.is_err(), "the answer counted");
                }
                Happening::Leaves(name) => {
                    self.offer.find(&name);
                    self.offer.absent.push(name);
                    self.offer.send().await;
                }
                Happening::Comes(name) => {
                    self.offer.find(&name);
                    self.offer.absent.retain(|absent| *absent != name);
                    self.offer.send().await;
                }
                Happening::Changes(name) => {
                    self.offer.find(&name).description.push_str(" It does something else now.");
                    self.offer.send().await;
                }
                Happening::Spends(amounts) => {
                    for (expense, amount) in amounts {
                        self.meter(expense).send_modify(|reading| reading.total += amount);
                    }
                }
                Happening::FallsSilent(expense) => self.meter(expense).send_modify(|reading| reading.is_live = false),
                Happening::Measures(expense) => self.meter(expense).send_modify(|reading| reading.is_live = true),
                Happening::Shows(shown) => {
                    shown.into_iter().for_each(|(name, value)| self.observations.repeat(&name, value));
                }
                Happening::Keeps(kept) => {
                    kept.into_iter().for_each(|(name, value)| self.observations.keep(&name, value));
                }
                Happening::Silences(name) => self.observations.silence(&name),
                Happening::Hides(name) => self.observations.remove(&name),
                Happening::Quarantine(component) => {
                    self.runtime.quarantine(component.as_str().into(), format!("the {component} crashed"));
                }
                Happening::Release(component) => self.runtime.release(&component.as_str().into()),
                Happening::FailOver(places) => {
                    for (component, by) in places {
                        let by = Some(by).filter(|by| *by != component);
                        self.runtime.fail_over(&component.as_str().into(), by.map(|by| by.as_str().into()));
                    }
                }
                Happening::Pause(because) => self.runtime.pause(because),
                Happening::Unpause(true) => self.runtime.unpause(),
                Happening::Unpause(false) => panic!("say what happens, not what does not"),
            }
        }
    }
}

fn lines(events: &[Arc<CloudEvent>]) -> Vec<&str> {
    events.iter().map(|event| event.data.text.as_str()).collect()
}
