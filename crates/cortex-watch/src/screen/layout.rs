//! Which part of the body gets how many rows.

/// How many rows a part wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// Who comes first when there is too little room: the smallest.
    pub(super) rank: usize,
    /// With fewer it says little.
    pub(super) least: usize,
    /// More it has no use for.
    pub(super) most: usize,
}

/// Shares the rows out: by rank, first what each part needs at least, then what it has use for.
pub(super) fn share(height: usize, needs: &[Need]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| needs.get(*at).map(|need| need.rank));
    let (mut left, mut shares) = (height, vec![0; needs.len()]);
    for is_first in [true, false] {
        for at in &order {
            let Some((need, share)) = needs.get(*at).zip(shares.get_mut(*at)) else { continue };
            let wanted = if is_first { need.least } else { need.most };
            let more = wanted.saturating_sub(*share).min(left);
            *share += more;
            left -= more;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rank_gets_what_it_has_use_for_and_nobody_less_than_they_need_while_there_is_room() {
        let need = |rank, least, most| Need { rank, least, most };
        let needs = [need(2, 2, 4), need(1, 5, 12), need(3, 4, 100)];
        assert_eq!(share(30, &needs), [4, 12, 14]);
        assert_eq!(share(14, &needs), [2, 8, 4]);
        assert_eq!(share(6, &needs), [1, 5, 0]);
        assert_eq!(share(0, &needs), [0, 0, 0]);
    }
}
