//! `cortex plan "task"`: the plan, without carrying it out. Research tools are called; nothing else is.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cortex_config::Resolved;
use cortex_core::{ToolSet, plan};
use cortex_protocol::{
    Effect, MissionEvent, MissionResult, Origin, Plan, Priority, Step, StepNumber, Submission, TaskClass,
};
use cortex_robot::{self as robot, Robot};
use cortex_runtime::{DryRun, Runtime, RuntimeConfig};
use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use serde_json::{Value, json};

use crate::arguments::{PlanArguments, PlanFormat};
use crate::configuration::resolve;
use crate::visit::{SETTLE_LIMIT, settled};

/// What the mission gets to end once its plan is known.
const END_LIMIT: Duration = Duration::from_secs(5);

/// `cortex plan`: what Cortex would do for a task. Nothing is carried out.
///
/// # Errors
/// When the graph can't be joined, the configuration is wrong, or the model can't be used.
pub async fn plan(arguments: PlanArguments) -> anyhow::Result<ExitCode> {
    let node = robot::join(&format!("_cortex_cli_{}", std::process::id()))?;
    let resolved =
        match resolve(&node, arguments.run.config.as_deref(), serde_json::Map::new(), arguments.run.model.clone()) {
            Ok(resolved) => resolved,
            Err(problem) => {
                node.shut_down();
                return Err(problem);
            }
        };
    let robot = Robot::discover(node, resolved.policy.clone())?;
    let made = make(&robot, resolved, arguments.task).await;
    let tools = ToolSet::new(robot.discovery.tools().borrow().iter().cloned()).0;
    robot.leave().await;
    match made? {
        Made::Plan(made, class) => {
            println!("{}", shown(&made, class, &tools, arguments.format)?);
            Ok(ExitCode::SUCCESS)
        }
        Made::Ended(result) => {
            eprintln!("cortex: {}", if result.is_success() { "no plan is needed" } else { "no plan was made" });
            println!("{} ({}): {}", result.status, result.class, result.output);
            Ok(if result.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// What came of the planning.
enum Made {
    /// And what kind of thing the task was taken for.
    Plan(Plan, TaskClass),
    /// An answer, or the reason why there is no plan.
    Ended(Box<MissionResult>),
}

async fn make(robot: &Robot, resolved: Resolved, task: String) -> anyhow::Result<Made> {
    let model = cortex_model::build_set(&resolved.models).context("the model can't be used")?;
    if !settled(robot).await {
        eprintln!("cortex: some components have not described themselves within {} s", SETTLE_LIMIT.as_secs());
    }
    let provider = DryRun::new(Arc::new(robot.tools.clone()), robot.discovery.tools());
    // What moves nothing needs no record.
    let config = RuntimeConfig { tape: None, ..resolved.runtime };
    let runtime = Runtime::start(config, model);
    let provider = runtime.register(Arc::new(provider));
    let tools = robot.discovery.tools().borrow().as_ref().clone();
    provider.offer_tools(tools).await;
    let submission = Submission { task, session: None, origin: Origin::new("cli", "plan") };
    let mut ticket = runtime.submit(submission).await?;
    let mut made = None;
    let mut class = TaskClass::default();
    while let Some(event) = ticket.events.recv().await {
        match &event.data.payload {
            MissionEvent::Classified { class: found } => class = *found,
            MissionEvent::Planned { steps, .. } => {
                made = Some(steps.clone());
                break;
            }
            _ => {}
        }
    }
    // The plan is known, or the mission has ended.
    let ended = runtime.shut_down(END_LIMIT).await;
    match made {
        Some(made) => Ok(Made::Plan(made, class)),
        None => {
            anyhow::ensure!(ended, "the planning did not end");
            Ok(Made::Ended(Box::new(ticket.result.await.context("the planning ended without a result")?)))
        }
    }
}

fn shown(made: &Plan, class: TaskClass, tools: &ToolSet, format: PlanFormat) -> anyhow::Result<String> {
    match format {
        PlanFormat::Text => Ok(format!("taken for {class}\n{}", as_text(made, tools))),
        PlanFormat::Json => Ok(serde_json::to_string_pretty(&as_value(made, class, tools))?),
        PlanFormat::Dot => Ok(plan::dot(made).trim_end().to_owned()),
        PlanFormat::Svg => as_svg(&plan::flat_dot(made)),
    }
}

fn resources<'a>(tools: &'a ToolSet, step: &Step) -> &'a [cortex_protocol::ResourceName] {
    tools.get(&step.call.tool).map(|spec| spec.resources.as_slice()).unwrap_or_default()
}

fn as_text(made: &Plan, tools: &ToolSet) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    for (index, level) in plan::levels(made).iter().enumerate() {
        let together = if level.len() > 1 { ", together" } else { "" };
        let _ = writeln!(text, "level {}{together}", index + 1);
        for step in level.iter().filter_map(|number| made.steps.iter().find(|step| step.number == *number)) {
            let _ = write!(text, "  {}. {}", step.number, step.call.tool);
            if !step.call.arguments.is_empty() {
                let _ = write!(text, " {}", Value::Object(step.call.arguments.clone()));
            }
            let _ = write!(text, "  [{}", effect(tools, step));
            let held: Vec<&str> = resources(tools, step).iter().map(|resource| resource.as_str()).collect();
            if !held.is_empty() {
                let _ = write!(text, ", holds {}", held.join(", "));
            }
            let after: Vec<String> = step.after.iter().map(ToString::to_string).collect();
            if !after.is_empty() {
                let _ = write!(text, ", after {}", after.join(", "));
            }
            if step.priority != Priority::Normal {
                let _ = write!(text, ", {}", priority(step.priority));
            }
            if !step.again.is_empty() {
                let _ = write!(text, ", again: {}", step.again);
            }
            text.push_str("]\n");
        }
    }
    for group in &made.groups {
        let steps: Vec<String> = group.steps.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "group {}: {}", plan::group_label(group), steps.join(", "));
    }
    for (one, other, resource) in plan::conflicts(made, |step| resources(tools, step)) {
        let _ = writeln!(text, "steps {one} and {other} both need {resource}: they run one after the other");
    }
    text.trim_end().to_owned()
}

