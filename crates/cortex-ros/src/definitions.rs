//! Whether what the robot offers is defined as the types that are installed here. Asking takes the middleware a moment
//! for each, so it is done in batches beside everything else. What calls something asks once more: see
//! [`RosTools`](crate::RosTools).

use std::collections::{BTreeMap, BTreeSet};

use cortex_interfaces::Interfaces;
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::Endpoints;

use crate::catalog::{Offer, OfferKey, OfferKind, Offers};

/// Offers that are asked about before the first answer is taken in.
const BATCH: usize = 64;

/// What is known of the definitions, and what is still to be asked. Asks nothing itself: see [`check`].
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    checked: BTreeMap<OfferKey, Checked>,
    waiting: BTreeMap<OfferKey, Offer>,
    is_busy: bool,
}

#[derive(Debug)]
struct Checked {
    offer: Offer,
    problem: Option<String>,
}

/// An offer, and what is wrong with its definition, if anything is.
pub(crate) type Verdict = (OfferKey, Offer, Option<String>);

impl Definitions {
    /// These are offered now. One that comes anew, or from another run of its server, is asked about.
    pub(crate) fn want(&mut self, offers: &Offers) {
        self.checked.retain(|key, _| offers.contains_key(key));
        self.waiting.retain(|key, _| offers.contains_key(key));
        for (key, offer) in offers {
            if self.checked.get(key).is_none_or(|checked| checked.offer != *offer) {
                self.waiting.insert(key.clone(), offer.clone());
            }
        }
    }

    /// Asks again about those that are wrong: a server that died is seen for a while.
    pub(crate) fn look_again(&mut self) {
        let wrong = self.checked.iter().filter(|(_, checked)| checked.problem.is_some());
        self.waiting.extend(wrong.map(|(key, checked)| (key.clone(), checked.offer.clone())));
    }

    /// What is to be asked about now, if anything. One batch is out at a time, until [`take`](Self::take).
    pub(crate) fn next_batch(&mut self) -> Option<Vec<(OfferKey, Offer)>> {
        if self.is_busy || self.waiting.is_empty() {
            return None;
        }
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(next) = self.waiting.pop_first()
        {
            batch.push(next);
        }
        self.is_busy = true;
        Some(batch)
    }

    /// Takes in what a batch came to. Returns whether other things are wrong now than before.
    pub(crate) fn take(&mut self, verdicts: Vec<Verdict>) -> bool {
        self.is_busy = false;
        let mut is_new = false;
        for (key, offer, problem) in verdicts {
            let known = self.checked.get(&key).and_then(|checked| checked.problem.as_ref());
            if known != problem.as_ref() {
                is_new = true;
                if let Some(problem) = &problem {
                    tracing::warn!("the {} {} can't be called: {problem}", key.1, key.0);
                }
            }
            self.checked.insert(key, Checked { offer, problem });
        }
        is_new
    }

    /// What is wrong with an offer.
    pub(crate) fn problem(&self, key: &OfferKey) -> Option<&str> {
        self.checked.get(key)?.problem.as_deref()
    }
}

/// Asks the middleware. Blocks.
pub(crate) fn check(endpoints: &Endpoints, interfaces: &Interfaces, batch: Vec<(OfferKey, Offer)>) -> Vec<Verdict> {
    let verdicts = batch.into_iter().map(|(key, offer)| {
        let problem = match only(&offer.types).map(|type_name| check_one(endpoints, interfaces, &key, type_name)) {
            Some(Err(problem @ RosError::OtherDefinition { .. })) => {
                Some(format!("{problem}; build both sides with the same version of the package, and restart them"))
            }
            // What can't be loaded is told elsewhere, and what can't be asked is asked before it is called.
            Some(_) | None => None,
        };
        (key, offer, problem)
    });
    verdicts.collect()
}

fn check_one(
    endpoints: &Endpoints,
    interfaces: &Interfaces,
    (name, kind): &OfferKey,
    type_name: &str,
) -> Result<(), RosError> {
    match kind {
        OfferKind::Service => endpoints.check_service(name, interfaces.service(type_name)?.as_ref()),
        OfferKind::Action => endpoints.check_action(name, interfaces.action(type_name)?.as_ref()),
        OfferKind::Topic => endpoints.check_topic(name, interfaces.message(type_name)?.as_ref()),
    }
}

fn only(types: &BTreeSet<String>) -> Option<&str> {
    let mut types = types.iter();
    match (types.next(), types.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_ros_client::graph::InstanceId;

    fn offers(run: u8) -> Offers {
        let offer = Offer {
            types: BTreeSet::from(["std_srvs/srv/Trigger".to_owned()]),
            nodes: BTreeSet::from(["base".to_owned()]),
            hidden: BTreeMap::new(),
            instances: BTreeSet::from([InstanceId::new(&[run])]),
        };
        Offers::from([(("/base/reset".to_owned(), OfferKind::Service), offer)])
    }

    fn answered(definitions: &mut Definitions, problem: Option<&str>) -> bool {
        let batch = definitions.next_batch().unwrap();
        definitions.take(batch.into_iter().map(|(key, offer)| (key, offer, problem.map(str::to_owned))).collect())
    }

    #[test]
    fn an_offer_is_asked_about_once_and_again_when_its_server_is_started_anew() {
        let mut definitions = Definitions::default();
        definitions.want(&offers(1));
        assert!(answered(&mut definitions, Some("other")));
        let key = ("/base/reset".to_owned(), OfferKind::Service);
        assert_eq!(definitions.problem(&key), Some("other"));
        definitions.want(&offers(1));
        assert_eq!(definitions.next_batch(), None);
        definitions.want(&offers(2));
        assert!(answered(&mut definitions, None));
        assert_eq!(definitions.problem(&key), None);
        definitions.look_again();
        assert_eq!(definitions.next_batch(), None, "nothing is wrong");
    }
}
