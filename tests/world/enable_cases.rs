//! Components that are switched off and on: passes, stamps, errors, and other ways to the same
//! rows.

use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::rows::{Exclusion, RowError};

use crate::common::components::{Serial, Tag, Twelve, sound};
use crate::enable::{Awake, Health};

#[test]
fn the_enable_bit_of_a_row_that_is_got_by_entity_is_its_own() {
    #[component(enableable)]
    struct Lit(u32);

    let rows = if cfg!(miri) { 1_100 } else { 3_000 };
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entities = world.spawn_batch((0..rows).map(Lit)).to_vec();
    let is_lit = |row: u32| !row.is_multiple_of(3) && row % 65 != 1;
    for (row, &entity) in (0..).zip(&entities) {
        world.set_enabled::<Lit>(entity, is_lit(row)).expect("alive");
    }
    let query = world.query::<(Entity, Enabled<Lit>)>();
    for (row, &entity) in (0..).zip(&entities).step_by(7) {
        assert_eq!(query.get(entity), Ok((entity, is_lit(row))), "row {row}");
    }
    let mut query = world.query_mut::<EnabledMut<Lit>>();
    for row in [0, 1, 63, 64, 65, 130, 1_023, 1_024, 1_090] {
        let mut bit = query.get_mut(entities[row as usize]).expect("alive");
        assert_eq!(bit.get(), is_lit(row), "row {row}");
        bit.set(!is_lit(row));
        query.get_mut(entities[row as usize]).expect("alive").set(is_lit(row));
    }
    for (row, &entity) in (0..).zip(&entities) {
        assert_eq!(world.is_enabled::<Lit>(entity), Ok(is_lit(row)), "row {row}");
    }
}

#[test]
fn chunks_that_are_all_on_or_all_off_are_one_turn_or_none() {
    let mut world = World::new();
    world.spawn_batch((0..20_000).map(|i| (Serial(i), Awake)));
    let turns = |world: &World| world.query::<&Serial>().with::<Awake>().iter().count();
    let chunks = world.query::<&Serial>().iter().count();
    assert!(chunks > 4, "{chunks} chunks");
    assert_eq!(turns(&world), chunks);
    let second = world.query::<Entity>().iter().nth(1).unwrap().to_vec();
    for &entity in &second {
        world.set_enabled::<Awake>(entity, false).unwrap();
    }
    assert_eq!(turns(&world), chunks - 1);
    for entity in second.iter().step_by(2) {
        world.set_enabled::<Awake>(*entity, true).unwrap();
    }
    assert_eq!(turns(&world), chunks - 1 + second.len().div_ceil(2));
    let rows = world.query::<&Serial>().with::<Awake>().rows().count();
    assert_eq!(rows, 20_000 - second.len() / 2);
}

#[test]
fn only_chunks_of_which_rows_are_seen_are_stamped() {
    let mut world = World::new();
    let ids = world.spawn_batch((0..20_000).map(|i| (Serial(i), Awake))).to_vec();
    world.matching::<Entity>().disable::<Awake>();
    world.set_enabled::<Awake>(ids[0], true).unwrap();
    let before = world.version();
    world.query_mut::<&mut Serial>().with::<Awake>().rows().for_each(|serial| serial.0 += 1);
    let changed = world.query::<&Serial>().changed_since(before).iter().count();
    assert_eq!(changed, 1);
    for modified in [Modified::No, Modified::Yes] {
        let before = world.version();
        let awake = world.query_mut::<&mut Serial>().with::<Awake>();
        awake.for_each_chunk(|serials| {
            assert_eq!(serials.len(), 1);
            modified
        });
        let changed = world.query::<&Serial>().changed_since(before).iter().count();
        assert_eq!(changed, usize::from(modified == Modified::Yes));
    }
}

#[test]
fn sixteen_rows_are_a_number_and_a_switch_may_see_the_old_bit() {
    let mut world = World::new();
    world.spawn_batch((0..150).map(|i| (Serial(i), Awake)));
    for (serials, mut awake) in world.query_mut::<(&Serial, EnabledMut<Awake>)>() {
        awake.assign(|row| serials[row].0 % 3 > 0);
        awake.update(|row, was| was != (serials[row].0 % 2 == 0));
    }
    let is_on = |i: u32| i.is_multiple_of(3) == i.is_multiple_of(2);
    let awake = world.query::<&Serial>().with::<Awake>();
    let (mask, serials) = awake.masked().padded().next().expect("a chunk");
    let numbers: Vec<u16> = mask.words16().collect();
    assert_eq!((numbers.len(), serials.len()), (10, 160), "one for each vector");
    for row in 0..160 {
        let bit = numbers[row as usize / 16] >> (row % 16) & 1 == 1;
        assert_eq!(bit, row < 150 && is_on(row), "row {row}");
    }
}

