//! A clause held against tools, in every way in which it may ask for them.

use std::cmp::Reverse;

use super::candidates::ToolSet;
use super::{Context, Core, Miss, Reader, Reading, Sought};
use crate::robot::{Tool, Usage, VerbHit};

/// A clause that is held against tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held<'w> {
    pub(crate) core: Core<'w>,
    /// The verbs in it.
    pub(crate) hits: &'w [VerbHit],
    /// Those by which it may ask: the first ones.
    pub(crate) first: &'w [&'w VerbHit],
    /// Verbs that ask though they do not come first.
    pub(crate) later: &'w [VerbHit],
    /// With what may be the end of a text.
    pub(crate) said: Core<'w>,
    pub(crate) said_hits: &'w [VerbHit],
    pub(crate) context: Context<'w>,
}

impl Reader<'_> {
    /// Everything that the clause may mean, and the closest that it comes to what it does not.
    pub(super) fn held_against_all(&self, clause: &Held<'_>, found: &mut Vec<Reading>, closest: &mut Option<Miss>) {
        let candidates = self.candidates(clause);
        let mut nearest: Option<(usize, Miss)> = None;
        let hold = |tools: &ToolSet, found: &mut Vec<Reading>, nearest: &mut Option<(usize, Miss)>| {
            for index in tools.iter() {
                let Some(tool) = self.robot.tool(index) else { continue };
                self.held_against(index, tool, clause, &mut |attempt| match attempt {
                    Ok(reading) => found.push(reading),
                    Err(miss) => {
                        let is_nearer = nearest.as_ref().is_none_or(|(at, other)| {
                            (miss.closeness, Reverse(index)) > (other.closeness, Reverse(*at))
                        });
                        if is_nearer {
                            *nearest = Some((index, miss));
                        }
                    }
                });
            }
        };
        hold(&candidates.first(), found, &mut nearest);
        // The others are only missed, and that matters where nothing better is found.
        let is_read = clause.context.sought == Sought::Calls || found.iter().any(|reading| reading.score.closed);
        let others = candidates.second(nearest.as_ref().map(|(_, miss)| miss.closeness));
        if let Some(others) = others.filter(|_| !is_read) {
            hold(others, found, &mut nearest);
        }
        if let Some((_, miss)) = nearest
            && closest.as_ref().is_none_or(|other| miss.closeness > other.closeness)
        {
            *closest = Some(miss);
        }
    }

    /// Everything that the clause may mean to one tool.
    fn held_against(&self, index: usize, tool: &Tool, clause: &Held<'_>, take: &mut dyn FnMut(Result<Reading, Miss>)) {
        let Held { core, said, context, .. } = *clause;
        let answers = tool.looks || tool.usage != Usage::Step;
        if core.asks && !answers {
            return;
        }
        for phrase in &tool.phrases {
            if let Some(attempt) = self.by_phrase(index, tool, phrase, core, context) {
                take(attempt);
            }
        }
        if let Some(attempt) = self.by_text(index, tool, said, clause.said_hits) {
            take(attempt);
        }
        for fit in self.fits(tool, clause) {
            if let Some(attempt) = self.cover(index, tool, core, &fit, context) {
                take(attempt);
            }
        }
    }
}
