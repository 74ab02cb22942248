//! The best of all readings of a clause.

use super::{Call, Clause, Context, Core, Likely, Miss, Reader, Reading, Sought, Strength};
use crate::language::Guard;
use crate::problem::Problem;
use crate::robot::Usage;
use crate::sentence::Word;

impl Reader<'_> {
    /// The best of what was found; else what is brought by several tools, or why there is nothing.
    pub(super) fn chosen(
        &self,
        mut found: Vec<Reading>,
        closest: Option<Miss>,
        words: &[Word],
        core: Core<'_>,
        context: Context<'_>,
    ) -> Clause {
        if let Some(reading) = self.handed(core, context) {
            return Clause::Read(vec![reading]);
        }
        // "Go there in a bit" is for later.
        if self.is_put_off(core.words) {
            found.retain(|reading| !reading.score.closed || !self.acts(reading));
        }
        // Where no verb asks for a tool, a thing may be brought by several.
        if found.iter().all(|reading| reading.score.strength == Strength::Things)
            && let Some(reading) = self.transfer(core, context)
        {
            return Clause::Read(vec![reading]);
        }
        // Where things alone ask for something, words of descriptions decide nothing.
        for reading in found.iter_mut().filter(|it| it.score.strength == Strength::Things) {
            reading.score.described = 0;
        }
        // What only words of descriptions speak for is no better than what the question is about.
        let is_look = |reading: &Reading| !self.acts(reading) && reading.score.strength <= Strength::Described;
        if core.asks
            && !found.is_empty()
            && found.iter().all(is_look)
            && context.sought == Sought::CallsOrReasons
            && context.place.is_none()
            && let Some(answer) = self.answer(words, &[]).filter(|answer| !answer.goes)
        {
            found.iter_mut().for_each(|reading| reading.calls.clone_from(&answer.calls));
        }
        let Some(best) = found.iter().map(|reading| reading.score).max() else {
            let miss = closest.unwrap_or(Miss { closeness: 0, problem: Problem::Unknown, nearly: Vec::new() });
            if context.sought != Sought::CallsOrReasons {
                return Clause::Missed(miss);
            }
            // A value that something of this robot does not take is no value of anything else.
            let is_near = !matches!(miss.problem, Problem::OutOfBounds { .. } | Problem::Unit { .. });
            let mut nearly = if is_near { self.likely(core, context) } else { Vec::new() };
            // "Open the gate": which of the gates?
            let either = miss.nearly.iter().filter(|it| !nearly.iter().any(|other| other.calls == it.calls)).cloned();
            let either: Vec<Likely> = either.collect();
            nearly.extend(either);
            return Clause::Missed(Miss { problem: self.gravest(core.words, miss.problem), nearly, ..miss });
        };
        // Whether free text is a call depends on how others missed it.
        if context.sought == Sought::Calls && !best.closed {
            return self.clause(words, Context { sought: Sought::CallsOrReasons, ..context });
        }
        // "Move to the garage" is no order to an arm, only because that moves whatever it is told.
        if let Some(miss) = closest.filter(|miss| matches!(miss.problem, Problem::UnknownValue { .. }))
            && !best.closed
            && !found.iter().any(|reading| self.hands_text(reading))
        {
            return Clause::Missed(miss);
        }
        // "Inspect the camera" is for what inspects what one names, where another tool only looks.
        let looks_only = |reading: &Reading| {
            let tool = reading.tool().and_then(|index| self.robot.tool(index));
            tool.is_some_and(|tool| tool.looks || tool.usage != Usage::Step)
        };
        let named = found
            .iter()
            .filter(|it| !it.score.closed && it.score.strength >= Strength::Own && looks_only(it))
            .map(|it| it.score)
            .max()
            .filter(|_| best.closed && best.strength == Strength::Related)
            .filter(|_| found.iter().filter(|it| it.score == best).all(looks_only));
        let best = named.unwrap_or(best);
        // What is sure in one way is not doubtful in another.
        let goes = |it: &Reading| it.tool().and_then(|tool| self.robot.tool(tool)).is_some_and(|tool| self.goes(tool));
        let sure: Vec<Vec<Call>> =
            found.iter().filter(|it| !it.doubtful && !goes(it)).map(|it| it.calls.clone()).collect();
        found.iter_mut().for_each(|it| it.doubtful &= !sure.contains(&it.calls));
        // What is surely asked for one way is not doubted because it may be asked for another way as well.
        let light =
            |it: &Reading| it.verb.as_ref().is_some_and(|key| self.language.sense_of(key).is_some_and(|it| it.light));
        let certain: Vec<Vec<Call>> =
            found.iter().filter(|it| it.score.closed && !it.doubtful && light(it)).map(|it| it.calls.clone()).collect();
        found.retain(|reading| reading.score == best);
        found.iter_mut().for_each(|reading| reading.doubtful &= !certain.contains(&reading.calls));
        // "Turn it on": what "it" stands for is not left out.
        if found.iter().any(|reading| reading.refers) {
            found.retain(|reading| reading.refers);
        }
        // "Drawers all shut?" may ask, and "no, let's say a minute" may correct.
        let is_vague = (self.ends_as_question(words)
            && core.lead.is_none()
            && !context.is_led
            && !core.asks
            && !self.says_courtesy(core.words)
            && !self.addresses(core.words))
            || (context.corrects && !context.before.is_some_and(|before| self.hands_text(before)));
        for reading in &mut found {
            let acts = self.acts(reading);
            reading.doubtful |= is_vague && acts && (!context.corrects || self.hands_text(reading));
        }
        let mut readings: Vec<Reading> = Vec::new();
        for reading in found {
            if !readings.iter().any(|other| other.calls == reading.calls) {
                readings.push(reading);
            }
        }
        Clause::Read(readings)
    }

    /// Returns true if several words say that it is to be done at another time.
    fn is_put_off(&self, words: &[Word]) -> bool {
        let guards = self.language.guards();
        let timings = guards.iter().filter(|(guard, _)| *guard == Guard::Timing).map(|(_, phrases)| phrases);
        let mut lengths = timings
            .flat_map(|phrases| (0..words.len()).filter_map(|at| words.get(at..)).map(|rest| phrases.length(rest)));
        lengths.any(|length| length > 1)
    }
}