#[test]
fn a_switch_stamps_its_column_and_a_switch_to_the_same_does_not() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Awake));
    type Switch<'f> = &'f dyn Fn(&mut World, bool);
    let switches: [Switch<'_>; 5] = [
        &|world, on| _ = world.set_enabled::<Awake>(entity, on),
        &|world, on| _ = world.lookup_mut::<Awake>().set_enabled(entity, on),
        &|world, on| match on {
            true => _ = world.matching::<&Health>().enable::<Awake>(),
            false => _ = world.matching::<&Health>().disable::<Awake>(),
        },
        &|world, on| {
            let mut buffer = world.command_buffer(0).unwrap();
            buffer.set_enabled::<Awake>(entity, on);
            world.apply(&mut buffer).unwrap();
        },
        &|world, on| {
            let mut buffer = world.command_buffer(0).unwrap();
            match on {
                true => buffer.enable_where::<Awake, &Health, ()>(),
                false => buffer.disable_where::<Awake, &Health, ()>(),
            }
            world.apply(&mut buffer).unwrap();
        },
    ];
    for (number, switch) in switches.into_iter().enumerate() {
        for (on, changes) in [(false, 1), (false, 0), (true, 1), (true, 0)] {
            let before = world.version();
            switch(&mut world, on);
            let changed =
                world.query::<Entity>().filter::<IgnoreEnabled>().changed_since::<Awake>(before);
            assert_eq!(changed.count_rows(), changes, "switch {number} to {on}");
            let other = world.query::<&Health>().changed_since(before).count_rows();
            assert_eq!(other, 0, "switch {number}: another column");
        }
    }
    let before = world.version();
    world.query_mut::<EnabledMut<Awake>>().iter_mut().for_each(drop);
    assert_eq!(world.query::<&Awake>().changed_since(before).count_rows(), 1, "as for `&mut`");
}

#[test]
fn a_reader_of_changes_sees_what_changed_while_it_was_disabled() {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    world.set_enabled::<Health>(entity, false).unwrap();
    let before = world.version();
    world.get_mut::<Health>(entity).unwrap().0 = 2;
    assert_eq!(world.query::<&Health>().changed_since(before).count_rows(), 0, "it is not seen");
    let later = world.version();
    world.set_enabled::<Health>(entity, true).unwrap();
    assert_eq!(world.query::<&Health>().changed_since(later).count_rows(), 1);
}

#[test]
fn a_row_that_is_not_seen_is_refused_with_the_reason() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Awake));
    world.set_enabled::<Awake>(entity, false).unwrap();
    let name = <Awake as Component>::NAME;
    let refused = |error: RowError| match error {
        RowError::Excluded { reason, .. } => reason,
        other => panic!("{other}"),
    };
    let query = world.query::<&Health>().with::<Awake>();
    assert_eq!(query.get(entity).map_err(refused), Err(Exclusion::Disabled(name)));
    assert!(query.lookup().get(entity).is_err() && !query.contains(entity));
    assert!(query.single().is_err());
    assert_eq!(world.query::<&Health>().without::<Awake>().get(entity).unwrap().0, 1);
    world.set_enabled::<Awake>(entity, true).unwrap();
    let without = world.query::<&Health>().without::<Awake>();
    assert_eq!(without.get(entity).map_err(refused), Err(Exclusion::Has(name)));
    let disabled = world.query::<&Health>().filter::<WithDisabled<Awake>>();
    assert_eq!(disabled.get(entity).map_err(refused), Err(Exclusion::Enabled(name)));
    let text = RowError::Excluded { entity, reason: Exclusion::Disabled(name) }.to_string();
    assert!(text.contains(name) && text.contains("disabled"), "{text}");
}

#[test]
fn what_is_missing_is_an_error_and_changes_nothing() {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    let before = world.hash();
    let missing = world.set_enabled::<Awake>(entity, false);
    assert!(matches!(missing, Err(EntityError::Missing { .. })), "{missing:?}");
    assert!(world.is_enabled::<Awake>(entity).is_err());
    world.despawn(entity).unwrap();
    let dead = world.hash();
    assert_ne!(before, dead);
    let missing = world.set_enabled::<Health>(entity, false);
    assert!(matches!(missing, Err(EntityError::NoSuchEntity(_))), "{missing:?}");
    assert!(world.lookup_mut::<Health>().set_enabled(entity, false).is_err());
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.set_enabled::<Health>(entity, false);
    assert!(world.apply(&mut buffer).is_err());
    assert_eq!(world.matching::<Entity>().enable::<Awake>(), 0);
}

