//! Verbs: those by which a tool is asked for, and those of a sentence.

use crate::filter::WordFilter;
use crate::language::{Language, Sense, VerbForm};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most words between the parts of a verb: "turn the light in the living room on".
const GAP: usize = 8;
/// Most words of a verb, if it is not looked for in vain at once.
const FORM_WORDS: usize = 8;

/// The meaning of a verb: one of the senses of the lexicon, or the word itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// Index of the sense.
    Sense(usize),
    /// The stem of a word that the lexicon does not know.
    Word(String),
}

/// A verb by which a tool is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verb {
    pub(crate) key: Key,
    pub(crate) source: Source,
}

/// Where a tool says that a verb is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// In its description.
    Description,
    /// In its name or its patterns.
    Own,
}

/// A verb in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerbHit {
    pub(crate) key: Key,
    /// The words that it takes.
    pub(crate) at: Vec<usize>,
    /// True if the word means something else first.
    pub(crate) lent: bool,
    /// True if the word only may mean it.
    pub(crate) vague: bool,
}

/// The verbs by which a tool is asked for.
pub(super) fn of_tool(method: &[Word], patterns: &[Vec<Word>], description: &[Word], language: &Language) -> Vec<Verb> {
    let mut verbs: Vec<Verb> = Vec::new();
    let mut add = |key: Key, source: Source| {
        if !verbs.iter().any(|verb| verb.key == key) {
            verbs.push(Verb { key, source });
        }
    };
    // The verb of a name comes first, but for words that say nothing: `send_request_to_reset`.
    let means = |key: &Key| language.sense_of(key).is_none_or(|sense| !sense.light);
    for (at, word) in method.iter().enumerate() {
        // `get_charge` charges nothing.
        if language.gets(&word.text) && method.len() > 1 {
            break;
        }
        let hits = longest(hits_at(method, at, language), method, language);
        // Who takes a picture takes nothing else.
        let whole = hits.iter().any(|hit| hit.at.len() > 1 && hit.at.len() == method.len());
        let hits: Vec<VerbHit> = hits.into_iter().filter(|hit| !whole || hit.at.len() == method.len()).collect();
        let known = hits.iter().any(|hit| means(&hit.key));
        // Who turns something on does not turn it.
        let is_long = hits.iter().any(|hit| has_particle(hit, method, language));
        for hit in hits.into_iter().filter(|hit| means(&hit.key)) {
            add(hit.key, Source::Own);
        }
        let light = language.is_unspoken(&word.text) || whole || (method.len() > 1 && language.is_light(&word.stem));
        if !light && !is_long {
            add(Key::Word(word.stem.clone()), Source::Own);
        }
        // `send_request_to_reset` resets, `send_to` sends.
        let more = method.get(at + 1..).unwrap_or_default();
        let is_request = language.words.unspoken.has(&word.text);
        let names_deed = is_request && (0..more.len()).any(|at| names_deed(more, at, language));
        if (known || !light) && !names_deed {
            break;
        }
    }
    for pattern in patterns {
        let Some(first) = pattern.iter().position(|word| word.kind == Kind::Word) else { continue };
        let hits = longest(hits_at(pattern, first, language), pattern, language);
        // "Stop talking" is no stop.
        let words = pattern.iter().filter(|word| word.kind == Kind::Word && !language.is_article(&word.text)).count();
        let whole = hits.iter().any(|hit| hit.at.len() > 1 && hit.at.len() == words);
        let hits: Vec<VerbHit> = hits.into_iter().filter(|hit| !whole || hit.at.len() == words).collect();
        let is_long = whole || hits.iter().any(|hit| has_particle(hit, pattern, language));
        for hit in hits.into_iter().filter(|hit| means(&hit.key)) {
            add(hit.key, Source::Own);
        }
        if let Some(word) = pattern
            .get(first)
            .filter(|word| !is_long && !language.is_weak(&word.text) && !language.is_unspoken(&word.text))
        {
            add(Key::Word(word.stem.clone()), Source::Own);
        }
    }
    // "Opens or closes the gripper, ..." does both.
    let sentence = description.iter().position(|word| word.is_mark(".")).unwrap_or(description.len());
    let sentence = description.get(..sentence).unwrap_or_default();
    let mut at = 0;
    while let Some(word) = sentence.get(at).filter(|word| word.kind == Kind::Word) {
        for hit in
            longest(hits_at(sentence, at, language), sentence, language).into_iter().filter(|hit| means(&hit.key))
        {
            add(hit.key, Source::Description);
        }
        let is_long = longest(hits_at(sentence, at, language), sentence, language)
            .iter()
            .any(|hit| has_particle(hit, sentence, language));
        if !language.is_unspoken(&word.text) && !is_long {
            add(Key::Word(word.stem.clone()), Source::Description);
        }
        let joint = sentence.get(at + 1).filter(|next| next.is("or") || next.is("and") || next.is_mark(","));
        if joint.is_none() {
            break;
        }
        at += 2;
    }
    // The second verb of "Gets into the lift and rides to a floor".
    for (at, word) in sentence.iter().enumerate() {
        if (word.is("and") || word.is("or")) && sentence.get(at + 1).is_some_and(|next| next.text.ends_with('s')) {
            for hit in longest(hits_at(sentence, at + 1, language), sentence, language)
                .into_iter()
                .filter(|hit| means(&hit.key))
            {
                add(hit.key, Source::Description);
            }
        }
    }
    verbs
}

