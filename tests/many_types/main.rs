//! Thousands of component types in one world: masks are right at every word's edge.
//!
//! A program of its own, since the compiler takes a minute over so many types: a plain `cargo test`
//! leaves it out, and `cargo test --test many_types` runs it.
#![cfg(not(miri))] // Other tests of sets have fewer types and the same edges.

#[path = "../common/mod.rs"]
mod common;

use std::str;

use phalanx::__define::InSet;
use phalanx::AnyComponent;
use phalanx::prelude::*;
use phalanx::sparse::SparseComponent;

use crate::common::components::{Four, sound};

/// The `N`th of very many component types.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Numbered<const N: usize>(u8);

/// The name of the `N`th type, in digits.
struct Name<const N: usize>;

impl<const N: usize> Name<N> {
    const DIGITS: [u8; 5] = {
        let mut digits = [b'0'; 5];
        let (mut rest, mut at) = (N, 5);
        while at > 0 {
            at -= 1;
            digits[at] = b"0123456789"[rest % 10];
            rest /= 10;
        }
        digits
    };
    const SPARSE: [u8; 6] = {
        let [a, b, c, d, e] = Self::DIGITS;
        [b's', a, b, c, d, e]
    };
}

impl<const N: usize> Component for Numbered<N> {
    const NAME: &'static str = match str::from_utf8(&Name::<N>::DIGITS) {
        Ok(name) => name,
        Err(_) => panic!("digits are ASCII"),
    };
}

/// The `N`th of many sparse components.
#[derive(Debug, PartialEq)]
struct Side<const N: usize>(usize);

impl<const N: usize> AnyComponent for Side<N> {
    type Shape = InSet<Self>;
}

impl<const N: usize> SparseComponent for Side<N> {
    const NAME: &'static str = match str::from_utf8(&Name::<N>::SPARSE) {
        Ok(name) => name,
        Err(_) => panic!("digits are ASCII"),
    };
    type Logged = ();

    fn logged(&self) {}
}

macro_rules! eight {
    ($n:expr) => {
        (
            Numbered<{ $n }>,
            Numbered<{ $n + 1 }>,
            Numbered<{ $n + 2 }>,
            Numbered<{ $n + 3 }>,
            Numbered<{ $n + 4 }>,
            Numbered<{ $n + 5 }>,
            Numbered<{ $n + 6 }>,
            Numbered<{ $n + 7 }>,
        )
    };
}

macro_rules! sixty_four {
    ($n:expr) => {
        (
            eight!($n),
            eight!($n + 8),
            eight!($n + 16),
            eight!($n + 24),
            eight!($n + 32),
            eight!($n + 40),
            eight!($n + 48),
            eight!($n + 56),
        )
    };
}

/// A world that knows the types, in order, sixty-four at a time: of all calls that make them known,
/// `reserve` has the least generic code. A line for each of 64 columns is too wide for a chunk of
/// 4 KiB, so the chunks have the usual size.
macro_rules! world_of {
    ($($word:literal)*) => {{
        let mut world = World::new();
        $(world.reserve::<sixty_four!($word * 64)>(0).expect("no row needs no room");)*
        world
    }};
}

/// Entities with single types and pairs of them, across words, are told apart.
macro_rules! told_apart {
    ($world:expr; $($n:literal)*) => {
        $(
            let alone = $world.spawn(Numbered::<$n>(1));
            let paired = $world.spawn((Numbered::<$n>(2), Numbered::<0>(3)));
            assert!($world.has::<Numbered<$n>>(alone) && !$world.has::<Numbered<{ $n - 1 }>>(alone));
            assert!(!$world.has::<Numbered<{ $n + 1 }>>(alone) && !$world.has::<Numbered<0>>(alone));
            assert_eq!($world.get::<Numbered<$n>>(paired), Ok(&Numbered(2)));
            assert_eq!($world.get::<Numbered<0>>(paired), Ok(&Numbered(3)));
            let query = $world.query::<(Entity, &Numbered<$n>)>().without::<Numbered<0>>();
            assert_eq!(query.rows().map(|(e, _)| e).collect::<Vec<_>>(), [alone]);
            let query = $world.query::<Entity>().with::<Numbered<$n>>().with::<Numbered<0>>();
            assert_eq!(query.rows().collect::<Vec<_>>(), [paired]);
            $world.insert(alone, Four($n)).expect("room");
            assert_eq!($world.remove::<Numbered<$n>>(alone), Ok(Numbered(1)));
            assert_eq!($world.get::<Four>(alone), Ok(&Four($n)));
            assert_eq!($world.remove::<Numbered<0>>(paired), Ok(Numbered(3)));
            assert_eq!($world.get::<Numbered<$n>>(paired), Ok(&Numbered(2)));
            $world.despawn(paired).expect("alive");
        )*
        sound(&$world);
    };
}

