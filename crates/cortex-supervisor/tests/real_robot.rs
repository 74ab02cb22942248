//! A robot of real processes, really killed. No ROS: that its nodes are there is told as soon as their processes are.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cortex_monitor::{Effect, Input, MonitorEvent};
use cortex_process::{CommandRunner, Processes};
use cortex_recipe::{ActionName, Recipe};
use cortex_supervisor::{ActionExecutor, Handle, StopPermit, Stops, Supervisor};
use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(20);

/// Sees the nodes of processes that were started, and notes everything.
struct Eyes {
    handle: Handle,
    seen: SyncSender<Effect>,
    latch: Arc<Latch>,
}

/// What a person does, and what runs meanwhile.
#[derive(Default)]
struct Latch {
    stops: Mutex<Stops>,
    /// Its clones are leaves.
    permit: Arc<()>,
    /// Held while nothing of what is wanted can be carried out.
    stuck: Mutex<()>,
    /// How much was to be carried out.
    wanted: AtomicUsize,
}

impl Latch {
    fn change(&self, handle: &Handle, change: impl FnOnce(&mut Stops)) {
        change(&mut self.stops.lock().unwrap());
        handle.wake();
    }

    fn stop(&self, handle: &Handle) {
        self.change(handle, |stops| *stops = Stops { count: stops.count + 1, is_stopped: true });
    }

    fn resume(&self, handle: &Handle) {
        self.change(handle, |stops| stops.is_stopped = false);
    }

    fn leaves(&self) -> usize {
        Arc::strong_count(&self.permit) - 1
    }
}

impl ActionExecutor for Eyes {
    fn carry_out(&mut self, effect: &Effect) {
        self.latch.wanted.fetch_add(1, Ordering::SeqCst);
        let _stuck = self.latch.stuck.lock().unwrap();
        if let Effect::StartProcess { component, .. } = effect {
            self.handle.send(Input::NodeSeen { component: component.clone(), present: true });
        }
        // Who sees may have gone.
        let _ = self.seen.send(effect.clone());
    }

    fn stops(&self) -> Stops {
        *self.latch.stops.lock().unwrap()
    }

    fn stop_permit(&self, _action: &ActionName) -> Option<StopPermit> {
        (!self.stops().is_stopped).then(|| Box::new(Arc::clone(&self.latch.permit)) as StopPermit)
    }
}

struct Robot {
    supervisor: Supervisor,
    seen: Receiver<Effect>,
    latch: Arc<Latch>,
    folder: tempfile::TempDir,
}

impl Robot {
    /// Each component notes its id in a file of its name.
    fn new(recipe: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), recipe)
    }

    fn in_folder(folder: tempfile::TempDir, recipe: &str) -> Self {
        let recipe = Recipe::read(&format!("recipe = 1\n{recipe}"));
        let recipe = recipe.unwrap_or_else(|problems| panic!("{}", problems.show("robot")));
        let (sender, seen) = sync_channel(10_000);
        let processes = Processes::new().unwrap();
        let commands = CommandRunner::start(64, Ok::<_, std::io::Error>).unwrap();
        let latch = Arc::new(Latch::default());
        let eyes = |handle| Eyes { handle, seen: sender, latch: Arc::clone(&latch) };
        let supervisor = Supervisor::start(&recipe, folder.path(), processes, Some(commands), eyes).unwrap();
        Self { supervisor, seen, latch, folder }
    }

    fn wait_for(&self, wanted: impl Fn(&Effect) -> bool) -> Effect {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let effect = self.seen.recv_timeout(left).unwrap();
            if wanted(&effect) {
                return effect;
            }
        }
    }

    fn wait_until_all_are_up(&self, count: usize) {
        for _ in 0..count {
            self.wait_for(|effect| matches!(effect, Effect::Report { event: MonitorEvent::CameUp { .. } }));
        }
    }

    fn wait_until_up(&self, name: &str) {
        self.wait_for(|effect| {
            matches!(effect, Effect::Report { event: MonitorEvent::CameUp { component } } if component.as_str() == name)
        });
    }

    /// Kills it as soon as it has noted its id, and tells when.
    fn kill(&self, name: &str) -> Instant {
        let file = self.folder.path().join(name);
        let deadline = Instant::now() + LIMIT;
        let id = loop {
            let noted = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some(id) = noted.strip_suffix('\n') {
                break id.parse().unwrap();
            }
            assert!(Instant::now() < deadline, "{name} does not note its id");
            // Nothing tells of a line in a file.
            std::thread::sleep(Duration::from_millis(10));
        };
        // The next one notes its own.
        std::fs::remove_file(file).unwrap();
        let killed = Instant::now();
        kill_process(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
        killed
    }

    fn stop(self) -> (Vec<String>, Vec<Effect>) {
        let not_stopped = self.supervisor.stop();
        (not_stopped.iter().map(ToString::to_string).collect(), self.seen.try_iter().collect())
    }
}

