//! The promises of `World::hash`, tested with random operations: reading never changes it, and
//! worlds of equal hash answer the same calls alike.
#![forbid(unsafe_code)]

use crate::common::effort::effort;
use phalanx::prelude::*;
use phalanx::testing::{Difference, compare};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct A(u32);
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct B([u32; 3]);
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct C(u64);
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Tag;
impl_component!(A, B, C, Tag);

/// An operation, and two numbers that parametrise it.
type Operation = (u8, u32, u32);

fn operations(max: usize) -> impl Strategy<Value = Vec<Operation>> {
    let max = if cfg!(miri) { max / 8 } else { max };
    prop::collection::vec((0u8..20, 0u32..64, 0u32..64), 0..max)
}

/// A world, and the knowledge of its caller.
struct Driven {
    world: World,
    ids: Vec<Entity>,
    /// Whether reserved ids wait for the next change of the world.
    waits: bool,
    answers: Vec<String>,
}

impl Driven {
    fn new() -> Self {
        let world = World::builder().chunk_size(ChunkSize::KIB_4).entities_max(600).build();
        Self { world, ids: Vec::new(), waits: false, answers: Vec::new() }
    }

    fn answer(&mut self, answer: impl std::fmt::Debug) {
        self.answers.push(format!("{answer:?}"));
    }

    fn pick(&self, n: u32) -> Entity {
        match self.ids.len() {
            0 => Entity::NULL,
            len => self.ids[n as usize % len],
        }
    }

    fn spawn(&mut self, n: u32) {
        let world = &mut self.world;
        let spawned = match n % 6 {
            0 => world.try_spawn(A(n)),
            1 => world.try_spawn((A(n), B([n; 3]))),
            2 => world.try_spawn((B([n; 3]), C(n.into()))),
            3 => world.try_spawn((C(n.into()), Tag)),
            4 => world.try_spawn((Tag, C(1), B([2; 3]), A(n))),
            _ => world.try_spawn(()),
        };
        self.ids.extend(spawned);
        self.answer(spawned);
    }

    fn change(&mut self, kind: u8, n: u32) {
        let (id, world) = (self.pick(n), &mut self.world);
        let answer = match kind {
            0 => format!("{:?}", world.despawn(id)),
            1 => format!("{:?}", world.insert(id, (B([n; 3]), Tag))),
            2 => format!("{:?}", world.insert(id, C(n.into()))),
            3 => format!("{:?}", world.remove::<Tag>(id)),
            4 => format!("{:?}", world.exchange::<A, _>(id, C(3))),
            5 => format!("{:?}", world.get_mut::<A>(id).map(|a| a.0 += 1)),
            _ => format!("{:?}", world.get_mut::<C>(id).map(|c| c.0 += 1)),
        };
        self.answers.push(answer);
    }

    fn record(&mut self, n: u32, m: u32) {
        let id = self.pick(m);
        let mut buffer = match self.world.command_buffer(n % 9) {
            Ok(buffer) => buffer,
            Err(error) => return self.answer(error),
        };
        for i in 0..n % 7 {
            let spawned = buffer.try_spawn(A(i));
            self.ids.extend(spawned.as_ref().ok());
            self.answer(spawned);
        }
        if n.is_multiple_of(2) {
            buffer.despawn(id);
            let applied = self.world.apply(&mut buffer).map_err(|error| error.to_string());
            self.answer(applied.map_err(|error| error.len()));
        }
    }

    fn apply(&mut self, &(kind, n, m): &Operation) {
        self.waits = (10..12).contains(&kind);
        match kind {
            0..3 => self.spawn(n),
            3..10 => self.change(kind - 3, n),
            10 => {
                let reserved = self.world.reserve_entity();
                self.ids.extend(reserved);
                self.answer(reserved);
            }
            11 => {
                let reserved = self.world.reserve_entities(n % 5).map(Iterator::collect);
                let reserved: Vec<Entity> = reserved.unwrap_or_default();
                self.answer(&reserved);
                self.ids.extend(reserved);
            }
            12 => {
                let rows = (0..n).map(|i| (A(i), Tag));
                let spawned = self.world.try_spawn_batch(rows).map(<[Entity]>::to_vec);
                self.answer(&spawned);
                self.ids.extend(spawned.unwrap_or_default());
            }
            13 => {
                let prototype = self.pick(n);
                let copies = self.world.instantiate(prototype, m as usize).map(<[Entity]>::to_vec);
                self.answer(copies);
            }
            14 | 15 => {
                let near = self.pick(n);
                let index = if kind == 14 { u64::from(n * 10) } else { u64::from(near.index()) };
                let id = Entity::from_bits(index << 32 | u64::from(m % 4));
                let spawned = self.world.spawn_at(id, A(n));
                self.answer(spawned);
                self.ids.push(id);
            }
            16 => self.record(n, m),
            17 => {
                for a in self.world.query_mut::<&mut A>().without::<C>().iter_mut().flatten() {
                    a.0 ^= n;
                }
            }
            18 if n < 4 => self.world.clear(),
            18 => {
                let despawned = self.world.matching::<Entity>().with::<Tag>().despawn();
                self.answer(despawned);
            }
            _ => {
                let inserted = self.world.matching::<&C>().insert(Tag);
                self.answer(inserted);
            }
        }
    }

