//! The vocabulary of Cortex, as data: what crosses a process, a file or a crate boundary.
//!
//! No behaviour beyond parsing, checking and naming; no input or output. Everything here is `serde` and carries a
//! JSON Schema, so that a client in any language can speak it.
//!
//! - [`tool`]: what can be called, how a call is made and how it ends;
//! - [`condition`]: what must hold before, while and after it is called;
//! - [`component`]: what a component says of itself over `~/describe`;
//! - [`plan`]: a plan as data;
//! - [`task_class`]: what kind of thing a task asks for;
//! - [`mission`]: what happens in a mission and how it ends;
//! - [`command`]: what a client may ask for;
//! - [`control`]: who has the controls, Cortex or a person;
//! - [`execution`]: how its steps were carried out;
//! - [`event`]: the envelope (CloudEvents 1.0) that carries everything outwards;
//! - [`overview`]: the live status of a Cortex, on one screen;
//! - [`policy`]: rules about which calls are allowed, ask a person, or are denied;
//! - [`question`]: questions to people in mid mission;
//! - [`memory_view`], [`skill_view`]: what people look at of what the robot remembers, and of its skills;
//! - [`robot_view`]: what people look at of the robot: maps, pictures, parameters;
//! - [`words`]: counted nouns, and the name that was probably meant;
//! - [`strict_json`]: how JSON from outside is read.

pub mod command;
pub mod component;
pub mod condition;
pub mod control;
pub mod event;
pub mod execution;
mod id;
pub mod log;
pub mod memory_view;
pub mod mission;
mod origin;
pub mod overview;
mod picture;
pub mod plan;
pub mod policy;
pub mod question;
pub mod robot_view;
pub mod skill_view;
pub mod strict_json;
pub mod task_class;
pub mod tool;
mod verification;
pub mod words;

pub use command::{Command, CommandError, CommandErrorKind, CommandOutcome, Principal, Role, StopOutcome, Submission};
pub use component::{ComponentDescription, DescriptionError, MethodDescription, MethodProblem};
pub use condition::{Condition, Conditions, Evidence};
pub use control::{Control, ControlState};
pub use event::CloudEvent;
pub use id::{
    CallId, ComponentName, ConnectionId, EventId, InvalidStepAddress, MissionId, ResourceName, SessionId, StepAddress,
    StepNumber, ToolName,
};
pub use log::{LogLevel, LogLine};
pub use mission::{
    Decision, MissionEvent, MissionResult, MissionStatus, PlanOpinion, RecordedMission, RecordedState, StepReport,
    Turn, Usage,
};
pub use origin::Origin;
pub use picture::PictureRef;
pub use plan::{Plan, Priority, Step, StepStatus};
pub use policy::{PolicyRule, PolicyVerdict};
pub use question::{Answer, OpenQuestion, Question, QuestionId, QuestionNumber, QuestionOutcome};
pub use task_class::{TaskClass, TaskReading};
pub use tool::{
    CancelMode, Dispatch, Effect, EffectSource, FailureKind, HaltState, OutcomeStatus, ToolCall, ToolFingerprint,
    ToolOutcome, ToolPhase, ToolSpec,
};
pub use verification::Verification;
