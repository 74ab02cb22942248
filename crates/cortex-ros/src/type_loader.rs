//! Which types are loaded, and when they are looked at again. Loading blocks while libraries are read, so it is done in
//! batches on a thread for such things; the owner of the discovery takes the results in.

use std::collections::BTreeSet;
use std::sync::Arc;

use cortex_interfaces::{Conventions, InterfaceError, InterfaceName, Interfaces};

use crate::catalog::{OfferKind, TypeForm, TypeKey, TypeState, Types};

/// Types that are loaded before the first of them is taken in.
const BATCH: usize = 32;

/// Knows which types are wanted, loaded and still to be loaded. Loads nothing itself: see [`load`].
#[derive(Debug, Default)]
pub(crate) struct TypeLoader {
    types: Types,
    wanted: BTreeSet<TypeKey>,
    waiting: BTreeSet<TypeKey>,
    is_busy: bool,
}

impl TypeLoader {
    /// What is known.
    pub(crate) fn types(&self) -> &Types {
        &self.types
    }

    /// Whether a type that is wanted is not known yet. Those that are only looked at again do not count.
    pub(crate) fn is_loading(&self) -> bool {
        self.wanted.iter().any(|key| !self.types.contains_key(key))
    }

    /// These types are wanted now. One that comes anew is looked at, even if it was once: what offers it may have been
    /// built and started just now.
    pub(crate) fn want(&mut self, wanted: BTreeSet<TypeKey>) {
        self.waiting.extend(wanted.difference(&self.wanted).cloned());
        self.waiting.retain(|key| wanted.contains(key));
        // What could not be used and left may be other when it returns; what could be used is kept.
        let usable = |state: &TypeState| matches!(state, TypeState::Ready(_));
        self.types.retain(|key, state| wanted.contains(key) || usable(state));
        self.wanted = wanted;
    }

    /// Looks at all of them again: packages are installed and replaced while robots run.
    pub(crate) fn look_again(&mut self) {
        self.waiting.extend(self.wanted.iter().cloned());
    }

    /// The types to be loaded now, if any. One batch is out at a time, until [`take`](Self::take).
    pub(crate) fn next_batch(&mut self) -> Option<Vec<TypeKey>> {
        if self.is_busy || self.waiting.is_empty() {
            return None;
        }
        // What nobody knows yet comes first.
        let (known, unknown): (Vec<_>, Vec<_>) =
            self.waiting.iter().cloned().partition(|key| self.types.contains_key(key));
        let batch: Vec<TypeKey> = unknown.into_iter().chain(known).take(BATCH).collect();
        for key in &batch {
            self.waiting.remove(key);
        }
        self.is_busy = true;
        Some(batch)
    }

    /// Takes in what a batch came to. Returns whether that is anything new.
    pub(crate) fn take(&mut self, loaded: Vec<(TypeKey, TypeState)>) -> bool {
        self.is_busy = false;
        let mut is_new = false;
        for (key, state) in loaded {
            if self.types.get(&key) != Some(&state) {
                if let TypeState::Unusable(reason) = &state {
                    tracing::warn!("the {} type {} can't be called: {reason}", key.0, key.1);
                }
                self.types.insert(key, state);
                is_new = true;
            }
        }
        is_new
    }
}

/// Loads types. Blocks.
pub(crate) fn load(
    interfaces: &Interfaces,
    conventions: &Conventions,
    batch: Vec<TypeKey>,
) -> Vec<(TypeKey, TypeState)> {
    let states = batch.into_iter().map(|key| {
        let state = load_one(interfaces, conventions, &key)
            .map_or_else(|problem| TypeState::Unusable(problem.to_string()), TypeState::Ready);
        let state = changed(interfaces, &key.1).map_or(state, TypeState::Unusable);
        (key, state)
    });
    states.collect()
}

fn load_one(
    interfaces: &Interfaces,
    conventions: &Conventions,
    (kind, name): &TypeKey,
) -> Result<Arc<TypeForm>, InterfaceError> {
    Ok(Arc::new(match kind {
        OfferKind::Service => TypeForm::of_service(interfaces.service(name)?.as_ref(), conventions),
        OfferKind::Action => TypeForm::of_action(interfaces.action(name)?.as_ref(), conventions),
        OfferKind::Topic => TypeForm::of_message(interfaces.message(name)?.as_ref(), conventions),
    }))
}

/// Why a type that was loaded is out of date.
fn changed(interfaces: &Interfaces, name: &str) -> Option<String> {
    let name: InterfaceName = name.parse().ok()?;
    interfaces.changed_on_disk(&name).then(|| {
        format!(
            "the package {} was built or installed anew since Cortex loaded it, and a running program can't take the new \
             one in; restart Cortex",
            name.package()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> TypeKey {
        (OfferKind::Service, name.to_owned())
    }

    fn keys(names: &[&str]) -> BTreeSet<TypeKey> {
        names.iter().map(|name| key(name)).collect()
    }

    fn unusable(name: &str) -> (TypeKey, TypeState) {
        (key(name), TypeState::Unusable("not installed".to_owned()))
    }

    #[test]
    fn a_type_is_loaded_once_and_again_when_it_comes_anew() {
        let mut loader = TypeLoader::default();
        loader.want(keys(&["a", "b"]));
        assert!(loader.is_loading());
        assert_eq!(loader.next_batch(), Some(vec![key("a"), key("b")]));
        assert_eq!(loader.next_batch(), None);
        assert!(loader.take(vec![unusable("a"), unusable("b")]));
        assert!(!loader.is_loading());
        // A graph that changes without them does not load them over and over.
        loader.want(keys(&["a", "b"]));
        assert_eq!(loader.next_batch(), None);
        // One that returns is new.
        loader.want(keys(&["b"]));
        loader.want(keys(&["a", "b"]));
        assert!(loader.is_loading());
        assert_eq!(loader.next_batch(), Some(vec![key("a")]));
    }

    #[test]
    fn looking_again_keeps_what_is_known_until_it_is_known_better() {
        let mut loader = TypeLoader::default();
        loader.want(keys(&["a"]));
        let _ = loader.next_batch();
        loader.take(vec![unusable("a")]);
        loader.look_again();
        assert!(!loader.is_loading());
        assert_eq!(loader.next_batch(), Some(vec![key("a")]));
        assert!(!loader.take(vec![unusable("a")]), "nothing new");
    }

    #[test]
    fn what_is_not_known_yet_is_loaded_first_and_a_flood_in_parts() {
        let mut loader = TypeLoader::default();
        loader.want(keys(&["a"]));
        let _ = loader.next_batch();
        loader.take(vec![unusable("a")]);
        loader.look_again();
        let names: Vec<String> = (0..40).map(|number| format!("n{number:02}")).collect();
        let flood: Vec<&str> = names.iter().map(String::as_str).chain(["a"]).collect();
        loader.want(keys(&flood));
        let batch = loader.next_batch().unwrap();
        assert_eq!(batch.len(), BATCH);
        assert_eq!(batch[0], key("n00"));
        loader.take(Vec::new());
        assert_eq!(loader.next_batch().unwrap().last(), Some(&key("a")));
    }
}
