//! How often something may be done: a burst at once, then one more after each refill.

use std::time::Duration;

/// A token bucket, kept as the one moment at which it is full again (GCRA, as governor's).
///
/// In any window of length `w` it lets at most `burst + w / refill` through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    full_at: Duration,
}

/// The size of a [`Bucket`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) burst: u32,
    pub(super) refill: Duration,
}

impl Limit {
    /// The moment from which on a bucket has so many tokens.
    fn has_at(self, bucket: Bucket, tokens: u32) -> Duration {
        bucket.full_at.saturating_sub(self.refill.saturating_mul(self.burst.max(1).saturating_sub(tokens)))
    }

    /// When the next may go; it may be past.
    pub(super) fn not_until(self, bucket: Bucket) -> Duration {
        self.has_at(bucket, 1)
    }

    /// Whether hardly anything is left, so that what goes now keeps something else waiting.
    pub(super) fn is_scarce(self, now: Duration, bucket: Bucket) -> bool {
        self.burst < 2 || now < self.has_at(bucket, 2)
    }

    pub(super) fn take(self, now: Duration, bucket: &mut Bucket) {
        bucket.full_at = bucket.full_at.max(now).saturating_add(self.refill);
    }
}

impl Bucket {
    pub(super) fn full_at(self) -> Duration {
        self.full_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { burst: 3, refill: Duration::from_secs(5) };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_burst_goes_at_once_and_then_one_per_refill() {
        let mut bucket = Bucket::default();
        let mut gone = Vec::new();
        for second in 0..=20 {
            while LIMIT.not_until(bucket) <= at(second) {
                LIMIT.take(at(second), &mut bucket);
                gone.push(second);
            }
        }
        assert_eq!(gone, [0, 0, 0, 5, 10, 15, 20]);
    }

    #[test]
    fn it_never_holds_more_than_the_burst() {
        let mut bucket = Bucket::default();
        LIMIT.take(at(0), &mut bucket);
        for _ in 0..3 {
            assert!(LIMIT.not_until(bucket) <= at(1_000));
            LIMIT.take(at(1_000), &mut bucket);
        }
        assert_eq!(LIMIT.not_until(bucket), at(1_005));
    }

    #[test]
    fn it_is_scarce_when_one_is_left() {
        let mut bucket = Bucket::default();
        LIMIT.take(at(0), &mut bucket);
        assert!(!LIMIT.is_scarce(at(0), bucket));
        LIMIT.take(at(0), &mut bucket);
        assert!(LIMIT.is_scarce(at(0), bucket));
        assert!(!LIMIT.is_scarce(at(5), bucket));
    }
}
