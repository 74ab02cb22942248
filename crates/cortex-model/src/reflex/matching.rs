//! From a clause to the call that it asks for.
//!
//! Every word of the clause must be accounted for: by a pattern, by a tool's name, by a value, or by being one of the
//! few words that carry nothing. A single word too many and the clause is not understood. Sentence patterns of the
//! tools come first, then the words of their names, then those of their descriptions.

use serde_json::{Map, Value, json};

use super::lexicon::{self, Guard};
use super::numbers;
use super::problem::Problem;
use super::slots::{self, Mismatch, Parameter, ParameterKind};
use super::tokens::{Kind, Token};
use super::toolbox::{Piece, Tool, Toolbox, Usage};

/// Words before a number that carry nothing.
const BEFORE_NUMBERS: [&str; 5] = ["by", "for", "with", "at", "is"];
/// Words about a scene that a looking tool takes for granted.
/// Words that make a stop no other one.
const STOPPING: [&str; 10] =
    ["immediately", "once", "it", "that", "everything", "all", "there", "here", "right", "moving"];
const SCENE: [&str; 8] = ["around", "surroundings", "scene", "everything", "here", "area", "environment", "where"];
/// What is no text to speak but something said elsewhere.
const VAGUE_SPEECH: [&str; 8] = ["it", "that", "this", "them", "something", "anything", "nothing", "so"];
/// How to speak, not what.
const VOICE: [&str; 12] = [
    "up", "louder", "quieter", "softer", "slower", "faster", "clearly", "loudly", "quietly", "to", "with", "about",
];
/// To whom something is told.
const LISTENERS: [&str; 6] = ["me", "us", "everyone", "everybody", "all", "people"];

/// How well a clause fits a tool; greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// Whether every word is accounted for without free text.
    closed: bool,
    source: Source,
    /// Words that the tool itself accounts for.
    matched: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Description,
    Name,
    Phrase,
}

/// A call that a clause asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: usize,
    pub(super) arguments: Map<String, Value>,
    score: Score,
}

impl Call {
    /// A call that answers a question.
    pub(super) fn research(tool: usize, arguments: Map<String, Value>) -> Self {
        Self { tool, arguments, score: Score { closed: true, source: Source::Name, matched: 0 } }
    }

    /// Whether it ends in text of the person's own, so that what follows may belong to it.
    pub(super) fn is_open(&self) -> bool {
        !self.score.closed
    }
}

/// Why there is no call, and how close the clause came to one.
#[derive(Debug, Clone, PartialEq)]
struct Miss {
    closeness: usize,
    problem: Problem,
}

/// The call that the clause asks for. `task` is the text that the tokens were read from.
///
/// # Errors
/// Why there is none, [`Problem::Unknown`] if nothing even comes close.
pub(super) fn command(toolbox: &Toolbox<'_>, task: &str, tokens: &[Token]) -> Result<Call, Problem> {
    // "Going to the kitchen" tells of something; it asks for nothing.
    let verb = tokens.iter().find(|token| !token.is_filler());
    if verb.is_some_and(|verb| verb.kind == Kind::Word && lexicon::is_told(&verb.word)) {
        return Err(Problem::Unknown);
    }
    let mut found: Vec<Call> = Vec::new();
    let mut closest: Option<Miss> = None;
    for (index, tool) in toolbox.tools.iter().enumerate() {
        let clause = Clause { task, tokens, tool, index };
        let phrases = tool.phrases.iter().map(|phrase| clause.by_phrase(phrase));
        for attempt in phrases.chain([clause.by_name(), clause.by_speech()]) {
            match attempt {
                Some(Ok(call)) => found.push(call),
                Some(Err(miss)) if closest.as_ref().is_none_or(|other| miss.closeness > other.closeness) => {
                    closest = Some(miss);
                }
                Some(Err(_)) | None => {}
            }
        }
    }
    let best = found.iter().map(|call| call.score).max();
    let mut best: Vec<Call> = found.into_iter().filter(|call| Some(call.score) == best).collect();
    best.dedup_by(|one, other| one.tool == other.tool && one.arguments == other.arguments);
    match best.as_slice() {
        [] => Err(closest.map_or(Problem::Unknown, |miss| miss.problem)),
        [only] => Ok(only.clone()),
        several => {
            let mut tools: Vec<usize> = several.iter().map(|call| call.tool).collect();
            tools.dedup();
            Err(Problem::Several { tools })
        }
    }
}

