//! One skill: its file, read and checked.

use std::collections::BTreeMap;

use cortex_core::said::{DeclaredSentence, filled};
use serde::Deserialize;
use thiserror::Error;

use crate::triggers::{LEARNED_FROM, PHRASES, TriggerProblem, Triggers};

/// The heading of the steps.
const PROCEDURE: &str = "procedure";
/// Most bytes of a file: the specification wants less than 5,000 tokens.
pub(crate) const MOST_BYTES: usize = 128 << 10;
/// Bounds of the specification, in characters.
const NAME_CHARACTERS: usize = 64;
const DESCRIPTION_CHARACTERS: usize = 1_024;
const COMPATIBILITY_CHARACTERS: usize = 500;
/// Most steps of a procedure: as many as a plan has.
const MOST_STEPS: usize = 50;
/// Least words of a sentence of its own: fewer are said by accident.
const LEAST_WORDS: usize = 2;

/// A skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// The name, which is that of its folder.
    pub name: String,
    /// What it does, and when to use it.
    pub description: String,
    /// The licence, where it is named.
    pub license: Option<String>,
    /// What it needs around it, where it is named.
    pub compatibility: Option<String>,
    /// The tools that it may use, as it names them. It lifts no check.
    pub allowed_tools: Vec<String>,
    /// Further properties.
    pub metadata: BTreeMap<String, String>,
    /// The sentences that it is asked for by, with `{names}` for what is left open.
    pub phrases: Vec<String>,
    /// What else has it fire.
    pub triggers: Triggers,
    /// Its words: Markdown.
    pub body: String,
    /// What is done, a sentence for each step. Empty: only who reads its words can do it.
    pub procedure: Vec<String>,
}

/// Why a file is no skill.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SkillProblem {
    /// It does not begin with front matter.
    #[error("it does not begin with a line '---', properties such as 'name: {0}', and another line '---'")]
    NoFrontMatter(String),
    /// The front matter is no YAML, or lacks something.
    #[error("its front matter can't be read: {0}")]
    FrontMatter(String),
    /// A property is not as it should be.
    #[error("its {property} {problem}")]
    Property {
        /// Which.
        property: &'static str,
        /// What is wrong, and what it should be.
        problem: String,
    },
    /// The file is too long.
    #[error("it has {0} bytes; at most {MOST_BYTES} are read")]
    TooLong(u64),
    /// The file can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(String),
}

/// The front matter of the specification.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct FrontMatter {
    name: String,
    description: String,
    license: Option<String>,
    compatibility: Option<String>,
    #[serde(default)]
    metadata: BTreeMap<String, Loose>,
    #[serde(default)]
    allowed_tools: Option<Loose>,
}

/// A text; or what people write in its place. Others are no reason to refuse a skill.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Loose {
    Text(String),
    Flag(bool),
    Number(f64),
    List(Vec<String>),
    Other(serde::de::IgnoredAny),
}

impl Loose {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::List(list) => Some(list.join("\n")),
            Self::Other(_) => None,
        }
    }
}

impl Skill {
    /// Reads the file of the skill in this folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(folder: &str, text: &str) -> Result<Self, SkillProblem> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let no_front_matter = || SkillProblem::NoFrontMatter(folder.to_owned());
        let rest = text.strip_prefix("---\n").ok_or_else(no_front_matter)?;
        let (front, body) = rest
            .split_once("\n---\n")
            .or_else(|| rest.strip_suffix("\n---").map(|front| (front, "")))
            .ok_or_else(no_front_matter)?;
        let front: FrontMatter = serde_saphyr::from_str(front)
            .map_err(|problem| SkillProblem::FrontMatter(one_line(&problem.to_string())))?;
        let FrontMatter { name, description, license, compatibility, metadata, allowed_tools } = front;
        let metadata: BTreeMap<String, String> =
            metadata.into_iter().filter_map(|(key, value)| Some((key, value.text()?))).collect();
        let allowed_tools = allowed_tools.and_then(Loose::text).unwrap_or_default();
        check_name(&name, folder)?;
        check_length("description", &description, DESCRIPTION_CHARACTERS)?;
        if let Some(compatibility) = &compatibility {
            check_length("compatibility", compatibility, COMPATIBILITY_CHARACTERS)?;
        }
        let phrases = phrases(metadata.get(PHRASES).map(String::as_str).unwrap_or_default())?;
        let triggers = Triggers::read(metadata.iter().map(|(key, text)| (key.as_str(), text.as_str())))
            .map_err(|TriggerProblem { key, problem }| property(key, problem.to_string()))?;
        let procedure = procedure(body);
        check_procedure(&procedure, &phrases)?;
        Ok(Self {
            name,
            description: description.trim().to_owned(),
            license,
            compatibility,
            allowed_tools: allowed_tools.split_whitespace().map(str::to_owned).collect(),
            metadata,
            phrases,
            triggers,
            body: body.trim().to_owned(),
            procedure,
        })
    }

    /// All that it says, for whoever plans.
    #[must_use]
    pub fn told(&self) -> String {
        format!("{}\n\n{}", self.description, self.body)
    }

    /// Whether the robot learned it from what it has done.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        self.metadata.contains_key(LEARNED_FROM)
    }

    /// The missions that the robot learned it from.
    pub fn learned_from(&self) -> impl Iterator<Item = &str> {
        self.metadata.get(LEARNED_FROM).into_iter().flat_map(|missions| missions.split_whitespace())
    }

    /// The steps for a task that is one of its sentences; none if it is none of them, and empty if it has no procedure.
    #[must_use]
    pub fn asked_for(&self, task: &str) -> Option<Vec<String>> {
        let said = self.phrases.iter().find_map(|phrase| DeclaredSentence::read(phrase).said(task))?;
        // Each name that the steps use is left open by each sentence, as was checked.
        Some(self.procedure.iter().filter_map(|step| filled(step, &said)).collect())
    }
}

