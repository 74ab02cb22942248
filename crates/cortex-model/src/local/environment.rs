//! The variables of the environment that the process of a local model inherits: those that its engine and its libraries read.
//! The keys of endpoints stay with Cortex.

use std::ffi::OsString;

/// With these, programs find files and libraries.
const NAMES: [&str; 5] = ["PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR", "LANG"];
/// With these, people set up threads, the engine and graphics processors.
const PREFIXES: [&str; 9] = ["OMP_", "GOMP_", "GGML_", "LLAMA_", "CUDA_", "HIP_", "HSA_", "ROCR_", "VK_"];
/// Parts of names of secrets: other programs of llama.cpp read `LLAMA_API_KEY`.
const SECRETS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// The variables that the process inherits.
pub(super) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited))
}

fn is_inherited(name: &str) -> bool {
    let is_secret = || {
        let name = name.to_ascii_uppercase();
        SECRETS.iter().any(|part| name.contains(part))
    };
    NAMES.contains(&name) || (PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !is_secret())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_reads_is_inherited_and_no_secret_is() {
        for name in ["PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "GGML_VK_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
            assert!(is_inherited(name), "{name}");
        }
        for name in ["OPENAI_API_KEY", "LLAMA_API_KEY", "LLAMA_ARG_HF_TOKEN", "BOX_KEY", "ROS_DOMAIN_ID", "PATHS", ""] {
            assert!(!is_inherited(name), "{name}");
        }
    }
}
