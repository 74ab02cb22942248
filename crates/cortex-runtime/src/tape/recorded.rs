//! The missions that are recorded, for those who list them, whoever they are.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use cortex_protocol::{MissionId, RecordedMission, RecordedState};

use super::folder::is_mission_id;
use super::published::time_of;
use super::{Folder, Summary, TapeError, TapeStatus};

/// Most missions of one list.
pub const MOST_RECORDED: usize = 200;
/// Characters of a task that are listed. Its tape has all of them.
const TASK_CHARACTERS: usize = 1_000;
/// The end of the year 9999, in seconds since 1970: no later time has a form in RFC 3339.
const LAST_SECOND: u64 = 253_402_300_799;

impl Folder {
    /// The recorded missions, the newest first: at most `most`, and at most [`MOST_RECORDED`], of those that began before the
    /// mission `before`, whose tape need not be there any more, or of all. A tape that can't be read is listed as such. Reads
    /// files.
    ///
    /// # Errors
    /// When the folder can't be read, or `before` is not the id of a mission.
    pub fn recorded(&self, before: Option<&MissionId>, most: usize) -> Result<Vec<RecordedMission>, TapeError> {
        if let Some(before) = before.filter(|before| !is_mission_id(before.as_str())) {
            return Err(self.missing(before));
        }
        let missions = self.missions()?.into_iter().rev();
        let earlier = missions.filter(|mission| before.is_none_or(|before| mission < before));
        Ok(earlier.filter_map(|mission| self.recorded_one(mission)).take(most.min(MOST_RECORDED)).collect())
    }

    /// None where the tape was removed meanwhile.
    fn recorded_one(&self, mission: MissionId) -> Option<RecordedMission> {
        match self.summary(&mission) {
            Ok(Summary { mission, time, status, task, dry_run }) => {
                let time = if time.is_empty() { begun(&mission) } else { time };
                let task = task.chars().take(TASK_CHARACTERS).collect();
                Some(RecordedMission { mission, time, task, state: status.into(), dry_run })
            }
            Err(TapeError::Missing { .. }) => None,
            Err(TapeError::Io { problem, .. }) if problem.kind() == io::ErrorKind::NotFound => None,
            Err(problem) => {
                tracing::debug!("the tape of {mission} can't be listed: {problem}");
                let (time, state) = (begun(&mission), RecordedState::Unreadable);
                Some(RecordedMission { mission, time, task: String::new(), state, dry_run: false })
            }
        }
    }
}

/// When a mission began, as its id says. Empty where it does not.
fn begun(mission: &MissionId) -> String {
    let last = UNIX_EPOCH + Duration::from_secs(LAST_SECOND);
    let time = time_of(mission.as_str()).filter(|time| (UNIX_EPOCH..last).contains(time));
    time.map(|time| humantime::format_rfc3339_micros(time).to_string()).unwrap_or_default()
}

