//! What the stories on real ROS 2 share: a test robot with a robot in it, made of real processes in a ROS domain of its own.
//!
//! `cargo xtask test` builds the programs first and names their folder in `CORTEX_BIN_DIR`.

#![expect(clippy::expect_used, clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

mod browser;
mod built_interfaces;
pub mod costs;
mod dice;
mod held;
mod left_behind;
mod monitored;
mod own_domain;
mod process;
mod reverse_proxy;
mod robot;
mod script;
mod times;

use std::path::PathBuf;
use std::time::Duration;

pub use browser::{Browser, Colours, Page, Viewport};
pub use built_interfaces::BuiltInterfaces;
use cortex_protocol::overview::Overview;
use cortex_testkit::{Domain, OpenAiServer, discovery_range};
pub use dice::Dice;
pub use held::Held;
pub use monitored::{Event, Monitored, Told};
pub use own_domain::{argument, in_own_domain};
pub use process::Process;
pub use reverse_proxy::ReverseProxy;
pub use robot::Robot;
pub use script::{calls, model, prompts, says};
use serde_json::Value;
use tempfile::TempDir;
pub use times::Times;

/// No story waits longer for anything. Generous: it only guards against hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A test robot: a ROS domain, and the processes in it. Everything ends with it.
pub struct TestRobot {
    /// First, so that they have ended before the domain is given back to others.
    processes: Vec<(String, Process)>,
    /// None: the domain of this process.
    domain: Option<Domain>,
    /// What the test robot's processes find in their environment beyond that of the stories.
    environment: Vec<(&'static str, String)>,
    /// The state folder of everything in it: tapes.
    state: TempDir,
}

/// What `cortex send --json` printed.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The CloudEvents, in order.
    pub events: Vec<Value>,
    /// The last line: success, status, output, mission.
    pub result: Value,
    /// The exit status.
    pub code: Option<i32>,
}

impl Sent {
    /// The step of that number in the last plan: what became of it, with its `outcome`. Null while nothing did.
    #[must_use]
    pub fn step(&self, number: u32) -> &Value {
        let finished = self.events.iter().rev().filter_map(|event| event.pointer("/data/payload/report"));
        let mut of_step = finished.filter(|report| report["number"] == number);
        of_step.next().unwrap_or(&Value::Null)
    }

    /// The readable lines.
    #[must_use]
    pub fn lines(&self) -> Vec<&str> {
        self.events.iter().filter_map(|event| event.pointer("/data/text").and_then(Value::as_str)).collect()
    }

    /// The answer or the reason, with its last line of what was done.
    #[must_use]
    pub fn output(&self) -> &str {
        self.result.get("output").and_then(Value::as_str).unwrap_or_default()
    }

    /// The answer or the reason, without its last line.
    #[must_use]
    pub fn words(&self) -> &str {
        self.output().rsplit_once('\n').map_or("", |(words, _)| words)
    }

    /// The last line of the output: what was done and looked at.
    #[must_use]
    pub fn account(&self) -> &str {
        self.output().rsplit_once('\n').map_or("", |(_, account)| account)
    }

    /// `succeeded`, `failed` or `cancelled`.
    #[must_use]
    pub fn status(&self) -> &str {
        self.result.get("status").and_then(Value::as_str).unwrap_or_default()
    }

    /// The tools of the steps that were started, in order.
    #[must_use]
    pub fn started(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter(|event| event.get("type").is_some_and(|kind| kind == "cortex.step.started"))
            .filter_map(|event| event.pointer("/data/payload/tool").and_then(Value::as_str))
            .collect()
    }
}

impl TestRobot {
    /// An empty house.
    #[must_use]
    pub fn empty() -> Self {
        let domain = Domain::claim().expect("a free ROS domain");
        Self { domain: Some(domain), environment: Vec::new(), state: state_folder(), processes: Vec::new() }
    }

    /// An empty house in the ROS domain of this process.
    #[must_use]
    pub fn shared() -> Self {
        Self { domain: None, environment: Vec::new(), state: state_folder(), processes: Vec::new() }
    }

    /// Sets variables of all processes that are started from now on.
    pub fn set_environment(&mut self, variables: Vec<(&'static str, String)>) {
        self.environment = variables;
    }

    /// Adds to what the test robot's processes find in their environment.
    pub fn add_environment(&mut self, name: &'static str, value: String) {
        self.environment.push((name, value));
    }

    /// Gives this configuration to every Cortex that is started from now on.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn configure(&mut self, text: &str) {
        let path = self.file("cortex.toml", text);
        self.environment.push(("CORTEX_CONFIG", path));
    }

