//! llama.cpp.
//!
//! - `conversation`: from messages to tokens;
//! - `grammar`: which texts are a reply, in llama.cpp's own notation;
//! - `sampling`: the next token, chosen within the grammar;
//! - `text`: from tokens to whole letters;
//! - `log`: what llama.cpp says of a failure.

use std::num::NonZeroU32;
use std::thread;
use std::time::{Duration, Instant};

use cortex_local_model::gguf;
use cortex_local_model::protocol::{Ask, Done, Finish, FromModel, Load, Piece, Problem, Ready, VERSION};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;

use crate::lines::{Cancelled, Output};

mod conversation;
mod grammar;
mod log;
mod sampling;
mod text;

use conversation::Conversations;
use sampling::Sampling;
use text::Letters;

pub(crate) const DESCRIPTION: &str = "llama.cpp";

/// Tokens of a conversation that are computed at once. After each such part the engine looks whether it is still wanted: few, so
/// that a slow model, too, stops before Cortex kills it.
const BATCH: usize = 32;
/// Tokens of a conversation where neither the file nor the configuration says how many.
const CONTEXT: u64 = 4_096;
/// Fewest tokens that an answer may have.
const LEAST_ANSWER: usize = 16;

/// A loaded model with what it holds of the last conversation.
pub(crate) struct Engine {
    model: &'static LlamaModel,
    context: LlamaContext<'static>,
    conversations: Conversations,
    /// The tokens that the context holds, in their order.
    held: Vec<LlamaToken>,
    ready: Ready,
    seed: u32,
}

