//! A side of a workload: a state, one pass over it, and the proof that the passes did their work.
//!
//! Construction, checks and destruction are not timed. The measuring code asks a side for `n`
//! passes and receives their time, so Criterion and the table of ratios share one definition.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Throughput};
use phalanx::prelude::*;

/// The default chunk size of worlds.
pub(crate) const DEFAULT_CHUNK_KIB: usize = 16;

/// Something that can be timed and checked.
pub(crate) trait Side {
    /// The time of `passes` passes.
    fn run(&mut self, passes: u64) -> Duration;
    /// Panics if the state is not the result of the passes so far.
    fn check(&mut self);
}

/// Makes a side, in worlds of this chunk size.
type Make = Box<dyn Fn(ChunkSize) -> Box<dyn Side>>;

/// A way of doing the workload with phalanx.
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) chunk_kib: usize,
    make: Make,
}

/// One task at one size, and its sides.
///
/// A benchmark's name is `workload/side/size`, where the side is `limit`, `phalanx` or
/// `phalanx_how`, and the size has seven digits, so that alphabetical order is order of size.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    /// Units (rows, lookups, pairs) of a pass.
    pub(crate) units: u64,
    limit: Option<Make>,
    pub(crate) variants: Vec<Variant>,
}

impl Workload {
    /// A workload without sides yet: at this size, a pass has that many units.
    pub(crate) fn new(name: &'static str, size: usize, units: usize) -> Self {
        Self { name, size, units: units as u64, limit: None, variants: Vec::new() }
    }

    /// The same loop over flat `Vec`s.
    pub(crate) fn limit<S: Side + 'static>(mut self, make: impl Fn() -> S + 'static) -> Self {
        self.limit = Some(Box::new(move |_| Box::new(make())));
        self
    }

    /// Phalanx at the default chunk size.
    pub(crate) fn phalanx<S: Side + 'static>(
        self,
        name: impl Into<String>,
        make: impl Fn(ChunkSize) -> S + 'static,
    ) -> Self {
        self.phalanx_at(name, DEFAULT_CHUNK_KIB, make)
    }

    /// Phalanx at a chunk size.
    pub(crate) fn phalanx_at<S: Side + 'static>(
        mut self,
        name: impl Into<String>,
        chunk_kib: usize,
        make: impl Fn(ChunkSize) -> S + 'static,
    ) -> Self {
        let make: Make = Box::new(move |chunk| Box::new(make(chunk)));
        self.variants.push(Variant { name: name.into(), chunk_kib, make });
        self
    }

    /// Phalanx at each instruction set of this machine: `phalanx_baseline`, `phalanx_avx2`, …
    pub(crate) fn phalanx_levels<S: Side + 'static>(
        self,
        make: impl Fn(ChunkSize) -> S + Clone + 'static,
    ) -> Self {
        Level::available().fold(self, |workload, level| {
            let make = make.clone();
            workload.phalanx(format!("phalanx_{level}"), move |chunk| AtLevel {
                level,
                side: make(chunk),
            })
        })
    }

    /// The size as it stands in names.
    fn padded_size(&self) -> String {
        format!("{:07}", self.size)
    }

    /// The name of the benchmark of a side.
    pub(crate) fn name_of(&self, side: &str) -> String {
        format!("{}/{side}/{}", self.name, self.padded_size())
    }

    /// The limit's side, proven by a few passes; `None` where flat `Vec`s have no counterpart.
    pub(crate) fn make_limit(&self) -> Option<Box<dyn Side>> {
        self.limit.as_ref().map(|make| prove(make(ChunkSize::KIB_16)))
    }

    /// Times the limit, and after it each variant.
    pub(crate) fn bench(&self, group: &mut BenchmarkGroup<'_, WallTime>) {
        group.throughput(Throughput::Elements(self.units));
        if self.limit.is_some() {
            self.bench_side(group, "limit", || self.make_limit().expect("there is one"));
        }
        for variant in &self.variants {
            self.bench_side(group, &variant.name, || variant.make(variant.chunk_kib));
        }
    }

    fn bench_side(
        &self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        make: impl Fn() -> Box<dyn Side>,
    ) {
        // Made at the first call, so that a filtered-out side costs no time.
        let mut side = None;
        group.bench_function(BenchmarkId::new(name, self.padded_size()), |bencher| {
            let side = side.get_or_insert_with(&make);
            bencher.iter_custom(|passes| side.run(passes));
        });
        if let Some(mut side) = side {
            side.check();
        }
    }
}

