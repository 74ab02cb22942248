//! The port for operators on real ROS, used as the page uses it: from a thread whose runtime has neither a clock nor
//! anything else of that of Cortex.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use cortex_core::{ClientPort, OperatorPort};
use cortex_model::Reflex;
use cortex_node::{Agent, Operators};
use cortex_protocol::{
    Command, CommandErrorKind, CommandOutcome, MissionEvent, MissionId, Origin, Principal, RecordedState, Role,
};
use cortex_robot::Robot;
use cortex_ros::{Policy, StopHandle, StopServer};
use cortex_ros_client::lifecycle::State;
use cortex_ros_client::ros_tests;
use cortex_runtime::{Runtime, RuntimeConfig, TapeSettings};
use cortex_status::{Metrics, ModelWatch, Sources, Status};
use tokio::sync::watch;

/// How long a robot that is not there is looked for.
const SETTLE: Duration = Duration::from_millis(100);

/// Cortex, as far as the port needs it.
struct Cortex {
    robot: Robot,
    runtime: Runtime,
    stop: StopServer,
    status: Status,
    port: Arc<Operators>,
    tapes: tempfile::TempDir,
}

impl Cortex {
    async fn start() -> Self {
        let robot = Robot::discover(cortex_robot::join("cortex").unwrap(), Policy::default()).unwrap();
        let tapes = tempfile::tempdir().unwrap();
        let config = RuntimeConfig { tape: Some(TapeSettings::at(tapes.path())), ..RuntimeConfig::default() };
        let runtime = Runtime::start(config, Arc::new(Reflex::default()));
        let tools = runtime.register(Arc::new(robot.tools.clone()));
        let agent = Arc::new(Agent::new(runtime.clone(), robot.discovery.clone(), None, tools, None, SETTLE));
        let name = robot.node.fully_qualified_name().to_owned();
        let stop = StopServer::start(&robot.graph, &name, &robot.tools, agent.clone(), None).unwrap();
        let sources = Sources {
            robot: "tea_7".to_owned(),
            runtime: runtime.clone(),
            stop: stop.handle(),
            lifecycle: watch::channel(State::Active).1,
            model: ModelWatch::new(&Metrics::new()),
            supervised: None,
            watchdog: None,
        };
        let status = Status::start(&robot, sources);
        let port = Arc::new(Operators::showing(agent, &runtime, stop.handle(), status.overviews()));
        Self { robot, runtime, stop, status, port, tapes }
    }

    /// Does something in the thread of the page, on a runtime of its own, and waits for it here.
    async fn on_the_page<T, F>(&self, story: impl FnOnce(Arc<dyn OperatorPort>, StopHandle) -> F + Send + 'static) -> T
    where
        F: Future<Output = T>,
        T: Send + 'static,
    {
        let (port, stop) = (Arc::clone(&self.port), self.stop.handle());
        let page = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(story(port, stop))
        });
        tokio::task::spawn_blocking(move || page.join().unwrap()).await.unwrap()
    }

    async fn shut_down(self) {
        drop((self.port, self.status));
        assert!(self.runtime.shut_down(Duration::from_secs(10)).await);
        let stop = self.stop;
        tokio::task::spawn_blocking(move || stop.shut_down()).await.unwrap();
        self.robot.leave().await;
    }
}

fn person(role: Role) -> Principal {
    Principal { role, ..Principal::operator(Origin::new("web", "a tablet")) }
}

fn say(task: &str) -> Command {
    Command::Submit { task: task.to_owned(), session: None }
}

/// Hands a task in, and follows it to its end.
async fn submitted(port: &dyn OperatorPort, task: &str) -> MissionId {
    port.ready().await.unwrap();
    let outcome = port.execute(say(task), person(Role::Operate)).await.unwrap();
    let CommandOutcome::Submitted { mission } = outcome else { panic!("{outcome:?}") };
    let mut events = port.follow(&mission);
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event);
    }
    assert!(matches!(last.unwrap().data.payload, MissionEvent::Finished { .. }));
    mission
}

