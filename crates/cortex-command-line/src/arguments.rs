//! The arguments of each command.
#![allow(missing_docs, reason = "what documents a group of arguments would be shown as its help")]

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cortex_player::PlayArguments;
use cortex_protocol::skill_view::SkillDigest;
use thiserror::Error;

#[derive(Debug, Clone, Args)]
pub struct RunArguments {
    /// Which model plans: `reflex`, `local`, or `openai:NAME@URL`. Overrides the configuration.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    /// The task, in plain language.
    pub task: String,
    /// How the plan is printed.
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub format: PlanFormat,
    #[command(flatten)]
    pub run: RunArguments,
}

/// See [`PlanArguments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PlanFormat {
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
pub struct ModelsArguments {
    /// The base of an endpoint, such as `http://localhost:11434/v1`. Default: those of the configuration.
    #[arg(value_name = "URL")]
    pub endpoint: Option<String>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct ToolsArguments {
    /// Print JSON, with the schemas of the arguments.
    #[arg(long)]
    pub json: bool,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct CallArguments {
    /// The tool, as `cortex tools` shows it, or as a model sees it.
    pub tool: String,
    /// Its arguments, a JSON object.
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
    /// How long it may take, in seconds, before it is halted. Default: the tool's own time.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub timeout: Option<f64>,
    /// For scripts: print each event, and at the end the outcome, as one line of JSON.
    #[arg(long)]
    pub json: bool,
    /// Call it although a Cortex has stopped the robot, and do not halt it at a stop: for whoever stands beside the robot.
    #[arg(long)]
    pub while_stopped: bool,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct WordingsArguments {
    #[command(subcommand)]
    pub command: WordingsCommand,
    /// The file of the wordings. Default: the one of the configuration.
    #[arg(long, value_name = "FILE", global = true)]
    pub file: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum WordingsCommand {
    /// One line for each wording: since when, the words, what they mean, who said so, how often it spared a question.
    List,
    /// Ask again what these words mean.
    Forget {
        /// The words, as the list shows them.
        words: String,
    },
}

#[derive(Debug, Args)]
pub struct KnowledgeArguments {
    #[command(subcommand)]
    pub command: KnowledgeCommand,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum KnowledgeCommand {
    /// Add files, or all documents of folders: text, Markdown, HTML, PDF. What was added before is replaced if it has changed.
    Add {
        /// Files and folders.
        #[arg(required = true, value_name = "FILE|FOLDER")]
        paths: Vec<PathBuf>,
    },
    /// One line for each document.
    List,
    /// The passages that fit these words best, with how much of them each holds.
    Search {
        /// What is looked for.
        #[arg(required = true)]
        words: Vec<String>,
        /// Most passages.
        #[arg(short = 'n', long = "most", default_value_t = 5)]
        most: usize,
    },
    /// Forget documents.
    Remove {
        /// Their ids, as the list shows them.
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct MemoryArguments {
    #[command(subcommand)]
    pub command: MemoryCommand,
    /// The recipe that the robot runs with: it may name the robot and the layers.
    #[arg(long, value_name = "RECIPE", global = true)]
    pub recipe: Option<PathBuf>,
    /// The file of the memory. Default: the one of the configuration.
    #[arg(long, value_name = "FILE", global = true)]
    pub file: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// What is known of the things and places that these words name: "where is the red cup?"
    Recall {
        /// The words.
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// All that is known of one thing or place.
    About {
        /// Its name.
        name: String,
    },
    /// The earlier tasks in which something happened, with what was seen meanwhile; without words, the last ones.
    Tasks {
        /// The words.
        words: Vec<String>,
    },
    /// What people asked in conversations and what came of it, the last ones first.
    Conversations {
        /// The name of a session. Default: all, and what was asked outside of them.
        session: Option<String>,
    },
    /// What every plan is told: the body, what people said, the last tasks.
    Bulletin,
    /// Say that something is so. It outranks what the robot saw before, until a sensor sees otherwise anew.
    Tell {
        /// The thing, such as "red cup".
        thing: String,
        /// Where it is, or what it is.
        value: String,
        /// What the value says of it. Default: "is at".
        #[arg(long)]
        relation: Option<String>,
        /// Who says so. Default: the user of this terminal.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Forget a thing for good: no byte of it stays in the file.
    Forget {
        /// Its name.
        #[arg(conflicts_with = "everything")]
        name: Option<String>,
        /// Forget all that the robot remembers.
        #[arg(long)]
        everything: bool,
    },
    /// How much there is.
    Size,
    /// Keep a damaged file aside, and make a new one of what can be read of it.
    Rebuild,
}

#[derive(Debug, Args)]
pub struct SkillArguments {
    #[command(subcommand)]
    pub command: SkillCommand,
    /// The recipe that the robot runs with: skills lie in the folder `skills` beside it.
    #[arg(long, value_name = "RECIPE", global = true)]
    pub recipe: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum SkillCommand {
    /// What there is, how it is asked for, how well it works, and what is not used although it should be.
    List,
    /// One skill: where it is, when it fires, its steps, how well it works, and its words.
    Show {
        /// Its name.
        name: String,
    },
    /// Say yes to a skill that the robot has learned: it is shown as it is, and used from the next task on.
    Accept {
        /// Its name.
        name: String,
        /// The digest of what you read, as `cortex skill show` tells it: nothing is shown and asked then. Needed without a terminal.
        #[arg(long)]
        digest: Option<SkillDigest>,
    },
    /// Say no to a skill that the robot has learned: it is not used, and not proposed again.
    Reject {
        /// Its name.
        name: String,
        /// The digest of what you read: refused where the skill was changed since. Default: whatever it says by now.
        #[arg(long)]
        digest: Option<SkillDigest>,
    },
    /// Forget how well a skill works, and the skill itself where the robot has learned it.
    Forget {
        /// Its name.
        #[arg(conflicts_with = "everything")]
        name: Option<String>,
        /// Forget how well all skills work, all that are proposed, and all that somebody said no to.
        #[arg(long)]
        everything: bool,
    },
    /// What is wrong with skills: of these files and folders, or of all that the robot would use.
    Check {
        /// Files `SKILL.md`, folders of skills, or folders of such folders.
        #[arg(value_name = "FILE|FOLDER")]
        paths: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct TapeArguments {
    #[command(subcommand)]
    pub command: TapeCommand,
    /// The folder of the tapes. Default: the one of the configuration.
    #[arg(long, value_name = "FOLDER", global = true)]
    pub directory: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum TapeCommand {
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
    /// What models were asked in a mission and what they replied: tokens, seconds, words and calls.
    Exchanges {
        /// Its id, or the beginning of it.
        mission: String,
        /// Print each exchange in full, as one line of JSON: the request and the reply.
        #[arg(long)]
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
    /// Show a recorded mission on the page, again and again until Ctrl-C, as if it happened now. Nothing moves.
    Play(PlayArguments),
    /// Run the decisions of a mission again, without a robot or a model, and say where this Cortex would decide
    /// otherwise. Exit status 0: nowhere.
    Replay {
        /// Its id, or the beginning of it.
        mission: String,
    },
}

#[derive(Debug, Args)]
pub struct EvalArguments {
    /// Missions (the beginning of an id is enough), files, or folders of tapes. Default: all tapes of the folder.
    #[arg(value_name = "TAPE")]
    pub tapes: Vec<String>,
    /// A model to ask: `reflex`, `openai:NAME@URL`, or `replay:PATH`, a tape or folder whose replies are given again. May be
    /// given several times. Default: each model of the configuration.
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// Ask for plans and answers with the rules in this file, in place of the recorded ones.
    #[arg(long, value_name = "FILE")]
    pub prompt: Option<PathBuf>,
    /// The same for decisions on steps.
    #[arg(long, value_name = "FILE")]
    pub confirmation_prompt: Option<PathBuf>,
    /// Ask with another setting: `mission.planning_temperature=0`, or a key of `[endpoint]`. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Ask as this Cortex words its requests now, and not as they were recorded.
    #[arg(long)]
    pub reworded: bool,
    /// How many missions are asked about at a time. The questions of one come one after the other.
    #[arg(long, value_name = "MISSIONS", default_value_t = 1, value_parser = at_most_100)]
    pub parallel: usize,
    /// Say of each mission where it would have gone another way, and what was refused.
    #[arg(long)]
    pub differences: bool,
    /// Print JSON: the figures of each model, and of each mission.
    #[arg(long, conflicts_with = "differences")]
    pub json: bool,
    /// The folder of the tapes. Default: the one of the configuration.
    #[arg(long, value_name = "FOLDER")]
    pub directory: Option<PathBuf>,
    /// The configuration file. Default: the one that the variable `CORTEX_CONFIG` names, if any.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum RecipeCommand {
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
pub struct StatusArguments {
    /// Go on showing it until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Print JSON, as `~/overview` has it; with --watch, one line for each change.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Debug, Clone, Args)]
pub struct ServerArguments {
    /// The node name of the Cortex to talk to.
    #[arg(long, value_name = "NODE", default_value = "/cortex")]
    pub server: String,
    /// How long to wait for it to be there, in seconds. Default: 5, and less where it is plain that it is not there; a stop
    /// always waits.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub wait: Option<f64>,
}

#[derive(Debug, Args)]
pub struct SendArguments {
    /// The task, in plain language. `-` reads it from standard input.
    pub task: String,
    /// Name the conversation that the task continues, so that "and now the other room" is understood.
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// For scripts: print each event, and at the end the result, as one line of JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Debug, Args)]
pub struct ReviseArguments {
    /// What is to be done instead, in plain language: "the other room".
    pub revision: String,
    /// The mission, as the result and the events of its task name it. Default: the one that runs.
    #[arg(long, value_name = "MISSION")]
    pub mission: Option<String>,
    #[command(flatten)]
    pub server: ServerArguments,
}

/// How a question is named.
const QUESTION: &str = "The question, as `cortex pending` lists it, or the end of that: `019a-7f3c/2`, `c/2`. May be left out \
                        where one is open";

#[derive(Debug, Args)]
pub struct PendingArguments {
    /// Print JSON, as `~/questions` has it.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Debug, Args)]
pub struct ApproveArguments {
    #[arg(value_name = "ID", help = QUESTION)]
    pub question: Option<String>,
    /// Approve each of these calls as often as this mission makes it, and not only once.
    #[arg(long)]
    pub mission: bool,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Debug, Args)]
pub struct DenyArguments {
    #[arg(value_name = "ID", help = QUESTION)]
    pub question: Option<String>,
    /// Why, in plain language: the model is told.
    pub reason: Option<String>,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct AnswerArguments {
    #[arg(value_name = "ID", help = QUESTION)]
    pub question: Option<String>,
    /// One of the choices, as `cortex pending` lists them.
    pub choice: String,
    #[command(flatten)]
    pub server: ServerArguments,
}

#[derive(Debug, Args)]
pub struct DisputeArguments {
    /// The mission, as its result and `cortex tape list` name it.
    pub mission: String,
    /// What was not as it should be, in plain language: "the cup is still on the floor".
    pub reason: String,
    #[command(flatten)]
    pub server: ServerArguments,
}

/// What is no time that can be waited for.
#[derive(Debug, Error)]
#[error("write a number of seconds above 0, at most 86400")]
struct NotSeconds;

/// What is no number of missions that can be asked about at a time.
#[derive(Debug, Error)]
#[error("write a whole number from 1 to 100")]
struct NotSoMany;

fn at_most_100(text: &str) -> Result<usize, NotSoMany> {
    text.parse().ok().filter(|number| (1..=100).contains(number)).ok_or(NotSoMany)
}

fn positive_seconds(text: &str) -> Result<f64, NotSeconds> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err(NotSeconds),
    }
}
