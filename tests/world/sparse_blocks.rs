//! The values of sparse components as slices, block by block: a random model knows the order of the
//! values and the step that wrote each block last.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use phalanx::Modified;
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Number, Owned, Tag, sound};
use crate::common::effort::effort;
use crate::common::world;

/// Two in a block.
#[component(sparse, plain)]
pub(crate) struct Half {
    pub(crate) value: u64,
    rest: [u64; 1023],
}

/// More than a block has bytes for.
#[component(sparse, plain)]
struct Huge {
    value: u64,
    rest: [u64; 2048],
}

/// No bytes: 16,384 in a block.
#[component(sparse, plain)]
struct Mark;

pub(crate) const HALVES: usize = 2;

pub(crate) fn half(value: u64) -> Half {
    Half { value, rest: [0; 1023] }
}

/// A set as it must be.
#[derive(Clone, Default)]
struct Model {
    order: Vec<Entity>,
    values: BTreeMap<Entity, u64>,
    /// The step that wrote each block last.
    steps: Vec<usize>,
    /// The version of the set, and the latest that it had.
    version: [u64; 2],
}

impl Model {
    fn change(&mut self) {
        self.version = [self.version[1] + 1; 2];
    }

    fn touch(&mut self, position: usize, step: usize) {
        let block = position / HALVES;
        self.steps.resize(self.steps.len().max(block + 1), 0);
        self.steps[block] = step;
        self.change();
    }

    fn write(&mut self, one: Entity, value: u64, step: usize) {
        if self.values.insert(one, value).is_none() {
            self.order.push(one);
        }
        let position = self.order.iter().position(|&other| other == one).unwrap();
        self.touch(position, step);
    }

    fn remove(&mut self, one: Entity, step: usize) {
        if self.values.remove(&one).is_some() {
            let position = self.order.iter().position(|&other| other == one).unwrap();
            self.order.swap_remove(position);
            self.touch(position, step);
            self.touch(self.order.len(), step);
        }
    }

    /// Adds one to all values of some blocks.
    fn write_blocks(&mut self, step: usize, blocks: impl Iterator<Item = usize>) {
        for block in blocks {
            for i in block * HALVES..self.order.len().min((block + 1) * HALVES) {
                *self.values.get_mut(&self.order[i]).unwrap() += 1;
            }
            self.touch(block * HALVES, step);
        }
    }

    fn restore(&mut self, saved: &Self, step: usize) {
        if saved.version[0] != self.version[0] {
            let latest = self.version[1];
            *self = Self { version: [saved.version[0], latest], ..saved.clone() };
            self.steps = vec![step; self.order.len().div_ceil(HALVES)];
        }
    }

    /// The blocks that a step after one has written.
    fn changed_since(&self, step: usize) -> Vec<usize> {
        let blocks = 0..self.order.len().div_ceil(HALVES);
        blocks.filter(|&block| self.steps[block] > step).collect()
    }

    fn block(&self, block: usize) -> Vec<(Entity, u64)> {
        let ids = self.order.chunks(HALVES).nth(block).unwrap();
        ids.iter().map(|one| (*one, self.values[one])).collect()
    }
}

/// The world, its model, and a state of both.
struct Pair {
    world: World,
    model: Model,
    saved: Option<(phalanx::snapshot::Snapshot, Model)>,
    /// The versions of the world after each step.
    versions: Vec<Version>,
}

impl Pair {
    fn apply(&mut self, (call, a, b): (u8, u8, u8)) {
        let step = self.versions.len();
        let Self { world, model, saved, .. } = self;
        let known: Vec<_> = world.query::<Entity>().filter::<IncludeHidden>().rows().collect();
        let Some(&one) = known.get(usize::from(a) % known.len().max(1)) else {
            world.spawn_batch((0..9).map(Four));
            return;
        };
        let value = u64::from(b) << 8;
        let since = usize::from(b) % step;
        let version = self.versions[since];
        match call % 14 {
            0 => model.write(world.spawn((Four(1), half(value))), value, step),
            1..=3 => {
                world.sparse_mut().insert(one, half(value)).unwrap();
                model.write(one, value, step);
            }
            4 => {
                world.sparse_mut::<Half>().remove(one);
                model.remove(one, step);
            }
            5 => {
                world.despawn(one).unwrap();
                model.remove(one, step);
            }
            6 => {
                if let Some(known) = world.sparse_mut::<Half>().get_mut(one) {
                    known.value = value;
                    model.write(one, value, step);
                }
            }
            7 => {
                let taken = usize::from(b) % 4;
                let mut halves = world.sparse_mut::<Half>();
                let blocks = halves.blocks_mut().take(taken).map(add_one).count();
                model.write_blocks(step, 0..blocks);
            }
            8 => {
                let mut halves = world.sparse_mut::<Half>();
                halves.blocks_mut().changed_since(version).for_each(add_one);
                model.write_blocks(step, model.changed_since(since).into_iter());
            }
            9..=11 => write_on_threads(world, model, call % 14, (since, version), step),
            12 => *saved = Some((world.snapshot().unwrap(), model.clone())),
            _ => {
                if let Some((state, saved)) = saved {
                    world.restore(state).unwrap();
                    model.restore(saved, step);
                }
            }
        }
    }

