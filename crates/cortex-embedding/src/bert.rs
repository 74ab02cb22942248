//! The network of BERT: from tokens to one vector for each of them.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, Module as _, VarBuilder, embedding, layer_norm, linear, ops};
use serde::Deserialize;

/// What is added to the score of a token that is not there.
const NOT_THERE: f64 = -1e9;

/// The sizes of a network, as `config.json` has them.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Sizes {
    pub(crate) model_type: String,
    pub(crate) hidden_act: String,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) type_vocab_size: usize,
    pub(crate) vocab_size: usize,
    pub(crate) layer_norm_eps: f64,
}

pub(crate) struct Bert {
    words: Embedding,
    positions: Embedding,
    types: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Bert {
    pub(crate) fn load(sizes: &Sizes, weights: &VarBuilder<'_>) -> Result<Self> {
        let (hidden, parts) = (sizes.hidden_size, weights.pp("embeddings"));
        let layers =
            (0..sizes.num_hidden_layers).map(|layer| Layer::load(sizes, &weights.pp(format!("encoder.layer.{layer}"))));
        Ok(Self {
            words: embedding(sizes.vocab_size, hidden, parts.pp("word_embeddings"))?,
            positions: embedding(sizes.max_position_embeddings, hidden, parts.pp("position_embeddings"))?,
            types: embedding(sizes.type_vocab_size, hidden, parts.pp("token_type_embeddings"))?,
            norm: layer_norm(hidden, sizes.layer_norm_eps, parts.pp("LayerNorm"))?,
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// The vectors of the tokens, of shape texts x tokens x size. `tokens` and `mask` are of shape texts x tokens; the mask is 1
    /// where there is a token and 0 where a shorter text was filled up.
    pub(crate) fn forward(&self, tokens: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let (_, length) = tokens.dims2()?;
        let positions = Tensor::arange(0, u32::try_from(length).unwrap_or(u32::MAX), &Device::Cpu)?;
        let embedded = (self.words.forward(tokens)? + self.types.forward(&tokens.zeros_like()?)?)?;
        let embedded = embedded.broadcast_add(&self.positions.forward(&positions)?)?;
        let mut hidden = self.norm.forward(&embedded)?;
        let absent = mask.to_dtype(DType::F32)?.affine(-NOT_THERE, NOT_THERE)?.unsqueeze(1)?.unsqueeze(1)?;
        for layer in &self.layers {
            hidden = layer.forward(&hidden, &absent)?;
        }
        Ok(hidden)
    }
}

struct Layer {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    inner: Linear,
    outer: Linear,
    norm: LayerNorm,
}

impl Layer {
    fn load(sizes: &Sizes, weights: &VarBuilder<'_>) -> Result<Self> {
        let (hidden, inner, eps) = (sizes.hidden_size, sizes.intermediate_size, sizes.layer_norm_eps);
        let (own, attention) = (weights.pp("attention.self"), weights.pp("attention.output"));
        Ok(Self {
            heads: sizes.num_attention_heads,
            query: linear(hidden, hidden, own.pp("query"))?,
            key: linear(hidden, hidden, own.pp("key"))?,
            value: linear(hidden, hidden, own.pp("value"))?,
            attended: linear(hidden, hidden, attention.pp("dense"))?,
            attended_norm: layer_norm(hidden, eps, attention.pp("LayerNorm"))?,
            inner: linear(hidden, inner, weights.pp("intermediate.dense"))?,
            outer: linear(inner, hidden, weights.pp("output.dense"))?,
            norm: layer_norm(hidden, eps, weights.pp("output.LayerNorm"))?,
        })
    }

    fn forward(&self, hidden: &Tensor, absent: &Tensor) -> Result<Tensor> {
        let (texts, length, size) = hidden.dims3()?;
        let of_head = size / self.heads;
        let split =
            |projected: Tensor| projected.reshape((texts, length, self.heads, of_head))?.transpose(1, 2)?.contiguous();
        let query = split(self.query.forward(hidden)?)?;
        let key = split(self.key.forward(hidden)?)?;
        let value = split(self.value.forward(hidden)?)?;
        #[allow(clippy::cast_precision_loss, reason = "a head has a few dozen numbers")]
        let scale = 1.0 / (of_head as f64).sqrt();
        let scores = query.matmul(&key.t()?.contiguous()?)?.affine(scale, 0.0)?.broadcast_add(absent)?;
        let context = ops::softmax_last_dim(&scores)?.matmul(&value)?;
        let context = context.transpose(1, 2)?.contiguous()?.reshape((texts, length, size))?;
        let attended = self.attended_norm.forward(&(self.attended.forward(&context)? + hidden)?)?;
        let inner = self.inner.forward(&attended)?.gelu_erf()?;
        self.norm.forward(&(self.outer.forward(&inner)? + attended)?)
    }
}
