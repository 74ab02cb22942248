//! `cortex skill`: how people want tasks to be done on this robot. Needs neither ROS nor a running Cortex, which uses what is
//! written from its next task on.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cortex_config as config;
use cortex_recipe_file::folder_of;
use cortex_skills::{FILE, Skill, SkillFolders, Skills};

use crate::arguments::{SkillArguments, SkillCommand};
use crate::recipe_layer::layers;

/// The folder of skills beside a recipe.
const BESIDE_RECIPE: &str = "skills";
/// Characters of a description in a list.
const SHOWN: usize = 100;

pub(crate) fn skill(arguments: &SkillArguments) -> anyhow::Result<ExitCode> {
    let recipe = arguments.recipe.as_deref();
    let Some(layers) = layers(arguments.config.as_deref(), recipe)? else { return Ok(ExitCode::FAILURE) };
    let beside = recipe.map(|recipe| folder_of(recipe).join(BESIDE_RECIPE));
    let configured = config::skill_folders(&layers)?;
    anyhow::ensure!(
        configured.is_some() || matches!(&arguments.command, SkillCommand::Check { paths } if !paths.is_empty()),
        "skills are switched off: the configuration has skills.enable_skills = false"
    );
    let folders: Vec<PathBuf> = beside.into_iter().chain(configured.unwrap_or_default()).collect();
    match &arguments.command {
        SkillCommand::List => list(&SkillFolders::new(folders.clone()).read(), &folders),
        SkillCommand::Show { name } => show(&SkillFolders::new(folders).read(), name),
        SkillCommand::Check { paths } if paths.is_empty() => {
            let found = SkillFolders::new(folders).read();
            let good: Vec<String> = found.skills.iter().map(|found| found.file.display().to_string()).collect();
            let bad = found.troubles.iter().map(|trouble| format!("{}: {}", trouble.file.display(), trouble.problem));
            checked(&good, &bad.collect::<Vec<_>>())
        }
        SkillCommand::Check { paths } => check(paths),
    }
}

fn list(found: &Skills, folders: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let mut output = std::io::stdout().lock();
    if found.skills.is_empty() {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        writeln!(output, "No skills yet. Write NAME/{FILE} in one of: {}", folders.join(", "))?;
    }
    for found in &found.skills {
        let Skill { name, description, phrases, procedure, .. } = found.skill.as_ref();
        writeln!(output, "{name}  {}", cortex_core::fragment::one_line(description, SHOWN))?;
        if !phrases.is_empty() {
            let how = if procedure.is_empty() { "" } else { "; also without a model" };
            writeln!(output, "    say: {}{how}", phrases.join(" / "))?;
        }
    }
    for trouble in &found.troubles {
        writeln!(output, "not used: {}: {}", trouble.file.display(), trouble.problem)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(found: &Skills, name: &str) -> anyhow::Result<ExitCode> {
    let Some(found) = found.skills.iter().find(|found| found.skill.name == name) else {
        anyhow::bail!("there is no skill '{name}'; `cortex skill list` names all, and what is wrong with others");
    };
    let skill = &found.skill;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}\n{}\n", found.file.display(), skill.description)?;
    for phrase in &skill.phrases {
        writeln!(output, "say: {phrase}")?;
    }
    for (number, step) in skill.procedure.iter().enumerate() {
        writeln!(output, "step {}: {step}", number + 1)?;
    }
    writeln!(output, "\n{}", skill.body)?;
    Ok(ExitCode::SUCCESS)
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
