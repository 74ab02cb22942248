//! What else than its sentences has a skill fire: examples, words, kinds of task, tools and events, as its metadata name them.

use std::collections::BTreeSet;

use cortex_core::{ContextQuery, context::happened};
use cortex_protocol::{TaskClass, ToolName, words::did_you_mean};
use thiserror::Error;

use crate::examples::{ExampleProblem, Examples};
use crate::words::telling;

/// The keys of the metadata. Others with this beginning are misspelt: nobody else uses it.
pub(crate) const PHRASES: &str = "cortex-phrases";
const WORDS: &str = "cortex-words";
const CLASSES: &str = "cortex-classes";
const TOOLS: &str = "cortex-tools";
const EVENTS: &str = "cortex-events";
const EXAMPLES: &str = "cortex-examples";
const COUNTER_EXAMPLES: &str = "cortex-counter-examples";
/// The missions that a learned skill was learned from. It is no trigger.
pub(crate) const LEARNED_FROM: &str = "cortex-learned-from";
const KEYS: [&str; 8] = [PHRASES, EXAMPLES, COUNTER_EXAMPLES, WORDS, CLASSES, TOOLS, EVENTS, LEARNED_FROM];
const BEGINNING: &str = "cortex-";

/// Most entries of one key.
const MOST_ENTRIES: usize = 100;
/// Most characters of an entry that is told of.
const SHOWN: usize = 60;

/// What has a skill fire, besides its sentences and what it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triggers {
    /// Each entry: words, all of which the task has to have; of each, one of several.
    words: Vec<Vec<BTreeSet<String>>>,
    /// The same for people.
    written_words: Vec<String>,
    /// Kinds of task.
    pub classes: BTreeSet<SkillClass>,
    /// Names of tools; one that ends in `*` stands for all that begin so.
    pub tools: Vec<String>,
    /// Names of events.
    pub events: Vec<String>,
    /// Sentences of people who want the skill, and of people who do not.
    pub examples: Examples,
}

/// The kinds of task that a skill can be for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkillClass {
    /// A question about the world around the robot.
    Perception,
    /// A question about the robot itself.
    Body,
    /// Something is to be done.
    Action,
    /// A question of general knowledge.
    Knowledge,
}

impl SkillClass {
    const ALL: [Self; 4] = [Self::Perception, Self::Body, Self::Action, Self::Knowledge];
    const NAMES: [&str; 4] = ["perception", "body", "action", "knowledge"];

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        let [perception, body, action, knowledge] = Self::NAMES;
        match self {
            Self::Perception => perception,
            Self::Body => body,
            Self::Action => action,
            Self::Knowledge => knowledge,
        }
    }

    /// The kind of a task. None of conversation: no skill is for it.
    fn of(class: TaskClass) -> Option<Self> {
        Some(match class {
            TaskClass::Conversation => return None,
            TaskClass::KnowledgeQuestion => Self::Knowledge,
            TaskClass::QuestionAboutSelf => Self::Body,
            TaskClass::QuestionAboutWorld => Self::Perception,
            TaskClass::Action | TaskClass::SearchOrPatrol | TaskClass::StandingOrder | TaskClass::EndlessOrder => {
                Self::Action
            }
        })
    }
}

/// Why a skill fires, the most certain reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// An event that it waits for.
    Event,
    /// Words that it waits for.
    Words,
    /// A tool that the task is about.
    Tool,
    /// It is about the task, by its words or by its meaning.
    About,
    /// The kind of the task, and nothing else.
    Class,
}

/// A key of the metadata that is not as it should be: which, and what is wrong.
pub(crate) struct TriggerProblem {
    pub(crate) key: &'static str,
    pub(crate) problem: EntryProblem,
}

/// What is wrong with a key. What is quoted is escaped, and on one line.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum EntryProblem {
    #[error("have {key:?}{}; there are: {}", did_you_mean(key, KEYS), KEYS.join(", "))]
    UnknownKey { key: String },
    #[error("is empty; name what it waits for, or leave the key out")]
    Empty,
    #[error("has {0} entries; it needs 1 to {MOST_ENTRIES}")]
    TooMany(usize),
    #[error("hold {0:?}, in which no word tells what a task is about; name a thing or what is done")]
    NoTellingWord(String),
    #[error("name {entry:?}{}; there are: {}", did_you_mean(entry, SkillClass::NAMES), SkillClass::NAMES.join(", "))]
    UnknownClass { entry: String },
    #[error("name {0:?}, which is no name of a tool; write it as base.go_to, or base.* for all of base")]
    NoTool(String),
    #[error("name {entry:?}, which is no event; name one of the recipe's events, or: {}", happened::ALL.join(", "))]
    NoEvent { entry: String },
    #[error(transparent)]
    Example(#[from] ExampleProblem),
}