/// The first word of the clause that forbids a guess, the gravest kind first.
pub(super) fn guarded(tokens: &[Token]) -> Option<Problem> {
    let words = tokens.iter().filter(|token| token.kind == Kind::Word);
    words
        .filter_map(|token| Some((lexicon::guard(&token.word)?, token)))
        .min_by_key(|(guard, _)| *guard)
        .map(|(guard, token)| Problem::Guarded { guard, word: token.word.clone() })
}

/// One clause held against one tool.
#[derive(Clone, Copy)]
struct Clause<'c, 'r> {
    task: &'c str,
    tokens: &'c [Token],
    tool: &'c Tool<'r>,
    index: usize,
}

/// What is known of a call so far.
struct Draft {
    /// For each token, whether it is accounted for.
    used: Vec<bool>,
    arguments: Map<String, Value>,
    matched: usize,
    has_text: bool,
    /// Whether a value or a noun of the tool was said.
    has_object: bool,
    has_number: bool,
}

type Attempt = Option<Result<Call, Miss>>;

impl Clause<'_, '_> {
    fn draft(&self) -> Draft {
        Draft {
            used: vec![false; self.tokens.len()],
            arguments: Map::new(),
            matched: 0,
            has_text: false,
            has_object: false,
            has_number: false,
        }
    }

    /// Accounts for the "up" of "pick up" and the haste of a stop.
    fn mark_particles(&self, draft: &mut Draft, verb: usize) {
        let Some(word) = self.token(verb).map(|verb| verb.word.clone()) else { return };
        let last = self.tokens.len().saturating_sub(1);
        for (at, token) in self.tokens.iter().enumerate().skip(verb + 1) {
            let picks = word == "pick" && token.is("up") && (at == verb + 1 || at == last);
            let stops = token.kind == Kind::Word
                && lexicon::canon(&word) == "stop"
                && STOPPING.contains(&token.word.as_str());
            if picks || stops {
                self.mark(draft, at, at + 1);
            }
        }
    }

    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn parameter(&self, index: usize) -> Option<&Parameter> {
        self.tool.parameters.get(index)
    }

    fn skip_fillers(&self, mut at: usize) -> usize {
        while self.token(at).is_some_and(Token::is_filler) {
            at += 1;
        }
        at
    }

    /// The clause as written, from one token to before another.
    fn written(&self, from: usize, to: usize) -> String {
        let start = self.token(from).map(|token| token.start);
        let end = to.checked_sub(1).and_then(|last| self.token(last)).map(|token| token.end);
        let span = start.zip(end).and_then(|(start, end)| self.task.get(start..end));
        span.unwrap_or_default().trim().to_owned()
    }

    /// The text between two tokens as a value: without the marks if it is one quotation.
    fn text(&self, from: usize, to: usize) -> String {
        match self.tokens.get(from..to) {
            Some([only]) if only.kind == Kind::Quoted => only.word.clone(),
            _ => self.written(from, to),
        }
    }

    fn miss(closeness: usize, problem: Problem) -> Miss {
        Miss { closeness, problem }
    }

    /// The clause as one of the tool's own sentences.
    fn by_phrase(&self, phrase: &[Piece]) -> Attempt {
        let mut draft = self.draft();
        let mut at = 0;
        for (position, piece) in phrase.iter().enumerate() {
            match piece {
                Piece::Word(word) => {
                    while self.token(at).is_some_and(|token| token.is_filler() && token.canon != *word) {
                        at += 1;
                    }
                    self.token(at).filter(|token| token.kind != Kind::Quoted && token.canon == *word)?;
                    draft.matched += 1;
                    self.mark(&mut draft, at, at + 1);
                    at += 1;
                }
                Piece::Slot(slot) => match self.slot(&mut draft, *slot, at, phrase.get(position + 1..)?)? {
                    Ok(after) => at = after,
                    Err(miss) => return Some(Err(miss)),
                },
            }
        }
        Some(self.finish(draft, Source::Phrase))
    }

