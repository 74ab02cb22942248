//! The next token, within the grammar.
//!
//! A grammar that looks at each token of a vocabulary costs more than a small model itself. So a token is chosen first, and
//! the grammar looks at that one; only where it refuses, it looks at all.

use cortex_local_model::protocol::{Ask, Problem};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use super::{failed, grammar};

/// Tokens among which chance chooses: the likeliest, as many as make this share of all.
const SHARE: f32 = 0.95;
/// Most of them.
const CANDIDATES: i32 = 40;

/// How tokens of one reply are chosen.
pub(super) struct Sampling {
    grammar: LlamaSampler,
    choice: LlamaSampler,
    /// Tools of which the grammar does not hold all that their schemas ask for.
    loosened: Vec<String>,
}

impl Sampling {
    pub(super) fn new(model: &LlamaModel, ask: &Ask, seed: u32) -> Result<Self, Problem> {
        let compile = |rules: &str| LlamaSampler::grammar(model, rules, grammar::ROOT).ok();
        let (grammar, loosened) = grammar::usable(ask, compile)?;
        let choice = if ask.temperature > 0.0 {
            LlamaSampler::chain_simple([
                LlamaSampler::top_k(CANDIDATES),
                LlamaSampler::top_p(SHARE, 1),
                LlamaSampler::temp(ask.temperature),
                LlamaSampler::dist(seed),
            ])
        } else {
            LlamaSampler::greedy()
        };
        Ok(Self { grammar, choice, loosened })
    }

    pub(super) fn loosened(&self) -> &[String] {
        &self.loosened
    }

    /// Chooses the next token.
    pub(super) fn next(&mut self, context: &LlamaContext<'_>) -> Result<LlamaToken, Problem> {
        let first = self.chosen(context.token_data_array())?;
        let token = if self.fits(first) {
            first
        } else {
            let mut all = context.token_data_array();
            self.grammar.apply(&mut all);
            all.data.retain(|candidate| candidate.logit() != f32::NEG_INFINITY);
            self.chosen(all)?
        };
        self.grammar.try_accept(token).map_err(|error| failed(&format!("the grammar ended: {error}")))?;
        self.choice.accept(token);
        Ok(token)
    }

    fn chosen(&mut self, mut candidates: LlamaTokenDataArray) -> Result<LlamaToken, Problem> {
        self.choice.apply(&mut candidates);
        candidates.selected_token().ok_or_else(|| failed("no token fits the grammar"))
    }

    fn fits(&mut self, token: LlamaToken) -> bool {
        let mut alone = LlamaTokenDataArray::new(vec![LlamaTokenData::new(token, 1.0, 1.0)], false);
        self.grammar.apply(&mut alone);
        alone.data.first().is_some_and(|candidate| candidate.logit() != f32::NEG_INFINITY)
    }
}
