//! Reads a language from its data.

use std::collections::{BTreeMap, BTreeSet};

use super::{Frame, Language, Lead, Sense, TextFrame, VerbForm};
use crate::data_error::DataError;
use crate::facts::Facts;
use crate::filter::{KeptMap, WordMap};
use crate::grammar::{Grammar, SenseEntry, Truths};
use crate::kept::{in_order, kept};
use crate::languages::Files;
use crate::pattern::Pattern;
use crate::phrases::{Phrase, PhraseSet, PhraseTable, list};
use crate::stem::Stemmer;

impl Language {
    /// Reads a language from its data. `base` is the language of the tools, whose senses and nouns this one names.
    ///
    /// # Errors
    /// When something is missing in the data, or of the wrong form; says in which file.
    pub(crate) fn read(
        files: &Files<'_>,
        facts: &'static Facts,
        base: Option<&'static Self>,
    ) -> Result<Self, DataError> {
        let within = |file: &str| {
            let place = format!("data/{}/{file}.toml", files.code);
            move |error: toml::de::Error| DataError::from(error).within(place)
        };
        let folded = [files.grammar, files.senses, files.nouns, files.conditions].map(|text| facts.folded(text));
        let [grammar, senses, nouns, conditions] = &folded;
        let function_words = spellings(grammar).into_iter().collect();
        let grammar: Grammar = toml::from_str(grammar).map_err(within("grammar"))?;
        let conditions = toml::from_str(conditions).map_err(within("conditions"))?;
        let lead = |pattern: &str, place: bool| {
            let trimmed = pattern.trim();
            let kind = if place {
                Lead::Place
            } else if trimmed.ends_with('~') {
                Lead::Gerund
            } else {
                Lead::Verb
            };
            (kind, Pattern::read(trimmed.trim_end_matches(['~', '+', ' '])))
        };
        let mut leads: Vec<(Lead, Pattern)> = grammar.frames.leads.split(',').map(|it| lead(it, false)).collect();
        leads.extend(grammar.frames.stations.split(',').map(|it| lead(it, true)));
        let texts = text_frames(Frame::Say, &grammar.frames.say)
            .chain(text_frames(Frame::Write, &grammar.frames.write))
            .collect();
        let stemmer = Stemmer::new(grammar.endings, grammar.irregular);
        let mut language = Self {
            facts,
            base,
            words: grammar.words,
            frames: grammar.frames,
            conditions,
            short_forms: grammar.short_forms.iter().map(|(short, long)| (short.clone(), split(long))).collect(),
            states: PhraseTable::read(&grammar.states),
            opposites: base.map_or_else(|| opposites(&grammar.opposites), |base| base.opposites.clone()),
            truths: base.map_or_else(|| truths(&grammar.truths), |base| base.truths.clone()),
            qualities: grammar
                .qualities
                .iter()
                .flat_map(|(of, words)| list(words).into_iter().map(move |word| (word, of.clone())))
                .collect(),
            topics: PhraseTable::read(&grammar.topics),
            topic_hints: PhraseTable::read(&grammar.topic_hints),
            told_by: WordMap::default(),
            gerunds: list(&grammar.forms.gerund),
            manners: list(&grammar.forms.manner),
            pasts: list(&grammar.forms.past),
            past_forms: PhraseSet::read(&grammar.forms.pasts),
            roles: grammar.roles.iter().map(|(word, hints)| (word.clone(), list(hints))).collect(),
            leads,
            numbers: grammar.numbers.into_iter().collect(),
            ordinals: grammar.ordinals.into_iter().collect(),
            spellings: in_order(folded.iter().flat_map(|text| spellings(text))),
            function_words,
            stems: Box::default(),
            senses: Vec::new(),
            idioms: grammar.idioms.iter().map(|(said, list)| (said.clone(), patterns(list))).collect(),
            going: facts.hints.going.0.iter().map(|word| stemmer.stem(word)).collect(),
            verbs: KeptMap::default(),
            nouns: KeptMap::default(),
            talk: grammar.talk.iter().map(|(about, list)| (about.clone(), patterns(list))).collect(),
            texts,
            stemmer,
        };
        language.stems = in_order(language.spellings.iter().map(|word| language.stem(word)));
        match base {
            None => {
                let senses: BTreeMap<String, SenseEntry> = toml::from_str(senses).map_err(within("senses"))?;
                // A word that names a sense stands for no other.
                let names: BTreeSet<String> = senses.keys().cloned().collect();
                for (name, entry) in senses {
                    language.add_sense(name, entry, &names);
                }
            }
            Some(base) => {
                let senses: BTreeMap<String, String> = toml::from_str(senses).map_err(within("senses"))?;
                for (name, words) in senses {
                    let sense = base.senses.iter().position(|sense| sense.name == name);
                    let sense = sense.ok_or_else(|| {
                        let place = format!("data/{}/senses.toml", files.code);
                        DataError::UnknownSense { sense: name.clone() }.within(place)
                    })?;
                    list(&words).iter().for_each(|phrase| language.add_verb(phrase, sense, false, false));
                }
            }
        }
        let nouns: BTreeMap<String, String> = toml::from_str(nouns).map_err(within("nouns"))?;
        for (name, words) in nouns {
            let name = base.map_or_else(|| name.clone(), |base| base.concept(&name));
            language.add_noun(&name, &words);
        }
        language.verbs.values_mut().for_each(Vec::shrink_to_fit);
        language.nouns.values_mut().for_each(Vec::shrink_to_fit);
        language.told_by = grammar
            .told_by
            .iter()
            .map(|(topic, words)| (topic.clone(), list(words).iter().map(|word| language.concept(word)).collect()))
            .collect();
        Ok(language)
    }