fn property(property: &'static str, problem: impl Into<String>) -> SkillProblem {
    SkillProblem::Property { property, problem: problem.into() }
}

/// A name is the name of its folder, and never leads anywhere else.
fn check_name(name: &str, folder: &str) -> Result<(), SkillProblem> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_good = (1..=NAME_CHARACTERS).contains(&name.chars().count())
        && name.chars().all(is_letter)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    if !is_good {
        let problem = format!("is {name:?}; it needs 1 to {NAME_CHARACTERS} small letters, digits and single hyphens");
        return Err(property("name", one_line(&problem)));
    }
    if name != folder {
        return Err(property("name", format!("is '{name}', and its folder is '{folder}'; they have to be the same")));
    }
    Ok(())
}

fn check_length(name: &'static str, text: &str, most: usize) -> Result<(), SkillProblem> {
    let length = text.trim().chars().count();
    if (1..=most).contains(&length) {
        return Ok(());
    }
    Err(property(name, format!("has {length} characters; it needs 1 to {most}")))
}

/// One sentence a line, or with semicolons between them.
fn phrases(text: &str) -> Result<Vec<String>, SkillProblem> {
    let all: Vec<String> =
        text.split(['\n', ';']).map(str::trim).filter(|phrase| !phrase.is_empty()).map(str::to_owned).collect();
    for phrase in &all {
        if DeclaredSentence::read(phrase).words() < LEAST_WORDS {
            let problem = format!("hold {phrase:?}, which needs at least {LEAST_WORDS} words of its own");
            return Err(property("metadata.cortex-phrases", one_line(&problem)));
        }
    }
    Ok(all)
}

/// The items of the list below the heading *Procedure*.
fn procedure(body: &str) -> Vec<String> {
    let heading = |line: &str| line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim().to_lowercase());
    let mut lines = body.lines().skip_while(|line| heading(line).as_deref() != Some(PROCEDURE));
    lines.next();
    lines.take_while(|line| heading(line).is_none()).filter_map(item).collect()
}

