//! Words of the person's own as a value: "grasp the red cup", "save it as before_lunch".

use super::cover::Draft;
use super::fit::{Fit, Strength};
use super::{Core, Reader};
use crate::robot::{ParameterKind, Tool};
use crate::tokens::Kind;

/// Most words of a name that nobody put into quotation marks.
const NAME_WORDS: usize = 6;

/// Returns true if words of the person's own may be a value of the tool.
pub(super) fn may_take_name(tool: &Tool, fit: &Fit) -> bool {
    tool.text.is_none()
        && fit.strength >= Strength::Own
        && tool.parameters.iter().any(|it| matches!(it.kind, ParameterKind::Text(_)))
}

impl Reader<'_> {
    /// Words of the person's own that name what the tool's one text takes: "grasp the red cup".
    pub(super) fn name(&self, tool: &Tool, core: Core<'_>, fit: &Fit, draft: &Draft) -> Option<(usize, String)> {
        if !may_take_name(tool, fit) || core.asks {
            return None;
        }
        let mut texts = tool
            .parameters
            .iter()
            .enumerate()
            .filter(|(at, it)| matches!(it.kind, ParameterKind::Text(_)) && !draft.values.contains_key(at));
        let (at, parameter) = texts.next().filter(|_| texts.next().is_none())?;
        let (first, last) = (*draft.leftover.first()?, *draft.leftover.last()?);
        let words = core.words.get(first..=last)?;
        let together = (first..=last).all(|at| {
            draft.leftover.contains(&at) || core.words.get(at).is_some_and(|it| self.language.is_article(&it.text))
        });
        let plain = words.iter().all(|word| word.kind != Kind::Mark && word.kind != Kind::Quoted);
        let says_more = self.guarded(words).is_some()
            || words.iter().any(|word| {
                self.language.words.joints.has(&word.text)
                    || self.language.words.things.has(&word.text)
                    || self.language.words.shifting.has(&word.text)
                    || self.language.is_manner(&word.text)
            });
        // "A photo of the slide" is called nothing.
        let before = first.checked_sub(1).and_then(|before| core.words.get(before));
        let is_time = self.may_be_time(core.words, first);
        let is_of = !parameter.required && before.is_some_and(|before| self.language.is_article(&before.text));
        if is_time || is_of {
            return None;
        }
        // "A photo through the microscope".
        if words.first().is_some_and(|first| self.language.roles.contains_key(&first.text)) {
            return None;
        }
        let text = parameter.shaped(&self.written(words))?;
        let limit = match parameter.kind {
            ParameterKind::Text(limit) => limit.unwrap_or(u64::MAX),
            _ => u64::MAX,
        };
        (together && plain && !says_more && words.len() <= NAME_WORDS && text.chars().count() as u64 <= limit)
            .then_some((at, text))
    }
}
