//! Processes of components: started in groups of their own, watched without delay, and ended with all that they started.
//!
//! [`Processes`] is driven by the thread that owns it and has none of its own: [`Processes::wait`] sleeps until a process
//! ends, something is printed, another thread calls [`Waker::wake`], or the time is up. So one thread watches any number
//! of processes, and nothing else has to work for it.
//!
//! Programs that run once and give what they print are run by a [`CommandRunner`].
//!
//! What a process may use can be limited, where the kernel lets that be done: [`Limits`].
//!
//! A process gets its standard streams and no other open file of this one.
//!
//! Nothing is left behind. Every process carries a tag in its environment, which its children inherit. What a process
//! has started is ended when it ends (`process_tag`); what this process has started is ended when it dies, however it dies, by
//! a [`reaper`]; and what an earlier life has left is ended by [`end_orphans`].

mod commands;
mod executable_path;
mod inheritance;
mod limits;
mod output;
mod parent_watch;
mod printed;
mod process_tag;
mod processes;
pub mod reaper;
mod running;

pub use commands::{CommandFailure, CommandNumber, CommandResult, CommandRunner};
pub use executable_path::own_folder;
pub use limits::{Cgroups, Limits, Refusal};
pub use output::{Line, Stream};
pub use parent_watch::watch_parent;
pub use process_tag::RunTag;
pub use processes::{ProcessEvent, Processes, Waker};
pub use reaper::end_orphans;
pub use running::{Ending, INHERITED, Program, StartError};
