//! How a model in a file is computed.

use std::path::PathBuf;
use std::time::Duration;

/// A local model, and the process that computes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSettings {
    /// The file of the model that is named `local`. None: that name means nothing.
    pub file: Option<PathBuf>,
    /// The program. None: the one beside this program, or in `lib/cortex` of its prefix.
    pub program: Option<PathBuf>,
    /// Tokens of a conversation with its answer. 0: as many as the model was trained for.
    pub context_tokens: u32,
    /// Threads that compute. 0: one for each core.
    pub threads: u32,
    /// Layers that a graphics processor computes, if the program was built for one.
    pub gpu_layers: u32,
    /// Where chance begins.
    pub seed: u32,
    /// For the model to be loaded.
    pub load_timeout: Duration,
    /// For a request that was cancelled to end. Then the process is killed.
    pub cancel_timeout: Duration,
    /// The wait before a process that ended is started again; twice as long after each further end without an answer between,
    /// at most a minute.
    pub restart_pause: Duration,
}

impl Default for LocalSettings {
    fn default() -> Self {
        Self {
            file: None,
            program: None,
            context_tokens: 8_192,
            threads: 0,
            gpu_layers: 0,
            seed: 0,
            load_timeout: Duration::from_secs(60),
            cancel_timeout: Duration::from_secs(5),
            restart_pause: Duration::from_millis(500),
        }
    }
}
