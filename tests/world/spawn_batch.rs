//! Many entities at once, from iterators that lie, stop, or panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::error::SpawnError;
use phalanx::prelude::*;

use crate::common::components::{Four, Other, Twelve, sound};
use crate::common::world;

/// `rows` rows from an iterator that reports `hint` as its length.
struct Liar {
    rows: u32,
    given: u32,
    hint: (usize, Option<usize>),
}

impl Liar {
    fn new(rows: u32, hint: (usize, Option<usize>)) -> Self {
        Self { rows, given: 0, hint }
    }
}

impl Iterator for Liar {
    type Item = (Four, Twelve);

    fn next(&mut self) -> Option<(Four, Twelve)> {
        let i = self.given;
        if i == self.rows {
            return None;
        }
        self.given += 1;
        Some((Four(i), Twelve([i; 3])))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.hint
    }
}

#[test]
fn an_iterator_that_lies_about_its_length_spawns_what_it_yields() {
    let rows_max = if cfg!(miri) { 40 } else { 5_000 };
    // Miri tries some of each.
    let step = if cfg!(miri) { 2 } else { 1 };
    for rows in [0, 1, 15, 16, 17, rows_max].into_iter().rev().step_by(step * step) {
        let lowers = [0, 1, rows as usize / 2, rows as usize * 3 + 1, usize::MAX];
        for lower in lowers.into_iter().step_by(step * step) {
            for upper in [None, Some(0), Some(usize::MAX)].into_iter().step_by(step) {
                for before in [0, 5, 16].into_iter().step_by(step) {
                    let mut world = world();
                    world.spawn_batch((0..before).map(|i| (Four(i), Twelve([i; 3]))));
                    let entities = world.spawn_batch(Liar::new(rows, (lower, upper))).to_vec();
                    assert_eq!(entities.len(), rows as usize);
                    sound(&world);
                    for (i, &entity) in (0..).zip(&entities) {
                        assert_eq!(world.get::<Four>(entity), Ok(&Four(i)));
                        assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([i; 3])));
                    }
                    assert_eq!(world.len(), (rows + before) as usize);
                }
            }
        }
    }
}

#[test]
fn an_iterator_that_goes_on_after_its_end_has_ended() {
    let mut world = world();
    let mut calls = 0;
    let broken = std::iter::from_fn(|| {
        calls += 1;
        (calls % 20 != 0).then_some(Four(calls))
    });
    assert_eq!(world.spawn_batch(broken).len(), 19);
    sound(&world);
}

#[test]
fn an_empty_batch_spawns_nothing_and_stamps_nothing() {
    let mut world = world();
    world.spawn_batch((0..20).map(Four));
    let before = world.version();
    assert!(world.spawn_batch(std::iter::empty::<Four>()).is_empty());
    assert!(world.spawn_columns(&[] as &[Four]).expect("nothing").is_empty());
    assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 0);
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(before).iter().count(), 0);
    sound(&world);
}

#[test]
fn batches_of_nothing_are_entities_without_components() {
    let mut world = world();
    assert_eq!(world.spawn_batch([(); 40]).len(), 40);
    assert!(world.spawn_columns(()).expect("no columns").is_empty());
    assert_eq!(world.query::<Entity>().iter().flatten().count(), 40);
    sound(&world);
}

#[test]
fn a_batch_above_the_limit_spawns_none() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).entities_max(400).build();
    let kept = world.spawn_batch((0..390).map(Four)).to_vec();
    let memory = world.memory();
    for rows in [11, 1_000, 3_000] {
        let error = world.try_spawn_batch((0..rows).map(Four)).expect_err("too many");
        assert!(matches!(error, SpawnError::Exhausted(_)), "{error}");
        sound(&world);
        assert_eq!(world.memory().block_bytes, memory.block_bytes, "blocks went back");
    }
    let columns = vec![Four(0); 2_000];
    assert!(world.spawn_columns(&columns[..]).is_err());
    assert_eq!(world.len(), 390);
    assert_eq!(world.spawn_batch((390..400).map(Four)).len(), 10);
    assert!(world.try_spawn(Four(0)).is_err() && world.try_spawn(Twelve([0; 3])).is_err());
    assert!(kept.iter().all(|&e| world.contains(e)));
    let values: Vec<_> = world.query::<&Four>().iter().flatten().map(|f| f.0).collect();
    assert_eq!(values, (0..400).collect::<Vec<_>>());
    sound(&world);
}

#[test]
fn a_failed_spawn_into_a_new_chunk_gives_the_chunk_back() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).entities_max(1024).build();
    world.spawn_batch((0..1024).map(Four));
    assert!(world.try_spawn(Four(0)).is_err());
    assert!(world.spawn_at(Entity::from_bits(1), Four(0)).is_err());
    sound(&world);
}

#[test]
fn ids_freed_by_many_are_used_again_by_a_batch_in_its_order() {
    let mut world = world();
    let old = world.spawn_batch((0..50).map(Four)).to_vec();
    for &entity in old.iter().step_by(2) {
        world.despawn(entity).expect("alive");
    }
    let new = world.spawn_batch((0..40).map(|i| (Four(i + 100), Other))).to_vec();
    for (i, &entity) in (0..).zip(&new) {
        assert_eq!(world.get::<Four>(entity), Ok(&Four(i + 100)));
    }
    assert!(new.iter().all(|e| !old.contains(e)), "no old id is alive again");
    assert_eq!(new.iter().filter(|e| e.index() < 50).count(), 25, "indices are");
    sound(&world);
}

/// Panics when it is asked for its iterator.
struct NoIterator;

impl IntoIterator for NoIterator {
    type Item = Four;
    type IntoIter = std::iter::Empty<Four>;

    fn into_iter(self) -> Self::IntoIter {
        panic!("there is no iterator")
    }
}

#[test]
fn what_panics_before_there_is_an_iterator_leaves_the_world_unchanged() {
    let mut world = world();
    let reserved = world.reserve_entity().expect("an id");
    let before = (world.version(), world.hash());
    let spawn = |world: &mut World| world.spawn_batch(NoIterator).len();
    let attempt = |world: &mut World| world.try_spawn_batch(NoIterator).map(<[_]>::len);
    catch_unwind(AssertUnwindSafe(|| spawn(&mut world))).expect_err("it panics");
    catch_unwind(AssertUnwindSafe(|| attempt(&mut world))).expect_err("it panics");
    assert_eq!((world.version(), world.hash()), before);
    assert!(world.contains(reserved), "it is reserved still");
    sound(&world);
}
