//! Which points a filter lets through.

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, PointsSelector, Range, Value, r#match::MatchValue};
use tonic::Status;

use super::state::{Collection, Point, number};

impl Collection {
    /// The ids of the points that a filter lets through, in their order.
    pub(super) fn filtered(&self, filter: Option<&Filter>) -> Result<Vec<u64>, Status> {
        let Some(filter) = filter else { return Ok(self.points.keys().copied().collect()) };
        let mut found = Vec::new();
        for (id, point) in &self.points {
            if self.holds(filter, *id, point)? {
                found.push(*id);
            }
        }
        Ok(found)
    }

    /// The ids that a selector names.
    pub(super) fn selected(&self, selector: Option<&PointsSelector>) -> Result<Vec<u64>, Status> {
        match selector.and_then(|selector| selector.points_selector_one_of.as_ref()) {
            Some(PointsSelectorOneOf::Filter(filter)) => self.filtered(Some(filter)),
            Some(PointsSelectorOneOf::Points(points)) => points.ids.iter().map(|id| number(Some(id))).collect(),
            None => Err(Status::invalid_argument("PointSelector is missing")),
        }
    }

    fn holds(&self, filter: &Filter, id: u64, point: &Point) -> Result<bool, Status> {
        if filter.min_should.is_some() {
            return Err(Status::unimplemented("min_should is not known to the server of tests"));
        }
        let judged = |conditions: &[Condition]| -> Result<Vec<bool>, Status> {
            conditions.iter().map(|condition| self.is_met(condition, id, point)).collect()
        };
        let (must, must_not, should) = (judged(&filter.must)?, judged(&filter.must_not)?, judged(&filter.should)?);
        let any = should.is_empty() || should.contains(&true);
        Ok(!must.contains(&false) && !must_not.contains(&true) && any)
    }

    fn is_met(&self, condition: &Condition, id: u64, point: &Point) -> Result<bool, Status> {
        match condition.condition_one_of.as_ref() {
            Some(ConditionOneOf::Field(field)) => self.has_field(field, point),
            Some(ConditionOneOf::HasVector(vector)) => {
                Ok(point.dense.contains_key(&vector.has_vector) || point.sparse.contains_key(&vector.has_vector))
            }
            Some(ConditionOneOf::HasId(ids)) => {
                let ids: Vec<u64> = ids.has_id.iter().map(|id| number(Some(id))).collect::<Result<_, _>>()?;
                Ok(ids.contains(&id))
            }
            Some(ConditionOneOf::Filter(filter)) => self.holds(filter, id, point),
            _ => Err(Status::unimplemented("a condition that the server of tests does not know")),
        }
    }

    fn has_field(&self, condition: &FieldCondition, point: &Point) -> Result<bool, Status> {
        if !self.indexed.contains(&condition.key) {
            let problem = format!("Bad request: Index required but not found for \"{}\"", condition.key);
            return Err(Status::invalid_argument(problem));
        }
        let values: Vec<&Kind> = point.payload.get(&condition.key).map(flat).unwrap_or_default();
        match (&condition.r#match, &condition.range) {
            (Some(wanted), None) => {
                let wanted: Vec<&String> = match wanted.match_value.as_ref() {
                    Some(MatchValue::Keyword(text)) => vec![text],
                    Some(MatchValue::Keywords(texts)) => texts.strings.iter().collect(),
                    _ => return Err(Status::unimplemented("a match that the server of tests does not know")),
                };
                Ok(values.iter().any(|value| matches!(value, Kind::StringValue(text) if wanted.contains(&text))))
            }
            (None, Some(Range { lt: Some(lt), gt: None, gte: None, lte: None })) => {
                Ok(values.iter().any(|value| matches!(value, Kind::IntegerValue(number) if (*number as f64) < *lt)))
            }
            _ => Err(Status::unimplemented("a condition of a field that the server of tests does not know")),
        }
    }
}

/// The value, or all of a list.
fn flat(value: &Value) -> Vec<&Kind> {
    match value.kind.as_ref() {
        Some(Kind::ListValue(list)) => list.values.iter().flat_map(flat).collect(),
        Some(kind) => vec![kind],
        None => Vec::new(),
    }
}
