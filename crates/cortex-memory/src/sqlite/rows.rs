//! Rows of the file as values, and back.

use rusqlite::types::Type;
use rusqlite::{Connection, Row};

use super::terms::{find_exact, find_name, intern_exact, intern_name, text};
use crate::fact::{EndReason, Ending, Fact, FactId, ObservationRun};
use crate::observation::{Claim, Coverage, Source, SourceKind, Value, View};
use crate::place::{Location, MapRef, Pose, Region};
use crate::time::Stamp;

/// The codes of claims.
pub(super) const IS: i64 = 0;
pub(super) const IS_NOT: i64 = 1;
pub(super) const NOT_THERE: i64 = 2;
pub(super) const COULD_NOT_SEE: i64 = 3;

/// A value in its columns: kind, term and number.
pub(super) type ValueColumns = (i64, Option<i64>, Option<f64>);
/// The kind of a value that is a text.
pub(super) const TEXT: i64 = 0;
/// The kind of a value that is a location, or of a look that covered a region.
const AT_POSE: i64 = 3;

/// A place in its columns: x, y, yaw, frame, map and its version.
pub(super) type PlaceColumns = (Option<f64>, Option<f64>, Option<f64>, Option<i64>, Option<i64>, Option<i64>);

pub(super) fn source_code(kind: SourceKind) -> i64 {
    match kind {
        SourceKind::Sensor => 0,
        SourceKind::Person => 1,
        SourceKind::Model => 2,
    }
}

pub(super) fn source_kind(code: i64) -> SourceKind {
    match code {
        0 => SourceKind::Sensor,
        1 => SourceKind::Person,
        _ => SourceKind::Model,
    }
}

pub(super) fn reason_code(reason: EndReason) -> i64 {
    match reason {
        EndReason::Superseded => 0,
        EndReason::NotThere => 1,
        EndReason::Denied => 2,
    }
}

fn end_reason(code: i64) -> EndReason {
    match code {
        0 => EndReason::Superseded,
        1 => EndReason::NotThere,
        _ => EndReason::Denied,
    }
}

pub(super) fn claim_code(claim: &Claim) -> i64 {
    match claim {
        Claim::Is { .. } => IS,
        Claim::IsNot { .. } => IS_NOT,
        Claim::NotThere { .. } => NOT_THERE,
        Claim::CouldNotSee { .. } => COULD_NOT_SEE,
    }
}

pub(super) fn value_columns(connection: &Connection, value: &Value) -> rusqlite::Result<ValueColumns> {
    Ok(match value {
        Value::Text(text) => (TEXT, Some(intern_name(connection, text)?), None),
        Value::Number(number) => (1, None, Some(*number)),
        Value::Flag(flag) => (2, None, Some(f64::from(u8::from(*flag)))),
        Value::AtPose => (AT_POSE, None, None),
    })
}

/// What a claim is about, in the columns of a value.
pub(super) fn claim_columns(connection: &Connection, claim: &Claim) -> rusqlite::Result<ValueColumns> {
    match claim {
        Claim::Is { value, .. } | Claim::IsNot { value, .. } => value_columns(connection, value),
        Claim::NotThere { covered } | Claim::CouldNotSee { covered, .. } => Ok(match covered {
            Coverage::Place(place) => (TEXT, Some(intern_name(connection, place)?), None),
            Coverage::Region(_) => (AT_POSE, None, None),
        }),
    }
}

pub(super) fn place_columns(connection: &Connection, location: Option<&Location>) -> rusqlite::Result<PlaceColumns> {
    let Some(Location { pose, frame, map }) = location else { return Ok((None, None, None, None, None, None)) };
    let frame = intern_exact(connection, frame)?;
    let (id, version) = (intern_exact(connection, &map.id)?, intern_exact(connection, &map.version)?);
    Ok((Some(pose.x_m), Some(pose.y_m), Some(pose.yaw_rad), Some(frame), Some(id), Some(version)))
}

/// The numbers of a map and its version, if anything is known there.
pub(super) fn find_map(connection: &Connection, map: &MapRef) -> rusqlite::Result<Option<(i64, i64)>> {
    let (id, version) = (find_exact(connection, &map.id)?, find_exact(connection, &map.version)?);
    Ok(id.zip(version))
}

