//! Which tools the services, actions and topics of a graph become, and what can't be called and why. No ROS here.
//!
//! The same graph, policy and types always give the same catalog, in the same order.

mod answers;
pub(crate) mod known;
mod offers;
mod specification;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::{Effect, EffectSource, ToolName, ToolSpec};
use cortex_ros_client::graph::Graph;
use serde::Serialize;

pub(crate) use answers::says_no;
pub use offers::OfferKind;
pub(crate) use offers::{Offer, OfferKey, Offers, is_infrastructure};
pub(crate) use types::{TypeForm, TypeKey, TypeState, Types};

use crate::definitions::Definitions;
use cortex_discovery_policy::Policy;

/// Services and actions that are looked at. Far more than a robot has; a graph that invents them must not exhaust us.
const MOST_OFFERS: usize = 10_000;

/// What the robot offers beyond the methods of its components.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    entries: BTreeMap<ToolName, Entry>,
    /// By what they call.
    names: BTreeMap<(String, OfferKind), ToolName>,
    uncallable: Vec<Uncallable>,
    topics: Offers,
}

/// A tool and what it stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) spec: ToolSpec,
    pub(crate) kind: OfferKind,
    /// The full ROS name.
    pub(crate) name: String,
    pub(crate) type_name: String,
}

/// Something that is offered but can't be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Uncallable {
    /// What it is.
    pub kind: OfferKind,
    /// Its full ROS name.
    pub name: String,
    /// Its types; more than one only where nodes disagree.
    pub types: BTreeSet<String>,
    /// Who offers it, without the leading slash.
    pub nodes: BTreeSet<String>,
    /// Why it can't be called, and what to do.
    pub reason: String,
}

/// What becomes of one offer.
enum Verdict {
    Callable(Box<Entry>),
    Uncallable(String),
    /// Its type is being loaded.
    Pending,
}

impl Catalog {
    /// The catalog of what is offered. `topics` are those that are published.
    pub(crate) fn new(
        offers: &Offers,
        topics: Offers,
        policy: &Policy,
        types: &Types,
        definitions: &Definitions,
    ) -> Self {
        let mut catalog = Self { topics, ..Self::default() };
        for (key, offer) in offers {
            match judge(key, offer, policy, types, definitions) {
                Verdict::Callable(entry) => {
                    catalog.names.insert(key.clone(), entry.spec.name.clone());
                    catalog.entries.insert(entry.spec.name.clone(), *entry);
                }
                Verdict::Uncallable(reason) => {
                    let (name, kind) = key.clone();
                    let Offer { types, mut nodes, hidden, .. } = offer.clone();
                    nodes.extend(hidden.into_keys());
                    catalog.uncallable.push(Uncallable { kind, name, types, nodes, reason });
                }
                Verdict::Pending => {}
            }
        }
        catalog
    }

    /// What could be called: services, actions, and the topics that may be published.
    pub(crate) fn offers(graph: &Graph, policy: &Policy) -> Offers {
        let mut all = offers::callable(graph, policy);
        all.extend(offers::read(graph, policy).into_iter().filter(|((name, _), _)| policy.may_publish(name)));
        all.into_iter().take(MOST_OFFERS).collect()
    }

    /// The topics that the robot publishes and that may be read.
    pub(crate) fn published(graph: &Graph, policy: &Policy) -> Offers {
        let all = offers::published(graph, policy).into_iter();
        all.filter(|((name, _), offer)| refusal(name, offer, policy).is_none()).take(MOST_OFFERS).collect()
    }

    /// The types of what may be called.
    pub(crate) fn types_of(offers: &Offers, policy: &Policy) -> BTreeSet<TypeKey> {
        offers
            .iter()
            .filter(|((name, _), offer)| offer.types.len() == 1 && refusal(name, offer, policy).is_none())
            .flat_map(|((_, kind), offer)| offer.types.iter().map(|name| (*kind, name.clone())))
            .collect()
    }

