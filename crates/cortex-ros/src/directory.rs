//! The Cortex components of the robot at one moment, and how that changes with the graph. No ROS here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use cortex_protocol::{ComponentDescription, ComponentName, MethodDescription, ToolName, ToolSpec};
use cortex_ros_client::dynamic::Servers;
use cortex_ros_client::graph::{Graph, GraphNode, InstanceId, is_another_run};

/// The service over which a component describes itself, below its node.
pub(crate) const DESCRIBE: (&str, &str) = ("describe", "cortex_msgs/srv/DescribeComponent");
/// The service that runs a component's methods, below its node.
pub(crate) const EXECUTE_METHOD: (&str, &str) = ("execute_method", "cortex_msgs/srv/ExecuteMethod");

/// Components that are kept. Far more than a robot has; a graph that invents them must not exhaust us.
pub(crate) const MOST_COMPONENTS: usize = 500;

/// Where a component stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentState {
    /// It was found and is being asked what it can do.
    Describing,
    /// Its methods are on offer.
    Ready,
    /// It does not say what it can do, or not in a form that can be read; [`Component::problems`] says why.
    Undescribed,
    /// It is on the graph, but its heartbeat has stopped. Nothing of it is on offer.
    Silent,
}

impl fmt::Display for ComponentState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Describing => "is being asked what it can do",
            Self::Ready => "is ready",
            Self::Undescribed => "does not say what it can do",
            Self::Silent => "is on the graph, but its heartbeat has stopped",
        })
    }
}

/// A node that follows the contract of a Cortex component.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Where it stands.
    pub state: ComponentState,
    /// What it says of itself, once it has.
    pub description: Option<Arc<ComponentDescription>>,
    /// What is wrong with what it says, in the order found.
    pub problems: Vec<String>,
    run: Run,
    instances: BTreeSet<InstanceId>,
    /// Who got requests when it described itself. A call that would reach others is not one of what was described.
    servers: Servers,
    /// Whether it is asked anew, since others have come or gone.
    is_confirming: bool,
}

impl Component {
    /// Whether another run of it is there than those that are known. One that has described itself already, before the graph
    /// told whose it is, is known by the process that it shares with who got the question.
    fn is_followed_by(&self, now: &BTreeSet<InstanceId>) -> bool {
        let is_known = |run: &InstanceId| {
            self.instances.contains(run) || self.servers.iter().any(|server| server.is_of_process_of(run))
        };
        is_another_run(&self.instances, now) && !now.iter().all(is_known)
    }
}

/// Counts the components that came, so that one that comes back is told from the one that left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Run(u64);

/// How a component was lost while it was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Left,
    Restarted,
    Silent,
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Left => "has left the ROS graph",
            Self::Restarted => "was started anew",
            Self::Silent => "is lost: its heartbeat has stopped",
        })
    }
}

/// What asking a component for its description came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// It can be used, apart from these problems. With those who got requests meanwhile.
    Described(ComponentDescription, Vec<String>, Servers),
    /// It can't.
    Unusable(String),
}

/// What to do after the graph has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Ask the component for its description, and listen for its heartbeat.
    Describe(ComponentName, Run),
    /// Stop both.
    Forget(ComponentName),
}

/// The components, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Directory {
    components: BTreeMap<ComponentName, Component>,
    runs: u64,
}

impl Directory {
    /// Every component, by name.
    pub fn components(&self) -> impl Iterator<Item = (&ComponentName, &Component)> {
        self.components.iter()
    }

    /// The component of this name.
    #[must_use]
    pub fn component(&self, name: &ComponentName) -> Option<&Component> {
        self.components.get(name)
    }

