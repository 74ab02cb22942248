//! Tasks, one after the other, all the time; and whether what was told of each is true.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cortex_ros::TaskClient;
use cortex_ros::task::{TaskEnding, TaskResult};
use cortex_stories::Dice;

use crate::endpoint::TASK;
use crate::faults::TRAYS;
use crate::truth::Truth;

/// By then a mission has ended, whatever happens to the robot.
const LIMIT: Duration = Duration::from_secs(150);
/// What the witness may take to see what the robot did: a base that has just been started anew may not know it yet. No
/// task runs meanwhile.
const WITNESS_LIMIT: Duration = Duration::from_secs(10);
/// How often it is asked.
const LOOK: Duration = Duration::from_millis(20);

/// What became of the tasks.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    /// How many ended how.
    pub(crate) ended: BTreeMap<&'static str, usize>,
    /// What must not happen.
    pub(crate) problems: Vec<String>,
    /// Why some failed, with how often.
    pub(crate) reasons: BTreeMap<String, usize>,
}

/// What the next tasks are to be about, if anything: that calls are not answered shows only when something is called.
pub(crate) type Wanted = Arc<Mutex<Option<Wish>>>;

/// What a task is to be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To shake that tray.
    Shake(&'static str),
    /// To shake that tray for a few seconds.
    LongShake(&'static str),
    /// To have that tray announce something.
    Announce(&'static str),
    /// To shake the component of no recipe.
    Visit,
    /// To sound the horn that nobody hears.
    Horn,
}

/// What a mission says that has not looked at anything.
const NOTHING_LOOKED_AT: &str = "othing was looked at";
/// How long after a fault a harmless task is sent.
const PROBE_AFTER: Duration = Duration::from_secs(5);

/// What became of the harmless tasks, each sent a while after a fault.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    pub(crate) taken: usize,
    /// Those that really looked. The others met the next fault.
    pub(crate) looked: usize,
    pub(crate) problems: Vec<String>,
}

/// Whether Cortex took the task. A refusal is a result, too, of no mission.
fn is_taken(result: &TaskResult) -> bool {
    !result.mission.as_str().is_empty()
}

/// Sends a task that only looks at a tray that is well, and waits for its end: a fault is no reason to refuse it.
pub(crate) async fn probe(client: Arc<TaskClient>, tray: &'static str, after: String, probes: Arc<Mutex<Probes>>) {
    tokio::time::sleep(PROBE_AFTER).await;
    let ended = tokio::time::timeout(LIMIT, carry_out(&client, &format!("{TASK}0: look at {tray}."))).await;
    let mut probes = probes.lock().unwrap_or_else(PoisonError::into_inner);
    match ended {
        Ok(Ok(result)) if is_taken(&result) => {
            probes.taken += 1;
            probes.looked += usize::from(!result.output.contains(NOTHING_LOOKED_AT));
        }
        Ok(Ok(result)) => {
            probes.problems.push(format!("REFUSED: a harmless task, 5 s after {after}: {}", result.output));
        }
        Ok(Err(problem)) => probes.problems.push(format!("REFUSED: a harmless task, 5 s after {after}: {problem}")),
        Err(_) => probes.problems.push(format!("LOST: a harmless task, 5 s after {after}")),
    }
}

/// Sends tasks until it is told to end.
pub(crate) async fn keep_going(
    client: Arc<TaskClient>,
    truth: Arc<Truth>,
    seed: u64,
    wanted: Wanted,
    end: Arc<AtomicBool>,
) -> Tasks {
    let mut dice = Dice::new(seed);
    let mut tasks = Tasks::default();
    let rooms = truth.rooms();
    let mut number = 0_u32;
    while !end.load(Ordering::Relaxed) {
        number += 1;
        let room = rooms.get(usize::try_from(dice.between(0, rooms.len() as u64 - 1)).unwrap_or_default());
        let room = room.cloned().unwrap_or_default();
        let token = format!("t{number}");
        let wish = *wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let (drives, shakes) = match (wish, dice.between(0, 3)) {
            (Some(Wish::Announce(_) | Wish::Horn), _) => (false, false),
            (Some(_), _) | (None, 1) => (false, true),
            (None, 0) => (true, false),
            _ => (true, true),
        };
        let tray = dice.of(&TRAYS);
        let mut parts = Vec::new();
        if drives {
            parts.push(format!("go to the {room}"));
        }
        match wish {
            Some(Wish::Announce(tray)) => parts.push(format!("announce by {tray}")),
            Some(Wish::Horn) => parts.push("sound the horn".to_owned()),
            Some(Wish::Visit) => parts.push(format!("visit for {token}")),
            Some(Wish::Shake(tray)) => parts.push(format!("shake {tray} for {token}")),
            Some(Wish::LongShake(tray)) => parts.push(format!("long shake {tray} for {token}")),
            None if shakes => parts.push(format!("shake {tray} for {token}")),
            None => {}
        }
        if wish.is_none() && dice.one_in(3) {
            parts.push("say it is done".to_owned());
        }
        let task = format!("{TASK}{number}: {}.", parts.join(", "));
        let begun = Instant::now();
        let result = tokio::time::timeout(LIMIT, carry_out(&client, &task)).await;
        let word = match result {
            Err(_) => {
                tasks.problems.push(format!("LOST: '{task}' has no result after {} s", LIMIT.as_secs()));
                "lost"
            }
            Ok(Err(problem)) => {
                *tasks.reasons.entry(format!("refused: {problem}")).or_default() += 1;
                "refused"
            }
            Ok(Ok(result)) if !is_taken(&result) => {
                tasks.problems.push(format!("REFUSED: '{task}': {}", result.output));
                "refused"
            }
            Ok(Ok(result)) => match result.ending {
                TaskEnding::Succeeded => {
                    if drives && !is_witnessed(|| truth.was_in(&room, begun)).await {
                        tasks.problems.push(format!("FALSE: '{task}' succeeded, and the robot was never there"));
                    }
                    if wish == Some(Wish::Horn) {
                        tasks.problems.push(format!("FALSE: '{task}' succeeded, and nobody heard it"));
                    }
                    let did = format!(" did {token}");
                    if shakes && !is_witnessed(|| truth.noted().iter().any(|line| line.ends_with(&did))).await {
                        tasks.problems.push(format!("FALSE: '{task}' succeeded, and the tray was not shaken"));
                    }
                    "succeeded"
                }
                TaskEnding::Failed => {
                    let reason: String = result.output.chars().take(160).collect();
                    *tasks.reasons.entry(reason).or_default() += 1;
                    "failed"
                }
                TaskEnding::Cancelled => "cancelled",
            },
        };
        *tasks.ended.entry(word).or_default() += 1;
        if word != "succeeded" {
            // No person looks: what holds up the robot has to be over when its cause is.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
    tasks
}

/// Whether that happened.
async fn is_witnessed(happened: impl Fn() -> bool) -> bool {
    let seen = async {
        while !happened() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(WITNESS_LIMIT, seen).await.is_ok()
}

async fn carry_out(client: &TaskClient, task: &str) -> anyhow::Result<TaskResult> {
    let sent = client.send(task, "").await?;
    Ok(sent.result().await?)
}
