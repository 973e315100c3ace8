//! Kernels that choose the rows that stay.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Tag, Twelve, sound};
use crate::structural::filled;

fn numbers(world: &World) -> Vec<u32> {
    world.query::<&Four>().rows().map(|four| four.0).collect()
}

#[test]
fn all_marks_are_set_at_first_and_there_is_one_a_row() {
    let (mut world, _) = filled(1_000);
    let mut rows = 0;
    let ended = world.matching::<(Entity, &Four)>().retain(|(entities, fours), keep| {
        assert!(keep.iter().all(|keep| *keep));
        assert_eq!((entities.len(), fours.len()), (keep.len(), keep.len()));
        rows += keep.len();
    });
    assert_eq!((ended, rows, world.len()), (0, 1_000, 1_000));
}

#[test]
fn all_rows_may_go() {
    let (mut world, entities) = filled(1_000);
    assert_eq!(world.matching::<Entity>().retain(|_, keep| keep.fill(false)), 1_000);
    assert!(world.is_empty() && !world.contains(entities[0]));
    sound(&world);
    assert_eq!(world.matching::<Entity>().retain(|_, _| unreachable!("no chunk is left")), 0);
}

#[test]
fn only_rows_that_match_are_asked_for() {
    let (mut world, entities) = filled(300);
    for &entity in &entities[..100] {
        world.insert(entity, Tag).expect("alive");
    }
    let ended = world.matching::<&Four>().without::<Tag>().retain(|_, keep| keep.fill(false));
    assert_eq!((ended, world.len()), (200, 100));
    let before = world.version();
    let changed = world.matching::<&Four>().changed_since(before);
    assert_eq!(changed.retain(|_, keep| keep.fill(false)), 0, "nothing was written since");
    sound(&world);
}

#[test]
fn a_kernel_may_write_and_its_columns_are_stamped() {
    let (mut world, _) = filled(1_000);
    let before = world.version();
    let ended = world.matching::<&mut Four>().retain(|fours, keep| {
        for (four, keep) in fours.iter_mut().zip(keep) {
            four.0 += 1;
            *keep = four.0 % 10 != 0;
        }
    });
    assert_eq!(ended, 100);
    assert!(numbers(&world).iter().all(|number| number % 10 != 0));
    let changed = |world: &World| {
        let query = world.query::<(&Four, &Twelve)>();
        let written = query.changed_since::<Four>(before).count_rows();
        (written, world.query::<(&Four, &Twelve)>().changed_since::<Twelve>(before).count_rows())
    };
    assert_eq!(changed(&world), (900, 0));
}

#[test]
fn nothing_is_despawned_if_the_kernel_panics() {
    let (mut world, _) = filled(2_000);
    let mut chunks = 0;
    let panic = catch_unwind(AssertUnwindSafe(|| {
        world.matching::<&Four>().retain(|_, keep| {
            keep.fill(false);
            chunks += 1;
            assert!(chunks < 2, "the second chunk");
        })
    }));
    assert!(panic.is_err());
    assert_eq!(world.len(), 2_000);
    sound(&world);
}

proptest! {
    #[test]
    fn it_leaves_what_a_batch_of_despawns_leaves(
        len in 0u32..3_000,
        modulus in 1u32..40,
        rest in 0u32..40,
    ) {
        let goes = |four: &Four| four.0 % modulus == rest;
        let (mut expected, _) = filled(len);
        let rows = expected.query::<(Entity, &Four)>();
        let gone = rows.rows().filter(|(_, four)| goes(four)).map(|(entity, _)| entity);
        let gone: Vec<_> = gone.collect();
        expected.despawn_batch(&gone);
        let (mut world, _) = filled(len);
        let ended = world.matching::<&Four>().retain(|fours, keep| {
            fours.iter().zip(keep).for_each(|(four, keep)| *keep = !goes(four));
        });
        prop_assert_eq!(ended, gone.len());
        sound(&world);
        prop_assert_eq!(numbers(&world), numbers(&expected));
    }
}
