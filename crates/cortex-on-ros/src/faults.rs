//! Faults that tests put into a real Cortex. Only in builds with debug assertions; nothing of it is in a release.

use std::path::PathBuf;
use std::time::Duration;

use cortex_ros_client::RosNode;

/// Which loop hangs as soon as a file is there: `runtime:/path/to/file` or `ros:/path/to/file`.
const VARIABLE: &str = "CORTEX_TEST_FAULT_HANG";
/// How often is looked for the file.
const LOOK: Duration = Duration::from_millis(20);
/// Enough to take every thread of the runtime.
const THREADS: usize = 64;

/// Has the loop hang that the environment names, when it says so.
pub(crate) fn arm(node: &RosNode) {
    let Ok(fault) = std::env::var(VARIABLE) else { return };
    let Some((which, file)) = fault.split_once(':') else { return };
    let (which, file, node) = (which.to_owned(), PathBuf::from(file), node.clone());
    tracing::warn!("{VARIABLE} is set: {which} will hang");
    tokio::spawn(async move {
        while !file.exists() {
            tokio::time::sleep(LOOK).await;
        }
        if which == "ros" {
            let _ = node.with_node(|_| hang()).await;
            return;
        }
        for _ in 0..THREADS {
            tokio::spawn(async { hang() });
        }
    });
}

fn hang() {
    loop {
        std::thread::park();
    }
}