    fn mark(&self, draft: &mut Draft, from: usize, to: usize) {
        for used in draft.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
    }

    /// Fills one place of a pattern from the tokens at `at`; returns where the next piece begins.
    fn slot(&self, draft: &mut Draft, slot: usize, at: usize, following: &[Piece]) -> Option<Result<usize, Miss>> {
        let parameter = self.parameter(slot)?;
        let begin = if self.tool.speech == Some(slot) { at } else { self.skip_fillers(at) };
        let said_before = draft.matched > 0;
        if begin >= self.tokens.len() {
            return said_before.then(|| Err(self.missing(draft.matched, parameter)));
        }
        let rest = self.tokens.get(begin..)?;
        let filled = match &parameter.kind {
            ParameterKind::Choice(values) => match slots::read_choice(values, rest) {
                Some((value, length)) => Ok((value.clone(), begin + length)),
                None => {
                    let end = match following.first() {
                        // Without what follows in the pattern, the clause does not follow it at all.
                        Some(Piece::Word(word)) => begin + rest.iter().position(|token| token.canon == *word)?,
                        Some(Piece::Slot(_)) | None => self.tokens.len(),
                    };
                    Err(self.unknown_value(draft.matched, parameter, values, begin, end))
                }
            },
            ParameterKind::Number(kind) => {
                let before = rest.first().filter(|first| BEFORE_NUMBERS.contains(&first.word.as_str()));
                let begin = begin + usize::from(before.is_some());
                let said = numbers::read(self.tokens.get(begin..)?)?;
                match kind.take(&said) {
                    Ok(value) => Ok((value, begin + said.length)),
                    Err(mismatch) => Err(self.mismatch(draft.matched, parameter, mismatch, begin, said.length)),
                }
            }
            ParameterKind::Flag => Ok((json!(slots::read_flag(rest.first()?)?), begin + 1)),
            ParameterKind::Text(limit) => {
                let end = match following.first() {
                    None => self.tokens.len(),
                    Some(Piece::Word(word)) => {
                        begin + rest.iter().position(|token| token.kind == Kind::Word && token.canon == *word)?
                    }
                    Some(Piece::Slot(_)) => begin + 1,
                };
                if end == begin {
                    return said_before.then(|| Err(self.missing(draft.matched, parameter)));
                }
                draft.has_text |= !matches!(rest, [only] if only.kind == Kind::Quoted);
                self.free_text(slot, *limit, begin, end).map_err(|problem| Self::miss(draft.matched + 2, problem))
                    .map(|text| (text, end))
            }
            ParameterKind::Other => return None,
        };
        Some(filled.map(|(value, end)| {
            self.mark(draft, at, end);
            draft.arguments.insert(parameter.name.clone(), value);
            draft.has_object = true;
            end
        }))
    }

    /// Text of the person's own. What is to be spoken may hold any words; anything else must not hold those that turn
    /// a command into another one.
    fn free_text(&self, slot: usize, limit: Option<u64>, from: usize, to: usize) -> Result<Value, Problem> {
        let from = if self.tool.speech == Some(slot) { self.skip_that(from, to) } else { from };
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        if self.tool.speech == Some(slot) {
            if let [first] | [first, _] = tokens
                && first.kind == Kind::Word
                && VAGUE_SPEECH.contains(&first.word.as_str())
                && tokens.get(1).is_none_or(|second| second.is("again"))
            {
                return Err(Problem::Guarded { guard: Guard::Reference, word: first.word.clone() });
            }
            let speaks = from.checked_sub(1).and_then(|before| self.token(before)).is_some_and(|verb| verb.is("speak"));
            let is_voice = tokens.first().is_some_and(|first| VOICE.contains(&first.word.as_str()));
            if speaks && is_voice {
                return Err(Problem::UnknownWords { words: self.written(from, to) });
            }
        } else if let Some(problem) = guarded(tokens) {
            return Err(problem);
        } else if let Some(joint) = tokens.iter().find(|token| {
            token.is("and") || token.is("but") || token.is("plus") || token.is_mark(",") || token.is_mark("&")
        }) {
            return Err(Problem::Guarded { guard: Guard::Series, word: joint.word.clone() });
        }
        let mut text = self.text(from, to);
        // An exclamation or a question sounds different.
        let end = tokens.last().filter(|last| last.kind != Kind::Quoted).map(|last| last.end);
        let mark = end.and_then(|end| self.task.get(end..)).and_then(|after| after.chars().next());
        if self.tool.speech == Some(slot)
            && let Some(mark @ ('!' | '?')) = mark
        {
            text.push(mark);
        }
        let parameter = self.parameter(slot).map(|parameter| parameter.label.clone()).unwrap_or_default();
        if limit.is_some_and(|limit| text.chars().count() as u64 > limit) {
            let bounds = format!("at most {} characters", limit.unwrap_or_default());
            return Err(Problem::OutOfBounds { parameter, said: "the text".to_owned(), bounds });
        }
        Ok(json!(text))
    }

