//! The programs that a recipe names and that this machine does not have.

use std::collections::BTreeMap;
use std::path::Path;

use cortex_process::{Program, own_folder};
use cortex_recipe::{ActionKind, Mistake, Recipe};

/// What can't be started here, each program once.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MissingPrograms {
    /// Of components, standbys included: the robot can't be brought up, or not be kept alive.
    pub of_components: Vec<Mistake>,
    /// Of the commands of actions.
    pub of_actions: Vec<Mistake>,
}

impl MissingPrograms {
    /// Looks for the programs of a recipe, whose relative paths begin at `folder`.
    pub fn of(recipe: &Recipe, folder: &Path) -> Self {
        let components = recipe.components.iter().filter_map(|(name, component)| {
            let process = component.start.process()?;
            let directory = process.directory.as_ref().map(|directory| folder.join(directory));
            // A path begins at the folder of the recipe, wherever the process runs.
            let directory = directory.filter(|_| !process.program.contains('/'));
            let program = Program {
                program: cortex_supervisor::program(&process.program, folder),
                environment: process.environment.clone(),
                directory,
                ..Program::default()
            };
            Some((name.as_str(), program))
        });
        let actions = recipe.actions.iter().filter_map(|(name, action)| {
            let ActionKind::Command(command) = &action.kind else { return None };
            let program = cortex_supervisor::program(&command.program, folder);
            Some((name.as_str(), Program { program, environment: command.environment.clone(), ..Program::default() }))
        });
        Self {
            of_components: mistakes(components, |name| ["components", name, "start", "program"]),
            of_actions: mistakes(actions, |name| ["actions", name, "command", "program"]),
        }
    }
}

/// One mistake for each program, at the first that needs it.
fn mistakes<'a>(
    programs: impl Iterator<Item = (&'a str, Program)>,
    path: impl Fn(&'a str) -> [&'a str; 4],
) -> Vec<Mistake> {
    let mut missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, program) in programs {
        if program.file().is_none() {
            missing.entry(program.program).or_default().push(name);
        }
    }
    let mistake = |(program, names): (String, Vec<&'a str>)| {
        let first = names.first()?;
        let (message, fix) = words(&program, &names.join(", "));
        Some(Mistake { path: path(first).map(str::to_owned).to_vec(), message, fix: fix.to_owned() })
    };
    missing.into_iter().filter_map(mistake).collect()
}

/// What is wrong, and how to fix it.
fn words(program: &str, names: &str) -> (String, &'static str) {
    if !program.contains('/') {
        let beside = own_folder().map(|folder| format!(" nor in {}", folder.display())).unwrap_or_default();
        let message = format!("there is no program '{program}' on this machine (for {names}): not in PATH{beside}");
        return (message, "install it, or write its path, which begins at the folder of the recipe");
    }
    if Path::new(program).is_file() {
        (format!("{program} (for {names}) can't be executed"), "make it a program: chmod +x")
    } else {
        let fix = "a path with a slash begins at the folder of the recipe";
        (format!("there is no program {program} on this machine (for {names})"), fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(text: &str, folder: &Path) -> MissingPrograms {
        let recipe = Recipe::read(text).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        MissingPrograms::of(&recipe, folder)
    }

    #[test]
    fn each_missing_program_is_told_once_with_all_that_need_it() {
        let missing = missing(
            "recipe = 1\n[components.base]\nstart = { program = \"no-such-program\" }\nstandby = \"spare\"\n\
             [components.spare]\nstart = { program = \"no-such-program\" }\n[components.lamp]\nstart = { program = \"sh\" }\n\
             [components.arm]\nstart = \"external\"\n[actions.speak]\ncommand = { program = \"no-such-voice\" }\n\
             [actions.wait]\ncommand = { program = \"sleep\" }\n",
            Path::new("/robot"),
        );
        let [program] = missing.of_components.as_slice() else { panic!("{missing:?}") };
        assert_eq!(program.path, ["components", "base", "start", "program"]);
        let expected = "there is no program 'no-such-program' on this machine (for base, spare): not in PATH nor in /";
        assert!(program.message.starts_with(expected), "{}", program.message);
        let [command] = missing.of_actions.as_slice() else { panic!("{missing:?}") };
        assert_eq!(command.path, ["actions", "speak", "command", "program"]);
    }

    #[test]
    fn a_path_begins_at_the_folder_of_the_recipe_wherever_the_process_runs() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let text = "recipe = 1\n[components.base]\nstart = { program = \"./drive\", directory = \"data\" }\n";
        let message = || missing(text, folder.path()).of_components.pop().map(|mistake| mistake.message);
        let file = folder.path().join("drive");
        assert!(message().unwrap().starts_with("there is no program /"), "{:?}", message());
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(message().unwrap().ends_with("(for base) can't be executed"), "{:?}", message());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(message(), None);
    }

    #[test]
    fn the_path_of_the_component_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = |path: &Path| {
            format!(
                "recipe = 1\n[components.base]\nstart = {{ program = \"sh\", environment = {{ PATH = \"{}\" }} }}\n",
                path.display()
            )
        };
        assert_eq!(missing(&path(folder.path()), folder.path()).of_components.len(), 1);
        assert_eq!(missing(&path(Path::new("/bin")), folder.path()), MissingPrograms::default());
    }
}