impl Triggers {
    /// Reads them from the metadata.
    pub(crate) fn read<'m>(metadata: impl IntoIterator<Item = (&'m str, &'m str)>) -> Result<Self, TriggerProblem> {
        let mut triggers = Self::default();
        for (key, text) in metadata {
            if !key.starts_with(BEGINNING) {
                continue;
            }
            let Some(known) = KEYS.into_iter().find(|known| *known == key) else {
                let problem = EntryProblem::UnknownKey { key: shown(key) };
                return Err(TriggerProblem { key: "metadata", problem });
            };
            triggers.take(known, text).map_err(|problem| TriggerProblem { key: property(known), problem })?;
        }
        let key = if triggers.examples.unwanted.is_empty() { EXAMPLES } else { COUNTER_EXAMPLES };
        let problem = |problem: ExampleProblem| TriggerProblem { key: property(key), problem: problem.into() };
        triggers.examples.check().map_err(problem)?;
        Ok(triggers)
    }

    fn take(&mut self, key: &str, text: &str) -> Result<(), EntryProblem> {
        let entries = |marks: &'static [char]| {
            let all: Vec<&str> = text.split(marks).map(str::trim).filter(|entry| !entry.is_empty()).collect();
            match all.len() {
                0 => Err(EntryProblem::Empty),
                1..=MOST_ENTRIES => Ok(all),
                count => Err(EntryProblem::TooMany(count)),
            }
        };
        match key {
            WORDS => {
                for entry in entries(&['\n', ';', ','])? {
                    let (words, written) = words(entry)?;
                    self.words.push(words);
                    self.written_words.push(written);
                }
            }
            CLASSES => {
                for entry in entries(&['\n', ';', ',', ' '])? {
                    let class = SkillClass::ALL.into_iter().find(|class| class.name().eq_ignore_ascii_case(entry));
                    self.classes.insert(class.ok_or_else(|| EntryProblem::UnknownClass { entry: shown(entry) })?);
                }
            }
            TOOLS => {
                for entry in entries(&['\n', ';', ',', ' '])? {
                    self.tools.push(tool(entry)?);
                }
            }
            EVENTS => {
                for entry in entries(&['\n', ';', ',', ' '])? {
                    self.events.push(event(entry)?);
                }
            }
            EXAMPLES => self.examples.wanted = Examples::sentences(text)?,
            COUNTER_EXAMPLES => self.examples.unwanted = Examples::sentences(text)?,
            // Others are read elsewhere.
            _ => {}
        }
        Ok(())
    }

    /// Why the skill fires for this task, apart from its sentences and from what it is about. `said`: the telling words of
    /// the task.
    pub(crate) fn reason(&self, query: &ContextQuery, said: &BTreeSet<String>) -> Option<Reason> {
        let has_all = |entry: &Vec<BTreeSet<String>>| entry.iter().all(|either| !either.is_disjoint(said));
        if self.events.iter().any(|event| query.events.contains(event)) {
            Some(Reason::Event)
        } else if self.words.iter().any(has_all) {
            Some(Reason::Words)
        } else if query.tools.iter().any(|tool| self.tools.iter().any(|wanted| fits(wanted, tool))) {
            Some(Reason::Tool)
        } else if SkillClass::of(query.class).is_some_and(|class| self.classes.contains(&class)) {
            Some(Reason::Class)
        } else {
            None
        }
    }

    /// When the skill fires by them, in sentences for people.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let quoted = |all: &[String]| all.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ");
        let mut told = Vec::new();
        if !self.events.is_empty() {
            told.push(format!("when this happened: {}", self.events.join(", ")));
        }
        if !self.words.is_empty() {
            told.push(format!("for tasks with the words: {}", quoted(&self.written_words)));
        }
        told.extend(self.examples.told());
        if !self.tools.is_empty() {
            let tools = self.tools.join(", ");
            told.push(format!("for tasks that ask for these tools, or in which they failed: {tools}"));
        }
        if !self.classes.is_empty() {
            let classes: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
            told.push(format!("for all tasks of this kind, after all other skills: {}", classes.join(", ")));
        }
        told
    }
}

fn property(key: &str) -> &'static str {
    match key {
        WORDS => "metadata.cortex-words",
        CLASSES => "metadata.cortex-classes",
        TOOLS => "metadata.cortex-tools",
        EVENTS => "metadata.cortex-events",
        EXAMPLES => "metadata.cortex-examples",
        COUNTER_EXAMPLES => "metadata.cortex-counter-examples",
        _ => "metadata",
    }
}

