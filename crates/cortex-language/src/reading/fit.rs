//! The ways in which the verbs of a sentence may ask for a tool.

use super::{Context, Core, Reader, Reading};
use crate::language::{Language, Lead, Sense};
use crate::robot::{Key, Parameter, ParameterKind, Source, Tool, Usage, VerbHit, switched};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most words from a verb that is a noun back to its article.
const ARTICLE_BEFORE: usize = 4;

/// The certainty with which a tool is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Strength {
    /// By things and values alone.
    #[default]
    Things,
    /// By a verb that means something like the tool's.
    Related,
    /// By a verb of its description.
    Described,
    /// By its own verb.
    Own,
    /// By one of its sentences.
    Phrase,
}

/// A way in which a tool may be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) strength: Strength,
    pub(crate) key: Option<Key>,
    /// The words of the verb.
    pub(crate) at: Vec<usize>,
    /// The state that the verb asks for, to be given to a parameter.
    pub(crate) gives: Option<String>,
    /// The state of the tool's own verb, which must be said: "kitchen light on".
    pub(crate) needs_state: Vec<String>,
    /// True if a value may be said instead of the state: "forks to 120 mm".
    pub(crate) may_lack_state: bool,
    /// True if values must be said: "raise the forks" sets nothing.
    pub(crate) needs_value: bool,
    /// True if a thing must be said, or a value.
    pub(crate) needs_object: bool,
    /// True if the verb is another tool's own.
    pub(crate) is_others: bool,
    /// True if a number or a state must be said: nothing else is raised or lowered.
    pub(crate) needs_measure: bool,
    /// True if a number must be said with its unit.
    pub(crate) needs_unit: bool,
    /// True if the tool's own noun must be said.
    pub(crate) needs_name: bool,
    /// True if the clause asks for an answer.
    pub(crate) asks: bool,
    /// True if it goes on with the call of the clause before, and so with its values.
    pub(crate) goes_on: bool,
    /// True if the verb means something else first.
    pub(crate) is_lent: bool,
}

