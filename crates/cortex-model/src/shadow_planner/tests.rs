use std::sync::atomic::{AtomicUsize, Ordering};

use cortex_core::mission::ORDER_FULFILLED;
use cortex_protocol::ToolPhase;
use serde_json::{Value, json};

use super::*;

/// A model that does one thing, after a while.
struct Model {
    after: Duration,
    does: Box<dyn Fn() -> Answer + Send + Sync>,
    asked: AtomicUsize,
}

impl Model {
    fn new(after: f64, does: impl Fn() -> Answer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { after: Duration::from_secs_f64(after), does: Box::new(does), asked: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl ChatModel for Model {
    fn label(&self) -> String {
        "second".to_owned()
    }

    async fn chat_streaming(&self, _: &ChatRequest, _: Arc<dyn ReplyListener>) -> Answer {
        self.asked.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(self.after).await;
        (self.does)()
    }
}

fn tool(name: &str, kind: ToolKind, parameters: &Value, phrase: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": parameters}),
        phase: if kind == ToolKind::Look { ToolPhase::Both } else { ToolPhase::Execution },
        phrases: vec![phrase.to_owned()],
        kind,
    }
}

fn request() -> ChatRequest {
    let tools = vec![
        tool("base-go_to", ToolKind::Act, &json!({"place": {"enum": ["kitchen", "bedroom"]}}), "go to {place}"),
        tool("camera-look", ToolKind::Look, &json!({}), "look around"),
        tool("speaker-say", ToolKind::Act, &json!({"text": {"type": "string"}}), "say {text}"),
        tool(ORDER_FULFILLED, ToolKind::BuiltIn, &json!({}), ""),
        tool(RECALL_STEP, ToolKind::BuiltIn, &json!({}), ""),
    ];
    let fragments = vec![Fragment::Task { text: "do it".to_owned() }];
    let messages = vec![Message::User { fragments }];
    ChatRequest { purpose: Purpose::Plan, messages, tools, temperature: 0.0, max_tokens: 100 }
}

fn calls(made: &[(&str, Value)]) -> Answer {
    let call = |(name, arguments): &(&str, Value)| ModelCall {
        id: String::new(),
        name: (*name).to_owned(),
        arguments: CallArguments::read(&arguments.to_string()),
    };
    let calls = made.iter().map(call).collect();
    Ok(ChatReply { calls, prompt_tokens: 40, completion_tokens: 4, ..ChatReply::default() })
}

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

fn down() -> Answer {
    Err(ModelError {
        kind: ModelErrorKind::Unreachable,
        message: "nobody listens there".to_owned(),
        hint: String::new(),
        retry_after: None,
    })
}

fn beside(planner: &Arc<Model>, second: &Arc<Model>) -> ShadowPlanned {
    ShadowPlanned::new(planner.clone(), second.clone(), ShadowBounds { doubts: true, ..ShadowBounds::default() })
}

/// What a second model that replies so says of the plan to go to the kitchen.
async fn said_by(second: &[(&'static str, Value)]) -> SecondVerdict {
    let second = second.to_vec();
    let (planner, second) = (Model::new(1.0, || calls(&[go("kitchen")])), Model::new(0.1, move || calls(&second)));
    let reply = beside(&planner, &second).chat(&request()).await.unwrap();
    assert_eq!(reply.calls, calls(&[go("kitchen")]).unwrap().calls, "the plan is the planner's");
    reply.second.unwrap().verdict
}

fn otherwise(told: &str) -> SecondVerdict {
    SecondVerdict::Other { told: told.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn what_the_second_model_would_do_otherwise_is_told() {
    assert_eq!(said_by(&[go("kitchen")]).await, SecondVerdict::Same);
    let spoken = ("speaker-say", json!({"text": "off I go"}));
    let looks = [("camera-look", json!({})), go("kitchen"), spoken];
    assert_eq!(said_by(&looks).await, SecondVerdict::Same, "looks and words are free");
    let place = "it would do base go to (bedroom); only the plan has: base go to (kitchen)";
    assert_eq!(said_by(&[go("bedroom")]).await, otherwise(place));
    let twice = "it would do base go to (kitchen); only the plan has: nothing";
    assert_eq!(said_by(&[go("kitchen"), go("kitchen")]).await, otherwise(twice));
    let nothing = "it would do nothing that moves; only the plan has: base go to (kitchen)";
    assert_eq!(said_by(&[]).await, otherwise(nothing));
    let declines = "it would decline the task; only the plan has: base go to (kitchen)";
    assert_eq!(said_by(&[(DECLINE_TOOL, json!({"reason": "no"}))]).await, otherwise(declines));
    assert_eq!(said_by(&[("camera-look", json!({}))]).await, SecondVerdict::NotCompared, "it looks first");
}

#[tokio::test(start_paused = true)]
async fn a_slow_second_model_delays_a_plan_by_its_bound_and_is_left_alone_then() {
    let (planner, second) =
        (Model::new(1.0, || calls(&[go("kitchen")])), Model::new(3_600.0, || calls(&[go("bedroom")])));
    let shadowed = beside(&planner, &second);
    let began = Instant::now();
    let reply = shadowed.chat(&request()).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(3), "the planner's second, and two more");
    let opinion = *reply.second.unwrap();
    assert!(matches!(opinion.verdict, SecondVerdict::NoAnswer { .. }), "{opinion:?}");
    assert_eq!((opinion.prompt_tokens, opinion.tokens_estimated), (40, true), "it has read, and that costs");
    let again = shadowed.chat(&request()).await.unwrap();
    assert_eq!((again.second, second.asked()), (None, 1));
    assert_eq!(began.elapsed(), Duration::from_secs(4), "it is not waited for again");
    tokio::time::sleep(ShadowBounds::default().pause).await;
    let _ = shadowed.chat(&request()).await.unwrap();
    assert_eq!(second.asked(), 2, "after a while it is asked again");
}

#[tokio::test(start_paused = true)]
async fn a_dead_or_broken_second_model_changes_nothing() {
    fn broken() -> Answer {
        panic!("broken")
    }
    for (second, because) in [(Model::new(0.0, down), "nobody listens there"), (Model::new(0.0, broken), "unforeseen")]
    {
        let planner = Model::new(1.0, || calls(&[go("kitchen")]));
        let began = Instant::now();
        let reply = beside(&planner, &second).chat(&request()).await.unwrap();
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        let SecondVerdict::NoAnswer { because: told } = reply.second.unwrap().verdict else { panic!("no answer") };
        assert!(told.contains(because), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn words_and_decisions_wait_for_no_second_model() {
    let planner = Model::new(1.0, || Ok(ChatReply { text: "Hello.".to_owned(), ..ChatReply::default() }));
    let second = Model::new(60.0, || calls(&[go("kitchen")]));
    let shadowed = beside(&planner, &second);
    let began = Instant::now();
    let reply = shadowed.chat(&request()).await.unwrap();
    assert_eq!(reply.second.unwrap().verdict, SecondVerdict::NotCompared);
    let confirm = ChatRequest { purpose: Purpose::Confirm, ..request() };
    assert_eq!(shadowed.chat(&confirm).await.unwrap().second, None);
    assert_eq!((began.elapsed(), second.asked()), (Duration::from_secs(2), 1));
    assert!(shadowed.chat(&request()).await.unwrap().second.is_some(), "what was given up shows nothing of it");
}

#[tokio::test(start_paused = true)]
async fn the_planners_error_is_its_own() {
    let (planner, second) = (Model::new(1.0, down), Model::new(0.0, || calls(&[go("kitchen")])));
    assert_eq!(beside(&planner, &second).chat(&request()).await, down());
}

#[tokio::test(start_paused = true)]
async fn regression_a_second_model_that_only_spoke_was_not_compared_with_a_plan_that_drives() {
    let nothing = otherwise("it would do nothing that moves; only the plan has: base go to (kitchen)");
    let spoken = ("speaker-say", json!({"text": "I stay here."}));
    assert_eq!(said_by(std::slice::from_ref(&spoken)).await, nothing);
    assert_eq!(said_by(&[("camera-look", json!({})), spoken]).await, nothing, "its plan is to speak");
    assert_eq!(said_by(&[(ORDER_FULFILLED, json!({}))]).await, nothing);
    let looks = [(RECALL_STEP, json!({"step": "1.1"})), ("camera-look", json!({}))];
    assert_eq!(said_by(&looks).await, SecondVerdict::NotCompared, "it looks first");
}

#[tokio::test(start_paused = true)]
async fn regression_a_tool_that_does_not_exist_counted_as_a_look() {
    for calls in [vec![("base-fly_to", json!({}))], vec![go("kitchen"), ("arm-wave", json!({}))]] {
        let SecondVerdict::NoAnswer { because } = said_by(&calls).await else { panic!("{calls:?} is no plan") };
        assert!(because.contains("no tool of this name"), "{because}");
    }
}

#[tokio::test(start_paused = true)]
async fn regression_a_canonical_name_was_another_act_than_the_name_on_the_wire() {
    assert_eq!(said_by(&[("base.go_to", json!({"place": "kitchen"}))]).await, SecondVerdict::Same);
    let place = "it would do base go to (bedroom); only the plan has: base go to (kitchen)";
    assert_eq!(said_by(&[("base.go_to", json!({"place": "bedroom"}))]).await, otherwise(place));
}

#[tokio::test(start_paused = true)]
async fn regression_a_reply_that_was_cut_counted_as_an_answer() {
    let cut = || calls(&[go("bedroom")]).map(|reply| ChatReply { cut: Some("cut at 100 tokens".to_owned()), ..reply });
    let (planner, second) = (Model::new(1.0, || calls(&[go("kitchen")])), Model::new(0.1, cut));
    let shadowed = beside(&planner, &second);
    let opinion = *shadowed.chat(&request()).await.unwrap().second.unwrap();
    assert_eq!((opinion.prompt_tokens, opinion.completion_tokens), (40, 4), "what it read and wrote costs");
    let SecondVerdict::NoAnswer { because } = opinion.verdict else { panic!("half a plan is none") };
    assert!(because.contains("cut at 100 tokens"), "{because}");
    assert_eq!(shadowed.chat(&request()).await.unwrap().second, None, "it is left alone for a while");
}

#[tokio::test(start_paused = true)]
async fn regression_a_second_model_that_was_not_reached_cost_the_whole_prompt() {
    let unauthorized = || down().map_err(|error| ModelError { kind: ModelErrorKind::Unauthorized, ..error });
    let failed = || down().map_err(|error| ModelError { kind: ModelErrorKind::ServerFailed, ..error });
    for (second, booked) in [
        (Model::new(0.0, down), (0, false)),
        (Model::new(0.0, unauthorized), (0, false)),
        (Model::new(0.0, failed), (40, true)),
    ] {
        let planner = Model::new(1.0, || calls(&[go("kitchen")]));
        let opinion = *beside(&planner, &second).chat(&request()).await.unwrap().second.unwrap();
        assert_eq!((opinion.prompt_tokens, opinion.tokens_estimated), booked);
    }
}

#[tokio::test(start_paused = true)]
async fn regression_a_second_model_that_asked_for_a_longer_pause_was_asked_too_early() {
    let limited = || {
        let wait = Some(Duration::from_secs(90));
        down().map_err(|error| ModelError { kind: ModelErrorKind::RateLimited, retry_after: wait, ..error })
    };
    let (planner, second) = (Model::new(1.0, || calls(&[go("kitchen")])), Model::new(0.0, limited));
    let shadowed = beside(&planner, &second);
    for asked in [1, 1, 2] {
        let _ = shadowed.chat(&request()).await.unwrap();
        assert_eq!(second.asked(), asked);
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}
