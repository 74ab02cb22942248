//! A local model among others, which answer in its place.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use cortex_model::{ModelChoice, ModelSet, build_set};
use tokio::time::timeout;

use super::support::{Heard, LIMIT, Scripted, request};

fn set(scripted: &Scripted) -> ModelSet {
    ModelSet {
        first: ModelChoice::Local { file: None },
        fallbacks: vec![ModelChoice::Reflex],
        settings: scripted.settings(),
        ..ModelSet::default()
    }
}

/// Somebody kills the process while it answers: the next model answers the same request.
#[tokio::test]
async fn where_the_process_is_killed_within_an_answer_the_next_model_answers() {
    let scripted = Scripted::new("begins-and-waits");
    let models = build_set(&set(&scripted)).unwrap();
    assert_eq!(models.label(), "local, then reflex");
    let (listener, mut words) = Heard::new();
    let answer = tokio::spawn(async move { models.chat_streaming(&request("go to the kitchen"), listener).await });
    assert_eq!(timeout(LIMIT, words.recv()).await.unwrap().as_deref(), Some("Hello"));
    let process = scripted.started()[0].to_string();
    let killed = Instant::now();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    let reply = timeout(LIMIT, answer).await.unwrap().unwrap().unwrap();
    println!("failed over {:.1} ms after the process was killed", killed.elapsed().as_secs_f64() * 1e3);
    let used = reply.used.clone().unwrap();
    assert_eq!((used.model.as_str(), used.wanted.as_str()), ("reflex", "local"));
    assert!(used.because.contains("signal: 9"), "{}", used.because);
    assert_eq!(reply.calls.first().map(|call| call.name.as_str()), Some("go"), "{reply:?}");
}

#[tokio::test]
async fn a_model_that_can_not_be_loaded_is_left_alone_and_the_next_one_answers() {
    let scripted = Scripted::new("refuses");
    let models = build_set(&set(&scripted)).unwrap();
    for _ in 0..3 {
        let reply = timeout(LIMIT, models.chat(&request("go to the office"))).await.unwrap().unwrap();
        let used = reply.used.unwrap();
        assert!(used.model == "reflex" && used.because.contains("tiny.gguf is cut"), "{used:?}");
    }
    assert_eq!(scripted.started().len(), 1);
}

/// Cortex has the model loaded when it starts, so that the first task need not wait, and whoever looks at it hears of a failure.
#[tokio::test]
async fn a_model_is_loaded_before_it_is_asked() {
    let scripted = Scripted::new("answers");
    let models = build_set(&set(&scripted)).unwrap();
    timeout(LIMIT, models.prepare()).await.unwrap().unwrap();
    assert_eq!(scripted.started().len(), 1);
    let reply = timeout(LIMIT, models.chat(&request("Say hello."))).await.unwrap().unwrap();
    assert_eq!(reply.used.map(|used| used.model).as_deref(), Some("local"));
    assert_eq!(scripted.started().len(), 1, "the same process answers");

    let scripted = Scripted::new("refuses");
    let models = build_set(&set(&scripted)).unwrap();
    let error = timeout(LIMIT, models.prepare()).await.unwrap().unwrap_err();
    assert!(error.message.contains("tiny.gguf is cut"), "{error}");
    let reply = timeout(LIMIT, models.chat(&request("go to the office"))).await.unwrap().unwrap();
    assert_eq!(reply.used.map(|used| used.model).as_deref(), Some("reflex"));
    assert_eq!(scripted.started().len(), 1, "it is left alone for a while");
}

/// Requests of several missions wait for each other: there is one model.
#[tokio::test(flavor = "multi_thread")]
async fn requests_at_once_are_answered_one_after_another() {
    let scripted = Scripted::new("answers");
    let model = Arc::new(scripted.model());
    let ask = |_| {
        let model = Arc::clone(&model);
        tokio::spawn(
            async move { cortex_core::ChatModel::chat(model.as_ref(), &request("Say hello.")).await.unwrap().text },
        )
    };
    let asked: Vec<_> = (0..20).map(ask).collect();
    let process = scripted_answer(asked).await;
    assert_eq!(scripted.started().len(), 1);
    assert_eq!(process, format!("Hello from {}.", scripted.started()[0]));
}

/// What all of them say.
async fn scripted_answer(asked: Vec<tokio::task::JoinHandle<String>>) -> String {
    let mut said = Vec::new();
    for task in asked {
        said.push(timeout(LIMIT, task).await.unwrap().unwrap());
    }
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}
