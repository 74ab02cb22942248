//! Who the robot is, as a source of what planning is told: from the configuration, the description and the graph of the robot,
//! and its policy.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cortex_core::fragment::one_line;
use cortex_core::identity::{ABOUT, Body, IDENTITY_SOURCE, LIMITS, RobotIdentity};
use cortex_core::policy::Policy;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, PassageKind};
use cortex_protocol::{PolicyVerdict, TaskClass, ToolSpec};
use cortex_robot::Robot;
use cortex_ros::robot_body::{body_in, description_topic};
use cortex_ros_client::LatchedText;
use cortex_ros_client::dynamic::Endpoints;

/// How well a passage fits that tells of the robot. It answers what it is made for, and nothing else: less than what reflex
/// takes as the answer to any question.
const RELEVANCE: f64 = 0.5;
/// Most characters of the name of a body in the log.
const NAME_CHARACTERS: usize = 80;

/// Who the robot is. Clones share what was heard of it.
#[derive(Clone)]
pub struct IdentitySource {
    /// What the configuration says.
    configured: RobotIdentity,
    policy: Policy,
    robot: Robot,
    body: Arc<Mutex<Option<Body>>>,
}

impl IdentitySource {
    /// What `configured` says, with what the robot tells of its body from now on, and what policy says of its tools. To be called
    /// within a tokio runtime.
    pub fn start(configured: RobotIdentity, policy: Policy, robot: &Robot) -> Self {
        let source = Self { configured, policy, robot: robot.clone(), body: Arc::default() };
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

    fn body(&self) -> Option<Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> RobotIdentity {
        let tools = self.robot.discovery.tools().borrow().clone();
        let judged = |verdict| -> Vec<String> { tools.iter().filter_map(|spec| self.told_if(verdict, spec)).collect() };
        RobotIdentity {
            body: self.body(),
            sensors: self.robot.discovery.sensors(&self.robot.graph.current()),
            denied: judged(PolicyVerdict::Deny),
            asked: judged(PolicyVerdict::Ask),
            ..self.configured.clone()
        }
    }

    /// A tool of which policy says this, always or in some cases, with its reasons.
    fn told_if(&self, verdict: PolicyVerdict, spec: &ToolSpec) -> Option<String> {
        let judged = self.policy.judge_tool(spec);
        if judged.verdict == verdict {
            let reasons = judged.reasons.join(" ");
            return Some(if reasons.is_empty() { spec.name.to_string() } else { format!("{} ({reasons})", spec.name) });
        }
        let cases: Vec<String> =
            judged.cases.iter().filter(|case| case.verdict == verdict).map(ToString::to_string).collect();
        (!cases.is_empty()).then(|| format!("{} ({})", spec.name, cases.join("; ")))
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
        // An order needs none of it.
        if !matches!(query.class, TaskClass::QuestionAboutSelf | TaskClass::Conversation | TaskClass::KnowledgeQuestion)
        {
            return Ok(Vec::new());
        }
        let identity = self.now();
        let passage = |place: &str, text: String| ContextPassage {
            source: IDENTITY_SOURCE.to_owned(),
            place: place.to_owned(),
            as_of: None,
            text,
            relevance: RELEVANCE,
            kind: PassageKind::Record,
        };
        let passages = [passage(ABOUT, identity.about()), passage(LIMITS, identity.limits())];
        Ok(passages.into_iter().filter(|passage| !passage.text.is_empty()).collect())
    }
}
