//! What was asked of the robot since the last resume, and can't be halted by anybody here: requests to services that were
//! answered at once, messages, commands. A service that starts something says that all went well, and the robot goes on.
//! Nothing shows whether it still does, so a stop names it, for a person to look.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cortex_protocol::ToolName;

use super::StopLatch;
use crate::calls::lock_in_time;

/// Most names that are kept; what comes on top is counted.
const MOST_NAMES: usize = 64;

/// Something that was begun and can't be halted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unhaltable {
    /// What was called.
    pub tool: ToolName,
    /// When it was called last.
    pub latest: Instant,
    /// How often it was called.
    pub times: u64,
}

/// All of it since the last resume.
#[derive(Default)]
pub(super) struct Begun(Mutex<BTreeMap<ToolName, (Instant, u64)>>);

/// What stands for all that there is no place for.
const OTHERS: &str = "others";

impl Begun {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ToolName, (Instant, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Begun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.lock().keys()).finish()
    }
}

impl StopLatch {
    /// Notes that something was begun which can't be halted. To be called before it is sent.
    pub fn note_unhaltable(&self, tool: &ToolName) {
        let mut begun = self.begun().lock();
        let is_full = begun.len() >= MOST_NAMES && !begun.contains_key(tool);
        let name = if is_full { ToolName::from(OTHERS) } else { tool.clone() };
        let (latest, times) = begun.entry(name).or_insert((Instant::now(), 0));
        (*latest, *times) = (Instant::now(), times.saturating_add(1));
    }

    /// What was begun since the last resume and can't be halted, in a stable order. None when that can't be had in time.
    pub(crate) fn unhaltable(&self) -> Option<Vec<Unhaltable>> {
        let begun = lock_in_time(&self.begun().0)?;
        let unhaltable = |(tool, (latest, times)): (&ToolName, &(Instant, u64))| Unhaltable {
            tool: tool.clone(),
            latest: *latest,
            times: *times,
        };
        Some(begun.iter().map(unhaltable).collect())
    }

    /// A person has looked: what was begun up to then is forgotten.
    pub(crate) fn forget_unhaltable(&self, until: Instant) {
        self.begun().lock().retain(|_, (latest, _)| *latest > until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(latch: &StopLatch) -> Vec<(String, u64)> {
        let begun = latch.unhaltable().unwrap().into_iter();
        begun.map(|begun| (begun.tool.to_string(), begun.times)).collect()
    }

    #[test]
    fn what_was_begun_is_kept_with_its_latest_time_until_somebody_has_looked() {
        let latch = StopLatch::default();
        let tool = ToolName::from("send_request_to_start_cleaning");
        latch.note_unhaltable(&tool);
        let first = latch.unhaltable().unwrap()[0].latest;
        latch.note_unhaltable(&tool);
        assert!(latch.unhaltable().unwrap()[0].latest >= first);
        assert_eq!(names(&latch), [("send_request_to_start_cleaning".to_owned(), 2)]);
        let looked = Instant::now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        latch.note_unhaltable(&"publish_to_cmd_vel".into());
        latch.forget_unhaltable(looked);
        assert_eq!(names(&latch), [("publish_to_cmd_vel".to_owned(), 1)], "what came since is not forgotten");
    }

    #[test]
    fn however_many_there_are_the_memory_is_bounded_and_none_is_forgotten() {
        let latch = StopLatch::default();
        for number in 0..1_000 {
            latch.note_unhaltable(&format!("send_request_to_{number:04}").as_str().into());
        }
        let names = names(&latch);
        assert_eq!(names.len(), MOST_NAMES + 1);
        assert_eq!(names.iter().map(|(_, times)| times).sum::<u64>(), 1_000);
    }
}
