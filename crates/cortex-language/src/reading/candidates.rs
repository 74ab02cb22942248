//! The tools that a clause can ask for at all: those with a verb, a thing or a value in it.
//!
//! Every other tool would be held against the clause in vain. What makes a tool a candidate here goes along with the
//! places where `fit`, `cover`, `phrases` and `texts` count something as said of it.

use super::{Context, Core, Held, Reader, spoken};
use crate::language::Frame;
use crate::numbers;
use crate::robot::{self, Tools, VerbHit};
use crate::sentence::Word;
use crate::tokens::{Kind, compact};

/// Most words of a value that are put together.
const VALUE_WORDS: usize = 8;

/// Tools by their indices.
#[derive(Debug, Clone)]
pub(crate) struct ToolSet(Vec<u64>);

impl ToolSet {
    fn new(tools: usize) -> Self {
        Self(vec![0; tools.div_ceil(64)])
    }

    fn add(&mut self, tools: &Tools) {
        for tool in tools {
            if let Some(bits) = self.0.get_mut(*tool as usize / 64) {
                *bits |= 1 << (tool % 64);
            }
        }
    }

    /// The tools of either.
    pub(super) fn with(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one | other).collect())
    }

    /// The tools of both.
    fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// The tools of this, but not of the other.
    fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & !other).collect())
    }

    /// The indices, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(|(block, bits)| {
            (0..64).filter(move |bit| bits & (1 << bit) != 0).map(move |bit| block * 64 + bit)
        })
    }
}

/// The tools that a clause can ask for.
#[derive(Debug)]
pub(super) struct Candidates {
    /// Those with a verb, a thing or a value of their own in it.
    pub(super) meant: ToolSet,
    /// Those that only take a number, a switch or a quotation in it.
    pub(super) others: ToolSet,
    /// How many numbers, switches and quotations there are.
    generic: usize,
    /// Content words that no verb takes in: `others` do not explain them, so that they are never called.
    unexplained: Vec<usize>,
    /// True if a verb may ask for tools that do not have it.
    has_general_verb: bool,
}

impl Candidates {
    /// Every tool, whatever is said.
    fn all(tools: usize) -> Self {
        Self {
            meant: ToolSet(vec![u64::MAX; tools.div_ceil(64)]),
            others: ToolSet::new(tools),
            generic: 0,
            unexplained: Vec::new(),
            has_general_verb: false,
        }
    }

    /// All of them, in order, if each may be called; else only those that are meant.
    pub(super) fn first(&self) -> ToolSet {
        if self.unexplained.is_empty() { self.meant.with(&self.others) } else { self.meant.clone() }
    }

    /// Those that may still be what the clause comes closest to, though none of them is called.
    pub(super) fn second(&self, closeness: Option<usize>) -> Option<&ToolSet> {
        let verb = if self.has_general_verb { 3 } else { 0 };
        let at_most = verb + 2 * self.generic + 2;
        let is_open = !self.unexplained.is_empty() && closeness.is_none_or(|closeness| closeness <= at_most);
        is_open.then_some(&self.others)
    }

    /// Content words that the other tools leave over.
    pub(super) fn unexplained(&self) -> &[usize] {
        &self.unexplained
    }

    /// The most that a verb, numbers, switches and quotations speak for one of the others.
    pub(super) fn generic(&self) -> usize {
        self.generic
    }
}

