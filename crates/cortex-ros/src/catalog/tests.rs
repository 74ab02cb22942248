use std::sync::Arc;

use cortex_protocol::{CancelMode, Dispatch, ToolPhase};
use cortex_ros_client::graph::{GraphNode, Interface, NodeRole};
use serde_json::json;

use super::*;
use cortex_discovery_policy::PolicySettings;

const TRIGGER: &str = "std_srvs/srv/Trigger";

fn interface(name: &str, type_name: &str) -> Interface {
    Interface { name: name.to_owned(), types: vec![type_name.to_owned()] }
}

fn node(name: &str, services: &[(&str, &str)]) -> GraphNode {
    let services = services.iter().map(|(name, type_name)| interface(name, type_name)).collect();
    GraphNode::new(name.to_owned(), NodeRole::Robot).with_interfaces(services, vec![], vec![])
}

fn policy(change: impl FnOnce(&mut PolicySettings)) -> Policy {
    let mut settings = PolicySettings::default();
    change(&mut settings);
    Policy::new(&settings).unwrap()
}

fn ready() -> TypeState {
    TypeState::Ready(Arc::new(TypeForm {
        description: "What the file says.".to_owned(),
        schema: json!({"type": "object"}),
        left_out: vec!["image.data: binary data".to_owned()],
        answer: "success (bool)".to_owned(),
    }))
}

/// A catalog in which every type is ready.
fn catalog(graph: &Graph, policy: &Policy) -> Catalog {
    let types = types_of(graph, policy).into_iter().map(|key| (key, ready())).collect();
    with_types(graph, policy, &types)
}

fn with_types(graph: &Graph, policy: &Policy, types: &Types) -> Catalog {
    let offers = Catalog::offers(graph, policy);
    Catalog::new(&offers, Catalog::published(graph, policy), policy, types, &Definitions::default())
}

