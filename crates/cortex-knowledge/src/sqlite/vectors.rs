//! Vectors of passages, and those nearest to another. All are looked at, one after another: for as many as a robot has
//! documents that is a matter of milliseconds, and it is exact.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params, params_from_iter};

use super::{StoreProblem, search};
use crate::store::{Found, MetadataFilter, PassageId, StoreError, Unembedded};

/// Which model, and how many numbers its vectors have.
fn kept_model(connection: &Connection) -> rusqlite::Result<Option<(String, usize)>> {
    let row =
        connection.query_row("SELECT name, dimension FROM vector_model", [], |row| Ok((row.get(0)?, row.get(1)?)));
    row.optional()
}

pub(super) fn unembedded(connection: &Connection, model: &str, most: usize) -> rusqlite::Result<Vec<Unembedded>> {
    let has_vectors = kept_model(connection)?.is_some_and(|(kept, _)| kept == model);
    let without = if has_vectors { "WHERE number NOT IN (SELECT passage FROM vectors)" } else { "" };
    let mut statement = connection
        .prepare_cached(&format!("SELECT number, place, text FROM passages {without} ORDER BY number LIMIT ?"))?;
    let rows = statement.query_map([i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        let (place, text): (String, String) = (row.get(1)?, row.get(2)?);
        let text = if place.is_empty() { text } else { format!("{place}\n{text}") };
        Ok(Unembedded { id: PassageId(row.get(0)?), text })
    })?;
    rows.collect()
}

pub(super) fn keep(
    transaction: &Transaction<'_>,
    model: &str,
    vectors: &[(Unembedded, Vec<f32>)],
) -> Result<(), StoreProblem> {
    let Some((_, first)) = vectors.first() else { return Ok(()) };
    let dimension = match kept_model(transaction)? {
        Some((kept, dimension)) if kept == model => dimension,
        _ => {
            transaction.execute("DELETE FROM vectors", [])?;
            let replace = "INSERT OR REPLACE INTO vector_model (only, name, dimension) VALUES (1, ?1, ?2)";
            transaction.execute(replace, params![model, first.len()])?;
            first.len()
        }
    };
    // The number of a passage that was replaced meanwhile may be that of another one.
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO vectors (passage, numbers) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM passages
         WHERE number = ?1 AND ?3 = CASE place WHEN '' THEN text ELSE place || char(10) || text END)",
    )?;
    for (passage, vector) in vectors {
        fits(model, dimension, vector)?;
        insert.execute(params![passage.id.0, Rounded::of(vector).bytes(), passage.text])?;
    }
    Ok(())
}

fn fits(model: &str, kept: usize, vector: &[f32]) -> Result<(), StoreProblem> {
    if vector.len() == kept {
        return Ok(());
    }
    Err(StoreProblem::Told(StoreError::Dimension { model: model.to_owned(), kept, found: vector.len() }))
}

pub(super) fn nearest(
    connection: &Connection,
    model: &str,
    vector: &[f32],
    most: usize,
    filter: &MetadataFilter,
) -> Result<Vec<Found>, StoreProblem> {
    match kept_model(connection)? {
        Some((kept, dimension)) if kept == model => fits(model, dimension, vector)?,
        _ => return Ok(Vec::new()),
    }
    let wanted = Rounded::of(vector);
    let mut near: Vec<(f64, i64)> = Vec::new();
    let filtered = format!(
        "SELECT passage, numbers FROM vectors JOIN passages ON passages.number = vectors.passage
         JOIN documents ON documents.number = passages.document WHERE true{}",
        search::HAS_METADATA.repeat(filter.len())
    );
    let all = "SELECT passage, numbers FROM vectors";
    let mut statement = connection.prepare_cached(if filter.is_empty() { all } else { &filtered })?;
    let mut rows = statement.query(params_from_iter(search::wanted_metadata(filter)))?;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        near.push((wanted.likeness(bytes), row.get(0)?));
    }
    near.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    near.truncate(most);
    let mut passage = connection.prepare_cached(
        "SELECT passages.number, documents.id, passages.place, passages.text, documents.metadata
         FROM passages JOIN documents ON documents.number = passages.document WHERE passages.number = ?",
    )?;
    let found = near.into_iter().map(|(likeness, number)| {
        let found = passage.query_row([Value::Integer(number)], search::found)?;
        Ok(Found { likeness: likeness.clamp(0.0, 1.0), ..found })
    });
    found.collect()
}

/// A vector with a byte for each number: a fourth of the room, and the order of what is near stays as it is but for ties. The
/// first four bytes are the scale, the largest number there is.
struct Rounded {
    scale: f32,
    numbers: Vec<i8>,
}

impl Rounded {
    const STEPS: f32 = 127.0;

    fn of(vector: &[f32]) -> Self {
        let scale = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        #[allow(clippy::cast_possible_truncation, reason = "it is at most 127 either way")]
        let rounded = |number: &f32| (number / scale.max(f32::MIN_POSITIVE) * Self::STEPS).round() as i8;
        Self { scale, numbers: vector.iter().map(rounded).collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        let numbers = self.numbers.iter().map(|number| number.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(numbers).collect()
    }

    /// The cosine with one that is kept; 0 where that is none.
    fn likeness(&self, kept: &[u8]) -> f64 {
        let Some((scale, numbers)) = kept.split_first_chunk::<4>() else { return 0.0 };
        if numbers.len() != self.numbers.len() {
            return 0.0;
        }
        let product = |(one, other): (&i8, &u8)| i32::from(*one) * i32::from(other.cast_signed());
        let sum: i32 = self.numbers.iter().zip(numbers).map(product).sum();
        f64::from(sum) * f64::from(self.scale) * f64::from(f32::from_le_bytes(*scale))
            / f64::from(Self::STEPS * Self::STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_changes_a_cosine_by_less_than_a_hundredth() {
        let unit = |seed: u32| {
            let numbers: Vec<f32> = (0..384_u32)
                .map(|at| ((at.wrapping_mul(seed).wrapping_mul(2_654_435_761) >> 16) % 1_000) as f32 / 500.0 - 1.0)
                .collect();
            let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
            numbers.into_iter().map(|number| number / length).collect::<Vec<_>>()
        };
        let first = unit(1);
        for seed in 1..50 {
            let other = unit(seed);
            let exact = cortex_core::likeness(&first, &other);
            let rounded = Rounded::of(&first).likeness(&Rounded::of(&other).bytes());
            assert!((exact - rounded).abs() < 0.01, "{exact} {rounded}");
        }
        assert!(Rounded::of(&[0.0; 4]).likeness(&Rounded::of(&[0.0; 4]).bytes()).abs() < f64::EPSILON);
        assert!(Rounded::of(&first).likeness(&[1, 2]).abs() < f64::EPSILON, "what is no vector is near to nothing");
    }
}
