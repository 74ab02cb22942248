//! Calls from begin to answer, in simulated time.

use super::*;
use crate::method::NoArguments;
use cortex_protocol::Effect;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

#[derive(Deserialize, JsonSchema)]
struct GoTo {
    place: String,
}

/// A base whose `go_to` takes 10 s and comes to rest 100 ms after it was cancelled.
struct Base {
    dispatcher: Arc<Dispatcher>,
    state: watch::Sender<State>,
    health: HealthReporter,
    moving: Arc<AtomicBool>,
}

fn method(name: &str, run: impl Fn(CallContext) -> Result<Value, Failure> + Send + Sync + 'static) -> Method {
    Method::new(name, "A method.").run(move |_: NoArguments, call| std::future::ready(run(call)))
}

fn base_with(extra: Vec<Method>) -> Base {
    let moving = Arc::new(AtomicBool::new(false));
    let wheels = Arc::clone(&moving);
    let go_to = Method::new("go_to", "Drives.").parameters::<GoTo>().effect(Effect::Move).cancelled_by("halt").run(
        move |arguments: GoTo, call: CallContext| {
            let wheels = Arc::clone(&wheels);
            async move {
                wheels.store(true, Ordering::SeqCst);
                let driven = call.or_cancelled(tokio::time::sleep(Duration::from_secs(10))).await;
                if driven.is_err() {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                wheels.store(false, Ordering::SeqCst);
                driven.map(|()| format!("arrived in the {}", arguments.place))
            }
        },
    );
    let mut methods = vec![go_to, method("halt", |_| Ok(Value::Null))];
    methods.extend(extra);
    let (state, states) = watch::channel(State::Active);
    let health = HealthReporter::new();
    let dispatcher = Arc::new(Dispatcher::new(methods, states, health.clone()).unwrap());
    Base { dispatcher, state, health, moving }
}

impl Base {
    async fn call(&self, name: &str, arguments: &str) -> Answer {
        match self.dispatcher.begin(name, arguments) {
            Ok(call) => call.run().await,
            Err(refusal) => refusal,
        }
    }

    async fn error(&self, name: &str, arguments: &str) -> String {
        let answer = self.call(name, arguments).await;
        assert!(!answer.success && answer.response.is_empty(), "{answer:?}");
        answer.error
    }
}

fn success(response: &str) -> Answer {
    Answer { success: true, error: String::new(), response: response.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn progress_goes_out_ten_times_a_second_at_most_and_only_where_it_was_declared() {
    let tell = |name: &str| {
        let method = Method::new(name, "Tells.");
        let method = if name == "told" { method.reports_progress() } else { method };
        method.run(|_: NoArguments, call: CallContext| async move {
            for step in 0..50 {
                call.progress(format!("{step}{}", "x".repeat(1_000)));
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Ok(())
        })
    };
    let base = base_with(vec![tell("told"), tell("untold")]);
    assert_eq!(base.dispatcher.progress_topics().collect::<Vec<_>>(), [("told", "~/told/progress")]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    base.dispatcher
        .report_progress_to(Arc::new(move |method, text| ear.lock().unwrap().push((method.to_owned(), text))));
    assert!(base.call("untold", "").await.success && base.call("told", "").await.success);
    let heard = heard.lock().unwrap();
    assert!((4..=6).contains(&heard.len()), "{heard:?}");
    assert!(heard.iter().all(|(method, text)| method == "told" && text.len() == 300), "{heard:?}");
    assert!(heard[0].1.starts_with("0x"), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn a_method_is_run_and_its_result_is_json() {
    let base = base_with(vec![]);
    assert_eq!(base.call("go_to", r#"{"place":"kitchen"}"#).await, success(r#""arrived in the kitchen""#));
}

#[tokio::test(start_paused = true)]
async fn garbage_is_answered_with_what_is_wrong() {
    let base = base_with(vec![]);
    let table = [
        ("fly", "{}", "there is no method 'fly'; there are: go_to, halt"),
        ("go_to", "{", "the arguments are not JSON"),
        ("go_to", "[]", "the arguments must be a JSON object"),
        ("go_to", "\u{feff}", "the arguments are not JSON"),
        ("go_to", r#"{"place":"kitchen","place":"office"}"#, "'place' is given twice"),
        ("go_to", "", "\"place\" is a required property"),
        ("go_to", r#"{"place":7}"#, "place: 7 is not of type \"string\""),
        ("go_to", r#"{"place":"kitchen","speed":1}"#, "'speed' was unexpected"),
        ("halt", r#"{"now":true}"#, "'now' was unexpected"),
    ];
    for (name, arguments, problem) in table {
        let error = base.error(name, arguments).await;
        assert!(error.contains(problem), "{name} {arguments}: {error}");
    }
    let error = base.error("go_to", &" ".repeat(MAX_ARGUMENT_BYTES + 1)).await;
    assert_eq!(error, "the arguments have 1048577 bytes; at most 1048576 are read");
}

#[tokio::test(start_paused = true)]
async fn halt_is_served_while_go_to_runs_and_answers_at_rest() {
    let base = base_with(vec![]);
    let drive = base.dispatcher.begin("go_to", r#"{"place":"kitchen"}"#).unwrap();
    let drive = tokio::spawn(drive.run());
    while !base.moving.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    assert_eq!(base.call("halt", "{}").await, success("null"));
    assert!(!base.moving.load(Ordering::SeqCst), "at rest when halt answers");
    assert_eq!(drive.await.unwrap(), Answer::failure("cancelled"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_begun_but_did_not_run_yet_is_halted_too() {
    let base = base_with(vec![]);
    let drive = base.dispatcher.begin("go_to", r#"{"place":"kitchen"}"#).unwrap();
    let halt = base.dispatcher.begin("halt", "").unwrap();
    let (driven, halted) = tokio::join!(drive.run(), halt.run());
    assert_eq!(driven, Answer::failure("cancelled"));
    assert_eq!(halted, success("null"));
}

#[tokio::test(start_paused = true)]
async fn what_ignores_its_cancellation_is_dropped() {
    let deaf = Method::new("spin", "Turns for ever.").cancelled_by("halt").run(|_: NoArguments, _| async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let base = base_with(vec![deaf]);
    let spin = tokio::spawn(base.dispatcher.begin("spin", "").unwrap().run());
    let begun = Instant::now();
    assert_eq!(base.call("halt", "").await, success("null"));
    assert!(begun.elapsed() >= CANCEL_GRACE && begun.elapsed() < REST_TIMEOUT);
    assert_eq!(spin.await.unwrap(), Answer::failure("cancelled"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_halt_of_what_blocks_its_thread_says_that_it_is_not_at_rest() {
    let (release, blocked) = std::sync::mpsc::sync_channel::<()>(1);
    let (begun, mut has_begun) = tokio::sync::mpsc::channel(1);
    let blocked = Arc::new(Mutex::new(blocked));
    let stuck = Method::new("grind", "Blocks its thread.").cancelled_by("halt").run(move |_: NoArguments, _| {
        let (begun, blocked) = (begun.clone(), Arc::clone(&blocked));
        async move {
            let _ = begun.send(()).await;
            let _ = blocked.lock().unwrap_or_else(PoisonError::into_inner).recv();
            Ok(())
        }
    });
    let base = base_with(vec![stuck]);
    let grind = tokio::spawn(base.dispatcher.begin("grind", "").unwrap().run());
    has_begun.recv().await.unwrap();
    assert_eq!(base.error("halt", "").await, "not at rest after 2 s: grind");
    let error = grind.await.unwrap().error;
    assert_eq!(error, "cancelled, but grind may still be going on");
    assert_eq!(base.health.status(State::Active).message, "grind blocks and can't be stopped");
    drop(release);
    assert_eq!(base.call("halt", "").await, success("null"), "released at last");
}

#[tokio::test(start_paused = true)]
async fn a_method_that_takes_too_long_is_stopped() {
    let slow = Method::new("map", "Maps.").timeout(Duration::from_secs(3)).run(|_: NoArguments, call| async move {
        call.cancelled().await;
        Err::<(), _>(Failure::Cancelled)
    });
    let base = base_with(vec![slow]);
    assert_eq!(base.error("map", "").await, "not done within 3 s, so it was stopped");
}

#[tokio::test(start_paused = true)]
async fn why_a_method_failed_to_stop_is_not_lost() {
    let jammed = Method::new("lift", "Lifts.").cancelled_by("halt").run(|_: NoArguments, call| async move {
        call.cancelled().await;
        Err::<(), _>("the brake is jammed".into())
    });
    let base = base_with(vec![jammed]);
    let lift = tokio::spawn(base.dispatcher.begin("lift", "").unwrap().run());
    base.call("halt", "").await;
    assert_eq!(lift.await.unwrap(), Answer::failure("the brake is jammed"));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_and_a_problem_until_it_works_again() {
    let works = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&works);
    let flaky = method("grasp", move |_| {
        assert!(switch.load(Ordering::SeqCst), "out of reach");
        Ok(Value::Bool(true))
    });
    let base = base_with(vec![flaky]);
    assert_eq!(base.error("grasp", "").await, "grasp panicked; this is a flaw of the component");
    assert_eq!(base.health.status(State::Active).sources, ["grasp"]);
    works.store(true, Ordering::SeqCst);
    assert_eq!(base.call("grasp", "").await, success("true"));
    assert!(base.health.status(State::Active).sources.is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_an_active_component_does_anything_but_halt() {
    let base = base_with(vec![]);
    base.state.send_replace(State::Inactive);
    assert_eq!(base.error("go_to", r#"{"place":"kitchen"}"#).await, "the component is inactive");
    assert_eq!(base.call("halt", "").await, success("null"));
    base.state.send_replace(State::Deactivating);
    assert_eq!(base.error("go_to", r#"{"place":"kitchen"}"#).await, "the component is deactivating");
}

#[tokio::test(start_paused = true)]
async fn rest_ends_everything_that_runs() {
    let base = base_with(vec![]);
    let drive = tokio::spawn(base.dispatcher.begin("go_to", r#"{"place":"kitchen"}"#).unwrap().run());
    assert_eq!(base.dispatcher.rest().await, Ok(()));
    assert_eq!(drive.await.unwrap(), Answer::failure("cancelled"));
    assert_eq!(base.dispatcher.rest().await, Ok(()), "nothing runs");
}

#[tokio::test(start_paused = true)]
async fn too_many_calls_are_refused_but_a_halt_gets_through() {
    let gate = Arc::new(Semaphore::new(0));
    let waiting = Arc::clone(&gate);
    let wait = Method::new("wait", "Waits.").cancelled_by("halt").run(move |_: NoArguments, call| {
        let waiting = Arc::clone(&waiting);
        async move { call.or_cancelled(async { waiting.acquire().await.is_ok() }).await }
    });
    let base = base_with(vec![wait]);
    let calls: Vec<_> =
        (0..MAX_CALLS).map(|_| tokio::spawn(base.dispatcher.begin("wait", "").unwrap().run())).collect();
    assert_eq!(base.error("wait", "").await, "32 calls are running already; try again when one has ended");
    assert_eq!(base.call("halt", "").await, success("null"));
    for call in calls {
        assert_eq!(call.await.unwrap(), Answer::failure("cancelled"));
    }
    gate.add_permits(1);
    assert_eq!(base.call("wait", "").await, success("true"), "room again");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_large_is_a_failure() {
    let flood = method("flood", |_| Ok(Value::String("x".repeat(MAX_RESPONSE_BYTES))));
    let base = base_with(vec![flood]);
    assert_eq!(base.error("flood", "").await, "the result has 1048578 bytes; at most 1048576 are sent");
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_call_stops() {
    let base = base_with(vec![]);
    let drive = tokio::spawn(base.dispatcher.begin("go_to", r#"{"place":"kitchen"}"#).unwrap().run());
    while !base.moving.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    drive.abort();
    assert!(drive.await.unwrap_err().is_cancelled());
    assert_eq!(base.dispatcher.rest().await, Ok(()));
    assert!(lock(&base.dispatcher.running).calls.is_empty());
}
