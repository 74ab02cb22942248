//! Which model answers, where there are several: people are told when another one does.

use std::collections::BTreeMap;

use cortex_protocol::MissionEvent;
use serde::{Deserialize, Serialize};

use super::{Mission, Prices};
use crate::chat::ChatReply;
use crate::fragment::{NOTE_CHARACTERS, one_line};

/// The models that have answered last, by those that are asked first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsedModels(BTreeMap<String, String>);

impl Mission {
    /// Tells of another model than has answered before.
    pub(super) fn note_model(&mut self, reply: &ChatReply) {
        let Some(used) = &reply.used else { return };
        let before = self.models.0.insert(used.wanted.clone(), used.model.clone());
        if before.as_ref().unwrap_or(&used.wanted) != &used.model {
            self.report(MissionEvent::ModelChanged {
                model: used.model.clone(),
                wanted: used.wanted.clone(),
                because: one_line(&used.because, NOTE_CHARACTERS),
            });
        }
    }

    /// What the tokens of a reply cost, if another model than the first has given it.
    pub(super) fn other_prices(&self, reply: &ChatReply) -> Option<Prices> {
        let used = reply.used.as_ref()?;
        self.setup.limits.other_prices.get(&used.model).copied()
    }

    /// What tokens cost at most, whichever model answers.
    pub(super) fn highest_prices(&self) -> Prices {
        let limits = &self.setup.limits;
        limits.other_prices.values().fold(limits.prices, |highest, prices| Prices {
            prompt: highest.prompt.max(prices.prompt),
            completion: highest.completion.max(prices.completion),
        })
    }
}
