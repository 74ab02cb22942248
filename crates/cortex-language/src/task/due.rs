//! What is said to be due: "the goats get two kilos", "the front lawn needs a cut", "I want the gate shut".

use serde_json::Value;

use super::{Task, answers};
use crate::language::Form;
use crate::reading::{Clause, Context, End, Reading, Sought};
use crate::sentence::Word;

impl Task<'_> {
    /// What the words ask for without what says only that it is due or wished, where the rest says all of a call.
    pub(super) fn due(&self, words: &[Word], context: Context<'_>) -> Option<Vec<Reading>> {
        let core = self.reader.core(words, End::Courtesies);
        if core.asks || context.corrects || context.is_subordinate {
            return None;
        }
        // "I want the gate shut", "I'd like the tomatoes to get a litre".
        let wishes = self.reader.language.words.wishes.length(core.words);
        let wished = core.words.get(wishes..).filter(|wished| !wished.is_empty())?;
        let shut = if wishes > 0 { self.by_things_alone(wished, context) } else { None };
        shut.or_else(|| (1..wished.len()).find_map(|at| self.due_at(wished, at, context)))
    }

    /// The same, where the verb that says so stands at `at`.
    fn due_at(&self, words: &[Word], at: usize, context: Context<'_>) -> Option<Vec<Reading>> {
        let language = self.reader.language;
        let rest = words.get(at..)?;
        let length = language.words.dues.length(rest);
        let thing = words.get(..at).filter(|_| length > 0)?;
        let rest = rest.get(length..).filter(|rest| !rest.is_empty())?;
        let first = rest.first()?;
        let turned = |from: usize| [rest.get(from..).unwrap_or_default(), thing].concat();
        // "Needs mowing", "needs a cut": the thing is what is mown.
        if language.form(&first.text) == Form::Gerund {
            return self.plainly(&turned(0), true, context).filter(|all| all.iter().all(|it| it.verb.is_some()));
        }
        if language.facts.hints.indefinite.has(&first.text) && rest.len() > 1 {
            let done = self.plainly(&turned(1), false, context);
            let by_verb = done.filter(|all| all.iter().all(|it| !it.is_by_things_alone()));
            if by_verb.is_some() {
                return by_verb;
            }
        }
        // "The barn light can go off", "the pigs get five kilos". What can go up to four metres need not.
        let goes = words.get(at + length - 1).is_some_and(|last| language.goes(&last.stem));
        let has_number = |it: &Reading| it.calls.iter().any(|call| call.arguments.values().any(Value::is_number));
        let said = self.by_things_alone(&[thing, rest].concat(), context)?;
        (!goes || !said.iter().any(has_number)).then_some(said)
    }

    /// What things ask for with a state or a measure, but no place to go to.
    fn by_things_alone(&self, words: &[Word], context: Context<'_>) -> Option<Vec<Reading>> {
        let drives = |tool: usize| self.reader.robot.index.goes.iter().any(|other| *other as usize == tool);
        let is_due = |it: &Reading| {
            it.is_by_things_alone() && it.calls.iter().all(|call| !call.arguments.is_empty() && !drives(call.tool))
        };
        self.plainly(words, false, context).filter(|readings| readings.iter().all(is_due))
    }

    /// What the words ask for beyond doubt.
    fn plainly(&self, words: &[Word], is_subordinate: bool, context: Context<'_>) -> Option<Vec<Reading>> {
        let context = Context { sought: Sought::Calls, is_subordinate, ..context };
        let Clause::Read(readings) = self.reader.clause(words, context) else { return None };
        let is_plain = |it: &Reading| {
            !it.is_open() && !it.doubtful && !it.calls.iter().any(|call| answers(self.reader.robot, call))
        };
        readings.iter().all(is_plain).then_some(readings)
    }
}
