//! Answers in words, the same for the same answer. Each sentence says as of when and who says so; none of them tells anybody
//! to do anything.

use crate::answers::{Located, NamedPresence, Presence, Whereabouts};
use crate::fact::{EndReason, Fact, FactAnswer, ObservationRun};
use crate::observation::{Source, SourceKind, Value};
use crate::phrases::{line, shown, source};
use crate::place::PoseUse;
use crate::time::ClockNote;

pub use crate::phrases::looked;

/// Most places of the past in a sentence.
const MOST_BEFORE: usize = 3;

/// A fact as a sentence.
#[must_use]
pub fn fact(answer: &FactAnswer) -> String {
    let FactAnswer { fact, .. } = answer;
    let mut text = format!("{}, {}", statement(fact), as_of(answer));
    if let Some(ended) = &fact.ended {
        text = format!(
            "{} until {}: {}; last seen so {}",
            statement(fact),
            ended.at.rfc3339(),
            reason(ended.reason, &ended.by),
            as_of(answer)
        );
    }
    text.push('.');
    text
}

/// Where a thing is, in a few sentences.
#[must_use]
pub fn located(located: &Located) -> String {
    let subject = line(&located.subject);
    let mut text = match &located.whereabouts {
        Whereabouts::NeverSeen => format!("{subject}: nobody has seen it anywhere so far."),
        Whereabouts::At(answer) => format!("{} Nothing says that it has left since.", fact(answer)),
        Whereabouts::LastSeen(answer) => {
            format!("{subject} was last seen at {}, {}, and is not there any more.", value(&answer.fact), as_of(answer))
        }
    };
    if let Some(look) = &located.looked {
        text.push_str(&format!(" {}", looked(look)));
    }
    if let Some(dispute) = &located.disputed_by {
        text.push_str(&format!(
            " Disputed: {} goes on saying {} (last at {}).",
            source(&dispute.source),
            shown(&dispute.value),
            dispute.seen_at.rfc3339()
        ));
    }
    let before: Vec<String> = located.before.iter().take(MOST_BEFORE).map(past).collect();
    if !before.is_empty() {
        text.push_str(&format!(" Before: {}.", before.join("; ")));
    }
    text
}

/// Whether a thing is at a place, in a sentence or two.
#[must_use]
pub fn presence(named: &NamedPresence) -> String {
    let (subject, place, answer) = (line(&named.subject), line(&named.place), &named.answer);
    let head = format!("Is {subject} at {place}?");
    let mut text = match answer.presence {
        Presence::Present => {
            format!("{head} Yes, as far as is known: {}", answer.there.as_ref().map(fact).unwrap_or_default())
        }
        Presence::NotThere => {
            format!("{head} No: {}", answer.looked.as_ref().map(looked).unwrap_or_default())
        }
        Presence::Elsewhere => match (&answer.elsewhere, &answer.there) {
            (Some(elsewhere), _) => format!("{head} Nobody looked there since, but {}", fact(elsewhere)),
            (None, Some(there)) => format!("{head} Not any more: {}", fact(there)),
            (None, None) => head,
        },
        Presence::CouldNotSee => {
            format!("{head} Unknown: {}", answer.could_not_see.as_ref().map(looked).unwrap_or_default())
        }
        Presence::NeverLooked => format!("{head} Unknown: nobody has looked for it there."),
    };
    let later = |look: &&ObservationRun| answer.as_of().is_some_and(|as_of| look.last.sequence > as_of.sequence);
    if let Some(look) = answer.could_not_see.as_ref().filter(later) {
        text.push_str(&format!(" {}", looked(look)));
    }
    if let (Presence::NotThere, Some(elsewhere)) = (answer.presence, &answer.elsewhere) {
        text.push_str(&format!(" {}", fact(elsewhere)));
    }
    text
}

/// Since when and why a fact does not hold any more, as a sentence.
pub(crate) fn ended(fact: &Fact) -> Option<String> {
    let ended = fact.ended.as_ref()?;
    Some(format!("Until {}: {}.", ended.at.rfc3339(), reason(ended.reason, &ended.by)))
}

/// A fact in short: subject, relation and value.
fn statement(fact: &Fact) -> String {
    format!("{} {} {}", line(&fact.subject), line(&fact.relation), value(fact))
}

fn past(fact: &Fact) -> String {
    let until = fact.ended.as_ref().map_or(fact.seen_at, |ended| ended.at);
    let why = fact.ended.as_ref().map(|ended| format!(", {}", reason(ended.reason, &ended.by))).unwrap_or_default();
    format!("{} from {} until {}{why}", value(fact), fact.valid_from.rfc3339(), until.rfc3339())
}

fn reason(reason: EndReason, by: &Source) -> String {
    let (by, is_sensor) = (source(by), by.kind == SourceKind::Sensor);
    match reason {
        EndReason::Superseded if is_sensor => format!("{by} saw otherwise"),
        EndReason::Superseded => format!("{by} said otherwise"),
        EndReason::NotThere => format!("{by} looked, and it was not there"),
        EndReason::Denied => format!("{by} said that it is not so"),
    }
}