    /// Reads in a way that depends on two numbers, and reserves or frees room if no id waits.
    fn look(&mut self, n: u32, m: u32) {
        let (world, id) = (&self.world, self.pick(m));
        let _ = match n % 9 {
            0 => world.query::<&C>().with::<Tag>().iter().count(),
            1 => world.query::<(&B, Option<&C>, &A)>().count_rows(),
            2 => world.query::<(Entity, &Tag)>().copies().entities().len(),
            3 => world.query::<(&B, Entity)>().explain().to_string().len(),
            4 => world.explain().to_string().len(),
            5 => usize::from(world.has::<C>(id)) + usize::from(world.get::<B>(id).is_ok()),
            6 => usize::from(world.lookup::<C>().get(id).is_ok()),
            7 => world.reflect().archetypes().map(|archetype| archetype.components().len()).sum(),
            _ => world.memory().row_bytes + usize::from(world.contains(id)),
        };
        if !self.waits {
            match m % 4 {
                0 => assert!(self.world.memory_mut().compact(1000).rows_moved <= 1000),
                1 => self.world.memory_mut().grow_indices(500).expect("room"),
                2 => assert!(self.world.query_mut::<(&Tag, &A, &C)>().iter_mut().count() < 600),
                _ => {}
            }
        }
    }

