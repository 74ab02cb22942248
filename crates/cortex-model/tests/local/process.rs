//! One process, and what it may do to Cortex.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ChatModel, ModelError, ModelErrorKind};
use cortex_model::{BuildError, LocalModel, LocalSettings, ModelChoice, ModelSettings, build};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::support::{Heard, LIMIT, Scripted, Watched, request};

async fn asked(model: &LocalModel) -> Result<String, ModelError> {
    let reply = timeout(LIMIT, model.chat(&request("Say hello."))).await.expect("it comes to an end")?;
    Ok(reply.text)
}

#[tokio::test]
async fn an_answer_comes_word_by_word_and_one_process_gives_many() {
    let scripted = Scripted::new("answers");
    let model = scripted.model();
    assert_eq!(model.label(), "local");
    let (listener, mut words) = Heard::new();
    let reply = model.chat_streaming(&request("Say hello."), listener).await.unwrap();
    let process = scripted.started()[0];
    assert_eq!(reply.text, format!("Hello from {process}."));
    assert_eq!((reply.prompt_tokens, reply.completion_tokens, reply.tokens_estimated), (12, 3, false));
    assert_eq!(words.recv().await.as_deref(), Some("Hello"));
    assert_eq!(words.recv().await, Some(reply.text));
    for _ in 0..3 {
        assert_eq!(asked(&model).await.unwrap(), format!("Hello from {process}."));
    }
    assert_eq!(scripted.started(), [process]);
}

#[tokio::test]
async fn calls_are_read_and_never_told_as_words() {
    let scripted = Scripted::new("calls");
    let (listener, mut words) = Heard::new();
    let reply = scripted.model().chat_streaming(&request("Go."), listener).await.unwrap();
    assert_eq!(reply.calls[0].name, "go");
    assert_eq!(serde_json::to_value(&reply.calls[0].arguments).unwrap(), json!({"object": {"to": "kitchen"}}));
    assert_eq!((reply.text.as_str(), words.recv().await), ("", None));
    let error = asked(&Scripted::new("calls-what-it-was-not-offered").model()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::BadReply);
    assert!(error.message.contains("calls 'fly', which it was not offered"), "{error}");
}

/// Whatever the process says or does: an error, at once, in words for a person, and the process is gone.
#[tokio::test]
async fn a_process_that_can_not_be_relied_on_is_ended() {
    for (name, kind, says) in [
        ("loads-with-garbage", ModelErrorKind::BadReply, "no line of the protocol: \"llama_model_loader"),
        ("refuses", ModelErrorKind::Refused, "tiny.gguf is cut"),
        ("speaks-another-version", ModelErrorKind::Refused, "version 2 of the protocol"),
        ("ends-at-once", ModelErrorKind::ServerFailed, "exit status: 127); it said last: libgomp.so.1"),
        ("answers-before-it-is-asked", ModelErrorKind::BadReply, "what it was not asked"),
        ("dies", ModelErrorKind::ServerFailed, "signal: 9"),
        ("dies-with-words", ModelErrorKind::ServerFailed, "insufficient memory"),
        ("dies-after-a-long-line", ModelErrorKind::ServerFailed, "exit status: 3); it said last: xxx"),
        ("dies-after-a-long-line", ModelErrorKind::ServerFailed, "ggml_abort: out of tensors"),
        ("closes-its-output", ModelErrorKind::ServerFailed, "has closed its output"),
        ("answers-in-html", ModelErrorKind::BadReply, "502 Bad Gateway"),
        ("answers-another-request", ModelErrorKind::BadReply, "what it was not asked"),
        ("says-nothing-again-and-again", ModelErrorKind::BadReply, "what it was not asked"),
        ("never-ends-its-line", ModelErrorKind::BadReply, "a line of more than 65536 bytes"),
    ] {
        let scripted = Scripted::new(name);
        let model = scripted.model();
        let error = asked(&model).await.unwrap_err();
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert!(error.message.contains(says), "{name}: {error}");
        for process in scripted.started() {
            if let Some(watched) = Watched::if_there(process) {
                watched.ended().await;
            }
        }
    }
}

