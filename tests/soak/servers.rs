//! The action servers: two processes with the same servers, which are killed and started again.

use std::collections::BTreeMap;

use cortex_stories::{Dice, Process, TestRobot};
use serde_json::Value;

/// The namespaces of the two processes.
pub(crate) const NAMESPACES: [&str; 2] = ["north", "south"];
/// The servers in each.
pub(crate) const KINDS: [&str; 9] =
    ["works", "rejects", "aborts", "accepts_late", "ignores_cancel", "refuses_cancel", "floods", "stalls", "dies"];

/// The processes, those that were killed included: what they told counts.
pub(crate) struct Servers {
    running: [Process; 2],
    killed: Vec<Process>,
}

/// What the servers told of each goal, by its order.
pub(crate) type Told = BTreeMap<u64, Vec<String>>;

impl Servers {
    pub(crate) async fn start(test_robot: &TestRobot) -> Self {
        let [north, south] = NAMESPACES.map(|namespace| spawn(test_robot, namespace));
        let mut running = [north, south];
        for process in &mut running {
            process.wait_for_line("ready").await;
        }
        Self { running, killed: Vec::new() }
    }

    /// Kills one of the two, unless it has already died of a goal, and starts it again.
    pub(crate) async fn kill_and_restart(&mut self, test_robot: &TestRobot, dice: &mut Dice) {
        for (process, namespace) in self.running.iter_mut().zip(NAMESPACES) {
            let by_chance = dice.one_in(3);
            if by_chance && !process.has_ended() {
                process.signal("KILL");
                process.wait().await;
            }
            if process.has_ended() {
                let mut fresh = spawn(test_robot, namespace);
                fresh.wait_for_line("ready").await;
                self.killed.push(std::mem::replace(process, fresh));
            }
        }
    }

    /// How many have died.
    pub(crate) fn killed(&self) -> usize {
        self.killed.len()
    }

    pub(crate) fn told(&self) -> Told {
        let mut told = Told::new();
        for line in self.killed.iter().chain(&self.running).flat_map(Process::stdout) {
            let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
            if let (Some(order), Some(event)) =
                (line.get("order").and_then(Value::as_u64), line.get("event").and_then(Value::as_str))
            {
                told.entry(order).or_default().push(event.to_owned());
            }
        }
        told
    }
}

fn spawn(test_robot: &TestRobot, namespace: &str) -> Process {
    let namespace = format!("__ns:=/{namespace}");
    let arguments: Vec<&str> = KINDS.into_iter().chain(["--seconds", "1.0", "--ros-args", "-r", &namespace]).collect();
    test_robot.spawn_python("bad_goals.py", &arguments)
}