    /// Everything that can be asked without changing the world.
    fn view(&self) -> String {
        let world = &self.world;
        let rows = world.query::<(Entity, Option<&A>, Option<&B>, Option<&C>, Option<&Tag>)>();
        let rows: Vec<_> = rows.rows().map(|row| format!("{row:?}")).collect();
        let chunks: Vec<_> = world.query::<Entity>().iter().map(<[_]>::len).collect();
        let changed: Vec<_> = (0..world.version().to_bits() + 1)
            .rev()
            .take(20)
            .map(|bits| {
                let since = Version::from_bits(bits);
                let a = world.query::<&A>().changed_since(since).count_rows();
                let b = world.query::<&B>().changed_since(since).count_rows();
                (a, b, world.query::<&A>().filter_since::<Arrived>(since).count_rows())
            })
            .collect();
        let names = world.reflect().archetypes().flat_map(|archetype| archetype.components());
        let names: Vec<_> = names.map(|info| info.name()).collect();
        let known: Vec<_> = self.ids.iter().map(|&id| world.contains(id)).collect();
        format!("{rows:?} {chunks:?} {changed:?} {names:?} {known:?} {:?}", world.version())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(16) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn looking_never_changes_it_and_equal_worlds_answer_alike(
        first in operations(60),
        looks in prop::collection::vec((0u32..64, 0u32..64), 1..20),
        then in operations(60),
    ) {
        let (mut plain, mut looked) = (Driven::new(), Driven::new());
        let mut looks = looks.iter().cycle();
        for operation in &first {
            plain.apply(operation);
            looked.apply(operation);
            for &(n, m) in looks.by_ref().take(2) {
                looked.look(n, m);
                prop_assert_eq!(plain.world.hash(), looked.world.hash(), "look {} {}", n, m);
            }
        }
        prop_assert_eq!(&plain.answers, &looked.answers);
        prop_assert_eq!(plain.view(), looked.view());
        for operation in &then {
            plain.apply(operation);
            looked.apply(operation);
            prop_assert_eq!(&plain.answers, &looked.answers);
            prop_assert_eq!(plain.view(), looked.view());
            prop_assert_eq!(plain.world.hash(), looked.world.hash());
        }
        prop_assert_eq!(looked.world.check(), Ok(()));
    }

    /// Two histories rarely lead to equal hashes, so they are short and from few operations here.
    #[test]
    fn worlds_of_equal_hash_answer_alike_whatever_their_history(
        histories in [histories(), histories()],
        then in operations(40),
    ) {
        let [a, b] = &mut [Driven::new(), Driven::new()];
        for (driven, history) in [(&mut *a, &histories[0]), (&mut *b, &histories[1])] {
            history.iter().for_each(|operation| driven.apply(operation));
            driven.answers.clear();
            driven.ids = (0..80).map(|n| Entity::from_bits(((n / 4) << 32) | (n % 4))).collect();
        }
        if a.world.hash() == b.world.hash() {
            for operation in &then {
                a.apply(operation);
                b.apply(operation);
                prop_assert_eq!(&a.answers, &b.answers);
                prop_assert_eq!(a.view(), b.view());
            }
        } else {
            prop_assert_ne!(&histories[0], &histories[1]);
        }
    }
}

/// Histories of spawns, reservations, ends and buffers with few numbers.
fn histories() -> impl Strategy<Value = Vec<Operation>> {
    let kinds = prop::sample::select(vec![0u8, 3, 10, 11, 14, 16]);
    prop::collection::vec((kinds, 0u32..4, 0u32..2), 0..4)
}

/// Cases that the random histories are too short for.
#[test]
fn what_waits_and_what_came_back_decides() {
    let world = || {
        let mut world = World::new();
        world.spawn_batch((0..10).map(A));
        world
    };
    let plain = world().hash();
    let reserved = world();
    let id = reserved.reserve_entity().expect("an id");
    assert_ne!(reserved.hash(), plain, "the next id is another");
    assert_eq!(id.index(), 10);
    let mut dropped = world();
    assert!(dropped.command_buffer(100).is_ok());
    assert_eq!(dropped.hash(), plain, "free indices beyond the end are as good as none");
    dropped.query_mut::<Entity>().iter_mut().for_each(drop);
    assert_eq!(dropped.hash(), plain, "and so they are when they have been taken back");
    let mut room = world();
    room.memory_mut().grow_indices(1000).expect("room");
    assert_eq!(room.hash(), plain, "and so is room for them");
    assert_eq!([room.spawn(A(0)), dropped.spawn(A(0))], [world().spawn(A(0)); 2]);
}

/// Two worlds with the same rows in which an index goes on with different generations.
#[test]
fn the_generation_after_an_old_id_decides() {
    let world = |newest: u64| {
        let mut world = World::new();
        let old = world.spawn(A(1));
        world.despawn(old).expect("alive");
        let newer = Entity::from_bits(newest);
        world.spawn_at(newer, A(1)).expect("free");
        world.despawn(newer).expect("alive");
        world.spawn_at(old, A(1)).expect("free");
        world
    };
    let [mut a, mut b] = [7, 8].map(world);
    assert_eq!(a.version(), b.version());
    assert_eq!(a.query::<Entity>().copies().entities(), b.query::<Entity>().copies().entities());
    assert_ne!(a.hash(), b.hash());
    for (world, next) in [(&mut a, 8), (&mut b, 9)] {
        world.despawn(Entity::from_bits(1)).expect("alive");
        assert_eq!(world.spawn(A(1)), Entity::from_bits(next));
    }
}

/// Worlds of equal hash and different memory: `few` rows lie in a small block or, after a
/// reservation, in a chunk; `many` rows in a chunk that has no room for all of them.
#[test]
fn rows_come_in_one_order_from_small_blocks_and_from_chunks() {
    let moved = |few: u32, many: u32, room: usize, compacts: bool| {
        let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
        world.spawn_batch((0..many).map(|i| (A(i), Tag)));
        world.reserve::<A>(room).expect("room");
        world.spawn_batch((0..few).map(A));
        if compacts {
            world.memory_mut().compact(usize::MAX);
        }
        let before = world.hash();
        assert_eq!(world.matching::<&A>().without::<Tag>().insert(Tag), Ok(few as usize));
        assert_eq!(world.check(), Ok(()));
        (before, world.query::<Entity>().copies().entities(), world.hash())
    };
    // 4 KiB hold 1,024 rows of four bytes, a small block of 1 KiB holds 256.
    for many in [1, 200, 256, 900, 1000, 1023, 1024, 1025, 2040] {
        for few in [1, 2, 100, 128, 255, 256] {
            let small = moved(few, many, 0, false);
            assert_eq!(moved(few, many, 1, false), small, "{few} rows in a chunk, to {many}");
            assert_eq!(moved(few, many, 1, true), small, "{few} compact rows, to {many}");
        }
    }
}

/// The limit of a batch of unknown length is checked at the end of a chunk, whether or not it began
/// in a small block.
#[test]
fn batches_are_refused_alike_in_small_blocks_and_in_chunks() {
    let spawned = |rows: u32, room: usize| {
        let builder = World::builder().chunk_size(ChunkSize::KIB_4);
        let mut world = builder.request_bytes_max(4000).build();
        world.reserve::<A>(room).expect("room");
        let unknown = (0..rows).filter(|_| true).map(A);
        let spawned = world.try_spawn_batch(unknown).map(<[Entity]>::len);
        (spawned.map_err(|error| error.to_string()), world.hash())
    };
    for rows in [1, 256, 257, 300, 1023, 1024, 1025, 3000] {
        assert_eq!(spawned(rows, 0), spawned(rows, 1), "{rows} rows");
    }
}

#[test]
fn the_first_enable_bit_that_differs_is_named() {
    #[component(enableable)]
    struct Lit(u32);
    let with = |disabled: &[usize]| {
        let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
        let entities = world.spawn_batch((0..1_000).map(Lit)).to_vec();
        for &row in disabled {
            world.set_enabled::<Lit>(entities[row], false).expect("it has it");
        }
        world
    };
    assert_eq!(compare(&with(&[3, 999]), &with(&[3, 999])), Ok(()));
    let difference = compare(&with(&[3, 999]), &with(&[3])).expect_err("the last one");
    let Difference::State { row: 999, expected: "disabled", .. } = difference else {
        panic!("an enable bit: {difference}")
    };
    assert!(difference.to_string().contains("disabled in one world, and enabled in the other"));
    assert!(compare(&with(&[]), &with(&[7])).is_err());
}
