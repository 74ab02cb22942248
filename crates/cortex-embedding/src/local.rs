//! A sentence-embedding model in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use cortex_core::{EmbedError, Embedder};
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokenizers::{PaddingParams, Tokenizer, TruncationParams};

use crate::bert::{Bert, Sizes};

/// Tokens of a text that count; the rest is left out. Sentence-embedding models of this size are trained on no more.
const MOST_TOKENS: usize = 256;
/// What a network must take at least: the marks of beginning and end, and a few words.
const LEAST_TOKENS: usize = 16;
/// Texts that are computed together.
const BATCH: usize = 16;
/// The largest file of a model, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// The files of a model.
const WEIGHTS: &str = "model.safetensors";
const SIZES: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";

/// Why a model can't be used.
#[derive(Debug, Error)]
pub enum OpenError {
    /// One of its files can't be read.
    #[error("{} can't be read: {problem}; a folder of a model holds {SIZES}, {TOKENIZER} and {WEIGHTS}", file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
    /// One of its files holds something else than a model that can be computed here.
    #[error("{} can't be used: {problem}; use a model of the form of all-MiniLM-L6-v2 (BERT, in safetensors)", file.display())]
    Unusable {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// A model in memory. Clones share it.
#[derive(Clone)]
pub struct LocalEmbedder {
    name: Arc<str>,
    network: Arc<Network>,
    /// One thread each: the robot needs the others. A task of a person does not wait behind a pile of documents.
    for_one: Arc<ThreadPool>,
    for_many: Arc<ThreadPool>,
}

struct Network {
    tokenizer: Tokenizer,
    bert: Bert,
}

impl LocalEmbedder {
    /// Reads the model in this folder (`config.json`, `tokenizer.json`, `model.safetensors`). Takes a while: not for a thread
    /// that others wait for.
    ///
    /// # Errors
    /// When it can't be read, or is of another form.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let config = read(&folder.join(SIZES))?;
        let unusable = |file: &str| {
            let file = folder.join(file);
            move |problem: String| OpenError::Unusable { file, problem }
        };
        let sizes: Sizes = serde_json::from_slice(&config).map_err(|problem| unusable(SIZES)(problem.to_string()))?;
        if let Some(flaw) = flaw(&sizes) {
            return Err(unusable(SIZES)(flaw));
        }
        let written = read(&folder.join(TOKENIZER))?;
        let tokenizer = tokenizer(&written, &sizes).map_err(|problem| unusable(TOKENIZER)(problem.to_string()))?;
        if tokenizer.get_vocab_size(true) > sizes.vocab_size {
            let problem = format!("it knows more tokens than the {} of the network", sizes.vocab_size);
            return Err(unusable(TOKENIZER)(problem));
        }
        let weights = read(&folder.join(WEIGHTS))?;
        let digest = Sha256::new().chain_update(&config).chain_update(&weights).chain_update(&written).finalize();
        let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let bert = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .and_then(|weights| Bert::load(&sizes, &weights))
            .map_err(|problem| unusable(WEIGHTS)(problem.to_string()))?;
        let network = Network { tokenizer, bert };
        // Sizes that do not fit one another, or the tokenizer, show at the first text.
        network.embed(&["what is in the kitchen?".to_owned()]).map_err(|problem| unusable(WEIGHTS)(problem.0))?;
        let thread = || {
            let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "embedding".to_owned()).build();
            pool.map(Arc::new).map_err(|problem| unusable(WEIGHTS)(problem.to_string()))
        };
        let name = format!("local:{digest}").into();
        Ok(Self { name, network: Arc::new(network), for_one: thread()?, for_many: thread()? })
    }
}

fn read(file: &Path) -> Result<Vec<u8>, OpenError> {
    let unreadable = |problem: String| OpenError::Unreadable { file: file.to_owned(), problem };
    let bytes = std::fs::metadata(file).map_err(|problem| unreadable(problem.to_string()))?;
    if !bytes.is_file() {
        return Err(unreadable("it is no file".to_owned()));
    }
    if bytes.len() > MOST_BYTES {
        return Err(unreadable(format!(
            "it has {} MiB, and at most {} MiB are read",
            bytes.len() >> 20,
            MOST_BYTES >> 20
        )));
    }
    std::fs::read(file).map_err(|problem| unreadable(problem.to_string()))
}

