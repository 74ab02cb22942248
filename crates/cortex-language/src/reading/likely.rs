//! What a clause most likely asks for, where not every word of it is accounted for: something to be asked about, never
//! something to be done.
//!
//! Each tool is held against the clause by any verb in it, wherever it stands. What speaks for the tool is weighed
//! against the words that it leaves over, and only what stands out is offered. A word that forbids a guess leaves nothing
//! to be offered.

use super::cover::Draft;
use super::fit::{Fit, Strength};
use super::{Call, Context, Core, Held, Likely, Reader};
use crate::language::{Form, Guard};
use crate::numbers::{self, Dimension};
use crate::robot::{self, Tool, Usage, VerbHit};
use crate::sentence::Word;
use crate::tokens::Kind;
use crate::wordnet::{self, PartOfSpeech};

/// Most meanings that a clause is asked about with.
const OFFERED: usize = 3;
/// So much has to speak for a tool at least.
const EVIDENCE_NEEDED: f64 = 5.0;
/// So much of what speaks for a tool the words left over may take away.
const LEFT_OVER_AT_MOST: f64 = 0.8;
/// So far below the best one another meaning is still offered.
const MARGIN: f64 = 2.0;
/// The weight of a word from which it is a thing.
pub(super) const THING: f64 = 2.0;

