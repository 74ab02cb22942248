//! The task server as any action client sees it, and the task client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{ClientPort, EventStream};
use cortex_protocol::event::EventData;
use cortex_protocol::execution::ExecutionReport;
use cortex_protocol::question::{ApprovalScope, CallSubject, PlanDigest, Subject};
use cortex_protocol::{
    Answer, CloudEvent, Command, CommandError, CommandErrorKind, CommandOutcome, Effect, EventId, MissionEvent,
    MissionId, MissionResult, MissionStatus, OpenQuestion, Origin, Principal, Question, QuestionNumber, SessionId,
    StepNumber, StopOutcome, Submission, TaskClass, ToolFingerprint, Usage,
};
use cortex_ros::task::{TaskEnding, TaskResult};
use cortex_ros::{AdapterError, StopServer, TaskClient, TaskServer};
use cortex_ros_client::testing::Peer;
use cortex_ros_client::{GraphWatch, RosError, RosNode, ros_tests};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::support::{Agent as Robot, LIMIT, script};

/// An agent that does what the first word of a task says.
#[derive(Default)]
struct ScriptedAgent {
    /// Whether it is not ready for tasks.
    held: watch::Sender<bool>,
    stopping: CancellationToken,
    submissions: Mutex<Vec<Submission>>,
    /// What happens in each mission, until somebody follows it; and how it is told to end.
    missions: Mutex<BTreeMap<MissionId, (Option<Script>, CancellationToken)>>,
    /// It has one question, until it is answered.
    answers: Mutex<Vec<Answer>>,
}

/// What happens in a mission.
struct Script(mpsc::Receiver<Arc<CloudEvent>>);

#[async_trait]
impl EventStream for Script {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        self.0.recv().await
    }

    fn missed(&self) -> u64 {
        0
    }
}