/// What keeps a network of these sizes from being computed here.
fn flaw(sizes: &Sizes) -> Option<String> {
    let Sizes { model_type, hidden_act, hidden_size, num_attention_heads: heads, .. } = sizes;
    if sizes.max_position_embeddings < LEAST_TOKENS {
        return Some(format!("it takes texts of {} tokens only", sizes.max_position_embeddings));
    }
    if model_type != "bert" || hidden_act != "gelu" {
        return Some(format!("it is a model of type '{model_type}' with '{hidden_act}'"));
    }
    // Nothing is divided by zero.
    let is_shared = *heads > 0 && *hidden_size > 0 && hidden_size.is_multiple_of(*heads);
    (!is_shared).then(|| format!("{hidden_size} numbers can't be shared by {heads} heads"))
}

fn tokenizer(written: &[u8], sizes: &Sizes) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(written)?;
    let max_length = MOST_TOKENS.min(sizes.max_position_embeddings);
    tokenizer.with_truncation(Some(TruncationParams { max_length, ..TruncationParams::default() }))?;
    tokenizer.with_padding(Some(PaddingParams::default()));
    Ok(tokenizer)
}

impl Network {
    /// The vectors of some texts, each of length 1.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let failed = |problem: &dyn std::fmt::Display| EmbedError(problem.to_string());
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let encoded = self.tokenizer.encode_batch(batch.to_vec(), true).map_err(|problem| failed(&problem))?;
            let rows = |of: fn(&tokenizers::Encoding) -> &[u32]| {
                let rows: Vec<Tensor> = encoded
                    .iter()
                    .map(|encoding| Tensor::new(of(encoding), &Device::Cpu))
                    .collect::<candle_core::Result<_>>()?;
                Tensor::stack(&rows, 0)
            };
            let computed = rows(tokenizers::Encoding::get_ids).and_then(|tokens| {
                let mask = rows(tokenizers::Encoding::get_attention_mask)?;
                means(&self.bert.forward(&tokens, &mask)?, &mask)?.to_vec2::<f32>()
            });
            vectors.extend(computed.map_err(|problem| failed(&problem))?);
        }
        if vectors.iter().flatten().all(|number| number.is_finite()) {
            return Ok(vectors);
        }
        Err(EmbedError("the model computes numbers without end".to_owned()))
    }
}

/// The mean over the tokens that are there, as a vector of length 1.
fn means(hidden: &Tensor, mask: &Tensor) -> candle_core::Result<Tensor> {
    let mask = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
    let sum = hidden.broadcast_mul(&mask)?.sum(1)?;
    sum.broadcast_div(&sum.sqr()?.sum_keepdim(1)?.sqrt()?)
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let network = Arc::clone(&self.network);
        let pool = Arc::clone(if texts.len() > 1 { &self.for_many } else { &self.for_one });
        let computed = tokio::task::spawn_blocking(move || pool.install(|| network.embed(&texts))).await;
        computed.map_err(|problem| EmbedError(problem.to_string()))?
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MINILM: &str = r#"{"model_type": "bert", "hidden_act": "gelu", "hidden_size": 384, "intermediate_size": 1536,
        "num_attention_heads": 12, "num_hidden_layers": 6, "max_position_embeddings": 512, "type_vocab_size": 2,
        "vocab_size": 30522, "layer_norm_eps": 1e-12}"#;

    fn problem(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        LocalEmbedder::open(folder.path()).err().unwrap().to_string()
    }

    #[test]
    fn a_folder_that_holds_no_model_is_named_with_what_is_missing_or_wrong() {
        assert!(problem(&[]).contains("config.json can't be read"), "{}", problem(&[]));
        let heads = MINILM.replace("\"num_attention_heads\": 12", "\"num_attention_heads\": 0");
        let other = MINILM.replace("bert", "llama");
        for (config, expected) in [("{}", "missing field"), (&heads, "shared by 0 heads"), (&other, "of type 'llama'")]
        {
            let problem = problem(&[(SIZES, config)]);
            assert!(problem.contains(expected) && problem.contains("all-MiniLM-L6-v2"), "{problem}");
        }
        let found = problem(&[(SIZES, MINILM), (TOKENIZER, "[]"), (WEIGHTS, "")]);
        assert!(found.contains("tokenizer.json can't be used"), "{found}");
    }
}
