//! From the request to stop until the last goal in flight was asked to end, and until all are at rest.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use cortex_core::{CallObserver, ClientPort, EventStream, Invocation, ToolProvider};
use cortex_protocol::{
    CallId, CloudEvent, Command, CommandError, CommandErrorKind, CommandOutcome, EventId, MissionId, OpenQuestion,
    Principal, StopOutcome, ToolCall, ToolSpec,
};
use cortex_ros::{RobotViews, StopHandle, StopServer, TaskClient};
use cortex_stories::{PATIENCE, Robot, TestRobot};
use serde_json::json;
use tokio::sync::watch;

use crate::table::Table;

/// Stops that are measured, and goals in flight at each.
pub(crate) const STOPS: u32 = 20;
pub(crate) const GOALS: u32 = 50;
const TOOL: &str = "send_goal_to_go";
const NODE: &str = "/_bench_stop";

pub(crate) async fn measure(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    let robot = BusyRobot::start(test_robot).await?;
    let client = TaskClient::connect_for_stop(&robot.robot.node, &robot.robot.graph, NODE, PATIENCE).await?;
    let (mut taken, mut sent, mut at_rest) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..STOPS {
        robot.begin_goals(round).await?;
        let asked = Instant::now();
        let report = client.stop().await?;
        at_rest.push(asked.elapsed());
        ensure!(report.success, "{}", report.message);
        let (taken_at, sent_at) = robot.latest_stop()?;
        taken.push(sent_at.saturating_duration_since(taken_at));
        sent.push(sent_at.saturating_duration_since(asked));
        ensure!(client.resume().await?.success, "it is not resumed");
    }
    let name = format!("from the arrival of the request to stop to the last cancel sent, {GOALS} goals in flight");
    table.add_times(&name, "under 5 ms (p99)", &taken);
    // The client looks every 10 ms whether the server is there, before it sends anything.
    let name = "the same with the way of the request, from a client that looks for the server first";
    table.add_times(name, "", &sent);
    let name = format!("from ~/stop to all {GOALS} goals of one rclpy server at rest");
    table.add_times(&name, "", &at_rest);
    drop(client);
    robot.end(test_robot).await
}

/// A robot whose action server takes many goals, and the stop in front of it.
pub(crate) struct BusyRobot {
    robot: Robot,
    server: StopServer,
    tool: ToolSpec,
}

impl BusyRobot {
    pub(crate) async fn start(test_robot: &mut TestRobot) -> anyhow::Result<Self> {
        test_robot.start_python("server", "many_goals.py", &["go"]).await;
        let robot = Robot::join(NODE.trim_start_matches('/'))?;
        let mut tools = robot.discovery.tools();
        let on_offer = tools.wait_for(|tools| tools.iter().any(|tool| tool.name.as_str() == TOOL));
        let on_offer = tokio::time::timeout(PATIENCE, on_offer).await.context("the action is never found")??.clone();
        let tool = on_offer.iter().find(|tool| tool.name.as_str() == TOOL).context("it is there")?.clone();
        let server = StopServer::start(&robot.graph, NODE, &robot.tools, Arc::new(Idle), None)?;
        Ok(Self { robot, server, tool })
    }

    /// Sends [`GOALS`] goals and waits until all were accepted.
    pub(crate) async fn begin_goals(&self, round: u32) -> anyhow::Result<()> {
        let begun = Arc::new(Begun::default());
        for number in 0..GOALS {
            let invocation = invocation(&self.tool, round * GOALS + number);
            let (tools, observer) = (self.robot.tools.clone(), Arc::clone(&begun));
            tokio::spawn(async move { tools.invoke(invocation, observer).await });
            if number == 0 {
                // The others use its client; at once, each would make one.
                begun.wait(1).await?;
            }
        }
        begun.wait(GOALS as usize).await
    }

    pub(crate) fn stop_handle(&self) -> StopHandle {
        self.server.handle()
    }

    /// Its topics, as people look at them.
    pub(crate) fn views(&self) -> RobotViews {
        RobotViews::new(&self.robot.graph, &self.robot.endpoints, &self.robot.discovery)
    }

    /// When the last stop was asked for, and when its last cancel was sent. It has found all goals in flight.
    pub(crate) fn latest_stop(&self) -> anyhow::Result<(Instant, Instant)> {
        let latest = self.server.handle().latest().context("there was a stop")?;
        ensure!(latest.in_flight == GOALS as usize, "{} goals in flight", latest.in_flight);
        Ok((latest.asked_at, latest.sent_at))
    }

    pub(crate) async fn end(self, test_robot: &mut TestRobot) -> anyhow::Result<()> {
        tokio::task::spawn_blocking(move || self.server.shut_down()).await?;
        self.robot.leave().await?;
        test_robot.end("server");
        Ok(())
    }
}

fn invocation(tool: &ToolSpec, number: u32) -> Invocation {
    let arguments = json!({"order": number});
    Invocation {
        mission: MissionId::from("bench"),
        id: CallId(number),
        call: ToolCall { tool: tool.name.clone(), arguments: arguments.as_object().cloned().unwrap_or_default() },
        fingerprint: tool.fingerprint(),
        timeout: Duration::from_secs(600),
    }
}

/// Counts the goals that were accepted.
#[derive(Default)]
struct Begun(watch::Sender<usize>);

impl Begun {
    async fn wait(&self, goals: usize) -> anyhow::Result<()> {
        let mut count = self.0.subscribe();
        let begun = tokio::time::timeout(PATIENCE, count.wait_for(|count| *count >= goals)).await;
        begun.map(drop).with_context(|| format!("{} of {goals} goals have begun", *self.0.borrow()))
    }
}

impl CallObserver for Begun {
    fn accepted(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    fn progressed(&self, _feedback: String) {}
}

/// An agent without tasks.
struct Idle;

#[async_trait]
impl ClientPort for Idle {
    async fn ready(&self) -> Result<(), CommandError> {
        Ok(())
    }

    async fn execute(&self, command: Command, _: Principal) -> Result<CommandOutcome, CommandError> {
        match command {
            Command::Stop => Ok(CommandOutcome::Stopped(StopOutcome::default())),
            Command::Resume => Ok(CommandOutcome::Resumed { was_stopped: true }),
            _ => Err(CommandError::new(CommandErrorKind::Refused, "it takes no tasks")),
        }
    }

    fn follow(&self, _: &MissionId) -> Box<dyn EventStream> {
        Box::new(Self)
    }

    fn events(&self, _after: Option<EventId>) -> Box<dyn EventStream> {
        Box::new(Self)
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        Vec::new()
    }
}

#[async_trait]
impl EventStream for Idle {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        None
    }

    fn missed(&self) -> u64 {
        0
    }
}
