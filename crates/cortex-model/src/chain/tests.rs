//! Models that die, are slow and come back, one after another.

use std::collections::VecDeque;

use cortex_core::mission::FIND_TOOLS;
use cortex_core::{Fragment, Message};

use super::*;

const PAUSE: Duration = Duration::from_secs(30);
const BOUNDS: ChainBounds =
    ChainBounds { answer_timeout: Duration::from_secs(10), request_timeout: Duration::from_secs(60), pause: PAUSE };

/// What a model does with one request.
#[derive(Clone)]
enum Does {
    Answers,
    Fails(ModelErrorKind),
    AnswersAfter(Duration),
    NeverAnswers,
}

use Does::{Answers, AnswersAfter, Fails, NeverAnswers};

const DOWN: Does = Fails(ModelErrorKind::Unreachable);

struct Named {
    label: &'static str,
    script: Mutex<VecDeque<Does>>,
    asked: Mutex<Vec<Purpose>>,
}

impl Named {
    fn new(label: &'static str, script: &[Does]) -> Arc<Self> {
        Arc::new(Self { label, script: Mutex::new(script.to_vec().into()), asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl ChatModel for Named {
    fn label(&self) -> String {
        self.label.to_owned()
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        self.asked.lock().unwrap().push(request.purpose);
        let does = self.script.lock().unwrap().pop_front().unwrap_or(Answers);
        match does {
            Answers => {}
            AnswersAfter(time) => tokio::time::sleep(time).await,
            NeverAnswers => std::future::pending().await,
            Fails(kind) => {
                let message = format!("{} is broken", self.label);
                return Err(ModelError { kind, message, hint: "Mend it.".to_owned(), retry_after: None });
            }
        }
        Ok(ChatReply { text: format!("from {}", self.label), ..ChatReply::default() })
    }
}

fn chain(models: &[&Arc<Named>], confirmation: Option<&Arc<Named>>) -> Chain {
    let models = models.iter().map(|model| Arc::clone(model) as Arc<dyn ChatModel>).collect();
    let confirmation = confirmation.map(|model| Arc::clone(model) as Arc<dyn ChatModel>);
    Chain::new(models, confirmation, Arc::default(), BOUNDS)
}

fn request(purpose: Purpose) -> ChatRequest {
    let fragments = vec![Fragment::Task { text: "say hello".to_owned() }];
    let messages = vec![Message::User { fragments }];
    ChatRequest { purpose, messages, tools: Vec::new(), temperature: 0.0, max_tokens: 100 }
}

async fn plan(chain: &Chain) -> Result<ModelUsed, ModelError> {
    Ok(chain.chat(&request(Purpose::Plan)).await?.used.expect("who answered"))
}

#[tokio::test(start_paused = true)]
async fn the_next_is_asked_when_one_fails_and_the_first_again_after_a_pause() {
    let (first, second) = (Named::new("first", &[DOWN, DOWN]), Named::new("second", &[]));
    let chain = chain(&[&first, &second], None);
    let used = plan(&chain).await.unwrap();
    assert_eq!((used.model.as_str(), used.wanted.as_str()), ("second", "first"));
    assert_eq!(used.because, "first: first is broken");
    for _ in 0..3 {
        let used = plan(&chain).await.unwrap();
        assert_eq!((used.model.as_str(), used.because.as_str()), ("second", "first: first is broken"));
    }
    assert_eq!(first.asked(), 1, "one that failed is left alone");
    tokio::time::advance(PAUSE).await;
    assert_eq!(plan(&chain).await.unwrap().model, "second", "it is still down");
    assert_eq!(first.asked(), 2);
    tokio::time::advance(PAUSE * 2).await;
    let used = plan(&chain).await.unwrap();
    assert_eq!(used, ModelUsed { model: "first".to_owned(), wanted: "first".to_owned(), because: String::new() });
}

#[tokio::test(start_paused = true)]
async fn a_slow_model_is_given_up_unless_it_is_the_last() {
    let slow = AnswersAfter(Duration::from_secs(40));
    let (first, second) = (Named::new("first", &[NeverAnswers]), Named::new("second", &[slow]));
    let chain = chain(&[&first, &second], None);
    let began = Instant::now();
    let used = plan(&chain).await.unwrap();
    assert_eq!((used.model.as_str(), began.elapsed().as_secs()), ("second", 50));
    assert_eq!(used.because, "first: it gave no answer within 10.0 s");
}

#[tokio::test(start_paused = true)]
async fn all_together_have_their_time_and_no_more() {
    let models = [Named::new("first", &[NeverAnswers]), Named::new("second", &[NeverAnswers])];
    let chain = chain(&[&models[0], &models[1]], None);
    let began = Instant::now();
    let error = plan(&chain).await.unwrap_err();
    assert_eq!((error.kind, began.elapsed().as_secs()), (ModelErrorKind::Timeout, 60));
    assert!(error.message.contains("first: it gave no answer within 10.0 s; second: it gave"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn where_all_are_left_alone_the_first_is_asked_all_the_same() {
    let (first, second) = (Named::new("first", &[DOWN]), Named::new("second", &[DOWN]));
    let chain = chain(&[&first, &second], None);
    let error = plan(&chain).await.unwrap_err();
    assert_eq!((error.kind, error.hint.as_str()), (ModelErrorKind::Unreachable, "Mend it."));
    assert!(error.message.contains("first: first is broken; second: second is broken"), "{error}");
    assert_eq!(plan(&chain).await.unwrap().model, "first");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_half_way_does_not_keep_a_model_out() {
    let (first, second) = (Named::new("first", &[DOWN, NeverAnswers]), Named::new("second", &[]));
    let chain = chain(&[&first, &second], None);
    plan(&chain).await.unwrap();
    tokio::time::advance(PAUSE).await;
    // A person cancels the task while the first model is tried again.
    tokio::time::timeout(Duration::from_secs(1), plan(&chain)).await.unwrap_err();
    assert_eq!(plan(&chain).await.unwrap().model, "first");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_cut_is_no_reason_to_ask_another() {
    let (first, second) = (Named::new("first", &[Fails(ModelErrorKind::CutReply)]), Named::new("second", &[]));
    let chain = chain(&[&first, &second], None);
    assert_eq!(plan(&chain).await.unwrap_err().kind, ModelErrorKind::CutReply);
    assert_eq!((plan(&chain).await.unwrap().model.as_str(), second.asked()), ("first", 0));
}

#[tokio::test(start_paused = true)]
async fn steps_are_decided_by_a_model_of_their_own_which_never_plans() {
    let (first, small) = (Named::new("first", &[DOWN]), Named::new("small", &[Answers, DOWN, Answers]));
    let chain = chain(&[&first], Some(&small));
    let decided = async |purpose| chain.chat(&request(purpose)).await.map(|reply| reply.text);
    assert_eq!(decided(Purpose::Confirm).await.unwrap(), "from small");
    assert!(decided(Purpose::Plan).await.is_err(), "there is no other one for plans");
    assert_eq!(decided(Purpose::Correct).await.unwrap_err().kind, ModelErrorKind::Unreachable, "both are left alone");
    tokio::time::advance(PAUSE * 2).await;
    assert_eq!(decided(Purpose::Confirm).await.unwrap(), "from small");
    assert!(small.asked.lock().unwrap().iter().all(|purpose| *purpose != Purpose::Plan));
}

/// The first model, which answers once and is then down, before reflex.
fn before_reflex(answers: usize) -> (Arc<Named>, Chain) {
    let script: Vec<Does> = std::iter::repeat_n(Answers, answers).chain(std::iter::repeat_n(DOWN, 100)).collect();
    let first = Named::new("first", &script);
    let planner = Arc::new(LastPlanner::default());
    let reflex = Standby::new(crate::Reflex::default(), Arc::clone(&planner));
    let models = vec![Arc::clone(&first) as Arc<dyn ChatModel>, Arc::new(reflex)];
    (first, Chain::new(models, None, planner, BOUNDS))
}

fn step(in_flight: bool) -> ChatRequest {
    let goal = serde_json::json!({
        "call": 1, "tool": "base.go_to", "age": {"secs": 3, "nanos": 0}, "feedback": "",
    });
    let goals = if in_flight { vec![serde_json::from_value(goal).unwrap()] } else { Vec::new() };
    let call = cortex_protocol::ToolCall { tool: "speaker.say".into(), arguments: serde_json::Map::new() };
    let address = "1.2".parse().unwrap();
    let fragments = vec![Fragment::InFlight { goals, plan: 1 }, Fragment::Step { address, steps: 2, call }];
    ChatRequest { messages: vec![Message::User { fragments }], ..request(Purpose::Confirm) }
}

#[tokio::test(start_paused = true)]
async fn reflex_lets_nothing_begin_of_a_plan_that_another_model_made() {
    let (_, chain) = before_reflex(1);
    plan(&chain).await.unwrap();
    assert_eq!(chain.chat(&step(true)).await.unwrap().text, "CONTINUE", "what is in flight goes on");
    let decided = chain.chat(&step(false)).await.unwrap().text;
    assert!(decided.starts_with("ABORT\nThe model that made this plan can't be asked"), "{decided}");
    // From now on the plan is its own.
    assert_eq!(plan(&chain).await.unwrap().model, "reflex");
    assert_eq!(chain.chat(&step(false)).await.unwrap().text, "EXECUTE");
}

#[tokio::test(start_paused = true)]
async fn reflex_does_not_choose_among_some_of_the_tools() {
    let (_, chain) = before_reflex(0);
    let tool = |name: &str| cortex_core::ToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        parameters: serde_json::json!({}),
        phase: cortex_protocol::ToolPhase::Execution,
        phrases: vec!["say hello".to_owned()],
        kind: cortex_core::ToolKind::Act,
    };
    let request =
        |names: &[&str]| ChatRequest { tools: names.iter().map(|name| tool(name)).collect(), ..request(Purpose::Plan) };
    assert!(!chain.reads_every_tool(), "so far the first model is asked");
    let some = chain.chat(&request(&["speaker-say", FIND_TOOLS])).await.unwrap();
    assert!(some.refusal.unwrap().contains("I was not told of all tools"));
    assert!(chain.reads_every_tool(), "the next task shows all of them");
    assert_eq!(chain.chat(&request(&["speaker-say"])).await.unwrap().calls.len(), 1);
}