    /// Where the text begins in "say: ..." and "announce that ...".
    fn skip_that(&self, from: usize, to: usize) -> usize {
        let that = self.token(from).is_some_and(|next| next.is("that")) && from + 2 < to;
        let from = from + usize::from(that);
        let colon = self.token(from).is_some_and(|next| next.is_mark(":")) && from + 1 < to;
        from + usize::from(colon)
    }

    /// The clause as `say ...`, where the tool speaks.
    fn by_speech(&self) -> Attempt {
        let slot = self.tool.speech?;
        let ParameterKind::Text(limit) = self.parameter(slot)?.kind else { return None };
        let first = self.skip_fillers(0);
        let verb = self.token(first)?;
        let tells = verb.is("tell");
        if verb.canon != "say" && !tells {
            return None;
        }
        let mut at = first + 1;
        let mut to_listener = false;
        while self.token(at).is_some_and(|next| LISTENERS.contains(&next.word.as_str()) && tells) {
            to_listener = true;
            at += 1;
        }
        let for_everyone = self.token(at.saturating_sub(1)).is_some_and(|next| !next.is("me") && !next.is("us"));
        let says_that = self.token(at).is_some_and(|next| next.is("that"));
        at = self.skip_that(at, self.tokens.len());
        let quotes = self.token(at).is_some_and(|next| next.kind == Kind::Quoted);
        // "Tell me a joke" is no text to speak.
        if tells && !(to_listener && (for_everyone || says_that || quotes)) {
            return None;
        }
        if at >= self.tokens.len() {
            return Some(Err(self.missing(1, self.parameter(slot)?)));
        }
        let mut draft = self.draft();
        draft.has_text = !(quotes && at + 1 == self.tokens.len());
        draft.has_object = true;
        draft.matched = 1;
        self.mark(&mut draft, 0, self.tokens.len());
        match self.free_text(slot, limit, at, self.tokens.len()) {
            Ok(text) => {
                draft.arguments.insert(self.parameter(slot)?.name.clone(), text);
                Some(self.finish(draft, Source::Name))
            }
            Err(problem) => Some(Err(Self::miss(3, problem))),
        }
    }

