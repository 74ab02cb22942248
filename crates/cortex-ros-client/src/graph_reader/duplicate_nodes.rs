//! Two nodes of one name: one that was killed and its next run, until the lease of the dead one ends after some 20 s, or two
//! that share a name for good.
//!
//! The middleware is asked about nodes by name, and answers for either of the two. What the other one has is found by asking
//! about services and topics, and only about those that nobody seems to have: asking about all of a large robot would take
//! tens of milliseconds. What a node reads is not looked for: most topics have no reader, so that is where the questions
//! would be, and nobody waits for it.

use std::collections::{BTreeMap, BTreeSet};

use super::Key;
use crate::RosError;
use crate::graph::Interface;
use crate::graph_source::GraphSource;

/// The names of what the middleware lists for the name of a node.
#[derive(Default)]
pub(super) struct Listed {
    services: BTreeSet<String>,
    topics: BTreeSet<String>,
}

impl Listed {
    pub(super) fn of(services: &[Interface], publishers: &[Interface]) -> Self {
        let names = |interfaces: &[Interface]| interfaces.iter().map(|interface| interface.name.clone()).collect();
        Self { services: names(services), topics: names(publishers) }
    }
}

/// What one of two nodes of a name has, and the middleware does not list for the name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OfDuplicate {
    pub(super) services: Vec<Interface>,
    pub(super) publishers: Vec<Interface>,
}

/// What is not among what is listed for all nodes, and belongs to nodes of these names.
pub(super) fn look<'a>(
    source: &impl GraphSource,
    duplicates: &BTreeSet<Key>,
    listed: impl Iterator<Item = &'a Listed> + Clone,
) -> Result<BTreeMap<Key, OfDuplicate>, RosError> {
    let mut found: BTreeMap<Key, OfDuplicate> = BTreeMap::new();
    let services: BTreeSet<&str> = listed.clone().flat_map(|of| of.services.iter().map(String::as_str)).collect();
    for service in source.services()?.into_iter().filter(|service| !services.contains(service.name.as_str())) {
        let servers = source.servers_of(&service.name)?.into_iter();
        let servers: BTreeSet<Key> = servers.map(|(name, namespace, _)| (name, namespace)).collect();
        for duplicate in servers.intersection(duplicates) {
            found.entry(duplicate.clone()).or_default().services.push(service.clone());
        }
    }
    let topics: BTreeSet<&str> = listed.flat_map(|of| of.topics.iter().map(String::as_str)).collect();
    for topic in source.topics()?.into_iter().filter(|topic| !topics.contains(topic.name.as_str())) {
        // Not the types of the topic: they are also those of who reads it.
        let mut types: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
        for (name, namespace, type_name) in source.who_publishes(&topic.name)? {
            types.entry((name, namespace)).or_default().insert(type_name);
        }
        for (duplicate, types) in types.into_iter().filter(|(key, _)| duplicates.contains(key)) {
            let published = Interface { name: topic.name.clone(), types: types.into_iter().collect() };
            found.entry(duplicate).or_default().publishers.push(published);
        }
    }
    Ok(found)
}

/// Whether a node of that name serves it.
pub(super) fn serves(source: &impl GraphSource, (name, namespace): &Key, service: &str) -> Result<bool, RosError> {
    Ok(source.servers_of(service)?.iter().any(|(of, within, _)| (of, within) == (name, namespace)))
}

/// Whether a node of that name publishes it.
pub(super) fn publishes(source: &impl GraphSource, (name, namespace): &Key, topic: &str) -> Result<bool, RosError> {
    Ok(source.who_publishes(topic)?.iter().any(|(of, within, _)| (of, within) == (name, namespace)))
}