    /// Lets missions call what nobody has declared, where people are not what a story is about.
    pub fn allow_undeclared(&mut self) {
        self.add_environment("CORTEX_POLICY__UNDECLARED", "allow".to_owned());
    }

    /// Makes a file for its processes, and returns its path.
    ///
    /// # Panics
    /// When it can't be written.
    #[must_use]
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.state.path().join(name);
        std::fs::write(&path, text).expect("a file in the state folder of the house");
        path.to_string_lossy().into_owned()
    }

    /// A test robot with the simulated robot and a Cortex with the given model.
    pub async fn with_robot(model: &str) -> Self {
        let mut test_robot = Self::empty();
        test_robot.start("sim", "cortex-sim", &[]).await;
        test_robot.start_cortex(&["--model", model]).await;
        test_robot
    }

    /// The same with a robot that drives so slowly that it is still on its way when something happens.
    pub async fn with_slow_robot() -> Self {
        let mut test_robot = Self::empty();
        test_robot.start("sim", "cortex-sim", &["--ros-args", "-p", "speed_mps:=0.1"]).await;
        test_robot.start_cortex(&[]).await;
        test_robot
    }

    /// Starts a Cortex and waits until it takes tasks.
    pub async fn start_cortex(&mut self, arguments: &[&str]) {
        let arguments: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
        self.start("cortex", "cortex", &arguments).await;
    }

    /// The same with the model behind this server.
    pub async fn start_cortex_with(&mut self, model: &OpenAiServer) {
        self.start_cortex(&["--model", &format!("openai:scripted@{}", model.url())]).await;
    }

    /// Starts a program under a name and waits for its `ready`.
    pub async fn start(&mut self, name: &str, program: &str, arguments: &[&str]) {
        let mut process = self.spawn(program, arguments);
        process.wait_for_line("ready").await;
        self.processes.push((name.to_owned(), process));
    }

    /// Starts a Python script of `tests/python` under a name and waits for its `ready`.
    pub async fn start_python(&mut self, name: &str, script: &str, arguments: &[&str]) {
        let mut process = self.spawn_python(script, arguments);
        process.wait_for_line("ready").await;
        self.processes.push((name.to_owned(), process));
    }

    /// Starts a program in the test robot's domain.
    #[must_use]
    pub fn spawn(&self, program: &str, arguments: &[&str]) -> Process {
        self.spawn_path(&binary(program), arguments)
    }

    /// Starts a Python script of `tests/python` in the test robot's domain, with the Python that has rclpy.
    #[must_use]
    pub fn spawn_python(&self, script: &str, arguments: &[&str]) -> Process {
        let python = python();
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("python").join(script);
        let script = script.to_string_lossy();
        let arguments: Vec<&str> = [script.as_ref()].iter().chain(arguments).copied().collect();
        self.spawn_path(&python, &arguments)
    }

    /// Starts a script of the shell in the test robot's domain.
    #[must_use]
    pub fn spawn_shell(&self, script: &str) -> Process {
        self.spawn_path(std::path::Path::new("/bin/sh"), &["-c", script])
    }

    fn spawn_path(&self, program: &std::path::Path, arguments: &[&str]) -> Process {
        Process::spawn(program, arguments, &self.variables())
    }

    /// What every process of the test robot finds in its environment.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let state = self.state.path().to_string_lossy().into_owned();
        let mut environment = vec![
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", discovery_range()),
            ("XDG_STATE_HOME", state.clone()),
            // Nobody's own skills.
            ("XDG_CONFIG_HOME", state),
            // Robots of stories that run at the same time would all want the same port. A story that wants a page adds it.
            ("CORTEX_WEB__LISTEN", "off".to_owned()),
        ];
        environment.extend(self.environment.iter().cloned());
        environment.extend(self.domain.as_ref().map(|domain| ("ROS_DOMAIN_ID", domain.id())));
        environment
    }

    /// Runs a program of which nobody reads what it prints, and returns its exit status: as before `| head`, when that
    /// has gone.
    ///
    /// # Panics
    /// When it can't be started, or does not end within a minute.
    pub async fn run_unread(&self, program: &str, arguments: &[&str]) -> Option<i32> {
        let mut child = tokio::process::Command::new(binary(program))
            .args(arguments)
            .envs(self.variables())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program is started");
        drop((child.stdout.take(), child.stderr.take()));
        let limit = std::time::Duration::from_secs(60);
        let status = tokio::time::timeout(limit, child.wait()).await.expect("it ends").expect("it is waited for");
        status.code()
    }

    /// Runs a program with nothing in its environment but these variables: as in a shell where no ROS is sourced. Gives its
    /// exit status and what it has printed.
    ///
    /// # Panics
    /// When it can't be started, or does not end within a minute.
    pub async fn run_bare(
        &self,
        program: &str,
        arguments: &[&str],
        environment: &[(&str, String)],
    ) -> (Option<i32>, String, String) {
        let running = tokio::process::Command::new(binary(program))
            .args(arguments)
            .env_clear()
            .env("HOME", self.state())
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true)
            .output();
        let limit = std::time::Duration::from_secs(60);
        let output = tokio::time::timeout(limit, running).await.expect("it ends").expect("it is started");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Lets its processes find the programs of the workspace by their names, as a recipe has them.
    pub fn find_programs(&mut self) {
        let programs = binary("cortex");
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = programs.parent().map(PathBuf::from).into_iter().chain(std::env::split_paths(&others));
        let path = std::env::join_paths(folders).expect("no colons in the paths");
        self.environment.push(("PATH", path.to_string_lossy().into_owned()));
    }

    /// The folder that belongs to this test robot alone; its path is in the environment of every process in it.
    #[must_use]
    pub fn state(&self) -> &std::path::Path {
        self.state.path()
    }

    /// The folder of its tapes.
    #[must_use]
    pub fn tapes(&self) -> PathBuf {
        self.state.path().join("cortex/tape")
    }

    /// Ends the process that was started under this name.
    pub fn end(&mut self, name: &str) {
        self.processes.retain(|(known, _)| known != name);
    }

    /// A process that was started under this name.
    pub fn process(&mut self, name: &str) -> &mut Process {
        let found = self.processes.iter_mut().find(|(known, _)| known == name);
        &mut found.unwrap_or_else(|| panic!("no process '{name}' in the house")).1
    }

    /// Begins to send a task.
    #[must_use]
    pub fn begin_send(&self, task: &str) -> Process {
        self.spawn("cortex", &["send", "--json", "--wait", "20", task])
    }

    /// Sends a task and waits for its end.
    pub async fn send(&self, task: &str) -> Sent {
        finish_send(self.begin_send(task)).await
    }

    /// Sends a task in a session and waits until it has ended.
    pub async fn send_in_session(&self, session: &str, task: &str) -> Sent {
        finish_send(self.spawn("cortex", &["send", "--json", "--wait", "20", "--session", session, "--", task])).await
    }

    /// Runs a program to its end: its exit status, standard output and standard error.
    pub async fn run(&self, program: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut process = self.spawn(program, arguments);
        let code = process.wait().await;
        (code, process.stdout().join("\n"), process.stderr().join("\n"))
    }

    /// Waits until Cortex tells of itself what is wanted. What it tells is up to 300 ms behind its log.
    pub async fn status_until(&self, what: &str, wanted: impl Fn(&Overview) -> bool) -> Overview {
        let mut following = self.spawn("cortex", &["status", "--json", "--watch", "--wait", "20"]);
        let read = |line: &String| serde_json::from_str::<Overview>(line).ok();
        following
            .wait_for(&format!("a status with {what}"), |lines| lines.iter().filter_map(read).find(|line| wanted(line)))
            .await
    }
}