impl Reader<'_> {
    /// Every way in which the clause may ask for the tool.
    pub(crate) fn fits(&self, tool: &Tool, core: Core<'_>, hits: &[VerbHit], context: Context<'_>) -> Vec<Fit> {
        let language = self.language;
        let mut fits: Vec<Fit> = Vec::new();
        // In "10 back" nothing is asked for by a verb.
        let counts = |at: &usize| core.words.iter().take(*at).any(|word| word.number.is_some());
        let begin = self.verb_position(core.words).filter(|at| !counts(at));
        // Engineers type the name of the tool: `base-halt`.
        let named = core
            .words
            .iter()
            .take_while(|word| {
                word.kind == Kind::Word
                    && tool.component.iter().any(|it| {
                        *it == word.stem || language.noun(&[word.stem.as_str()]).is_some_and(|(name, _)| name == it)
                    })
            })
            .count();
        let begins = |hit: &VerbHit| {
            let ends = language.ends_in_verbs() && hit.at.last().is_some_and(|last| last + 1 == core.words.len());
            hit.at.first().copied() == begin
                || (named > 0 && hit.at.first() == Some(&named))
                || ends && hit.at.len() == 1
        };
        for hit in hits.iter().filter(|hit| (begin.is_some() && begins(hit)) || core.asks) {
            if is_told(core, hit, language, context)
                || (!core.asks && self.is_plural(core, hit))
                || is_asked_for(core, hit, language)
            {
                continue;
            }
            fits.extend(self.by_verb(tool, hit, core, hits));
        }
        if !core.asks {
            fits.extend(self.by_stopping(tool, core, hits));
        }
        for hit in hits.iter().filter(|hit| !core.asks && hit.at.first().copied() != begin) {
            if let Some(hit) = self.by_noun(core.words, begin, hit).or_else(|| self.by_cause(core, hit)) {
                fits.extend(
                    self.by_verb(tool, &hit, core, hits).into_iter().filter(|fit| fit.strength > Strength::Things),
                );
            }
        }
        if core.asks {
            fits.push(Fit { asks: true, ..Fit::by_things() });
        } else if core.lead == Some(Lead::Place) {
            if tool.verbs.iter().any(|verb| self.names(&verb.key, "go")) {
                fits.push(Fit {
                    strength: Strength::Own,
                    needs_value: !tool.parameters.is_empty(),
                    needs_object: true,
                    ..Fit::by_things()
                });
            }
        } else {
            // The verb of what was said just before goes on.
            if let Some(before) = context.before {
                let same = before
                    .tool()
                    .and_then(|index| self.robot.tool(index))
                    .is_some_and(|other| std::ptr::eq(other, tool));
                let answers = |tool: &Tool| tool.looks || tool.usage != Usage::Step;
                let acted = before.tool().and_then(|index| self.robot.tool(index)).is_some_and(|it| !answers(it));
                let asked = before.verb.as_ref().is_some_and(|key| tool.verbs.iter().any(|verb| verb.key == *key))
                    && !(acted && answers(tool));
                if same || asked {
                    let strength = if context.corrects { Strength::Described } else { Strength::Things };
                    fits.push(Fit {
                        strength,
                        key: before.verb.clone(),
                        needs_object: true,
                        needs_value: same,
                        goes_on: same,
                        ..Fit::by_things()
                    });
                }
            }
            fits.extend(self.by_things(tool, &[]));
            // "No wait, off": another state of the same thing.
            if context.corrects
                && let Some(other) = context.before.and_then(Reading::tool).and_then(|index| self.robot.tool(index))
                && other.component == tool.component
                && !other.component.is_empty()
            {
                let fit = self.by_things(tool, &[]).filter(|fit| !fit.needs_state.is_empty());
                fits.extend(fit.map(|fit| Fit { strength: Strength::Described, goes_on: true, ..fit }));
            }
        }
        fits
    }

    /// "Give the saucepan a stir": a verb that means nothing alone, and another one as its object.
    fn by_noun(&self, words: &[Word], begin: Option<usize>, hit: &VerbHit) -> Option<VerbHit> {
        let (light, at) = (begin?, *hit.at.first()?);
        // What stands between the two has its own place: "a twenty-second stir", "a good stir".
        let between = at.saturating_sub(ARTICLE_BEFORE).max(light + 1);
        let is_indefinite =
            |at: &usize| words.get(*at).is_some_and(|word| self.language.facts.hints.indefinite.has(&word.text));
        let article = (between..at).rev().find(is_indefinite)?;
        let is_light = words.get(light).is_some_and(|word| self.language.is_light(&word.stem));
        let is_plain = words.get(at).is_some_and(|word| word.text == word.stem || !word.text.ends_with('s'));
        let mut taken = vec![light, article];
        taken.extend(&hit.at);
        (is_light && is_plain && hit.at.len() == 1).then(|| VerbHit {
            key: hit.key.clone(),
            at: taken,
            lent: hit.lent,
            vague: hit.vague,
        })
    }

    /// "I want the door closed", "could it be opened": what is wished to be done.
    fn by_cause(&self, core: Core<'_>, hit: &VerbHit) -> Option<VerbHit> {
        let (first, last) = (*hit.at.first()?, *hit.at.last()?);
        let word = core.words.get(first)?;
        let is_past = self.language.form(&word.text) == crate::language::Form::Past;
        let is_gerund = self.language.form(&word.text) == crate::language::Form::Gerund;
        let (cause, length) = (0..first).find_map(|at| {
            let length = self.language.words.causes.length(core.words.get(at..first)?);
            (length > 0).then_some((at, length))
        })?;
        let needs = core.words.get(cause).is_some_and(|word| word.stem == self.language.stem("needs"));
        let in_row = hit.at.len() == last + 1 - first;
        let mut taken: Vec<usize> = (cause..cause + length).collect();
        // "I" before it wishes.
        taken
            .extend((0..cause).filter(|at| {
                core.words.get(*at).is_some_and(|word| self.language.facts.hints.wishing.has(&word.text))
            }));
        taken.extend(&hit.at);
        taken.sort_unstable();
        (in_row && (is_past || (is_gerund && needs))).then(|| VerbHit {
            key: hit.key.clone(),
            at: taken,
            lent: hit.lent,
            vague: hit.vague,
        })
    }

    /// Returns true if the verb is a noun where it stands: in "lights off" nothing is lit.
    fn is_plural(&self, core: Core<'_>, hit: &VerbHit) -> bool {
        let Some(word) = hit.at.first().and_then(|at| core.words.get(*at)) else { return false };
        hit.at.len() == 1
            && word.text.ends_with('s')
            && word.text != word.stem
            && self.robot.those(self.robot.index.thing(&word.stem)).any(|(_, tool)| tool.nouns.contains(&word.stem))
    }

    /// Where the verb of the clause stands: first.
    pub(crate) fn verb_position(&self, words: &[Word]) -> Option<usize> {
        let telling = |at: &usize| {
            words
                .get(*at)
                .is_some_and(|word| word.kind == Kind::Word && self.language.empty(std::slice::from_ref(word)) == 0)
        };
        (0..words.len()).find(telling)
    }

    pub(crate) fn names(&self, key: &Key, sense: &str) -> bool {
        self.language.sense_of(key).is_some_and(|it| it.name == sense)
    }

    /// The tool as things alone may ask for it: "the kitchen, please", "kitchen light on".
    pub(super) fn by_things(&self, tool: &Tool, at: &[usize]) -> Option<Fit> {
        let states: Vec<&str> = tool
            .verbs
            .iter()
            .filter(|verb| verb.source == Source::Own)
            .filter_map(|verb| self.language.sense_of(&verb.key)?.state.as_deref())
            .collect();
        let takes_state = tool.parameters.iter().any(|it| matches!(it.kind, ParameterKind::Flag));
        let needs_state: Vec<String> = if takes_state {
            Vec::new()
        } else {
            states.iter().flat_map(|state| switched(state)).map(str::to_owned).collect()
        };
        let answers = tool.usage != Usage::Step || tool.looks;
        let may_lack_state = states.iter().all(|state| !self.has_counterpart(tool, state, &states))
            && tool.parameters.iter().any(|it| it.required && it.default.is_none());
        Some(Fit {
            at: at.to_vec(),
            may_lack_state,
            needs_value: (needs_state.is_empty() || may_lack_state) && !answers,
            needs_state: if answers { Vec::new() } else { needs_state },
            ..Fit::by_things()
        })
    }

    /// "Put" means nothing alone, unless something of this robot puts: the things that are named have to say the rest.
    fn by_light_verb(&self, tool: &Tool, hit: &VerbHit, core: Core<'_>, hits: &[VerbHit]) -> Option<Fit> {
        let language = self.language;
        // The "does" of "what does it do" only asks.
        let word = hit.at.first().and_then(|at| core.words.get(*at));
        if core.asks && word.is_some_and(|word| language.words.questions.has(&word.text)) {
            return None;
        }
        let means_more = hits.iter().any(|other| {
            let sense = language.sense_of(&other.key).is_some_and(|sense| !sense.light);
            sense && other.at.first() == hit.at.first() && self.robot.index.verb(&other.key).is_some()
        });
        let things = self.by_things(tool, &hit.at)?;
        // "Give the tomatoes 20 litres", where something else feeds: how much of it says which.
        Some(Fit { key: Some(hit.key.clone()), needs_unit: means_more, ..things })
    }

    /// Returns true if the tool sets a quality: a speed, a temperature.
    fn sets(&self, tool: &Tool, quality: &str) -> bool {
        let is_number = |it: &Parameter| matches!(it.kind, ParameterKind::Number(_));
        tool.name_nouns.contains(quality)
            || tool.parameters.iter().any(|it| is_number(it) && it.words.iter().any(|word| word == quality))
    }

    /// "Move to the hall" asks for what goes, though to move something is another matter.
    fn by_lent_verb(&self, tool: &Tool, sense: &Sense, fit: Fit, core: Core<'_>) -> Option<Fit> {
        tool.verbs.iter().find(|verb| Some(&verb.key) == fit.key.as_ref())?;
        let answers = tool.usage != Usage::Step || tool.looks;
        let asks = core.asks || (answers && sense.looks);
        // Where a value has to be said anyway, it is told that there is none like this.
        let needs_object = tool
            .parameters
            .iter()
            .all(|it| !it.required || it.default.is_some() || !matches!(it.kind, ParameterKind::Choice(_)));
        Some(Fit { strength: Strength::Related, needs_object, asks, is_lent: true, ..fit })
    }

    pub(super) fn by_verb(&self, tool: &Tool, hit: &VerbHit, core: Core<'_>, hits: &[VerbHit]) -> Vec<Fit> {
        let language = self.language;
        let mut fits = Vec::new();
        let fit = Fit { key: Some(hit.key.clone()), at: hit.at.clone(), ..Fit::by_things() };
        let answers = tool.usage != Usage::Step || tool.looks;
        fits.extend(self.by_flag(tool, hit, core, &fit));
        let Some(sense) = language.sense_of(&hit.key) else {
            // A word that the lexicon does not know is a verb where one stands, and where the tool has it.
            let Key::Word(word) = &hit.key else { return fits };
            if let Some(verb) = tool.verbs.iter().find(|verb| verb.key == hit.key)
                && !language.is_weak(word)
            {
                let strength = if verb.source == Source::Own { Strength::Own } else { Strength::Described };
                fits.push(Fit { strength, needs_object: strength == Strength::Described, ..fit });
            }
            return fits;
        };
        if sense.light {
            fits.extend(self.by_light_verb(tool, hit, core, hits));
            return fits;
        }
        // "Say the light is on" asks for no look at the light; "say what you see" does.
        let asks_further = hit
            .at
            .last()
            .and_then(|last| core.words.get(last + 1..))
            .is_some_and(|rest| self.asks(rest) && crate::talk::exact(rest, self.robot, language).is_none());
        if answers && sense.frame.is_some() && !asks_further && !core.asks {
            return fits;
        }
        let gives = sense.state.clone();
        if hit.vague {
            // To be asked about, as what is another tool's own verb.
            let has_verb = tool.verbs.iter().any(|verb| verb.key == hit.key && verb.source == Source::Own);
            let vague = Fit { strength: Strength::Described, gives, is_others: true, is_lent: true, ..fit };
            fits.extend((has_verb && !answers).then_some(vague));
            return fits;
        }
        if hit.lent {
            fits.extend(self.by_lent_verb(tool, sense, Fit { gives, ..fit }, core));
            return fits;
        }
        if let Some(verb) = tool.verbs.iter().find(|verb| verb.key == hit.key) {
            let strength = if verb.source == Source::Own { Strength::Own } else { Strength::Described };
            // "Charge yourself" asks nobody for the charge, and "slot it in" nobody for the slot.
            // "Battery level" names it.
            let is_ordered = hit.at.first() == Some(&0) && core.words.len() > 1;
            let only_tells = verb.source == Source::Description || (tool.usage == Usage::Research && is_ordered);
            if answers && !core.asks && !sense.looks && only_tells {
                return fits;
            }
            // What another tool is called by says nothing of this one without a thing.
            let has_own = self.robot.index.verb(&hit.key).is_some_and(|tools| tools.own);
            let general = language.looks_in_general(sense) && sense.name != "look";
            // "Tell me ..." only asks, and says nothing of what.
            let needs_object = general
                || (answers && sense.frame.is_some())
                || (strength == Strength::Described
                    && (sense.state.as_ref().is_some_and(|state| language.opposite(state).is_some()) || has_own));
            let is_others = !answers && strength == Strength::Described && has_own;
            fits.push(Fit {
                strength,
                gives: gives.clone(),
                needs_object,
                is_others,
                asks: core.asks || (answers && sense.looks),
                ..fit.clone()
            });
        } else if language.looks_in_general(sense) && answers {
            fits.push(Fit { strength: Strength::Related, needs_object: true, asks: true, ..fit.clone() });
        }
        // "Weigh the pallet" asks for its weight.
        let verb_word = hit.at.first().and_then(|at| core.words.get(*at)).map_or("", |word| word.text.as_str());
        if answers && sense.looks && language.quality(verb_word).is_some_and(|it| tool.nouns.contains(it)) {
            fits.push(Fit { strength: Strength::Described, asks: true, ..fit.clone() });
        }
        // "Kill the beacon", where the tool sets its colour, and off is one.
        let takes_state = |state: &String| {
            tool.parameters.iter().any(|it| !matches!(it.kind, ParameterKind::Flag) && self.stated(it, state).is_some())
        };
        if !answers
            && gives.as_ref().is_some_and(takes_state)
            && !fits.iter().any(|fit| fit.strength > Strength::Related)
        {
            fits.push(Fit { strength: Strength::Related, gives, needs_object: true, needs_name: true, ..fit.clone() });
        }
        self.by_related_verb(tool, hit, sense, &fit, &mut fits);
        fits
    }

    /// "Switch off the lamp", where the tool switches it on or off; "open the hood to 250 mm", where it sets how far.
    fn by_related_verb(&self, tool: &Tool, hit: &VerbHit, sense: &Sense, fit: &Fit, fits: &mut Vec<Fit>) {
        let language = self.language;
        let answers = tool.usage != Usage::Step || tool.looks;
        let gives = &sense.state;
        // "Open the hood to 250 mm", where "500 is fully open".
        let is_between = |state: &String| {
            let opposite = language.opposite(state);
            let names = |name: &String| name == state || opposite.is_some_and(|it| name == it);
            tool.parameters.iter().any(|it| it.aliases.iter().any(|(it, _)| it.iter().any(names)))
        };
        if !answers && sense.adjusts && gives.as_ref().is_some_and(is_between) {
            let strength = Strength::Related;
            fits.push(Fit {
                strength,
                needs_value: true,
                needs_measure: true,
                needs_name: true,
                gives: gives.clone(),
                ..fit.clone()
            });
        }
        for verb in &tool.verbs {
            let Some(own) = language.sense_of(&verb.key).filter(|_| verb.key != hit.key) else { continue };
            let strength = Strength::Related;
            // "Switch off the lamp", where the tool switches it on or off.
            if Language::is_case_of(sense, &own.name) && gives.is_some() {
                fits.push(Fit { strength, gives: gives.clone(), needs_object: true, ..fit.clone() });
            }
            // "Return to the kitchen", where the tool goes; "turn around" says by how much itself.
            if Language::is_case_of(sense, &own.name) && gives.is_none() {
                let says = self.value_of_verb(tool, sense).is_some();
                let strength = if says { Strength::Described } else { strength };
                fits.push(Fit { strength, needs_object: !says, ..fit.clone() });
            }
            // "Set the light to on", where the tool switches it on.
            if Language::is_case_of(own, &sense.name) && own.state.is_some() {
                fits.push(Fit {
                    strength,
                    needs_state: own.state.iter().cloned().collect(),
                    needs_object: true,
                    ..fit.clone()
                });
            }
            if sense.adjusts && matches!(own.name.as_str(), "set" | "adjust" | "change") && own.state.is_none() {
                let needs_name = !sense.of.as_ref().is_some_and(|of| self.sets(tool, of));
                fits.push(Fit { strength, needs_value: true, needs_measure: true, needs_name, ..fit.clone() });
            }
        }
        if !answers && self.says_choice(tool, sense, &hit.key) {
            fits.push(Fit { strength: Strength::Described, ..fit.clone() });
        }
    }
}

