//! Vectors as they are kept.

/// A vector with a byte for each number: a fourth of the room, and the order of what is near stays as it is but for ties. The
/// first four bytes are the scale, the largest number there is.
pub struct RoundedVector {
    scale: f32,
    numbers: Vec<i8>,
}

impl RoundedVector {
    const STEPS: f32 = 127.0;

    /// A vector of length 1, rounded.
    #[must_use]
    pub fn of(vector: &[f32]) -> Self {
        let scale = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        #[allow(clippy::cast_possible_truncation, reason = "it is at most 127 either way")]
        let rounded = |number: &f32| (number / scale.max(f32::MIN_POSITIVE) * Self::STEPS).round() as i8;
        Self { scale, numbers: vector.iter().map(rounded).collect() }
    }

    /// It as it is kept: four bytes more than it has numbers.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let numbers = self.numbers.iter().map(|number| number.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(numbers).collect()
    }

    /// The cosine with one that is kept, from -1 to 1; 0 where that is none.
    #[must_use]
    pub fn likeness(&self, kept: &[u8]) -> f64 {
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
            let exact = crate::likeness(&first, &other);
            let rounded = RoundedVector::of(&first).likeness(&RoundedVector::of(&other).bytes());
            assert!((exact - rounded).abs() < 0.01, "{exact} {rounded}");
        }
        assert!(RoundedVector::of(&[0.0; 4]).likeness(&RoundedVector::of(&[0.0; 4]).bytes()).abs() < f64::EPSILON);
        assert!(
            RoundedVector::of(&first).likeness(&[1, 2]).abs() < f64::EPSILON,
            "what is no vector is near to nothing"
        );
    }
}
