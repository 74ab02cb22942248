//! `cortex doctor`: why does it not work? Each check says what it found; each failure comes with its fix.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use cortex_command_line::environment::{Finding, first_look, print_findings};
use cortex_command_line::policy_report::{self, Remark};
use cortex_config::{self as config, Layers};
use cortex_core::ToolSet;
use cortex_core::fragment::one_line;
use cortex_model::{CallsTools, ModelChoice, ModelSettings, SeesPictures, Trial, trial};
use cortex_protocol::overview::ReadinessState;
use cortex_protocol::words::counted;
use cortex_protocol::{ToolName, ToolSpec};
use cortex_robot::Robot;
use cortex_ros::ComponentState;
use cortex_ros_client::graph::{AGENT_ACTION, GraphNode};
use cortex_ros_client::{Instance, LatchedText, Roll, RosNode, ServedNames};
use cortex_runtime::StopRecord;
use cortex_runtime::tape::Folder;
use cortex_status::TOPIC;

use crate::arguments::RunArguments;
use crate::configuration::{policy, resolve};
use crate::connection::duplicates;
use crate::status::read;
use crate::visit::visit;

/// How long the model may take to say a word.
const MODEL_LIMIT: Duration = Duration::from_secs(60);
/// Most characters of what a model said, when it is repeated.
const SAID_CHARACTERS: usize = 120;
/// How long a Cortex may take to give its live status.
const OVERVIEW_LIMIT: Duration = Duration::from_secs(5);
/// How many of the last missions tell how the model confirms.
const MISSIONS_LOOKED_AT: usize = 20;

/// `cortex doctor`: what keeps this robot from taking tasks, with what to do about each.
///
/// # Errors
/// When the graph can't be joined.
pub async fn doctor(arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let mut findings = first_look();
    // A configuration that can't be used is told below.
    let known = |node: &RosNode| Ok(policy(node, arguments.config.as_deref()).unwrap_or_default());
    match visit(known).await {
        Ok(robot) => {
            findings.push(("ROS node", Finding::Good("a node can be started".to_owned())));
            findings.push(("graph", graph(&robot)));
            findings.extend(components(&robot).into_iter().map(|finding| ("component", finding)));
            findings.extend(offers(&robot).into_iter().map(|finding| ("robot", finding)));
            findings.extend(conditions(&robot).into_iter().map(|finding| ("conditions", finding)));
            let (tasks, running) = cortex(&robot).await;
            findings.splice(0..0, tasks.into_iter().map(|finding| ("tasks", finding)));
            findings.extend(running.into_iter().map(|finding| ("Cortex", finding)));
            findings.extend(configuration(&robot, &arguments).await);
            findings.extend(confirmations(&arguments).map(|finding| ("model", finding)));
            robot.leave().await;
        }
        Err(problem) => findings.push((
            "ROS node",
            Finding::Bad(
                format!("{problem:#}"),
                "correct what it names; without ROS arguments, source ROS 2 again in a new shell".to_owned(),
            ),
        )),
    }
    Ok(print_findings(findings))
}

fn graph(robot: &Robot) -> Finding {
    let graph = robot.graph.current();
    let names: Vec<&str> = graph.robot_nodes().map(|node| node.name.as_str()).collect();
    if names.is_empty() {
        Finding::Bad(
            "no other node is seen".to_owned(),
            "start the robot's nodes; ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE and RMW_IMPLEMENTATION must be the \
             same as theirs"
                .to_owned(),
        )
    } else {
        Finding::Good(format!("{}: {}", counted(names.len(), "node"), names.join(", ")))
    }
}

fn components(robot: &Robot) -> Vec<Finding> {
    let directory = robot.discovery.directory();
    let directory = directory.borrow();
    let mut findings: Vec<Finding> = directory
        .components()
        .map(|(name, component)| {
            let methods = component.description.as_ref().map_or(0, |description| description.methods.len());
            if component.state == ComponentState::Ready && component.problems.is_empty() {
                Finding::Good(format!("{name} offers {}", counted(methods, "method")))
            } else if component.problems.is_empty() {
                Finding::Bad(
                    format!("{name} {}", component.state),
                    "look at its log; it must answer on ~/describe and publish on ~/status".to_owned(),
                )
            } else {
                Finding::Bad(
                    format!("{name} {}: {}", component.state, component.problems.join("; ")),
                    "fix what it says on ~/describe; docs/component-contract.md has the form".to_owned(),
                )
            }
        })
        .collect();
    let (_, left_out) = ToolSet::new(robot.discovery.tools().borrow().iter().cloned());
    findings.extend(left_out.into_iter().map(|problem| {
        Finding::Bad(problem.to_string(), "fix the parameters that it describes on ~/describe".to_owned())
    }));
    if findings.is_empty() {
        findings.push(Finding::Notable(
            "none offers ~/describe, so nothing says what it is for and how it is halted".to_owned(),
            "docs/component-contract.md says how a node becomes a component, in any language".to_owned(),
        ));
    }
    findings
}

