//! For tests on real ROS: each in a process and on a domain of its own, with peers in other processes.
//!
//! A ROS process has one context and reads its domain from the environment. So the test starts itself again as a
//! child, with a domain that no other test holds. A child that hangs is killed; one that crashes, even on its way
//! out, fails the test.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

/// Set in the child, where the story itself runs.
const CHILD: &str = "CORTEX_ROS_TEST_CHILD";
/// The domains that tests may use, as `FIRST-LAST`.
const DOMAINS: &str = "CORTEX_TEST_DOMAINS";
/// Those used where the environment names none: clear of the default domain, and with ports below the ephemeral ones.
const DEFAULT_DOMAINS: (u8, u8) = (20, 99);
/// How long a story may take, and its process with start and end.
const STORY_LIMIT: Duration = Duration::from_secs(120);
const CHILD_LIMIT: Duration = Duration::from_secs(150);
/// How long to wait for a free domain.
const DOMAIN_LIMIT: Duration = Duration::from_secs(600);
/// How long a peer may take to say what a test waits for.
const LINE_LIMIT: Duration = Duration::from_secs(30);
/// The Python that has `rclpy`.
const PYTHON: &str = "CORTEX_ROS_PYTHON";
/// Where Python looks for modules, and the folder of those that the scripts of all tests share.
const MODULES: &str = "PYTHONPATH";
const SHARED_MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/python");

