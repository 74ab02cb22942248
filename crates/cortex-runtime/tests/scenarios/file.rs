//! What a scenario file holds. A key that is not here is an error, so that a misspelt expectation can't pass unseen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cortex_core::ModelErrorKind;
use cortex_core::mission::{ConfirmationArguments, ConfirmationMode, OnFailure};
use cortex_protocol::mission::Expense;
use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{Conditions, Dispatch, Effect, MissionStatus, PolicyRule, ToolPhase};
use serde::Deserialize;
use serde_json::Value;

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    /// What the theme is, for people.
    #[serde(rename = "theme")]
    _theme: String,
    /// The tools that every scenario of the file has.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, ToolTable>,
    /// What the robot of every scenario shows of itself.
    #[serde(default)]
    pub(crate) shows: BTreeMap<String, Value>,
    /// The rules of policy that every scenario has.
    #[serde(default)]
    pub(crate) rules: Vec<PolicyRule>,
    pub(crate) scenario: Vec<Scenario>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The story in a few words. Unique in the suite.
    pub(crate) name: String,
    /// Which defects and faults of the reference system it shows to be none here.
    #[serde(default)]
    pub(crate) covers: Vec<String>,
    /// Whether it runs on real ROS 2, too: see `tests/scenarios_on_ros/`.
    #[serde(default)]
    pub(crate) on_ros: bool,
    /// Why it fails for now. It must fail, then.
    pub(crate) known_defect: Option<String>,
    /// In plain language.
    pub(crate) task: String,
    /// Tools that nothing may call here, whichever model plans: the task forbids it or asks for nothing of the kind, or the robot
    /// is not in a state for it.
    #[serde(default)]
    pub(crate) forbidden: Vec<String>,
    /// Tools that a model should not call here, since the task can't be done or must not be: only the model can know that.
    #[serde(default)]
    pub(crate) senseless: Vec<String>,
    /// The conversation that all tasks belong to.
    pub(crate) session: Option<String>,
    /// Further tasks.
    #[serde(default)]
    pub(crate) more: Vec<FurtherTask>,
    /// More tools, or other traits of those of the file.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, ToolTable>,
    /// What the robot tells again and again from the beginning: the message of a topic, the value of a parameter, the health
    /// of a component, by name.
    #[serde(default)]
    pub(crate) shows: BTreeMap<String, Value>,
    /// The same, told once before the beginning and kept for who comes late.
    #[serde(default)]
    pub(crate) keeps: BTreeMap<String, Value>,
    /// Topics that only repeat what is called.
    #[serde(default)]
    pub(crate) echoes: Vec<String>,
    /// Further rules of policy.
    #[serde(default)]
    pub(crate) rules: Vec<PolicyRule>,
    /// `"reflex"`, or what the model says, reply by reply.
    pub(crate) model: Value,
    /// What it says whenever that is over.
    pub(crate) and_then_always: Option<Value>,
    /// What befalls the robot, or is done to it.
    #[serde(default)]
    pub(crate) happens: Vec<Value>,
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    pub(crate) expect: Expectation,
}

/// A tool; what is not said is as in the file, or as [`cortex_testkit::tool`] has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolTable {
    pub(crate) description: Option<String>,
    pub(crate) phase: Option<ToolPhase>,
    pub(crate) effect: Option<Effect>,
    pub(crate) dispatch: Option<Dispatch>,
    pub(crate) resources: Option<Vec<String>>,
    /// Seconds.
    pub(crate) timeout: Option<f64>,
    /// The required arguments and their JSON types, or the texts that one may be: `hall|kitchen`.
    pub(crate) takes: Option<BTreeMap<String, String>>,
    /// Sentences for the command reader.
    pub(crate) phrases: Option<Vec<String>>,
    /// What must hold `before`, `during` and `after` a call.
    pub(crate) conditions: Option<Conditions>,
    /// How it behaves when it is called; several: in turn.
    pub(crate) does: Option<Value>,
    /// How many there are of it: `arm.wave_1`, `arm.wave_2` and so on.
    pub(crate) copies: Option<u32>,
    /// Whether nobody has declared what it does, so that policy asks about it.
    pub(crate) undeclared: Option<bool>,
    /// Whether it is there from the beginning.
    pub(crate) comes_later: Option<bool>,
}