/// A fact, from a row of all columns of `facts`.
pub(super) fn fact(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Fact> {
    let ended = match row.get::<_, Option<u64>>("end_sequence")? {
        None => None,
        Some(sequence) => Some(Ending {
            at: Stamp { wall_ms: row.get("end_ms")?, sequence },
            reason: end_reason(row.get("end_reason")?),
            by: source(connection, row.get("end_kind")?, row.get("end_source")?)?,
        }),
    };
    Ok(Fact {
        id: FactId(row.get("number")?),
        subject: text(connection, row.get("subject")?)?,
        relation: text(connection, row.get("relation")?)?,
        value: value(connection, row)?,
        layer: text(connection, row.get("layer")?)?,
        location: location(connection, row)?,
        valid_from: Stamp { wall_ms: row.get("from_ms")?, sequence: row.get("from_sequence")? },
        seen_at: Stamp { wall_ms: row.get("seen_ms")?, sequence: row.get("seen_sequence")? },
        source: source(connection, row.get("source_kind")?, row.get("source")?)?,
        confidence: row.get("confidence")?,
        observations: row.get("observations")?,
        ended,
    })
}

/// A run of observations, from a row of all columns of `observations`.
pub(super) fn run(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<ObservationRun> {
    let view = match row.get::<_, Option<i64>>("sensor")? {
        None => None,
        Some(sensor) => Some(View { sensor: text(connection, sensor)?, picture: picture(row)? }),
    };
    let claim = claim(connection, row)?;
    let covers_region = matches!(
        claim,
        Claim::NotThere { covered: Coverage::Region(_) } | Claim::CouldNotSee { covered: Coverage::Region(_), .. }
    );
    Ok(ObservationRun {
        id: row.get("number")?,
        subject: text(connection, row.get("subject")?)?,
        location: if covers_region { None } else { location(connection, row)? },
        claim,
        layer: text(connection, row.get("layer")?)?,
        view,
        source: source(connection, row.get("source_kind")?, row.get("source")?)?,
        confidence: row.get("confidence")?,
        first: Stamp { wall_ms: row.get("first_ms")?, sequence: row.get("first_sequence")? },
        last: Stamp { wall_ms: row.get("last_ms")?, sequence: row.get("last_sequence")? },
        count: row.get("count")?,
        fact: row.get::<_, Option<u64>>("fact")?.map(FactId),
    })
}

pub(super) fn claim(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Claim> {
    let relation = || text(connection, row.get("relation")?);
    let covered = || coverage(connection, row);
    Ok(match row.get("claim")? {
        IS => Claim::Is { relation: relation()?, value: value(connection, row)? },
        IS_NOT => Claim::IsNot { relation: relation()?, value: value(connection, row)? },
        NOT_THERE => Claim::NotThere { covered: covered()? },
        _ => {
            let reason = row.get::<_, Option<i64>>("reason")?;
            let reason = reason.map(|reason| text(connection, reason)).transpose()?.unwrap_or_default();
            Claim::CouldNotSee { covered: covered()?, reason }
        }
    })
}

pub(super) fn value(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Value> {
    Ok(match row.get("value_kind")? {
        TEXT => Value::Text(text(connection, row.get("value")?)?),
        1 => Value::Number(row.get("amount")?),
        2 => Value::Flag(row.get::<_, f64>("amount")? > 0.5),
        _ => Value::AtPose,
    })
}

fn coverage(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Coverage> {
    if let Some(place) = row.get::<_, Option<i64>>("value")? {
        return Ok(Coverage::Place(text(connection, place)?));
    }
    let centre = location(connection, row)?.ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(0, Type::Null, "a look at a region has no region".into())
    })?;
    let (Pose { x_m, y_m, .. }, Location { frame, map, .. }) = (centre.pose, centre);
    Ok(Coverage::Region(Region { x_m, y_m, radius_m: row.get("radius")?, frame, map }))
}

pub(super) fn location(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Option<Location>> {
    let Some(x_m) = row.get::<_, Option<f64>>("x")? else { return Ok(None) };
    let pose = Pose { x_m, y_m: row.get("y")?, yaw_rad: row.get::<_, Option<f64>>("yaw")?.unwrap_or_default() };
    let map = MapRef { id: text(connection, row.get("map")?)?, version: text(connection, row.get("map_version")?)? };
    Ok(Some(Location { pose, frame: text(connection, row.get("frame")?)?, map }))
}

/// The number of a picture, which the file keeps as a signed one with the same bits.
pub(super) fn picture(row: &Row<'_>) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>("picture")?.map(i64::cast_unsigned))
}

pub(super) fn source(connection: &Connection, kind: i64, name: i64) -> rusqlite::Result<Source> {
    Ok(Source { kind: source_kind(kind), name: text(connection, name)? })
}

/// The number of a name, or one that no row has.
pub(super) fn known(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    Ok(find_name(connection, name)?.unwrap_or(-1))
}
