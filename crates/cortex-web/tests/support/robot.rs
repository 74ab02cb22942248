//! The robot itself, as a test says that it is.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use cortex_core::{RobotPort, RobotSightStream};
use cortex_protocol::robot_view::{NodeParameter, ParameterKind, ParameterRange, RobotSight, RobotSources, ViewTopic};
use cortex_protocol::{CommandError, CommandErrorKind};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::HANGS;

type Sights = watch::Sender<Option<RobotSight>>;

/// A robot of which topics show what a test says.
#[derive(Default)]
pub(crate) struct ScriptedRobot {
    topics: Mutex<BTreeMap<String, Sights>>,
    pub(crate) set: Mutex<Vec<(String, String, Value)>>,
}

impl ScriptedRobot {
    fn topic(&self, name: &str) -> Sights {
        self.topics.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }

    /// From now on, the topic shows this.
    pub(crate) fn show(&self, topic: &str, sight: RobotSight) {
        self.topic(topic).send_replace(Some(sight));
    }

    /// How many look at the topic.
    pub(crate) fn lookers(&self, topic: &str) -> usize {
        self.topic(topic).receiver_count()
    }

    /// Waits until nobody looks at the topic any more.
    pub(crate) async fn left_alone(&self, topic: &str) {
        timeout(HANGS, self.topic(topic).closed()).await.expect("nobody looks any more");
    }
}

struct Sight(watch::Receiver<Option<RobotSight>>);

#[async_trait]
impl RobotSightStream for Sight {
    async fn next(&mut self) -> Option<RobotSight> {
        loop {
            self.0.changed().await.ok()?;
            if let Some(sight) = self.0.borrow_and_update().clone() {
                return Some(sight);
            }
        }
    }
}

#[async_trait]
impl RobotPort for ScriptedRobot {
    async fn sources(&self) -> Result<RobotSources, CommandError> {
        let view = |topic: &String| ViewTopic { topic: topic.clone(), nodes: vec!["/a".to_owned()] };
        let maps = self.topics.lock().unwrap().keys().map(view).collect();
        Ok(RobotSources { maps, ..RobotSources::default() })
    }

    fn watch(&self, topic: &str, _field: Option<&str>, frame: Option<&str>) -> Box<dyn RobotSightStream> {
        let topic = frame.map_or(topic.to_owned(), |frame| format!("{topic} in {frame}"));
        let mut sights = self.topic(&topic).subscribe();
        sights.mark_changed();
        Box::new(Sight(sights))
    }

    async fn parameters(&self, node: &str) -> Result<Vec<NodeParameter>, CommandError> {
        if node != "/base" {
            return Err(CommandError::new(CommandErrorKind::NotFound, "there is no such node"));
        }
        Ok(vec![NodeParameter {
            name: "speed".to_owned(),
            kind: ParameterKind::Number,
            value: json!(0.5),
            description: "How fast.".to_owned(),
            constraints: String::new(),
            range: Some(ParameterRange { from: 0.0, to: 1.0, step: 0.0 }),
            is_read_only: false,
        }])
    }

    async fn set_parameter(&self, node: &str, name: &str, value: &Value) -> Result<(), CommandError> {
        if value.as_f64().is_none_or(|value| value > 1.0) {
            return Err(CommandError::new(CommandErrorKind::Refused, "/base refused it: too fast for this floor"));
        }
        self.set.lock().unwrap().push((node.to_owned(), name.to_owned(), value.clone()));
        Ok(())
    }
}
