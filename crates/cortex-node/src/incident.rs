//! What is kept for an incident beside a mission's own record: the latest messages of chosen topics, the configuration, the
//! recipe, and the log of this process.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use cortex_config::TopicHistorySettings;
use cortex_core::{IncidentPort, IncidentText, TopicSlice};
use cortex_robot::Robot;
use cortex_ros::TopicHistory;

/// The end of the log that is kept, in bytes.
const LOG_BYTES: u64 = 4 << 20;

/// See the module.
pub struct IncidentKeeper {
    history: Option<TopicHistory>,
    configuration: String,
    recipe: Option<String>,
}

impl IncidentKeeper {
    /// Begins to keep messages, where the settings choose any. `configuration` and `recipe` are without secrets. Blocks for
    /// some milliseconds. Where messages can't be kept, the rest is.
    #[must_use]
    pub fn start(
        robot: &Robot,
        settings: Option<TopicHistorySettings>,
        configuration: String,
        recipe: Option<String>,
    ) -> Self {
        let start = |settings| {
            TopicHistory::start(&robot.graph, &robot.discovery, settings)
                .inspect_err(|problem| tracing::warn!("no messages of topics are kept for incidents: {problem}"))
                .ok()
        };
        Self { history: settings.and_then(start), configuration, recipe }
    }

    /// Ends to keep messages. Blocks for some milliseconds.
    pub fn shut_down(&self) {
        if let Some(history) = &self.history {
            history.shut_down();
        }
    }
}

impl IncidentPort for IncidentKeeper {
    fn topics(&self) -> TopicSlice {
        self.history.as_ref().map(TopicHistory::slice).unwrap_or_default()
    }

    fn texts(&self) -> Vec<IncidentText> {
        let log = log_file().and_then(|file| {
            file.map(|file| end_of(&file, LOG_BYTES))
                .transpose()
                .inspect_err(|problem| tracing::warn!("the log is not in the incident: {problem}"))
        });
        let text = |name: &'static str, text: Option<String>| text.map(|text| IncidentText { name, text });
        let configuration = text("configuration.toml", Some(self.configuration.clone()));
        let recipe = text("recipe.toml", self.recipe.clone());
        [configuration, recipe, text("cortex.log", log.ok().flatten())].into_iter().flatten().collect()
    }
}

/// The file in the folder of ROS' logs that this process writes to. The client library chooses its name, which has the id of
/// the process in it, and does not tell it.
fn log_file() -> io::Result<Option<PathBuf>> {
    let mark = format!("_{}_", std::process::id());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.contains(&mark) && name.ends_with(".log")
    };
    let open = fs::read_dir("/proc/self/fd")?.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    Ok(open.into_iter().find(is_log))
}

/// The last so many bytes of a file, from the beginning of a line.
fn end_of(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(bytes.saturating_sub(most)))?;
    file.take(most).read_to_end(&mut end)?;
    let text = String::from_utf8_lossy(&end).into_owned();
    Ok(match text.split_once('\n') {
        Some((_, whole)) if bytes > most => whole.to_owned(),
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_file_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        fs::write(&path, "first\nsecond\nthird\n").unwrap();
        assert_eq!(end_of(&path, 100).unwrap(), "first\nsecond\nthird\n");
        assert_eq!(end_of(&path, 10).unwrap(), "third\n");
    }

    #[test]
    fn the_log_of_this_process_is_found_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(log_file().unwrap(), None);
        let path = folder.path().join(format!("cortex_{}_1.log", std::process::id()));
        let file = File::create(&path).unwrap();
        assert_eq!(log_file().unwrap(), Some(path.canonicalize().unwrap()));
        drop(file);
    }
}
