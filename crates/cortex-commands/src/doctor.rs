//! `cortex doctor`: why does it not work? Each check says what it found; each failure comes with its fix.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use cortex_config::{self as config, Layers, Resolved};
use cortex_core::ToolSet;
use cortex_core::chat::{ChatRequest, Message, Purpose};
use cortex_core::fragment::Fragment;
use cortex_model::ModelChoice;
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
use crate::policy_report::{self, Remark};
use crate::status::read;

/// How long the model may take to say a word.
const MODEL_LIMIT: Duration = Duration::from_secs(60);
/// How long a Cortex may take to give its live status.
const OVERVIEW_LIMIT: Duration = Duration::from_secs(5);
/// How many of the last missions tell how the model confirms.
const MISSIONS_LOOKED_AT: usize = 20;

/// What one check found.
enum Finding {
    Good(String),
    /// Not wrong, but perhaps not what was meant.
    Notable(String, String),
    /// What is wrong, and the fix.
    Bad(String, String),
}

pub async fn doctor(arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let mut findings = vec![("ROS 2", environment())];
    findings.extend(shared_memory(&variable).map(|finding| ("ROS 2", finding)));
    findings.extend(exposure(&variable).map(|finding| ("security", finding)));
    // A configuration that can't be used is told below.
    let known = |node: &RosNode| Ok(policy(node, arguments.config.as_deref()).unwrap_or_default());
    match Robot::visit(known).await {
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
    let mut healthy = true;
    for (subject, finding) in findings {
        match finding {
            Finding::Good(text) => println!("ok    {subject}: {text}"),
            Finding::Notable(text, fix) => println!("note  {subject}: {text}\n      -> {fix}"),
            Finding::Bad(text, fix) => {
                healthy = false;
                println!("FAIL  {subject}: {text}\n      -> {fix}");
            }
        }
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A variable of the environment that says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn environment() -> Finding {
    let Some(distribution) = variable("ROS_DISTRO") else {
        return Finding::Bad(
            "no ROS 2 is sourced (ROS_DISTRO is not set)".to_owned(),
            "run `source /opt/ros/jazzy/setup.bash`, or `eval \"$(cargo xtask env)\"` in the repository".to_owned(),
        );
    };
    if variable("AMENT_PREFIX_PATH").is_none() {
        return Finding::Bad(
            format!("ROS_DISTRO is {distribution}, but AMENT_PREFIX_PATH is not set"),
            "source the setup file of ROS 2 again".to_owned(),
        );
    }
    let domain = variable("ROS_DOMAIN_ID").unwrap_or_else(|| "0".to_owned());
    let middleware = variable("RMW_IMPLEMENTATION").unwrap_or_else(|| "the default".to_owned());
    let range = variable("ROS_AUTOMATIC_DISCOVERY_RANGE").unwrap_or_else(|| "SUBNET".to_owned());
    Finding::Good(format!("{distribution}, domain {domain}, discovery range {range}, middleware {middleware}"))
}

/// Whether Fast DDS sends through shared memory, which loses messages where processes are killed and started again
/// (`config/fastdds_loopback.xml` has the figures). A profile that somebody wrote is not judged.
fn shared_memory(variable: &dyn Fn(&str) -> Option<String>) -> Option<Finding> {
    let is_fast_dds = variable("RMW_IMPLEMENTATION").is_none_or(|name| name.starts_with("rmw_fastrtps"));
    let is_local = variable("ROS_AUTOMATIC_DISCOVERY_RANGE").is_some_and(|range| range == "LOCALHOST");
    let transports = variable("FASTDDS_BUILTIN_TRANSPORTS");
    let has_profile =
        ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"].iter().any(|name| variable(name).is_some());
    let is_off = has_profile || transports.is_some_and(|transports| transports.starts_with("UDP"));
    // With this range, the shared memory is used whatever else is set.
    (is_fast_dds && (is_local || !is_off)).then(|| {
        let fix = if is_local {
            "set ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT and FASTRTPS_DEFAULT_PROFILES_FILE to the path of \
             config/fastdds_loopback.xml, for all nodes: the same range, without it"
        } else {
            "set FASTDDS_BUILTIN_TRANSPORTS=UDPv4 for all nodes"
        };
        Finding::Notable(
            "Fast DDS uses shared memory; a node that was killed and started again may not hear the others (about 1 of \
             100 times)"
                .to_owned(),
            fix.to_owned(),
        )
    })
}

/// Whether others than this machine may command the robot. Who is on the graph may, with Cortex or past it.
fn exposure(variable: &dyn Fn(&str) -> Option<String>) -> Option<Finding> {
    let notable = |text: &str, fix: &str| Some(Finding::Notable(text.to_owned(), fix.to_owned()));
    if variable("ROS_SECURITY_ENABLE").is_some_and(|enabled| enabled == "true") {
        if variable("ROS_SECURITY_STRATEGY").is_some_and(|strategy| strategy == "Enforce") {
            return None;
        }
        return notable(
            "SROS2 is on, but nodes without keys run unsecured (ROS_SECURITY_STRATEGY is not Enforce)",
            "set ROS_SECURITY_STRATEGY=Enforce for all nodes; docs/security.md tells more",
        );
    }
    let has_profile = ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE", "CYCLONEDDS_URI"]
        .iter()
        .any(|name| variable(name).is_some());
    let is_closed = match variable("ROS_AUTOMATIC_DISCOVERY_RANGE").as_deref() {
        Some("LOCALHOST" | "OFF") => true,
        // What the middleware is told by its own file is not judged.
        Some("SYSTEM_DEFAULT") => has_profile,
        _ => variable("ROS_LOCALHOST_ONLY").is_some_and(|only| only == "1"),
    };
    if is_closed {
        return None;
    }
    notable(
        "the graph is open to the subnet, without SROS2: anybody on the local network can command the robot",
        "set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST for all nodes where the robot is one machine, or a network of its own, or \
         SROS2; docs/security.md says how",
    )
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
    let good = Finding::Good(format!("the model is {} ({})", resolved.model, resolved.model_origin));
    let stops = resolved.runtime.tape.as_ref().map(StopRecord::all).unwrap_or_default();
    let mut findings: Vec<_> = stops.iter().filter_map(stopped).map(|finding| ("stop", finding)).collect();
    findings.extend(asked_and_denied(robot, &resolved.runtime.policy).into_iter().map(|finding| ("policy", finding)));
    findings.push(("configuration", good));
    findings.push(("model", model(&resolved).await));
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

/// Whether the model answers.
async fn model(resolved: &Resolved) -> Finding {
    let model = match cortex_model::build(&resolved.model, resolved.endpoint.clone()) {
        Ok(model) => model,
        Err(problem) => {
            let fix = "set what it names, or use `--model reflex`".to_owned();
            return Finding::Bad(problem.to_string(), fix);
        }
    };
    if resolved.model == ModelChoice::Reflex {
        let text =
            "reflex: embedded, needs no network; it understands plain English and German sentences only".to_owned();
        return Finding::Good(text);
    }
    let request = ChatRequest {
        purpose: Purpose::Plan,
        messages: vec![Message::User { fragments: vec![Fragment::Notice { text: "Say OK.".to_owned() }] }],
        tools: Vec::new(),
        temperature: 0.0,
        max_tokens: 200,
    };
    match tokio::time::timeout(MODEL_LIMIT, model.chat(&request)).await {
        Ok(Ok(reply)) if reply.tokens_estimated => Finding::Notable(
            format!("{} answers, and does not report how many tokens it has read and written", model.label()),
            "budgets of tokens and money count an estimate, a quarter of the bytes; if the server can report `usage`, \
             turn that on"
                .to_owned(),
        ),
        Ok(Ok(_)) => Finding::Good(format!("{} answers", model.label())),
        Ok(Err(error)) => Finding::Bad(
            error.message,
            if error.hint.is_empty() { "check the model's name and its URL".to_owned() } else { error.hint },
        ),
        Err(_) => Finding::Bad(
            format!("{} did not answer within {} s", model.label(), MODEL_LIMIT.as_secs()),
            "check that it runs, and that it is fast enough".to_owned(),
        ),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_is_open_to_the_subnet_is_told() {
        let told = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            exposure(&variable).map(|finding| match finding {
                Finding::Good(text) | Finding::Notable(text, _) | Finding::Bad(text, _) => text,
            })
        };
        let is_open = |set: &[(&str, &str)]| told(set).is_some_and(|text| text.contains("open to the subnet"));
        let range = |range| ("ROS_AUTOMATIC_DISCOVERY_RANGE", range);
        assert!(is_open(&[]) && is_open(&[range("SUBNET")]) && is_open(&[range("SYSTEM_DEFAULT")]));
        assert!(is_open(&[("ROS_SECURITY_ENABLE", "false"), ("ROS_SECURITY_STRATEGY", "Enforce")]));
        for closed in [
            &[range("LOCALHOST")][..],
            &[range("OFF")],
            &[range("SYSTEM_DEFAULT"), ("FASTRTPS_DEFAULT_PROFILES_FILE", "a.xml")],
            &[("ROS_LOCALHOST_ONLY", "1")],
            &[("ROS_SECURITY_ENABLE", "true"), ("ROS_SECURITY_STRATEGY", "Enforce")],
        ] {
            assert_eq!(told(closed), None, "{closed:?}");
        }
        assert!(told(&[("ROS_SECURITY_ENABLE", "true")]).is_some_and(|text| text.contains("run unsecured")));
    }

    #[test]
    fn shared_memory_of_fast_dds_is_told_unless_it_is_off() {
        let fix = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            shared_memory(&variable).map(|finding| match finding {
                Finding::Good(text) => text,
                Finding::Notable(_, fix) | Finding::Bad(_, fix) => fix,
            })
        };
        let (profile, range) = (("FASTRTPS_DEFAULT_PROFILES_FILE", "a.xml"), "ROS_AUTOMATIC_DISCOVERY_RANGE");
        assert!(fix(&[]).is_some_and(|fix| fix.contains("FASTDDS_BUILTIN_TRANSPORTS=UDPv4")));
        assert_eq!(fix(&[("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")]), None);
        assert_eq!(fix(&[profile, (range, "SYSTEM_DEFAULT")]), None);
        assert!(fix(&[profile, (range, "LOCALHOST")]).is_some_and(|fix| fix.contains("fastdds_loopback.xml")));
        assert_eq!(fix(&[("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")]), None);
    }
}
