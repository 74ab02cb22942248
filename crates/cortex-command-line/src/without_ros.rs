//! Which commands need no ROS, and what they do.

use std::process::ExitCode;

use clap::CommandFactory as _;
use cortex_knowledge::read::PdfLimits;

use crate::arguments::RecipeCommand;
use crate::ros_program::{RosMissing, RosProgram};
use crate::{Arguments, Command, doctor, eval, guard, knowledge, memory, pdf, recipe, skill, tape, wordings};

/// What came of a command.
pub enum Outcome {
    /// It was done here.
    Ended(ExitCode),
    /// It is for this program, which links ROS and whose libraries can be loaded.
    ForRos(RosProgram),
}

/// Carries a command out, as far as it needs no ROS. The exit status is 0 for success, 1 where the task or a check failed; an
/// error is one that could not be tried.
///
/// # Errors
/// When the command fails, and when it needs ROS and that can't be loaded.
pub fn without_ros(command: Command) -> anyhow::Result<Outcome> {
    let code = match command {
        Command::Completion { shell } => completion(shell),
        Command::Guard { mark } => guard(&mark).map(|()| ExitCode::SUCCESS),
        Command::ReadPdf { memory_mib, seconds } => pdf::read(PdfLimits { memory_mib, seconds }),
        Command::Wordings(arguments) => wordings::wordings(&arguments),
        Command::Knowledge(arguments) => wait_for(knowledge::knowledge(arguments)),
        Command::Memory(arguments) => wait_for(memory::memory(arguments)),
        Command::Skill(arguments) => skill::skill(&arguments),
        Command::Tape(arguments) => wait_for(tape::tape(arguments)),
        Command::Eval(arguments) => wait_for(eval::eval(arguments)),
        Command::Watch(arguments) => wait_for(async { Ok(cortex_watch::run(arguments.options()?).await?) }),
        Command::Incident(arguments) => wait_for(async { Ok(cortex_watch::incident(&arguments).await?) }),
        Command::Recipe { command: RecipeCommand::Schema } => recipe::schema(),
        Command::Recipe { command: RecipeCommand::Check { files, live: false } } => match RosProgram::find() {
            Ok(program) => return Ok(Outcome::ForRos(program)),
            Err(missing) => check_recipes(&files, &missing),
        },
        Command::Doctor(arguments) => match RosProgram::find() {
            Ok(program) => return Ok(Outcome::ForRos(program)),
            Err(missing) => doctor::doctor(&arguments, &missing),
        },
        _ => return Ok(Outcome::ForRos(RosProgram::find()?)),
    };
    code.map(Outcome::Ended)
}

/// Runs what waits: for a terminal, for files, for HTTP.
fn wait_for(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(work)
}

fn completion(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "cortex", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}

/// Without ROS no type of a message is known, and everything else of a recipe is checked.
fn check_recipes(files: &[std::path::PathBuf], missing: &RosMissing) -> anyhow::Result<ExitCode> {
    let checked = recipe::check_all(files)?;
    eprintln!("cortex: what recipes say of messages was not checked against their types: {missing}");
    Ok(checked)
}