/// One reply of the model.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplyTable {
    #[serde(default)]
    pub(crate) says: String,
    /// `name {"argument": 1}`, by wire name.
    #[serde(default)]
    pub(crate) calls: Vec<String>,
    /// How often it makes these calls in the one reply.
    pub(crate) times: Option<usize>,
    pub(crate) refuses: Option<String>,
    /// Why the reply is not whole.
    pub(crate) cut: Option<String>,
    /// Tokens that it says it wrote.
    #[serde(default)]
    pub(crate) tokens: u64,
    /// Seconds that it thinks first.
    pub(crate) after: Option<f64>,
    pub(crate) fails: Option<ModelErrorKind>,
    #[serde(default)]
    pub(crate) hangs: bool,
    #[serde(default)]
    pub(crate) panics: bool,
}

/// What happens at a moment.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Happening {
    /// A person: `cancel`, `stop`, `shut_down`, `resume`.
    People(People),
    /// A person revises the task that runs.
    Revises(String),
    /// A person approves what is asked: `once`, or for the `mission`.
    Approves(ApprovalScope),
    /// A person denies what is asked, for this reason.
    Denies(String),
    /// A person chooses this.
    Chooses(String),
    /// A person approves the mission's question of this number, which has ended or never was: it does not count.
    ApprovesInVain(u32),
    /// The tool is no longer offered.
    Leaves(String),
    /// The tool is offered, maybe again.
    Comes(String),
    /// The tool says that it does something else now.
    Changes(String),
    /// A meter counts on by so much.
    Spends(BTreeMap<Expense, f64>),
    /// A meter measures no more.
    FallsSilent(Expense),
    /// A meter measures again.
    Measures(Expense),
    /// The robot shows this from now on, again and again.
    Shows(BTreeMap<String, Value>),
    /// The robot tells this once, and keeps it.
    Keeps(BTreeMap<String, Value>),
    /// What the robot showed under this name is not told any more, although somebody is there to tell it.
    Silences(String),
    /// Nobody is there any more to tell it.
    Hides(String),
    /// The monitor puts the component in quarantine.
    Quarantine(String),
    /// The monitor lets the missions have it again.
    Release(String),
    /// The monitor gives each component's place to another: `{ arm = "spare_arm" }`; to itself, it has its own place again.
    FailOver(BTreeMap<String, String>),
    /// The monitor pauses the missions, for this reason.
    Pause(String),
    /// The monitor lets them go on, if this is `true`.
    Unpause(bool),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum People {
    Cancel,
    Stop,
    ShutDown,
    Resume,
}

/// A task besides the first.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FurtherTask {
    pub(crate) task: String,
    pub(crate) when: When,
    /// How it ends.
    pub(crate) status: Option<MissionStatus>,
    /// Or, in part, why it is not taken.
    pub(crate) refused: Option<String>,
    /// Words of its output.
    #[serde(default)]
    pub(crate) output: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum When {
    /// Right after the first.
    AtOnce,
    /// When everything before it has ended.
    Afterwards,
}

