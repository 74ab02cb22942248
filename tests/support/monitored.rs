//! A robot of a recipe, and what its monitor tells of it in the log, with the moment of each line.

use std::time::{Duration, Instant};

use crate::{PATIENCE, Process, TestRobot};

/// `cortex run RECIPE`.
pub struct Monitored {
    process: Process,
    told: Vec<Told>,
    /// Lines of the log that were read.
    read: usize,
}

/// One thing that was told of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// When it was read.
    pub at: Instant,
    /// Of which component.
    pub component: String,
    /// What.
    pub event: Event,
}

/// What the log tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Its process was started, with this id.
    Started(u32),
    /// Its process has ended, in these words.
    Ended(String),
    /// It works.
    Works,
    /// It is healthy, for this moment.
    Healthy,
    /// Something is odd.
    Suspected(String),
    /// It fails.
    Fails(String),
    /// Something is done: which attempt, and what.
    Attempt(String),
    /// What was done did not help, or it could not be brought up.
    DidNotHelp(String),
    /// It is given up for now.
    GivenUp(String),
    /// It is down.
    Down,
    /// It waits for others.
    Waits(String),
}

impl Event {
    /// Whether it says that something is wrong.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.is_failure() || matches!(self, Self::Suspected(_))
    }

    /// Whether it says that something has failed, and not only that it is late, as it may be on a busy machine.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Fails(_) | Self::DidNotHelp(_) | Self::GivenUp(_))
    }
}

impl Monitored {
    /// Starts a robot; does not wait for anything.
    #[must_use]
    pub fn start(test_robot: &TestRobot, recipe: &str, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> = ["run", recipe].iter().chain(arguments).copied().collect();
        Self { process: test_robot.spawn("cortex", &arguments), told: Vec::new(), read: 0 }
    }

    /// The process of Cortex.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Everything that was told until now.
    pub fn told(&mut self) -> &[Told] {
        for (at, line) in self.process.log_after(self.read) {
            self.read += 1;
            self.told.extend(read(&line).map(|(component, event)| Told { at, component, event }));
        }
        &self.told
    }

    /// Waits for something that is told from that number on, for a bounded time.
    pub async fn hear(&mut self, first: usize, limit: Duration, wanted: impl Fn(&Told) -> bool) -> Option<Told> {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            if let Some(told) = self.told().iter().skip(first).find(|told| wanted(told)) {
                return Some(told.clone());
            }
            if !matches!(tokio::time::timeout_at(deadline, self.process.log_grows(self.read)).await, Ok(true)) {
                return None;
            }
        }
    }

    /// As [`hear`](Self::hear), of one component.
    ///
    /// # Panics
    /// When it is not told.
    pub async fn wait_for(&mut self, first: usize, component: &str, wanted: impl Fn(&Event) -> bool) -> Told {
        let heard = self.hear(first, PATIENCE, |told| told.component == component && wanted(&told.event)).await;
        heard.unwrap_or_else(|| {
            let told: Vec<String> = self.told().iter().skip(first).map(|told| format!("{told:?}")).collect();
            panic!("that was never told of {component}; but:\n{}", told.join("\n"))
        })
    }

    /// Waits until each of these works, for the first time or again.
    pub async fn wait_until_all_work(&mut self, components: &[&str]) {
        for component in components {
            self.wait_for(0, component, |event| *event == Event::Works).await;
        }
    }

    /// How many things were told.
    pub fn count(&mut self) -> usize {
        self.told().len()
    }

    /// The id of the component's process, if it runs.
    pub fn process_of(&mut self, component: &str) -> Option<u32> {
        let mut own = self.told().iter().rev().filter(|told| told.component == component);
        own.find_map(|told| match told.event {
            Event::Started(process) => Some(Some(process)),
            Event::Ended(_) => Some(None),
            _ => None,
        })?
    }

    /// Sends a signal to the process of a component; false if it does not run.
    pub fn signal(&mut self, component: &str, signal: &str) -> bool {
        let Some(process) = self.process_of(component) else { return false };
        let sent = std::process::Command::new("kill").arg(format!("-{signal}")).arg(process.to_string()).status();
        sent.is_ok_and(|status| status.success())
    }

    /// Brings the robot down, and gives the exit status.
    pub async fn stop(&mut self) -> Option<i32> {
        self.process.signal("TERM");
        self.process.wait().await
    }
}

/// Reads one line of the log: a level, a time, a name, and what is told.
fn read(line: &str) -> Option<(String, Event)> {
    let (_, told) = line.split_once("] [cortex]: ")?;
    let told = told.trim();
    if let Some((told, fields)) = told.split_once(" component=") {
        // Of processes, and what their programs print; only the former has a number.
        let mut words = fields.split_whitespace();
        let component = words.next()?.to_owned();
        let process = words.find_map(|word| word.strip_prefix("process="))?.parse().ok()?;
        return match told.split_once(": ")? {
            ("started", _) => Some((component, Event::Started(process))),
            ("ended", how) => Some((component, Event::Ended(how.to_owned()))),
            _ => None,
        };
    }
    let (component, event) = if let Some((component, why)) = told.split_once(" could not be brought up: ") {
        (component, Event::DidNotHelp(why.to_owned()))
    } else if let Some((first, why)) = told.split_once(" did not help: ") {
        (first.split_once(": ")?.0, Event::DidNotHelp(why.to_owned()))
    } else if let Some((component, what)) = told.split_once(": attempt ") {
        (component, Event::Attempt(what.to_owned()))
    } else if let Some((component, why)) = told.split_once(" is given up for now: ") {
        (component, Event::GivenUp(why.to_owned()))
    } else if let Some((component, why)) = told.split_once(" is suspected: ") {
        (component, Event::Suspected(why.to_owned()))
    } else if let Some((component, why)) = told.split_once(" fails: ") {
        (component, Event::Fails(why.to_owned()))
    } else if let Some((component, whom)) = told.split_once(" waits for ") {
        (component, Event::Waits(whom.to_owned()))
    } else if let Some(component) = told.strip_suffix(" is healthy") {
        (component, Event::Healthy)
    } else if let Some(component) = told.strip_suffix(" works") {
        (component, Event::Works)
    } else {
        (told.strip_suffix(" is down")?, Event::Down)
    };
    let is_name = !component.is_empty() && !component.contains(char::is_whitespace);
    is_name.then(|| (component.to_owned(), event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_monitor_tells_is_read_from_the_log() {
        let of = |told: &str| read(&format!("[INFO] [1790000000.000001000] [cortex]: {told}"));
        let base = |event| Some(("base".to_owned(), event));
        assert_eq!(of("started: cortex-sim component=base process=12 number=1"), base(Event::Started(12)));
        assert_eq!(of("ended: signal 9 component=base process=12 number=1"), base(Event::Ended("signal 9".into())));
        assert_eq!(of("base fails: its node is not there; x"), base(Event::Fails("its node is not there; x".into())));
        assert_eq!(of("base: attempt 2, restart"), base(Event::Attempt("2, restart".into())));
        assert_eq!(of("base: restart did not help: late"), base(Event::DidNotHelp("late".into())));
        assert_eq!(of("base could not be brought up: late"), base(Event::DidNotHelp("late".into())));
        assert_eq!(of("base works"), base(Event::Works));
        assert_eq!(of("camera waits for base, arm"), Some(("camera".into(), Event::Waits("base, arm".into()))));
        assert_eq!(of("nobody knows how this works"), None);
        assert_eq!(of("the base works component=base"), None, "a program of the component says so");
    }
}