impl Drop for TestRobot {
    /// In a story that fails, every process is shown before the first of them is ended.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for (name, process) in &mut self.processes {
                process.show(&format!("{name}: "));
            }
        }
    }
}

/// Waits until what a `cortex send --json` has begun goes on for two seconds.
pub async fn wait_until_under_way(sending: &mut Process) {
    let lasts = |event: &Value| {
        let age = event.pointer("/data/payload/in_flight/0/age/secs").and_then(Value::as_u64);
        age.is_some_and(|seconds| seconds >= 2)
    };
    sending.wait_for_json("that a call goes on for 2 s", lasts).await;
}

/// Waits for the end of a `cortex send --json`.
pub async fn finish_send(mut process: Process) -> Sent {
    let code = process.wait().await;
    let mut lines: Vec<Value> = process
        .stdout()
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|problem| panic!("not JSON ({problem}): {line}")))
        .collect();
    let result =
        lines.pop().unwrap_or_else(|| panic!("`cortex send` printed nothing; {}", process.stderr().join("\n")));
    Sent { events: lines, result, code }
}

fn state_folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the state of a house")
}

/// The Python that has rclpy.
#[must_use]
pub fn python() -> PathBuf {
    std::env::var_os("CORTEX_ROS_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

/// The folder of the programs that stories start.
#[must_use]
pub fn binaries() -> PathBuf {
    std::env::var_os("CORTEX_BIN_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/debug"), PathBuf::from)
}

/// A program of the workspace.
///
/// # Panics
/// When it is not built.
#[must_use]
pub fn binary(name: &str) -> PathBuf {
    let path = binaries().join(name);
    assert!(path.is_file(), "{} is not there; run the stories by `cargo xtask test`", path.display());
    path
}