/// The text of `- go` or `3. go`.
fn item(line: &str) -> Option<String> {
    let line = line.trim();
    let numbered = || {
        let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())
    };
    let text = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(numbered)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn check_procedure(procedure: &[String], phrases: &[String]) -> Result<(), SkillProblem> {
    if procedure.len() > MOST_STEPS {
        return Err(property("procedure", format!("has {} steps; at most {MOST_STEPS} are done", procedure.len())));
    }
    for phrase in phrases {
        let said: BTreeMap<String, String> =
            DeclaredSentence::read(phrase).open().map(|name| (name.to_owned(), "x".to_owned())).collect();
        if let Some(step) = procedure.iter().find(|step| filled(step, &said).is_none()) {
            let problem = format!("has the step {step:?}, and {phrase:?} does not say what its braces stand for");
            return Err(property("procedure", one_line(&problem)));
        }
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    cortex_core::fragment::one_line(text, 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: &str = "---\nname: night-round\ndescription: Looks after the rooms at night.\nmetadata:\n  cortex-phrases: |\n    \
                         make the night round\n    make the night round in {room}; look after {room}\n---\n# Night round\n\nQuietly.\n\n\
                         ## Procedure\n\n1. go to {room}\n2. look around\n\n## Notes\n- no step\n";

    fn problem(text: &str) -> String {
        Skill::read("night-round", text).expect_err(text).to_string()
    }

    #[test]
    fn a_skill_of_the_open_specification_is_read_unchanged() {
        let text = "---\nname: pdf-processing\ndescription: >\n  Extracts text\n  from files.\nlicense: Apache-2.0\n\
                    compatibility: Needs python\nmetadata:\n  author: somebody\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\n\
                    further: {any: thing}\n---\n\n# How\n\nStep by step.\n";
        let skill = Skill::read("pdf-processing", text).expect("it is one");
        assert_eq!(skill.description, "Extracts text from files.");
        assert_eq!(skill.allowed_tools, ["Bash(git:*)", "Read"]);
        assert_eq!((skill.metadata["version"].as_str(), skill.body.as_str()), ("1.0", "# How\n\nStep by step."));
        assert!(skill.phrases.is_empty() && skill.procedure.is_empty());
        assert_eq!(skill.asked_for("process a file"), None);
        let windows = Skill::read("a", "\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\nc\r\n").expect("line ends");
        assert_eq!(windows.body, "c");
    }

    #[test]
    fn a_sentence_of_its_own_asks_for_its_steps() {
        let text = ROUND.replace("    make the night round\n", "");
        let skill = Skill::read("night-round", &text).expect("it is one");
        assert_eq!(skill.procedure, ["go to {room}", "look around"]);
        let steps = skill.asked_for("Look after the kitchen.").expect("it is asked for");
        assert_eq!(steps, ["go to the kitchen", "look around"]);
        assert_eq!(skill.asked_for("look after the kitchen and the hall"), None);
    }

    #[test]
    fn examples_are_a_list_or_lines_and_what_is_wrong_with_them_is_named() {
        let text = "---\nname: night-round\ndescription: x\nmetadata:\n  cortex-examples:\n    - \"Do your round, please: all rooms\"\n    \
                    - is everything locked?\n  cortex-counter-examples: |\n    good night, sleep well\n---\n";
        let skill = Skill::read("night-round", text).expect("it is one");
        assert_eq!(skill.triggers.examples.wanted, ["Do your round, please: all rooms", "is everything locked?"]);
        assert_eq!(skill.triggers.examples.unwanted, ["good night, sleep well"]);
        let told = skill.triggers.told();
        assert_eq!(told, ["for tasks like: \"Do your round, please: all rooms\", \"is everything locked?\""]);
        let twice = problem(&text.replace("good night, sleep well", "IS EVERYTHING LOCKED"));
        assert!(twice.starts_with("its metadata.cortex-counter-examples hold \"IS EVERYTHING LOCKED\""), "{twice}");
        let misspelt = problem(&text.replace("cortex-examples", "cortex-example"));
        assert!(misspelt.contains("did you mean 'cortex-examples'?"), "{misspelt}");
        let empty = problem(
            &text.replace("cortex-counter-examples: |\n    good night, sleep well", "cortex-counter-examples: []"),
        );
        assert!(empty.contains("cortex-counter-examples are empty"), "{empty}");
        let alone =
            problem("---\nname: night-round\ndescription: x\nmetadata:\n  cortex-counter-examples: good night\n---\n");
        assert!(alone.contains("cortex-counter-examples stand alone"), "{alone}");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_it_should_be() {
        assert!(problem("# Night round").contains("'name: night-round'"));
        assert!(problem("---\nname: night-round\n").contains("another line '---'"));
        assert!(problem("---\nname: [\n---\n").starts_with("its front matter can't be read: "));
        assert!(problem("---\nname: night-round\n---\n").contains("description"));
        assert!(problem("---\nname: night-round\ndescription: ''\n---\n").contains("needs 1 to 1024"));
        for name in ["Night-Round", "../night-round", "-x", "x-", "a--b", "\"\"", "\"a\\nb\"", &"x".repeat(65)] {
            let told = problem(&format!("---\nname: {name}\ndescription: x\n---\n"));
            assert!(told.contains("small letters, digits and single hyphens") && !told.contains('\n'), "{told}");
        }
        assert!(problem("---\nname: day-round\ndescription: x\n---\n").contains("its folder is 'night-round'"));
        assert!(problem(ROUND).contains("\"make the night round\" does not say what its braces stand for"));
        let short = "---\nname: night-round\ndescription: x\nmetadata:\n  cortex-phrases: go {place}\n---\n";
        assert!(problem(short).contains("at least 2 words of its own"));
        let steps: String = (0..51).map(|step| format!("\n- say {step}")).collect();
        assert!(
            problem(&format!("---\nname: night-round\ndescription: x\n---\n# Procedure\n{steps}\n"))
                .contains("51 steps")
        );
    }
}