fn event(mission: &MissionId, sequence: u64, text: &str, payload: MissionEvent) -> Arc<CloudEvent> {
    let (provider, event, action, actor) = payload.routing();
    Arc::new(CloudEvent {
        specversion: "1.0".to_owned(),
        id: "e1".into(),
        source: "/robot/cortex".to_owned(),
        kind: format!("cortex.{event}.{action}"),
        subject: mission.clone(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        datacontenttype: "application/json".to_owned(),
        provider: provider.to_owned(),
        event: event.to_owned(),
        action: action.to_owned(),
        actor: actor.to_owned(),
        sequence,
        data: EventData { origin: Origin::new("ros", "test"), text: text.to_owned(), payload },
    })
}

fn finished(status: MissionStatus, output: &str) -> MissionEvent {
    let result = MissionResult {
        status,
        class: TaskClass::Action,
        output: output.to_owned(),
        account: String::new(),
        words_alone: false,
        steps: Vec::new(),
        execution: ExecutionReport::default(),
        revisions: Vec::new(),
        not_stopped: Vec::new(),
        usage: Usage::default(),
        duration: Duration::ZERO,
    };
    MissionEvent::Finished { result }
}

fn question() -> OpenQuestion {
    let call = CallSubject {
        step: StepNumber(1),
        tool: "door.open".into(),
        arguments: serde_json::from_str(r#"{"name": "d\u0000\u00e9\u202ereer", "wide": 0.30000000000000004}"#).unwrap(),
        fingerprint: ToolFingerprint(u64::MAX),
        effect: Effect::Move,
        resources: vec!["door".into()],
        because: vec!["Nobody has declared what door.open does.".to_owned()],
    };
    OpenQuestion {
        id: "m1/1".parse().unwrap(),
        task: "open the door".to_owned(),
        question: Question {
            number: QuestionNumber(1),
            text: "May the door be opened?".to_owned(),
            subject: Subject::Call { call, plan: PlanDigest("p1".to_owned()) },
            patience: LIMIT,
        },
        left: LIMIT,
    }
}

#[async_trait]
impl ClientPort for ScriptedAgent {
    async fn ready(&self) -> Result<(), CommandError> {
        // The sender lives as long as the agent.
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        Ok(())
    }

    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        let refusal = |reason: String| CommandError::new(CommandErrorKind::Refused, reason);
        let client = principal.origin.client.clone();
        match command {
            Command::Submit { task, session } => self.submit(Submission { task, session, origin: principal.origin }),
            Command::Cancel { mission } => {
                if let Some((_, cancelled)) = self.missions.lock().unwrap().get(&mission) {
                    cancelled.cancel();
                }
                Ok(CommandOutcome::Cancelled { mission })
            }
            Command::Revise { mission: Some(mission), text } => {
                Ok(CommandOutcome::Revised { mission: format!("{mission}: {text} ({client})").as_str().into() })
            }
            Command::Revise { mission: None, text } => Err(refusal(format!("the one that runs: {text} ({client})"))),
            Command::Answer { question, answer } => {
                let mut answers = self.answers.lock().unwrap();
                answers.push(answer);
                match answers.len() {
                    1 => Ok(CommandOutcome::Answered { question }),
                    _ => Err(refusal(format!("{question} ({client})"))),
                }
            }
            Command::Dispute { mission, reason } => {
                Ok(CommandOutcome::Reopened { mission: format!("{mission}: {reason} ({client})").as_str().into() })
            }
            Command::Stop => {
                self.stopping.cancel();
                Ok(CommandOutcome::Stopped(StopOutcome { missions_ended: 1, not_stopped: Vec::new() }))
            }
            Command::Resume => Ok(CommandOutcome::Resumed { was_stopped: true }),
            other => Err(refusal(format!("{other:?}"))),
        }
    }

    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream> {
        let mut missions = self.missions.lock().unwrap();
        Box::new(missions.get_mut(mission).and_then(|(script, _)| script.take()).unwrap())
    }

    fn events(&self, _after: Option<EventId>) -> Box<dyn EventStream> {
        // The task server follows missions.
        let (_, nothing) = mpsc::channel(1);
        Box::new(Script(nothing))
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        self.answers.lock().unwrap().is_empty().then(question).into_iter().collect()
    }
}

impl ScriptedAgent {
    fn submit(&self, submission: Submission) -> Result<CommandOutcome, CommandError> {
        self.submissions.lock().unwrap().push(submission.clone());
        let (verb, rest) = submission.task.split_once(' ').unwrap_or((submission.task.as_str(), ""));
        if verb == "refuse" {
            return Err(CommandError::new(CommandErrorKind::Busy, "the queue is full"));
        }
        let mut missions = self.missions.lock().unwrap();
        let mission = MissionId::from(format!("m{}", missions.len() + 1).as_str());
        let (happens, script) = mpsc::channel(16);
        let cancelled = CancellationToken::new();
        missions.insert(mission.clone(), (Some(Script(script)), cancelled.clone()));
        happens.try_send(event(&mission, 1, &format!("begun {rest}"), MissionEvent::Unpaused)).unwrap();
        let end = |status, text: &str, output: &str| event(&mission, 2, text, finished(status, output));
        match verb {
            "say" => happens.try_send(end(MissionStatus::Succeeded, "said", rest)).unwrap(),
            "fail" => happens.try_send(end(MissionStatus::Failed, "failed", "the way is blocked")).unwrap(),
            "zero" => happens.try_send(end(MissionStatus::Succeeded, "said", "a\0b")).unwrap(),
            "wait" => {
                let (stopping, last) =
                    (self.stopping.clone(), end(MissionStatus::Cancelled, "ended", "cancelled by a person"));
                tokio::spawn(async move {
                    tokio::select! { () = cancelled.cancelled() => {}, () = stopping.cancelled() => {} }
                    // It fails only when the server has ended the goal itself.
                    let _ = happens.try_send(last);
                });
            }
            // "forget": it ends without a result.
            _ => {}
        }
        Ok(CommandOutcome::Submitted { mission })
    }
}

struct Agent {
    robot: Robot,
    agent: Arc<ScriptedAgent>,
    server: TaskServer,
    stop: StopServer,
}

impl Agent {
    async fn start() -> Self {
        let robot = Robot::start();
        let agent = Arc::new(ScriptedAgent::default());
        let stop = StopServer::start(&robot.graph, "/cortex", &robot.tools, agent.clone(), None).unwrap();
        let server = TaskServer::start(&robot.node, agent.clone()).await.unwrap();
        Self { robot, agent, server, stop }
    }

    async fn shut_down(self) {
        self.server.shut_down().await;
        self.stop.shut_down();
        self.robot.shut_down().await;
    }
}

const STOPPED: &str = "Stopped. One task was ended. Everything that Cortex began is at rest. Tasks are refused until \
                       ~/resume.";

fn person(stories: &[&str]) -> Peer {
    Peer::python(&script("tasks.py"), stories).unwrap()
}

/// Every line up to the end of a story.
async fn lines(peer: &mut Peer, story: &str) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let line = peer.line("").await.unwrap();
        if line == format!("done {story}") {
            return lines;
        }
        lines.push(line);
    }
}