    /// The methods that are on offer, by component and in the order described.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSpec> {
        let ready = self.components.iter().filter(|(_, component)| component.state == ComponentState::Ready);
        ready.flat_map(|(name, component)| component.description.iter().flat_map(|all| all.tools(name))).collect()
    }

    /// Whether a component is still being asked what it can do.
    #[must_use]
    pub fn is_describing(&self) -> bool {
        self.components.values().any(|component| component.state == ComponentState::Describing)
    }

    /// How the component of this run was lost. None while it is there.
    pub(crate) fn loss(&self, name: &ComponentName, run: Run) -> Option<Loss> {
        match self.components.get(name) {
            None => Some(Loss::Left),
            Some(component) if component.run != run => Some(Loss::Restarted),
            Some(component) if component.state == ComponentState::Silent => Some(Loss::Silent),
            Some(_) => None,
        }
    }

    /// Takes over what the graph says and returns what follows from it.
    pub(crate) fn follow(&mut self, graph: &Graph) -> Vec<Task> {
        let found: BTreeMap<ComponentName, &GraphNode> = graph
            .robot_nodes()
            .filter(|node| is_component(node))
            .take(MOST_COMPONENTS)
            .map(|node| (component_name(&node.name), node))
            .collect();
        let gone = self.components.keys().filter(|name| !found.contains_key(*name)).cloned();
        let mut tasks: Vec<Task> = gone.map(Task::Forget).collect();
        self.components.retain(|name, _| found.contains_key(name));
        for (name, node) in found {
            if let Some(known) = self.components.get_mut(&name)
                && !known.is_followed_by(&node.instances)
            {
                known.instances.clone_from(&node.instances);
                continue;
            }
            self.runs += 1;
            let run = Run(self.runs);
            tasks.push(Task::Describe(name.clone(), run));
            self.components.insert(
                name,
                Component {
                    state: ComponentState::Describing,
                    description: None,
                    problems: Vec::new(),
                    run,
                    instances: node.instances.clone(),
                    servers: Servers::new(),
                    is_confirming: false,
                },
            );
        }
        tasks
    }

    /// Takes over what a component answered. An answer of an earlier run does not count.
    pub(crate) fn answered(&mut self, name: &ComponentName, run: Run, answer: Answer) {
        let Some(component) = self.components.get_mut(name).filter(|component| component.run == run) else {
            return;
        };
        component.is_confirming = false;
        match answer {
            Answer::Described(description, problems, servers) => {
                // It is another under the same name: what was begun with the one before is lost.
                if component.description.as_deref().is_some_and(|before| *before != description) {
                    self.runs += 1;
                    component.run = Run(self.runs);
                }
                component.description = Some(Arc::new(description));
                component.servers = servers;
                component.problems = problems;
                // A heartbeat that has stopped meanwhile is seen again at the next look.
                component.state = ComponentState::Ready;
            }
            Answer::Unusable(problem) => {
                component.problems = vec![problem];
                component.state = ComponentState::Undescribed;
            }
        }
    }

    /// Whether those who would get a call now are those who have described it.
    pub(crate) fn is_described_by(&self, name: &ComponentName, run: Run, servers: &Servers) -> bool {
        let of_run = |component: &&Component| component.run == run && component.description.is_some();
        self.components.get(name).filter(of_run).is_some_and(|component| component.servers == *servers)
    }

    /// The component is to be asked anew what it can do. None where it is being asked already.
    pub(crate) fn confirm(&mut self, name: &ComponentName) -> Option<Run> {
        let component = self.components.get_mut(name)?;
        if component.state == ComponentState::Describing || component.is_confirming {
            return None;
        }
        component.is_confirming = true;
        Some(component.run)
    }

    /// Takes over whose heartbeat has stopped; the others are heard, or were never.
    pub(crate) fn heard(&mut self, silent: &BTreeSet<ComponentName>) -> Vec<(ComponentName, ComponentState)> {
        let mut changed = Vec::new();
        for (name, component) in &mut self.components {
            let state = match (component.state, silent.contains(name)) {
                (ComponentState::Ready, true) => ComponentState::Silent,
                (ComponentState::Silent, false) => ComponentState::Ready,
                (state, _) => state,
            };
            if state != component.state {
                component.state = state;
                changed.push((name.clone(), state));
            }
        }
        changed
    }

    /// What a tool's name stands for, whether or not it can be called now.
    pub(crate) fn find(&self, tool: &ToolName) -> Option<Found<'_>> {
        let (component, method) = tool.as_str().rsplit_once('.')?;
        let (name, component) = self.components.get_key_value(&ComponentName::from(component))?;
        let methods = component.description.as_deref().map(|description| description.methods.as_slice());
        let method = methods.unwrap_or_default().iter().find(|candidate| candidate.name == method);
        Some(Found { name, state: component.state, run: component.run, method })
    }
}

/// What a tool's name stands for.
#[derive(Debug)]
pub(crate) struct Found<'directory> {
    pub(crate) name: &'directory ComponentName,
    pub(crate) state: ComponentState,
    pub(crate) run: Run,
    /// None while its component has not described it.
    pub(crate) method: Option<&'directory MethodDescription>,
}

/// The component's name: the node's without the leading slash.
pub(crate) fn component_name(node: &str) -> ComponentName {
    ComponentName::new(node.trim_start_matches('/'))
}

/// The fully qualified name of a service or topic below a component's node.
pub(crate) fn below(component: &ComponentName, name: &str) -> String {
    format!("/{component}/{name}")
}

fn is_component(node: &GraphNode) -> bool {
    [DESCRIBE, EXECUTE_METHOD].iter().all(|(name, service_type)| node.offers(name, service_type))
}

#[cfg(test)]
mod tests;
