//! Chance from a seed, so that a day goes the same way each time: SplitMix64.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to, but not including, 1.
    pub(crate) fn throw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (it ^ (it >> 31)) as f64 / 2f64.powi(64)
    }

    /// A moment within a time.
    pub(crate) fn within(&mut self, time: Duration) -> Duration {
        time.mul_f64(self.throw())
    }

    /// A time, give or take a tenth.
    pub(crate) fn about(&mut self, time: Duration) -> Duration {
        time.mul_f64(0.9 + 0.2 * self.throw())
    }
}
