//! What people said in the tasks that are under way, so that nobody can put words into their mouths: what a planner adds is the
//! word of a person only where the person's own task says it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_protocol::MissionId;

use crate::words::mentions;

/// The tasks of people that are under way. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct SpokenTasks(Arc<Mutex<BTreeMap<MissionId, SpokenTask>>>);

#[derive(Debug)]
struct SpokenTask {
    person: String,
    text: String,
}

impl SpokenTasks {
    /// A person has given a task, or says more of it.
    pub fn hear(&self, mission: &MissionId, person: &str, text: &str) {
        let mut tasks = self.lock();
        let task = tasks
            .entry(mission.clone())
            .or_insert_with(|| SpokenTask { person: person.to_owned(), text: String::new() });
        task.text.push('\n');
        task.text.push_str(text);
    }

    /// The task is over.
    pub fn end(&self, mission: &MissionId) {
        self.lock().remove(mission);
    }

    /// Who said it, where the person's own words name the thing and the value.
    pub(crate) fn who_said(&self, mission: &MissionId, thing: &str, value: &str) -> Option<String> {
        let tasks = self.lock();
        let task = tasks.get(mission)?;
        (mentions(&task.text, thing) && mentions(&task.text, value)).then(|| task.person.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<MissionId, SpokenTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_said_in_a_task_under_way_is_the_persons_word() {
        let (tasks, mission) = (SpokenTasks::default(), MissionId::new("one"));
        tasks.hear(&mission, "anna", "Remember that my keys are in the Office.");
        assert_eq!(tasks.who_said(&mission, "keys", "office").as_deref(), Some("anna"));
        assert_eq!(tasks.who_said(&mission, "keys", "kitchen"), None, "nobody said that");
        assert_eq!(tasks.who_said(&MissionId::new("two"), "keys", "office"), None);
        tasks.hear(&mission, "anna", "no, in the kitchen");
        assert_eq!(tasks.who_said(&mission, "keys", "kitchen").as_deref(), Some("anna"));
        tasks.end(&mission);
        assert_eq!(tasks.who_said(&mission, "keys", "office"), None);
    }
}