impl Reader<'_> {
    /// The tools that the clause can ask for.
    pub(super) fn candidates(&self, clause: &Held<'_>) -> Candidates {
        let Held { core, hits, first, later, said, said_hits, context } = *clause;
        let index = &self.robot.index;
        let tools = self.robot.len();
        if index.leaves_nothing_out() {
            return Candidates::all(tools);
        }
        let (mut meant, mut others) = (ToolSet::new(tools), ToolSet::new(tools));
        let mut generic = 0;
        for at in 0..core.words.len() {
            let rest = core.words.get(at..).unwrap_or_default();
            self.add_by_words(rest, context, &mut meant);
            generic += usize::from(self.add_generic(rest, &mut others));
        }
        let asking = || first.iter().copied().chain(later);
        for hit in asking() {
            meant.add(index.verb(&hit.key).map_or(&[], |users| &users.tools));
        }
        self.add_by_texts(said, said_hits, &mut meant);
        if core.asks {
            meant.add(&index.looks);
        }
        if core.lead == Some(crate::language::Lead::Place) {
            meant.add(&index.goes);
        }
        let mut related = ToolSet::new(tools);
        for sense in asking().filter_map(|hit| self.language.sense_of(&hit.key)) {
            for key in self.language.related(sense) {
                related.add(index.verb(&key).map_or(&[], |users| &users.tools));
            }
        }
        meant = meant.with(&related.both(&others));
        let is_general =
            |hit: &VerbHit| self.language.sense_of(&hit.key).is_some_and(|sense| self.language.looks_in_general(sense));
        let taken = |at: &usize| hits.iter().any(|hit| matches!(hit.key, robot::Key::Sense(_)) && hit.at.contains(at));
        let unexplained = (0..core.words.len()).filter(|at| {
            core.words.get(*at).is_some_and(|word| {
                word.kind == Kind::Word
                    && word.number.is_none()
                    && word.ordinal.is_none()
                    && self.language.is_content(&word.text)
            }) && !taken(at)
        });
        Candidates {
            others: others.without(&meant),
            meant,
            generic,
            unexplained: unexplained.collect(),
            has_general_verb: context.corrects || asking().any(is_general),
        }
    }

    /// Returns true if what follows begins with a value of any tool.
    pub(crate) fn has_value(&self, words: &[Word]) -> bool {
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let rest = words.get(articles..).unwrap_or_default();
        let mut found = self.with_choice(rest);
        self.add_generic(rest, &mut found);
        found.iter().any(|index| self.robot.tool(index).is_some_and(|tool| self.begins_value(tool, words)))
    }

    /// The tools of which one of the choices may begin here.
    pub(crate) fn with_choice(&self, words: &[Word]) -> ToolSet {
        let mut found = ToolSet::new(self.robot.len());
        if self.robot.index.leaves_nothing_out() {
            return ToolSet(vec![u64::MAX; self.robot.len().div_ceil(64)]);
        }
        self.add_by_spelling(words, &mut found);
        // "The second bay": the word after a place in a row may be the one that begins the name.
        let is_ordinal = words.first().is_some_and(|first| first.ordinal.is_some());
        for at in 0..=usize::from(is_ordinal) {
            let rest = words.get(at..).unwrap_or_default();
            robot::every_concept(rest, self.language, &mut |concept| found.add(self.robot.index.value(concept)));
        }
        found
    }

    /// The tools that a text may be handed over to.
    fn add_by_texts(&self, core: Core<'_>, hits: &[VerbHit], found: &mut ToolSet) {
        let index = &self.robot.index;
        let has_colon = core.words.iter().any(|word| word.is_mark(":"));
        for (frame, tools) in [(Frame::Say, &index.says), (Frame::Write, &index.writes)] {
            if tools.is_empty() || core.asks {
                continue;
            }
            let hands_over = || {
                self.language
                    .texts
                    .iter()
                    .any(|it| it.frame == frame && it.pattern.whole(core.words, &|_, _| true).is_some())
            };
            let has_verb = |tool: u32| {
                let verbs = self.robot.tool(tool as usize).map(|tool| tool.verbs.as_slice()).unwrap_or_default();
                verbs.iter().any(|verb| hits.iter().any(|hit| hit.key == verb.key))
            };
            if has_colon || hands_over() {
                found.add(tools);
            } else {
                tools.iter().filter(|tool| has_verb(**tool)).for_each(|tool| found.add(&[*tool]));
            }
        }
    }

    /// The tools of which the first of these words says something.
    fn add_by_words(&self, words: &[Word], context: Context<'_>, found: &mut ToolSet) {
        let (index, language) = (&self.robot.index, self.language);
        let Some(word) = words.first() else { return };
        self.add_by_spelling(words, found);
        match word.kind {
            Kind::Mark | Kind::Quoted => return,
            Kind::Word | Kind::Number => {}
        }
        found.add(index.phrase(&word.stem));
        let carries_nothing = language.empty(std::slice::from_ref(word)) > 0;
        let marks =
            language.is_plain_role(&word.text) || language.weighty(&word.text) || language.is_article(&word.text);
        robot::every_concept(words, language, &mut |concept| {
            found.add(index.value(concept));
            if carries_nothing {
                found.add(index.name(concept));
            } else if !marks {
                found.add(index.thing(concept));
            }
        });
        for (state, _) in language.states(words) {
            for word in [Some(state), language.opposite(state)].into_iter().flatten() {
                found.add(index.thing(word));
            }
            found.add(index.value(state));
        }
        if let Some(quality) = language.quality(&word.text) {
            for word in [Some(quality), language.opposite(quality)].into_iter().flatten() {
                found.add(index.thing(word));
            }
        }
        self.add_by_reference(words, context, found);
    }

    /// The tools that take a number, a switch or a quotation, if the first of these words is one.
    fn add_generic(&self, words: &[Word], found: &mut ToolSet) -> bool {
        let (index, language) = (&self.robot.index, self.language);
        let Some(word) = words.first() else { return false };
        match word.kind {
            Kind::Mark => return false,
            Kind::Quoted => {
                found.add(&index.quoted);
                return true;
            }
            Kind::Word | Kind::Number => {}
        }
        let says_number = word.ordinal.is_some() || numbers::read(words).is_some() || self.repeats(words).is_some();
        if says_number {
            found.add(&index.numbers);
        }
        let says_half = language.words.halves.length(words) > 0;
        if says_half {
            found.add(&index.shares);
        }
        let mut says_state = false;
        for (state, _) in language.states(words) {
            found.add(&index.shares);
            if language.truth(state).is_some() {
                found.add(&index.flags);
            }
            says_state = true;
        }
        says_number || says_half || says_state
    }

    /// The tools with a value that is spelt like the words, together or apart.
    fn add_by_spelling(&self, words: &[Word], found: &mut ToolSet) {
        let mut spelling = String::new();
        for word in words.iter().take(VALUE_WORDS).take_while(|word| word.kind != Kind::Mark) {
            spelling.push_str(&compact(&word.text));
            match self.robot.index.spelling(&spelling) {
                Some(tools) => found.add(tools),
                None => return,
            }
        }
    }

    /// The tools that take what a word for something said before may stand for.
    fn add_by_reference(&self, words: &[Word], context: Context<'_>, found: &mut ToolSet) {
        let (index, language) = (&self.robot.index, self.language);
        if (language.words.places.length(words) > 0 || words.first().is_some_and(|word| word.is("its")))
            && let Some(place) = context.place
        {
            found.add(index.spelling(&compact(&spoken(place))).unwrap_or_default());
        }
        if language.words.things.length(words) == 0 {
            return;
        }
        for reading in context.earlier.iter().copied().chain(context.before) {
            let component = reading.tool().and_then(|tool| self.robot.tool(tool)).map(|tool| tool.component.as_slice());
            let word = component.unwrap_or_default().first().map_or("", String::as_str);
            found.add(index.component(word));
            for name in reading.calls.iter().flat_map(|call| call.arguments.keys()) {
                found.add(index.parameter(name));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use crate::{Declared, Robot, Usage, understand};

    fn robot(name: &str) -> Robot {
        let file: Value = serde_json::from_str(&read(name, "robot.json")).unwrap();
        let phrases = |tool: &Value| -> Vec<String> {
            tool["phrases"].as_array().into_iter().flatten().map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let tools: Vec<(&Value, Vec<String>)> =
            file["tools"].as_array().unwrap().iter().map(|tool| (tool, phrases(tool))).collect();
        Robot::new(tools.iter().map(|(tool, phrases)| Declared {
            name: tool["name"].as_str().unwrap(),
            description: tool["description"].as_str().unwrap(),
            parameters: &tool["parameters"],
            phrases,
            usage: match tool["phase"].as_str().unwrap() {
                "planning" => Usage::Research,
                "both" => Usage::Either,
                _ => Usage::Step,
            },
            looks: tool["kind"] != "act",
        }))
    }

    fn read(name: &str, file: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        std::fs::read_to_string(folder.join(name).join(file)).unwrap()
    }

    fn sentences(name: &str) -> Vec<String> {
        let said = |line: &str| serde_json::from_str::<Value>(line).unwrap()["say"].as_str().unwrap().to_owned();
        read(name, "seen.jsonl").lines().filter(|line| !line.trim().is_empty()).map(said).collect()
    }

    // A rule that lets a tool be asked for in a new way needs its entry in the index, or in `spots`: this finds it.
    #[test]
    fn what_is_left_out_changes_no_reading() {
        for name in ["home", "hotel", "farm", "lab"] {
            let (robot, mut other) = (robot(name), robot(name));
            other.index.leaves_nothing_out = true;
            let sentences = sentences(name);
            let pairs = sentences.windows(2).step_by(29).map(|pair| pair.join(" and "));
            for sentence in sentences.iter().step_by(8).cloned().chain(pairs) {
                assert_eq!(understand(&robot, &sentence), understand(&other, &sentence), "{name}: {sentence}");
            }
        }
    }
}
