//! `cortex watch`: the live view of a running Cortex in a terminal, or as lines for programs and files. And `cortex incident`:
//! what is needed to look into a mission elsewhere, saved as a file.
//!
//! A client of Cortex's HTTP API; it needs no ROS. What decides is pure and knows no clock, terminal or network: `model`
//! puts the picture together, `screen` draws it into cells, `keys` turns keys into intents, `plain` turns updates into
//! lines. The edges are thin: `connection` and `http` talk to the server, `terminal` to the terminal, and `view` is the loop
//! between them.
//!
//! Two rules are above all others. **STOP always goes**: no lock, no queue and no slow terminal is before it, and where the
//! live stream does not answer, it goes once more on a connection of its own. **Nothing else goes unseen**: what acts names
//! the frame that was on the screen, and is locked while the picture is frozen.

mod address;
mod arguments;
mod connection;
mod error;
mod http;
mod incident;
mod keys;
mod line_edit;
#[cfg(test)]
mod made;
mod model;
mod plain;
mod screen;
mod signals;
#[cfg(test)]
mod stories;
mod terminal;
mod text;
mod view;
mod wire;

use std::process::ExitCode;

use crossterm::event::EventStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use address::Address;
pub use arguments::{Output, WatchArguments, WatchOptions};
pub use error::WatchError;
pub use incident::{IncidentArguments, incident};
pub use screen::Ink;

use connection::{Begin, Connection, STOPS, UPDATES};
use http::Http;
use plain::Format;
use signals::Signals;
use terminal::Screen;
use view::Edges;

/// Shows what a running Cortex does, until the person leaves, a signal ends it, or nobody reads its lines any more. Returns
/// the exit status: 0, or 128 and the number of the signal.
///
/// # Errors
/// When no Cortex answers at first or it refuses this client, or when the terminal cannot be used. A connection that breaks
/// later is made again.
pub async fn run(options: WatchOptions) -> Result<ExitCode, WatchError> {
    let WatchOptions { address, token, output, ink } = options;
    let format = match output {
        Output::Json => Some(Format::Json),
        Output::Plain => Some(Format::Text),
        Output::Automatic => (!terminal::is_screen()).then_some(Format::Text),
    };
    let http = Http::new(address.clone(), token.as_deref())?;
    let (updates, updated) = mpsc::channel(UPDATES);
    let (stops, stopping) = mpsc::channel(STOPS);
    let begin = if format.is_some() { Begin::Now } else { Begin::WithMission };
    let connection = Connection::new(http.clone(), address, token.as_deref(), begin, updates, stopping)?;
    connection.check().await?;
    let mut signals = Signals::new()?;
    // It ends with this function.
    let mut connecting = JoinSet::new();
    connecting.spawn(connection.run());
    let Some(format) = format else {
        let (screen, pictures) = Screen::take().map_err(WatchError::Terminal)?;
        let (keys, size) = (EventStream::new(), terminal::size);
        let folder = std::path::PathBuf::new();
        let edges = Edges { http, updates: updated, stops, keys, size, pictures, ink, folder };
        let shown = tokio::select! {
            shown = view::show(edges) => shown,
            status = signals.next() => Ok(ExitCode::from(status)),
        };
        let drawn = screen.ended().await.map_err(WatchError::Terminal);
        return shown.and_then(|status| drawn.map(|()| status));
    };
    tokio::select! {
        printed = plain::print(updated, format) => printed.map(|()| ExitCode::SUCCESS),
        status = signals.next() => Ok(ExitCode::from(status)),
    }
}