ros_tests! {
    async fn the_page_hands_in_a_task_and_reads_what_was_recorded() {
        let cortex = Cortex::start().await;
        let path = cortex.tapes.path().to_owned();
        cortex.on_the_page(move |port, _| async move {
            let mut all = port.events(None);
            assert_eq!(port.overviews().latest().robot, "tea_7");
            assert_eq!(port.overviews().next().await.unwrap().robot, "tea_7", "the first one was not given yet");
            let offered = port.overviews().latest().tools as usize;
            assert_eq!((port.tools().len(), port.questions().len()), (offered, 0));
            let first = submitted(&*port, "Dance the polka backwards!").await;
            let second = submitted(&*port, "And now forwards!").await;
            assert_eq!(all.next().await.unwrap().subject, first);

            let recorded = port.recorded(None, 10).await.unwrap();
            assert_eq!(recorded.iter().map(|it| &it.mission).collect::<Vec<_>>(), [&second, &first]);
            assert_eq!(recorded[1].task, "Dance the polka backwards!");
            assert!(recorded.iter().all(|it| matches!(it.state, RecordedState::Ended(_))), "{recorded:?}");
            let earlier = port.recorded(Some(second.clone()), 10).await.unwrap();
            assert_eq!(earlier, recorded[1..]);
            let tape = port.tape(&first).unwrap();
            assert!(tape.starts_with(&path) && tape.is_file(), "{tape:?}");
            for hostile in ["", "..", "../../etc/passwd", "/etc/passwd"] {
                let of_tape = port.tape(&hostile.into()).unwrap_err();
                let of_list = port.recorded(Some(hostile.into()), 10).await.unwrap_err();
                for problem in [of_tape, of_list] {
                    assert_eq!(problem.kind, CommandErrorKind::NotFound, "{problem}");
                    assert!(!problem.reason.contains(&path.display().to_string()), "{problem}");
                }
                assert!(port.follow(&hostile.into()).next().await.is_none());
            }
        }).await;
        cortex.shut_down().await;
    }

    async fn everybody_on_the_page_may_stop_the_robot_and_an_operator_resumes_it() {
        let cortex = Cortex::start().await;
        let told = cortex.on_the_page(|port, stop| async move {
            let mut overviews = port.overviews();
            let outcome = {
                let mut stopping = pin!(port.execute(Command::Stop, person(Role::Watch)));
                let polled = stopping.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(stop.latch().is_closed(), "before anything was awaited");
                match polled {
                    std::task::Poll::Ready(outcome) => outcome,
                    std::task::Poll::Pending => stopping.await,
                }
            };
            let Ok(CommandOutcome::Stopped(stopped)) = outcome else { panic!("{outcome:?}") };
            assert_eq!((stopped.missions_ended, stopped.not_stopped), (0, Vec::new()));
            while !overviews.next().await.unwrap().stop.stopped {}
            assert_eq!(overviews.latest().stop.why, "STOP by a tablet on the page");
            let refused = port.execute(say("Go to the kitchen"), person(Role::Operate)).await.unwrap_err();
            assert_eq!(refused.kind, CommandErrorKind::Refused, "{refused}");
            let forbidden = port.execute(Command::Resume, person(Role::Watch)).await.unwrap_err();
            assert_eq!(forbidden.kind, CommandErrorKind::Forbidden);
            assert!(stop.latch().is_closed());
            let resumed = port.execute(Command::Resume, person(Role::Operate)).await;
            assert_eq!(resumed, Ok(CommandOutcome::Resumed { was_stopped: true }));
            assert!(!stop.latch().is_closed());

            // How soon the page sees it. Looks that come by the clock alone are 300 ms apart.
            let mut told = Vec::new();
            for is_stopped in [true, false].into_iter().cycle().take(10) {
                let asked = Instant::now();
                let command = if is_stopped { Command::Stop } else { Command::Resume };
                port.execute(command, person(Role::Operate)).await.unwrap();
                while overviews.latest().stop.stopped != is_stopped {
                    overviews.next().await.unwrap();
                }
                told.push(asked.elapsed());
            }
            told
        }).await;
        let mut sorted = told.clone();
        sorted.sort();
        assert!(sorted[sorted.len() / 2] < Duration::from_millis(150), "{told:?}");
        cortex.shut_down().await;
    }

    async fn when_cortex_has_ended_the_page_is_told_so() {
        let cortex = Cortex::start().await;
        let (port, stop) = (Arc::clone(&cortex.port), cortex.stop.handle());
        let mut overviews = port.overviews();
        cortex.shut_down().await;
        let problem = port.execute(say("Go"), person(Role::Operate)).await.unwrap_err();
        assert_eq!(problem.kind, CommandErrorKind::Unavailable, "{problem}");
        let problem = port.execute(Command::Stop, person(Role::Watch)).await.unwrap_err();
        assert_eq!(problem.kind, CommandErrorKind::Unavailable, "{problem}");
        assert!(stop.latch().is_closed(), "whatever else: nothing is sent");
        while overviews.next().await.is_some() {}
    }
}
