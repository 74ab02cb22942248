//! `cortex recipe check` where ROS is at hand: also what a recipe says of messages is checked against the types that are
//! installed here, and with `--live` against the robot that runs.

mod live;

use std::path::Path;
use std::process::ExitCode;

use cortex_command_line::recipe::{Extent, schema, tell};
use cortex_process::Cgroups;
use cortex_recipe::{Mistake, Problems, Recipe};
use cortex_recipe_file::{text_of, warn};
use cortex_robot::supervision;

use crate::arguments::RecipeCommand;

/// `cortex recipe`: what of it needs ROS.
///
/// # Errors
/// When the graph can't be joined.
pub async fn recipe(command: RecipeCommand) -> anyhow::Result<ExitCode> {
    match command {
        RecipeCommand::Check { files, live } => {
            let mut all_right = true;
            for file in files {
                all_right &= if live { check_live(&file).await? } else { check(&file, Extent::All)? };
            }
            Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        RecipeCommand::Schema => schema(),
    }
}

/// Checks a recipe without the robot.
fn check(file: &Path, extent: Extent) -> anyhow::Result<bool> {
    let text = text_of(file)?;
    Ok(tell(&text, file, extent, supervision::check(&text, file)))
}

/// Checks a recipe, and if that alone is right, against the robot that runs.
async fn check_live(file: &Path) -> anyhow::Result<bool> {
    let text = text_of(file)?;
    let Ok(recipe) = supervision::check(&text, file) else { return check(file, Extent::WithoutWarnings) };
    let live::Misfits { wrong, doubtful } = live::misfits(&recipe, &live::look(&recipe).await?);
    warn(&text, file, [doubtful, unkept_limits(&recipe)].concat());
    if wrong.is_empty() {
        return check(file, Extent::WithoutWarnings);
    }
    eprint!("{}", Problems::locate(&text, wrong).show(&file.display().to_string()));
    Ok(false)
}

/// The limits of processes that could not be kept if the robot was started from here.
fn unkept_limits(recipe: &Recipe) -> Vec<Mistake> {
    let unkept = |(name, component): (&cortex_protocol::ComponentName, &cortex_recipe::ComponentRecipe)| {
        let limits = cortex_supervisor::limits(component.start.process()?);
        let refusal = if limits.is_empty() { None } else { Cgroups::own().and_then(|own| own.look(&limits)).err() }?;
        let key = if limits.memory_bytes.is_some() { "memory_max" } else { "cpu_max" };
        Some(Mistake {
            path: ["components", name.as_str(), "start", key].map(str::to_owned).to_vec(),
            message: format!("started from here, the limits of '{name}' would not be kept: {refusal}"),
            fix: String::new(),
        })
    };
    recipe.components.iter().filter_map(unkept).collect()
}
