//! Random numbers without a state: a function of the seed, the step, the purpose and the agent.
//!
//! A generator with a state gives the next number to the next caller, and with several threads that
//! is another agent in each run. A number that is computed from its purpose is the same in any
//! order, and vectors compute many at once.

use phalanx::prelude::Entity;

/// The purpose of a number. Two purposes in one step have different numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Walk = 1,
    Disease = 2,
}

/// The part of the computation that is the same for all agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(u32, u32);

impl Key {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub(crate) const fn new(seed: u64, step: u32, purpose: Purpose) -> Self {
        let counter = (step as u64) << 8 | purpose as u64;
        // The finish of SplitMix64, once for the seed and once for the counter.
        let mixed = mix64(mix64(seed) ^ counter);
        Self(mixed as u32, (mixed >> 32) as u32)
    }

    /// A number of 32 bits.
    #[inline(always)]
    pub(crate) const fn number(self, agent: Entity) -> u32 {
        mix32(mix32(agent.index() ^ self.0) ^ self.1)
    }
}

const fn mix64(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The hash `lowbias32`: each bit of the argument changes half of the bits.
#[inline(always)]
const fn mix32(mut z: u32) -> u32 {
    z = (z ^ (z >> 16)).wrapping_mul(0x7feb_352d);
    z = (z ^ (z >> 15)).wrapping_mul(0x846c_a68b);
    z ^ (z >> 16)
}