/// Declares tests on real ROS: `async fn name() { ... }`, as many as wanted.
#[macro_export]
macro_rules! ros_tests {
    ($($(#[$meta:meta])* async fn $name:ident() $story:block)+) => {
        $(
            $(#[$meta])*
            #[test]
            fn $name() {
                $crate::testing::alone(concat!(module_path!(), "::", stringify!($name)), async $story);
            }
        )+
    };
}

/// Runs `story` in a process and on a domain of its own. `path` is the path of the test, as
/// [`ros_tests`](crate::ros_tests) gives it.
///
/// # Panics
/// When the story fails, hangs or crashes.
#[expect(clippy::panic, reason = "for tests only")]
pub fn alone(path: &str, story: impl Future<Output = ()>) {
    if std::env::var_os(CHILD).is_some() {
        return run(story);
    }
    let domain = Domain::hold().unwrap_or_else(|problem| panic!("no ROS domain for the test: {problem}"));
    // Without the name of the test program, by which the test harness does not call it.
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    let (passed, output) =
        run_child(name, &domain).unwrap_or_else(|problem| panic!("no process for the test: {problem}"));
    assert!(passed && output.contains("1 passed"), "{output}");
}

#[expect(clippy::panic, reason = "for tests only")]
fn run(story: impl Future<Output = ()>) {
    // Shown when the story fails. Once for each process, which runs one story only.
    let _ = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_ansi(false).try_init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap_or_else(|problem| panic!("no runtime for the test: {problem}"));
    let ended = runtime.block_on(async { tokio::time::timeout(STORY_LIMIT, story).await });
    assert!(ended.is_ok(), "the story did not end within {} s", STORY_LIMIT.as_secs());
}

/// Whether the child passed, and what it printed.
fn run_child(name: &str, domain: &Domain) -> io::Result<(bool, String)> {
    let output_path = std::env::temp_dir().join(format!("cortex-ros-test-{}-{}", std::process::id(), domain.id));
    let output = File::create(&output_path)?;
    // As `cargo xtask test` says, which knows more of the middleware; else not beyond this machine.
    let range = std::env::var("ROS_AUTOMATIC_DISCOVERY_RANGE").unwrap_or_else(|_| "LOCALHOST".to_owned());
    let mut child = Command::new(std::env::current_exe()?)
        .args([name, "--exact", "--nocapture", "--include-ignored"])
        .env(CHILD, "1")
        .env("ROS_DOMAIN_ID", domain.id.to_string())
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", range)
        .stdin(Stdio::null())
        .stderr(output.try_clone()?)
        .stdout(output)
        .spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status.to_string();
        }
        if begun.elapsed() > CHILD_LIMIT {
            child.kill()?;
            break format!("killed after {} s; {}", CHILD_LIMIT.as_secs(), child.wait()?);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let printed = String::from_utf8_lossy(&fs::read(&output_path)?).into_owned();
    fs::remove_file(&output_path)?;
    Ok((status == "exit status: 0", format!("{printed}\nthe test's process: {status}")))
}

/// A ROS domain that no other test on this machine uses, until it is dropped.
pub struct Domain {
    /// For `ROS_DOMAIN_ID`.
    pub id: u8,
    // The locks are given back by the operating system when they are closed, however the process ends.
    /// Against other runs of these tests.
    _lock: File,
    /// Against the stories and the demo, which lock their domains in this way.
    _port: TcpListener,
}

impl Domain {
    /// Waits for a free domain and holds it.
    ///
    /// # Errors
    /// When the lock files can't be made, or every domain stays in use.
    pub fn hold() -> io::Result<Self> {
        let folder = std::env::temp_dir().join("cortex-ros-domains");
        fs::create_dir_all(&folder)?;
        let (first, last) = domains();
        let begun = Instant::now();
        while begun.elapsed() < DOMAIN_LIMIT {
            for id in first..=last {
                let lock = OpenOptions::new()
                    .create(true)
                    .truncate(false)
                    .write(true)
                    .open(folder.join(format!("{id}.lock")))?;
                if lock.try_lock().is_ok()
                    && let Ok(port) = TcpListener::bind((Ipv4Addr::LOCALHOST, lock_port(id)))
                    // Nobody is in it, such as a robot that somebody tries out.
                    && UdpSocket::bind((Ipv4Addr::LOCALHOST, first_port(id))).is_ok()
                {
                    return Ok(Self { id, _lock: lock, _port: port });
                }
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(io::Error::other(format!("the domains {first} to {last} are all in use")))
    }
}

/// The last port of a domain by the DDS port formula (7400 + 250 n). DDS uses UDP only, so its TCP port is free.
fn lock_port(domain: u8) -> u16 {
    7400 + 250 * u16::from(domain) + 249
}

/// The port at which the first participant of a domain is found, by the same formula.
fn first_port(domain: u8) -> u16 {
    7400 + 250 * u16::from(domain) + 10
}

fn domains() -> (u8, u8) {
    let named = std::env::var(DOMAINS).ok();
    let range = named.as_deref().and_then(|range| range.split_once('-'));
    range
        .and_then(|(first, last)| Some((first.trim().parse().ok()?, last.trim().parse().ok()?)))
        .unwrap_or(DEFAULT_DOMAINS)
}

/// Another process on the same domain, which prints lines that a test waits for. Killed when dropped.
pub struct Peer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    /// Runs a script with the Python that has `rclpy`: `CORTEX_ROS_PYTHON`, or `python3`.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn python(script: &Path, arguments: &[&str]) -> io::Result<Self> {
        let python = std::env::var_os(PYTHON).map_or_else(|| PathBuf::from("python3"), PathBuf::from);
        let mut command = tokio::process::Command::new(python);
        let others = std::env::var_os(MODULES).unwrap_or_default();
        let modules = std::iter::once(PathBuf::from(SHARED_MODULES)).chain(std::env::split_paths(&others));
        let modules = std::env::join_paths(modules).map_err(io::Error::other)?;
        command.arg("-u").arg(script).args(arguments).env(MODULES, modules);
        Self::start(command)
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(mut command: tokio::process::Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let output = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        Ok(Self { child, lines: BufReader::new(output).lines() })
    }

    /// The rest of the next line that begins with `beginning`.
    ///
    /// # Errors
    /// When it does not come in time, or the peer ends.
    pub async fn line(&mut self, beginning: &str) -> io::Result<String> {
        let wanted = async {
            while let Some(line) = self.lines.next_line().await? {
                if let Some(rest) = line.strip_prefix(beginning) {
                    return Ok(rest.trim().to_owned());
                }
            }
            Err(io::Error::other(format!("the peer ended and did not say '{beginning}'")))
        };
        let late = || Err(io::Error::other(format!("the peer did not say '{beginning}' in time")));
        tokio::time::timeout(LINE_LIMIT, wanted).await.unwrap_or_else(|_| late())
    }

    /// Kills it, as a crash would: it can't say goodbye.
    ///
    /// # Errors
    /// When it can't be killed.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Waits until it ends by itself, and returns whether it says that it succeeded.
    ///
    /// # Errors
    /// When it does not end in time.
    pub async fn end(mut self) -> io::Result<bool> {
        let late = || Err(io::Error::other("the peer did not end in time"));
        let status = tokio::time::timeout(LINE_LIMIT, self.child.wait()).await.unwrap_or_else(|_| late())?;
        Ok(status.success())
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }
}
