//! The set that a pass over rows begins with.

use bytemuck::{Pod, Zeroable};

use super::world::World;
use crate::component::{Component, component};
use crate::query::{Changed, With};

/// So large that a chunk has few rows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Wide([u32; 32]);

impl Component for Wide {
    const NAME: &'static str = "wide";
}

#[component(sparse)]
struct Wet(u32);
#[component(sparse)]
struct Burning(u32);
#[component(sparse)]
struct Marked(u32);
#[component(sparse)]
struct Spread(u32);
#[component(sparse)]
struct Backwards(u32);
#[component(sparse)]
struct Close(u32);

/// 3,000 rows, all of which are marked, every 50th is wet, and every 500th burns.
fn world() -> World {
    let mut world = World::new();
    let rows = if cfg!(miri) { 1_000 } else { 3_000 };
    let all = world.spawn_batch((0..rows).map(|i| Wide([i; 32]))).to_vec();
    for (i, &entity) in (0..).zip(&all) {
        world.insert(entity, Marked(i)).expect("it is alive");
        if i % 50 == 0 {
            world.insert(entity, Wet(i)).expect("it is alive");
        }
        if i % 500 == 0 {
            world.insert(entity, Burning(i)).expect("it is alive");
        }
    }
    world
}

#[test]
fn a_pass_begins_with_the_smallest_set_that_it_requires() {
    let mut world = world();
    let lens = [world.sparse::<Wet>().len(), world.sparse::<Burning>().len()];
    assert!(lens[1] > 1 && lens[0] > lens[1]);
    let [wet, burning] = lens.map(Some);
    assert_eq!(world.query::<(&Wide, &Burning)>().rows().begun_with(), burning);
    // In any order of the terms, and of the insertions.
    assert_eq!(world.query::<(&Wet, &Wide, &Burning)>().rows().begun_with(), burning);
    assert_eq!(world.query::<(&Burning, &Wide, &Wet, &Marked)>().rows().begun_with(), burning);
    assert_eq!(
        world.query_mut::<(&mut Wide, &mut Wet, &mut Burning)>().rows().begun_with(),
        burning
    );
    // `Option` requires nothing.
    assert_eq!(world.query::<(&Wide, &Wet, Option<&Burning>)>().rows().begun_with(), wet);
}

#[test]
fn a_pass_begins_with_no_set_that_is_large_or_not_required() {
    let world = world();
    assert_eq!(world.query::<(&Wide, &Marked)>().rows().begun_with(), None, "of all rows");
    assert_eq!(world.query::<&Wide>().rows().begun_with(), None);
    assert_eq!(world.query::<(&Wide, Option<&Wet>)>().rows().begun_with(), None);
    // A filter reads bits.
    let filtered = world.query::<&Wide>().filter::<With<Burning>>();
    assert_eq!(filtered.rows().begun_with(), None);
    // Versions are of chunks, so these are asked.
    let changed = world.query::<(&Wide, &Burning)>().filter_since::<Changed<Wide>>(world.version());
    assert_eq!(changed.rows().begun_with(), None);
}

#[test]
fn a_pass_over_all_rows_begins_with_larger_sets_that_need_no_sorting() {
    let mut world = World::new();
    let rows = if cfg!(miri) { 1_000 } else { 3_000 };
    let all = world.spawn_batch((0..rows).map(|i| Wide([i; 32]))).to_vec();
    let every_8th = || (0..).zip(&all).step_by(8).map(|(i, &entity)| (i, entity));
    for (i, entity) in every_8th() {
        world.insert(entity, Spread(i)).expect("it is alive");
    }
    for (i, entity) in every_8th().collect::<Vec<_>>().into_iter().rev() {
        world.insert(entity, Backwards(i)).expect("it is alive");
    }
    for &entity in &all[..all.len() / 8] {
        world.insert(entity, Close(0)).expect("it is alive");
    }
    let spread = world.query::<(&Wide, &Spread)>();
    assert_eq!(spread.rows().begun_with(), None, "the pass may end early");
    assert_eq!(spread.rows().all_begun_with(), Some(all.len().div_ceil(8)));
    assert_eq!(world.query::<(&Wide, &Backwards)>().rows().all_begun_with(), None);
    assert_eq!(world.query::<(&Wide, &Close)>().rows().all_begun_with(), None);
    let mut begun = spread.rows();
    assert!(begun.next().is_some());
    assert_eq!(begun.all_begun_with(), None, "a row was taken");
    assert_eq!(
        spread.rows().map(|(_, one)| one.0).sum::<u32>(),
        every_8th().map(|one| one.0).sum()
    );
}
