//! What people said in the tasks that are under way, so that nobody can put words into their mouths: what a planner adds is the
//! word of a person only where one utterance of that person says just this, word for word.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_core::said::DeclaredSentence;
use cortex_protocol::MissionId;

use crate::words::key;

/// The sentences by which people have the robot remember where something is.
pub(crate) const REMEMBER: [&str; 5] = [
    "remember that {thing} is in {value}",
    "remember that {thing} are in {value}",
    "remember that {thing} is at {value}",
    "remember that {thing} are at {value}",
    "remember that {thing} is on {value}",
];

/// The tasks of people that are under way. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct SpokenTasks(Arc<Mutex<BTreeMap<MissionId, Vec<Utterance>>>>);

/// What one person said at a time.
#[derive(Debug)]
struct Utterance {
    person: String,
    text: String,
}

impl SpokenTasks {
    /// A person has given a task, or revised it.
    pub fn hear(&self, mission: &MissionId, person: &str, text: &str) {
        let utterance = Utterance { person: person.to_owned(), text: text.to_owned() };
        self.lock().entry(mission.clone()).or_default().push(utterance);
    }

    /// The task is over.
    pub fn end(&self, mission: &MissionId) {
        self.lock().remove(mission);
    }

    /// Who said that the thing is there.
    pub(crate) fn who_said(&self, mission: &MissionId, thing: &str, value: &str) -> Option<String> {
        let tasks = self.lock();
        let says = |utterance: &&Utterance| {
            let mut said =
                REMEMBER.iter().filter_map(|sentence| DeclaredSentence::read(sentence).said(&utterance.text));
            let is = |name: Option<&String>, wanted: &str| name.is_some_and(|name| key(name) == key(wanted));
            said.any(|said| is(said.get("thing"), thing) && is(said.get("value"), value))
        };
        tasks.get(mission)?.iter().find(says).map(|utterance| utterance.person.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<MissionId, Vec<Utterance>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_said_word_for_word_is_the_persons_word() {
        let (tasks, mission) = (SpokenTasks::default(), MissionId::new("one"));
        tasks.hear(&mission, "anna", "Remember that my keys are in the Office.");
        assert_eq!(tasks.who_said(&mission, "my keys", "office").as_deref(), Some("anna"));
        assert_eq!(tasks.who_said(&mission, "my keys", "kitchen"), None, "nobody said that");
        assert_eq!(tasks.who_said(&MissionId::new("two"), "my keys", "office"), None);
        tasks.hear(&mission, "ben", "remember that my keys are in the kitchen");
        assert_eq!(tasks.who_said(&mission, "my keys", "kitchen").as_deref(), Some("ben"));
        tasks.end(&mission);
        assert_eq!(tasks.who_said(&mission, "my keys", "office"), None);
    }

    /// The thing and the value stand in each of these, and none of them says that the one is at the other.
    #[test]
    fn regression_a_question_or_an_order_was_taken_for_a_statement() {
        for text in [
            "Is the red cup in the kitchen?",
            "The red cup is not in the kitchen",
            "Go to the kitchen and look for the red cup",
            "remember that the red cup is not in the kitchen",
            "remember that the box that is in the hall is in the kitchen, not the red cup",
        ] {
            let (tasks, mission) = (SpokenTasks::default(), MissionId::new("one"));
            tasks.hear(&mission, "anna", text);
            assert_eq!(tasks.who_said(&mission, "red cup", "kitchen"), None, "{text}");
        }
    }
}
