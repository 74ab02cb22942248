//! What people have moved in the home since it began.

use std::collections::BTreeMap;

use crate::world::World;

/// Longest text that is read, in bytes.
const MOST_BYTES: usize = 1 << 16;

/// Things, each with the room in which it is now. A room that does not exist means that it is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moved(BTreeMap<String, String>);

impl Moved {
    /// Reads a JSON object such as `{"a red cup": "office"}`. Anything else moves nothing.
    #[must_use]
    pub fn read(text: &str) -> Self {
        if text.len() > MOST_BYTES {
            return Self::default();
        }
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// What is in a room now, each with its article: what was always there first.
    #[must_use]
    pub fn things_in(&self, world: &World, room: &str) -> Vec<String> {
        let at_home = world.room(room).map(|room| room.sees.as_slice()).unwrap_or_default();
        let stayed = at_home.iter().filter(|thing| !self.0.contains_key(*thing)).cloned();
        let moved = self.0.iter().filter(|(_, to)| *to == room).map(|(thing, _)| thing.clone());
        stayed.chain(moved).collect()
    }

    /// All things that the home ever had, in order.
    #[must_use]
    pub fn all(&self, world: &World) -> Vec<String> {
        let mut all: Vec<String> = world.rooms.iter().flat_map(|room| room.sees.iter().cloned()).collect();
        all.extend(self.0.keys().cloned());
        all.sort();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_is_in_its_new_room_and_not_in_its_old_one() {
        let world = World::load(None).unwrap();
        let moved = Moved::read(r#"{"a red cup": "office", "a cake": "kitchen", "a table": "nowhere"}"#);
        assert_eq!(moved.things_in(&world, "kitchen"), ["a kettle", "a cake"]);
        assert!(moved.things_in(&world, "office").contains(&"a red cup".to_owned()));
        assert!(moved.all(&world).contains(&"a table".to_owned()), "it is looked for");
        assert_eq!(Moved::read("no JSON"), Moved::default());
        assert_eq!(Moved::default().things_in(&world, "kitchen"), ["a kettle", "a table", "a red cup"]);
    }
}
