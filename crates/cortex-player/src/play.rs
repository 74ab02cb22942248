//! The command: serves the page over a recording until Ctrl-C.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;
use cortex_protocol::Role;
use cortex_runtime::tape::Folder;
use cortex_web::{WebServer, WebSettings};

use crate::PlayError;
use crate::recording::{DEMO, Recording};
use crate::robot::RecordedRobot;
use crate::speed::Speed;

/// What is played, and how.
#[derive(Debug, Clone, Args)]
pub struct PlayArguments {
    /// The file of a tape, or the beginning of a mission's id, or `demo`: the recording that comes along.
    #[arg(value_name = "TAPE", default_value = DEMO)]
    pub tape: String,
    /// How much faster than it was recorded: from 0.1 to 100.
    #[arg(long, value_name = "TIMES", default_value = "1")]
    pub speed: Speed,
    /// Where the page is served.
    #[arg(long, value_name = "ADDRESS", default_value = WebSettings::DEFAULT_ADDRESS)]
    pub web: SocketAddr,
}

/// Serves the page over a recording until Ctrl-C, and says where. A mission is looked for in the folder, if there is one.
///
/// # Errors
/// When the tape can't be read, or the page can't be served.
pub async fn play(arguments: PlayArguments, folder: Option<&Folder>) -> Result<(), PlayError> {
    let recording = Recording::find(&arguments.tape, folder)?;
    let about = recording.about();
    let task: String = about.task.chars().filter(|letter| !letter.is_control()).take(200).collect();
    println!("recording: \"{task}\", of {}", about.time.get(..16).unwrap_or("an unknown time").replace('T', " "));
    let settings = WebSettings::new(arguments.web, recording.robot());
    let server = WebServer::start(settings, Arc::new(RecordedRobot::start(recording, arguments.speed)))?;
    println!("page: http://{}/  (Ctrl-C ends it)", server.address());
    if !server.address().ip().is_loopback() {
        println!(
            "page: a device logs in with the code {}, once, within ten minutes",
            server.pairing_code(Role::Watch)?
        );
    }
    tokio::signal::ctrl_c().await.map_err(PlayError::Signal)?;
    server.shut_down().await;
    Ok(())
}
