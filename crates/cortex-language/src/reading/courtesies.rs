//! What people say around an order: "would you mind ...", "..., mate", and what is left without it.

use super::{Context, Core, End, Reader, Reading};
use crate::language::Lead;
use crate::sentence::Word;
use crate::tokens::Kind;

impl Reader<'_> {
    /// The clause as a sentence that a tool declares, before everything is taken off: "go answers late" is no "answers
    /// late" to somebody who is told to go, where a component has that name.
    pub(super) fn as_declared(&self, words: &[Word], core: Core<'_>, context: Context<'_>) -> Vec<Reading> {
        if core.words.len() == words.len() || context.is_subordinate {
            return Vec::new();
        }
        // With all that is said around it, then with ever less of it.
        let mut wholes: Vec<&[Word]> = vec![words];
        self.stripped(words, End::Courtesies, &mut |rest| wholes.push(rest));
        let readings = |whole: &&[Word]| -> Vec<Reading> {
            let whole = Core { words: self.without_end(whole, End::Courtesies), lead: None, ..core };
            let tools = whole.words.first().map(|first| self.robot.those(self.robot.index.phrase(&first.stem)));
            let attempts = tools.into_iter().flatten().flat_map(|(index, tool)| {
                tool.phrases.iter().filter_map(move |phrase| self.by_phrase(index, tool, phrase, whole, context))
            });
            attempts.filter_map(Result::ok).filter(|reading| reading.score.closed).collect()
        };
        wholes.iter().map(readings).find(|readings| !readings.is_empty()).unwrap_or_default()
    }

    /// Returns the length of a word that opens an order and carries nothing: "hey". The "second" of "second slot" does.
    pub(super) fn opener(&self, rest: &[Word]) -> usize {
        let length = self.language.frames.openers.length(rest);
        // "Right ninety degrees" says which way.
        let counts_on = rest.get(length).is_some_and(|next| next.number.is_some());
        if length == 1 && counts_on && rest.first().is_some_and(|first| self.is_direction(first)) {
            return 0;
        }
        let first_of_all = rest.first().and_then(|first| first.ordinal) == Some(1.0);
        let counts = length == 1
            && rest.first().is_some_and(|first| first.ordinal.is_some())
            && rest.get(1).is_some_and(|next| {
                // "First go to the hall" begins with a verb, though a tool is named after it.
                let is_verb = !self.language.verbs(&next.stem).is_empty();
                next.kind == Kind::Word
                    && !(is_verb && first_of_all)
                    && self.robot.those(self.robot.index.thing(&next.stem)).any(|(_, tool)| {
                        tool.nouns.contains(&next.stem)
                            || tool.parameters.iter().any(|parameter| parameter.words.contains(&next.stem))
                    })
            });
        if counts { 0 } else { length }
    }

    /// The words that are all that a value of this robot is called, or a direction in which it moves, where nothing but
    /// what people say around an order stands beside them: "and then ready again".
    pub(crate) fn value_alone<'w>(&self, words: &'w [Word]) -> Option<&'w [Word]> {
        let mut wholes: Vec<&[Word]> = vec![words];
        self.stripped(words, End::Courtesies, &mut |rest| wholes.push(rest));
        wholes.into_iter().find_map(|whole| {
            let length = self.value_or_direction(whole);
            let after = whole.get(length..).filter(|_| length > 0)?;
            self.core(after, End::Courtesies).words.is_empty().then(|| whole.get(..length))?
        })
    }

    fn value_or_direction(&self, words: &[Word]) -> usize {
        let directions = usize::from(words.first().is_some_and(|first| self.is_direction(first)));
        self.value_length(words).max(directions)
    }

    /// Returns true if something of this robot turns or moves that way.
    pub(crate) fn is_direction(&self, word: &Word) -> bool {
        self.robot.index.directions.contains(word.text.as_str())
    }

    /// The clause without what people say around an order.
    pub(crate) fn core<'w>(&self, words: &'w [Word], end: End) -> Core<'w> {
        self.stripped(words, end, &mut |_| {})
    }

    /// The same; takes the words that are left after each step.
    fn stripped<'w>(&self, words: &'w [Word], end: End, take: &mut dyn FnMut(&'w [Word])) -> Core<'w> {
        let mut rest = words;
        let mut lead = None;
        loop {
            let marks = rest.iter().take_while(|word| word.is_punctuation()).count();
            rest = rest.get(marks..).unwrap_or_default();
            take(rest);
            // The longest frame that leaves something to be framed.
            let framed = self
                .language
                .leads
                .iter()
                .filter_map(|(kind, pattern)| Some((pattern.prefix(rest)?, *kind)))
                .filter(|(length, kind)| {
                    let next = rest.get(*length);
                    let fits = *kind != Lead::Gerund
                        || next.is_some_and(|next| self.language.form(&next.text) == crate::language::Form::Gerund);
                    *length > 0 && next.is_some() && fits
                })
                .max_by_key(|(length, _)| *length);
            let opener = self.opener(rest);
            match framed {
                Some((length, kind)) if length >= opener => {
                    lead = Some(kind);
                    rest = rest.get(length..).unwrap_or_default();
                }
                _ if opener > 0 => rest = rest.get(opener..).unwrap_or_default(),
                _ => break,
            }
        }
        // "Go tell them ...", "come and see": what is gone for is what is to be done.
        let goes = rest.first().is_some_and(|first| self.language.goes(&first.stem));
        let verb_follows = rest.get(1).is_some_and(|next| {
            let forms = self.language.verbs(&next.stem);
            let means =
                |sense: usize| self.language.sense(sense).is_some_and(|sense| !sense.light && sense.name != "go");
            next.kind == Kind::Word
                && !self.language.roles.contains_key(&next.text)
                && next.stem == self.language.stem(&next.text)
                && forms.iter().any(|form| form.head.len() == 1 && form.tail.is_empty() && means(form.sense))
        });
        let noun_follows = rest.get(1).is_some_and(|next| self.language.empty(std::slice::from_ref(next)) > 0);
        if goes && verb_follows && !noun_follows && rest.len() > 1 {
            rest = rest.get(1..).unwrap_or_default();
        }
        let rest = self.without_end(rest, end);
        let begins = self.asks(rest);
        Core { words: rest, lead, asks: begins, spots: &[] }
    }

    /// The clause without what people say after an order.
    pub(super) fn without_end<'w>(&self, words: &'w [Word], end: End) -> &'w [Word] {
        let mut rest = words;
        loop {
            let marks = rest.iter().rev().take_while(|word| word.is_punctuation()).count();
            rest = rest.get(..rest.len() - marks).unwrap_or_default();
            let closer = match end {
                End::Courtesies => self.language.frames.closers.length_at_end(rest),
                End::Polite => self.language.frames.courtesies.length_at_end(rest),
                End::Kept => 0,
            };
            // "Bring me the honey" is said to nobody's honey.
            let before = rest.len().checked_sub(closer + 1).and_then(|before| rest.get(before));
            let is_thing = closer == 1 && before.is_some_and(|before| self.language.is_article(&before.text));
            if closer == 0 || closer >= rest.len() || is_thing {
                return rest;
            }
            rest = rest.get(..rest.len() - closer).unwrap_or_default();
        }
    }
}
