//! ROS 2 interfaces that were not known when the program was compiled.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
//!
//! let interfaces = Interfaces::from_environment();
//! let pose = interfaces.message("geometry_msgs/msg/Pose")?;
//! let message = Message::from_json_str(&pose, r#"{"position": {"x": 1.5}}"#, &ReadOptions::exact())?;
//! message.view().write_json(std::io::stdout(), &WriteOptions::exact())?;
//! # Ok(())
//! # }
//! ```
//!
//! - [`Interfaces`] finds an interface in the ament index by its name and loads its type support: for `rcl`, and as a
//!   [`MessageType`], which says what the message consists of.
//! - [`Message`] is one message of such a type. It is made from JSON and written as JSON.
//! - [`fill_schema`] describes, as JSON Schema, what a model may write to fill such a message.
//!
//! JSON comes in two forms, see [`Form`]. *Exact* JSON is the message, field by field, and loses nothing: 64-bit integers
//! are whole (and may also be written as text), floats come back as they were, `"NaN"`, `"Infinity"` and `"-Infinity"` stand
//! for what JSON has no digits for, and long lists of bytes are `{"base64": "..."}`. *Friendly* JSON is for models and
//! people: [`Conventions`] say how times, rotations and the like are written, and long output is cut, saying so.
//!
//! Everything that comes in is hostile until it was checked: names, JSON, the texts of interface files. Libraries of
//! installed packages are believed as far as one has to believe code that one loads; they are never unloaded.

mod completion;
mod conventions;
mod definition;
mod error;
mod form;
mod index;
mod interface_file;
mod interfaces;
mod message;
mod model;
#[expect(unsafe_code, reason = "libraries are loaded by name, and their messages lie in memory as C lays them out")]
mod native;
mod read;
mod schema;
mod write;

pub use conventions::{Conventions, Timestamp};
pub use cortex_ros_syntax::{Convention, InterfaceKind, InterfaceName, InvalidName};
pub use error::InterfaceError;
pub use form::Form;
pub use index::AmentIndex;
pub use interfaces::{ActionInterface, Interfaces, MessageInterface, ServiceInterface};
pub use message::{Message, SerializationError};
pub use model::{Arity, Choices, Constant, Field, FieldKind, MessageType};
pub use native::handle::{ActionTypeSupport, MessageTypeSupport, ServiceTypeSupport, TypeSupport};
pub use native::view::MessageView;
pub use read::{Missing, Problem, ReadError, ReadLimits, ReadOptions};
pub use schema::{FillSchema, SchemaLimits, fill_schema};
pub use write::{LeftOut, WriteLimits, WriteOptions, Written};
