//! An episode: a task that the robot worked on, from its beginning to its end, and its gist in words. The gist is rendered
//! from what was observed meanwhile; no model writes it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::fact::ObservationRun;
use crate::observation::{Claim, Coverage, IS_AT, Value};
use crate::phrases::{line, looked, shown};
use crate::rules::LayerKind;
use crate::time::Stamp;
use crate::words::key;

/// Most entries of each part of a gist.
const MOST_ENTRIES: usize = 12;
/// Most things of one place that are named as not there.
const MOST_NAMES: usize = 5;

/// The number of an episode in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EpisodeId(pub u64);

/// An episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// Its number.
    pub id: EpisodeId,
    /// What the robot worked on, in the person's words.
    pub task: String,
    /// When it began.
    pub began: Stamp,
    /// How it ended. None: it goes on.
    pub ended: Option<EpisodeEnd>,
    /// What happened, in words. That of an episode which goes on is as of now.
    pub gist: String,
}

/// The end of an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeEnd {
    /// When it ended.
    pub at: Stamp,
    /// How.
    pub outcome: Outcome,
    /// The reason or the result, in words. May be empty.
    pub detail: String,
}

/// How an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The task was done.
    Succeeded,
    /// It was not done.
    Failed,
    /// A person ended it.
    Cancelled,
    /// The process died meanwhile: nobody knows.
    Interrupted,
}

/// An observation of an episode, with the kind of its layer.
pub(crate) struct EpisodeRun {
    pub(crate) run: ObservationRun,
    pub(crate) kind: LayerKind,
}

/// Renders what happened: how it ended, what was where, what was looked for in vain, and what the body said. The runs are in
/// the order of arrival.
pub(crate) fn gist(task: &str, began: Stamp, ended: Option<&EpisodeEnd>, runs: &[EpisodeRun]) -> String {
    let mut text = format!("{}: {}.", line(task), outcome(began, ended));
    let (mut places, mut other, mut body) = (Vec::new(), Vec::new(), BTreeMap::new());
    let (mut not_there, mut missing) = (BTreeMap::<String, Vec<String>>::new(), Vec::new());
    for EpisodeRun { run, kind } in runs {
        match (&run.claim, kind) {
            (Claim::Is { relation, value }, LayerKind::Interoception) => {
                let reading = body.entry(format!("{} {}", line(&run.subject), line(relation)));
                let ends = reading.or_insert_with(|| (shown(value), shown(value)));
                ends.1 = shown(value);
            }
            (Claim::Is { relation, value }, LayerKind::Perception) if key(relation) == IS_AT => {
                places.push((line(&run.subject), place(run, value)));
            }
            (Claim::Is { relation, value }, LayerKind::Perception) => {
                other.push(format!("{} {} {}", line(&run.subject), line(relation), shown(value)));
            }
            (Claim::NotThere { covered: Coverage::Place(place) }, _) => {
                not_there.entry(line(place)).or_default().push(line(&run.subject));
            }
            (Claim::NotThere { .. } | Claim::CouldNotSee { .. } | Claim::IsNot { .. }, _) => missing.push(looked(run)),
        }
    }
    let readings = body.into_iter().map(|(name, (first, last))| {
        if first == last { format!("{name} {first}") } else { format!("{name} {first}, then {last}") }
    });
    let absent = not_there.into_iter().map(|(place, things)| format!("{} at {place}", few(&distinct(things))));
    for (title, entries) in [
        ("Seen", ways(&places)),
        ("Noted", distinct(other)),
        ("Not there", absent.collect()),
        ("Looked for", distinct(missing)),
        ("Body", readings.collect()),
    ] {
        if let Some(part) = part(title, &entries) {
            text.push_str(&part);
        }
    }
    text
}

fn outcome(began: Stamp, ended: Option<&EpisodeEnd>) -> String {
    let Some(ended) = ended else { return format!("goes on since {}", began.rfc3339()) };
    let how = match ended.outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "was cancelled",
        Outcome::Interrupted => "was interrupted, and nobody knows what came of it",
    };
    let seconds = ended.at.wall_ms.saturating_sub(began.wall_ms) / 1_000;
    let detail = if ended.detail.is_empty() { String::new() } else { format!(" ({})", line(&ended.detail)) };
    format!("{how} at {} after {seconds} s{detail}", ended.at.rfc3339())
}

