//! Pairs of lines: the effect of aligning columns to 128 bytes in place of 64.
//!
//! Some processors have lines of 128 bytes, and some fetch the other line of an aligned pair
//! together with a missed one. If columns began at multiples of 128 bytes, a walk would not begin
//! with half a pair, and a value of 128 bytes would be one pair and not parts of two.

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx_figures::{MannWhitney, probability, significant, table};

use crate::column::Column;
use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::ladder::{LINE, WORDS, place, random_cycle};
use crate::machine::{Machine, bytes};
use crate::page::{Figure, Part};

/// Bytes of a pair of lines.
const PAIR: usize = 2 * LINE;
/// Words of a pair.
const PAIR_WORDS: usize = 2 * WORDS;
/// Floats of a line.
const FLOATS: usize = LINE / size_of::<f32>();
/// Nodes that a pass of the chase visits at most.
const STEPS_MAX: usize = 1 << 15;

/// Adds a column to another.
#[kernel]
fn add(target: &mut [f32], added: &[f32]) {
    for (t, a) in target.iter_mut().zip(added) {
        *t += *a;
    }
}

/// Samples at an offset of zero and at an offset of one line.
type Compared = (f64, [Vec<f64>; 2]);

/// The part.
pub(crate) fn part(effort: &Effort, machine: &Machine) -> Part {
    let walks: Vec<Compared> =
        sizes(effort, 8 << 10, 64 << 20).map(|size| (size as f64, walk(effort, size))).collect();
    let mut whole = Series::new("one pair: both lines of an aligned pair");
    let mut split = Series::new("two pairs: a line of each");
    let mut first = Series::new("the first line only");
    let mut chases: Vec<Compared> = Vec::new();
    let beyond = machine.last_cache().map_or(0, |bytes| bytes.next_power_of_two() * 4);
    for size in sizes(effort, 32 << 10, (128 << 20).max(beyond).min(1 << 30)) {
        let x = size as f64;
        let [one, two, none] = chase(effort, size / PAIR);
        whole.push(x, &one);
        split.push(x, &two);
        first.push(x, &none);
        chases.push((x, [one, two]));
    }
    let mut aligned = Series::new("at multiples of 128 bytes");
    let mut between = Series::new("64 bytes behind them");
    for (x, [at_pairs, at_lines]) in &walks {
        aligned.push(*x, at_pairs);
        between.push(*x, at_lines);
    }
    let sees = vec![
        compare("Walks over columns", &walks),
        compare("Reads of two lines at an unknown place", &chases),
        second_line(&whole, &split, &first),
        verdict(&walks),
    ];
    let x = || Axis { label: "bytes", format: bytes, base: 2.0 };
    let walk = Curves {
        title: "A walk over two columns".to_owned(),
        x: x(),
        y: "ns a line of both".to_owned(),
        series: vec![aligned, between],
        marks: Vec::new(),
    };
    let chase = Curves {
        title: "A chase of values of 128 bytes".to_owned(),
        x: x(),
        y: "ns a value".to_owned(),
        series: vec![whole, split, first],
        marks: Vec::new(),
    };
    Part {
        title: "Pairs of lines",
        about: about(),
        figures: vec![
            Figure::Curves(walk),
            Figure::Table(tests("walks", &walks)),
            Figure::Curves(chase),
            Figure::Table(tests("chases", &chases)),
        ],
        sees,
    }
}

fn about() -> String {
    "Columns of phalanx begin at multiples of 64 bytes. Would 128 be better, as the lines of some \
     processors have, or pairs that others fetch together? Two columns of `f32` are added up, both \
     at multiples of 128 bytes or both 64 bytes further. Then a chase goes through values of 128 \
     bytes in one random cycle: the address of the second line is read off the first one, and the \
     next value's off the second, with the values on one pair or across two. The third curve reads \
     the first line only. Where lines have 64 bytes and none is fetched with its neighbour, the first \
     two curves are the same."
        .to_owned()
}

/// Growing fourfold; a few small ones in a quick run.
fn sizes(effort: &Effort, least: usize, most: usize) -> impl Iterator<Item = usize> {
    let most = effort.pick(most, least * 4);
    std::iter::successors(Some(least), |size| Some(size * 4)).take_while(move |size| *size <= most)
}

/// Samples of a walk over columns of this size, at pairs and between them.
fn walk(effort: &Effort, size: usize) -> [Vec<f64>; 2] {
    let floats = size / size_of::<f32>();
    let ones = vec![1.0_f32; floats + 2 * FLOATS];
    // The same memory for both, so that they differ in the offset only.
    let mut target = Column::new(&ones, 0);
    let added = Column::new(&ones, 1);
    let mut passes = 0.0_f32;
    let cell = std::cell::RefCell::new((&mut target, &mut passes));
    let pass = |offset: usize| {
        let (target, passes) = &mut *cell.borrow_mut();
        let all: &mut [f32] = target.write();
        assert_eq!(all.as_ptr().align_offset(PAIR), 0, "a column begins at a pair");
        add(&mut all[offset..][..floats], black_box(&added.read()[offset..][..floats]));
        **passes += 1.0;
    };
    let samples = effort.time(size / LINE, &mut [&mut || pass(0), &mut || pass(FLOATS)]);
    // Both walks cover all values but the first and the last line. From 2^24 on adding one has no
    // effect.
    let want = (1.0 + passes).min(16_777_216.0);
    let all: &[f32] = target.read();
    assert!(all[FLOATS..floats].iter().all(|value| *value == want), "a walk adds one to each");
    samples.try_into().expect("two sides")
}

