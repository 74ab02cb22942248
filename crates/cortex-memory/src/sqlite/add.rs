//! Keeps observations, and what follows from them.

use rusqlite::{Connection, Transaction, params};

use super::on_record::{Columns, on_record};
use super::{StoreProblem, numbers, retain, rows, terms};
use crate::answers::{Change, Noted};
use crate::consolidate::{Decision, FactChange, RowChange, decide};
use crate::error::MemoryError;
use crate::fact::FactId;
use crate::observation::{Claim, Coverage, Observation};
use crate::place::{Location, Pose};
use crate::rules::{Layer, MemoryRules};

/// Keeps observations: all of them, or none.
pub(super) fn add(
    connection: &mut Connection,
    rules: &MemoryRules,
    observations: &[Observation],
) -> Result<Vec<Noted>, StoreProblem> {
    let layers = check(rules, observations)?;
    let transaction = connection.transaction()?;
    let mut state = numbers::read(&transaction)?;
    let mut all = Vec::with_capacity(observations.len());
    for (observation, layer) in observations.iter().zip(layers) {
        state.sequence += 1;
        let (clock, note) = state.clock.after(observation.wall_ms);
        state.clock = clock;
        let (change, ended) = keep(&transaction, rules, layer, observation, state.sequence)?;
        all.push(Noted { sequence: state.sequence, change, ended, clock: note });
    }
    numbers::write(&transaction, &state)?;
    retain::enforce(&transaction, rules, &state)?;
    transaction.commit()?;
    Ok(all)
}

/// Checks all observations, and finds their layers.
fn check<'rules>(rules: &'rules MemoryRules, observations: &[Observation]) -> Result<Vec<&'rules Layer>, MemoryError> {
    let checked = observations.iter().zip(1..).map(|(observation, number)| {
        observation.check().map_err(|problem| MemoryError::Refused { number, problem })?;
        rules.layers.get(&observation.layer).ok_or_else(|| MemoryError::NoLayer {
            number,
            layer: observation.layer.clone(),
            known: rules.layers.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    });
    checked.collect()
}

/// Keeps one, and says what it changed and ended.
fn keep(
    transaction: &Transaction<'_>,
    rules: &MemoryRules,
    layer: &Layer,
    observation: &Observation,
    sequence: u64,
) -> rusqlite::Result<(Change, Vec<FactId>)> {
    let relation = observation.claim.relation();
    let rule = rules.relation(relation, layer);
    let columns = Columns {
        subject: terms::intern_name(transaction, &observation.subject)?,
        relation: terms::intern_name(transaction, relation)?,
        source: terms::intern_exact(transaction, &observation.source.name)?,
        source_kind: rows::source_code(observation.source.kind),
        claim: rows::claim_code(&observation.claim),
        value: rows::claim_columns(transaction, &observation.claim)?,
    };
    let on_record = on_record(transaction, observation, &columns, rule)?;
    let decision = decide(observation, rule, layer.min_confidence, &on_record);
    let writing = Writing { transaction, observation, columns: &columns, sequence };
    for (fact, reason) in &decision.ends {
        writing.end(*fact, rows::reason_code(*reason))?;
    }
    let (fact, change) = writing.fact(&decision)?;
    writing.row(decision.row, fact)?;
    let ended = decision.ends.iter().filter_map(|(fact, _)| u64::try_from(*fact).ok()).map(FactId);
    Ok((change, ended.collect()))
}

/// One observation on its way into the file.
struct Writing<'a> {
    transaction: &'a Transaction<'a>,
    observation: &'a Observation,
    columns: &'a Columns,
    sequence: u64,
}

