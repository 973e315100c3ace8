//! Tests of `where_chunk` with answers that change from call to call: each method follows some of
//! the answers, or panics with a text about the caller's mistake.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;
use rayon::iter::ParallelIterator;

use crate::common::components::{Byte, Four, Other, Tag, sound};

#[component]
#[derive(Debug, PartialEq)]
struct Level(u8);
#[component(enableable)]
struct Awake;

/// The number of calls of a test that have answers of their own.
const CALLS: u32 = if cfg!(miri) { 3 } else { 5 };

/// The answers of a test, call by call: the bits of a word.
#[derive(Clone, Copy)]
struct Answers {
    word: u32,
    asked: &'static AtomicU32,
}

impl Answers {
    fn of(word: u32) -> Self {
        Self { word, asked: Box::leak(Box::new(AtomicU32::new(0))) }
    }

    fn next(self) -> bool {
        self.word >> (self.asked.fetch_add(1, Ordering::Relaxed) % CALLS) & 1 == 1
    }
}

/// Three archetypes of a chunk each, of one to three rows, some of them disabled.
fn levels() -> World {
    let mut world = crate::common::world();
    world.spawn((Four(0), Awake, PerChunk::<Level>::TAG));
    world.spawn_batch((1..4).map(|i| (Four(i), Awake, Other, PerChunk::<Level>::TAG)));
    world.spawn_batch((4..6).map(|i| (Four(i), Awake, Byte(1), PerChunk::<Level>::TAG)));
    for row in [2, 4] {
        let entity = world.query::<Entity>().rows().nth(row).expect("six rows");
        world.set_enabled::<Awake>(entity, false).expect("it has one");
    }
    world
}

/// Calls a method with all combinations of answers. Returns the number of refusals.
fn refusals(method: &str, run: impl Fn(&mut World, Answers)) -> u32 {
    let mut refused = 0;
    for word in 0..1 << CALLS {
        let mut world = levels();
        let before = world.version();
        let ended = catch_unwind(AssertUnwindSafe(|| run(&mut world, Answers::of(word))));
        sound(&world);
        if let Err(panic) = ended {
            let text = panic.downcast_ref::<String>().map_or("another panic", String::as_str);
            let expected = format!("answered differently when `{method}` asked it");
            assert!(text.contains(&expected), "{method}, answers {word:b}: {text}");
            refused += 1;
        }
        let written = |four: &&Four| four.0 >= 100;
        let changed = world.query::<&Four>().changed_since(before).rows().filter(written).count();
        let all = world.query::<&Four>().rows().filter(written).count();
        assert_eq!(changed, all, "{method}, answers {word:b}: what is written is stamped");
    }
    refused
}

/// Calls methods on queries of whole chunks, and on queries of enabled rows. Collects the methods
/// that refused some answers.
macro_rules! check {
    ($refused:ident, $begin:ident: $(
        $method:ident: $terms:ty, |$query:ident, $answers:ident| $run:expr;
    )*) => { $(
        let chunks = refusals(stringify!($method), |world, $answers| {
            let $query = world.$begin::<$terms>().where_chunk(move |_: &Level| $answers.next());
            let _ = $run;
        });
        let rows = refusals(stringify!($method), |world, $answers| {
            let all = world.$begin::<$terms>().with::<Awake>();
            let $query = all.where_chunk(move |_: &Level| $answers.next());
            let _ = $run;
        });
        if chunks + rows > 0 {
            $refused.insert(stringify!($method));
        }
    )* };
}

#[test]
fn a_pass_is_what_the_answers_say() {
    let mut refused = BTreeSet::new();
    check! { refused, query_mut:
        scatter: &mut Four, |query, answers| {
            let values = vec![Four(100); answers.word as usize % 7];
            { query }.scatter(&values)
        };
        single: (&mut Four,), |query, answers| query.single().map(|row| row.0.0 = 100);
        gather: &Four, |query, answers| query.copies().gather();
        gather_into: &Four, |query, answers| query.copies().gather_into(&mut vec![Four(9)]);
        entities: &Four, |query, answers| query.copies().entities();
        offsets: &Four, |query, answers| query.copies().offsets();
        count_rows: &Four, |query, answers| query.count_rows();
        is_empty: &Four, |query, answers| query.is_empty();
        explain: &Four, |query, answers| query.explain().to_string();
        rows: &mut Four, |query, answers| query.rows().for_each(|four| four.0 = 100);
        iter: &Four, |query, answers| query.iter().flatten().count();
        chunks: &mut Four, |query, answers| {
            query.chunks().for_each(|chunk| chunk.slices()[0].0 = 100);
        };
        extents: &mut Four, |query, answers| query.contiguous_chunks().for_each(|fours| fours[0].0 = 100);
        for_each_chunk: &mut Four, |query, answers| query.for_each_chunk(|fours| fours[0].0 = 100);
        combinations: &Four, |query, answers| query.rows().combinations::<2>().count();
        masked: (&Four, &Awake), |query, answers| query.masked().count();
    }
    assert_eq!(refused, BTreeSet::from(["scatter", "single"]), "they visit rows after they count");
}

#[test]
#[cfg_attr(miri, ignore = "rayon")]
fn a_parallel_pass_is_what_the_answers_say() {
    let mut refused = BTreeSet::new();
    check! { refused, query_mut:
        par_for_each_chunk: &mut Four, |query, answers| {
            query.par().for_each_chunk(|fours| fours[0].0 = 100);
        };
        par_chunks: &Four, |query, answers| query.par().chunks().map(<[Four]>::len).sum::<usize>();
    }
    assert_eq!(refused, BTreeSet::new());
}

#[test]
fn a_structural_change_is_what_the_answers_say() {
    let mut refused = BTreeSet::new();
    check! { refused, matching:
        insert: &Four, |entities, answers| entities.insert((Tag, Byte(3)));
        remove: &Four, |entities, answers| entities.remove::<(Other, Byte)>();
        despawn: &Four, |entities, answers| entities.despawn();
        retain: &mut Four, |entities, answers| entities.retain(|fours, keep| {
            fours[0].0 = 100;
            keep[0] = false;
        });
        insert_shared: &Four, |entities, answers| entities.insert_shared("red");
        remove_shared: &Four, |entities, answers| entities.remove_shared::<&str>();
        enable: &Four, |entities, answers| entities.enable::<Awake>();
        disable: &Four, |entities, answers| entities.disable::<Awake>();
        move_from: &Four, |entities, answers| {
            let mut other = crate::common::world();
            other.move_from(entities).expect("worlds of one kind");
            sound(&other);
        };
    }
    assert_eq!(refused, BTreeSet::new());
}