impl From<TapeStatus> for RecordedState {
    fn from(status: TapeStatus) -> Self {
        match status {
            TapeStatus::Running => Self::Running,
            TapeStatus::BrokenOff => Self::BrokenOff,
            TapeStatus::Ended(status) => Self::Ended(status),
            TapeStatus::Disputed(status) => Self::Disputed(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use cortex_protocol::{MissionEvent, MissionStatus, Origin};
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::envelope::Envelope;
    use crate::tape::{Tape, TapeSettings};

    fn id(number: u32) -> MissionId {
        MissionId::new(format!("0199c3f0-7a00-7000-8000-{number:012}"))
    }

    /// Records a mission that goes on until the tape is dropped.
    async fn record(folder: &Folder, mission: &MissionId, task: &str) -> Tape {
        let mut envelope = Envelope::new("/robot/cortex".to_owned(), mission.clone(), Origin::new("test", "it"));
        let mut tape = Tape::begin(&TapeSettings::at(folder.directory()), &envelope, &TaskTracker::new());
        let accepted = MissionEvent::Accepted { task: task.to_owned(), session: None };
        tape.published(&std::sync::Arc::new(envelope.wrap(accepted)));
        tape.written().await;
        tape
    }

    fn listed(missions: &[RecordedMission]) -> Vec<(MissionId, &str, RecordedState)> {
        missions.iter().map(|it| (it.mission.clone(), it.task.as_str(), it.state)).collect()
    }

    #[tokio::test]
    async fn missions_are_listed_the_newest_first_page_by_page_and_the_unreadable_with_them() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        assert_eq!(folder.recorded(None, 10).unwrap(), [], "a folder that is not there yet has none");
        drop(record(&folder, &id(1), "go to the kitchen").await);
        std::fs::write(folder.path(&id(2)), "no tape\n").unwrap();
        let _running = record(&folder, &id(3), &"x".repeat(5_000)).await;
        let all = folder.recorded(None, 10).unwrap();
        let long = "x".repeat(TASK_CHARACTERS);
        let expected = [
            (id(3), long.as_str(), RecordedState::Running),
            (id(2), "", RecordedState::Unreadable),
            (id(1), "go to the kitchen", RecordedState::BrokenOff),
        ];
        assert_eq!(listed(&all), expected);
        assert!(all[1].time.starts_with("2025-10-08T"), "its id still says when it began: {}", all[1].time);
        assert_eq!(listed(&folder.recorded(None, 1).unwrap()), expected[..1]);
        std::fs::remove_file(folder.path(&id(3))).unwrap();
        assert_eq!(listed(&folder.recorded(Some(&id(3)), 1).unwrap()), expected[1..2], "the next page");
        assert_eq!(listed(&folder.recorded(Some(&id(2)), usize::MAX).unwrap()), expected[2..]);
        assert_eq!(folder.recorded(Some(&id(1)), 10).unwrap(), []);
    }

    #[test]
    fn a_list_is_bounded_whatever_is_asked_for() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        for number in 0..300 {
            std::fs::write(folder.path(&id(number)), "").unwrap();
        }
        assert_eq!(folder.recorded(None, usize::MAX).unwrap().len(), MOST_RECORDED);
    }

    #[test]
    fn an_id_without_a_time_or_with_one_beyond_all_calendars_is_listed_without_one() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        for odd in ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"] {
            std::fs::write(folder.path(&odd.into()), "no tape\n").unwrap();
        }
        let all = folder.recorded(None, 10).unwrap();
        assert_eq!(all.iter().map(|it| it.time.as_str()).collect::<Vec<_>>(), ["", ""]);
    }

    #[test]
    fn only_a_plain_file_with_the_name_of_a_mission_in_the_folder_is_its_tape() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().join("tapes"));
        folder.make().unwrap();
        std::fs::write(folder.path(&id(1)), "").unwrap();
        assert_eq!(folder.tape(&id(1)).unwrap(), folder.path(&id(1)));
        let secret = temporary.path().join(format!("{}.jsonl", id(2)));
        std::fs::write(&secret, "secret").unwrap();
        symlink(&secret, folder.path(&id(3))).unwrap();
        std::fs::create_dir(folder.path(&id(4))).unwrap();
        let upper = id(1).as_str().to_uppercase();
        let absolute = secret.with_extension("").display().to_string();
        let climbing = format!("../{}", id(2));
        for hostile in
            [id(2).as_str(), id(3).as_str(), id(4).as_str(), &upper, &absolute, &climbing, "", "..", "a\0b", "{}"]
        {
            let problem = folder.tape(&hostile.into()).unwrap_err();
            assert!(matches!(problem, TapeError::Missing { .. }), "{hostile}: {problem}");
            assert!(folder.read(&hostile.into()).is_err(), "{hostile}");
        }
        for hostile in [climbing.as_str(), "", "x"] {
            assert!(folder.recorded(Some(&hostile.into()), 10).is_err(), "{hostile}");
        }
    }

    #[test]
    fn how_a_mission_stands_is_told_as_its_tape_says() {
        let ended = MissionStatus::Succeeded;
        assert_eq!(RecordedState::from(TapeStatus::Ended(ended)), RecordedState::Ended(ended));
        assert_eq!(RecordedState::from(TapeStatus::Disputed(ended)), RecordedState::Disputed(ended));
    }
}