    /// The clause by the words of the tool's name and description: verb first, then what it is about.
    fn by_name(&self) -> Attempt {
        let tool = self.tool;
        if tool.speech.is_some() {
            return None;
        }
        let first = self.skip_fillers(0);
        let verb = self.token(first).filter(|verb| verb.kind == Kind::Word)?;
        let is_named = (tool.method.contains(&verb.canon) || tool.unspoken.contains(&verb.canon))
            && (!lexicon::is_thing(&verb.canon) || tool.stems.contains(&lexicon::stem(&verb.word)));
        let reports = verb.canon == "read" && tool.verb.as_deref().is_none_or(|it| it == "read" || it == "say");
        let is_described = tool.verb.as_ref() == Some(&verb.canon) || reports;
        if !is_named && !is_described {
            return None;
        }
        let mut draft = self.draft();
        // "Tell me the level" wants an answer, not a tool to which "the level" is told.
        if verb.canon == "read" && !is_named && self.open_text(&draft).is_some() {
            return None;
        }
        draft.matched = 1;
        self.mark(&mut draft, first, first + 1);
        self.mark_particles(&mut draft, first);
        let is_generic = lexicon::is_generic(&verb.canon);
        let mentioned = |word: &String| self.tokens.iter().any(|token| token.canon == *word);
        let covers = |said: &dyn Fn(&String) -> bool| {
            tool.method.iter().all(|word| said(word) || (word == "set" && tool.method.len() > 1))
        };
        let leftover = match self.assign(&mut draft) {
            Ok(leftover) => leftover,
            // "Turn the table by 20" is not close to a tool that turns something else.
            Err(_) if is_generic && !covers(&mentioned) => return None,
            Err(miss) => return Some(Err(miss)),
        };
        let said = |word: &String| {
            let mut tokens = self.tokens.iter().zip(&draft.used);
            tokens.any(|(token, used)| *used && token.canon == *word)
        };
        let covered = covers(&said);
        let is_vague = tool.method.iter().filter(|word| said(word)).all(|word| lexicon::is_generic(word));
        let source = if is_named && (covered || tool.usage != Usage::Step) { Source::Name } else { Source::Description };
        if source == Source::Description && !is_described {
            return None;
        }
        // A verb such as "turn" alone is close to nothing.
        let takes_text = !leftover.is_empty() && self.open_text(&draft).is_some();
        if is_generic && draft.matched < 2 && !draft.has_object && !takes_text {
            return None;
        }
        // "Check the kitchen" names nothing that the tool would read.
        if source == Source::Description && verb.canon == "read" && draft.matched < 2 {
            return None;
        }
        // "Set the belt to 1" does not say what of it.
        if source == Source::Description && is_generic && draft.has_number {
            return None;
        }
        if let Err(miss) = self.take_leftover(&mut draft, &leftover) {
            return Some(Err(miss));
        }
        let needs_object = source == Source::Description || is_vague;
        if needs_object && !draft.has_object && tool.usage == Usage::Step {
            return Some(Err(Self::miss(draft.matched, Problem::Unknown)));
        }
        Some(self.finish(draft, source))
    }

    /// Accounts for the tokens that are values of parameters or words of the tool; returns the others.
    fn assign(&self, draft: &mut Draft) -> Result<Vec<usize>, Miss> {
        let tool = self.tool;
        let mut leftover = Vec::new();
        let mut at = 0;
        while let Some(token) = self.token(at) {
            if draft.used.get(at).copied().unwrap_or_default() || token.is_filler() {
                at += 1;
                continue;
            }
            if let Some(length) = self.assign_value(draft, at)? {
                self.mark(draft, at, at + length);
                at += length;
                continue;
            }
            // Where the tool takes a text, its other words may belong to that.
            let in_text = self.open_text(draft).is_some();
            let is_word = token.kind == Kind::Word;
            let named = is_word
                && !(in_text && !leftover.is_empty())
                && (tool.method.contains(&token.canon) || tool.component.contains(&token.canon));
            let described = is_word
                && !in_text
                && tool.described.contains(&token.canon)
                && lexicon::guard(&token.word).is_none();
            let of_scene = is_word && tool.looks && (SCENE.contains(&token.canon.as_str()) || token.canon == "see");
            let parameter = is_word
                && (tool.unspoken.contains(&token.canon)
                    || tool.parameters.iter().any(|it| it.words.contains(&token.canon)));
            let next_is_number = self.tokens.get(at + 1..).is_some_and(|rest| numbers::read(rest).is_some());
            let before_number = BEFORE_NUMBERS.contains(&token.word.as_str()) && next_is_number;
            if named || described || of_scene || parameter || before_number {
                self.mark(draft, at, at + 1);
                draft.matched += usize::from(named || described);
                draft.has_object |= tool.component.contains(&token.canon) || (described && !named);
            } else {
                leftover.push(at);
            }
            at += 1;
        }
        Ok(leftover)
    }

