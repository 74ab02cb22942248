//! `cortex skill`: how people want tasks to be done on this robot. Needs neither ROS nor a running Cortex, which uses what is
//! written from its next task on.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use cortex_config as config;
use cortex_protocol::skill_view::{SkillDecision, SkillDigest, SkillStanding, SkillView, SkillsView};
use cortex_recipe_file::folder_of;
use cortex_skills::{FILE, FoundSkill, LearnedSkills, SkillFolders, SkillState, SkillsForPeople};

use crate::arguments::{SkillArguments, SkillCommand};
use crate::recipe_layer::layers;
use crate::visible_text::{plain, plain_lines};
use crate::yes_or_no;

/// The folder of skills beside a recipe.
const BESIDE_RECIPE: &str = "skills";
/// Characters of a description in a list.
const SHOWN: usize = 100;

pub(crate) fn skill(arguments: &SkillArguments) -> anyhow::Result<ExitCode> {
    let recipe = arguments.recipe.as_deref();
    let Some(layers) = layers(arguments.config.as_deref(), recipe)? else { return Ok(ExitCode::FAILURE) };
    if let SkillCommand::Check { paths } = &arguments.command
        && !paths.is_empty()
    {
        return check(paths);
    }
    let Some(config::SkillSettings { folders, state }) = config::skills(&layers)? else {
        anyhow::bail!("skills are switched off: the configuration has skills.enable_skills = false");
    };
    let state = state.map(SkillState::new);
    let beside = recipe.map(|recipe| folder_of(recipe).join(BESIDE_RECIPE));
    let learned = state.as_ref().map(|state| state.learned.accepted());
    let folders: Vec<PathBuf> = beside.into_iter().chain(folders).chain(learned).collect();
    match &arguments.command {
        SkillCommand::List => list(&for_people(folders.clone(), state).view(), &folders),
        SkillCommand::Show { name } => show(&for_people(folders, state.clone()), state, name),
        SkillCommand::Accept { name, digest } => {
            let learned = kept(state.clone())?.learned;
            accept(&learned, &for_people(folders, state), name, *digest)
        }
        SkillCommand::Reject { name, digest } => reject(&kept(state)?.learned, name, *digest),
        SkillCommand::Forget { name: None, everything: false } => {
            anyhow::bail!("name the skill of which is to be forgotten how well it works, or give --everything")
        }
        SkillCommand::Forget { name, .. } => forget(state, name.as_deref()),
        SkillCommand::Check { .. } => {
            let found = SkillFolders::new(folders).read();
            let good: Vec<String> = found.skills.iter().map(|found| found.file.display().to_string()).collect();
            let bad = found.troubles.iter().map(|trouble| format!("{}: {}", trouble.file.display(), trouble.problem));
            checked(&good, &bad.collect::<Vec<_>>())
        }
    }
}

fn for_people(folders: Vec<PathBuf>, state: Option<SkillState>) -> SkillsForPeople {
    SkillsForPeople::new(Arc::new(SkillFolders::new(folders)), state)
}

