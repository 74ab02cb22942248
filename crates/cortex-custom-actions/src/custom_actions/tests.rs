use cortex_core::Unobserved;
use cortex_protocol::ToolFingerprint;

use super::*;

const RECIPE: &str = r#"
recipe = 1
[components.base]
start = "external"
[actions.stand]
method = { component = "base", name = "halt" }
[actions.dock]
method = { component = "base", name = "go_to", arguments = { place = "dock" } }
[actions.dock.tool]
description = "Drives to the dock."
effect = "act"
[actions.greet]
command = { program = "true" }
[actions.siren]
topic = { name = "/siren", type = "std_msgs/msg/Bool", message = { data = true } }
"#;

/// A robot that notes what it is called for, and told to halt, and what of an earlier life it is told to end.
#[derive(Default)]
struct Base {
    called: Mutex<Vec<ToolName>>,
    halted: Mutex<Vec<ToolName>>,
    ended: Mutex<Vec<ToolName>>,
}

#[async_trait]
impl ToolProvider for Base {
    fn label(&self) -> String {
        "base".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        self.called.lock().unwrap().push(invocation.call.tool);
        ToolOutcome::success(Value::Null)
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        self.halted.lock().unwrap().push(invocation.call.tool.clone());
        HaltState::Halted
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        self.ended.lock().unwrap().push(invocation.call.tool.clone());
        HaltState::Halted
    }
}

struct NoActions;

#[async_trait]
impl RobotActions for NoActions {
    async fn carry_out(
        &self,
        _kind: &ActionKind,
        _effect: Effect,
        _limit: Duration,
        _decision: &SendDecision,
    ) -> Result<Value, ActionError> {
        Err(ActionError::Failed("nobody does it".to_owned()))
    }
}

fn method(name: &str, effect: Effect, resources: &[&str]) -> ToolSpec {
    ToolSpec::new(ToolName::of_method(&"base".into(), name), name.to_owned())
        .with_parameters(json!({"type": "object"}))
        .with_phase(ToolPhase::Execution)
        .with_effect(effect)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_resources(resources.iter().map(|name| (*name).into()).collect())
        .with_timeout(Duration::from_secs(1))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
        .with_component(Some("base".into()))
}

/// The same of another component.
fn of(component: &str, spec: ToolSpec) -> ToolSpec {
    let name = ToolName::of_method(&component.into(), spec.name.as_str().rsplit('.').next().unwrap_or_default());
    spec.with_name(name).with_component(Some(component.into()))
}

fn actions() -> (CustomActions, Arc<Base>) {
    actions_of(&Recipe::read(RECIPE).unwrap())
}

fn actions_of(recipe: &Recipe) -> (CustomActions, Arc<Base>) {
    let known = vec![method("halt", Effect::Act, &[]), method("go_to", Effect::Move, &["base"])];
    actions_on(recipe, known)
}

/// The same on a robot that offers these tools.
fn actions_on(recipe: &Recipe, known: Vec<ToolSpec>) -> (CustomActions, Arc<Base>) {
    let base = Arc::new(Base::default());
    let (_, tools) = watch::channel(Arc::new(known));
    let parts =
        Parts { actions: Arc::new(NoActions), commands: None, robot: base.clone(), tools, gate: Gate::default() };
    (CustomActions::of(recipe, PathBuf::new(), parts, CallBounds::default(), StopLatch::default()), base)
}

fn invocation(tool: &str) -> Invocation {
    Invocation {
        mission: "mission".into(),
        id: CallId(1),
        call: ToolCall { tool: tool.into(), arguments: Map::new() },
        fingerprint: ToolFingerprint(0),
        timeout: Duration::from_secs(1),
    }
}

#[test]
fn an_action_moves_and_holds_what_its_method_says_and_more_where_the_recipe_says_so() {
    let Offered { to_models, to_events } = actions().0.offered();
    let told = |specs: &[ToolSpec]| -> Vec<(String, Effect, Vec<String>)> {
        let held = |spec: &ToolSpec| spec.resources.iter().map(ToString::to_string).collect();
        specs.iter().map(|spec| (spec.name.to_string(), spec.effect, held(spec))).collect()
    };
    let held = |name: &str| vec![name.to_owned()];
    assert_eq!(told(&to_models), [("dock".to_owned(), Effect::Move, held("base"))]);
    assert_eq!(
        told(&to_events),
        [
            ("greet".to_owned(), Effect::Move, held("greet")),
            ("siren".to_owned(), Effect::Move, held("siren")),
            ("stand".to_owned(), Effect::Act, vec![]),
        ],
        "a halt holds nothing"
    );
}

