//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The command of the guard, which only Cortex itself uses.
pub(crate) const GUARD: &str = "guard-processes";

/// Talk to a ROS 2 robot: Cortex finds out what it can do, plans a task given in plain language, and carries it out
/// step by step.
#[derive(Debug, Parser)]
#[command(
    name = "cortex",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  cortex run                                       start Cortex with the embedded command reader (no model needed)
  cortex run --model openai:qwen3@http://localhost:11434/v1
  cortex run recipes/agent.toml                    bring a whole robot up and keep it alive
  cortex send \"go to the kitchen and say hello\"    give the running Cortex a task
  cortex correct \"the other room\"                  change the task while the robot is on its way
  cortex pending                                   what missions ask people; `cortex approve` or `cortex deny` answers
  cortex status --watch                            what goes on in it
  cortex tools                                     what the robot can do
  cortex call send_request_to_lamp/switch '{\"data\": true}'
  cortex plan \"look around the kitchen\"           what it would do
  cortex doctor                                    find out why something does not work

ROS arguments come last, after --ros-args: remaps (-r), parameters (-p), namespace (-r __ns:=/robot1)."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start Cortex: discover the robot and take tasks until Ctrl-C.
    Run(StartArguments),
    /// Give the running Cortex a task and watch it. Ctrl-C cancels the task.
    Send(SendArguments),
    /// Say in mid task what is to be done instead. What moves is halted, and the task is planned anew.
    Correct(CorrectArguments),
    /// List the questions that missions ask people: what exactly would be called, why that is asked, and the time left.
    Pending(PendingArguments),
    /// Approve what a mission asks about: exactly these calls, with exactly these arguments.
    Approve(ApproveArguments),
    /// Deny what a mission asks about. The model is told the reason.
    Deny(DenyArguments),
    /// Answer a question that has choices.
    Answer(AnswerArguments),
    /// Say that a mission which has ended did not do what was asked: it is reopened with the reason.
    Dispute(DisputeArguments),
    /// Halt everything the robot does for Cortex, and take no task until `cortex resume`.
    Stop(ServerArguments),
    /// Take tasks again after a stop.
    Resume(ServerArguments),
    /// What goes on in the running Cortex, on one screen: components, missions, goals, model, stop.
    Status(StatusArguments),
    /// Make a plan for a task and print it, without carrying it out. Tools that only look are called.
    Plan(PlanArguments),
    /// List what the robot can do, and what is there but can't be called.
    Tools(ToolsArguments),
    /// Run one tool by hand, without a model and without asking: the robot may move. Ctrl-C halts the call.
    Call(CallArguments),
    /// Tell everything about one node: topics, services, parameters, lifecycle, health, tools.
    Inspect {
        /// The node, as `cortex tools` shows it: `base`, `left_arm/gripper`.
        name: String,
    },
    /// Read the record of missions: list, show, follow, replay. Needs no robot.
    Tape(TapeArguments),
    /// What the embedded command reader was told that words mean: list, forget. Needs no robot.
    Wordings(WordingsArguments),
    /// Check recipes: what a whole robot consists of. Needs no robot, but for `check --live`.
    Recipe {
        #[command(subcommand)]
        command: RecipeCommand,
    },
    /// Check ROS, the graph, the configuration and the model; each failure comes with its fix.
    Doctor(RunArguments),
    /// Ends what a Cortex that died has left running. Started by `cortex run RECIPE`.
    #[command(name = GUARD, hide = true)]
    Guard {
        /// The mark of its processes.
        mark: String,
    },
    /// Print the completion script for a shell: `cortex completion bash > /etc/bash_completion.d/cortex`.
    Completion {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArguments {
    /// Which model plans: `reflex`, or `openai:NAME@URL`. Overrides the configuration.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct StartArguments {
    /// A recipe: the whole robot is brought up, kept alive, and brought down at the end. Without one, Cortex uses the robot
    /// that is there.
    #[arg(value_name = "RECIPE")]
    pub(crate) recipe: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Rehearse: tools that only look are called, everything else is echoed, and nothing moves.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// End in order, as at Ctrl-C, when this process is gone: the one that has started Cortex, such as `ros2 launch`.
    #[arg(long, value_name = "PROCESS")]
    pub(crate) exit_with_pid: Option<i32>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArguments {
    /// The task, in plain language.
    pub(crate) task: String,
    /// How the plan is printed.
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub(crate) format: PlanFormat,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// See [`PlanArguments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people: the steps by level, with what they hold and what collides.
    Text,
    /// The same for programs.
    Json,
    /// For Graphviz.
    Dot,
    /// A drawing.
    Svg,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ToolsArguments {
    /// Print JSON, with the schemas of the arguments.
    #[arg(long)]
    pub(crate) json: bool,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CallArguments {
    /// The tool, as `cortex tools` shows it, or as a model sees it.
    pub(crate) tool: String,
    /// Its arguments, a JSON object.
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
    /// How long it may take, in seconds, before it is halted. Default: the tool's own time.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) timeout: Option<f64>,
    /// For scripts: print each event, and at the end the outcome, as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WordingsArguments {
    #[command(subcommand)]
    pub(crate) command: WordingsCommand,
    /// The file of the wordings. Default: the one of the configuration.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) file: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WordingsCommand {
    /// One line for each wording: since when, the words, what they mean, who said so, how often it spared a question.
    List,
    /// Ask again what these words mean.
    Forget {
        /// The words, as the list shows them.
        words: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TapeArguments {
    #[command(subcommand)]
    pub(crate) command: TapeCommand,
    /// The folder of the tapes. Default: the one of the configuration.
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TapeCommand {
    /// One line for each mission, oldest first: when it began, its id, how it ended, its task.
    List,
    /// What happened in a mission, line by line.
    Show {
        /// Its id, or the beginning of it.
        mission: String,
        /// Also what the mission machine was given and wanted done.
        #[arg(long)]
        all: bool,
        /// Print the lines of the tape as they are: CloudEvents in JSON.
        #[arg(long, conflicts_with = "all")]
        json: bool,
    },
    /// What happens in a mission while it does, until it ends or Ctrl-C.
    Follow {
        /// Its id, or the beginning of it. Default: the mission that runs, or else the next one.
        mission: Option<String>,
        /// Print the lines of the tape as they are: CloudEvents in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run the decisions of a mission again, without a robot or a model, and say where this Cortex would decide
    /// otherwise. Exit status 0: nowhere.
    Replay {
        /// Its id, or the beginning of it.
        mission: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecipeCommand {
    /// Say what is wrong with recipes: file, line, and how to fix it. Exit status 0: nothing.
    Check {
        /// The recipes.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Check also against the robot that runs: which methods, topics, services and types there really are.
        #[arg(long)]
        live: bool,
    },
    /// Print the JSON Schema of recipes, for editors.
    Schema,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct StatusArguments {
    /// Go on showing it until Ctrl-C.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print JSON, as `~/overview` has it; with --watch, one line for each change.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServerArguments {
    /// The node name of the Cortex to talk to.
    #[arg(long, value_name = "NODE", default_value = "/cortex")]
    pub(crate) server: String,
    /// How long to wait for it to be there, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = positive_seconds)]
    pub(crate) wait: f64,
}

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// The task, in plain language. `-` reads it from standard input.
    pub(crate) task: String,
    /// Name the conversation that the task continues, so that "and now the other room" is understood.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// For scripts: print each event, and at the end the result, as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CorrectArguments {
    /// What is to be done instead, in plain language: "the other room".
    pub(crate) correction: String,
    /// The mission, as the result and the events of its task name it. Default: the one that runs.
    #[arg(long, value_name = "MISSION")]
    pub(crate) mission: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

/// How a question is named.
const QUESTION: &str = "The question, as `cortex pending` lists it, or the end of that: `019a-7f3c/2`, `c/2`. May be left out \
                        where one is open";

#[derive(Debug, Args)]
pub(crate) struct PendingArguments {
    /// Print JSON, as `~/questions` has it.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    #[arg(value_name = "ID", help = QUESTION)]
    pub(crate) question: Option<String>,
    /// Approve each of these calls as often as this mission makes it, and not only once.
    #[arg(long)]
    pub(crate) mission: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArguments {
    #[arg(value_name = "ID", help = QUESTION)]
    pub(crate) question: Option<String>,
    /// Why, in plain language: the model is told.
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct AnswerArguments {
    #[arg(value_name = "ID", help = QUESTION)]
    pub(crate) question: Option<String>,
    /// One of the choices, as `cortex pending` lists them.
    pub(crate) choice: String,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DisputeArguments {
    /// The mission, as its result and `cortex tape list` name it.
    pub(crate) mission: String,
    /// What was not as it should be, in plain language: "the cup is still on the floor".
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("write a number of seconds above 0, at most 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_question_may_be_left_out() {
        let parsed = |words: &[&str]| Arguments::try_parse_from([&["cortex"], words].concat()).map(|all| all.command);
        assert!(matches!(parsed(&["answer", "red cup"]), Ok(Command::Answer(AnswerArguments { question: None, .. }))));
        let Ok(Command::Answer(answer)) = parsed(&["answer", "m/1", "red cup"]) else { panic!("an answer") };
        assert_eq!((answer.question.as_deref(), answer.choice.as_str()), (Some("m/1"), "red cup"));
        assert!(matches!(parsed(&["approve"]), Ok(Command::Approve(ApproveArguments { mission: false, .. }))));
        assert!(parsed(&["approve", "m/1", "if nobody is there"]).is_err(), "a yes stands alone");
        assert!(parsed(&["dispute", "m"]).is_err() && parsed(&["answer"]).is_err());
    }

    #[test]
    fn waits_are_checked() {
        for bad in ["0", "-1", "inf", "nan", "soon", "1e9"] {
            assert!(Arguments::try_parse_from(["cortex", "send", "hi", "--wait", bad]).is_err(), "{bad}");
        }
    }
}
