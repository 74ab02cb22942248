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
pub(super) struct ToolSet(Vec<u64>);

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

    pub(super) fn has(&self, tool: usize) -> bool {
        self.0.get(tool / 64).is_some_and(|bits| bits & (1 << (tool % 64)) != 0)
    }

    /// The indices, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
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
    /// The tools that the clause can ask for. With `any_verb` a verb asks for its tools wherever it stands.
    pub(super) fn candidates(&self, clause: &Held<'_>, any_verb: bool) -> Candidates {
        let Held { core, hits, said, said_hits, context } = *clause;
        let index = &self.robot.index;
        let tools = self.robot.len();
        let (mut meant, mut others) = (ToolSet::new(tools), ToolSet::new(tools));
        let mut generic = 0;
        for at in 0..core.words.len() {
            let rest = core.words.get(at..).unwrap_or_default();
            self.add_by_words(rest, context, &mut meant);
            generic += usize::from(self.add_generic(rest, &mut others));
        }
        let asking = self.asking(core, hits, any_verb);
        for hit in &asking {
            meant.add(index.verb(&hit.key).map_or(&[], |users| &users.tools));
        }
        self.add_by_verbs(core.words, hits, &asking, &mut meant);
        self.add_by_texts(said, said_hits, &mut meant);
        if core.asks {
            meant.add(&index.looks);
        }
        if core.lead == Some(crate::language::Lead::Place) {
            meant.add(&index.goes);
        }
        let mut related = ToolSet::new(tools);
        for sense in asking.iter().filter_map(|hit| self.language.sense_of(&hit.key)) {
            for key in self.language.related(sense) {
                related.add(index.verb(&key).map_or(&[], |users| &users.tools));
            }
        }
        meant = meant.with(&related.both(&others));
        let is_general = |hit: &&VerbHit| {
            self.language.sense_of(&hit.key).is_some_and(|sense| self.language.looks_in_general(sense))
        };
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
            has_general_verb: context.corrects || asking.iter().any(is_general),
        }
    }

    /// The tools with a value that a verb says by itself, and those that end what a verb does.
    fn add_by_verbs(&self, words: &[Word], hits: &[VerbHit], asking: &[&VerbHit], found: &mut ToolSet) {
        let index = &self.robot.index;
        let tools = self.language.of_tools();
        for sense in asking.iter().filter_map(|hit| self.language.sense_of(&hit.key)) {
            for text in &sense.says {
                found.add(index.value(&tools.concept(text)));
            }
            if !sense.places.is_empty() {
                found.add(&index.goes);
            }
        }
        let doing = self.stopping(words, hits).map(|(_, doing, _)| doing).unwrap_or_default();
        for users in doing.iter().filter_map(|key| index.verb(key)) {
            for (_, tool) in self.robot.those(&users.tools) {
                found.add(index.component(tool.component.first().map_or("", String::as_str)));
            }
        }
    }

    /// Returns true if what follows begins with a value of any tool.
    pub(crate) fn has_value(&self, words: &[Word]) -> bool {
        let mut found = ToolSet::new(self.robot.len());
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        // "The second bay": the word after a place in a row may be the one that begins the value.
        for at in articles..articles + 2 {
            self.add_by_words(words.get(at..).unwrap_or_default(), Context::default(), &mut found);
        }
        self.add_generic(words.get(articles..).unwrap_or_default(), &mut found);
        found.iter().any(|index| self.robot.tool(index).is_some_and(|tool| self.begins_value(tool, words)))
    }

    /// The verbs by which the clause may ask.
    fn asking<'h>(&self, core: Core<'_>, hits: &'h [VerbHit], any_verb: bool) -> Vec<&'h VerbHit> {
        let index = &self.robot.index;
        // Engineers type the name of the tool first.
        let is_name = |word: &&Word| {
            let noun = self.language.noun(&[word.stem.as_str()]).map(|(name, _)| name);
            word.kind == Kind::Word
                && (!index.component(&word.stem).is_empty() || noun.is_some_and(|it| !index.component(it).is_empty()))
        };
        let named = core.words.iter().take_while(is_name).count();
        let begin = self.verb_position(core.words);
        // "Give the saucepan a stir", "I want the door closed": the verb that counts stands later.
        let is_light = begin.and_then(|at| core.words.get(at)).is_some_and(|word| self.language.is_light(&word.stem));
        let is_wish = (0..core.words.len())
            .any(|at| core.words.get(at..).is_some_and(|rest| self.language.words.causes.length(rest) > 0));
        let anywhere = any_verb || core.asks || is_light || is_wish;
        let asks = |hit: &&VerbHit| {
            let first = hit.at.first().copied().unwrap_or_default();
            anywhere || first <= named || Some(first) == begin
        };
        hits.iter().filter(asks).collect()
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
        let says_number =
            word.ordinal.is_some() || numbers::read(words, language).is_some() || self.repeats(words).is_some();
        if says_number {
            found.add(&index.numbers);
        }
        let says_share = language.fraction(words).is_some();
        if says_share {
            found.add(&index.numbers);
        }
        let mut says_state = false;
        for (state, _) in language.states(words) {
            found.add(&index.shares);
            if language.truth(state).is_some() {
                found.add(&index.flags);
            }
            says_state = true;
        }
        says_number || says_share || says_state
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

    /// The tools with a value whose name may begin with the first of these words, "the second bay" among them.
    pub(super) fn with_value(&self, words: &[Word]) -> ToolSet {
        let mut found = ToolSet::new(self.robot.len());
        self.add_by_spelling(words, &mut found);
        let begins = if words.first().is_some_and(|first| first.ordinal.is_some()) { 0..2 } else { 0..1 };
        for rest in begins.filter_map(|at| words.get(at..)) {
            robot::every_concept(rest, self.language, &mut |concept| found.add(self.robot.index.value(concept)));
        }
        found
    }

    /// The tools that take what a word for something said before may stand for.
    fn add_by_reference(&self, words: &[Word], context: Context<'_>, found: &mut ToolSet) {
        let (index, language) = (&self.robot.index, self.language);
        if (language.words.places.length(words) > 0
            || words.first().is_some_and(|word| language.facts.hints.belonging.has(&word.text)))
            && let Some(place) = context.place
        {
            found.add(index.spelling(&compact(&spoken(place))).unwrap_or_default());
        }
        let stands = words.first().is_some_and(|word| language.facts.hints.demonstratives.has(&word.text));
        if language.words.things.length(words) == 0 && !stands {
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