fn place(run: &ObservationRun, value: &Value) -> String {
    match (value, &run.location) {
        (Value::AtPose, Some(at)) => format!("({:.1} m, {:.1} m)", at.pose.x_m, at.pose.y_m),
        (value, _) => shown(value),
    }
}

/// Of each thing, the places that it was at, in their order.
fn ways(places: &[(String, String)]) -> Vec<String> {
    let mut ways: Vec<(&String, Vec<&String>)> = Vec::new();
    for (thing, place) in places {
        match ways.iter_mut().find(|(name, _)| *name == thing) {
            Some((_, way)) if way.last() == Some(&place) => {}
            Some((_, way)) => way.push(place),
            None => ways.push((thing, vec![place])),
        }
    }
    let shown = |(thing, way): (&String, Vec<&String>)| {
        let way: Vec<&str> = way.into_iter().take(MOST_ENTRIES).map(String::as_str).collect();
        format!("{thing} at {}", way.join(", then "))
    };
    ways.into_iter().map(shown).collect()
}

/// The first few names, and how many more there are.
fn few(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn distinct(entries: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    entries.into_iter().filter(|entry| seen.insert(entry.clone())).collect()
}

fn part(title: &str, entries: &[String]) -> Option<String> {
    let shown: Vec<&str> = entries.iter().take(MOST_ENTRIES).map(|entry| entry.trim_end_matches('.')).collect();
    let more = match entries.len().saturating_sub(MOST_ENTRIES) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!shown.is_empty()).then(|| format!(" {title}: {}{more}.", shown.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Source, SourceKind};

    fn run(subject: &str, claim: Claim, sequence: u64) -> EpisodeRun {
        let stamp = Stamp { wall_ms: sequence * 1_000, sequence };
        let run = ObservationRun {
            id: sequence,
            subject: subject.to_owned(),
            claim,
            location: None,
            layer: "things".to_owned(),
            view: None,
            source: Source { kind: SourceKind::Sensor, name: "/camera".to_owned() },
            confidence: None,
            first: stamp,
            last: stamp,
            count: 1,
            fact: None,
        };
        EpisodeRun { run, kind: LayerKind::Perception }
    }

    fn at(place: &str) -> Claim {
        Claim::Is { relation: IS_AT.to_owned(), value: Value::Text(place.to_owned()) }
    }

    #[test]
    fn a_gist_tells_the_outcome_what_moved_and_what_was_not_there() {
        let began = Stamp { wall_ms: 0, sequence: 0 };
        let at_end = Stamp { wall_ms: 90_000, sequence: 9 };
        let ended = EpisodeEnd { at: at_end, outcome: Outcome::Failed, detail: "the gripper is\nbroken".to_owned() };
        let battery = |level| Claim::Is { relation: "battery".to_owned(), value: Value::Number(level) };
        let mut runs = vec![
            run("red cup", at("kitchen"), 1),
            run("plate", at("kitchen"), 2),
            run("red cup", at("kitchen"), 3),
            run("red cup", at("tray"), 4),
            run("spoon", Claim::NotThere { covered: Coverage::Place("kitchen".to_owned()) }, 5),
            run("robot", battery(0.8), 6),
            run("robot", battery(0.7), 7),
        ];
        for body in runs.iter_mut().skip(5) {
            body.kind = LayerKind::Interoception;
        }
        assert_eq!(
            gist("bring the cup", began, Some(&ended), &runs),
            "bring the cup: failed at 1970-01-01T00:01:30Z after 90 s (the gripper is broken). \
             Seen: red cup at kitchen, then tray; plate at kitchen. \
             Not there: spoon at kitchen. \
             Body: robot battery 0.8, then 0.7."
        );
        assert_eq!(gist("wait", began, None, &[]), "wait: goes on since 1970-01-01T00:00:00Z.");
    }

    #[test]
    fn a_long_episode_has_a_short_gist() {
        let runs: Vec<EpisodeRun> = (0..500).map(|index| run(&format!("thing {index}"), at("hall"), index)).collect();
        let gist = gist("tour", Stamp { wall_ms: 0, sequence: 0 }, None, &runs);
        assert!(gist.contains("and 488 more") && gist.len() < 1_000, "{gist}");
    }
}