/// Whether every variant can be told from the others by the name of its benchmark.
pub(crate) fn assert_names_differ(workloads: &[Workload]) {
    let sides = |workload: &Workload| {
        let of_phalanx = workload.variants.iter().map(|variant| workload.name_of(&variant.name));
        of_phalanx.chain([workload.name_of("limit")]).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = workloads.iter().flat_map(sides).collect();
    names.sort();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two benchmarks have one name");
}

impl Variant {
    /// The variant's side in chunks of `chunk_kib`, proven by a few passes.
    pub(crate) fn make(&self, chunk_kib: usize) -> Box<dyn Side> {
        let chunk = ChunkSize::new(chunk_kib * 1024).expect("a power of two from 4 to 256 KiB");
        prove((self.make)(chunk))
    }
}

/// Three passes and a check: wrong sides are not timed.
fn prove(mut side: Box<dyn Side>) -> Box<dyn Side> {
    side.run(3);
    side.check();
    side
}

/// A side with its kernels at one level. The level is pinned for its passes only.
struct AtLevel<S> {
    level: Level,
    side: S,
}

impl<S: Side> Side for AtLevel<S> {
    fn run(&mut self, passes: u64) -> Duration {
        Level::pin(self.level).expect("one of the available levels");
        let time = self.side.run(passes);
        assert_eq!(Level::current(), self.level, "the level of the passes");
        Level::unpin();
        time
    }

    fn check(&mut self) {
        self.side.check();
    }
}

/// A side with a lasting state: `step` is the pass, `check` receives the number of passes so far.
pub(crate) struct Steady<S, Step, Check> {
    state: S,
    step: Step,
    check: Check,
    steps: u64,
}

/// A [`Steady`] side.
pub(crate) fn steady<S, Step, Check>(state: S, step: Step, check: Check) -> Steady<S, Step, Check>
where
    Step: FnMut(&mut S),
    Check: FnMut(&mut S, u64),
{
    Steady { state, step, check, steps: 0 }
}

impl<S, Step, Check> Side for Steady<S, Step, Check>
where
    Step: FnMut(&mut S),
    Check: FnMut(&mut S, u64),
{
    fn run(&mut self, passes: u64) -> Duration {
        let start = Instant::now();
        for _ in 0..passes {
            (self.step)(black_box(&mut self.state));
        }
        let time = start.elapsed();
        self.steps += passes;
        time
    }

    fn check(&mut self) {
        (self.check)(&mut self.state, self.steps);
    }
}

/// A side that times only a part of each pass: `step` returns the time of that part.
pub(crate) struct Partial<S, Step, Check> {
    state: S,
    step: Step,
    check: Check,
}

/// A [`Partial`] side.
pub(crate) fn partial<S, Step, Check>(state: S, step: Step, check: Check) -> Partial<S, Step, Check>
where
    Step: FnMut(&mut S) -> Duration,
    Check: FnMut(&mut S),
{
    Partial { state, step, check }
}

impl<S, Step, Check> Side for Partial<S, Step, Check>
where
    Step: FnMut(&mut S) -> Duration,
    Check: FnMut(&mut S),
{
    fn run(&mut self, passes: u64) -> Duration {
        (0..passes).map(|_| (self.step)(black_box(&mut self.state))).sum()
    }

    fn check(&mut self) {
        (self.check)(&mut self.state);
    }
}

/// A side that starts afresh at each pass: neither `before` nor the drop of the outcome is timed.
pub(crate) struct Fresh<Before, Pass, Check, Out> {
    before: Before,
    pass: Pass,
    check: Check,
    last: Option<Out>,
}

/// A [`Fresh`] side.
pub(crate) fn fresh<In, Out, Before, Pass, Check>(
    before: Before,
    pass: Pass,
    check: Check,
) -> impl Side
where
    Before: FnMut() -> In,
    Pass: FnMut(In) -> Out,
    Check: FnMut(&Out),
{
    Fresh { before, pass, check, last: None }
}

impl<In, Out, Before, Pass, Check> Side for Fresh<Before, Pass, Check, Out>
where
    Before: FnMut() -> In,
    Pass: FnMut(In) -> Out,
    Check: FnMut(&Out),
{
    fn run(&mut self, passes: u64) -> Duration {
        let mut time = Duration::ZERO;
        for _ in 0..passes {
            // One outcome is alive at a time: the next pass finds the pages of the one before.
            self.last = None;
            let input = black_box((self.before)());
            let start = Instant::now();
            let out = black_box((self.pass)(input));
            time += start.elapsed();
            self.last = Some(out);
        }
        time
    }

    fn check(&mut self) {
        if let Some(out) = &self.last {
            (self.check)(out);
        }
    }
}
