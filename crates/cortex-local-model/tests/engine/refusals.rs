//! Files that can't be loaded, and requests that can't be answered.

use std::path::Path;

use cortex_local_model::protocol::{Finish, Role};

use super::model_file;
use super::program::{Program, words};

fn refused(file: &Path, context_tokens: u32) -> String {
    match Program::load(file, context_tokens) {
        Ok((_, ready)) => panic!("{ready:?}"),
        Err(problem) => format!("{}; {}", problem.problem, problem.fix),
    }
}

#[test]
fn files_that_are_no_models_are_refused_with_what_to_do() {
    let whole = model_file::bytes("llama");
    let cut = model_file::file(&whole[..whole.len() / 2]);
    let cut_in_head = model_file::file(&whole[..1_000]);
    let foreign = model_file::file(&model_file::bytes("perceptron-of-mars"));
    let garbage = model_file::file(&vec![b'x'; 100_000]);
    for (file, says) in [
        (cut.path(), "is cut"),
        (cut_in_head.path(), "is cut"),
        (foreign.path(), "perceptron-of-mars"),
        (garbage.path(), "is no model in the format GGUF"),
        (Path::new("/nowhere/tiny.gguf"), "check its path"),
        (Path::new("/tmp"), "is no file"),
    ] {
        let problem = refused(file, 512);
        assert!(problem.contains(says), "{problem}");
    }
    let problem = refused(foreign.path(), 512);
    assert!(problem.contains("unknown model architecture") && problem.contains("llama.cpp knows"), "{problem}");
}

/// Weights that say nothing do load; so does a file without a chat template, which is told.
#[test]
fn a_conversation_that_is_too_long_is_refused_and_the_next_one_answered() {
    let file = model_file::file(&model_file::bytes("llama"));
    let (mut program, ready) = Program::with(file.path());
    assert_eq!((ready.context_tokens, ready.architecture.as_str(), ready.name.as_str()), (1_024, "llama", "Random"));
    assert_eq!(ready.template, cortex_local_model::protocol::Template::Plain);
    program.begin(words(&[(Role::User, &"long ".repeat(300))], 10));
    let problem = program.finish().unwrap_err();
    assert!(problem.problem.contains("the model holds 1024") && problem.fix.contains("context_tokens"), "{problem:?}");
    let reply = program.answer(words(&[(Role::User, "short")], 10));
    assert!(reply.done.finish != Finish::Cancelled && reply.done.reply_tokens <= 10, "{reply:?}");
    assert!(program.close().success());
}