impl Engine {
    pub(crate) fn load(load: &Load) -> Result<Self, Problem> {
        let facts = gguf::check(&load.file).map_err(|error| refused(&error))?;
        let trained = facts.trained_tokens.unwrap_or(CONTEXT.max(load.context_tokens.into()));
        let wanted = if load.context_tokens == 0 { trained } else { trained.min(load.context_tokens.into()) };
        // What a graphics processor holds does not count here.
        if load.gpu_layers == 0
            && let Some(free) = std::fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(gguf::free_memory)
        {
            gguf::check_memory(&load.file, &facts, wanted, free).map_err(|error| refused(&error))?;
        }
        let failed = |what: &str, problem: &str| Problem {
            problem: format!(
                "{} ({}) {what}: {problem}{}",
                load.file.display(),
                facts.architecture,
                log::last().map(|words| format!(" ({words})")).unwrap_or_default()
            ),
            fix: "use a model of an architecture that llama.cpp knows; convert or copy this one anew".to_owned(),
        };
        log::keep();
        let backend = LlamaBackend::init().map_err(|error| failed("has no engine", &error.to_string()))?;
        let parameters = LlamaModelParams::default().with_n_gpu_layers(load.gpu_layers);
        let model = LlamaModel::load_from_file(&backend, &load.file, &parameters)
            .map_err(|error| failed("can't be loaded", &error.to_string()))?;
        // There is one model for the life of this process.
        let (backend, model): (&'static LlamaBackend, &'static LlamaModel) =
            (Box::leak(Box::new(backend)), Box::leak(Box::new(model)));
        let threads = match load.threads {
            0 => thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1)),
            threads => threads,
        };
        let threads_of_engine = i32::try_from(threads).unwrap_or(1);
        let context = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(u32::try_from(wanted).unwrap_or(u32::MAX)))
            .with_n_batch(BATCH as u32)
            .with_n_threads(threads_of_engine)
            .with_n_threads_batch(threads_of_engine);
        let context = model
            .new_context(backend, context)
            .map_err(|error| failed("can't hold a conversation", &error.to_string()))?;
        let conversations = Conversations::new(model);
        let ready = Ready {
            version: VERSION,
            name: facts.name.clone(),
            architecture: facts.architecture.clone(),
            parameters: model.n_params(),
            context_tokens: context.n_ctx(),
            threads,
            template: conversations.template(),
        };
        Ok(Self { model, context, conversations, held: Vec::new(), ready, seed: load.seed })
    }

    pub(crate) fn ready(&self) -> Ready {
        self.ready.clone()
    }

    /// Answers one request, piece by piece.
    pub(crate) fn ask(&mut self, ask: &Ask, cancelled: &Cancelled, output: &Output) -> Result<Done, Problem> {
        // An error of a request before this one is not the cause of a failure of this one.
        log::forget();
        let began = Instant::now();
        let tokens = self.conversations.tokens(self.model, &ask.messages)?;
        let context = self.ready.context_tokens as usize;
        if tokens.len() + LEAST_ANSWER > context {
            return Err(Problem {
                problem: format!(
                    "the conversation has {} tokens, and the model holds {context} with its answer",
                    tokens.len()
                ),
                fix: "raise local_model.context_tokens, if the model was trained for more, or lower \
                      mission.max_conversation_bytes and mission.max_offered_tools"
                    .to_owned(),
            });
        }
        let mut sampling = Sampling::new(self.model, ask, self.seed)?;
        let kept = self.keep_beginning(&tokens);
        let mut done = Done {
            id: ask.id,
            finish: Finish::Cancelled,
            prompt_tokens: tokens.len() as u64,
            kept_tokens: kept as u64,
            reply_tokens: 0,
            prompt_ms: 0.0,
            reply_ms: 0.0,
            loosened: sampling.loosened().to_vec(),
        };
        // What llama.cpp said of grammars that it can't use is no failure.
        log::forget();
        let is_read = self.read(tokens.get(kept..).unwrap_or_default(), || cancelled.is(ask.id))?;
        done.prompt_ms = milliseconds(began.elapsed());
        if !is_read {
            return Ok(done);
        }
        let began = Instant::now();
        let most = (ask.max_tokens as usize).min(context - tokens.len());
        (done.finish, done.reply_tokens) = self.reply(ask.id, most, &mut sampling, cancelled, output)?;
        done.reply_ms = milliseconds(began.elapsed());
        Ok(done)
    }

    /// Lets the context forget all but what a conversation begins with. Returns the tokens that are kept. The last of them is
    /// always computed: what follows it is to be known.
    fn keep_beginning(&mut self, tokens: &[LlamaToken]) -> usize {
        let same = self.held.iter().zip(tokens).take_while(|(held, token)| held == token).count();
        let mut kept = same.min(tokens.len().saturating_sub(1));
        let from = u32::try_from(kept).unwrap_or(u32::MAX);
        // Some architectures can't forget a part.
        if !matches!(self.context.clear_kv_cache_seq(Some(0), Some(from), None), Ok(true)) {
            self.context.clear_kv_cache();
            kept = 0;
        }
        self.held.truncate(kept);
        kept
    }

    /// Computes tokens of a conversation. Returns whether it came to their end.
    fn read(&mut self, tokens: &[LlamaToken], is_cancelled: impl Fn() -> bool) -> Result<bool, Problem> {
        for part in tokens.chunks(BATCH) {
            if is_cancelled() {
                return Ok(false);
            }
            self.compute(part)?;
        }
        Ok(true)
    }

    fn compute(&mut self, tokens: &[LlamaToken]) -> Result<(), Problem> {
        let mut batch = LlamaBatch::new(tokens.len(), 1);
        for (index, token) in tokens.iter().enumerate() {
            let position = i32::try_from(self.held.len() + index).unwrap_or(i32::MAX);
            let is_last = index + 1 == tokens.len();
            batch.add(*token, position, &[0], is_last).map_err(|error| failed(&error.to_string()))?;
        }
        if let Err(error) = self.context.decode(&mut batch) {
            // Nobody knows how much of it is held.
            self.context.clear_kv_cache();
            self.held.clear();
            return Err(failed(&error.to_string()));
        }
        self.held.extend_from_slice(tokens);
        Ok(())
    }

    /// Writes the reply. Returns why it ended, and its tokens.
    fn reply(
        &mut self,
        id: u64,
        most: usize,
        sampling: &mut Sampling,
        cancelled: &Cancelled,
        output: &Output,
    ) -> Result<(Finish, u64), Problem> {
        let mut letters = Letters::new(self.conversations.ends_plainly());
        let mut tokens = 0;
        let finish = loop {
            if cancelled.is(id) {
                break Finish::Cancelled;
            }
            if tokens as usize >= most {
                break Finish::Length;
            }
            let token = sampling.next(&self.context)?;
            tokens += 1;
            if self.model.vocab().is_eog(token) {
                break Finish::Whole;
            }
            let text = letters.add(&self.model.vocab().token_to_piece(token, false, None));
            if !text.is_empty() {
                output.write(&FromModel::Piece(Piece { id, text }));
            }
            if letters.has_ended() {
                break Finish::Whole;
            }
            self.compute(&[token])?;
        };
        let rest = letters.rest();
        if !rest.is_empty() {
            output.write(&FromModel::Piece(Piece { id, text: rest }));
        }
        Ok((finish, tokens))
    }
}

fn refused(error: &gguf::GgufError) -> Problem {
    Problem { problem: error.to_string(), fix: String::new() }
}

fn failed(problem: &str) -> Problem {
    let words = log::last().map(|words| format!(" ({words})")).unwrap_or_default();
    Problem { problem: format!("llama.cpp failed: {problem}{words}"), fix: String::new() }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
