use cortex_ros_client::graph::{Interface, NodeRole};
use serde_json::json;

use super::*;

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
    Answer::Described(description, vec![], servers(&[1]))
}

fn servers(processes: &[u8]) -> Servers {
    processes.iter().map(|process| endpoint(*process, 9)).collect()
}

/// An endpoint of a process.
fn endpoint(process: u8, number: u8) -> InstanceId {
    InstanceId::new(&[[process; 12].as_slice(), &[number; 4]].concat())
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

#[test]
fn a_call_is_for_those_only_who_have_described_themselves() {
    let name = "base".into();
    let mut directory = ready(&[component_node("/base", &[1])], "go");
    let run = directory.find(&"base.go".into()).unwrap().run;
    assert!(directory.is_described_by(&name, run, &servers(&[1])));
    for others in [servers(&[1, 2]), servers(&[2]), servers(&[])] {
        assert!(!directory.is_described_by(&name, run, &others), "{others:?}");
    }
    // Asked anew once, however many ask for that, and offered meanwhile: each call waits for itself.
    assert_eq!(directory.confirm(&name), Some(run));
    assert_eq!(directory.confirm(&name), None);
    assert_eq!(tool_names(&directory), ["base.go"]);

    let described = |method: &str, by: &[u8]| match description(method) {
        Answer::Described(description, problems, _) => Answer::Described(description, problems, servers(by)),
        other @ Answer::Unusable(_) => other,
    };
    directory.answered(&name, run, described("go", &[1, 2]));
    assert!(directory.is_described_by(&name, run, &servers(&[1, 2])), "it is as the one before was");
    assert_eq!(directory.loss(&name, run), None);
    assert_eq!(directory.confirm(&name), Some(run));
    directory.answered(&name, run, described("fly", &[2]));
    assert_eq!(
        (directory.loss(&name, run), tool_names(&directory)),
        (Some(Loss::Restarted), vec!["base.fly".to_owned()])
    );
    assert!(!directory.is_described_by(&name, run, &servers(&[2])), "what was planned for the one before");
}

#[test]
fn a_run_that_has_described_itself_before_the_graph_shows_it_is_not_taken_for_a_further_one() {
    let node = |processes: &[u8]| {
        let mut node = component_node("/base", &[]);
        node.instances = processes.iter().map(|process| endpoint(*process, 1)).collect();
        node
    };
    let mut directory = Directory::default();
    let seen = |directory: &mut Directory, processes: &[u8]| directory.follow(&Graph::new([node(processes)])).len();
    assert_eq!(seen(&mut directory, &[1]), 1);
    directory.answered(&"base".into(), Run(1), description("go"));
    directory.confirm(&"base".into());
    let Answer::Described(same, problems, _) = description("go") else { unreachable!() };
    directory.answered(&"base".into(), Run(1), Answer::Described(same, problems, servers(&[1, 2])));
    assert_eq!(seen(&mut directory, &[1, 2]), 0, "it is the one that was asked");
    assert_eq!(directory.loss(&"base".into(), Run(1)), None, "what it does goes on");
    assert_eq!(seen(&mut directory, &[2, 3]), 1);
    assert_eq!(directory.loss(&"base".into(), Run(1)), Some(Loss::Restarted));
}