    fn check(&mut self) {
        let Self { world, model, versions, .. } = self;
        let values = |(ids, halves): (&[Entity], &[Half])| {
            assert_eq!(ids.len(), halves.len());
            ids.iter().zip(halves).map(|(one, half)| (*one, half.value)).collect::<Vec<_>>()
        };
        let halves = world.sparse::<Half>();
        for (step, version) in versions.iter().enumerate() {
            let found: Vec<_> = halves.blocks().changed_since(*version).map(values).collect();
            let expected = model.changed_since(step);
            let expected: Vec<_> = expected.iter().map(|&block| model.block(block)).collect();
            assert!(found == expected, "since step {step}: {found:?}, not {expected:?}");
        }
        let all: Vec<_> = halves.blocks().flat_map(values).collect();
        let known: Vec<_> = model.order.iter().map(|one| (*one, model.values[one])).collect();
        assert!(all == known, "{all:?}, not {known:?}");
        let hint = halves.blocks().size_hint();
        assert_eq!(hint, (halves.blocks().count(), Some(halves.blocks().count())));
    }
}

/// Passes on several threads, and of a system.
fn write_on_threads(
    world: &mut World,
    model: &mut Model,
    call: u8,
    (since, version): (usize, Version),
    step: usize,
) {
    match call {
        9 => {
            world.sparse_mut::<Half>().blocks_mut().changed_since(version).par_for_each(add_one);
            model.write_blocks(step, model.changed_since(since).into_iter());
        }
        10 => {
            // Those with a value that is a multiple of 512 are modified, and all others seen.
            let is_due = |value: u64| value.is_multiple_of(512);
            world.sparse_mut::<Half>().blocks_mut().par_for_each(|(ids, halves)| {
                match halves.iter().any(|one| is_due(one.value)) {
                    true => {
                        add_one((ids, halves));
                        Modified::Yes
                    }
                    false => Modified::No,
                }
            });
            let due = |&block: &usize| model.block(block).iter().any(|one| is_due(one.1));
            let due: Vec<_> = model.changed_since(0).into_iter().filter(due).collect();
            model.write_blocks(step, due.into_iter());
        }
        _ => {
            world.run(|mut halves: SparseMut<Half>| {
                halves.blocks_mut().take(1).for_each(add_one);
            });
            model.write_blocks(step, model.changed_since(0).into_iter().take(1));
        }
    }
}

fn add_one((_, halves): (&[Entity], &mut [Half])) {
    halves.iter_mut().for_each(|one| one.value += 1);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { effort(48) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn par_blocks_are_those_that_a_model_has_written(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..if cfg!(miri) { 16 } else { 80 }),
    ) {
        let world = world();
        let versions = vec![world.version()];
        let mut pair = Pair { world, model: Model::default(), saved: None, versions };
        for step in steps {
            pair.apply(step);
            pair.versions.push(pair.world.version());
            pair.check();
        }
        sound(&pair.world);
    }
}

#[test]
fn par_a_set_that_does_not_exist_has_no_blocks() {
    let mut world = world();
    assert_eq!(world.sparse::<Half>().blocks().size_hint(), (0, Some(0)));
    assert_eq!(world.sparse::<Half>().blocks().changed().count(), 0);
    world.sparse::<Half>().blocks().par_for_each(|_| -> () { panic!("there are none") });
    world.sparse_mut::<Half>().blocks_mut().par_for_each(|_| -> () { panic!("there are none") });
    let mut halves = world.sparse_mut::<Half>();
    let mut blocks = halves.blocks_mut();
    assert!(blocks.next().is_none() && blocks.next().is_none());
}