#[test]
fn masks_are_right_at_bits_63_64_511_and_512() {
    let mut world = world_of!(0 1 2 3 4 5 6 7 8);
    told_apart!(world; 1 62 63 64 65 127 128 510 511 512 513);
    let all =
        world.spawn((Numbered::<63>(1), Numbered::<64>(2), Numbered::<511>(3), Numbered::<512>(4)));
    let terms = world.query::<(&Numbered<512>, &Numbered<63>, &Numbered<511>, &Numbered<64>)>();
    let values: Vec<_> = terms.rows().map(|(a, b, c, d)| [a.0, b.0, c.0, d.0]).collect();
    assert_eq!(values, [[4, 1, 3, 2]]);
    let any = world.query::<Entity>().filter::<AnyOf<(Numbered<510>, Numbered<512>)>>();
    assert_eq!(any.rows().collect::<Vec<_>>(), [all]);
    assert_eq!(
        world.query::<Entity>().with::<Numbered<63>>().without::<Numbered<512>>().iter().count(),
        0
    );
}

#[test]
fn one_entity_may_have_all_components_of_a_word_and_more() {
    // A line for each of 129 columns is too wide for a chunk of 4 KiB.
    let mut world = World::new();
    let entity = world.spawn(Four(7));
    let zero: sixty_four!(0) = Zeroable::zeroed();
    let one: sixty_four!(64) = Zeroable::zeroed();
    world.insert(entity, zero).expect("room");
    world.insert(entity, one).expect("room");
    assert_eq!(world.reflect().archetypes().last().expect("one").components().len(), 129);
    assert!(world.has::<Numbered<127>>(entity));
    world.get_mut::<Numbered<100>>(entity).expect("there").0 = 5;
    world.remove::<sixty_four!(0)>(entity).expect("there");
    assert_eq!(world.get::<Numbered<100>>(entity), Ok(&Numbered(5)));
    assert_eq!(world.get::<Four>(entity), Ok(&Four(7)));
    sound(&world);
}

#[test]
fn a_world_of_more_than_4096_component_types_works() {
    let mut world = world_of!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
        34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
        65
    );
    told_apart!(world; 1 63 64 511 512 2047 2048 4094 4095 4096 4097 4222);
}

/// Gives an entity the eight sparse components from a number on.
macro_rules! eight_sides {
    ($world:ident, $entity:ident; $($n:literal)*) => {
        $($world.insert($entity, (
            Side::<{ 8 * $n }>(8 * $n), Side::<{ 8 * $n + 1 }>(8 * $n + 1),
            Side::<{ 8 * $n + 2 }>(8 * $n + 2), Side::<{ 8 * $n + 3 }>(8 * $n + 3),
            Side::<{ 8 * $n + 4 }>(8 * $n + 4), Side::<{ 8 * $n + 5 }>(8 * $n + 5),
            Side::<{ 8 * $n + 6 }>(8 * $n + 6), Side::<{ 8 * $n + 7 }>(8 * $n + 7),
        )).expect("alive");)*
    };
}

/// Rows with one sparse component, or with it and the first one, are told apart.
macro_rules! sides_told_apart {
    ($world:ident; $($n:literal)*) => {$(
        let alone = $world.spawn((Four($n), Side::<$n>(1)));
        let paired = $world.spawn((Four($n), Side::<$n>(2), Side::<0>(3)));
        assert!($world.has::<Side<$n>>(alone) && !$world.has::<Side<{ $n - 1 }>>(alone));
        assert!(!$world.has::<Side<{ $n + 1 }>>(alone) && !$world.has::<Side<0>>(alone));
        let query = $world.query::<(Entity, &Four, &Side<$n>)>().without::<Side<0>>();
        assert_eq!(query.rows().map(|(e, _, side)| (e, side.0)).collect::<Vec<_>>(), [(alone, 1)]);
        let query = $world.query::<&Four>().with::<Side<$n>>().with::<Side<0>>();
        assert_eq!(query.count_rows(), 1 + 1, "beside the one that has all");
        assert_eq!($world.remove::<Side<$n>>(alone), Ok(Side(1)));
        assert!($world.query::<Entity>().without::<Side<0>>().with::<Side<$n>>().is_empty());
        $world.despawn(paired).expect("alive");
        assert_eq!($world.sparse::<Side<$n>>().len(), 1);
    )*};
}

#[test]
fn rows_have_any_of_many_sparse_components() {
    let mut world = World::new();
    let all = world.spawn(Four(0));
    eight_sides!(world, all; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    assert_eq!(world.entity(all).expect("alive").sparse().count(), 136);
    assert_eq!(world.reflect().archetypes().filter(|one| !one.is_empty()).count(), 1);
    sides_told_apart!(world; 1 7 8 62 63 64 65 126 127 128 129 134);
    sound(&world);
    let hash = world.hash();
    world.memory_mut().compact(usize::MAX);
    sound(&world);
    assert_eq!(world.hash(), hash);
    let copy = world.spawn(Four(1));
    eight_sides!(world, copy; 16);
    assert_eq!(world.query::<(&Four, &Side<128>, &Side<135>)>().rows().count(), 2);
    world.despawn(all).expect("alive");
    assert_eq!(
        world.query::<(&Four, &Side<128>)>().rows().next().map(|(_, side)| side.0),
        Some(128)
    );
    assert!(world.query::<Entity>().with::<Side<127>>().is_empty());
    sound(&world);
}
