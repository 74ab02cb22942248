//! What models were asked in a mission, and what they replied, as its tape has it. Nothing is run again.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_core::mission::RequestId;
use cortex_core::{ChatReply, ChatRequest, Effect, Input, ModelError};
use cortex_protocol::MissionId;

use super::record::{Body, Entry};
use super::{Reader, TapeError};

/// One request to a model, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedExchange {
    /// In which mission.
    pub mission: MissionId,
    /// The line of the tape on which the request is.
    pub line: u64,
    /// Which request of the mission.
    pub id: RequestId,
    /// The model that answered, as people name it. Empty where the tape is older than its name.
    pub model: String,
    /// What was asked, as the core gave it to the model's port. Keys of endpoints are no part of it.
    pub request: ChatRequest,
    /// What the model replied, with the tokens. None: the request was given up, or the tape breaks off.
    pub reply: Option<Result<ChatReply, ModelError>>,
    /// How long that took. None: as with the reply.
    pub took: Option<Duration>,
}

/// The exchanges of a mission, in the order of the requests. Those that were cut from the tape are left out.
///
/// # Errors
/// When the tape can't be read.
pub fn exchanges(reader: &mut Reader) -> Result<Vec<RecordedExchange>, TapeError> {
    let mut all: Vec<RecordedExchange> = Vec::new();
    let mut open: BTreeMap<u32, (usize, Duration)> = BTreeMap::new();
    let (mut now, mut asked) = (Duration::ZERO, String::new());
    while let Some((record, _)) = reader.next_record()? {
        let line = reader.line();
        match reader.body(&record)? {
            Body::Entry(Entry::Setup { model, .. }) => asked = model.into_owned(),
            Body::Entry(Entry::Effect { effect }) => match effect.into_owned() {
                Effect::AskModel { request: id, chat } => {
                    open.insert(id.0, (all.len(), now));
                    all.push(RecordedExchange {
                        mission: record.subject,
                        line,
                        id,
                        model: asked.clone(),
                        request: chat,
                        reply: None,
                        took: None,
                    });
                }
                Effect::AbandonModel { request } => {
                    open.remove(&request.0);
                }
                _ => {}
            },
            Body::Entry(Entry::Input { at, input }) => {
                now = at;
                if let Input::ModelReplied { request, reply } = input.into_owned()
                    && let Some((index, since)) = open.remove(&request.0)
                    && let Some(exchange) = all.get_mut(index)
                {
                    if let Ok(ChatReply { used: Some(used), .. }) = &reply {
                        exchange.model.clone_from(&used.model);
                    }
                    exchange.reply = Some(reply);
                    exchange.took = Some(at.saturating_sub(since));
                }
            }
            Body::Entry(_) | Body::Published(_) => {}
        }
    }
    Ok(all)
}