/// What tools name to be checked by, as far as it can't be.
fn conditions(robot: &Robot) -> Vec<Finding> {
    let tools = robot.discovery.tools();
    let tools = tools.borrow();
    let conditioned: Vec<&ToolSpec> = tools.iter().filter(|spec| !spec.conditions.is_empty()).collect();
    let verified = conditioned.iter().filter(|spec| !spec.conditions.after.is_empty()).count();
    let name = |count: usize| if count == 1 { "names" } else { "name" };
    let mut findings = Vec::new();
    if !conditioned.is_empty() {
        findings.push(Finding::Good(format!(
            "{} {} what must hold, {verified} {} evidence",
            counted(conditioned.len(), "tool"),
            name(conditioned.len()),
            name(verified)
        )));
    }
    for spec in conditioned {
        findings.extend(robot.tools.condition_problems(spec).into_iter().map(|problem| {
            let fix = "until then its calls are refused or count as failed; docs/conditions.md tells more";
            Finding::Notable(format!("{}: {problem}", spec.name), fix.to_owned())
        }));
    }
    findings
}

/// The services, actions and topics that can be called, and those that can't.
fn offers(robot: &Robot) -> Vec<Finding> {
    let catalog = robot.discovery.catalog();
    let catalog = catalog.borrow();
    let callable = catalog.callable();
    let mut findings = vec![if callable == 0 {
        Finding::Notable(
            "no service and no action beyond those of components can be called".to_owned(),
            "docs/any-robot.md says what becomes a tool".to_owned(),
        )
    } else {
        Finding::Good(format!("{} can be called: services, actions and topics", counted(callable, "interface")))
    }];
    findings.extend(catalog.uncallable().iter().map(|uncallable| {
        Finding::Notable(
            format!("{} {} can't be called: {}", uncallable.kind, uncallable.name, uncallable.reason),
            "docs/any-robot.md lists the reasons and their fixes".to_owned(),
        )
    }));
    findings
}

/// Whether tasks are taken, and which Cortex runs here.
async fn cortex(robot: &Robot) -> (Vec<Finding>, Vec<Finding>) {
    let graph = robot.graph.current();
    let serving: Vec<&GraphNode> = graph
        .nodes()
        // Whatever a remap rule has made of its name.
        .filter(|node| node.actions.iter().any(|action| action.types.iter().any(|name| name == AGENT_ACTION)))
        .collect();
    if serving.is_empty() {
        let fix = "start one with `cortex run`".to_owned();
        return (vec![Finding::Notable("no Cortex runs here, so nobody takes any".to_owned(), fix)], Vec::new());
    }
    let (mut tasks, mut findings) = (Vec::new(), Vec::new());
    for node in serving {
        let all = match Roll::call(&robot.node, &node.name).await {
            Ok(roll) if robot.discovery.is_confirmed() => roll.answers_of(node.instances.len()).await,
            Ok(roll) => roll.answers(|| node.instances.len()).await,
            Err(problem) => {
                tracing::warn!("{problem}");
                Vec::new()
            }
        };
        let names = all.first().map_or_else(|| ServedNames::of(&node.name), Instance::names);
        tasks.push(readiness(robot, &names).await);
        findings.push(match (duplicates(&node.name, &all), all.first()) {
            (Some(duplicates), _) => Finding::Bad(
                format!("{duplicates}: each takes every task, and each stop is answered by one of them"),
                "give each a name of its own (`--ros-args -r __node:=NAME`) or a ROS_DOMAIN_ID".to_owned(),
            ),
            (None, Some(one)) => Finding::Good(format!("{} runs: {one}", node.name)),
            (None, None) => Finding::Good(format!("{} runs", node.name)),
        });
    }
    (tasks, findings)
}

