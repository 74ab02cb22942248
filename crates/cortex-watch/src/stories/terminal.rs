//! The program in a real terminal: whatever ends it, the terminal is as it was before.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::PATIENCE;
use super::server::{Said, Server};
use crate::{Ink, Output, WatchOptions};

const ADDRESS: &str = "CORTEX_WATCH_TEST_ADDRESS";
const PANICS: &str = "CORTEX_WATCH_TEST_PANICS";
const ENTERS: &str = "\u{1b}[?1049h";
const CLEARS: &str = "\u{1b}[2J";
const LEAVES: &str = "\u{1b}[?1049l";

/// The program that the other tests start in a terminal.
#[tokio::test]
#[ignore = "the other tests of this file start it in a terminal of its own"]
async fn program() {
    let address = std::env::var(ADDRESS).unwrap().parse().unwrap();
    if std::env::var_os(PANICS).is_some() {
        tokio::spawn(async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            panic!("a flaw");
        });
    }
    let options = WatchOptions { address, token: None, output: Output::Automatic, ink: Ink::Colours };
    if let Err(error) = crate::run(options).await {
        println!("error: {error}");
    }
}

/// A terminal in which the program runs.
struct Terminal {
    outside: File,
    inside: OwnedFd,
    chunks: mpsc::Receiver<Vec<u8>>,
    shown: String,
    program: Child,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Terminal {
    async fn with_program(server: &Server, panics: bool) -> Self {
        let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&outside).unwrap();
        unlockpt(&outside).unwrap();
        resize(&outside, 80, 24);
        let name = ptsname(&outside, Vec::new()).unwrap();
        let inside = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let stdio = || Stdio::from(inside.try_clone().unwrap());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "stories::terminal::program", "--ignored", "--nocapture"]);
        command.env(ADDRESS, server.address().to_string()).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        if panics {
            command.env(PANICS, "1");
        }
        let program = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
        let outside = File::from(outside);
        let mut read = outside.try_clone().unwrap();
        let (sender, chunks) = mpsc::channel(64);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = read.read(&mut buffer) {
                if sender.blocking_send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut terminal = Self { outside, inside, chunks, shown: String::new(), program };
        terminal.shows(ENTERS).await;
        terminal.shows("live").await;
        assert!(!terminal.is_as_before(), "keys come one by one");
        terminal
    }

    async fn shows(&mut self, text: &str) {
        let shows = async {
            while !self.shown.contains(text) {
                let chunk = self.chunks.recv().await.unwrap();
                self.shown.push_str(&String::from_utf8_lossy(&chunk));
            }
        };
        if timeout(PATIENCE, shows).await.is_err() {
            panic!("{text:?} was not shown, but {:?}", self.shown);
        }
    }

    /// Whether lines are read and shown as in a shell.
    fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.inside).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    async fn press(&mut self, keys: &[u8]) {
        self.outside.write_all(keys).unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program), signal).unwrap();
    }

    /// Waits until the program has ended, and checks the terminal.
    async fn is_given_back(&mut self) -> ExitStatus {
        self.shows(LEAVES).await;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "the program goes on: {:?}", self.shown);
            // No event tells of the end of a child process here.
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert!(self.is_as_before());
        assert!(!self.shown.rsplit(LEAVES).next().unwrap().contains(ENTERS));
        status
    }
}

#[tokio::test]
async fn the_terminal_is_given_back_when_the_person_leaves_or_a_signal_ends_the_program() {
    let server = Server::start().await;
    for end in 0..4 {
        let mut terminal = Terminal::with_program(&server, false).await;
        match end {
            0 => terminal.press(b"q").await,
            1 => terminal.press(&[3]).await,
            2 => terminal.signal(Signal::TERM),
            _ => terminal.signal(Signal::HUP),
        }
        terminal.is_given_back().await;
    }
    assert!(!server.said().iter().any(|said| matches!(said, Said::SocketStop | Said::PostStop)), "leaving is no stop");
}

#[tokio::test]
async fn the_terminal_is_given_back_when_a_part_of_the_program_panics() {
    let server = Server::start().await;
    let mut terminal = Terminal::with_program(&server, true).await;
    terminal.is_given_back().await;
    terminal.shows("a flaw").await;
    terminal.shows("a part of the program has failed").await;
}

fn resize(terminal: impl AsFd, columns: u16, rows: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

#[tokio::test]
async fn a_terminal_that_changes_its_size_is_drawn_anew() {
    let server = Server::start().await;
    let mut terminal = Terminal::with_program(&server, false).await;
    for (columns, rows, word) in [(60, 20, "Ctrl-C:"), (120, 40, "(no")] {
        terminal.shown.clear();
        resize(&terminal.outside, columns, rows);
        terminal.signal(Signal::WINCH);
        terminal.shows(CLEARS).await;
        // A word of the keys as they are in this width.
        terminal.shows(word).await;
    }
}

#[tokio::test]
async fn a_real_key_stops_the_robot() {
    let server = Server::start().await;
    let mut terminal = Terminal::with_program(&server, false).await;
    terminal.press(b"S").await;
    server.heard(|said| *said == Said::SocketStop).await;
    // What is pasted is no key: a text with an S in it stops nothing, and a 'q' in it leaves nothing.
    terminal.press(b"\x1b[200~Sq\x1b[201~").await;
    terminal.press(&[19]).await;
    let stops = |said: &Said| *said == Said::SocketStop;
    tokio::time::timeout(PATIENCE, async {
        while server.said().iter().filter(|said| stops(said)).count() < 2 {
            server.changed().await;
        }
    })
    .await
    .unwrap();
    assert_eq!(server.said().iter().filter(|said| stops(said)).count(), 2);
}