    fn add_sense(&mut self, name: String, entry: SenseEntry, names: &BTreeSet<String>) {
        let sense = self.senses.len();
        for phrase in list(&entry.words) {
            let lent = phrase != name && names.contains(&phrase) && !entry.light;
            match phrase.strip_prefix('?') {
                Some(vague) => self.add_verb(vague, sense, true, true),
                None => self.add_verb(&phrase, sense, lent, false),
            }
        }
        self.senses.push(Sense {
            name,
            bases: list(&entry.base.unwrap_or_default()),
            state: entry.state,
            light: entry.light,
            adjusts: entry.adjusts,
            looks: entry.looks,
            frame: entry.frame,
            says: list(&entry.says.unwrap_or_default()),
            of: entry.of,
            places: list(&entry.place.unwrap_or_default()),
        });
    }

    /// Adds the forms of a verb: `turn * on`, and `an|schalten`, of which the particle may stand at the end or before.
    fn add_verb(&mut self, phrase: &str, sense: usize, lent: bool, vague: bool) {
        let stems = |text: &str| -> Vec<String> { text.split_whitespace().map(|word| self.stem(word)).collect() };
        let forms = match phrase.split_once('|') {
            Some((particle, verb)) => {
                let (begin, tail) = (stems(verb), vec![particle.to_owned()]);
                let joined = |mark: &str| (stems(&format!("{particle}{mark}{verb}")), Vec::new());
                let together = (begin.iter().chain(&tail).cloned().collect(), Vec::new());
                vec![joined(""), joined(&self.facts.order.infinitive), together, (begin, tail)]
            }
            None => {
                let mut parts = phrase.split('*').map(stems);
                vec![(parts.next().unwrap_or_default(), parts.next().unwrap_or_default())]
            }
        };
        for (head, tail) in forms {
            let (head, tail) = (Phrase::new(&head.join(" ")), Phrase::new(&tail.join(" ")));
            if !head.is_empty() {
                self.verbs.entry(head.first()).or_default().push(VerbForm { head, tail, sense, lent, vague });
            }
        }
    }

    fn add_noun(&mut self, name: &str, words: &str) {
        let name = kept(name);
        for phrase in list(words) {
            let stems: Vec<String> = phrase.split_whitespace().map(|word| self.stem(word)).collect();
            let noun = Phrase::new(&stems.join(" "));
            if !noun.is_empty() {
                let entries = self.nouns.entry(noun.first()).or_default();
                entries.push((noun, name));
                entries.sort_by_key(|(noun, _)| std::cmp::Reverse(noun.len()));
            }
        }
    }
}

fn opposites(table: &BTreeMap<String, String>) -> WordMap<String> {
    table.iter().flat_map(|(one, other)| [(one.clone(), other.clone()), (other.clone(), one.clone())]).collect()
}

fn truths(table: &Truths) -> WordMap<bool> {
    let words = |text: &str, truth: bool| list(text).into_iter().map(move |word| (word, truth));
    words(&table.yes, true).chain(words(&table.no, false)).collect()
}

/// The words of some data, without its comments.
fn spellings(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let is_word = |word: &&str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
    lines
        .flat_map(|line| {
            line.split(|next: char| !next.is_alphabetic()).filter(is_word).map(str::to_lowercase).collect::<Vec<_>>()
        })
        .collect()
}

fn split(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Reads frames of texts: `tell {people} {text}`, `thank {people} for {text} = thank you for`.
fn text_frames(frame: Frame, list: &str) -> impl Iterator<Item = TextFrame> + '_ {
    list.split(',').filter(|it| !it.trim().is_empty()).map(move |it| {
        let (pattern, prefix) = it.split_once('=').map_or((it, None), |(pattern, prefix)| (pattern, Some(prefix)));
        TextFrame { frame, pattern: Pattern::read(pattern), prefix: prefix.map(|prefix| prefix.trim().to_owned()) }
    })
}

fn patterns(text: &str) -> Vec<Pattern> {
    text.split(',').filter(|it| !it.trim().is_empty()).map(Pattern::read).collect()
}