fn types_of(graph: &Graph, policy: &Policy) -> BTreeSet<TypeKey> {
    Catalog::types_of(&Catalog::offers(graph, policy), policy)
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.tools().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn services_and_actions_become_tools_and_what_belongs_to_ros_does_not() {
    let graph = Graph::new([
        node(
            "/arm/gripper",
            &[
                ("/arm/gripper/open", TRIGGER),
                ("/arm/gripper/get_parameters", "rcl_interfaces/srv/GetParameters"),
                ("/arm/gripper/set_logger_levels", "rcl_interfaces/srv/SetLoggerLevels"),
                ("/arm/gripper/get_type_description", "type_description_interfaces/srv/GetTypeDescription"),
                ("/arm/gripper/change_state", "lifecycle_msgs/srv/ChangeState"),
                ("/arm/gripper/describe", "cortex_msgs/srv/DescribeComponent"),
                ("/arm/gripper/execute_method", "cortex_msgs/srv/ExecuteMethod"),
                ("/arm/gripper/answer", "cortex_msgs/srv/AnswerQuestion"),
                ("/arm/_internal/reset", TRIGGER),
            ],
        ),
        node(
            "/nav",
            &[
                ("/navigate_to_pose/_action/send_goal", "nav2_msgs/action/NavigateToPose_SendGoal"),
                ("/navigate_to_pose/_action/get_result", "nav2_msgs/action/NavigateToPose_GetResult"),
                ("/navigate_to_pose/_action/cancel_goal", "action_msgs/srv/CancelGoal"),
            ],
        ),
        node(
            "/cortex",
            &[
                ("/cortex/task/_action/send_goal", "cortex_msgs/action/VisionLanguageAction_SendGoal"),
                ("/cortex/stop", TRIGGER),
            ],
        ),
    ]);
    let catalog = catalog(&graph, &Policy::default());
    assert_eq!(names(&catalog), ["send_goal_to_navigate_to_pose", "send_request_to_arm/gripper/open"]);
    assert_eq!(catalog.uncallable(), []);

    let goal = catalog.entry(&"send_goal_to_navigate_to_pose".into()).unwrap();
    assert_eq!((goal.kind, goal.name.as_str()), (OfferKind::Action, "/navigate_to_pose"));
    assert_eq!(goal.type_name, "nav2_msgs/action/NavigateToPose");
    assert_eq!(
        (goal.spec.dispatch, goal.spec.cancel, goal.spec.effect),
        (Dispatch::Background, CancelMode::Halt, Effect::Move)
    );
    assert_eq!(goal.spec.resources, vec!["base".into()]);

    let request = &catalog.entry(&"send_request_to_arm/gripper/open".into()).unwrap().spec;
    assert_eq!(
        (request.dispatch, request.cancel, request.phase),
        (Dispatch::Wait, CancelMode::Halt, ToolPhase::Execution)
    );
    assert_eq!(
        request.description,
        "Sends a request to the service /arm/gripper/open of arm/gripper (std_srvs/srv/Trigger).\nWhat the file \
         says.\nReturns: success (bool).\nCan't be given, and stays empty: image.data: binary data."
    );
    assert_eq!(catalog.tool_for("/arm/gripper/open", OfferKind::Service), Some(&request.name));
    assert_eq!(catalog.tool_for("/arm/gripper/open", OfferKind::Action), None);
}

#[test]
fn what_may_move_holds_itself_and_who_offers_it() {
    let graph = Graph::new([
        node("/base", &[("/base/turn", TRIGGER), ("/dance", TRIGGER), ("/map", "nav_msgs/srv/GetMap")]),
        node("/shop/arm", &[("/dance", TRIGGER), ("/shop/arm/wave", TRIGGER)]),
        node("/light", &[("/light/on", TRIGGER)]),
    ]);
    let catalog = catalog(
        &graph,
        &policy(|settings| {
            settings.effects = BTreeMap::from([("/base/turn".to_owned(), Effect::Act)]);
            settings.resources = BTreeMap::from([
                ("/shop/arm/*".to_owned(), vec!["table".into()]),
                ("/light/on".to_owned(), Vec::new()),
            ]);
        }),
    );
    let held = |tool: &str| {
        let spec = &catalog.entry(&tool.into()).unwrap().spec;
        spec.resources.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // As the methods of a component 'base' do.
    assert_eq!(held("send_request_to_base/turn"), ["base", "base/turn"]);
    assert_eq!(held("send_request_to_dance"), ["base", "dance", "shop/arm"]);
    assert_eq!(held("send_request_to_map"), Vec::<String>::new());
    assert_eq!(held("send_request_to_shop/arm/wave"), ["table"]);
    assert_eq!(held("send_request_to_light/on"), Vec::<String>::new());
}

#[test]
fn what_only_looks_may_be_called_while_planning() {
    let graph = Graph::new([node("/map_server", &[("/map", "nav_msgs/srv/GetMap"), ("/odd", TRIGGER)])]);
    let catalog = catalog(
        &graph,
        &policy(|settings| {
            settings.effects = BTreeMap::from([("/odd".to_owned(), Effect::Act)]);
        }),
    );
    let spec = |name: &str| &catalog.entry(&name.into()).unwrap().spec;
    let map = spec("send_request_to_map");
    assert_eq!((map.effect, map.phase, map.cancel), (Effect::Observe, ToolPhase::Both, CancelMode::Drop));
    let odd = spec("send_request_to_odd");
    assert_eq!((odd.effect, odd.phase), (Effect::Act, ToolPhase::Execution));
}

/// Nav2's servers have one goal at a time: a path that a model has computed while it plans ends the drive that needs one.
#[test]
fn regression_a_goal_that_only_computes_ended_that_of_a_drive() {
    let goal = |name: &str| {
        let of = |part: &str, kind: &str| (format!("/shop/{name}/_action/{part}"), format!("nav2_msgs/action/{kind}"));
        [of(
            "send_goal",
            &format!("{}_SendGoal", if name == "navigate" { "NavigateToPose" } else { "ComputePathToPose" }),
        )]
    };
    let of = |name: &str, goals: &[(String, String)]| {
        let goals: Vec<(&str, &str)> = goals.iter().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
        node(name, &goals)
    };
    let graph = Graph::new([of("/shop/bt_navigator", &goal("navigate")), of("/shop/planner_server", &goal("plan"))]);
    let spec = |catalog: &Catalog, name: &str| catalog.entry(&name.into()).unwrap().spec.clone();
    let catalog_of = |policy: &Policy| catalog(&graph, policy);
    let known = catalog_of(&Policy::default());
    let plan = spec(&known, "send_goal_to_shop/plan");
    assert_eq!((plan.effect, plan.phase), (Effect::Act, ToolPhase::Execution), "it is no research");
    assert_eq!(plan.resources, vec!["shop/base".into()]);
    assert_eq!(plan.resources, spec(&known, "send_goal_to_shop/navigate").resources, "one waits for the other");
    // Whoever runs the robot may know better, and it still waits.
    let declared = catalog_of(&policy(|settings| {
        settings.effects = BTreeMap::from([("/shop/plan".to_owned(), Effect::Observe)]);
    }));
    let plan = spec(&declared, "send_goal_to_shop/plan");
    assert_eq!((plan.effect, plan.phase), (Effect::Observe, ToolPhase::Both));
    assert_eq!(plan.resources, vec!["shop/base".into()]);
}

#[test]
fn regression_two_goals_of_a_server_that_is_declared_to_look_ran_at_once() {
    let count = ("/lamp/count/_action/send_goal", "test_msgs/action/Fibonacci_SendGoal");
    let graph = Graph::new([node("/lamp", &[count, ("/lamp/look", TRIGGER)])]);
    let look = |settings: &mut PolicySettings| {
        settings.effects = BTreeMap::from([("/lamp/*".to_owned(), Effect::Observe)]);
    };
    let held = |catalog: &Catalog, tool: &str| catalog.entry(&tool.into()).unwrap().spec.resources.clone();
    let declared = catalog(&graph, &policy(look));
    assert_eq!(held(&declared, "send_goal_to_lamp/count"), vec!["lamp".into(), "lamp/count".into()]);
    assert_eq!(held(&declared, "send_request_to_lamp/look"), vec![], "a service answers as many as ask");
    let nothing = catalog(
        &graph,
        &policy(|settings| {
            look(settings);
            settings.resources = BTreeMap::from([("/lamp/count".to_owned(), Vec::new())]);
        }),
    );
    assert_eq!(held(&nothing, "send_goal_to_lamp/count"), vec![], "a server that takes many goals");
}

#[test]
fn what_is_denied_is_named_nowhere_and_what_its_node_alone_offers_is_left_out() {
    let graph = Graph::new([
        node("/wifi", &[("/wifi/reset", TRIGGER), ("/connect", TRIGGER), ("/dance", TRIGGER)]),
        node("/base", &[("/dance", TRIGGER)]),
    ]);
    let catalog = catalog(&graph, &policy(|settings| settings.deny = vec!["/wifi/**".to_owned()]));
    assert_eq!(names(&catalog), ["send_request_to_dance"]);
    let dance = &catalog.entry(&"send_request_to_dance".into()).unwrap().spec;
    assert!(!serde_json::to_string(dance).unwrap().contains("wifi"), "{dance:?}");
    assert_eq!((dance.component.as_ref(), dance.resources.len()), (None, 3), "it holds the node that is left out, too");
    assert_eq!(
        catalog.reason_for("/connect", OfferKind::Service),
        Some("the node /wifi, which offers it, is left out: discovery.deny has '/wifi/**'")
    );
}

#[test]
fn what_the_configuration_does_not_declare_and_no_type_tells_is_assumed() {
    let graph = Graph::new([node(
        "/door",
        &[
            ("/door/open", TRIGGER),
            ("/door/lock", TRIGGER),
            ("/map", "nav_msgs/srv/GetMap"),
            ("/set_map", "nav_msgs/srv/SetMap"),
        ],
    )]);
    let declared = policy(|settings| settings.effects = BTreeMap::from([("/door/lock".to_owned(), Effect::Move)]));
    let catalog = catalog(&graph, &declared);
    let source = |name: &str| {
        let spec = &catalog.entry(&name.into()).unwrap().spec;
        (spec.effect, spec.effect_source)
    };
    assert_eq!(source("send_request_to_door/open"), (Effect::Move, EffectSource::Assumed));
    assert_eq!(source("send_request_to_door/lock"), (Effect::Move, EffectSource::Declared));
    assert_eq!(source("send_request_to_map"), (Effect::Observe, EffectSource::WellKnown));
    assert_eq!(source("send_request_to_set_map"), (Effect::Act, EffectSource::TypeOnly), "nothing halts a request");
}

#[test]
fn what_can_not_be_called_is_listed_with_its_reason() {
    let graph = Graph::new([
        node("/a", &[("/both", TRIGGER), ("/denied/x", TRIGGER), ("/missing", "vendor_msgs/srv/Secret")]),
        node("/b", &[("/both", "std_srvs/srv/SetBool"), ("/loading", "vendor_msgs/srv/Slow")]),
    ]);
    let policy = policy(|settings| settings.deny = vec!["/denied/**".to_owned()]);
    let mut types = Types::from([((OfferKind::Service, TRIGGER.to_owned()), ready())]);
    let missing = TypeState::Unusable("the package vendor_msgs is not installed".to_owned());
    types.insert((OfferKind::Service, "vendor_msgs/srv/Secret".to_owned()), missing);
    let catalog = with_types(&graph, &policy, &types);
    let told: Vec<(&str, &str)> =
        catalog.uncallable().iter().map(|uncallable| (uncallable.name.as_str(), uncallable.reason.as_str())).collect();
    assert_eq!(
        told,
        [
            (
                "/both",
                "it is offered with several types (std_srvs/srv/SetBool, std_srvs/srv/Trigger), so it is not sure who would \
             answer; give one of them another name"
            ),
            ("/denied/x", "discovery.deny has '/denied/**'"),
            ("/missing", "the package vendor_msgs is not installed"),
        ]
    );
    assert_eq!(names(&catalog), Vec::<&str>::new());
    assert_eq!(catalog.reason_for("/missing", OfferKind::Service), Some("the package vendor_msgs is not installed"));
}

#[test]
fn what_is_denied_or_ambiguous_is_not_even_loaded() {
    let graph = Graph::new([
        node("/a", &[("/both", TRIGGER), ("/denied", "vendor_msgs/srv/Secret"), ("/plain", TRIGGER)]),
        node("/b", &[("/both", "std_srvs/srv/SetBool")]),
    ]);
    let policy = policy(|settings| settings.deny = vec!["/denied".to_owned()]);
    assert_eq!(types_of(&graph, &policy), BTreeSet::from([(OfferKind::Service, TRIGGER.to_owned())]));
}

#[test]
fn a_renamed_service_keeps_its_name_whoever_comes() {
    let policy = policy(|settings| {
        settings.rename = BTreeMap::from([("/z/dock_now".to_owned(), "dock".to_owned())]);
    });
    let natural = node("/a", &[("/dock", TRIGGER)]);
    let renamed = node("/z", &[("/z/dock_now", TRIGGER)]);
    let called = |catalog: &Catalog| catalog.entry(&"send_request_to_dock".into()).map(|entry| entry.name.clone());
    let both = catalog(&Graph::new([natural.clone(), renamed.clone()]), &policy);
    assert_eq!(called(&both).as_deref(), Some("/z/dock_now"));
    assert!(both.uncallable()[0].reason.contains("discovery.rename"), "{:?}", both.uncallable());
    assert_eq!(called(&catalog(&Graph::new([renamed]), &policy)).as_deref(), Some("/z/dock_now"));
    assert_eq!(called(&catalog(&Graph::new([natural]), &policy)), None);
}

#[test]
fn a_topic_is_published_only_where_the_configuration_says_so() {
    let reader = GraphNode::new("/base".to_owned(), NodeRole::Robot).with_interfaces(
        vec![],
        vec![interface("/odom", "nav_msgs/msg/Odometry"), interface("/rosout", "rcl_interfaces/msg/Log")],
        vec![interface("/cmd_vel", "geometry_msgs/msg/Twist"), interface("/lights", "std_msgs/msg/ColorRGBA")],
    );
    let graph = Graph::new([reader]);
    assert_eq!(names(&catalog(&graph, &Policy::default())), Vec::<&str>::new());
    let catalog = catalog(&graph, &policy(|settings| settings.publish = vec!["/lights".to_owned()]));
    assert_eq!(names(&catalog), ["publish_to_lights"]);
    assert_eq!(catalog.topics().collect::<Vec<_>>(), ["/odom"]);
}

#[test]
fn servers_of_another_definition_are_not_talked_to() {
    let graph = Graph::new([node("/a", &[("/a/b", TRIGGER)])]);
    let offers = Catalog::offers(&graph, &Policy::default());
    let types = Types::from([((OfferKind::Service, TRIGGER.to_owned()), ready())]);
    let mut definitions = Definitions::default();
    definitions.want(&offers);
    let batch = definitions.next_batch().unwrap();
    definitions
        .take(batch.into_iter().map(|(key, offer)| (key, offer, Some("another definition".to_owned()))).collect());
    let catalog = Catalog::new(&offers, Offers::new(), &Policy::default(), &types, &definitions);
    assert_eq!(names(&catalog), Vec::<&str>::new());
    assert_eq!(catalog.reason_for("/a/b", OfferKind::Service), Some("another definition"));
}