ros_tests! {
    async fn a_task_is_taken_followed_and_answered_once() {
        let agent = Agent::start().await;
        let mut person = person(&["goal", "failures"]);
        assert_eq!(lines(&mut person, "goal").await, [
            "accepted True",
            "feedback 1 False begun hello 1",
            "feedback 2 True said 2",
            "result 4 True 'hello' m1",
            "again 4 True 'hello' m1",
        ]);
        let first = agent.agent.submissions.lock().unwrap().first().cloned();
        assert_eq!(first, Some(Submission {
            task: "say hello".to_owned(),
            session: Some(SessionId::from("kitchen talk")),
            origin: Origin::new("ros", "/cortex/task"),
        }));
        assert_eq!(lines(&mut person, "failures").await, [
            "fail 6 False 'the way is blocked' m2",
            "refuse 6 False 'the queue is full'",
            "forget 6 False 'the mission ended without a result; this is a flaw of Cortex' m3",
            "zero 4 True 'a\u{fffd}b' m4",
        ]);
        assert!(person.end().await.unwrap());
        agent.shut_down().await;
    }

    async fn a_task_that_is_cancelled_before_the_agent_is_ready_is_never_begun() {
        let agent = Agent::start().await;
        agent.agent.held.send_replace(true);
        let mut person = person(&["early"]);
        assert_eq!(lines(&mut person, "early").await, [
            "canceling 1",
            "result 5 False 'The task was cancelled before it began.'",
        ]);
        agent.agent.held.send_replace(false);
        assert!(person.end().await.unwrap());
        assert_eq!(*agent.agent.submissions.lock().unwrap(), []);
        agent.shut_down().await;
    }

    async fn goals_do_not_mix_and_each_can_be_cancelled() {
        let agent = Agent::start().await;
        let mut person = person(&["two", "cancel", "duplicate", "unknown"]);
        assert_eq!(lines(&mut person, "two").await, [
            "quick 4 True 'quick' m2",
            "slow 5 False 'cancelled by a person' m1",
        ]);
        assert_eq!(lines(&mut person, "cancel").await, [
            "canceling 0 1",
            "result 5 False 'cancelled by a person' m3",
            "late 3",
            "nothing 0 0",
        ]);
        assert_eq!(lines(&mut person, "duplicate").await, [
            "again False",
            "canceling 1",
            "first 5 False 'cancelled by a person' m4",
        ]);
        assert_eq!(lines(&mut person, "unknown").await, ["result 0 False ''"]);
        assert!(person.end().await.unwrap());
        agent.shut_down().await;
    }

    async fn a_stop_ends_every_goal_and_answers_are_published() {
        let agent = Agent::start().await;
        let mut person = person(&["stop", "output"]);
        assert_eq!(lines(&mut person, "stop").await, [
            &format!("stop True {STOPPED}"),
            "result 6 False 'cancelled by a person' m1",
            "resume True Tasks are taken again.",
        ]);
        person.line("ready").await.unwrap();
        agent.server.say("it is 18\0 degrees");
        assert_eq!(lines(&mut person, "output").await, ["said it is 18\u{fffd} degrees True"]);
        assert!(person.end().await.unwrap());
        agent.shut_down().await;
    }

    async fn a_goal_that_is_open_at_shutdown_is_answered_before_the_node_goes() {
        let agent = Agent::start().await;
        let mut person = person(&["shutdown"]);
        person.line("begun").await.unwrap();
        agent.shut_down().await;
        assert_eq!(lines(&mut person, "shutdown").await, ["result 6 False 'cancelled by a person' m1"]);
        assert!(person.end().await.unwrap());
    }

    async fn the_server_rests_when_nothing_is_to_be_done() {
        let agent = Agent::start().await;
        let mut person = person(&["goal"]);
        lines(&mut person, "goal").await;
        assert!(person.end().await.unwrap());
        // Ten seconds after a first result is when the action server of the client library begins to spin.
        tokio::time::sleep(Duration::from_secs(11)).await;
        let before = cpu_ticks();
        tokio::time::sleep(Duration::from_secs(2)).await;
        let used = cpu_ticks() - before;
        assert!(used < 100, "{used} of 200 ticks of a core");
        agent.shut_down().await;
    }

    async fn the_command_line_s_client_follows_a_task_cancels_it_and_sees_the_agent_go() {
        let graph = GraphWatch::start("/person").unwrap();
        let node = RosNode::start("person", "").unwrap();
        let nobody = TaskClient::connect(&node, &graph, "/cortex", Duration::from_millis(300)).await;
        assert!(matches!(nobody, Err(RosError::NoServer { .. })));

        let agent = Agent::start().await;
        let client = TaskClient::connect(&node, &graph, "/cortex", LIMIT).await.unwrap();
        let mut task = client.send("say a\0b", "").await.unwrap();
        let first = task.updates.recv().await.unwrap();
        assert_eq!((first.timestep, first.feedback.as_str()), (1, "begun a\u{fffd}b"));
        let hello = TaskResult { ending: TaskEnding::Succeeded, output: "a\u{fffd}b".into(), mission: "m1".into() };
        assert_eq!(task.result().await.unwrap(), hello);
        assert_eq!(task.result().await.unwrap(), hello);
        assert!(!task.canceller.cancel().await.unwrap());

        let refused = client.send("refuse", "").await.unwrap().result().await.unwrap();
        assert_eq!((refused.ending, refused.output.as_str()), (TaskEnding::Failed, "the queue is full"));

        let mut task = client.send("wait", "").await.unwrap();
        task.updates.recv().await.unwrap();
        assert!(task.canceller.cancel().await.unwrap());
        assert_eq!(task.result().await.unwrap().ending, TaskEnding::Cancelled);

        let task = client.send("wait", "").await.unwrap();
        let (result, ()) = tokio::join!(task.result(), async { agent.robot.node.shut_down() });
        assert!(matches!(result, Err(AdapterError::Vanished { .. })), "{result:?}");

        agent.stop.shut_down();
        let again = Agent::start().await;
        let client = TaskClient::connect(&node, &graph, "/cortex", LIMIT).await.unwrap();
        assert_eq!(client.stop().await.unwrap().message, STOPPED);
        assert_eq!(client.resume().await.unwrap().message, "Tasks are taken again.");
        let revised = client.revise("m1", "the other room").await.unwrap();
        assert_eq!((revised.success, revised.message.as_str()), (true, "m1: the other room (/cortex/revise)"));
        let refused = client.revise("", "no").await.unwrap();
        assert_eq!((refused.success, refused.message.as_str()), (false, "the one that runs: no (/cortex/revise)"));
        // A question comes as it is asked, to the byte, and each answer as it is given.
        assert_eq!(client.questions().await.unwrap(), [question()]);
        let id = question().id;
        let yes = Answer::Approve { scope: ApprovalScope::Mission };
        let answers = [yes, Answer::Deny { reason: "A child is there.".into() }, Answer::Choose { choice: "ask".into() }];
        for (answer, counts) in answers.iter().zip([true, false, false]) {
            let answered = client.answer(&id, answer).await.unwrap();
            let told = if counts { "The answer to m1/1 counts." } else { "m1/1 (/cortex/answer)" };
            assert_eq!((answered.success, answered.message.as_str()), (counts, told));
        }
        assert_eq!(*again.agent.answers.lock().unwrap(), answers);
        assert_eq!(client.questions().await.unwrap(), []);
        let nameless = Answer::Choose { choice: String::new() };
        assert!(client.answer(&id, &nameless).await.unwrap().message.contains("no answer is given"));
        let disputed = client.dispute("m1", "It is still dark.").await.unwrap();
        assert_eq!((disputed.success, disputed.message.as_str()), (true, "m1: It is still dark. (/cortex/dispute)"));
        assert!(client.dispute("m1", " ").await.unwrap().message.contains("no reason is given"));
        again.shut_down().await;
        agent.robot.shut_down().await;
        node.shut_down();
        graph.shut_down();
    }
}

/// The time that this process has used, in hundredths of a second.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