/// An answer that comes twice was one the first time.
#[tokio::test]
async fn what_nobody_asked_for_ends_the_process() {
    let scripted = Scripted::new("answers-twice");
    let model = scripted.model();
    assert_eq!(asked(&model).await.unwrap(), "Hello");
    if let Some(watched) = Watched::if_there(scripted.started()[0]) {
        watched.ended().await;
    }
}

#[tokio::test]
async fn babble_without_end_is_cut_and_the_process_is_told() {
    let scripted = Scripted::new("repeats-itself");
    let model = scripted.model();
    let reply = timeout(LIMIT, model.chat(&request("Say hello."))).await.unwrap().unwrap();
    assert_eq!(reply.cut.as_deref(), Some("it repeated itself without end"));
    assert!(reply.text.len() < 1_200 && reply.tokens_estimated, "{reply:?}");
    let again = timeout(LIMIT, model.chat(&request("Say hello."))).await.unwrap().unwrap();
    assert!(again.cut.is_some(), "the same process goes on");
    assert_eq!((scripted.started().len(), scripted.lines(".cancelled").len()), (1, 1));
    let babble = asked(&Scripted::new("babbles").model()).await;
    match babble {
        // Whichever bound is met first.
        Ok(text) => assert!(text.len() < 2_000, "{text}"),
        Err(error) => assert!(error.message.contains("has no end"), "{error}"),
    }
}

#[tokio::test]
async fn a_request_that_fails_leaves_the_process_as_it_is() {
    let scripted = Scripted::new("fails");
    let model = scripted.model();
    for _ in 0..2 {
        let error = asked(&model).await.unwrap_err();
        assert_eq!((error.kind, error.hint.as_str()), (ModelErrorKind::Refused, "raise it"));
        assert!(error.message.contains("the conversation has 9000 tokens"), "{error}");
    }
    assert_eq!(scripted.started().len(), 1);
}