#[test]
fn values_are_gathered_and_scattered_where_they_are_seen() {
    let mut world = World::new();
    let ids = world.spawn_batch((0..3_000).map(|i| (Health(i), Twelve([i; 3])))).to_vec();
    for entity in ids.iter().skip(1).step_by(3) {
        world.set_enabled::<Health>(*entity, false).unwrap();
    }
    let values: Vec<Health> = world.query::<&Health>().copies().gather();
    let wanted = (0..3_000).filter(|i| i % 3 != 1);
    assert!(values.iter().map(|health| health.0).eq(wanted.clone()));
    let doubled: Vec<_> = values.iter().map(|health| Health(2 * health.0)).collect();
    world.query_mut::<&mut Health>().scatter(&doubled).unwrap();
    for (i, &entity) in (0..).zip(&ids) {
        let expected = if i % 3 == 1 { i } else { 2 * i };
        assert_eq!(world.get::<Health>(entity).unwrap().0, expected);
    }
    assert!(world.query_mut::<&mut Health>().scatter(&doubled[1..]).is_err());
}

#[test]
fn masked_chunks_are_padded_and_others_keep_their_bytes() {
    let mut world = World::new();
    let ids = world.spawn_batch((0..1_000).map(Health)).to_vec();
    for entity in ids.iter().step_by(2) {
        world.set_enabled::<Health>(*entity, false).unwrap();
    }
    for (mask, healths) in world.query_mut::<&mut Health>().masked().padded() {
        assert!(healths.len().is_multiple_of(VECTOR_ROWS) && mask.len() <= healths.len());
        for (i, health) in healths.iter_mut().enumerate().take(mask.len()) {
            health.0 = if mask.get(i) { health.0 + 7 } else { health.0 };
        }
    }
    let expected = (0..1_000).map(|i| if i % 2 == 0 { i } else { i + 7 });
    let values: Vec<Health> = world.query::<&Health>().filter::<IgnoreEnabled>().copies().gather();
    assert!(values.iter().map(|health| health.0).eq(expected));
}

#[test]
fn a_flip_leaves_bits_with_their_component() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), phalanx::Previous(Health(2))));
    world.set_enabled::<Health>(entity, false).unwrap();
    let alone = world.spawn(Health(3));
    world.set_enabled::<Health>(alone, false).unwrap();
    world.flip::<Health>().unwrap();
    assert_eq!(world.is_enabled::<Health>(entity), Ok(false));
    assert_eq!(world.get::<Health>(entity), Ok(&Health(2)));
    assert_eq!(world.get::<phalanx::Previous<Health>>(alone).unwrap().0, Health(3));
    assert_eq!(world.is_enabled::<Health>(alone), Ok(false));
}

#[test]
fn an_entity_shows_what_is_disabled() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Awake, Tag));
    world.set_enabled::<Awake>(entity, false).unwrap();
    let view = world.entity(entity).unwrap();
    let disabled = view.components().filter(|component| !component.is_enabled());
    let names: Vec<_> = disabled.map(|component| component.info().name()).collect();
    assert_eq!(names, [<Awake as Component>::NAME]);
}

#[test]
fn par_passes_see_the_same_rows() {
    // Miri is slow, and a few chunks are enough for it.
    let rows = if cfg!(miri) { 500 } else { 50_000 };
    let mut world = World::new();
    world.spawn_batch((0..rows).map(|i| (Health(i), Serial(0), Awake)));
    for (healths, mut awake) in world.query_mut::<(&Health, EnabledMut<Awake>)>() {
        awake.assign(|row| healths[row].0 % 5 < 2);
    }
    let count = |serials: &mut [Serial]| serials.iter_mut().for_each(|serial| serial.0 += 1);
    world.query_mut::<&mut Serial>().with::<Awake>().par().for_each_chunk(count);
    world.query_mut::<(&mut Serial, &Health)>().with::<Awake>().par().for_each_chunk(
        |(serials, healths)| {
            assert_eq!(serials.len(), healths.len());
            for (serial, health) in serials.iter_mut().zip(healths) {
                // Heavy, so that chunks are divided.
                serial.0 += (0..20).fold(health.0, |sum, i| sum.wrapping_mul(31) ^ i) & 1 | 1;
            }
        },
    );
    for (health, serial) in world.query::<(&Health, &Serial)>().rows() {
        assert_eq!(serial.0, if health.0 % 5 < 2 { 2 } else { 0 });
    }
    // Parts of one chunk are switched on several threads.
    world.query_mut::<(&Health, EnabledMut<Awake>)>().par().for_each_chunk(
        |(healths, mut awake)| {
            for (row, health) in healths.iter().enumerate() {
                awake.set(row, health.0 % 7 == 3);
            }
        },
    );
    assert_eq!(world.query::<&Awake>().count_rows(), (0..rows).filter(|i| i % 7 == 3).count());
    sound(&world);
}
