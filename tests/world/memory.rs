//! The cost of a world in bytes and in calls of the allocator, counted by the allocator itself.
//!
//! The counters are thread-local, so that the test harness, on its own thread, is not counted.

#![cfg(not(miri))] // A million rows are too many, and Miri's allocator is not the one counted.
#![expect(unsafe_code, reason = "a counting allocator is an allocator, whose trait is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use phalanx::prelude::*;

use crate::common;
use crate::common::effort::effort;

/// The system's allocator, with a count of the allocated bytes.
struct Counting;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// All bytes that were ever allocated.
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    /// The most bytes at once.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is the system allocator's own; the counters touch no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get().wrapping_add(layout.size()));
        PEAK.set(PEAK.get().max(BYTES.get().cast_signed()));
        CALLS.set(CALLS.get() + 1);
        ALLOCATED.set(ALLOCATED.get().wrapping_add(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get().wrapping_sub(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of `f`, and the bytes that are still allocated afterwards.
pub(crate) fn bytes<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.get();
    let kept = f();
    (kept, BYTES.get().wrapping_sub(before))
}

/// The result of `f`, and by how many bytes it exceeded those before it, at most.
pub(crate) fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.get().cast_signed();
    PEAK.set(before);
    (f(), (PEAK.get() - before).cast_unsigned())
}

/// The number of calls of the allocator by `f`.
fn calls(f: impl FnOnce()) -> usize {
    let before = CALLS.get();
    f();
    CALLS.get() - before
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Position([f32; 3]);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Velocity([f32; 3]);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Bit<const N: usize>(u32);
impl_component!(Position, Velocity);

macro_rules! bits {
    ($($n:literal)*) => {
        $(impl_component!(Bit<$n>);)*

        /// Gives the entity the components with set bits.
        fn set_bits(world: &mut World, entity: Entity, bits: u32) {
            $(if bits >> $n & 1 == 1 {
                world.insert(entity, Bit::<$n>(bits)).expect("room");
            })*
        }
    };
}

bits!(0 1 2 3 4 5 6 7 8 9 10 11 12 13);

const MILLION: usize = 1_000_000;
const MIB: usize = 1 << 20;

fn row(i: usize) -> (Position, Velocity) {
    (Position([i as f32; 3]), Velocity([1.0; 3]))
}

/// A million entities of 24 bytes take 1.05 of their columns and 24 bytes each, at most.
fn a_million_entities_are_lean(failures: &mut Vec<String>) {
    type Spawn = fn(&mut World);
    let spawners: [(&str, Spawn); 3] = [
        ("one by one", |world| {
            for i in 0..MILLION {
                world.spawn(row(i));
            }
        }),
        ("by batch", |world| {
            world.spawn_batch((0..MILLION).map(row));
        }),
        ("by batch of unknown length", |world| {
            world.spawn_batch((0..MILLION * 2).filter(|i| i % 2 == 0).map(row));
        }),
    ];
    for (how, spawn) in spawners {
        let (world, taken) = bytes(|| {
            let mut world = common::world();
            spawn(&mut world);
            world
        });
        assert_eq!(world.len(), MILLION);
        // A slab has 63 chunks or more. Above 16 KiB, a slab is more than a few hundredths of the
        // columns; untouched parts of it are reserved, not committed.
        let slack = match world.chunk_size().bytes() {
            ..=16_384 => 0,
            bytes => 64 * bytes + 2 * MIB,
        };
        let limit = MILLION * 24 * 105 / 100 + MILLION * 24 + slack;
        if taken > limit {
            failures.push(format!("a million entities {how}: {taken} bytes, above {limit}"));
        }
        let memory = world.memory();
        let said = memory.slab_bytes + memory.bookkeeping_bytes;
        if said > taken || said + MIB < taken {
            failures.push(format!("a million entities {how}: says {said} bytes, took {taken}"));
        }
        let full = BYTES.get();
        drop(world);
        assert_eq!(full.wrapping_sub(BYTES.get()), taken, "everything goes back");
    }
}

/// Ten thousand archetypes of one row each take 40 MB at most.
fn ten_thousand_archetypes_are_lean(failures: &mut Vec<String>) {
    let (world, taken) = bytes(|| {
        let mut world = common::world();
        for bits in 1..=10_000 {
            let entity = world.spawn(());
            set_bits(&mut world, entity, bits);
        }
        world
    });
    let kinds = world.reflect().archetypes().filter(|a| a.len() == 1).count();
    assert_eq!(kinds, 10_000);
    assert_eq!(world.check(), Ok(()));
    let memory = world.memory();
    let said = memory.slab_bytes + memory.bookkeeping_bytes;
    if taken > 40_000_000 || said > 40_000_000 {
        failures.push(format!("10,000 archetypes: says {said} bytes, took {taken}"));
    }
    let query = world.query::<(Entity, &Bit<3>)>().without::<Bit<4>>();
    assert_eq!(query.rows().count(), (1..=10_000u32).filter(|b| b & 0b11000 == 0b1000).count());
}

/// A world that went through 10,000 archetypes, all of them removed, takes at most ten times the
/// memory of a world with the same types and queries that has had one archetype.
fn archetypes_are_given_back(failures: &mut Vec<String>) {
    let through = |archetypes: u32| {
        bytes(|| {
            let mut world = common::world();
            for bits in (1..=archetypes).rev() {
                let entity = world.spawn(());
                set_bits(&mut world, entity, if archetypes == 1 { u32::MAX } else { bits });
                let query = world.query::<(Entity, &Bit<3>)>().without::<Bit<4>>();
                assert_eq!(query.rows().count(), usize::from(bits >> 3 & 0b11 == 1));
                world.despawn(entity).expect("alive");
            }
            world.memory_mut().retire_archetypes();
            while !world.memory_mut().compact(usize::MAX).finished {}
            world
        })
    };
    let (new, least) = through(1);
    let (old, taken) = through(10_000);
    assert_eq!((new.reflect().archetypes().len(), old.reflect().archetypes().len()), (0, 0));
    assert_eq!(old.check(), Ok(()));
    if taken > 10 * least {
        failures.push(format!("after 10,000 archetypes: {taken} bytes, {least} after one"));
    }
}

/// After `reserve`, spawning this many rows calls no allocator.
fn reserved_rows_are_spawned_without_allocation(failures: &mut Vec<String>) {
    let mut expect_none = |what: &str, calls: usize| {
        if calls > 0 {
            failures.push(format!("{what}: {calls} calls of the allocator"));
        }
    };
    for rows in [1, 16, 40, 41, 42, 43, 1_000, 100_000] {
        let mut world = common::world();
        world.reserve::<(Position, Velocity)>(rows).expect("fits");
        expect_none(
            &format!("{rows} reserved rows, one by one"),
            calls(|| (0..rows).for_each(|i| _ = world.spawn(row(i)))),
        );
        let mut world = common::world();
        world.spawn(row(0));
        world.reserve::<(Position, Velocity)>(rows).expect("fits");
        expect_none(
            &format!("{rows} rows reserved behind one, one by one"),
            calls(|| (0..rows).for_each(|i| _ = world.spawn(row(i)))),
        );
        let mut world = common::world();
        world.reserve::<(Position, Velocity)>(rows).expect("fits");
        expect_none(
            &format!("{rows} reserved rows, by batch"),
            calls(|| _ = world.spawn_batch((0..rows).map(row))),
        );
    }
    let mut world = common::world();
    world.reserve::<Position>(50_000).expect("fits");
    world.reserve::<Velocity>(50_000).expect("fits");
    expect_none(
        "two bundles reserved side by side",
        calls(|| {
            (0..50_000).for_each(|i| _ = world.spawn(row(i).0));
            (0..50_000).for_each(|i| _ = world.spawn(row(i).1));
        }),
    );
}

/// In a steady state no operation allocates: queries, moves along known edges, spawn after despawn.
fn the_steady_state_calls_no_allocator(failures: &mut Vec<String>) {
    let mut world = common::world();
    let mut entities = world.spawn_batch((0..20_000).map(row)).to_vec();
    let frame = |world: &mut World, entities: &mut Vec<Entity>| {
        for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>() {
            position.iter_mut().zip(velocity).for_each(|(p, v)| p.0[0] += v.0[0]);
        }
        let before = Version::NEVER;
        let _ =
            world.query::<(Entity, &Position)>().changed_since::<Position>(before).iter().count();
        for &entity in &entities[..1_000] {
            world.insert(entity, Bit::<0>(1)).expect("room");
        }
        for &entity in &entities[..1_000] {
            world.remove::<Bit<0>>(entity).expect("there");
            world.despawn(entity).expect("alive");
        }
        for (i, entity) in entities.iter_mut().enumerate().take(1_000) {
            *entity = world.spawn(row(i));
        }
    };
    for _ in 0..3 {
        frame(&mut world, &mut entities);
    }
    let count = calls(|| (0..10).for_each(|_| frame(&mut world, &mut entities)));
    if count > 0 {
        failures.push(format!("ten frames of a steady state: {count} calls of the allocator"));
    }
}

/// A command buffer that is reused calls no allocator: spawns, merged changes in and out of the
/// order of ids, batches, despawns, and errors of dead ids.
fn a_warm_command_buffer_calls_no_allocator(failures: &mut Vec<String>) {
    let mut world = common::world();
    let entities = world.spawn_batch((0..2_000).map(row)).to_vec();
    let mut buffer = world.command_buffer(64).expect("ids");
    let mut spawned = Vec::with_capacity(64);
    let frame = |world: &mut World, buffer: &mut CommandBuffer, spawned: &mut Vec<Entity>| {
        spawned.drain(..).for_each(|entity| buffer.despawn(entity));
        spawned.extend((0..64).map(|i| buffer.spawn(row(i))));
        for &entity in entities.iter().rev().step_by(20) {
            buffer.insert(entity, Bit::<0>(1));
            buffer.exchange::<Velocity, _>(entity, Bit::<1>(2));
        }
        for &entity in &*spawned {
            buffer.insert(entity, Bit::<2>(3));
        }
        buffer.spawn_batch((0..10).map(|i| (row(i), Bit::<3>(4))));
        world.apply(buffer).expect("all alive");
        for &entity in entities.iter().step_by(20) {
            buffer.remove::<(Bit<0>, Bit<1>)>(entity);
        }
        for &entity in entities.iter().rev().step_by(20) {
            buffer.remove::<(Bit<0>, Bit<1>)>(entity);
            buffer.insert(entity, Velocity([1.0; 3]));
        }
        world.apply(buffer).expect("all alive");
        // The batch of each frame dies with it: it is despawned twice, which is not an error.
        for (ids, _) in world.query::<(Entity, &Bit<3>)>() {
            ids.iter().chain(ids).for_each(|&entity| buffer.despawn(entity));
        }
        world.apply(buffer).expect("all alive");
    };
    // Equal changes, which are made together: of neighbours, and of scattered entities.
    let together = |world: &mut World, buffer: &mut CommandBuffer| {
        for chosen in [&entities[..700], &entities[300..]] {
            chosen.iter().for_each(|&entity| buffer.insert(entity, Bit::<4>(1)));
            world.apply(buffer).expect("all alive");
            chosen.iter().step_by(3).for_each(|&entity| buffer.remove::<Bit<4>>(entity));
            chosen.iter().rev().step_by(7).for_each(|&entity| buffer.remove::<Bit<4>>(entity));
            world.apply(buffer).expect("all alive");
            chosen.iter().for_each(|&entity| buffer.remove::<Bit<4>>(entity));
            world.apply(buffer).expect("all alive");
        }
    };
    let frame = |world: &mut World, buffer: &mut CommandBuffer, spawned: &mut Vec<Entity>| {
        frame(world, buffer, spawned);
        together(world, buffer);
    };
    for _ in 0..3 {
        frame(&mut world, &mut buffer, &mut spawned);
    }
    // Read before the count, because reading the environment allocates.
    let frames = effort(60);
    let count = calls(|| (0..frames).for_each(|_| frame(&mut world, &mut buffer, &mut spawned)));
    assert_eq!(world.check(), Ok(()));
    if count > 0 {
        failures.push(format!("frames of one command buffer: {count} allocator calls"));
    }
}

/// Memory is returned when entities are despawned.
fn compaction_gives_memory_back(failures: &mut Vec<String>) {
    let mut world = common::world();
    let (entities, _) = bytes(|| world.spawn_batch((0..MILLION).map(row)).to_vec());
    let before = BYTES.get();
    for &entity in &entities[10_000..] {
        world.despawn(entity).expect("alive");
    }
    let mut calls = 0;
    while !world.memory_mut().compact(100_000).finished {
        calls += 1;
        assert!(calls < 10_000, "compaction ends");
    }
    let freed = before.wrapping_sub(BYTES.get());
    if freed < MILLION * 24 * 9 / 10 {
        failures.push(format!("after 99 % died, {freed} bytes went back"));
    }
    assert_eq!(world.check(), Ok(()));
}

/// Bytes that one plan keeps of a matching archetype: its row, and one for each term's column.
const PLAN_ROW_BYTES: usize = 24;
const PLAN_COLUMN_BYTES: usize = 16;
/// The same for the addresses of archetypes of one chunk.
const READY_ROW_BYTES: usize = 16;
const READY_COLUMN_BYTES: usize = 16;
/// Other bytes of a plan: its conditions, its place in the list of plans, and a byte for each
/// archetype that the world has, by which the entry of an archetype is found.
const PLAN_BYTES: usize = 2_048 + 4_096;

/// Plans cost a fixed number of bytes for each archetype that they match, and no more in later
/// runs.
fn kept_plans_stay_within_their_bytes(failures: &mut Vec<String>) {
    const KINDS: usize = 4_096;
    const COLUMNS: usize = 2;
    let mut world = common::world();
    for bits in 0..u32::try_from(KINDS).expect("few") {
        let entity = world.spawn(Position([1.0; 3]));
        set_bits(&mut world, entity, bits);
    }
    assert_eq!(world.query::<&Position>().iter().count(), KINDS, "one chunk each");
    let mut expect = |what: &str, taken: usize, limit: usize| {
        if taken > limit {
            failures.push(format!("{what}: {taken} bytes, above {limit}"));
        }
    };
    let said = world.memory().bookkeeping_bytes;
    let mut plans = 0;
    macro_rules! plans {
        ($($n:literal)*) => {$(
            // Counted without being started, a query makes its plan and keeps no addresses.
            let query = || world.query::<(&Position, Option<&Bit<$n>>)>();
            let (_, plan) = bytes(|| query().count_rows());
            let (chunks, ready) = bytes(|| query().into_iter().count());
            assert_eq!(chunks, KINDS);
            plans += 1;
            let limit = KINDS * (PLAN_ROW_BYTES + COLUMNS * PLAN_COLUMN_BYTES) + PLAN_BYTES;
            expect(&format!("plan {plans}"), plan, limit);
            let limit = KINDS * (READY_ROW_BYTES + COLUMNS * READY_COLUMN_BYTES) + PLAN_BYTES;
            expect(&format!("the addresses of plan {plans}"), ready, limit);
            assert!(plan + ready >= KINDS, "the allocator counts them");
        )*};
    }
    plans!(0 1 2 3 4 5 6 7 8 9);
    assert_eq!(plans, 10);
    let each = 32 + 36 * COLUMNS;
    let said = world.memory().bookkeeping_bytes - said;
    assert!((10 * KINDS * each..=10 * KINDS * each + 10 * PLAN_BYTES).contains(&said), "{said}");

    // Entities move to known archetypes: no table grows, and no archetype is added.
    let entities: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    let ((), grown) = bytes(|| {
        for round in 0..20 {
            for &entity in entities.iter().skip(round).step_by(64) {
                let _ = world.remove::<Bit<11>>(entity);
                world.insert(entity, Bit::<11>(0)).expect("room");
            }
            assert!(world.query::<(&Position, Option<&Bit<0>>)>().iter().count() <= KINDS);
            assert!(world.query::<(&Position, Option<&Bit<9>>)>().iter().count() <= KINDS);
            world.memory_mut().compact(usize::MAX);
        }
    });
    let grown = grown.cast_signed();
    if grown > 0 {
        failures.push(format!("plans that follow twenty rounds of moves: {grown} bytes more"));
    }
}

/// An id far beyond all others costs a slot and an entry of the free stack for each index up to it.
fn an_index_costs_sixteen_bytes(failures: &mut Vec<String>) {
    const FAR: u32 = 1 << 20;
    for is_grown in [false, true] {
        let mut world = World::new();
        let (_, bytes) = bytes(|| {
            if is_grown {
                world.memory_mut().grow_indices(FAR).expect("there is room");
            }
            for index in [FAR, FAR + 1] {
                world
                    .spawn_at(Entity::from_bits(u64::from(index) << 32 | 1), ())
                    .expect("in reach");
            }
        });
        let wanted = 16 * FAR as usize + FAR as usize * 12 / 8 + (32 << 10);
        if bytes > wanted {
            failures.push(format!("an index of 2^20 takes {bytes} bytes, wanted {wanted}"));
        }
    }
}

/// The allocation of a state of many entities when one of them was replaced by another.
fn an_exchanged_entity_costs_no_look_at_all_ids(failures: &mut Vec<String>) {
    let mut world = World::new();
    let all = world.spawn_batch((0..200_000).map(|_| (Position([0.0; 3]),))).to_vec();
    all.iter().step_by(2).for_each(|&entity| world.despawn(entity).expect("alive"));
    let mut saved = world.snapshot().expect("no buffers");
    let exchange = |world: &mut World, at: usize| {
        world.despawn(all[at]).expect("alive");
        world.spawn((Position([1.0; 3]),));
    };
    exchange(&mut world, 1_001);
    let before = ALLOCATED.get();
    let delta = saved.delta(&mut world).expect("no buffers");
    let allocated = ALLOCATED.get() - before;
    if allocated > 64 << 10 || delta.len() > 2_000 {
        failures.push(format!("a delta of {} bytes allocates {allocated}", delta.len()));
    }
    world.snapshot_into(&mut saved).expect("no buffers");
    exchange(&mut world, 2_001);
    let kept = calls(|| {
        world.snapshot_into(&mut saved).expect("no buffers");
        exchange(&mut world, 3_001);
        world.restore(&saved).expect("it is of this world");
    });
    if kept > 16 {
        failures.push(format!("a state that is kept and put back allocates {kept} times"));
    }
}

/// Runs a test of counts, and fails with all counts that exceed their budget.
fn within_budget(count: fn(&mut Vec<String>)) {
    let mut failures = Vec::new();
    count(&mut failures);
    assert!(failures.is_empty(), "over budget:\n  {}", failures.join("\n  "));
}

macro_rules! tests {
    ($($name:ident)*) => {
        mod counted {
            $(#[test]
            fn $name() {
                super::within_budget(super::$name);
            })*
        }
    };
}

tests! {
    a_million_entities_are_lean
    ten_thousand_archetypes_are_lean
    archetypes_are_given_back
    kept_plans_stay_within_their_bytes
    reserved_rows_are_spawned_without_allocation
    the_steady_state_calls_no_allocator
    a_warm_command_buffer_calls_no_allocator
    compaction_gives_memory_back
    an_index_costs_sixteen_bytes
    an_exchanged_entity_costs_no_look_at_all_ids
}
