//! One clause held against one tool: what is accounted for so far, and what is missing in the end.

use serde_json::{Map, Value};

use super::{Call, Score, Source, listed};
use crate::reflex::problem::Problem;
use crate::reflex::slots::{self, Mismatch, Parameter, ParameterKind};
use crate::reflex::tokens::{Kind, Token};
use crate::reflex::toolbox::Tool;

/// One clause held against one tool.
#[derive(Clone, Copy)]
pub(super) struct Clause<'c, 'r> {
    pub(super) task: &'c str,
    pub(super) tokens: &'c [Token],
    pub(super) tool: &'c Tool<'r>,
    pub(super) index: usize,
}

/// What is known of a call so far.
pub(super) struct Draft {
    /// For each token, whether it is accounted for.
    pub(super) used: Vec<bool>,
    pub(super) arguments: Map<String, Value>,
    pub(super) matched: usize,
    pub(super) has_text: bool,
    /// Whether a value or a noun of the tool was said.
    pub(super) has_object: bool,
    pub(super) has_number: bool,
}

/// `None` where the tool is not meant at all.
pub(super) type Attempt = Option<Result<Call, Miss>>;

/// Why there is no call, and how close the clause came to one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Miss {
    pub(super) closeness: usize,
    pub(super) problem: Problem,
}

impl Miss {
    pub(super) fn new(closeness: usize, problem: Problem) -> Self {
        Self { closeness, problem }
    }
}

impl Clause<'_, '_> {
    pub(super) fn draft(&self) -> Draft {
        Draft {
            used: vec![false; self.tokens.len()],
            arguments: Map::new(),
            matched: 0,
            has_text: false,
            has_object: false,
            has_number: false,
        }
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(super) fn parameter(&self, index: usize) -> Option<&Parameter> {
        self.tool.parameters.get(index)
    }

    pub(super) fn skip_fillers(&self, mut at: usize) -> usize {
        while self.token(at).is_some_and(Token::is_filler) {
            at += 1;
        }
        at
    }

    /// The clause as written, from one token to before another.
    pub(super) fn written(&self, from: usize, to: usize) -> String {
        let start = self.token(from).map(|token| token.start);
        let end = to.checked_sub(1).and_then(|last| self.token(last)).map(|token| token.end);
        let span = start.zip(end).and_then(|(start, end)| self.task.get(start..end));
        span.unwrap_or_default().trim().to_owned()
    }

    /// The text between two tokens as a value: without the marks if it is one quotation.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        match self.tokens.get(from..to) {
            Some([only]) if only.kind == Kind::Quoted => only.word.clone(),
            _ => self.written(from, to),
        }
    }

    pub(super) fn mark(&self, draft: &mut Draft, from: usize, to: usize) {
        for used in draft.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
    }

    /// The one text that the tool takes and that was not yet said, with the most characters that it may have.
    pub(super) fn open_text(&self, draft: &Draft) -> Option<(usize, Option<u64>)> {
        let mut texts = self.tool.parameters.iter().enumerate().filter_map(|(index, parameter)| match parameter.kind {
            ParameterKind::Text(limit) if !draft.arguments.contains_key(&parameter.name) => Some((index, limit)),
            _ => None,
        });
        texts.next().filter(|_| texts.next().is_none())
    }

    /// Every word accounted for, and every value that must be given is given: the call.
    pub(super) fn finish(&self, mut draft: Draft, source: Source) -> Result<Call, Miss> {
        let leftover = if source == Source::Phrase { self.assign_rest(&mut draft)? } else { Vec::new() };
        if let (Some(first), Some(last)) = (leftover.first(), leftover.last()) {
            return Err(self.unexplained(&draft, *first, *last + 1));
        }
        for parameter in self.tool.parameters.iter().filter(|it| it.required) {
            if draft.arguments.contains_key(&parameter.name) {
                continue;
            }
            match &parameter.default {
                Some(default) => {
                    draft.arguments.insert(parameter.name.clone(), default.clone());
                }
                None => return Err(self.missing(draft.matched, parameter)),
            }
        }
        let score = Score { closed: !draft.has_text, source, matched: draft.matched };
        Ok(Call { tool: self.index, arguments: draft.arguments, score })
    }

    /// What is wrong with words that nothing accounts for: most likely they are meant as a value that is still open.
    pub(super) fn unexplained(&self, draft: &Draft, from: usize, to: usize) -> Miss {
        let mut open = self.tool.parameters.iter().filter_map(|parameter| match &parameter.kind {
            ParameterKind::Choice(values) if parameter.required && !draft.arguments.contains_key(&parameter.name) => {
                Some((parameter, values))
            }
            _ => None,
        });
        match (open.next(), open.next()) {
            (Some((parameter, values)), None) => self.unknown_value(draft.matched, parameter, values, from, to),
            _ => Miss::new(draft.matched, Problem::UnknownWords { words: self.written(from, to) }),
        }
    }

    pub(super) fn missing(&self, closeness: usize, parameter: &Parameter) -> Miss {
        let wanted = match &parameter.kind {
            ParameterKind::Choice(values) => {
                format!(", one of: {}", listed(&values.iter().map(slots::spoken).collect::<Vec<_>>()))
            }
            ParameterKind::Flag => ", on or off".to_owned(),
            ParameterKind::Number(kind) => format!(", {}", kind.bounds()),
            ParameterKind::Text(_) | ParameterKind::Any => String::new(),
            ParameterKind::Other => {
                let problem = Problem::Unsayable { tool: self.index, parameter: parameter.label.clone() };
                return Miss::new(closeness, problem);
            }
        };
        Miss::new(closeness, Problem::Missing { tool: self.index, parameter: parameter.label.clone(), wanted })
    }

    pub(super) fn unknown_value(
        &self,
        closeness: usize,
        parameter: &Parameter,
        values: &[Value],
        from: usize,
        to: usize,
    ) -> Miss {
        let said = self.written(from, to);
        let similar = slots::similar_choice(values, &said).map(slots::spoken);
        let choices = values.iter().map(slots::spoken).collect();
        let problem = Problem::UnknownValue { parameter: parameter.label.clone(), said, choices, similar };
        Miss::new(closeness + 1, problem)
    }

    pub(super) fn mismatch(
        &self,
        closeness: usize,
        parameter: &Parameter,
        mismatch: Mismatch,
        at: usize,
        length: usize,
    ) -> Miss {
        let parameter = parameter.label.clone();
        let said = self.written(at, at + length);
        let problem = match mismatch {
            Mismatch::OutOfBounds(bounds) => Problem::OutOfBounds { parameter, said, bounds },
            Mismatch::Unit | Mismatch::UnknownUnit => Problem::Unit { parameter, said },
        };
        Miss::new(closeness + 1, problem)
    }
}
