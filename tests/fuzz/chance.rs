//! Pseudorandom numbers that depend only on a seed.

/// The generator SplitMix64: one addition and a mix of bits for each number.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number below `end`.
    #[expect(clippy::cast_possible_truncation, reason = "it is below `end`")]
    pub(crate) const fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub(crate) const fn number(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    pub(crate) const fn byte(&mut self) -> u8 {
        self.bits().to_le_bytes()[7]
    }

    pub(crate) const fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) const fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Mostly a small number, sometimes any number below `end`.
    pub(crate) const fn skewed(&mut self, end: usize) -> usize {
        if self.one_in(4) { self.below(end) } else { self.below(end.isqrt() + 2) }
    }
}