/// Samples of a chase through `len` values: on a pair each, across two, and of half of them.
fn chase(effort: &Effort, len: usize) -> [Vec<f64>; 3] {
    let next = random_cycle(len, PAIR_WORDS);
    let half = Column::new(&next, 0);
    let mut both = vec![0; next.len()];
    for value in (0..next.len()).step_by(PAIR_WORDS) {
        both[value] = (value + WORDS) as u64;
        both[value + WORDS] = next[value];
    }
    let whole = Column::new(&both, 0);
    let mut moved = vec![0; WORDS];
    moved.extend(&both);
    drop((next, both));
    // The words of `whole`, a line further: the first line is padding.
    let split = Column::new(&moved, 0);
    drop(moved);
    let (whole, split): (&[u64], &[u64]) = (whole.read(), &split.read()[WORDS..]);
    let half: &[u64] = half.read();
    for words in [whole, split] {
        let end = (0..2 * len).fold(0, |at, _| words[place(at)]);
        assert_eq!(end, 0, "the cycle ends where it began");
    }
    let steps = len.min(STEPS_MAX);
    let [mut at_whole, mut at_split, mut at_half] = [0; 3];
    let samples = effort.time(
        steps,
        &mut [
            &mut || at_whole = black_box((0..2 * steps).fold(at_whole, |at, _| whole[place(at)])),
            &mut || at_split = black_box((0..2 * steps).fold(at_split, |at, _| split[place(at)])),
            &mut || at_half = black_box((0..steps).fold(at_half, |at, _| half[place(at)])),
        ],
    );
    samples.try_into().expect("three sides")
}

/// The ratio of the time between pairs to the time at pairs, for each size, with a rank test.
fn tests(what: &str, compared: &[Compared]) -> String {
    let header = ["bytes", "ratio of medians", "U", "z", "p"];
    let mut table = table::markdown(header, 0);
    for (size, samples) in compared {
        let mut cells = vec![bytes(*size), format!("{:.3}", ratio(samples))];
        if let Some(test) = MannWhitney::of(&samples[1], &samples[0]) {
            cells.extend([format!("{:.1}", test.u), format!("{:.2}", test.z), probability(test.p)]);
        }
        table.add_row(cells);
    }
    format!(
        "{what}, time between pairs divided by time at pairs, and Mann-Whitney test:\n\n{table}"
    )
}

/// The time between pairs divided by the time at pairs.
fn ratio([at_pairs, between]: &[Vec<f64>; 2]) -> f64 {
    let median = |samples| phalanx_figures::Summary::of(samples).expect("samples").median;
    median(between) / median(at_pairs)
}

/// The size with the ratio farthest from one.
fn farthest(compared: &[Compared]) -> (f64, f64) {
    let ratios = compared.iter().map(|(size, samples)| (*size, ratio(samples)));
    let far = ratios.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()));
    far.expect("several sizes")
}

fn compare(what: &str, compared: &[Compared]) -> String {
    let (size, ratio) = farthest(compared);
    let logs: f64 = compared.iter().map(|(_, samples)| self::ratio(samples).ln()).sum();
    let mean = (logs / compared.len() as f64).exp();
    format!(
        "{what} take {mean:.3} times as long between pairs as at pairs, as the geometric mean over \
         all sizes. The ratio farthest from one is {ratio:.3}, at {}.",
        bytes(size)
    )
}

/// The cost of the second line of a value at the greatest size.
fn second_line(whole: &Series, split: &Series, first: &Series) -> String {
    let [_, (most, one)] = first.ends();
    format!(
        "At {} the first line of a value takes {} ns, and the second one {} ns more on the same pair, \
         {} ns on the next one.",
        bytes(most),
        significant(one),
        significant(whole.at(most) - one),
        significant(split.at(most) - one)
    )
}

/// Whether these figures ask for a parameter of the layout. They only show the gain of a walk; the
/// rest of the argument is about the existing layout.
fn verdict(walks: &[Compared]) -> String {
    const WORTH: f64 = 1.03;
    let slower = |compared: &&Compared| {
        let test = MannWhitney::of(&compared.1[1], &compared.1[0]);
        ratio(&compared.1) > WORTH && test.is_some_and(|test| test.z > 0.0 && test.p < 0.01)
    };
    let sizes: Vec<_> = walks.iter().filter(slower).map(|(size, _)| bytes(*size)).collect();
    let against = "Against one speaks what the layout does already: in an extent a column goes on in \
                   the next chunk, so half a pair is at the ends of many chunks and not of each; the \
                   lines of a chunk that share a pair with another chunk are the first and the last \
                   one, which is all that two threads can contend for; and a column that began at a \
                   pair would leave 32 bytes more empty on average, in each chunk and in each of the \
                   small blocks of rare archetypes";
    if sizes.is_empty() {
        format!(
            "No walk is slower between pairs by more than 3 % with p below 0.01, so these figures do \
             not ask for 128 bytes as a parameter. {against}."
        )
    } else {
        format!(
            "Walks are slower between pairs by more than 3 %, with p below 0.01, at {}: on this \
             machine 128 bytes would gain that for columns of that size in one piece. {against}.",
            sizes.join(", ")
        )
    }
}
