//! A robot of real processes, really killed. No ROS: that its nodes are there is told as soon as their processes are.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use cortex_monitor::{Effect, Input, MonitorEvent};
use cortex_process::Processes;
use cortex_recipe::Recipe;
use cortex_supervisor::{Handle, Hands, Supervisor};
use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(20);

/// Sees the nodes of processes that were started, and notes everything.
struct Eyes {
    handle: Handle,
    seen: SyncSender<Effect>,
}

impl Hands for Eyes {
    fn carry_out(&mut self, effect: &Effect) {
        if let Effect::StartProcess { component, .. } = effect {
            self.handle.tell(Input::NodeSeen { component: component.clone(), present: true });
        }
        self.seen.send(effect.clone()).unwrap();
    }
}

struct Robot {
    supervisor: Supervisor,
    seen: Receiver<Effect>,
    folder: tempfile::TempDir,
}

impl Robot {
    /// Each component notes its id in a file of its name.
    fn new(recipe: &str) -> Self {
        let recipe = Recipe::read(&format!("recipe = 1\n{recipe}"));
        let recipe = recipe.unwrap_or_else(|problems| panic!("{}", problems.show("robot")));
        let folder = tempfile::tempdir().unwrap();
        let (sender, seen) = sync_channel(10_000);
        let processes = Processes::new().unwrap();
        let eyes = |handle| Eyes { handle, seen: sender };
        let supervisor = Supervisor::start(&recipe, folder.path(), processes, eyes).unwrap();
        Self { supervisor, seen, folder }
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

    fn wait_until_up(&self, name: &str) {
        self.wait_for(|effect| {
            matches!(effect, Effect::Report { event: MonitorEvent::CameUp { component } } if component.as_str() == name)
        });
    }

    fn kill(&self, name: &str) {
        let id = std::fs::read_to_string(self.folder.path().join(name)).unwrap();
        kill_process(Pid::from_raw(id.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    }

    fn stop(self) -> (Vec<String>, Vec<Effect>) {
        let not_stopped = self.supervisor.stop();
        (not_stopped.iter().map(ToString::to_string).collect(), self.seen.try_iter().collect())
    }
}

/// A component that runs until it is told to end.
fn part(name: &str, more: &str) -> String {
    format!(
        "[components.{name}]\nstart = {{ program = \"sh\", arguments = [\"-c\", \"echo $$ > {{recipe}}/{name}; exec sleep 600\"] }}\n{more}\n"
    )
}

#[test]
fn a_killed_process_serves_again_in_time() {
    let robot = Robot::new(&(part("base", "") + &part("arm", "depends_on = [\"base\"]") + &part("lamp", "")));
    robot.wait_until_up("arm");
    let mut times = Vec::new();
    for _ in 0..3 {
        let killed = Instant::now();
        robot.kill("base");
        robot.wait_for(|effect| matches!(effect, Effect::Quarantine { component, because_of } if component.as_str() == "arm" && because_of.as_str() == "base"));
        let noticed = killed.elapsed();
        robot.wait_for(|effect| matches!(effect, Effect::Release { component } if component.as_str() == "arm"));
        times.push((noticed, killed.elapsed()));
    }
    println!("noticed and serving again after {times:?}");
    // The first time; the more often it fails, the longer it is not trusted.
    let (noticed, serving) = times[0];
    assert!(noticed < Duration::from_millis(100), "{noticed:?}");
    assert!(serving < Duration::from_millis(1500), "{serving:?}");
    let (not_stopped, _) = robot.stop();
    assert_eq!(not_stopped, Vec::<String>::new());
}

#[test]
fn each_component_is_killed_once_and_every_one_comes_back_in_time() {
    const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let robot = Robot::new(&NAMES.map(|name| part(name, "")).concat());
    let mut up = 0;
    while up < NAMES.len() {
        robot.wait_for(|effect| matches!(effect, Effect::Report { event: MonitorEvent::CameUp { .. } }));
        up += 1;
    }
    let mut times: Vec<Duration> = NAMES
        .iter()
        .map(|name| {
            let killed = Instant::now();
            robot.kill(name);
            robot.wait_for(|effect| matches!(effect, Effect::Release { component } if component.as_str() == *name));
            killed.elapsed()
        })
        .collect();
    times.sort();
    println!("serving again after {times:?}");
    // Other programs may hold the processor for a moment, but not each time.
    assert!(times[NAMES.len() / 2] < Duration::from_millis(1500), "{times:?}");
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
