//! The stop and the resume that Cortex itself asks for, as a page does: the same as those of the services.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cortex_core::{ClientPort, EventStream};
use cortex_protocol::{
    Command, CommandError, CommandErrorKind, CommandOutcome, EventId, MissionId, OpenQuestion, Origin, Principal,
    StopOutcome,
};
use cortex_ros::{StopMemory, StopServer, StopStore};
use cortex_ros_client::ros_tests;
use tokio::runtime::Builder;

use crate::support::{Agent as Robot, LIMIT};

/// Missions that do as they are told, and note who told them to resume.
#[derive(Default)]
struct Obedient {
    resumed_by: Mutex<Vec<String>>,
}

#[async_trait]
impl ClientPort for Obedient {
    async fn ready(&self) -> Result<(), CommandError> {
        Ok(())
    }

    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        match command {
            Command::Stop => Ok(CommandOutcome::Stopped(StopOutcome { missions_ended: 1, not_stopped: Vec::new() })),
            Command::Resume => {
                self.resumed_by.lock().unwrap().push(principal.origin.client);
                Ok(CommandOutcome::Resumed { was_stopped: true })
            }
            other => panic!("nobody asks for {other:?}"),
        }
    }

    fn follow(&self, _mission: &MissionId) -> Box<dyn EventStream> {
        panic!("nobody follows missions")
    }

    fn events(&self, _after: Option<EventId>) -> Box<dyn EventStream> {
        panic!("nobody follows missions")
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        Vec::new()
    }
}

/// A disk that says what is on it, and removes something only when it is let.
struct Disk {
    holds: Arc<Mutex<Option<String>>>,
    removing: SyncSender<()>,
    may_remove: Receiver<()>,
}

impl StopStore for Disk {
    fn write(&mut self, why: &str) -> io::Result<()> {
        *self.holds.lock().unwrap() = Some(why.to_owned());
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        self.removing.send(()).map_err(io::Error::other)?;
        self.may_remove.recv_timeout(LIMIT).map_err(io::Error::other)?;
        *self.holds.lock().unwrap() = None;
        Ok(())
    }
}

/// The thread of the stop, and the hands on its disk.
struct Served {
    robot: Robot,
    missions: Arc<Obedient>,
    stop: StopServer,
    holds: Arc<Mutex<Option<String>>>,
    removing: Receiver<()>,
    let_remove: SyncSender<()>,
}

impl Served {
    fn start() -> Self {
        let (robot, missions, holds) = (Robot::start(), Arc::<Obedient>::default(), Arc::default());
        let ((removing, is_removing), (let_remove, may_remove)) = (sync_channel(8), sync_channel(8));
        let disk = Disk { holds: Arc::clone(&holds), removing, may_remove };
        let memory = StopMemory { store: Box::new(disk), stopped: None };
        let stop = StopServer::start(&robot.graph, "/cortex", &robot.tools, missions.clone(), Some(memory)).unwrap();
        Self { robot, missions, stop, holds, removing: is_removing, let_remove }
    }

    fn on_disk(&self) -> Option<String> {
        self.holds.lock().unwrap().clone()
    }

    async fn shut_down(self) {
        self.stop.shut_down();
        self.robot.shut_down().await;
    }
}

fn ana() -> Principal {
    Principal::operator(Origin::new("web", "a tablet"))
}

const STOPPED: CommandOutcome = CommandOutcome::Stopped(StopOutcome { missions_ended: 1, not_stopped: Vec::new() });

ros_tests! {
    async fn a_stop_and_a_resume_from_inside_do_what_the_services_do() {
        let served = Served::start();
        let handle = served.stop.handle();
        let mut latest = handle.watch_latest();
        // From a thread of its own, whose runtime has neither clock nor blocking threads to spare.
        let foreign = handle.clone();
        let stopping = std::thread::spawn(move || {
            let stopping = foreign.stop_for_task("STOP by a tablet on the page".to_owned());
            assert!(foreign.latch().is_closed(), "nothing is sent although nothing was awaited");
            Builder::new_current_thread().build().unwrap().block_on(stopping)
        });
        let known = latest.wait_for(|latest| latest.as_ref().is_some_and(|latest| latest.not_stopped.is_some()));
        let known = tokio::time::timeout(LIMIT, known).await.unwrap().unwrap().clone().unwrap();
        assert_eq!((known.why.as_str(), known.not_stopped), ("STOP by a tablet on the page", Some(Vec::new())));
        assert_eq!(stopping.join().unwrap(), Ok(STOPPED));
        assert_eq!(served.on_disk().as_deref(), Some("STOP by a tablet on the page"), "a restart keeps it stopped");

        let resuming = tokio::spawn(handle.resume_for_task(ana()));
        let Served { removing, .. } = &served;
        tokio::task::block_in_place(|| removing.recv_timeout(LIMIT)).unwrap();
        assert!(handle.latch().is_closed(), "it stays closed until the disk says so");
        assert_eq!(*served.missions.resumed_by.lock().unwrap(), Vec::<String>::new());
        served.let_remove.send(()).unwrap();
        let resumed = tokio::time::timeout(LIMIT, resuming).await.unwrap().unwrap();
        assert_eq!(resumed, Ok(CommandOutcome::Resumed { was_stopped: true }));
        assert!(!handle.latch().is_closed());
        assert_eq!(*served.missions.resumed_by.lock().unwrap(), ["a tablet"]);
        assert_eq!(served.on_disk(), None);
        served.shut_down().await;
    }

    async fn a_resume_from_inside_does_not_undo_a_stop_that_came_after_it() {
        let served = Served::start();
        let handle = served.stop.handle();
        assert_eq!(handle.stop_for_task("the first".to_owned()).await, Ok(STOPPED));
        let resuming = tokio::spawn(handle.resume_for_task(ana()));
        tokio::task::block_in_place(|| served.removing.recv_timeout(LIMIT)).unwrap();
        let again = handle.stop_for_task("the second".to_owned());
        served.let_remove.send(()).unwrap();
        assert_eq!(tokio::time::timeout(LIMIT, again).await.unwrap(), Ok(STOPPED));
        let refused = tokio::time::timeout(LIMIT, resuming).await.unwrap().unwrap().unwrap_err();
        assert!(refused.reason.starts_with("NOT RESUMED"), "{refused}");
        assert!(handle.latch().is_closed());
        assert_eq!(served.on_disk().as_deref(), Some("the second"));
        assert_eq!(*served.missions.resumed_by.lock().unwrap(), Vec::<String>::new());
        served.shut_down().await;
    }

    async fn a_stop_from_inside_is_answered_when_nobody_is_there_to_carry_it_out() {
        let served = Served::start();
        let handle = served.stop.handle();
        served.shut_down().await;
        for outcome in [handle.stop_for_task("late".to_owned()).await, handle.resume_for_task(ana()).await] {
            assert_eq!(outcome.map_err(|problem| problem.kind), Err(CommandErrorKind::Unavailable));
        }
        assert!(handle.latch().is_closed(), "nothing is sent all the same");
    }
}