#[test]
fn par_one_value_is_a_block() {
    let mut world = world();
    let one = world.spawn(Number(4));
    world.sparse_mut::<Number>().blocks_mut().for_each(|(_, numbers)| numbers[0].0 += 1);
    world.sparse_mut::<Number>().blocks_mut().par_for_each(|(_, numbers)| numbers[0].0 += 1);
    let numbers = world.sparse::<Number>();
    assert!(numbers.blocks().eq([(&[one][..], &[Number(6)][..])]));
}

#[test]
fn par_values_without_bytes_are_counted_by_blocks() {
    let len = if cfg!(miri) { 20 } else { 40_000 };
    let mut world = world();
    let entities = world.spawn_batch((0..len).map(|_| Mark)).to_vec();
    let mut marks = world.sparse_mut::<Mark>();
    let lens: Vec<_> = marks.blocks().map(|(ids, marks)| (ids.len(), marks.len())).collect();
    let of = |chunk: &[Entity]| (chunk.len(), chunk.len());
    assert_eq!(lens, entities.chunks(16_384).map(of).collect::<Vec<_>>());
    let seen = AtomicUsize::new(0);
    marks.blocks_mut().par_for_each(|(ids, marks)| {
        assert_eq!(ids.len(), marks.len());
        seen.fetch_add(marks.len(), Relaxed);
    });
    assert_eq!(seen.into_inner(), len);
    sound(&world);
}

#[test]
fn a_value_that_is_larger_than_a_block_is_one() {
    let mut world = world();
    let huge = |value| Huge { value, rest: [0; 2048] };
    let entities: Vec<_> = (0..5).map(|i| world.spawn(huge(i))).collect();
    let before = world.version();
    let mut all = world.sparse_mut::<Huge>();
    all.blocks_mut().skip(3).take(1).for_each(|(_, huge)| huge[0].value = 100);
    let changed: Vec<_> = all.blocks().changed_since(before).map(|(ids, _)| ids).collect();
    // The blocks that are skipped are handed out, too.
    assert_eq!(changed, entities[..4].chunks(1).collect::<Vec<_>>());
    assert!(all.blocks().all(|(_, huge)| huge.len() == 1 && huge[0].rest == [0; 2048]));
}

#[test]
fn values_are_replaced_in_a_slice_and_dropped_once() {
    let mut world = world();
    let owner = Arc::new(7);
    let owned = |_| Owned(Arc::clone(&owner));
    world.spawn_batch((0..10).map(owned));
    let other = Arc::new(8);
    for (_, all) in world.sparse_mut::<Owned>().blocks_mut() {
        all.swap(0, 9);
        all.iter_mut().step_by(2).for_each(|one| one.0 = Arc::clone(&other));
    }
    assert_eq!([Arc::strong_count(&owner), Arc::strong_count(&other)], [6; 2]);
    world.clear();
    assert_eq!([Arc::strong_count(&owner), Arc::strong_count(&other)], [1; 2]);
}

#[test]
fn par_a_snapshot_shares_the_values_of_a_pass_that_hands_out_none() {
    let mut world = world();
    world.spawn_batch((0..6).map(half));
    let state = world.snapshot().unwrap();
    let now = world.version();
    let is_reported =
        |world: &World, since| world.query::<&Half>().changed_since(since).count_rows();
    let mut halves = world.sparse_mut::<Half>();
    assert_eq!(halves.blocks_mut().changed_since(now).count(), 0);
    halves.blocks_mut().par_for_each(|_| Modified::No);
    drop(halves.blocks_mut());
    world.restore(&state).unwrap();
    assert_eq!(is_reported(&world, now), 0, "nothing was restored");
    // A pass that ends early has handed out one block.
    let mut halves = world.sparse_mut::<Half>();
    let mut pass = halves.blocks_mut();
    pass.next().unwrap().1[0].value = 100;
    assert_eq!(is_reported(&world, now), 2);
    world.restore(&state).unwrap();
    assert!(world.sparse::<Half>().iter().map(|(_, half)| half.value).eq(0..6));
    assert_eq!(is_reported(&world, now), 6, "all were restored");
}

/// A pool of threads that a test may have for itself.
fn in_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(work)
}

