//! How often a model had to be asked once more whether a step shall run, from what the missions have recorded.

use cortex_protocol::{MissionEvent, MissionId};

use super::{Body, Folder, TapeError};

/// The kind of the line that holds a mission's result.
const FINISHED: &str = "cortex.mission.finished";
/// Fewer confirmations say nothing of a model.
const MIN_ASKED: u32 = 10;
/// The part of its confirmations, in percent, from which on a model is said to need the second request often.
const OFTEN_PERCENT: u32 = 20;

/// How often the model was asked whether a step shall run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confirmations {
    /// How often, each time anew.
    pub asked: u32,
    /// How often it was asked once more, because its reply could not be used.
    pub repeated: u32,
}

impl Confirmations {
    /// Whether the model needs the second request so often that somebody should know.
    #[must_use]
    pub fn are_often_repeated(self) -> bool {
        self.asked >= MIN_ASKED && self.repeated.saturating_mul(100) > self.asked.saturating_mul(OFTEN_PERCENT)
    }
}

impl Folder {
    /// The confirmations of the newest missions, at most so many. A tape that can't be read is left out.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn confirmations(&self, newest: usize) -> Result<Confirmations, TapeError> {
        let mut all = Confirmations::default();
        for mission in self.missions()?.iter().rev().take(newest) {
            if let Ok(Some(found)) = self.confirmations_of(mission) {
                all.asked = all.asked.saturating_add(found.asked);
                all.repeated = all.repeated.saturating_add(found.repeated);
            }
        }
        Ok(all)
    }

    fn confirmations_of(&self, mission: &MissionId) -> Result<Option<Confirmations>, TapeError> {
        let mut reader = self.read(mission)?;
        while let Some((record, _)) = reader.next_record()? {
            if record.kind != FINISHED {
                continue;
            }
            if let Body::Published(MissionEvent::Finished { result }) = reader.body(&record)? {
                let (asked, repeated) = (result.execution.confirmations, result.execution.repeated_confirmations);
                return Ok(Some(Confirmations { asked, repeated }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_confirmations_of_the_newest_tapes_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference_tape.jsonl");
        let tapes = Folder::new(folder.path().to_owned());
        assert_eq!(tapes.confirmations(20).unwrap(), Confirmations::default());
        let tape = |number: u32| tapes.path(&MissionId::new(format!("019a0000-0000-7000-8000-00000000000{number}")));
        for number in 1..=3 {
            std::fs::copy(&reference, tape(number)).unwrap();
        }
        std::fs::write(tape(4), "no tape\n").unwrap();
        let found = tapes.confirmations(20).unwrap();
        assert_eq!(found, Confirmations { asked: 12, repeated: 3 });
        assert!(found.are_often_repeated(), "25 % of 12");
        assert_eq!(tapes.confirmations(2).unwrap().asked, 4, "the newest alone, one of which can't be read");
    }

    #[test]
    fn a_few_confirmations_and_a_few_repetitions_say_nothing() {
        for (asked, repeated, often) in [(9, 9, false), (10, 2, false), (10, 3, true), (0, 0, false)] {
            assert_eq!(Confirmations { asked, repeated }.are_often_repeated(), often, "{repeated} of {asked}");
        }
    }
}
