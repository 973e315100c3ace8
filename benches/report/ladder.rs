//! The ladder of latencies: the time of a step to an unknown line, from the first cache to memory.

use std::hint::black_box;

use phalanx_figures::significant;

use crate::column::Column;
use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, bytes, huge_page_bytes};
use crate::page::{Figure, Part};
use crate::programs::random::random_index;

/// Bytes of a cache line.
pub(crate) const LINE: usize = phalanx::LINE_BYTES;
/// Words of a line.
pub(crate) const WORDS: usize = LINE / size_of::<u64>();
/// Steps of a pass at most.
const STEPS_MAX: usize = 1 << 17;

const SIZE_MIN: usize = 4 << 10;
const SIZE_MAX: usize = 256 << 20;
/// The largest memory that is allocated, however large the last cache.
const SIZE_LIMIT: usize = 2 << 30;

/// The part.
pub(crate) fn part(effort: &Effort, machine: &Machine) -> Part {
    let mut chase = Series::new("chase: each step waits for the one before");
    let mut known = Series::new("the same order, known before");
    let mut walk = Series::new("in the order of addresses");
    let mut huge = None;
    for size in sizes(effort, machine) {
        let before = huge_page_bytes();
        let lines = Lines::new(size / LINE);
        huge =
            before.zip(huge_page_bytes()).map(|(before, now)| (size, now.saturating_sub(before)));
        let samples = lines.time(effort);
        for (series, samples) in [&mut chase, &mut known, &mut walk].into_iter().zip(samples) {
            series.push(size as f64, &samples);
        }
    }
    let sees = sees(&chase, &walk, machine, huge);
    let marks = machine.caches.iter();
    let marks = marks.map(|cache| (cache.bytes as f64, format!("L{}", cache.level))).collect();
    let curves = Curves {
        title: "From the first cache to memory".to_owned(),
        x: Axis { label: "size of the set of lines", format: bytes, base: 2.0 },
        y: "ns a line".to_owned(),
        series: vec![chase, known, walk],
        marks,
    };
    Part {
        title: "The ladder of latencies",
        about: format!(
            "A pointer chase: each line of {LINE} bytes has the place of the next one, in one random \
             cycle through all lines (Sattolo), so no step can begin before the one before has \
             ended, and no prefetcher knows the way. Beside it one word of each line is added up, \
             in a random order that is known before, and in the order of addresses. From 2 MiB on \
             the memory is advised to be in huge pages. A sample is of many steps, and there are {} \
             for each point. Vertical lines are the sizes of the caches.",
            effort.rounds
        ),
        figures: vec![Figure::Curves(curves)],
        sees,
    }
}

/// Doubling, and well beyond the last cache.
fn sizes(effort: &Effort, machine: &Machine) -> Vec<usize> {
    let beyond = machine.last_cache().map_or(0, |bytes| bytes.next_power_of_two() * 4);
    let most = effort.pick(SIZE_MAX.max(beyond).min(SIZE_LIMIT), 512 << 10);
    std::iter::successors(Some(SIZE_MIN), |size| Some(size * 2))
        .take_while(|s| *s <= most)
        .collect()
}

fn sees(
    chase: &Series,
    walk: &Series,
    machine: &Machine,
    huge: Option<(usize, usize)>,
) -> Vec<String> {
    let [(least, near), (most, far)] = chase.ends();
    let steps = chase.points.windows(2);
    let rises = steps.map(|pair| (pair[1].1.median / pair[0].1.median, pair[0].0, pair[1].0));
    let (rise, from, to) =
        rises.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are several sizes");
    let mut sees = vec![
        format!(
            "A step takes {} ns within {} and {} ns within {}: {} times as long. From one size to \
             the next, the time grows most between {} and {}, {} times.",
            significant(near),
            bytes(least),
            significant(far),
            bytes(most),
            significant(far / near),
            bytes(from),
            bytes(to),
            significant(rise)
        ),
        format!(
            "At {} a line in the order of addresses takes {} ns, so a step to an unknown place costs \
             as much as {} lines of a column.",
            bytes(most),
            significant(walk.at(most)),
            significant(far / walk.at(most))
        ),
    ];
    match machine.last_cache() {
        Some(last) if most < 2.0 * last as f64 => sees.push(format!(
            "The greatest size is not well beyond the last cache ({}), so the end of the curve is \
             not the latency of memory.",
            bytes(last as f64)
        )),
        _ => {}
    }
    if let Some((size, huge)) = huge {
        sees.push(format!(
            "Of the {} of the last point, {} came to lie in huge pages.",
            bytes(size as f64),
            bytes(huge as f64)
        ));
    }
    sees
}

/// Lines in a random cycle, and the orders in which they are read.
struct Lines {
    column: Column<u64>,
    /// The words in the order of the cycle, for reads that need not wait.
    order: Vec<u32>,
}

impl Lines {
    fn new(len: usize) -> Self {
        let words = random_cycle(len, WORDS);
        let next = |word: &u64| Some(words[place(*word)]);
        let cycle = std::iter::successors(Some(0), next).take(len);
        let order = cycle.map(|word| u32::try_from(word).expect("at most 2 GiB")).collect();
        let lines = Self { column: Column::new(&words, 0), order };
        lines.check();
        lines
    }

    /// The cycle visits each line once, and returns to the first.
    fn check(&self) {
        let words: &[u64] = self.column.read();
        let mut seen = vec![false; self.order.len()];
        let mut at = 0;
        for _ in 0..self.order.len() {
            let line = &mut seen[place(at) / WORDS];
            assert!(!*line, "a line is reached twice");
            *line = true;
            at = words[place(at)];
        }
        assert_eq!(at, 0, "the last line leads to the first");
    }

    /// Samples of the chase, of the known order, and of the order of addresses.
    fn time(&self, effort: &Effort) -> Vec<Vec<f64>> {
        let words: &[u64] = self.column.read();
        let steps = self.order.len().min(STEPS_MAX);
        // Each pass continues where the last one ended: a part of many lines, read again and again,
        // would stay in a nearer cache.
        let mut at = 0;
        let mut chase = || at = black_box((0..steps).fold(at, |at, _| words[place(at)]));
        let mut orders = self.order.chunks(steps).cycle();
        let mut known = || {
            let order = orders.next().expect("an endless list");
            black_box(order.iter().fold(0u64, |sum, &at| sum.wrapping_add(words[at as usize])));
        };
        let mut walks = words.chunks(steps * WORDS).cycle();
        let mut walk = || {
            let lines = walks.next().expect("an endless list").chunks_exact(WORDS);
            black_box(lines.fold(0u64, |sum, line| sum.wrapping_add(line[0])));
        };
        effort.time(steps, &mut [&mut chase, &mut known, &mut walk])
    }
}

/// One cycle through `len` places of `words` words each (Sattolo): the first word of each place
/// holds the start of the next one.
pub(crate) fn random_cycle(len: usize, words: usize) -> Vec<u64> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut index = random_index();
    // An element is never exchanged with itself: that makes it one cycle.
    for i in (1..len).rev() {
        order.swap(i, index(i));
    }
    let mut next = vec![0; len * words];
    for (place, there) in order.into_iter().enumerate() {
        next[place * words] = (there * words) as u64;
    }
    next
}

/// A word's index.
#[inline(always)]
pub(crate) fn place(word: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "an index from a `usize`")]
    let place = word as usize;
    place
}