/// As of when a fact holds, how long ago that was, who says so, and what is doubtful about it.
fn as_of(answer: &FactAnswer) -> String {
    let FactAnswer { fact, age_ms, pose_use, clock } = answer;
    let mut text = format!("as of {}", fact.seen_at.rfc3339());
    if let Some(age_ms) = age_ms {
        text.push_str(&format!(" ({} ago)", age(*age_ms)));
    }
    text.push_str(&format!(", says {}", source(&fact.source)));
    if let Some(confidence) = fact.confidence {
        text.push_str(&format!(" ({:.0} % sure)", confidence * 100.0));
    }
    match clock {
        Some(ClockNote::WentBack) => text.push_str(" [the clock was set back: the order of arrival decides]"),
        Some(ClockNote::InFuture) => text.push_str(" [the clock says that this is still to come]"),
        None => {}
    }
    match pose_use {
        PoseUse::AnotherMap { known, .. } => {
            let (id, version) = (line(&known.id), line(&known.version));
            text.push_str(&format!(" [its pose is of the map {id} {version}: not for driving]"));
        }
        // Only where the sentence says the pose.
        PoseUse::MapUnknown { .. } if fact.value == Value::AtPose => {
            text.push_str(" [nobody knows which map is in use: not for driving]");
        }
        PoseUse::MapUnknown { .. } | PoseUse::Drivable(_) | PoseUse::NoPose => {}
    }
    text
}

/// How long ago, in the greatest unit that is not less than one.
pub(crate) fn age(age_ms: u64) -> String {
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let fitting = units.iter().find(|(unit, _)| age_ms >= *unit);
    fitting.map_or_else(
        || "less than a second".to_owned(),
        |(unit, name)| match age_ms / unit {
            1 => format!("1 {name}"),
            number => format!("{number} {name}s"),
        },
    )
}

/// The value of a fact in words.
pub(crate) fn value(fact: &Fact) -> String {
    match (&fact.value, &fact.location) {
        (Value::AtPose, Some(at)) => {
            format!(
                "({:.1} m, {:.1} m) on the map {} {}",
                at.pose.x_m,
                at.pose.y_m,
                line(&at.map.id),
                line(&at.map.version)
            )
        }
        (value, _) => shown(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::{Ending, FactId, Now};
    use crate::place::{Location, MapRef, Pose};
    use crate::time::Stamp;

    fn cup() -> Fact {
        let stamp = |wall_ms, sequence| Stamp { wall_ms, sequence };
        Fact {
            id: FactId(1),
            subject: "red cup".to_owned(),
            relation: "is at".to_owned(),
            value: Value::Text("kitchen".to_owned()),
            layer: "things".to_owned(),
            location: None,
            valid_from: stamp(0, 1),
            seen_at: stamp(60_000, 2),
            source: Source { kind: SourceKind::Sensor, name: "/detections".to_owned() },
            confidence: Some(0.9),
            observations: 2,
            ended: None,
        }
    }

    #[test]
    fn a_fact_says_as_of_when_and_who_says_so() {
        let now = Now { wall_ms: 3 * 3_600_000, map: None };
        assert_eq!(
            fact(&cup().answer(&now)),
            "red cup is at kitchen, as of 1970-01-01T00:01:00Z (2 hours ago), says /detections (90 % sure)."
        );
        let mut ended = cup();
        let anna = Source { kind: SourceKind::Person, name: "anna".to_owned() };
        ended.ended = Some(Ending { at: Stamp { wall_ms: 90_000, sequence: 3 }, reason: EndReason::Denied, by: anna });
        assert!(fact(&ended.answer(&now)).contains(
            "until 1970-01-01T00:01:30Z: anna (a person) said that it is not so; last seen so as of 1970-01-01T00:01:00Z"
        ));
    }

    #[test]
    fn regression_a_pose_was_said_without_a_warning_where_nobody_knew_which_map_is_in_use() {
        let map = MapRef { id: "ground floor".to_owned(), version: "7".to_owned() };
        let pose = Pose { x_m: 1.0, y_m: 2.0, yaw_rad: 0.0 };
        let location = Some(Location { pose, frame: "map".to_owned(), map: map.clone() });
        let at_pose = Fact { value: Value::AtPose, location: location.clone(), ..cup() };
        let said = |in_use: Option<MapRef>| fact(&at_pose.clone().answer(&Now { wall_ms: 0, map: in_use }));
        assert!(said(None).contains("(1.0 m, 2.0 m)") && said(None).contains("not for driving"), "{}", said(None));
        assert!(!said(Some(map)).contains("not for driving"), "on its own map it is");
        let named = Fact { location, ..cup() };
        assert!(!fact(&named.answer(&Now::default())).contains("driving"), "no pose is said");
    }

    #[test]
    fn a_clock_that_contradicts_the_order_is_told() {
        let mut back = cup();
        back.valid_from.wall_ms = 10 * 60_000;
        assert!(fact(&back.answer(&Now::default())).contains("the clock was set back"));
        let mut ahead = cup();
        ahead.seen_at.wall_ms = 86_400_000;
        assert!(fact(&ahead.answer(&Now::default())).contains("still to come"));
    }
}