impl Reader<'_> {
    /// The calls that the clause may ask for, the likeliest first.
    pub(super) fn likely(&self, core: Core<'_>, context: Context<'_>) -> Vec<Likely> {
        if core.words.is_empty() || self.forbids(core) || self.names_time(core.words) {
            return Vec::new();
        }
        let mut found: Vec<Likely> = Vec::new();
        let hits = robot::hits(core.words, self.language);
        let spots = self.spots(core.words);
        let core = Core { spots: &spots, ..core };
        let candidates = self.candidates(&Held { core, hits: &hits, said: core, said_hits: &[], context }, true);
        // What speaks for the others has to outweigh what they leave over.
        #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
        let evidence = 3.0 + 3.0 * candidates.generic() as f64;
        let weights: Vec<f64> = core.words.iter().map(|word| self.weight(word)).collect();
        let unexplained = candidates.unexplained().iter().filter_map(|at| weights.get(*at));
        let left: f64 = unexplained.sum();
        let tools = if left > evidence * LEFT_OVER_AT_MOST {
            candidates.meant
        } else {
            candidates.meant.with(&candidates.others)
        };
        // "What do you see in the kitchen?" asks for no light.
        let asked = if core.asks { self.hits(core.words).0 } else { Vec::new() };
        let tells = |tool: &Tool| {
            asked.is_empty() || asked.iter().flat_map(|hit| &hit.topics).any(|topic| self.tells(tool, topic) > 0.0)
        };
        for index in tools.iter() {
            let Some(tool) = self.robot.tool(index) else { continue };
            let answers = tool.usage != Usage::Step || tool.looks;
            if core.asks && !(answers && tells(tool)) {
                continue;
            }
            for fit in self.loose_fits(tool, core, &hits) {
                if let Some(likely) = self.likely_call(index, tool, core, &fit, &weights, context)
                    && !found.iter().any(|other| other.calls == likely.calls && other.score >= likely.score)
                {
                    found.retain(|other| other.calls != likely.calls);
                    found.push(likely);
                }
            }
        }
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        let best = found.first().map_or(0.0, |best| best.score);
        found.retain(|likely| likely.score >= best - MARGIN);
        found.truncate(OFFERED);
        found
    }

    /// Returns true if a word says that nothing is to be done as it stands. A question may leave open who or which: "is
    /// anybody there?"
    fn forbids(&self, core: Core<'_>) -> bool {
        let opening = if core.asks { self.language.words.openings.length(core.words) } else { 0 };
        self.guarded(core.words.get(opening..).unwrap_or_default()).is_some_and(|(guard, _)| match guard {
            Guard::Reference | Guard::Report => false,
            Guard::Choice => !core.asks,
            Guard::Negation | Guard::Condition | Guard::Timing => true,
        })
    }

    /// Returns true if a time is said at which something is to be done: "at six", "in ten minutes", "at half past five".
    pub(super) fn names_time(&self, words: &[Word]) -> bool {
        let hints = &self.language.facts.hints;
        let time = |said: &numbers::Said| said.unit.is_some_and(|unit| unit.dimension == Dimension::Time);
        (0..words.len()).any(|at| {
            let Some((word, rest)) = words.get(at..).and_then(<[Word]>::split_first) else { return false };
            let said = numbers::read(rest, self.language);
            let end = said.as_ref().map_or(0, |said| said.length);
            (hints.time_from_now.has(&word.text) && said.as_ref().is_some_and(time))
                || (hints.time_of_day.has(&word.text)
                    && said.is_some_and(|said| said.unit.is_none())
                    && end == rest.len())
                || hints.time_past.has(&word.text) && said.is_some()
                || hints.time_sharp.has(&word.text)
        })
    }

    /// Returns true if something wishes that a thing be done, rather than tells that it was: "I'd love the door closed".
    fn is_wished(&self, core: Core<'_>, at: usize) -> bool {
        let wishes = &self.language.facts.hints.wishes;
        core.lead.is_some() || core.words.get(..at).unwrap_or_default().iter().any(|word| wishes.has(&word.text))
    }

    /// The ways in which the tool may be asked for, by any verb of the clause and by things alone.
    fn loose_fits(&self, tool: &Tool, core: Core<'_>, hits: &[VerbHit]) -> Vec<Fit> {
        let mut fits: Vec<Fit> = Vec::new();
        for hit in hits {
            let first = hit.at.first().copied().unwrap_or_default();
            // The "inches" of "two inches" is no verb.
            let is_unit =
                first.checked_sub(1).and_then(|before| core.words.get(before)).is_some_and(|it| it.number.is_some())
                    && core.words.get(first).is_some_and(|word| self.language.unit(&word.text).is_some());
            if is_unit {
                continue;
            }
            let is_past = core.words.get(first).is_some_and(|word| self.language.form(&word.text) == Form::Past);
            if is_past && !core.asks && !self.is_wished(core, first) {
                continue;
            }
            for fit in self.by_verb(tool, hit, core, hits) {
                if !fits.contains(&fit) {
                    fits.push(fit);
                }
            }
        }
        fits.extend(self.by_things(tool, &[]));
        fits
    }

    fn likely_call(
        &self,
        index: usize,
        tool: &Tool,
        core: Core<'_>,
        fit: &Fit,
        weights: &[f64],
        context: Context<'_>,
    ) -> Option<Likely> {
        let mut draft = self.drafted(tool, core, fit, context);
        if draft.wrong.is_some() || !self.settled(tool, core, fit, &mut draft).ok()? {
            return None;
        }
        let answers = tool.usage != Usage::Step || tool.looks;
        if answers && self.counts_in_vain(tool, core) {
            return None;
        }
        if answers && !core.asks && fit.strength < Strength::Described {
            return None;
        }
        if !answers && core.lead.is_none() && self.is_statement(core.words) {
            return None;
        }
        let left_over = || draft.leftover.iter().filter_map(|at| weights.get(*at));
        // "Switch the kettle on" asks for no light: where nothing but the verb fits, no thing may be left over.
        let says_thing = draft.matched > 0 || draft.names_tool;
        if !says_thing && left_over().any(|weight| *weight >= THING) {
            return None;
        }
        let evidence = evidence(fit, &draft);
        let left: f64 = left_over().sum();
        if evidence < EVIDENCE_NEEDED || left > evidence * LEFT_OVER_AT_MOST {
            return None;
        }
        let calls: Vec<Call> = self.calls(index, tool, &draft, context, fit.goes_on).ok()?;
        let is_sure = !answers
            && self.is_sure(core, fit, &draft, context)
            && !self.is_doubtful(tool, core.words, fit, &draft, context);
        Some(Likely { calls, score: evidence - left, is_sure })
    }

    /// "Grab that ice box", "pop it on the scales": the tool's own verb and its things are said, and nothing but words that
    /// stand for things or help a verb are left over.
    fn is_sure(&self, core: Core<'_>, fit: &Fit, draft: &Draft, context: Context<'_>) -> bool {
        let pale = &self.language.words.pale;
        let joined = |at: usize| core.words.get(at..).is_some_and(|rest| self.language.words.joints.length(rest) > 0);
        let is_one = core.words.iter().all(|word| word.kind != Kind::Mark) && !(0..core.words.len()).any(joined);
        // "Turn off the light in there", where nobody said where: that is no word without meaning.
        let is_nowhere = |at: &usize| {
            let rest = core.words.get(*at..).unwrap_or_default();
            context.place.is_none() && self.language.words.places.length(rest) > 0
        };
        let is_pale = |at: &usize| core.words.get(*at).is_some_and(|word| pale.has(&word.text)) && !is_nowhere(at);
        let is_free = |at: &usize| {
            let rest = core.words.get(*at..).unwrap_or_default();
            rest.first().is_some_and(|word| pale.has(&word.text)) || self.language.empty(rest) > 0
        };
        let begins = fit.at.first().is_some_and(|first| (0..*first).all(|at| is_free(&at)));
        is_one
            && begins
            && !draft.leftover.is_empty()
            && !context.is_subordinate
            && !context.corrects
            && fit.strength >= Strength::Described
            && (draft.matched > 0 || draft.names_tool)
            && draft.leftover.iter().all(is_pale)
    }

    /// The weight of a word that nothing accounts for: things weigh most, words that only join others least.
    pub(super) fn weight(&self, word: &Word) -> f64 {
        match word.kind {
            Kind::Mark => return 0.2,
            Kind::Quoted => return 6.0,
            Kind::Number => return 4.0,
            Kind::Word => {}
        }
        let language = self.language;
        if language.state(std::slice::from_ref(word)).is_some() {
            return 3.0;
        }
        if language.weighty(&word.text)
            || language.is_plain_role(&word.text)
            || language.words.questions.has(&word.text)
        {
            return 0.7;
        }
        if language.is_manner(&word.text) || word.number.is_some() {
            return 2.5;
        }
        if !language.facts.wordnet {
            return if language.knows(&word.text) && !language.is_noun(&word.text) { 1.2 } else { 2.5 };
        }
        let base = |part| !wordnet::base_forms(&word.text, part).is_empty();
        match (base(PartOfSpeech::Noun), base(PartOfSpeech::Verb)) {
            (true, false) => 2.5,
            (true, true) => 2.0,
            (false, true) => 1.5,
            (false, false) if wordnet::is_word(&word.text) => 1.2,
            (false, false) => 2.0,
        }
    }
}

/// What speaks for the tool.
#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
fn evidence(fit: &Fit, draft: &Draft) -> f64 {
    let verb = match fit.strength {
        Strength::Things => 0.0,
        Strength::Related => 3.0,
        Strength::Described => 4.0,
        Strength::Own | Strength::Phrase => 5.0,
    };
    verb + draft.matched as f64 * 3.0 + draft.described as f64
}
