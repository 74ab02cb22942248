//! The robot, and what is done to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_ros_client::RosNode;
use cortex_ros_client::r2r::std_msgs::msg::String as Text;
use cortex_ros_client::r2r::{Node, Publisher, QosProfile};
use cortex_stories::{Event, Held, Monitored, Process, TestRobot};

use crate::endpoint::Endpoint;
use crate::faults::{DOUBLED, Fault, GUEST, Kind, SPARE, TRAYS};
use crate::missions::{Wanted, Wish};
use crate::overview::Heard;
use crate::report::{self, Answer, Inflicted};
use crate::shared_memory::SharedMemory;
use crate::truth::count;

/// By then every component works again. An attempt waits for at most a minute, and one that failed often lately is not
/// trusted for up to 32 s.
const RESTORE_LIMIT: Duration = Duration::from_secs(150);
/// How long the component that goes wrong on command may take to begin. It may just have been started; nothing is measured
/// by it.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// Lines of the log that are shown where it went wrong.
const SHOWN: usize = 400;
/// How often something is looked at that tells nobody.
const LOOK: Duration = Duration::from_millis(20);

/// For how long tasks sound the horn, and for how long they visit the component of no recipe.
const NOBODY_READS: Duration = Duration::from_secs(7);
const VISITS: Duration = Duration::from_secs(3);
/// What the standby notes when it begins.
const SPARE_BEGAN: &str = "spare began ";

/// The robot.
pub(crate) struct Robot {
    monitored: Monitored,
    components: Vec<&'static str>,
    endpoint: Endpoint,
    /// To each tray.
    commands: BTreeMap<&'static str, Publisher<Text>>,
    notes: PathBuf,
    shared_memory: SharedMemory,
    inflicted: Vec<Inflicted>,
    wanted: Wanted,
    heard: Heard,
    /// The component of no recipe, and whether it has the other schema by now.
    guest: Process,
    guest_is_other: bool,
    begun: Instant,
}

impl Robot {
    pub(crate) async fn start(
        test_robot: &TestRobot,
        node: &RosNode,
        recipe: &str,
        components: Vec<&'static str>,
        notes: &str,
    ) -> anyhow::Result<Self> {
        // Where there is a navigation stack, the wheels take no tasks.
        let navigates = components.contains(&"navigator");
        let endpoint = Endpoint::start(if navigates { "navigator-go_to" } else { "base-go_to" }).await?;
        let mut commands = BTreeMap::new();
        for tray in TRAYS {
            let topic = format!("/{tray}/fault");
            let create = move |node: &mut Node| node.create_publisher::<Text>(&topic, QosProfile::default());
            commands.insert(tray, node.with_node(create).await??);
        }
        let model = format!("openai:campaign@{}", endpoint.url());
        let heard = Heard::listen(node).await?;
        let guest_process = guest(test_robot, false, notes.as_ref());
        let mut monitored = Monitored::start(test_robot, recipe, &["--model", &model]);
        monitored.wait_until_all_work(&components).await;
        monitored.wait_until_all_work(&[DOUBLED]).await;
        Ok(Self {
            monitored,
            components,
            endpoint,
            commands,
            notes: notes.into(),
            shared_memory: SharedMemory::default(),
            inflicted: Vec::new(),
            wanted: Wanted::default(),
            heard,
            guest: guest_process,
            guest_is_other: false,
            begun: Instant::now(),
        })
    }

    /// What can go wrong.
    pub(crate) fn components(&self) -> &[&'static str] {
        &self.components
    }

    /// What tasks look at.
    pub(crate) fn wanted(&self) -> Wanted {
        Arc::clone(&self.wanted)
    }

