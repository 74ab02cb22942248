//! How fast the program is beside llama.cpp itself, with the same file and one thread each. What counts is the time of the
//! processor, since others use the machine, too. `cargo xtask local-model --bench` runs it.

use std::num::NonZeroU32;

use cortex_local_model::protocol::{Ask, Role};
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use serde_json::json;

use super::program::{Program, real_model, words};

const TURNS: usize = 5;
/// Tokens of one measurement.
const TOKENS: u32 = 96;
/// What is read before, so that both compute in a conversation of the same length.
const READ: usize = 64;
/// The program's speed, as a share of llama.cpp's own, is at least this.
const SHARE: f64 = 0.9;

/// Seconds of the processor that a process has used so far.
fn processor_seconds(process: u32) -> f64 {
    // Of a second.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // What stands before is its name, with blanks of its own.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let of = |field: usize| -> f64 { fields[field].parse().unwrap() };
    (of(11) + of(12)) / TICKS
}

/// Tokens of a second that llama.cpp writes by itself: each is computed, and none is chosen.
fn of_llama_cpp(backend: &LlamaBackend, model: &LlamaModel) -> f64 {
    let parameters = LlamaContextParams::default().with_n_ctx(NonZeroU32::new(2_048));
    let parameters = parameters.with_n_threads(1).with_n_threads_batch(1);
    let mut context = model.new_context(backend, parameters).unwrap();
    let all = model.vocab().tokenize(
        "The robot drives through the house and looks around. ".repeat(40).as_bytes(),
        true,
        true,
    );
    let mut batch = LlamaBatch::new(READ, 1);
    for (at, token) in all.iter().take(READ).enumerate() {
        batch.add(*token, i32::try_from(at).unwrap(), &[0], at + 1 == READ).unwrap();
    }
    context.decode(&mut batch).unwrap();
    let before = processor_seconds(std::process::id());
    for at in READ..READ + TOKENS as usize {
        let mut batch = LlamaBatch::new(1, 1);
        batch.add(all[at], i32::try_from(at).unwrap(), &[0], true).unwrap();
        context.decode(&mut batch).unwrap();
    }
    f64::from(TOKENS) / (processor_seconds(std::process::id()) - before)
}

/// Tokens of a second that the program writes.
fn of_program(program: &mut Program, ask: Ask) -> f64 {
    let before = processor_seconds(program.id());
    let done = program.answer(ask).done;
    assert!(done.reply_tokens > 20, "too few to measure: {done:?}");
    f64::from(u32::try_from(done.reply_tokens).unwrap()) / (processor_seconds(program.id()) - before)
}

#[test]
#[ignore = "a measurement: cargo xtask local-model --bench"]
fn the_program_writes_about_as_fast_as_llama_cpp_itself() {
    let backend = LlamaBackend::init().unwrap();
    let model =
        LlamaModel::load_from_file(&backend, real_model(), &LlamaModelParams::default().with_n_gpu_layers(0)).unwrap();
    let (mut program, _) = Program::with(&real_model());
    let story =
        words(&[(Role::User, "Write a long story about a robot and a lighthouse, with many chapters.")], TOKENS);
    let text = json!({"type": "string", "minLength": 400});
    let told =
        json!({"type": "object", "properties": {"story": text}, "required": ["story"], "additionalProperties": false});
    let shaped = Ask { answer: Some(told), ..story.clone() };
    // What it begins with is read once.
    program.answer(Ask { max_tokens: 1, ..story.clone() });
    let best = |one: f64, other: f64| one.max(other);
    let (mut alone, mut in_words, mut in_shape) = (0.0, 0.0, 0.0);
    for _ in 0..TURNS {
        alone = best(alone, of_llama_cpp(&backend, &model));
        in_words = best(in_words, of_program(&mut program, story.clone()));
        in_shape = best(in_shape, of_program(&mut program, shaped.clone()));
    }
    println!(
        "llama.cpp alone: {alone:.1} tokens per second of the processor; a reply in words: {in_words:.1} ({:.2})",
        in_words / alone
    );
    println!("JSON, held to a schema: {in_shape:.1} ({:.2})", in_shape / alone);
    assert!(in_words / alone >= SHARE, "words are written at {:.2} of llama.cpp's own speed", in_words / alone);
}
