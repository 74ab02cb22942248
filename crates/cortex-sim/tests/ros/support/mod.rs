//! Processes of the simulation and a client that drives them over real ROS.
//!
//! Each test has a ROS namespace of its own, so that tests run side by side.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cortex_ros_client::RosNode;
use cortex_ros_client::r2r::cortex_msgs::srv::{DescribeComponent, ExecuteMethod};
use cortex_ros_client::r2r::lifecycle_msgs::srv::{ChangeState, GetState};
use cortex_ros_client::r2r::{Client, Node, Publisher, QosProfile};
use cortex_ros_client::r2r::{WrappedServiceTypeSupport, WrappedTypesupport, lifecycle_msgs::msg};
use futures::StreamExt;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Longest any awaited event may take. Against hangs only.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const SIM: &str = env!("CARGO_BIN_EXE_cortex-sim");
pub(crate) const MISBEHAVE: &str = env!("CARGO_BIN_EXE_cortex-misbehave");

/// Waits for an event, but not for ever.
pub(crate) async fn within<T>(what: &str, event: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, event).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come within {PATIENCE:?}"),
    }
}

/// A started program. It is killed when the test lets go of it.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
    /// Nothing is sent: it closes when the standard error was read to its end.
    all_errors: Receiver<()>,
}

impl Process {
    /// Starts a program with ROS arguments that put its nodes into `namespace`.
    pub(crate) fn start(program: &str, namespace: &str, arguments: &[&str], ros_arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).args(["--ros-args", "-r", &format!("__ns:={namespace}")]).args(ros_arguments);
        Self::run(command)
    }

    /// Starts a part of the robot that finds a program of the test before all others, and waits until it is up.
    pub(crate) fn part_with_program(part: &str, namespace: &str, folder: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path)));
        let mut command = Command::new(SIM);
        command.args(["component", part, "--ros-args", "-r", &format!("__ns:={namespace}")]);
        command.env("PATH", path.unwrap());
        let process = Self::run(command);
        process.line("up ");
        process
    }

    fn run(mut command: Command) -> Self {
        let mut child = command
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = sync_channel(1000);
        let output = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let errors = Arc::new(Mutex::new(String::new()));
        let (mut stderr, told) = (BufReader::new(child.stderr.take().unwrap()), Arc::clone(&errors));
        let (open, all_errors) = sync_channel(1);
        std::thread::spawn(move || {
            let _open = open;
            let mut line = String::new();
            while stderr.read_line(&mut line).is_ok_and(|length| length > 0) {
                told.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self { child, lines, errors, all_errors }
    }

    /// Starts a part of the robot and waits until it is up.
    pub(crate) fn part(part: &str, namespace: &str, ros_arguments: &[&str]) -> Self {
        let process = Self::start(SIM, namespace, &["component", part], ros_arguments);
        process.line("up ");
        process
    }

    /// The next line of the output, which must begin so.
    pub(crate) fn line(&self, beginning: &str) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        match line {
            Ok(line) if line.starts_with(beginning) => line,
            other => panic!("expected a line '{beginning}...', got {other:?}; errors:\n{}", self.errors()),
        }
    }

    /// All further lines; waits for the end of the output.
    pub(crate) fn remaining_lines(&self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// What the program has written to its standard error so far.
    pub(crate) fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Waits until the standard error holds a text.
    pub(crate) fn wait_for_error(&self, text: &str) {
        wait_until(text, || self.errors().contains(text));
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal_to(self.pid(), signal);
    }

    /// Waits for the end of the process and of its standard error, which what it started may hold open for longer.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let left = deadline.saturating_duration_since(Instant::now());
                let end = self.all_errors.recv_timeout(left);
                assert_eq!(end, Err(RecvTimeoutError::Disconnected), "who holds it open? errors:\n{}", self.errors());
                return status;
            }
            assert!(Instant::now() < deadline, "the process does not end; errors:\n{}", self.errors());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGTERM first: a killed parent would leave the end of its parts to chance.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.signal(Signal::TERM);
            let deadline = Instant::now() + Duration::from_secs(8);
            while Instant::now() < deadline && self.child.try_wait().is_ok_and(|status| status.is_none()) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal_to(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Polls what no event tells.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "did not come: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes whose command line holds a text, by id.
pub(crate) fn processes_with(text: &str) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let mut line = Vec::new();
        let readable =
            std::fs::File::open(entry.path().join("cmdline")).and_then(|mut file| file.read_to_end(&mut line));
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if readable.is_ok() && line.contains(text) {
            found.push((pid, line));
        }
    }
    found
}

/// A namespace that no other test has, whatever its name.
pub(crate) fn namespace(test: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("/{test}{}_{}", COUNT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

/// A client node in the namespace of a test.
pub(crate) struct Caller {
    node: RosNode,
    executes: tokio::sync::Mutex<HashMap<String, Arc<Client<ExecuteMethod::Service>>>>,
}

impl Caller {
    pub(crate) fn start(namespace: &str) -> Self {
        Self { node: RosNode::start("caller", namespace).unwrap(), executes: tokio::sync::Mutex::default() }
    }

    /// A client of that service; waits until the service is there.
    pub(crate) async fn client<S: WrappedServiceTypeSupport + 'static>(&self, service: &str) -> Client<S> {
        let name = service.to_owned();
        let (client, available) = within(
            "the node",
            self.node.with_node(move |node| {
                let client = node.create_client::<S>(&name, QosProfile::services_default()).unwrap();
                let available = Node::is_available(&client).unwrap();
                (client, available)
            }),
        )
        .await
        .unwrap();
        within(service, available).await.unwrap();
        client
    }

    pub(crate) async fn call<S: WrappedServiceTypeSupport + 'static>(
        &self,
        service: &str,
        request: S::Request,
    ) -> S::Response {
        let client = self.client::<S>(service).await;
        within(service, client.request(&request).unwrap()).await.unwrap()
    }

    /// The answer of a component's method.
    pub(crate) async fn execute(&self, component: &str, method: &str, arguments: Value) -> Result<Value, String> {
        let response = within(method, self.begin(component, method, &arguments.to_string()).await).await;
        if response.success {
            assert_eq!(response.error_msg, "");
            Ok(serde_json::from_str(&response.response_json).unwrap())
        } else {
            assert_eq!(response.response_json, "");
            Err(response.error_msg)
        }
    }

    /// Sends a call; the future is its answer.
    pub(crate) async fn begin(
        &self,
        component: &str,
        method: &str,
        arguments: &str,
    ) -> impl Future<Output = ExecuteMethod::Response> + 'static {
        let mut executes = self.executes.lock().await;
        if !executes.contains_key(component) {
            let client = self.client(&format!("{component}/execute_method")).await;
            executes.insert(component.to_owned(), Arc::new(client));
        }
        let request = ExecuteMethod::Request { name: method.to_owned(), kwargs_json: arguments.to_owned() };
        let answer = executes[component].request(&request).unwrap();
        async move { answer.await.unwrap() }
    }

    pub(crate) async fn describe(&self, component: &str) -> String {
        let service = format!("{component}/describe");
        self.call::<DescribeComponent::Service>(&service, DescribeComponent::Request {}).await.description_json
    }

    pub(crate) async fn state(&self, component: &str) -> String {
        let service = format!("{component}/get_state");
        self.call::<GetState::Service>(&service, GetState::Request {}).await.current_state.label
    }

    pub(crate) async fn change(&self, component: &str, transition: &str) -> bool {
        let transition = msg::Transition { id: 0, label: transition.to_owned() };
        let service = format!("{component}/change_state");
        self.call::<ChangeState::Service>(&service, ChangeState::Request { transition }).await.success
    }

    pub(crate) async fn subscribe<T: WrappedTypesupport + Send + 'static>(
        &self,
        topic: &str,
        qos: QosProfile,
    ) -> Messages<T> {
        let name = topic.to_owned();
        let stream = self.node.with_node(move |node| node.subscribe::<T>(&name, qos).unwrap().boxed()).await.unwrap();
        Messages { topic: topic.to_owned(), stream }
    }

    /// Publishes, but not before somebody reads it.
    pub(crate) async fn publisher<T: WrappedTypesupport + Send + 'static>(&self, topic: &str) -> Publisher<T> {
        let name = topic.to_owned();
        let qos = QosProfile::default();
        let create = move |node: &mut Node| {
            let publisher = node.create_publisher::<T>(&name, qos).unwrap();
            let read = publisher.wait_for_inter_process_subscribers().unwrap();
            (publisher, read)
        };
        let (publisher, read) = self.node.with_node(create).await.unwrap();
        within("a reader", read).await.unwrap();
        publisher
    }

    /// Publishes a message over and over, until the future is dropped.
    pub(crate) async fn publish<T: WrappedTypesupport + Send + 'static>(&self, topic: &str, message: T) {
        let publisher = self.publisher(topic).await;
        match repeat(&publisher, message).await {}
    }
}

/// Publishes over and over, until the future is dropped.
pub(crate) async fn repeat<T: WrappedTypesupport + 'static>(publisher: &Publisher<T>, message: T) -> Infallible {
    loop {
        publisher.publish(&message).unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.node.shut_down();
    }
}

/// The messages of a topic.
pub(crate) struct Messages<T> {
    topic: String,
    stream: futures::stream::BoxStream<'static, T>,
}

impl<T> Messages<T> {
    pub(crate) async fn next(&mut self) -> T {
        within(&self.topic, self.stream.next()).await.unwrap()
    }

    /// The next message for which the condition holds.
    pub(crate) async fn until(&mut self, condition: impl Fn(&T) -> bool) -> T {
        let topic = self.topic.clone();
        within(&topic, async {
            loop {
                let message = self.stream.next().await.unwrap();
                if condition(&message) {
                    return message;
                }
            }
        })
        .await
    }
}
