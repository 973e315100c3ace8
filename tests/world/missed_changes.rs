//! Rows that changed, for readers that have seen all changes but the last one, or fewer.

use phalanx::prelude::*;
use rayon::iter::ParallelIterator;

use crate::common::components::{small_world, sound};

#[component(lines)]
struct Heat(u32);

/// The entities that are reported, row by row and run by run.
#[track_caller]
fn assert_changed(world: &World, since: Version, written: &[Entity]) {
    let query = || world.query::<(Entity, &Heat)>().filter_since::<ChangedLines<Heat>>(since);
    assert!(query().rows().map(|(entity, _)| entity).eq(written.iter().copied()));
    assert!(
        query()
            .iter()
            .flat_map(|(entities, _)| entities.iter().copied())
            .eq(written.iter().copied())
    );
    assert_eq!(query().count_rows(), written.len());
    sound(world);
}

#[test]
fn a_reader_that_missed_a_change_sees_the_64_rows_of_the_next_one_there() {
    const WORD: usize = 64;
    let mut world = small_world();
    let all = world.spawn_batch((0..200).map(Heat)).to_vec();
    let write = |world: &mut World, rows: &[usize]| {
        let before = world.version();
        let mut heats = world.lookup_mut::<Heat>();
        rows.iter().for_each(|&row| heats.get_mut(all[row]).expect("alive").0 += 1);
        before
    };
    let first = write(&mut world, &[3, 5, 64, 130]);
    assert_changed(&world, first, &[3, 5, 64, 130].map(|row| all[row]));
    let second = write(&mut world, &[63, 64, 127, 199]);
    assert_changed(&world, second, &[63, 64, 127, 199].map(|row| all[row]));
    // One change for each of the last two words.
    assert_changed(&world, first, &[&all[..2 * WORD], &[all[130], all[199]]].concat());
    // Two changes of a word, and a version of its own for each.
    let third = world.version();
    for row in [70, 71, 140] {
        world.get_mut::<Heat>(all[row]).expect("alive").0 += 1;
    }
    assert_changed(&world, third, &[&all[WORD..2 * WORD], &[all[140]]].concat());
    assert_changed(&world, world.version(), &[]);
}

#[test]
fn bits_of_an_older_change_do_not_outlast_a_whole_write_or_a_row() {
    let mut world = small_world();
    let all = world.spawn_batch((0..100).map(Heat)).to_vec();
    world.get_mut::<Heat>(all[7]).expect("alive").0 += 1;
    let whole = world.version();
    world.query_mut::<&mut Heat>().for_each_chunk(|_| {});
    assert_changed(&world, whole, &all);
    let before = world.version();
    world.get_mut::<Heat>(all[9]).expect("alive").0 += 1;
    assert_changed(&world, before, &[all[9]]);
    // The last row, which did not change, takes the place of one that did.
    world.despawn(all[9]).expect("alive");
    assert_changed(&world, before, &[]);
    // A place of a removed row is given to a new one.
    world.get_mut::<Heat>(all[98]).expect("alive").0 += 1;
    world.despawn(all[98]).expect("alive");
    let before = world.version();
    let new = world.spawn(Heat(1));
    assert_changed(&world, before, &[new]);
}

#[test]
fn a_system_that_writes_a_row_and_then_slices_loses_nothing() {
    fn both(mut heats: Query<&mut Heat>, targets: Res<Vec<Entity>>) {
        heats.get_mut(targets[0]).expect("alive").0 += 1;
        heats.iter_mut().for_each(|heats| heats[0].0 += 1);
        heats.get_mut(targets[1]).expect("alive").0 += 1;
    }
    fn seen(changed: Query<&Heat, ChangedLines<Heat>>, mut rows: ResMut<usize>) {
        *rows = changed.count_rows();
    }
    let mut world = small_world();
    let all = world.spawn_batch((0..200).map(Heat)).to_vec();
    world.insert_resource(all.clone());
    world.insert_resource(0_usize);
    let mut schedule = Schedule::new();
    schedule.add((both, seen)).chain();
    for _ in 0..2 {
        schedule.run(&mut world).expect("no system fails");
        assert_eq!(*world.resource::<usize>().expect("inserted"), all.len());
    }
}

/// Two threads at the boundaries of parts read words that others have written.
#[test]
fn par_who_writes_by_the_filter_of_changed_lines_visits_the_rows_it_counts() {
    let changed = [3, 10, 100, 1290];
    for way in 0..10 {
        let mut world = small_world();
        let all = world.spawn_batch([Heat(0); 1300]).to_vec();
        let before = world.version();
        let mut heats = world.lookup_mut::<Heat>();
        changed.iter().for_each(|&row| heats.get_mut(all[row]).expect("alive").0 = 0);
        let middle = world.version();
        let add = |heat: &mut Heat| heat.0 += 1;
        let add_all = |heats: &mut [Heat]| heats.iter_mut().for_each(add);
        let plain = world.query_mut::<&mut Heat>();
        let query = plain.filter_since::<ChangedLines<Heat>>(before);
        match way {
            0 => query.rows().for_each(add),
            1 => {
                for heat in query.rows() {
                    add(heat);
                }
            }
            2 => query.into_iter().for_each(add_all),
            3 => query.for_each_chunk(add_all),
            4 => query.par().for_each_chunk(add_all),
            5 => query.par().chunks().for_each(add_all),
            6 => query.masked().for_each(|(mask, heats)| {
                (0..mask.len()).filter(|&row| mask.get(row)).for_each(|row| add(&mut heats[row]));
            }),
            _ => {
                let lines = world.query_mut::<LinesMut<Heat>>();
                let lines = lines.filter_since::<ChangedLines<Heat>>(before);
                match way {
                    7 => lines.rows().for_each(|mut row| row.0 += 1),
                    8 => lines.into_iter().for_each(|mut heats| add_all(heats.all_mut())),
                    _ => lines.par().for_each_chunk(|mut heats| add_all(heats.all_mut())),
                }
            }
        }
        let written: Vec<_> = all.iter().map(|&e| world.get::<Heat>(e).expect("alive").0).collect();
        let rows: Vec<_> = (0..all.len()).filter(|&row| written[row] == 1).collect();
        assert_eq!(rows, changed, "way {way}");
        assert_changed(&world, middle, &changed.map(|row| all[row]));
    }
}
