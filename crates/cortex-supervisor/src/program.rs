//! How a component of a recipe is started.

use std::path::{Path, PathBuf};

use cortex_process::{Limits, Program};
use cortex_protocol::ComponentName;
use cortex_recipe::{Bytes, ComponentRecipe, Process, Processors, Recipe};

/// What is run for a component. None: something else starts it.
pub(crate) fn of_component(recipe: &Recipe, folder: &Path, name: &ComponentName) -> Option<Program> {
    let component = recipe.components.get(name)?;
    let process = component.start.process()?;
    let folder = full(folder);
    let world = recipe.world.as_ref().map(|world| folder.join(world).display().to_string()).unwrap_or_default();
    let place = folder.display().to_string();
    let own = process.arguments.iter().map(|text| text.replace("{world}", &world).replace("{recipe}", &place));
    Some(Program {
        name: name.to_string(),
        program: program(&process.program, &folder),
        arguments: own.chain(ros_arguments(process, component)).collect(),
        environment: process.environment.clone(),
        directory: process.directory.as_ref().map(|directory| folder.join(directory)),
        limits: limits(process),
    })
}

/// What the process of a component may use.
#[must_use]
pub fn limits(process: &Process) -> Limits {
    Limits {
        memory_bytes: process.memory_max.map(Bytes::count),
        cpu_thousandths: process.cpu_max.map(Processors::thousandths),
    }
}

/// What is started for a program of a recipe: a path with a slash begins at the folder of the recipe, and a name is looked
/// up by whoever starts it.
#[must_use]
pub fn program(program: &str, folder: &Path) -> String {
    if program.contains('/') { folder.join(program).display().to_string() } else { program.to_owned() }
}

/// From the root on, since the process may run in another folder.
pub(crate) fn full(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

fn ros_arguments(process: &Process, component: &ComponentRecipe) -> Vec<String> {
    if process.ros_arguments.is_empty() && component.parameters.is_empty() {
        return Vec::new();
    }
    // The value of a parameter is YAML, and so is JSON.
    let parameters =
        component.parameters.iter().flat_map(|(name, value)| ["-p".to_owned(), format!("{name}:={value}")]);
    std::iter::once("--ros-args".to_owned()).chain(process.ros_arguments.iter().cloned()).chain(parameters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_gets_its_arguments_its_world_and_its_parameters() {
        let recipe = Recipe::read(
            "recipe = 1\nworld = \"flat.toml\"\n[components.base]\n\
             start = { program = \"bin/drive\", arguments = [\"--world\", \"{world}\"], ros_arguments = [\"-r\", \"a:=b\"] }\n\
             parameters = { speed = 0.5, name = \"tidy\", autostart = false }\n\
             [components.arm]\nstart = \"external\"\n\
             [components.lamp]\nstart = { program = \"lamp\", memory_max = \"64 MB\", cpu_max = 0.5 }\n",
        )
        .unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        let program = of_component(&recipe, Path::new("/robot"), &"base".into()).unwrap();
        assert_eq!(program.program, "/robot/bin/drive");
        assert_eq!(
            program.arguments.join(" "),
            "--world /robot/flat.toml --ros-args -r a:=b -p autostart:=false -p name:=\"tidy\" -p speed:=0.5"
        );
        assert_eq!(of_component(&recipe, Path::new("/robot"), &"arm".into()), None);
        let lamp = of_component(&recipe, Path::new("/robot"), &"lamp".into()).unwrap();
        assert_eq!((lamp.program.as_str(), lamp.arguments.len()), ("lamp", 0), "nothing of ROS where nothing is said");
        assert_eq!(lamp.limits, Limits { memory_bytes: Some(64_000_000), cpu_thousandths: Some(500) });
        assert!(program.limits.is_empty());
    }
}
