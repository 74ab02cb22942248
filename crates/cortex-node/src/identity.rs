//! Who the robot is, as a source of what planning is told: from the configuration, the description and the graph of the robot,
//! and its policy.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cortex_core::identity::{ABOUT, Body, IDENTITY_SOURCE, LIMITS, RobotIdentity};
use cortex_core::policy::Policy;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, PassageKind};
use cortex_protocol::{PolicyVerdict, TaskClass, ToolSpec};
use cortex_robot::Robot;
use cortex_ros::robot_body::{body_in, description_topic, sensors_on};
use cortex_ros_client::LatchedText;

/// How well a passage fits that tells of the robot. It answers what it is made for, and nothing else: less than what reflex
/// takes as the answer to any question.
const RELEVANCE: f64 = 0.5;

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
        let (endpoints, body) = (robot.endpoints.clone(), Arc::clone(&source.body));
        let topic = description_topic(robot.node.fully_qualified_name());
        tokio::spawn(async move {
            // It ends with the endpoints.
            match LatchedText::subscribe(&endpoints, &topic).await {
                Ok(mut texts) => {
                    while let Some(text) = texts.next().await {
                        let read = body_in(&text);
                        let read = read.inspect_err(|problem| tracing::warn!("{topic} can't be read: {problem}"));
                        *body.lock().unwrap_or_else(PoisonError::into_inner) = read.ok();
                    }
                }
                Err(problem) => tracing::debug!("{topic} is not heard: {problem}"),
            }
        });
        source
    }

    fn now(&self) -> RobotIdentity {
        let tools = self.robot.discovery.tools().borrow().clone();
        let judged = |verdict| -> Vec<String> { tools.iter().filter_map(|spec| self.told_if(verdict, spec)).collect() };
        RobotIdentity {
            body: self.body.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            sensors: sensors_on(&self.robot.graph.current()),
            denied: judged(PolicyVerdict::Deny),
            asked: judged(PolicyVerdict::Ask),
            ..self.configured.clone()
        }
    }

    /// A tool of which policy says this, with its reasons.
    fn told_if(&self, verdict: PolicyVerdict, spec: &ToolSpec) -> Option<String> {
        let judged = self.policy.judge_tool(spec);
        let reasons = judged.reasons.join(" ");
        let because = if reasons.is_empty() { String::new() } else { format!(" ({reasons})") };
        (judged.verdict == verdict).then(|| format!("{}{because}", spec.name))
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
        Ok(vec![passage(ABOUT, identity.about()), passage(LIMITS, identity.limits())])
    }
}
