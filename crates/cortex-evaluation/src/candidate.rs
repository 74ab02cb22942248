//! A model to be tried, and what it is asked otherwise than recorded.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::mission::Prices;
use cortex_core::{ChatModel, ChatRequest, Fragment, Message, Purpose};
use cortex_runtime::tape::Question;

/// A model to be tried.
#[derive(Clone)]
pub struct Candidate {
    /// What people call it.
    pub name: String,
    /// Asked without a robot. It should not be shadowed or chained: what it says itself is to be seen.
    pub model: Arc<dyn ChatModel>,
    /// What its tokens cost.
    pub prices: Prices,
    /// How long one answer may take, whatever the model's own bounds are.
    pub timeout: Duration,
    /// What it is asked otherwise than recorded.
    pub variation: Variation,
}

/// What is asked otherwise than recorded. By default nothing is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variation {
    /// Rules in place of the recorded ones, for plans and answers.
    pub planning_rules: Option<String>,
    /// The same for decisions on steps.
    pub confirmation_rules: Option<String>,
    /// Randomness of plans and answers, 0 to 2.
    pub planning_temperature: Option<f32>,
    /// Most tokens of a plan or an answer.
    pub planning_tokens: Option<u32>,
    /// Randomness of decisions on steps, 0 to 2.
    pub confirmation_temperature: Option<f32>,
    /// Most tokens of such a decision.
    pub confirmation_tokens: Option<u32>,
    /// Whether each question is asked as this Cortex words it, and not as recorded.
    pub is_reworded: bool,
}

impl Variation {
    /// What is asked in place of a recorded question.
    #[must_use]
    pub fn request(&self, question: &Question<'_>) -> ChatRequest {
        let reworded = question.reworded.filter(|_| self.is_reworded);
        let mut request = reworded.unwrap_or(question.asked).clone();
        let (rules, temperature, tokens) = match request.purpose {
            Purpose::Plan => (&self.planning_rules, self.planning_temperature, self.planning_tokens),
            Purpose::Confirm => (&self.confirmation_rules, self.confirmation_temperature, self.confirmation_tokens),
            Purpose::Correct => (&None, self.confirmation_temperature, self.confirmation_tokens),
        };
        if let Some(rules) = rules {
            replace_rules(&mut request, rules);
        }
        request.temperature = temperature.unwrap_or(request.temperature);
        request.max_tokens = tokens.unwrap_or(request.max_tokens);
        request
    }
}

/// Puts other rules where the first ones stand.
fn replace_rules(request: &mut ChatRequest, rules: &str) {
    let fragments = request.messages.iter_mut().filter_map(|message| match message {
        Message::System { fragments } => Some(fragments),
        Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let found = fragments.flatten().find_map(|fragment| match fragment {
        Fragment::Rules { text } => Some(text),
        _ => None,
    });
    if let Some(text) = found {
        rules.clone_into(text);
    }
}
