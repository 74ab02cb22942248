//! Chances that come out the same for the same seed.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number, both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.roll() % (most - least + 1)
    }

    /// Whether it is the one time in so many.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.roll().is_multiple_of(times)
    }

    /// One of the choices; the default of its type where there is none.
    pub fn of<T: Copy + Default>(&mut self, choices: &[T]) -> T {
        let index = usize::try_from(self.roll() % (choices.len() as u64).max(1)).unwrap_or_default();
        choices.get(index).copied().unwrap_or_default()
    }
}