/// Work that several threads share.
fn spin() {
    let rounds = if cfg!(miri) { 1 } else { 300 };
    (0..rounds).for_each(|i| _ = std::hint::black_box(i));
}

#[test]
fn par_each_value_is_visited_once_on_any_number_of_threads() {
    let len: u32 = if cfg!(miri) { 100 } else { 10_000 };
    for threads in 1..5 {
        let mut world = world();
        world.spawn_batch((0..len).map(|i| (Four(i), Number(i))));
        in_threads(threads, || {
            world.sparse_mut::<Number>().blocks_mut().par_for_each(|(ids, numbers)| {
                assert_eq!(ids.len(), numbers.len());
                numbers.iter_mut().for_each(|one| {
                    spin();
                    one.0 += 1;
                });
            });
            let sum = AtomicUsize::new(0);
            world.sparse::<Number>().blocks().par_for_each(|(_, numbers)| {
                numbers.iter().for_each(|one| {
                    spin();
                    sum.fetch_add(one.0 as usize, Relaxed);
                });
            });
            assert_eq!(sum.into_inner(), (1..=len as usize).sum::<usize>());
        });
        let rows = world.query::<(&Four, &Number)>();
        assert!(rows.rows().all(|(four, number)| number.0 == four.0 + 1));
    }
}

#[test]
fn par_a_panic_marks_its_block_and_leaves_a_world_that_works() {
    let blocks: u64 = if cfg!(miri) { 6 } else { 60 };
    for threads in if cfg!(miri) { 2..3 } else { 1..4 } {
        let mut world = world();
        world.spawn_batch((0..2 * blocks).map(|i| (Four(0), half(i))));
        let state = world.snapshot().unwrap();
        let before = world.version();
        let torn = 2 * blocks - 4;
        let text = in_threads(threads, || {
            let pass = || {
                world.sparse_mut::<Half>().blocks_mut().par_for_each(|(_, halves)| {
                    for one in halves {
                        (0..40).for_each(|_| spin());
                        assert!(one.value != torn, "halfway");
                        one.value += 1000;
                    }
                });
            };
            catch_unwind(AssertUnwindSafe(pass)).unwrap_err()
        });
        assert_eq!(text.downcast_ref::<&str>(), Some(&"halfway"));
        let halves = world.sparse::<Half>();
        let is_changed = |half: &Half| half.value >= 1000 || half.value / 2 == torn / 2;
        let changed: Vec<_> = halves.blocks().changed_since(before).map(|(ids, _)| ids).collect();
        let written = halves.blocks().filter(|(_, halves)| halves.iter().any(is_changed));
        assert_eq!(changed, written.map(|(ids, _)| ids).collect::<Vec<_>>(), "{threads} threads");
        drop(halves);
        sound(&world);
        world.restore(&state).unwrap();
        assert!(world.sparse::<Half>().iter().map(|(_, half)| half.value).eq(0..2 * blocks));
    }
}

#[test]
fn par_systems_write_blocks_and_see_those_that_others_have_changed() {
    #[derive(Default)]
    struct Seen([Vec<usize>; 2]);

    let mut world = world();
    world.insert_resource(Seen::default());
    let all = world.spawn_batch((0..10).map(|i| (Four(1), half(i)))).to_vec();
    world.spawn_batch([Tag; 5]);
    let mut schedule = Schedule::new();
    schedule.add((
        |mut halves: SparseMut<Half>, mut seen: ResMut<Seen>| {
            let changed = halves.blocks().changed().count();
            assert_eq!(halves.blocks_mut().changed().map(add_one).count(), changed);
            seen.0[0].push(changed);
        },
        |halves: Sparse<Half>, mut seen: ResMut<Seen>| {
            let visited = AtomicUsize::new(0);
            halves
                .blocks()
                .changed()
                .par_for_each(|(_, all)| _ = visited.fetch_add(all.len(), Relaxed));
            seen.0[1].push(visited.into_inner());
        },
    ));
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    world.get_mut::<Half>(all[3]).unwrap().value = 100;
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    let Seen([written, read]) = &*world.resource::<Seen>().unwrap();
    assert_eq!(written, &[5, 0, 1, 0]);
    assert_eq!(read, &[10, 0, 2, 0]);
    assert_eq!(world.get::<Half>(all[3]).unwrap().value, 101);
}
