//! Words that nothing of the robot is called by, and that mean what exactly one word of the robot means, by WordNet: the
//! henhouse, where the robot knows a chicken coop. What is read with their help is asked about, never done.

use std::collections::BTreeSet;

use crate::language::Language;
use crate::robot::{self, Key, ParameterKind, Robot, Source, spoken};
use crate::sentence::{self, Word};
use crate::tokens::Kind;
use crate::wordnet::{self, PartOfSpeech};

/// The senses of a word that are compared: people mean the first ones.
const SENSES: usize = 2;
/// Most words of a noun.
const NOUN_WORDS: usize = 2;

/// The words with those of the robot in place of their kin; none if there are none.
pub(crate) fn replaced(words: &[Word], robot: &Robot, language: &Language) -> Option<Vec<Word>> {
    if !language.is_of_tools() || !language.facts.wordnet {
        return None;
    }
    let things = things(robot);
    let deeds = deeds(robot, language);
    let (mut found, mut changed) = (Vec::new(), false);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let rest = words.get(at..).unwrap_or_default();
        let kin = (1..=NOUN_WORDS.min(rest.len())).rev().find_map(|length| {
            let said = rest.get(..length)?;
            Some((kin_of(said, &things, &deeds, robot, language)?, length))
        });
        match kin {
            Some((kin, length)) => {
                let span = word.span.start..rest.get(length - 1).map_or(word.span.end, |last| last.span.end);
                let put = sentence::words(&kin, language).unwrap_or_default();
                found.extend(put.into_iter().map(|it| Word { span: span.clone(), ..it }));
                changed = true;
                at += length;
            }
            None => {
                found.push(word.clone());
                at += 1;
            }
        }
    }
    changed.then_some(found)
}

/// The robot's word for the same thing or deed.
fn kin_of(
    words: &[Word],
    things: &BTreeSet<String>,
    deeds: &BTreeSet<String>,
    robot: &Robot,
    language: &Language,
) -> Option<String> {
    let is_foreign = |word: &Word| {
        word.kind == Kind::Word
            && word.number.is_none()
            && language.is_content(&word.text)
            && language.empty(std::slice::from_ref(word)) == 0
            && language.state(std::slice::from_ref(word)).is_none()
    };
    if !words.iter().all(is_foreign) || robot::concepts_of(words, language).iter().any(|it| is_said_of(it, robot)) {
        return None;
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut nouns = wordnet::base_forms(&text, PartOfSpeech::Noun);
    // "The loo" is a toilet, which is nearly a bathroom.
    nouns.extend(robot::next_concept(words, language).filter(|(_, length)| *length == words.len()).map(|(it, _)| it));
    let means = |thing: &&String| {
        nouns.iter().any(|noun| {
            noun != *thing
                && (wordnet::shares_sense(noun, thing, PartOfSpeech::Noun, SENSES)
                    || wordnet::is_direct_kind_of(noun, thing))
        })
    };
    only(things.iter().filter(means)).or_else(|| {
        // A verb that some tool of the robot is asked for by needs no kin.
        let [word] = words else { return None };
        let verbs = wordnet::base_forms(&word.text, PartOfSpeech::Verb);
        let is_asked =
            language.verbs(&word.stem).iter().any(|form| robot.index.verb(&Key::Sense(form.sense)).is_some());
        let means = |deed: &&String| {
            verbs.iter().any(|verb| verb != *deed && wordnet::shares_sense(verb, deed, PartOfSpeech::Verb, SENSES))
        };
        (!is_asked && !nouns.contains(&word.text)).then(|| only(deeds.iter().filter(means)))?
    })
}

/// The only one of them.
fn only<'s>(mut several: impl Iterator<Item = &'s String>) -> Option<String> {
    let first = several.next()?;
    several.next().is_none().then(|| first.clone())
}

/// Returns true if a word says something of any tool.
fn is_said_of(concept: &str, robot: &Robot) -> bool {
    let index = &robot.index;
    !index.thing(concept).is_empty()
        || !index.value(concept).is_empty()
        || index.verb(&Key::Word(concept.to_owned())).is_some()
}

/// What the robot's values are called, whole and by their last word, and what its components are called.
fn things(robot: &Robot) -> BTreeSet<String> {
    let mut things: BTreeSet<String> = BTreeSet::new();
    for tool in &robot.tools {
        things.extend(tool.component.iter().cloned());
        for parameter in &tool.parameters {
            let ParameterKind::Choice(choices) = &parameter.kind else { continue };
            for value in &choices.values {
                let name = spoken(value).to_lowercase();
                things.extend(name.rsplit(' ').next().filter(|last| !choices.are(last)).map(str::to_owned));
                things.insert(name);
            }
        }
    }
    things.retain(|thing| !wordnet::base_forms(thing, PartOfSpeech::Noun).is_empty());
    things
}

/// The verbs by which the robot's tools are called.
fn deeds(robot: &Robot, language: &Language) -> BTreeSet<String> {
    let verbs = robot.tools.iter().flat_map(|tool| &tool.verbs).filter(|verb| verb.source == Source::Own);
    verbs
        .filter_map(|verb| language.sense_of(&verb.key).map(|sense| sense.name.clone()))
        .filter(|verb| !verb.contains('_'))
        .collect()
}
