//! Forty sparse components of many entities: they make no archetypes, and move no row.

use phalanx::prelude::*;

use crate::common::components::{Four, Tag, sound};
use crate::common::world;

/// The calls of one buff.
struct Buff {
    insert: fn(&mut World, Entity, u32),
    remove: fn(&mut World, Entity) -> u32,
    /// The rows of a query for it, and their values.
    rows: fn(&World) -> Vec<(Entity, u32)>,
    len: fn(&World) -> usize,
}

/// A query with some buffs and without others, by their numbers.
struct Choice {
    with: &'static [u32],
    without: &'static [u32],
    rows: fn(&World) -> Vec<Entity>,
    count: fn(&World) -> usize,
}

macro_rules! choices {
    ($([$($with:ident $w:literal)*] [$($without:ident $o:literal)*])*) => {
        const CHOICES: &[Choice] = &[$(Choice {
            with: &[$($w),*],
            without: &[$($o),*],
            rows: |world| {
                world.query::<Entity>()$(.with::<$with>())*$(.without::<$without>())*.rows().collect()
            },
            count: |world| {
                world.query::<&Four>()$(.with::<$with>())*$(.without::<$without>())*.count_rows()
            },
        }),*];
    };
}

macro_rules! buffs {
    ($($name:ident)*) => {
        $(#[component(sparse)]
        struct $name(u32);)*

        const BUFFS: [Buff; 40] = [$(Buff {
            insert: |world, entity, value| world.insert(entity, $name(value)).expect("alive"),
            remove: |world, entity| world.remove::<$name>(entity).expect("it has one").0,
            rows: |world| {
                let rows = world.query::<(Entity, &$name)>();
                rows.rows().map(|(entity, buff)| (entity, buff.0)).collect()
            },
            len: |world| world.sparse::<$name>().len(),
        }),*];
    };
}

buffs! {
    B00 B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B11 B12 B13 B14 B15 B16 B17 B18 B19
    B20 B21 B22 B23 B24 B25 B26 B27 B28 B29 B30 B31 B32 B33 B34 B35 B36 B37 B38 B39
}

choices! {
    [B04 4 B10 10] []
    [] [B02 2]
    [B06 6] [B12 12 B13 13]
    [] [B00 0 B01 1 B38 38 B39 39]
    [B08 8 B09 9] [B20 20]
}

const ENTITIES: u32 = if cfg!(miri) { 100 } else { 50_000 };

/// Whether an entity has a buff: each has a few of them, and mostly a set of its own.
fn has(entity: Entity, buff: u32) -> bool {
    let mixed = u64::from(entity.index() + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.rotate_left(7 * buff) % 16 == 0
}

/// Whether an entity loses a buff that it has: a third of them.
fn loses(entity: Entity, buff: u32) -> bool {
    let mixed = u64::from(entity.index() + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed.rotate_left(11 * buff) % 3 == 0
}

/// Compares the members of each buff, and of several, with those of `all` that should have it.
fn compare(world: &World, all: &[Entity], has: impl Fn(Entity, u32) -> bool) {
    for (i, buff) in (0..).zip(&BUFFS) {
        let mut rows = (buff.rows)(world);
        rows.sort_unstable();
        let members = all.iter().filter(|&&entity| has(entity, i));
        let expected: Vec<_> = members.map(|&entity| (entity, entity.index() + i)).collect();
        assert!(rows == expected, "buff {i} has {} rows, not {}", rows.len(), expected.len());
        assert_eq!((buff.len)(world), rows.len(), "buff {i}");
    }
    for Choice { with, without, rows, count } in CHOICES {
        let is_chosen = |entity| {
            with.iter().all(|&i| has(entity, i)) && !without.iter().any(|&i| has(entity, i))
        };
        let expected: Vec<_> = all.iter().copied().filter(|&entity| is_chosen(entity)).collect();
        let mut found = rows(world);
        found.sort_unstable();
        assert!(found == expected, "with {with:?} without {without:?}: {} rows", found.len());
        assert_eq!(count(world), found.len(), "with {with:?} without {without:?}");
    }
    sound(world);
}

#[test]
fn forty_buffs_make_no_archetype_and_move_no_row() {
    let mut world = world();
    let mut all = world.spawn_batch((0..ENTITIES).map(Four)).to_vec();
    let before = (world.reflect().archetypes().len(), world.memory().row_bytes);
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    for &entity in &all {
        for (i, buff) in (0..).zip(&BUFFS).filter(|&(i, _)| has(entity, i)) {
            (buff.insert)(&mut world, entity, entity.index() + i);
        }
    }
    assert_eq!((world.reflect().archetypes().len(), world.memory().row_bytes), before);
    assert!(world.query::<Entity>().rows().eq(order.iter().copied()), "no row moves");
    compare(&world, &all, has);

    // One archetype more for the rows that get a tag, whatever buffs they have.
    assert_eq!(world.matching::<&Four>().insert(Tag).expect("a row fits"), all.len());
    assert_eq!(world.reflect().archetypes().len(), before.0 + 1);
    let third = all.iter().copied().filter(|entity| entity.index() % 3 == 0);
    assert_eq!(world.despawn_batch(&third.collect::<Vec<_>>()), all.len().div_ceil(3));
    all.retain(|entity| entity.index() % 3 != 0);
    for &entity in &all {
        for (i, buff) in (0..).zip(&BUFFS).skip(1).step_by(2) {
            if has(entity, i) {
                assert_eq!((buff.remove)(&mut world, entity), entity.index() + i);
            }
        }
    }
    assert_eq!(world.reflect().archetypes().len(), before.0 + 1);
    compare(&world, &all, |entity, i| i % 2 == 0 && has(entity, i));

    let keeps = |entity, i| i % 2 == 0 && has(entity, i) && !loses(entity, i);
    for &entity in &all {
        for (i, buff) in (0..).zip(&BUFFS).step_by(2) {
            if has(entity, i) && loses(entity, i) {
                assert_eq!((buff.remove)(&mut world, entity), entity.index() + i);
            }
        }
    }
    compare(&world, &all, keeps);
    assert_eq!(world.reflect().archetypes().len(), before.0 + 1);
}