/// Who asks no more has the model stop: the process hears of it, and serves the next request.
#[tokio::test]
async fn dropping_a_request_cancels_it() {
    let scripted = Scripted::new("begins-and-waits");
    let model = Arc::new(scripted.model());
    let (listener, mut words) = Heard::new();
    for turn in 0..4 {
        let (model, listener) = (Arc::clone(&model), Arc::clone(&listener));
        let task = tokio::spawn(async move { model.chat_streaming(&request("Say hello."), listener).await });
        assert_eq!(timeout(LIMIT, words.recv()).await.unwrap().as_deref(), Some("Hello"), "{turn}");
        // The process serves this request, so it has done with all before.
        let cancelled: Vec<String> = (1..=turn).map(|id| format!("{{\"cancel\":{{\"id\":{id}}}}}")).collect();
        assert_eq!(scripted.lines(".cancelled"), cancelled);
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    assert_eq!(scripted.started().len(), 1);
}

#[tokio::test]
async fn a_process_that_goes_on_with_what_was_cancelled_is_killed() {
    let scripted = Scripted::new("goes-on-when-cancelled");
    let local = LocalSettings {
        cancel_timeout: Duration::from_millis(50),
        // Longer than a request waits: the next one is told why the process was ended.
        restart_pause: Duration::from_secs(40),
        ..scripted.settings().local
    };
    let model = LocalModel::new(None, &ModelSettings { local, ..ModelSettings::default() }).unwrap();
    let model = Arc::new(model);
    let (listener, mut words) = Heard::new();
    let asks = Arc::clone(&model);
    let task = tokio::spawn(async move { asks.chat_streaming(&request("Say hello."), listener).await });
    assert_eq!(timeout(LIMIT, words.recv()).await.unwrap().as_deref(), Some("Hello"));
    let watched = Watched::if_there(scripted.started()[0]).expect("it answers");
    task.abort();
    watched.ended().await;
    let error = asked(&model).await.unwrap_err();
    assert!(error.message.contains("went on for 0.05 s with a request that was cancelled"), "{error}");
    assert!(error.hint.contains("local_model.threads"), "{error:?}");
}

/// Keys of endpoints are among the variables of Cortex.
#[tokio::test]
async fn regression_the_process_inherits_only_the_variables_that_it_needs() {
    let scripted = Scripted::new("shows-its-environment");
    asked(&scripted.model()).await.unwrap();
    let variables = scripted.lines(".environment");
    let has = |beginning: &str| variables.iter().any(|line| line.starts_with(beginning));
    assert!(has("PATH=") && has("OMP_WAIT_POLICY=passive"), "{variables:?}");
    // Cargo sets these for its tests.
    assert!(!has("CARGO_"), "{variables:?}");
}

#[tokio::test]
async fn the_process_ends_with_its_model_even_within_an_answer() {
    let scripted = Scripted::new("begins-and-waits");
    let (listener, mut words) = Heard::new();
    let model = scripted.model();
    let task = tokio::spawn(async move { model.chat_streaming(&request("Say hello."), listener).await });
    timeout(LIMIT, words.recv()).await.unwrap();
    let watched = Watched::if_there(scripted.started()[0]).expect("it answers");
    task.abort();
    watched.ended().await;
}

/// The model may be loaded for longer than a request waits. It is not loaded anew for the next one.
#[tokio::test]
async fn loading_goes_on_when_a_request_is_given_up() {
    let scripted = Scripted::new("loads-when-told");
    let told = scripted.path(".told");
    assert!(std::process::Command::new("mkfifo").arg(&told).status().unwrap().success());
    let impatient = ModelSettings { request_timeout: Duration::from_millis(100), ..scripted.settings() };
    let model = LocalModel::new(None, &impatient).unwrap();
    for _ in 0..2 {
        assert_eq!(asked(&model).await.unwrap_err().kind, ModelErrorKind::Timeout);
    }
    // It opens once the process reads, so the process is there, and still the first. If it never does, only this thread hangs.
    let (sender, written) = oneshot::channel();
    std::thread::spawn(move || sender.send(std::fs::write(told, "now\n")));
    timeout(LIMIT, written).await.expect("the process reads").unwrap().unwrap();
    assert_eq!(scripted.started().len(), 1);
}

#[tokio::test]
async fn a_model_that_is_never_loaded_is_given_up_in_bounded_time() {
    let scripted = Scripted::new("loads-for-ever");
    let local = LocalSettings { load_timeout: Duration::from_millis(200), ..scripted.settings().local };
    let model = LocalModel::new(None, &ModelSettings { local, ..ModelSettings::default() }).unwrap();
    let error = asked(&model).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    assert!(error.message.contains("not loaded within 0.2 s") && error.hint.contains("load_timeout_s"), "{error:?}");
}

#[tokio::test]
async fn a_process_that_ended_is_started_again_after_a_pause_that_grows() {
    let scripted = Scripted::new("dies");
    let model = scripted.model();
    for turn in 1..=3 {
        assert_eq!(asked(&model).await.unwrap_err().kind, ModelErrorKind::ServerFailed);
        assert_eq!(scripted.started().len(), turn);
    }
    let patient = LocalSettings { restart_pause: Duration::from_secs(40), ..scripted.settings().local };
    let model = LocalModel::new(None, &ModelSettings { local: patient, ..ModelSettings::default() }).unwrap();
    assert!(asked(&model).await.is_err());
    let error = asked(&model).await.unwrap_err();
    assert!(error.message.contains("it is started again in ") && error.message.contains("signal: 9"), "{error}");
    assert!(error.retry_after.is_some_and(|wait| wait <= Duration::from_secs(40)), "{error:?}");
    assert_eq!(scripted.started().len(), 4, "nothing is started within the pause");
}

#[test]
fn what_is_not_there_is_told_before_anything_is_started() {
    let local = |set: LocalSettings| {
        let choice = ModelChoice::Local { file: None };
        build(&choice, ModelSettings { local: set, ..ModelSettings::default() }).map(|model| model.label()).unwrap_err()
    };
    assert_eq!(local(LocalSettings::default()), BuildError::NoLocalFile);
    let missing =
        local(LocalSettings { file: Some("/nowhere/tiny.gguf".into()), ..LocalSettings::default() }).to_string();
    assert!(missing.contains("/nowhere/tiny.gguf is not there"), "{missing}");
    let scripted = Scripted::new("answers");
    let settings = LocalSettings { file: Some(scripted.file().to_owned()), ..LocalSettings::default() };
    let program = local(LocalSettings { program: Some("/nowhere/it".into()), ..settings.clone() }).to_string();
    assert!(program.contains("not at /nowhere/it") && program.contains("--features llama"), "{program}");
    let beside = local(settings).to_string();
    assert!(beside.contains("cortex-local-model") && beside.contains("nor at"), "{beside}");
}