#[tokio::test]
async fn what_an_action_of_an_earlier_life_has_begun_is_ended_by_who_does_it() {
    let (actions, base) = actions();
    assert_eq!(actions.end_earlier(&invocation("dock")).await, HaltState::Halted);
    assert_eq!(*base.ended.lock().unwrap(), ["base.go_to".into()]);
    assert_eq!(actions.end_earlier(&invocation("greet")).await, HaltState::AtRest, "the guard has ended it");
    assert_eq!(actions.end_earlier(&invocation("siren")).await, HaltState::Unconfirmed);
    assert_eq!(actions.end_earlier(&invocation("unknown")).await, HaltState::Unconfirmed);
    let changed = actions.invoke(invocation("dock"), Arc::new(Unobserved)).await;
    assert_eq!(changed.status, cortex_protocol::OutcomeStatus::Failed(FailureKind::Changed));
}

const BESIDE_ITS_TOOLS: &str = r#"
recipe = 1
[components.base]
start = "external"
[actions.dock]
service = { name = "/base/dock", type = "std_srvs/srv/Trigger" }
[actions.dock.tool]
description = "Docks."
[actions.beep]
topic = { name = "/base/beep", type = "std_msgs/msg/Bool" }
[actions.reset]
component = "base"
command = { program = "true" }
[actions.power_off]
component = ""
service = { name = "/base/power_off", type = "std_srvs/srv/Trigger" }
[actions.siren]
topic = { name = "/siren", type = "std_msgs/msg/Bool" }
"#;

#[tokio::test]
async fn a_component_in_quarantine_is_not_reached_by_its_services_and_topics() {
    let recipe = Recipe::read(BESIDE_ITS_TOOLS).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
    let (actions, _) = actions_of(&recipe);
    let (actions, gate) = (Arc::new(actions), Gate::default());
    gate.withhold(cortex_supervisor::RobotView::new(&recipe).refusals());
    let Offered { to_models, to_events } = actions.offered();
    let specs: Vec<ToolSpec> = to_models.into_iter().chain(to_events).collect();

    let mut availability = cortex_core::Availability::default();
    availability.quarantine("base".into(), "it crashed");
    let (tools, _) = cortex_core::ToolSet::new(specs.clone());
    let available = availability.available(&tools, &cortex_core::RemovedTools::default());
    let kept: Vec<&str> = available.kept_back.keys().map(ToolName::as_str).collect();
    assert_eq!(kept, ["beep", "dock", "reset"], "nobody has the others, of which one is said to be nobody's");

    // What slipped in between is refused where it would be sent: the base is not up.
    for (name, reaches_it) in [("dock", true), ("beep", true), ("reset", true), ("power_off", false), ("siren", false)]
    {
        let spec = specs.iter().find(|spec| spec.name.as_str() == name).unwrap();
        let call = Invocation { fingerprint: spec.fingerprint(), ..invocation(name) };
        let outcome = gate.guard(spec.clone(), actions.clone()).invoke(call, Arc::new(Unobserved)).await;
        assert_eq!(outcome.message == "'base' is not up yet", reaches_it, "{name}: {}", outcome.message);
    }
}

const REPLACED: &str = r#"
recipe = 1
[components.base]
start = "external"
standby = "crawler"
[components.crawler]
start = "external"
[actions.dock]
method = { component = "base", name = "go_to", arguments = { place = "dock" } }
[actions.guide]
method = { component = "base", name = "go_to", arguments = { place = "{place}" } }
[actions.guide.tool]
description = "Guides somebody."
parameters = { place = { type = "string" } }
[actions.beep]
topic = { name = "/base/beep", type = "std_msgs/msg/Bool" }
"#;

/// A robot with a base that drives to its dock, and a crawler that drives to these places.
fn robot_with_crawler(places: &[&str]) -> Vec<ToolSpec> {
    let to = |places: &[&str]| json!({"type": "object", "properties": {"place": {"enum": places}}});
    let drives = |places: &[&str]| method("go_to", Effect::Move, &["wheels"]).with_parameters(to(places));
    vec![drives(&["dock", "hall"]), of("crawler", drives(places).with_resources(vec!["tracks".into()]))]
}

fn offered(actions: &CustomActions) -> Vec<ToolSpec> {
    let Offered { to_models, to_events } = actions.offered();
    to_models.into_iter().chain(to_events).collect()
}

fn named<'a>(specs: &'a [ToolSpec], name: &str) -> Option<&'a ToolSpec> {
    specs.iter().find(|spec| spec.name.as_str() == name)
}

