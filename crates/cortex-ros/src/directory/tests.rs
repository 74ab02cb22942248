use serde_json::json;

use super::*;
use crate::graph::{Interface, NodeRole};

fn component_node(name: &str, instances: &[u8]) -> GraphNode {
    let service = |(below, service_type): (&str, &str)| Interface {
        name: format!("{name}/{below}"),
        types: vec![service_type.to_owned()],
    };
    let mut node = GraphNode::new(name.to_owned(), NodeRole::Robot).with_interfaces(
        vec![service(DESCRIBE), service(EXECUTE_METHOD)],
        vec![],
        vec![],
    );
    node.instances = instances.iter().map(|byte| InstanceId::new(&[*byte])).collect();
    node
}

fn description(method: &str) -> Answer {
    let text = json!({"contract": 1, "methods": [{"name": method, "description": "Does it."}]}).to_string();
    let (description, _) = ComponentDescription::parse(&text).unwrap();
    Answer::Described(description, vec![])
}

fn tool_names(directory: &Directory) -> Vec<String> {
    directory.tools().iter().map(|tool| tool.name.to_string()).collect()
}

fn ready(nodes: &[GraphNode], method: &str) -> Directory {
    let mut directory = Directory::default();
    for task in directory.follow(&Graph::new(nodes.to_vec())) {
        if let Task::Describe(name, run) = task {
            directory.answered(&name, run, description(method));
        }
    }
    directory
}

#[test]
fn a_component_is_described_when_it_comes_and_forgotten_when_it_goes() {
    let mut directory = Directory::default();
    let stranger = GraphNode::new("/stranger".to_owned(), NodeRole::Robot);
    let graph = Graph::new([component_node("/arm/gripper", &[1]), stranger]);
    assert_eq!(directory.follow(&graph), [Task::Describe("arm/gripper".into(), Run(1))]);
    assert!(directory.is_describing());
    assert_eq!(tool_names(&directory), Vec::<String>::new());

    directory.answered(&"arm/gripper".into(), Run(1), description("close"));
    assert!(!directory.is_describing());
    assert_eq!(tool_names(&directory), ["arm/gripper.close"]);
    assert_eq!(directory.follow(&graph), []);
    assert_eq!(directory.loss(&"arm/gripper".into(), Run(1)), None);

    assert_eq!(directory.follow(&Graph::default()), [Task::Forget("arm/gripper".into())]);
    assert_eq!(tool_names(&directory), Vec::<String>::new());
    assert_eq!(directory.loss(&"arm/gripper".into(), Run(1)), Some(Loss::Left));
}

#[test]
fn a_component_that_was_started_anew_is_described_again_even_if_it_never_seemed_gone() {
    let mut directory = ready(&[component_node("/base", &[1])], "go");
    // The dead one is still listed until its lease ends.
    let both = Graph::new([component_node("/base", &[1, 2])]);
    assert_eq!(directory.follow(&both), [Task::Describe("base".into(), Run(2))]);
    assert_eq!(directory.loss(&"base".into(), Run(1)), Some(Loss::Restarted));
    directory.answered(&"base".into(), Run(1), description("old"));
    assert_eq!(tool_names(&directory), Vec::<String>::new());
    directory.answered(&"base".into(), Run(2), description("new"));
    assert_eq!(tool_names(&directory), ["base.new"]);
    // Only the dead one goes.
    assert_eq!(directory.follow(&Graph::new([component_node("/base", &[2])])), []);
    assert_eq!(tool_names(&directory), ["base.new"]);
}

#[test]
fn an_identity_that_becomes_known_late_is_no_restart() {
    let mut directory = ready(&[component_node("/base", &[])], "go");
    assert_eq!(directory.follow(&Graph::new([component_node("/base", &[1])])), []);
    assert_eq!(directory.follow(&Graph::new([component_node("/base", &[])])), []);
    assert_eq!(tool_names(&directory), ["base.go"]);
}

#[test]
fn what_a_silent_component_offers_is_withdrawn_until_it_is_heard_again() {
    let mut directory = ready(&[component_node("/base", &[1]), component_node("/light", &[2])], "go");
    let silent = BTreeSet::from([ComponentName::from("base")]);
    assert_eq!(directory.heard(&silent), [("base".into(), ComponentState::Silent)]);
    assert_eq!(directory.heard(&silent), []);
    assert_eq!(tool_names(&directory), ["light.go"]);
    assert_eq!(directory.loss(&"base".into(), Run(1)), Some(Loss::Silent));
    assert_eq!(directory.heard(&BTreeSet::new()), [("base".into(), ComponentState::Ready)]);
    assert_eq!(tool_names(&directory), ["base.go", "light.go"]);
}

#[test]
fn a_component_that_can_not_be_understood_offers_nothing_and_the_reason_is_kept() {
    let mut directory = Directory::default();
    directory.follow(&Graph::new([component_node("/base", &[1])]));
    directory.answered(&"base".into(), Run(1), Answer::Unusable("it talks nonsense".to_owned()));
    let component = directory.component(&"base".into()).unwrap();
    assert_eq!(
        (component.state, component.problems.as_slice()),
        (ComponentState::Undescribed, ["it talks nonsense".to_owned()].as_slice())
    );
    assert!(directory.find(&"base.go".into()).unwrap().method.is_none());
    // It was slow, not stupid.
    directory.answered(&"base".into(), Run(1), description("go"));
    assert_eq!(directory.component(&"base".into()).unwrap().problems, Vec::<String>::new());
    assert_eq!(tool_names(&directory), ["base.go"]);
}

#[test]
fn a_graph_that_invents_components_is_followed_only_so_far() {
    let invented = (0..2 * MOST_COMPONENTS).map(|number| component_node(&format!("/c{number}"), &[1]));
    let mut directory = Directory::default();
    assert_eq!(directory.follow(&Graph::new(invented)).len(), MOST_COMPONENTS);
}

#[test]
fn a_tool_is_found_by_its_last_dot_and_strange_names_find_nothing() {
    let directory = ready(&[component_node("/arm/gripper", &[1])], "close");
    let found = directory.find(&"arm/gripper.close".into()).unwrap();
    assert_eq!((found.name.as_str(), found.state, found.run), ("arm/gripper", ComponentState::Ready, Run(1)));
    assert_eq!(found.method.map(|method| method.name.as_str()), Some("close"));
    for strange in ["", ".", "close", "gripper.close", "arm.gripper.close", "arm/gripper."] {
        let found = directory.find(&strange.into());
        assert!(found.is_none_or(|found| found.method.is_none()), "{strange}");
    }
}
