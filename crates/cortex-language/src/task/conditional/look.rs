//! What a condition says, and the look that tells whether it is so.
//!
//! The words that say how it has to be are taken out: a negation, a comparison, a state. What is left is read as a
//! question, with every word accounted for.

use crate::condition::{Compare, Condition, Test, Than, converted, same_measure};
use crate::language::Guard;
use crate::numbers::{self, Dimension, Said, Unit};
use crate::reading::{Call, Clause, Context, Reading, Sought};
use crate::robot::{self, ParameterKind, Tool, Usage};
use crate::sentence::{self, Word};
use crate::task::conditional::Choice;
use crate::task::{Node, Task};
use crate::tokens::Kind;

/// A comparison in a condition: how it has to be to which number, and the other words.
struct Compared {
    than: Than,
    said: Said,
    rest: Vec<Word>,
}

impl Task<'_> {
    /// The condition that the words name, and the reading of its look.
    pub(super) fn condition(&self, choice: &Choice<'_>, node: &Node) -> Option<(Condition, Reading)> {
        let Choice { condition: words, negated: unless, may_be_time, .. } = *choice;
        let written = self.trimmed(words);
        let (words, is_not) = self.without_negation(&self.with_attached(written))?;
        let negated = unless != is_not;
        let compared = self.compared(&words);
        let rest = compared.as_ref().map_or(&words, |it| &it.rest);
        if rest.iter().any(|word| !matches!(word.kind, Kind::Word | Kind::Number)) || !self.is_present(rest) {
            return None;
        }
        let (test, reading) = match &compared {
            Some(compared) => self.by_number(compared, node)?,
            None => self
                .by_place(rest, node)
                .or_else(|| self.by_state(rest, node))
                .or_else(|| self.by_emptiness(rest, node))
                .or_else(|| self.by_presence(rest, node))?,
        };
        // "Wenn du in der Küche bist, ..." may send the robot there.
        if may_be_time && matches!(test, Test::Value { .. }) && !is_not {
            return None;
        }
        let look = reading.calls.first()?.clone();
        let clause = self.reader.written(written);
        Some((Condition { look, clause, unless, negated, test }, reading))
    }

    /// Returns true if the words speak of how it is now, and of one thing.
    fn is_present(&self, words: &[Word]) -> bool {
        let language = self.reader.language;
        let said = &language.conditions.words;
        let elsewhen = (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| said.elsewhen.length(rest) > 0));
        // "Any" and "anybody" leave open which, and any will do.
        let is_free = |(guard, word): &(Guard, String)| {
            *guard == Guard::Choice && (said.something.has(word) || said.somebody.has(word) || said.any.has(word))
        };
        !words.is_empty() && !elsewhen && self.reader.guarded(words).is_none_or(|guard| is_free(&guard))
    }

    /// The words without their negation, and whether there was one. None: there are two, or a word says more than that.
    fn without_negation(&self, words: &[Word]) -> Option<(Vec<Word>, bool)> {
        let language = self.reader.language;
        let mut kept: Vec<Word> = Vec::new();
        let mut found = 0;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let said = |length: usize| {
                let words = words.get(at..at + length)?;
                let phrase = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                Some((length, language.conditions.negatives.get(&phrase)?))
            };
            match [2, 1].into_iter().find_map(said) {
                Some((length, positive)) => {
                    found += 1;
                    let span = word.span.clone();
                    let words = sentence::words(positive, language).unwrap_or_default();
                    kept.extend(words.into_iter().map(|word| Word { span: span.clone(), ..word }));
                    at += length;
                }
                None => {
                    kept.push(word.clone());
                    at += 1;
                }
            }
        }
        (found < 2).then_some((kept, found == 1))
    }

    /// The comparison in the words. None: there is none, or more than one.
    fn compared(&self, words: &[Word]) -> Option<Compared> {
        let mut found = (0..words.len()).filter_map(|at| self.compared_at(words, at));
        let first = found.next()?;
        // "At least" begins again at "least", but not the number.
        found.next().is_none().then_some(first)
    }

    fn compared_at(&self, words: &[Word], at: usize) -> Option<Compared> {
        let language = self.reader.language;
        let conditions = &language.conditions;
        let said = &conditions.compares;
        let rest = words.get(at..)?;
        let lists = [
            (Than::AtLeast, &said.at_least),
            (Than::AtMost, &said.at_most),
            (Than::More, &said.more),
            (Than::Less, &said.less),
        ];
        let phrase = lists.iter().map(|(than, list)| (*than, list.length(rest))).max_by_key(|(_, length)| *length)?;
        let first = rest.first()?;
        let than = |length: usize| rest.get(1..).map_or(0, |after| said.than.length(after)) >= length;
        let by_more = conditions.more.get(&first.text).filter(|_| than(1)).map(|base| (Than::More, base));
        let by_less = conditions.less.get(&first.text).filter(|_| than(1)).map(|base| (Than::Less, base));
        let (mut than, length, base) = match (phrase, by_more.or(by_less)) {
            ((than, length), _) if length > 0 => (than, length, None),
            (_, Some((than, base))) => (than, 2, Some(base)),
            _ => return None,
        };
        let after = rest.get(length..)?;
        let number = self.number(after)?;
        let mut end = length + number.length;
        let more = rest.get(end..).unwrap_or_default();
        for (list, one, other) in
            [(&said.or_more, Than::More, Than::AtLeast), (&said.or_less, Than::Less, Than::AtMost)]
        {
            let length = list.length(more);
            if length > 0 {
                than = if than == one { other } else { return None };
                end += length;
            }
        }
        let mut left: Vec<Word> = words.get(..at)?.to_vec();
        let span = first.span.clone();
        let base = base.map(|base| sentence::words(base, language).unwrap_or_default()).unwrap_or_default();
        left.extend(base.into_iter().map(|word| Word { span: span.clone(), ..word }));
        left.extend(rest.get(end..)?.iter().cloned());
        Some(Compared { than, said: number, rest: left })
    }

    /// A number with its unit; half of all there is.
    fn number(&self, words: &[Word]) -> Option<Said> {
        let language = self.reader.language;
        let half = language.conditions.compares.half.length(words);
        if half > 0 {
            return Some(Said { value: 50.0, unit: numbers::unit("percent"), length: half, is_ordinal: false });
        }
        numbers::read(words, language)
    }

    /// "Your battery is below 20 percent".
    fn by_number(&self, compared: &Compared, node: &Node) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let Compared { than, said, rest } = compared;
        let fits = |tool: &Tool| unit_of(tool, said).is_some();
        let rest = self.without_now(&self.as_being(rest));
        let asked = |words: &[Word]| {
            self.looked(words, node, &fits).or_else(|| {
                let mut asking = self.words_of(language.conditions.measures.get(said.unit?.label)?, words);
                asking.extend(words.iter().cloned());
                self.looked(&asking, node, &fits)
            })
        };
        let of_you = language.conditions.words.you_have.length(&rest) == rest.len();
        let is_share = said.unit.is_some_and(|unit| unit.dimension == Dimension::Share);
        let reading = if of_you && is_share {
            asked(&self.words_of(&language.conditions.words.your_battery, &rest))?
        } else {
            asked(&rest)?
        };
        let tool = self.reader.robot.tool(reading.tool()?)?;
        let unit = unit_of(tool, said)?;
        let number = match (said.unit, unit) {
            (Some(from), Some(to)) => converted(said.value, from, to),
            _ => said.value,
        };
        let names = tool.name_nouns.iter().cloned().collect();
        Some((Test::Compare(Compare { than: *than, number, unit, names }), reading))
    }

    /// "You are in the kitchen".
    fn by_place(&self, words: &[Word], node: &Node) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let said = &language.conditions.words;
        let mut words = self.without_now(words);
        // The verb stands at the end of a German condition.
        if language.ends_in_verbs() && words.len() > 2 && words.last().is_some_and(|last| said.is.has(&last.text)) {
            let verb = words.pop()?;
            words.insert(1, verb);
        }
        let mut rest = words.get(said.you_are.length(&words)..).filter(|rest| rest.len() < words.len())?;
        rest = rest.get(usize::from(language.is_plain_role(&rest.first()?.text))..)?;
        rest = rest.get(rest.iter().take_while(|word| language.is_article(&word.text)).count()..)?;
        let (among, index, length) = self.reader.robot.those(&self.reader.robot.index.goes).find_map(|(_, tool)| {
            tool.parameters.iter().find_map(|parameter| match &parameter.kind {
                ParameterKind::Choice(choices) => {
                    choices.read(rest, language).map(|(index, length)| (choices, index, length))
                }
                _ => None,
            })
        })?;
        if length != rest.len() {
            return None;
        }
        let value = among.value(index)?.clone();
        let question = sentence::words(&said.place, language).ok()?;
        let reading = self.looked(&question, node, &|tool| tool.parameters.is_empty())?;
        Some((Test::Value { value, among: among.values.clone() }, reading))
    }

    /// "The kitchen light is on".
    fn by_state(&self, words: &[Word], node: &Node) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let words = self.without_now(words);
        let said = &language.conditions.words;
        words.iter().find(|word| said.is.has(&word.text))?;
        // "No light is on" speaks of all lights, wherever they are.
        if words.iter().any(|word| said.any.has(&word.text)) {
            return None;
        }
        let states = |tool: &Tool| -> Option<(String, String)> {
            let mut found: Option<(String, String)> = None;
            for at in 0..words.len() {
                let Some((state, _)) = words.get(at..).and_then(|rest| language.state(rest)) else { continue };
                let Some(opposite) = language.opposite(state) else { continue };
                if !tool.told.states.iter().any(|it| it == state || it == opposite) {
                    continue;
                }
                if found.as_ref().is_some_and(|(other, _)| other != state) {
                    return None;
                }
                found = Some((state.to_owned(), opposite.to_owned()));
            }
            found
        };
        let reading = self.looked(&words, node, &|tool| states(tool).is_some())?;
        let tool = self.reader.robot.tool(reading.tool()?)?;
        let (state, opposite) = states(tool)?;
        // "If it is dark" says of no light that it is off.
        let names_it =
            words.iter().any(|word| tool.nouns.contains(&robot::meaning(word, language)) && !self.is_state(word));
        let of_surroundings = words.iter().any(|word| said.surroundings.has(&word.text));
        if of_surroundings && reading.refers {
            return None;
        }
        if !(names_it || reading.refers || !reading.calls.iter().all(|call| call.arguments.is_empty())) {
            return None;
        }
        // "The lights are on" may speak of any number of them, wherever they are.
        let several = words.iter().any(|word| said.are.has(&word.text));
        if several && !tool.parameters.is_empty() && reading.calls.iter().all(|call| call.arguments.is_empty()) {
            return None;
        }
        let told = &tool.told.states;
        let yes = match (told.contains(&state), told.contains(&opposite)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        };
        Some((Test::State { state, opposite, yes }, reading))
    }

    /// "Drawer 2 is empty", where the tool says at which number it is.
    fn by_emptiness(&self, words: &[Word], node: &Node) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let words = self.without_now(words);
        let answers = &language.of_tools().conditions.answers;
        let state = (0..words.len()).find_map(|at| language.state(words.get(at..)?).map(|(state, _)| state))?;
        let is_said =
            words.iter().any(|word| language.conditions.words.is.has(&word.text)) && answers.vacant.has(state);
        let reading = self.looked(&words, node, &|tool| is_said && tool.told.empty_at_zero)?;
        let tool = self.reader.robot.tool(reading.tool()?)?;
        Some((weighs(tool, Than::AtMost), reading))
    }

    fn is_state(&self, word: &Word) -> bool {
        self.reader.language.state(std::slice::from_ref(word)).is_some()
    }

    /// "There is a lorry at dock 1", "you see a chair".
    fn by_presence(&self, words: &[Word], node: &Node) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let said = &language.conditions.words;
        let words = self.without_now(words);
        let (there, sees) = (said.there.length(&words), said.seen.length(&words));
        let ends = said.is_there.length_at_end(&words);
        if there.max(sees).max(ends) == 0 {
            return None;
        }
        // A tool that tells of a state says nothing of what is there.
        let fits = |tool: &Tool| {
            tool.told.empty_at_zero || ((tool.told.whether || tool.told.counts) && tool.told.states.is_empty())
        };
        let thing = words.get(there.max(sees)..words.len() - if there.max(sees) > 0 { 0 } else { ends })?;
        let thing = self.with_person(thing);
        let mut asked = vec![words.clone()];
        for asking in [&said.asks_there, &said.asks_seen] {
            let mut question = self.words_of(asking, &words);
            question.extend(thing.iter().cloned());
            asked.push(question);
        }
        if let Some(reading) = asked.iter().find_map(|asked| self.looked(asked, node, &fits)) {
            let tool = self.reader.robot.tool(reading.tool()?)?;
            let names = tool.name_nouns.iter().cloned().collect();
            let test = if tool.told.empty_at_zero { weighs(tool, Than::More) } else { Test::Present { names } };
            return Some((test, reading));
        }
        if let Some(found) = self.by_name(&thing) {
            return Some(found);
        }
        let is_here = language.words.here.length_at_end(&words) > 0;
        if sees > 0 || (there > 0 && is_here) { self.by_sight(&thing, node) } else { None }
    }

    /// Words of the data, in the place of others.
    fn words_of(&self, text: &str, others: &[Word]) -> Vec<Word> {
        let span = others.first().map_or(0..0, |first| first.span.clone());
        let words = sentence::words(text, self.reader.language).unwrap_or_default();
        words.into_iter().map(|word| Word { span: span.clone(), ..word }).collect()
    }

    /// The words in which somebody is a person.
    fn with_person(&self, words: &[Word]) -> Vec<Word> {
        let said = &self.reader.language.conditions.words;
        match said.somebody.length(words) {
            0 => words.to_vec(),
            length => {
                let mut person = self.words_of(&said.a_person, words);
                person.extend(words.get(length..).unwrap_or_default().iter().cloned());
                person
            }
        }
    }

    /// "The scale shows" as "the scale is", "the lamp's" as "the lamp is".
    fn as_being(&self, words: &[Word]) -> Vec<Word> {
        let said = &self.reader.language.conditions.words;
        let mut kept = Vec::new();
        for word in words {
            if said.shows.has(&word.text) {
                kept.extend(self.words_of(&said.attached_is, std::slice::from_ref(word)));
                continue;
            }
            kept.push(word.clone());
        }
        kept
    }

    /// "The lamp's on": the words with a verb that is only attached to one of them.
    fn with_attached(&self, words: &[Word]) -> Vec<Word> {
        let said = &self.reader.language.conditions.words;
        let has_verb = words.iter().any(|word| said.is.has(&word.text));
        let mut kept = Vec::new();
        let mut found = 0;
        for word in words {
            kept.push(word.clone());
            let written = self.reader.written(std::slice::from_ref(word)).replace('’', "'");
            if !said.attached.is_empty() && written.ends_with(&said.attached) && word.kind == Kind::Word {
                found += 1;
                kept.extend(self.words_of(&said.attached_is, std::slice::from_ref(word)));
            }
        }
        if found == 1 && !has_verb { kept } else { words.to_vec() }
    }

    /// What the one tool looks for that is told what to look for: "a person", "the red mug in front of you".
    fn by_name(&self, thing: &[Word]) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let articles = |it: &&Word| language.is_article(&it.text) || language.conditions.words.any.has(&it.text);
        let rest = thing.get(thing.iter().take_while(articles).count()..)?;
        let end = language.words.around.length_at_end(rest).max(language.words.here.length_at_end(rest));
        let rest = rest.get(..rest.len() - end).filter(|rest| !rest.is_empty())?;
        let looked_for = |(index, tool): (usize, &Tool)| {
            let seeks =
                ["look", "find"].iter().any(|it| tool.verbs.iter().any(|verb| self.reader.names(&verb.key, it)));
            let tells = (tool.told.whether || tool.told.counts) && tool.told.states.is_empty();
            let looks = tool.looks || tool.usage != Usage::Step;
            let [parameter] = tool.parameters.as_slice() else { return None };
            let ParameterKind::Choice(choices) = &parameter.kind else { return None };
            let (value, length) = choices.read(rest, language).filter(|_| seeks && tells && looks)?;
            let arguments = [(parameter.name.clone(), choices.value(value)?.clone())].into_iter().collect();
            (length == rest.len()).then_some(Call { tool: index, arguments })
        };
        let mut found = self.reader.robot.tools.iter().enumerate().filter_map(looked_for);
        let call = found.next().filter(|_| found.next().is_none())?;
        let tool = self.reader.robot.tool(call.tool)?;
        // No word names the tool: a person has to say whether it is meant.
        let reading = Reading { doubtful: true, ..Reading::of(vec![call]) };
        Some((Test::Present { names: tool.name_nouns.iter().cloned().collect() }, reading))
    }

    /// What is seen of what no tool looks for in particular.
    fn by_sight(&self, words: &[Word], node: &Node) -> Option<(Test, Reading)> {
        let language = self.reader.language;
        let said = &language.conditions.words;
        let articles = words.iter().take_while(|it| language.is_article(&it.text) || said.any.has(&it.text)).count();
        let mut rest = words.get(articles..)?;
        let here = language.words.here.length_at_end(rest);
        rest = rest.get(..rest.len() - here)?;
        let is_person = said.somebody.length(words) == words.len() || language.words.people.length(rest) == rest.len();
        let [only] = rest else { return None };
        let noun =
            only.kind == Kind::Word && only.number.is_none() && (language.is_noun(&only.text) || self.is_thing(only));
        let question = sentence::words(&said.what_seen, language).ok()?;
        let reading = self.looked(&question, node, &|tool| tool.parameters.is_empty())?;
        noun.then(|| (Test::Seen { thing: robot::meaning(only, language), is_person }, reading))
    }

    /// Returns true if the word names a kind of thing, and nobody in particular.
    fn is_thing(&self, word: &Word) -> bool {
        self.reader.language.facts.wordnet && crate::wordnet::domain(&word.text).is_some()
    }

    /// The words without those for now, which carry nothing.
    fn without_now(&self, words: &[Word]) -> Vec<Word> {
        let now = &self.reader.language.conditions.words.now;
        let mut kept = Vec::new();
        let mut at = 0;
        while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
            let length = now.length(rest);
            if length == 0 {
                kept.extend(rest.first().cloned());
            }
            at += length.max(1);
        }
        kept
    }

    /// The one look that the words ask for, every one of them accounted for.
    fn looked(&self, words: &[Word], node: &Node, fits: &dyn Fn(&Tool) -> bool) -> Option<Reading> {
        let earlier = node.readings();
        let context = Context {
            before: earlier.first().copied(),
            earlier: &earlier,
            place: node.place.as_ref(),
            is_subordinate: false,
            corrects: false,
            asks: true,
            is_led: false,
            sought: Sought::Certain,
        };
        let Clause::Read(readings) = self.reader.clause(words, context) else { return None };
        let mut fitting = readings.into_iter().filter(|reading| {
            let tool = reading.tool().and_then(|index| self.reader.robot.tool(index));
            let looks = tool.is_some_and(|tool| (tool.looks || tool.usage != Usage::Step) && fits(tool));
            looks && reading.calls.len() == 1 && !reading.is_open() && !reading.doubtful
        });
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

/// That what the tool measures is more than nothing, or is nothing.
fn weighs(tool: &Tool, than: Than) -> Test {
    let unit = tool.told.units.first().copied().filter(|_| tool.told.units.len() == 1);
    Test::Compare(Compare { than, number: 0.0, unit, names: tool.name_nouns.iter().cloned().collect() })
}

/// The unit in which the tool tells a number that is said so. None: it tells no such number, or several.
fn unit_of(tool: &Tool, said: &Said) -> Option<Option<Unit>> {
    let units = &tool.told.units;
    match said.unit {
        Some(unit) => units.iter().find(|it| same_measure(**it, unit)).map(|it| Some(*it)),
        None => match units.as_slice() {
            [only] => Some(Some(*only)),
            [] if tool.told.counts => Some(None),
            _ => None,
        },
    }
}
