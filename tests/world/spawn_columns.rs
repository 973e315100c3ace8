//! Entities from slices of their components.

use phalanx::error::SpawnError;
use phalanx::prelude::*;

use crate::common::components::{Four, Tag, Twelve, sound};
use crate::common::world;

#[test]
fn columns_of_different_lengths_spawn_nothing() {
    let mut world = world();
    let error = world.spawn_columns((&[Four(0); 3][..], &[Tag; 4][..])).expect_err("uneven");
    assert_eq!(error, SpawnError::Uneven { first: 3, other: 4 });
    let nested = (&[Four(0); 3][..], (&[Tag; 3][..], &[Twelve([0; 3]); 2][..]));
    assert_eq!(
        world.spawn_columns(nested).expect_err("uneven"),
        SpawnError::Uneven { first: 3, other: 2 }
    );
    assert!(world.is_empty());
    sound(&world);
}

#[test]
fn columns_are_copied_row_by_row_into_as_many_chunks_as_it_takes() {
    let rows = if cfg!(miri) { 300 } else { 10_000 };
    let befores: &[u32] = if cfg!(miri) { &[16] } else { &[0, 1, 16, 100] };
    for &before in befores {
        let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
        let make = |i| (Four(i), Twelve([i; 3]), Tag);
        world.spawn_batch((0..before).map(make));
        let four: Vec<_> = (0..rows).map(Four).collect();
        let twelve: Vec<_> = (0..rows).map(|i| Twelve([i; 3])).collect();
        let tags = vec![Tag; rows as usize];
        let columns = (&four[..], (&twelve[..], &tags[..]));
        let entities = world.spawn_columns(columns).expect("even").to_vec();
        sound(&world);
        for (i, &entity) in (0..).zip(&entities) {
            assert_eq!(world.get::<Four>(entity), Ok(&Four(i)));
            assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([i; 3])));
        }
        assert_eq!(world.reflect().archetypes().count(), 1, "order of nesting makes no archetype");
    }
}

// Pointers of 32 bits count no more tags than there are ids.
#[cfg(all(not(miri), target_pointer_width = "64"))]
#[test]
fn more_tags_than_there_are_ids_are_refused() {
    // A slice of tags may be longer than memory.
    static TAGS: [Tag; 1 << 33] = [Tag; 1 << 33];
    let mut world = world();
    let error = world.spawn_columns(&TAGS[..]).expect_err("8,589,934,592 entities");
    assert!(matches!(error, SpawnError::Exhausted(_)), "{error}");
    assert!(world.is_empty());
    sound(&world);
}
