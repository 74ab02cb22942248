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
//! Nothing is left behind. Every process carries a mark in its environment, which its children inherit. What a process
//! has started is ended when it ends ([`mark`]); what this process has started is ended when it dies, however it dies, by
//! a [`guard`]; and what an earlier life has left is ended by [`end_orphans`].

mod ancestor;
mod commands;
pub mod guard;
mod inheritance;
mod limits;
mod lookup;
mod mark;
mod output;
mod processes;
mod running;

pub use ancestor::ancestor;
pub use commands::{CommandFailure, CommandNumber, CommandResult, CommandRunner};
pub use guard::end_orphans;
pub use limits::{Cgroups, Limits, Refusal};
pub use lookup::own_folder;
pub use mark::RunMark;
pub use output::{Line, Stream};
pub use processes::{ProcessEvent, Processes, Waker};
pub use running::{Ending, INHERITED, Program, StartError};
