//! What is done at every place: "check each room and tell me what you see", "look for the cup in every room", "patrol".
//!
//! The places are the values of the one tool that drives to places, in its order; none is invented. What is done there is
//! a look around, or what a clause says that is joined to the drives.

use serde_json::{Map, Value};

use super::{Meaning, Part, Task, answers};
use crate::reading::{Call, Clause, Context, End, Reading};
use crate::robot::{ParameterKind, Source, Tool, Verb};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most words that name what is looked for.
const SOUGHT_WORDS: usize = 6;

impl Task<'_> {
    /// The clause as a look at every place: where to is said by "every room", what for by a verb that looks.
    pub(super) fn tour(&self, words: &[Word]) -> Option<(f64, Meaning)> {
        let language = self.reader.language;
        let core = self.reader.core(words, End::Courtesies).words;
        let (before, after) = self.every_place(core)?;
        if self.reader.guarded(core).is_some() {
            return None;
        }
        let rest: Vec<Word> = before.iter().chain(after).cloned().collect();
        let look = self.look_around()?;
        let at_each = if self.reader.asks(&rest) {
            let context = Context { asks: true, ..Context::default() };
            let Clause::Read(readings) = self.reader.clause(&rest, context) else { return None };
            let asks_for_look = |reading: &Reading| reading.calls == [look.clone()];
            readings.iter().all(asks_for_look).then_some(look)?
        } else {
            let looks = |name: &str| language.words.tour_verbs.0.iter().any(|it| it == name);
            let verb = crate::robot::hits(&rest, language)
                .into_iter()
                .filter(|hit| hit.at.first() == Some(&0))
                .filter(|hit| language.sense_of(&hit.key).is_some_and(|sense| looks(&sense.name)))
                .map(|hit| hit.at.len())
                .max()?;
            let sought = rest.get(verb..).unwrap_or_default();
            let is_name =
                |word: &Word| word.kind == Kind::Word && language.words.joints.length(std::slice::from_ref(word)) == 0;
            (sought.len() <= SOUGHT_WORDS && sought.iter().all(is_name)).then_some(look)?
        };
        let drives = self.drives()?;
        let places = drives.len();
        let calls = drives.into_iter().flat_map(|drive| [drive, at_each.clone()]).collect();
        Some((1.2, Meaning::Read(vec![Reading { places, ..Reading::of(calls) }])))
    }

    /// The words before and after those that speak of every place; with "patrol the house", the verb speaks of it.
    fn every_place<'w>(&self, words: &'w [Word]) -> Option<(&'w [Word], &'w [Word])> {
        let language = self.reader.language;
        let rest = |at: usize| words.get(at..).unwrap_or_default();
        for at in 0..words.len() {
            let all = language.words.all.length(rest(at));
            let kind = self.reader.kind_of_place(rest(at + all));
            let length = if all > 0 && kind > 0 { all + kind } else { language.words.tours.length(rest(at)) };
            if length > 0 {
                let marked = at.checked_sub(1).filter(|before| {
                    words
                        .get(*before)
                        .is_some_and(|word| language.roles.contains_key(&word.text) && !language.weighty(&word.text))
                });
                return Some((words.get(..marked.unwrap_or(at))?, rest(at + length)));
            }
        }
        let patrols = |hit: &crate::robot::VerbHit| {
            hit.at.first() == Some(&0)
                && !hit.lent
                && language.sense_of(&hit.key).is_some_and(|sense| language.words.tour_senses.0.contains(&sense.name))
        };
        let verb = crate::robot::hits(words, language).into_iter().filter(patrols).map(|hit| hit.at.len()).max()?;
        let articles = rest(verb).iter().take_while(|word| language.is_article(&word.text)).count();
        let ground = rest(verb + articles);
        let whole = language.words.grounds.length(ground) == ground.len() && (articles == 0 || !ground.is_empty());
        whole.then(|| (words.get(..verb).unwrap_or_default(), words.get(words.len()..).unwrap_or_default()))
    }

    /// The call that looks at whatever there is, if there is one.
    fn look_around(&self) -> Option<Call> {
        let language = self.reader.language;
        let looks = |(_, tool): &(usize, &Tool)| {
            let general = |verb: &crate::robot::Verb| language.sense_of(&verb.key).is_some_and(|it| it.name == "look");
            tool.looks && tool.needs_nothing() && tool.verbs.iter().any(general)
        };
        let mut found = self.reader.robot.tools.iter().enumerate().filter(looks);
        let (tool, _) = found.next().filter(|_| found.next().is_none())?;
        Some(Call { tool, arguments: Map::new() })
    }

    /// One drive to each place of the one tool that goes to places.
    fn drives(&self) -> Option<Vec<Call>> {
        let places = |tool: &Tool| -> Option<(String, Vec<Value>)> {
            let mut needed = tool.parameters.iter().filter(|it| it.required && it.default.is_none());
            let place = needed.next().filter(|_| needed.next().is_none())?;
            let ParameterKind::Choice(choices) = &place.kind else { return None };
            Some((place.name.clone(), choices.values.clone()))
        };
        let tools = self.reader.robot.tools.iter().enumerate().filter(|(_, tool)| self.reader.goes(tool));
        let mut found = tools.filter_map(|(index, tool)| Some((index, places(tool)?)));
        let (tool, (name, values)) = found.next().filter(|_| found.next().is_none())?;
        let drive = |value: Value| Call { tool, arguments: Map::from_iter([(name.clone(), value)]) };
        Some(values.into_iter().map(drive).collect())
    }

    /// Returns true if the places are only gone to: nothing is mown there.
    pub(super) fn only_goes(&self, reading: &Reading) -> bool {
        let goes = |verb: &Verb| verb.source == Source::Own && self.reader.names(&verb.key, "go");
        let tool = reading.tool().and_then(|tool| self.reader.robot.tool(tool));
        tool.is_some_and(|tool| tool.looks || tool.verbs.iter().any(goes))
    }

    /// Does at each place of a tour what a clause says that is joined to it; returns false if that is no thing to be
    /// done at each of them.
    pub(super) fn at_each_place(&self, tour: &mut Vec<Part>, places: usize, there: &[Part]) -> bool {
        let drives = |part: &Part| matches!(part, Part::Call { call, .. } if self.reader.robot.tool(call.tool).is_some_and(|tool| self.reader.goes(tool)));
        if places == 0 || !tour.len().is_multiple_of(places) || there.is_empty() || there.iter().any(drives) {
            return false;
        }
        let length = tour.len() / places;
        *tour = tour
            .chunks(length)
            .flat_map(|place| {
                // A look after a look sees the same.
                let last = place.last().cloned();
                let seen = move |part: &&Part| {
                    matches!((&last, part), (Some(Part::Call { call: last, .. }), Part::Call { call, .. }) if last == call && answers(self.reader.robot, call))
                };
                place.iter().chain(there.iter().skip_while(seen)).cloned().collect::<Vec<_>>()
            })
            .collect();
        true
    }
}
