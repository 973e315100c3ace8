//! Panics in the caller's code: the world stays sound, and has the documented state.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

use crate::common::components::{Four, Tag, Twelve, sound};

/// Runs `f`, which panics.
#[track_caller]
fn panics(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err(), "it should have panicked");
}

/// A world of `rows` rows in chunks of 1,024, and its entities.
fn filled(rows: u32) -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entities = world.spawn_batch((0..rows).map(Four)).to_vec();
    (world, entities)
}

#[track_caller]
fn as_before(world: &mut World, entities: &[Entity]) {
    sound(world);
    assert_eq!(world.len(), entities.len());
    for (i, &entity) in (0..).zip(entities) {
        assert_eq!(world.get::<Four>(entity), Ok(&Four(i)));
    }
    let new = world.spawn(Four(77));
    assert_eq!(world.get::<Four>(new), Ok(&Four(77)));
    sound(world);
    world.despawn(new).expect("alive");
}

#[test]
fn a_batch_iterator_that_panics_leaves_the_world_as_it_was() {
    let (befores, goods): (&[u32], &[u32]) = if cfg!(miri) {
        (&[0, 16, 250], &[1, 16])
    } else {
        (&[0, 1, 16, 40, 250], &[0, 1, 15, 16, 17, 300])
    };
    for &before in befores {
        for &good in goods {
            let (mut world, entities) = filled(before);
            panics(|| {
                world.spawn_batch((0..).map(|i| {
                    assert!(i < good, "stop");
                    Four(i)
                }));
            });
            as_before(&mut world, &entities);
            let lens: usize = world.query::<&Four>().padded().iter().map(<[_]>::len).sum();
            assert_eq!(lens, (before as usize).next_multiple_of(16));
            // Former padding stays initialised: under Miri this reads it.
            let sum: u64 = world
                .query::<&Four>()
                .padded()
                .iter()
                .flatten()
                .map(|four| u64::from(four.0))
                .sum();
            assert!(sum >= (0..u64::from(before)).sum(), "padding is readable");
        }
    }
}

#[test]
fn a_batch_iterator_that_panics_after_many_chunks_gives_all_of_them_back() {
    let (before, good) = if cfg!(miri) { (300, 1_100) } else { (1_500, 10_000) };
    let (mut world, entities) = filled(before);
    let memory = world.memory();
    panics(|| {
        world.spawn_batch((0..).map(|i| {
            assert!(i < good, "stop");
            Four(i)
        }));
    });
    assert_eq!(world.memory().block_bytes, memory.block_bytes);
    as_before(&mut world, &entities);
}

#[test]
fn an_iterator_that_panics_in_size_hint_or_on_its_way_there_leaves_the_world_as_it_was() {
    struct Hint(u32);
    impl Iterator for Hint {
        type Item = Four;
        fn next(&mut self) -> Option<Four> {
            self.0 += 1;
            Some(Four(self.0))
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            // First at once, later when the small first block is full.
            assert!(self.0 < 100, "stop");
            (0, None)
        }
    }
    struct Never;
    impl IntoIterator for Never {
        type Item = Four;
        type IntoIter = Hint;
        fn into_iter(self) -> Hint {
            panic!("stop")
        }
    }
    for rows in [0, 20, if cfg!(miri) { 260 } else { 1_500 }] {
        for start in [0, 99, 100] {
            let (mut world, entities) = filled(rows);
            panics(|| {
                world.spawn_batch(Hint(start));
            });
            as_before(&mut world, &entities);
            panics(|| {
                world.spawn_batch(Never);
            });
            as_before(&mut world, &entities);
        }
    }
}

#[kernel]
fn bump_until(four: &mut [Four], stop: u32) {
    for f in four {
        assert!(f.0 != stop, "stop");
        f.0 += 10_000;
    }
}

#[test]
fn a_panic_inside_a_kernel_keeps_what_was_written_and_stamps_the_chunk() {
    let (mut world, _) = filled(3_000);
    let before = world.version();
    panics(|| {
        for four in world.query_mut::<&mut Four>() {
            bump_until(four, 1_500);
        }
    });
    sound(&world);
    let changed: Vec<_> =
        world.query::<&Four>().changed_since(before).iter().map(|f| f[0].0).collect();
    assert_eq!(changed, [10_000, 11_024], "the third chunk was never handed out");
    let bumped = world.query::<&Four>().iter().flatten().filter(|f| f.0 >= 10_000).count();
    assert_eq!(bumped, 1_500);
}