impl Fit {
    pub(super) fn by_things() -> Self {
        Self {
            strength: Strength::Things,
            key: None,
            at: Vec::new(),
            gives: None,
            needs_state: Vec::new(),
            may_lack_state: false,
            needs_value: false,
            needs_object: false,
            is_others: false,
            needs_measure: false,
            needs_unit: false,
            needs_name: false,
            asks: false,
            goes_on: false,
            is_lent: false,
        }
    }
}

/// "Going to the kitchen" tells of something; it asks for nothing.
fn is_told(core: Core<'_>, hit: &VerbHit, language: &Language, context: Context<'_>) -> bool {
    let Some(word) = hit.at.first().and_then(|at| core.words.get(*at)) else { return false };
    match language.form(&word.text) {
        crate::language::Form::Plain => false,
        crate::language::Form::Gerund => core.lead != Some(Lead::Gerund) && !core.asks && !context.is_subordinate,
        crate::language::Form::Past => !core.asks && !context.is_subordinate,
    }
}

/// "What does the camera do?" asks for what something does: "do" is what is asked for, and no verb.
fn is_asked_for(core: Core<'_>, hit: &VerbHit, language: &Language) -> bool {
    let last = core.words.len().saturating_sub(1);
    core.asks && hit.at.contains(&last) && language.asks_for_deed(core.words, last)
}
