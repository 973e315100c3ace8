//! The cases. Each has two ways to the same result: a slow one and its fix.

use std::hint::black_box;
use std::time::Instant;

use clap::ValueEnum;

use crate::random::random_indices;
use crate::sides::{self, Side};

/// A symptom and its fix.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Case {
    /// An array of 64-byte structs, two fields touched, against columns.
    Structs,
    /// Reads by entity in random order, against the same reads in sorted order.
    Lookups,
    /// 24 streams read in lock-step, 4096 bytes apart, against 4160.
    Strides,
    /// The walk over a shuffled list of 64 boxes, against the scan of a column.
    #[value(name = "chase-64")]
    Chase64,
    /// The same with 1,000,000 boxes.
    #[value(name = "chase-1000000")]
    Chase1000000,
}

/// One of the two ways.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Way {
    /// The symptom.
    Slow,
    /// The fix.
    Fast,
}

impl Case {
    /// All cases, in the order of the README.
    pub(crate) const ALL: [Self; 5] =
        [Self::Structs, Self::Lookups, Self::Strides, Self::Chase64, Self::Chase1000000];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Structs => "structs",
            Self::Lookups => "lookups",
            Self::Strides => "strides",
            Self::Chase64 => "chase-64",
            Self::Chase1000000 => "chase-1000000",
        }
    }

    /// Elements per pass: rows, reads, words or nodes.
    pub(crate) fn elements(self) -> usize {
        match self {
            Self::Structs => 100_000,
            Self::Lookups | Self::Chase1000000 => 1_000_000,
            Self::Strides => sides::STREAMS * sides::STREAM_WORDS,
            Self::Chase64 => 64,
        }
    }

    /// Passes of a native run: about twenty million elements.
    pub(crate) fn default_passes(self) -> u64 {
        (20_000_000 / self.elements() as u64).clamp(9, 200_000)
    }

    /// The passes after [`WARM_PASSES`] that `--table` counts.
    pub(crate) fn counted_passes(self) -> u64 {
        (2_000_000 / self.elements() as u64).max(1)
    }

    /// Nanoseconds per element: the median of nine shares of the passes. The result is checked.
    pub(crate) fn nanoseconds(self, way: Way, passes: u64) -> f64 {
        const SHARES: u64 = 9;
        let mut side = self.side(way);
        let mut samples = Vec::new();
        for share in 0..SHARES {
            let count = passes * (share + 1) / SHARES - passes * share / SHARES;
            if count == 0 {
                continue;
            }
            let start = Instant::now();
            for _ in 0..count {
                black_box(&mut *side).pass();
            }
            let elements = count * self.elements() as u64;
            samples.push(start.elapsed().as_secs_f64() * 1e9 / elements as f64);
        }
        assert_eq!(side.result(), self.expected(passes), "the result of {}", self.name());
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    }

    /// The state before the first pass.
    fn side(self, way: Way) -> Box<dyn Side> {
        let len = self.elements();
        match (self, way) {
            (Self::Structs, Way::Slow) => Box::new(sides::Structs::new(len)),
            (Self::Structs, Way::Fast) => Box::new(sides::Columns::new(len)),
            (Self::Lookups, Way::Slow) => Box::new(sides::Lookups::random(len)),
            (Self::Lookups, Way::Fast) => Box::new(sides::Lookups::sorted(len)),
            (Self::Strides, Way::Slow) => Box::new(sides::Strides::new(4096)),
            (Self::Strides, Way::Fast) => Box::new(sides::Strides::new(4096 + 64)),
            (Self::Chase64 | Self::Chase1000000, Way::Slow) => Box::new(sides::Chase::new(len)),
            (Self::Chase64 | Self::Chase1000000, Way::Fast) => Box::new(sides::Scan::new(len)),
        }
    }

    /// The expected result of both ways after `passes`, from the definition of the case.
    fn expected(self, passes: u64) -> u64 {
        let len = self.elements();
        match self {
            Self::Structs => (0..len).map(|i| sides::x(i) + passes * sides::speed(i)).sum(),
            Self::Lookups => random_indices(len, len).map(sides::x).sum(),
            Self::Strides => (0..len).map(sides::x).sum(),
            Self::Chase64 | Self::Chase1000000 => (0..len).map(sides::x).sum(),
        }
    }
}

impl Way {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Fast => "fast",
        }
    }
}

/// Passes before the counted ones, which fill the caches.
pub(crate) const WARM_PASSES: u64 = 2;