    /// Gives the value that begins at `at` to the one parameter that takes it; returns how many tokens it has.
    fn assign_value(&self, draft: &mut Draft, at: usize) -> Result<Option<usize>, Miss> {
        let Some(rest) = self.tokens.get(at..) else { return Ok(None) };
        let open: Vec<&Parameter> =
            self.tool.parameters.iter().filter(|it| !draft.arguments.contains_key(&it.name)).collect();
        let mut choices: Vec<(&Parameter, &Value, usize)> = Vec::new();
        for parameter in &open {
            if let ParameterKind::Choice(values) = &parameter.kind
                && let Some((value, length)) = slots::read_choice(values, rest)
            {
                choices.push((parameter, value, length));
            }
        }
        let longest = choices.iter().map(|(_, _, length)| *length).max();
        choices.retain(|(_, _, length)| Some(*length) == longest);
        if let [(parameter, value, length)] = choices.as_slice() {
            draft.arguments.insert(parameter.name.clone(), (*value).clone());
            draft.has_object = true;
            return Ok(Some(*length));
        }
        if let Some(said) = numbers::read(rest)
            && let Some((parameter, kind)) = self.number_parameter(&open, &said, at)
        {
            let value = kind
                .take(&said)
                .map_err(|mismatch| self.mismatch(draft.matched + 1, parameter, mismatch, at, said.length))?;
            draft.arguments.insert(parameter.name.clone(), value);
            draft.has_object = true;
            draft.has_number = true;
            return Ok(Some(said.length));
        }
        let mut flags = open.iter().filter(|it| it.kind == ParameterKind::Flag);
        if let (Some(parameter), None) = (flags.next(), flags.next())
            && let Some(flag) = rest.first().and_then(slots::read_flag)
        {
            draft.arguments.insert(parameter.name.clone(), json!(flag));
            return Ok(Some(1));
        }
        Ok(None)
    }

    /// The one parameter that a number is meant for: the only one, the only one of its unit, the one that is named
    /// just before, or the only one that must be said.
    fn number_parameter<'p>(
        &self,
        open: &[&'p Parameter],
        said: &numbers::Said,
        at: usize,
    ) -> Option<(&'p Parameter, &'p slots::NumberKind)> {
        let numbers: Vec<(&Parameter, &slots::NumberKind)> = open
            .iter()
            .filter_map(|parameter| match &parameter.kind {
                ParameterKind::Number(kind) => Some((*parameter, kind)),
                _ => None,
            })
            .collect();
        if let [only] = numbers.as_slice() {
            return Some(*only);
        }
        let only = |fits: &dyn Fn(&Parameter, &slots::NumberKind) -> bool| {
            let mut fitting = numbers.iter().filter(|(parameter, kind)| fits(parameter, kind));
            fitting.next().filter(|_| fitting.next().is_none()).copied()
        };
        let before = self.tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
        only(&|_, kind| said.unit.is_some() && kind.unit.map(|unit| unit.dimension) == said.unit.map(|it| it.dimension))
            .or_else(|| only(&|parameter, _| before.iter().any(|token| parameter.words.contains(&token.canon))))
            .or_else(|| only(&|parameter, _| said.unit.is_none() && parameter.required))
    }

    /// The one text that the tool takes and that was not yet said, with the most characters that it may have.
    fn open_text(&self, draft: &Draft) -> Option<(usize, Option<u64>)> {
        let mut texts = self.tool.parameters.iter().enumerate().filter_map(|(index, parameter)| match parameter.kind {
            ParameterKind::Text(limit) if !draft.arguments.contains_key(&parameter.name) => Some((index, limit)),
            _ => None,
        });
        texts.next().filter(|_| texts.next().is_none())
    }

    /// Makes the words that are left the one text that the tool takes, or says what is wrong with them.
    fn take_leftover(&self, draft: &mut Draft, leftover: &[usize]) -> Result<(), Miss> {
        let (Some(first), Some(last)) = (leftover.first().copied(), leftover.last().copied()) else { return Ok(()) };
        // The words must stand together, but for those that carry nothing.
        let together = self
            .tokens
            .iter()
            .zip(&draft.used)
            .take(last)
            .skip(first)
            .all(|(token, used)| !used || token.is_filler());
        let Some((index, limit)) = self.open_text(draft).filter(|_| together) else {
            return Err(self.unexplained(draft, first, last + 1));
        };
        let parameter = self.parameter(index).map(|parameter| (parameter.name.clone(), parameter.words.clone()));
        let (name, words) = parameter.unwrap_or_default();
        // "Inspect the camera component" is about the camera.
        let is_label = |at: usize| {
            let canon = self.token(at).map(|token| &token.canon);
            canon.is_some_and(|canon| words.contains(canon) || self.tool.method.contains(canon))
        };
        let last = if last > first && is_label(last) { last - 1 } else { last };
        let value = self
            .free_text(index, limit, first, last + 1)
            .map_err(|problem| Self::miss(draft.matched + 1, problem))?;
        draft.has_text |= !matches!(self.tokens.get(first..=last), Some([only]) if only.kind == Kind::Quoted);
        draft.has_object = true;
        draft.arguments.insert(name, value);
        self.mark(draft, first, self.tokens.len());
        Ok(())
    }

