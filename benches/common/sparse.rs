//! Values of sparse components: a kernel over all of a set, and rows of a query that few have.
//!
//! The limit of `sparse_values` is the same kernel over one flat array. That of `sparse_mixed` is a
//! walk over a set by hand: its values lie in a `Vec`, in the order of the query or in the order in
//! which they came, each beside the index of its row.

use phalanx::prelude::*;

use super::column::Column;
use super::flat;
use super::programs::random::random_index;
use super::sides::{Side, Workload, steady};
use super::{Position, position, world};

/// Values of a set.
const VALUES: usize = 100_000;

/// Rows of a query.
const ROWS: usize = 1_000_000;

/// One row of so many has a value.
const ONE_OF: usize = 100;

#[component(sparse, plain, name = "bench.burning")]
struct Burning([f32; 4]);

#[component(sparse, plain, name = "bench.wet")]
struct Wet(f32);

/// Divides rows into archetypes.
macro_rules! kinds {
    ($($name:ident = $text:literal),*) => {
        $(#[component(name = $text)] struct $name;)*

        /// Inserts the tag of kind `kind`, if there is one.
        fn insert_kind(world: &mut World, entities: &[Entity], kind: usize) {
            let mut kinds = 0..;
            $(if kinds.next() == Some(kind) {
                entities.iter().for_each(|&one| world.insert(one, $name).expect("alive"));
            })*
        }
    };
}

kinds! {
    KindA = "bench.kind_a", KindB = "bench.kind_b", KindC = "bench.kind_c", KindD = "bench.kind_d",
    KindE = "bench.kind_e", KindF = "bench.kind_f", KindG = "bench.kind_g", KindH = "bench.kind_h",
    KindI = "bench.kind_i", KindJ = "bench.kind_j"
}

#[kernel]
fn double(values: &mut [f32]) {
    for value in values {
        *value *= 2.0;
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        values(),
        mixed("sparse_mixed_1", 1, false),
        mixed("sparse_mixed_1_scattered", 1, true),
        mixed("sparse_mixed_10", 10, false),
        mixed("sparse_mixed_10_scattered", 10, true),
    ]
}

/// Doubles all values of a set, and back: even passes halve.
fn values() -> Workload {
    Workload::new("sparse_values", VALUES, VALUES)
        .limit(|| {
            steady(
                Column::new(&vec![[0f32; 4]; VALUES], 0),
                |values| flat::double(values.write()),
                |values, _| assert!(values.read::<f32>().iter().all(|&v| v == 0.0), "doubled"),
            )
        })
        .phalanx("phalanx_blocks", |chunk| {
            burning(chunk, |values| {
                values.blocks_mut().for_each(|(_, all)| double(scalars_mut(all)));
            })
        })
        .phalanx("phalanx_par", |chunk| {
            burning(chunk, |values| {
                values.blocks_mut().par_for_each(|(_, all)| double(scalars_mut(all)));
            })
        })
        .phalanx("phalanx_iter_mut", |chunk| {
            burning(chunk, |values| {
                values.iter_mut().for_each(|(_, one)| one.0.iter_mut().for_each(|v| *v *= 2.0));
            })
        })
}

fn burning(chunk: ChunkSize, pass: impl Fn(&mut SparseMut<Burning>)) -> impl Side {
    let mut world = world(chunk);
    world.spawn_batch((0..VALUES).map(|_| Burning([0.0; 4])));
    steady(
        world,
        move |world| pass(&mut world.sparse_mut::<Burning>()),
        |world, _| {
            let all = world.sparse::<Burning>();
            assert!(all.iter().all(|(_, one)| one.0 == [0.0; 4]), "doubled");
            assert_eq!(all.len(), VALUES, "values");
        },
    )
}

/// The rows that have a value, in the order of a query or scattered.
fn members(is_scattered: bool) -> Vec<usize> {
    let mut index = random_index();
    let mut members: Vec<_> = (0..ROWS).filter(|_| index(ONE_OF) == 0).collect();
    if is_scattered {
        for last in (1..members.len()).rev() {
            members.swap(last, index(last + 1));
        }
    }
    members
}

/// `position.x += value` for the rows with a value.
fn mixed(name: &'static str, archetypes: usize, is_scattered: bool) -> Workload {
    let by_hand = members(is_scattered);
    Workload::new(name, ROWS, by_hand.len())
        .limit(move || {
            let kind_rows = ROWS / archetypes;
            let kinds = (0..archetypes).map(|kind| {
                (0..kind_rows).map(|row| position(kind * kind_rows + row)).collect::<Vec<_>>()
            });
            let places = by_hand.iter().map(|&i| {
                let narrow = |n: usize| u32::try_from(n).expect("a row has a number of 32 bits");
                (narrow(i / kind_rows), narrow(i % kind_rows))
            });
            let values = vec![0.5f32; by_hand.len()];
            steady(
                (kinds.collect::<Vec<_>>(), places.collect::<Vec<_>>(), values),
                |(kinds, places, values)| {
                    for (&(kind, row), value) in places.iter().zip(values) {
                        kinds[kind as usize][row as usize].x += *value;
                    }
                },
                move |(kinds, places, _), passes| {
                    check(kinds.iter().flatten(), places.len(), passes);
                },
            )
        })
        .phalanx("phalanx_rows", move |chunk| {
            wet(chunk, archetypes, is_scattered, |world| {
                for (position, wet) in world.query_mut::<(&mut Position, &Wet)>().rows() {
                    position.x += wet.0;
                }
            })
        })
        .phalanx("phalanx_rows_for_each", move |chunk| {
            wet(chunk, archetypes, is_scattered, |world| {
                let rows = world.query_mut::<(&mut Position, &Wet)>().rows();
                rows.for_each(|(position, wet)| position.x += wet.0);
            })
        })
        .phalanx("phalanx_option_slices", move |chunk| {
            wet(chunk, archetypes, is_scattered, |world| {
                for (positions, wet) in world.query_mut::<(&mut Position, Option<&Wet>)>() {
                    for (row, wet) in wet.into_iter().flatten() {
                        positions[row].x += wet.0;
                    }
                }
            })
        })
        .phalanx("phalanx_walk", move |chunk| {
            wet(chunk, archetypes, is_scattered, |world| {
                world.run(|wet: Sparse<Wet>, mut positions: LookupMut<Position>| {
                    for (entity, wet) in wet.iter() {
                        positions.get_mut(entity).expect("it has a place").x += wet.0;
                    }
                });
            })
        })
}

fn wet(
    chunk: ChunkSize,
    archetypes: usize,
    is_scattered: bool,
    pass: impl Fn(&mut World),
) -> impl Side {
    let members = members(is_scattered);
    let mut world = world(chunk);
    let entities = world.spawn_batch((0..ROWS).map(position)).to_vec();
    if archetypes > 1 {
        let kinds = entities.chunks(ROWS / archetypes).enumerate();
        kinds.for_each(|(kind, entities)| insert_kind(&mut world, entities, kind));
    }
    members.iter().for_each(|&i| world.insert(entities[i], Wet(0.5)).expect("alive"));
    let len = members.len();
    steady(
        world,
        move |world| pass(world),
        move |world, passes| check(world.query::<&Position>().rows(), len, passes),
    )
}

/// The sum of the first numbers: exact, because each is a multiple of a half.
fn check<'p>(positions: impl Iterator<Item = &'p Position>, members: usize, passes: u64) {
    let sum: f64 = positions.map(|position| f64::from(position.x)).sum();
    let before: f64 = (0..ROWS).map(|i| f64::from(position(i).x)).sum();
    assert_eq!(sum, before + 0.5 * members as f64 * passes as f64, "the sum of positions");
}