fn list(view: &SkillsView, folders: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let mut output = std::io::stdout().lock();
    if view.skills.is_empty() {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        writeln!(output, "No skills yet. Write NAME/{FILE} in one of: {}", folders.join(", "))?;
    }
    for SkillView { name, digest, description, standing, is_learned, phrases, steps, counts, .. } in &view.skills {
        let standing = match standing {
            SkillStanding::On if *is_learned => "  [learned]".to_owned(),
            SkillStanding::On => String::new(),
            SkillStanding::Proposed => format!("  [proposed: off until `cortex skill accept`; digest {digest}]"),
            SkillStanding::Off => format!("  [off: somebody said no; digest {digest}]"),
        };
        writeln!(output, "{name}{standing}  {}", cortex_core::fragment::one_line(description, SHOWN))?;
        if !phrases.is_empty() {
            let how = if steps.is_empty() { "" } else { "; also without a model" };
            writeln!(output, "    say: {}{how}", plain(&phrases.join(" / ")))?;
        }
        writeln!(output, "    {counts}")?;
    }
    for trouble in &view.troubles {
        writeln!(output, "not used: {}", plain(trouble))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(people: &SkillsForPeople, state: Option<SkillState>, name: &str) -> anyhow::Result<ExitCode> {
    let named = people.named(name);
    anyhow::ensure!(
        !named.is_empty(),
        "there is no skill '{name}'; `cortex skill list` names all, and what is wrong with others"
    );
    let outcomes = state.map(|state| state.outcomes.known()).unwrap_or_default();
    let mut output = std::io::stdout().lock();
    for (number, (standing, FoundSkill { skill, file, digest })) in named.iter().enumerate() {
        let standing = match standing {
            SkillStanding::On => "on",
            SkillStanding::Proposed => {
                "proposed: off until `cortex skill accept`; edit the file first if it is not right"
            }
            SkillStanding::Off => "off: somebody said no",
        };
        if number > 0 {
            writeln!(output)?;
        }
        writeln!(output, "{}\n{}\n", file.display(), plain_lines(&skill.description))?;
        writeln!(output, "it is {standing}")?;
        writeln!(output, "digest: {digest}")?;
        writeln!(output, "its tasks: {}", outcomes.of(name))?;
        for phrase in &skill.phrases {
            writeln!(output, "say: {}", plain(phrase))?;
        }
        for fires in skill.triggers.told() {
            writeln!(output, "it fires {}", plain(&fires))?;
        }
        for (number, step) in skill.procedure.iter().enumerate() {
            writeln!(output, "step {}: {}", number + 1, plain(step))?;
        }
        for mission in skill.learned_from().map(plain) {
            writeln!(output, "learned from {mission}: cortex tape show {mission}")?;
        }
        writeln!(output, "\n{}", plain_lines(&skill.body))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The skill that a decision upon this name is about as things are.
fn to_decide(
    learned: &LearnedSkills,
    name: &str,
    decision: SkillDecision,
) -> anyhow::Result<(SkillStanding, FoundSkill)> {
    let first = learned.named(name, decision)?.into_iter().next();
    first.with_context(|| format!("there is no learned skill '{name}'; `cortex skill list` names all"))
}

/// Says yes to the very text that the person read: the one that is shown here, or the one whose digest is given.
fn accept(
    learned: &LearnedSkills,
    people: &SkillsForPeople,
    name: &str,
    digest: Option<SkillDigest>,
) -> anyhow::Result<ExitCode> {
    let digest = if let Some(digest) = digest {
        digest
    } else {
        let (standing, found) = to_decide(learned, name, SkillDecision::Accept)?;
        if standing == SkillStanding::On {
            println!("'{name}' is used already");
            return Ok(ExitCode::SUCCESS);
        }
        let text = people.text(name, found.digest).map_err(|refused| anyhow::anyhow!(refused.reason))?;
        println!("{}\n\n{}\ndigest: {}", found.file.display(), plain_lines(&text), found.digest);
        let Some(is_wanted) = yes_or_no::ask("Use it from the next task on?")? else {
            let digest = found.digest;
            eprintln!(
                "cortex: nothing is accepted without a terminal to ask at; fix: read it, then say `cortex skill accept {name} \
                 --digest {digest}`"
            );
            return Ok(ExitCode::FAILURE);
        };
        if !is_wanted {
            println!("'{name}' is left as it is");
            return Ok(ExitCode::SUCCESS);
        }
        found.digest
    };
    learned.decide(name, digest, SkillDecision::Accept)?;
    println!("'{name}' is used from the next task on");
    Ok(ExitCode::SUCCESS)
}

/// Says no to whatever a skill says by now, or to the text whose digest is given: what is off does nothing.
fn reject(learned: &LearnedSkills, name: &str, digest: Option<SkillDigest>) -> anyhow::Result<ExitCode> {
    let digest = match digest {
        Some(digest) => digest,
        None => to_decide(learned, name, SkillDecision::Reject)?.1.digest,
    };
    learned.decide(name, digest, SkillDecision::Reject)?;
    println!("'{name}' is not used");
    Ok(ExitCode::SUCCESS)
}

fn forget(state: Option<SkillState>, name: Option<&str>) -> anyhow::Result<ExitCode> {
    let state = kept(state)?;
    let had_outcomes = state.outcomes.forget(name)?;
    let had_skill = state.learned.forget(name)?;
    if had_outcomes || had_skill {
        println!("forgotten");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("cortex: there is nothing to forget; `cortex skill list` shows what is known");
    Ok(ExitCode::FAILURE)
}

fn kept(state: Option<SkillState>) -> anyhow::Result<SkillState> {
    state.ok_or_else(|| anyhow::anyhow!("nothing is learned: the configuration has skills.learned = \"off\""))
}

/// Checks files, folders of skills, and folders of folders.
fn check(paths: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for path in paths {
        let folder = if path.ends_with(FILE) { path.parent().unwrap_or(Path::new("")) } else { path };
        // One skill is read as the only one of the folder above it.
        let above = if folder.join(FILE).exists() { std::path::absolute(folder)? } else { folder.to_owned() };
        let is_one = folder.join(FILE).exists();
        let root = if is_one { above.parent().unwrap_or(Path::new("/")).to_owned() } else { above.clone() };
        let found = SkillFolders::new(vec![root]).read();
        let is_wanted = |file: &Path| !is_one || file.parent() == Some(above.as_path());
        let before = good.len() + bad.len();
        good.extend(
            found.skills.iter().filter(|found| is_wanted(&found.file)).map(|found| found.file.display().to_string()),
        );
        let troubles = found.troubles.iter().filter(|trouble| is_wanted(&trouble.file));
        bad.extend(troubles.map(|trouble| format!("{}: {}", trouble.file.display(), trouble.problem)));
        if good.len() + bad.len() == before {
            bad.push(format!("{}: holds no skill: a folder with a file {FILE}", path.display()));
        }
    }
    checked(&good, &bad)
}

fn checked(good: &[String], bad: &[String]) -> anyhow::Result<ExitCode> {
    let mut output = std::io::stdout().lock();
    for file in good {
        writeln!(output, "{file}: is right")?;
    }
    for problem in bad {
        writeln!(output, "{problem}")?;
    }
    Ok(if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
