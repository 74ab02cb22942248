//! The decisions of Cortex, and the ports through which it meets the world.
//!
//! Pure: no input or output, no clock, no randomness, no ROS. Time comes in as a value; what is to be done goes out
//! as an [`mission::Effect`]. See `docs/mission-loop.md` for the loop in words.
//!
//! - [`mission`]: the mission machine, `(state, input) -> (state, effects)`;
//! - [`chat`]: what a model is asked and what it answers;
//! - [`fragment`]: the typed pieces that prompts are made of;
//! - [`toolset`]: the tools on offer, their wire names and argument checks;
//! - [`selection`]: which tools a model is offered, where there are many;
//! - [`plan`]: the plan graph; [`step_groups`]: its groups and priorities; [`output_refs`]: placeholders;
//! - [`for_each`]: steps for each of several values;
//! - [`confirmation`]: reading a decision;
//! - [`meter`]: what a robot spends: the way and the energy;
//! - [`context`]: what the robot has on record for a task;
//! - [`condition`]: what must hold of the robot, judged by what was observed;
//! - [`availability`]: what is kept from the missions while a part of the robot has failed;
//! - [`feedback`]: one readable line for each event;
//! - [`policy`]: which calls are allowed, which ask a person, and which are denied;
//! - [`same_call`]: whether calls ask for the same, whoever planned them;
//! - [`said`]: a sentence that was declared, said word for word;
//! - [`ports`]: what adapters implement; [`robot_port`]: how people look at the robot;
//!   [`incident_port`]: what is kept of it for an incident.

pub mod availability;
pub mod chat;
pub mod condition;
pub mod confirmation;
pub mod context;
pub mod control;
mod control_port;
pub mod conversation_port;
mod embedder;
pub mod feedback;
pub mod for_each;
pub mod fragment;
pub mod identity;
pub mod incident_port;
pub mod log_port;
mod memory_port;
pub mod meter;
pub mod mission;
pub mod output_refs;
mod picture_shelf;
pub mod plan;
pub mod policy;
pub mod ports;
pub mod robot_port;
pub mod said;
pub mod same_call;
mod schedule;
pub mod selection;
mod skill_port;
pub mod step_groups;
mod tool_definition;
pub mod toolset;

pub use availability::{Availability, AvailableTools, RemovedTools};
pub use chat::{
    CallArguments, ChatReply, ChatRequest, Message, ModelCall, ModelUsed, Purpose, SecondOpinion, SecondVerdict,
    ToolDefinition, ToolKind,
};
pub use context::{Context, ContextError, ContextPassage, ContextQuery, ContextSource, MissingSource, PassageKind};
pub use control::{CONTROL_LEASE, ControlLoss, ControlRefusal};
pub use control_port::ControlPort;
pub use conversation_port::{ConversationError, ConversationKey, ConversationPort, Speaker};
pub use embedder::{EmbedError, Embedder, Ranked, RoundedVector, fused, likeness};
pub use fragment::Fragment;
pub use incident_port::{
    IncidentPort, IncidentText, LeftOutTopic, OfferedQuality, RecordedMessage, RecordedTopic, TopicSlice,
};
pub use log_port::{LogPort, LogStream};
pub use memory_port::MemoryPort;
pub use mission::{ApprovalSettings, CancelReason, Effect, Input, Mission, MissionLimits};
pub use picture_shelf::{Picture, PictureShelf};
pub use policy::Policy;
pub use ports::{
    CONFIRMATION_HOLDS, CallObserver, ChatModel, ClientPort, ConditionSource, EventStream, EventWindow, Invocation,
    ModelError, ModelErrorKind, NoListener, ObservationStream, OperatorPort, OverviewStream, ProgressEvents,
    ReplyListener, ToolProvider, Unobserved, Watching,
};
pub use robot_port::{RobotPort, RobotSightStream};
pub use schedule::{collide, may_collide};
pub use skill_port::SkillPort;
pub use toolset::{ArgumentsError, ToolChanges, ToolSet, ToolSetError};
