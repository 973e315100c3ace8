//! The hash of a world with a cache: unchanged columns are not read again.

use phalanx::HashCache;
use phalanx::prelude::*;

use crate::common::components::{Four, Tag, Twelve, small_world};

#[test]
fn a_cache_reads_what_changed_and_finds_the_same_hash() {
    let mut world = small_world();
    let rows = if cfg!(miri) { 600 } else { 20_000 };
    let all = world.spawn_batch((0..rows).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    let chunks = world.query::<&Four>().chunks().count();
    let mut cache = HashCache::new();
    let mut read = |world: &World| {
        assert_eq!(cache.hash(world), world.hash());
        cache.columns_read()
    };
    assert_eq!(read(&world), 3 * chunks, "entities and two columns");
    assert_eq!(read(&world), 0);
    world.get_mut::<Four>(all[1]).expect("alive").0 += 1;
    assert_eq!(read(&world), 1);
    world.query_mut::<&mut Twelve>().into_iter().for_each(drop);
    assert_eq!(read(&world), chunks);
    world.despawn(all[0]).expect("alive");
    assert!(read(&world) <= 6, "its chunk, and the last one, whose last row took its place");
    world.insert(all[2], Tag).expect("alive");
    assert!(read(&world) <= 6 + 4, "and a new archetype");
    // The cache knows no column of another world, and forgets the first world.
    let mut other = small_world();
    other.spawn(Four(1));
    assert_eq!(read(&other), 2);
    assert!(read(&world) >= 3 * (chunks - 1));
    world.clear();
    assert_eq!(read(&world), 0);
}