impl Writing<'_> {
    /// Opens or confirms the fact, and says which it is.
    fn fact(&self, decision: &Decision) -> rusqlite::Result<(Option<i64>, Change)> {
        let id = |number: i64| FactId(u64::try_from(number).unwrap_or_default());
        Ok(match decision.fact {
            FactChange::Open => {
                let number = self.open()?;
                (Some(number), Change::New(id(number)))
            }
            FactChange::Confirm(number) => {
                self.confirm(number)?;
                (Some(number), Change::Confirmed(id(number)))
            }
            FactChange::Unchanged(why) => (None, Change::None(why)),
        })
    }

    fn open(&self) -> rusqlite::Result<i64> {
        let (x, y, yaw, frame, map, version) =
            rows::place_columns(self.transaction, self.observation.location.as_ref())?;
        let (kind, value, amount) = self.columns.value;
        let layer = terms::intern_exact(self.transaction, &self.observation.layer)?;
        self.transaction
            .prepare_cached(
                "INSERT INTO facts (subject, relation, value_kind, value, amount, layer, source, source_kind, confidence,
                    x, y, yaw, frame, map, map_version, from_ms, from_sequence, seen_ms, seen_sequence, observations)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?16, ?17, 1)",
            )?
            .execute(params![
                self.columns.subject,
                self.columns.relation,
                kind,
                value,
                amount,
                layer,
                self.columns.source,
                self.columns.source_kind,
                self.observation.confidence,
                x,
                y,
                yaw,
                frame,
                map,
                version,
                self.observation.wall_ms,
                self.sequence
            ])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// The fact is seen again, at the place of the last observation that had one.
    fn confirm(&self, fact: i64) -> rusqlite::Result<()> {
        let layer = terms::intern_exact(self.transaction, &self.observation.layer)?;
        let (seen_ms, sequence) = (self.observation.wall_ms, self.sequence);
        let (source, kind) = (self.columns.source, self.columns.source_kind);
        self.transaction
            .prepare_cached(
                "UPDATE facts SET seen_ms = ?2, seen_sequence = ?3, source = ?4, source_kind = ?5, confidence = ?6,
                    layer = ?7, observations = observations + 1 WHERE number = ?1",
            )?
            .execute(params![fact, seen_ms, sequence, source, kind, self.observation.confidence, layer])?;
        if let (Some(location), false) = (&self.observation.location, self.is_at_pose()) {
            let (x, y, yaw, frame, map, version) = rows::place_columns(self.transaction, Some(location))?;
            // Only where it differs: each update costs a place in an index.
            self.transaction
                .prepare_cached(
                    "UPDATE facts SET x = ?2, y = ?3, yaw = ?4, frame = ?5, map = ?6, map_version = ?7
                     WHERE number = ?1 AND (x, y, yaw, frame, map, map_version) IS NOT (?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![fact, x, y, yaw, frame, map, version])?;
        }
        Ok(())
    }

    /// Where the place itself is the value, the first one stays, so that a slow drift is another place in the end.
    fn is_at_pose(&self) -> bool {
        use crate::observation::Value;
        matches!(self.observation.claim, Claim::Is { value: Value::AtPose, .. })
    }

    fn end(&self, fact: i64, reason: i64) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE facts SET end_ms = ?2, end_sequence = ?3, end_reason = ?4, end_source = ?5, end_kind = ?6
                 WHERE number = ?1",
            )?
            .execute(params![
                fact,
                self.observation.wall_ms,
                self.sequence,
                reason,
                self.columns.source,
                self.columns.source_kind
            ])?;
        Ok(())
    }

    /// Goes on with a row, or begins one.
    fn row(&self, change: RowChange, fact: Option<i64>) -> rusqlite::Result<()> {
        match change {
            RowChange::SamePicture(_) => Ok(()),
            RowChange::Extend(row) => self.extend(row, fact),
            RowChange::Begin(evidence_of) => self.begin(fact.or(evidence_of)),
        }
    }

    fn extend(&self, row: i64, fact: Option<i64>) -> rusqlite::Result<()> {
        let picture = self.observation.view.as_ref().and_then(|view| view.picture).map(u64::cast_signed);
        self.transaction
            .prepare_cached(
                "UPDATE observations SET last_ms = max(last_ms, ?2), last_sequence = ?3, count = count + 1,
                    confidence = ?4, picture = ?5, fact = coalesce(?6, fact) WHERE number = ?1",
            )?
            .execute(params![
                row,
                self.observation.wall_ms,
                self.sequence,
                self.observation.confidence,
                picture,
                fact
            ])?;
        Ok(())
    }

    fn begin(&self, fact: Option<i64>) -> rusqlite::Result<()> {
        let region = self.region();
        let location = region.as_ref().map(|(location, _)| location).or(self.observation.location.as_ref());
        let (x, y, yaw, frame, map, version) = rows::place_columns(self.transaction, location)?;
        let (kind, value, amount) = self.columns.value;
        let view = self.observation.view.as_ref();
        let sensor = view.map(|view| terms::intern_exact(self.transaction, &view.sensor)).transpose()?;
        let reason = match &self.observation.claim {
            Claim::CouldNotSee { reason, .. } => Some(terms::intern_name(self.transaction, reason)?),
            Claim::Is { .. } | Claim::IsNot { .. } | Claim::NotThere { .. } => None,
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO observations (subject, relation, claim, value_kind, value, amount, reason, layer, source,
                    source_kind, confidence, sensor, picture, x, y, yaw, radius, frame, map, map_version, first_ms,
                    first_sequence, last_ms, last_sequence, count, fact)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                    ?22, ?21, ?22, 1, ?23)",
            )?
            .execute(params![
                self.columns.subject,
                self.columns.relation,
                self.columns.claim,
                kind,
                value,
                amount,
                reason,
                terms::intern_exact(self.transaction, &self.observation.layer)?,
                self.columns.source,
                self.columns.source_kind,
                self.observation.confidence,
                sensor,
                view.and_then(|view| view.picture).map(u64::cast_signed),
                x,
                y,
                yaw,
                region.as_ref().map(|(_, radius_m)| *radius_m),
                frame,
                map,
                version,
                self.observation.wall_ms,
                self.sequence,
                fact
            ])?;
        Ok(())
    }

    /// The region that a look covered, as a location and a radius in metres.
    fn region(&self) -> Option<(Location, f64)> {
        let (Claim::NotThere { covered: Coverage::Region(region) }
        | Claim::CouldNotSee { covered: Coverage::Region(region), .. }) = &self.observation.claim
        else {
            return None;
        };
        let pose = Pose { x_m: region.x_m, y_m: region.y_m, yaw_rad: 0.0 };
        Some((Location { pose, frame: region.frame.clone(), map: region.map.clone() }, region.radius_m))
    }
}
