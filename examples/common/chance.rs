//! Pseudo-random numbers: SplitMix64.

/// A source of numbers, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The source of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `n - 1`.
    pub fn below(&mut self, n: u32) -> u32 {
        u32::try_from(self.next() % u64::from(n)).expect("it is below a number of 32 bits")
    }

    /// A number from 0 to 1, without 1: all 24 bits that an `f32` has for it.
    pub fn part(&mut self) -> f32 {
        let [low, middle, high, ..] = self.next().to_le_bytes();
        let upper = f32::from(u16::from_le_bytes([middle, high]));
        (upper * 256.0 + f32::from(low)) / 16_777_216.0
    }
}