    fn want(&self, wish: Option<Wish>) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = wish;
    }

    /// What Cortex says of itself.
    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    /// A tray that nothing was just done to, for a look.
    pub(crate) fn another_tray(&self, fault: &Fault) -> &'static str {
        TRAYS.into_iter().find(|tray| !fault.targets.contains(tray)).unwrap_or(TRAYS[0])
    }

    /// What the process of Cortex holds now.
    pub(crate) fn held(&mut self) -> anyhow::Result<Held> {
        Held::by(&self.monitored.process().id().to_string())
    }

    /// Waits for its time, and until its components work, and then lets it happen.
    pub(crate) async fn inflict(&mut self, test_robot: &TestRobot, number: usize, fault: &Fault) -> anyhow::Result<()> {
        tokio::time::sleep(fault.after).await;
        for target in &fault.targets {
            self.wait_until_free(target).await?;
        }
        if fault.kind.needs_errands() {
            self.wait_until_errands_are_free().await?;
        }
        let second = self.begun.elapsed().as_secs();
        eprintln!("{second:5} s, fault {}: {:?} {}", number + 1, fault.kind, fault.targets.join(", "));
        for target in &fault.targets {
            self.shared_memory.note(self.monitored.process_of(target).unwrap_or_default());
        }
        let first = self.monitored.count();
        let at = match (fault.kind.command(), fault.targets.first()) {
            _ if fault.kind == Kind::HealsDuringCall => self.heal_during_call().await,
            _ if fault.kind == Kind::GuestReplaced => self.replace_guest(test_robot).await?,
            _ if fault.kind == Kind::NobodyReads => {
                let at = Instant::now();
                self.want_for(Wish::Horn, NOBODY_READS).await;
                at
            }
            (Some(command), Some(tray)) => self.command(tray, command).await?,
            (_, None) => {
                let at = Instant::now();
                self.endpoint.be_gone_for(fault.lasts).await?;
                at
            }
            (None, Some(target)) => {
                let at = Instant::now();
                self.signal(fault, target).await;
                at
            }
        };
        match (fault.kind, fault.targets.first()) {
            (Kind::HangsInCalls, Some(tray)) => self.want(Some(Wish::Shake(tray))),
            (Kind::UnhaltableHangs, Some(tray)) => self.want(Some(Wish::Announce(tray))),
            _ => {}
        }
        let targets = fault.targets.iter().copied().map(Some);
        let nobody = fault.targets.is_empty().then_some(None);
        let new = targets.chain(nobody).map(|target| Inflicted { kind: fault.kind, target, at, first });
        self.inflicted.extend(new);
        Ok(())
    }

    /// Has tasks be about that for a while.
    async fn want_for(&self, wish: Wish, time: Duration) {
        self.want(Some(wish));
        tokio::time::sleep(time).await;
        self.want(None);
    }

    /// Freezes the component that has a standby, and lets it go on while the standby is at work.
    async fn heal_during_call(&mut self) -> Instant {
        let at = Instant::now();
        self.monitored.signal(DOUBLED, "STOP");
        if self.heard.stands(DOUBLED, "replaced", RESTORE_LIMIT).await {
            let began = count_of(&self.notes, SPARE_BEGAN);
            self.want(Some(Wish::LongShake(DOUBLED)));
            let deadline = Instant::now() + COMMAND_LIMIT;
            while count_of(&self.notes, SPARE_BEGAN) == began && Instant::now() < deadline {
                tokio::time::sleep(LOOK).await;
            }
        }
        self.monitored.signal(DOUBLED, "CONT");
        self.want(None);
        at
    }

    /// Kills the component of no recipe, and has one of another schema in its place at once.
    async fn replace_guest(&mut self, test_robot: &TestRobot) -> anyhow::Result<Instant> {
        self.guest.signal("KILL");
        let at = Instant::now();
        self.guest_is_other = !self.guest_is_other;
        self.guest = guest(test_robot, self.guest_is_other, &self.notes);
        self.want_for(Wish::Visit, VISITS).await;
        Ok(at)
    }

    async fn signal(&mut self, fault: &Fault, target: &str) {
        let name = match fault.kind {
            Kind::Ended => "TERM",
            Kind::Frozen | Kind::Paused => "STOP",
            _ => "KILL",
        };
        let first = self.monitored.count();
        for target in &fault.targets {
            self.monitored.signal(target, name);
        }
        match fault.kind {
            Kind::Paused => {
                let process = self.monitored.process_of(target);
                tokio::time::sleep(fault.lasts).await;
                // It may have been ended as one that hangs.
                if process == self.monitored.process_of(target) {
                    self.monitored.signal(target, "CONT");
                }
            }
            Kind::KilledWhileBroughtUp => {
                let next =
                    |told: &cortex_stories::Told| told.component == target && matches!(told.event, Event::Started(_));
                if self.monitored.hear(first, RESTORE_LIMIT, next).await.is_some() {
                    self.monitored.signal(target, "KILL");
                }
            }
            _ => {}
        }
    }

    /// Tells a component that goes wrong on command to do so, until it does.
    async fn command(&mut self, tray: &str, command: &str) -> anyhow::Result<Instant> {
        let line = format!("{tray} fault {command}");
        let before = count(&self.notes, &line);
        let deadline = Instant::now() + COMMAND_LIMIT;
        let mut told = None;
        while count(&self.notes, &line) == before {
            ensure!(Instant::now() < deadline, "{tray} does not hear that it shall go wrong: {command}");
            // A subscription that is new may not be matched yet.
            if told.is_none_or(|told: Instant| told.elapsed() > Duration::from_millis(500)) {
                let commands = self.commands.get(tray).context("not one that goes wrong on command")?;
                commands.publish(&Text { data: command.to_owned() })?;
                told = Some(Instant::now());
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(Instant::now())
    }

    /// Waits until what was done to the component before has been seen to, and it works.
    async fn wait_until_free(&mut self, target: &str) -> anyhow::Result<()> {
        let deadline = Instant::now() + RESTORE_LIMIT;
        loop {
            let told = self.monitored.told();
            let mut own = self.inflicted.iter().filter(|fault| fault.target == Some(target));
            let open = own.find(|fault| match fault.answer(told) {
                Answer::Unnoticed => !fault.kind.may_pass(),
                Answer::Noticed(_) => true,
                Answer::Restored(..) => false,
            });
            let mut last = told.iter().rev().filter(|told| told.component == target);
            let works = last.find_map(|told| match told.event {
                Event::Works | Event::Healthy => Some(true),
                Event::Waits(_) => None,
                _ => Some(false),
            });
            let is_met = |fault: &Inflicted| fault.answer(told) != Answer::Unnoticed;
            let is_of_calls = |fault: &&Inflicted| matches!(fault.kind, Kind::HangsInCalls | Kind::UnhaltableHangs);
            let hanging = self.inflicted.iter().rev().find(is_of_calls);
            if hanging.is_some_and(is_met) {
                self.want(None);
            }
            if open.is_none() && works == Some(true) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{target} is left down: {open:?}, works: {works:?}");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until what tasks were to be about has been noticed: they can be about one thing at a time.
    async fn wait_until_errands_are_free(&mut self) -> anyhow::Result<()> {
        let is_of_calls = |fault: &&Inflicted| matches!(fault.kind, Kind::HangsInCalls | Kind::UnhaltableHangs);
        let last = self.inflicted.iter().rev().find(is_of_calls).and_then(|fault| fault.target);
        if let Some(target) = last {
            self.wait_until_free(target).await?;
        }
        self.want(None);
        Ok(())
    }

    /// Waits until all works, for a bounded time; the table tells what does not.
    pub(crate) async fn settle(&mut self) {
        for target in self.components.clone() {
            if let Err(problem) = self.wait_until_free(target).await {
                eprintln!("{problem:#}");
            }
        }
    }

    pub(crate) fn table(&mut self) -> (String, Vec<String>) {
        report::table(&self.inflicted, self.monitored.told())
    }

    /// Whether the component of no recipe was ever called by a schema that is not its own, as it has noted.
    pub(crate) fn wrong_calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.notes).unwrap_or_default();
        text.lines().filter(|line| line.contains("another schema")).map(str::to_owned).collect()
    }

    pub(crate) async fn stop(&mut self) -> Option<i32> {
        self.guest.signal("TERM");
        for target in self.components.iter().copied().chain([DOUBLED, SPARE]).collect::<Vec<_>>() {
            self.shared_memory.note(self.monitored.process_of(target).unwrap_or_default());
        }
        self.monitored.stop().await
    }

    /// The shared memory that is left when Cortex has ended.
    pub(crate) fn shared_memory_left(&self) -> Vec<String> {
        self.shared_memory.left()
    }

    /// Shows what Cortex logged last.
    pub(crate) fn show(&mut self) {
        let log = self.monitored.process().log_after(0);
        for (_, line) in log.iter().rev().take(SHOWN).rev() {
            eprintln!("{line}");
        }
    }
}

/// The component of no recipe.
fn guest(test_robot: &TestRobot, is_other: bool, notes: &Path) -> Process {
    let notes = notes.to_string_lossy();
    let mut arguments = vec!["works", "--name", GUEST, "--notes", &notes];
    arguments.extend(is_other.then_some("--other"));
    test_robot.spawn_python("bad/component.py", &arguments)
}

/// How many lines of the notes begin so.
fn count_of(notes: &Path, beginning: &str) -> usize {
    std::fs::read_to_string(notes).unwrap_or_default().lines().filter(|line| line.starts_with(beginning)).count()
}