    /// The tools, in order.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.entries.values().map(|entry| &entry.spec)
    }

    /// What a tool's name stands for.
    pub(crate) fn entry(&self, tool: &ToolName) -> Option<&Entry> {
        self.entries.get(tool)
    }

    /// The tools, each with the full ROS name of what it stands for.
    pub fn names(&self) -> impl Iterator<Item = (&ToolName, &str)> {
        self.entries.iter().map(|(tool, entry)| (tool, entry.name.as_str()))
    }

    /// How many services, actions and topics can be called.
    #[must_use]
    pub fn callable(&self) -> usize {
        self.entries.len()
    }

    /// What is on the graph but can't be called, by name.
    #[must_use]
    pub fn uncallable(&self) -> &[Uncallable] {
        &self.uncallable
    }

    /// The tool that calls what has this full ROS name.
    pub(crate) fn tool_for(&self, name: &str, kind: OfferKind) -> Option<&ToolName> {
        self.names.get(&(name.to_owned(), kind))
    }

    /// Why what has this full ROS name can't be called.
    pub(crate) fn reason_for(&self, name: &str, kind: OfferKind) -> Option<&str> {
        let found = self.uncallable.iter().find(|uncallable| uncallable.name == name && uncallable.kind == kind);
        found.map(|uncallable| uncallable.reason.as_str())
    }

    /// The topics that the robot publishes, by name.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &str> {
        self.topics.keys().map(|(name, _)| name.as_str())
    }

    /// The topic of this full name that the robot publishes.
    pub(crate) fn topic(&self, name: &str) -> Option<&Offer> {
        self.topics.get(&(name.to_owned(), OfferKind::Topic))
    }
}

/// Why what is offered under this name is left out by the configuration: for its name, or for who alone offers it.
fn refusal(name: &str, offer: &Offer, policy: &Policy) -> Option<String> {
    policy.refusal(name).or_else(|| {
        let (node, reason) = offer.hidden.first_key_value().filter(|_| offer.nodes.is_empty())?;
        Some(format!("the node /{node}, which offers it, is left out: {reason}"))
    })
}

fn judge(key: &OfferKey, offer: &Offer, policy: &Policy, types: &Types, definitions: &Definitions) -> Verdict {
    let (name, kind) = (key.0.as_str(), key.1);
    if let Some(reason) = refusal(name, offer, policy) {
        return Verdict::Uncallable(reason);
    }
    let mut named = offer.types.iter();
    let (Some(type_name), None) = (named.next(), named.next()) else {
        let all: Vec<&str> = offer.types.iter().map(String::as_str).collect();
        return Verdict::Uncallable(format!(
            "it is offered with several types ({}), so it is not sure who would answer; give one of them another name",
            all.join(", ")
        ));
    };
    let form = match types.get(&(kind, type_name.clone())) {
        None => return Verdict::Pending,
        Some(TypeState::Unusable(reason)) => return Verdict::Uncallable(reason.clone()),
        Some(TypeState::Ready(form)) => form,
    };
    if let Some(problem) = definitions.problem(key) {
        return Verdict::Uncallable(problem.to_owned());
    }
    let Some(short) = policy.name_of(name) else {
        return Verdict::Uncallable(
            "discovery.rename gives its name to something else; rename this one, too".to_owned(),
        );
    };
    let known = match kind {
        OfferKind::Service | OfferKind::Action => known::effect(type_name),
        OfferKind::Topic => None,
    };
    let (effect, effect_source) = match (policy.effect(name), known) {
        (Some(declared), _) => declared,
        // A goal is halted by cancelling it, a request by nothing.
        (None, Some(known)) if kind == OfferKind::Action || known == Effect::Observe => {
            (known, EffectSource::WellKnown)
        }
        (None, Some(known)) => (known, EffectSource::TypeOnly),
        (None, None) => (Effect::Move, EffectSource::Assumed),
    };
    let facts = specification::Facts { name, short: &short, kind, offer, type_name, form, effect, effect_source };
    let spec = specification::of(&facts, policy);
    Verdict::Callable(Box::new(Entry { spec, kind, name: name.to_owned(), type_name: type_name.clone() }))
}

#[cfg(test)]
mod tests;