/// Bounds of the mission; what is not said is as by default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsTable {
    pub(crate) planning_steps: Option<u32>,
    pub(crate) execution_steps: Option<u32>,
    pub(crate) parallel_steps: Option<usize>,
    pub(crate) replans: Option<u32>,
    pub(crate) rounds: Option<u32>,
    pub(crate) model_calls: Option<u32>,
    pub(crate) tokens: Option<u64>,
    /// Of the way. Its meter measures from the beginning.
    pub(crate) metres: Option<f64>,
    /// Of the battery. Its meter measures from the beginning.
    pub(crate) watt_hours: Option<f64>,
    pub(crate) confirmation_arguments: Option<ConfirmationArguments>,
    pub(crate) confirmations_per_step: Option<u32>,
    pub(crate) corrections: Option<u32>,
    pub(crate) retries: Option<u32>,
    pub(crate) offered_tools: Option<usize>,
    pub(crate) conversation_bytes: Option<usize>,
    pub(crate) confirmation: Option<ConfirmationMode>,
    pub(crate) on_failure: Option<OnFailure>,
    /// Seconds.
    pub(crate) component_grace: Option<f64>,
    /// Seconds.
    pub(crate) pause_patience: Option<f64>,
    /// Seconds.
    pub(crate) hung_after: Option<f64>,
    /// Seconds.
    pub(crate) max_idle: Option<f64>,
    /// Seconds.
    pub(crate) duration: Option<f64>,
    /// Seconds that a model may think.
    pub(crate) model_timeout: Option<f64>,
}

/// What must come of it. What is not said of calls, halts and unconfirmed halts must not be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    pub(crate) status: MissionStatus,
    /// Whether the person got what was asked for, where the status alone does not say so: `answered` is a success unless
    /// this is `false`.
    pub(crate) success: Option<bool>,
    /// What the output says, each somewhere in it.
    #[serde(default)]
    pub(crate) output: Vec<String>,
    /// Every call of every tool, in order: `name {"argument": 1}`, by canonical name; `30 x name {}` are thirty.
    #[serde(default)]
    pub(crate) calls: Vec<String>,
    /// Whether the order of the calls is left open.
    #[serde(default)]
    pub(crate) in_any_order: bool,
    /// The tools that were told to halt, in order.
    #[serde(default)]
    pub(crate) halts: Vec<String>,
    #[serde(default)]
    pub(crate) not_stopped: Vec<String>,
    /// Every step of every plan, in order: `base.go SUCCESS`.
    pub(crate) steps: Option<Vec<String>>,
    /// What is known of every step that was begun, in order: `base.go verified`.
    pub(crate) verification: Option<Vec<String>>,
    /// Most requests to the model, over all tasks.
    pub(crate) requests_at_most: usize,
    /// Feedback, in this order; each is part of a line.
    #[serde(default)]
    pub(crate) lines: Vec<String>,
    /// What no line of feedback holds.
    #[serde(default)]
    pub(crate) no_line: Vec<String>,
    /// What some request to the model holds.
    #[serde(default)]
    pub(crate) told_model: Vec<String>,
    /// What no request to the model holds.
    #[serde(default)]
    pub(crate) never_told_model: Vec<String>,
    /// What a stop reported as not stopped, if there is one.
    pub(crate) stop_names: Option<Vec<String>>,
    /// Longest duration of the mission, in seconds of its own clock.
    pub(crate) seconds_at_most: Option<f64>,
}

/// Every file, by its name, in the order of names.
pub(crate) fn read_all() -> Vec<(String, ScenarioFile)> {
    // Two packages read them, each from its own folder.
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("tests/scenarios"));
    let folder = folders.skip(1).find(|folder| folder.is_dir()).expect("tests/scenarios is above the package");
    let entries = std::fs::read_dir(&folder).expect("tests/scenarios can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of tests/scenarios").path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            assert!(name.ends_with(".toml"), "tests/scenarios holds {name}, which is no scenario file");
            let text = std::fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            let file = toml::from_str(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            (name, file)
        })
        .collect()
}

#[test]
fn a_key_that_is_not_known_is_refused() {
    let text = "theme = 't'\n[[scenario]]\nname = 'n'\ntask = 't'\nmodel = []\n[scenario.expect]\nstatus = 'failed'\nrequests_at_most = 1\n";
    assert!(toml::from_str::<ScenarioFile>(text).is_ok());
    for misspelt in ["cals = []", "never = []", "call = ['base.go']"] {
        let problem = toml::from_str::<ScenarioFile>(&format!("{text}{misspelt}\n")).expect_err(misspelt);
        assert!(problem.to_string().contains("unknown field"), "{problem}");
    }
}
