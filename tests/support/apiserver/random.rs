//! Numbers that look random and are the same in every run: xorshift64*, from a seed.

/// The state of the generator. Never zero.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// True so often, between never (0.0) and always (1.0).
    pub(super) fn chance(&mut self, often: f64) -> bool {
        // 53 bits: as many as a f64 holds exactly.
        ((self.next() >> 11) as f64) / ((1u64 << 53) as f64) < often
    }

    /// A version 4 UUID.
    pub(super) fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0xfff);
        let (d, e) = ((low >> 48) & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
        format!("{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{e:012x}")
    }

    /// Five characters, of those that spell no words. apimachinery: `util/rand`.
    pub(super) fn suffix(&mut self) -> String {
        let letters = b"bcdfghjklmnpqrstvwxz2456789";
        (0..5).map(|_| letters[(self.next() % letters.len() as u64) as usize] as char).collect()
    }
}