/// Whether a Cortex takes tasks, in the words with which it would refuse one.
async fn readiness(robot: &Robot, names: &ServedNames) -> Finding {
    let node = names.node();
    let told = async {
        let mut texts = LatchedText::subscribe(&robot.endpoints, &names.below(TOPIC)).await.ok()?;
        read(&texts.next().await?).ok()
    };
    let Ok(Some(overview)) = tokio::time::timeout(OVERVIEW_LIMIT, told).await else {
        let fix = "look at its log; it may hang, or be of another version than this program".to_owned();
        return Finding::Bad(format!("{node} does not say whether it takes any"), fix);
    };
    let text = format!("{node} {}", overview.readiness);
    let fix = match overview.inactive() {
        Some("inactive") => format!("run `ros2 lifecycle set {node} activate`, or start what manages its lifecycle"),
        Some("unconfigured") => format!(
            "run `ros2 lifecycle set {node} configure` and `ros2 lifecycle set {node} activate`, or start what manages its \
             lifecycle; its log says why it could not be configured"
        ),
        _ => "`cortex status` shows all of it".to_owned(),
    };
    match overview.readiness.state {
        ReadinessState::Ready => Finding::Good(text),
        ReadinessState::Limited | ReadinessState::Waiting | ReadinessState::Unknown => Finding::Notable(text, fix),
        ReadinessState::Refusing => Finding::Bad(text, fix),
    }
}

/// What asks a person first, and what is denied.
fn asked_and_denied(robot: &Robot, policy: &cortex_core::Policy) -> Vec<Finding> {
    let (tools, catalog) = (robot.discovery.tools(), robot.discovery.catalog());
    let names: BTreeMap<ToolName, String> =
        catalog.borrow().names().map(|(tool, name)| (tool.clone(), name.to_owned())).collect();
    let remarks = policy_report::remarks(policy, &tools.borrow(), &names);
    let mut findings = vec![Finding::Good(policy_report::undeclared(policy).to_owned())];
    findings.extend(remarks.into_iter().map(|Remark { text, change }| Finding::Notable(text, change)));
    findings
}

async fn configuration(robot: &Robot, arguments: &RunArguments) -> Vec<(&'static str, Finding)> {
    let resolved =
        match resolve(&robot.node, arguments.config.as_deref(), serde_json::Map::new(), arguments.model.clone()) {
            Ok(resolved) => resolved,
            Err(problem) => {
                let fix = "correct it; config/cortex.toml explains every key".to_owned();
                return vec![("configuration", Finding::Bad(format!("{problem:#}"), fix))];
            }
        };
    let good = Finding::Good(format!("the model is {} ({})", resolved.models.first, resolved.model_origin));
    let stops = resolved.runtime.tape.as_ref().map(StopRecord::all).unwrap_or_default();
    let mut findings: Vec<_> = stops.iter().filter_map(stopped).map(|finding| ("stop", finding)).collect();
    findings.extend(asked_and_denied(robot, &resolved.runtime.policy).into_iter().map(|finding| ("policy", finding)));
    findings.push(("configuration", good));
    let models = resolved.models.each();
    let is_used = |seeing: &ModelChoice| models.iter().any(|(choice, _)| choice == seeing);
    for choice in resolved.models.seeing.iter().filter(|choice| !is_used(choice)) {
        let text = format!("endpoint.sees_pictures names {choice}, which is not in use");
        findings.push(("configuration", Finding::Notable(text, "write it as in `model` or `chain.models`".to_owned())));
    }
    for (choice, settings) in models {
        findings.extend(model(&choice, settings).await.into_iter().map(|finding| ("model", finding)));
    }
    findings
}

/// A robot of this machine that is stopped, or was when its Cortex ended.
fn stopped(record: &StopRecord) -> Option<Finding> {
    let why = record.read()?;
    let text = format!("a robot of this machine is stopped, and stays so when Cortex is started again ({why})");
    let fix =
        format!("look at the robot; when it is safe, run `cortex resume`, which removes {}", record.path().display());
    Some(Finding::Notable(text, fix))
}