/// Other programs may hold the processor for a moment, but not each time.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A component that runs until it is told to end.
fn part(name: &str, more: &str) -> String {
    format!(
        "[components.{name}]\nstart = {{ program = \"sh\", arguments = [\"-c\", \"echo $$ > {{recipe}}/{name}; exec sleep 600\"] }}\n{more}\n"
    )
}

#[test]
fn a_killed_process_serves_again_in_time() {
    const PAIRS: usize = 9;
    let pair = |number| {
        let (base, arm) = (format!("base{number}"), format!("arm{number}"));
        part(&base, "") + &part(&arm, &format!("depends_on = [\"{base}\"]"))
    };
    let robot = Robot::new(&(0..PAIRS).map(pair).collect::<String>());
    robot.wait_until_all_are_up(2 * PAIRS);
    // How long until the arm whose base is killed is no longer used, and until it serves again.
    let kill = |number: usize| {
        let (base, arm) = (format!("base{number}"), format!("arm{number}"));
        let killed = robot.kill(&base);
        robot.wait_for(|effect| matches!(effect, Effect::Quarantine { component, cause } if component.as_str() == arm && cause.as_str() == base));
        let noticed = killed.elapsed();
        robot.wait_for(|effect| matches!(effect, Effect::Release { component } if component.as_str() == arm));
        (noticed, killed.elapsed())
    };
    let times: Vec<_> = (0..PAIRS).map(kill).collect();
    println!("noticed and serving again after {times:?}");
    let (noticed, serving): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let (noticed, serving) = (median(noticed), median(serving));
    assert!(noticed < Duration::from_millis(100), "{noticed:?}");
    assert!(serving < Duration::from_millis(1500), "{serving:?}");
    // And again, later: the more often it fails, the longer it is not trusted.
    for _ in 0..2 {
        kill(0);
    }
    let (not_stopped, _) = robot.stop();
    assert_eq!(not_stopped, Vec::<String>::new());
}

#[test]
fn each_component_is_killed_once_and_every_one_comes_back_in_time() {
    const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let robot = Robot::new(&NAMES.map(|name| part(name, "")).concat());
    robot.wait_until_all_are_up(NAMES.len());
    let times: Vec<Duration> = NAMES
        .iter()
        .map(|name| {
            let killed = robot.kill(name);
            robot.wait_for(|effect| matches!(effect, Effect::Release { component } if component.as_str() == *name));
            killed.elapsed()
        })
        .collect();
    println!("serving again after {times:?}");
    assert!(median(times.clone()) < Duration::from_millis(1500), "{times:?}");
    assert!(robot.stop().0.is_empty());
}

#[test]
fn the_robot_goes_down_in_reverse_order_and_one_that_ignores_it_is_killed() {
    let stubborn = "[components.lamp]\nstop_timeout_s = 0.3\n\
                    start = { program = \"sh\", arguments = [\"-c\", \"trap '' TERM; while :; do sleep 1; done\"] }\n";
    let robot = Robot::new(&(part("base", "") + &part("arm", "depends_on = [\"base\"]") + stubborn));
    robot.wait_until_up("arm");
    let (not_stopped, effects) = robot.stop();
    assert_eq!(not_stopped, Vec::<String>::new(), "it was killed, so it is down");
    let down = effects.iter().filter_map(|effect| match effect {
        Effect::Report { event: MonitorEvent::WentDown { component } } => Some(component.as_str()),
        _ => None,
    });
    assert_eq!(down.filter(|name| *name != "lamp").collect::<Vec<_>>(), ["arm", "base"]);
}

#[test]
fn a_program_that_is_missing_is_told_and_the_rest_goes_on() {
    let robot = Robot::new(&(part("lamp", "") + "[components.arm]\nstart = { program = \"no-such-program\" }\n"));
    let told = robot.wait_for(|effect| matches!(effect, Effect::Report { event: MonitorEvent::AttemptFailed { .. } }));
    let Effect::Report { event } = told else { panic!("{told:?}") };
    assert!(event.to_string().starts_with("arm could not be brought up: no-such-program can't be started"), "{event}");
    robot.wait_until_up("lamp");
    assert!(robot.stop().0.is_empty());
}

#[test]
fn commands_of_the_recipe_are_run_and_their_exit_status_counts() {
    let robot = Robot::new(
        "[components.arm]\nstart = { program = \"sh\", arguments = [\"-c\", \"exit 3\"] }\n\
         [components.arm.fallbacks]\non_component_fail = [\"refuse\", \"hang\", \"note\"]\n\
         [actions.refuse]\ncommand = { program = \"false\" }\n\
         [actions.hang]\ntimeout_s = 0.2\ncommand = { program = \"sleep\", arguments = [\"600\"] }\n\
         [actions.note]\ncommand = { program = \"true\" }\n",
    );
    let mut reasons = Vec::new();
    while let Effect::Report { event } = robot.wait_for(|effect| {
        let event = if let Effect::Report { event } = effect { Some(event) } else { None };
        matches!(event, Some(MonitorEvent::AttemptFailed { .. } | MonitorEvent::GaveUp { .. }))
    }) {
        if matches!(event, MonitorEvent::GaveUp { .. }) {
            break;
        }
        reasons.push(event.to_string());
    }
    assert_eq!(
        reasons,
        [
            "arm could not be brought up: its process ended with status 3",
            "arm: refuse did not help: the command ended with exit status 1",
            "arm: hang did not help: the action took too long",
            "arm: note did not help: its process ended with status 3",
        ]
    );
    assert!(robot.stop().0.is_empty());
}

