//! How long a client waits for the Cortex that it is for.
//!
//! Discovery never says that nobody is there. But every Cortex and every command announce themselves every half a second, ten
//! times within the first, and each answers an announcement that it hears for the first time. On a machine that has time for
//! that, a Cortex is seen within a second; on one that has not, a client waits for as long as it may.

use std::time::Duration;

use cortex_ros_client::{GraphWatch, announces_often};
use tokio::time::{Instant, MissedTickBehavior};

use crate::arguments::ServerArguments;

/// How long a client waits for a Cortex that is not seen, if no person has said how long.
const LONGEST: Duration = Duration::from_secs(5);
/// After this long, everybody has announced themselves more than once.
const ANNOUNCED: Duration = Duration::from_secs(2);
/// And since then, or this long, nobody has come or gone.
const QUIET: Duration = Duration::from_secs(1);
/// How often is looked, and how late a look may be on a machine that has time.
const LOOK: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_millis(200);

/// How long is waited for a Cortex at most.
pub(crate) fn longest(arguments: &ServerArguments) -> Duration {
    arguments.wait.map_or(LONGEST, Duration::from_secs_f64)
}

/// Waits for something of the Cortex that the arguments name. None: it did not come in time, or that Cortex is not there as
/// far as can be known. Whoever says how long to wait has it waited for so long.
pub(crate) async fn unless_absent<T>(
    arguments: &ServerArguments,
    graph: &GraphWatch,
    sought: impl Future<Output = T>,
) -> Option<T> {
    let server = format!("/{}", arguments.server.trim_matches('/'));
    tokio::select! {
        biased;
        found = sought => Some(found),
        () = tokio::time::sleep(longest(arguments)) => None,
        () = absent(graph, &server), if arguments.wait.is_none() => None,
    }
}

/// Resolves when a node of this name would have been seen. Never where it is seen, where the middleware may take its time, and
/// where the machine has no time.
async fn absent(graph: &GraphWatch, server: &str) {
    if announces_often() {
        let (begun, mut changes) = (Instant::now(), graph.subscribe());
        let mut changed_at = begun;
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                changed = changes.changed() => {
                    if changed.is_err() || changes.borrow_and_update().node(server).is_some() {
                        break;
                    }
                    changed_at = Instant::now();
                }
                due = looks.tick() => {
                    if due.elapsed() > LATE {
                        break;
                    }
                    if begun.elapsed() >= ANNOUNCED && changed_at.elapsed() >= QUIET {
                        return;
                    }
                }
            }
        }
    }
    std::future::pending::<()>().await;
}