/// Returns true if a word of a name is a verb that means something alone, and no noun of places or things as well.
fn names_deed(words: &[Word], at: usize, language: &Language) -> bool {
    words.get(at).is_some_and(|word| !language.is_unspoken(&word.text))
        && hits_at(words, at, language)
            .iter()
            .any(|hit| !hit.lent && language.sense_of(&hit.key).is_some_and(|sense| !sense.light))
}

/// In "put it on the {spot}" the "on" belongs to the spot.
fn marks_slot(hit: &VerbHit, words: &[Word], language: &Language) -> bool {
    let after = hit.at.last().and_then(|last| words.get(last + 1..)).unwrap_or_default();
    let next = after.iter().find(|word| !language.is_article(&word.text));
    hit.at.len() > 1 && next.is_some_and(|next| next.is_mark("|"))
}

/// Returns true if the form is a verb with a particle: who turns something on does not turn it, but who sets a speed sets.
fn has_particle(hit: &VerbHit, words: &[Word], language: &Language) -> bool {
    !marks_slot(hit, words, language)
        && hit.at.iter().skip(1).any(|at| {
            words.get(*at..=*at).is_some_and(|word| {
                language.state(word).is_some()
                    || word.first().is_some_and(|word| language.roles.contains_key(&word.text))
            })
        })
}

/// Those that take most words, and shorter ones beside them unless a particle makes another verb of it.
fn longest(hits: Vec<VerbHit>, words: &[Word], language: &Language) -> Vec<VerbHit> {
    let hits: Vec<VerbHit> = hits.into_iter().filter(|hit| !hit.lent && !marks_slot(hit, words, language)).collect();
    let longest = hits.iter().filter(|hit| has_particle(hit, words, language)).map(|hit| hit.at.len()).max();
    hits.into_iter().filter(|hit| longest.is_none_or(|longest| hit.at.len() >= longest)).collect()
}

/// Every verb of a sentence: those of the lexicon, and each word by itself.
pub(crate) fn hits(words: &[Word], language: &Language) -> Vec<VerbHit> {
    let mut hits = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| word.kind == Kind::Word) {
        hits.extend(hits_at(words, at, language));
        // A word of another language is no word of a tool.
        if language.is_of_tools() {
            hits.push(VerbHit { key: Key::Word(word.stem.clone()), at: vec![at], lent: false, vague: false });
        }
    }
    hits
}

fn hits_at(words: &[Word], at: usize, language: &Language) -> Vec<VerbHit> {
    let Some(word) = words.get(at).filter(|word| word.kind == Kind::Word) else { return Vec::new() };
    let forms = language.verbs(&word.stem);
    // Most forms need a word that is not there.
    let mut following = WordFilter::default();
    if !forms.is_empty() {
        for word in words.iter().skip(at + 1).take(GAP + FORM_WORDS) {
            following.add(&word.text);
            following.add(&word.stem);
        }
    }
    let may_follow = |form: &&VerbForm| {
        form.head.len() + form.tail.len() > FORM_WORDS
            || form.head.words().skip(1).chain(form.tail.words()).all(|stem| following.may_have(stem))
    };
    forms
        .iter()
        .filter(may_follow)
        .filter_map(|form| {
            let at = taken(form, words, at, language)?;
            Some(VerbHit { key: Key::Sense(form.sense), at, lent: form.lent, vague: form.vague })
        })
        .collect()
}

/// The words that a form takes if it begins at `at`.
fn taken(form: &VerbForm, words: &[Word], at: usize, language: &Language) -> Option<Vec<usize>> {
    let says = |index: usize, stem: &str| {
        let word = words.get(index).filter(|word| word.kind == Kind::Word);
        is_said(word, stem)
    };
    // "Get us the lift": who it is for stands between.
    let for_someone = usize::from(is_for_someone(form, words.get(at + 1), language));
    let place = |offset: usize| if offset == 0 { at } else { at + offset + for_someone };
    let begin = place(form.head.len());
    if !form.head.words().enumerate().all(|(offset, stem)| says(place(offset), stem)) {
        return None;
    }
    let head = (0..form.head.len()).map(place);
    if form.tail.is_empty() {
        return Some(head.collect());
    }
    let is_tail =
        |index: &usize| form.tail.words().enumerate().all(|(offset, stem)| is_said(words.get(index + offset), stem));
    // A gap holds something, and no other clause.
    let end = words.len().min(begin + GAP + 1);
    let is_joint = |index: &usize| words.get(*index).is_some_and(|word| word.kind == Kind::Mark && !word.is_mark("|"));
    let end = (begin..end).find(is_joint).unwrap_or(end);
    // "In die Küche und zurück" has no "zurückfahren" in it.
    let is_joined = |index: &usize| {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        language.ends_in_verbs()
            && before.is_some_and(|before| before.kind == Kind::Word && language.facts.hints.links.has(&before.text))
    };
    let tail = (begin + 1..end).find(|index| is_tail(index) && !is_joined(index))?;
    Some(head.chain(tail..tail + form.tail.len()).collect())
}

/// Returns true if the word stands for whoever wants it, before a thing that the form names with its article.
fn is_for_someone(form: &VerbForm, word: Option<&Word>, language: &Language) -> bool {
    let second = form.head.words().nth(1);
    second.is_some_and(|second| language.is_article(second))
        && word.is_some_and(|word| word.kind == Kind::Word && language.facts.hints.recipients.has(&word.text))
}

fn is_said(word: Option<&Word>, stem: &str) -> bool {
    word.is_some_and(|word| word.text == stem || word.stem == stem)
}

impl Language {
    /// The sense that a verb has, if the lexicon knows it.
    pub(crate) fn sense_of(&self, key: &Key) -> Option<&Sense> {
        match key {
            Key::Sense(index) => self.sense(*index),
            Key::Word(_) => None,
        }
    }
}
