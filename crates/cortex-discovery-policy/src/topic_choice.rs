//! The topics that a configuration chooses, by name and by pattern.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::{Patterns, PolicyError};

/// Which messages are kept in memory, and how many.
#[derive(Debug, Clone)]
pub struct TopicHistorySettings {
    /// Of which topics.
    pub topics: TopicChoice,
    /// How far back in time.
    pub reach: Duration,
    /// In how many bytes of memory at most.
    pub most_bytes: usize,
}

/// The topics that the configuration chose.
#[derive(Debug, Clone)]
pub struct TopicChoice {
    patterns: Patterns,
    /// Those that are names, which are looked for whoever publishes them.
    names: BTreeSet<String>,
}

impl TopicChoice {
    /// The topics that match these globs.
    ///
    /// # Errors
    /// When a pattern is none.
    pub fn new(topics: &[String]) -> Result<Self, PolicyError> {
        let is_name = |topic: &&String| !topic.contains(['*', '?', '[', '{', '\\']);
        let names = topics.iter().filter(is_name).cloned().collect();
        Ok(Self { patterns: Patterns::new("topics", topics)?, names })
    }

    /// Those of these topics that were chosen, and the names that were, in order.
    #[must_use]
    pub fn of<'topic>(&self, published: impl Iterator<Item = &'topic String>) -> BTreeSet<String> {
        let chosen = published.filter(|name| self.patterns.first(name).is_some()).cloned();
        chosen.chain(self.names.iter().cloned()).collect()
    }

    /// The patterns that match none of these topics.
    #[must_use]
    pub fn unmatched(&self, topics: &BTreeSet<String>) -> Vec<&str> {
        let mut patterns = self.patterns.unmatched(topics.iter());
        patterns.retain(|pattern| !self.names.contains(*pattern));
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_topics_of_every_namespace_and_names_are_looked_for_always() {
        let owned = |topics: &[&str]| topics.iter().map(|topic| (*topic).to_owned()).collect::<Vec<_>>();
        let choice = TopicChoice::new(&owned(&["/**/odom", "/battery", "/left/*"])).unwrap();
        let topics = choice.of(owned(&["/odom", "/robot1/odom", "/odometry", "/rosout"]).iter());
        assert_eq!(topics.iter().map(String::as_str).collect::<Vec<_>>(), ["/battery", "/odom", "/robot1/odom"]);
        assert_eq!(choice.unmatched(&topics), ["/left/*"]);
        assert!(TopicChoice::new(&owned(&["odom"])).is_err(), "a topic begins with a slash");
    }
}