#[test]
fn a_panic_inside_a_body_counts_as_touching_the_chunk() {
    let (mut world, _) = filled(3_000);
    let before = world.version();
    panics(|| {
        world.query_mut::<&mut Four>().for_each_chunk(|four| {
            if four[0].0 >= 1_024 {
                four[0].0 = 9;
                panic!("stop");
            }
            Modified::No
        });
    });
    sound(&world);
    let changed: Vec<_> =
        world.query::<&Four>().changed_since(before).iter().map(|f| f[0].0).collect();
    assert_eq!(changed, [9], "the second chunk only");
}

#[test]
fn a_panic_inside_a_body_without_a_result_stamps_the_chunks_that_were_handed_out() {
    fn stop_at(world: &mut World, value: u32) -> Vec<u32> {
        let before = world.version();
        panics(|| {
            world.query_mut::<&mut Four>().for_each_chunk(|four| {
                assert!(four[0].0 != value, "stop");
            });
        });
        sound(world);
        world.query::<&Four>().changed_since(before).iter().map(|four| four[0].0).collect()
    }
    // The chunks of one archetype.
    let (mut world, _) = filled(4_000);
    assert_eq!(stop_at(&mut world, 2_048), [0, 1_024, 2_048]);
    // Archetypes of one chunk.
    let mut world = World::new();
    world.spawn(Four(1));
    world.spawn((Four(2), Tag));
    world.spawn((Four(3), Twelve([0; 3])));
    assert_eq!(stop_at(&mut world, 2), [1, 2]);
}

#[test]
fn a_panic_inside_a_body_of_par_for_each_chunk_stamps_what_was_written() {
    let chunks = if cfg!(miri) { 3 } else { 300 };
    let (mut world, _) = filled(chunks * 1_024);
    let before = world.version();
    panics(|| {
        world.query_mut::<&mut Four>().par().for_each_chunk(|four| {
            assert!(four[0].0 != 2_048, "stop");
            four[0].0 = 0;
            Modified::Yes
        });
    });
    sound(&world);
    // No written chunk is missed.
    let unchanged = world.query::<&Four>().chunks().filter(|c| c.version::<Four>() <= Some(before));
    assert!(unchanged.map(|c| c.slices()).all(|four| four[0].0 != 0), "written, not stamped");
    world.query_mut::<&mut Four>().par().for_each_chunk(|four| four[0].0 = 1);
    assert!(world.query::<&Four>().iter().all(|four| four[0].0 == 1));
}

#[test]
fn a_panic_while_rows_are_visited_leaves_the_world_usable() {
    let (mut world, entities) = filled(if cfg!(miri) { 300 } else { 2_000 });
    panics(|| {
        for (four, entity) in world.query_mut::<(&mut Four, Entity)>().rows() {
            assert!(entity != entities[entities.len() / 2], "stop");
            four.0 ^= 1;
            four.0 ^= 1;
        }
    });
    as_before(&mut world, &entities);
}

#[test]
fn two_components_of_one_name_are_refused_and_the_world_stays_usable() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Impostor(u64);
    impl_component!(Impostor as "phalanx.impostor");
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Victim(u32);
    impl_component!(Victim as "phalanx.impostor");

    let (mut world, entities) = filled(20);
    let victim = world.spawn((Victim(1), Tag));
    panics(|| {
        world.spawn(Impostor(1));
    });
    panics(|| {
        let _ = world.remove::<(Tag, Impostor)>(victim);
    });
    panics(|| {
        world.query_mut::<&mut Impostor>().iter_mut().next();
    });
    panics(|| {
        let _ = world.query::<&Impostor>().iter().count();
    });
    panics(|| {
        let _ = world.has::<Impostor>(victim) || world.get::<Impostor>(victim).is_ok();
    });
    assert_eq!(world.get::<Victim>(victim).expect("there").0, 1);
    world.despawn(victim).expect("alive");
    as_before(&mut world, &entities);
}
