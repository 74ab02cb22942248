//! Whether a Cortex of this robot has stopped it: what a person calls by hand is stopped, too.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use cortex_robot::Robot;
use cortex_ros_client::{LatchedText, Roll, ServedNames};
use cortex_status::TOPIC;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a Cortex may take to say whether the robot is stopped. It keeps that for whoever asks.
const SAYS_LIMIT: Duration = Duration::from_secs(5);

/// How long a Cortex may be silent before a call is halted: it renews what it says every few seconds, unless it hangs.
const SILENT_LIMIT: Duration = Duration::from_secs(15);

/// Why the robot is stopped, by each Cortex. None: it is not, as that one says.
type Stops = BTreeMap<String, Option<String>>;

/// Hears what each Cortex says of the stop.
pub(crate) struct StopWatch {
    /// Those that are there.
    names: Vec<String>,
    told: watch::Receiver<Stops>,
    _hearing: JoinSet<()>,
}

impl StopWatch {
    /// Listens to each Cortex that is on the graph now.
    pub(crate) async fn begin(robot: &Robot) -> anyhow::Result<Self> {
        let names: Vec<String> =
            robot.graph.current().nodes().filter(|node| node.is_cortex()).map(|node| node.name.clone()).collect();
        let (tell, told) = watch::channel(Stops::new());
        let mut hearing = JoinSet::new();
        for name in &names {
            let unheard = || format!("whether {name} has stopped the robot can't be heard");
            let roll = Roll::call(&robot.node, name).await.with_context(unheard)?;
            let mut texts = LatchedText::subscribe(&robot.endpoints, &ServedNames::of(name).below(TOPIC))
                .await
                .with_context(unheard)?;
            let (name, tell, endpoints) = (name.clone(), tell.clone(), robot.endpoints.clone());
            hearing.spawn(async move {
                // Remap rules may have it tell of that elsewhere.
                if let Some(names) = roll.names_within(SAYS_LIMIT).await.filter(ServedNames::are_renamed)
                    && let Ok(renamed) = LatchedText::subscribe(&endpoints, &names.below(TOPIC)).await
                {
                    texts = renamed;
                }
                loop {
                    let stop = match tokio::time::timeout(SILENT_LIMIT, texts.next()).await {
                        Ok(Some(text)) => stop_in(&text),
                        Ok(None) => return,
                        Err(_) => Some(Some("it does not tell any more whether it is".to_owned())),
                    };
                    // What can't be read says nothing.
                    if let Some(stop) = stop {
                        tell.send_modify(|stops| _ = stops.insert(name.clone(), stop));
                    }
                }
            });
        }
        Ok(Self { names, told, _hearing: hearing })
    }

    /// Waits until each Cortex has said that the robot is not stopped.
    ///
    /// # Errors
    /// Which one says that it is, or says nothing.
    pub(crate) async fn may_call(&mut self) -> anyhow::Result<()> {
        let names = self.names.clone();
        let all_say = |stops: &Stops| names.iter().all(|name| stops.contains_key(name)) || stopped(stops).is_some();
        let have_said = tokio::time::timeout(SAYS_LIMIT, self.told.wait_for(all_say)).await.is_ok();
        let stops = self.told.borrow().clone();
        if let Some((name, why)) = stopped(&stops) {
            anyhow::bail!(
                "the robot is stopped ({name}: {why}), and nothing was called. When it is safe, run `cortex \
                 resume`; --while-stopped calls it all the same, for whoever stands beside the robot"
            );
        }
        let silent = names.iter().find(|name| !stops.contains_key(*name));
        if let (false, Some(silent)) = (have_said, silent) {
            anyhow::bail!(
                "{silent} does not say whether the robot is stopped, and nothing was called. Look at it (cortex doctor); \
                 --while-stopped calls it all the same, for whoever stands beside the robot"
            );
        }
        Ok(())
    }

    /// Resolves when a Cortex stops the robot, with the reason. Never where there is none.
    pub(crate) async fn stopped(&mut self) -> String {
        match self.told.wait_for(|stops| stopped(stops).is_some()).await {
            Ok(stops) => stopped(&stops).map(|(_, why)| why.clone()).unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }
}

/// Who says that the robot is stopped, and why.
fn stopped(stops: &Stops) -> Option<(&String, &String)> {
    stops.iter().find_map(|(name, why)| Some((name, why.as_ref()?)))
}

/// What a Cortex of any version says of the stop. None: it does not.
fn stop_in(text: &str) -> Option<Option<String>> {
    let overview: Value = serde_json::from_str(text).ok()?;
    let stop = overview.get("stop")?;
    let why = || stop.get("why").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(stop.get("stopped")?.as_bool()?.then(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cortex_does_not_say_is_no_leave() {
        assert_eq!(stop_in(r#"{"version": 9, "stop": {"stopped": false, "why": "earlier"}}"#), Some(None));
        assert_eq!(stop_in(r#"{"stop": {"stopped": true, "why": "smoke"}}"#), Some(Some("smoke".to_owned())));
        for text in ["", "{", "{}", r#"{"stop": {}}"#, r#"{"stop": {"stopped": "no"}}"#] {
            assert_eq!(stop_in(text), None, "{text}");
        }
    }
}