    /// What is wrong with words that nothing accounts for: most likely they are meant as a value that is still open.
    fn unexplained(&self, draft: &Draft, from: usize, to: usize) -> Miss {
        let mut open = self.tool.parameters.iter().filter_map(|parameter| match &parameter.kind {
            ParameterKind::Choice(values) if parameter.required && !draft.arguments.contains_key(&parameter.name) => {
                Some((parameter, values))
            }
            _ => None,
        });
        match (open.next(), open.next()) {
            (Some((parameter, values)), None) => self.unknown_value(draft.matched, parameter, values, from, to),
            _ => Self::miss(draft.matched, Problem::UnknownWords { words: self.written(from, to) }),
        }
    }

    /// Every word accounted for, and every value that must be given is given: the call.
    fn finish(&self, mut draft: Draft, source: Source) -> Result<Call, Miss> {
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

    /// Beyond a pattern only further values count, with the names of their parameters.
    fn assign_rest(&self, draft: &mut Draft) -> Result<Vec<usize>, Miss> {
        let mut leftover = Vec::new();
        let mut at = 0;
        while let Some(token) = self.token(at) {
            if draft.used.get(at).copied().unwrap_or_default() || token.is_filler() {
                at += 1;
            } else if let Some(length) = self.assign_value(draft, at)? {
                self.mark(draft, at, at + length);
                at += length;
            } else {
                let parameter = self.tool.parameters.iter().any(|it| it.words.contains(&token.canon));
                let next_is_number = self.tokens.get(at + 1..).is_some_and(|rest| numbers::read(rest).is_some());
                let carries_nothing = BEFORE_NUMBERS.contains(&token.word.as_str()) && (next_is_number || parameter);
                if !(parameter || carries_nothing) {
                    leftover.push(at);
                }
                at += 1;
            }
        }
        Ok(leftover)
    }

    fn missing(&self, closeness: usize, parameter: &Parameter) -> Miss {
        let wanted = match &parameter.kind {
            ParameterKind::Choice(values) => {
                format!(", one of: {}", listed(&values.iter().map(slots::spoken).collect::<Vec<_>>()))
            }
            ParameterKind::Flag => ", on or off".to_owned(),
            ParameterKind::Number(kind) => format!(", {}", kind.bounds()),
            ParameterKind::Text(_) => String::new(),
            ParameterKind::Other => {
                let problem = Problem::Unsayable { tool: self.index, parameter: parameter.label.clone() };
                return Self::miss(closeness, problem);
            }
        };
        Self::miss(closeness, Problem::Missing { tool: self.index, parameter: parameter.label.clone(), wanted })
    }

    fn unknown_value(&self, closeness: usize, parameter: &Parameter, values: &[Value], from: usize, to: usize) -> Miss {
        let said = self.written(from, to);
        let similar = slots::similar_choice(values, &said).map(slots::spoken);
        let choices = values.iter().map(slots::spoken).collect();
        let problem =
            Problem::UnknownValue { parameter: parameter.label.clone(), said, choices, similar };
        Self::miss(closeness + 1, problem)
    }

    fn mismatch(&self, closeness: usize, parameter: &Parameter, mismatch: Mismatch, at: usize, length: usize) -> Miss {
        let parameter = parameter.label.clone();
        let said = self.written(at, at + length);
        let problem = match mismatch {
            Mismatch::OutOfBounds(bounds) => Problem::OutOfBounds { parameter, said, bounds },
            Mismatch::Unit | Mismatch::UnknownUnit => Problem::Unit { parameter, said },
        };
        Self::miss(closeness + 1, problem)
    }
}

/// Most values that are listed for a person.
const LISTED: usize = 8;

/// The first of several values, and how many there are besides.
pub(super) fn listed(values: &[String]) -> String {
    let shown: Vec<&str> = values.iter().take(LISTED).map(String::as_str).collect();
    let more = values.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