/// The words of an entry, `clean|wipe bathroom`: each one of several; and as people read them, without those that say nothing of
/// what a task is about.
fn words(entry: &str) -> Result<(Vec<BTreeSet<String>>, String), EntryProblem> {
    let (mut each, mut written) = (Vec::new(), Vec::new());
    for word in entry.split_whitespace() {
        let either: BTreeSet<String> = word.split('|').flat_map(telling).collect();
        if !either.is_empty() {
            each.push(either);
            let told = word.split('|').filter(|one| !telling(one).is_empty());
            written.push(told.collect::<Vec<_>>().join(" or "));
        }
    }
    if each.is_empty() {
        return Err(EntryProblem::NoTellingWord(shown(entry)));
    }
    Ok((each, written.join(" + ")))
}

fn tool(entry: &str) -> Result<String, EntryProblem> {
    let begin = entry.strip_suffix('*').unwrap_or(entry);
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/');
    if begin.chars().any(char::is_alphanumeric) && begin.chars().all(is_of_name) {
        return Ok(entry.to_owned());
    }
    Err(EntryProblem::NoTool(shown(entry)))
}

fn event(entry: &str) -> Result<String, EntryProblem> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if entry.chars().all(is_of_name) {
        Ok(entry.to_owned())
    } else {
        Err(EntryProblem::NoEvent { entry: shown(entry) })
    }
}

fn fits(wanted: &str, tool: &ToolName) -> bool {
    match wanted.strip_suffix('*') {
        Some(begin) => tool.as_str().starts_with(begin),
        None => tool.as_str() == wanted,
    }
}

fn shown(text: &str) -> String {
    cortex_core::fragment::one_line(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str, text: &str) -> Option<Triggers> {
        Triggers::read([(key, text)]).ok()
    }

    fn problem(key: &str, text: &str) -> Option<String> {
        Triggers::read([(key, text)]).err().map(|TriggerProblem { key, problem }| format!("{key} {problem}"))
    }

    fn reason(key: &str, text: &str, query: &ContextQuery) -> Option<Reason> {
        read(key, text).unwrap().reason(query, &telling(&query.task))
    }

    #[test]
    fn each_trigger_fires_for_what_it_names_and_for_nothing_else() {
        let clean = ContextQuery::new("the ladies' toilets need cleaning", TaskClass::Action);
        assert_eq!(reason(WORDS, "clean|wipe toilet|bathroom", &clean), Some(Reason::Words));
        assert_eq!(reason(WORDS, "clean bathroom; mop", &clean), None);
        assert_eq!(reason(CLASSES, "Body, action", &clean), Some(Reason::Class));
        assert_eq!(reason(CLASSES, "perception", &clean), None);
        let hello = ContextQuery::new("hello", TaskClass::Conversation);
        assert_eq!(reason(CLASSES, "perception body action knowledge", &hello), None);
        let failed = ContextQuery {
            tools: vec!["base.go_to".into()],
            events: vec![happened::STEP_FAILED.to_owned()],
            ..ContextQuery::new("go to the kitchen", TaskClass::Action)
        };
        assert_eq!(reason(TOOLS, "gripper.close base.go_to", &failed), Some(Reason::Tool));
        assert_eq!(reason(TOOLS, "base.*", &failed), Some(Reason::Tool));
        assert_eq!(reason(TOOLS, "base.go, base.go_to_place", &failed), None);
        assert_eq!(reason(EVENTS, "step.failed", &failed), Some(Reason::Event));
        assert_eq!(reason(EVENTS, "low_battery", &failed), None);
    }

    #[test]
    fn the_most_certain_reason_counts() {
        let all = [(WORDS, "kitchen"), (CLASSES, "action"), (TOOLS, "base.*")];
        let triggers = Triggers::read(all).map_err(|it| it.problem).expect("triggers");
        let query = ContextQuery::new("go to the kitchen", TaskClass::Action);
        assert_eq!(triggers.reason(&query, &telling(&query.task)), Some(Reason::Words));
        assert_eq!(triggers.told().len(), 3);
    }

    #[test]
    fn what_is_wrong_is_named_and_metadata_of_others_is_left_alone() {
        for (key, text, problem) in [
            ("cortex-phrase", "go home now", "metadata have \"cortex-phrase\" (did you mean 'cortex-phrases'?)"),
            (WORDS, "the, kettle", "metadata.cortex-words hold \"the\""),
            (WORDS, " ; ", "is empty"),
            (CLASSES, "acting", "name \"acting\""),
            (TOOLS, "*", "is no name of a tool"),
            (TOOLS, "base go_to!", "\"go_to!\", which is no name"),
            (EVENTS, "it's low", "\"it's\", which is no event"),
        ] {
            let told = self::problem(key, text).expect(text);
            assert!(told.contains(problem), "{told}");
        }
        assert!(self::problem(WORDS, &"kettle;".repeat(101)).is_some_and(|told| told.contains("has 101 entries")));
        assert_eq!(read("author", "cortex-words"), Some(Triggers::default()));
    }
}