fn priority(priority: Priority) -> &'static str {
    match priority {
        Priority::Critical => "critical",
        Priority::High => "high",
        Priority::Normal => "normal",
        Priority::Low => "low",
    }
}

fn effect(tools: &ToolSet, step: &Step) -> &'static str {
    match tools.get(&step.call.tool).map(|spec| spec.effect) {
        Some(Effect::Observe) => "reads",
        Some(Effect::Act) => "acts",
        Some(Effect::Move) => "moves",
        None => "has left",
    }
}

fn as_value(made: &Plan, class: TaskClass, tools: &ToolSet) -> Value {
    let conflicts: Vec<Value> = plan::conflicts(made, |step| resources(tools, step))
        .into_iter()
        .map(|(one, other, resource)| json!({"steps": [one, other], "resource": resource}))
        .collect();
    let levels: Vec<Vec<StepNumber>> = plan::levels(made);
    json!({"class": class, "steps": made.steps, "groups": made.groups, "levels": levels, "conflicts": conflicts})
}

fn as_svg(dot: &str) -> anyhow::Result<String> {
    let graph =
        DotParser::new(dot).process().map_err(|problem| anyhow::anyhow!("the plan can't be drawn: {problem}"))?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut writer = SVGWriter::new();
    builder.get().do_it(false, false, false, &mut writer);
    Ok(writer.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::plan::Group;
    use cortex_protocol::{StepStatus, ToolCall};
    use serde_json::Map;

    fn step(number: u32, tool: &str, after: &[u32]) -> Step {
        Step {
            number: StepNumber(number),
            call: ToolCall { tool: tool.into(), arguments: Map::new() },
            after: after.iter().copied().map(StepNumber).collect(),
            status: StepStatus::Pending,
            priority: Priority::Normal,
            again: String::new(),
        }
    }

    fn plan_of(steps: Vec<Step>) -> Plan {
        Plan { steps, groups: Vec::new() }
    }

    #[test]
    fn a_plan_can_be_read_drawn_and_parsed() {
        let made = plan_of(vec![step(1, "base.go", &[]), step(2, "arm.wave", &[]), step(3, "say", &[1, 2])]);
        let tools = ToolSet::default();
        let text = shown(&made, TaskClass::Action, &tools, PlanFormat::Text).unwrap();
        assert!(
            text.starts_with("taken for an action\nlevel 1, together\n  1. base.go") && text.contains("after 1, 2"),
            "{text}"
        );
        assert!(shown(&made, TaskClass::Action, &tools, PlanFormat::Dot).unwrap().contains("s2 -> s3"));
        let svg = shown(&made, TaskClass::Action, &tools, PlanFormat::Svg).unwrap();
        assert!(svg.contains("<svg") && svg.contains("arm.wave"), "{svg}");
        let value: Value =
            serde_json::from_str(&shown(&made, TaskClass::Action, &tools, PlanFormat::Json).unwrap()).unwrap();
        assert_eq!((&value["levels"], &value["class"]), (&json!([[1, 2], [3]]), &json!("action")));
    }

    #[test]
    fn groups_and_priorities_are_shown_in_every_form() {
        let mut made = plan_of(vec![step(1, "base.go", &[]), step(2, "arm.wave", &[]), step(3, "say", &[1, 2])]);
        made.groups.push(Group { name: "tour".into(), steps: vec![StepNumber(1), StepNumber(2)], at_once: 2 });
        made.steps[2].priority = Priority::Critical;
        let tools = ToolSet::default();
        let text = shown(&made, TaskClass::Action, &tools, PlanFormat::Text).unwrap();
        assert!(text.contains("group tour, 2 at a time: 1, 2") && text.contains("after 1, 2, critical]"), "{text}");
        let value: Value =
            serde_json::from_str(&shown(&made, TaskClass::Action, &tools, PlanFormat::Json).unwrap()).unwrap();
        assert_eq!(value["groups"], json!([{"name": "tour", "steps": [1, 2], "at_once": 2}]));
        let dot = shown(&made, TaskClass::Action, &tools, PlanFormat::Dot).unwrap();
        assert!(dot.contains("subgraph cluster_0") && dot.contains("tour, 2 at a time"), "{dot}");
        let svg = shown(&made, TaskClass::Action, &tools, PlanFormat::Svg).unwrap();
        assert!(svg.contains("(tour)"), "{svg}");
    }

    #[test]
    fn hostile_names_do_not_break_the_drawing() {
        let mut made = plan_of(vec![step(1, "a\"];<script>\\", &[])]);
        let group = "}\"<script>\\".to_owned();
        made.groups.push(Group { name: group, steps: vec![StepNumber(1)], at_once: 1 });
        let svg = shown(&made, TaskClass::Action, &ToolSet::default(), PlanFormat::Svg);
        assert!(svg.is_ok_and(|svg| !svg.contains("<script>")));
    }
}