#[test]
fn a_stop_ends_the_commands_of_fallbacks_and_they_are_run_again_after_the_resume() {
    let folder = tempfile::tempdir().unwrap();
    // The second time, it is done at once.
    let script = "cd $(dirname $0); trap '' TERM; echo $$ > command; while [ ! -e fixed ]; do sleep 0.1; done";
    std::fs::write(folder.path().join("fix.sh"), script).unwrap();
    let script = folder.path().join("fix.sh");
    let arm = "[components.arm]\nstart = { program = \"sh\", arguments = [\"-c\", \"test -e {recipe}/fixed && exec \
               sleep 600\"] }\n";
    let recipe = format!(
        "{arm}[components.arm.fallbacks]\non_component_fail = [\"fix\", \"respawn\"]\n\
         [actions.fix]\ntimeout_s = 60\ncommand = {{ program = \"sh\", arguments = [{script:?}] }}\n"
    );
    let robot = Robot::in_folder(folder, &recipe);
    robot.wait_for(|effect| matches!(effect, Effect::Act { .. }));
    let (handle, commands) = (robot.supervisor.handle(), robot.folder.path().join("command"));
    let ids = || std::fs::read_to_string(&commands).unwrap_or_default();
    let deadline = Instant::now() + LIMIT;
    while ids().is_empty() {
        assert!(Instant::now() < deadline, "it runs");
        // Nothing tells of a line in a file.
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(robot.latch.leaves(), 1);
    let stopped = Instant::now();
    robot.latch.stop(&handle);
    robot.wait_for(|effect| matches!(effect, Effect::Report { event: MonitorEvent::HeldByStop { .. } }));
    assert!(stopped.elapsed() < Duration::from_secs(5), "killed within its second: {:?}", stopped.elapsed());
    assert_eq!(robot.latch.leaves(), 0, "its end is known");
    let id = Pid::from_raw(ids().trim().parse().unwrap()).unwrap();
    assert!(rustix::process::test_kill_process(id).is_err(), "it has ended, although it ignores SIGTERM");

    std::fs::write(robot.folder.path().join("fixed"), "").unwrap();
    robot.latch.resume(&handle);
    let again = robot.wait_for(|effect| {
        matches!(effect, Effect::Report { event: MonitorEvent::AttemptBegan { .. } | MonitorEvent::GaveUp { .. } })
    });
    let Effect::Report { event } = again else { panic!("{again:?}") };
    assert_eq!(event.to_string(), "arm: attempt 1, fix", "it was no attempt");
    robot.wait_until_up("arm");
    assert!(robot.stop().0.is_empty());
}

#[test]
fn the_wish_to_end_is_heard_although_more_is_told_than_can_wait() {
    let robot = Robot::new(&part("lamp", ""));
    robot.wait_until_up("lamp");
    let Robot { supervisor, latch, seen: _seen, folder: _folder } = robot;
    let handle = supervisor.handle();
    let (end, ended) = sync_channel(1);
    let (told, so_many) = sync_channel(1);
    {
        let _stuck = latch.stuck.lock().unwrap();
        // It is stuck with this, and then hears nothing.
        let before = latch.wanted.load(Ordering::SeqCst);
        handle.send(Input::NodeSeen { component: "lamp".into(), present: false });
        let deadline = Instant::now() + LIMIT;
        while latch.wanted.load(Ordering::SeqCst) == before {
            assert!(Instant::now() < deadline);
            std::thread::yield_now();
        }
        while handle.lost() == 0 {
            handle.send(Input::Tick);
        }
        let ending = std::thread::spawn(move || {
            told.send(()).unwrap();
            end.send(supervisor.stop()).unwrap();
        });
        so_many.recv().unwrap();
        // It tells before it waits.
        while !ending.is_finished() && handle.lost() < 10_000 {
            handle.send(Input::Tick);
        }
    }
    assert_eq!(ended.recv_timeout(LIMIT), Ok(Vec::new()));
}

#[test]
fn a_monitor_that_hangs_does_not_hold_up_the_end_for_ever() {
    let robot = Robot::new("[components.lamp]\nstart = \"external\"\nstop_timeout_s = 0.1\n");
    let latch = Arc::clone(&robot.latch);
    let _stuck = latch.stuck.lock().unwrap();
    let (end, ended) = sync_channel(1);
    std::thread::spawn(move || end.send(robot.stop().0));
    assert_eq!(ended.recv_timeout(LIMIT), Ok(vec!["lamp".to_owned()]), "what is not known to be down is named");
}
