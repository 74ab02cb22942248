//! Weights of examples, by regularized least squares (kernel ridge regression): a function that is nearly right for each example,
//! and changes slowly between them.

/// How much each example may be wrong so that the weights stay small.
const RIDGE: f64 = 0.1;
/// No rounding makes a matrix of likenesses divide by zero.
const LEAST_PIVOT: f64 = 1e-9;

/// The factor of a matrix: a triangle, row by row (Cholesky).
pub(crate) struct Factor(Vec<Vec<f64>>);

impl Factor {
    /// Of the likenesses of each example with each, which are symmetric and, without the ridge, not negative.
    pub(crate) fn of(likenesses: &[Vec<f64>]) -> Self {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(likenesses.len());
        for likeness in likenesses {
            let mut row = Vec::with_capacity(rows.len() + 1);
            for (above, value) in rows.iter().zip(likeness) {
                let Some((pivot, before)) = above.split_last() else { continue };
                row.push((value - dot(&row, before)) / pivot);
            }
            let own = likeness.get(rows.len()).copied().unwrap_or_default() + RIDGE;
            row.push((own - dot(&row, &row)).max(LEAST_PIVOT).sqrt());
            rows.push(row);
        }
        Self(rows)
    }

    /// The weights with which the examples come near these targets.
    pub(crate) fn weights(&self, targets: &[f64]) -> Vec<f64> {
        let mut between: Vec<f64> = Vec::with_capacity(targets.len());
        for (row, target) in self.0.iter().zip(targets) {
            let Some((pivot, before)) = row.split_last() else { continue };
            between.push((target - dot(&between, before)) / pivot);
        }
        let mut weights = Vec::with_capacity(targets.len());
        for row in self.0.iter().rev() {
            let (Some((pivot, before)), Some(last)) = (row.split_last(), between.pop()) else { continue };
            let weight = last / pivot;
            between.iter_mut().zip(before).for_each(|(rest, factor)| *rest -= factor * weight);
            weights.push(weight);
        }
        weights.reverse();
        weights
    }
}

/// The sum of the products.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_solve_the_equations() {
        let likenesses = [vec![1.0, 0.5, 0.1], vec![0.5, 1.0, -0.2], vec![0.1, -0.2, 1.0]];
        let targets = [1.0, 0.0, 0.5];
        let weights = Factor::of(&likenesses).weights(&targets);
        for ((row, weight), target) in likenesses.iter().zip(&weights).zip(targets) {
            assert!((dot(row, &weights) + RIDGE * weight - target).abs() < 1e-12, "{weights:?}");
        }
    }

    #[test]
    fn one_sentence_said_twice_divides_nothing_by_zero() {
        let weights = Factor::of(&[vec![1.0, 1.0], vec![1.0, 1.0]]).weights(&[1.0, 0.0]);
        assert!(weights.iter().all(|weight| weight.is_finite()));
        assert_eq!(Factor::of(&[]).weights(&[]), [0.0; 0]);
    }
}
