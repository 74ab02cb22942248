//! Who the robot is, as a source of what planning is told: from the configuration, the description and the graph of the robot.
//! What it can't do is worked out where missions are (`cortex_core::identity::bounds`).

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cortex_core::fragment::one_line;
use cortex_core::identity::{ABOUT, Body, IDENTITY_SOURCE, RELEVANCE, RobotIdentity, is_told};
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, PassageKind};
use cortex_robot::Robot;
use cortex_ros::robot_body::{body_in, description_topic};
use cortex_ros_client::LatchedText;
use cortex_ros_client::dynamic::Endpoints;

/// Most characters of the name of a body in the log.
const NAME_CHARACTERS: usize = 80;

/// Who the robot is. Clones share what was heard of it.
#[derive(Clone)]
pub struct IdentitySource {
    /// What the configuration says.
    configured: RobotIdentity,
    robot: Robot,
    body: Arc<Mutex<Option<Body>>>,
}

impl IdentitySource {
    /// What `configured` says, with what the robot tells of its body from now on. To be called within a tokio runtime.
    pub fn start(configured: RobotIdentity, robot: &Robot) -> Self {
        let source = Self { configured, robot: robot.clone(), body: Arc::default() };
        let topic = description_topic(robot.node.fully_qualified_name());
        if robot.discovery.tells_of(&topic) {
            tokio::spawn(hear(robot.endpoints.clone(), topic, Arc::clone(&source.body)));
        }
        source
    }

    /// Its name and its body, as they are known now.
    #[must_use]
    pub fn name_and_body(&self) -> String {
        RobotIdentity { body: self.body(), ..self.configured.clone() }.name_and_body()
    }

    /// All that is known of it now, in sentences. Empty: nothing is.
    #[must_use]
    pub fn about(&self) -> String {
        self.now().about()
    }

    fn body(&self) -> Option<Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> RobotIdentity {
        RobotIdentity {
            body: self.body(),
            sensors: self.robot.discovery.sensors(&self.robot.graph.current()),
            ..self.configured.clone()
        }
    }
}

/// Keeps what the robot tells of its body. Ends with the endpoints.
async fn hear(endpoints: Endpoints, topic: String, body: Arc<Mutex<Option<Body>>>) {
    let mut texts = match LatchedText::subscribe(&endpoints, &topic).await {
        Ok(texts) => texts,
        Err(problem) => return tracing::debug!("{topic} is not heard: {problem}"),
    };
    while let Some(text) = texts.next().await {
        // It may be large.
        let Ok(read) = tokio::task::spawn_blocking(move || body_in(&text)).await else { continue };
        match &read {
            Ok(body) => tracing::info!("{topic} describes the body '{}'", one_line(&body.name, NAME_CHARACTERS)),
            Err(problem) => tracing::warn!("{topic} can't be read: {problem}"),
        }
        *body.lock().unwrap_or_else(PoisonError::into_inner) = read.ok();
    }
}

#[async_trait]
impl ContextSource for IdentitySource {
    fn name(&self) -> &str {
        IDENTITY_SOURCE
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
        if !is_told(query.class) {
            return Ok(Vec::new());
        }
        let text = self.now().about();
        let passage = (!text.is_empty()).then(|| ContextPassage {
            source: IDENTITY_SOURCE.to_owned(),
            place: ABOUT.to_owned(),
            as_of: None,
            text,
            relevance: RELEVANCE,
            kind: PassageKind::Record,
        });
        Ok(passage.into_iter().collect())
    }
}