#[tokio::test]
async fn an_action_is_done_by_the_standby_of_its_component_under_the_name_of_who_does_it() {
    let recipe = Recipe::read(REPLACED).unwrap();
    let (actions, robot) = actions_on(&recipe, robot_with_crawler(&["dock"]));
    let specs = offered(&actions);
    let dock = named(&specs, "dock").unwrap();
    let by_crawler = named(&specs, "crawler:dock").unwrap();
    assert_eq!(
        (dock.component.as_ref(), by_crawler.component.as_ref()),
        (Some(&"base".into()), Some(&"crawler".into()))
    );
    assert_eq!((&dock.serves, &by_crawler.serves), (&None, &Some("dock".into())));
    assert_eq!((&dock.resources, &by_crawler.resources), (&vec!["wheels".into()], &vec!["tracks".into()]));
    assert!(named(&specs, "crawler:beep").is_none(), "nobody can say which topic would be like it");

    let call = Invocation { fingerprint: by_crawler.fingerprint(), ..invocation("crawler:dock") };
    assert!(actions.invoke(call.clone(), Arc::new(Unobserved)).await.is_success());
    assert_eq!(*robot.called.lock().unwrap(), ["crawler.go_to".into()]);
    assert_eq!(actions.halt(&call).await, HaltState::Halted);
    assert_eq!(*robot.halted.lock().unwrap(), ["crawler.go_to".into()]);
    assert_eq!(actions.end_earlier(&call).await, HaltState::Halted);
    assert_eq!(*robot.ended.lock().unwrap(), ["crawler.go_to".into()], "in a later life, too");
}

#[tokio::test]
async fn what_the_standby_does_not_take_is_not_done_in_another_way() {
    let recipe = Recipe::read(REPLACED).unwrap();
    let (actions, robot) = actions_on(&recipe, robot_with_crawler(&["hall"]));
    let specs = offered(&actions);
    assert!(named(&specs, "crawler:dock").is_none(), "it does not know that place");
    // What it is told is known with each call only.
    let guide = named(&specs, "crawler:guide").unwrap();
    let mut call = Invocation { fingerprint: guide.fingerprint(), ..invocation("crawler:guide") };
    call.call.arguments.insert("place".to_owned(), "dock".into());
    let refused = actions.invoke(call, Arc::new(Unobserved)).await;
    assert!(refused.message.starts_with("crawler.go_to does not take that: place: "), "{}", refused.message);
    assert_eq!(*robot.called.lock().unwrap(), []);
}

#[test]
fn an_action_of_a_component_that_has_left_is_still_there_for_its_standby() {
    let recipe = Recipe::read(REPLACED).unwrap();
    let both = robot_with_crawler(&["dock"]);
    let all = offered(&actions_on(&recipe, both.clone()).0);
    let left = offered(&actions_on(&recipe, both[1..].to_vec()).0);
    for name in ["dock", "guide"] {
        let (before, now) = (named(&all, name).unwrap(), named(&left, name).unwrap());
        assert_eq!(now.fingerprint(), before.fingerprint(), "a plan that was made for it stands");
        assert_eq!(now.component, Some("base".into()));
    }
    let alone = offered(&actions_on(&recipe, both[..1].to_vec()).0);
    assert!(named(&alone, "dock").is_some() && named(&alone, "crawler:dock").is_none());
    assert!(named(&offered(&actions_on(&recipe, Vec::new()).0), "dock").is_none());
}

/// Waits for somebody who reads the topic, for ever; or has sent its message, and waits for the answer for ever.
struct Waits {
    has_sent: bool,
}

#[async_trait]
impl RobotActions for Waits {
    async fn carry_out(
        &self,
        _kind: &ActionKind,
        _effect: Effect,
        _limit: Duration,
        decision: &SendDecision,
    ) -> Result<Value, ActionError> {
        if self.has_sent {
            decision.note_sent();
        }
        std::future::pending().await
    }
}

/// It was timed out, could not say that it is at rest, and the robot refused every task.
#[tokio::test]
async fn regression_what_was_never_sent_was_not_known_to_be_at_rest() {
    for (has_sent, rest) in [(false, HaltState::AtRest), (true, HaltState::Unconfirmed)] {
        let recipe = Recipe::read(RECIPE).unwrap();
        let (_, tools) = watch::channel(Arc::default());
        let robot = Arc::new(Base::default());
        let parts =
            Parts { actions: Arc::new(Waits { has_sent }), commands: None, robot, tools, gate: Gate::default() };
        let actions = CustomActions::of(&recipe, PathBuf::new(), parts, CallBounds::default(), StopLatch::default());
        let specs = offered(&actions);
        let siren = named(&specs, "siren").unwrap().clone();
        let timeout = Duration::from_millis(20);
        let call = Invocation { fingerprint: siren.fingerprint(), timeout, ..invocation("siren") };
        let (actions, observer) = (Arc::new(actions), Arc::new(Unobserved));
        let bounds = CallBounds::default();
        let outcome = run_call(actions, siren, call, observer, CancellationToken::new(), bounds).await;
        assert_eq!(outcome.halt, rest, "{outcome:?}");
    }
}
