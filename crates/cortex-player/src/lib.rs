//! Plays a recorded mission on the page: for people who just look, on a machine without a robot and without ROS.
//!
//! - `recording`: the tape that is played, checked; `demo.jsonl`: the one that comes along;
//! - `round`: the events of one round, at the times of that round;
//! - `picture`: the live status and the open questions that follow from them; `recent`: the newest events, for those who
//!   follow;
//! - `robot`: the port that the page is served from. It refuses whatever acts, and there is nothing to stop;
//! - `play`: the command.

mod picture;
mod play;
mod recent;
mod recording;
mod robot;
mod round;
mod speed;

use std::path::PathBuf;

use cortex_runtime::tape::TapeError;
use cortex_web::WebError;
use thiserror::Error;

pub use play::{PlayArguments, play};
pub use recording::{DEMO, Recording};
pub use robot::RecordedRobot;
pub use speed::{InvalidSpeed, Speed};

/// Why a tape can't be played.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The tape can't be read.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The tape holds no event.
    #[error("{} holds nothing to show: its mission never began", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// Neither a file nor a mission of the folder.
    #[error("there is no file '{name}'. Name the file of a tape, or `{DEMO}` for the one that comes along")]
    NoSuchFile {
        /// What was given.
        name: String,
    },
    /// The recording that comes along can't be unpacked.
    #[error("the recording that comes along can't be written to the temporary folder: {0}")]
    Unpack(std::io::Error),
    /// The page can't be served.
    #[error(transparent)]
    Web(#[from] WebError),
    /// Signals can't be awaited.
    #[error("Ctrl-C can't be awaited: {0}")]
    Signal(std::io::Error),
}
