//! The port through which people look at what the robot remembers, correct it, and have it forgotten.

use async_trait::async_trait;
use cortex_protocol::CommandError;
use cortex_protocol::memory_view::{MemoryAnswer, MemoryForgotten, MemoryNote, MemoryTask};

/// What the robot remembers, for people.
#[async_trait]
pub trait MemoryPort: Send + Sync + 'static {
    /// What is known of what a text names; of an empty one, what was seen last.
    ///
    /// # Errors
    /// When the memory can't be read.
    async fn recall(&self, text: &str) -> Result<MemoryAnswer, CommandError>;

    /// The observations that a fact rests on, the last first, each a sentence.
    ///
    /// # Errors
    /// When the memory can't be read.
    async fn trail(&self, fact: u64) -> Result<Vec<String>, CommandError>;

    /// The tasks in which something happened; of an empty text, the last ones.
    ///
    /// # Errors
    /// When the memory can't be read.
    async fn tasks(&self, text: &str) -> Result<Vec<MemoryTask>, CommandError>;

    /// Keeps what a person says.
    ///
    /// # Errors
    /// When it can't be kept.
    async fn tell(&self, note: MemoryNote, person: &str) -> Result<(), CommandError>;

    /// Forgets a thing for good.
    ///
    /// # Errors
    /// When its name is none, or bytes of it may still be there.
    async fn forget(&self, subject: &str) -> Result<MemoryForgotten, CommandError>;
}
