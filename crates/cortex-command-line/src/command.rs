//! All commands with their arguments: the one command line of `cortex`.
#![allow(missing_docs, reason = "what documents a group of arguments would be shown as its help")]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use cortex_process::reaper::COMMAND as GUARD;
use cortex_watch::{IncidentArguments, WatchArguments};

use crate::arguments::{
    AnswerArguments, ApproveArguments, CallArguments, DenyArguments, DisputeArguments, EvalArguments,
    KnowledgeArguments, MemoryArguments, ModelsArguments, PendingArguments, PlanArguments, RecipeCommand,
    ReviseArguments, RunArguments, SendArguments, ServerArguments, SkillArguments, StatusArguments, TapeArguments,
    ToolsArguments, WordingsArguments,
};
use crate::pdf::COMMAND as READ_PDF;

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
  cortex revise \"the other room\"                   change the task while the robot is on its way
  cortex pending                                   what missions ask people; `cortex approve` or `cortex deny` answers
  cortex status --watch                            its live status
  cortex watch                                     its missions live, with approvals and STOP by key
  cortex incident                                  save the tape, the log and the latest messages of the last mission
  cortex tools                                     what the robot can do
  cortex call send_request_to_lamp/switch '{\"data\": true}'
  cortex plan \"look around the kitchen\"           what it would do
  cortex doctor                                    find out why something does not work

ROS arguments come last, after --ros-args: remaps (-r), parameters (-p), namespace (-r __ns:=/robot1)."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start Cortex: discover the robot and take tasks until Ctrl-C.
    Run(StartArguments),
    /// Give the running Cortex a task and watch it. Ctrl-C cancels the task.
    Send(SendArguments),
    /// Say in mid task what is to be done instead. What moves is halted, and the task is planned anew.
    Revise(ReviseArguments),
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
    /// The live status of the running Cortex, on one screen: components, missions, goals, model, stop.
    Status(StatusArguments),
    /// Watch the running Cortex in the terminal: the mission, its plan, what it asks. Stop, approve and send tasks by key.
    Watch(WatchArguments),
    /// Save what is needed to look into a mission elsewhere, in one archive: tape, health, log, messages of topics.
    Incident(IncidentArguments),
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
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the models that an endpoint offers, as they are written for `--model`.
    Models(ModelsArguments),
    /// Read the record of missions: list, show, follow, replay. Needs no robot.
    Tape(TapeArguments),
    /// Ask other models the questions of recorded missions, and compare what would have become of them. Nothing acts; needs
    /// no robot.
    Eval(EvalArguments),
    /// What the embedded command reader was told that words mean: list, forget. Needs no robot.
    Wordings(WordingsArguments),
    /// The documents that the robot knows: add, list, search, remove. Needs no robot.
    Knowledge(KnowledgeArguments),
    /// What the robot remembers: recall, tell, forget, rebuild. Needs no robot.
    Memory(MemoryArguments),
    /// How people want tasks to be done on this robot: list, show, check. Needs no robot.
    Skill(SkillArguments),
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
    /// Reads a PDF from its standard input and prints its pages. Started by `cortex knowledge add`.
    #[command(name = READ_PDF, hide = true)]
    ReadPdf {
        /// Most memory that it takes.
        memory_mib: u64,
        /// Most time of a processor that it takes.
        seconds: u64,
    },
    /// Print the completion script for a shell: `cortex completion bash > /etc/bash_completion.d/cortex`.
    Completion {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Clone, Args)]
pub struct StartArguments {
    /// A recipe: the whole robot is brought up, kept alive, and brought down at the end. Without one, Cortex uses the robot
    /// that is there.
    #[arg(value_name = "RECIPE")]
    pub recipe: Option<PathBuf>,
    #[command(flatten)]
    pub run: RunArguments,
    /// Where the page for people is served: an address and a port, or `off`. Overrides the configuration.
    #[arg(long, value_name = "ADDRESS")]
    pub web: Option<String>,
    /// Rehearse: tools that only look are called, everything else is echoed, and nothing moves.
    #[arg(long)]
    pub dry_run: bool,
    /// End in order, as at Ctrl-C, when this process is gone: the one that has started Cortex, such as `ros2 launch`.
    #[arg(long, value_name = "PROCESS")]
    pub exit_with_pid: Option<i32>,
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