/// What a model can do of what Cortex needs.
async fn model(choice: &ModelChoice, settings: ModelSettings) -> Vec<Finding> {
    let pictures = settings.pictures.clone();
    let model = match cortex_model::build(choice, settings) {
        Ok(model) => model,
        Err(problem) => {
            let fix = "set what it names, or use `--model reflex`".to_owned();
            return vec![Finding::Bad(problem.to_string(), fix)];
        }
    };
    if *choice == ModelChoice::Reflex {
        let text =
            "reflex: embedded, needs no network; it understands plain English and German sentences only".to_owned();
        return vec![Finding::Good(text)];
    }
    match trial(model.as_ref(), pictures.as_ref(), MODEL_LIMIT).await {
        Ok(trial) => tried(choice, &trial),
        Err(error) => {
            let hint = match choice.base_url() {
                Some(_) => {
                    "check the model's name and its URL; `cortex models` lists what an endpoint offers".to_owned()
                }
                None => "do what it says, or use `--model reflex`".to_owned(),
            };
            let fix = if error.hint.is_empty() { hint } else { error.hint };
            vec![Finding::Bad(format!("{choice}: {}", error.message), fix)]
        }
    }
}

fn tried(choice: &ModelChoice, trial: &Trial) -> Vec<Finding> {
    let seconds = trial.answered_after.as_secs_f64();
    let mut findings = vec![Finding::Good(format!("{choice} answers, a word in {seconds:.1} s"))];
    if !trial.reports_tokens {
        findings.push(Finding::Notable(
            format!("{choice} does not report how many tokens it has read and written"),
            "budgets of tokens and money count an estimate, a quarter of the bytes; if the server can report `usage`, \
             turn that on"
                .to_owned(),
        ));
    }
    let other = "use a model that is made for calling tools".to_owned();
    findings.push(match &trial.calls {
        CallsTools::Rightly => Finding::Good(format!("{choice} calls tools")),
        CallsTools::NotShown { tokens } => Finding::Bad(
            format!(
                "{choice} is not shown the tools: it reads {tokens} tokens with a tool, and as many without, so the \
                 chat template that its server uses leaves them out"
            ),
            format!("start the server with a template that shows tools (llama-server: --jinja --chat-template-file FILE), or {other}"),
        ),
        CallsTools::WithOtherArguments { given } => {
            let given = one_line(given, SAID_CHARACTERS);
            Finding::Notable(format!("{choice} calls tools, but gave {given} where {{\"number\":7}} was wanted"), other)
        }
        CallsTools::Not { said } => Finding::Bad(
            format!("{choice} calls no tool, so it can plan nothing; it said: {:?}", one_line(said, SAID_CHARACTERS)),
            other,
        ),
        _ => Finding::Notable(format!("{choice}: whether it calls tools is not known"), other),
    });
    if let Some(problem) = &trial.undecided {
        let fix = "steps that act may be aborted for it; let endpoint.structured_output be \"auto\" or \"on\", or name another chain.confirmation_model";
        findings.push(Finding::Notable(
            format!("{choice}: its decision on a step can't be read: {problem}"),
            fix.to_owned(),
        ));
    }
    findings.extend(trial.sees.as_ref().map(|sees| seen(choice, sees)));
    findings
}

/// Whether it sees, where it is said to.
fn seen(choice: &ModelChoice, sees: &SeesPictures) -> Finding {
    match sees {
        SeesPictures::Rightly => Finding::Good(format!("{choice} sees pictures: it told three colours apart")),
        SeesPictures::Not { said } => {
            let said = one_line(&said.join("; "), SAID_CHARACTERS);
            let fix = "what it says of pictures would be made up; leave it out of endpoint.sees_pictures, or name a model \
                       that sees (llama-server: --mmproj FILE)";
            Finding::Bad(
                format!("{choice} does not see the pictures that it is shown; it said: {said}"),
                fix.to_owned(),
            )
        }
    }
}

/// Whether the model that the last missions had needs a second request for many a step. Missions that can't be read, or are
/// not recorded, say nothing.
fn confirmations(arguments: &RunArguments) -> Option<Finding> {
    let layers = Layers { file: config::file(arguments.config.as_deref()), ..Layers::default() };
    let found = Folder::new(config::tape_folder(&layers).ok()?).confirmations(MISSIONS_LOOKED_AT).ok()?;
    found.are_often_repeated().then(|| {
        Finding::Notable(
            format!(
                "in the last missions it was asked twice about {} of {} steps, because words stood beside its decision \
                 or it could not be read",
                found.repeated, found.asked
            ),
            "use a model that keeps to the one word, or an endpoint that takes a schema (endpoint.structured_output)"
                .to_owned(),
        )
    })
}
