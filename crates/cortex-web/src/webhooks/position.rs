//! How far the events got that are told to another system. It outlives a restart, so that none is left out.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cortex_protocol::{CloudEvent, EventId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::access::kept;

/// How often it is written while nothing is sent.
const OFTEN: Duration = Duration::from_secs(1);

/// The last event that is done with.
pub(super) struct Position {
    file: Option<PathBuf>,
    last: Option<EventId>,
    /// The first event of all, until it is done with. Without it, nothing would say after a restart where to begin.
    first: Option<CloudEvent>,
    written: Instant,
}

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    after: Option<EventId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<CloudEvent>,
}

impl Position {
    /// That of the system at this address, of which `same_before` came before in the configuration. Reads files.
    pub(super) fn open(folder: Option<&Path>, url: &str, same_before: usize) -> Self {
        // The address may hold a secret.
        let mut name: String = Sha256::digest(url).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        if same_before > 0 {
            name.push_str(&format!("-{}", same_before + 1));
        }
        let file = folder.map(|folder| folder.join(format!("webhook-{name}.json")));
        let read = file.as_ref().map(|file| {
            let read = kept::or_put_aside(file, kept::read(file), "events of before are not sent to the webhook");
            read.unwrap_or_else(|error| {
                tracing::error!(%error, "how far a webhook got is not known: it gets what happens from now on");
                Stored::default()
            })
        });
        let Stored { after: last, first } = read.unwrap_or_default();
        Self { file, last, first, written: Instant::now() }
    }

    pub(super) fn last(&self) -> Option<EventId> {
        self.last.clone()
    }

    /// The event with which to begin, before those after the last one.
    pub(super) fn first(&self) -> Option<CloudEvent> {
        self.first.clone()
    }

    /// Notes that an event is about to be sent. May write a file.
    pub(super) async fn begin(&mut self, event: &CloudEvent) {
        if self.last.is_none() && self.first.is_none() {
            self.first = Some(event.clone());
            self.write().await;
        }
    }

    /// Notes that an event is done with. `was_sent`: it is not to be sent again. May write a file.
    pub(super) async fn pass(&mut self, event: EventId, was_sent: bool) {
        self.last = Some(event);
        self.first = None;
        if was_sent || self.written.elapsed() >= OFTEN {
            self.write().await;
        }
    }

    /// Writes it down. Writes a file.
    pub(super) async fn write(&mut self) {
        self.written = Instant::now();
        let stored = Stored { after: self.last.clone(), first: self.first.clone() };
        let Some(file) = self.file.clone().filter(|_| stored.after.is_some() || stored.first.is_some()) else { return };
        let written = tokio::task::spawn_blocking(move || kept::replace(&file, &stored)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "how far a webhook got was not written down: after a restart it gets some events again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_of_two_webhooks_with_one_address_keeps_its_own_place() {
        let folder = tempfile::tempdir().unwrap();
        let open = |same_before| Position::open(Some(folder.path()), "https://example.org/hook", same_before);
        open(0).pass("7".into(), true).await;
        assert_eq!(open(1).last(), None);
        open(1).pass("3".into(), true).await;
        assert_eq!((open(0).last(), open(1).last()), (Some("7".into()), Some("3".into())));
    }
}
